"""The places that hold a transaction's values, and what may be done with what is in them."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass

from tidegate.core.sandbox.encoding import BadEncoding
from tidegate.core.sandbox.modules.base import Balance, Coin, MoveStruct, OwnedObject, SharedObject, Value
from tidegate.core.sandbox.movetypes import MoveType, decode_pure, encode_value, is_pure, value_json
from tidegate.core.sandbox.refusals import ArgumentProblem, bad_argument


@dataclass(slots=True)
class Slot:
    """A place that arguments point at: an input, the gas coin, or a returned value."""

    type: MoveType
    value: Value
    raw: bytes | None = None
    """Bytes of a pure input, whose type each use decides."""
    taken: bool = False
    writable: bool = True
    """False for shared objects passed for reading and for immutable objects."""
    by_value: bool = True
    """False for what a command may only borrow."""
    is_gas: bool = False


@dataclass(frozen=True, slots=True)
class ReturnedValue:
    """A value as it was when its command returned it."""

    type: MoveType
    value: Value
    bcs: bytes
    json: object


def recorded(slot: Slot) -> ReturnedValue:
    """Return a copy of what a slot holds now."""
    value = deepcopy(slot.value)
    return ReturnedValue(slot.type, value, encode_value(slot.type, value), value_json(value))


def decode_argument(wanted: MoveType, raw: bytes, position: int) -> Value:
    """Return the value of a pure input as the type that its use wants, or fail the command."""
    if not is_pure(wanted):
        problem = ArgumentProblem.INVALID_USAGE_OF_PURE_ARGUMENT
        raise bad_argument(position, problem, f"{wanted} can not be given as bytes")
    try:
        return decode_pure(wanted, raw)
    except BadEncoding as error:
        raise bad_argument(position, ArgumentProblem.INVALID_BCS_BYTES, str(error)) from error


def among(slot: Slot, others: Sequence[Slot]) -> bool:
    """Say whether a slot is one of others; equal slots are not the same slot."""
    return any(slot is other for other in others)


def droppable(value: Value) -> bool:
    """Say whether a value may be left unused, as Move's `drop` ability has it."""
    match value:
        case Coin() | Balance() | OwnedObject() | SharedObject():
            return False
        case MoveStruct():
            return value.drop
        case list():
            return all(droppable(item) for item in value)
    return True
