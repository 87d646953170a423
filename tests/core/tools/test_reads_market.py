"""token_prices and swap_quote."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tool_house import START_MS, House, open_house

from tidegate.core.chain import cetus
from tidegate.core.chain.deployments import SANDBOX_CETUS
from tidegate.core.clock import iso_ms
from tidegate.core.errors import BadAmount, UnknownToken, UsageError
from tidegate.core.money import MAX_U64, Amount
from tidegate.core.sandbox import controls
from tidegate.core.sandbox.ledger import Fault
from tidegate.core.tokens import SUI, USDC
from tidegate.core.tools.reads.market import (
    SWAP_QUOTE,
    PricesInput,
    PricesOutput,
    QuoteInput,
    QuoteOutput,
    TokenPrice,
    ask_pools,
    describe_quote,
    least_out,
    read_prices,
    read_quote,
    spendable,
)
from tidegate.core.tools.registry import parse_input


def prices_of(house: House, **fields: Any) -> PricesOutput:
    output = read_prices(PricesInput(**fields), house.context()).data
    assert isinstance(output, PricesOutput)
    return output


def quote_of(house: House, **fields: Any) -> QuoteOutput:
    output = read_quote(parse_input(SWAP_QUOTE, fields), house.context()).data
    assert isinstance(output, QuoteOutput)
    return output


# Prices


def test_a_price_has_its_source_and_time(house: House) -> None:
    assert prices_of(house, symbols=["sui"]).prices == [
        TokenPrice(
            coin_type=SUI.coin_type,
            symbol="SUI",
            price_usd=Decimal("3.5"),
            as_of=iso_ms(START_MS),
            source="navi-oracle",
        )
    ]


def test_symbols_and_coin_types_may_be_mixed(house: House) -> None:
    output = prices_of(house, symbols=["SUI"], coin_types=[USDC.coin_type])

    assert [price.symbol for price in output.prices] == ["SUI", "USDC"]
    assert (output.missing, output.degraded) == ([], False)


def test_a_token_without_a_price_is_named(house: House) -> None:
    result = read_prices(PricesInput(symbols=["SUI", "ETH"]), house.context())

    assert isinstance(result.data, PricesOutput)
    assert (result.data.missing, result.data.degraded) == (["ETH"], True)
    assert result.display_text == "1 SUI is worth $3.50. No price is known for ETH."


def test_if_no_token_has_a_price_there_is_no_answer(house: House) -> None:
    with pytest.raises(UnknownToken, match="Nobody gives a price for ETH, WAL"):
        prices_of(house, symbols=["ETH", "WAL"])


def test_a_price_that_is_out_of_date_is_missing(house: House) -> None:
    controls.advance_clock(house.ledger, 60_000)
    controls.set_fault(house.ledger, Fault.LAG.value, 60_000)

    with pytest.raises(UnknownToken, match="SUI"):
        prices_of(house, symbols=["SUI"])


def test_no_tokens_are_no_question(house: House) -> None:
    with pytest.raises(UsageError, match="Which tokens"):
        prices_of(house)


@pytest.mark.parametrize(
    ("price", "shown"),
    [("1234.567", "$1,234.57"), ("1", "$1.00"), ("0.0625", "$0.0625"), ("0.000001", "$0.000001")],
)
def test_small_prices_are_shown_to_the_last_digit(house: House, price: str, shown: str) -> None:
    controls.set_price(house.ledger, SUI.coin_type, Decimal(price))

    text = read_prices(PricesInput(symbols=["SUI"]), house.context()).display_text

    assert text == f"1 SUI is worth {shown}."


def test_prices_need_no_wallet(house: House) -> None:
    assert read_prices(PricesInput(symbols=["SUI"]), house.context(wallet=None)).data


# Quotes


def test_a_quote_is_the_pools_answer_in_whole_tokens(house: House) -> None:
    pools = cetus.quote_exact_in(house.network, Amount(SUI, 2 * 10**9), USDC)

    output = quote_of(house, **{"from": "SUI", "to": "USDC", "amount": 2})

    assert (output.from_token, output.to_token, output.by_amount_in) == ("SUI", "USDC", True)
    assert (output.from_coin_type, output.to_coin_type) == (SUI.coin_type, USDC.coin_type)
    assert (output.amount_in, output.amount_out) == (2, pools.amount_out.value)
    assert (output.fee, output.price_impact) == (pools.fee.value, pools.price_impact)
    assert output.rate == output.amount_out / 2
    assert output.slippage == Decimal("0.01")
    assert output.expires_at == iso_ms(START_MS + 30_000)


def test_a_quote_names_its_route(house: House) -> None:
    (hop,) = quote_of(house, **{"from": "usdc", "to": "sui", "amount": "10"}).route

    assert hop.model_dump(by_alias=True) == {
        "dex": "CETUS",
        "pool": SANDBOX_CETUS.pools[0].pool,
        "from": "USDC",
        "to": "SUI",
        "share": 100,
    }


def test_a_coin_in_the_middle_of_a_route_goes_by_its_type(house: House) -> None:
    quote = cetus.quote_exact_in(house.network, Amount(SUI, 2 * 10**9), USDC)
    (hop,) = quote.hops
    middle = "0x" + "77" * 32 + "::mid::MID"
    longer = replace(quote, hops=(replace(hop, coin_out=middle), replace(hop, coin_in=middle)))

    route = describe_quote(longer, True, Decimal("0.01"), START_MS).route

    assert [(each.from_token, each.to_token) for each in route] == [("SUI", middle), (middle, "USDC")]


def test_the_amount_may_be_what_is_to_be_received(house: House) -> None:
    output = quote_of(house, **{"from": "USDC", "to": "SUI", "amount": "10", "by_amount_in": False})

    assert output.amount_out == 10
    assert 35 < output.amount_in < 36
    assert not output.by_amount_in


def test_the_sentence_says_what_comes_out_at_best_and_at_least(house: House) -> None:
    arguments = parse_input(SWAP_QUOTE, {"from": "SUI", "to": "USDC", "amount": 2, "slippage": 0.005})

    assert read_quote(arguments, house.context()).display_text == (
        "2 SUI gives 6.982475 USDC now, at least 6.947562 USDC with 0.5% slippage; "
        "the fee is 0.005 SUI and the price impact 0.0004%."
    )


@pytest.mark.parametrize(("amount", "paid"), [("all", "99.95"), ("half", "49.975"), ("10%", "9.995")])
def test_a_share_is_taken_of_what_the_wallet_can_spend(house: House, amount: str, paid: str) -> None:
    output = quote_of(house, **{"from": "SUI", "to": "USDC", "amount": amount})

    assert output.amount_in == Decimal(paid)


def test_a_share_without_a_wallet_is_a_share_of_nothing(house: House) -> None:
    nobody = house.context(wallet=None)

    assert ask_pools("SUI", "USDC", "1", True, nobody).amount_in == Amount(SUI, 10**9)
    with pytest.raises(BadAmount, match="no wallet that 'all' could be a share of"):
        ask_pools("SUI", "USDC", "all", True, nobody)


def test_a_share_cannot_be_received(house: House) -> None:
    with pytest.raises(BadAmount, match="must be a number"):
        ask_pools("SUI", "USDC", "half", False, house.context())


@pytest.mark.parametrize("words", [("SUI", "sui"), ("USDC", USDC.coin_type)])
def test_a_token_is_not_swapped_to_itself(house: House, words: tuple[str, str]) -> None:
    with pytest.raises(UsageError, match="cannot be swapped to itself"):
        ask_pools(*words, "1", True, house.context())


@pytest.mark.parametrize(("amount", "by_amount_in"), [("0.0000000001", True), ("0.0000001", False)])
def test_an_amount_finer_than_its_token_is_not_rounded(house: House, amount: str, by_amount_in: bool) -> None:
    with pytest.raises(BadAmount, match="finer than its smallest unit"):
        ask_pools("SUI", "USDC", amount, by_amount_in, house.context())


@pytest.mark.parametrize("slippage", [0, 0.0009, 0.051, 1, -0.01, "much"])
def test_a_slippage_out_of_range_is_refused(slippage: object) -> None:
    with pytest.raises(UsageError, match="swap_quote cannot take this input: slippage"):
        parse_input(SWAP_QUOTE, {"from": "SUI", "to": "USDC", "amount": 1, "slippage": slippage})


@pytest.mark.parametrize("slippage", [0.001, 0.05, "0.01"])
def test_a_slippage_within_its_range_is_taken(slippage: object) -> None:
    arguments = parse_input(SWAP_QUOTE, {"from": "SUI", "to": "USDC", "amount": 1, "slippage": slippage})

    assert arguments.slippage == Decimal(str(slippage))


def test_a_quote_may_be_written_with_python_names_too() -> None:
    assert QuoteInput(from_token="SUI", to_token="USDC", amount="1") == parse_input(
        SWAP_QUOTE, {"from": "SUI", "to": "USDC", "amount": "1"}
    )


# What is left for gas, and the floor


@pytest.mark.parametrize(("held", "left"), [(0, 0), (49_999_999, 0), (50_000_000, 0), (50_000_001, 1)])
def test_of_sui_the_gas_reserve_stays(house: House, held: int, left: int) -> None:
    poor = "0x" + "99" * 32
    if held:
        controls.faucet(house.ledger, poor, SUI.coin_type, held)

    assert spendable(SUI.coin_type, house.context(wallet=poor)) == Amount(SUI, left)


def test_of_other_coins_all_can_be_spent(house: House) -> None:
    assert spendable(USDC.coin_type, house.context()) == Amount(USDC, 1_000 * 10**6)


@given(
    out=st.integers(0, MAX_U64),
    slippage=st.decimals(min_value="0.001", max_value="0.05", places=18),
)
def test_the_floor_is_below_the_quote_by_the_slippage_and_never_more_than_a_unit_further(
    quote_of_sui: Any, out: int, slippage: Decimal
) -> None:
    floor = least_out(replace(quote_of_sui, amount_out=Amount(USDC, out)), slippage).base

    numerator, denominator = (1 - slippage).as_integer_ratio()
    assert floor * denominator <= out * numerator < (floor + 1) * denominator


@pytest.fixture(scope="module")
def quote_of_sui(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with ExitStack() as opened:
        house = open_house(tmp_path_factory.mktemp("quote"), opened)
        return cetus.quote_exact_in(house.network, Amount(SUI, 10**9), USDC)
