from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tidegate.core.sandbox.modules.clmm_math import (
    FEE_DENOMINATOR,
    MAX_SQRT_PRICE,
    MIN_SQRT_PRICE,
    Q64,
    SwapStep,
    amount_a,
    amount_b,
    liquidity_of_a,
    price_after_input,
    price_after_output,
    sqrt_price_of,
    swap_step,
)


class Pool(NamedTuple):
    sqrt_price: int
    liquidity: int
    fee_rate: int = 0

    def swap(self, amount: int, *, a2b: bool, by_amount_in: bool = True) -> SwapStep:
        return swap_step(
            sqrt_price=self.sqrt_price,
            target=MIN_SQRT_PRICE if a2b else MAX_SQRT_PRICE,
            liquidity=self.liquidity,
            amount=amount,
            fee_rate=self.fee_rate,
            a2b=a2b,
            by_amount_in=by_amount_in,
        )

    def after(self, step: SwapStep) -> Pool:
        return self._replace(sqrt_price=step.sqrt_price)

    def reserve_in(self, *, a2b: bool) -> Fraction:
        """Virtual reserve of the coin sold: L / sqrt(P) or L * sqrt(P)."""
        root = Fraction(self.sqrt_price, Q64)
        return self.liquidity / root if a2b else self.liquidity * root

    def reserve_out(self, *, a2b: bool) -> Fraction:
        return self.reserve_in(a2b=not a2b)


# From one to a hundred thousand coin B per coin A, and depths from a village shop to an exchange.
pools = st.builds(
    Pool, st.integers(Q64, Q64 * 300), st.integers(10**10, 10**17), st.sampled_from([0, 100, 2_500, 10_000])
)
trades = st.integers(1, 10**14)
directions = st.booleans()


def test_published_vectors_of_the_price_moves() -> None:
    # cetus_clmm's own tests: test_get_next_price_a_up
    assert price_after_input(10 << 64, 200 << 64, 10_000_000, a2b=True) == 184_467_440_737_090_516_161
    assert price_after_output(10 << 64, 200 << 64, 10_000_000, a2b=False) == 184_467_440_737_100_516_161


@given(pools, trades, directions)
def test_swap_follows_the_constant_product(pool: Pool, amount: int, a2b: bool) -> None:
    step = pool.swap(amount, a2b=a2b)
    assume(step.sqrt_price not in (MIN_SQRT_PRICE, MAX_SQRT_PRICE))
    x, y = pool.reserve_in(a2b=a2b), pool.reserve_out(a2b=a2b)
    exact = y * step.amount_in / (x + step.amount_in)
    # One unit of rounding by each of the two divisions, and what one unit of the Q64.64 price is worth.
    grain = pool.liquidity / Fraction(Q64) if a2b else pool.liquidity * Fraction(Q64) / pool.sqrt_price**2
    assert exact - 2 - 2 * grain <= step.amount_out <= exact


@given(pools, trades, directions)
def test_round_trip_never_profits(pool: Pool, amount: int, a2b: bool) -> None:
    there = pool.swap(amount, a2b=a2b)
    back = pool.after(there).swap(there.amount_out, a2b=not a2b)
    assert back.amount_out <= there.amount_in + there.fee


@given(pools, trades, trades, directions)
def test_splitting_a_trade_never_profits(pool: Pool, first: int, second: int, a2b: bool) -> None:
    whole = pool.swap(first + second, a2b=a2b)
    one = pool.swap(first, a2b=a2b)
    two = pool.after(one).swap(second, a2b=a2b)
    assume(not pool.fee_rate)
    assert one.amount_out + two.amount_out <= whole.amount_out + 1


@given(pools, trades, directions)
def test_asking_for_the_output_costs_at_most_the_input_that_gave_it(
    pool: Pool, amount: int, a2b: bool
) -> None:
    given_in = pool.swap(amount, a2b=a2b)
    assume(given_in.amount_out > 0)
    given_out = pool.swap(given_in.amount_out, a2b=a2b, by_amount_in=False)
    assert given_out.amount_out == given_in.amount_out
    assert given_out.amount_in <= given_in.amount_in
    assert given_out.fee <= given_in.fee


@given(pools, trades, directions)
def test_everything_that_comes_in_is_swapped_or_fee(pool: Pool, amount: int, a2b: bool) -> None:
    step = pool.swap(amount, a2b=a2b)
    assume(step.sqrt_price not in (MIN_SQRT_PRICE, MAX_SQRT_PRICE))
    assert step.amount_in + step.fee == amount
    assert step.fee * FEE_DENOMINATOR >= amount * pool.fee_rate


@given(pools, trades, trades, directions)
def test_price_impact_grows_with_size(pool: Pool, one: int, other: int, a2b: bool) -> None:
    small, large = sorted((one, other))
    moved = [abs(pool.swap(size, a2b=a2b).sqrt_price - pool.sqrt_price) for size in (small, large)]
    assert moved[0] <= moved[1]


def test_fee_is_rounded_up() -> None:
    pool = Pool(Q64, 10**15, fee_rate=2_500)
    assert pool.swap(1_000_001, a2b=True).fee == 2_501


def test_swap_stops_at_the_end_of_the_range() -> None:
    pool = Pool(MIN_SQRT_PRICE * 2, 10**9)
    step = pool.swap(2**64 - 1, a2b=True)
    assert step.sqrt_price == MIN_SQRT_PRICE
    assert step.amount_in + step.fee < 2**64 - 1


@pytest.mark.parametrize("by_amount_in", [True, False])
def test_no_liquidity_moves_the_price_to_the_target_for_free(by_amount_in: bool) -> None:
    step = Pool(Q64, 0).swap(5, a2b=True, by_amount_in=by_amount_in)
    assert step == SwapStep(0, 0, 0, MIN_SQRT_PRICE)


@given(st.integers(Q64, Q64 * 300), st.integers(10**6, 10**15))
def test_liquidity_of_an_amount_is_worth_at_most_that_amount(sqrt_price: int, amount: int) -> None:
    liquidity = liquidity_of_a(sqrt_price, amount)
    assert amount_a(sqrt_price, MAX_SQRT_PRICE, liquidity) <= amount
    assert amount_b(MIN_SQRT_PRICE, sqrt_price, liquidity) > 0


def test_price_stays_inside_the_range() -> None:
    assert sqrt_price_of(4, 1) == 2 * Q64
    assert sqrt_price_of(1, 10**60) == MIN_SQRT_PRICE
    assert sqrt_price_of(10**60, 1) == MAX_SQRT_PRICE
