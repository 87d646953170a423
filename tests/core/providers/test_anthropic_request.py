from __future__ import annotations

import json
from decimal import Decimal

import pytest
from messages_server import reply_text, status
from provider_requests import asked, said, tool

from tidegate.core.providers.base import Message, TextBlock, ThinkingBlock, ToolCall, ToolReply

TURN = (
    said("save 10"),
    Message(
        "assistant",
        (
            ThinkingBlock("hm", "abc="),
            ThinkingBlock("opaque", "", redacted=True),
            TextBlock("One moment."),
            ToolCall("toolu_1", "save_deposit", {"amount": "10"}),
        ),
    ),
    Message("user", (ToolReply("toolu_1", '{"error":{}}', is_error=True), TextBlock("and now?"))),
)


def sent(messages_server, provider, request):
    """Send one request and return the body the API got."""
    messages_server.script(reply_text("ok"))
    list(provider.stream(request))
    return messages_server.bodies[-1]


def without_marks(value):
    if isinstance(value, dict):
        return {name: without_marks(item) for name, item in value.items() if name != "cache_control"}
    return [without_marks(item) for item in value] if isinstance(value, list) else value


def marks(value):
    """Count the cache marks in a body."""
    return json.dumps(value).count('"cache_control"')


def test_a_conversation_goes_out_block_by_block(messages_server, provider):
    body = sent(messages_server, provider, asked(*TURN))

    assert without_marks(body["messages"]) == [
        {"role": "user", "content": [{"type": "text", "text": "save 10"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "abc="},
                {"type": "redacted_thinking", "data": "opaque"},
                {"type": "text", "text": "One moment."},
                {"type": "tool_use", "id": "toolu_1", "name": "save_deposit", "input": {"amount": "10"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_1",
                    "content": '{"error":{}}',
                    "is_error": True,
                },
                {"type": "text", "text": "and now?"},
            ],
        },
    ]


def test_what_the_model_said_goes_back_as_it_came(messages_server, provider):
    first = Message("assistant", TURN[1].blocks)

    body = sent(messages_server, provider, asked(said("save 10"), first, TURN[2]))

    assert body["messages"][1]["content"][0] == {"type": "thinking", "thinking": "hm", "signature": "abc="}


def test_the_key_travels_in_the_header_and_nowhere_else(messages_server, provider):
    sent(messages_server, provider, asked())

    request = messages_server.requests[-1]
    assert b"sk-ant" not in request.raw
    assert "sk-ant-test-0123456789" in request.headers["authorization"] + request.headers.get("x-api-key", "")


def test_at_most_four_places_are_marked_for_the_cache(messages_server, provider):
    body = sent(messages_server, provider, asked(*TURN, TURN[1], TURN[2]))

    assert marks(body) == 4


def test_the_last_tool_the_last_fixed_layer_and_the_ends_of_two_messages_are_marked(
    messages_server, provider
):
    request = asked(*TURN, system=["base", "wallet", "memory of today"])

    body = sent(messages_server, provider, request)

    assert [marks(part) for part in body["tools"]] == [0, 1]
    assert [marks(part) for part in body["system"]] == [0, 1, 0]
    assert [marks(part) for part in body["messages"]] == [1, 0, 1]
    assert "cache_control" in body["messages"][2]["content"][-1]


def test_no_layer_is_marked_when_none_is_fixed(messages_server, provider):
    body = sent(messages_server, provider, asked(system=["today"], cacheable_layers=0))

    assert marks(body["system"]) == 0


def test_a_turn_repeats_the_one_before_it_byte_for_byte(messages_server, provider):
    before = sent(messages_server, provider, asked(TURN[0]))

    after = sent(messages_server, provider, asked(*TURN))

    for name in ("model", "system", "tools", "max_tokens", "thinking"):
        assert json.dumps(after[name]) == json.dumps(before[name])
    assert json.dumps(without_marks(after["messages"][:1])) == json.dumps(without_marks(before["messages"]))


def test_the_same_request_is_the_same_bytes(messages_server, provider):
    sent(messages_server, provider, asked(*TURN))
    sent(messages_server, provider, asked(*TURN))

    first, second = messages_server.requests

    assert first.raw == second.raw


def test_blank_text_and_thinking_without_a_signature_stay_at_home(messages_server, provider):
    half = Message("assistant", (ThinkingBlock("cut off", ""), TextBlock(" \n"), TextBlock("so")))

    body = sent(messages_server, provider, asked(said("a"), half, said("b")))

    assert body["messages"][1]["content"] == [{"type": "text", "text": "so"}]


def test_a_message_that_ends_in_thinking_is_cut_back(messages_server, provider):
    half = Message("assistant", (ThinkingBlock("hm", "abc="),))

    body = sent(messages_server, provider, asked(said("a"), half, said("b")))

    assert [message["role"] for message in body["messages"]] == ["user", "user"]


def test_exact_numbers_of_an_earlier_call_can_be_sent(messages_server, provider):
    call = ToolCall("toolu_1", "save_deposit", {"amount": Decimal("10.5"), "deep": [Decimal("1e999")]})

    body = sent(
        messages_server,
        provider,
        asked(said("a"), Message("assistant", (call,)), Message("user", (ToolReply("toolu_1", "{}"),))),
    )

    assert body["messages"][1]["content"][0]["input"] == {"amount": 10.5, "deep": ["1E+999"]}


def test_without_tools_and_system_neither_is_sent(messages_server, provider):
    body = sent(messages_server, provider, asked(system=[], tools=[]))

    assert "tools" not in body
    assert "system" not in body


def test_a_tool_is_sent_with_its_schema(messages_server, provider):
    body = sent(messages_server, provider, asked(tools=[tool("rates_info")]))

    assert without_marks(body["tools"]) == [
        {
            "name": "rates_info",
            "description": "Does rates_info.",
            "input_schema": {"type": "object", "properties": {}},
        }
    ]


BOUND = "messages.1.content.0: Invalid `signature` in `thinking` block. It is bound to another conversation."


def test_thinking_that_no_longer_fits_is_left_out_and_the_step_asked_again(messages_server, provider, slept):
    messages_server.script(status(400, message=BOUND), reply_text("ok"))
    later = (*TURN[:2], Message("user", (ToolReply("toolu_1", "{}"),)), said("again"))

    list(provider.stream(asked(*later)))

    kinds = [block["type"] for block in messages_server.bodies[1]["messages"][1]["content"]]
    assert kinds == ["text", "tool_use"]
    assert slept == []


def test_thinking_of_the_present_turn_is_never_left_out(messages_server, provider):
    messages_server.script(status(400, message=BOUND), reply_text("ok"))
    loop = Message("user", (ToolReply("toolu_1", "{}"),))
    later = (*TURN[:2], loop, said("again"), *TURN[1:2], loop)

    list(provider.stream(asked(*later)))

    kinds = [message["content"][0]["type"] for message in messages_server.bodies[1]["messages"]]
    assert kinds == ["text", "text", "tool_result", "text", "thinking", "tool_result"]


@pytest.mark.parametrize(
    ("model", "thinking_tokens", "thinking", "effort", "max_tokens"),
    [
        ("claude-sonnet-5-5", 0, {"type": "between_tools"}, None, 4096),
        ("claude-sonnet-5-5", 8_000, {"type": "adaptive", "display": "summarized"}, "medium", 12_096),
        ("claude-sonnet-5-5", 16_000, {"type": "adaptive", "display": "summarized"}, "high", 20_096),
        ("claude-sonnet-5-5", 32_000, {"type": "adaptive", "display": "summarized"}, "max", 36_096),
        ("claude-opus-5-5", 0, None, "low", 4096),
        ("claude-fable-5-1", 0, None, "low", 4096),
        ("claude-haiku-5-5", 0, {"type": "disabled"}, None, 4096),
        ("claude-sonnet-5", 0, {"type": "disabled"}, None, 4096),
        ("claude-opus-4-8", 0, None, None, 4096),
        ("claude-sonnet-4-6", 1_000, {"type": "adaptive", "display": "summarized"}, "low", 5_096),
        ("claude-haiku-4-5-20251001", 8_000, {"type": "enabled", "budget_tokens": 8_000}, None, 12_096),
        ("claude-haiku-4-5", 100, {"type": "enabled", "budget_tokens": 1_024}, None, 5_120),
        ("claude-haiku-4-5", 0, None, None, 4096),
        ("claude-3-7-sonnet-20250219", 2_000, {"type": "enabled", "budget_tokens": 2_000}, None, 6_096),
        ("claude-sonnet-4-20250514", 2_000, {"type": "enabled", "budget_tokens": 2_000}, None, 6_096),
        ("someones-model", 0, None, None, 4096),
    ],
)
def test_each_model_is_told_about_thinking_in_its_own_way(
    messages_server, make_provider, model, thinking_tokens, thinking, effort, max_tokens
):
    body = sent(messages_server, make_provider(model), asked(thinking_tokens=thinking_tokens))

    told = (body.get("thinking"), body.get("output_config", {}).get("effort"), body["max_tokens"])
    assert told == (thinking, effort, max_tokens)
