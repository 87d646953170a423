"""Cetus' quotes and swaps as transactions call them, on a real ledger."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tidegate.core.chain.deployments import SANDBOX_CETUS
from tidegate.core.sandbox.encoding import Reader
from tidegate.core.sandbox.modules import cetus
from tidegate.core.sandbox.modules.base import MoveAbort
from tidegate.core.sandbox.modules.clmm_math import MAX_SQRT_PRICE, MIN_SQRT_PRICE, amount_a, amount_b
from tidegate.core.tokens import SUI, USDC

POOL = SANDBOX_CETUS.pools[0]
POOL_TYPE = f"{cetus.POOL}<{POOL.coin_a},{POOL.coin_b}>"
BOB = "0x" + "b0b".rjust(64, "0")
HUNDRED_USDC = 100 * 10**6

# The structs' fields in BCS order, with their bits (Cetus' interface documentation, "Pre swap").
RESULT = (
    ("amount_in", 64),
    ("amount_out", 64),
    ("fee_amount", 64),
    ("fee_rate", 64),
    ("after_sqrt_price", 128),
    ("is_exceed", 8),
)
STEP = (
    ("current_sqrt_price", 128),
    ("target_sqrt_price", 128),
    ("current_liquidity", 128),
    ("amount_in", 64),
    ("amount_out", 64),
    ("fee_amount", 64),
    ("remainer_amount", 64),
)


def quote(chain: Any, amount: int, *, a2b: bool, by_amount_in: bool = True) -> dict[str, Any]:
    ptb = chain.ptb()
    ptb.quote(amount, a2b=a2b, by_amount_in=by_amount_in)
    [(_, result)] = ptb.inspect()
    reader = Reader(result)
    fields: dict[str, Any] = {name: reader.uint(bits) for name, bits in RESULT}
    fields["steps"] = [{name: reader.uint(bits) for name, bits in STEP} for _ in range(reader.length())]
    reader.end()
    return fields


def test_a_hundred_dollars_buy_what_the_feed_says_less_the_fee(chain: Any) -> None:
    fields = quote(chain, HUNDRED_USDC, a2b=True)
    fair = 100 * 10**9 * 10 // 35
    assert fair * 9_970 // 10_000 < fields["amount_out"] < fair * 9_975 // 10_000
    assert fields["fee_amount"] == HUNDRED_USDC * 25 // 10_000
    assert fields["amount_in"] + fields["fee_amount"] == HUNDRED_USDC
    assert fields["is_exceed"] == 0


@pytest.mark.parametrize(("sold", "amount"), [(USDC, HUNDRED_USDC), (SUI, 30 * 10**9)])
def test_quote_equals_the_swap(chain: Any, sold: Any, amount: int) -> None:
    bought = SUI if sold is USDC else USDC
    expected = quote(chain, amount, a2b=sold is USDC)
    before = chain.balance(bought.coin_type)
    ptb = chain.ptb()
    ptb.swap(sold.coin_type, amount, minimum=expected["amount_out"])
    run = ptb.run()
    assert run.effects.failure is None
    gas = run.effects.gas.net if bought is SUI else 0
    assert chain.balance(bought.coin_type) == before + expected["amount_out"] - gas
    assert chain.state(POOL.pool)["current_sqrt_price"] == expected["after_sqrt_price"]


def test_quote_by_output_costs_the_input_that_gives_it(chain: Any) -> None:
    fields = quote(chain, 10 * 10**9, a2b=True, by_amount_in=False)
    assert fields["amount_out"] == 10 * 10**9
    assert quote(chain, fields["amount_in"] + fields["fee_amount"], a2b=True)["amount_out"] >= 10 * 10**9


def test_quote_has_one_step_to_the_end_of_the_range(chain: Any) -> None:
    fields = quote(chain, HUNDRED_USDC, a2b=True)
    [step] = fields["steps"]
    assert step["target_sqrt_price"] == MIN_SQRT_PRICE
    assert step["remainer_amount"] == 0


def test_more_than_the_pool_can_ever_give_aborts(chain: Any) -> None:
    ptb = chain.ptb()
    ptb.quote(2**63, a2b=True, by_amount_in=False)
    abort = ptb.abort()
    assert (abort.module.split("::")[1], abort.code) == ("clmm_math", 6)


def test_a_shallow_pool_takes_a_part_and_says_so() -> None:
    pool = cetus.Pool(coin_a=0, coin_b=0, fee_rate=0, liquidity=1, current_sqrt_price=MAX_SQRT_PRICE - 1)
    step = pool.swap(a2b=False, amount=10, protocol_fee_rate=0)
    assert step.amount_in < 10
    with pytest.raises(MoveAbort) as caught:
        pool.swap(a2b=False, amount=10, protocol_fee_rate=0)
    assert caught.value.code == 11


def test_less_than_the_limit_aborts(chain: Any) -> None:
    out = quote(chain, HUNDRED_USDC, a2b=True)["amount_out"]
    ptb = chain.ptb()
    ptb.swap(USDC.coin_type, HUNDRED_USDC, minimum=out + 1)
    abort = ptb.abort()
    assert (abort.module.split("::")[1], abort.function, abort.code) == (
        "errors",
        "err_amount_out_slippage_check_failed",
        1,
    )
    assert chain.balance(USDC.coin_type) == 100_000_000_000


def test_an_open_swap_is_refused(chain: Any) -> None:
    ptb = chain.ptb()
    ptb.open_swap(USDC.coin_type, SUI.coin_type, ptb.coin(USDC.coin_type, HUNDRED_USDC))
    assert ptb.run().effects.failure.kind.name == "UNUSED_VALUE_WITHOUT_DROP"


def test_a_part_that_was_not_swapped_aborts(chain: Any) -> None:
    ptb = chain.ptb()
    context = ptb.open_swap(USDC.coin_type, SUI.coin_type, ptb.coin(USDC.coin_type, HUNDRED_USDC))
    ptb.hop(context, HUNDRED_USDC - 1, a2b=True)
    ptb.close_swap(context, SUI.coin_type)
    assert ptb.abort().function == "err_remains_balance"


def test_the_largest_amount_stands_for_everything(chain: Any) -> None:
    ptb = chain.ptb()
    context = ptb.open_swap(USDC.coin_type, SUI.coin_type, ptb.coin(USDC.coin_type, HUNDRED_USDC))
    ptb.hop(context, 2**64 - 1, a2b=True)
    ptb.close_swap(context, SUI.coin_type)
    assert ptb.run().effects.failure is None


def test_the_overlay_fee_goes_to_its_recipient(chain: Any) -> None:
    out = quote(chain, HUNDRED_USDC, a2b=True)["amount_out"]
    ptb = chain.ptb()
    coin = ptb.coin(USDC.coin_type, HUNDRED_USDC)
    context = ptb.open_swap(USDC.coin_type, SUI.coin_type, coin, fee_rate=1_000, fee_to=BOB)
    ptb.hop(context, HUNDRED_USDC, a2b=True)
    ptb.close_swap(context, SUI.coin_type)
    ptb.run()
    assert chain.balance(SUI.coin_type, BOB) == out * 1_000 // 1_000_000


@pytest.mark.parametrize(
    ("fee_rate", "fee_to", "function"),
    [(100_001, BOB, "err_too_large_fee_rate"), (1, "0x0", "err_invalid_fee_recipient")],
)
def test_a_bad_fee_aborts(chain: Any, fee_rate: int, fee_to: str, function: str) -> None:
    ptb = chain.ptb()
    coin = ptb.coin(USDC.coin_type, HUNDRED_USDC)
    ptb.open_swap(USDC.coin_type, SUI.coin_type, coin, fee_rate=fee_rate, fee_to=fee_to)
    assert ptb.abort().function == function


def test_a_swap_to_another_coin_than_promised_aborts(chain: Any) -> None:
    ptb = chain.ptb()
    context = ptb.open_swap(USDC.coin_type, SUI.coin_type, ptb.coin(USDC.coin_type, HUNDRED_USDC))
    ptb.close_swap(context, SUI.coin_type)
    assert ptb.abort().module.endswith("::dynamic_field")


def test_capped_context_refuses_a_larger_coin(chain: Any) -> None:
    ptb = chain.ptb()
    arguments = [
        ptb.pure(b"\0"),
        ptb.u64(HUNDRED_USDC - 1),
        ptb.u64(0),
        ptb.u64(0),
        ptb.coin(USDC.coin_type, HUNDRED_USDC),
        ptb.pure(bytes(4)),
        ptb.address("0x" + "0" * 64),
    ]
    router = f"{SANDBOX_CETUS.router_package}::router"
    ptb.call(f"{router}::new_swap_context_v2", arguments, USDC.coin_type, SUI.coin_type)
    abort = ptb.abort()
    assert (abort.function, abort.code) == ("err_exceed_max_amount_in", 7)


def seed() -> dict[str, Any]:
    [pool] = [each for each in cetus.MODULES.seeds(0) if each.id == POOL.pool]
    return dict(pool.state)


def test_genesis_pool_holds_two_million_dollars_on_each_side() -> None:
    state = seed()
    assert 2_000_000 * 10**6 - 10 <= state["coin_a"] <= 2_000_000 * 10**6
    assert abs(state["coin_b"] - 2_000_000 * 10**9 * 10 // 35) < 10**7


@given(st.integers(1_000, 10**12), st.integers(1_000, 10**12))
def test_recentred_pool_has_the_coins_of_its_new_price(price_a: int, price_b: int) -> None:
    before = seed()
    moved = cetus.recentre(POOL_TYPE, before, price_a, price_b)
    pool = cetus.Pool.load(moved.state)
    root = pool.current_sqrt_price
    assert abs(root * root * price_b * 10**6 - (price_a * 10**9 << 128)) * 10**6 <= price_a * 10**9 << 128
    assert pool.coin_a == amount_a(root, MAX_SQRT_PRICE, pool.liquidity)
    assert pool.coin_b == amount_b(MIN_SQRT_PRICE, root, pool.liquidity)
    assert pool.coin_a == before["coin_a"] + moved.minted[POOL.coin_a]
    assert pool.coin_b == before["coin_b"] + moved.minted[POOL.coin_b]


def test_recentring_at_the_same_price_mints_nothing() -> None:
    assert cetus.recentre(POOL_TYPE, seed(), 10, 35).minted == {POOL.coin_a: 0, POOL.coin_b: 0}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(st.lists(st.tuples(st.booleans(), st.integers(1, 10**15)), min_size=1, max_size=10))
def test_pool_always_holds_what_its_position_is_worth(trades: list[tuple[bool, int]]) -> None:
    pool = cetus.Pool.load(seed())
    for a2b, amount in trades:
        pool.swap(a2b=a2b, amount=amount, protocol_fee_rate=2_000)
    root = pool.current_sqrt_price
    assert pool.coin_a - pool.fee_protocol_coin_a >= amount_a(root, MAX_SQRT_PRICE, pool.liquidity) - 1
    assert pool.coin_b - pool.fee_protocol_coin_b >= amount_b(MIN_SQRT_PRICE, root, pool.liquidity) - 1
