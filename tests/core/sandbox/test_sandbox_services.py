"""The services over real gRPC, asked with the generated stubs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from grpclib.const import Status
from grpclib.exceptions import GRPCError, StreamTerminatedError
from pysui.sui.sui_grpc.suimsgs.google.protobuf import FieldMask
from pysui.sui.sui_grpc.suimsgs.sui.rpc import v2 as rpc

from tidegate.core.chain.deployments import CLOCK, SYSTEM_STATE
from tidegate.core.sandbox import controls
from tidegate.core.sandbox.genesis import SANDBOX_CHAIN_ID
from tidegate.core.sandbox.transactions import Gas
from tidegate.core.tokens import SUI, USDC


def signed(wallet: Any, transaction: Any, **fields: Any) -> rpc.ExecuteTransactionRequest:
    bcs = transaction.bcs()
    return rpc.ExecuteTransactionRequest(
        transaction=rpc.Transaction(bcs=rpc.Bcs(value=bcs)),
        signatures=[rpc.UserSignature(bcs=rpc.Bcs(value=wallet.key.sign(bcs)))],
        **fields,
    )


def execution(client: Any) -> rpc.TransactionExecutionServiceStub:
    return rpc.TransactionExecutionServiceStub(client._channel)


def reading(client: Any) -> rpc.LedgerServiceStub:
    return rpc.LedgerServiceStub(client._channel)


def state(client: Any) -> rpc.StateServiceStub:
    return rpc.StateServiceStub(client._channel)


async def status_of(call: Any) -> Status:
    with pytest.raises(GRPCError) as error:
        await call
    return error.value.status


# Statuses


def test_refusals_have_the_statuses_of_a_node(wallet: Any, on_network: Any, bob: Any) -> None:
    async def body(client: Any) -> list[Status]:
        bad = signed(wallet, wallet.pay(bob.address, 1))
        bad.signatures[0].bcs = rpc.Bcs(value=bob.sign(bad.transaction.bcs.value))  # type: ignore[union-attr]
        return [
            await status_of(execution(client).execute_transaction(bad)),
            await status_of(reading(client).get_object(rpc.GetObjectRequest(object_id="0x77"))),
            await status_of(reading(client).get_object(rpc.GetObjectRequest(object_id="seven"))),
            await status_of(reading(client).get_transaction(rpc.GetTransactionRequest(digest="x"))),
            await status_of(
                reading(client).get_transaction(rpc.GetTransactionRequest(digest=SANDBOX_CHAIN_ID))
            ),
            await status_of(state(client).get_coin_info(rpc.GetCoinInfoRequest(coin_type="0x2::a::A"))),
        ]

    invalid, missing = Status.INVALID_ARGUMENT, Status.NOT_FOUND
    assert on_network(body) == [invalid, missing, invalid, invalid, missing, missing]


def test_a_request_that_is_no_transaction_is_invalid(wallet: Any, on_network: Any) -> None:
    async def body(client: Any) -> Status:
        request = rpc.ExecuteTransactionRequest(transaction=rpc.Transaction(bcs=rpc.Bcs(value=b"\0\0\7")))
        return await status_of(execution(client).execute_transaction(request))

    assert on_network(body) == Status.INVALID_ARGUMENT


# Masks


def test_a_parent_path_includes_its_children(wallet: Any, on_network: Any, bob: Any) -> None:
    async def body(client: Any) -> rpc.ExecutedTransaction:
        mask = FieldMask(paths=["effects.status", "effects", "balance_changes.amount"])
        request = signed(wallet, wallet.pay(bob.address, 1), read_mask=mask)
        answer = await execution(client).execute_transaction(request)
        assert answer.transaction is not None
        return answer.transaction

    executed = on_network(body)
    assert executed.effects.lamport_version
    assert executed.effects.status.success
    assert {change.address for change in executed.balance_changes} == {None}
    assert executed.digest is None


def test_the_default_mask_of_an_execution_is_status_and_checkpoint(
    wallet: Any, on_network: Any, bob: Any
) -> None:
    async def body(client: Any) -> Any:
        request = signed(wallet, wallet.pay(bob.address, 1))
        return (await execution(client).execute_transaction(request)).transaction

    expected = rpc.ExecutedTransaction(
        effects=rpc.TransactionEffects(status=rpc.ExecutionStatus(success=True)), checkpoint=3
    )
    assert on_network(body) == expected


def test_a_mask_of_an_unknown_field_is_invalid(on_network: Any) -> None:
    async def body(client: Any) -> Status:
        mask = FieldMask(paths=["colour"])
        return await status_of(
            reading(client).get_object(rpc.GetObjectRequest(object_id=CLOCK, read_mask=mask))
        )

    assert on_network(body) == Status.INVALID_ARGUMENT


# State


def test_owned_objects_come_in_pages(ledger: Any, on_network: Any, alice: Any) -> None:
    for amount in range(1, 8):
        controls.faucet(ledger, alice.address, USDC.coin_type, amount)
    controls.faucet(ledger, alice.address, SUI.coin_type, 5)

    async def body(client: Any) -> list[int]:
        found, token = list[int](), None
        while True:
            page = await state(client).list_owned_objects(
                rpc.ListOwnedObjectsRequest(
                    owner=alice.address,
                    page_size=3,
                    page_token=token,
                    object_type=f"0x2::coin::Coin<{USDC.coin_type}>",
                    read_mask=FieldMask(paths=["balance"]),
                )
            )
            found += [item.balance or 0 for item in page.objects]
            token = page.next_page_token
            if token is None:
                return found

    assert sorted(on_network(body)) == [1, 2, 3, 4, 5, 6, 7]


def test_balances_are_sums_over_coins(wallet: Any, on_network: Any) -> None:
    controls.faucet(wallet.ledger, wallet.key.address, USDC.coin_type, 1)

    async def body(client: Any) -> tuple[Any, Any]:
        one = await state(client).get_balance(
            rpc.GetBalanceRequest(owner=wallet.key.address, coin_type=USDC.coin_type)
        )
        every = await state(client).list_balances(rpc.ListBalancesRequest(owner=wallet.key.address))
        return one.balance, every.balances

    one, every = on_network(body)
    assert one.balance == one.coin_balance == 500_000_001
    assert {item.coin_type: item.balance for item in every} == {
        SUI.coin_type: 10**10,
        USDC.coin_type: 500_000_001,
    }


def test_coin_metadata_gives_decimals(on_network: Any) -> None:
    async def body(client: Any) -> Any:
        return (await state(client).get_coin_info(rpc.GetCoinInfoRequest(coin_type=USDC.coin_type))).metadata

    metadata = on_network(body)
    assert (metadata.symbol, metadata.decimals) == ("USDC", 6)


def test_a_batch_reports_what_is_missing_in_its_place(on_network: Any) -> None:
    async def body(client: Any) -> list[Any]:
        requests = [rpc.GetObjectRequest(object_id=name) for name in (CLOCK, "0x77", SYSTEM_STATE)]
        answer = await reading(client).batch_get_objects(rpc.BatchGetObjectsRequest(requests=requests))
        return [result.object.object_id if result.object else result.error for result in answer.objects]

    first, second, third = on_network(body)
    assert (first, second.code, third) == (CLOCK, Status.NOT_FOUND.value, SYSTEM_STATE)


def test_past_versions_can_be_read(wallet: Any, on_network: Any, bob: Any) -> None:
    before = wallet.coin(SUI.coin_type)
    wallet.execute(wallet.pay(bob.address, 1))

    async def body(client: Any) -> Any:
        request = rpc.GetObjectRequest(object_id=before.id, version=before.version)
        return (await reading(client).get_object(request)).object

    assert on_network(body).digest == before.digest


# Time


def test_epochs_pass_with_the_sandbox_clock(ledger: Any, on_network: Any) -> None:
    controls.advance_clock(ledger, 3 * 24 * 3600 * 1000 + 5)

    async def body(client: Any) -> Any:
        request = rpc.GetEpochRequest(read_mask=FieldMask(paths=["*"]))
        return (await reading(client).get_epoch(request)).epoch

    epoch = on_network(body)
    assert (epoch.epoch, epoch.reference_gas_price) == (3, 1_000)


def test_the_clock_only_moves_forward(ledger: Any) -> None:
    with pytest.raises(ValueError, match="forward"):
        controls.advance_clock(ledger, -1)


def test_checkpoints_are_chained(wallet: Any, on_network: Any, time: Any, bob: Any) -> None:
    time.ms += 1_000
    executed = wallet.execute(wallet.pay(bob.address, 1))

    async def body(client: Any) -> Any:
        stub, mask = reading(client), FieldMask(paths=["*"])
        latest = await stub.get_checkpoint(rpc.GetCheckpointRequest(read_mask=mask))
        first = await stub.get_checkpoint(rpc.GetCheckpointRequest(sequence_number=0, read_mask=mask))
        return latest.checkpoint, first.checkpoint

    latest, first = on_network(body)
    assert first.digest == SANDBOX_CHAIN_ID
    assert latest.sequence_number == executed.checkpoint == 3
    assert latest.transactions[0].digest == executed.digest
    assert latest.summary.timestamp.timestamp() * 1000 == time.ms


# History


def filter_by(**literal: Any) -> rpc.TransactionFilter:
    return rpc.TransactionFilter(terms=[rpc.TransactionTerm(literals=[rpc.TransactionLiteral(**literal)])])


async def history(client: Any, **options: Any) -> list[rpc.ListTransactionsResponse]:
    filter_ = options.pop("filter", None)
    request = rpc.ListTransactionsRequest(
        filter=filter_,
        options=rpc.QueryOptions(**options),
        read_mask=FieldMask(paths=["digest", "checkpoint"]),
    )
    return [frame async for frame in reading(client).list_transactions(request)]


def checkpoints(frames: list[rpc.ListTransactionsResponse]) -> list[int | None]:
    return [frame.transaction.checkpoint for frame in frames if frame.transaction is not None]


@pytest.fixture
def busy(wallet: Any, bob: Any) -> Any:
    """A ledger with two mints (1, 2), then five payments from alice to bob (3 to 7)."""
    for amount in range(1, 6):
        wallet.execute(wallet.pay(bob.address, amount))
    return wallet


def test_history_filters_by_affected_address_and_sender(busy: Any, on_network: Any, bob: Any) -> None:
    async def body(client: Any) -> list[Any]:
        affected = rpc.AffectedAddressFilter(address=bob.address)
        sender = rpc.SenderFilter(address=busy.key.address)
        return [
            checkpoints(await history(client, filter=filter_by(affected_address=affected))),
            checkpoints(await history(client, filter=filter_by(sender=sender))),
            checkpoints(await history(client, filter=filter_by(sender=sender, negated=True))),
            checkpoints(await history(client)),
        ]

    payments = [3, 4, 5, 6, 7]
    assert on_network(body) == [payments, payments, [1, 2], [1, 2, *payments]]


@pytest.mark.parametrize("descending", [False, True])
def test_history_pages_cover_everything_once(busy: Any, on_network: Any, descending: bool) -> None:
    async def body(client: Any) -> list[Any]:
        found, bound = list[Any](), {}
        while True:
            ordering = rpc.Ordering.DESCENDING if descending else rpc.Ordering.ASCENDING
            frames = await history(client, limit=2, ordering=ordering, **bound)
            assert [frame.end is not None for frame in frames] == [False] * (len(frames) - 1) + [True]
            found += checkpoints(frames)
            if frames[-1].end.reason != rpc.QueryEndReason.ITEM_LIMIT:
                return found
            bound = {"before" if descending else "after": frames[-1].watermark.cursor}

    expected = [1, 2, 3, 4, 5, 6, 7]
    assert on_network(body) == (expected[::-1] if descending else expected)


def test_history_read_to_the_tip_goes_on_with_what_comes_later(busy: Any, on_network: Any, bob: Any) -> None:
    async def body(client: Any) -> Any:
        last = (await history(client))[-1]
        busy.execute(busy.pay(bob.address, 99))
        return last.end.reason, checkpoints(await history(client, after=last.watermark.cursor))

    assert on_network(body) == (rpc.QueryEndReason.LEDGER_TIP, [8])


# Building


def test_a_transaction_of_bare_object_ids_is_completed(wallet: Any, on_network: Any) -> None:
    coin = wallet.coin(USDC.coin_type)
    command = rpc.Command(
        move_call=rpc.MoveCall(
            package="0x2",
            module="clock",
            function="timestamp_ms",
            arguments=[rpc.Argument(kind=rpc.ArgumentArgumentKind.INPUT, input=0)],
        )
    )
    programmable = rpc.ProgrammableTransaction(
        inputs=[rpc.Input(object_id="0x6"), rpc.Input(object_id=coin.id)], commands=[command]
    )
    request = rpc.SimulateTransactionRequest(
        transaction=rpc.Transaction(
            sender=wallet.key.address, kind=rpc.TransactionKind(programmable_transaction=programmable)
        ),
        do_gas_selection=True,
    )

    async def body(client: Any) -> Any:
        return (await execution(client).simulate_transaction(request)).transaction.transaction

    completed = on_network(body)
    clock, owned = completed.kind.programmable_transaction.inputs
    assert (clock.kind, clock.version, clock.mutable) == (rpc.InputInputKind.SHARED, 1, False)
    assert (owned.version, owned.digest) == (coin.version, coin.digest)
    assert completed.gas_payment.budget > 1_000_000
    assert len(completed.gas_payment.objects) == 1


def test_gas_selection_says_when_there_is_too_little(wallet: Any, on_network: Any, bob: Any) -> None:
    transaction = wallet.pay(bob.address, 1)
    bare = replace(transaction, sender=bob.address, gas=Gas((), bob.address, 0, 0))
    request = rpc.SimulateTransactionRequest(
        transaction=rpc.Transaction(bcs=rpc.Bcs(value=bare.bcs())), do_gas_selection=True
    )

    async def body(client: Any) -> Status:
        return await status_of(execution(client).simulate_transaction(request))

    assert on_network(body) == Status.INVALID_ARGUMENT


def test_function_signatures_are_described(on_network: Any) -> None:
    async def body(client: Any) -> Any:
        stub = rpc.MovePackageServiceStub(client._channel)
        request = rpc.GetFunctionRequest(package_id="0x2", module_name="coin", name="split")
        return (await stub.get_function(request)).function

    function = on_network(body)
    coin, amount = function.parameters
    assert coin.reference == rpc.OpenSignatureReference.MUTABLE
    assert coin.body.type_name.endswith("::coin::Coin")
    assert coin.body.type_parameter_instantiation[0].type == rpc.OpenSignatureBodyType.TYPE_PARAMETER
    assert amount.body.type == rpc.OpenSignatureBodyType.U64


# Signatures


def test_signatures_are_verified(alice: Any, bob: Any, on_network: Any) -> None:
    async def body(client: Any) -> list[Any]:
        stub = rpc.SignatureVerificationServiceStub(client._channel)
        message = rpc.Bcs(name="TransactionData", value=b"anything")
        signature = rpc.UserSignature(bcs=rpc.Bcs(value=alice.sign(b"anything")))
        answers = [
            await stub.verify_signature(
                rpc.VerifySignatureRequest(message=message, signature=signature, address=address)
            )
            for address in (None, alice.address, bob.address)
        ]
        return [answer.is_valid for answer in answers]

    assert on_network(body) == [True, True, False]


# Faults


def test_a_dropped_response_is_executed_and_can_be_asked_for(wallet: Any, on_network: Any, bob: Any) -> None:
    controls.set_fault(wallet.ledger, "drop-response", 1)
    request = signed(wallet, wallet.pay(bob.address, 5))

    async def body(client: Any) -> Any:
        with pytest.raises(StreamTerminatedError):
            await execution(client).execute_transaction(request)
        return await execution(client).execute_transaction(request)

    assert on_network(body).transaction.effects.status.success
    assert wallet.ledger.balances(bob.address) == {SUI.coin_type: 5}


def test_a_delayed_answer_comes_after_the_execution(wallet: Any, on_network: Any, bob: Any) -> None:
    controls.set_fault(wallet.ledger, "delay", 60_000)
    request = signed(wallet, wallet.pay(bob.address, 5))

    async def body(client: Any) -> None:
        with pytest.raises(TimeoutError):
            await execution(client).execute_transaction(request, timeout=0.2)

    on_network(body)
    assert wallet.ledger.balances(bob.address) == {SUI.coin_type: 5}


def test_unavailable_refuses_once_and_changes_nothing(wallet: Any, on_network: Any, bob: Any) -> None:
    controls.set_fault(wallet.ledger, "unavailable", 1)
    request = signed(wallet, wallet.pay(bob.address, 5))

    async def body(client: Any) -> Any:
        refused = await status_of(execution(client).execute_transaction(request))
        balances = wallet.ledger.balances(bob.address)
        return refused, balances, await execution(client).execute_transaction(request)

    refused, balances, executed = on_network(body)
    assert (refused, balances) == (Status.UNAVAILABLE, {})
    assert executed.transaction.effects.status.success


def test_the_abort_fault_fails_one_execution_in_its_effects(wallet: Any, bob: Any) -> None:
    controls.set_fault(wallet.ledger, "abort", 1)

    failed, succeeded = (wallet.execute(wallet.pay(bob.address, 5)) for _ in range(2))

    assert failed.effects.status.error.kind == rpc.ExecutionErrorExecutionErrorKind.MOVE_ABORT
    assert succeeded.effects.status.success


def test_lag_makes_the_tip_look_old(ledger: Any, on_network: Any, time: Any) -> None:
    controls.set_fault(ledger, "lag", 90_000)

    async def body(client: Any) -> Any:
        return await reading(client).get_service_info(rpc.GetServiceInfoRequest())

    assert on_network(body).timestamp.timestamp() * 1000 == time.ms - 90_000


def test_an_unknown_fault_is_refused(ledger: Any) -> None:
    with pytest.raises(ValueError, match="earthquake"):
        controls.set_fault(ledger, "earthquake", 1)
