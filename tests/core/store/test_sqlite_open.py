from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tidegate.core.errors import StoreError
from tidegate.core.store.base import Step
from tidegate.core.store.database import Database
from tidegate.core.store.open import open_store

NOBODY = 65534


@pytest.fixture
def unprivileged_folder() -> Iterator[Path]:
    """A folder of an account that is not root, which the test runs as: root may write everywhere."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    if os.geteuid() != 0:
        yield folder
    else:
        os.chown(folder, NOBODY, NOBODY)
        os.seteuid(NOBODY)
        yield folder
        os.seteuid(0)
    folder.chmod(0o755)
    shutil.rmtree(folder)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_folder_and_files_are_for_their_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "share" / "state" / "tidegate.db"

    with closing(open_store(path)) as store:
        store.sessions.create("s1", 1)
        modes = {entry.name: mode(entry) for entry in path.parent.iterdir()}

    assert set(modes.values()) == {0o600}
    assert [mode(path.parent), mode(path.parent.parent)] == [0o700, 0o700]


def test_a_file_that_others_could_read_is_closed_to_them(database_path: Path) -> None:
    open_store(database_path).close()
    database_path.chmod(0o644)

    open_store(database_path).close()

    assert mode(database_path) == 0o600


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "tidegate.db"
    path.touch()

    with closing(open_store(path)) as store:
        assert store.integrity() is None


@pytest.mark.parametrize(
    ("pragma", "value"), [("journal_mode", "wal"), ("synchronous", 2), ("foreign_keys", 1)]
)
def test_what_is_written_is_logged_ahead_synced_and_checked(
    database_path: Path, pragma: str, value: object
) -> None:
    open_store(database_path).close()

    with closing(Database(database_path)) as database:
        database.configure()
        with database.read() as connection:
            assert connection.execute(f"PRAGMA {pragma}").fetchone() == (value,)


def test_a_folder_in_place_of_the_file_is_refused(database_path: Path) -> None:
    database_path.mkdir(parents=True)

    with pytest.raises(StoreError, match="is not a file") as refused:
        open_store(database_path)

    assert refused.value.hint


def test_a_link_to_nowhere_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tidegate.db"
    path.symlink_to(tmp_path / "gone.db")

    with pytest.raises(StoreError, match="cannot be read: No such file"):
        open_store(path)


def test_a_file_in_place_of_the_folder_is_refused(database_path: Path) -> None:
    database_path.parent.write_text("")

    with pytest.raises(StoreError, match="Not a directory"):
        open_store(database_path)


def test_a_file_in_place_of_a_folder_above_is_refused(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("")

    with pytest.raises(StoreError, match="cannot be made"):
        open_store(tmp_path / "state" / "deeper" / "tidegate.db")


def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(database_path: Path) -> None:
    database_path.parent.mkdir()
    database_path.write_text("my diary, and a very private one at that\n" * 100)

    with pytest.raises(StoreError, match="is not a tidegate database"):
        open_store(database_path)

    assert database_path.read_text().startswith("my diary")


@pytest.mark.parametrize(
    "statement", ["CREATE TABLE birds (name)", "PRAGMA user_version = 1", "PRAGMA application_id = 7"]
)
def test_the_database_of_another_program_is_refused_and_left_as_it_is(
    database_path: Path, statement: str
) -> None:
    database_path.parent.mkdir()
    with closing(sqlite3.connect(database_path)) as connection:
        connection.execute(statement)
        connection.commit()
    before = database_path.read_bytes()

    with pytest.raises(StoreError, match="another program"):
        open_store(database_path)

    assert database_path.read_bytes() == before


def test_a_read_only_folder_is_refused(unprivileged_folder: Path) -> None:
    unprivileged_folder.chmod(0o555)

    with pytest.raises(StoreError, match="cannot be made: Permission denied") as refused:
        open_store(unprivileged_folder / "tidegate.db")

    assert refused.value.hint


def test_a_store_in_a_folder_that_became_read_only_is_refused(unprivileged_folder: Path) -> None:
    path = unprivileged_folder / "tidegate.db"
    open_store(path).close()
    unprivileged_folder.chmod(0o555)

    with pytest.raises(StoreError, match="cannot be"):
        open_store(path)


def test_a_read_only_file_is_refused(unprivileged_folder: Path) -> None:
    path = unprivileged_folder / "tidegate.db"
    open_store(path).close()
    path.chmod(0o400)

    with pytest.raises(StoreError, match="cannot be written"):
        open_store(path).sessions.create("s1", 1)


def test_a_folder_that_cannot_be_entered_is_refused(unprivileged_folder: Path) -> None:
    (unprivileged_folder / "state").mkdir()
    (unprivileged_folder / "state").chmod(0o000)

    with pytest.raises(StoreError, match="Permission denied"):
        open_store(unprivileged_folder / "state" / "tidegate.db")


_OPEN_AND_ADD = """
import sys
from pathlib import Path
from tidegate.core.store.base import Step
from tidegate.core.store.database import Database
from tidegate.core.store.open import open_store
sys.stdin.readline()
open_store(Path(sys.argv[1])).journal.append(sys.argv[2], Step.PROPOSED, 1, {})
"""


def test_processes_that_make_the_store_at_once_all_succeed(database_path: Path) -> None:
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", _OPEN_AND_ADD, str(database_path), f"attempt-{index}"],
            stdin=subprocess.PIPE,
        )
        for index in range(6)
    ]

    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write(b"\n")
        worker.stdin.flush()
    for worker in workers:
        worker.communicate(timeout=60)

    assert [worker.returncode for worker in workers] == [0] * 6
    with closing(open_store(database_path)) as store:
        assert len(store.journal.in_state(Step.PROPOSED)) == 6


def test_a_closed_store_says_so(database_path: Path) -> None:
    store = open_store(database_path)
    store.close()

    with pytest.raises(StoreError, match="closed"):
        store.contacts.all()
