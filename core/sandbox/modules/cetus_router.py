"""Cetus' aggregator: a swap context that collects balances, and the adapter that swaps them in a pool.

Source: the published bytecode of the aggregator's router (modules router, errors) and of its Cetus adapter
(module cetus). The context is a hot potato: a transaction that does not confirm the swap is refused, and
confirming aborts when less than the limit came out or anything else is left inside.
"""

from __future__ import annotations

from collections.abc import Sequence

from tidegate.core.chain.deployments import SANDBOX_CETUS
from tidegate.core.sandbox.modules.arguments import coin, integer, shared_id, struct, text
from tidegate.core.sandbox.modules.base import (
    Balance,
    CallContext,
    Coin,
    MoveAbort,
    MoveFunction,
    MoveModules,
    MoveStruct,
    Value,
)
from tidegate.core.sandbox.modules.cetus import (
    GLOBAL_CONFIG,
    PARTNER,
    POOL,
    Pool,
    emit_swap,
    protocol_fee_rate,
)
from tidegate.core.sandbox.modules.clmm_math import FEE_DENOMINATOR
from tidegate.core.sandbox.modules.sui_framework import TransferContext
from tidegate.core.tokens import normalize_address

ORIGINAL_PACKAGE = "0x33ec64e9bb369bf045ddc198c81adbf2acab424da37465d95296ee02045d2b17"
"""First version of the router, whose id its types and aborts carry (bytecode of the published package)."""

SWAP_CONTEXT = f"{ORIGINAL_PACKAGE}::router::SwapContext"

# errors.mv: each function aborts itself, so an abort names the function and the module `errors`.
E_SLIPPAGE = ("err_amount_out_slippage_check_failed", 1)
E_REMAINS_BALANCE = ("err_remains_balance", 2)
E_AMOUNT_IN_IS_ZERO = ("err_amount_in_is_zero", 3)
E_INVALID_FEE_RECIPIENT = ("err_invalid_fee_recipient", 4)
E_TOO_LARGE_FEE_RATE = ("err_too_large_fee_rate", 5)
E_EXCEED_MAX_AMOUNT_IN = ("err_exceed_max_amount_in", 7)

MAX_FEE_RATE = 100_000
TAKE_ALL = 2**64 - 1
"""Amount that stands for the whole balance of the context (router::max_amount_in)."""

_NOBODY = normalize_address("0x0")
# dynamic_field.move: EFieldDoesNotExist and EFieldTypeMismatch.
_E_NO_FIELD, _E_FIELD_TYPE = 1, 2

_TYPE_NAME = "0x1::type_name::TypeName"


def _new_swap_context(ctx: CallContext, types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    quote_id, expected, limit, paid, fee_rate, fee_recipient = args
    given = coin(paid)
    if not given.value:
        raise _abort(E_AMOUNT_IN_IS_ZERO)
    if integer(fee_rate) and fee_recipient == _NOBODY:
        raise _abort(E_INVALID_FEE_RECIPIENT)
    if integer(fee_rate) > MAX_FEE_RATE:
        raise _abort(E_TOO_LARGE_FEE_RATE)
    context = MoveStruct(
        SWAP_CONTEXT,
        (
            ("quote_id", "0x1::string::String"),
            ("from", _TYPE_NAME),
            ("target", _TYPE_NAME),
            ("amount_in", "u64"),
            ("expect_amount_out", "u64"),
            ("amount_out_limit", "u64"),
            ("fee_rate", "u32"),
            ("fee_recipient", "address"),
            ("balances", "0x2::bag::Bag"),
        ),
        {
            "quote_id": quote_id,
            "from": _type_name(types[0]),
            "target": _type_name(types[1]),
            "amount_in": given.value,
            "expect_amount_out": expected,
            "amount_out_limit": limit,
            "fee_rate": fee_rate,
            "fee_recipient": fee_recipient,
            "balances": _Bag.new(ctx, Balance(given.coin_type, given.value)),
        },
    )
    return [context]


def _new_swap_context_v2(ctx: CallContext, types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    quote_id, max_in, *rest = args
    if coin(rest[2]).value > integer(max_in):
        raise _abort(E_EXCEED_MAX_AMOUNT_IN)
    return _new_swap_context(ctx, types, [quote_id, *rest])


def _swap(ctx: CallContext, types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    context, global_config, pool_object, _partner, a2b, wanted, _clock = args
    sold, bought = types if a2b else reversed(types)
    bag = _Bag.of(struct(context))
    taken = bag.take(sold, integer(wanted))
    if not taken:
        return []
    pool_id = shared_id(pool_object)
    pool = Pool.load(ctx.state(pool_id))
    price_before = pool.current_sqrt_price
    step = pool.swap(a2b=bool(a2b), amount=taken, protocol_fee_rate=protocol_fee_rate(ctx, global_config))
    ctx.save_state(pool_id, pool.dump())
    emit_swap(ctx, pool_id, a2b=bool(a2b), sqrt_price_before=price_before, after=pool, step=step)
    left = taken - step.amount_in - step.fee
    if wanted == TAKE_ALL and left:
        ctx.pay(sold, left, ctx.sender)
    else:
        bag.merge(sold, left)
    bag.merge(bought, step.amount_out)
    ctx.emit(
        MoveStruct(
            f"{ORIGINAL_PACKAGE}::router::SwapEvent",
            (
                ("quote_id", "0x1::string::String"),
                ("pool_id", "0x2::object::ID"),
                ("dex", "0x1::string::String"),
                ("from", _TYPE_NAME),
                ("target", _TYPE_NAME),
                ("amount_in", "u64"),
                ("amount_out", "u64"),
                ("amount_in_remaining", "u64"),
            ),
            {
                "quote_id": struct(context).fields["quote_id"],
                "pool_id": pool_id,
                "dex": "CETUS",
                "from": _type_name(sold),
                "target": _type_name(bought),
                "amount_in": taken - left,
                "amount_out": step.amount_out,
                "amount_in_remaining": left,
            },
            drop=True,
        )
    )
    return []


def _confirm_swap(ctx: CallContext, types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    context = struct(args[0])
    bag, target = _Bag.of(context), _coin_type(context.fields["target"])
    out = bag.take(target, TAKE_ALL)
    if not out or target != types[0]:
        framework, code = normalize_address("0x2"), _E_FIELD_TYPE if out else _E_NO_FIELD
        raise MoveAbort(f"{framework}::dynamic_field", "remove_child_object", code)
    fee_rate, recipient = integer(context.fields["fee_rate"]), text(context.fields["fee_recipient"])
    fee = out * fee_rate // FEE_DENOMINATOR if recipient != _NOBODY else 0
    if fee:
        ctx.pay(target, fee, recipient)
    out -= fee
    if out < integer(context.fields["amount_out_limit"]):
        raise _abort(E_SLIPPAGE)
    if bag.size:
        raise _abort(E_REMAINS_BALANCE)
    _emit_confirmed(ctx, context, out, fee)
    return [Coin(target, out)]


def _emit_confirmed(ctx: CallContext, context: MoveStruct, out: int, fee: int) -> None:
    layout = (
        ("quote_id", "0x1::string::String"),
        ("from", _TYPE_NAME),
        ("target", _TYPE_NAME),
        ("amount_in", "u64"),
        ("amount_out", "u64"),
        ("fee_amount", "u64"),
        ("fee_rate", "u32"),
        ("fee_recipient", "address"),
        ("expect_amount_out", "u64"),
        ("amount_out_limit", "u64"),
    )
    fields = {**context.fields, "amount_out": out, "fee_amount": fee}
    ctx.emit(
        MoveStruct(
            f"{ORIGINAL_PACKAGE}::router::ConfirmSwapEvent",
            layout,
            {name: fields[name] for name, _ in layout},
            drop=True,
        )
    )


def _transfer_or_destroy_coin(
    ctx: CallContext, _types: Sequence[str], args: Sequence[Value]
) -> Sequence[Value]:
    given = coin(args[0])
    if not isinstance(ctx, TransferContext):
        raise TypeError("coins can not be transferred here")
    if given.value:
        ctx.transfer(given, ctx.sender)
    return []


class _Bag:
    """The balances inside a context: a ``0x2::bag::Bag`` by coin type, whose BCS is its id and its size."""

    def __init__(self, bag: MoveStruct) -> None:
        self._bag = bag

    @classmethod
    def new(cls, ctx: CallContext, first: Balance) -> MoveStruct:
        """Return a bag with one balance."""
        layout = (("id", "address"), ("size", "u64"))
        return MoveStruct("0x2::bag::Bag", layout, {"id": ctx.fresh_id(), "size": 1, "contents": [first]})

    @classmethod
    def of(cls, context: MoveStruct) -> _Bag:
        """Return the bag of a swap context."""
        return cls(struct(context.fields["balances"]))

    @property
    def size(self) -> int:
        """How many coin types are inside."""
        return len(self._balances())

    def take(self, coin_type: str, amount: int) -> int:
        """Take at most an amount and return what was taken."""
        held = self._balances()
        taken = min(held.get(coin_type, 0), amount)
        self._set({**held, coin_type: held.get(coin_type, 0) - taken})
        return taken

    def merge(self, coin_type: str, amount: int) -> None:
        """Add an amount."""
        held = self._balances()
        self._set({**held, coin_type: held.get(coin_type, 0) + amount})

    def _balances(self) -> dict[str, int]:
        contents = self._bag.fields["contents"]
        if not isinstance(contents, list):
            raise TypeError(f"a bag of {contents!r}")
        return {each.coin_type: each.value for each in contents if isinstance(each, Balance)}

    def _set(self, balances: dict[str, int]) -> None:
        contents: list[Value] = [Balance(kind, amount) for kind, amount in balances.items() if amount]
        self._bag.fields["contents"] = contents
        self._bag.fields["size"] = len(contents)


def _type_name(coin_type: str) -> MoveStruct:
    fields: dict[str, Value] = {"name": coin_type.removeprefix("0x")}
    return MoveStruct(_TYPE_NAME, (("name", "0x1::ascii::String"),), fields, drop=True)


def _coin_type(type_name: Value) -> str:
    return "0x" + text(struct(type_name).fields["name"])


def _abort(error: tuple[str, int]) -> MoveAbort:
    function, code = error
    return MoveAbort(f"{ORIGINAL_PACKAGE}::errors", function, code)


_OPEN = ("u64", "u64", "0x2::coin::Coin<T0>", "u32", "address")

MODULES = MoveModules(
    name="Cetus aggregator",
    functions=(
        MoveFunction(
            SANDBOX_CETUS.router_package,
            "router",
            "new_swap_context",
            ("0x1::string::String", *_OPEN),
            (SWAP_CONTEXT,),
            _new_swap_context,
            type_parameters=2,
        ),
        MoveFunction(
            SANDBOX_CETUS.router_package,
            "router",
            "new_swap_context_v2",
            ("0x1::string::String", "u64", *_OPEN),
            (SWAP_CONTEXT,),
            _new_swap_context_v2,
            type_parameters=2,
        ),
        MoveFunction(
            SANDBOX_CETUS.router_package,
            "router",
            "confirm_swap",
            (SWAP_CONTEXT,),
            ("0x2::coin::Coin<T0>",),
            _confirm_swap,
            type_parameters=1,
        ),
        MoveFunction(
            SANDBOX_CETUS.router_package,
            "router",
            "transfer_or_destroy_coin",
            ("0x2::coin::Coin<T0>",),
            (),
            _transfer_or_destroy_coin,
            type_parameters=1,
            computation_units=0,
        ),
        MoveFunction(
            SANDBOX_CETUS.adapter_package,
            "cetus",
            "swap",
            (
                f"&mut {SWAP_CONTEXT}",
                f"&{GLOBAL_CONFIG}",
                f"&mut {POOL}<T0,T1>",
                f"&mut {PARTNER}",
                "bool",
                "u64",
                "&0x2::clock::Clock",
            ),
            (),
            _swap,
            type_parameters=2,
        ),
    ),
)
