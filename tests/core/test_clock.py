from __future__ import annotations

import time
import uuid
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.core.clock import Clock, iso_ms, system_clock, system_ids


def test_the_wall_time_is_an_aware_utc_datetime() -> None:
    clock = Clock(now_ms=lambda: 1_796_000_000_123, monotonic=lambda: 0.0)
    assert clock.now() == datetime(2026, 11, 30, 0, 53, 20, 123_000, UTC)


def test_the_system_clock_tells_milliseconds() -> None:
    before = time.time_ns() // 1_000_000
    now = system_clock().now_ms()
    assert before <= now <= time.time_ns() // 1_000_000


def test_the_monotonic_clock_does_not_go_back() -> None:
    clock = system_clock()
    assert clock.monotonic() <= clock.monotonic()


def test_ids_are_fresh_uuid4() -> None:
    ids = {system_ids() for _ in range(100)}
    assert {uuid.UUID(text).version for text in ids} == {4}
    assert len(ids) == 100


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (7, "1970-01-01T00:00:00.007Z"),
        (1_796_000_000_999, "2026-11-30T00:53:20.999Z"),
        (1_796_000_001_000, "2026-11-30T00:53:21.000Z"),
    ],
)
def test_a_moment_is_written_as_iso_8601_with_milliseconds(ms: int, text: str) -> None:
    assert iso_ms(ms) == text


@settings(derandomize=True, deadline=None)
@given(st.integers(0, 253_402_300_799_999))
def test_a_moment_is_read_back_to_the_millisecond(ms: int) -> None:
    moment = datetime.fromisoformat(iso_ms(ms))
    assert (moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1000 == pytest.approx(ms, abs=0.1)


@settings(derandomize=True, deadline=None)
@given(st.integers(0, 253_402_300_799_998))
def test_later_moments_sort_later(ms: int) -> None:
    assert iso_ms(ms) < iso_ms(ms + 1)
