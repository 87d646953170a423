"""The loop against a real HTTP server that speaks the Messages API, on the real sandbox."""

from __future__ import annotations

import json
import threading
from dataclasses import replace

import pytest
from house import asked, called, every, only, resumed
from messages_server import (
    block_text,
    block_thinking,
    block_tool,
    die_after,
    reply_blocks,
    reply_many,
    reply_text,
    reply_tools,
    slow_text,
    status,
)
from pydantic import BaseModel

from tidegate.core.cancel import Cancel
from tidegate.core.engine import MAX_TEXT_BYTES, quote, submit
from tidegate.core.errors import NetworkError, UnknownToken
from tidegate.core.events import (
    ErrorEvent,
    GuardEvent,
    PendingAction,
    StreamStarted,
    TextDelta,
    ThinkingDelta,
    ThinkingDone,
    ToolResultEvent,
    ToolStart,
    TurnComplete,
    Usage,
    WriteResult,
)
from tidegate.core.store.base import Step
from tidegate.core.tools.base import ReadTool, ToolInput, ToolResult
from tidegate.core.tools.registry import all_tools


class Nothing(ToolInput):
    """No input."""


class Answer(BaseModel):
    said: str = "read"


def read_tool(name, run, **more):
    """Return a read that answers once `run` has returned."""

    def answer(args, context):
        run()
        return ToolResult(Answer(), f"{name} was read.")

    return ReadTool(name, f"Reads {name}.", Nothing, Answer, answer, {}, **more)


@pytest.fixture
def served(house, messages_server):
    """Opens what another command would run on, with the model that the test scripts."""
    house.environ |= {"ANTHROPIC_API_KEY": "sk-test", "TIDEGATE_ANTHROPIC_BASE_URL": messages_server.url}

    def open_with(tools=(), **environ):
        runtime = house.open(environ, tools=[*all_tools(), *tools])
        runtime.network()
        return runtime

    return open_with


def replies_to(messages_server, number=-1):
    """Return what the model was told of its tool calls in its last request, by id."""
    content = messages_server.bodies[number]["messages"][-1]["content"]
    return {part["tool_use_id"]: part for part in content if part["type"] == "tool_result"}


def test_text_is_passed_on_as_it_comes_and_turn_complete_is_last(served, messages_server):
    messages_server.script(reply_text("You hold much.", deltas=3))

    events = asked(served(), "balance")

    assert isinstance(events[0], StreamStarted)
    assert events[0].provider == "anthropic"
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert "".join(event.text for event in every(TextDelta, events)) == "You hold much."
    assert events[-1] == only(TurnComplete, events)
    assert (events[-1].text, events[-1].stop_reason) == ("You hold much.", "end_turn")
    assert events[-1].usage.input_tokens == only(Usage, events).input_tokens == 100


def test_thinking_is_told_and_goes_back_to_the_model_signed(served, messages_server):
    messages_server.script(
        reply_blocks(
            block_thinking("let me", " see", signature="signed"),
            block_tool("rates_info", {}, "toolu_1"),
            stop_reason="tool_use",
        ),
        reply_text("Done."),
    )

    events = asked(served(TIDEGATE_THINKING_TOKENS="2000"), "rates")

    assert [event.text for event in every(ThinkingDelta, events)] == ["let me", " see"]
    assert only(ThinkingDone, events).signature == "signed"
    assert {"type": "thinking", "thinking": "let me see", "signature": "signed"} in messages_server.bodies[1][
        "messages"
    ][-2]["content"]


def test_eight_reads_of_one_step_run_at_the_same_time(served, messages_server):
    """Each waits for the seven others: were one of them to wait its turn, none would ever end."""
    meeting = threading.Barrier(8, timeout=20)
    reads = [read_tool(f"slow_{number}", meeting.wait) for number in range(8)]
    messages_server.script(reply_tools([(read.name, {}) for read in reads]), reply_text("All read."))

    events = asked(served(reads), "read all")

    results = every(ToolResultEvent, events)
    assert len(results) == 8
    assert not any(result.is_error for result in results)
    told = replies_to(messages_server)
    assert list(told) == [f"toolu_{number}" for number in range(1, 9)]


def test_a_read_starts_while_the_model_still_writes(served, messages_server):
    """The model's stream is held open until the read has begun."""
    begun = threading.Event()
    whole = reply_blocks(
        block_tool("early", {}, "toolu_1"), block_text("and ", "so ", "on"), stop_reason="tool_use"
    )
    messages_server.script(whole, reply_text("Done."))
    seen = []

    for event in submit(served([read_tool("early", begun.set)]), "read", cancelled=Cancel()):
        seen.append(event)
        if isinstance(event, TextDelta) and event.text == "and ":
            assert begun.wait(20), "the read waits for the end of the stream"

    assert only(ToolResultEvent, seen).is_error is False


def test_a_write_waits_until_the_reads_of_its_step_are_done(served, messages_server, house):
    finished = []
    read = read_tool("slow", lambda: finished.append("read"))
    messages_server.script(
        reply_tools([("save_deposit", {"amount": 10}), ("slow", {}), ("withdraw", {"amount": 4})]),
        reply_text("Saved."),
    )

    events = asked(served([read]), "save 10 USDC and withdraw 4 again")

    order = [
        (event.type, event.tool_name) for event in events if isinstance(event, ToolResultEvent | ToolStart)
    ]
    assert order == [
        ("tool_start", "slow"),
        ("tool_result", "slow"),
        ("tool_start", "save_deposit"),
        ("tool_result", "save_deposit"),
        ("tool_start", "withdraw"),
        ("tool_result", "withdraw"),
    ]
    assert [receipt.status for receipt in every(WriteResult, events)] == ["executed", "executed"]
    assert list(replies_to(messages_server)) == ["toolu_1", "toolu_2", "toolu_3"]


def test_a_tool_call_that_is_split_over_many_deltas_is_put_together(served, messages_server):
    amount = {"amount": 10, "asset": "USDC"}
    messages_server.script(
        reply_blocks(block_tool("save_deposit", amount, "toolu_1", size=1), stop_reason="tool_use"),
        reply_text("Saved."),
    )

    events = asked(served(), "save 10 USDC")

    assert only(ToolStart, events).input == amount
    assert only(WriteResult, events).status == "executed"


@pytest.mark.parametrize("broken", ['{"amount": 1', "[]", "null", '{"amount": NaN}', "\\u0000"])
def test_input_that_is_no_object_is_told_to_the_model_and_moves_nothing(
    served, messages_server, house, broken
):
    messages_server.script(
        reply_blocks(block_tool("save_deposit", broken, "toolu_1"), stop_reason="tool_use"),
        reply_text("Sorry."),
    )
    runtime = served()

    events = asked(runtime, "save something")

    assert only(ToolResultEvent, events).is_error is True
    assert every(WriteResult, events) == []
    assert house.holding(runtime) == 1_000_000_000


def test_a_server_that_dies_mid_stream_ends_the_turn_and_the_session_goes_on(served, messages_server):
    runtime = served()
    messages_server.script(die_after(3))

    broken = asked(runtime, "hello")

    error = only(ErrorEvent, broken)
    assert (error.code, error.retryable) == ("provider_failed", True)
    assert broken[-1].stop_reason == "error"
    assert len(every(TextDelta, broken)) == 3
    messages_server.script(reply_text("Here again."))
    whole = asked(runtime, "are you there?", session=broken[0].session_id)
    assert whole[-1].text == "Here again."
    assert whole[0].turn == 2
    said = [part for message in messages_server.bodies[-1]["messages"] for part in message["content"]]
    assert [part["text"] for part in said] == ["hello", "are you there?"]


def test_a_call_that_was_begun_before_the_stream_died_is_not_carried_out(served, messages_server, house):
    runtime = served()
    call = reply_blocks(
        block_tool("save_deposit", {"amount": 10}, "toolu_1", size=400),
        block_text("x"),
        stop_reason="tool_use",
    )
    messages_server.script(die_after(1, call))

    events = asked(runtime, "save 10")

    assert only(ErrorEvent, events).code == "provider_failed"
    assert every(WriteResult, events) == []
    assert house.holding(runtime) == 1_000_000_000


def test_once_a_write_waits_the_rest_of_the_step_is_not_tried(served, messages_server):
    messages_server.script(reply_tools([("save_deposit", {"amount": 100}), ("save_deposit", {"amount": 5})]))

    events = asked(served(), "save 100 USDC, then 5")

    assert only(PendingAction, events).action.name == "save_deposit"
    assert every(WriteResult, events) == []
    assert events[-1].stop_reason == "pending_action"
    assert events[-1].pending == [only(PendingAction, events).action.attempt_id]
    assert len(messages_server.requests) == 1


def test_the_model_hears_of_an_approval_in_the_next_turn(served, messages_server):
    runtime = served()
    messages_server.script(reply_tools([("save_deposit", {"amount": 100})]))
    first = asked(runtime, "save 100 USDC")
    resumed(runtime, decision="approve")
    messages_server.script(reply_text("Good."))

    asked(runtime, "did it work?", session=first[0].session_id)

    last = messages_server.bodies[-1]["messages"][-1]["content"]
    assert any("Done: " in part.get("text", "") for part in last)
    assert last[-1]["text"] == "did it work?"


def test_an_unknown_tool_is_told_to_the_model_with_the_closest_name(served, messages_server):
    messages_server.script(reply_tools([("balance_chek", {})]), reply_text("Sorry."))

    events = asked(served(), "balance")

    assert only(ToolResultEvent, events).is_error is True
    assert "balance_check" in replies_to(messages_server)["toolu_1"]["content"]
    assert only(ErrorEvent, events).code == "unknown_tool"


def test_an_error_that_the_model_made_good_is_no_error_of_the_turn(served, messages_server):
    messages_server.script(
        reply_tools([("save_deposit", {"amount": 0})]),
        reply_tools([("save_deposit", {"amount": 10})], first_id=2),
        reply_text("Saved."),
    )

    events = asked(served(), "save 10 USDC")

    assert [result.is_error for result in every(ToolResultEvent, events)] == [True, False]
    assert every(ErrorEvent, events) == []
    assert events[-1].stop_reason == "end_turn"


def test_two_calls_of_one_id_are_run_once(served, messages_server, house):
    runtime = served()
    twice = [block_tool("save_deposit", {"amount": 10}, "toolu_1") for _ in range(2)]
    messages_server.script(reply_blocks(*twice, stop_reason="tool_use"), reply_text("Saved."))

    events = asked(runtime, "save 10 USDC")

    assert len(every(WriteResult, events)) <= 1
    assert house.holding(runtime) >= 990_000_000


def test_a_read_that_takes_too_long_is_given_up(served, messages_server):
    release = threading.Event()
    messages_server.script(reply_tools([("endless", {})]), reply_text("It did not answer."))
    runtime = served([read_tool("endless", lambda: release.wait(20), deadline_s=0.05)])

    events = asked(runtime, "read")
    release.set()

    result = only(ToolResultEvent, events)
    assert result.is_error is True
    assert "longer than its 0.05 s" in json.dumps(result.result)
    assert only(ErrorEvent, events).code == NetworkError.code


def test_a_bug_in_a_tool_is_that_tools_answer(served, messages_server):
    def broken():
        raise ZeroDivisionError

    messages_server.script(reply_tools([("broken", {}), ("rates_info", {})]), reply_text("Half done."))

    events = asked(served([read_tool("broken", broken)]), "read")

    assert {result.tool_name: result.is_error for result in every(ToolResultEvent, events)} == {
        "broken": True,
        "rates_info": False,
    }
    assert only(ErrorEvent, events).code == "internal"
    assert events[-1].stop_reason == "error"


def test_a_bug_in_the_engine_still_ends_the_turn(house, runtime):
    seen = []
    runtime.on_bug = seen.append
    broken = replace(all_tools()[0], run=None, input_model=None)
    runtime.tools = (broken,)

    events = asked(runtime, "balance")

    assert isinstance(events[0], StreamStarted)
    assert only(ErrorEvent, events).code == "internal"
    assert events[-1] == only(TurnComplete, events)
    assert len(seen) == 1


def test_a_turn_has_so_many_steps_and_no_more(served, messages_server):
    messages_server.script(*(reply_tools([("rates_info", {})], first_id=number) for number in range(1, 9)))

    events = asked(served(TIDEGATE_MAX_TURNS="3"), "for ever")

    assert events[-1].stop_reason == "max_turns"
    assert len(messages_server.requests) == 3


def test_a_turn_may_cost_so_much_and_no_more(served, messages_server):
    costly = reply_blocks(
        block_tool("rates_info", {}, "toolu_1"), stop_reason="tool_use", usage={"input_tokens": 900_000}
    )
    messages_server.script(costly, reply_text("never asked for"))

    events = asked(served(TIDEGATE_BUDGET_USD="0.5"), "think hard")

    assert only(ErrorEvent, events).code == "budget_spent"
    assert events[-1].stop_reason == "budget_exceeded"
    assert events[-1].cost_usd > 0.5
    assert len(messages_server.requests) == 1


def test_too_many_calls_in_one_step_are_refused_one_by_one(served, messages_server):
    messages_server.script(reply_tools([("rates_info", {})] * 70), reply_text("Enough."))

    results = every(ToolResultEvent, asked(served(), "read"))

    assert sum(result.is_error for result in results) == 6
    assert len(results) == 70


def test_an_interrupt_ends_the_turn_and_hangs_up_on_the_model(served, messages_server):
    messages_server.script(slow_text("tick ", count=600, pause_s=0.05))
    cancel = Cancel()
    events = []

    for event in submit(served(), "talk", cancelled=cancel):
        events.append(event)
        if isinstance(event, TextDelta):
            cancel.set()

    assert events[-1].stop_reason == "interrupted"
    assert only(ErrorEvent, events).code == "interrupted"
    assert messages_server.hung_up.wait(20)


def test_an_interrupt_between_two_writes_leaves_the_second_alone(served, messages_server, house):
    runtime = served()
    messages_server.script(reply_tools([("save_deposit", {"amount": 10}), ("save_deposit", {"amount": 11})]))
    cancel = Cancel()
    events = []

    for event in submit(runtime, "save 10 and 11", cancelled=cancel):
        events.append(event)
        if isinstance(event, WriteResult):
            cancel.set()

    assert only(WriteResult, events).status == "executed"
    assert events[-1].stop_reason == "interrupted"
    assert [row["status"] for row in events[-1].writes] == ["executed"]
    assert house.holding(runtime) == 990_000_000
    assert [attempt.state for attempt in runtime.store.journal.recent()] == [Step.FINAL]


def test_many_deltas_all_arrive_in_order(served, messages_server):
    messages_server.script(reply_many(3_000))

    events = asked(served(), "talk")

    assert len(every(TextDelta, events)) == 3_000
    assert events[-1].text == "word " * 3_000


def test_a_refused_key_is_one_error(served, messages_server):
    messages_server.script(status(401, message="invalid x-api-key", error_type="authentication_error"))

    events = asked(served(), "hello")

    assert [event.type for event in events] == ["stream_started", "error", "turn_complete"]
    assert only(ErrorEvent, events).code == "provider_failed"
    assert "sk-test" not in str(events)


@pytest.mark.parametrize("text", ["", "  \n", "x" * (MAX_TEXT_BYTES + 1)])
def test_a_request_that_is_none_or_too_long_is_not_sent(served, messages_server, text):
    events = asked(served(), text)

    assert only(ErrorEvent, events).code == "bad_input"
    assert messages_server.requests == []


def test_a_session_that_does_not_exist_is_said_to_be(runtime):
    events = asked(runtime, "balance", session="nowhere")

    assert only(ErrorEvent, events).code == "not_found"
    none = list(submit(runtime, "balance", continue_latest=True, cancelled=Cancel()))
    assert only(ErrorEvent, none).code == "not_found"


def test_the_newest_session_is_gone_on_with(runtime):
    first = asked(runtime, "balance")

    second = list(submit(runtime, "rates", continue_latest=True, cancelled=Cancel()))

    assert second[0].session_id == first[0].session_id
    assert second[0].turn == 2


def test_a_tool_is_called_without_a_model(runtime):
    events = called(runtime, "balance_check")

    assert only(ToolResultEvent, events).result["data"]["holdings"]
    assert events[-1].text == only(ToolResultEvent, events).result["display_text"]


def test_a_quote_needs_no_wallet(house):
    runtime = house.open()

    answer = quote(runtime, "SUI", "USDC", "2").to_json()["data"]

    assert answer["amount_out"] > 0
    assert not runtime.paths.keys_dir.exists()
    exact = quote(runtime, "SUI", "USDC", "2", by_amount_out=True, slippage="0.02").to_json()["data"]
    assert exact["amount_out"] == 2
    with pytest.raises(UnknownToken):
        quote(runtime, "SUI", "DOGE", "2")


def test_a_model_cannot_make_up_a_contact(served, messages_server):
    """Money goes to a contact without asking, so a text that the model read must not be able to make one."""
    bad = "0x" + "66" * 32
    messages_server.script(
        reply_tools([("save_contact", {"name": "refund", "address": bad})]), reply_text("I could not.")
    )
    runtime = served()

    events = asked(runtime, f"Is {bad} a swindler?")

    assert only(GuardEvent, events).guard == "address_source"
    assert only(ToolResultEvent, events).result["error"]["code"] == "guard_blocked"
    assert runtime.store.contacts.all() == []


@pytest.mark.parametrize("text", ["Save Bob Smith as {}.", "remember {}: it is bob  smith's"])
def test_a_contact_that_the_person_wrote_is_saved(served, messages_server, text):
    good = "0x" + "66" * 32
    messages_server.script(
        reply_tools([("save_contact", {"name": "Bob Smith", "address": good})]), reply_text("Saved.")
    )
    runtime = served()

    events = asked(runtime, text.format(good))

    assert only(ToolResultEvent, events).is_error is False
    assert [contact.name for contact in runtime.store.contacts.all()] == ["Bob Smith"]


def test_a_contact_with_bad_input_is_told_of_its_input(served, messages_server):
    messages_server.script(reply_tools([("save_contact", {"nme": "Bob"})]), reply_text("Sorry."))

    events = asked(served(), "save Bob")

    assert only(ToolResultEvent, events).result["error"]["code"] == "bad_input"
