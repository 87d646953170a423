"""savings_info and rates_info."""

from __future__ import annotations

from decimal import Decimal

import pytest
from tool_house import STRANGER, House, change_reserve, forget_coin, lend_to, save

from tidegate.core.chain import navi
from tidegate.core.errors import UnknownToken, UsageError, WalletMissing
from tidegate.core.money import Amount
from tidegate.core.sandbox import controls
from tidegate.core.sandbox.ledger import Fault
from tidegate.core.tokens import SUI, USDC
from tidegate.core.tools.reads.lending import (
    RATES_INFO,
    RatesInput,
    RatesOutput,
    SavingsInput,
    SavingsOutput,
    read_rates,
    read_savings,
)
from tidegate.core.tools.registry import parse_input


def savings_of(house: House, address: str | None = None) -> SavingsOutput:
    output = read_savings(SavingsInput(address=address), house.context()).data
    assert isinstance(output, SavingsOutput)
    return output


def rates(house: House, **fields: object) -> RatesOutput:
    output = read_rates(RatesInput.model_validate(fields), house.context()).data
    assert isinstance(output, RatesOutput)
    return output


# Savings


def test_whoever_saved_nothing_earns_nothing(house: House) -> None:
    savings = savings_of(house)

    assert (savings.positions, savings.supplied_usd, savings.blended_apy, savings.daily_earning) == (
        [],
        0,
        0,
        0,
    )
    assert read_savings(SavingsInput(), house.context()).display_text == "Nothing is saved yet."


def test_a_deposit_is_shown_with_what_it_earns(house: House) -> None:
    save(house, Amount(USDC, 400 * 10**6))

    savings = savings_of(house)

    (position,) = savings.positions
    assert (position.type, position.protocol, position.symbol) == ("supply", "NAVI", "USDC")
    assert (position.amount, position.amount_raw, position.usd) == (400, "400000000", 400)
    assert savings.supplied_usd == 400
    assert savings.blended_apy == position.apy
    yearly = 400 * position.apy / 100
    assert savings.daily_earning == round(yearly / 365, 6)
    assert savings.monthly_projected == round(yearly / 12, 6)


def test_the_sentence_says_where_how_much_and_what_a_month_brings(house: House) -> None:
    save(house, Amount(USDC, 400 * 10**6))

    assert read_savings(SavingsInput(), house.context()).display_text == (
        "$400.00 is saved in NAVI (400 USDC at 2.70%), earning about $0.90 a month at today's rates."
    )


def test_rates_of_two_deposits_are_weighted_by_their_value(house: House) -> None:
    save(house, Amount(USDC, 100 * 10**6))
    save(house, Amount(SUI, 20 * 10**9))

    savings = savings_of(house)

    sui, usdc = savings.positions
    assert (sui.usd, usdc.usd) == (70, 100)
    assert savings.blended_apy == round((70 * sui.apy + 100 * usdc.apy) / 170, 6)


def test_a_loan_is_listed_but_earns_nothing(house: House) -> None:
    save(house, Amount(USDC, 400 * 10**6))
    before = savings_of(house)
    lend_to(house.ledger, house.wallet, SUI, 2 * 10**9)

    savings = savings_of(house)

    assert [(each.type, each.symbol, each.usd) for each in savings.positions] == [
        ("borrow", "SUI", 7),
        ("supply", "USDC", 400),
    ]
    assert savings.supplied_usd == 400
    assert savings.monthly_projected == before.monthly_projected


def test_whoever_only_owes_has_saved_nothing(house: House) -> None:
    lend_to(house.ledger, house.wallet, SUI, 2 * 10**9)

    assert read_savings(SavingsInput(), house.context()).display_text == "Nothing is saved yet."


def test_savings_of_somebody_else_are_theirs(house: House) -> None:
    house.befriend("bob", STRANGER)

    savings = savings_of(house, "bob")

    assert (savings.address, savings.is_self) == (STRANGER, False)
    assert savings_of(house).is_self


def test_without_a_wallet_there_are_no_savings(house: House) -> None:
    with pytest.raises(WalletMissing):
        read_savings(SavingsInput(), house.context(wallet=None))


def test_a_deposit_without_a_price_is_shown_and_said_to_be_missing_in_the_totals(house: House) -> None:
    save(house, Amount(USDC, 400 * 10**6))
    controls.advance_clock(house.ledger, 60_000)
    controls.set_fault(house.ledger, Fault.LAG.value, 60_000)

    savings = savings_of(house)

    assert [(each.amount_raw[:3], each.usd) for each in savings.positions] == [("400", None)]
    assert (savings.supplied_usd, savings.blended_apy) == (0, 0)
    assert savings.degraded
    assert savings.degradation_reason == "USDC has no price and is not in the totals."


def test_a_deposit_without_metadata_is_said_to_be_left_out(house: House) -> None:
    save(house, Amount(USDC, 400 * 10**6))
    forget_coin(house.ledger, USDC.coin_type)

    savings = savings_of(house)

    assert savings.positions == []
    assert savings.degradation_reason == f"{USDC.coin_type} has no metadata on chain and is left out."


# Rates


def test_the_market_is_listed_highest_supply_rate_first(house: House) -> None:
    markets = rates(house).markets

    assert [market.symbol for market in markets] == ["USDC", "SUI"]
    usdc = markets[0]
    assert (usdc.supply_apy, usdc.borrow_apy, usdc.utilisation) == (Decimal("2.704"), Decimal("5.2"), 65)
    assert (usdc.tvl_usd, usdc.ltv, usdc.threshold) == (8_000_000, Decimal("0.8"), Decimal("0.85"))
    assert markets[1].tvl_usd == 17_500_000


def test_the_order_follows_the_rates(house: House) -> None:
    change_reserve(house.ledger, SUI, lambda reserve: reserve.update(current_supply_rate=navi.RAY // 10))

    assert rates(house).markets[0].symbol == "SUI"


def test_the_sentence_names_both_rates_of_each_market(house: House) -> None:
    assert read_rates(RatesInput(), house.context()).display_text == (
        "Lending rates a year on NAVI: USDC earns 2.70% and costs 5.20%, SUI earns 1.75% and costs 4.56%."
    )


@pytest.mark.parametrize(
    ("fields", "symbols"),
    [
        ({"assets": ["sui"]}, ["SUI"]),
        ({"assets": ["SUI", USDC.coin_type]}, ["USDC", "SUI"]),
        ({"stable_only": True}, ["USDC"]),
        ({"assets": ["SUI"], "stable_only": True}, []),
        ({"assets": ["ETH"]}, []),
        ({"assets": []}, []),
        ({"top_n": 1}, ["USDC"]),
    ],
)
def test_filters_leave_what_matches_all_of_them(
    house: House, fields: dict[str, object], symbols: list[str]
) -> None:
    assert [market.symbol for market in rates(house, **fields).markets] == symbols


def test_a_filter_that_nothing_matches_is_said_so(house: House) -> None:
    result = read_rates(RatesInput(assets=["ETH"]), house.context())

    assert result.display_text == "No lending market matches."


def test_an_asset_that_nobody_knows_is_refused(house: House) -> None:
    with pytest.raises(UnknownToken):
        rates(house, assets=["UDSC"])


@pytest.mark.parametrize("fields", [{"top_n": 0}, {"top_n": 51}, {"assets": ["SUI"] * 21}, {"asset": "SUI"}])
def test_filters_out_of_range_are_refused(fields: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="rates_info cannot take this input"):
        parse_input(RATES_INFO, fields)


def test_rates_need_no_wallet(house: House) -> None:
    assert read_rates(RatesInput(), house.context(wallet=None)).data == rates(house)


def test_a_market_without_a_price_has_rates_but_no_value(house: House) -> None:
    controls.advance_clock(house.ledger, 60_000)
    controls.set_fault(house.ledger, Fault.LAG.value, 60_000)

    assert [(market.symbol, market.tvl_usd) for market in rates(house).markets] == [
        ("USDC", None),
        ("SUI", None),
    ]


def test_a_market_whose_token_the_network_does_not_describe_is_left_out(house: House) -> None:
    forget_coin(house.ledger, USDC.coin_type)

    assert [market.symbol for market in rates(house).markets] == ["SUI"]
