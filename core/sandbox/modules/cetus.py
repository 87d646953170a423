"""Cetus' CLMM pools: quotes, swaps, and the liquidity that a pool holds at a price.

Source: the published bytecode of Cetus' CLMM package, module pool. Every pool of the sandbox has one position
over the whole price range, so that a swap is one step of `clmm_math` and follows the constant product.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from tidegate.core.chain.deployments import SANDBOX_CETUS
from tidegate.core.sandbox.modules.arguments import integer, shared_id
from tidegate.core.sandbox.modules.base import (
    CallContext,
    MoveAbort,
    MoveFunction,
    MoveModules,
    MoveStruct,
    ObjectSeed,
    State,
    Value,
)
from tidegate.core.sandbox.modules.clmm_math import (
    MAX_SQRT_PRICE,
    MIN_SQRT_PRICE,
    Q64,
    SwapStep,
    amount_a,
    amount_b,
    liquidity_of_a,
    sqrt_price_of,
    swap_step,
)
from tidegate.core.sandbox.modules.lending_math import power_of_ten
from tidegate.core.sandbox.modules.protocol_genesis import (
    POOL_COIN_A,
    POOL_FEE_RATE,
    PRICES,
    PROTOCOL_FEE_RATE,
)
from tidegate.core.sandbox.movetypes import parse_type
from tidegate.core.tokens import normalize_address, token_by_type

CLMM = SANDBOX_CETUS.clmm_package
POOL = f"{CLMM}::pool::Pool"
GLOBAL_CONFIG = f"{CLMM}::config::GlobalConfig"
PARTNER = f"{CLMM}::partner::Partner"

# Abort codes of the modules clmm_math and pool, as their bytecode has them.
E_TOKEN_AMOUNT_OVERFLOW = 6
E_WRONG_SQRT_PRICE_LIMIT = 11
E_POOL_IS_PAUSED = 13

_PROTOCOL_FEE_DENOMINATOR = 10_000
_MAX_U64, _MAX_U128 = 2**64 - 1, 2**128 - 1


class Pool(BaseModel):
    """The shared object ``pool::Pool<A, B>``; the fields are the contract's, without ticks and rewards."""

    model_config = ConfigDict(strict=True, extra="forbid")

    coin_a: int
    """Base units held, with fees."""
    coin_b: int
    fee_rate: int
    """Millionths of what comes in."""
    liquidity: int
    current_sqrt_price: int
    """Square root of coin B per coin A in base units, Q64.64."""
    fee_growth_global_a: int = 0
    """Fees by unit of liquidity, Q64.64, modulo 2^128."""
    fee_growth_global_b: int = 0
    fee_protocol_coin_a: int = 0
    fee_protocol_coin_b: int = 0
    is_pause: bool = False

    @classmethod
    def load(cls, state: Mapping[str, object]) -> Pool:
        """Return the pool that an object's contents describe."""
        return cls.model_validate(state)

    def dump(self) -> State:
        """Return the pool as an object's contents."""
        return self.model_dump()

    def step(self, *, a2b: bool, by_amount_in: bool, amount: int) -> SwapStep:
        """Return the step that an amount makes towards the end of the price range.

        Raises:
            MoveAbort: an amount that follows from it does not fit in 64 bits.
        """
        step = swap_step(
            sqrt_price=self.current_sqrt_price,
            target=_end(a2b),
            liquidity=self.liquidity,
            amount=amount,
            fee_rate=self.fee_rate,
            a2b=a2b,
            by_amount_in=by_amount_in,
        )
        if max(step.amount_in + step.fee, step.amount_out) > _MAX_U64:
            raise MoveAbort(f"{CLMM}::clmm_math", "compute_swap_step", E_TOKEN_AMOUNT_OVERFLOW)
        return step

    def swap(self, *, a2b: bool, amount: int, protocol_fee_rate: int) -> SwapStep:
        """Swap an amount that comes in and return what happened; at the end of the range a part is not taken.

        Args:
            a2b: Sell coin A or coin B.
            amount: Base units that come in, with the fee.
            protocol_fee_rate: Share of the fee that is the protocol's, in 1/10,000.

        Raises:
            MoveAbort: the pool is paused, or its price is at the end of the range already.
        """
        if self.is_pause:
            raise MoveAbort(f"{CLMM}::pool", "flash_swap", E_POOL_IS_PAUSED)
        if self.current_sqrt_price == _end(a2b):
            raise MoveAbort(f"{CLMM}::pool", "flash_swap_internal", E_WRONG_SQRT_PRICE_LIMIT)
        step = self.step(a2b=a2b, by_amount_in=True, amount=amount)
        protocol_fee = -(-step.fee * protocol_fee_rate // _PROTOCOL_FEE_DENOMINATOR)
        growth = ((step.fee - protocol_fee) * Q64 // self.liquidity) & _MAX_U128
        if a2b:
            self.coin_a += step.amount_in + step.fee
            self.coin_b -= step.amount_out
            self.fee_growth_global_a = (self.fee_growth_global_a + growth) & _MAX_U128
            self.fee_protocol_coin_a += protocol_fee
        else:
            self.coin_b += step.amount_in + step.fee
            self.coin_a -= step.amount_out
            self.fee_growth_global_b = (self.fee_growth_global_b + growth) & _MAX_U128
            self.fee_protocol_coin_b += protocol_fee
        self.current_sqrt_price = step.sqrt_price
        return step


@dataclass(frozen=True, slots=True)
class Recentred:
    """A pool moved to another price."""

    state: State
    minted: dict[str, int]
    """Base units that must come into being by coin type; negative ones must cease to be."""


def recentre(object_type: str, state: Mapping[str, object], price_a: int, price_b: int) -> Recentred:
    """Move a pool to the price that two dollar prices make, keeping its liquidity.

    A market would move it by trades; the sandbox has no traders, so the coins of the range change instead.
    Fees stay as they are.

    Args:
        object_type: Type of the pool.
        state: Its contents.
        price_a: Price of one whole coin A, above zero, in any unit.
        price_b: Price of one whole coin B in the same unit.
    """
    pool = Pool.load(state)
    coin_a, coin_b = pool_coins(object_type)
    before = _holdings(pool)
    pool.current_sqrt_price = _sqrt_price(coin_a, coin_b, price_a, price_b)
    after = _holdings(pool)
    minted = {coin_a: after[0] - before[0], coin_b: after[1] - before[1]}
    pool.coin_a += minted[coin_a]
    pool.coin_b += minted[coin_b]
    return Recentred(pool.dump(), minted)


def is_pool(object_type: str) -> bool:
    """Say whether a type is a pool's."""
    return object_type.startswith(f"{POOL}<")


def pool_coins(object_type: str) -> tuple[str, str]:
    """Return the coin types A and B of a pool's type."""
    coin_a, coin_b = parse_type(object_type).params
    return str(coin_a), str(coin_b)


def _holdings(pool: Pool) -> tuple[int, int]:
    price, liquidity = pool.current_sqrt_price, pool.liquidity
    return amount_a(price, MAX_SQRT_PRICE, liquidity), amount_b(MIN_SQRT_PRICE, price, liquidity)


def _sqrt_price(coin_a: str, coin_b: str, price_a: int, price_b: int) -> int:
    return sqrt_price_of(price_a * _unit(coin_b), price_b * _unit(coin_a))


def _unit(coin_type: str) -> int:
    token = token_by_type(coin_type)
    if token is None:
        raise ValueError(f"the decimals of {coin_type} are not known")
    return power_of_ten(token.decimals)


def _end(a2b: bool) -> int:
    return MIN_SQRT_PRICE if a2b else MAX_SQRT_PRICE


# Move functions


def protocol_fee_rate(ctx: CallContext, global_config: Value) -> int:
    """Return the protocol's share of fees, in 1/10,000, from the global config of a call."""
    rate = ctx.state(shared_id(global_config))["protocol_fee_rate"]
    if not isinstance(rate, int):
        raise TypeError(f"protocol_fee_rate is {rate!r}")
    return rate


def emit_swap(
    ctx: CallContext, pool_id: str, *, a2b: bool, sqrt_price_before: int, after: Pool, step: SwapStep
) -> None:
    """Emit the pool's own event of a swap."""
    ctx.emit(
        MoveStruct(
            f"{CLMM}::pool::SwapEvent",
            (
                ("atob", "bool"),
                ("pool", "0x2::object::ID"),
                ("partner", "0x2::object::ID"),
                ("amount_in", "u64"),
                ("amount_out", "u64"),
                ("ref_amount", "u64"),
                ("fee_amount", "u64"),
                ("vault_a_amount", "u64"),
                ("vault_b_amount", "u64"),
                ("before_sqrt_price", "u128"),
                ("after_sqrt_price", "u128"),
                ("steps", "u64"),
            ),
            {
                "atob": a2b,
                "pool": pool_id,
                "partner": normalize_address("0x0"),
                "amount_in": step.amount_in + step.fee,
                "amount_out": step.amount_out,
                "ref_amount": 0,
                "fee_amount": step.fee,
                "vault_a_amount": after.coin_a,
                "vault_b_amount": after.coin_b,
                "before_sqrt_price": sqrt_price_before,
                "after_sqrt_price": after.current_sqrt_price,
                "steps": 1,
            },
            drop=True,
        )
    )


def _calculate_swap_result(ctx: CallContext, _types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    pool_object, a2b, by_amount_in, wanted = args
    pool, amount = Pool.load(ctx.state(shared_id(pool_object))), integer(wanted)
    if pool.current_sqrt_price == _end(bool(a2b)) or not amount:
        return [_swap_result(pool, SwapStep(0, 0, 0, pool.current_sqrt_price), [], exceeded=amount > 0)]
    step = pool.step(a2b=bool(a2b), by_amount_in=bool(by_amount_in), amount=amount)
    left = amount - (step.amount_in + step.fee if by_amount_in else step.amount_out)
    steps: list[Value] = [_step_result(pool, step, _end(bool(a2b)), left)]
    return [_swap_result(pool, step, steps, exceeded=left > 0)]


def _swap_result(pool: Pool, step: SwapStep, steps: list[Value], *, exceeded: bool) -> MoveStruct:
    return MoveStruct(
        f"{CLMM}::pool::CalculatedSwapResult",
        (
            ("amount_in", "u64"),
            ("amount_out", "u64"),
            ("fee_amount", "u64"),
            ("fee_rate", "u64"),
            ("after_sqrt_price", "u128"),
            ("is_exceed", "bool"),
            ("step_results", f"vector<{CLMM}::pool::SwapStepResult>"),
        ),
        {
            "amount_in": step.amount_in,
            "amount_out": step.amount_out,
            "fee_amount": step.fee,
            "fee_rate": pool.fee_rate,
            "after_sqrt_price": step.sqrt_price,
            "is_exceed": exceeded,
            "step_results": steps,
        },
        drop=True,
    )


def _step_result(pool: Pool, step: SwapStep, target: int, left: int) -> MoveStruct:
    return MoveStruct(
        f"{CLMM}::pool::SwapStepResult",
        (
            ("current_sqrt_price", "u128"),
            ("target_sqrt_price", "u128"),
            ("current_liquidity", "u128"),
            ("amount_in", "u64"),
            ("amount_out", "u64"),
            ("fee_amount", "u64"),
            ("remainer_amount", "u64"),
        ),
        {
            "current_sqrt_price": pool.current_sqrt_price,
            "target_sqrt_price": target,
            "current_liquidity": pool.liquidity,
            "amount_in": step.amount_in,
            "amount_out": step.amount_out,
            "fee_amount": step.fee,
            "remainer_amount": left,
        },
        drop=True,
    )


def _current_sqrt_price(ctx: CallContext, _types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    return [Pool.load(ctx.state(shared_id(args[0]))).current_sqrt_price]


def _fee_rate(ctx: CallContext, _types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    return [Pool.load(ctx.state(shared_id(args[0]))).fee_rate]


def _liquidity(ctx: CallContext, _types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    return [Pool.load(ctx.state(shared_id(args[0]))).liquidity]


def _seeds(_genesis_ms: int) -> Sequence[ObjectSeed]:
    objects = [
        ObjectSeed(SANDBOX_CETUS.global_config, GLOBAL_CONFIG, {"protocol_fee_rate": PROTOCOL_FEE_RATE}),
        ObjectSeed(SANDBOX_CETUS.partner, PARTNER),
    ]
    for place in SANDBOX_CETUS.pools:
        price = _sqrt_price(place.coin_a, place.coin_b, PRICES[place.coin_a], PRICES[place.coin_b])
        liquidity = liquidity_of_a(price, POOL_COIN_A)
        pool = Pool(coin_a=0, coin_b=0, fee_rate=POOL_FEE_RATE, liquidity=liquidity, current_sqrt_price=price)
        pool.coin_a, pool.coin_b = _holdings(pool)
        objects.append(ObjectSeed(place.pool, f"{POOL}<{place.coin_a},{place.coin_b}>", pool.dump()))
    return objects


def _vault_balances(object_type: str, state: Mapping[str, object]) -> Mapping[str, int]:
    if not is_pool(object_type):
        return {}
    pool = Pool.load(state)
    coin_a, coin_b = pool_coins(object_type)
    return {coin_a: pool.coin_a, coin_b: pool.coin_b}


_READ = f"&{POOL}<T0,T1>"

MODULES = MoveModules(
    name="Cetus CLMM",
    seeds=_seeds,
    vault_balances=_vault_balances,
    functions=(
        MoveFunction(
            CLMM,
            "pool",
            "calculate_swap_result",
            (_READ, "bool", "bool", "u64"),
            (f"{CLMM}::pool::CalculatedSwapResult",),
            _calculate_swap_result,
            type_parameters=2,
        ),
        MoveFunction(
            CLMM, "pool", "current_sqrt_price", (_READ,), ("u128",), _current_sqrt_price, type_parameters=2
        ),
        MoveFunction(CLMM, "pool", "fee_rate", (_READ,), ("u64",), _fee_rate, type_parameters=2),
        MoveFunction(CLMM, "pool", "liquidity", (_READ,), ("u128",), _liquidity, type_parameters=2),
    ),
)
