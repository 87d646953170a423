"""The model and the tools of one turn: the inner lines of the diagram in engine.py."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from tidegate.core.cancel import Cancel
from tidegate.core.conversation import Conversation
from tidegate.core.dispatch import ReadPool, ToolOutcome, error_reply, failed, run_tool
from tidegate.core.errors import BudgetSpent, GuardBlocked, InternalError, TidegateError, UsageError
from tidegate.core.events import (
    Event,
    JsonObject,
    StopReason,
    TextDelta,
    ThinkingDelta,
    ThinkingDone,
    TokenUsage,
    ToolStart,
    Usage,
    to_json,
)
from tidegate.core.policy.guards.address_source import made_up
from tidegate.core.policy.types import Finding
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
from tidegate.core.runtime import Runtime
from tidegate.core.tools.base import LocalTool, ReadTool, Tool, ToolContext, ToolInput, WriteTool
from tidegate.core.tools.registry import parse_input, spec, tool_by_name
from tidegate.core.turn import Turn
from tidegate.core.writes.report import guard_event
from tidegate.core.writes.road import carry_out
from tidegate.core.writes.types import WriteCall

_MAX_CALLS = 64
"""Tool calls of one model step that are run; more are answered with an error."""


class Loop:
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
        elif direct is None and (finding := self._made_up(tool, made)) is not None:
            if (event := guard_event(finding, made.id)) is not None:
                yield event
            outcome = failed(made, GuardBlocked(finding.message, hint="Nothing was saved."))
        else:
            context = self._runtime.tool_context(self._conversation.calls, self._cancel)
            outcome = run_tool(tool, made, context)
        yield self._admit(outcome, {})
        self._cancel.check()
        return outcome

    def _made_up(self, tool: ReadTool[ToolInput] | LocalTool[ToolInput], made: ToolCall) -> Finding | None:
        """Return why a model may not remember this in the person's name, None if it may."""
        if not isinstance(tool, LocalTool) or made.invalid is not None:
            return None
        try:
            words = tool.words(parse_input(tool, made.input))
        except UsageError:
            return None
        return made_up(words, self._conversation.user_texts())

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


def _unknown(name: str) -> TidegateError:
    try:
        tool_by_name(name)
    except TidegateError as error:
        return error
    return UsageError(f"{name} cannot be used here.")
