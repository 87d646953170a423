"""gRPC messages (``sui.rpc.v2``) made from the sandbox's own data, and transactions read from them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pysui.sui.sui_grpc.suimsgs.google.protobuf as well_known
import pysui.sui.sui_grpc.suimsgs.sui.rpc.v2 as rpc

from tidegate.core.sandbox.effects import Effects, ObjectChange, balance_changes
from tidegate.core.sandbox.executor import Run
from tidegate.core.sandbox.ledger import CheckpointRow
from tidegate.core.sandbox.objects import CLOCK_TYPE, Owner, StoredObject
from tidegate.core.sandbox.refusals import ArgumentProblem, ExecutionFailure, FailureKind
from tidegate.core.sandbox.transactions import (
    Argument,
    Command,
    GasArg,
    Input,
    InputArg,
    MakeMoveVec,
    MergeCoins,
    MoveCall,
    OwnedInput,
    PureInput,
    ResultArg,
    SharedInput,
    SplitCoins,
    Transaction,
    TransferObjects,
)
from tidegate.core.sandbox.values import ReturnedValue

_FAILURE = {
    FailureKind.INSUFFICIENT_GAS: rpc.ExecutionErrorExecutionErrorKind.INSUFFICIENT_GAS,
    FailureKind.INVARIANT_VIOLATION: rpc.ExecutionErrorExecutionErrorKind.INVARIANT_VIOLATION,
    FailureKind.INSUFFICIENT_COIN_BALANCE: rpc.ExecutionErrorExecutionErrorKind.INSUFFICIENT_COIN_BALANCE,
    FailureKind.COIN_BALANCE_OVERFLOW: rpc.ExecutionErrorExecutionErrorKind.COIN_BALANCE_OVERFLOW,
    FailureKind.MOVE_ABORT: rpc.ExecutionErrorExecutionErrorKind.MOVE_ABORT,
    FailureKind.FUNCTION_NOT_FOUND: rpc.ExecutionErrorExecutionErrorKind.FUNCTION_NOT_FOUND,
    FailureKind.ARITY_MISMATCH: rpc.ExecutionErrorExecutionErrorKind.ARITY_MISMATCH,
    FailureKind.TYPE_ARITY_MISMATCH: rpc.ExecutionErrorExecutionErrorKind.TYPE_ARITY_MISMATCH,
    FailureKind.COMMAND_ARGUMENT_ERROR: rpc.ExecutionErrorExecutionErrorKind.COMMAND_ARGUMENT_ERROR,
    FailureKind.UNUSED_VALUE_WITHOUT_DROP: rpc.ExecutionErrorExecutionErrorKind.UNUSED_VALUE_WITHOUT_DROP,
}
_INDEXED = {
    ArgumentProblem.INDEX_OUT_OF_BOUNDS,
    ArgumentProblem.SECONDARY_INDEX_OUT_OF_BOUNDS,
    ArgumentProblem.INVALID_RESULT_ARITY,
}
_OWNER_KIND = {
    "address": rpc.OwnerOwnerKind.ADDRESS,
    "shared": rpc.OwnerOwnerKind.SHARED,
    "immutable": rpc.OwnerOwnerKind.IMMUTABLE,
}


def timestamp(ms: int) -> datetime:
    """Return milliseconds since 1970 as the messages hold times."""
    return datetime.fromtimestamp(ms // 1000, UTC).replace(microsecond=ms % 1000 * 1000)


def json_value(value: object) -> well_known.Value:
    """Return JSON as a ``google.protobuf.Value``; integers become strings, since a Value holds doubles."""
    match value:
        case None:
            return well_known.Value(null_value=well_known.NullValue.NULL_VALUE)
        case bool():
            return well_known.Value(bool_value=value)
        case int():
            return well_known.Value(string_value=str(value))
        case str():
            return well_known.Value(string_value=value)
        case list():
            values = [json_value(item) for item in value]
            return well_known.Value(list_value=well_known.ListValue(values=values))
        case dict():
            fields = {str(key): json_value(item) for key, item in value.items()}
            return well_known.Value(struct_value=well_known.Struct(fields=fields))
    raise TypeError(f"not JSON: {value!r}")


def owner_message(owner: Owner) -> rpc.Owner:
    """Return an owner."""
    return rpc.Owner(
        kind=_OWNER_KIND[owner.kind],
        address=owner.address or None,
        version=owner.initial_version if owner.kind == "shared" else None,
    )


def object_message(item: StoredObject) -> rpc.Object:
    """Return an object with all its fields."""
    return rpc.Object(
        bcs=rpc.Bcs(name="Object", value=item.bcs),
        object_id=item.id,
        version=item.version,
        digest=item.digest,
        owner=owner_message(item.owner),
        object_type=str(item.type),
        has_public_transfer=item.has_public_transfer,
        contents=rpc.Bcs(name=str(item.type), value=item.contents),
        previous_transaction=item.previous_transaction,
        storage_rebate=item.storage_rebate,
        json=json_value(_object_json(item)),
        balance=item.balance,
    )


def _object_json(item: StoredObject) -> object:
    if item.balance is not None:
        return {"id": item.id, "balance": item.balance}
    if item.type == CLOCK_TYPE:
        return {"id": item.id, "timestamp_ms": int.from_bytes(item.contents[32:40], "little")}
    return {"id": item.id, **item.decoded_state()}


def transaction_message(transaction: Transaction, bcs: bytes, digest: str) -> rpc.Transaction:
    """Return a transaction, both as fields and as BCS."""
    gas, expiration = transaction.gas, rpc.TransactionExpirationTransactionExpirationKind
    return rpc.Transaction(
        bcs=rpc.Bcs(name="TransactionData", value=bcs),
        digest=digest,
        version=1,
        kind=rpc.TransactionKind(
            kind=rpc.TransactionKindKind.PROGRAMMABLE_TRANSACTION,
            programmable_transaction=rpc.ProgrammableTransaction(
                inputs=[_input_message(item) for item in transaction.inputs],
                commands=[_command_message(command) for command in transaction.commands],
            ),
        ),
        sender=transaction.sender,
        gas_payment=rpc.GasPayment(
            objects=[
                rpc.ObjectReference(object_id=ref.id, version=ref.version, digest=ref.digest)
                for ref in gas.payment
            ],
            owner=gas.owner,
            price=gas.price,
            budget=gas.budget,
        ),
        expiration=rpc.TransactionExpiration(
            kind=expiration.NONE if transaction.expires_after is None else expiration.EPOCH,
            epoch=transaction.expires_after,
        ),
    )


def _input_message(item: Input) -> rpc.Input:
    match item:
        case PureInput(value):
            return rpc.Input(kind=rpc.InputInputKind.PURE, pure=value)
        case OwnedInput(ref):
            return rpc.Input(
                kind=rpc.InputInputKind.IMMUTABLE_OR_OWNED,
                object_id=ref.id,
                version=ref.version,
                digest=ref.digest,
            )
        case SharedInput():
            write, read = rpc.InputMutability.MUTABLE, rpc.InputMutability.IMMUTABLE
            return rpc.Input(
                kind=rpc.InputInputKind.SHARED,
                object_id=item.id,
                version=item.initial_version,
                mutable=item.mutable,
                mutability=write if item.mutable else read,
            )


def argument_message(argument: Argument) -> rpc.Argument:
    """Return an argument of a command."""
    match argument:
        case GasArg():
            return rpc.Argument(kind=rpc.ArgumentArgumentKind.GAS)
        case InputArg(index):
            return rpc.Argument(kind=rpc.ArgumentArgumentKind.INPUT, input=index)
        case ResultArg(command, sub):
            return rpc.Argument(kind=rpc.ArgumentArgumentKind.RESULT, result=command, subresult=sub)


def _arguments(arguments: Sequence[Argument]) -> list[rpc.Argument]:
    return [argument_message(argument) for argument in arguments]


def _command_message(command: Command) -> rpc.Command:
    match command:
        case MoveCall():
            return rpc.Command(
                move_call=rpc.MoveCall(
                    package=command.package,
                    module=command.module,
                    function=command.function,
                    type_arguments=[str(param) for param in command.type_arguments],
                    arguments=_arguments(command.arguments),
                )
            )
        case TransferObjects():
            return rpc.Command(
                transfer_objects=rpc.TransferObjects(
                    objects=_arguments(command.objects), address=argument_message(command.address)
                )
            )
        case SplitCoins():
            return rpc.Command(
                split_coins=rpc.SplitCoins(
                    coin=argument_message(command.coin), amounts=_arguments(command.amounts)
                )
            )
        case MergeCoins():
            return rpc.Command(
                merge_coins=rpc.MergeCoins(
                    coin=argument_message(command.target), coins_to_merge=_arguments(command.sources)
                )
            )
        case MakeMoveVec():
            element = None if command.element is None else str(command.element)
            return rpc.Command(
                make_move_vector=rpc.MakeMoveVector(
                    element_type=element, elements=_arguments(command.elements)
                )
            )


def effects_message(effects: Effects) -> rpc.TransactionEffects:
    """Return effects, both as fields and as BCS."""
    changes = [_change_message(change, effects.lamport_version) for change in effects.changes]
    index = effects.gas_object_index
    gas = effects.gas
    return rpc.TransactionEffects(
        bcs=rpc.Bcs(name="TransactionEffects", value=effects.bcs),
        digest=effects.digest,
        version=2,
        status=_status_message(effects.failure),
        epoch=effects.epoch,
        gas_used=rpc.GasCostSummary(
            computation_cost=gas.computation,
            storage_cost=gas.storage,
            storage_rebate=gas.rebate,
            non_refundable_storage_fee=gas.non_refundable,
        ),
        transaction_digest=effects.transaction_digest,
        gas_object=None
        if index is None
        else _change_message(effects.changes[index], effects.lamport_version),
        events_digest=effects.events_digest,
        dependencies=list(effects.dependencies),
        lamport_version=effects.lamport_version,
        changed_objects=changes,
        unchanged_consensus_objects=[
            rpc.UnchangedConsensusObject(
                kind=rpc.UnchangedConsensusObjectUnchangedConsensusObjectKind.READ_ONLY_ROOT,
                object_id=item.id,
                version=item.version,
                digest=item.digest,
                object_type=str(item.type),
            )
            for item in effects.read_only
        ],
    )


def _change_message(change: ObjectChange, version: int) -> rpc.ChangedObject:
    before, after = change.before, change.after
    state_in, state_out = rpc.ChangedObjectInputObjectState, rpc.ChangedObjectOutputObjectState
    operation = rpc.ChangedObjectIdOperation
    known = after or before
    return rpc.ChangedObject(
        object_id=change.id,
        input_state=state_in.EXISTS if before else state_in.DOES_NOT_EXIST,
        input_version=before.version if before else None,
        input_digest=before.digest if before else None,
        input_owner=owner_message(before.owner) if before else None,
        output_state=state_out.OBJECT_WRITE if after else state_out.DOES_NOT_EXIST,
        output_version=version if after else None,
        output_digest=after.digest if after else None,
        output_owner=owner_message(after.owner) if after else None,
        id_operation=operation.CREATED if not before else operation.NONE if after else operation.DELETED,
        object_type=str(known.type) if known else None,
    )


def _status_message(failure: ExecutionFailure | None) -> rpc.ExecutionStatus:
    if failure is None:
        return rpc.ExecutionStatus(success=True)
    error = rpc.ExecutionError(
        description=failure.message, command=failure.command, kind=_FAILURE[failure.kind]
    )
    if failure.abort is not None:
        package, module = failure.abort.module.split("::")
        error.abort = rpc.MoveAbort(
            abort_code=failure.abort.code,
            location=rpc.MoveLocation(
                package=package,
                module=module,
                function=0,
                instruction=0,
                function_name=failure.abort.function,
            ),
        )
    if failure.argument is not None:
        argument = failure.argument
        error.command_argument_error = rpc.CommandArgumentError(
            argument=argument.position,
            kind=rpc.CommandArgumentErrorCommandArgumentErrorKind[argument.problem.name],
        )
        if argument.problem in _INDEXED:
            position = rpc.IndexError(index=argument.index, subresult=argument.subindex)
            # pysui's annotation of this field means its own IndexError, but names the builtin one.
            error.command_argument_error.index_error = position  # type: ignore[assignment]
    return rpc.ExecutionStatus(success=False, error=error)


def executed_message(
    run: Run,
    signatures: Sequence[bytes],
    checkpoint: CheckpointRow | None,
) -> rpc.ExecutedTransaction:
    """Return an executed or simulated transaction with everything a mask may ask for.

    Args:
        run: What happened.
        signatures: Serialized user signatures; none for a simulation.
        checkpoint: Where it is recorded; None for a simulation.
    """
    effects = run.effects
    sides = [side for change in effects.changes for side in (change.before, change.after) if side]
    events = effects.events
    return rpc.ExecutedTransaction(
        digest=run.digest,
        transaction=transaction_message(run.transaction, run.transaction.bcs(), run.digest),
        signatures=[signature_message(signature) for signature in signatures],
        effects=effects_message(effects),
        events=rpc.TransactionEvents(
            bcs=rpc.Bcs(name="TransactionEvents", value=events.bcs),
            digest=events.digest,
            events=[
                rpc.Event(
                    package_id=event.package,
                    module=event.module,
                    sender=events.sender,
                    event_type=str(event.type),
                    contents=rpc.Bcs(name=str(event.type), value=event.contents),
                    json=json_value(event.json),
                )
                for event in events.events
            ],
        )
        if events.events
        else None,
        checkpoint=checkpoint.sequence if checkpoint else None,
        timestamp=timestamp(checkpoint.timestamp_ms) if checkpoint else None,
        balance_changes=[
            rpc.BalanceChange(address=address, coin_type=coin_type, amount=str(amount))
            for address, coin_type, amount in balance_changes(effects.changes)
        ],
        objects=rpc.ObjectSet(objects=[object_message(item) for item in (*sides, *effects.read_only)]),
        transaction_index=0 if checkpoint else None,
    )


def signature_message(signature: bytes) -> rpc.UserSignature:
    """Return a serialized Ed25519 signature (flag, 64 bytes, public key)."""
    return rpc.UserSignature(
        bcs=rpc.Bcs(name="UserSignatureBytes", value=signature),
        scheme=rpc.SignatureScheme.ED25519,
        simple=rpc.SimpleSignature(
            scheme=rpc.SignatureScheme.ED25519, signature=signature[1:65], public_key=signature[65:]
        ),
    )


def command_results(returned: Sequence[Sequence[ReturnedValue]]) -> list[rpc.CommandResult]:
    """Return the values that each command of a simulation returned."""
    return [
        rpc.CommandResult(
            return_values=[
                rpc.CommandOutput(
                    argument=argument_message(ResultArg(command, sub)),
                    value=rpc.Bcs(name=str(value.type), value=value.bcs),
                    json=json_value(value.json),
                )
                for sub, value in enumerate(values)
            ]
        )
        for command, values in enumerate(returned)
    ]
