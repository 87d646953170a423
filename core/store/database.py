"""One SQLite file shared by processes and threads: transactions, and its errors in plain words."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tidegate.core.errors import StoreError

BUSY_TIMEOUT_S = 10.0
"""How long a process waits for another one's transaction."""

_RETRY_S = 0.02

_DAMAGED = "Keep the file, run `tidegate doctor`, and restore a backup or move it aside."
_ADVICE: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_FULL: ("is on a disk that is full.", "Free some space and run the command again."),
    sqlite3.SQLITE_READONLY: (
        "cannot be written.",
        "Check who owns the file and its folder, and that both can be written.",
    ),
    sqlite3.SQLITE_PERM: ("cannot be opened.", "Check who owns the file and its folder."),
    sqlite3.SQLITE_CANTOPEN: (
        "cannot be opened.",
        "Check that its folder exists and can be written, or set XDG_STATE_HOME to one that can.",
    ),
    sqlite3.SQLITE_NOTADB: ("is not a tidegate database.", "Move the file aside; a new one will be made."),
    sqlite3.SQLITE_CORRUPT: ("is damaged.", _DAMAGED),
    sqlite3.SQLITE_IOERR: (
        "cannot be read or written: the system reports an I/O error.",
        "Check the disk, its free space and its limits.",
    ),
}


def store_error(error: sqlite3.Error, path: Path) -> StoreError:
    """Return what an SQLite error means for the person, and what to do about it."""
    kind = _kind(error)
    if kind in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreError(
            f"Another process has held the store {path} for {BUSY_TIMEOUT_S:.0f} seconds.",
            hint="Let it finish or end it, then run the command again.",
            retryable=True,
        )
    what, hint = _ADVICE.get(kind, (f"cannot be used: {error}.", "Run `tidegate doctor`."))
    return StoreError(f"The store {path} {what}", hint=hint)


class Database:
    """A connection that threads take turns with.

    One connection and a lock rather than one for each thread: a read takes microseconds, so nothing is won
    by reading side by side, and `close` is sure to close everything. Statements run inside `read` or `write`,
    which must not be nested. A forked child must not use its parent's.

    Args:
        path: The file, made if it does not exist.
        busy_timeout_s: How long to wait for another process's transaction.

    Raises:
        StoreError: the file cannot be opened.
    """

    def __init__(self, path: Path, *, busy_timeout_s: float = BUSY_TIMEOUT_S) -> None:
        self.path = path
        self._busy_timeout_s = busy_timeout_s
        self._lock = threading.Lock()
        with self._errors():
            self._connection = sqlite3.connect(
                path, timeout=busy_timeout_s, isolation_level=None, check_same_thread=False
            )

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """See one unchanging state.

        Raises:
            StoreError: the database cannot be read.
        """
        with self._transaction("BEGIN") as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Hold the database's write lock from before the first read; commit at the end or undo everything.

        What was committed is on the disk when this returns.

        Raises:
            StoreError: the database cannot be written, or another process holds it for too long.
        """
        with self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection

    def configure(self) -> None:
        """Set what SQLite does not keep in the file, and the write-ahead log.

        Raises:
            StoreError: the file is not a database, or cannot be written.
        """
        with self._lock, self._errors():
            self._connection.execute("PRAGMA foreign_keys = ON")
            self._connection.execute("PRAGMA synchronous = FULL")
            # On macOS a plain fsync leaves the data in the drive's cache; elsewhere this changes nothing.
            self._connection.execute("PRAGMA fullfsync = ON")
            self._connection.execute("PRAGMA trusted_schema = OFF")
            self._use_wal()

    def close(self) -> None:
        """Close the connection; whoever uses the store after that gets a StoreError."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._lock, self._errors():
            connection = self._connection
            try:
                connection.execute(begin)
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                self._undo()
                raise

    def _undo(self) -> None:
        # SQLite has undone it by itself after some errors, and a second failure must not hide the first.
        with suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise store_error(error, self.path) from error

    def _use_wal(self) -> None:
        # SQLite does not wait for every lock while it changes the journal mode: of eight processes that open
        # a new file at the same moment, one fails now and then without this loop. Where the log is
        # impossible, SQLite keeps its rollback journal, which is as durable.
        deadline = time.monotonic() + self._busy_timeout_s
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if _kind(error) != sqlite3.SQLITE_BUSY or time.monotonic() >= deadline:
                    raise
            time.sleep(_RETRY_S)


def _kind(error: sqlite3.Error) -> int:
    """Return the primary result code: the rest of an extended one tells where in SQLite it came from."""
    return int(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)) & 0xFF
