from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pysui.sui.sui_bcs import bcs_txne
from pysui.sui.sui_grpc.suimsgs.sui.rpc import v2 as rpc

from tidegate.core.chain.deployments import CLOCK
from tidegate.core.sandbox import controls
from tidegate.core.sandbox.encoding import salted_digest
from tidegate.core.sandbox.ledger import Ledger
from tidegate.core.sandbox.movetypes import parse_type
from tidegate.core.sandbox.node import execute_signed, find_transaction, simulate_request
from tidegate.core.sandbox.refusals import Refusal, Refused
from tidegate.core.sandbox.transactions import (
    GasArg,
    InputArg,
    MakeMoveVec,
    MergeCoins,
    MoveCall,
    ObjectRef,
    OwnedInput,
    PureInput,
    ResultArg,
    SharedInput,
    SplitCoins,
    TransferObjects,
)
from tidegate.core.tokens import SUI, USDC, normalize_address

FRAMEWORK = normalize_address("0x2")
SUI_TYPE = parse_type(SUI.coin_type)


def u64(value: int) -> PureInput:
    return PureInput(value.to_bytes(8, "little"))


def address(value: str) -> PureInput:
    return PureInput(bytes.fromhex(value[2:]))


def call(module: str, function: str, *arguments: Any, of: Any = SUI_TYPE) -> MoveCall:
    return MoveCall(FRAMEWORK, module, function, (of,) if of else (), arguments)


# Refused: nothing happens


def test_a_changed_signature_is_refused(wallet: Any, bob: Any) -> None:
    bcs = wallet.pay(bob.address, 1).bcs()
    signature = bytearray(wallet.key.sign(bcs))
    signature[10] ^= 1

    with pytest.raises(Refused) as refused:
        execute_signed(wallet.ledger, bcs, [bytes(signature)])

    assert refused.value.kind is Refusal.INVALID_ARGUMENT
    assert wallet.ledger.balances(bob.address) == {}


def test_anothers_signature_is_refused(wallet: Any, bob: Any) -> None:
    bcs = wallet.pay(bob.address, 1).bcs()

    with pytest.raises(Refused, match="required signers"):
        execute_signed(wallet.ledger, bcs, [bob.sign(bcs)])


def test_a_spent_version_is_refused(wallet: Any, bob: Any) -> None:
    first, second = wallet.pay(bob.address, 1), wallet.pay(bob.address, 2)
    wallet.execute(first)

    with pytest.raises(Refused, match="unavailable for consumption") as refused:
        wallet.execute(second)

    assert refused.value.kind is Refusal.INVALID_ARGUMENT


def test_an_unknown_object_is_not_found(wallet: Any, bob: Any) -> None:
    unknown = ObjectRef("0x" + "77" * 32, 1, wallet.coin(SUI.coin_type).digest)

    with pytest.raises(Refused) as refused:
        wallet.execute(wallet.pay(bob.address, 1, payment=(unknown,)))

    assert refused.value.kind is Refusal.NOT_FOUND


def test_anothers_coin_is_refused(wallet: Any, bob: Any) -> None:
    controls.faucet(wallet.ledger, bob.address, USDC.coin_type, 5)
    theirs = wallet.ref(wallet.ledger.coins(bob.address, USDC.coin_type)[0].id)
    steal = wallet.transaction(
        TransferObjects((InputArg(0),), InputArg(1)), inputs=(OwnedInput(theirs), address(wallet.key.address))
    )

    with pytest.raises(Refused, match="not signed by the correct sender"):
        wallet.execute(steal)


@pytest.mark.parametrize(
    ("gas", "why"),
    [
        ({"price": 999}, "under reference gas price"),
        ({"budget": 999_999}, "lower than min"),
        ({"budget": 50_000_000_001}, "higher than max"),
        ({"budget": 11 * 10**9}, "lower than the needed amount"),
    ],
)
def test_bad_gas_is_refused(wallet: Any, bob: Any, gas: dict[str, int], why: str) -> None:
    with pytest.raises(Refused, match=why):
        wallet.execute(wallet.pay(bob.address, 1, **gas))


def test_one_object_twice_is_refused(wallet: Any) -> None:
    coin = wallet.coin(SUI.coin_type)

    with pytest.raises(Refused, match="more than one"):
        wallet.execute(wallet.transaction(MergeCoins(GasArg(), (InputArg(0),)), inputs=(OwnedInput(coin),)))


def test_an_expired_transaction_is_refused(wallet: Any, bob: Any, time: Any) -> None:
    late = replace(wallet.pay(bob.address, 1), expires_after=0)
    time.ms += 24 * 3600 * 1000

    with pytest.raises(Refused, match="Expired"):
        wallet.execute(late)


# Executed


def test_the_same_bytes_return_the_same_effects(wallet: Any, bob: Any) -> None:
    transaction = wallet.pay(bob.address, 7)

    first, again = wallet.execute(transaction), wallet.execute(transaction)

    assert bytes(first) == bytes(again)
    assert wallet.ledger.balances(bob.address) == {SUI.coin_type: 7}


def test_a_failed_transaction_costs_only_gas(wallet: Any, bob: Any) -> None:
    before = wallet.ledger.balances(wallet.key.address)
    usdc = wallet.coin(USDC.coin_type)
    failing = wallet.transaction(
        SplitCoins(InputArg(0), (InputArg(1),)),
        TransferObjects((ResultArg(0, 0),), InputArg(3)),
        SplitCoins(InputArg(0), (InputArg(2),)),
        TransferObjects((ResultArg(2, 0),), InputArg(3)),
        inputs=(OwnedInput(usdc), u64(1_000_000), u64(10**12), address(bob.address)),
    )

    executed = wallet.execute(failing)

    status = executed.effects.status
    assert (status.success, status.error.kind, status.error.command) == (
        False,
        rpc.ExecutionErrorExecutionErrorKind.INSUFFICIENT_COIN_BALANCE,
        2,
    )
    used = executed.effects.gas_used
    net = used.computation_cost + used.storage_cost - used.storage_rebate
    after = wallet.ledger.balances(wallet.key.address)
    assert after[USDC.coin_type] == before[USDC.coin_type]
    assert after[SUI.coin_type] == before[SUI.coin_type] - net
    assert wallet.ledger.balances(bob.address) == {}
    assert [(c.coin_type, int(c.amount)) for c in executed.balance_changes] == [(SUI.coin_type, -net)]


def test_gas_coins_are_smashed_into_the_first(wallet: Any, bob: Any) -> None:
    controls.faucet(wallet.ledger, wallet.key.address, SUI.coin_type, 5 * 10**9)
    payment = (wallet.coin(SUI.coin_type, 0), wallet.coin(SUI.coin_type, 1))

    executed = wallet.execute(wallet.pay(bob.address, 14 * 10**9, payment=payment))

    assert executed.effects.status.success
    assert executed.effects.gas_object.object_id == payment[0].id
    assert wallet.ledger.deleted_version(payment[1].id) == executed.effects.lamport_version
    assert wallet.ledger.balances(bob.address) == {SUI.coin_type: 14 * 10**9}


def test_the_whole_gas_coin_can_be_given_away(wallet: Any, bob: Any) -> None:
    executed = wallet.execute(
        wallet.transaction(TransferObjects((GasArg(),), InputArg(0)), inputs=(address(bob.address),))
    )

    used = executed.effects.gas_used
    net = used.computation_cost + used.storage_cost - used.storage_rebate
    assert wallet.ledger.balances(bob.address) == {SUI.coin_type: 10 * 10**9 - net}


def test_commands_can_not_spend_the_gas_budget(wallet: Any, bob: Any) -> None:
    executed = wallet.execute(wallet.pay(bob.address, 10 * 10**9 - 20_000_000 + 1))

    assert not executed.effects.status.success


def test_a_sponsor_pays_when_both_signed(wallet: Any, bob: Any) -> None:
    controls.faucet(wallet.ledger, bob.address, SUI.coin_type, 10**9)
    payment = (wallet.ref(wallet.ledger.coins(bob.address, SUI.coin_type)[0].id),)
    move = TransferObjects((InputArg(0),), InputArg(1))
    inputs = (OwnedInput(wallet.coin(USDC.coin_type)), address(bob.address))
    own = wallet.transaction(move, inputs=inputs, payment=payment)
    bcs = own.with_gas(replace(own.gas, owner=bob.address)).bcs()

    with pytest.raises(Refused, match="2 signer signatures"):
        execute_signed(wallet.ledger, bcs, [wallet.key.sign(bcs)])
    executed = execute_signed(wallet.ledger, bcs, [wallet.key.sign(bcs), bob.sign(bcs)])

    assert executed.effects.status.success
    assert wallet.ledger.balances(wallet.key.address) == {SUI.coin_type: 10 * 10**9}
    assert wallet.ledger.balances(bob.address)[USDC.coin_type] == 500 * 10**6


def test_an_unused_coin_fails(wallet: Any) -> None:
    executed = wallet.execute(wallet.transaction(SplitCoins(GasArg(), (InputArg(0),)), inputs=(u64(5),)))

    kind = rpc.ExecutionErrorExecutionErrorKind.UNUSED_VALUE_WITHOUT_DROP
    assert executed.effects.status.error.kind == kind


def test_an_unknown_function_fails(wallet: Any) -> None:
    executed = wallet.execute(wallet.transaction(call("coin", "mint", of=None)))

    assert executed.effects.status.error.kind == rpc.ExecutionErrorExecutionErrorKind.FUNCTION_NOT_FOUND


def test_a_move_abort_names_module_function_and_code(wallet: Any) -> None:
    coin = OwnedInput(wallet.coin(USDC.coin_type))
    executed = wallet.execute(
        wallet.transaction(
            call("coin", "destroy_zero", InputArg(0), of=parse_type(USDC.coin_type)), inputs=(coin,)
        )
    )

    abort = executed.effects.status.error.abort
    assert (abort.location.package, abort.location.module) == (FRAMEWORK, "balance")
    assert (abort.location.function_name, abort.abort_code) == ("destroy_zero", 0)


def test_framework_functions_compose(wallet: Any, bob: Any) -> None:
    commands = (
        call("coin", "split", GasArg(), InputArg(0)),
        call("coin", "into_balance", ResultArg(0)),
        call("balance", "split", ResultArg(1), InputArg(1)),
        call("coin", "from_balance", ResultArg(2)),
        call(
            "transfer",
            "public_transfer",
            ResultArg(3),
            InputArg(2),
            of=parse_type(f"0x2::coin::Coin<{SUI_TYPE}>"),
        ),
        call("coin", "from_balance", ResultArg(1)),
        call("coin", "join", GasArg(), ResultArg(5)),
    )
    inputs = (u64(1_000), u64(300), address(bob.address))

    executed = wallet.execute(wallet.transaction(*commands, inputs=inputs))

    assert executed.effects.status.success, executed.effects.status
    assert wallet.ledger.balances(bob.address) == {SUI.coin_type: 300}


def test_a_value_can_not_be_used_twice(wallet: Any, bob: Any) -> None:
    transfer = TransferObjects((ResultArg(0),), InputArg(1))
    executed = wallet.execute(
        wallet.transaction(
            SplitCoins(GasArg(), (InputArg(0),)), transfer, transfer, inputs=(u64(5), address(bob.address))
        )
    )

    error = executed.effects.status.error
    kinds = rpc.CommandArgumentErrorCommandArgumentErrorKind
    assert (error.command, error.command_argument_error.kind) == (2, kinds.ARGUMENT_WITHOUT_VALUE)


def test_a_coin_of_another_type_is_refused_by_the_signature(wallet: Any) -> None:
    coin = OwnedInput(wallet.coin(USDC.coin_type))
    executed = wallet.execute(wallet.transaction(call("coin", "join", GasArg(), InputArg(0)), inputs=(coin,)))

    kinds = rpc.CommandArgumentErrorCommandArgumentErrorKind
    assert executed.effects.status.error.command_argument_error.kind == kinds.TYPE_MISMATCH


def test_vectors_of_objects_must_be_consumed(wallet: Any) -> None:
    coin = OwnedInput(wallet.coin(USDC.coin_type))
    executed = wallet.execute(wallet.transaction(MakeMoveVec(None, (InputArg(0),)), inputs=(coin,)))

    assert not executed.effects.status.success
    assert wallet.ledger.balances(wallet.key.address)[USDC.coin_type] == 500 * 10**6


# What is written down


def test_pysui_reads_the_effects_and_the_digests_agree(wallet: Any, bob: Any) -> None:
    executed = wallet.execute(wallet.pay(bob.address, 5))

    effects = executed.effects
    decoded = bcs_txne.TransactionEffects.deserialize(effects.bcs.value)
    assert bytes(decoded.serialize()) == effects.bcs.value
    assert salted_digest("TransactionEffects", effects.bcs.value) == effects.digest
    assert decoded.value.status.enum_name == "Success"
    assert [change.object_id for change in effects.changed_objects] == sorted(
        change.object_id for change in effects.changed_objects
    )
    for change in effects.changed_objects:
        found = wallet.ledger.get_object(change.object_id)
        assert (found.version, found.digest) == (change.output_version, change.output_digest)
        assert salted_digest("Object", found.bcs) == found.digest


def test_pysui_reads_the_effects_of_failures(wallet: Any) -> None:
    failing = [
        call("coin", "mint", of=None),
        call("coin", "value"),
        call("coin", "value", GasArg(), of=None),
        call("coin", "value", ResultArg(3)),
        call("coin", "value", InputArg(9)),
        call("coin", "destroy_zero", GasArg()),
        SplitCoins(GasArg(), (InputArg(0),)),
    ]
    for command in failing:
        executed = wallet.execute(wallet.transaction(command, inputs=(u64(10**12),)))

        raw = executed.effects.bcs.value
        assert not executed.effects.status.success
        assert bytes(bcs_txne.TransactionEffects.deserialize(raw).serialize()) == raw


def test_reading_the_clock_gives_sandbox_time(wallet: Any, time: Any) -> None:
    controls.advance_clock(wallet.ledger, 60_000)
    inspect = wallet.transaction(
        call("clock", "timestamp_ms", InputArg(0), of=None), inputs=(SharedInput(CLOCK, 1, False),)
    )

    response = simulate_request(
        wallet.ledger,
        rpc.SimulateTransactionRequest(transaction=rpc.Transaction(bcs=rpc.Bcs(value=inspect.bcs()))),
    )

    value = response.command_outputs[0].return_values[0].value.value
    assert int.from_bytes(value, "little") == time.ms + 60_000


def test_a_simulation_equals_the_execution(wallet: Any, bob: Any) -> None:
    transaction = wallet.pay(bob.address, 12_345)

    simulated = simulate_request(
        wallet.ledger,
        rpc.SimulateTransactionRequest(transaction=rpc.Transaction(bcs=rpc.Bcs(value=transaction.bcs()))),
    ).transaction
    executed = wallet.execute(transaction)

    assert simulated.effects == executed.effects
    assert simulated.balance_changes == executed.balance_changes
    assert simulated.digest == executed.digest


def test_a_simulation_changes_nothing(wallet: Any, bob: Any) -> None:
    before = [(item.id, item.digest) for item in wallet.ledger.live_objects()]

    simulate_request(
        wallet.ledger,
        rpc.SimulateTransactionRequest(
            transaction=rpc.Transaction(bcs=rpc.Bcs(value=wallet.pay(bob.address, 1).bcs()))
        ),
    )

    assert [(item.id, item.digest) for item in wallet.ledger.live_objects()] == before


def test_an_inspection_needs_neither_gas_nor_ownership(wallet: Any, bob: Any) -> None:
    theirs = wallet.coin(USDC.coin_type)
    inspect = replace(
        wallet.transaction(
            call("coin", "value", InputArg(0), of=parse_type(USDC.coin_type)), inputs=(OwnedInput(theirs),)
        ),
        sender=bob.address,
    )
    bcs = inspect.with_gas(replace(inspect.gas, payment=(), owner=bob.address, price=0, budget=0)).bcs()

    response = simulate_request(
        wallet.ledger,
        rpc.SimulateTransactionRequest(
            transaction=rpc.Transaction(bcs=rpc.Bcs(value=bcs)),
            checks=rpc.SimulateTransactionRequestTransactionChecks.DISABLED,
        ),
    )

    assert response.transaction.effects.status.success
    value = response.command_outputs[0].return_values[0].value.value
    assert int.from_bytes(value, "little") == 500 * 10**6


def test_gas_selection_completes_a_transaction(wallet: Any, bob: Any) -> None:
    transaction = wallet.pay(bob.address, 10**9)
    bare = transaction.with_gas(replace(transaction.gas, payment=(), price=0, budget=0))

    simulated = simulate_request(
        wallet.ledger,
        rpc.SimulateTransactionRequest(
            transaction=rpc.Transaction(bcs=rpc.Bcs(value=bare.bcs())), do_gas_selection=True
        ),
    ).transaction
    bcs = simulated.transaction.bcs.value
    executed = execute_signed(wallet.ledger, bcs, [wallet.key.sign(bcs)])

    assert executed.effects.status.success
    assert [ref.object_id for ref in simulated.transaction.gas_payment.objects] == [
        executed.effects.gas_object.object_id
    ]


# The file


def test_everything_survives_reopening(path: Path, time: Any, alice: Any, bob: Any) -> None:
    first = Ledger.open(path, time.clock)
    digest = controls.faucet(first, alice.address, USDC.coin_type, 9)
    controls.advance_clock(first, 5_000)
    objects = [(item.id, item.digest) for item in first.live_objects()]
    first.close()

    second = Ledger.open(path, time.clock)

    assert [(item.id, item.digest) for item in second.live_objects()] == objects
    assert find_transaction(second, digest).checkpoint == 1
    assert second.now_ms == time.ms + 5_000
    second.close()


def test_an_exception_in_a_write_leaves_nothing(ledger: Ledger, alice: Any) -> None:
    def mint_and_fail() -> None:
        with ledger.write():
            controls.faucet(ledger, alice.address, USDC.coin_type, 9)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        mint_and_fail()

    assert ledger.balances(alice.address) == {}
    assert ledger.checkpoint().sequence == 0  # type: ignore[union-attr]


def test_a_write_inside_a_read_is_an_error(ledger: Ledger) -> None:
    with ledger.read(), pytest.raises(RuntimeError):
        ledger.advance(1)


def test_time_never_goes_back(wallet: Any, time: Any) -> None:
    before = wallet.ledger.now_ms
    time.ms -= 60_000

    assert wallet.ledger.now_ms == before


def test_reset_begins_again(wallet: Any) -> None:
    wallet.ledger.reset()

    assert wallet.ledger.balances(wallet.key.address) == {}
    assert wallet.ledger.checkpoint().sequence == 0


def test_genesis_is_always_the_same(time: Any) -> None:
    first, second = Ledger.open(None, time.clock), Ledger.open(None, time.clock)

    assert [item.bcs for item in first.live_objects()] == [item.bcs for item in second.live_objects()]
    first.close()
    second.close()


_MINT = """
import sys
from pathlib import Path
from tidegate.core.clock import system_clock
from tidegate.core.sandbox import controls
from tidegate.core.sandbox.ledger import Ledger

ledger = Ledger.open(Path(sys.argv[1]), system_clock())
for _ in range(20):
    controls.faucet(ledger, sys.argv[2], sys.argv[3], 1)
ledger.close()
"""


def test_processes_share_one_file(path: Path, time: Any, alice: Any) -> None:
    command = [sys.executable, "-c", _MINT, str(path), alice.address, USDC.coin_type]
    workers = [subprocess.Popen(command) for _ in range(2)]

    assert [worker.wait(timeout=60) for worker in workers] == [0, 0]

    ledger = Ledger.open(path, time.clock)
    assert ledger.balances(alice.address) == {USDC.coin_type: 40}
    assert ledger.checkpoint().sequence == 40  # type: ignore[union-attr]
    ledger.close()
