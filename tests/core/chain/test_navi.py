"""NAVI as it is read, paid into and drawn from, against the sandbox's market."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from tool_house import DAY_MS, NAVI_POOLS, STRANGER, change_reserve, lend_to

from tidegate.core.chain import navi
from tidegate.core.chain.client import SuiNetwork
from tidegate.core.chain.deployments import Deployment
from tidegate.core.chain.types import Build, LendingMarket, LendingPosition, Outcome
from tidegate.core.errors import InsufficientBalance, NetworkError, UsageError
from tidegate.core.money import Amount
from tidegate.core.sandbox import controls
from tidegate.core.sandbox.ledger import Ledger
from tidegate.core.tokens import SUI, USDC, Token, token_by_symbol

from .conftest import USDC_1000

Send = Callable[[Build], Outcome]

SUI_5, USDC_400 = 5 * 10**9, 400 * 10**6
YEAR_MS = 365 * DAY_MS


def deposit(network: SuiNetwork, amount: Amount) -> Build:
    return lambda ptb: navi.deposit(network, ptb, amount)


def withdraw(network: SuiNetwork, amount: Amount) -> Build:
    return lambda ptb: navi.withdraw(network, ptb, amount)


@pytest.fixture
def saved(funded: SuiNetwork, send: Send) -> SuiNetwork:
    """The network on which alice has saved 400 of her 1,000 USDC."""
    send(deposit(funded, Amount(USDC, USDC_400)))
    return funded


# Reading


def test_the_market_is_the_one_that_genesis_made(network: SuiNetwork) -> None:
    assert navi.markets(network) == (
        LendingMarket(
            coin_type=SUI.coin_type,
            supply_apy=Decimal("1.751040"),
            borrow_apy=Decimal("4.56"),
            utilisation=Decimal(48),
            supplied_base=5_000_000 * 10**9,
            borrowed_base=2_400_000 * 10**9,
            ltv=Decimal("0.7"),
            liquidation_threshold=Decimal("0.75"),
        ),
        LendingMarket(
            coin_type=USDC.coin_type,
            supply_apy=Decimal("2.704"),
            borrow_apy=Decimal("5.2"),
            utilisation=Decimal(65),
            supplied_base=8_000_000 * 10**6,
            borrowed_base=5_200_000 * 10**6,
            ltv=Decimal("0.8"),
            liquidation_threshold=Decimal("0.85"),
        ),
    )


def test_a_market_that_nobody_uses_has_no_utilisation(network: SuiNetwork, ledger: Ledger) -> None:
    def empty(reserve: dict[str, Any]) -> None:
        reserve["supply_balance"] = reserve["borrow_balance"] = {"user_state": {}, "total_supply": 0}

    change_reserve(ledger, USDC, empty)

    market = navi.markets(network)[1]
    assert (market.utilisation, market.supplied_base, market.borrowed_base) == (0, 0, 0)


def test_rates_are_those_after_the_last_action(funded: SuiNetwork, send: Send) -> None:
    before = navi.markets(funded)[1]

    send(deposit(funded, Amount(USDC, USDC_1000)))

    after = navi.markets(funded)[1]
    assert after.supplied_base == before.supplied_base + USDC_1000
    assert after.supply_apy < before.supply_apy
    assert after.utilisation < before.utilisation


def test_whoever_never_lent_has_no_positions(network: SuiNetwork) -> None:
    assert navi.positions(network, STRANGER) == ()
    assert navi.supplied(network, STRANGER, USDC) == Amount(USDC, 0)


def test_a_deposit_becomes_a_position_at_the_markets_rate(saved: SuiNetwork, alice: Any) -> None:
    rate = navi.markets(saved)[1].supply_apy

    assert navi.positions(saved, alice.address) == (
        LendingPosition("supply", USDC.coin_type, USDC_400, rate),
    )


def test_deposit_and_debt_in_one_asset_are_two_positions(
    saved: SuiNetwork, ledger: Ledger, alice: Any
) -> None:
    lend_to(ledger, alice.address, USDC, 100 * 10**9)

    assert [(each.kind, each.base) for each in navi.positions(saved, alice.address)] == [
        ("supply", USDC_400),
        ("borrow", 100 * 10**6),
    ]


def test_debt_finer_than_a_base_unit_counts_as_a_whole_one(
    saved: SuiNetwork, ledger: Ledger, alice: Any
) -> None:
    lend_to(ledger, alice.address, USDC, 1)

    assert navi.positions(saved, alice.address)[1].base == 1


def test_a_deposit_finer_than_a_base_unit_is_not_shown(
    network: SuiNetwork, ledger: Ledger, alice: Any
) -> None:
    def leave_dust(reserve: dict[str, Any]) -> None:
        reserve["supply_balance"]["user_state"][alice.address] = 999

    change_reserve(ledger, USDC, leave_dust)

    assert navi.positions(network, alice.address) == ()


def test_a_years_interest_is_what_the_rate_promised(saved: SuiNetwork, ledger: Ledger, alice: Any) -> None:
    (before,) = navi.positions(saved, alice.address)

    controls.advance_clock(ledger, YEAR_MS)

    (after,) = navi.positions(saved, alice.address)
    # The rate is shown to a millionth of a percent, which is 4 base units of this deposit.
    assert abs(after.base - USDC_400 - USDC_400 * before.apy / 100) <= 4


def test_a_years_debt_grows_by_more_than_the_rate_because_it_compounds(
    saved: SuiNetwork, ledger: Ledger, alice: Any
) -> None:
    lend_to(ledger, alice.address, USDC, 100 * 10**9)
    rate = navi.positions(saved, alice.address)[1].apy / 100

    controls.advance_clock(ledger, YEAR_MS)

    owed = Decimal(navi.positions(saved, alice.address)[1].base).scaleb(-6)
    assert owed > 100 * (1 + rate)
    assert abs(owed - 100 * rate.exp()) < Decimal("0.001")


@pytest.mark.parametrize("ms", [999, 1_000, 2_000, 3_000, DAY_MS + 1, 400 * DAY_MS])
def test_interest_shown_is_the_interest_the_contract_adds(
    saved: SuiNetwork, ledger: Ledger, alice: Any, send: Send, ms: int
) -> None:
    # So much that it earns something every second.
    lend_to(ledger, alice.address, USDC, 333_333_333_333_333)
    controls.advance_clock(ledger, ms)
    shown = navi.positions(saved, alice.address)

    send(deposit(saved, Amount(USDC, 1)))

    booked = navi.positions(saved, alice.address)
    assert [each.base for each in booked] == [shown[0].base + 1, shown[1].base]


# Paying in


@pytest.mark.parametrize(("token", "base"), [(USDC, USDC_400), (SUI, SUI_5), (USDC, 1), (USDC, USDC_1000)])
def test_a_deposit_takes_exactly_its_amount(
    funded: SuiNetwork, ledger: Ledger, alice: Any, send: Send, token: Token, base: int
) -> None:
    before = ledger.balances(alice.address)

    outcome = send(deposit(funded, Amount(token, base)))

    gas = outcome.gas.net if token == SUI else 0
    assert ledger.balances(alice.address).get(token.coin_type, 0) == before[token.coin_type] - base - gas
    assert navi.supplied(funded, alice.address, token) == Amount(token, base)


def test_more_than_the_wallet_holds_cannot_be_deposited(funded: SuiNetwork, alice: Any) -> None:
    with pytest.raises(InsufficientBalance, match="hold 1000 USDC"):
        funded.draft(alice.address, deposit(funded, Amount(USDC, USDC_1000 + 1)))


# Drawing


@pytest.mark.parametrize(("token", "base"), [(USDC, USDC_400), (SUI, SUI_5), (USDC, 1)])
def test_a_withdrawal_gives_exactly_its_amount(
    funded: SuiNetwork, ledger: Ledger, alice: Any, send: Send, token: Token, base: int
) -> None:
    send(deposit(funded, Amount(USDC, USDC_400)))
    send(deposit(funded, Amount(SUI, SUI_5)))
    before = ledger.balances(alice.address)

    outcome = send(withdraw(funded, Amount(token, base)))

    gas = outcome.gas.net if token == SUI else 0
    assert ledger.balances(alice.address)[token.coin_type] == before[token.coin_type] + base - gas


def test_a_withdrawal_of_everything_leaves_no_position(saved: SuiNetwork, alice: Any, send: Send) -> None:
    send(withdraw(saved, navi.supplied(saved, alice.address, USDC)))

    assert navi.positions(saved, alice.address) == ()


@pytest.mark.parametrize("also_owes", [False, True])
def test_the_prices_of_all_that_is_saved_and_owed_are_brought_up_to_date(
    funded: SuiNetwork, ledger: Ledger, alice: Any, send: Send, also_owes: bool
) -> None:
    send(deposit(funded, Amount(SUI, SUI_5)))
    if also_owes:
        lend_to(ledger, alice.address, USDC, 10**9)
    else:
        send(deposit(funded, Amount(USDC, USDC_400)))
    controls.advance_clock(ledger, DAY_MS)

    send(withdraw(funded, Amount(SUI, SUI_5 // 2)))

    assert navi.supplied(funded, alice.address, SUI).base >= SUI_5 // 2


def test_what_the_pool_has_lent_out_cannot_be_withdrawn(
    saved: SuiNetwork, ledger: Ledger, alice: Any
) -> None:
    # 2,800,000 and alice's 400 are at hand; of those, all but 150 are lent.
    lend_to(ledger, STRANGER, USDC, 2_800_250 * 10**9)

    assert navi.supplied(saved, alice.address, USDC) == Amount(USDC, 150 * 10**6)


def test_a_pool_that_lent_more_than_it_has_gives_nothing(
    saved: SuiNetwork, ledger: Ledger, alice: Any
) -> None:
    lend_to(ledger, STRANGER, USDC, 9_000_000 * 10**9)

    assert navi.supplied(saved, alice.address, USDC) == Amount(USDC, 0)


# Where it cannot be done


def test_a_network_without_navi_has_no_lending(network: SuiNetwork, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "deployment", Deployment(None, None))

    for ask in (navi.markets, lambda at: navi.positions(at, STRANGER)):
        with pytest.raises(UsageError, match="not set up on sandbox") as raised:
            ask(network)
        assert raised.value.hint is not None


def test_a_token_without_a_market_is_refused_with_those_that_have_one(funded: SuiNetwork, alice: Any) -> None:
    eth = token_by_symbol("ETH")
    assert eth is not None

    for ask in (
        lambda: navi.supplied(funded, alice.address, eth),
        lambda: funded.draft(alice.address, deposit(funded, Amount(eth, 1))),
        lambda: funded.draft(alice.address, withdraw(funded, Amount(eth, 1))),
    ):
        with pytest.raises(UsageError, match="no market for ETH") as raised:
            ask()
        assert raised.value.hint == "It has SUI, USDC."


def test_a_contract_that_cannot_be_read_is_a_fault_of_the_network(
    network: SuiNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    navi_ids = network.deployment.navi
    assert navi_ids is not None
    lost = replace(navi_ids, pools=(replace(NAVI_POOLS[USDC.coin_type], asset_id=77),))
    monkeypatch.setattr(network, "deployment", Deployment(lost, None))

    with pytest.raises(NetworkError, match="NAVI could not be read"):
        navi.markets(network)


def test_amounts_of_a_coin_whose_decimals_are_not_known_are_not_guessed(
    network: SuiNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    navi_ids = network.deployment.navi
    assert navi_ids is not None
    strange = replace(NAVI_POOLS[USDC.coin_type], coin_type=f"{STRANGER}::coin::COIN")
    monkeypatch.setattr(network, "deployment", Deployment(replace(navi_ids, pools=(strange,)), None))

    with pytest.raises(NetworkError, match="decimals") as raised:
        navi.markets(network)
    assert not raised.value.retryable
