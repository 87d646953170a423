from __future__ import annotations

import socket

import pytest
from messages_server import (
    Die,
    Raw,
    Reply,
    block_text,
    die_after,
    error_event,
    plain_page,
    reply_blocks,
    reply_text,
    slow_text,
    status,
)
from provider_requests import KEY, asked

from tidegate.core.errors import ProviderError
from tidegate.core.providers.anthropic import AnthropicProvider
from tidegate.core.providers.base import TextPart


def failure(provider):
    """Run one step to its error."""
    with pytest.raises(ProviderError) as caught:
        list(provider.stream(asked()))
    return caught.value


@pytest.mark.parametrize("code", [408, 429, 500, 502, 503, 504, 529])
def test_a_passing_trouble_is_tried_again(messages_server, provider, code):
    messages_server.script(status(code), reply_text("ok"))

    parts = list(provider.stream(asked()))

    assert parts[0] == TextPart("ok")


def test_tries_are_three_and_wait_longer_each_time(messages_server, provider, slept):
    messages_server.script(*[status(529, message="Overloaded")] * 5)

    error = failure(provider)

    assert (len(messages_server.requests), slept) == (3, [0.5, 1.0])
    assert (error.exit_status, error.retryable) == (5, True)


@pytest.mark.parametrize(("header", "value"), [("retry-after", "7"), ("retry-after-ms", "7000")])
def test_the_pause_a_service_asks_for_is_kept(messages_server, provider, slept, header, value):
    messages_server.script(status(429, {header: value}), reply_text("ok"))

    list(provider.stream(asked()))

    assert slept == [7.0]


def test_a_pause_too_long_to_wait_is_told_and_not_waited(messages_server, provider, slept):
    messages_server.script(status(429, {"retry-after": "3600"}))

    error = failure(provider)

    assert slept == []
    assert "3600 seconds" in str(error.hint)


@pytest.mark.parametrize("value", ["-5", "soon", "nan", "1e9", "Wed, 21 Oct 2026 07:28:00 GMT"])
def test_a_pause_that_is_no_number_is_ours(messages_server, provider, slept, value):
    messages_server.script(status(503, {"retry-after": value}), reply_text("ok"))

    list(provider.stream(asked()))

    assert slept == [0.5]


def test_a_service_that_says_not_to_try_again_is_heard(messages_server, provider, slept):
    messages_server.script(status(500, {"x-should-retry": "false"}))

    failure(provider)

    assert (len(messages_server.requests), slept) == (1, [])


@pytest.mark.parametrize("code", [401, 403])
def test_a_refused_key_is_said_so_and_never_shown(messages_server, provider, code):
    messages_server.script(status(code, message=f"invalid key {KEY}"))

    error = failure(provider)

    assert "refused the key" in error.message
    assert KEY not in f"{error.message} {error.hint}"
    assert len(messages_server.requests) == 1


@pytest.mark.parametrize("code", [400, 402, 404, 413, 422])
def test_a_refused_request_is_told_in_the_services_words(messages_server, provider, code):
    messages_server.script(status(code, message="max_tokens: too many"))

    error = failure(provider)

    assert error.message == f"The Anthropic API refused the request: max_tokens: too many (HTTP {code})"
    assert error.retryable is False


@pytest.mark.parametrize("secret", [KEY, "sk-ant-api03-other_key-9", "suiprivkey1qqqqsecret"])
def test_secrets_in_a_services_words_are_blotted_out(messages_server, provider, secret):
    messages_server.script(status(400, message=f"cannot read {secret} here"))

    error = failure(provider)

    assert error.message == "The Anthropic API refused the request: cannot read … here (HTTP 400)"


def test_a_long_message_is_cut(messages_server, provider):
    messages_server.script(status(400, message="x" * 100_000))

    assert len(failure(provider).message) < 400


def test_an_unknown_model_is_named_with_what_to_do(messages_server, make_provider):
    messages_server.script(status(404, message="model: claude-sonnet-9"))

    assert "--model" in str(failure(make_provider("claude-sonnet-9")).hint)


def test_a_stream_that_is_cut_is_told_and_not_tried_again(messages_server, provider, slept):
    messages_server.script(die_after(3), reply_text("again"))
    stream = provider.stream(asked())
    shown = [next(stream) for _ in range(3)]

    with pytest.raises(ProviderError, match="broke off"):
        next(stream)

    assert len(shown) == 3
    assert (len(messages_server.requests), slept) == (1, [])


def test_a_stream_that_just_stops_is_not_taken_for_whole(messages_server, provider):
    messages_server.script(die_after(3, reset=False))

    assert "broke off" in failure(provider).message


def test_a_stream_cut_before_it_said_anything_is_tried_again(messages_server, provider):
    messages_server.script(die_after(0), die_after(0, reset=False), reply_text("ok"))

    parts = list(provider.stream(asked()))

    assert parts[0] == TextPart("ok")


def test_an_error_in_the_stream_before_any_text_is_tried_again(messages_server, provider):
    messages_server.script(error_event(), reply_text("ok"))

    parts = list(provider.stream(asked()))

    assert parts[0] == TextPart("ok")


def test_an_error_in_the_stream_after_text_ends_it(messages_server, provider):
    messages_server.script(error_event(after=2, message="Overloaded"))

    error = failure(provider)

    assert error.message == "The model's answer broke off: Overloaded"
    assert len(messages_server.requests) == 1


def test_garbage_in_the_stream_ends_it(messages_server, provider):
    whole = reply_blocks(block_text("one"))
    broken = Raw(b"event: content_block_delta\ndata: {not json\n\n")
    messages_server.script(Reply((*whole.pieces[:4], broken)))

    assert "broke off" in failure(provider).message


def test_a_piece_of_a_block_that_never_began_ends_it(messages_server, provider):
    whole = reply_blocks(block_text("one"))
    messages_server.script(*[Reply((whole.pieces[0], whole.pieces[3], Die()))] * 3)

    assert "never began" in failure(provider).message


def test_a_page_that_is_no_stream_is_an_error(messages_server, provider):
    messages_server.script(*[plain_page()] * 3)

    assert "broke off" in failure(provider).message


def test_a_silent_service_is_not_waited_for_for_ever(messages_server, make_provider):
    messages_server.script(slow_text("tick ", count=2, pause_s=30))

    assert "broke off" in failure(make_provider(silence_s=0.2)).message


def test_a_service_that_is_not_there_is_named(slept):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    provider = AnthropicProvider(KEY, base_url=url, sleep=slept.append)

    error = failure(provider)
    provider.close()

    assert url in error.message
    assert slept == [0.5, 1.0]


def test_a_provider_does_not_show_its_key():
    assert KEY not in repr(AnthropicProvider(KEY))
