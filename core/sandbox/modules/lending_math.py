"""NAVI's lending maths: rays, the kinked rate curve, and how the two indices of a reserve grow.

Source: naviprotocol/navi-smart-contracts, lending_core (ray_math, calculator, logic, pool). Rates, ratios and
indices are rays (1e27 = one). Amounts inside the market have nine decimals whatever the coin has; what the
storage keeps of them is *scaled*: divided by the index of the day, so that interest reaches every holder by
one change of the index.
"""

from __future__ import annotations

from dataclasses import dataclass

RAY = 10**27
_HALF_RAY = RAY // 2
SECONDS_PER_YEAR = 60 * 60 * 24 * 365
MARKET_DECIMALS = 9


def ray_mul(a: int, b: int) -> int:
    """Return the product of two rays, rounded half up."""
    return (a * b + _HALF_RAY) // RAY


def ray_div(a: int, b: int) -> int:
    """Return the quotient of two rays, rounded half up."""
    return (a * RAY + b // 2) // b


def ray_div_down(a: int, b: int) -> int:
    """Return the quotient of two rays, rounded down."""
    return a * RAY // b


def ray_div_up(a: int, b: int) -> int:
    """Return the quotient of two rays, rounded up."""
    return -(-a * RAY // b)


@dataclass(frozen=True, slots=True)
class RateCurve:
    """How the borrow rate of a reserve follows its utilisation; every field is a ray."""

    base: int
    """Yearly rate when nothing is lent."""
    multiplier: int
    """Slope below the optimal utilisation."""
    jump: int
    """Slope above it."""
    optimal: int
    reserve_factor: int
    """Share of the interest that goes to the treasury."""

    def borrow_rate(self, used: int) -> int:
        """Return the yearly borrow rate at a utilisation."""
        below = min(used, self.optimal)
        return self.base + ray_mul(below, self.multiplier) + ray_mul(used - below, self.jump)

    def supply_rate(self, used: int) -> int:
        """Return the yearly supply rate at a utilisation: what borrowers pay less the treasury's share."""
        return ray_mul(ray_mul(self.borrow_rate(used), used), RAY - self.reserve_factor)


def utilisation(supplied: int, borrowed: int) -> int:
    """Return borrowed / supplied as a ray; both are market amounts with interest."""
    return ray_div(borrowed, supplied) if borrowed else 0


def linear_interest(seconds: int, rate: int) -> int:
    """Return the factor by which a supply index grows."""
    return RAY + rate * seconds // SECONDS_PER_YEAR


def compounded_interest(seconds: int, rate: int) -> int:
    """Return the factor by which a borrow index grows.

    The contract takes the first terms of the binomial series of (1 + rate per second) ^ seconds.
    """
    if not seconds:
        return RAY
    per_second = rate // SECONDS_PER_YEAR
    squared = ray_mul(per_second, per_second)
    cubed = ray_mul(squared, per_second)
    pairs = seconds * (seconds - 1)
    return RAY + per_second * seconds + pairs * squared // 2 + pairs * max(seconds - 2, 0) * cubed // 6


@dataclass(frozen=True, slots=True)
class Accrual:
    """A reserve's indices after some time, and what the treasury earned."""

    supply_index: int
    borrow_index: int
    treasury: int
    """Scaled supply that is newly the treasury's."""


def accrue(
    *,
    seconds: int,
    supply_index: int,
    borrow_index: int,
    supply_rate: int,
    borrow_rate: int,
    scaled_borrow: int,
    reserve_factor: int,
) -> Accrual:
    """Return a reserve after `seconds` at its current rates: supply grows linearly, debt compounds."""
    new_supply = ray_mul(linear_interest(seconds, supply_rate), supply_index)
    new_borrow = ray_mul(compounded_interest(seconds, borrow_rate), borrow_index)
    interest = ray_mul(scaled_borrow, new_borrow - borrow_index)
    treasury = ray_div(ray_mul(interest, reserve_factor), new_supply)
    return Accrual(new_supply, new_borrow, treasury)


def normal_amount(amount: int, decimals: int) -> int:
    """Return base units of a coin as a market amount; digits beyond the ninth are cut off."""
    return _rescale(amount, decimals, MARKET_DECIMALS)


def unnormal_amount(amount: int, decimals: int) -> int:
    """Return a market amount in base units of a coin, rounded down: a payout never rounds up."""
    return _rescale(amount, MARKET_DECIMALS, decimals)


def _rescale(amount: int, have: int, want: int) -> int:
    if want >= have:
        return amount * power_of_ten(want - have)
    return amount // power_of_ten(have - want)


def power_of_ten(digits: int) -> int:
    """Return 10 to the power of a number of digits."""
    return int(10**digits)
