"""NAVI's functions as transactions call them, on a real ledger."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tidegate.core.chain.deployments import CLOCK, SANDBOX_NAVI, SYSTEM_STATE
from tidegate.core.sandbox import controls
from tidegate.core.sandbox.ledger import Fault
from tidegate.core.sandbox.modules.lending_math import RAY
from tidegate.core.tokens import SUI, USDC

PACKAGE = SANDBOX_NAVI.package
POOL = {pool.coin_type: pool for pool in SANDBOX_NAVI.pools}
USDC_ID = POOL[USDC.coin_type].asset_id
ALICE = "0x" + "a11ce".rjust(64, "0")
YEAR_MS = 365 * 24 * 3_600 * 1_000


def deposited(chain: Any, amount: int, coin_type: str = USDC.coin_type) -> None:
    ptb = chain.ptb()
    ptb.deposit(coin_type, amount)
    assert ptb.run().effects.failure is None


def withdrawn(chain: Any, amount: int, coin_type: str = USDC.coin_type) -> Any:
    ptb = chain.ptb()
    ptb.update_price(coin_type)
    ptb.withdraw(coin_type, amount)
    return ptb.run()


def read(chain: Any, function: str, *arguments: Any, storage: bool = True) -> list[Any]:
    ptb = chain.ptb()
    first = [ptb.shared(SANDBOX_NAVI.storage)] if storage else []
    rest = [ptb.u8(each) if isinstance(each, int) else ptb.address(each) for each in arguments]
    ptb.call(f"{PACKAGE}::{function}", [*first, *rest])
    answer: list[Any] = ptb.read()
    return answer


def test_deposit_moves_the_coin_into_the_pool(chain: Any) -> None:
    deposited(chain, 40_000_000)
    assert chain.balance(USDC.coin_type) == 100_000_000_000 - 40_000_000
    assert chain.state(POOL[USDC.coin_type].pool)["balance"] == 2_800_000 * 10**6 + 40_000_000


def test_deposit_returns_what_the_coin_has_above_the_amount(chain: Any) -> None:
    ptb = chain.ptb()
    ptb.deposit(USDC.coin_type, 30_000_000, coin=ptb.coin(USDC.coin_type, 50_000_000))
    ptb.run()
    assert chain.balance(USDC.coin_type) == 100_000_000_000 - 30_000_000


@pytest.mark.parametrize(("amount", "code"), [(0, 46_000), (51, 46_001)])
def test_deposit_of_another_amount_than_the_coin_has_aborts(chain: Any, amount: int, code: int) -> None:
    ptb = chain.ptb()
    ptb.deposit(USDC.coin_type, amount, coin=ptb.coin(USDC.coin_type, 50))
    abort = ptb.abort()
    assert (abort.module.split("::")[1], abort.function, abort.code) == ("utils", "split_coin", code)


def test_deposit_and_withdrawal_return_the_deposit(chain: Any) -> None:
    deposited(chain, 40_000_000)
    assert withdrawn(chain, 40_000_000).effects.failure is None
    assert chain.balance(USDC.coin_type) == 100_000_000_000


def test_withdrawal_of_more_than_there_is_takes_everything_with_interest(chain: Any) -> None:
    deposited(chain, 1_000_000_000)
    [supply_rate, _borrow_rate] = read(chain, "storage::get_current_rate", USDC_ID)
    chain.now_ms += YEAR_MS
    withdrawn(chain, 2_000_000_000)
    earned = chain.balance(USDC.coin_type) - 100_000_000_000
    assert abs(earned - 1_000_000_000 * supply_rate // RAY) <= 1
    assert read(chain, "storage::get_user_assets", ALICE) == [b"", b""]


def test_sui_pool_is_refreshed_before_a_withdrawal(chain: Any) -> None:
    deposited(chain, 5 * 10**9, SUI.coin_type)
    ptb = chain.ptb()
    ptb.update_price(SUI.coin_type)
    pool = ptb.shared(POOL[SUI.coin_type].pool)
    ptb.call(f"{PACKAGE}::pool::refresh_stake", [pool, ptb.shared(SYSTEM_STATE)])
    ptb.withdraw(SUI.coin_type, 5 * 10**9)
    assert ptb.run().effects.failure is None


def test_withdrawal_without_a_fresh_price_aborts(chain: Any) -> None:
    deposited(chain, 40_000_000)
    chain.now_ms += 30_001
    ptb = chain.ptb()
    ptb.withdraw(USDC.coin_type, 1_000_000)
    abort = ptb.abort()
    assert (abort.module.split("::")[1], abort.function, abort.code) == (
        "calculator",
        "calculate_value",
        1502,
    )


def test_every_collateral_of_the_user_needs_a_fresh_price(chain: Any) -> None:
    deposited(chain, 40_000_000)
    deposited(chain, 10**9, SUI.coin_type)
    chain.now_ms += 30_001
    assert withdrawn(chain, 1_000_000).effects.failure.abort.code == 1502


def test_a_lagging_feed_does_not_refresh_the_price(chain: Any) -> None:
    deposited(chain, 40_000_000)
    chain.now_ms += 30_001
    controls.set_fault(chain.ledger, Fault.LAG.value, 60_000)
    run = withdrawn(chain, 1_000_000)
    assert run.effects.failure.abort.code == 1502


def test_oracle_takes_over_the_feeds_price(chain: Any) -> None:
    controls.set_price(chain.ledger, SUI.coin_type, Decimal("3.1"))
    ptb = chain.ptb()
    ptb.update_price(SUI.coin_type)
    ptb.run()
    ptb = chain.ptb()
    ptb.call(
        f"{SANDBOX_NAVI.oracle_package}::oracle::get_token_price",
        [ptb.shared(CLOCK), ptb.shared(SANDBOX_NAVI.price_oracle), ptb.u8(POOL[SUI.coin_type].oracle_id)],
    )
    assert ptb.read() == [True, 3_100_000_000, 9]
    chain.now_ms += 30_001
    assert ptb.read() == [False, 3_100_000_000, 9]


def test_price_object_of_another_feed_aborts(chain: Any) -> None:
    ptb = chain.ptb()
    ptb.update_price(SUI.coin_type, pyth_price_info=POOL[USDC.coin_type].pyth_price_info)
    assert ptb.abort().code == 6007


def test_getters_tell_the_reserve(chain: Any) -> None:
    assert read(chain, "storage::get_reserves_count") == [USDC_ID + 1]
    assert read(chain, "storage::get_coin_type", USDC_ID) == [USDC.coin_type[2:]]
    assert read(chain, "storage::get_index", USDC_ID) == [RAY, RAY]
    assert read(chain, "storage::get_total_supply", USDC_ID) == [8_000_000 * 10**9, 5_200_000 * 10**9]
    assert read(chain, "storage::get_current_rate", USDC_ID)[1] == 52 * RAY // 1000
    assert read(chain, "storage::get_asset_ltv", USDC_ID) == [8 * RAY // 10]
    assert read(chain, "storage::get_liquidation_factors", USDC_ID)[2] == 85 * RAY // 100
    assert read(chain, "storage::get_borrow_rate_factors", USDC_ID) == [
        0,
        8 * RAY // 100,
        11 * RAY // 10,
        2 * RAY // 10,
        8 * RAY // 10,
    ]


def test_getters_tell_the_user(chain: Any) -> None:
    deposited(chain, 40_000_000)
    assert read(chain, "storage::get_user_balance", USDC_ID, ALICE) == [40 * 10**9, 0]
    assert read(chain, "logic::user_collateral_balance", USDC_ID, ALICE) == [40 * 10**9]
    assert read(chain, "storage::get_user_assets", ALICE) == [bytes([USDC_ID]), b""]


def test_health_factor_of_a_user_without_debt_is_the_largest_number(chain: Any) -> None:
    ptb = chain.ptb()
    storage, oracle = ptb.shared(SANDBOX_NAVI.storage), ptb.shared(SANDBOX_NAVI.price_oracle)
    ptb.call(
        f"{PACKAGE}::logic::user_health_factor", [ptb.shared(CLOCK), storage, oracle, ptb.address(ALICE)]
    )
    assert ptb.read() == [2**256 - 1]


def test_a_failed_withdrawal_changes_nothing(chain: Any) -> None:
    deposited(chain, 40_000_000)
    before = chain.state(SANDBOX_NAVI.storage)
    chain.now_ms += 30_001
    ptb = chain.ptb()
    ptb.withdraw(USDC.coin_type, 1_000_000)
    ptb.abort()
    assert chain.state(SANDBOX_NAVI.storage) == before


def test_a_withdrawals_balance_can_not_be_left_lying(chain: Any) -> None:
    deposited(chain, 40_000_000)
    ptb = chain.ptb()
    ptb.withdraw(USDC.coin_type, 1_000_000)
    del ptb._commands[1:]
    assert ptb.run().effects.failure.kind.name == "UNUSED_VALUE_WITHOUT_DROP"
