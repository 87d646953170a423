"""tidegate sessions: past conversations."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.flags import LimitFlag, OutputFlag, ProfileFlag
from tidegate.cli.output import Console
from tidegate.cli.rows import called_bare, show_rows, shown
from tidegate.cli.session import opened
from tidegate.cli.visible import visible, visible_line
from tidegate.core.clock import iso_ms
from tidegate.core.errors import NotFound

if TYPE_CHECKING:
    from tidegate.core.events import JsonObject
    from tidegate.core.jsonlines import Json
    from tidegate.core.store.base import SessionInfo, StoredMessage

_BOLD, _DIM = 1, 2

sessions = typer.Typer(name="sessions", rich_markup_mode=None, invoke_without_command=True)


@sessions.callback()
def list_sessions(
    context: typer.Context,
    limit: LimitFlag = 50,
    profile: ProfileFlag = None,
    output: OutputFlag = None,
) -> None:
    """List conversations, the newest first.

    Example: tidegate sessions | jq -r .title
    """
    if not called_bare(context):
        return
    with opened({"profile": profile, "output": output}) as (runtime, to):
        rows = [_session_row(info) for info in runtime.store.sessions.recent(limit)]
        show_rows(to, rows, ("id", "updated", "turns", "title"), empty="There is no conversation yet.")


@sessions.command("show")
def show_session(
    session_id: Annotated[str, typer.Argument(metavar="ID", help="The session's id.")],
    profile: ProfileFlag = None,
    output: OutputFlag = None,
) -> None:
    """Show what was said in a conversation.

    Example: tidegate sessions show ID | jq -r 'select(.role=="user").text'
    """
    with opened({"profile": profile, "output": output}) as (runtime, to):
        if runtime.store.sessions.get(session_id) is None:
            raise NotFound(f"No session {session_id[:80]!r}.", hint="Run `tidegate sessions` for the list.")
        messages = runtime.store.sessions.messages(session_id)
        if to.text:
            for message in messages:
                _show(to, message)
        else:
            show_rows(to, [_message_row(session_id, message) for message in messages], (), empty="")


def _session_row(info: SessionInfo) -> JsonObject:
    return {
        "id": info.id,
        "title": info.title,
        "created": iso_ms(info.created_ms),
        "updated": iso_ms(info.updated_ms),
        "turns": info.turns,
    }


def _message_row(session_id: str, message: StoredMessage) -> JsonObject:
    texts = [str(block["text"]) for block in message.content if block.get("type") == "text"]
    return {
        "session_id": session_id,
        "turn": message.turn,
        "role": message.role,
        "ts": iso_ms(message.at_ms),
        "text": "\n".join(texts),
        "content": list(message.content),
    }


def _show(to: Console, message: StoredMessage) -> None:
    for block in message.content:
        match block.get("type"):
            case "text" if message.role == "user":
                to.out.write(f"{to.out.style(visible('> ' + str(block['text'])), _BOLD)}\n")
            case "text":
                to.out.write(f"{visible(str(block['text']))}\n")
            case _:
                for line in _asides(block):
                    to.out.write(f"{to.out.style(visible_line(line), _DIM)}\n")


def _asides(block: JsonObject) -> Iterator[str]:
    """Yield what is between the lines of a conversation: calls, their answers, what happened elsewhere."""
    match block.get("type"):
        case "notice":
            yield f"· {block['text']}"
        case "tool_call":
            arguments = block["input"]
            fields = arguments.items() if isinstance(arguments, dict) else ()
            yield f"· {block['name']}{''.join(f' {key}={shown(value)}' for key, value in fields)}"
        case "tool_reply":
            yield f"  {_told(str(block['content']))}"


def _told(content: str) -> str:
    """Return the sentence in a tool's answer, which is a JSON object with one for people."""
    reply: Json
    try:
        reply = json.loads(content)
    except ValueError:
        return content
    if not isinstance(reply, dict):
        return content
    error = reply.get("error")
    if isinstance(error, dict):
        return str(error.get("message", content))
    return str(reply.get("display_text", content))
