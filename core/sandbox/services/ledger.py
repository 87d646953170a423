"""LedgerService: objects, transactions, checkpoints and epochs by their names."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence

import pysui.sui.sui_grpc.suimsgs.google.rpc as google_rpc
import pysui.sui.sui_grpc.suimsgs.sui.rpc.v2 as rpc

from tidegate.core.sandbox.filters import Matcher, filter_of
from tidegate.core.sandbox.genesis import EPOCH_MS, REFERENCE_GAS_PRICE, SANDBOX_CHAIN_ID
from tidegate.core.sandbox.ledger import CheckpointRow, Fault, Ledger, TransactionRow
from tidegate.core.sandbox.masks import apply_mask
from tidegate.core.sandbox.messages import object_message, timestamp
from tidegate.core.sandbox.node import find_transaction
from tidegate.core.sandbox.refusals import Refusal, Refused, invalid, not_found
from tidegate.core.sandbox.services.base import Handlers, streamed, unary
from tidegate.core.tokens import normalize_address

_OBJECT_DEFAULT = ("object_id", "version", "digest")
_TRANSACTION_DEFAULT = ("digest",)
_CHECKPOINT_DEFAULT = ("sequence_number", "digest")
_EPOCH_DEFAULT = ("epoch",)
_MAX_BATCH = 1_000
_DEFAULT_PAGE = 50
_MAX_PAGE = 1_000
_PROTOCOL_VERSION = 100
_STATUS_CODE = {Refusal.INVALID_ARGUMENT: 3, Refusal.NOT_FOUND: 5, Refusal.UNIMPLEMENTED: 12}


class LedgerService:
    """Reads by id, digest or number."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def handlers(self) -> Handlers:
        """Return the handlers by path."""
        service = "/sui.rpc.v2.LedgerService"
        return {
            f"{service}/GetServiceInfo": unary(
                self.service_info, rpc.GetServiceInfoRequest, rpc.GetServiceInfoResponse
            ),
            f"{service}/GetObject": unary(self.get_object, rpc.GetObjectRequest, rpc.GetObjectResponse),
            f"{service}/BatchGetObjects": unary(
                self.batch_get_objects, rpc.BatchGetObjectsRequest, rpc.BatchGetObjectsResponse
            ),
            f"{service}/GetTransaction": unary(
                self.get_transaction, rpc.GetTransactionRequest, rpc.GetTransactionResponse
            ),
            f"{service}/BatchGetTransactions": unary(
                self.batch_get_transactions, rpc.BatchGetTransactionsRequest, rpc.BatchGetTransactionsResponse
            ),
            f"{service}/GetCheckpoint": unary(
                self.get_checkpoint, rpc.GetCheckpointRequest, rpc.GetCheckpointResponse
            ),
            f"{service}/GetEpoch": unary(self.get_epoch, rpc.GetEpochRequest, rpc.GetEpochResponse),
            f"{service}/ListTransactions": streamed(
                self.list_transactions, rpc.ListTransactionsRequest, rpc.ListTransactionsResponse
            ),
        }

    def service_info(self, _request: rpc.GetServiceInfoRequest) -> rpc.GetServiceInfoResponse:
        """Say which network this is and how far it has come."""
        latest = self._latest()
        return rpc.GetServiceInfoResponse(
            chain_id=SANDBOX_CHAIN_ID,
            chain="sandbox",
            epoch=self._ledger.epoch,
            checkpoint_height=latest.sequence,
            timestamp=timestamp(latest.timestamp_ms - self._ledger.fault(Fault.LAG)),
            lowest_available_checkpoint=0,
            lowest_available_checkpoint_objects=0,
            server="tidegate-sandbox",
        )

    def get_object(self, request: rpc.GetObjectRequest) -> rpc.GetObjectResponse:
        """Return one object, live or at a version."""
        paths = request.read_mask.paths if request.read_mask else _OBJECT_DEFAULT
        return rpc.GetObjectResponse(object=self._object(request, paths))

    def batch_get_objects(self, request: rpc.BatchGetObjectsRequest) -> rpc.BatchGetObjectsResponse:
        """Return many objects of one moment; what can not be found has an error in its place."""
        if len(request.requests) > _MAX_BATCH:
            raise invalid(f"at most {_MAX_BATCH} objects may be asked for at once")
        paths = request.read_mask.paths if request.read_mask else _OBJECT_DEFAULT
        results: list[rpc.GetObjectResult] = []
        with self._ledger.read():
            for item in request.requests:
                try:
                    results.append(rpc.GetObjectResult(object=self._object(item, paths)))
                except Refused as refused:
                    results.append(rpc.GetObjectResult(error=_status(refused)))
        return rpc.BatchGetObjectsResponse(objects=results)

    def _object(self, request: rpc.GetObjectRequest, paths: Iterable[str]) -> rpc.Object:
        object_id = address_of(request.object_id, "object_id")
        found = self._ledger.get_object(object_id, request.version)
        if found is None:
            version = "" if request.version is None else f" with version {request.version}"
            raise not_found(f"Object {object_id}{version} not found")
        return apply_mask(object_message(found), paths)

    def get_transaction(self, request: rpc.GetTransactionRequest) -> rpc.GetTransactionResponse:
        """Return an executed transaction by its digest."""
        paths = request.read_mask.paths if request.read_mask else _TRANSACTION_DEFAULT
        found = find_transaction(self._ledger, request.digest)
        return rpc.GetTransactionResponse(transaction=apply_mask(found, paths))

    def batch_get_transactions(
        self, request: rpc.BatchGetTransactionsRequest
    ) -> rpc.BatchGetTransactionsResponse:
        """Return many transactions; what can not be found has an error in its place."""
        if len(request.digests) > _MAX_BATCH:
            raise invalid(f"at most {_MAX_BATCH} transactions may be asked for at once")
        paths = request.read_mask.paths if request.read_mask else _TRANSACTION_DEFAULT
        results: list[rpc.GetTransactionResult] = []
        for digest in request.digests:
            try:
                found = apply_mask(find_transaction(self._ledger, digest), paths)
                results.append(rpc.GetTransactionResult(transaction=found))
            except Refused as refused:
                results.append(rpc.GetTransactionResult(error=_status(refused)))
        return rpc.BatchGetTransactionsResponse(transactions=results)

    def get_checkpoint(self, request: rpc.GetCheckpointRequest) -> rpc.GetCheckpointResponse:
        """Return a checkpoint by number or digest, by default the latest."""
        paths = request.read_mask.paths if request.read_mask else _CHECKPOINT_DEFAULT
        with self._ledger.read():
            found = self._ledger.checkpoint(request.sequence_number, request.digest)
            if found is None:
                raise not_found(f"Checkpoint {request.sequence_number or request.digest} not found")
            before = self._ledger.checkpoint(found.sequence - 1) if found.sequence else None
            row = self._ledger.transaction_at(found.sequence)
            lag_ms = self._ledger.fault(Fault.LAG)
            genesis_ms = self._ledger.genesis_ms
        message = rpc.Checkpoint(
            sequence_number=found.sequence,
            digest=found.digest,
            summary=rpc.CheckpointSummary(
                digest=found.digest,
                epoch=max(0, (found.timestamp_ms - genesis_ms) // EPOCH_MS),
                sequence_number=found.sequence,
                # Genesis holds no transaction of its own here; every later checkpoint holds one.
                total_network_transactions=found.sequence,
                previous_digest=before.digest if before else None,
                timestamp=timestamp(found.timestamp_ms - lag_ms),
            ),
            transactions=[rpc.ExecutedTransaction.parse(row.executed)] if row else [],
        )
        return rpc.GetCheckpointResponse(checkpoint=apply_mask(message, paths))

    def get_epoch(self, request: rpc.GetEpochRequest) -> rpc.GetEpochResponse:
        """Return an epoch: its times and gas price."""
        paths = request.read_mask.paths if request.read_mask else _EPOCH_DEFAULT
        current, genesis_ms = self._ledger.epoch, self._ledger.genesis_ms
        number = current if request.epoch is None else request.epoch
        if number > current:
            raise not_found(f"Epoch {number} not found")
        start_ms = genesis_ms + number * EPOCH_MS
        message = rpc.Epoch(
            epoch=number,
            first_checkpoint=0 if number == 0 else None,
            start=timestamp(start_ms),
            end=timestamp(start_ms + EPOCH_MS) if number < current else None,
            reference_gas_price=REFERENCE_GAS_PRICE,
            protocol_config=rpc.ProtocolConfig(protocol_version=_PROTOCOL_VERSION),
            system_state=rpc.SystemState(
                epoch=number,
                protocol_version=_PROTOCOL_VERSION,
                reference_gas_price=REFERENCE_GAS_PRICE,
                epoch_start_timestamp_ms=start_ms,
            ),
        )
        return rpc.GetEpochResponse(epoch=apply_mask(message, paths))

    async def list_transactions(
        self, request: rpc.ListTransactionsRequest
    ) -> AsyncIterator[rpc.ListTransactionsResponse]:
        """Stream the transactions of an interval that match a filter, in either order."""
        paths = request.read_mask.paths if request.read_mask else _TRANSACTION_DEFAULT
        options = request.options or rpc.QueryOptions()
        matches = filter_of(request.filter)
        descending = options.ordering == rpc.Ordering.DESCENDING
        limit = min(options.limit or _DEFAULT_PAGE, _MAX_PAGE)
        with self._ledger.read():
            latest = self._latest().sequence
            low = max(_cursor(options.after, -1), (request.start_checkpoint or 0) - 1)
            ends = [latest + 1, _cursor(options.before, latest + 1)]
            if request.end_checkpoint is not None:
                ends.append(request.end_checkpoint)
            high = min(ends)
            rows = self._matching(matches, low, high, descending=descending, limit=limit)
        for position, (row, executed) in enumerate(rows, 1):
            full = position == limit
            yield rpc.ListTransactionsResponse(
                transaction=apply_mask(executed, paths),
                watermark=_watermark(row.checkpoint),
                end=rpc.QueryEnd(reason=rpc.QueryEndReason.ITEM_LIMIT) if full else None,
            )
            if full:
                return
        edge = low if descending else high
        given = request.start_checkpoint if descending else request.end_checkpoint
        bound = options.after if descending else options.before
        reason = rpc.QueryEndReason.LEDGER_TIP
        if bound is not None and edge == _cursor(bound, -1):
            reason = rpc.QueryEndReason.CURSOR_BOUND
        elif given is not None or descending:
            reason = rpc.QueryEndReason.CHECKPOINT_BOUND
        # A cursor stands for the last checkpoint that was read, so that reading on begins after it.
        last = min(low + 1, latest) if descending else max(high - 1, 0)
        yield rpc.ListTransactionsResponse(watermark=_watermark(last), end=rpc.QueryEnd(reason=reason))

    def _matching(
        self, matches: Matcher, low: int, high: int, *, descending: bool, limit: int
    ) -> Sequence[tuple[TransactionRow, rpc.ExecutedTransaction]]:
        found: list[tuple[TransactionRow, rpc.ExecutedTransaction]] = []
        while len(found) < limit:
            rows = self._ledger.transactions(
                after=low,
                before=high,
                descending=descending,
                limit=_MAX_PAGE,
                sender=matches.sender,
                affected=matches.affected,
            )
            for row in rows:
                executed = rpc.ExecutedTransaction.parse(row.executed)
                if matches(executed):
                    found.append((row, executed))
                    if len(found) == limit:
                        break
            if len(rows) < _MAX_PAGE:
                break
            if descending:
                high = rows[-1].checkpoint
            else:
                low = rows[-1].checkpoint
        return found

    def _latest(self) -> CheckpointRow:
        latest = self._ledger.checkpoint()
        if latest is None:
            raise not_found("the ledger has no checkpoint")
        return latest


def address_of(text: str | None, field: str) -> str:
    """Return an address or object id of a request in its long form.

    Raises:
        Refused: INVALID_ARGUMENT when it is missing or has another form.
    """
    try:
        return normalize_address(text or "")
    except ValueError as error:
        raise invalid(f"invalid {field}: {text!r}") from error


def _status(refused: Refused) -> google_rpc.Status:
    return google_rpc.Status(code=_STATUS_CODE.get(refused.kind, 2), message=refused.message)


def _cursor(token: bytes | None, default: int) -> int:
    if token is None:
        return default
    if len(token) != 8:
        raise invalid("unknown cursor")
    return int.from_bytes(token, "big")


def _watermark(checkpoint: int) -> rpc.Watermark:
    return rpc.Watermark(cursor=checkpoint.to_bytes(8, "big"), checkpoint=checkpoint)
