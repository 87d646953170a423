from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.core.chain.types import PricePoint
from tidegate.core.money import MAX_U64, ZERO_USD, Amount, Usd
from tidegate.core.policy.valuation import Valued, value_moves
from tidegate.core.tokens import SUI, USDC, Token

NOW_MS = 1_796_000_000_000
FAKE_USDC = Token("USDC", "0x" + "66" * 32 + "::usdc::USDC", 6)


def priced(token: Token, usd: str, as_of_ms: int = NOW_MS) -> dict[str, PricePoint]:
    return {token.coin_type: PricePoint(token.coin_type, Decimal(usd), as_of_ms, "test")}


def one_sui(price: str, as_of_ms: int = NOW_MS) -> Valued:
    return value_moves([Amount(SUI, 10**9)], priced(SUI, price, as_of_ms), NOW_MS)


def test_the_value_is_the_exact_sum_over_every_token() -> None:
    moves = [Amount(SUI, 1_500_000_000), Amount(USDC, 1), Amount(SUI, 1)]
    valued = value_moves(moves, priced(SUI, "3.1") | priced(USDC, "0.9999"), NOW_MS)
    assert valued == Valued(Usd(Decimal("4.650001003")), None)


def test_moving_nothing_is_worth_nothing() -> None:
    assert value_moves([], {}, NOW_MS) == Valued(ZERO_USD, None)


@pytest.mark.parametrize("price", ["0", "-0", "-3", "NaN", "sNaN", "Infinity", "-Infinity"])
def test_what_is_no_price_leaves_the_write_unpriced(price: str) -> None:
    assert one_sui(price) == Valued(None, "The price given for SUI is not a price.")


@pytest.mark.parametrize("price", ["1e-13", "10000000.01", "1." + "1" * 40, "1e400"])
def test_an_absurd_price_leaves_the_write_unpriced(price: str) -> None:
    assert one_sui(price) == Valued(None, "The price given for SUI is absurd.")


@pytest.mark.parametrize("price", ["1e-12", "1e7"])
def test_the_bounds_of_a_price_are_prices(price: str) -> None:
    assert one_sui(price).usd == Usd(Decimal(price))


def test_a_missing_price_names_the_token() -> None:
    moves = [Amount(USDC, 5), Amount(SUI, 5)]
    assert value_moves(moves, priced(USDC, "1"), NOW_MS) == Valued(None, "No price is known for SUI.")


def test_a_price_of_another_coin_filed_under_this_one_is_no_price() -> None:
    prices = {SUI.coin_type: PricePoint(USDC.coin_type, Decimal(1), NOW_MS, "test")}
    assert value_moves([Amount(SUI, 5)], prices, NOW_MS).reason == "No price is known for SUI."


def test_a_look_alike_token_is_not_worth_what_the_real_one_is() -> None:
    assert value_moves([Amount(FAKE_USDC, 10**6)], priced(USDC, "1"), NOW_MS).usd is None


@pytest.mark.parametrize(("age_ms", "known"), [(300_000, True), (300_001, False)])
def test_a_price_is_stale_after_five_minutes(age_ms: int, known: bool) -> None:
    assert (one_sui("3", NOW_MS - age_ms).usd is not None) is known


@pytest.mark.parametrize(("ahead_ms", "known"), [(60_000, True), (60_001, False)])
def test_a_price_of_the_future_is_no_price(ahead_ms: int, known: bool) -> None:
    assert (one_sui("3", NOW_MS + ahead_ms).usd is not None) is known


@pytest.mark.parametrize(
    ("price", "known"), [("0.9", True), ("1.1", True), ("0.8999", False), ("1.1001", False)]
)
def test_a_dollar_coin_far_from_a_dollar_is_unpriced(price: str, known: bool) -> None:
    valued = value_moves([Amount(USDC, 5)], priced(USDC, price), NOW_MS)
    assert (valued.usd is not None) is known


def test_a_sum_that_would_have_to_be_rounded_is_unpriced() -> None:
    odd = Token("ODD", "0x5::odd::ODD", 255)
    moves = [Amount(SUI, 10**18), Amount(odd, 1)]
    valued = value_moves(moves, priced(SUI, "3") | priced(odd, "3"), NOW_MS)
    assert valued == Valued(None, "The value of ODD cannot be worked out exactly.")


@settings(derandomize=True, deadline=None)
@given(
    st.lists(st.integers(0, MAX_U64), max_size=4),
    st.decimals("0.000000000001", "10000000", places=18),
)
def test_values_are_exact(bases: list[int], price: Decimal) -> None:
    valued = value_moves([Amount(SUI, base) for base in bases], priced(SUI, str(price)), NOW_MS)
    assert valued.usd is not None
    assert Fraction(valued.usd.value) == Fraction(sum(bases), 10**9) * Fraction(price)
