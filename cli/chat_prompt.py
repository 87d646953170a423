"""`tidegate chat` on a terminal: a prompt with history and line editing."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate.cli.assignments import parse_assignments
from tidegate.core.errors import StoreError, TidegateError, UsageError
from tidegate.core.paths import ensure_private_dir

if TYPE_CHECKING:
    from tidegate.cli.dialogue import Dialogue

HELP = """\
Say what you want: balance · save 10 USDC · swap 2 SUI to USDC · send 5 USDC to bob
/approve [ID]          carry out what waits; a big write asks once more
/deny [ID]             never carry it out
/set NAME=VALUE …      change what waits and propose it again
/show [ID]             show what waits
/help                  this
/quit                  end; so does Ctrl-D. Ctrl-C stops what runs
"""


def converse(dialogue: Dialogue) -> None:
    """Ask for a line and answer it, until the person leaves or the process is asked to end."""
    ask = _prompt(dialogue.turns.runtime.paths.history_file)
    notices = dialogue.turns.console.notices
    while not dialogue.turns.interrupts.terminated:
        try:
            line = ask()
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        try:
            if not _obey(dialogue, line.strip()):
                return
        except TidegateError as error:
            notices.fail(error)


def _obey(dialogue: Dialogue, line: str) -> bool:
    """Do what a line says; return whether the conversation goes on."""
    if not line.startswith("/"):
        if line:
            dialogue.ask(line)
        return True
    command, *words = line.split()
    match command:
        case "/quit" | "/exit":
            return False
        case "/help":
            dialogue.turns.console.notices.write(HELP)
        case "/approve":
            _approve(dialogue, _only(words))
        case "/deny":
            dialogue.settle(_only(words), decision="deny")
        case "/show":
            dialogue.settle(_only(words))
        case "/set":
            changes = parse_assignments(words, "/set amount=5")
            if not changes:
                raise UsageError("What is to be changed?", hint="Write it like /set amount=5.")
            dialogue.settle(None, changes=changes)
        case _:
            raise UsageError(f"There is no command {command[:40]!r}.", hint="/help lists them.")
    return True


def _approve(dialogue: Dialogue, attempt: str | None) -> None:
    from tidegate.cli.resume import confirmed

    explicit = confirmed(dialogue.turns.runtime, attempt)
    dialogue.settle(attempt, decision="approve", at_terminal=explicit)


def _only(words: list[str]) -> str | None:
    if len(words) > 1:
        raise UsageError("One ID at a time.", hint="/approve ID, or /approve for the only one.")
    return words[0] if words else None


def _prompt(history: Path) -> Callable[[], str]:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.history import FileHistory
    from prompt_toolkit.output import create_output

    _make_private_file(history)
    # The prompt belongs to the person, not to the data: it goes to stderr, and stdout may be a pipe.
    session: PromptSession[str] = PromptSession(
        history=FileHistory(str(history)), output=create_output(stdout=sys.stderr)
    )
    return lambda: session.prompt("tidegate> ")


def _make_private_file(path: Path) -> None:
    """Make the history file readable by its owner only.

    Raises:
        StoreError: it cannot be made.
    """
    ensure_private_dir(path.parent)
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            os.fchmod(handle, 0o600)
        finally:
            os.close(handle)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise StoreError(f"{path} cannot be used: {reason}.", hint="Move it away and try again.") from error
