"""Dollars: exact products and sums, rounded only where they are shown."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.core.chain.types import PricePoint
from tidegate.core.money import MAX_U64, Amount
from tidegate.core.tokens import SUI, USDC
from tidegate.core.tools.signed_amount import signed_value
from tidegate.core.tools.worth import dollars, micro_usd, percent, total, worth


def priced(usd: Decimal) -> PricePoint:
    return PricePoint(SUI.coin_type, usd, 0, "test")


def test_worth_is_amount_times_price() -> None:
    assert worth(Amount(SUI, 2_500_000_000), priced(Decimal("3.5"))) == Decimal("8.75")


@given(st.integers(0, MAX_U64), st.integers(1, 10**18))
def test_worth_is_exact_to_the_last_digit(base: int, nano_usd: int) -> None:
    value = worth(Amount(SUI, base), priced(Decimal(nano_usd).scaleb(-9)))

    assert value is not None
    numerator, denominator = value.as_integer_ratio()
    assert numerator * 10**18 == base * nano_usd * denominator


@pytest.mark.parametrize("usd", ["0", "-1", "NaN", "Infinity", "-Infinity"])
def test_a_price_that_cannot_be_gives_no_worth(usd: str) -> None:
    assert worth(Amount(SUI, 10**9), priced(Decimal(usd))) is None


def test_without_a_price_there_is_no_worth() -> None:
    assert worth(Amount(SUI, 10**9), None) is None


def test_nothing_is_worth_nothing() -> None:
    assert worth(Amount(SUI, 0), priced(Decimal("3.5"))) == 0


def test_a_total_is_of_what_is_known() -> None:
    assert total([Decimal("0.1"), None, Decimal("0.2")]) == Decimal("0.3")
    assert total([None]) == total([]) == 0


@given(st.lists(st.decimals(0, 10**9, places=15), max_size=20))
def test_a_total_does_not_depend_on_the_order(values: list[Decimal]) -> None:
    assert total(values) == total(reversed(values)) == total(sorted(values))


@pytest.mark.parametrize(
    ("value", "rounded"),
    [("1.2345674", "1.234567"), ("1.2345675", "1.234568"), ("1.2345665", "1.234566"), ("3", "3")],
)
def test_dollars_in_reports_have_six_decimals_rounded_to_even(value: str, rounded: str) -> None:
    assert micro_usd(Decimal(value)) == Decimal(rounded)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("0", "$0.00"),
        ("1234.5", "$1,234.50"),
        ("0.005", "$0.00"),
        ("0.015", "$0.02"),
        ("999999999.999", "$1,000,000,000.00"),
    ],
)
def test_dollars_are_shown_in_cents_with_thousands_apart(value: str, shown: str) -> None:
    assert dollars(Decimal(value)) == shown


@pytest.mark.parametrize(("value", "shown"), [("5.123", "5.12%"), ("0", "0.00%"), ("12", "12.00%")])
def test_rates_are_shown_with_two_decimals(value: str, shown: str) -> None:
    assert percent(Decimal(value)) == shown


# Amounts that may be negative


@pytest.mark.parametrize(
    ("base", "value"), [(0, "0"), (1, "0.000001"), (-1, "-0.000001"), (-5_250_000, "-5.25"), (10**30, "1e24")]
)
def test_base_units_of_either_sign_become_whole_tokens(base: int, value: str) -> None:
    assert signed_value(USDC, base) == Decimal(value)


@given(st.integers(-(2**200), 2**200))
def test_no_digit_of_a_change_is_lost(base: int) -> None:
    numerator, denominator = signed_value(SUI, base).as_integer_ratio()

    assert numerator * 10**9 == base * denominator
