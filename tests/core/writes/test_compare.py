from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.core.chain.types import BalanceDelta, GasSummary, Outcome
from tidegate.core.tokens import SUI, USDC
from tidegate.core.tools.base import Expected
from tidegate.core.writes.compare import difference, net_changes

WALLET = "0x" + "a1" * 32
OTHER = "0x" + "b2" * 32
GAS = GasSummary(computation=1_000_000, storage=2_000_000, rebate=500_000)


def outcome(*changes: BalanceDelta) -> Outcome:
    return Outcome("digest", None, GAS, changes)


def gas_paid(more: int = 0) -> BalanceDelta:
    return BalanceDelta(WALLET, SUI.coin_type, -GAS.net + more)


def test_exactly_what_was_asked_passes():
    simulated = outcome(
        gas_paid(), BalanceDelta(WALLET, USDC.coin_type, -5), BalanceDelta(OTHER, USDC.coin_type, 5)
    )
    expected = [Expected(WALLET, USDC, -5, -5), Expected(OTHER, USDC, 5, 5)]

    assert difference(simulated, expected, WALLET) is None


def test_gas_is_not_part_of_a_sui_transfer():
    simulated = outcome(gas_paid(more=-7), BalanceDelta(OTHER, SUI.coin_type, 7))

    assert difference(simulated, [Expected(WALLET, SUI, -7, -7)], WALLET) is None


@pytest.mark.parametrize("moved", [-6, -4, 0, 5])
def test_any_other_amount_is_named(moved):
    simulated = outcome(gas_paid(), BalanceDelta(WALLET, USDC.coin_type, moved))

    problem = difference(simulated, [Expected(WALLET, USDC, -5, -5)], WALLET)

    assert problem is not None
    assert "-0.000005 USDC" in problem


def test_a_second_coin_must_not_leave_the_wallet():
    simulated = outcome(gas_paid(more=-1), BalanceDelta(WALLET, USDC.coin_type, -5))

    problem = difference(simulated, [Expected(WALLET, USDC, -5, -5)], WALLET)

    assert problem is not None
    assert "also loses 1 base units" in problem


def test_a_gift_to_the_wallet_is_no_problem():
    simulated = outcome(gas_paid(more=9), BalanceDelta(WALLET, USDC.coin_type, -5))

    assert difference(simulated, [Expected(WALLET, USDC, -5, -5)], WALLET) is None


def test_a_recipient_who_gets_nothing_is_a_problem():
    simulated = outcome(gas_paid(), BalanceDelta(WALLET, USDC.coin_type, -5))
    expected = [Expected(WALLET, USDC, -5, -5), Expected(OTHER, USDC, 5, 5)]

    problem = difference(simulated, expected, WALLET)

    assert problem is not None
    assert OTHER in problem


def test_changes_of_one_coin_add_up():
    simulated = outcome(
        gas_paid(), BalanceDelta(WALLET, USDC.coin_type, -8), BalanceDelta(WALLET, USDC.coin_type, 3)
    )

    assert net_changes(simulated, WALLET) == {(WALLET, USDC.coin_type): -5}


@given(low=st.integers(-(10**6), 10**6), width=st.integers(0, 10**6), found=st.integers(-(10**7), 10**7))
def test_the_range_decides_and_nothing_else(low: int, width: int, found: int):
    simulated = outcome(gas_paid(), BalanceDelta(WALLET, USDC.coin_type, found))
    expected = [Expected(WALLET, USDC, low, low + width)]

    inside = low <= found <= low + width

    assert (difference(simulated, expected, WALLET) is None) == inside
