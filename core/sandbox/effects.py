"""Transaction effects, version 2, and the events of a transaction, with their BCS and digests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from tidegate.core.sandbox.encoding import (
    address_bytes,
    blob,
    digest_bytes,
    salted_digest,
    text,
    uint,
    uleb128,
)
from tidegate.core.sandbox.gas import GasUsed
from tidegate.core.sandbox.movetypes import struct_tag
from tidegate.core.sandbox.objects import StoredObject
from tidegate.core.sandbox.refusals import ArgumentProblem, BadArgument, ExecutionFailure, FailureKind
from tidegate.core.sandbox.session import EmittedEvent

# Variant indices of ExecutionFailureStatus and CommandArgumentError in BCS (Sui Rust SDK).
_FAILURE_TAG = {
    FailureKind.INSUFFICIENT_GAS: 0,
    FailureKind.INVARIANT_VIOLATION: 2,
    FailureKind.INSUFFICIENT_COIN_BALANCE: 7,
    FailureKind.COIN_BALANCE_OVERFLOW: 8,
    FailureKind.MOVE_ABORT: 12,
    FailureKind.FUNCTION_NOT_FOUND: 15,
    FailureKind.ARITY_MISMATCH: 16,
    FailureKind.TYPE_ARITY_MISMATCH: 17,
    FailureKind.COMMAND_ARGUMENT_ERROR: 19,
    FailureKind.UNUSED_VALUE_WITHOUT_DROP: 21,
}
_ARGUMENT_TAG = {
    ArgumentProblem.TYPE_MISMATCH: 0,
    ArgumentProblem.INVALID_BCS_BYTES: 1,
    ArgumentProblem.INVALID_USAGE_OF_PURE_ARGUMENT: 2,
    ArgumentProblem.INDEX_OUT_OF_BOUNDS: 4,
    ArgumentProblem.SECONDARY_INDEX_OUT_OF_BOUNDS: 5,
    ArgumentProblem.INVALID_RESULT_ARITY: 6,
    ArgumentProblem.INVALID_GAS_COIN_USAGE: 7,
    ArgumentProblem.INVALID_VALUE_USAGE: 8,
    ArgumentProblem.INVALID_OBJECT_BY_VALUE: 9,
    ArgumentProblem.INVALID_OBJECT_BY_MUT_REF: 10,
    ArgumentProblem.INVALID_TRANSFER_OBJECT: 13,
    ArgumentProblem.INVALID_MAKE_MOVE_VEC_NON_OBJECT_ARGUMENT: 14,
    ArgumentProblem.ARGUMENT_WITHOUT_VALUE: 15,
}


@dataclass(frozen=True, slots=True)
class ObjectChange:
    """One object before and after a transaction; created without `before`, deleted without `after`."""

    id: str
    before: StoredObject | None
    after: StoredObject | None


@dataclass(frozen=True)
class Events:
    """The events of one transaction."""

    sender: str
    events: tuple[EmittedEvent, ...]

    @cached_property
    def bcs(self) -> bytes:
        """BCS of ``TransactionEvents``."""
        return uleb128(len(self.events)) + b"".join(self._event(event) for event in self.events)

    @cached_property
    def digest(self) -> str:
        """Their digest."""
        return salted_digest("TransactionEvents", self.bcs)

    def _event(self, event: EmittedEvent) -> bytes:
        return (
            address_bytes(event.package)
            + text(event.module)
            + address_bytes(self.sender)
            + struct_tag(event.type)
            + blob(event.contents)
        )


@dataclass(frozen=True)
class Effects:
    """What a transaction did."""

    failure: ExecutionFailure | None
    epoch: int
    gas: GasUsed
    transaction_digest: str
    gas_object: str | None
    """Id of the coin that paid."""
    events: Events
    dependencies: tuple[str, ...]
    """Digests of the transactions that its inputs came from."""
    lamport_version: int
    """Version of everything it wrote."""
    changes: tuple[ObjectChange, ...]
    """Sorted by id."""
    read_only: tuple[StoredObject, ...]
    """Shared objects that it only read."""

    @property
    def gas_object_index(self) -> int | None:
        """Where in `changes` the gas coin is."""
        ids = [change.id for change in self.changes]
        return ids.index(self.gas_object) if self.gas_object in ids else None

    @property
    def events_digest(self) -> str | None:
        """Digest of the events; None when there are none."""
        return self.events.digest if self.events.events else None

    @cached_property
    def bcs(self) -> bytes:
        """BCS of ``TransactionEffects::V2``."""
        index = self.gas_object_index
        return (
            b"\1"
            + _status(self.failure)
            + uint(self.epoch, 64)
            + b"".join(
                uint(amount, 64)
                for amount in (
                    self.gas.computation,
                    self.gas.storage,
                    self.gas.rebate,
                    self.gas.non_refundable,
                )
            )
            + _digest(self.transaction_digest)
            + (b"\0" if index is None else b"\1" + uint(index, 32))
            + (b"\0" if self.events_digest is None else b"\1" + _digest(self.events_digest))
            + uleb128(len(self.dependencies))
            + b"".join(_digest(digest) for digest in self.dependencies)
            + uint(self.lamport_version, 64)
            + uleb128(len(self.changes))
            + b"".join(_change(change) for change in self.changes)
            + uleb128(len(self.read_only))
            + b"".join(_read_only(item) for item in self.read_only)
            + b"\0"
        )

    @cached_property
    def digest(self) -> str:
        """Digest of the effects."""
        return salted_digest("TransactionEffects", self.bcs)


def _digest(digest: str) -> bytes:
    return blob(digest_bytes(digest))


def _status(failure: ExecutionFailure | None) -> bytes:
    if failure is None:
        return b"\0"
    command = b"\0" if failure.command is None else b"\1" + uint(failure.command, 64)
    return b"\1" + uleb128(_FAILURE_TAG[failure.kind]) + _failure_detail(failure) + command


def _failure_detail(failure: ExecutionFailure) -> bytes:
    if failure.abort is not None:
        package, module = failure.abort.module.split("::")
        # Python bodies have no function index and no instruction offset.
        location = address_bytes(package) + text(module) + uint(0, 16) + uint(0, 16)
        return location + b"\1" + text(failure.abort.function) + uint(failure.abort.code, 64)
    if failure.argument is not None:
        return uint(failure.argument.position, 16) + _argument_detail(failure.argument)
    if failure.kind is FailureKind.UNUSED_VALUE_WITHOUT_DROP:
        return uint(failure.result[0], 16) + uint(failure.result[1], 16)
    return b""


def _argument_detail(argument: BadArgument) -> bytes:
    tag = uleb128(_ARGUMENT_TAG[argument.problem])
    match argument.problem:
        case ArgumentProblem.INDEX_OUT_OF_BOUNDS | ArgumentProblem.INVALID_RESULT_ARITY:
            return tag + uint(argument.index, 16)
        case ArgumentProblem.SECONDARY_INDEX_OUT_OF_BOUNDS:
            return tag + uint(argument.index, 16) + uint(argument.subindex, 16)
    return tag


def _change(change: ObjectChange) -> bytes:
    before, after = change.before, change.after
    state_in = (
        b"\0"
        if before is None
        else b"\1" + uint(before.version, 64) + _digest(before.digest) + before.owner.bcs()
    )
    state_out = b"\0" if after is None else b"\1" + _digest(after.digest) + after.owner.bcs()
    operation = b"\1" if before is None else b"\2" if after is None else b"\0"
    return address_bytes(change.id) + state_in + state_out + operation


def _read_only(item: StoredObject) -> bytes:
    return address_bytes(item.id) + b"\0" + uint(item.version, 64) + _digest(item.digest)


def balance_changes(changes: Sequence[ObjectChange]) -> list[tuple[str, str, int]]:
    """Return (address, coin type, base units) for every address whose coins changed, gas included.

    Args:
        changes: Every object of the transaction, before and after.
    """
    totals: dict[tuple[str, str], int] = {}
    for change in changes:
        for item, sign in ((change.before, -1), (change.after, 1)):
            if item is None or item.coin_type is None or item.owner.kind != "address":
                continue
            key = (item.owner.address, item.coin_type)
            totals[key] = totals.get(key, 0) + sign * (item.balance or 0)
    return [(address, coin, amount) for (address, coin), amount in sorted(totals.items()) if amount]
