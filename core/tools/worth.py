"""What amounts are worth: exact products, rounded only where a report shows dollars."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_HALF_EVEN, Decimal

from tidegate.core.chain.types import PricePoint
from tidegate.core.money import Amount

_CENTS = Decimal("0.01")
_FINE = Decimal("0.000001")

DUST_USD = Decimal("0.01")
"""Holdings below this are left out of lists, not of totals."""


def worth(amount: Amount, price: PricePoint | None) -> Decimal | None:
    """Return the exact value in USD, or None without a usable price."""
    if price is None or not price.usd.is_finite() or price.usd <= 0:
        return None
    return amount.usd(price.usd).value


def total(values: Iterable[Decimal | None]) -> Decimal:
    """Return the exact sum of the values that are known."""
    return sum((value for value in values if value is not None), Decimal(0))


def micro_usd(value: Decimal) -> Decimal:
    """Round dollars for a report to a millionth."""
    return value.quantize(_FINE, ROUND_HALF_EVEN)


def dollars(value: Decimal) -> str:
    """Return dollars as people read them: ``$1,234.50``."""
    return f"${value.quantize(_CENTS, ROUND_HALF_EVEN):,.2f}"


def percent(value: Decimal) -> str:
    """Return a rate as people read it: ``5.12%``."""
    return f"{value.quantize(_CENTS, ROUND_HALF_EVEN)}%"
