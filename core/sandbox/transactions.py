"""Transactions as plain data, between BCS (what is signed), the gRPC message and the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from tidegate.core.sandbox.encoding import (
    BadEncoding,
    Reader,
    address_bytes,
    address_text,
    base58,
    blob,
    digest_bytes,
    salted_digest,
    text,
    uint,
    uleb128,
)
from tidegate.core.sandbox.movetypes import MoveType, read_type_tag, type_tag
from tidegate.core.sandbox.refusals import unimplemented

Item = TypeVar("Item")

MAX_GAS_PAYMENT = 256
MAX_COMMANDS = 1024


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """One version of an object."""

    id: str
    version: int
    digest: str


@dataclass(frozen=True, slots=True)
class PureInput:
    """BCS bytes of a value whose type its use decides."""

    value: bytes


@dataclass(frozen=True, slots=True)
class OwnedInput:
    """An object that the sender owns, or an immutable one."""

    ref: ObjectRef


@dataclass(frozen=True, slots=True)
class SharedInput:
    """A shared object."""

    id: str
    initial_version: int
    mutable: bool


Input: TypeAlias = PureInput | OwnedInput | SharedInput


@dataclass(frozen=True, slots=True)
class GasArg:
    """The gas coin."""


@dataclass(frozen=True, slots=True)
class InputArg:
    """One of the transaction's inputs."""

    index: int


@dataclass(frozen=True, slots=True)
class ResultArg:
    """What an earlier command returned: its only value, or the one that `sub` counts to."""

    command: int
    sub: int | None = None


Argument: TypeAlias = GasArg | InputArg | ResultArg


@dataclass(frozen=True, slots=True)
class MoveCall:
    """Calls a Move function."""

    package: str
    module: str
    function: str
    type_arguments: tuple[MoveType, ...]
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class TransferObjects:
    """Sends objects to an address."""

    objects: tuple[Argument, ...]
    address: Argument


@dataclass(frozen=True, slots=True)
class SplitCoins:
    """Splits amounts off a coin."""

    coin: Argument
    amounts: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class MergeCoins:
    """Merges coins into one."""

    target: Argument
    sources: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class MakeMoveVec:
    """Makes a vector of values of one type."""

    element: MoveType | None
    elements: tuple[Argument, ...]


Command: TypeAlias = MoveCall | TransferObjects | SplitCoins | MergeCoins | MakeMoveVec


@dataclass(frozen=True, slots=True)
class Gas:
    """Who pays, with which coins, at which price (MIST a unit), and at most how much (MIST)."""

    payment: tuple[ObjectRef, ...]
    owner: str
    price: int
    budget: int


@dataclass(frozen=True, slots=True)
class Transaction:
    """A programmable transaction, version 1."""

    sender: str
    inputs: tuple[Input, ...]
    commands: tuple[Command, ...]
    gas: Gas
    expires_after: int | None = None
    """Last epoch in which it may be executed."""

    def with_gas(self, gas: Gas) -> Transaction:
        """Return the same transaction paid otherwise."""
        return replace(self, gas=gas)

    def bcs(self) -> bytes:
        """Return the bytes of ``TransactionData``."""
        expiration = b"\0" if self.expires_after is None else b"\1" + uint(self.expires_after, 64)
        return (
            b"\0\0"
            + _sequence(self.inputs, _input_bcs)
            + _sequence(self.commands, _command_bcs)
            + address_bytes(self.sender)
            + _sequence(self.gas.payment, _ref_bcs)
            + address_bytes(self.gas.owner)
            + uint(self.gas.price, 64)
            + uint(self.gas.budget, 64)
            + expiration
        )


def transaction_digest(bcs: bytes) -> str:
    """Return the digest of a transaction's bytes."""
    return salted_digest("TransactionData", bcs)


def decode_transaction(bcs: bytes) -> Transaction:
    """Return the transaction that the bytes of ``TransactionData`` hold.

    Raises:
        BadEncoding: they hold none.
        Refused: UNIMPLEMENTED, for a kind of transaction or input that the sandbox does not execute.
    """
    reader = Reader(bcs)
    if reader.length() != 0:
        raise BadEncoding("unknown version of TransactionData")
    if reader.length() != 0:
        raise unimplemented("only programmable transactions are executed")
    inputs = tuple(_read_input(reader) for _ in range(reader.length()))
    commands = tuple(_read_command(reader) for _ in range(reader.length()))
    sender = address_text(reader.take(32))
    payment = tuple(_read_ref(reader) for _ in range(reader.length()))
    gas = Gas(payment, address_text(reader.take(32)), reader.uint(64), reader.uint(64))
    expires_after = _read_expiration(reader)
    reader.end()
    return Transaction(sender, inputs, commands, gas, expires_after)


def _sequence(items: Sequence[Item], encode: Callable[[Item], bytes]) -> bytes:
    return uleb128(len(items)) + b"".join(encode(item) for item in items)


def _ref_bcs(ref: ObjectRef) -> bytes:
    return address_bytes(ref.id) + uint(ref.version, 64) + blob(digest_bytes(ref.digest))


def _read_ref(reader: Reader) -> ObjectRef:
    object_id, version, digest = address_text(reader.take(32)), reader.uint(64), reader.blob()
    if len(digest) != 32:
        raise BadEncoding("a digest has 32 bytes")
    return ObjectRef(object_id, version, base58(digest))


def _input_bcs(item: Input) -> bytes:
    match item:
        case PureInput():
            return b"\0" + blob(item.value)
        case OwnedInput():
            return b"\1\0" + _ref_bcs(item.ref)
        case SharedInput():
            return b"\1\1" + address_bytes(item.id) + uint(item.initial_version, 64) + bytes([item.mutable])


def _read_input(reader: Reader) -> Input:
    kind = reader.length()
    if kind == 0:
        return PureInput(reader.blob())
    if kind == 2:
        raise unimplemented("withdrawals from address balances are not emulated: pass coin objects")
    if kind != 1:
        raise BadEncoding(f"unknown kind of input {kind}")
    form = reader.length()
    if form == 0:
        return OwnedInput(_read_ref(reader))
    if form == 1:
        object_id, version, mutable = address_text(reader.take(32)), reader.uint(64), reader.uint(8)
        if mutable > 1:
            raise unimplemented("non-exclusive writes of shared objects are not emulated")
        return SharedInput(object_id, version, bool(mutable))
    if form == 2:
        raise unimplemented("receiving objects sent to an object is not emulated")
    raise BadEncoding(f"unknown form of object input {form}")


def _argument_bcs(argument: Argument) -> bytes:
    match argument:
        case GasArg():
            return b"\0"
        case InputArg():
            return b"\1" + uint(argument.index, 16)
        case ResultArg(sub=None):
            return b"\2" + uint(argument.command, 16)
        case ResultArg(command=command, sub=int(sub)):
            return b"\3" + uint(command, 16) + uint(sub, 16)
    raise BadEncoding(f"not an argument: {argument!r}")


def _read_argument(reader: Reader) -> Argument:
    kind = reader.length()
    if kind == 0:
        return GasArg()
    if kind == 1:
        return InputArg(reader.uint(16))
    if kind == 2:
        return ResultArg(reader.uint(16))
    if kind == 3:
        return ResultArg(reader.uint(16), reader.uint(16))
    raise BadEncoding(f"unknown kind of argument {kind}")


def _read_arguments(reader: Reader) -> tuple[Argument, ...]:
    return tuple(_read_argument(reader) for _ in range(reader.length()))


# Variant indices of Command in BCS; 4 (Publish) and 6 (Upgrade) need a Move virtual machine.
_MOVE_CALL, _TRANSFER, _SPLIT, _MERGE, _PUBLISH, _MAKE_VEC, _UPGRADE = range(7)


def _command_bcs(command: Command) -> bytes:
    match command:
        case MoveCall():
            return (
                bytes([_MOVE_CALL])
                + address_bytes(command.package)
                + text(command.module)
                + text(command.function)
                + _sequence(command.type_arguments, type_tag)
                + _sequence(command.arguments, _argument_bcs)
            )
        case TransferObjects():
            objects = _sequence(command.objects, _argument_bcs)
            return bytes([_TRANSFER]) + objects + _argument_bcs(command.address)
        case SplitCoins():
            amounts = _sequence(command.amounts, _argument_bcs)
            return bytes([_SPLIT]) + _argument_bcs(command.coin) + amounts
        case MergeCoins():
            sources = _sequence(command.sources, _argument_bcs)
            return bytes([_MERGE]) + _argument_bcs(command.target) + sources
        case MakeMoveVec():
            element = b"\0" if command.element is None else b"\1" + type_tag(command.element)
            return bytes([_MAKE_VEC]) + element + _sequence(command.elements, _argument_bcs)


def _read_command(reader: Reader) -> Command:
    kind = reader.length()
    if kind == _MOVE_CALL:
        package = address_text(reader.take(32))
        module, function = (_identifier(reader.blob()) for _ in range(2))
        types = tuple(read_type_tag(reader) for _ in range(reader.length()))
        return MoveCall(package, module, function, types, _read_arguments(reader))
    if kind == _TRANSFER:
        return TransferObjects(_read_arguments(reader), _read_argument(reader))
    if kind == _SPLIT:
        return SplitCoins(_read_argument(reader), _read_arguments(reader))
    if kind == _MERGE:
        return MergeCoins(_read_argument(reader), _read_arguments(reader))
    if kind == _MAKE_VEC:
        present = reader.length()
        if present > 1:
            raise BadEncoding("not an Option")
        return MakeMoveVec(read_type_tag(reader) if present else None, _read_arguments(reader))
    if kind in (_PUBLISH, _UPGRADE):
        raise unimplemented("publishing and upgrading packages needs a Move virtual machine")
    raise BadEncoding(f"unknown kind of command {kind}")


def _identifier(raw: bytes) -> str:
    word = raw.decode("ascii", errors="replace")
    if not word.isidentifier():
        raise BadEncoding(f"not an identifier: {word!r}")
    return word


def _read_expiration(reader: Reader) -> int | None:
    kind = reader.length()
    if kind == 0:
        return None
    if kind == 1:
        return reader.uint(64)
    if kind == 2:
        raise unimplemented("ValidDuring expiration belongs to address-balance gas, which is not emulated")
    raise BadEncoding(f"unknown kind of expiration {kind}")
