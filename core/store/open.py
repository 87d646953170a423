"""Opening the store of this user."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from tidegate.core.errors import StoreError
from tidegate.core.store.base import Store
from tidegate.core.store.database import Database
from tidegate.core.store.schema import check_origin, migrate
from tidegate.core.store.sqlite import SqliteStore


def open_store(path: Path) -> Store:
    """Open the store, making file and folder if they do not exist (0600 in 0700), and bring it up to date.

    Args:
        path: The SQLite file.

    Raises:
        StoreError: it cannot be read and written, is no database of ours, or a newer tidegate's.
    """
    _make_private(path)
    database = Database(path)
    try:
        # Before the write-ahead log is set up, which changes the file: it might be somebody else's.
        check_origin(database)
        database.configure()
        migrate(database)
    except BaseException:
        database.close()
        raise
    return SqliteStore(database)


def _make_private(path: Path) -> None:
    try:
        for folder in reversed(path.parents):
            if not folder.exists():
                folder.mkdir(mode=0o700, exist_ok=True)
        # SQLite gives its log and index the mode of the file. An existing file is not opened here: closing it
        # again would drop the locks this process holds on it.
        path.touch(mode=0o600, exist_ok=False)
    except FileExistsError:
        _tighten(path)
    except OSError as error:
        raise StoreError(
            f"The store {path} cannot be made: {error.strerror}.",
            hint="Check that its folder can be written, or set XDG_STATE_HOME to one that can.",
        ) from error


def _tighten(path: Path) -> None:
    try:
        status = path.stat()
        if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and status.st_mode & 0o077:
            path.chmod(stat.S_IMODE(status.st_mode) & ~0o077)
    except OSError as error:
        raise StoreError(
            f"The store {path} cannot be read: {error.strerror}.", hint="Check who owns the file."
        ) from error
    if not stat.S_ISREG(status.st_mode):
        raise StoreError(
            f"The store {path} is not a file.", hint="Move it aside, or set XDG_STATE_HOME to another folder."
        )
