"""Which exit status the events of a stream amount to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tidegate.core.errors import TidegateError, worst_exit_status
from tidegate.core.events import (
    ErrorEvent,
    Event,
    PendingAction,
    PendingInput,
    TextDelta,
    TurnComplete,
    WriteResult,
)

WAITS = 3
INTERRUPTED = 130
TERMINATED = 143

_OF_WRITE = {"executed": 0, "simulated": 0, "denied": 4, "failed": 6, "unknown": 7}
_OF_STOP = {
    "pending_action": WAITS,
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
    """Return the exit status one event asks for.

    An error result of a tool and a guard's block ask for none by themselves: a model may recover from them,
    and the engine ends a turn that did not with an error event.
    """
    match event:
        case PendingAction() | PendingInput():
            return WAITS
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
        self.value = 0
        self._told = False

    def see(self, event: Event) -> None:
        """Take an event into account."""
        if isinstance(event, TextDelta):
            return
        self._told = self._told or isinstance(event, ErrorEvent)
        self.value = worst_exit_status(self.value, status_of(event))
        if isinstance(event, TurnComplete):
            if event.stop_reason == "error" and not self._told:
                self.value = worst_exit_status(self.value, 1)
            self._told = False

    def terminated(self) -> None:
        """Take into account that the system asked the process to end: 143, unless money is concerned."""
        if self.value not in (7, WAITS, 4):
            self.value = TERMINATED


def exit_status(events: Iterable[Event]) -> int:
    """Return the exit status of a whole stream."""
    status = ExitStatus()
    for event in events:
        status.see(event)
    return status.value
