"""Prices as the lending market's oracle has them."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from tool_house import DAY_MS, NAVI_POOLS, STRANGER, rewrite

from tidegate.core.chain.client import SuiNetwork
from tidegate.core.chain.deployments import SANDBOX_NAVI, Deployment
from tidegate.core.chain.prices import CACHE_MS, SOURCE, OnChainPrices
from tidegate.core.chain.types import PricePoint
from tidegate.core.errors import NetworkError
from tidegate.core.sandbox import controls
from tidegate.core.sandbox.ledger import Fault, Ledger
from tidegate.core.tokens import SUI, USDC, token_by_symbol

from .conftest import START_MS, StandingTime

BOTH = (SUI.coin_type, USDC.coin_type)


@pytest.fixture
def prices(network: SuiNetwork, time: StandingTime) -> OnChainPrices:
    return OnChainPrices(network, time.clock)


def usd_of_sui(prices: OnChainPrices) -> Decimal | None:
    point = prices.read([SUI.coin_type]).get(SUI.coin_type)
    return None if point is None else point.usd


def test_prices_are_the_feeds_with_their_time_and_source(prices: OnChainPrices) -> None:
    assert prices.read(BOTH) == {
        SUI.coin_type: PricePoint(SUI.coin_type, Decimal("3.5"), START_MS, SOURCE),
        USDC.coin_type: PricePoint(USDC.coin_type, Decimal(1), START_MS, SOURCE),
    }


def test_only_what_is_asked_for_is_answered(prices: OnChainPrices) -> None:
    prices.read(BOTH)

    assert list(prices.read([USDC.coin_type, USDC.coin_type])) == [USDC.coin_type]
    assert prices.read([]) == {}


def test_a_coin_that_the_oracle_does_not_follow_has_no_price(prices: OnChainPrices) -> None:
    eth = token_by_symbol("ETH")
    assert eth is not None

    assert list(prices.read([eth.coin_type, SUI.coin_type, f"{STRANGER}::coin::COIN"])) == [SUI.coin_type]


def test_a_price_keeps_every_digit_the_oracle_has(prices: OnChainPrices, ledger: Ledger) -> None:
    controls.set_price(ledger, SUI.coin_type, Decimal("3.123456789"))

    assert usd_of_sui(prices) == Decimal("3.123456789")


def test_a_price_is_not_asked_for_again_within_its_time(
    prices: OnChainPrices, ledger: Ledger, time: StandingTime
) -> None:
    prices.read(BOTH)
    controls.set_price(ledger, SUI.coin_type, Decimal(4))

    time.ms += CACHE_MS - 1
    assert usd_of_sui(prices) == Decimal("3.5")

    time.ms += 1
    assert prices.read([SUI.coin_type])[SUI.coin_type] == PricePoint(
        SUI.coin_type, Decimal(4), START_MS + CACHE_MS, SOURCE
    )


def test_each_price_grows_old_by_itself(prices: OnChainPrices, ledger: Ledger, time: StandingTime) -> None:
    prices.read([USDC.coin_type])
    time.ms += CACHE_MS - 1
    prices.read([SUI.coin_type])
    time.ms += 1

    points = prices.read(BOTH)

    assert points[USDC.coin_type].as_of_ms == START_MS + CACHE_MS
    assert points[SUI.coin_type].as_of_ms == START_MS + CACHE_MS - 1


def test_a_clock_that_was_set_back_keeps_no_price_fresh(
    prices: OnChainPrices, ledger: Ledger, time: StandingTime
) -> None:
    prices.read(BOTH)
    controls.set_price(ledger, SUI.coin_type, Decimal(4))
    time.ms -= 1

    assert usd_of_sui(prices) == Decimal(4)


def test_reading_refreshes_prices_that_nobody_asked_for_in_days(
    prices: OnChainPrices, ledger: Ledger
) -> None:
    controls.advance_clock(ledger, 30 * DAY_MS)
    controls.set_price(ledger, SUI.coin_type, Decimal(2))

    assert usd_of_sui(prices) == Decimal(2)


def test_a_clock_that_goes_on_while_the_oracle_is_read_loses_no_price(
    prices: OnChainPrices, ledger: Ledger, time: StandingTime
) -> None:
    controls.advance_clock(ledger, DAY_MS)
    time.step_ms = 1

    assert set(prices.read(BOTH)) == set(BOTH)


def test_a_price_that_is_out_of_date_is_no_price(prices: OnChainPrices, ledger: Ledger) -> None:
    controls.advance_clock(ledger, DAY_MS)
    controls.set_fault(ledger, Fault.LAG.value, 60_000)

    assert prices.read(BOTH) == {}


def test_a_price_that_went_out_of_date_is_forgotten_and_comes_back(
    prices: OnChainPrices, ledger: Ledger, time: StandingTime
) -> None:
    prices.read(BOTH)
    controls.set_fault(ledger, Fault.LAG.value, DAY_MS)
    time.ms += DAY_MS
    assert prices.read(BOTH) == {}

    controls.set_fault(ledger, Fault.LAG.value, 0)
    assert prices.read(BOTH) == {}

    time.ms += CACHE_MS
    assert usd_of_sui(prices) == Decimal("3.5")


def test_a_price_of_zero_is_no_price(prices: OnChainPrices, ledger: Ledger) -> None:
    row = str(NAVI_POOLS[SUI.coin_type].oracle_id)
    rewrite(ledger, SANDBOX_NAVI.price_oracle, lambda state: state["price_oracles"][row].update(value=0))
    controls.set_fault(ledger, Fault.LAG.value, 60_000)

    assert list(prices.read(BOTH)) == [USDC.coin_type]


def test_a_network_without_an_oracle_has_no_prices(
    network: SuiNetwork, prices: OnChainPrices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "deployment", Deployment(None, None))

    assert prices.read(BOTH) == {}


def test_an_oracle_that_cannot_be_read_is_a_fault_of_the_network(
    network: SuiNetwork, prices: OnChainPrices, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = replace(NAVI_POOLS[SUI.coin_type], feed_id=STRANGER)
    monkeypatch.setattr(network, "deployment", Deployment(replace(SANDBOX_NAVI, pools=(wrong,)), None))

    with pytest.raises(NetworkError, match="price oracle could not be read"):
        prices.read([SUI.coin_type])
