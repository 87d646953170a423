"""Values on their way into a table and out again, unchanged: JSON with exact numbers, text, days."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import NoReturn

from tidegate.core.events import JsonObject
from tidegate.core.jsonlines import Json, dumps


def encode(value: Mapping[str, Json] | list[JsonObject]) -> str:
    """Return JSON text that is known to read back.

    Raises:
        ValueError, TypeError: a value has no JSON form, or none that can be read again.
    """
    text = dumps(value if isinstance(value, list) else dict(value))
    _parse(text)
    return text


def decode_object(text: str) -> JsonObject:
    """Return a stored JSON object; numbers with a point or an exponent are Decimal.

    Raises:
        ValueError: the text is not a JSON object.
    """
    value = _parse(text)
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value


def decode_objects(text: str) -> list[JsonObject]:
    """Return a stored list of JSON objects.

    Raises:
        ValueError: the text is not a JSON list of objects.
    """
    value = _parse(text)
    if not isinstance(value, list):
        raise ValueError("not a JSON list")
    objects = [item for item in value if isinstance(item, dict)]
    if len(objects) != len(value):
        raise ValueError("not a list of JSON objects")
    return objects


def _parse(text: str) -> Json:
    try:
        value: Json = json.loads(text, parse_float=Decimal, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except InvalidOperation:
        raise ValueError("a number is beyond reach") from None
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def utf8(text: str) -> str:
    """Return text as a database can hold it.

    A command line that is not UTF-8 reaches Python with lone surrogates; each becomes a question mark, as in
    every line that is printed.
    """
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def check_day(day: str) -> None:
    """Accept a calendar day written YYYY-MM-DD; days in this form sort as text.

    Raises:
        ValueError: it is anything else.
    """
    try:
        plain = date.fromisoformat(day).isoformat()
    except ValueError:
        plain = ""
    if plain != day or not day:
        raise ValueError(f"{day!r} is not a day of the form YYYY-MM-DD")
