"""NAVI lending as Move functions: deposit, withdraw, and the getters that a simulation reads.

Signatures and their argument order are those of naviprotocol/navi-smart-contracts, lending_core
(incentive_v3, storage, logic, pool). Getters take ``&mut Storage`` where the contract does.
No reward rules exist at genesis, so an action has no rewards to settle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tidegate.core.chain.deployments import SANDBOX_NAVI
from tidegate.core.sandbox.modules.arguments import coin, integer, shared_id, text
from tidegate.core.sandbox.modules.base import (
    Balance,
    Body,
    CallContext,
    MoveAbort,
    MoveFunction,
    MoveModules,
    MoveStruct,
    ObjectSeed,
    Value,
)
from tidegate.core.sandbox.modules.lending_math import RAY, normal_amount, unnormal_amount
from tidegate.core.sandbox.modules.navi_market import (
    ORIGINAL_PACKAGE,
    Market,
    Pool,
    Reserve,
    TokenBalance,
    UserInfo,
    navi_abort,
)
from tidegate.core.sandbox.modules.oracle import PRICE_ORACLE, price_source
from tidegate.core.sandbox.modules.protocol_genesis import (
    BORROW_CAP,
    HOUSE,
    LIQUIDATION_RATIO,
    RESERVE_FACTOR,
    RESERVES,
    TREASURY_FACTOR,
)
from tidegate.core.tokens import SUI, normalize_address

STORAGE = f"{ORIGINAL_PACKAGE}::storage::Storage"
POOL = f"{ORIGINAL_PACKAGE}::pool::Pool"
INCENTIVE_V2 = f"{ORIGINAL_PACKAGE}::incentive_v2::Incentive"
INCENTIVE_V3 = f"{ORIGINAL_PACKAGE}::incentive_v3::Incentive"

# utils.move: UTILS_AMOUNT_ZERO and UTILS_INSUFFICIENT_FUNDS.
E_AMOUNT_ZERO, E_INSUFFICIENT_FUNDS = 46_000, 46_001
# balance.move: ENotEnough.
_E_NOT_ENOUGH = 2

_MARKET_ID = 0  # the main market


def _entry_deposit(ctx: CallContext, types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    _clock, storage, pool_object, asset_id, paid, wanted, _incentive_v2, _incentive_v3 = args
    given, amount, asset = coin(paid), integer(wanted), integer(asset_id)
    if not amount:
        raise navi_abort("utils", "split_coin", E_AMOUNT_ZERO)
    if given.value < amount:
        raise navi_abort("utils", "split_coin", E_INSUFFICIENT_FUNDS)
    if given.value > amount:
        ctx.pay(given.coin_type, given.value - amount, ctx.sender)
    pool = Pool.load(ctx.state(shared_id(pool_object)))
    market = Market.load(ctx.state(shared_id(storage)))
    market.deposit(
        now_ms=ctx.now_ms,
        asset=asset,
        coin_type=types[0],
        user=ctx.sender,
        amount=normal_amount(amount, pool.decimal),
    )
    pool.balance += amount
    ctx.save_state(shared_id(pool_object), pool.dump())
    ctx.save_state(shared_id(storage), market.dump())
    _emit_pool(ctx, "PoolDeposit", {"sender": ctx.sender}, types[0], amount)
    _emit_state(ctx, market.reserve(asset), asset)
    _emit(
        ctx,
        "DepositEvent",
        (("reserve", "u8"), ("sender", "address"), ("amount", "u64")),
        {"reserve": asset, "sender": ctx.sender, "amount": amount},
    )
    return []


def _withdraw_v2(ctx: CallContext, types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    _clock, price_oracle, storage, pool_object, asset_id, wanted, _v2, _v3, _system_state = args
    asset = integer(asset_id)
    pool = Pool.load(ctx.state(shared_id(pool_object)))
    market = Market.load(ctx.state(shared_id(storage)))
    paid = market.withdraw(
        now_ms=ctx.now_ms,
        asset=asset,
        coin_type=types[0],
        user=ctx.sender,
        amount=normal_amount(integer(wanted), pool.decimal),
        prices=price_source(ctx, shared_id(price_oracle)),
    )
    amount = unnormal_amount(paid, pool.decimal)
    if pool.balance < amount:
        raise MoveAbort(f"{normalize_address('0x2')}::balance", "split", _E_NOT_ENOUGH)
    pool.balance -= amount
    ctx.save_state(shared_id(pool_object), pool.dump())
    ctx.save_state(shared_id(storage), market.dump())
    _emit_state(ctx, market.reserve(asset), asset)
    if amount:
        _emit_pool(ctx, "PoolWithdraw", {"sender": ctx.sender, "recipient": ctx.sender}, types[0], amount)
    _emit(
        ctx,
        "WithdrawEvent",
        (("reserve", "u8"), ("sender", "address"), ("to", "address"), ("amount", "u64")),
        {"reserve": asset, "sender": ctx.sender, "to": ctx.sender, "amount": amount},
    )
    return [Balance(types[0], amount)]


def _refresh_stake(ctx: CallContext, _types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    # Mainnet stakes a part of the SUI pool with Volo and rebalances here; the sandbox keeps all at hand.
    pool = shared_id(args[0])
    ctx.save_state(pool, ctx.state(pool))
    return []


def _emit(
    ctx: CallContext, name: str, layout: tuple[tuple[str, str], ...], fields: Mapping[str, Value]
) -> None:
    ctx.emit(
        MoveStruct(
            f"{SANDBOX_NAVI.package}::event::{name}",
            (*layout, ("market_id", "u64")),
            {**fields, "market_id": _MARKET_ID},
            drop=True,
        )
    )


def _emit_pool(ctx: CallContext, name: str, parties: Mapping[str, str], coin_type: str, amount: int) -> None:
    layout = (*((party, "address") for party in parties), ("amount", "u64"), ("pool", "0x1::ascii::String"))
    _emit(ctx, name, layout, {**parties, "amount": amount, "pool": type_name(coin_type)})


def _emit_state(ctx: CallContext, reserve: Reserve, asset: int) -> None:
    user = ctx.sender
    _emit(
        ctx,
        "StateUpdated",
        (
            ("user", "address"),
            ("asset", "u8"),
            ("user_supply_balance", "u256"),
            ("user_borrow_balance", "u256"),
            ("new_supply_index", "u256"),
            ("new_borrow_index", "u256"),
        ),
        {
            "user": user,
            "asset": asset,
            "user_supply_balance": reserve.supply_balance.user_state.get(user, 0),
            "user_borrow_balance": reserve.borrow_balance.user_state.get(user, 0),
            "new_supply_index": reserve.current_supply_index,
            "new_borrow_index": reserve.current_borrow_index,
        },
    )


def type_name(coin_type: str) -> str:
    """Return a type as ``0x1::type_name`` writes it: the address in 64 digits without ``0x``."""
    return coin_type.removeprefix("0x")


# Getters


def _market(ctx: CallContext, storage: Value) -> Market:
    return Market.load(ctx.state(shared_id(storage)))


def _reserve(ctx: CallContext, args: Sequence[Value]) -> Reserve:
    return _market(ctx, args[0]).reserve(integer(args[1]))


def _reserves_count(ctx: CallContext, _types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    return [_market(ctx, args[0]).reserves_count]


def _coin_type(ctx: CallContext, _types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    return [type_name(_reserve(ctx, args).coin_type)]


def _oracle_id(ctx: CallContext, _types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    return [_reserve(ctx, args).oracle_id]


def _last_update(ctx: CallContext, _types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    return [_reserve(ctx, args).last_update_timestamp]


def _ltv(ctx: CallContext, _types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    return [_reserve(ctx, args).ltv]


def _index(ctx: CallContext, _types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    reserve = _reserve(ctx, args)
    return [reserve.current_supply_index, reserve.current_borrow_index]


def _total_supply(ctx: CallContext, _types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    reserve = _reserve(ctx, args)
    return [reserve.supply_balance.total_supply, reserve.borrow_balance.total_supply]


def _current_rate(ctx: CallContext, _types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    reserve = _reserve(ctx, args)
    return [reserve.current_supply_rate, reserve.current_borrow_rate]


def _supply_cap(ctx: CallContext, _types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    return [_reserve(ctx, args).supply_cap_ceiling]


def _borrow_rate_factors(ctx: CallContext, _types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    curve = _reserve(ctx, args).curve
    return [curve.base, curve.multiplier, curve.jump, curve.reserve_factor, curve.optimal]


def _liquidation_factors(ctx: CallContext, _types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    reserve = _reserve(ctx, args)
    return [reserve.liquidation_ratio, reserve.liquidation_bonus, reserve.liquidation_threshold]


def _user_balance(ctx: CallContext, _types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    reserve, user = _reserve(ctx, args), text(args[2])
    return [
        reserve.supply_balance.user_state.get(user, 0),
        reserve.borrow_balance.user_state.get(user, 0),
    ]


def _user_assets(ctx: CallContext, _types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    info = _market(ctx, args[0]).user(text(args[1]))
    return [bytes(info.collaterals), bytes(info.loans)]


def _collateral_balance(ctx: CallContext, _types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    return [_reserve(ctx, args).supply_of(text(args[2]))]


def _loan_balance(ctx: CallContext, _types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    return [_reserve(ctx, args).debt_of(text(args[2]))]


def _health_factor(ctx: CallContext, _types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    _clock, storage, price_oracle, user = args
    prices = price_source(ctx, shared_id(price_oracle))
    return [_market(ctx, storage).health_factor(text(user), prices)]


# Genesis


def _seeds(genesis_ms: int) -> Sequence[ObjectSeed]:
    reserves: dict[str, Reserve] = {}
    pools: list[ObjectSeed] = []
    for pool in SANDBOX_NAVI.pools:
        numbers = RESERVES[pool.coin_type]
        decimals = numbers.token.decimals
        cash = Pool(balance=numbers.supplied - numbers.borrowed, treasury_balance=0, decimal=decimals)
        pools.append(ObjectSeed(pool.pool, f"{POOL}<{pool.coin_type}>", cash.dump()))
        reserve = Reserve(
            oracle_id=pool.oracle_id,
            coin_type=pool.coin_type,
            supply_cap_ceiling=normal_amount(numbers.cap, decimals) * RAY,
            borrow_cap_ceiling=BORROW_CAP,
            ltv=numbers.ltv,
            treasury_factor=TREASURY_FACTOR,
            base_rate=0,
            multiplier=numbers.multiplier,
            jump_rate_multiplier=numbers.jump,
            reserve_factor=RESERVE_FACTOR,
            optimal_utilization=numbers.optimal,
            liquidation_ratio=LIQUIDATION_RATIO,
            liquidation_bonus=numbers.liquidation_bonus,
            liquidation_threshold=numbers.liquidation_threshold,
            last_update_timestamp=genesis_ms,
            supply_balance=_house_balance(normal_amount(numbers.supplied, decimals)),
            borrow_balance=_house_balance(normal_amount(numbers.borrowed, decimals)),
        )
        reserve.update_rates()
        reserves[str(pool.asset_id)] = reserve
    ids = [pool.asset_id for pool in SANDBOX_NAVI.pools]
    house = {HOUSE: UserInfo(collaterals=ids, loans=ids)}
    return [
        *pools,
        ObjectSeed(SANDBOX_NAVI.storage, STORAGE, Market(reserves=reserves, user_info=house).dump()),
        ObjectSeed(SANDBOX_NAVI.incentive_v2, INCENTIVE_V2),
        ObjectSeed(SANDBOX_NAVI.incentive_v3, INCENTIVE_V3),
    ]


def _house_balance(amount: int) -> TokenBalance:
    return TokenBalance(user_state={HOUSE: amount}, total_supply=amount)


def _vault_balances(object_type: str, state: Mapping[str, object]) -> Mapping[str, int]:
    if not object_type.startswith(f"{POOL}<"):
        return {}
    pool = Pool.load(state)
    return {object_type[len(POOL) + 1 : -1]: pool.balance + pool.treasury_balance}


def _function(
    module: str,
    name: str,
    parameters: tuple[str, ...],
    returns: tuple[str, ...],
    run: Body,
    *,
    generic: int = 0,
    entry: bool = False,
    units: int = 0,
) -> MoveFunction:
    return MoveFunction(
        SANDBOX_NAVI.package,
        module,
        name,
        parameters,
        returns,
        run,
        type_parameters=generic,
        computation_units=units,
        entry=entry,
    )


_CLOCK = "&0x2::clock::Clock"
_READ, _WRITE = f"&{STORAGE}", f"&mut {STORAGE}"
_ORACLE = f"&{PRICE_ORACLE}"
_POOL_T = f"&mut {POOL}<T0>"
_INCENTIVES = (f"&mut {INCENTIVE_V2}", f"&mut {INCENTIVE_V3}")
_SYSTEM = "&mut 0x3::sui_system::SuiSystemState"

MODULES = MoveModules(
    name="NAVI lending",
    seeds=_seeds,
    vault_balances=_vault_balances,
    functions=(
        _function(
            "incentive_v3",
            "entry_deposit",
            (_CLOCK, _WRITE, _POOL_T, "u8", "0x2::coin::Coin<T0>", "u64", *_INCENTIVES),
            (),
            _entry_deposit,
            generic=1,
            entry=True,
            units=1_000,
        ),
        _function(
            "incentive_v3",
            "withdraw_v2",
            (_CLOCK, _ORACLE, _WRITE, _POOL_T, "u8", "u64", *_INCENTIVES, _SYSTEM),
            ("0x2::balance::Balance<T0>",),
            _withdraw_v2,
            generic=1,
            units=1_000,
        ),
        _function("pool", "refresh_stake", (f"&mut {POOL}<{SUI.coin_type}>", _SYSTEM), (), _refresh_stake),
        _function("storage", "get_reserves_count", (_READ,), ("u8",), _reserves_count),
        _function("storage", "get_coin_type", (_READ, "u8"), ("0x1::ascii::String",), _coin_type),
        _function("storage", "get_oracle_id", (_READ, "u8"), ("u8",), _oracle_id),
        _function("storage", "get_last_update_timestamp", (_READ, "u8"), ("u64",), _last_update),
        _function("storage", "get_asset_ltv", (_READ, "u8"), ("u256",), _ltv),
        _function(
            "storage", "get_user_assets", (_READ, "address"), ("vector<u8>", "vector<u8>"), _user_assets
        ),
        _function("storage", "get_index", (_WRITE, "u8"), ("u256",) * 2, _index),
        _function("storage", "get_total_supply", (_WRITE, "u8"), ("u256",) * 2, _total_supply),
        _function("storage", "get_current_rate", (_WRITE, "u8"), ("u256",) * 2, _current_rate),
        _function("storage", "get_supply_cap_ceiling", (_WRITE, "u8"), ("u256",), _supply_cap),
        _function("storage", "get_borrow_rate_factors", (_WRITE, "u8"), ("u256",) * 5, _borrow_rate_factors),
        _function("storage", "get_liquidation_factors", (_WRITE, "u8"), ("u256",) * 3, _liquidation_factors),
        _function("storage", "get_user_balance", (_WRITE, "u8", "address"), ("u256",) * 2, _user_balance),
        _function(
            "logic", "user_collateral_balance", (_WRITE, "u8", "address"), ("u256",), _collateral_balance
        ),
        _function("logic", "user_loan_balance", (_WRITE, "u8", "address"), ("u256",), _loan_balance),
        _function(
            "logic", "user_health_factor", (_CLOCK, _WRITE, _ORACLE, "address"), ("u256",), _health_factor
        ),
    ),
)
