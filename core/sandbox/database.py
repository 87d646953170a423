"""One SQLite database used by several threads and processes: locks, transactions, settings by name."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_BUSY_TIMEOUT_S = 30.0
_RETRY_S = 0.01

Row = tuple[object, ...]


class Database:
    """A connection that threads take turns with.

    Args:
        path: The file, made if it does not exist; None keeps everything in memory.

    Raises:
        sqlite3.Error: the file can not be opened, or is no database.
    """

    def __init__(self, path: Path | None) -> None:
        self._lock = threading.RLock()
        self._writing = False
        self._connection = sqlite3.connect(
            ":memory:" if path is None else path,
            timeout=_BUSY_TIMEOUT_S,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            self._use_wal()
            self._connection.execute("PRAGMA synchronous = FULL")
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def write(self) -> Iterator[None]:
        """Hold the database's write lock; commit at the end, or undo everything on an exception."""
        with self._transaction("BEGIN IMMEDIATE", writes=True):
            yield

    @contextmanager
    def read(self) -> Iterator[None]:
        """See one unchanging state."""
        with self._transaction("BEGIN", writes=False):
            yield

    def one(self, sql: str, values: Sequence[object] = ()) -> Row | None:
        """Return the first row of a query, or None."""
        with self._lock:
            found: Row | None = self._connection.execute(sql, values).fetchone()
            return found

    def all(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        """Return every row of a query."""
        with self._lock:
            return self._connection.execute(sql, values).fetchall()

    def run(self, sql: str, values: Sequence[object] = ()) -> int:
        """Execute a statement and return how many rows it changed. Call it inside `write`."""
        with self._lock:
            return self._connection.execute(sql, values).rowcount

    def run_many(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        """Execute a statement for each row. Call it inside `write`."""
        with self._lock:
            self._connection.executemany(sql, rows)

    def has_table(self, name: str) -> bool:
        """Say whether a table exists."""
        return self.one("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (name,)) is not None

    def meta(self, key: str) -> str | None:
        """Return a named setting from the table ``meta``, or None."""
        found = self.one("SELECT value FROM meta WHERE key = ?", (key,))
        return None if found is None else str(found[0])

    def number(self, key: str) -> int:
        """Return a named setting that is a number, zero when it was never set."""
        return int(self.meta(key) or 0)

    def set_meta(self, key: str, value: object) -> None:
        """Set a named setting. Call it inside `write`."""
        self.run("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, str(value)))

    @contextmanager
    def _transaction(self, begin: str, *, writes: bool) -> Iterator[None]:
        with self._lock:
            if self._connection.in_transaction:
                if writes and not self._writing:
                    # Taking the lock now would let another process change what was read before.
                    raise RuntimeError("a write can not begin inside a read")
                yield
                return
            self._connection.execute(begin)
            self._writing = writes
            try:
                yield
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def _use_wal(self) -> None:
        # SQLite does not wait for a lock while it changes the journal mode, so two processes that open a new
        # file at the same moment would fail here.
        for _ in range(int(_BUSY_TIMEOUT_S / _RETRY_S)):
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                    raise
                time.sleep(_RETRY_S)
        self._connection.execute("PRAGMA journal_mode = WAL")
