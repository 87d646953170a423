"""The lending market by itself: no transaction, no ledger."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tidegate.core.chain.deployments import SANDBOX_NAVI
from tidegate.core.sandbox.modules import navi
from tidegate.core.sandbox.modules.base import MoveAbort
from tidegate.core.sandbox.modules.lending_math import RAY, SECONDS_PER_YEAR
from tidegate.core.sandbox.modules.navi_market import (
    E_EXCEEDED_MAXIMUM_DEPOSIT_CAP,
    E_INSUFFICIENT_BALANCE,
    E_INVALID_AMOUNT,
    E_INVALID_COIN_TYPE,
    E_INVALID_PRICE,
    E_PAUSED,
    E_USER_HAVE_NO_COLLATERAL,
    E_USER_IS_UNHEALTHY,
    HEALTH_WITHOUT_DEBT,
    Market,
)
from tidegate.core.sandbox.modules.protocol_genesis import HOUSE
from tidegate.core.tokens import SUI, USDC, Token

NOW = 1_800_000_000_000
USER = "0x" + "0a".rjust(64, "0")
ASSET = {pool.coin_type: pool.asset_id for pool in SANDBOX_NAVI.pools}
ONE = 10**9
"""One whole coin as a market amount."""


def market() -> Market:
    [storage] = [seed for seed in navi.MODULES.seeds(NOW) if seed.id == SANDBOX_NAVI.storage]
    return Market.load(storage.state)


def prices(sui: int = 3_500_000_000, *, valid: bool = True):  # type: ignore[no-untyped-def]
    table = {ASSET[SUI.coin_type]: (valid, sui, 9), ASSET[USDC.coin_type]: (valid, 1_000_000, 6)}
    return lambda oracle_id: table[oracle_id]


def deposit(to: Market, amount: int, *, token: Token = USDC, at: int = NOW, user: str = USER) -> None:
    to.deposit(now_ms=at, asset=ASSET[token.coin_type], coin_type=token.coin_type, user=user, amount=amount)


def withdraw(
    of: Market, amount: int, *, token: Token = USDC, at: int = NOW, user: str = USER, source: object = None
) -> int:
    return of.withdraw(
        now_ms=at,
        asset=ASSET[token.coin_type],
        coin_type=token.coin_type,
        user=user,
        amount=amount,
        prices=source or prices(),  # type: ignore[arg-type]
    )


def usdc(of: Market):  # type: ignore[no-untyped-def]
    return of.reserve(ASSET[USDC.coin_type])


def test_genesis_rates_are_those_of_the_curve() -> None:
    # 5.2 of 8 million lent: 65 % x 8 % = 5.2 %, and suppliers get 65 % of that less a fifth
    reserve = usdc(market())
    assert reserve.current_borrow_rate == 52 * RAY // 1000
    assert reserve.current_supply_rate == 52 * 65 * 8 * RAY // 10**6


def test_the_house_is_healthy_at_genesis() -> None:
    assert RAY * 14 // 10 < market().health_factor(HOUSE, prices()) < RAY * 16 // 10


def test_health_is_covered_value_over_debt() -> None:
    # 8 M USDC x 0.85 + 5 M SUI x 3.5 x 0.75 over 5.2 M + 2.4 M x 3.5
    exact = (8_000_000 * 85 + 5_000_000 * 35 * 75 // 10) * RAY // (13_600_000 * 100)
    assert abs(market().health_factor(HOUSE, prices()) - exact) < 10**3


def test_health_falls_with_the_price_of_the_collateral() -> None:
    of = market()
    of.user(HOUSE).loans = [ASSET[USDC.coin_type]]
    assert of.health_factor(HOUSE, prices(sui=1_000_000_000)) < of.health_factor(HOUSE, prices())


def test_nobody_without_debt_is_unhealthy() -> None:
    assert market().health_factor(USER, prices(valid=False)) == HEALTH_WITHOUT_DEBT


def test_a_deposit_lowers_the_rates_and_a_withdrawal_raises_them() -> None:
    of = market()
    before = usdc(of).current_borrow_rate
    deposit(of, 1_000_000 * ONE)
    assert usdc(of).current_borrow_rate < before
    withdraw(of, 1_000_000 * ONE)
    assert usdc(of).current_borrow_rate == before


def test_a_year_brings_the_supply_rate() -> None:
    of = market()
    deposit(of, 1_000 * ONE)
    rate = usdc(of).current_supply_rate
    paid = withdraw(of, 2_000 * ONE, at=NOW + SECONDS_PER_YEAR * 1000)
    assert abs(paid - 1_000 * ONE * (RAY + rate) // RAY) <= 2


def test_the_treasury_earns_its_share_of_what_borrowers_pay() -> None:
    of = market()
    reserve = usdc(of)
    owed = reserve.borrowed
    reserve.update(NOW + SECONDS_PER_YEAR * 1000)
    earned = reserve.treasury_balance * reserve.current_supply_index // RAY
    assert abs(earned - (reserve.borrowed - owed) // 5) <= 2
    assert reserve.supply_balance.total_supply == 8_000_000 * ONE + reserve.treasury_balance


@given(
    st.lists(st.tuples(st.booleans(), st.integers(1, 10**12), st.integers(0, 10**7)), min_size=1, max_size=12)
)
def test_any_history_keeps_the_pool_solvent_and_the_indices_rising(
    history: list[tuple[bool, int, int]],
) -> None:
    of, now = market(), NOW
    cash = usdc(of).supplied - usdc(of).borrowed
    for pays_in, amount, seconds in history:
        now += seconds * 1000
        before = usdc(of).model_copy()
        if pays_in:
            deposit(of, amount, at=now)
            cash += amount
        elif usdc(of).supply_of(USER):
            cash -= withdraw(of, amount, at=now)
        after = usdc(of)
        assert after.current_supply_index >= before.current_supply_index
        assert after.current_borrow_index >= before.current_borrow_index
    # What the pool has and is owed covers what it owes, but for the rounding of each step.
    assert cash + usdc(of).borrowed >= usdc(of).supplied - 4 * len(history)


market_amounts = st.lists(st.integers(1, 10**15), min_size=1, max_size=5)


@given(st.integers(0, 10 * SECONDS_PER_YEAR), market_amounts, market_amounts)
@example(10 * SECONDS_PER_YEAR, [76_710], [80_000])  # rounding the credit half up would win a unit
@example(10 * SECONDS_PER_YEAR, [10**6], [1_003] * 40)  # rounding the debits down would win some
def test_what_goes_in_and_out_in_one_second_never_grows(age: int, paid: list[int], asked: list[int]) -> None:
    of, now = market(), NOW + age * 1000
    for amount in paid:
        deposit(of, amount, at=now)
    out = 0
    for amount in [*asked, sum(paid) + 1_000]:  # at last for all there is, and more
        if usdc(of).supply_of(USER):
            out += withdraw(of, min(amount, sum(paid) + 1_000), at=now)
    assert out <= sum(paid)
    assert out >= sum(paid) - 3 * (len(paid) + len(asked) + 1)


def test_dust_goes_to_the_treasury() -> None:
    of = market()
    deposit(of, 5 * ONE)
    withdraw(of, 5 * ONE - 700)
    assert usdc(of).treasury_balance == 700
    assert of.user(USER).collaterals == []


def test_more_than_dust_stays_collateral() -> None:
    of = market()
    deposit(of, 5 * ONE)
    withdraw(of, 5 * ONE - 1_001)
    assert of.user(USER).collaterals == [ASSET[USDC.coin_type]]


def abort_of(action: object) -> tuple[str, int]:
    with pytest.raises(MoveAbort) as caught:
        action()  # type: ignore[operator]
    return caught.value.module.split("::")[1], caught.value.code


def test_withdrawal_with_a_stale_price_aborts() -> None:
    of = market()
    deposit(of, 5 * ONE)
    assert abort_of(lambda: withdraw(of, ONE, source=prices(valid=False))) == ("calculator", E_INVALID_PRICE)


def test_withdrawal_without_a_supply_aborts() -> None:
    assert abort_of(lambda: withdraw(market(), ONE)) == ("logic", E_USER_HAVE_NO_COLLATERAL)


def test_withdrawal_that_uncovers_debt_aborts() -> None:
    of = market()
    of.reserve(ASSET[SUI.coin_type]).borrow_balance.total_supply = 0  # so that the pool itself could pay
    assert abort_of(lambda: withdraw(of, 4_500_000 * ONE, token=SUI, user=HOUSE)) == (
        "logic",
        E_USER_IS_UNHEALTHY,
    )


def test_withdrawal_of_what_is_lent_aborts() -> None:
    of = market()
    assert abort_of(lambda: withdraw(of, 2_800_001 * ONE, user=HOUSE)) == (
        "validation",
        E_INSUFFICIENT_BALANCE,
    )


def test_nothing_can_not_be_deposited_or_withdrawn() -> None:
    of = market()
    deposit(of, ONE)
    assert abort_of(lambda: deposit(of, 0)) == ("validation", E_INVALID_AMOUNT)
    assert abort_of(lambda: withdraw(of, 0)) == ("validation", E_INVALID_AMOUNT)


def test_another_coin_than_the_reserves_aborts() -> None:
    def wrong() -> None:
        market().deposit(
            now_ms=NOW, asset=ASSET[USDC.coin_type], coin_type=SUI.coin_type, user=USER, amount=1
        )

    assert abort_of(wrong) == ("validation", E_INVALID_COIN_TYPE)


def test_supply_cap_holds() -> None:
    of = market()
    assert abort_of(lambda: deposit(of, 42_000_001 * ONE)) == ("validation", E_EXCEEDED_MAXIMUM_DEPOSIT_CAP)
    deposit(of, 42_000_000 * ONE)


def test_paused_market_refuses() -> None:
    of = market()
    of.paused = True
    assert abort_of(lambda: deposit(of, ONE)) == ("storage", E_PAUSED)


def test_unknown_asset_ends_as_a_table_look_up_does() -> None:
    assert abort_of(lambda: market().reserve(3)) == ("dynamic_field", 1)
