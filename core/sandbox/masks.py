"""Read masks: a request names the fields it wants, and a path includes everything below it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import TypeVar

from betterproto2 import Message

from tidegate.core.sandbox.refusals import invalid

M = TypeVar("M", bound=Message)

EVERYTHING = "*"
_MaskTree = dict[str, "_MaskTree"]


def apply_mask(message: M, paths: Iterable[str]) -> M:
    """Return a copy of a message with only the fields that the paths name.

    Args:
        message: The whole message.
        paths: Paths such as ``effects.status``; ``*`` means all. Of two paths the shorter wins.

    Raises:
        Refused: INVALID_ARGUMENT when the message has no such field.
    """
    wanted = list(paths)
    if EVERYTHING in wanted:
        return message
    tree: _MaskTree = {}
    for path in sorted(wanted, key=len):
        _insert(tree, path.split("."))
    return _masked(message, tree, "")


def _insert(tree: _MaskTree, path: list[str]) -> None:
    name, rest = path[0], path[1:]
    if name in tree:
        # An empty subtree stands for the whole field: a longer path below it asks for nothing more.
        if rest and tree[name]:
            _insert(tree[name], rest)
        return
    tree[name] = {}
    if rest:
        _insert(tree[name], rest)


def _masked(message: M, tree: _MaskTree, prefix: str) -> M:
    names = {field.name for field in fields(message)}  # type: ignore[arg-type]  # its type hides the dataclass
    copy = type(message)()
    for name, below in tree.items():
        if name not in names:
            raise invalid(f"invalid read_mask path: {prefix}{name}")
        value = getattr(message, name)
        if below and isinstance(value, Message):
            value = _masked(value, below, f"{prefix}{name}.")
        elif below and isinstance(value, list) and all(isinstance(item, Message) for item in value):
            value = [_masked(item, below, f"{prefix}{name}.") for item in value]
        setattr(copy, name, value)
    return copy
