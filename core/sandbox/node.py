"""What the gRPC services do, without the transport: requests in, messages out, refusals raised."""

from __future__ import annotations

from collections.abc import Sequence

import pysui.sui.sui_grpc.suimsgs.sui.rpc.v2 as rpc

from tidegate.core.sandbox.encoding import BadEncoding, digest_bytes
from tidegate.core.sandbox.executor import execute, simulate
from tidegate.core.sandbox.ledger import Fault, Ledger
from tidegate.core.sandbox.messages import command_results, executed_message
from tidegate.core.sandbox.refusals import Refusal, Refused, invalid
from tidegate.core.sandbox.signatures import check_signatures
from tidegate.core.sandbox.structured import read_transaction
from tidegate.core.sandbox.transactions import decode_transaction, transaction_digest


def execute_signed(ledger: Ledger, bcs: bytes, signatures: Sequence[bytes]) -> rpc.ExecutedTransaction:
    """Execute a signed transaction and record it; the same bytes again return what is recorded.

    Args:
        ledger: The network's state.
        bcs: ``TransactionData``.
        signatures: Serialized user signatures.

    Raises:
        Refused: nothing was executed and nothing charged.
    """
    try:
        transaction = decode_transaction(bcs)
    except BadEncoding as error:
        raise invalid(f"invalid transaction bcs: {error}") from error
    check_signatures(transaction, bcs, signatures)
    digest = transaction_digest(bcs)
    with ledger.write():
        known = ledger.transaction(digest)
        if known is not None:
            return rpc.ExecutedTransaction.parse(known.executed)
        if ledger.take_fault(Fault.UNAVAILABLE):
            fault = Refused(Refusal.UNAVAILABLE, "the network is not available (fault)")
        else:
            run = execute(ledger, transaction, abort=ledger.take_fault(Fault.ABORT))
            checkpoint = ledger.next_checkpoint(digest)
            message = executed_message(run, signatures, checkpoint)
            ledger.commit(
                checkpoint, digest, transaction.sender, bytes(message), run.written, run.deleted, run.affected
            )
            return message
    # Raised only now: inside, it would roll back the count of the fault too.
    raise fault


def simulate_request(
    ledger: Ledger, request: rpc.SimulateTransactionRequest
) -> rpc.SimulateTransactionResponse:
    """Run a transaction without signatures and without recording it.

    Raises:
        Refused: the transaction can not be read, or its inputs are not what it says.
    """
    checks = rpc.SimulateTransactionRequestTransactionChecks
    with ledger.read():
        transaction = read_transaction(request.transaction, ledger)
        run = simulate(
            ledger,
            transaction,
            checked=request.checks != checks.DISABLED,
            select_gas=bool(request.do_gas_selection),
        )
    return rpc.SimulateTransactionResponse(
        transaction=executed_message(run, (), None), command_outputs=command_results(run.results)
    )


def find_transaction(ledger: Ledger, digest: str | None) -> rpc.ExecutedTransaction:
    """Return a recorded transaction.

    Raises:
        Refused: INVALID_ARGUMENT for what is no digest, NOT_FOUND for an unknown one.
    """
    try:
        digest_bytes(digest or "")
    except BadEncoding as error:
        raise invalid(f"invalid digest: {error}") from error
    row = ledger.transaction(digest or "")
    if row is None:
        raise Refused(Refusal.NOT_FOUND, f"Transaction {digest} not found")
    return rpc.ExecutedTransaction.parse(row.executed)
