from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from tidegate.core.errors import StoreError
from tidegate.core.store.base import Step
from tidegate.core.store.database import Database
from tidegate.core.store.open import open_store
from tidegate.core.store.schema import MIGRATIONS, Migration, migrate


def add_colour(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE contacts ADD COLUMN colour TEXT NOT NULL DEFAULT 'green'")


def fail_halfway(connection: sqlite3.Connection) -> None:
    add_colour(connection)
    connection.execute("INSERT INTO contacts (key) VALUES ('nobody')")


TWO: tuple[Migration, ...] = (*MIGRATIONS, add_colour)


@pytest.fixture
def database(database_path: Path) -> Iterator[Database]:
    """The file of a store that this version has made and closed."""
    open_store(database_path).close()
    database = Database(database_path)
    yield database
    database.close()


def version(database: Database) -> int:
    with database.read() as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def columns(database: Database) -> list[str]:
    with database.read() as connection:
        return [row[1] for row in connection.execute("PRAGMA table_info(contacts)")]


def test_a_new_store_has_the_newest_schema(database: Database) -> None:
    assert version(database) == len(MIGRATIONS)


def test_an_old_schema_is_brought_up_to_date_and_keeps_its_rows(
    database_path: Path, database: Database
) -> None:
    with closing(open_store(database_path)) as store:
        store.journal.append("a1", Step.PROPOSED, 1, {"tool": "send_transfer"})

    migrate(database, TWO)

    assert version(database) == len(TWO)
    assert "colour" in columns(database)
    with database.read() as connection:
        assert connection.execute("SELECT count(*) FROM journal").fetchone() == (1,)


def test_a_schema_that_is_up_to_date_is_left_alone(database: Database) -> None:
    migrate(database, TWO)

    migrate(database, TWO)

    assert columns(database).count("colour") == 1


def test_a_newer_schema_is_refused(database_path: Path, database: Database) -> None:
    migrate(database, TWO)

    with pytest.raises(StoreError, match="written by a newer tidegate") as refused:
        open_store(database_path)

    assert refused.value.hint is not None
    assert "Upgrade" in refused.value.hint


def test_a_migration_that_fails_leaves_the_old_schema(database: Database) -> None:
    with pytest.raises(StoreError):
        migrate(database, (*MIGRATIONS, fail_halfway))

    assert version(database) == len(MIGRATIONS)
    assert "colour" not in columns(database)


def test_a_migration_runs_once_however_many_begin_it(database_path: Path, database: Database) -> None:
    databases = [Database(database_path) for _ in range(6)]

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda each: migrate(each, TWO), databases))

    for each in databases:
        each.close()
    assert version(database) == len(TWO)


def test_a_migration_that_another_process_has_just_run_is_not_run_again(
    database_path: Path, database: Database
) -> None:
    ran: list[str] = []

    def note(connection: sqlite3.Connection) -> None:
        ran.append("second")
        add_colour(connection)

    class Overtaken(Database):
        """Between its look at the version and its lock, somebody else migrates."""

        def write(self):  # type: ignore[no-untyped-def]
            migrate(database, (*MIGRATIONS, note))
            return super().write()

    with closing(Overtaken(database_path)) as overtaken:
        migrate(overtaken, (*MIGRATIONS, note))

    assert ran == ["second"]
