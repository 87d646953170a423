"""Submits signed transactions, and finds out what became of those whose answer was not heard."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from tidegate.core.chain.messages import field_mask
from tidegate.core.chain.outcomes import OUTCOME_PATHS, read_outcome
from tidegate.core.chain.rpc import Node, Unheard
from tidegate.core.chain.transaction_data import transaction_digest
from tidegate.core.chain.types import Outcome, Signature
from tidegate.core.errors import NetworkError, OutcomeUnknown

if TYPE_CHECKING:
    from pysui.sui.sui_grpc.suimsgs.sui.rpc import v2 as rpc

POLL_DELAYS_S = (0.0, 0.3, 0.7, 1.5, 3.0)
"""Pauses before each question about a transaction whose answer was not heard."""

_POLL_TIMEOUT_S = 3.0


class Submitter:
    """Executes transactions on one node.

    Args:
        node: The node.
        poll_delays_s: Pauses before each question about an unheard transaction.
        sleep: Waits for a number of seconds.
    """

    def __init__(
        self,
        node: Node,
        *,
        poll_delays_s: tuple[float, ...] = POLL_DELAYS_S,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._node = node
        self._poll_delays_s = poll_delays_s
        self._sleep = sleep

    def execute(self, transaction: bytes, signature: Signature) -> Outcome:
        """Submit a transaction and wait until it is final.

        Args:
            transaction: BCS TransactionData.
            signature: The sender's.

        Raises:
            NetworkError: it was surely not accepted: refused, or no connection was made.
            OutcomeUnknown: it was sent, and the network does not say what became of it.
        """
        from pysui.sui.sui_grpc.suimsgs.sui.rpc import v2 as rpc

        digest = transaction_digest(transaction)
        request = rpc.ExecuteTransactionRequest(
            transaction=rpc.Transaction(bcs=rpc.Bcs(value=transaction)),
            signatures=[rpc.UserSignature(bcs=rpc.Bcs(value=signature.serialized))],
            read_mask=field_mask(*OUTCOME_PATHS),
        )
        try:
            return self._send(request, digest)
        except Unheard as unheard:
            return self._find_out(request, digest, unheard)
        except NetworkError:
            # A node that refuses bytes because their coins are spent may have spent them on these very bytes.
            known = self._look_up(digest)
            if known is None:
                raise
            return known

    def transaction(self, digest: str, *, timeout_s: float | None = None) -> Outcome | None:
        """Return what an executed transaction did, or None if the network does not know it.

        Args:
            digest: The transaction's.
            timeout_s: Another limit than the node's own.

        Raises:
            NetworkError: no answer.
        """
        from pysui.sui.sui_grpc.suimsgs.sui.rpc import v2 as rpc

        request = rpc.GetTransactionRequest(digest=digest, read_mask=field_mask(*OUTCOME_PATHS))
        answer = self._node.find(lambda stubs: stubs.ledger.get_transaction(request), timeout_s=timeout_s)
        return None if answer is None else read_outcome(answer.transaction, digest)

    def _send(self, request: rpc.ExecuteTransactionRequest, digest: str) -> Outcome:
        answer = self._node.submit(lambda stubs: stubs.execution.execute_transaction(request))
        try:
            return read_outcome(answer.transaction, digest)
        except NetworkError as error:
            raise Unheard(error.message) from error

    def _find_out(self, request: rpc.ExecuteTransactionRequest, digest: str, unheard: Unheard) -> Outcome:
        """Ask for the transaction by its digest for some seconds.

        To a node that was not available the same bytes are sent again, which cannot execute them twice.
        """
        for delay_s in self._poll_delays_s:
            self._sleep(delay_s)
            known = self._look_up(digest)
            if known is not None:
                return known
            if unheard.unavailable:
                try:
                    return self._send(request, digest)
                except Unheard as again:
                    unheard = again
                except NetworkError as error:
                    # Refused now, yet the first sending may have come through: still unknown.
                    unheard = Unheard(error.message)
        raise OutcomeUnknown(
            f"Transaction {digest} was sent, and what became of it is not known. {unheard.reason}"
        )

    def _look_up(self, digest: str) -> Outcome | None:
        try:
            return self.transaction(digest, timeout_s=_POLL_TIMEOUT_S)
        except NetworkError:
            return None
