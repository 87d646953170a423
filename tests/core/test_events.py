from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from tidegate.core.clock import Clock, iso_ms
from tidegate.core.events import (
    BalanceChange,
    Canvas,
    ErrorEvent,
    Event,
    GasReport,
    GuardEvent,
    GuardNote,
    PendingAction,
    PendingActionBody,
    PendingInput,
    Preview,
    Stream,
    StreamStarted,
    TextDelta,
    ThinkingDelta,
    ThinkingDone,
    TodoUpdate,
    TokenUsage,
    ToolProgress,
    ToolResultEvent,
    ToolStart,
    TurnComplete,
    UnsignedTransaction,
    Usage,
    WriteResult,
    describe,
    json_schema,
    to_json,
    to_line,
)
from tidegate.core.jsonlines import dumps

CHANGE = BalanceChange(
    symbol="USDC",
    coin_type="0x1::usdc::USDC",
    amount=Decimal("-0.000001"),
    amount_raw="-1",
    usd=Decimal("-1E-6"),
)
GAS = GasReport(sui=Decimal("0.001"), mist="1000000", usd=Decimal("0.003"))
PENDING = PendingActionBody(
    attempt_id="a",
    approval_id="a",
    tool_use_id="t",
    turn_index=1,
    name="send_transfer",
    input={"to": "0x2", "amount": Decimal("0.1")},
    description="Send 0.1 USDC to 0x2",
    tier="confirm",
    reason="Because.",
    usd=Decimal("0.1"),
    modifiable_fields=["amount", "to"],
    steps=[],
    guard_injections=[GuardNote(guard="slippage", tier="financial", verdict="warn", message="Mind it.")],
    preview=Preview(
        balance_changes=[CHANGE],
        gas=GAS,
        gas_usd=None,
        min_received=[CHANGE],
        route=[{"dex": "cetus"}],
        health_factor_after=Decimal("1.9"),
    ),
    can_regenerate=False,
    expires_at="2026-12-01T00:00:00.000Z",
    tx=UnsignedTransaction(bytes="AA==", digest="d"),
)

EVENTS: list[Event] = [
    StreamStarted(
        stream_id="s",
        network="sandbox",
        provider="offline",
        model=None,
        preset=None,
        address=None,
        version="0.1.0",
    ),
    TextDelta(text="Hello"),
    ThinkingDelta(text="Hm", block_index=0),
    ThinkingDone(block_index=0),
    ThinkingDone(block_index=0, signature="s", summary_mode=True, evaluation_items=[{"a": 1}]),
    ToolStart(tool_name="balance_check", tool_use_id="t", input={}, read_only=True),
    ToolProgress(tool_use_id="t", tool_name="balance_check", message="…"),
    ToolProgress(tool_use_id="t", tool_name="balance_check", message="…", pct=Decimal("33.3")),
    ToolResultEvent(
        tool_name="balance_check",
        tool_use_id="t",
        result={"data": {"total": Decimal("1.50"), "list": [None, True, 1.5]}},
        is_error=False,
        duration_ms=3,
        cached=True,
        truncated=False,
    ),
    GuardEvent(guard="slippage", tier="financial", verdict="warn", message="Mind it.", tool_use_id="t"),
    TodoUpdate(items=[{"id": "1"}], tool_use_id="t"),
    PendingAction(action=PENDING),
    PendingAction(action=PENDING.model_copy(update={"usd": None, "quote_age_s": Decimal("1.5")})),
    PendingInput(input_id="i", schema={"type": "object"}),
    WriteResult(
        attempt_id="a",
        tool_name="send_transfer",
        status="executed",
        digest="d",
        usd=Decimal(5),
        balance_changes=[CHANGE],
        gas=GAS,
        auto=True,
    ),
    WriteResult(
        attempt_id="a",
        tool_name="send_transfer",
        status="denied",
        usd=None,
        balance_changes=[],
        gas=None,
        auto=False,
    ),
    Canvas(html="<svg/>", title="Balance"),
    Usage(input_tokens=1, output_tokens=2, cache_read_tokens=3, cache_write_tokens=4, cost_usd=None),
    ErrorEvent(code="bad_amount", message="No.", hint="Yes.", retryable=False),
    ErrorEvent(code="bad_amount", message="No.", retryable=False),
    TurnComplete(
        stop_reason="end_turn",
        text="Done.",
        usage=TokenUsage(input_tokens=5),
        cost_usd=Decimal("0.0000035"),
        writes=[{"attempt_id": "a", "usd": None}],
        pending=[],
        duration_ms=9,
    ),
]

any_text = st.text(st.characters(exclude_categories=()))


@pytest.fixture
def stream() -> Stream:
    clock = Clock(now_ms=lambda: 1_796_000_000_123, monotonic=lambda: 0.0)
    return Stream("session", clock)


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    schema = json_schema()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def read(line: str) -> dict[str, Any]:
    value = json.loads(line, parse_float=Decimal)
    assert isinstance(value, dict)
    return value


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.type)
def test_every_event_satisfies_the_published_schema(
    event: Event, stream: Stream, validator: Draft202012Validator
) -> None:
    line = to_line(stream.stamp(event))
    assert [error.message for error in validator.iter_errors(json.loads(line))] == []


def test_every_type_of_event_is_among_the_examples() -> None:
    assert {type(event) for event in EVENTS} == set(Event.__subclasses__())


@pytest.mark.parametrize(
    "spoil",
    [
        lambda line: line.pop("text"),
        lambda line: line.pop("seq"),
        lambda line: line.update(type="no_such_type"),
        lambda line: line.update(more=1),
        lambda line: line.update(v=2),
        lambda line: line.update(text=None),
    ],
)
def test_the_schema_refuses_what_is_no_event(
    spoil: Callable[[dict[str, Any]], object], stream: Stream, validator: Draft202012Validator
) -> None:
    line = json.loads(to_line(stream.stamp(TextDelta(text="Hello"))))
    spoil(line)
    assert not validator.is_valid(line)


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.type)
def test_every_line_begins_with_the_envelope(event: Event, stream: Stream) -> None:
    keys = list(read(to_line(stream.stamp(event))))
    assert keys[:6] == ["v", "seq", "ts", "session_id", "turn", "type"]


def test_optional_fields_are_left_out_when_nothing_is_known() -> None:
    line = read(to_line(ThinkingDone(block_index=0)))
    assert "signature" not in line
    assert "summary_mode" not in line


def test_fields_that_are_always_there_are_null_when_nothing_is_known() -> None:
    line = read(to_line(EVENTS[0]))
    assert (line["model"], line["preset"], line["address"]) == (None, None, None)


def test_null_inside_free_values_is_kept() -> None:
    event = ToolResultEvent(
        tool_name="t", tool_use_id="t", result={"health_factor": None}, is_error=False, duration_ms=0
    )
    assert read(to_line(event))["result"] == {"health_factor": None}


def test_an_alias_is_the_name_on_the_wire() -> None:
    assert read(to_line(PendingInput(input_id="i", schema={"type": "object"})))["schema"] == {
        "type": "object"
    }


@pytest.mark.parametrize("value", ["0.1", "1E3", "-1E-18", "18446744073709551615.000000001"])
def test_amounts_are_exact_numbers(value: str) -> None:
    change = CHANGE.model_copy(update={"amount": Decimal(value)})
    text = dumps(to_json(change))
    told = json.loads(text, parse_float=Decimal, parse_int=Decimal)["amount"]
    assert told == Decimal(value)
    assert "E" not in text.split('"amount":')[1].split(",")[0]


@pytest.mark.parametrize("value", ["NaN", "Infinity"])
def test_a_number_that_is_not_finite_is_never_written(value: str) -> None:
    spoilt = TurnComplete.model_construct(**dict(EVENTS[-1]) | {"cost_usd": Decimal(value)})
    with pytest.raises(ValueError, match="cannot be written as JSON"):
        to_line(spoilt)


def test_what_has_no_json_form_is_refused() -> None:
    with pytest.raises(TypeError, match="object has no JSON form"):
        to_line(ToolStart(tool_name="t", tool_use_id="t", input={"x": object()}, read_only=True))  # type: ignore[dict-item]


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(ValidationError):
        TextDelta(text="a", colour="red")  # type: ignore[call-arg]


@settings(derandomize=True, deadline=None)
@given(any_text, any_text, st.integers(0, 1000))
def test_the_quick_way_to_write_a_delta_is_the_general_way(text: str, session_id: str, turn: int) -> None:
    stream = Stream(session_id, Clock(now_ms=lambda: 1_796_000_000_123, monotonic=lambda: 0.0))
    stream.turn = turn
    event = stream.stamp(TextDelta(text=text))
    assert to_line(event) == dumps(to_json(event))


@settings(derandomize=True, deadline=None)
@given(any_text)
def test_a_delta_is_one_line_whatever_its_text(text: str) -> None:
    line = to_line(TextDelta(text=text))
    assert len(line.splitlines()) == 1
    assert json.loads(line)["text"] == text.encode("utf-8", "replace").decode()


def test_events_are_numbered_from_one_without_gaps(stream: Stream) -> None:
    assert [stream.stamp(TextDelta(text="a")).seq for _ in range(4)] == [1, 2, 3, 4]


def test_a_stream_names_its_session_and_turn(stream: Stream) -> None:
    stream.turn = 3
    event = stream.stamp(TextDelta(text="a"))
    assert (event.session_id, event.turn) == ("session", 3)


def test_every_event_carries_the_time_at_which_it_was_stamped() -> None:
    moments = [999, 1000, 1001, 61_000, 60_999, 0, 1_796_000_000_005]
    ticks = iter(moments)
    stream = Stream("session", Clock(now_ms=lambda: next(ticks), monotonic=lambda: 0.0))
    stamped = [stream.stamp(TextDelta(text="a")).ts for _ in moments]
    assert stamped == [iso_ms(moment) for moment in moments]


def test_every_event_is_described_by_one_sentence() -> None:
    told = describe()
    assert [row.type for row in told] == [
        model.model_fields["type"].default for model in Event.__subclasses__()
    ]
    assert all(row.summary.endswith(".") for row in told)
