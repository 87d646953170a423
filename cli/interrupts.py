"""Ctrl-C and SIGTERM while a turn runs: both end it the same way, with turn_complete as its last event."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from tidegate.core.cancel import Cancel


class Interrupts:
    """Hands signals to whichever turn is running."""

    def __init__(self) -> None:
        self.cancel = Cancel()
        """The present turn's."""
        self.terminated = False
        """Whether SIGTERM came, so that no other turn should begin."""

    def fresh(self) -> Cancel:
        """Return the flag of a new turn."""
        self.cancel = Cancel()
        return self.cancel

    @contextmanager
    def handled(self) -> Iterator[None]:
        """Take over the signals of the main thread for a while.

        A signal that is ignored stays ignored: that is how a shell protects what it runs in the background.
        """
        wanted = (signal.SIGINT, signal.SIGTERM)
        former = {number: signal.getsignal(number) for number in wanted}
        for number, handler in former.items():
            if handler is not signal.SIG_IGN:
                signal.signal(number, self._handle)
        try:
            yield
        finally:
            for number, handler in former.items():
                # None: it was set from outside Python, and cannot be given back.
                if handler is not None:
                    signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if number == signal.SIGTERM:
            self.terminated = True
        self.cancel.interrupt()
