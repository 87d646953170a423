"""Stopping a turn from outside: Ctrl-C, SIGTERM, a closed pipe."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event


class Cancel(Event):
    """A flag that tools look at, and that a signal handler may raise from.

    Between signing a transaction and hearing its outcome the engine shields itself: an interrupt there waits
    until the outcome is in the journal, so that nobody is left guessing what happened to their money.
    """

    def __init__(self) -> None:
        super().__init__()
        self._shields = 0

    def interrupt(self) -> None:
        """Call from a signal handler, which runs in the main thread: set the flag and stop what runs there.

        The second interrupt stops even a shielded turn; the journal then settles it on the next run.

        Raises:
            KeyboardInterrupt: always, unless shielded for the first time.
        """
        again = self.is_set()
        self.set()
        if again or self._shields == 0:
            raise KeyboardInterrupt

    @contextmanager
    def shielded(self) -> Iterator[None]:
        """Put off the first interrupt until the block has ended."""
        self._shields += 1
        try:
            yield
        finally:
            self._shields -= 1

    def check(self) -> None:
        """Stop here if an interrupt was put off.

        Raises:
            KeyboardInterrupt: the flag is set.
        """
        if self.is_set():
            raise KeyboardInterrupt
