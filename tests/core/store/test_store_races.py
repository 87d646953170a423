from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from decimal import Decimal

import pytest

from tidegate.core.money import Usd
from tidegate.core.store.base import Step, Store

AT_MS = 1_800_000_000_000
DAY = "2026-12-01"

Race = Callable[[str, Sequence[str]], list[str]]
Worker = subprocess.Popen[str]

_RESERVE = """
from concurrent.futures import ThreadPoolExecutor

def take(index):
    value = Usd(Decimal("0.07"))
    return store.spend.reserve(f"{sys.argv[1]}-{index}", "0xme", "2026-12-01", value, Usd(Decimal(5)))

with ThreadPoolExecutor(4) as pool:
    print(*(str(taken) for taken in pool.map(take, range(25))))
"""

_RESERVE_ONCE = """
print(store.spend.reserve("the-one", "0xme", "2026-12-01", Usd(Decimal(3)), Usd(Decimal(5))))
"""

_TAKE_STEP = """
try:
    store.journal.append("the-one", Step(sys.argv[1]), 1_800_000_000_000, {})
    print(sys.argv[1])
except StepTaken:
    print("late")
"""

_WRITE_FOREVER = """
index = 0
while True:
    index += 1
    row = store.journal.append(f"attempt-{index}", Step.RESERVED, index, {"index": index})
    print(row.seq, flush=True)
"""


def test_processes_and_threads_never_pass_the_limit_by_a_cent(race: Race, store: Store) -> None:
    words = race(_RESERVE, [f"p{index}" for index in range(8)])

    assert words.count("True") == 71  # 71 times 0.07 is 4.97
    assert words.count("False") == 8 * 25 - 71
    assert store.spend.spent("0xme", DAY) == Usd(Decimal("4.97"))


def test_processes_that_reserve_for_one_attempt_take_once(race: Race, store: Store) -> None:
    words = race(_RESERVE_ONCE, [""] * 4)

    assert words == ["True"] * 4
    assert store.spend.spent("0xme", DAY) == Usd(Decimal(3))


@pytest.mark.parametrize("step", ["approved", "signed"])
def test_one_process_takes_a_single_use_step(race: Race, store: Store, step: str) -> None:
    store.journal.append("the-one", Step.PROPOSED, AT_MS, {})

    words = race(_TAKE_STEP, [step] * 8)

    assert (words.count(step), words.count("late")) == (1, 7)
    assert store.journal.verify() is None


def test_of_approve_deny_and_expire_one_wins(race: Race, store: Store) -> None:
    store.journal.append("the-one", Step.PROPOSED, AT_MS, {})

    words = race(_TAKE_STEP, ["approved", "denied", "expired"] * 2)

    attempt = store.journal.attempt("the-one")
    assert words.count("late") == 5
    assert attempt is not None
    assert [word for word in words if word != "late"] == [attempt.state]


def test_denying_and_signing_exclude_each_other(race: Race, store: Store) -> None:
    store.journal.append("the-one", Step.RESERVED, AT_MS, {})

    words = race(_TAKE_STEP, ["denied", "signed"] * 2)

    attempt = store.journal.attempt("the-one")
    assert words.count("late") == 3
    assert attempt is not None
    assert len(attempt.rows) == 2


def test_every_row_that_a_killed_writer_reported_is_there(
    start: Callable[..., Worker], reopen: Callable[[], Store]
) -> None:
    writer = start(_WRITE_FOREVER)
    assert writer.stdin is not None
    assert writer.stdout is not None
    writer.stdin.write("\n")
    writer.stdin.flush()
    for _ in range(20):
        writer.stdout.readline()
    writer.kill()
    reported = writer.stdout.read().split()

    store = reopen()
    kept = [row.seq for attempt in store.journal.in_state(Step.RESERVED) for row in attempt.rows]

    assert kept == list(range(1, len(kept) + 1))
    assert len(kept) >= int(reported[-1] if reported else 19)
    assert store.journal.verify() is None
    assert store.integrity() is None
