"""The store of one machine: everything in one SQLite file."""

from __future__ import annotations

from tidegate.core.errors import StoreError
from tidegate.core.store.base import Store
from tidegate.core.store.contacts import SqliteContacts
from tidegate.core.store.database import Database
from tidegate.core.store.journal import SqliteJournal
from tidegate.core.store.sessions import SqliteSessions
from tidegate.core.store.spend import SqliteSpend


class SqliteStore(Store):
    """See `tidegate.core.store.base.Store`. Any thread may use it; a forked child may not."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sessions = SqliteSessions(database)
        self._journal = SqliteJournal(database)
        self._spend = SqliteSpend(database)
        self._contacts = SqliteContacts(database)

    @property
    def sessions(self) -> SqliteSessions:
        return self._sessions

    @property
    def journal(self) -> SqliteJournal:
        return self._journal

    @property
    def spend(self) -> SqliteSpend:
        return self._spend

    @property
    def contacts(self) -> SqliteContacts:
        return self._contacts

    def integrity(self) -> str | None:
        """Return None when SQLite finds the file sound, else what is wrong with it.

        Whether the journal says what was written is another question: see `Journal.verify`.
        """
        try:
            with self._database.read() as connection:
                found = [str(row[0]) for row in connection.execute("PRAGMA quick_check(20)")]
                orphans = connection.execute("PRAGMA foreign_key_check").fetchall()
        except StoreError as error:
            return error.message
        if found != ["ok"]:
            return "; ".join(found)
        if orphans:
            table, _, parent, _ = orphans[0]
            return f"{len(orphans)} rows belong to nothing, the first in {table}, without its row in {parent}"
        return None

    def close(self) -> None:
        self._database.close()
