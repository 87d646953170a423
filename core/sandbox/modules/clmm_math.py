"""Concentrated-liquidity maths as Cetus computes it: square-root prices in Q64.64 and single swap steps.

Source: the published bytecode of Cetus' CLMM package, module clmm_math. The price of a pool is coin B per
coin A in base units; `sqrt_price` is its square root times 2^64. Every rounding is in the pool's favour:
what comes in is rounded up, what goes out is rounded down.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

Q64 = 1 << 64
MIN_SQRT_PRICE = 4_295_048_016
"""Square-root price at the lowest tick, -443,636."""
MAX_SQRT_PRICE = 79_226_673_515_401_279_992_447_579_055
"""Square-root price at the highest tick, 443,636."""
FEE_DENOMINATOR = 1_000_000


@dataclass(frozen=True, slots=True)
class SwapStep:
    """One step of a swap within one range of constant liquidity."""

    amount_in: int
    """Without the fee."""
    amount_out: int
    fee: int
    """In the coin that comes in."""
    sqrt_price: int
    """Price after the step."""


def swap_step(
    *, sqrt_price: int, target: int, liquidity: int, amount: int, fee_rate: int, a2b: bool, by_amount_in: bool
) -> SwapStep:
    """Return how far an amount moves a price towards a target.

    Args:
        sqrt_price: Current price, Q64.64.
        target: Price at which the liquidity ends: not above the current one when `a2b`, else not below.
        liquidity: Liquidity of the range.
        amount: What is left to swap, with the fee when `by_amount_in`, else what must come out.
        fee_rate: In millionths of what comes in.
        a2b: Sell coin A (the price falls) or coin B (it rises).
        by_amount_in: Whether `amount` is what comes in or what goes out.
    """
    if not liquidity or sqrt_price == target:
        return SwapStep(0, 0, 0, target)
    if by_amount_in:
        without_fee = amount * (FEE_DENOMINATOR - fee_rate) // FEE_DENOMINATOR
        to_target = amount_in(sqrt_price, target, liquidity, a2b=a2b)
        if to_target > without_fee:
            reached = price_after_input(sqrt_price, liquidity, without_fee, a2b=a2b)
            out = amount_out(sqrt_price, reached, liquidity, a2b=a2b)
            return SwapStep(without_fee, out, amount - without_fee, reached)
        out = amount_out(sqrt_price, target, liquidity, a2b=a2b)
        return SwapStep(to_target, out, fee_on(to_target, fee_rate), target)
    to_target = amount_out(sqrt_price, target, liquidity, a2b=a2b)
    partial = to_target > amount
    reached = price_after_output(sqrt_price, liquidity, amount, a2b=a2b) if partial else target
    paid = amount_in(sqrt_price, reached, liquidity, a2b=a2b)
    return SwapStep(paid, amount if partial else to_target, fee_on(paid, fee_rate), reached)


def fee_on(net: int, fee_rate: int) -> int:
    """Return the fee that comes on top of an amount so that it is `fee_rate` of the sum, rounded up."""
    return _ceil_div(net * fee_rate, FEE_DENOMINATOR - fee_rate)


def amount_in(sqrt_price: int, target: int, liquidity: int, *, a2b: bool) -> int:
    """Return what must come in to move the price to the target, rounded up."""
    return amount_a(sqrt_price, target, liquidity) if a2b else amount_b(sqrt_price, target, liquidity)


def amount_out(sqrt_price: int, target: int, liquidity: int, *, a2b: bool) -> int:
    """Return what goes out while the price moves to the target, rounded down."""
    distance = abs(sqrt_price - target)
    if a2b:
        return liquidity * distance // Q64
    return liquidity * distance * Q64 // (sqrt_price * target)


def amount_a(one: int, other: int, liquidity: int) -> int:
    """Return the coin A that liquidity holds between two prices, rounded up: L * (1/p - 1/q)."""
    return _ceil_div(liquidity * abs(one - other) * Q64, one * other)


def amount_b(one: int, other: int, liquidity: int) -> int:
    """Return the coin B that liquidity holds between two prices, rounded up: L * (p - q)."""
    return _ceil_div(liquidity * abs(one - other), Q64)


def price_after_input(sqrt_price: int, liquidity: int, amount: int, *, a2b: bool) -> int:
    """Return the price after an amount without fee came in."""
    if a2b:
        return _ceil_div(sqrt_price * liquidity * Q64, liquidity * Q64 + sqrt_price * amount)
    return sqrt_price + amount * Q64 // liquidity


def price_after_output(sqrt_price: int, liquidity: int, amount: int, *, a2b: bool) -> int:
    """Return the price after an amount went out; the range must hold more than that."""
    if a2b:
        return sqrt_price - _ceil_div(amount * Q64, liquidity)
    return _ceil_div(sqrt_price * liquidity * Q64, liquidity * Q64 - sqrt_price * amount)


def sqrt_price_of(numerator: int, denominator: int) -> int:
    """Return the Q64.64 square root of a price (coin B per coin A, base units), kept in the tick range."""
    root = isqrt(numerator * Q64 * Q64 // denominator)
    return min(max(root, MIN_SQRT_PRICE), MAX_SQRT_PRICE)


def liquidity_of_a(sqrt_price: int, amount: int) -> int:
    """Return the liquidity that an amount of coin A gives a full-range position, rounded down."""
    upper = MAX_SQRT_PRICE
    return sqrt_price * upper // Q64 * amount // (upper - sqrt_price)


def _ceil_div(a: int, b: int) -> int:
    return -(-a // b)
