"""The planner that stands in for a model: no network, no guessing, the same answer to the same words.

It reads the person's last words and the tool replies since, and takes the next step of the plan. What tool
replies say is shown to the person and never read as a request.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from tidegate.core.errors import NotUnderstood
from tidegate.core.events import TokenUsage
from tidegate.core.providers.base import (
    Block,
    Message,
    ModelRequest,
    StepEnd,
    StreamPart,
    TextBlock,
    TextPart,
    ToolCall,
    ToolReply,
)
from tidegate.core.providers.offline_grammar import UNDERSTOOD, Call, Request, plan

_OWN_ID = re.compile(r"off_([0-9]{1,9})")

_GREETING = (
    f"I am tidegate. Without a model I follow plain requests, alone or joined by “and then”: {UNDERSTOOD}."
)


class OfflineProvider:
    """A deterministic planner."""

    name = "offline"

    @property
    def model(self) -> str | None:
        """None: there is no model."""
        return None

    def warm(self) -> None:
        """Do nothing: there is nothing slow about it."""

    def close(self) -> None:
        """Do nothing: nothing is open."""

    def cost(self, usage: TokenUsage) -> Decimal | None:
        """Return zero: nobody is paid."""
        return Decimal(0)

    def stream(self, request: ModelRequest) -> Generator[StreamPart, None, None]:
        """Yield the next step of what the person asked for; see `Provider.stream`."""
        at = _last_words(request.messages)
        requests = plan(_text_of(request.messages[at]))
        steps = _steps_of(requests)
        _check_tools(requests, {tool.name for tool in request.tools})
        taken = _taken(request.messages[at + 1 :])
        if len(taken) >= len(steps) or (taken and taken[-1].failed):
            text = _closing(requests, steps, taken) if steps else _GREETING
            yield TextPart(text)
            yield StepEnd("end_turn", (TextBlock(text),))
            return
        blocks: list[Block] = []
        if not taken and (announced := _announced(requests)) is not None:
            blocks.append(TextBlock(announced))
            yield TextPart(announced)
        first = _next_id(request.messages)
        for offset, (_, call) in enumerate(steps[len(taken)]):
            made = ToolCall(f"off_{first + offset}", call.tool, call.input)
            blocks.append(made)
            yield made
        yield StepEnd("tool_use", tuple(blocks))


@dataclass(frozen=True, slots=True)
class _Taken:
    """A step that was taken: what was called, and what came back."""

    calls: tuple[ToolCall, ...]
    replies: tuple[ToolReply, ...]

    @property
    def failed(self) -> bool:
        return len(self.replies) < len(self.calls) or any(reply.is_error for reply in self.replies)


Step = list[tuple[int, Call]]
"""Calls that may run beside each other, each with the place of its request."""


def _steps_of(requests: Sequence[Request]) -> list[Step]:
    """Return the calls step by step: reads beside each other, whatever belongs to a write alone."""
    steps: list[Step] = []
    after_read = False
    for place, request in enumerate(requests):
        calls = [(place, call) for call in request.calls]
        if request.writes:
            steps.extend([call] for call in calls)
        elif after_read:
            steps[-1] += calls
        else:
            steps.append(calls)
        after_read = not request.writes
    return steps


def _check_tools(requests: Sequence[Request], offered: set[str]) -> None:
    for request in requests:
        for call in request.calls:
            if call.tool not in offered:
                raise NotUnderstood(
                    f"That needs the tool {call.tool}, which is not on offer here.",
                    hint="Run `tidegate tools` for the list.",
                )


def _last_words(messages: Sequence[Message]) -> int:
    """Return the index of the message in which the person spoke last."""
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if message.role == "user" and any(isinstance(block, TextBlock) for block in message.blocks):
            return index
    raise NotUnderstood("Nothing was asked.", hint=f"I understand: {UNDERSTOOD}.")


def _text_of(message: Message) -> str:
    """Return the last text of a message; earlier ones are notices, or were cut off before an answer."""
    return [block.text for block in message.blocks if isinstance(block, TextBlock)][-1]


def _taken(since: Sequence[Message]) -> list[_Taken]:
    replies = {
        block.tool_call_id: block
        for message in since
        for block in message.blocks
        if isinstance(block, ToolReply)
    }
    steps: list[_Taken] = []
    for message in since:
        calls = tuple(block for block in message.blocks if isinstance(block, ToolCall))
        if message.role == "assistant" and calls:
            answers = tuple(replies[call.id] for call in calls if call.id in replies)
            steps.append(_Taken(calls, answers))
    return steps


def _next_id(messages: Sequence[Message]) -> int:
    numbers = [
        int(match[1])
        for message in messages
        for block in message.blocks
        if isinstance(block, ToolCall) and (match := _OWN_ID.fullmatch(block.id))
    ]
    return max(numbers, default=0) + 1


def _announced(requests: Sequence[Request]) -> str | None:
    """Return what is about to be done, when a write that waits or fails would leave some of it undone."""
    if not any(request.writes for request in requests[:-1]):
        return None
    order = "; ".join(request.said for request in requests)
    return f"In this order: {order}. If one fails or waits for you, what comes after it is not tried.\n"


def _closing(requests: Sequence[Request], steps: Sequence[Step], taken: Sequence[_Taken]) -> str:
    """Return the answer: what each tool said, and what was not tried."""
    sentences = [
        _sentence(reply)
        for index, step in enumerate(taken)
        for reply in step.replies
        # A quote that its swap followed has nothing to add to it.
        if reply.is_error or not _led_to_swap(step, taken[index + 1 :])
    ]
    tried = {place for step in steps[: len(taken)] for place, _ in step}
    untried = [request.said for place, request in enumerate(requests) if place not in tried]
    if untried:
        sentences.append(f"Not tried: {'; '.join(untried)}.")
    return "\n".join(sentence for sentence in sentences if sentence)


def _led_to_swap(step: _Taken, after: Sequence[_Taken]) -> bool:
    return step.calls[0].name == "swap_quote" and bool(after) and after[0].calls[0].name == "swap_execute"


def _sentence(reply: ToolReply) -> str:
    """Return what a reply says to a person."""
    try:
        body = json.loads(reply.content, parse_float=Decimal)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        return reply.content[:500]
    error = body.get("error")
    if isinstance(error, dict):
        parts = [str(error[name]) for name in ("message", "hint") if error.get(name)]
        return " ".join(parts)
    return str(body.get("display_text") or "Done.")
