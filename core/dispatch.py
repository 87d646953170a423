"""Running tools: reads at once and beside each other, everything else one after another."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue

from tidegate.core.clock import Clock
from tidegate.core.errors import InternalError, NetworkError, TidegateError, UsageError
from tidegate.core.events import Event, JsonObject, ToolProgress, ToolResultEvent, to_json
from tidegate.core.jsonlines import dumps
from tidegate.core.policy.types import SettledCall
from tidegate.core.providers.base import ToolCall, ToolReply
from tidegate.core.tools.base import LocalTool, ReadTool, ToolContext, ToolInput
from tidegate.core.tools.budget import fit
from tidegate.core.tools.registry import parse_input

_WORKERS = 16


@dataclass(frozen=True)
class ToolOutcome:
    """How one tool call ended."""

    call: ToolCall
    arguments: JsonObject
    """The input as it was understood."""
    reply: JsonObject
    """What events show and the model reads."""
    error: TidegateError | None
    duration_ms: int
    truncated: bool = False

    def event(self) -> ToolResultEvent:
        """Return the tool_result event."""
        return ToolResultEvent(
            tool_name=self.call.name,
            tool_use_id=self.call.id,
            result=self.reply,
            is_error=self.error is not None,
            duration_ms=self.duration_ms,
            truncated=True if self.truncated else None,
        )

    def to_model(self) -> ToolReply:
        """Return the answer that goes back to the model."""
        return ToolReply(self.call.id, dumps(self.reply), is_error=self.error is not None)

    def settled(self, at_ms: int) -> SettledCall:
        """Return the call as guards look back on it."""
        data = self.reply.get("data")
        return SettledCall(
            tool=self.call.name,
            input=self.arguments,
            data=data if isinstance(data, dict) else {},
            is_error=self.error is not None,
            at_ms=at_ms,
        )


def failed(call: ToolCall, error: TidegateError, duration_ms: int = 0) -> ToolOutcome:
    """Return the outcome of a call that ended in an error."""
    return ToolOutcome(call, dict(call.input), error_reply(error), error, duration_ms)


def error_reply(error: TidegateError) -> JsonObject:
    """Return an error as the model reads it."""
    reply: JsonObject = {"code": error.code, "message": error.message, "retryable": error.retryable}
    if error.hint is not None:
        reply["hint"] = error.hint
    return {"error": reply}


def run_tool(
    tool: ReadTool[ToolInput] | LocalTool[ToolInput], call: ToolCall, context: ToolContext
) -> ToolOutcome:
    """Run a tool that moves no money; never raises."""
    began = context.clock.monotonic()

    def took() -> int:
        return round((context.clock.monotonic() - began) * 1000)

    try:
        if call.invalid is not None:
            raise UsageError(f"The input of {call.name} is not a JSON object: {call.invalid}")
        args = parse_input(tool, call.input)
        reply = tool.run(args, context).to_json()
    except TidegateError as error:
        return failed(call, error, took())
    except Exception as error:  # noqa: BLE001 - a tool's bug is that tool's answer, not the end of the turn
        bug = InternalError(f"The tool {call.name} failed with {type(error).__name__}.")
        bug.__cause__ = error
        return failed(call, bug, took())
    cap = tool.result_cap if isinstance(tool, ReadTool) else None
    reply, truncated = (reply, False) if cap is None else fit(reply, cap)
    return ToolOutcome(call, to_json(args), reply, None, took(), truncated)


@dataclass(frozen=True, slots=True)
class _Running:
    call: ToolCall
    allowed_s: float
    deadline: float


class ReadPool:
    """Reads of one turn: started when the model has written the call, told as they end."""

    def __init__(self, clock: Clock, deadline_s: float) -> None:
        self._clock = clock
        self._deadline_s = deadline_s
        self._executor = ThreadPoolExecutor(_WORKERS, thread_name_prefix="tidegate-read")
        self._told: SimpleQueue[ToolOutcome | Event] = SimpleQueue()
        self._running: dict[str, _Running] = {}

    def start(self, tool: ReadTool[ToolInput], call: ToolCall, context: ToolContext) -> None:
        """Start a read beside the others."""

        def progress(message: str) -> None:
            self._told.put(ToolProgress(tool_use_id=call.id, tool_name=call.name, message=message))

        def done(future: Future[ToolOutcome]) -> None:
            if not future.cancelled():
                self._told.put(future.result())

        allowed = min(self._deadline_s, tool.deadline_s)
        self._running[call.id] = _Running(call, allowed, self._clock.monotonic() + allowed)
        reporting = replace(context, progress=progress)
        self._executor.submit(run_tool, tool, call, reporting).add_done_callback(done)

    def ready(self) -> Iterator[ToolOutcome | Event]:
        """Yield what has been told since the last look, without waiting."""
        if not self._running:
            return
        while True:
            try:
                told = self._told.get_nowait()
            except Empty:
                return
            yield from self._admit(told)

    def rest(self) -> Iterator[ToolOutcome | Event]:
        """Yield what is told until every read has ended or is out of time."""
        while self._running:
            first = min(self._running.values(), key=lambda running: running.deadline)
            try:
                told = self._told.get(timeout=max(0.0, first.deadline - self._clock.monotonic()))
            except Empty:
                del self._running[first.call.id]
                late = NetworkError(
                    f"{first.call.name} took longer than its {first.allowed_s:g} s.", hint="Try it alone."
                )
                yield failed(first.call, late, round(first.allowed_s * 1000))
                continue
            yield from self._admit(told)

    def close(self) -> None:
        """Let go of reads that have not begun; those that run end by their own timeouts."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    def _admit(self, told: ToolOutcome | Event) -> Iterator[ToolOutcome | Event]:
        """Pass on what belongs to a running read; what comes after its deadline is dropped."""
        call_id = told.call.id if isinstance(told, ToolOutcome) else getattr(told, "tool_use_id", "")
        if call_id in self._running:
            if isinstance(told, ToolOutcome):
                del self._running[call_id]
            yield told
