"""The hash chain of the journal: every row carries a hash over itself and the row before it.

An edit that does not recompute every later row is found. The hashes have no key: they show what an accident
or a careless hand did to the file, and do not prove that its owner left it alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from tidegate.core.jsonlines import dumps

FIRST_LINK = ""
"""What stands before the first row."""


@dataclass(frozen=True, slots=True)
class LinkedRow:
    """A journal row as it is stored."""

    seq: int
    attempt_id: str
    step: str
    at_ms: int
    data: str
    """JSON text, byte for byte."""
    link: str
    """Hex SHA-256."""


def link(previous: str, seq: int, attempt_id: str, step: str, at_ms: int, data: str) -> str:
    """Return the hex SHA-256 of a row, written as one JSON list, and the link of the row before it."""
    return hashlib.sha256(dumps([previous, seq, attempt_id, step, at_ms, data]).encode()).hexdigest()


def first_break(rows: Iterable[LinkedRow]) -> str | None:
    """Return what is wrong with the first row that does not follow from those before it, or None.

    Args:
        rows: The whole journal, oldest first.
    """
    previous, expected_seq = FIRST_LINK, 1
    for row in rows:
        if row.seq != expected_seq:
            return f"Row {expected_seq} of the journal is missing."
        if row.link != link(previous, row.seq, row.attempt_id, row.step, row.at_ms, row.data):
            return f"Row {row.seq} of the journal (attempt {row.attempt_id}) is not what was written."
        previous, expected_seq = row.link, expected_seq + 1
    return None
