"""``0x2``: coins, balances, transfers and the clock, as the framework's Move sources define them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar, runtime_checkable

from tidegate.core.chain.deployments import SYSTEM_STATE
from tidegate.core.sandbox.modules.base import (
    Balance,
    Body,
    CallContext,
    Coin,
    MoveAbort,
    MoveFunction,
    MoveModules,
    ObjectSeed,
    OwnedObject,
    Value,
)
from tidegate.core.tokens import normalize_address

FRAMEWORK = normalize_address("0x2")

_MAX_U64 = 2**64 - 1
# Abort codes of 0x2::balance (sui-framework, balance.move): ENonZero, EOverflow, ENotEnough.
_E_NON_ZERO, _E_OVERFLOW, _E_NOT_ENOUGH = 0, 1, 2
# coin.move aborts with its own ENotEnough when a coin is split.
_E_COIN_NOT_ENOUGH = 2

Held = TypeVar("Held", Coin, Balance)


@runtime_checkable
class TransferContext(Protocol):
    """What the framework's own functions may do beyond a protocol's: give away the object itself."""

    def transfer(self, item: Coin | OwnedObject, to_address: str) -> None:
        """Make an address the owner of the object, which keeps its id."""
        ...


def _abort(module: str, function: str, code: int) -> MoveAbort:
    return MoveAbort(f"{FRAMEWORK}::{module}", function, code)


def _as(kind: type[Held], value: Value) -> Held:
    if not isinstance(value, kind):
        raise TypeError(f"expected {kind.__name__}, not {value!r}")
    return value


def _coin_value(_ctx: CallContext, _types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    return [_as(Coin, args[0]).value]


def _coin_zero(_ctx: CallContext, types: Sequence[str], _args: Sequence[Value]) -> Sequence[Value]:
    return [Coin(types[0], 0)]


def _coin_from_balance(_ctx: CallContext, types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    return [Coin(types[0], _as(Balance, args[0]).value)]


def _coin_into_balance(_ctx: CallContext, types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    return [Balance(types[0], _as(Coin, args[0]).value)]


def _coin_join(_ctx: CallContext, _types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    _join(_as(Coin, args[0]), _as(Coin, args[1]).value)
    return []


def _coin_split(_ctx: CallContext, types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    taken = _split(_as(Coin, args[0]), args[1], _abort("balance", "split", _E_COIN_NOT_ENOUGH))
    return [Coin(types[0], taken)]


def _coin_destroy_zero(_ctx: CallContext, _types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    if _as(Coin, args[0]).value:
        raise _abort("balance", "destroy_zero", _E_NON_ZERO)
    return []


def _balance_value(_ctx: CallContext, _types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    return [_as(Balance, args[0]).value]


def _balance_zero(_ctx: CallContext, types: Sequence[str], _args: Sequence[Value]) -> Sequence[Value]:
    return [Balance(types[0], 0)]


def _balance_join(_ctx: CallContext, _types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    return [_join(_as(Balance, args[0]), _as(Balance, args[1]).value)]


def _balance_split(_ctx: CallContext, types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    taken = _split(_as(Balance, args[0]), args[1], _abort("balance", "split", _E_NOT_ENOUGH))
    return [Balance(types[0], taken)]


def _balance_destroy_zero(_ctx: CallContext, _types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    if _as(Balance, args[0]).value:
        raise _abort("balance", "destroy_zero", _E_NON_ZERO)
    return []


def _join(held: Coin | Balance, added: int) -> int:
    if held.value + added > _MAX_U64:
        raise _abort("balance", "join", _E_OVERFLOW)
    held.value += added
    return held.value


def _split(held: Coin | Balance, amount: Value, not_enough: MoveAbort) -> int:
    if not isinstance(amount, int) or amount > held.value:
        raise not_enough
    held.value -= amount
    return amount


def _public_transfer(ctx: CallContext, _types: Sequence[str], args: Sequence[Value]) -> Sequence[Value]:
    item, recipient = args
    if not (isinstance(ctx, TransferContext) and isinstance(item, Coin | OwnedObject)):
        raise TypeError(f"can not transfer {item!r}")
    ctx.transfer(item, str(recipient))
    return []


def _timestamp_ms(ctx: CallContext, _types: Sequence[str], _args: Sequence[Value]) -> Sequence[Value]:
    return [ctx.now_ms]


def _function(
    module: str, name: str, parameters: str, returns: str, run: Body, *, generic: int = 1, entry: bool = False
) -> MoveFunction:
    return MoveFunction(
        FRAMEWORK,
        module,
        name,
        tuple(parameters.split("; ")) if parameters else (),
        tuple(returns.split("; ")) if returns else (),
        run,
        type_parameters=generic,
        computation_units=0,
        entry=entry,
    )


_C = "0x2::coin::Coin<T0>"
_B = "0x2::balance::Balance<T0>"


def _seeds(_genesis_ms: int) -> Sequence[ObjectSeed]:
    # Validators and stakes are not emulated; protocols still pass the system state along.
    return [ObjectSeed(SYSTEM_STATE, "0x3::sui_system::SuiSystemState")]


MODULES = MoveModules(
    name="sui framework",
    seeds=_seeds,
    functions=(
        _function("coin", "value", f"&{_C}", "u64", _coin_value),
        _function("coin", "zero", "", _C, _coin_zero),
        _function("coin", "from_balance", _B, _C, _coin_from_balance),
        _function("coin", "into_balance", _C, _B, _coin_into_balance),
        _function("coin", "join", f"&mut {_C}; {_C}", "", _coin_join, entry=True),
        _function("coin", "split", f"&mut {_C}; u64", _C, _coin_split),
        _function("coin", "destroy_zero", _C, "", _coin_destroy_zero),
        _function("balance", "value", f"&{_B}", "u64", _balance_value),
        _function("balance", "zero", "", _B, _balance_zero),
        _function("balance", "join", f"&mut {_B}; {_B}", "u64", _balance_join),
        _function("balance", "split", f"&mut {_B}; u64", _B, _balance_split),
        _function("balance", "destroy_zero", _B, "", _balance_destroy_zero),
        _function("transfer", "public_transfer", "T0; address", "", _public_transfer),
        _function("clock", "timestamp_ms", "&0x2::clock::Clock", "u64", _timestamp_ms, generic=0),
    ),
)
