"""Requests as the provider tests make them."""

from __future__ import annotations

from collections.abc import Sequence

from tidegate.core.providers.base import (
    Message,
    ModelRequest,
    StepEnd,
    StreamPart,
    TextBlock,
    ToolSpec,
)

KEY = "sk-ant-test-0123456789"
NOON = 1_796_126_400_000


def asked(*messages: Message, **fields: object) -> ModelRequest:
    """Return a request with two layers, two tools and these messages, or one question."""
    defaults: dict[str, object] = {
        "system": ["You are tidegate.", "Network: sandbox."],
        "messages": list(messages) or [said("hello")],
        "tools": [tool("balance_check"), tool("save_deposit")],
        "max_tokens": 4096,
    }
    return ModelRequest(**(defaults | fields))  # type: ignore[arg-type]


def said(text: str) -> Message:
    return Message("user", (TextBlock(text),))


def tool(name: str) -> ToolSpec:
    return ToolSpec(name, f"Does {name}.", {"type": "object", "properties": {}})


def end_of(parts: Sequence[StreamPart]) -> StepEnd:
    assert isinstance(parts[-1], StepEnd)
    return parts[-1]
