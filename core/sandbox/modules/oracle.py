"""NAVI's price oracle: Pyth prices copied into one table, and the rule by which a price grows too old.

Source: naviprotocol/navi-smart-contracts, oracle (oracle_pro, oracle, strategy, oracle_error). The sandbox
has the primary provider alone, and its Pyth objects always hold the live feed, so a transaction need not
bring a price update of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pydantic import BaseModel, ConfigDict

from tidegate.core.chain.deployments import SANDBOX_NAVI
from tidegate.core.sandbox.modules.arguments import integer, shared_id, text
from tidegate.core.sandbox.modules.base import (
    CallContext,
    MoveAbort,
    MoveFunction,
    MoveModules,
    MoveStruct,
    ObjectSeed,
    Value,
)
from tidegate.core.sandbox.modules.lending_math import power_of_ten
from tidegate.core.sandbox.modules.protocol_genesis import PRICES, RESERVES

ORIGINAL_PACKAGE = "0xca441b44943c16be0e6e23c5a955bb971537ea3289ae8016fbf33fffe1fd210f"
"""First version of the oracle package, whose id its types and aborts carry (oracle/Published.toml)."""

PRICE_ORACLE = f"{ORIGINAL_PACKAGE}::oracle::PriceOracle"
ORACLE_CONFIG = f"{ORIGINAL_PACKAGE}::config::OracleConfig"
PYTH_PRICE_INFO = (
    "0x8d97f1cd6ac663735be08d1d2b6d02a159e711586461306ce60a2b7a6a565a9e::price_info::PriceInfoObject"
)
SUPRA_HOLDER = (
    "0x5d8fbbf6f908a4af8c6d072669a462d53e03eb3c1d863bd0359dc818c69ea706::SupraSValueFeed::OracleHolder"
)
SWITCHBOARD_AGGREGATOR = (
    "0xc3c7e6eb7202e9fb0389a2f7542b91cc40e4f7a33c02554fec11c4c92f938ea3::aggregator::Aggregator"
)

E_PRICE_FEED_NOT_FOUND = 6000
E_PAIR_NOT_MATCH = 6007
E_NON_EXISTENT_ORACLE = 6011

UPDATE_INTERVAL_MS = 30_000
"""Age at which a price of the table is no longer valid (oracle_constants)."""
MAX_PYTH_AGE_MS = 60_000
"""Age at which the provider's price is no longer taken over (configured by feed on mainnet)."""

_FEED_DECIMALS = 9  # `CallContext.price` answers in 1e-9 USD
_BOTH_PROVIDERS = 2  # oracle_constants::both_type: no provider had a fresh price


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class Price(_Part):
    """One row of the table."""

    value: int
    """USD for one coin, with `decimal` digits after the point."""
    decimal: int
    timestamp: int
    """Milliseconds."""


class PriceOracle(_Part):
    """The shared object ``oracle::PriceOracle``."""

    update_interval: int
    """Milliseconds."""
    price_oracles: dict[str, Price]
    """By oracle id in decimal digits."""


class Feed(_Part):
    """One price feed of the shared object ``config::OracleConfig``."""

    oracle_id: int
    coin_type: str
    pyth_price_info: str
    max_timestamp_diff: int
    """Milliseconds."""


class OracleConfig(_Part):
    """The feeds by their address."""

    feeds: dict[str, Feed]


def token_price(state: Mapping[str, object], oracle_id: int, now_ms: int) -> tuple[bool, int, int]:
    """Return (valid, price, decimals) of a row of the price oracle.

    Args:
        state: Contents of the price oracle.
        oracle_id: Row.
        now_ms: The clock's time.

    Raises:
        MoveAbort: there is no such row.
    """
    oracle = PriceOracle.model_validate(state)
    price = oracle.price_oracles.get(str(oracle_id))
    if price is None:
        raise _abort("oracle", "get_token_price", E_NON_EXISTENT_ORACLE)
    valid = price.value > 0 and now_ms - price.timestamp <= oracle.update_interval
    return valid, price.value, price.decimal


def price_source(ctx: CallContext, price_oracle: str) -> Callable[[int], tuple[bool, int, int]]:
    """Return the look-up that the lending market asks, bound to a call's clock and price oracle."""
    state = ctx.state(price_oracle)
    return lambda oracle_id: token_price(state, oracle_id, ctx.now_ms)


def _update_single_price(ctx: CallContext, _types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    _clock, config_object, oracle_object, _supra, pyth_object, _switchboard, feed_address = args
    config = OracleConfig.model_validate(ctx.state(shared_id(config_object)))
    feed = config.feeds.get(text(feed_address))
    if feed is None:
        raise _abort("config", "get_price_feed_mut", E_PRICE_FEED_NOT_FOUND)
    if feed.pyth_price_info != shared_id(pyth_object):
        raise _abort("oracle_pro", "get_price_from_adaptor_v2", E_PAIR_NOT_MATCH)
    live = ctx.price(feed.coin_type)
    value, published = live if live is not None else (0, 0)
    if not 0 <= ctx.now_ms - published < feed.max_timestamp_diff:
        # As on mainnet this ends well: the old price stays and the market refuses it when it is needed.
        ctx.emit(_unavailable(shared_id(config_object), text(feed_address), value, published))
        return []
    _store_price(ctx, shared_id(oracle_object), feed.oracle_id, value)
    return []


def _store_price(ctx: CallContext, oracle_id: str, row: int, value: int) -> None:
    oracle = PriceOracle.model_validate(ctx.state(oracle_id))
    price = oracle.price_oracles[str(row)]
    new = _at_decimals(value, price.decimal)
    ctx.emit(
        MoveStruct(
            f"{ORIGINAL_PACKAGE}::oracle::PriceUpdated",
            (
                ("price_oracle", "address"),
                ("id", "u8"),
                ("price", "u256"),
                ("last_price", "u256"),
                ("update_at", "u64"),
                ("last_update_at", "u64"),
            ),
            {
                "price_oracle": oracle_id,
                "id": row,
                "price": new,
                "last_price": price.value,
                "update_at": ctx.now_ms,
                "last_update_at": price.timestamp,
            },
            drop=True,
        )
    )
    oracle.price_oracles[str(row)] = Price(value=new, decimal=price.decimal, timestamp=ctx.now_ms)
    ctx.save_state(oracle_id, oracle.model_dump())


def _unavailable(config: str, feed: str, value: int, published: int) -> MoveStruct:
    return MoveStruct(
        f"{ORIGINAL_PACKAGE}::oracle_pro::OracleUnavailable",
        (
            ("type", "u8"),
            ("config_address", "address"),
            ("feed_address", "address"),
            ("provider", "0x1::ascii::String"),
            ("price", "u256"),
            ("updated_time", "u64"),
        ),
        {
            "type": _BOTH_PROVIDERS,
            "config_address": config,
            "feed_address": feed,
            "provider": "PythOracleProvider",
            "price": value,
            "updated_time": published,
        },
        drop=True,
    )


def _get_token_price(ctx: CallContext, _types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    _clock, oracle_object, oracle_id = args
    return list(token_price(ctx.state(shared_id(oracle_object)), integer(oracle_id), ctx.now_ms))


def _abort(module: str, function: str, code: int) -> MoveAbort:
    return MoveAbort(f"{ORIGINAL_PACKAGE}::{module}", function, code)


def _seeds(genesis_ms: int) -> Sequence[ObjectSeed]:
    rows: dict[str, Price] = {}
    feeds: dict[str, Feed] = {}
    objects: list[ObjectSeed] = []
    for pool in SANDBOX_NAVI.pools:
        decimals = RESERVES[pool.coin_type].token.decimals
        rows[str(pool.oracle_id)] = Price(
            value=_at_decimals(PRICES[pool.coin_type], decimals), decimal=decimals, timestamp=genesis_ms
        )
        feeds[pool.feed_id] = Feed(
            oracle_id=pool.oracle_id,
            coin_type=pool.coin_type,
            pyth_price_info=pool.pyth_price_info,
            max_timestamp_diff=MAX_PYTH_AGE_MS,
        )
        objects.append(ObjectSeed(pool.pyth_price_info, PYTH_PRICE_INFO, {"coin_type": pool.coin_type}))
    oracle = PriceOracle(update_interval=UPDATE_INTERVAL_MS, price_oracles=rows)
    return [
        *objects,
        ObjectSeed(SANDBOX_NAVI.price_oracle, PRICE_ORACLE, oracle.model_dump()),
        ObjectSeed(SANDBOX_NAVI.oracle_config, ORACLE_CONFIG, OracleConfig(feeds=feeds).model_dump()),
        ObjectSeed(SANDBOX_NAVI.supra_oracle_holder, SUPRA_HOLDER),
        ObjectSeed(SANDBOX_NAVI.switchboard_aggregator, SWITCHBOARD_AGGREGATOR),
    ]


def _at_decimals(price: int, decimals: int) -> int:
    return price * power_of_ten(decimals) // power_of_ten(_FEED_DECIMALS)


MODULES = MoveModules(
    name="NAVI price oracle",
    seeds=_seeds,
    functions=(
        MoveFunction(
            SANDBOX_NAVI.oracle_package,
            "oracle_pro",
            "update_single_price_v2",
            (
                "&0x2::clock::Clock",
                f"&mut {ORACLE_CONFIG}",
                f"&mut {PRICE_ORACLE}",
                f"&{SUPRA_HOLDER}",
                f"&{PYTH_PRICE_INFO}",
                f"&{SWITCHBOARD_AGGREGATOR}",
                "address",
            ),
            (),
            _update_single_price,
        ),
        MoveFunction(
            SANDBOX_NAVI.oracle_package,
            "oracle",
            "get_token_price",
            ("&0x2::clock::Clock", f"&{PRICE_ORACLE}", "u8"),
            ("bool", "u256", "u8"),
            _get_token_price,
        ),
    ),
)
