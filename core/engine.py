"""The loop: one turn from what a person wrote to turn_complete, as a generator of events.

    user text -> provider.stream(): text out as it comes; reads start while the model still writes
              -> the rest of the reads, then writes one after another
              -> results back to the model; again, until it stops or a write waits
              -> turn_complete, whatever happened

Nothing a person, a model, a tool or the network does wrong is raised from here: it becomes an error event and
the stop reason. What is done to a write that waits is in `settlement.py`.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping

from tidegate.core.cancel import Cancel
from tidegate.core.conversation import Conversation
from tidegate.core.errors import InternalError, NotFound, UsageError
from tidegate.core.events import Event, StopReason, Stream
from tidegate.core.loop import Loop
from tidegate.core.providers.base import ToolCall
from tidegate.core.runtime import Runtime
from tidegate.core.tools.arguments import typed_arguments
from tidegate.core.tools.base import ReadTool, ToolResult
from tidegate.core.tools.registry import parse_input, tool_by_name
from tidegate.core.turn import Turn, run_turn, started

MAX_TEXT_BYTES = 1_048_576
"""Longest request, in bytes of UTF-8."""


def submit(
    runtime: Runtime,
    text: str,
    *,
    session: str | None = None,
    continue_latest: bool = False,
    dry_run: bool = False,
    cancelled: Cancel,
) -> Iterator[Event]:
    """Run one turn.

    Args:
        runtime: What it runs on.
        text: What the person wrote.
        session: Session to go on with; a new one if not given.
        continue_latest: Go on with the newest session.
        dry_run: Take writes through their simulation only.
        cancelled: How the turn is stopped from outside.

    Yields:
        stream_started first and turn_complete last, numbered and dated.
    """
    stream = Stream(session or runtime.ids(), runtime.clock)
    turn = Turn(stream, runtime.clock.monotonic())

    def body() -> Generator[Event, None, StopReason]:
        conversation = _open_session(runtime, turn, session, continue_latest, text)
        provider = runtime.provider()
        yield started(runtime, provider.name, provider.model)
        provider.warm()
        _check_text(text)
        conversation.user_said(text)
        return (yield from Loop(runtime, turn, conversation, provider, cancelled, dry_run).run())

    yield from run_turn(runtime, turn, body)


def call(
    runtime: Runtime,
    tool: str,
    arguments: Mapping[str, str],
    *,
    session: str | None = None,
    dry_run: bool = False,
    cancelled: Cancel,
) -> Iterator[Event]:
    """Run one tool that a person named, with no model; a write takes the same road as any other.

    Args:
        runtime: What it runs on.
        tool: The tool's name.
        arguments: Field values as typed.
        session: Session whose history guards look back on; a new one if not given.
        dry_run: Take a write through its simulation only.
        cancelled: How it is stopped from outside.
    """
    stream = Stream(session or runtime.ids(), runtime.clock)
    turn = Turn(stream, runtime.clock.monotonic())

    def body() -> Generator[Event, None, StopReason]:
        title = f"call {tool}"
        conversation = _open_session(runtime, turn, session, False, title)
        provider = runtime.provider()
        yield started(runtime, provider.name, provider.model)
        found = tool_by_name(tool)
        words = " ".join(f"{name}={value}" for name, value in arguments.items())
        conversation.noticed(f"{title} {words}".strip())
        request = ToolCall("call_1", tool, typed_arguments(found, arguments))
        loop = Loop(runtime, turn, conversation, provider, cancelled, dry_run)
        outcome = yield from loop.run_one(found, request, direct=[*arguments.values(), words])
        turn.text = str(outcome.reply.get("display_text", ""))
        return "pending_action" if turn.pending else "end_turn"

    yield from run_turn(runtime, turn, body)


def quote(
    runtime: Runtime,
    token_from: str,
    token_to: str,
    amount: str,
    *,
    by_amount_out: bool = False,
    slippage: str | None = None,
) -> ToolResult:
    """Return what a swap would give now; needs no wallet, no session and no model.

    Raises:
        TidegateError: the request cannot be understood or the network not be asked.
    """
    tool = tool_by_name("swap_quote")
    fields: dict[str, object] = {
        "from": token_from,
        "to": token_to,
        "amount": amount,
        "by_amount_in": not by_amount_out,
    }
    if slippage is not None:
        fields["slippage"] = slippage
    if not isinstance(tool, ReadTool):
        raise InternalError("swap_quote is not a read.")
    return tool.run(parse_input(tool, fields), runtime.quote_context())


def _open_session(
    runtime: Runtime, turn: Turn, session: str | None, continue_latest: bool, title: str
) -> Conversation:
    sessions, now = runtime.store.sessions, runtime.clock.now_ms()
    if session is not None and sessions.get(session) is None:
        raise NotFound(f"No session {session[:80]!r}.", hint="Run `tidegate sessions` for the list.")
    if session is None and continue_latest:
        latest = sessions.latest()
        if latest is None:
            raise NotFound("There is no session to go on with.", hint="Leave out --continue.")
        turn.stream.session_id = latest.id
    elif session is None:
        sessions.create(turn.stream.session_id, now)
    turn.stream.turn = sessions.begin_turn(turn.stream.session_id, _title(title), now)
    return Conversation.open(sessions, turn.stream.session_id, turn.stream.turn, runtime.clock)


def _check_text(text: str) -> None:
    if not text.strip():
        raise UsageError("There is nothing to do: the request is empty.", hint='Try: tidegate ask "balance"')
    size = len(text.encode("utf-8", "replace"))
    if size > MAX_TEXT_BYTES:
        raise UsageError(
            f"The request has {size:,} bytes; the longest that is read has {MAX_TEXT_BYTES:,}.",
            hint="Ask for one thing in a few words.",
        )


def _title(text: str) -> str:
    line = " ".join(text[:200].split())
    return line if len(line) <= 60 else line[:59] + "…"
