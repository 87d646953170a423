"""Claude over the Messages API, by Anthropic's official SDK: raw stream events, retries of our own."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from decimal import Decimal
from threading import Lock, Thread
from typing import TYPE_CHECKING, Literal, cast

from tidegate.core.clock import Clock, system_clock
from tidegate.core.errors import ProviderError
from tidegate.core.events import TokenUsage
from tidegate.core.providers.anthropic_messages import (
    AnswerReader,
    message_params,
    system_blocks,
    tool_params,
)
from tidegate.core.providers.base import (
    Block,
    Message,
    ModelRequest,
    StepEnd,
    StreamPart,
    TextBlock,
    ThinkingBlock,
    ToolCall,
)
from tidegate.core.providers.thinking import fields_for

if TYPE_CHECKING:
    from anthropic import Anthropic, APIError, APIStatusError, Stream
    from anthropic.types import OutputConfigParam, RawMessageStreamEvent, ThinkingConfigParam

DEFAULT_MODEL = "claude-sonnet-5-5"
"""The newest Sonnet that `anthropic.types.ModelParam` of SDK 2.14 lists."""

DEFAULT_BASE_URL = "https://api.anthropic.com"

TRIES = 3
"""How often one step is asked for before its failure is told."""

_LONGEST_WAIT_S = 20.0
"""A service that asks for a longer pause than this is not waited for."""

_CONNECT_S = 10.0
_SILENCE_S = 120.0
"""The API sends pings while a model thinks, so a longer silence is a dead connection."""

_MAX_PAUSES = 3
"""How often an answer that the API paused is asked to go on."""

_RETRIED_TYPES = frozenset({"overloaded_error", "rate_limit_error", "api_error", "timeout_error"})
_SECRET = re.compile(r"sk-ant-[A-Za-z0-9_-]+|suiprivkey1[0-9a-z]+")


class AnthropicProvider:
    """Claude.

    Args:
        api_key: Key of the Anthropic API.
        model: Id of the model.
        base_url: Address of the API.
        clock: Dates the prices that `cost` looks up.
        sleep: Waits between tries, in seconds.
        silence_s: Longest silence of a stream, in seconds.
    """

    name = "anthropic"

    def __init__(
        self,
        api_key: str,
        model: str = DEFAULT_MODEL,
        base_url: str = DEFAULT_BASE_URL,
        *,
        clock: Clock | None = None,
        sleep: Callable[[float], None] = time.sleep,
        silence_s: float = _SILENCE_S,
    ) -> None:
        self.model: str | None = model
        self._model = model
        self._api_key = api_key
        self._base_url = base_url
        self._clock = clock or system_clock()
        self._sleep = sleep
        self._silence_s = silence_s
        self._lock = Lock()
        self._client: Anthropic | None = None
        self._thinking_from = 0
        """Messages before this one go without their thinking, because the API refused it."""

    def warm(self) -> None:
        """Import the SDK, make its client and read the price list on a daemon thread."""
        if self._client is None:
            Thread(target=self._warm_up, name="warm-anthropic", daemon=True).start()

    def _warm_up(self) -> None:
        # Whatever is wrong is found again, and told, by the first step.
        with contextlib.suppress(Exception):
            self._connect()
            # The price list is read while the model is being waited for, not after its first step.
            self.cost(TokenUsage())

    def _connect(self) -> Anthropic:
        with self._lock:
            if self._client is None:
                import anthropic

                self._client = anthropic.Anthropic(
                    api_key=self._api_key,
                    base_url=self._base_url,
                    max_retries=0,
                    timeout=anthropic.Timeout(self._silence_s, connect=_CONNECT_S),
                )
                # The SDK imports this part on first use.
                _ = self._client.messages
            return self._client

    def close(self) -> None:
        """Let go of the connections."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def cost(self, usage: TokenUsage) -> Decimal | None:
        """Return USD for the tokens of one step by the prices of the package genai-prices."""
        import genai_prices

        # This package counts cached tokens into the input, the API counts them apart.
        whole_input = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
        counted = genai_prices.Usage(
            input_tokens=whole_input,
            cache_read_tokens=usage.cache_read_tokens,
            cache_write_tokens=usage.cache_write_tokens,
            output_tokens=usage.output_tokens,
        )
        try:
            price = genai_prices.calc_price(
                counted, self._model, provider_id="anthropic", genai_request_timestamp=self._clock.now()
            )
        except LookupError:
            return None
        return price.total_price

    def stream(self, request: ModelRequest) -> Generator[StreamPart, None, None]:
        """Yield the answer as it comes; see `Provider.stream`."""
        content: list[Block] = []
        usage = TokenUsage()
        for _ in range(1 + _MAX_PAUSES):
            answer = yield from self._answer(request, len(content))
            content.extend(answer.blocks)
            usage = _sum(usage, answer.usage)
            if answer.stop_reason != "pause_turn" or not answer.blocks:
                break
            request = replace(
                request, messages=[*request.messages, Message("assistant", tuple(answer.blocks))]
            )
        yield StepEnd(_stop_reason(answer.stop_reason, content), tuple(content), usage)

    def _answer(self, request: ModelRequest, first_index: int) -> Generator[StreamPart, None, AnswerReader]:
        """Stream one answer, asking again while nothing of it has been passed on."""
        import anthropic
        import httpx2

        tries = 0
        while True:
            tries += 1
            opened = shown = False
            reader = AnswerReader(first_index)
            try:
                with self._open(request) as events:
                    opened = True
                    for event in events:
                        part = reader.feed(event)
                        if part is not None:
                            shown = True
                            yield part
                if reader.complete:
                    return reader
                raise ProviderError("The model's answer broke off before its end.", retryable=True)
            except anthropic.APIError as error:
                if self._can_forget_thinking(error, request):
                    self._thinking_from = _last_words(request.messages)
                    continue
                # Newer SDKs wrap what goes wrong while the stream is read; 2.14 let it through as it was.
                lost = opened and isinstance(error, anthropic.APIConnectionError)
                failure = _broke_off(error.__cause__ or error) if lost else self._describe(error, shown)
                pause = _pause(error, tries)
            except (httpx2.HTTPError, ValueError) as error:
                failure, pause = _broke_off(error), _backoff(tries)
            except ProviderError as error:
                failure, pause = error, _backoff(tries)
            if shown or not failure.retryable or tries >= TRIES or pause > _LONGEST_WAIT_S:
                raise failure from None
            self._sleep(pause)

    def _open(self, request: ModelRequest) -> Stream[RawMessageStreamEvent]:
        import anthropic

        client = self._connect()
        fields = fields_for(self._model, request.max_tokens, request.thinking_tokens)
        thinking = cast("ThinkingConfigParam", fields.thinking)
        effort = cast("OutputConfigParam", {"effort": fields.effort})
        return client.messages.create(
            model=self._model,
            max_tokens=fields.max_tokens,
            system=system_blocks(request) or anthropic.omit,
            tools=tool_params(request.tools) or anthropic.omit,
            messages=message_params(request.messages, thinking_from=self._thinking_from),
            thinking=anthropic.omit if fields.thinking is None else thinking,
            output_config=anthropic.omit if fields.effort is None else effort,
            stream=True,
        )

    def _can_forget_thinking(self, error: APIError, request: ModelRequest) -> bool:
        """Tell whether the API refused the thinking of earlier turns, which can be left out.

        It takes a thinking block back only behind the very system prompt, tools and messages it was made
        behind. A session that goes on under another preset or version does not have those any more.
        """
        from anthropic import BadRequestError

        if not isinstance(error, BadRequestError) or "thinking" not in _said(error):
            return False
        until = _last_words(request.messages)
        return any(
            isinstance(block, ThinkingBlock)
            for message in request.messages[self._thinking_from : until]
            for block in message.blocks
        )

    def _describe(self, error: APIError, shown: bool) -> ProviderError:
        """Return an SDK error as ours, without secrets."""
        from anthropic import APIConnectionError, APIStatusError

        if isinstance(error, APIConnectionError):
            return ProviderError(
                f"The Anthropic API at {self._base_url} could not be reached.",
                hint="Check the network, or use --provider offline.",
                retryable=True,
            )
        if not isinstance(error, APIStatusError):
            return ProviderError("The Anthropic API sent what cannot be read.", retryable=True)
        if shown:
            return ProviderError(
                f"The model's answer broke off: {self._redacted(error)}",
                hint="Ask again; nothing that had not begun was done.",
                retryable=True,
            )
        return self._describe_status(error)

    def _describe_status(self, error: APIStatusError) -> ProviderError:
        status = error.status_code
        if status in (401, 403):
            return ProviderError(
                f"The Anthropic API refused the key (HTTP {status}).",
                hint="Check ANTHROPIC_API_KEY, or use --provider offline.",
            )
        if _is_passing(error):
            wait = _retry_after(error)
            hint = "Try again later" if wait is None else f"Try again in {wait:.0f} seconds"
            return ProviderError(
                f"The Anthropic API is busy or failing: {self._redacted(error)}",
                hint=f"{hint}, or use --provider offline.",
                retryable=True,
            )
        unknown_model = status == 404 and self._model in _said(error)
        return ProviderError(
            f"The Anthropic API refused the request: {self._redacted(error)}",
            hint=f"Is {self._model} a model of yours? Choose another with --model."
            if unknown_model
            else None,
        )

    def _redacted(self, error: APIStatusError) -> str:
        said = (error.api_message or "no reason given").replace(self._api_key, "…")
        said = " ".join(_SECRET.sub("…", said).split())
        status = "" if error.status_code == 200 else f" (HTTP {error.status_code})"
        return (said if len(said) <= 300 else said[:300] + "…") + status


def _stop_reason(
    said: str | None, content: list[Block]
) -> Literal["end_turn", "tool_use", "max_tokens", "refused"]:
    match said:
        case "refusal":
            return "refused"
        case "max_tokens" | "model_context_window_exceeded" | "pause_turn":
            return "max_tokens"
        case "tool_use":
            return "tool_use"
    # A reason that is new to us is read by what the answer holds.
    return "tool_use" if any(isinstance(block, ToolCall) for block in content) else "end_turn"


def _sum(left: TokenUsage, right: TokenUsage) -> TokenUsage:
    return TokenUsage(
        input_tokens=left.input_tokens + right.input_tokens,
        output_tokens=left.output_tokens + right.output_tokens,
        cache_read_tokens=left.cache_read_tokens + right.cache_read_tokens,
        cache_write_tokens=left.cache_write_tokens + right.cache_write_tokens,
    )


def _last_words(messages: Sequence[Message]) -> int:
    """Return the index of the message in which the person spoke last."""
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].role == "user" and any(isinstance(b, TextBlock) for b in messages[index].blocks):
            return index
    return 0


def _said(error: APIStatusError) -> str:
    return error.api_message or ""


def _is_passing(error: APIStatusError) -> bool:
    """Tell whether the same request may go well later."""
    if error.response.headers.get("x-should-retry") == "false":
        return False
    status = error.status_code
    return status in (408, 429) or status >= 500 or (status == 200 and error.type in _RETRIED_TYPES)


def _broke_off(cause: BaseException) -> ProviderError:
    return ProviderError(
        f"The model's answer broke off ({type(cause).__name__}).",
        hint="Ask again; nothing that had not begun was done.",
        retryable=True,
    )


def _pause(error: APIError, tries: int) -> float:
    from anthropic import APIStatusError

    asked = _retry_after(error) if isinstance(error, APIStatusError) else None
    return _backoff(tries) if asked is None else asked


def _retry_after(error: APIStatusError) -> float | None:
    """Return the seconds the service asks us to wait, None if it names none."""
    headers = error.response.headers
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "")
        if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", value):
            return float(value) * unit
    return None


def _backoff(tries: int) -> float:
    """Return seconds: 0.5, 1, 2."""
    return 0.5 * 2.0 ** (tries - 1)
