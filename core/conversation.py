"""A session's messages: as they are stored, as the model reads them, and as guards read them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tidegate.core.clock import Clock
from tidegate.core.events import JsonObject
from tidegate.core.policy.types import SettledCall
from tidegate.core.providers.base import Block, Message, TextBlock, ThinkingBlock, ToolCall, ToolReply
from tidegate.core.store.base import Sessions, StoredMessage

_LOOKED_BACK = 10
"""User messages that guards read; shared/spec/policy.md, guard 3."""

_CUT_OFF = '{"error":{"code":"interrupted","message":"The turn was cut off before this call ended."}}'


@dataclass
class Conversation:
    """One session in memory, written through to the store."""

    session_id: str
    turn: int
    _sessions: Sessions
    _clock: Clock
    _stored: list[StoredMessage] = field(default_factory=list)
    _calls: list[SettledCall] = field(default_factory=list)

    @classmethod
    def open(cls, sessions: Sessions, session_id: str, turn: int, clock: Clock) -> Conversation:
        """Read a session.

        Raises:
            StoreError: its rows cannot be read.
        """
        calls = [_settled(at_ms, call) for at_ms, call in sessions.calls(session_id)]
        return cls(session_id, turn, sessions, clock, sessions.messages(session_id), calls)

    @property
    def calls(self) -> Sequence[SettledCall]:
        """This session's settled tool calls, oldest first."""
        return self._calls

    def user_said(self, text: str) -> None:
        """Add what the person wrote."""
        self._append("user", [{"type": "text", "text": text}])

    def noticed(self, text: str) -> None:
        """Add what happened outside the conversation; the model reads it, guards do not."""
        self._append("user", [{"type": "notice", "text": text}])

    def model_said(self, blocks: Sequence[Block]) -> None:
        """Add a model step."""
        self._append("assistant", [_to_json(block) for block in blocks])

    def tools_replied(self, replies: Sequence[ToolReply]) -> None:
        """Add the answers to the tool calls of the last step, in the order of the calls."""
        self._append("user", [_to_json(reply) for reply in replies])

    def settled(self, call: SettledCall) -> None:
        """Remember a tool call for guards that look back."""
        self._calls.append(call)
        row: JsonObject = {
            "tool": call.tool,
            "input": dict(call.input),
            "data": dict(call.data),
            "is_error": call.is_error,
        }
        self._sessions.record_call(self.session_id, row, call.at_ms)

    def user_texts(self) -> list[str]:
        """Return the person's own last messages, newest last."""
        texts = [
            str(block["text"])
            for message in self._stored
            if message.role == "user"
            for block in message.content
            if block["type"] == "text"
        ]
        return texts[-_LOOKED_BACK:]

    def messages(self) -> list[Message]:
        """Return the conversation as a model takes it: roles alternate, every tool call has its reply."""
        return _mend(
            Message("assistant" if stored.role == "assistant" else "user", tuple(_from_json(stored.content)))
            for stored in self._stored
        )

    def _append(self, role: str, content: Sequence[JsonObject]) -> None:
        message = StoredMessage(self.turn, role, content, self._clock.now_ms())
        self._sessions.append(self.session_id, message)
        self._stored.append(message)


def _mend(messages: Iterable[Message]) -> list[Message]:
    """Join neighbours of one role and answer the calls that a dead process left unanswered."""
    mended: list[Message] = []
    for message in messages:
        if mended and mended[-1].role == "assistant" and message.role == "assistant":
            mended.extend(_answers(mended[-1], ()))
        if mended and mended[-1].role == "assistant" and message.role == "user":
            answers = _answers(mended[-1], message.blocks)
            message = Message("user", (*(b for a in answers for b in a.blocks), *message.blocks))
        if mended and mended[-1].role == message.role:
            message = Message(message.role, (*mended.pop().blocks, *message.blocks))
        mended.append(message)
    return mended


def _answers(assistant: Message, following: Sequence[Block]) -> list[Message]:
    answered = {block.tool_call_id for block in following if isinstance(block, ToolReply)}
    missing = [
        ToolReply(block.id, _CUT_OFF, is_error=True)
        for block in assistant.blocks
        if isinstance(block, ToolCall) and block.id not in answered
    ]
    return [Message("user", tuple(missing))] if missing else []


def _to_json(block: Block) -> JsonObject:
    match block:
        case TextBlock(text):
            return {"type": "text", "text": text}
        case ThinkingBlock(text, signature, redacted):
            return {"type": "thinking", "text": text, "signature": signature, "redacted": redacted}
        case ToolCall(call_id, name, arguments, invalid):
            return {
                "type": "tool_call",
                "id": call_id,
                "name": name,
                "input": dict(arguments),
                "invalid": invalid,
            }
        case ToolReply(call_id, content, is_error):
            return {"type": "tool_reply", "id": call_id, "content": content, "is_error": is_error}


def _from_json(content: Sequence[JsonObject]) -> list[Block]:
    blocks: list[Block] = []
    for block in content:
        match block["type"]:
            case "text":
                blocks.append(TextBlock(str(block["text"])))
            case "notice":
                blocks.append(TextBlock(f"[tidegate] {block['text']}"))
            case "thinking":
                blocks.append(
                    ThinkingBlock(str(block["text"]), str(block["signature"]), bool(block["redacted"]))
                )
            case "tool_call":
                arguments = block["input"]
                invalid = block.get("invalid")
                blocks.append(
                    ToolCall(
                        str(block["id"]),
                        str(block["name"]),
                        arguments if isinstance(arguments, dict) else {},
                        None if invalid is None else str(invalid),
                    )
                )
            case "tool_reply":
                blocks.append(ToolReply(str(block["id"]), str(block["content"]), bool(block["is_error"])))
    return blocks


def _settled(at_ms: int, call: JsonObject) -> SettledCall:
    arguments, data = call.get("input"), call.get("data")
    return SettledCall(
        tool=str(call.get("tool")),
        input=arguments if isinstance(arguments, dict) else {},
        data=data if isinstance(data, dict) else {},
        is_error=bool(call.get("is_error")),
        at_ms=at_ms,
    )
