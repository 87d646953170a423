"""Conversations in SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from tidegate.core.errors import NotFound, StoreError
from tidegate.core.events import JsonObject
from tidegate.core.store.base import SessionInfo, Sessions, StoredMessage
from tidegate.core.store.database import Database
from tidegate.core.store.exact import decode_object, decode_objects, encode, utf8

_T = TypeVar("_T")

_SESSION = "SELECT id, created_ms, updated_ms, turns, title FROM sessions"
_NEWEST_FIRST = "ORDER BY updated_ms DESC, created_ms DESC, rowid DESC LIMIT ?"


class SqliteSessions(Sessions):
    """See `tidegate.core.store.base.Sessions`.

    What cannot be read of one session is a StoreError naming it, and touches nothing else.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, session_id: str, at_ms: int) -> None:
        """Begin a session.

        Raises:
            StoreError: there is one of this id.
        """
        with self._database.write() as connection:
            made = connection.execute(
                "INSERT INTO sessions (id, created_ms, updated_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                (session_id, at_ms, at_ms),
            )
            if made.rowcount == 0:
                raise StoreError(
                    f"Session {session_id} exists already.", hint="Ask without naming a session."
                )

    def get(self, session_id: str) -> SessionInfo | None:
        with self._database.read() as connection:
            row = connection.execute(f"{_SESSION} WHERE id = ?", (utf8(session_id),)).fetchone()
        return None if row is None else SessionInfo(*row)

    def latest(self) -> SessionInfo | None:
        return next(iter(self.recent(1)), None)

    def recent(self, limit: int = 50) -> list[SessionInfo]:
        with self._database.read() as connection:
            rows = connection.execute(f"{_SESSION} {_NEWEST_FIRST}", (limit,)).fetchall()
        return [SessionInfo(*row) for row in rows]

    def begin_turn(self, session_id: str, title: str, at_ms: int) -> int:
        """Count one more turn and return its number.

        Raises:
            NotFound: there is no such session.
        """
        with self._database.write() as connection:
            rows = connection.execute(
                "UPDATE sessions SET turns = turns + 1, updated_ms = ?,"
                " title = CASE WHEN turns = 0 THEN ? ELSE title END WHERE id = ? RETURNING turns",
                (at_ms, utf8(title), utf8(session_id)),
            ).fetchall()
            if not rows:
                raise _no_session(session_id)
        return int(rows[0][0])

    def append(self, session_id: str, message: StoredMessage) -> None:
        """Add a message.

        Raises:
            NotFound: there is no such session.
        """
        content = encode(list(message.content))
        with self._database.write() as connection:
            _touch(connection, session_id, message.at_ms)
            connection.execute(
                "INSERT INTO messages (session_id, turn, role, content, at_ms) VALUES (?, ?, ?, ?, ?)",
                (session_id, message.turn, message.role, content, message.at_ms),
            )

    def messages(self, session_id: str) -> list[StoredMessage]:
        """Return every message, oldest first.

        Raises:
            StoreError: a row of the session cannot be read.
        """
        with _naming(session_id):
            with self._database.read() as connection:
                rows = connection.execute(
                    "SELECT turn, role, content, at_ms FROM messages WHERE session_id = ? ORDER BY seq",
                    (session_id,),
                ).fetchall()
            return [
                StoredMessage(turn, role, _read(decode_objects, content), at_ms)
                for turn, role, content, at_ms in rows
            ]

    def record_call(self, session_id: str, call: JsonObject, at_ms: int) -> None:
        """Keep a settled tool call.

        Raises:
            NotFound: there is no such session.
        """
        text = encode(call)
        with self._database.write() as connection:
            _touch(connection, session_id, at_ms)
            connection.execute(
                "INSERT INTO calls (session_id, call, at_ms) VALUES (?, ?, ?)", (session_id, text, at_ms)
            )

    def calls(self, session_id: str, limit: int = 200) -> list[tuple[int, JsonObject]]:
        """Return (at_ms, call), oldest first, the newest `limit` of them.

        Raises:
            StoreError: a row of the session cannot be read.
        """
        with _naming(session_id):
            with self._database.read() as connection:
                rows = connection.execute(
                    "SELECT at_ms, call FROM calls WHERE session_id = ? ORDER BY seq DESC LIMIT ?",
                    (session_id, limit),
                ).fetchall()
            return [(at_ms, _read(decode_object, call)) for at_ms, call in reversed(rows)]


def _touch(connection: sqlite3.Connection, session_id: str, at_ms: int) -> None:
    touched = connection.execute("UPDATE sessions SET updated_ms = ? WHERE id = ?", (at_ms, session_id))
    if touched.rowcount == 0:
        raise _no_session(session_id)


def _no_session(session_id: str) -> NotFound:
    return NotFound(f"No session {session_id[:80]!r}.", hint="Run `tidegate sessions` for the list.")


def _read(decode: Callable[[str], _T], text: str) -> _T:
    try:
        return decode(text)
    except ValueError as error:
        raise StoreError(f"One of its rows is damaged: {error}.") from error


@contextmanager
def _naming(session_id: str) -> Iterator[None]:
    try:
        yield
    except StoreError as error:
        if error.retryable:
            raise
        raise StoreError(
            f"Session {session_id} cannot be read. {error.message}",
            hint="Begin a new session; other sessions and the journal of writes are kept apart from it.",
        ) from error
