"""The append-only journal of writes in SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from itertools import groupby

from tidegate.core.errors import StoreError, UsageError
from tidegate.core.jsonlines import Json
from tidegate.core.store.base import Attempt, Journal, JournalRow, Step, StepTaken, barrier, state_of
from tidegate.core.store.database import Database
from tidegate.core.store.exact import decode_object, encode, utf8
from tidegate.core.store.links import FIRST_LINK, LinkedRow, first_break, link

_MIN_PREFIX = 4
_LAST_CHARACTER = "\U0010ffff"

_ROWS = (
    "SELECT journal.attempt_id, journal.seq, journal.step, journal.at_ms, journal.data"
    " FROM attempts JOIN journal ON journal.attempt_id = attempts.id"
)

_Row = tuple[str, int, str, int, str]


class SqliteJournal(Journal):
    """See `tidegate.core.store.base.Journal`.

    Whether a step may be taken is decided under the database's write lock, so that of any number of processes
    one takes it; triggers refuse to change or remove a row; `links` shows what got past them.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def append(self, attempt_id: str, step: Step, at_ms: int, data: Mapping[str, Json]) -> JournalRow:
        text = encode(data)
        with self._database.write() as connection:
            taken = _steps(connection, attempt_id)
            earlier = barrier(step, taken)
            if earlier is not None:
                raise StepTaken(f"attempt {attempt_id} is {earlier.value} and cannot be {step.value}")
            seq, previous = _head(connection)
            seq += 1
            connection.execute(
                "INSERT INTO attempts (id, first_seq, last_seq, state) VALUES (?1, ?2, ?2, ?3)"
                " ON CONFLICT (id) DO UPDATE SET last_seq = ?2, state = ?3",
                (attempt_id, seq, state_of([*taken, step]).value),
            )
            connection.execute(
                "INSERT INTO journal (seq, attempt_id, step, at_ms, data, link) VALUES (?, ?, ?, ?, ?, ?)",
                (
                    seq,
                    attempt_id,
                    step.value,
                    at_ms,
                    text,
                    link(previous, seq, attempt_id, step.value, at_ms, text),
                ),
            )
        return JournalRow(seq, attempt_id, step, at_ms, decode_object(text))

    def attempt(self, attempt_id: str) -> Attempt | None:
        return next(iter(self._attempts("WHERE attempts.id = ?", (utf8(attempt_id),))), None)

    def match(self, prefix: str) -> list[Attempt]:
        """Return the attempts whose id begins with `prefix`, oldest first.

        Raises:
            UsageError: the prefix has fewer than 4 characters.
        """
        if len(prefix) < _MIN_PREFIX:
            raise UsageError(
                f"{prefix!r} is too short to name a write.", hint=f"Give at least {_MIN_PREFIX} characters."
            )
        start = utf8(prefix)
        return self._attempts("WHERE attempts.id >= ? AND attempts.id < ?", (start, start + _LAST_CHARACTER))

    def recent(self, limit: int = 50) -> list[Attempt]:
        newest = "WHERE attempts.id IN (SELECT id FROM attempts ORDER BY first_seq DESC LIMIT ?)"
        return self._attempts(newest, (limit,))[::-1]

    def in_state(self, *states: Step) -> list[Attempt]:
        marks = ", ".join("?" * len(states))
        return self._attempts(f"WHERE attempts.state IN ({marks})", [state.value for state in states])

    def verify(self) -> str | None:
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT seq, attempt_id, step, at_ms, data, link FROM journal ORDER BY seq"
            )
            broken = first_break(LinkedRow(*row) for row in rows)
            return broken or _first_misfit(connection)

    def _attempts(self, where: str, values: Iterable[object]) -> list[Attempt]:
        with self._database.read() as connection:
            rows: list[_Row] = connection.execute(
                f"{_ROWS} {where} ORDER BY attempts.first_seq, journal.seq", tuple(values)
            ).fetchall()
        return [
            Attempt(attempt_id, tuple(_journal_row(row) for row in group))
            for attempt_id, group in groupby(rows, key=lambda row: row[0])
        ]


def _journal_row(row: _Row) -> JournalRow:
    attempt_id, seq, step, at_ms, data = row
    try:
        return JournalRow(seq, attempt_id, Step(step), at_ms, decode_object(data))
    except ValueError as error:
        raise StoreError(
            f"Row {seq} of the journal (attempt {attempt_id}) is damaged: {error}.",
            hint="Run `tidegate journal verify`. Do not repeat the write before you looked at the chain.",
        ) from error


def _steps(connection: sqlite3.Connection, attempt_id: str) -> list[Step]:
    rows = connection.execute("SELECT step FROM journal WHERE attempt_id = ? ORDER BY seq", (attempt_id,))
    return [Step(step) for (step,) in rows]


def _head(connection: sqlite3.Connection) -> tuple[int, str]:
    row = connection.execute("SELECT seq, link FROM journal ORDER BY seq DESC LIMIT 1").fetchone()
    return (0, FIRST_LINK) if row is None else (int(row[0]), str(row[1]))


def _first_misfit(connection: sqlite3.Connection) -> str | None:
    """Return where the table of attempts says something else than the rows: rows cut off the end show so."""
    told: dict[str, list[tuple[int, Step]]] = {}
    for attempt_id, seq, step in connection.execute("SELECT attempt_id, seq, step FROM journal ORDER BY seq"):
        told.setdefault(attempt_id, []).append((seq, Step(step)))
    kept = connection.execute("SELECT id, first_seq, last_seq, state FROM attempts ORDER BY first_seq")
    for attempt_id, first_seq, last_seq, state in kept:
        rows = told.pop(attempt_id, [])
        if not rows:
            return f"The rows of attempt {attempt_id} are missing from the journal."
        if (first_seq, last_seq, state) != (rows[0][0], rows[-1][0], state_of([step for _, step in rows])):
            return f"The list of attempts says something else of {attempt_id} than its rows."
    for attempt_id in told:
        return f"Attempt {attempt_id} is missing from the list of attempts."
    return None
