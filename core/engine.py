"""The loop: one turn from what a person wrote to turn_complete, as a generator of events.

    user text -> provider.stream(): text out as it comes; reads start while the model still writes
              -> the rest of the reads, then writes one after another
              -> results back to the model; again, until it stops or a write waits
              -> turn_complete, whatever happened

Nothing a person, a model, a tool or the network does wrong is raised from here: it becomes an error event and
the stop reason. What is done to a write that waits is in `settlement.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from tidegate.core.cancel import Cancel
from tidegate.core.conversation import Conversation
from tidegate.core.dispatch import ReadPool, ToolOutcome, error_reply, failed, run_tool
from tidegate.core.errors import (
    BudgetSpent,
    InternalError,
    Interrupted,
    NotFound,
    OutcomeUnknown,
    TidegateError,
    UsageError,
    worst_exit_status,
)
from tidegate.core.events import (
    ErrorEvent,
    Event,
    JsonObject,
    StopReason,
    Stream,
    StreamStarted,
    TextDelta,
    ThinkingDelta,
    ThinkingDone,
    TokenUsage,
    ToolStart,
    TurnComplete,
    Usage,
    to_json,
)
from tidegate.core.prompt import system_layers
from tidegate.core.providers.base import (
    ModelRequest,
    Provider,
    StepEnd,
    TextPart,
    ThinkingEnd,
    ThinkingPart,
    ToolCall,
)
from tidegate.core.runtime import Runtime, package_version
from tidegate.core.tools.arguments import typed_arguments
from tidegate.core.tools.base import ReadTool, Tool, ToolContext, ToolInput, ToolResult, WriteTool
from tidegate.core.tools.registry import parse_input, spec, tool_by_name
from tidegate.core.writes.road import carry_out
from tidegate.core.writes.types import WriteCall, Written

MAX_TEXT_BYTES = 1_048_576
"""Longest request, in bytes of UTF-8."""

_MAX_CALLS = 64
"""Tool calls of one model step that are run; more are answered with an error."""


@dataclass
class Turn:
    """What one turn has done so far."""

    stream: Stream
    began: float
    usage: TokenUsage = field(default_factory=TokenUsage)
    cost: Decimal | None = Decimal(0)
    """None once a step had no known price."""
    text: str = ""
    """What the model's last step that wrote anything wrote."""
    writes: list[JsonObject] = field(default_factory=list)
    pending: list[str] = field(default_factory=list)
    troubles: dict[str, TidegateError] = field(default_factory=dict)
    """Errors that nothing has made good yet, by the tool they came from."""

    def wrote(self, written: Written) -> None:
        """Count a write."""
        if written.status == "held":
            self.pending.append(written.attempt_id)
        receipt = written.receipt
        if receipt is not None:
            row: JsonObject = {
                "attempt_id": receipt.attempt_id,
                "tool_name": receipt.tool_name,
                "status": receipt.status,
                "usd": receipt.usd,
            }
            self.writes.append(row if receipt.digest is None else row | {"digest": receipt.digest})

    def note(self, tool: str, error: TidegateError | None) -> None:
        """Remember an error of a tool, or that a later call of it went well.

        That a transaction's outcome is unknown is never made good by another call.
        """
        if error is not None:
            self.troubles[tool] = error
        elif not isinstance(self.troubles.get(tool), OutcomeUnknown):
            self.troubles.pop(tool, None)

    def worst(self) -> TidegateError | None:
        """Return the trouble of the highest concern."""
        if not self.troubles:
            return None
        status = worst_exit_status(*(error.exit_status for error in self.troubles.values()))
        return next(error for error in self.troubles.values() if error.exit_status == status)


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
        return (yield from _Loop(runtime, turn, conversation, provider, cancelled, dry_run).run())

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
        loop = _Loop(runtime, turn, conversation, provider, cancelled, dry_run)
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


Body = Callable[[], Generator[Event, None, StopReason]]


def run_turn(runtime: Runtime, turn: Turn, body: Body) -> Iterator[Event]:
    """Number the events of a turn and end it in one way, whatever happened.

    An interrupt that arrives while the caller handles an event is thrown in by the caller (`generator.throw`)
    or meets the next step here; either way turn_complete is the last event.
    """
    begun = False
    stop: StopReason = "error"
    trouble: TidegateError | None = None
    events = body()
    try:
        while True:
            try:
                event = next(events)
            except StopIteration as end:
                stop = end.value
                break
            begun = begun or isinstance(event, StreamStarted)
            yield turn.stream.stamp(event)
        trouble = turn.worst()
        if trouble is not None and stop == "end_turn":
            stop = _stop_reason(trouble)
    except TidegateError as error:
        trouble, stop = error, _stop_reason(error)
    except KeyboardInterrupt:
        trouble, stop = Interrupted("Stopped before the turn was finished."), "interrupted"
    except Exception as error:  # noqa: BLE001 - a bug must still end the stream as the contract says
        trouble = InternalError(f"{type(error).__name__} in the engine.")
        trouble.__cause__ = error
        runtime.on_bug(error)
    finally:
        events.close()
    if not begun:
        yield turn.stream.stamp(started(runtime, runtime.settings.provider, None, bare=True))
    if trouble is not None:
        yield turn.stream.stamp(
            ErrorEvent(
                code=trouble.code, message=trouble.message, hint=trouble.hint, retryable=trouble.retryable
            )
        )
    yield turn.stream.stamp(
        TurnComplete(
            stop_reason=stop,
            text=turn.text,
            usage=turn.usage,
            cost_usd=turn.cost,
            writes=turn.writes,
            pending=turn.pending,
            duration_ms=round((runtime.clock.monotonic() - turn.began) * 1000),
        )
    )


class _Loop:
    """The model and the tools of one turn."""

    def __init__(
        self,
        runtime: Runtime,
        turn: Turn,
        conversation: Conversation,
        provider: Provider,
        cancel: Cancel,
        dry_run: bool,
    ) -> None:
        self._runtime = runtime
        self._turn = turn
        self._conversation = conversation
        self._provider = provider
        self._cancel = cancel
        self._dry_run = dry_run
        self._tools = {tool.name: tool for tool in runtime.tools}
        self._specs = [spec(tool) for tool in runtime.tools]

    def run(self) -> Generator[Event, None, StopReason]:
        """Ask the model and run its tools until it stops, a write waits, or a limit is reached."""
        settings = self._runtime.settings
        layers = system_layers(
            network=settings.network, wallet=self._runtime.address(), preset=self._runtime.preset
        )
        for _ in range(settings.max_turns):
            self._check_budget()
            request = ModelRequest(
                system=layers,
                messages=self._conversation.messages(),
                tools=self._specs,
                max_tokens=settings.max_tokens,
                thinking_tokens=settings.thinking_tokens,
            )
            end, outcomes = yield from self._step(request)
            if not outcomes:
                return "end_turn" if end.stop_reason == "tool_use" else end.stop_reason
            if self._turn.pending:
                return "pending_action"
        return "max_turns"

    def _step(self, request: ModelRequest) -> Generator[Event, None, tuple[StepEnd, list[ToolOutcome]]]:
        """Run one model step and its tools; results are kept in the order of the calls."""
        pool = ReadPool(self._runtime.clock, float(self._runtime.settings.tool_deadline_s))
        context = self._runtime.tool_context(self._conversation.calls, self._cancel)
        outcomes: dict[str, ToolOutcome] = {}
        calls: list[ToolCall] = []
        said: list[str] = []
        end: StepEnd | None = None
        parts = self._provider.stream(request)
        try:
            for part in parts:
                match part:
                    case TextPart(text):
                        said.append(text)
                        yield TextDelta(text=text)
                    case ThinkingPart(text, index):
                        yield ThinkingDelta(text=text, block_index=index)
                    case ThinkingEnd(index, signature):
                        yield ThinkingDone(block_index=index, signature=signature)
                    case ToolCall():
                        calls.append(part)
                        yield from self._begin(part, len(calls), pool, context, outcomes)
                    case StepEnd():
                        end = part
                yield from self._collect(pool.ready(), outcomes)
                if self._cancel.is_set():
                    raise KeyboardInterrupt
            if end is None:
                raise InternalError("The model's stream ended without saying so.")
            if said:
                self._turn.text = "".join(said)
            yield self._count(end)
            self._conversation.model_said(end.content)
            yield from self._collect(pool.rest(), outcomes)
            yield from self._run_serial(calls, outcomes)
        finally:
            parts.close()
            pool.close()
        ordered = [outcomes[made.id] for made in calls]
        if ordered:
            self._conversation.tools_replied([outcome.to_model() for outcome in ordered])
        return end, ordered

    def _begin(
        self,
        made: ToolCall,
        count: int,
        pool: ReadPool,
        context: ToolContext,
        outcomes: dict[str, ToolOutcome],
    ) -> Iterator[Event]:
        """Start a read, refuse what cannot be run, leave the rest for after the stream."""
        tool = self._tools.get(made.name)
        problem: TidegateError | None = None
        if count > _MAX_CALLS:
            problem = UsageError(f"Only {_MAX_CALLS} tool calls are run in one step.")
        elif made.id in outcomes:
            problem = UsageError(f"Two calls have the id {made.id}.")
        elif tool is None:
            problem = _unknown(made.name)
        if problem is not None or isinstance(tool, ReadTool):
            yield ToolStart(
                tool_name=made.name,
                tool_use_id=made.id,
                input=dict(made.input),
                read_only=isinstance(tool, ReadTool),
            )
        if problem is not None:
            yield self._admit(failed(made, problem), outcomes)
        elif isinstance(tool, ReadTool):
            pool.start(tool, made, context)

    def _collect(
        self, told: Iterator[ToolOutcome | Event], outcomes: dict[str, ToolOutcome]
    ) -> Iterator[Event]:
        for item in told:
            yield self._admit(item, outcomes) if isinstance(item, ToolOutcome) else item

    def _admit(self, outcome: ToolOutcome, outcomes: dict[str, ToolOutcome]) -> Event:
        """Keep an outcome for the model, the guards and the turn, and return its event."""
        outcomes[outcome.call.id] = outcome
        self._conversation.settled(outcome.settled(self._runtime.clock.now_ms()))
        self._turn.note(outcome.call.name, outcome.error)
        return outcome.event()

    def _run_serial(self, calls: list[ToolCall], outcomes: dict[str, ToolOutcome]) -> Iterator[Event]:
        """Run what is not a read, in order; once a write waits, the rest of the step is not tried."""
        for made in calls:
            tool = self._tools.get(made.name)
            if made.id in outcomes or tool is None:
                continue
            if self._turn.pending:
                waits = UsageError(
                    f"Not tried: an earlier write waits for approval ({self._turn.pending[-1]}).",
                    hint="Ask again once it is settled.",
                )
                outcome = failed(made, waits)
                outcomes[made.id] = outcome
                yield outcome.event()
                continue
            outcome = yield from self.run_one(tool, made, direct=None)
            outcomes[made.id] = outcome

    def run_one(
        self, tool: Tool, made: ToolCall, *, direct: list[str] | None
    ) -> Generator[Event, None, ToolOutcome]:
        """Run one tool to its end, in this thread.

        Args:
            tool: The tool.
            made: The call.
            direct: The person's own words when a person made the call, None when a model did.
        """
        yield ToolStart(
            tool_name=made.name,
            tool_use_id=made.id,
            input=dict(made.input),
            read_only=isinstance(tool, ReadTool),
        )
        if isinstance(tool, WriteTool):
            outcome = yield from self._write(tool, made, direct)
        else:
            context = self._runtime.tool_context(self._conversation.calls, self._cancel)
            outcome = run_tool(tool, made, context)
        yield self._admit(outcome, {})
        self._cancel.check()
        return outcome

    def _write(
        self, tool: WriteTool[ToolInput], made: ToolCall, direct: list[str] | None
    ) -> Generator[Event, None, ToolOutcome]:
        clock = self._runtime.clock
        began = clock.monotonic()
        arguments: JsonObject = dict(made.input)
        try:
            if made.invalid is not None:
                raise UsageError(f"The input of {made.name} is not a JSON object: {made.invalid}")
            args = parse_input(tool, made.input)
            road = self._runtime.road(
                session_id=self._turn.stream.session_id,
                turn=self._turn.stream.turn,
                history=self._conversation.calls,
                cancel=self._cancel,
                dry_run=self._dry_run,
            )
            request = WriteCall(
                tool=tool,
                args=args,
                tool_use_id=made.id,
                direct=direct is not None,
                user_texts=self._conversation.user_texts() if direct is None else direct,
                history=self._conversation.calls,
            )
            written = yield from carry_out(road, request)
        except TidegateError as error:
            return failed(made, error, round((clock.monotonic() - began) * 1000))
        self._turn.wrote(written)
        took = round((clock.monotonic() - began) * 1000)
        reply = written.reply
        if written.error is not None:
            reply = reply | error_reply(written.error)
        if written.status == "held":
            self._turn.text = str(reply["display_text"])
        return ToolOutcome(made, arguments | to_json(args), reply, written.error, took)

    def _count(self, end: StepEnd) -> Usage:
        step, so_far = end.usage, self._turn.usage
        self._turn.usage = TokenUsage(
            input_tokens=so_far.input_tokens + step.input_tokens,
            output_tokens=so_far.output_tokens + step.output_tokens,
            cache_read_tokens=so_far.cache_read_tokens + step.cache_read_tokens,
            cache_write_tokens=so_far.cache_write_tokens + step.cache_write_tokens,
        )
        cost = self._provider.cost(step)
        if cost is None or self._turn.cost is None:
            self._turn.cost = None
        else:
            self._turn.cost += cost
        return Usage(**step.model_dump(), cost_usd=cost)

    def _check_budget(self) -> None:
        budget, spent = self._runtime.settings.budget_usd, self._turn.cost
        if budget is not None and spent is not None and spent >= budget:
            raise BudgetSpent(
                f"The turn has used {spent} of {budget} USD.",
                hint="Raise budget_usd, or ask for less at a time.",
            )


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


def started(runtime: Runtime, provider: str, model: str | None, *, bare: bool = False) -> StreamStarted:
    """Return the first event; `bare` when what went wrong may have been the wallet itself."""
    return StreamStarted(
        stream_id=runtime.ids(),
        network=runtime.settings.network,
        provider=provider,
        model=model,
        preset=None if runtime.preset is None else runtime.preset.name,
        address=None if bare else runtime.address(),
        version=package_version(),
    )


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


def _unknown(name: str) -> TidegateError:
    try:
        tool_by_name(name)
    except TidegateError as error:
        return error
    return UsageError(f"{name} cannot be used here.")


def _stop_reason(error: TidegateError) -> StopReason:
    match error.exit_status:
        case 4:
            return "refused"
        case 8:
            return "budget_exceeded"
        case 130:
            return "interrupted"
        case _:
            return "error"
