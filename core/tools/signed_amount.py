"""Amounts that may be negative: what a balance changed by."""

from __future__ import annotations

from decimal import Decimal

from tidegate.core.tokens import Token


def signed_value(token: Token, base: int) -> Decimal:
    """Return base units, of either sign, as whole tokens, exactly."""
    # A tuple and an exponent make the number without any context's rounding.
    digits = tuple(int(digit) for digit in str(abs(base)))
    return Decimal((1 if base < 0 else 0, digits, -token.decimals))
