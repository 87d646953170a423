"""tidegate journal: what became of every write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.flags import LimitFlag, OutputFlag, ProfileFlag
from tidegate.cli.rows import called_bare, show_row, show_rows
from tidegate.cli.session import opened
from tidegate.core.clock import iso_ms
from tidegate.core.errors import NotFound, StoreError, UsageError

if TYPE_CHECKING:
    from tidegate.core.events import JsonObject
    from tidegate.core.jsonlines import Json
    from tidegate.core.store.base import Attempt, Journal, JournalRow

journal = typer.Typer(name="journal", rich_markup_mode=None, invoke_without_command=True)


@journal.callback()
def list_attempts(
    context: typer.Context,
    limit: LimitFlag = 50,
    profile: ProfileFlag = None,
    output: OutputFlag = None,
) -> None:
    """List writes, the newest first, with the step each has come to.

    Example: tidegate journal | jq -r .state
    """
    if not called_bare(context):
        return
    with opened({"profile": profile, "output": output}) as (runtime, to):
        rows = [_attempt_row(attempt) for attempt in runtime.store.journal.recent(limit)]
        columns = ("attempt_id", "ts", "state", "usd", "description")
        show_rows(to, rows, columns, empty="Nothing was written yet.")


@journal.command("show")
def show_attempt(
    attempt_id: Annotated[
        str, typer.Argument(metavar="ID", help="The write's id, or at least its first 4 characters.")
    ],
    profile: ProfileFlag = None,
    output: OutputFlag = None,
) -> None:
    """Show every step of one write with its time."""
    with opened({"profile": profile, "output": output}) as (runtime, to):
        attempt = _find(runtime.store.journal, attempt_id)
        if to.text:
            show_row(to, _attempt_row(attempt))
            to.out.write("\n")
        rows = [_step_row(row) for row in attempt.rows]
        show_rows(to, rows, ("ts", "step", "digest", "reason"), empty="")


@journal.command("verify")
def verify_journal(profile: ProfileFlag = None, output: OutputFlag = None) -> None:
    """Check that the journal says what was written into it: no row changed, removed or put in between."""
    with opened({"profile": profile, "output": output}) as (runtime, to):
        broken = runtime.store.journal.verify()
        message = broken or "The journal says what was written into it."
        if broken is None or not to.text:
            show_row(to, {"ok": broken is None, "message": message}, message)
    if broken is not None:
        raise StoreError(
            broken,
            hint="Keep the file, and look at the chain for what the wallet did: the journal was changed.",
        )


def _find(past: Journal, wanted: str) -> Attempt:
    matches = past.match(wanted)
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise UsageError(
            f"{wanted[:80]!r} is the beginning of {len(matches)} ids.", hint="Give more of the id."
        )
    raise NotFound(f"No write has the id {wanted[:80]!r}.", hint="Run `tidegate journal` for the list.")


def _attempt_row(attempt: Attempt) -> JsonObject:
    opened_with = attempt.opened
    return {
        "attempt_id": attempt.id,
        "ts": iso_ms(attempt.rows[0].at_ms),
        "tool": opened_with.get("tool"),
        "input": opened_with.get("input"),
        "state": attempt.state.value,
        "usd": opened_with.get("usd"),
        "digest": _digest(attempt),
        "session_id": opened_with.get("session_id"),
        "description": opened_with.get("description"),
    }


def _digest(attempt: Attempt) -> Json:
    return next((row.data["digest"] for row in attempt.rows if "digest" in row.data), None)


def _step_row(row: JournalRow) -> JsonObject:
    receipt = row.data.get("receipt")
    message = receipt.get("message") if isinstance(receipt, dict) else None
    return {
        "attempt_id": row.attempt_id,
        "seq": row.seq,
        "step": row.step.value,
        "ts": iso_ms(row.at_ms),
        "digest": row.data.get("digest"),
        "reason": row.data.get("reason", message),
        "data": row.data,
    }
