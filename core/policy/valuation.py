"""What a write is worth in USD, or why nobody can say.

A price that cannot be trusted makes the whole write unpriced, never cheap: a missing price counted as zero
would let any amount of that token through.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, Inexact, InvalidOperation

from tidegate.core.chain.types import PricePoint
from tidegate.core.money import ZERO_USD, Amount, Usd
from tidegate.core.tokens import USDC, USDSUI, Token, token_by_symbol

MAX_AGE_MS = 5 * 60_000
"""A price older than this is stale; shared/spec/policy.md."""

MAX_AHEAD_MS = 60_000
"""Clocks differ by seconds; a price dated further ahead is not a price of now."""

_LOWEST = Decimal("1e-12")
_HIGHEST = Decimal("1e7")
"""USD a whole token. No asset of the field is near either end."""
_MAX_DIGITS = 40

_PEGGED = frozenset(
    token.coin_type for token in (USDC, USDSUI, token_by_symbol("USDT"), token_by_symbol("USDe")) if token
)
_PEG_LOW, _PEG_HIGH = Decimal("0.9"), Decimal("1.1")


@dataclass(frozen=True, slots=True)
class Valued:
    """The value of a write: exactly one of the two is None."""

    usd: Usd | None
    reason: str | None
    """Why it has no value: one sentence that names the token."""


def value_moves(moves: Sequence[Amount], prices: Mapping[str, PricePoint], now_ms: int) -> Valued:
    """Return the exact sum of what a write moves.

    Args:
        moves: What the write moves, gas apart.
        prices: Prices by normalised coin type.
        now_ms: Milliseconds since 1970, UTC.
    """
    total = ZERO_USD
    for amount in moves:
        point = prices.get(amount.token.coin_type)
        problem = _problem(amount.token, point, now_ms)
        if point is None or problem is not None:
            return Valued(None, problem)
        try:
            total = total + amount.usd(point.usd)
        except (Inexact, InvalidOperation):
            return Valued(None, f"The value of {amount.token.symbol} cannot be worked out exactly.")
    return Valued(total, None)


def _problem(token: Token, point: PricePoint | None, now_ms: int) -> str | None:
    """Return why a price cannot be used for a token, or None."""
    symbol = token.symbol
    if point is None or point.coin_type != token.coin_type:
        return f"No price is known for {symbol}."
    price = point.usd
    if not price.is_finite() or price <= 0:
        return f"The price given for {symbol} is not a price."
    if not _LOWEST <= price <= _HIGHEST or len(price.as_tuple().digits) > _MAX_DIGITS:
        return f"The price given for {symbol} is absurd."
    if token.coin_type in _PEGGED and not _PEG_LOW <= price <= _PEG_HIGH:
        return f"The price given for {symbol} is far from one dollar."
    if now_ms - point.as_of_ms > MAX_AGE_MS:
        return f"The price of {symbol} is more than 5 minutes old."
    if point.as_of_ms - now_ms > MAX_AHEAD_MS:
        return f"The price of {symbol} is dated in the future."
    return None
