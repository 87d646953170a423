"""Our messages as the Messages API takes them, and one streamed answer put together again."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Literal, cast

from tidegate.core.errors import ProviderError
from tidegate.core.events import TokenUsage
from tidegate.core.jsonlines import Json
from tidegate.core.providers.base import (
    Block,
    Message,
    ModelRequest,
    StreamPart,
    TextBlock,
    TextPart,
    ThinkingBlock,
    ThinkingEnd,
    ThinkingPart,
    ToolCall,
    ToolReply,
    ToolSpec,
)

if TYPE_CHECKING:
    from anthropic.types import (
        MessageParam,
        RawContentBlockDelta,
        RawMessageStreamEvent,
        TextBlockParam,
        ToolParam,
        Usage,
    )
    from anthropic.types.message_delta_usage import MessageDeltaUsage
    from anthropic.types.raw_content_block_start_event import ContentBlock

_MARK = {"cache_control": {"type": "ephemeral"}}
"""Where the API may cut a prefix for its cache; four a request at most."""

_Param = dict[str, object]


def system_blocks(request: ModelRequest) -> list[TextBlockParam]:
    """Return the system prompt's layers, the last one that never changes marked for the cache."""
    layers = [(index, text) for index, text in enumerate(request.system) if text.strip()]
    fixed = [index for index, _ in layers if index < request.cacheable_layers]
    last = fixed[-1] if fixed else None
    blocks = [{"type": "text", "text": text} | (_MARK if index == last else {}) for index, text in layers]
    return cast("list[TextBlockParam]", blocks)


def tool_params(tools: Sequence[ToolSpec]) -> list[ToolParam]:
    """Return the tools, the last one marked for the cache."""
    params: list[_Param] = [
        {"name": tool.name, "description": tool.description, "input_schema": dict(tool.input_schema)}
        for tool in tools
    ]
    if params:
        params[-1] |= _MARK
    return cast("list[ToolParam]", params)


def message_params(messages: Sequence[Message], *, thinking_from: int = 0) -> list[MessageParam]:
    """Return the conversation, the ends of the last two user messages marked for the cache.

    Two marks because the API looks back only 20 blocks from a mark for what it has cached, and one step with
    many tool calls adds more.

    Args:
        messages: The conversation.
        thinking_from: Messages before this index go without their thinking.
    """
    params: list[_Param] = []
    for index, message in enumerate(messages):
        content = _content(message, with_thinking=index >= thinking_from)
        if content:
            params.append({"role": message.role, "content": content})
    marked = [param for param in params if param["role"] == "user"][-2:]
    for param in marked:
        cast("list[_Param]", param["content"])[-1] |= _MARK
    return cast("list[MessageParam]", params)


def _content(message: Message, *, with_thinking: bool) -> list[_Param]:
    blocks = [
        _block(block)
        for block in message.blocks
        if _is_sendable(block) and (with_thinking or not isinstance(block, ThinkingBlock))
    ]
    # A message may not end in thinking, as one cut off by its token limit does.
    while blocks and blocks[-1]["type"] in ("thinking", "redacted_thinking"):
        blocks.pop()
    return blocks


def _is_sendable(block: Block) -> bool:
    """Tell whether the API takes a block: no blank text, no thinking without its signature."""
    match block:
        case TextBlock(text):
            return bool(text.strip())
        case ThinkingBlock(text, signature, redacted):
            return bool(text if redacted else signature)
    return True


def _block(block: Block) -> _Param:
    match block:
        case TextBlock(text):
            return {"type": "text", "text": text}
        case ThinkingBlock(text, _, redacted=True):
            return {"type": "redacted_thinking", "data": text}
        case ThinkingBlock(text, signature):
            return {"type": "thinking", "thinking": text, "signature": signature}
        case ToolCall(call_id, name, arguments):
            return {"type": "tool_use", "id": call_id, "name": name, "input": _plain(arguments)}
        case ToolReply(call_id, content, is_error):
            reply: _Param = {"type": "tool_result", "tool_use_id": call_id, "content": content}
            return reply | {"is_error": True} if is_error else reply


def _plain(value: object) -> object:
    """Return JSON values that the SDK can write.

    The model's own past numbers become floats here, and only here: nothing is computed from them.
    """
    match value:
        case Decimal():
            number = float(value)
            return number if math.isfinite(number) else str(value)
        case Mapping():
            return {str(key): _plain(item) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case _:
            return value


@dataclass
class _Open:
    """A block that is still coming in."""

    kind: Literal["text", "thinking", "redacted", "tool", "other"]
    pieces: list[str] = field(default_factory=list)
    signature: str = ""
    call_id: str = ""
    name: str = ""
    whole_input: object = None
    """Input that came with the block's start, as some gateways send it."""


class AnswerReader:
    """Puts the raw events of one answer together.

    Args:
        first_index: Blocks of the same step that came in an earlier answer.
    """

    def __init__(self, first_index: int = 0) -> None:
        self.blocks: list[Block] = []
        self.usage = TokenUsage()
        self.stop_reason: str | None = None
        self.complete = False
        """Whether the API said that this was all."""
        self._first_index = first_index
        self._open: dict[int, _Open] = {}

    def feed(self, event: RawMessageStreamEvent) -> StreamPart | None:
        """Take one event; return what it adds for the reader of the stream, if anything."""
        if event.type == "content_block_delta":
            return self._delta(event.index, event.delta)
        if event.type == "content_block_start":
            return self._start(event.index, event.content_block)
        if event.type == "content_block_stop":
            return self._stop(event.index)
        if event.type == "message_start":
            self._count(event.message.usage)
        elif event.type == "message_delta":
            self.stop_reason = event.delta.stop_reason or self.stop_reason
            self._count(event.usage)
        elif event.type == "message_stop":
            self.complete = True
        return None

    def _start(self, index: int, block: ContentBlock) -> StreamPart | None:
        match block.type:
            case "text":
                self._open[index] = _Open("text", [block.text])
                return TextPart(block.text) if block.text else None
            case "thinking":
                self._open[index] = _Open("thinking", [block.thinking], signature=block.signature)
                if block.thinking:
                    return ThinkingPart(block.thinking, self._first_index + index)
            case "redacted_thinking":
                self._open[index] = _Open("redacted", [block.data])
            case "tool_use":
                self._open[index] = _Open(
                    "tool", call_id=block.id, name=block.name, whole_input=block.input or None
                )
            case _:
                # Only tools that run at the provider send other blocks, and none of those is asked for.
                self._open[index] = _Open("other")
        return None

    def _delta(self, index: int, delta: RawContentBlockDelta) -> StreamPart | None:
        opened = self._find(index)
        if delta.type == "text_delta":
            opened.pieces.append(delta.text)
            return TextPart(delta.text) if delta.text else None
        if delta.type == "input_json_delta":
            opened.pieces.append(delta.partial_json)
        elif delta.type == "thinking_delta":
            opened.pieces.append(delta.thinking)
            return ThinkingPart(delta.thinking, self._first_index + index) if delta.thinking else None
        elif delta.type == "signature_delta":
            opened.signature += delta.signature
        return None

    def _stop(self, index: int) -> StreamPart | None:
        opened = self._find(index)
        del self._open[index]
        text = "".join(opened.pieces)
        if opened.kind == "text":
            self.blocks.append(TextBlock(text))
        elif opened.kind == "thinking":
            self.blocks.append(ThinkingBlock(text, opened.signature))
            return ThinkingEnd(self._first_index + index, opened.signature)
        elif opened.kind == "redacted":
            self.blocks.append(ThinkingBlock(text, "", redacted=True))
        elif opened.kind == "tool":
            call = _tool_call(opened, text)
            self.blocks.append(call)
            return call
        return None

    def _find(self, index: int) -> _Open:
        opened = self._open.get(index)
        if opened is None:
            raise ProviderError("The model's stream makes no sense: a piece of a block that never began.")
        return opened

    def _count(self, told: Usage | MessageDeltaUsage) -> None:
        """Take over counts; the API sends running totals, and leaves out what has not changed."""
        so_far = self.usage
        self.usage = TokenUsage(
            input_tokens=_latest(told.input_tokens, so_far.input_tokens),
            output_tokens=_latest(told.output_tokens, so_far.output_tokens),
            cache_read_tokens=_latest(told.cache_read_input_tokens, so_far.cache_read_tokens),
            cache_write_tokens=_latest(told.cache_creation_input_tokens, so_far.cache_write_tokens),
        )


def _latest(told: int | None, so_far: int) -> int:
    return so_far if told is None else told


def _tool_call(opened: _Open, text: str) -> ToolCall:
    """Return the call; a number keeps every digit that the model wrote."""
    if not text.strip():
        given = opened.whole_input
        return ToolCall(opened.call_id, opened.name, given if isinstance(given, dict) else {})
    try:
        value = json.loads(
            text, parse_float=Decimal, parse_constant=_no_constant, object_pairs_hook=_no_duplicates
        )
    except (ValueError, RecursionError) as error:
        why = "too deep" if isinstance(error, RecursionError) else str(error)
        return ToolCall(opened.call_id, opened.name, {}, invalid=why)
    if not isinstance(value, dict):
        return ToolCall(opened.call_id, opened.name, {}, invalid=f"it is a {type(value).__name__}")
    return ToolCall(opened.call_id, opened.name, value)


def _no_constant(word: str) -> object:
    raise ValueError(f"{word} is no JSON number")


def _no_duplicates(pairs: Iterable[tuple[str, Json]]) -> dict[str, Json]:
    """Refuse an object that names a field twice: which of two amounts was meant cannot be known."""
    made: dict[str, Json] = {}
    for name, value in pairs:
        if name in made:
            raise ValueError(f"the field {name!r} is there twice")
        made[name] = value
    return made
