"""Time and randomness as values that are passed in, so that every run can be repeated."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True)
class Clock:
    """Where a component gets the time from.

    ``now_ms`` is wall time in milliseconds since 1970 (UTC), ``monotonic`` is in seconds and only for
    measuring how long something took.
    """

    now_ms: Callable[[], int]
    monotonic: Callable[[], float]

    def now(self) -> datetime:
        """Return the wall time as an aware UTC datetime."""
        return datetime.fromtimestamp(self.now_ms() / 1000, UTC)


def system_clock() -> Clock:
    """Return the clock of this machine."""
    return Clock(now_ms=lambda: time.time_ns() // 1_000_000, monotonic=time.monotonic)


Ids = Callable[[], str]
"""A source of fresh UUID4 strings."""


def system_ids() -> str:
    """Return a new random UUID4."""
    return str(uuid.uuid4())


def iso_ms(ms: int) -> str:
    """Return milliseconds since 1970 as ``2026-11-30T12:00:00.000Z``."""
    stamp = datetime.fromtimestamp(ms // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{stamp}.{ms % 1000:03d}Z"
