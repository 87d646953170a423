"""tidegate journal."""

from __future__ import annotations

import sqlite3
from decimal import Decimal
from pathlib import Path

import pytest
from verbs import Home

from tidegate.core.jsonlines import Json
from tidegate.core.store.base import Step

AT = 1_796_000_000_000
SENT, DENIED = "aaaa0000-0000-4000-8000-000000000000", "aaaa1111-0000-4000-8000-000000000000"


def opening(description: str) -> dict[str, Json]:
    return {
        "tool": "save_deposit",
        "input": {"amount": Decimal(10), "asset": "USDC"},
        "description": description,
        "usd": Decimal("10.01"),
        "session_id": "session-0",
    }


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """Somebody who made one write, and denied another."""
    home = Home(tmp_path)
    store = home.store()
    receipt: dict[str, Json] = {"receipt": {"status": "failed", "message": "It ran out of gas."}}
    for attempt_id, step, data in (
        (SENT, Step.RESERVED, opening("Save 10 USDC")),
        (SENT, Step.SIGNED, {"digest": "Dig3st"}),
        (SENT, Step.SUBMITTED, {"digest": "Dig3st"}),
        (SENT, Step.FAILED, receipt),
        (SENT, Step.RELEASED, {}),
        (DENIED, Step.PROPOSED, opening("Save \x1b[31mmore")),
        (DENIED, Step.DENIED, {"reason": "denied by the person"}),
    ):
        store.journal.append(attempt_id, step, AT, data)
    store.close()
    return home


def test_every_write_is_listed_with_its_state(home: Home) -> None:
    denied, sent = home.run("journal").rows
    assert denied["state"] == "denied"
    assert sent == {
        "attempt_id": SENT,
        "ts": "2026-11-30T00:53:20.000Z",
        "tool": "save_deposit",
        "input": {"amount": 10, "asset": "USDC"},
        "state": "failed",
        "usd": Decimal("10.01"),
        "digest": "Dig3st",
        "session_id": "session-0",
        "description": "Save 10 USDC",
    }


def test_people_get_a_table_without_control_characters(home: Home) -> None:
    told = home.run("journal", "--output", "text").stdout
    assert "\x1b" not in told
    assert [line.split()[0] for line in told.splitlines()] == ["attempt", DENIED, SENT]


def test_the_steps_of_one_are_shown_by_the_beginning_of_its_id(home: Home) -> None:
    rows = home.run("journal", "show", SENT[:8]).rows
    assert [row["step"] for row in rows] == ["reserved", "signed", "submitted", "failed", "released"]
    assert rows[1]["digest"] == "Dig3st"
    assert rows[3]["reason"] == "It ran out of gas."
    assert {row["ts"] for row in rows} == {"2026-11-30T00:53:20.000Z"}


def test_people_get_the_write_and_its_steps(home: Home) -> None:
    told = home.run("journal", "show", DENIED, "--output", "text").stdout
    assert "description  Save \\x1b[31mmore\n" in told
    assert "denied by the person" in told


@pytest.mark.parametrize(
    ("wanted", "told"),
    [("aaaa", "beginning of 2 ids"), ("bbbb", "No write has the id"), ("aaa", "at least 4 characters")],
)
def test_an_id_that_names_no_one_write_is_refused(home: Home, wanted: str, told: str) -> None:
    ended = home.run("journal", "show", wanted)
    assert ended.status == 2
    assert told in ended.stderr


def test_an_untouched_journal_is_verified(home: Home) -> None:
    assert home.run("journal", "verify").row["ok"] is True
    assert "says what was written" in home.run("journal", "verify", "--output", "text").stdout


@pytest.mark.parametrize("form", ["ndjson", "text"])
def test_a_changed_row_is_found(home: Home, form: str) -> None:
    with sqlite3.connect(home.paths.store_file) as connection:
        connection.execute("DROP TRIGGER journal_keeps_rows")
        connection.execute("UPDATE journal SET at_ms = at_ms + 1 WHERE seq = 3")
    connection.close()
    ended = home.run("journal", "verify", "--output", form)
    assert ended.status == 6
    assert "error:" in ended.stderr
    assert [row["ok"] for row in ended.rows] == ([False] if form == "ndjson" else [])


def test_a_new_machine_has_written_nothing(tmp_path: Path) -> None:
    assert Home(tmp_path).run("journal").stdout == ""
    assert Home(tmp_path).run("journal", "verify").row["ok"] is True
