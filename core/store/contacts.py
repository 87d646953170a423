"""Names for addresses in SQLite."""

from __future__ import annotations

import unicodedata

from tidegate.core.errors import UsageError
from tidegate.core.store.base import Contact, Contacts
from tidegate.core.store.database import Database
from tidegate.core.store.exact import utf8


class SqliteContacts(Contacts):
    """See `tidegate.core.store.base.Contacts`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, name: str) -> Contact | None:
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT name, address FROM contacts WHERE key = ?", (name_key(name),)
            ).fetchone()
        return None if row is None else Contact(*row)

    def by_address(self, address: str) -> Contact | None:
        """Return the contact of an address; of several, the one saved first."""
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT name, address FROM contacts WHERE address = ? ORDER BY rowid LIMIT 1",
                (utf8(address),),
            ).fetchone()
        return None if row is None else Contact(*row)

    def all(self) -> list[Contact]:
        """Return every contact, sorted by name without regard to case."""
        with self._database.read() as connection:
            rows = connection.execute("SELECT name, address FROM contacts ORDER BY key").fetchall()
        return [Contact(*row) for row in rows]

    def save(self, contact: Contact, at_ms: int) -> None:
        key, name = name_key(contact.name), utf8(contact.name)
        with self._database.write() as connection:
            row = connection.execute("SELECT name, address FROM contacts WHERE key = ?", (key,)).fetchone()
            if row is None:
                connection.execute(
                    "INSERT INTO contacts (key, name, address, at_ms) VALUES (?, ?, ?, ?)",
                    (key, name, contact.address, at_ms),
                )
            elif row[1] != contact.address:
                raise UsageError(
                    f"{row[0]} is already the name of another address, {row[1]}.",
                    hint="Save the new address under another name.",
                )


def name_key(name: str) -> str:
    """Return what two names share that are the same to a reader: case, spacing and full-width forms fold."""
    folded = unicodedata.normalize("NFKC", utf8(name)).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())
