"""What a swap prepares, and that the chain keeps its floor."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tool_house import House, carry_out_as_announced, prepare, rewrite

from tidegate.core.chain import cetus
from tidegate.core.chain.deployments import SANDBOX_CETUS
from tidegate.core.errors import BadAmount, UsageError
from tidegate.core.money import MAX_U64, Amount
from tidegate.core.sandbox import controls
from tidegate.core.tokens import SUI, USDC
from tidegate.core.tools.base import Expected

SWAP = {"from": "SUI", "to": "USDC", "amount": 2}


def test_a_swap_is_frozen_with_its_quote_and_floor(house: House) -> None:
    quote = cetus.quote_exact_in(house.network, Amount(SUI, 2 * 10**9), USDC)

    intent = prepare(house, "swap_execute", **SWAP)

    floor = Amount(USDC, quote.amount_out.base * 99 // 100)
    assert (intent.quote, intent.quoted_at_ms) == (quote, house.now_ms)
    assert (intent.min_out, intent.slippage) == (floor, 1)
    assert intent.description == f"Swap 2 SUI to about {quote.amount_out}, at least {floor}"
    assert intent.moves == (quote.amount_in,)
    assert intent.expected == (
        Expected(house.wallet, SUI, -2 * 10**9, -2 * 10**9),
        Expected(house.wallet, USDC, floor.base, MAX_U64),
    )


def test_the_side_that_was_named_stays_as_it_was_named(house: House) -> None:
    fields = {"from": "USDC", "to": "SUI", "amount": "3", "by_amount_in": False}

    intent = prepare(house, "swap_execute", **fields)

    assert (intent.input["amount"], intent.input["by_amount_in"]) == (3, False)
    assert intent.quote is not None
    assert intent.quote.amount_out == Amount(SUI, 3 * 10**9)


def test_a_price_that_moves_within_the_slippage_lets_the_swap_through(house: House) -> None:
    intent = prepare(house, "swap_execute", **SWAP)
    controls.set_price(house.ledger, SUI.coin_type, Decimal("3.47"))

    carry_out_as_announced(house, intent)


def test_a_price_that_moves_beyond_the_slippage_stops_the_swap(house: House) -> None:
    intent = prepare(house, "swap_execute", **SWAP)
    controls.set_price(house.ledger, SUI.coin_type, Decimal("3.46"))

    failure = house.network.draft(house.wallet, intent.build).outcome.failure

    assert failure is not None
    assert "price has moved" in str(cetus.explain_abort(failure))


@pytest.mark.parametrize(("more", "passes"), [(0, True), (1, False)])
def test_a_higher_floor_is_kept_on_chain(house: House, more: int, passes: bool) -> None:
    intent = prepare(house, "swap_execute", **SWAP)
    assert intent.quote is not None
    assert intent.with_floor is not None
    raised = intent.with_floor(Amount(USDC, intent.quote.amount_out.base + more))

    failure = house.network.draft(house.wallet, raised.build).outcome.failure

    assert (failure is None) is passes
    assert raised.min_out == Amount(USDC, intent.quote.amount_out.base + more)
    assert raised.input == intent.input


def test_a_floor_is_never_lowered(house: House) -> None:
    intent = prepare(house, "swap_execute", **SWAP)
    assert intent.with_floor is not None

    assert intent.with_floor(Amount(USDC, 1)).min_out == intent.min_out


def test_a_pool_that_is_dry_refuses_before_anything_is_prepared(house: House) -> None:
    rewrite(house.ledger, SANDBOX_CETUS.pools[0].pool, lambda state: state.update(liquidity=1))

    with pytest.raises(BadAmount, match="too little to give any USDC"):
        prepare(house, "swap_execute", **SWAP)


def test_tokens_without_a_pool_are_refused(house: House) -> None:
    with pytest.raises(UsageError, match="no pool that swaps ETH to USDC"):
        prepare(house, "swap_execute", **{"from": "ETH", "to": "USDC", "amount": 1})


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    amount=st.decimals(min_value="0.001", max_value=2, places=6),
    slippage=st.decimals(min_value="0.001", max_value="0.05", places=4),
    sell_sui=st.booleans(),
    by_amount_in=st.booleans(),
)
def test_every_swap_pays_what_it_says_and_gets_at_least_its_floor(
    house: House, amount: Decimal, slippage: Decimal, sell_sui: bool, by_amount_in: bool
) -> None:
    sold, bought = ("SUI", "USDC") if sell_sui else ("USDC", "SUI")
    fields = {
        "from": sold,
        "to": bought,
        "amount": amount,
        "by_amount_in": by_amount_in,
        "slippage": slippage,
    }

    intent = prepare(house, "swap_execute", **fields)

    assert intent.quote is not None
    assert intent.min_out is not None
    assert intent.min_out.base <= intent.quote.amount_out.base * (1 - slippage)
    carry_out_as_announced(house, intent)
