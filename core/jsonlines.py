"""One JSON value a line, with exact numbers.

`json.dumps` cannot write a Decimal as a number and writes NaN, which is not JSON. Events need the one and
must never hold the other, so they are written here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from json.encoder import encode_basestring
from typing import TypeAlias

from tidegate.core.money import plain

Json: TypeAlias = "bool | int | float | str | Decimal | list[Json] | dict[str, Json] | None"
"""What can be written: JSON's own types, and Decimal for exact numbers."""

_ESCAPES = {0x7F: "\\u007f", 0x2028: "\\u2028", 0x2029: "\\u2029"} | {
    code: f"\\u{code:04x}" for code in range(0x80, 0xA0)
}


def dumps(value: object) -> str:
    """Return the value as one line of JSON, UTF-8 text unescaped, control characters escaped.

    Raises:
        ValueError: a number is not finite.
        TypeError: the value has no JSON form.
    """
    out: list[str] = []
    _write(value, out.append)
    return "".join(out)


def quote(text: str) -> str:
    """Return a JSON string; a lone surrogate becomes a question mark, so that the line is valid UTF-8."""
    if text.isascii():
        quoted = encode_basestring(text)
        return quoted if "\x7f" not in quoted else quoted.translate(_ESCAPES)
    text = text.encode("utf-8", "replace").decode("utf-8")
    return encode_basestring(text).translate(_ESCAPES)


def _write(value: object, emit: Callable[[str], None]) -> None:
    match value:
        case str():
            emit(quote(value))
        case None:
            emit("null")
        case True:
            emit("true")
        case False:
            emit("false")
        case int():
            emit(str(value))
        case Decimal():
            if not value.is_finite():
                raise ValueError(f"{value} cannot be written as JSON")
            emit(plain(value))
        case float():
            if not math.isfinite(value):
                raise ValueError(f"{value} cannot be written as JSON")
            emit(repr(value))
        case dict():
            emit("{")
            for index, (key, item) in enumerate(value.items()):
                emit(f"{',' if index else ''}{quote(str(key))}:")
                _write(item, emit)
            emit("}")
        case list() | tuple():
            emit("[")
            for index, item in enumerate(value):
                if index:
                    emit(",")
                _write(item, emit)
            emit("]")
        case _:
            raise TypeError(f"{type(value).__name__} has no JSON form")
