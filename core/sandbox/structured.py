"""Transactions that a client sends as message fields instead of BCS, to have them completed and simulated."""

from __future__ import annotations

import pysui.sui.sui_grpc.suimsgs.sui.rpc.v2 as rpc

from tidegate.core.sandbox.encoding import BadEncoding, digest_bytes
from tidegate.core.sandbox.ledger import Ledger
from tidegate.core.sandbox.modules import registry
from tidegate.core.sandbox.movetypes import parse_type
from tidegate.core.sandbox.refusals import invalid, not_found, unimplemented
from tidegate.core.sandbox.transactions import (
    Argument,
    Command,
    Gas,
    GasArg,
    Input,
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
    Transaction,
    TransferObjects,
    decode_transaction,
)
from tidegate.core.tokens import normalize_address


def read_transaction(message: rpc.Transaction | None, ledger: Ledger) -> Transaction:
    """Return the transaction of a request, from its BCS if it has any, else from its fields.

    Fields may leave out an object's version and digest, the gas coins, the price and the budget.

    Raises:
        Refused: INVALID_ARGUMENT for what can not be read, NOT_FOUND for an object that does not exist,
            UNIMPLEMENTED for what the sandbox does not execute.
    """
    if message is None:
        raise invalid("missing field: transaction")
    try:
        if message.bcs is not None and message.bcs.value:
            return decode_transaction(message.bcs.value)
        return _from_fields(message, ledger)
    except (BadEncoding, ValueError) as error:
        raise invalid(f"invalid transaction: {error}") from error


def _from_fields(message: rpc.Transaction, ledger: Ledger) -> Transaction:
    programmable = None if message.kind is None else message.kind.programmable_transaction
    if programmable is None:
        raise unimplemented("only programmable transactions are executed")
    if not message.sender:
        raise invalid("missing field: transaction.sender")
    sender = normalize_address(message.sender)
    commands = tuple(_command(command) for command in programmable.commands)
    inputs = tuple(
        _input(item, ledger, mutable=_is_written(index, commands))
        for index, item in enumerate(programmable.inputs)
    )
    return Transaction(sender, inputs, commands, _gas(message.gas_payment, sender), _expiration(message))


def _gas(payment: rpc.GasPayment | None, sender: str) -> Gas:
    if payment is None:
        return Gas((), sender, 0, 0)
    refs = tuple(_ref(item.object_id, item.version, item.digest) for item in payment.objects)
    owner = normalize_address(payment.owner) if payment.owner else sender
    return Gas(refs, owner, payment.price or 0, payment.budget or 0)


def _expiration(message: rpc.Transaction) -> int | None:
    kinds = rpc.TransactionExpirationTransactionExpirationKind
    expiration = message.expiration
    if expiration is None or expiration.kind in (None, kinds.NONE, kinds.TRANSACTION_EXPIRATION_KIND_UNKNOWN):
        return None
    if expiration.kind != kinds.EPOCH:
        raise unimplemented("ValidDuring expiration belongs to address-balance gas, which is not emulated")
    return expiration.epoch or 0


def _ref(object_id: str | None, version: int | None, digest: str | None) -> ObjectRef:
    if not object_id or version is None or not digest:
        raise invalid("an object reference needs object_id, version and digest")
    digest_bytes(digest)
    return ObjectRef(normalize_address(object_id), version, digest)


def _input(item: rpc.Input, ledger: Ledger, *, mutable: bool) -> Input:
    kinds = rpc.InputInputKind
    if item.literal is not None:
        raise unimplemented("literal inputs are not resolved: send pure inputs as BCS")
    if item.pure is not None:
        return PureInput(item.pure)
    if item.kind in (kinds.RECEIVING, kinds.FUNDS_WITHDRAWAL):
        raise unimplemented(f"inputs of kind {item.kind.name} are not emulated")
    if not item.object_id:
        raise invalid("an input needs a value or an object_id")
    object_id = normalize_address(item.object_id)
    if item.kind == kinds.IMMUTABLE_OR_OWNED and item.version is not None and item.digest:
        return OwnedInput(_ref(object_id, item.version, item.digest))
    if item.kind == kinds.SHARED and item.version is not None and item.mutable is not None:
        return SharedInput(object_id, item.version, item.mutable)
    found = ledger.get_object(object_id)
    if found is None:
        raise not_found(f"Could not find the referenced object {object_id}")
    if found.owner.kind == "shared":
        return SharedInput(object_id, found.owner.initial_version, mutable)
    return OwnedInput(ObjectRef(object_id, found.version, found.digest))


def _is_written(index: int, commands: tuple[Command, ...]) -> bool:
    for command in commands:
        if not isinstance(command, MoveCall):
            continue
        function = registry.find_function(command.package, command.module, command.function)
        for position, argument in enumerate(command.arguments):
            if argument != InputArg(index):
                continue
            # A function that is not known fails anyway; the stronger claim keeps the failure its own.
            if function is None or position >= len(function.parameters):
                return True
            if not function.parameters[position].startswith("&") or function.parameters[position].startswith(
                "&mut"
            ):
                return True
    return False


def _argument(message: rpc.Argument | None) -> Argument:
    kinds = rpc.ArgumentArgumentKind
    if message is None:
        raise invalid("a command lacks an argument")
    if message.kind == kinds.GAS:
        return GasArg()
    if message.kind == kinds.INPUT:
        return InputArg(message.input or 0)
    if message.kind == kinds.RESULT:
        return ResultArg(message.result or 0, message.subresult)
    raise invalid("an argument needs a kind")


def _arguments(messages: list[rpc.Argument]) -> tuple[Argument, ...]:
    return tuple(_argument(message) for message in messages)


def _command(message: rpc.Command) -> Command:
    if (call := message.move_call) is not None:
        if not (call.package and call.module and call.function):
            raise invalid("a Move call needs package, module and function")
        types = tuple(parse_type(written) for written in call.type_arguments)
        package = normalize_address(call.package)
        return MoveCall(package, call.module, call.function, types, _arguments(call.arguments))
    if (transfer := message.transfer_objects) is not None:
        return TransferObjects(_arguments(transfer.objects), _argument(transfer.address))
    if (split := message.split_coins) is not None:
        return SplitCoins(_argument(split.coin), _arguments(split.amounts))
    if (merge := message.merge_coins) is not None:
        return MergeCoins(_argument(merge.coin), _arguments(merge.coins_to_merge))
    if (vector := message.make_move_vector) is not None:
        element = parse_type(vector.element_type) if vector.element_type else None
        return MakeMoveVec(element, _arguments(vector.elements))
    raise unimplemented("publishing and upgrading packages needs a Move virtual machine")
