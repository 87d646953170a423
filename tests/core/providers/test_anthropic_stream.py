from __future__ import annotations

import threading
from decimal import Decimal

import pytest
from messages_server import (
    block_redacted,
    block_text,
    block_thinking,
    block_tool,
    reply_blocks,
    reply_many,
    reply_text,
    reply_tools,
    slow_text,
    slowed,
)
from provider_requests import asked, end_of, said

from tidegate.core.events import TokenUsage
from tidegate.core.providers.base import (
    StepEnd,
    TextBlock,
    TextPart,
    ThinkingBlock,
    ThinkingEnd,
    ThinkingPart,
    ToolCall,
)


def test_text_comes_as_it_is_written(messages_server, provider):
    messages_server.script(reply_text("five SUI", deltas=2))

    parts = list(provider.stream(asked()))

    assert parts[:-1] == [TextPart("five"), TextPart(" SUI")]


def test_the_last_part_holds_the_whole_message(messages_server, provider):
    messages_server.script(reply_text("five SUI", deltas=2))

    end = end_of(list(provider.stream(asked())))

    assert end == StepEnd(
        "end_turn", (TextBlock("five SUI"),), TokenUsage(input_tokens=100, output_tokens=20)
    )


def test_thinking_comes_with_its_block_and_its_signature(messages_server, provider):
    messages_server.script(reply_blocks(block_thinking("hm", "m", signature="abc="), block_text("yes")))

    parts = list(provider.stream(asked()))

    assert parts[:4] == [
        ThinkingPart("hm", 0),
        ThinkingPart("m", 0),
        ThinkingEnd(0, "abc="),
        TextPart("yes"),
    ]


def test_thinking_is_kept_with_its_signature(messages_server, provider):
    messages_server.script(
        reply_blocks(block_thinking("hm", signature="abc="), block_redacted("opaque"), block_text("yes"))
    )

    end = end_of(list(provider.stream(asked())))

    assert end.content == (
        ThinkingBlock("hm", "abc="),
        ThinkingBlock("opaque", "", redacted=True),
        TextBlock("yes"),
    )


def test_a_tool_call_split_over_many_deltas_is_put_together(messages_server, provider):
    messages_server.script(
        reply_blocks(block_tool("save_deposit", {"amount": "10", "asset": "USDC"}, "toolu_1", size=1))
    )

    parts = list(provider.stream(asked()))

    assert parts[0] == ToolCall("toolu_1", "save_deposit", {"amount": "10", "asset": "USDC"})


def test_a_tool_call_comes_before_the_model_has_finished(messages_server, provider):
    messages_server.script(
        slowed(reply_blocks(block_tool("balance_check", "", "toolu_1"), block_text("one", "two")), 30)
    )
    stream = provider.stream(asked())

    first = next(stream)
    stream.close()

    assert first == ToolCall("toolu_1", "balance_check", {})


def test_a_number_keeps_every_digit_the_model_wrote(messages_server, provider):
    messages_server.script(reply_tools([("save_deposit", '{"amount": 0.1000000000000000000000001}')]))

    call = next(provider.stream(asked()))

    assert call.input == {"amount": Decimal("0.1000000000000000000000001")}


@pytest.mark.parametrize(
    "text",
    [
        '{"amount": ',
        '{"amount": NaN}',
        '["10"]',
        '"10"',
        "null",
        '{"amount": 1, "amount": 1000}',
        '{"a":' * 50_000,
        '{"amount": ' + "9" * 5_000 + "}",
    ],
    ids=["cut off", "not a number", "list", "text", "null", "said twice", "too deep", "too many digits"],
)
def test_an_input_that_is_no_plain_object_is_told_as_invalid(messages_server, provider, text):
    messages_server.script(reply_blocks(block_tool("save_deposit", text, "toolu_1", size=4000)))

    call = next(provider.stream(asked()))

    assert (call.input, bool(call.invalid)) == ({}, True)


def test_an_input_that_comes_whole_with_the_blocks_start_is_taken(messages_server, provider):
    block = block_tool("save_deposit", "", "toolu_1")
    block[0]["content_block"]["input"] = {"amount": "10"}
    messages_server.script(reply_blocks(block))

    call = next(provider.stream(asked()))

    assert call.input == {"amount": "10"}


@pytest.mark.parametrize(
    ("said_by_api", "ours"),
    [
        ("end_turn", "end_turn"),
        ("stop_sequence", "end_turn"),
        ("max_tokens", "max_tokens"),
        ("model_context_window_exceeded", "max_tokens"),
        ("refusal", "refused"),
        ("something_new", "end_turn"),
    ],
)
def test_a_reason_to_stop_is_one_of_ours(messages_server, provider, said_by_api, ours):
    messages_server.script(reply_text("so", stop_reason=said_by_api))

    assert end_of(list(provider.stream(asked()))).stop_reason == ours


def test_calling_tools_is_a_reason_to_stop(messages_server, provider):
    messages_server.script(reply_tools([("balance_check", {}), ("savings_info", {})], text="Let me look."))

    end = end_of(list(provider.stream(asked())))

    assert (end.stop_reason, len(end.content)) == ("tool_use", 3)


def test_tokens_are_counted_with_what_the_cache_took_and_gave(messages_server, provider):
    usage = {"input_tokens": 7, "cache_creation_input_tokens": 300, "cache_read_input_tokens": 2000}
    messages_server.script(reply_blocks(block_text("so"), usage=usage | {"output_tokens": 9}))

    end = end_of(list(provider.stream(asked())))

    assert end.usage == TokenUsage(
        input_tokens=7, output_tokens=9, cache_read_tokens=2000, cache_write_tokens=300
    )


def test_a_paused_answer_is_asked_to_go_on(messages_server, provider):
    messages_server.script(
        reply_text("First ", stop_reason="pause_turn"),
        reply_blocks(block_thinking("hm"), block_text("second")),
    )

    parts = list(provider.stream(asked(said("go"))))

    assert parts[:-1] == [
        TextPart("First "),
        ThinkingPart("hm", 1),
        ThinkingEnd(1, "sig"),
        TextPart("second"),
    ]
    assert messages_server.bodies[1]["messages"][-1] == {
        "role": "assistant",
        "content": [{"type": "text", "text": "First "}],
    }
    assert end_of(parts).usage.output_tokens == 40


def test_closing_the_stream_hangs_up(messages_server, provider):
    messages_server.script(slow_text("tick ", count=100, pause_s=30))
    stream = provider.stream(asked())
    next(stream)

    stream.close()

    assert messages_server.hung_up.wait(5)


def test_ten_thousand_deltas_arrive_in_order(messages_server, provider):
    messages_server.script(reply_many(10_000, "ab"))

    parts = list(provider.stream(asked()))

    assert end_of(parts).content == (TextBlock("ab" * 10_000),)
    assert len(parts) == 10_001


def test_one_provider_serves_many_turns_over_one_client(messages_server, provider):
    messages_server.script(reply_text("one"), reply_text("two"))
    list(provider.stream(asked()))

    parts = list(provider.stream(asked()))

    assert parts[0] == TextPart("two")


def test_warming_up_never_raises_and_asks_nothing(messages_server, provider):
    provider.warm()
    for thread in threading.enumerate():
        if thread.name == "warm-anthropic":
            thread.join(20)

    assert messages_server.requests == []


@pytest.mark.parametrize(
    ("usage", "dollars"),
    [
        (TokenUsage(input_tokens=1_000_000), "2"),
        (TokenUsage(output_tokens=1_000_000), "10"),
        (TokenUsage(cache_read_tokens=1_000_000), "0.1"),
        (TokenUsage(cache_write_tokens=1_000_000), "2.5"),
        (TokenUsage(input_tokens=3, output_tokens=2, cache_read_tokens=10), "0.000027"),
    ],
)
def test_a_step_costs_what_the_price_list_says_exactly(provider, usage, dollars):
    assert provider.cost(usage) == Decimal(dollars)


def test_an_unknown_model_has_no_known_cost(make_provider):
    assert make_provider("my-own-model").cost(TokenUsage(input_tokens=5)) is None
