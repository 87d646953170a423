from __future__ import annotations

import itertools
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tidegate.core.money import ZERO_USD, Usd
from tidegate.core.store.base import Store

TODAY, TOMORROW, YESTERDAY = "2026-12-01", "2026-12-02", "2026-11-30"

amounts = st.decimals(min_value=0, max_value=10**9, allow_nan=False, allow_infinity=False).filter(
    lambda value: int(value.as_tuple().exponent) >= -40
)


def usd(text: str | Decimal) -> Usd:
    return Usd(Decimal(text))


def reserve(store: Store, attempt_id: str, value: str, *, day: str = TODAY, limit: str = "100") -> bool:
    return store.spend.reserve(attempt_id, "0xme", day, usd(value), usd(limit))


def test_nothing_is_spent_at_first(store: Store) -> None:
    assert store.spend.spent("0xme", TODAY) == ZERO_USD


def test_the_limit_can_be_used_to_the_last_unit_and_not_beyond(store: Store) -> None:
    taken = [reserve(store, f"a{index}", "33.333333333333333333") for index in range(3)]

    assert taken == [True, True, True]
    assert not reserve(store, "a3", "0.000000000000000002")
    assert reserve(store, "a4", "0.000000000000000001")
    assert store.spend.spent("0xme", TODAY) == usd("100")


def test_what_does_not_fit_takes_nothing(store: Store) -> None:
    assert not reserve(store, "a1", "100.01")

    assert store.spend.spent("0xme", TODAY) == ZERO_USD


def test_a_reservation_is_made_once(store: Store) -> None:
    assert reserve(store, "a1", "60")
    assert reserve(store, "a1", "60")
    assert reserve(store, "a1", "60.00", day=TOMORROW, limit="1")

    assert store.spend.spent("0xme", TODAY) == usd("60")


def test_an_attempt_cannot_reserve_another_sum(store: Store) -> None:
    reserve(store, "a1", "60")

    with pytest.raises(ValueError, match="another sum"):
        reserve(store, "a1", "61")


def test_a_released_sum_can_be_taken_by_another(store: Store) -> None:
    reserve(store, "a1", "60")

    store.spend.release("a1")
    store.spend.release("a1")

    assert store.spend.spent("0xme", TODAY) == ZERO_USD
    assert reserve(store, "a2", "100")


def test_a_released_attempt_takes_nothing_again(store: Store) -> None:
    reserve(store, "a1", "60")
    store.spend.release("a1")

    assert not reserve(store, "a1", "60")
    assert store.spend.spent("0xme", TODAY) == ZERO_USD


def test_releasing_what_was_never_taken_is_harmless(store: Store) -> None:
    store.spend.release("a-missing")

    assert reserve(store, "a1", "100")


def test_wallets_have_limits_of_their_own(store: Store) -> None:
    reserve(store, "a1", "100")

    assert store.spend.reserve("a2", "0xother", TODAY, usd("100"), usd("100"))
    assert store.spend.spent("0xother", TODAY) == usd("100")


def test_a_new_day_has_a_fresh_limit(store: Store) -> None:
    reserve(store, "a1", "100")

    assert store.spend.spent("0xme", TOMORROW) == ZERO_USD
    assert reserve(store, "a2", "100", day=TOMORROW)


def test_a_clock_set_back_finds_the_newest_day_spent(store: Store) -> None:
    reserve(store, "a1", "90")

    assert store.spend.spent("0xme", YESTERDAY) == usd("90")
    assert not reserve(store, "a2", "11", day=YESTERDAY)


def test_what_is_spent_with_the_clock_set_back_counts_when_it_is_right_again(store: Store) -> None:
    reserve(store, "a1", "50")

    assert reserve(store, "a2", "50", day=YESTERDAY)

    assert not reserve(store, "a3", "0.01", day=TODAY)


@pytest.mark.parametrize("day", ["2026-13-01", "20261201", "2026-W49-2", "today", "", "2026-12-1x"])
def test_a_day_is_a_calendar_day(store: Store, day: str) -> None:
    with pytest.raises(ValueError, match="is not a day of the form YYYY-MM-DD"):
        reserve(store, "a1", "1", day=day)
    with pytest.raises(ValueError, match="is not a day"):
        store.spend.spent("0xme", day)


def test_a_negative_sum_cannot_raise_the_limit(store: Store) -> None:
    with pytest.raises(ValueError, match="raise the limit"):
        reserve(store, "a1", "-50")


def test_a_sum_that_cannot_be_exact_is_refused_and_takes_nothing(store: Store) -> None:
    reserve(store, "a1", "1E-70")

    with pytest.raises(ArithmeticError):
        reserve(store, "a2", "1E+20", limit="1E+30")

    assert store.spend.spent("0xme", TODAY) == usd("1E-70")


_numbers = itertools.count()


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(amounts, max_size=12), limit=amounts)
def test_the_sum_of_what_was_let_through_is_exact_and_within_the_limit(
    store: Store, values: list[Decimal], limit: Decimal
) -> None:
    wallet, expected = f"0x{next(_numbers)}", ZERO_USD

    for value in values:
        fits = expected + usd(value) <= usd(limit)
        assert store.spend.reserve(f"a{next(_numbers)}", wallet, TODAY, usd(value), usd(limit)) is fits
        expected = expected + usd(value) if fits else expected

    assert store.spend.spent(wallet, TODAY) == expected <= usd(limit)
