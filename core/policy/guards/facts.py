"""Reading what earlier calls answered: their data is JSON, so nothing in it is taken on trust."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from tidegate.core.jsonlines import Json
from tidegate.core.tokens import normalize_coin_type


def number(value: Json) -> Decimal | None:
    """Return a finite number, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        return None
    try:
        found = Decimal(str(value))
    except InvalidOperation:
        return None
    return found if found.is_finite() else None


def coin_type(value: Json) -> str | None:
    """Return a normalised coin type, or None."""
    try:
        return normalize_coin_type(value) if isinstance(value, str) else None
    except ValueError:
        return None
