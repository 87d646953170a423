"""Steps 10 to 12: sign once, send, and write down what the network says; also for what a crash left behind.

A signature is journalled with its bytes, durably, before they are sent. From then on an attempt is settled
only by asking the network for the digest or by sending those same bytes again, which Sui treats as one
transaction; it is never signed a second time.
"""

from __future__ import annotations

import base64
from collections.abc import Generator
from dataclasses import replace
from decimal import Decimal

from tidegate.core.chain.types import Outcome, PricePoint, Signature, Signer
from tidegate.core.errors import (
    NetworkError,
    OutcomeUnknown,
    Refused,
    StoreError,
    TidegateError,
    TransactionFailed,
)
from tidegate.core.events import Event, JsonObject, WriteResult
from tidegate.core.store.base import Attempt, Step, StepTaken
from tidegate.core.writes import report
from tidegate.core.writes.types import Proposal, Road, Status, Written

_ENDED = (Step.FINAL, Step.FAILED, Step.DENIED, Step.EXPIRED)

_PATIENCE_MS = 60_000
"""How long an attempt that is not signed yet is taken to be in the hands of a living process."""


def sign_and_send(
    road: Road, attempt_id: str, proposal: Proposal, signer: Signer, *, auto: bool
) -> Generator[Event, None, Written]:
    """Sign the draft for this attempt, send it and settle it; yields its write_result.

    Should another process have signed for the attempt first, nothing is sent from here and that process's
    outcome is reported.
    """
    with road.cancel.shielded():
        written = _sign_and_send(road, attempt_id, proposal, signer, auto)
    if written.receipt is not None:
        yield written.receipt
    return replace(written, reply=written.reply | report.hints(proposal.findings))


def _sign_and_send(road: Road, attempt_id: str, proposal: Proposal, signer: Signer, auto: bool) -> Written:
    draft = proposal.draft
    signature = signer.sign(draft.bytes)
    row: JsonObject = {
        "digest": draft.digest,
        "bytes": base64.b64encode(draft.bytes).decode(),
        "signature": base64.b64encode(signature.serialized).decode(),
        "epoch": road.network.epoch().epoch,
        "auto": auto,
        "usd": report.usd_of(proposal),
    }
    journal = road.store.journal
    try:
        journal.append(attempt_id, Step.SIGNED, road.clock.now_ms(), row)
    except StepTaken:
        return settle(road, _attempt(road, attempt_id))
    journal.append(attempt_id, Step.SUBMITTED, road.clock.now_ms(), {"digest": draft.digest})
    return _send(road, _attempt(road, attempt_id), draft.bytes, signature)


def settle(road: Road, attempt: Attempt) -> Written:
    """Return how an attempt that was signed ended, asking the network if the journal does not know.

    Raises:
        NetworkError: the network cannot be asked now; the attempt stays as it is.
    """
    if attempt.state in _ENDED:
        return ended(attempt)
    signed = attempt.find(Step.SIGNED)
    if signed is None:
        return _abandon(road, attempt)
    with road.cancel.shielded():
        outcome = road.network.transaction(str(signed.data["digest"]))
        if outcome is not None:
            return _record(road, attempt, outcome)
        if road.network.epoch().epoch > int(str(signed.data["epoch"])) + 1:
            return _give_up(road, attempt, "Its epoch passed and the network never executed it.", None)
        raw = base64.b64decode(str(signed.data["bytes"]))
        signature = Signature(base64.b64decode(str(signed.data["signature"])))
        # A refusal now says nothing of the first sending, whose answer nobody heard: the attempt stays open.
        try:
            outcome = road.network.execute(raw, signature)
        except OutcomeUnknown as error:
            return _unheard(road, attempt, error)
        return _record(road, attempt, outcome)


def ended(attempt: Attempt) -> Written:
    """Return the first outcome of an attempt that has ended, from the journal alone."""
    row = attempt.rows[-1] if attempt.state in (Step.DENIED, Step.EXPIRED) else attempt.find(attempt.state)
    if row is None:
        raise StoreError(f"Attempt {attempt.id} has no row of its own end.")
    stored = row.data.get("receipt")
    if isinstance(stored, dict):
        receipt = WriteResult.model_validate(stored)
    else:
        status: Status = "denied" if attempt.state is Step.DENIED else "failed"
        receipt = WriteResult(
            attempt_id=attempt.id,
            tool_name=str(attempt.opened["tool"]),
            status="denied" if status == "denied" else "failed",
            usd=None,
            balance_changes=[],
            gas=None,
            auto=False,
            message=str(row.data.get("reason", "")) or None,
        )
    return _written(receipt, attempt, _error_of(receipt))


def _send(road: Road, attempt: Attempt, raw: bytes, signature: Signature) -> Written:
    """Send bytes that nobody has sent before."""
    try:
        outcome = road.network.execute(raw, signature)
    except OutcomeUnknown as error:
        return _unheard(road, attempt, error)
    except NetworkError as error:
        return _give_up(road, attempt, error.message, error)
    return _record(road, attempt, outcome)


def _record(road: Road, attempt: Attempt, outcome: Outcome) -> Written:
    prices = _prices(road, outcome)
    executed = outcome.failure is None
    receipt = WriteResult(
        attempt_id=attempt.id,
        tool_name=str(attempt.opened["tool"]),
        status="executed" if executed else "failed",
        digest=outcome.digest,
        usd=_usd(attempt),
        balance_changes=report.balance_changes(outcome, road.wallet, road.context.tokens(), prices),
        gas=report.gas_report(outcome, prices),
        auto=_auto(attempt),
        replaces=_replaces(attempt),
        message=None if outcome.failure is None else outcome.failure.description,
    )
    _end(road, attempt, Step.FINAL if executed else Step.FAILED, receipt)
    return _written(receipt, attempt, _error_of(receipt))


def _unheard(road: Road, attempt: Attempt, error: OutcomeUnknown) -> Written:
    road.store.journal.append(attempt.id, Step.UNKNOWN, road.clock.now_ms(), {"reason": error.message})
    signed = attempt.find(Step.SIGNED)
    receipt = WriteResult(
        attempt_id=attempt.id,
        tool_name=str(attempt.opened["tool"]),
        status="unknown",
        digest=None if signed is None else str(signed.data["digest"]),
        usd=_usd(attempt),
        balance_changes=[],
        gas=None,
        auto=_auto(attempt),
        replaces=_replaces(attempt),
        message=error.message,
    )
    return _written(receipt, attempt, error)


def _give_up(road: Road, attempt: Attempt, reason: str, error: NetworkError | None) -> Written:
    receipt = WriteResult(
        attempt_id=attempt.id,
        tool_name=str(attempt.opened["tool"]),
        status="failed",
        digest=None,
        usd=_usd(attempt),
        balance_changes=[],
        gas=None,
        auto=_auto(attempt),
        replaces=_replaces(attempt),
        message=f"{reason} Nothing was executed.",
    )
    _end(road, attempt, Step.FAILED, receipt)
    return _written(receipt, attempt, error or _error_of(receipt))


def _abandon(road: Road, attempt: Attempt) -> Written:
    """End an attempt whose process died before it signed.

    Raises:
        Refused: the process may still be at it.
    """
    if road.clock.now_ms() - attempt.rows[-1].at_ms < _PATIENCE_MS:
        raise Refused(
            f"Attempt {attempt.id} is being carried out by another process.",
            hint="Wait a minute and look again.",
        )
    return _give_up(road, attempt, "It was interrupted before it was signed.", None)


def _end(road: Road, attempt: Attempt, step: Step, receipt: WriteResult) -> None:
    row: JsonObject = {"receipt": report.to_json_receipt(receipt)}
    try:
        road.store.journal.append(attempt.id, step, road.clock.now_ms(), row)
    except StepTaken:
        # Another process heard the same outcome first and wrote it down.
        return
    if step is Step.FAILED:
        road.store.spend.release(attempt.id)


def _written(receipt: WriteResult, attempt: Attempt, error: TidegateError | None) -> Written:
    reply = report.settled_reply(receipt, str(attempt.opened["description"]), ())
    return Written(attempt.id, receipt.status, reply, receipt, error)


def _error_of(receipt: WriteResult) -> TidegateError | None:
    if receipt.status != "failed":
        return None
    if receipt.digest is not None:
        return TransactionFailed(
            f"The transaction failed on chain: {receipt.message}",
            hint="It moved nothing but cost its gas. Check balances before trying again.",
        )
    return NetworkError(receipt.message or "Nothing was executed.", hint="Ask again if it is still wanted.")


def _attempt(road: Road, attempt_id: str) -> Attempt:
    attempt = road.store.journal.attempt(attempt_id)
    if attempt is None:
        raise StoreError(f"Attempt {attempt_id} is not in the journal that it was just written to.")
    return attempt


def _prices(road: Road, outcome: Outcome) -> dict[str, PricePoint]:
    """Return prices for the receipt, or none: an outcome must be journalled even if nobody quotes a price."""
    try:
        return road.context.prices().read(sorted({change.coin_type for change in outcome.changes}))
    except NetworkError:
        return {}


def _usd(attempt: Attempt) -> Decimal | None:
    usd = attempt.opened.get("usd")
    return None if usd is None else Decimal(str(usd))


def _replaces(attempt: Attempt) -> str | None:
    replaced = attempt.opened.get("replaces")
    return None if replaced is None else str(replaced)


def _auto(attempt: Attempt) -> bool:
    return attempt.rows[0].step is Step.RESERVED
