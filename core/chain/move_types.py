"""Move types as text: parsed, normalised and compared (``0x2::coin::Coin<0x2::sui::SUI>``).

pysui's own parser loses parameters when generics nest or stand beside vectors, so types are read here and
handed to it in parts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tidegate.core.tokens import normalize_address

PRIMITIVES = frozenset({"bool", "u8", "u16", "u32", "u64", "u128", "u256", "address", "signer"})

_TOKEN = re.compile(r"\s*([A-Za-z0-9_]+|::|[<>,])")
_ADDRESS = re.compile(r"0[xX][0-9a-fA-F]{1,64}\Z")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_MAX_DEPTH = 16


@dataclass(frozen=True, slots=True)
class MoveType:
    """A type with its parameters; ``str()`` gives the normalised text."""

    name: str
    """A primitive, ``vector``, or ``address::module::Name`` with the address in its long form."""
    parameters: tuple[MoveType, ...] = ()

    @property
    def parts(self) -> tuple[str, str, str]:
        """Address, module and name of a struct.

        Raises:
            ValueError: it is a primitive or a vector.
        """
        address, module, name = self.name.split("::")
        return address, module, name

    def __str__(self) -> str:
        if not self.parameters:
            return self.name
        return f"{self.name}<{','.join(str(each) for each in self.parameters)}>"


def parse_move_type(text: str) -> MoveType:
    """Return the type that a text names.

    Raises:
        ValueError: the text is no Move type.
    """
    tokens = _tokens(text)
    parsed = _type(tokens, text, 0)
    if tokens:
        raise _bad(text)
    return parsed


def _tokens(text: str) -> list[str]:
    """Return the tokens in reverse order, so that the next one is popped."""
    found, at, stripped = [], 0, text.rstrip()
    while at < len(stripped):
        match = _TOKEN.match(stripped, at)
        if match is None:
            raise _bad(text)
        found.append(match[1])
        at = match.end()
    return found[::-1]


def _type(tokens: list[str], text: str, depth: int) -> MoveType:
    if not tokens or depth > _MAX_DEPTH:
        raise _bad(text)
    head = tokens.pop()
    if head in PRIMITIVES:
        return MoveType(head)
    if head == "vector":
        inner = _parameters(tokens, text, depth)
        if len(inner) != 1:
            raise _bad(text)
        return MoveType("vector", inner)
    if not _ADDRESS.match(head):
        raise _bad(text)
    path = [normalize_address(head)]
    for _ in range(2):
        if len(tokens) < 2 or tokens.pop() != "::" or not _IDENTIFIER.match(tokens[-1]):
            raise _bad(text)
        path.append(tokens.pop())
    return MoveType("::".join(path), _parameters(tokens, text, depth))


def _parameters(tokens: list[str], text: str, depth: int) -> tuple[MoveType, ...]:
    if not tokens or tokens[-1] != "<":
        return ()
    found: list[MoveType] = []
    separator = ""
    while separator != ">":
        # The first turn takes "<", later ones the comma after the parameter before.
        tokens.pop()
        found.append(_type(tokens, text, depth + 1))
        separator = tokens[-1] if tokens else ""
        if separator not in (",", ">"):
            raise _bad(text)
    tokens.pop()
    return tuple(found)


def _bad(text: str) -> ValueError:
    shown = text if len(text) <= 80 else text[:80] + "…"
    return ValueError(f"not a Move type: {shown!r}")
