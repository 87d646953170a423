"""What the engine asks of a language model, and what it gets back: no vendor's type passes this line."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal, Protocol

from tidegate.core.events import TokenUsage
from tidegate.core.jsonlines import Json


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Text of either side."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingBlock:
    """The model's thinking; goes back to the model unchanged, with its signature."""

    text: str
    signature: str
    redacted: bool = False
    """True when the provider hides the text; `text` is then its opaque data."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model asks for a tool."""

    id: str
    name: str
    input: Mapping[str, Json]
    invalid: str | None = None
    """Why the input is no JSON object, when it is none; `input` is then empty."""


@dataclass(frozen=True, slots=True)
class ToolReply:
    """What the tool answered, as the model reads it."""

    tool_call_id: str
    content: str
    is_error: bool = False


Block = TextBlock | ThinkingBlock | ToolCall | ToolReply


@dataclass(frozen=True, slots=True)
class Message:
    """One side's turn to speak."""

    role: Literal["user", "assistant"]
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it."""

    name: str
    description: str
    input_schema: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One model step."""

    system: Sequence[str]
    """Layers of the system prompt in order; the first `cacheable_layers` never change within a session."""
    messages: Sequence[Message]
    tools: Sequence[ToolSpec]
    max_tokens: int
    thinking_tokens: int = 0
    """Thinking budget in tokens; 0 is no thinking."""
    cacheable_layers: int = 2


@dataclass(frozen=True, slots=True)
class TextPart:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingPart:
    """A piece of thinking."""

    text: str
    block_index: int


@dataclass(frozen=True, slots=True)
class ThinkingEnd:
    """A thinking block is complete."""

    block_index: int
    signature: str


@dataclass(frozen=True, slots=True)
class StepEnd:
    """The model step ended: the last part of every stream that did not raise."""

    stop_reason: Literal["end_turn", "tool_use", "max_tokens", "refused"]
    content: tuple[Block, ...]
    """The assistant's message in full, thinking blocks and tool calls included."""
    usage: TokenUsage = field(default_factory=TokenUsage)


StreamPart = TextPart | ThinkingPart | ThinkingEnd | ToolCall | StepEnd


class Provider(Protocol):
    """A language model, or what stands in for one."""

    @property
    def name(self) -> str:
        """``anthropic``, ``offline``: as stream_started shows it."""
        ...

    @property
    def model(self) -> str | None:
        """The model's id, None when there is no model."""
        ...

    def warm(self) -> None:
        """Begin what is slow about the first call, on another thread; never raises."""
        ...

    def stream(self, request: ModelRequest) -> Generator[StreamPart, None, None]:
        """Yield the answer as it comes: each tool call once it is complete, StepEnd last.

        Closing the generator stops the model.

        Raises:
            ProviderError: the model could not be reached, or its stream broke off.
            NotUnderstood: only the offline planner: it has no rule for the request.
        """
        ...

    def cost(self, usage: TokenUsage) -> Decimal | None:
        """Return USD for the tokens of one step, or None if the model's prices are not known."""
        ...

    def close(self) -> None: ...
