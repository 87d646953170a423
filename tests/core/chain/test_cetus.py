"""Cetus as it is asked and swapped on, against the sandbox's pool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tool_house import rewrite

from tidegate.core.chain import cetus
from tidegate.core.chain.client import SuiNetwork
from tidegate.core.chain.deployments import SANDBOX_CETUS, Deployment
from tidegate.core.chain.types import Build, MoveFailure, Outcome, SwapHop, SwapQuote
from tidegate.core.errors import BadAmount, InsufficientBalance, NetworkError, Refused, UsageError
from tidegate.core.money import Amount
from tidegate.core.sandbox import controls
from tidegate.core.sandbox.ledger import Ledger
from tidegate.core.sandbox.modules.clmm_math import MIN_SQRT_PRICE
from tidegate.core.tokens import SUI, USDC, Token, token_by_symbol

from .conftest import USDC_1000

Send = Callable[[Build], Outcome]

POOL = SANDBOX_CETUS.pools[0]
USDC_100, SUI_20 = 100 * 10**6, 20 * 10**9


def other(token: Token) -> Token:
    return SUI if token == USDC else USDC


def swap(network: SuiNetwork, quote: SwapQuote, min_out: int) -> Build:
    return lambda ptb: cetus.swap(network, ptb, quote, min_out)


def moved(outcome: Outcome, address: str, token: Token) -> int:
    """Return what an address gained, gas apart."""
    gas = outcome.gas.net if token == SUI else 0
    return gas + sum(
        each.base for each in outcome.changes if (each.address, each.coin_type) == (address, token.coin_type)
    )


# Quotes


@pytest.mark.parametrize("paid", [Amount(USDC, USDC_100), Amount(SUI, SUI_20), Amount(USDC, 2)])
def test_what_a_quote_promises_for_an_input_is_what_the_swap_gives(
    funded: SuiNetwork, alice: Any, send: Send, paid: Amount
) -> None:
    quote = cetus.quote_exact_in(funded, paid, other(paid.token))

    outcome = send(swap(funded, quote, quote.amount_out.base))

    assert quote.amount_in == paid
    assert moved(outcome, alice.address, paid.token) == -paid.base
    assert moved(outcome, alice.address, other(paid.token)) == quote.amount_out.base


@pytest.mark.parametrize("wanted", [Amount(SUI, SUI_20), Amount(USDC, USDC_100), Amount(USDC, 1)])
def test_what_a_quote_asks_for_an_output_buys_that_output(
    funded: SuiNetwork, alice: Any, send: Send, wanted: Amount
) -> None:
    quote = cetus.quote_exact_out(funded, other(wanted.token), wanted)

    outcome = send(swap(funded, quote, wanted.base))

    assert quote.amount_out == wanted
    assert moved(outcome, alice.address, other(wanted.token)) == -quote.amount_in.base
    # Amounts of USDC are coarser than those of SUI: what is paid to the last unit may buy a little more.
    assert 0 <= moved(outcome, alice.address, wanted.token) - wanted.base < 300


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(token=st.sampled_from([USDC, SUI]), base=st.integers(1, 10 * 10**6), by_amount_in=st.booleans())
def test_no_quote_promises_more_than_the_pool_gives(
    funded: SuiNetwork, alice: Any, send: Send, token: Token, base: int, by_amount_in: bool
) -> None:
    try:
        if by_amount_in:
            quote = cetus.quote_exact_in(funded, Amount(token, base), other(token))
        else:
            quote = cetus.quote_exact_out(funded, other(token), Amount(token, base))
    except BadAmount:
        return

    outcome = send(swap(funded, quote, quote.amount_out.base))

    assert moved(outcome, alice.address, quote.amount_in.token) == -quote.amount_in.base
    assert moved(outcome, alice.address, quote.amount_out.token) >= quote.amount_out.base


@pytest.mark.parametrize("paid", [Amount(USDC, USDC_100), Amount(SUI, SUI_20)])
def test_there_and_back_again_loses_both_fees(funded: SuiNetwork, send: Send, paid: Amount) -> None:
    there = cetus.quote_exact_in(funded, paid, other(paid.token))
    send(swap(funded, there, 0))
    back = cetus.quote_exact_in(funded, there.amount_out, paid.token)

    assert paid.base * 99_49 < back.amount_out.base * 100_00 < paid.base * 99_51


def test_a_quote_names_the_pool_its_direction_and_its_fee(network: SuiNetwork) -> None:
    quote = cetus.quote_exact_in(network, Amount(USDC, USDC_100), SUI)

    assert quote.hops == (SwapHop("CETUS", POOL.pool, USDC.coin_type, SUI.coin_type, True, 2_500),)
    assert quote.fee == Amount(USDC, USDC_100 * 25 // 10_000)


def test_the_other_direction_is_another_hop_through_the_same_pool(network: SuiNetwork) -> None:
    (hop,) = cetus.quote_exact_out(network, SUI, Amount(USDC, USDC_100)).hops

    assert hop == SwapHop("CETUS", POOL.pool, SUI.coin_type, USDC.coin_type, False, 2_500)


@pytest.mark.parametrize("token", [USDC, SUI])
def test_price_impact_is_the_part_of_the_pool_that_a_swap_adds(network: SuiNetwork, token: Token) -> None:
    # The pool holds 2,000,000 USDC and as much in SUI: at 1/99 more, a hundredth of the price is lost.
    reserve = {USDC: 2_000_000 * 10**6, SUI: 2_000_000 * 10**10 // 35}[token]
    with_fee = reserve * 10_000 // (99 * 9_975)

    assert cetus.quote_exact_in(network, Amount(token, with_fee), other(token)).price_impact == 1


@pytest.mark.parametrize("token", [USDC, SUI])
def test_price_impact_grows_with_the_amount(network: SuiNetwork, token: Token) -> None:
    impacts = [
        cetus.quote_exact_in(network, Amount(token, size * 10**token.decimals), other(token)).price_impact
        for size in (10, 1_000, 100_000, 10_000_000)
    ]

    assert impacts == sorted(set(impacts))
    assert impacts[0] < Decimal("0.01")
    assert impacts[-1] < 100


def test_both_ways_of_asking_see_the_same_impact(network: SuiNetwork) -> None:
    by_input = cetus.quote_exact_in(network, Amount(USDC, 50_000 * 10**6), SUI)

    assert cetus.quote_exact_out(network, USDC, by_input.amount_out).price_impact == by_input.price_impact


def test_a_quote_of_nothing_has_no_impact(network: SuiNetwork) -> None:
    quote = cetus.quote_exact_out(network, USDC, Amount(SUI, 0))

    assert (quote.amount_in.base, quote.price_impact) == (0, 0)


def test_quotes_follow_the_price(network: SuiNetwork, ledger: Ledger) -> None:
    controls.set_price(ledger, SUI.coin_type, Decimal(7))

    quote = cetus.quote_exact_in(network, Amount(SUI, 10**9), USDC)

    assert quote.amount_out.base == pytest.approx(7 * 10**6 * 0.9975, rel=1e-4)


# The floor


def test_a_swap_that_would_give_less_than_its_floor_is_not_made(funded: SuiNetwork, alice: Any) -> None:
    quote = cetus.quote_exact_in(funded, Amount(USDC, USDC_100), SUI)

    draft = funded.draft(alice.address, swap(funded, quote, quote.amount_out.base + 1))

    failure = draft.outcome.failure
    assert failure is not None
    assert (failure.module, failure.function) == ("errors", "err_amount_out_slippage_check_failed")
    assert cetus.explain_abort(failure) == ("The price has moved: less comes out than the slippage allows.")


def test_a_price_that_moves_after_the_signature_costs_gas_and_nothing_else(
    funded: SuiNetwork, ledger: Ledger, alice: Any
) -> None:
    quote = cetus.quote_exact_in(funded, Amount(USDC, USDC_100), SUI)
    draft = funded.draft(alice.address, swap(funded, quote, quote.amount_out.base))
    assert draft.outcome.failure is None
    controls.set_price(ledger, SUI.coin_type, Decimal("3.51"))

    outcome = funded.execute(draft.bytes, alice.sign(draft.bytes))

    assert outcome.failure is not None
    assert "price has moved" in str(cetus.explain_abort(outcome.failure))
    assert ledger.balances(alice.address)[USDC.coin_type] == USDC_1000
    assert moved(outcome, alice.address, SUI) == 0


def test_a_price_that_moves_in_the_senders_favour_is_the_senders_gain(
    funded: SuiNetwork, ledger: Ledger, alice: Any
) -> None:
    quote = cetus.quote_exact_in(funded, Amount(USDC, USDC_100), SUI)
    draft = funded.draft(alice.address, swap(funded, quote, quote.amount_out.base))
    controls.set_price(ledger, SUI.coin_type, Decimal("3.4"))

    outcome = funded.execute(draft.bytes, alice.sign(draft.bytes))

    assert outcome.failure is None
    assert moved(outcome, alice.address, SUI) > quote.amount_out.base


def test_a_swap_of_nothing_says_so(funded: SuiNetwork, alice: Any) -> None:
    quote = replace(cetus.quote_exact_in(funded, Amount(USDC, USDC_100), SUI), amount_in=Amount(USDC, 0))

    failure = funded.draft(alice.address, swap(funded, quote, 0)).outcome.failure

    assert failure is not None
    assert cetus.explain_abort(failure) == "Nothing would be swapped."


def test_more_than_the_wallet_holds_cannot_be_swapped(funded: SuiNetwork, alice: Any) -> None:
    quote = cetus.quote_exact_in(funded, Amount(USDC, USDC_1000 + 1), SUI)

    with pytest.raises(InsufficientBalance, match="hold 1000 USDC"):
        funded.draft(alice.address, swap(funded, quote, 0))


@pytest.mark.parametrize(
    "failure",
    [
        MoveFailure("The transaction failed: insufficient gas."),
        MoveFailure("", module="errors", code=1),
        MoveFailure("", module="errors", function="err_remains_balance", code=2),
        MoveFailure("", module="pool", function="err_amount_in_is_zero", code=3),
    ],
)
def test_a_failure_that_is_not_known_to_be_the_routers_gets_no_words(failure: MoveFailure) -> None:
    assert cetus.explain_abort(failure) is None


# Where it cannot be done


@pytest.mark.parametrize("paid", [Amount(USDC, 0), Amount(USDC, 1), Amount(SUI, 286)])
def test_too_little_to_give_anything_is_a_bad_amount(network: SuiNetwork, paid: Amount) -> None:
    with pytest.raises(BadAmount, match=f"too little to give any {other(paid.token)}"):
        cetus.quote_exact_in(network, paid, other(paid.token))


def test_a_pool_at_the_end_of_its_range_takes_nothing_more(network: SuiNetwork, ledger: Ledger) -> None:
    rewrite(ledger, POOL.pool, lambda state: state.update(current_sqrt_price=MIN_SQRT_PRICE))

    with pytest.raises(Refused, match="does not hold enough"):
        cetus.quote_exact_in(network, Amount(USDC, USDC_100), SUI)


def test_a_pool_that_cannot_give_all_that_is_wanted_gives_nothing(
    network: SuiNetwork, ledger: Ledger
) -> None:
    rewrite(ledger, POOL.pool, lambda state: state.update(liquidity=1_000))

    with pytest.raises(Refused, match="does not hold enough") as raised:
        cetus.quote_exact_out(network, USDC, Amount(SUI, SUI_20))
    assert raised.value.hint == "Swap a smaller amount."


def test_tokens_without_a_pool_are_refused_in_either_direction(network: SuiNetwork) -> None:
    eth = token_by_symbol("ETH")
    assert eth is not None

    with pytest.raises(UsageError, match="no pool that swaps ETH to SUI on sandbox"):
        cetus.quote_exact_in(network, Amount(eth, 1), SUI)
    with pytest.raises(UsageError, match="no pool that swaps SUI to ETH on sandbox"):
        cetus.quote_exact_out(network, SUI, Amount(eth, 1))


def test_a_token_has_no_pool_with_itself(network: SuiNetwork) -> None:
    with pytest.raises(UsageError, match="no pool that swaps SUI to SUI"):
        cetus.quote_exact_in(network, Amount(SUI, 10**9), SUI)


def test_a_network_without_cetus_has_no_swaps(
    funded: SuiNetwork, alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    quote = cetus.quote_exact_in(funded, Amount(SUI, 10**9), USDC)
    monkeypatch.setattr(funded, "deployment", Deployment(None, None))

    with pytest.raises(UsageError, match="Swaps are not set up on sandbox"):
        cetus.quote_exact_in(funded, Amount(SUI, 10**9), USDC)
    with pytest.raises(UsageError, match="Swaps are not set up on sandbox"):
        funded.draft(alice.address, swap(funded, quote, 0))


def test_a_contract_that_cannot_be_asked_is_a_fault_of_the_network(
    network: SuiNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = replace(SANDBOX_CETUS, clmm_package=SANDBOX_CETUS.router_package)
    monkeypatch.setattr(network, "deployment", Deployment(None, lost))

    with pytest.raises(NetworkError, match="Cetus could not be asked"):
        cetus.quote_exact_in(network, Amount(SUI, 10**9), USDC)
