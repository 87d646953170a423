"""Where output goes: data to stdout, what people should know besides to stderr, each in the form chosen."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO, Literal, Protocol, TextIO

from tidegate.cli.visible import visible_json, visible_line
from tidegate.core.errors import StoreError, TidegateError, UsageError
from tidegate.core.events import ErrorEvent, Event, PendingAction, TurnComplete, to_line

Form = Literal["ndjson", "json", "text"]

FORMS = ("auto", "ndjson", "json", "text")


class OutputGone(Exception):
    """Nothing more can be written to stdout.

    Args:
        error: What is wrong; None when whoever read it has closed it, which is their choice.
    """

    def __init__(self, error: TidegateError | None = None) -> None:
        super().__init__()
        self.error = error


class Sink:
    """A stream of bytes that is flushed at every write.

    Args:
        stream: stdout or stderr, or what stands for it.
        terminal: Whether a person looks at it.
        styled: Whether colours and weights may be used on it.
    """

    def __init__(self, stream: BinaryIO, *, terminal: bool = False, styled: bool = False) -> None:
        self._stream = stream
        self.terminal = terminal
        self.styled = styled

    def write(self, text: str) -> None:
        """Write text as UTF-8.

        Raises:
            OutputGone: the other end is closed, or it cannot be written, as on a full disk.
        """
        try:
            self._stream.write(text.encode("utf-8", "backslashreplace"))
            self._stream.flush()
        except BrokenPipeError:
            raise OutputGone from None
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise OutputGone(
                StoreError(
                    f"The output cannot be written: {reason}.",
                    hint="Run `tidegate journal` for what became of writes.",
                )
            ) from None

    def abandon(self) -> None:
        """Send what is still buffered nowhere, so that ending the process does not fail on it."""
        with suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)

    def style(self, text: str, *codes: int) -> str:
        """Return text in bold (1), dim (2), red (31), green (32) or yellow (33), where that can be shown."""
        if not self.styled or not text:
            return text
        return f"\x1b[{';'.join(map(str, codes))}m{text}\x1b[0m"


class Notices(Sink):
    """stderr: what it cannot write is given up, because there is nobody left to tell."""

    def write(self, text: str) -> None:
        """Write text as UTF-8 if somebody still reads it."""
        try:
            super().write(text)
        except OutputGone:
            self.abandon()

    def error(self, message: str, hint: str | None) -> None:
        """Write an error as people read it."""
        self.write(f"{self.style('error:', 1, 31)} {visible_line(message)}\n")
        if hint:
            self.write(f"{self.style('hint:', 1)} {visible_line(hint)}\n")

    def fail(self, error: TidegateError) -> None:
        """Write an error as people read it."""
        self.error(error.message, error.hint)


@dataclass(frozen=True)
class Console:
    """Both streams of a process."""

    out: Sink
    notices: Notices
    form: Form

    @property
    def text(self) -> bool:
        """Whether people read the output."""
        return self.form == "text"


def console(form: str | None, environ: Mapping[str, str]) -> Console:
    """Return the streams of this process.

    Args:
        form: auto, ndjson, json or text; None is auto.
        environ: For NO_COLOR (https://no-color.org), TERM and CI.

    Raises:
        UsageError: no such form.
    """
    out, notices = _stdout(environ), stderr(environ)
    match form or "auto":
        case "auto":
            return Console(out, notices, "text" if out.terminal else "ndjson")
        case "ndjson" | "json" | "text" as chosen:
            return Console(out, notices, chosen)
        case other:
            raise UsageError(
                f"There is no output form {visible_line(other[:40])!r}.", hint=f"Use {', '.join(FORMS)}."
            )


def stderr(environ: Mapping[str, str]) -> Notices:
    """Return stderr."""
    terminal = is_terminal(sys.stderr)
    return Notices(_binary(sys.stderr), terminal=terminal, styled=terminal and may_style(environ))


def _stdout(environ: Mapping[str, str]) -> Sink:
    terminal = is_terminal(sys.stdout)
    return Sink(_binary(sys.stdout), terminal=terminal, styled=terminal and may_style(environ))


def may_style(environ: Mapping[str, str]) -> bool:
    """Tell whether a terminal may be sent colours."""
    return not (environ.get("NO_COLOR") or environ.get("CI") or environ.get("TERM", "dumb") == "dumb")


def is_terminal(stream: TextIO | None) -> bool:
    """Tell whether a person sits at a stream; one that was closed before we were started is None."""
    return stream is not None and stream.isatty()


def _binary(stream: TextIO | None) -> BinaryIO:
    # A stream that was closed before we were started (`>&-`) is None.
    return open(os.devnull, "wb") if stream is None else stream.buffer


class Writer(Protocol):
    """Shows the events of one or more turns."""

    def write(self, event: Event) -> None:
        """Show one event.

        Raises:
            OutputGone: stdout takes no more.
        """
        ...


class LineWriter:
    """Every event as one line of JSON."""

    def __init__(self, out: Sink, notices: Notices) -> None:
        self._out = out
        self._notices = notices

    def write(self, event: Event) -> None:
        """Write one event; an error, and a write that waits, are told on stderr too."""
        line = to_line(event)
        self._out.write(f"{visible_json(line) if self._out.terminal else line}\n")
        tell(event, self._notices)


class LastWriter:
    """Only the last event of every turn, as one line of JSON."""

    def __init__(self, out: Sink, notices: Notices) -> None:
        self._out = out
        self._notices = notices

    def write(self, event: Event) -> None:
        """Write the event if it is the last of its turn; errors are told on stderr."""
        tell(event, self._notices)
        if isinstance(event, TurnComplete):
            line = to_line(event)
            self._out.write(f"{visible_json(line) if self._out.terminal else line}\n")


def tell(event: Event, notices: Notices) -> None:
    """Tell on stderr what a person must know even if stdout goes to a program."""
    match event:
        case ErrorEvent():
            notices.error(event.message, event.hint)
        case PendingAction():
            action = event.action
            notices.write(
                f"waits: {visible_line(action.description)}. Settle it with: {action.approval()}, or --deny\n"
            )


def event_writer(to: Console) -> Writer:
    """Return what shows events in the console's form."""
    match to.form:
        case "ndjson":
            return LineWriter(to.out, to.notices)
        case "json":
            return LastWriter(to.out, to.notices)
        case "text":
            from tidegate.cli.text_view import TextWriter

            return TextWriter(to.out, to.notices)
