"""Transactions of the protocols make and lose no coin, and do what their simulation said."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pysui.sui.sui_grpc.suimsgs.sui.rpc import v2 as rpc

from tidegate.core.chain.deployments import CLOCK, SANDBOX_CETUS, SANDBOX_NAVI, SYSTEM_STATE
from tidegate.core.sandbox import controls
from tidegate.core.sandbox.ledger import Ledger
from tidegate.core.sandbox.modules import registry
from tidegate.core.sandbox.movetypes import parse_type
from tidegate.core.sandbox.node import simulate_request
from tidegate.core.sandbox.transactions import (
    GasArg,
    InputArg,
    MoveCall,
    OwnedInput,
    PureInput,
    ResultArg,
    SharedInput,
    SplitCoins,
    Transaction,
    TransferObjects,
)
from tidegate.core.tokens import SUI, USDC, normalize_address

USDC_TYPE, SUI_TYPE = parse_type(USDC.coin_type), parse_type(SUI.coin_type)
NAVI_USDC = next(pool for pool in SANDBOX_NAVI.pools if pool.coin_type == USDC.coin_type)
FRAMEWORK = normalize_address("0x2")


def u64(value: int) -> PureInput:
    return PureInput(value.to_bytes(8, "little"))


def shared(object_id: str, mutable: bool = True) -> SharedInput:
    return SharedInput(object_id, 1, mutable)


def deposit(wallet: Any, amount: int) -> Transaction:
    inputs = (
        OwnedInput(wallet.coin(USDC.coin_type)),
        u64(amount),
        shared(CLOCK, False),
        shared(SANDBOX_NAVI.storage),
        shared(NAVI_USDC.pool),
        PureInput(bytes([NAVI_USDC.asset_id])),
        shared(SANDBOX_NAVI.incentive_v2),
        shared(SANDBOX_NAVI.incentive_v3),
    )
    call = MoveCall(
        SANDBOX_NAVI.package,
        "incentive_v3",
        "entry_deposit",
        (USDC_TYPE,),
        (
            InputArg(2),
            InputArg(3),
            InputArg(4),
            InputArg(5),
            ResultArg(0, 0),
            InputArg(1),
            InputArg(6),
            InputArg(7),
        ),
    )
    result: Transaction = wallet.transaction(
        SplitCoins(InputArg(0), (InputArg(1),)), call, inputs=inputs, budget=100_000_000
    )
    return result


def withdraw(wallet: Any, amount: int) -> Transaction:
    inputs = (
        shared(CLOCK, False),
        shared(SANDBOX_NAVI.price_oracle),
        shared(SANDBOX_NAVI.storage),
        shared(NAVI_USDC.pool),
        PureInput(bytes([NAVI_USDC.asset_id])),
        u64(amount),
        shared(SANDBOX_NAVI.incentive_v2),
        shared(SANDBOX_NAVI.incentive_v3),
        shared(SYSTEM_STATE),
        PureInput(bytes.fromhex(wallet.key.address[2:])),
        shared(SANDBOX_NAVI.oracle_config),
        shared(SANDBOX_NAVI.supra_oracle_holder),
        shared(NAVI_USDC.pyth_price_info),
        shared(SANDBOX_NAVI.switchboard_aggregator),
        PureInput(bytes.fromhex(NAVI_USDC.feed_id[2:])),
    )
    update = MoveCall(
        SANDBOX_NAVI.oracle_package,
        "oracle_pro",
        "update_single_price_v2",
        (),
        tuple(InputArg(index) for index in (0, 10, 1, 11, 12, 13, 14)),
    )
    take = MoveCall(
        SANDBOX_NAVI.package,
        "incentive_v3",
        "withdraw_v2",
        (USDC_TYPE,),
        tuple(InputArg(index) for index in range(9)),
    )
    make = MoveCall(FRAMEWORK, "coin", "from_balance", (USDC_TYPE,), (ResultArg(1, 0),))
    send = TransferObjects((ResultArg(2, 0),), InputArg(9))
    result: Transaction = wallet.transaction(update, take, make, send, inputs=inputs, budget=100_000_000)
    return result


def swap_sui_to_usdc(wallet: Any, amount: int, least: int) -> Transaction:
    inputs = (
        u64(amount),
        PureInput(b"\x05quote"),
        u64(least),
        PureInput((0).to_bytes(4, "little")),
        PureInput(bytes(32)),
        shared(SANDBOX_CETUS.global_config, False),
        shared(SANDBOX_CETUS.pools[0].pool),
        shared(SANDBOX_CETUS.partner),
        PureInput(b"\0"),
        shared(CLOCK, False),
        PureInput(bytes.fromhex(wallet.key.address[2:])),
    )
    router, pair = SANDBOX_CETUS.router_package, (SUI_TYPE, USDC_TYPE)
    opened = tuple(InputArg(index) for index in (1, 2, 2))
    commands = (
        SplitCoins(GasArg(), (InputArg(0),)),
        MoveCall(
            router,
            "router",
            "new_swap_context",
            pair,
            (*opened, ResultArg(0, 0), InputArg(3), InputArg(4)),
        ),
        MoveCall(
            SANDBOX_CETUS.adapter_package,
            "cetus",
            "swap",
            (USDC_TYPE, SUI_TYPE),
            (
                ResultArg(1, 0),
                InputArg(5),
                InputArg(6),
                InputArg(7),
                InputArg(8),
                InputArg(0),
                InputArg(9),
            ),
        ),
        MoveCall(router, "router", "confirm_swap", (USDC_TYPE,), (ResultArg(1, 0),)),
        TransferObjects((ResultArg(3, 0),), InputArg(10)),
    )
    result: Transaction = wallet.transaction(*commands, inputs=inputs, budget=100_000_000)
    return result


def swap(wallet: Any, amount: int) -> Transaction:
    return swap_sui_to_usdc(wallet, amount, 1)


def totals(ledger: Ledger) -> dict[str, int]:
    found: dict[str, int] = {}
    for item in ledger.live_objects():
        held = dict(registry.vault_balances(str(item.type), item.decoded_state()))
        if item.coin_type is not None and item.balance is not None:
            held[item.coin_type] = item.balance
        for coin_type, amount in held.items():
            found[coin_type] = found.get(coin_type, 0) + amount
    return found


def test_a_swap_below_its_minimum_aborts_and_costs_only_gas(wallet: Any) -> None:
    before = totals(wallet.ledger)

    executed = wallet.execute(swap_sui_to_usdc(wallet, 2 * 10**9, 8_000_000))

    assert executed.effects.status.error.kind == rpc.ExecutionErrorExecutionErrorKind.MOVE_ABORT
    assert totals(wallet.ledger)[USDC.coin_type] == before[USDC.coin_type]


@pytest.mark.parametrize("build", [deposit, swap])
def test_a_simulated_protocol_call_equals_its_execution(wallet: Any, build: Any) -> None:
    transaction = build(wallet, 10_000_000)

    response = simulate_request(
        wallet.ledger,
        rpc.SimulateTransactionRequest(transaction=rpc.Transaction(bcs=rpc.Bcs(value=transaction.bcs()))),
    )
    executed = wallet.execute(transaction)

    assert response.transaction is not None
    assert response.transaction.effects == executed.effects
    assert response.transaction.events == executed.events
    assert len(response.command_outputs) == len(transaction.commands)


steps = st.one_of(
    st.tuples(st.sampled_from([deposit, withdraw]), st.integers(1, 100_000_000)),
    st.tuples(st.just(swap), st.integers(1, 10**9)),
    st.tuples(st.none(), st.integers(0, 10**9)),
)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(program=st.lists(steps, min_size=1, max_size=5))
def test_protocols_make_and_lose_no_coin(program: list[Any], new_wallet: Any) -> None:
    wallet = new_wallet()
    for build, amount in program:
        if build is None:
            controls.advance_clock(wallet.ledger, amount)
            continue
        before = totals(wallet.ledger)

        executed = wallet.execute(build(wallet, amount))

        used, status = executed.effects.gas_used, executed.effects.status
        burned = used.computation_cost + used.storage_cost - used.storage_rebate
        assert totals(wallet.ledger) == before | {SUI.coin_type: before[SUI.coin_type] - burned}
        kinds = rpc.ExecutionErrorExecutionErrorKind
        assert status.success or status.error.kind in (kinds.MOVE_ABORT, kinds.INSUFFICIENT_COIN_BALANCE)
