from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.core.sandbox.modules.lending_math import (
    RAY,
    SECONDS_PER_YEAR,
    RateCurve,
    accrue,
    compounded_interest,
    linear_interest,
    normal_amount,
    ray_div,
    ray_div_down,
    ray_div_up,
    ray_mul,
    unnormal_amount,
    utilisation,
)


def percent(hundredths: int) -> int:
    return hundredths * RAY // 10_000


CURVE = RateCurve(
    base=percent(100),
    multiplier=percent(800),
    jump=percent(11_000),
    optimal=percent(8_000),
    reserve_factor=percent(2_000),
)
rays = st.integers(0, RAY)
amounts = st.integers(0, 2**64 - 1)


@pytest.mark.parametrize(
    ("used", "rate"),
    [
        (0, 100),  # the base rate alone
        (4_000, 420),  # 1 % + 40 % x 8 %
        (8_000, 740),  # 1 % + 80 % x 8 %: the kink
        (9_000, 1_840),  # and (90 % - 80 %) x 110 % more
        (10_000, 2_940),
    ],
)
def test_borrow_rate_follows_the_kinked_curve(used: int, rate: int) -> None:
    assert CURVE.borrow_rate(percent(used)) == percent(rate)


def test_supply_rate_is_the_borrowers_interest_less_the_treasurys_share() -> None:
    # 4.2 % borrow rate, 40 % lent, 80 % of it to suppliers
    assert CURVE.supply_rate(percent(4_000)) == 42 * 4 * 8 * RAY // 100_000


@given(rays, rays)
def test_rates_never_fall_as_more_is_lent(one: int, other: int) -> None:
    low, high = sorted((one, other))
    assert CURVE.borrow_rate(low) <= CURVE.borrow_rate(high)
    assert CURVE.supply_rate(low) <= CURVE.supply_rate(high)


def test_nothing_borrowed_is_no_utilisation() -> None:
    assert utilisation(0, 0) == 0
    assert utilisation(8_000, 5_200) == percent(6_500)


def test_supply_interest_of_a_year_is_the_rate() -> None:
    assert linear_interest(SECONDS_PER_YEAR, percent(500)) == RAY + percent(500)


@given(st.integers(0, 10 * SECONDS_PER_YEAR), st.integers(0, RAY))
def test_compounding_never_grows_less_than_the_line(seconds: int, rate: int) -> None:
    # The rate by second is cut off, which loses less than one unit of the last digit each second.
    assert compounded_interest(seconds, rate) >= linear_interest(seconds, rate) - seconds - 1


def test_debt_of_a_year_grows_by_three_terms_of_the_series() -> None:
    # 1 + r + r^2/2 + r^3/6 at r = 0.5, where e^0.5 = 1.6487; the cube of a second's rate has four digits left
    grown = compounded_interest(SECONDS_PER_YEAR, RAY // 2)
    assert abs(grown - (48 + 24 + 6 + 1) * RAY // 48) < RAY // 10**5


@given(
    seconds=st.integers(0, SECONDS_PER_YEAR),
    used=st.integers(0, RAY),
    supply_index=st.integers(RAY, 3 * RAY),
    borrow_index=st.integers(RAY, 3 * RAY),
    scaled=st.integers(0, 10**18),
)
def test_indices_never_fall(
    seconds: int, used: int, supply_index: int, borrow_index: int, scaled: int
) -> None:
    grown = accrue(
        seconds=seconds,
        supply_index=supply_index,
        borrow_index=borrow_index,
        supply_rate=CURVE.supply_rate(used),
        borrow_rate=CURVE.borrow_rate(used),
        scaled_borrow=scaled,
        reserve_factor=CURVE.reserve_factor,
    )
    assert grown.supply_index >= supply_index
    assert grown.borrow_index >= borrow_index
    assert grown.treasury >= 0


@given(amounts, st.integers(RAY, 5 * RAY))
def test_rounding_down_and_up_enclose_rounding_half_up(amount: int, index: int) -> None:
    assert ray_div_down(amount, index) <= ray_div(amount, index) <= ray_div_up(amount, index)
    assert ray_div_up(amount, index) - ray_div_down(amount, index) <= 1


def test_ray_multiplication_rounds_half_up() -> None:
    assert ray_mul(1, RAY // 2) == 1
    assert ray_mul(1, RAY // 2 - 1) == 0


@given(amounts, st.integers(0, 9))
def test_amounts_of_up_to_nine_decimals_keep_every_digit(amount: int, decimals: int) -> None:
    assert unnormal_amount(normal_amount(amount, decimals), decimals) == amount


def test_a_payout_loses_what_the_coin_can_not_show() -> None:
    assert unnormal_amount(1_999, 6) == 1
    assert normal_amount(1_999, 12) == 1
