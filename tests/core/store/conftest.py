"""A store to test, and processes that share it. What is neutral here runs on every kind of store."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from tidegate.core.store.base import Store
from tidegate.core.store.open import open_store

Worker = subprocess.Popen[str]

_PRELUDE = """
import sys
from decimal import Decimal
from pathlib import Path
from tidegate.core.errors import StoreError
from tidegate.core.money import Usd
from tidegate.core.store.base import Step, StepTaken
from tidegate.core.store.open import open_store
store = {opening}
print("ready", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def database_path(tmp_path: Path) -> Path:
    """Where the SQLite file is made, in a folder that does not exist yet."""
    return tmp_path / "state" / "tidegate.db"


@pytest.fixture(params=["sqlite"])
def opening(database_path: Path) -> str:
    """The Python expression by which any process opens the store."""
    return f"open_store(Path({str(database_path)!r}))"


@pytest.fixture
def reopen(opening: str) -> Iterator[Callable[[], Store]]:
    """Open the store once more, as another command would."""
    stores: list[Store] = []

    def again() -> Store:
        store: Store = eval(opening, {"open_store": open_store, "Path": Path})
        stores.append(store)
        return store

    yield again
    for store in stores:
        store.close()


@pytest.fixture
def store(reopen: Callable[[], Store]) -> Store:
    return reopen()


@pytest.fixture
def start(opening: str) -> Iterator[Callable[..., Worker]]:
    """Start a process that has opened the store and waits for a line before it runs a script."""
    workers: list[Worker] = []

    def started(script: str, *args: str) -> Worker:
        worker = subprocess.Popen(
            [sys.executable, "-c", _PRELUDE.format(opening=opening) + script, *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        workers.append(worker)
        return worker

    yield started
    for worker in workers:
        worker.kill()
        worker.communicate()


@pytest.fixture
def race(start: Callable[..., Worker]) -> Callable[[str, Sequence[str]], list[str]]:
    """Run a script in one process for each argument, all from the same moment; return every word printed."""

    def run(script: str, args: Sequence[str]) -> list[str]:
        workers = [start(script, arg) for arg in args]
        for worker in workers:
            assert worker.stdout is not None
            assert worker.stdout.readline() == "ready\n"
        for worker in workers:
            assert worker.stdin is not None
            worker.stdin.write("\n")
            worker.stdin.flush()
        words: list[str] = []
        for worker in workers:
            words.extend(worker.communicate(timeout=60)[0].split())
            assert worker.returncode == 0
        return words

    return run
