"""What is broken, full, held by another process or edited by hand."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from tidegate.core.errors import StoreError
from tidegate.core.store.base import Step, Store, StoredMessage
from tidegate.core.store.database import Database, store_error
from tidegate.core.store.journal import SqliteJournal
from tidegate.core.store.open import open_store
from tidegate.core.store.sessions import SqliteSessions
from tidegate.core.store.sqlite import SqliteStore

AT_MS = 1_800_000_000_000

_APPEND_ONLY = ("journal_grows_at_its_end", "journal_keeps_rows", "journal_loses_no_rows")


@pytest.fixture
def store(database_path: Path) -> Iterator[Store]:
    """A store with two sessions of one message and one call, and three attempts of two rows."""
    store = open_store(database_path)
    for name in ("s1", "s2"):
        store.sessions.create(name, AT_MS)
        store.sessions.append(name, StoredMessage(1, "user", [{"type": "text", "text": "x" * 2000}], AT_MS))
        store.sessions.record_call(name, {"tool": "balance_check"}, AT_MS)
    for index in range(3):
        store.journal.append(f"attempt-{index}", Step.PROPOSED, AT_MS, {"tool": "send_transfer"})
        store.journal.append(f"attempt-{index}", Step.DENIED, AT_MS, {})
    yield store
    store.close()


@pytest.fixture
def by_hand(database_path: Path, store: Store) -> Iterator[sqlite3.Connection]:
    """A connection of somebody with a database browser."""
    with closing(sqlite3.connect(database_path, isolation_level=None)) as connection:
        yield connection


def without_triggers(connection: sqlite3.Connection, *statements: str) -> None:
    for name in _APPEND_ONLY:
        connection.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        connection.execute(statement)


def overwrite_page(path: Path, name: str) -> None:
    """Write rubbish over the first page of a table or index, in a file that nobody has open."""
    with closing(sqlite3.connect(path)) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (name,)).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xa5" * size)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE journal SET data = '{}' WHERE seq = 1",
        "DELETE FROM journal WHERE seq = 6",
        "INSERT OR REPLACE INTO journal SELECT seq, attempt_id, step, at_ms, '{\"a\":1}', link FROM journal",
        "INSERT INTO journal SELECT 9, attempt_id, 'unknown', at_ms, data, link FROM journal WHERE seq = 1",
        "INSERT OR REPLACE INTO journal SELECT 7, attempt_id, step, 0, data, link FROM journal WHERE seq = 1",
    ],
)
def test_the_journal_only_grows_at_its_end(by_hand: sqlite3.Connection, store: Store, statement: str) -> None:
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        by_hand.execute(statement)

    assert store.journal.verify() is None


def test_the_table_itself_refuses_a_second_single_use_step(by_hand: sqlite3.Connection) -> None:
    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
        without_triggers(
            by_hand,
            "INSERT INTO journal SELECT 7, attempt_id, step, at_ms, data, link FROM journal WHERE seq = 1",
        )


@pytest.mark.parametrize(
    ("edit", "found"),
    [
        ('UPDATE journal SET data = \'{"tool":"swap"}\' WHERE seq = 3', "Row 3 .*attempt-1.* not what"),
        ("UPDATE journal SET at_ms = at_ms + 1 WHERE seq = 1", "Row 1 "),
        ("UPDATE journal SET step = 'failed' WHERE seq = 6", "Row 6 "),
        ("UPDATE journal SET attempt_id = 'attempt-9' WHERE seq = 6", "Row 6 "),
        ("DELETE FROM journal WHERE seq = 2", "Row 2 .*missing"),
        ("DELETE FROM journal WHERE seq = 6", "of attempt-2 "),
        ("DELETE FROM journal WHERE seq > 4", "rows of attempt attempt-2 are missing"),
        ("DELETE FROM attempts WHERE id = 'attempt-1'", "attempt-1 is missing from the list"),
        ("UPDATE attempts SET state = 'proposed' WHERE id = 'attempt-1'", "of attempt-1 "),
    ],
)
def test_an_edit_of_the_journal_is_found(
    by_hand: sqlite3.Connection, store: Store, edit: str, found: str
) -> None:
    without_triggers(by_hand, edit)

    broken = store.journal.verify()

    assert broken is not None
    assert re.search(found, broken)


def test_a_damaged_row_is_named(by_hand: sqlite3.Connection, store: Store) -> None:
    without_triggers(by_hand, "UPDATE journal SET data = '[1' WHERE seq = 3")

    with pytest.raises(StoreError, match=r"Row 3 of the journal \(attempt attempt-1\) is damaged") as raised:
        store.journal.attempt("attempt-1")

    assert raised.value.hint
    assert store.journal.attempt("attempt-2") is not None


@pytest.mark.parametrize(
    "content", ["{", "{}", "[1]", "[NaN]", "[" * 100_000, "x", '[{"a":1e999999999999999999999}]']
)
def test_a_damaged_message_takes_only_its_session_along(
    by_hand: sqlite3.Connection, store: Store, content: str
) -> None:
    by_hand.execute("UPDATE messages SET content = ? WHERE session_id = 's1'", (content,))

    with pytest.raises(StoreError, match="Session s1 cannot be read") as raised:
        store.sessions.messages("s1")

    assert raised.value.hint
    assert len(store.sessions.messages("s2")) == 1
    assert len(store.journal.recent()) == 3


def test_a_damaged_call_takes_only_its_session_along(by_hand: sqlite3.Connection, store: Store) -> None:
    by_hand.execute("UPDATE calls SET call = '[]' WHERE session_id = 's1'")

    with pytest.raises(StoreError, match="Session s1 cannot be read"):
        store.sessions.calls("s1")

    assert len(store.sessions.calls("s2")) == 1


def test_damaged_pages_of_the_messages_leave_the_journal_working(database_path: Path, store: Store) -> None:
    store.close()
    overwrite_page(database_path, "messages")

    with closing(open_store(database_path)) as again:
        with pytest.raises(StoreError, match=r"Session s1 cannot be read\. The store .* is damaged"):
            again.sessions.messages("s1")
        again.journal.append("attempt-9", Step.PROPOSED, AT_MS, {})
        assert again.journal.verify() is None
        assert again.integrity() is not None


def test_a_sound_store_has_nothing_to_say(store: Store) -> None:
    assert store.integrity() is None


def test_a_damaged_table_is_reported(database_path: Path, store: Store) -> None:
    store.close()
    overwrite_page(database_path, "journal")
    database = Database(database_path)

    with closing(SqliteStore(database)) as again:
        assert again.integrity()


def test_a_damaged_index_is_reported(database_path: Path, store: Store) -> None:
    store.close()
    overwrite_page(database_path, "messages_of_session")

    with closing(open_store(database_path)) as again:
        assert "btreeInitPage" in (again.integrity() or "")


def test_rows_that_belong_to_nothing_are_reported(by_hand: sqlite3.Connection, store: Store) -> None:
    by_hand.execute("DELETE FROM sessions WHERE id = 's1'")

    assert store.integrity() == "2 rows belong to nothing, the first in calls, without its row in sessions"


def test_a_closed_store_cannot_be_checked(store: Store) -> None:
    store.close()

    assert "closed" in (store.integrity() or "")


@pytest.fixture
def impatient(database_path: Path, store: Store) -> Iterator[Database]:
    """The same store for somebody who waits 50 ms for others."""
    with closing(Database(database_path, busy_timeout_s=0.05)) as database:
        yield database


def test_a_process_that_holds_the_store_is_not_waited_for_for_ever(
    by_hand: sqlite3.Connection, impatient: Database
) -> None:
    by_hand.execute("BEGIN IMMEDIATE")

    with pytest.raises(StoreError, match="Another process has held the store") as raised:
        SqliteJournal(impatient).append("attempt-9", Step.PROPOSED, AT_MS, {})

    assert raised.value.retryable
    assert raised.value.hint


def test_what_one_process_writes_does_not_keep_others_from_reading(
    by_hand: sqlite3.Connection, impatient: Database
) -> None:
    by_hand.execute("BEGIN IMMEDIATE")

    assert SqliteJournal(impatient).attempt("attempt-0") is not None


def test_a_store_that_is_held_is_not_called_damaged(
    by_hand: sqlite3.Connection, store: Store, impatient: Database
) -> None:
    store.close()
    by_hand.execute("PRAGMA journal_mode = DELETE")
    by_hand.execute("BEGIN EXCLUSIVE")

    with pytest.raises(StoreError, match="Another process"):
        SqliteSessions(impatient).messages("s1")


def test_the_log_is_not_waited_for_for_ever(
    by_hand: sqlite3.Connection, store: Store, impatient: Database
) -> None:
    store.close()
    by_hand.execute("PRAGMA journal_mode = DELETE")
    by_hand.execute("BEGIN")
    by_hand.execute("SELECT count(*) FROM sessions").fetchone()

    with pytest.raises(StoreError, match="Another process"):
        impatient.configure()


def test_the_log_is_set_up_once_others_let_go(
    database_path: Path, by_hand: sqlite3.Connection, store: Store
) -> None:
    store.close()
    by_hand.execute("PRAGMA journal_mode = DELETE")
    by_hand.execute("BEGIN")
    by_hand.execute("SELECT count(*) FROM sessions").fetchone()

    with closing(Database(database_path)) as database, ThreadPoolExecutor(1) as pool:
        configured = pool.submit(database.configure)
        with pytest.raises(TimeoutError):
            configured.result(timeout=0.1)
        by_hand.execute("COMMIT")
        configured.result(timeout=10)

    with closing(sqlite3.connect(database_path)) as later:
        assert later.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_full_disk_is_said_in_plain_words(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "small.db")) as connection:
        connection.execute("CREATE TABLE t (x)")
        connection.execute("PRAGMA max_page_count = 3")
        with pytest.raises(sqlite3.Error) as full:
            connection.execute("INSERT INTO t VALUES (zeroblob(100000))")

    error = store_error(full.value, Path("/state/tidegate.db"))

    assert error.message == "The store /state/tidegate.db is on a disk that is full."
    assert error.hint is not None


def test_an_error_that_nobody_expected_is_told_as_it_is() -> None:
    error = store_error(sqlite3.ProgrammingError("odd"), Path("tidegate.db"))

    assert "cannot be used: odd." in error.message
    assert error.hint


_FILL = """
import resource, sys
from pathlib import Path
from tidegate.core.errors import StoreError
from tidegate.core.store.base import Step
from tidegate.core.store.open import open_store
store = open_store(Path(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
written = 0
try:
    while True:
        store.journal.append(f"big-{written}", Step.PROPOSED, 1, {"note": "x" * 20_000})
        written += 1
except StoreError as error:
    print(written, error.message)
"""


def test_a_disk_that_takes_no_more_stops_the_writer_and_keeps_what_it_took(
    database_path: Path, store: Store
) -> None:
    store.close()

    out = subprocess.run(
        [sys.executable, "-c", _FILL, str(database_path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout
    written, message = out.split(" ", 1)

    assert "The store" in message
    with closing(open_store(database_path)) as again:
        assert len(again.journal.match("big-")) == int(written) > 0
        assert again.journal.verify() is None
        assert again.integrity() is None


def test_an_interrupted_transaction_leaves_nothing_and_the_store_usable(
    database_path: Path, store: Store
) -> None:
    database = Database(database_path)

    def interrupted() -> None:
        with database.write() as connection:
            connection.execute("DELETE FROM messages")
            raise KeyboardInterrupt

    with closing(database):
        with pytest.raises(KeyboardInterrupt):
            interrupted()
        with database.write() as connection:
            assert connection.execute("SELECT count(*) FROM messages").fetchone() == (2,)
