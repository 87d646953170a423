"""balance_check: what an account holds, has saved and owes."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tool_house import (
    NAVI_POOLS,
    STRANGER,
    SUI_100,
    USDC_1000,
    House,
    describe_coin,
    forget_coin,
    lend_to,
    save,
)

from tidegate.core.chain.deployments import SANDBOX_NAVI, Deployment
from tidegate.core.errors import BadAddress, WalletMissing
from tidegate.core.money import Amount
from tidegate.core.sandbox import controls
from tidegate.core.sandbox.ledger import Fault
from tidegate.core.tokens import KNOWN_TOKENS, SUI, USDC, token_by_symbol
from tidegate.core.tools.reads.balances import BalanceInput, BalanceOutput, Holding, check_balance

FROG = f"{STRANGER}::frog::FROG"


def balance_of(house: House, address: str | None = None) -> BalanceOutput:
    output = check_balance(BalanceInput(address=address), house.context()).data
    assert isinstance(output, BalanceOutput)
    return output


def sentence(house: House, address: str | None = None) -> str:
    return check_balance(BalanceInput(address=address), house.context()).display_text


def test_a_wallet_is_worth_its_coins_at_the_oracles_prices(house: House) -> None:
    assert balance_of(house) == BalanceOutput(
        address=house.wallet,
        is_self=True,
        available_usd=Decimal(1350),
        savings_usd=Decimal(0),
        debt_usd=Decimal(0),
        gas_reserve_sui=Decimal("0.05"),
        total_usd=Decimal(1350),
        holdings=[
            Holding(
                symbol="USDC",
                coin_type=USDC.coin_type,
                amount=Decimal(1000),
                amount_raw=str(USDC_1000),
                price_usd=Decimal(1),
                usd=Decimal(1000),
            ),
            Holding(
                symbol="SUI",
                coin_type=SUI.coin_type,
                amount=Decimal(100),
                amount_raw=str(SUI_100),
                price_usd=Decimal("3.5"),
                usd=Decimal(350),
            ),
        ],
        price_source="navi-oracle",
        as_of="2027-01-15T08:00:00.000Z",
    )


def test_the_sentence_has_total_and_coins(house: House) -> None:
    assert sentence(house) == "You have $1,350.00 in total: $1,350.00 in the wallet (1000 USDC, 100 SUI)."


def test_savings_and_debt_are_counted_apart(house: House) -> None:
    save(house, Amount(USDC, 400 * 10**6))
    lend_to(house.ledger, house.wallet, USDC, 150 * 10**9)

    balance = balance_of(house)

    assert (balance.savings_usd, balance.debt_usd) == (400, 150)
    assert balance.total_usd == balance.available_usd + 400 - 150
    assert ", $400.00 in savings, $150.00 of debt." in sentence(house)


def test_money_that_is_saved_is_neither_lost_nor_counted_twice(house: House) -> None:
    before = balance_of(house)

    save(house, Amount(USDC, USDC_1000))

    after = balance_of(house)
    assert [holding.symbol for holding in after.holdings] == ["SUI"]
    gas = before.total_usd - after.total_usd
    assert 0 < gas < Decimal("0.1")


def test_the_account_of_somebody_else_is_theirs(house: House) -> None:
    house.befriend("bob", STRANGER)
    controls.faucet(house.ledger, STRANGER, SUI.coin_type, 2 * 10**9)

    balance = balance_of(house, "bob")

    assert (balance.address, balance.is_self, balance.total_usd) == (STRANGER, False, 7)
    assert sentence(house, STRANGER).startswith(f"{STRANGER} has $7.00 in total")


def test_an_account_that_was_never_used_is_empty(house: House) -> None:
    balance = balance_of(house, STRANGER)

    assert (balance.holdings, balance.total_usd, balance.degraded) == ([], 0, False)
    assert balance.price_source == "none"
    assert sentence(house, STRANGER) == f"{STRANGER} has $0.00 in total: an empty wallet."


def test_without_a_wallet_there_is_no_balance(house: House) -> None:
    with pytest.raises(WalletMissing):
        check_balance(BalanceInput(), house.context(wallet=None))


def test_an_account_that_nobody_knows_is_refused(house: House) -> None:
    with pytest.raises(BadAddress):
        balance_of(house, "bob")


def test_dust_is_left_out_of_the_list_but_not_of_the_totals(house: House) -> None:
    controls.faucet(house.ledger, STRANGER, USDC.coin_type, 9_999)
    controls.faucet(house.ledger, STRANGER, SUI.coin_type, 10**9)

    balance = balance_of(house, STRANGER)

    assert [holding.symbol for holding in balance.holdings] == ["SUI"]
    assert balance.total_usd == Decimal("3.509999")


def test_a_cent_is_no_dust(house: House) -> None:
    controls.faucet(house.ledger, STRANGER, USDC.coin_type, 10_000)

    assert [holding.symbol for holding in balance_of(house, STRANGER).holdings] == ["USDC"]


def test_the_most_valuable_coin_comes_first_and_what_has_no_price_last(house: House) -> None:
    for symbol, base in (("wBTC", 10**8), ("ETH", 10**8)):
        token = token_by_symbol(symbol)
        assert token is not None
        controls.faucet(house.ledger, house.wallet, token.coin_type, base)
    controls.set_price(house.ledger, SUI.coin_type, Decimal(20))

    holdings = balance_of(house).holdings

    assert [holding.symbol for holding in holdings] == ["SUI", "USDC", "ETH", "wBTC"]
    assert [holding.usd for holding in holdings] == [2000, 1000, None, None]


def test_a_coin_without_a_price_is_shown_and_said_to_be_missing_in_the_totals(house: House) -> None:
    describe_coin(house.ledger, FROG, "FROG", 2)
    controls.faucet(house.ledger, house.wallet, FROG, 12_345)

    balance = balance_of(house)

    frog = balance.holdings[-1]
    assert (frog.amount, frog.amount_raw, frog.price_usd, frog.usd) == (
        Decimal("123.45"),
        "12345",
        None,
        None,
    )
    assert balance.total_usd == 1350
    assert balance.degraded
    assert balance.degradation_reason == "FROG has no price and is not in the totals."
    assert sentence(house).endswith(" FROG has no price and is not in the totals.")


def test_a_coin_without_metadata_cannot_be_counted_and_is_said_to_be_left_out(house: House) -> None:
    describe_coin(house.ledger, FROG, "FROG", 2)
    controls.faucet(house.ledger, house.wallet, FROG, 12_345)
    forget_coin(house.ledger, FROG)

    balance = balance_of(house)

    assert [holding.symbol for holding in balance.holdings] == ["USDC", "SUI"]
    assert balance.degradation_reason == f"{FROG} has no metadata on chain and is left out."


def test_prices_that_are_out_of_date_leave_amounts_without_dollars(house: House) -> None:
    controls.advance_clock(house.ledger, 60_000)
    controls.set_fault(house.ledger, Fault.LAG.value, 60_000)

    balance = balance_of(house)

    assert balance.price_source == "none"
    assert [(holding.amount, holding.usd) for holding in balance.holdings] == [(100, None), (1000, None)]
    assert balance.degraded


def test_lending_that_cannot_be_read_does_not_hide_the_wallet(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = replace(NAVI_POOLS[USDC.coin_type], asset_id=77)
    monkeypatch.setattr(house.network, "deployment", Deployment(replace(SANDBOX_NAVI, pools=(lost,)), None))

    balance = balance_of(house)

    assert balance.available_usd == 1000
    assert "Savings and debt could not be read: NAVI could not be read" in str(balance.degradation_reason)


def test_a_network_without_lending_says_that_savings_are_not_counted(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(house.network, "deployment", Deployment(None, None))

    balance = balance_of(house)

    assert balance.savings_usd == 0
    assert str(balance.degradation_reason).startswith("Lending is not set up on sandbox")


def test_a_long_list_of_coins_is_shortened_in_the_sentence_only(house: House) -> None:
    for token in KNOWN_TOKENS[2:8]:
        controls.faucet(house.ledger, house.wallet, token.coin_type, 10**9)

    assert " and 2 more)" in sentence(house)
    assert len(balance_of(house).holdings) == 8


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sui=st.integers(1, 10**12), usdc=st.integers(1, 10**12))
def test_a_total_is_the_exact_sum_rounded_once(house: House, sui: int, usdc: int) -> None:
    before = house.holding(SUI, STRANGER), house.holding(USDC, STRANGER)
    controls.faucet(house.ledger, STRANGER, SUI.coin_type, sui)
    controls.faucet(house.ledger, STRANGER, USDC.coin_type, usdc)

    balance = balance_of(house, STRANGER)

    exact = Decimal(before[0] + sui).scaleb(-9) * Decimal("3.5") + Decimal(before[1] + usdc).scaleb(-6)
    assert balance.total_usd == round(exact, 6)
