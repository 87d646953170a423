"""The wire contract: every event that a command prints, one model each, and their JSON Schema.

An event is made by whoever has something to say and numbered by the stream it goes out on (`Stream`), so that
`seq` rises by one whatever happens between them. Fields that default to None are left out when nothing is
known; fields that are always there say so by having no default.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, SkipValidation, TypeAdapter, WithJsonSchema
from pydantic.config import JsonDict

from tidegate.core.clock import Clock, iso_ms
from tidegate.core.jsonlines import Json, dumps, quote
from tidegate.core.money import plain

SCHEMA_VERSION = 1

if TYPE_CHECKING:
    JsonObject = dict[str, Json]
else:
    # pydantic cannot resolve a recursive alias; these values are ours and are checked when they are written.
    JsonObject = Annotated[dict[str, object], SkipValidation, WithJsonSchema({"type": "object"})]
Number = Annotated[Decimal, WithJsonSchema({"type": "number"})]
"""An exact decimal, written as a JSON number."""

StopReason = Literal[
    "end_turn",
    "max_turns",
    "max_tokens",
    "pending_action",
    "pending_input",
    "budget_exceeded",
    "refused",
    "interrupted",
    "error",
]


def _require_what_is_always_there(schema: JsonDict, model: type[BaseModel]) -> None:
    schema["required"] = [
        info.alias or name for name, info in model.model_fields.items() if info.default is not None
    ]


_CONFIG = ConfigDict(extra="forbid", json_schema_extra=_require_what_is_always_there)


class Part(BaseModel):
    """A piece of an event."""

    model_config = _CONFIG


class BalanceChange(Part):
    """What a transaction adds to or takes from the wallet in one coin, gas apart."""

    symbol: str
    coin_type: str
    amount: Number
    """Whole tokens; negative leaves the wallet."""
    amount_raw: str
    """Base units, as text because they can pass 2^53."""
    usd: Number | None = None


class GasReport(Part):
    """What a transaction costs the wallet in gas: computation and storage less the rebate."""

    sui: Number
    mist: str
    usd: Number | None = None


class TokenUsage(Part):
    """Tokens one or more model steps took."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0


class Preview(Part):
    """What a simulation says that a waiting write would do."""

    balance_changes: list[BalanceChange]
    gas: GasReport
    gas_usd: Number | None
    min_received: list[BalanceChange] | None = None
    """What the transaction is sure to bring in, or it fails on chain."""
    route: list[JsonObject] | None = None
    price_impact: Number | None = None
    """Percent of the pool's price that the swap's own size costs."""
    health_factor_before: Number | None = None
    health_factor_after: Number | None = None
    borrow_apy: Number | None = None


class GuardNote(Part):
    """A guard's verdict that is more than a pass."""

    guard: str
    tier: Literal["safety", "financial", "ux"]
    verdict: Literal["hint", "warn", "block"]
    message: str


class UnsignedTransaction(Part):
    """The transaction for signing elsewhere."""

    bytes: str
    """BCS TransactionData, base64."""
    digest: str


class PendingActionBody(Part):
    """A write that waits for `tidegate resume`."""

    attempt_id: str
    approval_id: str
    """The same as attempt_id."""
    tool_use_id: str
    turn_index: int
    name: str
    input: JsonObject
    description: str
    tier: Literal["confirm", "explicit"]
    reason: str
    """Why it was not carried out at once."""
    usd: Number | None
    modifiable_fields: list[str]
    steps: list[JsonObject]
    guard_injections: list[GuardNote]
    preview: Preview
    quote_age_s: Number | None = None
    can_regenerate: bool
    regenerate_input: JsonObject | None = None
    expires_at: str
    tx: UnsignedTransaction
    replaces: str | None = None
    """The attempt in whose place it stands, which nobody can approve any more."""

    def approval(self) -> str:
        """Return the command line that approves it."""
        line = f"tidegate resume {self.attempt_id} --approve"
        if self.tier != "explicit":
            return line
        return f"{line} --explicit" if self.usd is None else f"{line} --i-understand {plain(self.usd)}"


class Event(BaseModel):
    """What every event carries."""

    model_config = _CONFIG

    v: Literal[1] = 1
    seq: int = 0
    """Rises by one within a stream."""
    ts: str = ""
    """UTC, ISO 8601 with milliseconds."""
    session_id: str = ""
    turn: int = 0


class StreamStarted(Event):
    """First, always: what this stream runs on."""

    type: Literal["stream_started"] = "stream_started"
    stream_id: str
    network: str
    provider: str
    model: str | None
    preset: str | None
    address: str | None
    version: str


class TextDelta(Event):
    """A piece of the model's answer."""

    type: Literal["text_delta"] = "text_delta"
    text: str


class ThinkingDelta(Event):
    """A piece of the model's thinking."""

    type: Literal["thinking_delta"] = "thinking_delta"
    text: str
    block_index: int


class ThinkingDone(Event):
    """A thinking block ended."""

    type: Literal["thinking_done"] = "thinking_done"
    block_index: int
    signature: str | None = None
    summary_mode: bool | None = None
    evaluation_items: list[JsonObject] | None = None


class ToolStart(Event):
    """A tool begins."""

    type: Literal["tool_start"] = "tool_start"
    tool_name: str
    tool_use_id: str
    input: JsonObject
    read_only: bool


class ToolProgress(Event):
    """A long tool says how far it is."""

    type: Literal["tool_progress"] = "tool_progress"
    tool_use_id: str
    tool_name: str
    message: str
    pct: Number | None = None


class ToolResultEvent(Event):
    """A tool ended."""

    type: Literal["tool_result"] = "tool_result"
    tool_name: str
    tool_use_id: str
    result: JsonObject
    is_error: bool
    duration_ms: int
    cached: bool | None = None
    truncated: bool | None = None


class GuardEvent(Event):
    """A guard said more than pass."""

    type: Literal["guard"] = "guard"
    guard: str
    tier: Literal["safety", "financial", "ux"]
    verdict: Literal["hint", "warn", "block"]
    message: str
    tool_use_id: str


class TodoUpdate(Event):
    """The model's plan changed."""

    type: Literal["todo_update"] = "todo_update"
    items: list[JsonObject]
    tool_use_id: str


class PendingAction(Event):
    """A write waits."""

    type: Literal["pending_action"] = "pending_action"
    action: PendingActionBody


class PendingInput(Event):
    """A tool needs a form filled."""

    type: Literal["pending_input"] = "pending_input"
    input_id: str
    schema_: JsonObject = Field(alias="schema")
    prompt: str | None = None


class WriteResult(Event):
    """A write settled."""

    type: Literal["write_result"] = "write_result"
    attempt_id: str
    tool_name: str
    status: Literal["executed", "failed", "unknown", "denied", "simulated"]
    digest: str | None = None
    usd: Number | None
    balance_changes: list[BalanceChange]
    gas: GasReport | None
    auto: bool
    """Whether policy carried it out without asking."""
    message: str | None = None
    replaces: str | None = None
    """The attempt in whose place it was carried out."""


class Canvas(Event):
    """A page was drawn."""

    type: Literal["canvas"] = "canvas"
    html: str
    title: str
    path: str | None = None


class Usage(Event):
    """After each model step."""

    type: Literal["usage"] = "usage"
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    cost_usd: Number | None
    """None when the model's prices are not known."""


class ErrorEvent(Event):
    """A failure, with its stable code."""

    type: Literal["error"] = "error"
    code: str
    message: str
    hint: str | None = None
    retryable: bool


class TurnComplete(Event):
    """Last, always."""

    type: Literal["turn_complete"] = "turn_complete"
    stop_reason: StopReason
    text: str
    usage: TokenUsage
    cost_usd: Number | None
    writes: list[JsonObject]
    """The writes of this turn: attempt_id, tool_name, status, digest, usd."""
    pending: list[str]
    """Attempts that wait for `tidegate resume`."""
    duration_ms: int


E = TypeVar("E", bound=Event)

AnyEvent = Annotated[
    StreamStarted
    | TextDelta
    | ThinkingDelta
    | ThinkingDone
    | ToolStart
    | ToolProgress
    | ToolResultEvent
    | GuardEvent
    | TodoUpdate
    | PendingAction
    | PendingInput
    | WriteResult
    | Canvas
    | Usage
    | ErrorEvent
    | TurnComplete,
    Field(discriminator="type"),
]


class Stream:
    """Numbers and dates the events of one stream, in the order they are given to it."""

    def __init__(self, session_id: str, clock: Clock) -> None:
        self.session_id = session_id
        self._clock = clock
        self._seq = 0
        self._second = -1
        self._second_text = ""
        self.turn = 0

    def stamp(self, event: E) -> E:
        """Give an event its place in the stream and return it."""
        self._seq += 1
        event.seq = self._seq
        event.ts = self._now()
        event.session_id = self.session_id
        event.turn = self.turn
        return event

    def _now(self) -> str:
        """Return `iso_ms` of this moment; the part down to the second is kept, as thousands share it."""
        second, millis = divmod(self._clock.now_ms(), 1000)
        if second != self._second:
            self._second, self._second_text = second, iso_ms(second * 1000)[:-4]
        return f"{self._second_text}{millis:03d}Z"


def to_line(event: Event) -> str:
    """Return the event as one line of JSON, without the line end."""
    if type(event) is TextDelta:
        # Most lines of a stream are these: written by hand they cost a fifth of the general way.
        return (
            f'{{"v":1,"seq":{event.seq},"ts":"{event.ts}","session_id":{quote(event.session_id)},'
            f'"turn":{event.turn},"type":"text_delta","text":{quote(event.text)}}}'
        )
    return dumps(to_json(event))


def to_json(model: BaseModel) -> JsonObject:
    """Return a model as JSON values, exact; optional fields that are None are left out."""
    fields = type(model).model_fields
    out: JsonObject = {}
    for name, info in fields.items():
        value = getattr(model, name)
        if value is None and not info.is_required():
            continue
        out[info.alias or name] = _plain(value)
    return out


def _plain(value: object) -> Json:
    match value:
        case BaseModel():
            return to_json(value)
        case Mapping():
            return {str(key): _plain(item) for key, item in value.items()}
        case None | bool() | int() | float() | str() | Decimal():
            return value
        case Sequence():
            return [_plain(item) for item in value]
        case _:
            raise TypeError(f"{type(value).__name__} has no JSON form")


@dataclass(frozen=True, slots=True)
class EventDescription:
    """One line of the event table in README.md."""

    type: str
    summary: str


def describe() -> list[EventDescription]:
    """Return every event type with its first docstring line, in the order of the contract."""
    return [
        EventDescription(model.model_fields["type"].default, (model.__doc__ or "").splitlines()[0])
        for model in Event.__subclasses__()
    ]


def json_schema() -> JsonObject:
    """Return the JSON Schema (draft 2020-12) that every printed event line satisfies."""
    adapter: TypeAdapter[object] = TypeAdapter(AnyEvent)
    schema: JsonObject = adapter.json_schema(mode="serialization", by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "tidegate events"} | schema
