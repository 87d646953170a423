"""Reads executed transactions from a node's messages into plain values."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from tidegate.core.chain.move_types import parse_move_type
from tidegate.core.chain.types import BalanceDelta, GasSummary, HistoryEntry, MoveFailure, Outcome
from tidegate.core.errors import NetworkError
from tidegate.core.tokens import normalize_address

if TYPE_CHECKING:
    from pysui.sui.sui_grpc.suimsgs.sui.rpc import v2 as rpc

OUTCOME_PATHS = (
    "digest",
    "effects.status",
    "effects.gas_used",
    "effects.epoch",
    "balance_changes",
    "checkpoint",
    "timestamp",
)
"""What `read_outcome` needs of an ``ExecutedTransaction``."""

HISTORY_PATHS = (*OUTCOME_PATHS, "transaction.sender", "transaction.kind")

_EPOCH_START = datetime(1970, 1, 1, tzinfo=UTC)
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def read_outcome(executed: rpc.ExecutedTransaction | None, digest: str) -> Outcome:
    """Return what a transaction did, or would do.

    Args:
        executed: The node's answer, with the fields of `OUTCOME_PATHS`.
        digest: The transaction's.

    Raises:
        NetworkError: the answer does not say how the transaction ended.
    """
    effects = None if executed is None else executed.effects
    if executed is None or effects is None or effects.status is None or effects.gas_used is None:
        raise NetworkError(f"The node's answer does not say how transaction {digest} ended.")
    status, used = effects.status, effects.gas_used
    failure = None if status.success else read_failure(status.error)
    return Outcome(
        digest=digest,
        failure=failure,
        gas=GasSummary(
            computation=used.computation_cost or 0,
            storage=used.storage_cost or 0,
            rebate=used.storage_rebate or 0,
        ),
        changes=tuple(_delta(change, digest) for change in executed.balance_changes),
        epoch=effects.epoch,
        checkpoint=executed.checkpoint,
        timestamp_ms=None if executed.timestamp is None else _ms(executed.timestamp),
    )


def read_failure(error: rpc.ExecutionError | None) -> MoveFailure:
    """Return why a transaction failed; an abort keeps its module, function and code."""
    if error is None or error.kind is None:
        return MoveFailure("The transaction failed, and the network does not say why.")
    command = "" if error.command is None else f" in command {error.command}"
    location = None if error.abort is None else error.abort.location
    if error.abort is None or location is None:
        return MoveFailure(f"The transaction failed{command}: {_words(error.kind.name or 'unknown')}.")
    module, function = _name(location.module), _name(location.function_name)
    code = error.abort.abort_code or 0
    place = f"{module or 'an unnamed module'}::{function or f'function {location.function or 0}'}"
    return MoveFailure(f"The contract stopped in {place} with code {code}.", module, function, code)


def ran_out_of_gas(executed: rpc.ExecutedTransaction | None) -> bool:
    """Say whether a transaction failed because its budget did not suffice."""
    from pysui.sui.sui_grpc.suimsgs.sui.rpc import v2 as rpc

    effects = None if executed is None else executed.effects
    error = None if effects is None or effects.status is None else effects.status.error
    return error is not None and error.kind == rpc.ExecutionErrorExecutionErrorKind.INSUFFICIENT_GAS


def read_entry(executed: rpc.ExecutedTransaction) -> HistoryEntry:
    """Return one line of an address's history.

    Raises:
        NetworkError: the answer lacks its effects.
    """
    transaction = executed.transaction
    programmable = None
    if transaction is not None and transaction.kind is not None:
        programmable = transaction.kind.programmable_transaction
    calls = [command.move_call for command in programmable.commands] if programmable else []
    return HistoryEntry(
        outcome=read_outcome(executed, executed.digest or ""),
        sender=normalize_address((transaction.sender if transaction else None) or "0x0"),
        calls=tuple(
            f"{normalize_address(call.package or '0x0')}::{call.module}::{call.function}"
            for call in calls
            if call is not None
        ),
    )


def _delta(change: rpc.BalanceChange, digest: str) -> BalanceDelta:
    try:
        return BalanceDelta(
            normalize_address(change.address or ""),
            str(parse_move_type(change.coin_type or "")),
            int(change.amount or ""),
        )
    except ValueError as error:
        raise NetworkError(f"A balance change of transaction {digest} cannot be read.") from error


def _ms(moment: datetime) -> int:
    return (moment - _EPOCH_START) // timedelta(milliseconds=1)


def _words(kind: str) -> str:
    return kind.replace("_", " ").lower()


def _name(text: str | None) -> str | None:
    # Names come from the node: what is no Move identifier is not repeated.
    return text if text is not None and _IDENTIFIER.match(text) else None
