"""No transaction makes or loses a coin, whatever its commands are; gas included."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pysui.sui.sui_grpc.suimsgs.sui.rpc import v2 as rpc

from tidegate.core.sandbox import controls
from tidegate.core.sandbox.ledger import Ledger
from tidegate.core.sandbox.modules import registry
from tidegate.core.sandbox.movetypes import parse_type
from tidegate.core.sandbox.node import execute_signed
from tidegate.core.sandbox.transactions import (
    Argument,
    Command,
    Gas,
    GasArg,
    InputArg,
    MakeMoveVec,
    MergeCoins,
    MoveCall,
    ObjectRef,
    OwnedInput,
    PureInput,
    ResultArg,
    SplitCoins,
    Transaction,
    TransferObjects,
)
from tidegate.core.tokens import SUI, USDC, normalize_address

FRAMEWORK = normalize_address("0x2")
TYPES = (parse_type(SUI.coin_type), parse_type(USDC.coin_type))

# Inputs 0 to 3 are coins, 4 to 6 amounts, 7 an address.
coins = st.one_of(
    st.just(GasArg()),
    st.builds(InputArg, st.integers(0, 3)),
    st.builds(ResultArg, st.integers(0, 5), st.one_of(st.none(), st.integers(0, 1))),
)
amounts = st.builds(InputArg, st.integers(4, 6))
several = st.lists(coins, min_size=1, max_size=3).map(tuple)


@st.composite
def calls(draw: Any) -> Command:
    module, name, argument_count = draw(
        st.sampled_from(
            [
                ("coin", "join", 2),
                ("coin", "into_balance", 1),
                ("coin", "from_balance", 1),
                ("coin", "destroy_zero", 1),
                ("coin", "zero", 0),
                ("balance", "join", 2),
                ("balance", "destroy_zero", 1),
            ]
        )
    )
    arguments: tuple[Argument, ...] = tuple(draw(coins) for _ in range(argument_count))
    return MoveCall(FRAMEWORK, module, name, (draw(st.sampled_from(TYPES)),), arguments)


commands = st.one_of(
    st.builds(SplitCoins, coins, st.lists(amounts, min_size=1, max_size=2).map(tuple)),
    st.builds(MergeCoins, coins, several),
    st.builds(TransferObjects, several, st.just(InputArg(7))),
    st.builds(MakeMoveVec, st.none(), several),
    calls(),
)


def totals(ledger: Ledger) -> dict[str, int]:
    """Count the base units of every coin type in coins and in the protocols' vaults."""
    found: dict[str, int] = {}
    for item in ledger.live_objects():
        held = dict(registry.vault_balances(str(item.type), item.decoded_state()))
        if item.coin_type is not None and item.balance is not None:
            held[item.coin_type] = item.balance
        for coin_type, amount in held.items():
            found[coin_type] = found.get(coin_type, 0) + amount
    return found


@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    program=st.lists(commands, min_size=1, max_size=6).map(tuple),
    sizes=st.lists(st.sampled_from([0, 1, 400, 1_000, 2**64 - 1]), min_size=3, max_size=3),
    budget=st.sampled_from([1_000_000, 2_000_000, 20_000_000]),
)
def test_coins_are_conserved(
    program: tuple[Command, ...], sizes: list[int], budget: int, time: Any, alice: Any, bob: Any
) -> None:
    ledger = Ledger.open(None, time.clock)
    controls.faucet(ledger, alice.address, SUI.coin_type, 10**9)
    for coin_type in (SUI.coin_type, USDC.coin_type):
        for amount in (500, 1_000):
            controls.faucet(ledger, alice.address, coin_type, amount)
    gas_coin, *held = [
        ObjectRef(coin.id, coin.version, coin.digest)
        for coin in (
            *ledger.coins(alice.address, SUI.coin_type),
            *ledger.coins(alice.address, USDC.coin_type),
        )
    ]
    inputs = (
        *(OwnedInput(ref) for ref in held),
        *(PureInput(size.to_bytes(8, "little")) for size in sizes),
        PureInput(bytes.fromhex(bob.address[2:])),
    )
    transaction = Transaction(alice.address, inputs, program, Gas((gas_coin,), alice.address, 1_000, budget))
    before = totals(ledger)

    bcs = transaction.bcs()
    executed = execute_signed(ledger, bcs, [alice.sign(bcs)])

    used = executed.effects.gas_used
    burned = used.computation_cost + used.storage_cost - used.storage_rebate
    after = totals(ledger)
    assert after == before | {SUI.coin_type: before[SUI.coin_type] - burned}
    assert burned <= budget
    changed = dict.fromkeys(before, 0)
    for change in executed.balance_changes:
        changed[change.coin_type] += int(change.amount)
    assert changed == {coin_type: after[coin_type] - before[coin_type] for coin_type in before}
    status = executed.effects.status
    if not status.success:
        assert status.error.kind != rpc.ExecutionErrorExecutionErrorKind.INVARIANT_VIOLATION
        assert ledger.balances(bob.address) == {}
    ledger.close()
