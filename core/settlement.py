"""`resume`: what a person, or the next run, does about a write that waits or was cut off."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from decimal import Decimal
from typing import Literal

from tidegate.core.cancel import Cancel
from tidegate.core.conversation import Conversation
from tidegate.core.errors import NotFound, UsageError
from tidegate.core.events import Event, PendingActionBody, StopReason, Stream
from tidegate.core.runtime import Runtime
from tidegate.core.store.base import Attempt, Step
from tidegate.core.tools.base import WriteTool
from tidegate.core.tools.registry import tool_by_name
from tidegate.core.turn import Turn, run_turn, started
from tidegate.core.writes import approval
from tidegate.core.writes.types import Written

Choice = Literal["approve", "deny"]

OPEN = (Step.PROPOSED, Step.APPROVED, Step.RESERVED, Step.SIGNED, Step.SUBMITTED, Step.UNKNOWN)
"""Steps at which an attempt has not ended."""

_SENT = (Step.SIGNED, Step.SUBMITTED, Step.UNKNOWN)


def resume(
    runtime: Runtime,
    attempt: str | None,
    *,
    decision: Choice | None = None,
    changes: Mapping[str, str] | None = None,
    understood_usd: Decimal | None = None,
    regenerate: bool = False,
    interactive_explicit: bool = False,
    cancelled: Cancel,
) -> Iterator[Event]:
    """Settle one attempt.

    Args:
        runtime: What it runs on.
        attempt: The attempt's id or its first characters; the only open one if not given.
        decision: Approve or deny what waits; without one, a waiting write is shown again, and one that was
            sent is settled.
        changes: Fields to change; the whole road is run again.
        understood_usd: The value the person named, for tier explicit.
        regenerate: Read the market again and show a fresh write in place of this one.
        interactive_explicit: The person confirmed an explicit write at a terminal.
        cancelled: How it is stopped from outside.
    """
    stream = Stream(runtime.ids(), runtime.clock)
    turn = Turn(stream, runtime.clock.monotonic())

    def body() -> Generator[Event, None, StopReason]:
        if (decision is not None) + bool(changes) + regenerate > 1:
            raise UsageError(
                "A write is approved, denied, changed or quoted anew: one of them at a time.",
                hint="A changed write is shown first and approved by a second command.",
            )
        if understood_usd is not None and decision != "approve":
            raise UsageError(
                "A value in USD is named to approve a write.",
                hint='Add --approve, or "decision":"approve" in a line of chat.',
            )
        found = _find(runtime, attempt, decision)
        opened = found.opened
        stream.session_id, stream.turn = str(opened["session_id"]), int(str(opened["turn"]))
        provider = runtime.provider()
        yield started(runtime, provider.name, provider.model)
        tool = tool_by_name(str(opened["tool"]))
        if not isinstance(tool, WriteTool):
            raise UsageError(f"Attempt {found.id} is of {tool.name}, which writes nothing.")
        road = runtime.road(
            session_id=stream.session_id, turn=stream.turn, history=(), cancel=cancelled, dry_run=False
        )
        if changes or regenerate:
            written = yield from approval.change(road, tool, found, changes or {})
        elif decision == "deny":
            written = yield from approval.deny(road, found)
        elif decision == "approve":
            written = yield from approval.approve(
                road, tool, found, understood=understood_usd, at_terminal=interactive_explicit
            )
        elif found.state in approval.WAITS:
            approval.expire_if_due(road, found)
            yield approval.show(found)
            turn.pending.append(found.id)
            turn.text = f"{opened['description']} waits for your decision."
            return "pending_action"
        else:
            written = yield from approval.report_end(road, found)
        return _conclude(runtime, turn, found, written)

    yield from run_turn(runtime, turn, body)


def waiting_action(runtime: Runtime, attempt: str | None) -> PendingActionBody | None:
    """Return what an approval would approve, or None when it does not wait any more.

    Raises:
        NotFound, UsageError: there is no such attempt, or more than one.
    """
    found = _find(runtime, attempt, "approve")
    if found.state not in approval.WAITS:
        return None
    return approval.show(found).action


def _conclude(runtime: Runtime, turn: Turn, attempt: Attempt, written: Written) -> StopReason:
    """Count the outcome, and tell the session's model of it if it is news."""
    turn.wrote(written)
    turn.note(str(attempt.opened["tool"]), written.error)
    turn.text = str(written.reply["display_text"])
    if attempt.state in OPEN:
        sessions, session_id = runtime.store.sessions, turn.stream.session_id
        if sessions.get(session_id) is not None:
            conversation = Conversation.open(sessions, session_id, turn.stream.turn, runtime.clock)
            conversation.noticed(f"Attempt {attempt.id}: {turn.text}")
    if turn.pending:
        return "pending_action"
    return "refused" if written.status == "denied" else "end_turn"


def _find(runtime: Runtime, wanted: str | None, decision: Choice | None) -> Attempt:
    journal = runtime.store.journal
    if wanted is not None:
        return _by_id(runtime, wanted)
    now = runtime.clock.now_ms()
    waiting = [found for found in journal.in_state(*OPEN) if not approval.is_due(found, now)]
    if len(waiting) == 1:
        return waiting[0]
    if waiting:
        names = "; ".join(f"{found.id} ({found.opened['description']})" for found in waiting[-10:])
        raise UsageError(f"{len(waiting)} writes are open: {names}.", hint="Name one: tidegate resume ID.")
    last = _last_decided(runtime, decision)
    if last is not None:
        return last
    raise NotFound("No write waits or is unsettled.", hint="Run `tidegate journal` for the past ones.")


def _by_id(runtime: Runtime, wanted: str) -> Attempt:
    matches = runtime.store.journal.match(wanted) if len(wanted) >= 4 else []
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise UsageError(f"{wanted!r} is the beginning of {len(matches)} ids.", hint="Give more of the id.")
    raise NotFound(f"No write has the id {wanted[:80]!r}.", hint="Run `tidegate journal` for the list.")


def _last_decided(runtime: Runtime, decision: Choice | None) -> Attempt | None:
    """Return the newest attempt if it was decided this same way: saying it twice gives the same receipt."""
    recent = runtime.store.journal.recent(1)
    if decision is None or not recent:
        return None
    taken = recent[0].find(Step.APPROVED if decision == "approve" else Step.DENIED)
    return recent[0] if taken is not None else None


def unsettled(runtime: Runtime) -> list[Attempt]:
    """Return the attempts that were sent and whose outcome the journal does not know."""
    return runtime.store.journal.in_state(*_SENT)
