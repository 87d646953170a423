"""Which exit status the events of a stream amount to."""

from __future__ import annotations

from collections.abc import Iterator

from tidegate.core.errors import TidegateError, worst_exit_status
from tidegate.core.events import (
    ErrorEvent,
    Event,
    PendingAction,
    TextDelta,
    TurnComplete,
    WriteResult,
)

WAITS = 3
INTERRUPTED = 130
TERMINATED = 143

_OF_MONEY = (7, WAITS, 4)
"""What is told even by a process that was asked to end."""

_OF_WRITE = {"executed": 0, "simulated": 0, "denied": 4, "failed": 6, "unknown": 7}
_OF_STOP = {
    "pending_input": WAITS,
    "refused": 4,
    # A limit on steps or tokens is a budget too: the answer was cut short, and that is not success.
    "max_turns": 8,
    "max_tokens": 8,
    "budget_exceeded": 8,
    "interrupted": INTERRUPTED,
}


def _classes(base: type[TidegateError]) -> Iterator[type[TidegateError]]:
    yield base
    for derived in base.__subclasses__():
        yield from _classes(derived)


_OF_CODE = {error.code: error.exit_status for error in _classes(TidegateError)}


def status_of(event: Event) -> int:
    """Return the exit status one event asks for, whatever follows it.

    An error result of a tool and a guard's block ask for none by themselves: a model may recover from them,
    and the engine ends a turn that did not with an error event. Nor does a write that waits: it may be
    settled before the process ends.
    """
    match event:
        case ErrorEvent():
            return _OF_CODE.get(event.code, 1)
        case WriteResult():
            return _OF_WRITE[event.status]
        case TurnComplete():
            return _OF_STOP.get(event.stop_reason, 0)
        case _:
            return 0


class ExitStatus:
    """Follows the events of one or more turns."""

    def __init__(self) -> None:
        self._worst = 0
        self._waiting: set[str] = set()
        self._told = False
        self._terminated = False

    @property
    def value(self) -> int:
        """The exit status that everything so far amounts to."""
        value = worst_exit_status(self._worst, WAITS if self._waiting else 0)
        return TERMINATED if self._terminated and value not in _OF_MONEY else value

    def see(self, event: Event) -> None:
        """Take an event into account."""
        match event:
            case TextDelta():
                return
            case PendingAction():
                self._waiting.discard(event.action.replaces or "")
                self._waiting.add(event.action.attempt_id)
            case WriteResult():
                self._waiting.difference_update((event.attempt_id, event.replaces))
            case ErrorEvent():
                self._told = True
            case TurnComplete():
                if event.stop_reason == "error" and not self._told:
                    self.add(1)
                self._told = False
        self.add(status_of(event))

    def add(self, status: int) -> None:
        """Take into account what no event says."""
        self._worst = worst_exit_status(self._worst, status)

    def terminated(self) -> None:
        """Take into account that the system asked the process to end: 143, unless money is concerned."""
        self._terminated = True
