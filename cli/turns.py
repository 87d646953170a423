"""Running a turn for a command: events out as they come, and an exit status that says how it went."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NoReturn

import typer

from tidegate.cli.exit_status import INTERRUPTED, ExitStatus
from tidegate.cli.flags import Flags
from tidegate.cli.interrupts import Interrupts
from tidegate.cli.output import Console, OutputGone, console, event_writer
from tidegate.cli.session import make_runtime, take_environ
from tidegate.core.cancel import Cancel
from tidegate.core.clock import Clock, system_clock, system_ids
from tidegate.core.errors import InternalError, Interrupted, TidegateError
from tidegate.core.events import ErrorEvent, Event, Stream, StreamStarted, TokenUsage, TurnComplete
from tidegate.core.runtime import Runtime, package_version
from tidegate.core.turn import started

Turn = Callable[[Runtime, Cancel], Iterator[Event]]
"""Begins a turn; what it raises before the first event becomes an error event."""


class Turns:
    """Runs one turn after another for one process, with one writer and one exit status."""

    def __init__(self, runtime: Runtime, to: Console, status: ExitStatus, interrupts: Interrupts) -> None:
        self.runtime = runtime
        self.console = to
        self.status = status
        self.interrupts = interrupts
        self.session_id: str | None = None
        """The conversation of the last turn that was one."""
        self._writer = event_writer(to)

    def run(self, begin: Turn) -> None:
        """Run a turn to its last event, whatever happens in it.

        Raises:
            OutputGone: stdout takes no more; the turn was ended where it stood.
        """
        cancel = self.interrupts.fresh()
        last: Event | None = None
        events: Iterator[Event] = iter(())
        trouble: TidegateError | None = None
        try:
            events = begin(self.runtime, cancel)
            for last in events:
                self._show(last, cancel)
        except TidegateError as error:
            trouble = error
        except KeyboardInterrupt:
            trouble = Interrupted("Stopped before the turn was finished.")
        except OutputGone:
            raise
        except Exception as error:  # noqa: BLE001 - a bug must still end the stream as the contract says
            trouble = InternalError(f"{type(error).__name__} in the command.")
            self.runtime.on_bug(error)
        finally:
            _close(events)
        if trouble is not None and not isinstance(last, TurnComplete):
            for event in ending(
                trouble, last or self._opening(), begun=last is not None, clock=self.runtime.clock
            ):
                self._show(event, cancel)
        if last is not None and last.turn:
            self.session_id = last.session_id

    def refuse(self, error: TidegateError) -> None:
        """Show a turn that could not begin."""

        def begin(runtime: Runtime, cancel: Cancel) -> Iterator[Event]:
            raise error

        self.run(begin)

    def _opening(self) -> Event:
        settings = self.runtime.settings
        first = started(self.runtime, settings.provider, settings.model, bare=True)
        first.session_id = self.session_id or self.runtime.ids()
        return first

    def _show(self, event: Event, cancel: Cancel) -> None:
        # Half a line must not be left behind: an interrupt waits for the end of this one.
        with cancel.shielded():
            self.status.see(event)
            self._writer.write(event)


def _close(events: Iterator[Event]) -> None:
    close = getattr(events, "close", None)
    if close is not None:
        close()


def run_turns(flags: Flags, body: Callable[[Turns], None]) -> NoReturn:
    """Run a command that prints events and end the process with their exit status.

    A closed pipe ends it quietly, with what the events so far amount to: the reader has seen what it wanted.

    Args:
        flags: Settings given on the command line.
        body: Runs the turns.

    Raises:
        typer.Exit: always.
    """
    environ = take_environ()
    interrupts = Interrupts()
    with interrupts.handled():
        raise typer.Exit(_run(environ, flags, body, interrupts))


def run_one(flags: Flags, begin: Turn) -> NoReturn:
    """Run a command of a single turn and end the process with its exit status.

    Raises:
        typer.Exit: always.
    """
    run_turns(flags, lambda turns: turns.run(begin))


def _run(
    environ: Mapping[str, str], flags: Flags, body: Callable[[Turns], None], interrupts: Interrupts
) -> int:
    status = ExitStatus()
    to = console(flags.get("output"), environ)
    try:
        try:
            runtime = make_runtime(environ, flags)
        except TidegateError as error:
            _show_unstarted(error, to, status)
            return status.value
        try:
            to = console(runtime.settings.output, environ)
            body(Turns(runtime, to, status, interrupts))
        finally:
            runtime.close()
    except OutputGone as gone:
        to.out.abandon()
        if gone.error is not None:
            to.notices.fail(gone.error)
            status.add(gone.error.exit_status)
    except KeyboardInterrupt:
        status.add(INTERRUPTED)
    if interrupts.terminated:
        status.terminated()
    return status.value


def _show_unstarted(error: TidegateError, to: Console, status: ExitStatus) -> None:
    """Show a turn of which not even the settings could be read."""
    first = StreamStarted(
        session_id=system_ids(),
        stream_id=system_ids(),
        network="unknown",
        provider="unknown",
        model=None,
        preset=None,
        address=None,
        version=package_version(),
    )
    writer = event_writer(to)
    for event in ending(error, first, begun=False, clock=system_clock()):
        status.see(event)
        writer.write(event)


def ending(error: TidegateError, last: Event, *, begun: bool, clock: Clock) -> Iterator[Event]:
    """Yield what a stream still lacks when its turn cannot go on.

    Args:
        error: Why.
        last: The last event that was shown, or the first one if the turn has not begun.
        begun: Whether `last` was shown.
        clock: Dates the events.
    """
    stream = Stream(last.session_id, clock)
    stream.turn = last.turn
    lacking: list[Event] = [
        ErrorEvent(code=error.code, message=error.message, hint=error.hint, retryable=error.retryable),
        TurnComplete(
            stop_reason="interrupted" if isinstance(error, Interrupted) else "error",
            text="",
            usage=TokenUsage(),
            cost_usd=None,
            writes=[],
            pending=[],
            duration_ms=0,
        ),
    ]
    shown = last.seq if begun else 0
    for event in lacking if begun else [last, *lacking]:
        stream.stamp(event)
        event.seq += shown
        yield event
