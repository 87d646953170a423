"""The tables, as the ordered list of migrations that make them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence

from tidegate.core.errors import StoreError
from tidegate.core.store.base import SINGLE_USE, Step
from tidegate.core.store.database import Database

Migration = Callable[[sqlite3.Connection], None]
"""One step from a schema version to the next; it runs inside a transaction and must not end it."""

APPLICATION_ID = 0x54444754
"""ASCII "TDGT", in the file's header: tells our database from another program's."""


def _first_tables(connection: sqlite3.Connection) -> None:
    steps, single_use = _quoted(Step), _quoted(SINGLE_USE)
    for statement in (
        """CREATE TABLE sessions (
            id TEXT PRIMARY KEY,
            created_ms INTEGER NOT NULL,
            updated_ms INTEGER NOT NULL,
            turns INTEGER NOT NULL DEFAULT 0,
            title TEXT NOT NULL DEFAULT ''
        ) STRICT""",
        """CREATE TABLE messages (
            seq INTEGER PRIMARY KEY,
            session_id TEXT NOT NULL REFERENCES sessions (id),
            turn INTEGER NOT NULL,
            role TEXT NOT NULL,
            content TEXT NOT NULL,
            at_ms INTEGER NOT NULL
        ) STRICT""",
        "CREATE INDEX messages_of_session ON messages (session_id, seq)",
        """CREATE TABLE calls (
            seq INTEGER PRIMARY KEY,
            session_id TEXT NOT NULL REFERENCES sessions (id),
            call TEXT NOT NULL,
            at_ms INTEGER NOT NULL
        ) STRICT""",
        "CREATE INDEX calls_of_session ON calls (session_id, seq)",
        # What the journal says of each attempt, so that open ones are found without reading all of it.
        """CREATE TABLE attempts (
            id TEXT PRIMARY KEY,
            first_seq INTEGER NOT NULL,
            last_seq INTEGER NOT NULL,
            state TEXT NOT NULL
        ) STRICT""",
        "CREATE INDEX attempts_by_age ON attempts (first_seq)",
        "CREATE INDEX attempts_by_state ON attempts (state, first_seq)",
        f"""CREATE TABLE journal (
            seq INTEGER PRIMARY KEY,
            attempt_id TEXT NOT NULL REFERENCES attempts (id),
            step TEXT NOT NULL CHECK (step IN ({steps})),
            at_ms INTEGER NOT NULL,
            data TEXT NOT NULL,
            link TEXT NOT NULL
        ) STRICT""",
        "CREATE INDEX journal_of_attempt ON journal (attempt_id, seq)",
        f"CREATE UNIQUE INDEX journal_once ON journal (attempt_id, step) WHERE step IN ({single_use})",
        # INSERT OR REPLACE would remove a row without asking the trigger on DELETE.
        f"""CREATE TRIGGER journal_grows_at_its_end BEFORE INSERT ON journal
            WHEN NEW.seq <> (SELECT coalesce(max(seq), 0) + 1 FROM journal)
                OR (NEW.step IN ({single_use}) AND EXISTS (
                    SELECT 1 FROM journal WHERE attempt_id = NEW.attempt_id AND step = NEW.step))
            BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END""",
        """CREATE TRIGGER journal_keeps_rows BEFORE UPDATE ON journal
            BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END""",
        """CREATE TRIGGER journal_loses_no_rows BEFORE DELETE ON journal
            BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END""",
        """CREATE TABLE reservations (
            attempt_id TEXT PRIMARY KEY,
            wallet TEXT NOT NULL,
            day TEXT NOT NULL,
            usd TEXT NOT NULL,
            released INTEGER NOT NULL DEFAULT 0
        ) STRICT""",
        "CREATE INDEX reservations_by_day ON reservations (wallet, day)",
        """CREATE TABLE contacts (
            key TEXT PRIMARY KEY,
            name TEXT NOT NULL,
            address TEXT NOT NULL,
            at_ms INTEGER NOT NULL
        ) STRICT""",
        "CREATE INDEX contacts_by_address ON contacts (address)",
    ):
        connection.execute(statement)


MIGRATIONS: tuple[Migration, ...] = (_first_tables,)
"""Only ever added to: the version of a schema is how many of these made it."""


def check_origin(database: Database, known_version: int = len(MIGRATIONS)) -> int:
    """Return the schema version of the file, having changed nothing in it; 0 is a new one.

    Raises:
        StoreError: the file is another program's database, or a newer tidegate's.
    """
    with database.read() as connection:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        version = _version(connection)
    if application != APPLICATION_ID and (application or tables or version):
        raise StoreError(
            f"The store {database.path} is the database of another program.",
            hint="Move the file aside, or set XDG_STATE_HOME to a folder of its own.",
        )
    if version > known_version:
        raise StoreError(
            f"The store {database.path} was written by a newer tidegate (schema {version}; this one knows "
            f"{known_version}).",
            hint="Upgrade tidegate; nothing was changed.",
        )
    return version


def migrate(database: Database, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Bring the schema up to date, each migration in a transaction of its own.

    Processes may race: each looks at the version again under the write lock.

    Raises:
        StoreError: see `check_origin`; or the database cannot be written.
    """
    while check_origin(database, len(migrations)) < len(migrations):
        with database.write() as connection:
            version = _version(connection)
            if version < len(migrations):
                migrations[version](connection)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {version + 1}")


def _quoted(steps: Iterable[Step]) -> str:
    return ", ".join(f"'{step.value}'" for step in sorted(steps))


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
