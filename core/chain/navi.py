"""NAVI lending: what an account has in it, what the market pays, deposits and withdrawals.

Sources: shared/spec/chain.md (calls and arguments); naviprotocol/navi-smart-contracts, lending_core
(incentive_v3, storage, calculator, ray_math, error). The storage counts every asset with nine decimals and
divided by an index, both of which are undone here. Its indices are those of the last action on the asset;
interest since then is added as the contract will add it at the next one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from tidegate.core.chain import navi_oracle
from tidegate.core.chain.deployments import CLOCK, SYSTEM_STATE, Navi, NaviPool
from tidegate.core.chain.move_values import read_byte_vector, read_uint
from tidegate.core.chain.types import Build, LendingMarket, LendingPosition, MoveFailure, Network, Ptb
from tidegate.core.errors import NetworkError, SimulationFailed, UsageError
from tidegate.core.money import Amount
from tidegate.core.tokens import SUI, Token, token_by_type

RAY = 10**27
"""One, as rates, indices and ratios are written (ray_math.move)."""

MARKET_DECIMALS = 9
"""Decimals of every amount in the storage (pool.move, normal_amount)."""

SECONDS_PER_YEAR = 365 * 24 * 60 * 60
"""constants.move"""

_RATE_PLACES = Decimal("0.000001")

_ABORTS = {
    ("storage", 1500): "NAVI is paused.",
    ("calculator", 1502): "NAVI's price of one of your assets is out of date.",
    ("validation", 1503): "The amount is too small for NAVI to count.",
    ("validation", 1506): "NAVI has lent out what you want to withdraw; less may be available.",
    ("balance", 2): "The pool does not hold that much now; less may be available.",
    ("logic", 1600): "What remains would no longer cover your debt.",
    ("logic", 1601): "Nothing of this asset is saved.",
    ("validation", 1604): "NAVI's cap for this asset is reached.",
}
"""By module and code: lending_core's error.move, and 0x2::balance for a pool that ran dry."""


def positions(network: Network, address: str) -> tuple[LendingPosition, ...]:
    """Return what an account has supplied and borrowed, interest included.

    Supply is rounded down to base units, debt up; what is zero is left out.

    Args:
        network: Where NAVI is.
        address: Whose account.

    Raises:
        UsageError: NAVI is not set up on this network.
        NetworkError: it could not be asked.
    """
    found: list[LendingPosition] = []
    for state in _read_reserves(network, _deployment(network).pools, address):
        supplied = _floor_units(state.supply_of_user, state.decimals)
        borrowed = _ceil_units(state.debt_of_user, state.decimals)
        coin_type = state.pool.coin_type
        if supplied:
            found.append(LendingPosition("supply", coin_type, supplied, _percent(state.supply_rate)))
        if borrowed:
            found.append(LendingPosition("borrow", coin_type, borrowed, _percent(state.borrow_rate)))
    return tuple(found)


def markets(network: Network) -> tuple[LendingMarket, ...]:
    """Return every asset of the market.

    Raises:
        UsageError: NAVI is not set up on this network.
        NetworkError: it could not be asked.
    """
    navi = _deployment(network)
    factors = _read_factors(network, navi)
    return tuple(
        LendingMarket(
            coin_type=state.pool.coin_type,
            supply_apy=_percent(state.supply_rate),
            borrow_apy=_percent(state.borrow_rate),
            utilisation=_percent(state.borrowed * RAY // state.supplied if state.supplied else 0),
            supplied_base=_floor_units(state.supplied, state.decimals),
            borrowed_base=_ceil_units(state.borrowed, state.decimals),
            ltv=_ratio(ltv),
            liquidation_threshold=_ratio(threshold),
        )
        for state, (ltv, threshold) in zip(_read_reserves(network, navi.pools), factors, strict=True)
    )


def supplied(network: Network, address: str, token: Token) -> Amount:
    """Return what an account can withdraw of an asset now: its supply, as far as the pool has not lent it.

    Raises:
        UsageError: NAVI is not set up on this network, or has no market for the token.
        NetworkError: it could not be asked.
    """
    pool = _pool(_deployment(network), token)
    (state,) = _read_reserves(network, [pool], address)
    at_hand = max(0, state.supplied - state.borrowed)
    return Amount(token, _floor_units(min(state.supply_of_user, at_hand), state.decimals))


def deposit(network: Network, ptb: Ptb, amount: Amount) -> None:
    """Add a deposit of the sender's.

    Raises:
        UsageError: NAVI is not set up on this network, or has no market for the token.
        InsufficientBalance: the sender's coins hold less.
    """
    navi = _deployment(network)
    pool = _pool(navi, amount.token)
    ptb.call(
        f"{navi.package}::incentive_v3::entry_deposit",
        (
            ptb.shared(CLOCK, mutable=False),
            ptb.shared(navi.storage, mutable=True),
            ptb.shared(pool.pool, mutable=True),
            ptb.pure_u8(pool.asset_id),
            ptb.coin(amount),
            ptb.pure_u64(amount.base),
            ptb.shared(navi.incentive_v2, mutable=True),
            ptb.shared(navi.incentive_v3, mutable=True),
        ),
        (pool.coin_type,),
        results=0,
    )


def withdraw(network: Network, ptb: Ptb, amount: Amount) -> None:
    """Add a withdrawal to the sender's wallet, after bringing the prices of the sender's assets up to date.

    Raises:
        UsageError: NAVI is not set up on this network, or has no market for the token.
        NetworkError: it could not be asked what the sender has.
    """
    navi = _deployment(network)
    pool = _pool(navi, amount.token)
    used = _read_assets(network, navi, ptb.sender) | {pool.asset_id}
    navi_oracle.refresh(ptb, navi, [each for each in navi.pools if each.asset_id in used])
    pool_object = ptb.shared(pool.pool, mutable=True)
    system_state = ptb.shared(SYSTEM_STATE, mutable=True)
    if amount.token == SUI:
        # A part of the SUI pool is staked; what has matured must be taken back before it can be paid out.
        ptb.call(f"{navi.package}::pool::refresh_stake", (pool_object, system_state), results=0)
    (balance,) = ptb.call(
        f"{navi.package}::incentive_v3::withdraw_v2",
        (
            ptb.shared(CLOCK, mutable=False),
            ptb.shared(navi.price_oracle, mutable=False),
            ptb.shared(navi.storage, mutable=True),
            pool_object,
            ptb.pure_u8(pool.asset_id),
            ptb.pure_u64(amount.base),
            ptb.shared(navi.incentive_v2, mutable=True),
            ptb.shared(navi.incentive_v3, mutable=True),
            system_state,
        ),
        (pool.coin_type,),
    )
    ptb.transfer(ptb.call("0x2::coin::from_balance", (balance,), (pool.coin_type,)), ptb.sender)


def explain_abort(failure: MoveFailure) -> str | None:
    """Return in words why NAVI refused, or None for a failure that is not known to be NAVI's."""
    if failure.module is None or failure.code is None:
        return None
    return _ABORTS.get((failure.module, failure.code))


@dataclass(frozen=True, slots=True)
class _Reserve:
    """One asset with interest up to now; amounts are the market's, rates are rays."""

    pool: NaviPool
    decimals: int
    supplied: int
    borrowed: int
    supply_rate: int
    borrow_rate: int
    supply_of_user: int = 0
    debt_of_user: int = 0


def _read_reserves(network: Network, pools: Sequence[NaviPool], address: str | None = None) -> list[_Reserve]:
    navi = _deployment(network)
    pairs = ("get_index", "get_total_supply", "get_current_rate")

    def build(ptb: Ptb) -> None:
        ptb.call("0x2::clock::timestamp_ms", (ptb.shared(CLOCK, mutable=False),))
        storage = ptb.shared(navi.storage, mutable=True)
        for pool in pools:
            asset = ptb.pure_u8(pool.asset_id)
            for name in pairs:
                ptb.call(f"{navi.package}::storage::{name}", (storage, asset), results=2)
            ptb.call(f"{navi.package}::storage::get_last_update_timestamp", (storage, asset))
            if address is not None:
                user = ptb.pure_address(address)
                ptb.call(f"{navi.package}::storage::get_user_balance", (storage, asset, user), results=2)

    (now_result,), *results = _inspect(network, build)
    size = len(pairs) + 1 + (address is not None)
    groups = [results[start : start + size] for start in range(0, len(results), size)]
    now_ms = read_uint(now_result)
    return [_reserve(pool, group, now_ms) for pool, group in zip(pools, groups, strict=True)]


def _reserve(pool: NaviPool, group: Sequence[Sequence[bytes]], now_ms: int) -> _Reserve:
    (supply_index, borrow_index), (supply, debt), (supply_rate, borrow_rate), (updated_ms,), *user = [
        [read_uint(value) for value in result] for result in group
    ]
    seconds = max(0, now_ms - updated_ms) // 1000
    supply_index = _times(_linear_interest(seconds, supply_rate), supply_index)
    borrow_index = _times(_compounded_interest(seconds, borrow_rate), borrow_index)
    mine, owed = user[0] if user else (0, 0)
    token = token_by_type(pool.coin_type)
    if token is None:
        raise NetworkError(f"The decimals of {pool.coin_type} are not known.", retryable=False)
    return _Reserve(
        pool=pool,
        decimals=token.decimals,
        supplied=_times(supply, supply_index),
        borrowed=_times(debt, borrow_index),
        supply_rate=supply_rate,
        borrow_rate=borrow_rate,
        supply_of_user=_times(mine, supply_index),
        debt_of_user=_times(owed, borrow_index),
    )


def _read_factors(network: Network, navi: Navi) -> list[tuple[int, int]]:
    """Return loan-to-value and liquidation threshold of each pool's asset, as rays."""

    def build(ptb: Ptb) -> None:
        storage = ptb.shared(navi.storage, mutable=True)
        for pool in navi.pools:
            asset = ptb.pure_u8(pool.asset_id)
            ptb.call(f"{navi.package}::storage::get_asset_ltv", (storage, asset))
            ptb.call(f"{navi.package}::storage::get_liquidation_factors", (storage, asset))

    results = _inspect(network, build)
    return [
        (read_uint(ltv[0]), read_uint(factors[2]))
        for ltv, factors in zip(results[::2], results[1::2], strict=True)
    ]


def _read_assets(network: Network, navi: Navi, address: str) -> set[int]:
    """Return the asset ids that an account has supplied or borrowed."""

    def build(ptb: Ptb) -> None:
        storage = ptb.shared(navi.storage, mutable=False)
        ptb.call(f"{navi.package}::storage::get_user_assets", (storage, ptb.pure_address(address)))

    ((collaterals, loans),) = _inspect(network, build)
    return {*read_byte_vector(collaterals), *read_byte_vector(loans)}


def _inspect(network: Network, build: Build) -> tuple[tuple[bytes, ...], ...]:
    try:
        return network.inspect(build)
    except SimulationFailed as error:
        raise NetworkError(f"NAVI could not be read: {error.message}") from error


def _deployment(network: Network) -> Navi:
    navi = network.deployment.navi
    if navi is None:
        raise UsageError(
            f"Lending is not set up on {network.name}.", hint="Use --network sandbox, which has a market."
        )
    return navi


def _pool(navi: Navi, token: Token) -> NaviPool:
    for pool in navi.pools:
        if pool.coin_type == token.coin_type:
            return pool
    raise UsageError(
        f"NAVI has no market for {token.symbol} on this network.",
        hint=f"It has {', '.join(_symbols(navi.pools))}.",
    )


def _symbols(pools: Iterable[NaviPool]) -> list[str]:
    known = (token_by_type(pool.coin_type) for pool in pools)
    return sorted(token.symbol for token in known if token is not None)


def _times(amount: int, index: int) -> int:
    """Return a product as ray_math does, rounded half up: what the contract says an account has."""
    return (amount * index + RAY // 2) // RAY


def _linear_interest(seconds: int, rate: int) -> int:
    """calculator.move, calculate_linear_interest: how supply grows."""
    return RAY + rate * seconds // SECONDS_PER_YEAR


def _compounded_interest(seconds: int, rate: int) -> int:
    """calculator.move, calculate_compounded_interest: how debt grows, by the first terms of the series."""
    if not seconds:
        return RAY
    per_second = rate // SECONDS_PER_YEAR
    squared = _times(per_second, per_second)
    cubed = _times(squared, per_second)
    pairs = seconds * (seconds - 1)
    return RAY + per_second * seconds + pairs * squared // 2 + pairs * max(seconds - 2, 0) * cubed // 6


def _floor_units(amount: int, decimals: int) -> int:
    return amount * _ten_to(decimals) // _ten_to(MARKET_DECIMALS)


def _ceil_units(amount: int, decimals: int) -> int:
    return -(-amount * _ten_to(decimals) // _ten_to(MARKET_DECIMALS))


def _ten_to(digits: int) -> int:
    return int(10**digits)


def _percent(ray: int) -> Decimal:
    return (Decimal(ray * 100) / RAY).quantize(_RATE_PLACES)


def _ratio(ray: int) -> Decimal:
    return (Decimal(ray) / RAY).quantize(_RATE_PLACES).normalize()
