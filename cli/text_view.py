"""The readable view of a turn: answers, receipts and what waits on stdout, progress on stderr."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from tidegate.cli.output import Notices, Sink
from tidegate.cli.visible import visible, visible_line
from tidegate.core.events import (
    BalanceChange,
    Canvas,
    ErrorEvent,
    Event,
    GasReport,
    GuardEvent,
    PendingAction,
    PendingActionBody,
    PendingInput,
    StreamStarted,
    TextDelta,
    TodoUpdate,
    ToolProgress,
    ToolResultEvent,
    ToolStart,
    TurnComplete,
    WriteResult,
)
from tidegate.core.jsonlines import Json, dumps
from tidegate.core.money import plain

BOLD, DIM, RED, GREEN, YELLOW = 1, 2, 31, 32, 33

_MARKS = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}


class TextWriter:
    """Shows events as they come."""

    def __init__(self, out: Sink, notices: Notices) -> None:
        self._out = out
        self._notices = notices
        self._runs_on = ""
        self._in_line = False
        self._answered = False

    def write(self, event: Event) -> None:
        """Show one event.

        Raises:
            OutputGone: stdout takes no more.
        """
        if isinstance(event, TextDelta):
            self._out.write(visible(event.text))
            self._in_line = not event.text.endswith("\n") if event.text else self._in_line
            self._answered = True
            return
        match event:
            case StreamStarted():
                self._begin(event)
            case ToolStart():
                self._aside(f"· {event.tool_name}{_arguments(event.input)}")
            case ToolProgress():
                done = "" if event.pct is None else f" ({plain(event.pct)}%)"
                self._aside(f"  {event.tool_name}: {event.message}{done}")
            case ToolResultEvent() if event.is_error:
                self._aside(f"  {event.tool_name} did not work: {_trouble(event.result)}")
            case GuardEvent():
                self._aside(f"  {event.verdict}, {event.guard}: {event.message}", YELLOW)
            case TodoUpdate():
                for item in event.items:
                    mark = _MARKS.get(str(item.get("status")), "[ ]")
                    self._aside(f"  {mark} {item.get('label', '')}")
            case Canvas():
                self._line(f"{event.title}{f': {event.path}' if event.path else ''}")
            case PendingAction():
                self._block(pending_lines(event.action))
            case PendingInput():
                self._line(f"A form waits ({event.input_id}): {event.prompt or dumps(event.schema_)}")
            case WriteResult():
                self._receipt(event)
            case ErrorEvent():
                self._end_line()
                self._notices.error(event.message, event.hint)
            case TurnComplete():
                self._finish(event)

    def _begin(self, event: StreamStarted) -> None:
        """Say what the turn runs on, once as long as it does not change."""
        self._answered = False
        model = f"{event.provider} {event.model}" if event.model else event.provider
        wallet = event.address or "no wallet"
        runs_on = f"{event.network} · {model} · preset {event.preset or 'none'} · {wallet}"
        if runs_on != self._runs_on:
            self._runs_on = runs_on
            self._aside(runs_on)

    def _receipt(self, event: WriteResult) -> None:
        colour = {"executed": GREEN, "simulated": DIM}.get(event.status, RED)
        self._end_line()
        self._out.write(f"{self._out.style(visible_line(receipt_line(event)), colour)}\n")
        self._answered = True

    def _finish(self, event: TurnComplete) -> None:
        self._end_line()
        if not self._answered and event.text:
            self._out.write(f"{visible(event.text)}\n")
        if event.stop_reason in ("max_turns", "max_tokens"):
            self._aside(f"The answer was cut short ({event.stop_reason}).", YELLOW)
        self._in_line = False

    def _block(self, lines: Iterator[tuple[str, str]]) -> None:
        self._end_line()
        for label, value in lines:
            text = visible_line(value)
            self._out.write(
                f"{self._out.style(text, BOLD, YELLOW)}\n"
                if not label
                else f"  {self._out.style(label.ljust(9), DIM)} {text}\n"
            )
        self._answered = True

    def _line(self, text: str) -> None:
        self._end_line()
        self._out.write(f"{visible_line(text)}\n")

    def _aside(self, text: str, colour: int = DIM) -> None:
        self._end_line()
        self._notices.write(f"{self._notices.style(visible_line(text), colour)}\n")

    def _end_line(self) -> None:
        if self._in_line:
            self._in_line = False
            self._out.write("\n")


def pending_lines(action: PendingActionBody) -> Iterator[tuple[str, str]]:
    """Yield (label, text) of what a person must see to decide on a write; addresses are never shortened."""
    preview = action.preview
    yield "", f"This waits for you: {action.description}"
    yield "why", action.reason
    yield "value", _dollars(action.usd) or "not priced"
    for name, value in action.input.items():
        yield name, _shown(value)
    for change in preview.balance_changes:
        yield "wallet", _change(change)
    for change in preview.min_received or ():
        yield "at least", _change(change)
    if preview.price_impact is not None:
        yield "impact", f"{plain(preview.price_impact)}% of the pool's price"
    if preview.health_factor_after is not None:
        before = "none" if preview.health_factor_before is None else plain(preview.health_factor_before)
        yield "health", f"{before} before, {plain(preview.health_factor_after)} after"
    if preview.borrow_apy is not None:
        yield "interest", f"{plain(preview.borrow_apy)}% a year"
    yield "gas", _gas(preview.gas)
    for note in action.guard_injections:
        yield note.verdict, f"{note.guard}: {note.message}"
    yield "expires", action.expires_at
    yield "approve", action.approval()
    yield "deny", f"tidegate resume {action.attempt_id} --deny"
    for field in action.modifiable_fields:
        yield "change", f"tidegate resume {action.attempt_id} --set {field}=…"


def receipt_line(event: WriteResult) -> str:
    """Return what became of a write in one line."""
    parts = [f"{event.tool_name} {event.status}"]
    parts += [_change(change) for change in event.balance_changes]
    if event.gas is not None:
        parts.append(f"gas {_gas(event.gas)}")
    if event.digest is not None:
        parts.append(f"digest {event.digest}")
    if event.message:
        parts.append(event.message)
    return " · ".join(parts)


def _change(change: BalanceChange) -> str:
    sign = "+" if change.amount > 0 else ""
    dollars = _dollars(change.usd)
    return f"{sign}{plain(change.amount)} {change.symbol}{f' ({dollars})' if dollars else ''}"


def _gas(gas: GasReport) -> str:
    dollars = _dollars(gas.usd)
    return f"{plain(gas.sui)} SUI{f' ({dollars})' if dollars else ''}"


def _dollars(usd: Decimal | None) -> str:
    return "" if usd is None else f"{'-' if usd < 0 else ''}${plain(abs(usd))}"


def _arguments(fields: dict[str, Json]) -> str:
    return "".join(f" {name}={_shown(value)}" for name, value in fields.items())


def _shown(value: Json) -> str:
    match value:
        case str():
            return value
        case list() if all(isinstance(item, str) for item in value):
            return ",".join(map(str, value))
        case _:
            return dumps(value)


def _trouble(result: dict[str, Json]) -> str:
    error = result.get("error")
    if isinstance(error, dict):
        return str(error.get("message", "no reason given"))
    return str(result.get("display_text", "no reason given"))
