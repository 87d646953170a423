"""Narrowing of arguments that the interpreter has checked against a signature.

A wrong type here is a mistake of the sandbox, never of a transaction, and so a TypeError.
"""

from __future__ import annotations

from typing import TypeVar

from tidegate.core.sandbox.modules.base import Coin, MoveStruct, SharedObject, Value

_T = TypeVar("_T", Coin, MoveStruct, SharedObject, str)


def shared_id(value: Value) -> str:
    """Return the id of a shared object."""
    return _as(SharedObject, value).id


def integer(value: Value) -> int:
    """Return an unsigned integer."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"expected an integer, not {value!r}")
    return value


def text(value: Value) -> str:
    """Return a string or an address."""
    return _as(str, value)


def coin(value: Value) -> Coin:
    """Return a coin."""
    return _as(Coin, value)


def struct(value: Value) -> MoveStruct:
    """Return a struct that is no object."""
    return _as(MoveStruct, value)


def _as(kind: type[_T], value: Value) -> _T:
    if not isinstance(value, kind):
        raise TypeError(f"expected {kind.__name__}, not {value!r}")
    return value
