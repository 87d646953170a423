"""Writes transactions as BCS TransactionData, through pysui's types, and takes their digest."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidegate.core.chain.move_types import MoveType
from tidegate.core.chain.types import CoinObject

if TYPE_CHECKING:
    from pysui.sui.sui_bcs import bcs

_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_PRIMITIVE_TAGS = {
    "bool": "Bool",
    "u8": "U8",
    "u16": "U16",
    "u32": "U32",
    "u64": "U64",
    "u128": "U128",
    "u256": "U256",
    "address": "Address",
    "signer": "Signer",
}


@dataclass(frozen=True, slots=True)
class ObjectReference:
    """How a transaction names an object that it does not share."""

    object_id: str
    version: int
    digest: str


@dataclass(frozen=True, slots=True)
class SharedReference:
    """How a transaction names a shared object."""

    object_id: str
    initial_version: int


Reference = ObjectReference | SharedReference


@dataclass(slots=True)
class SharedInput:
    """An object that the sender does not own, as the commands use it."""

    object_id: str
    mutable: bool


Input = bytes | CoinObject | SharedInput
"""BCS of a value, a coin, or an object that the sender does not own."""


@dataclass(frozen=True, slots=True)
class GasPayment:
    """Who pays what for a transaction."""

    coins: tuple[CoinObject, ...]
    price: int
    """MIST a gas unit."""
    budget: int
    """MIST."""


def transaction_bytes(
    kind: bcs.TransactionKind, sender: str, gas: GasPayment, *, last_epoch: int | None
) -> bytes:
    """Return BCS TransactionData.

    Args:
        kind: From `PtbBuilder.kind`.
        sender: Who signs, and pays for gas.
        gas: The payment.
        last_epoch: The last epoch in which it may be executed; None for no end.
    """
    from pysui.sui.sui_bcs import bcs

    address = bcs.Address.from_str(sender)
    payment = [_object_reference(coin) for coin in gas.coins]
    expiration = (
        bcs.TransactionExpiration("None")
        if last_epoch is None
        else bcs.TransactionExpiration("Epoch", last_epoch)
    )
    data = bcs.TransactionDataV1(
        kind, address, bcs.GasData(payment, address, gas.price, gas.budget), expiration
    )
    return bytes(bcs.TransactionData("V1", data).serialize())


def transaction_digest(transaction: bytes) -> str:
    """Return the digest of BCS TransactionData: base58 of its BLAKE2b-256, salted with ``TransactionData::``.

    Source: the salts of the Sui Rust SDK (shared/spec/sandbox.md).
    """
    return _base58(hashlib.blake2b(b"TransactionData::" + transaction, digest_size=32).digest())


def _object_reference(item: CoinObject | ObjectReference) -> bcs.ObjectReference:
    from pysui.sui.sui_bcs import bcs

    return bcs.ObjectReference(
        bcs.Address.from_str(item.object_id), item.version, bcs.Digest.from_str(item.digest)
    )


def call_arg(item: Input, references: Mapping[str, Reference]) -> bcs.CallArg:
    """Return an input of a transaction.

    Args:
        item: BCS of a value, a coin, or an object that the sender does not own.
        references: What each such object is on the network, by id.
    """
    from pysui.sui.sui_bcs import bcs

    if isinstance(item, bytes):
        return bcs.CallArg("Pure", list(item))
    if isinstance(item, CoinObject):
        return bcs.CallArg("Object", bcs.ObjectArg("ImmOrOwnedObject", _object_reference(item)))
    reference = references[item.object_id]
    if isinstance(reference, ObjectReference):
        return bcs.CallArg("Object", bcs.ObjectArg("ImmOrOwnedObject", _object_reference(reference)))
    shared = bcs.SharedObjectReference(
        bcs.Address.from_str(item.object_id), reference.initial_version, item.mutable
    )
    return bcs.CallArg("Object", bcs.ObjectArg("SharedObject", shared))


def type_tag(move_type: MoveType) -> bcs.TypeTag:
    """Return a type argument."""
    from canoser import ArrayT  # type: ignore[import-untyped]  # comes with pysui
    from pysui.sui.sui_bcs import bcs

    inner = [type_tag(each) for each in move_type.parameters]
    if move_type.name == "vector":
        tag = bcs.TypeTag("Vector", inner)
        # pysui would write a vector's element as a list of one; BCS writes it without a length.
        tag.value_type = ArrayT(bcs.TypeTag, 1, encode_len=False)
        return tag
    if move_type.name in _PRIMITIVE_TAGS:
        return bcs.TypeTag(_PRIMITIVE_TAGS[move_type.name])
    address, module, name = move_type.parts
    return bcs.TypeTag("Struct", bcs.StructTag(bcs.Address.from_str(address), module, name, inner))


def _base58(raw: bytes) -> str:
    number, digits = int.from_bytes(raw, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        digits = _ALPHABET[digit] + digits
    return "1" * (len(raw) - len(raw.lstrip(b"\0"))) + digits
