"""One turn's frame: what it has done so far, and its one way to end."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from decimal import Decimal

from tidegate.core.errors import (
    InternalError,
    Interrupted,
    OutcomeUnknown,
    TidegateError,
    worst_exit_status,
)
from tidegate.core.events import (
    ErrorEvent,
    Event,
    JsonObject,
    StopReason,
    Stream,
    StreamStarted,
    TokenUsage,
    TurnComplete,
)
from tidegate.core.runtime import Runtime, package_version
from tidegate.core.writes.types import Written


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
