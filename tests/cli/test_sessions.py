"""tidegate sessions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from verbs import Home

from tidegate.core.store.base import StoredMessage

AT = 1_796_000_000_000


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """Somebody who had two conversations, the second of them with a name that means harm."""
    home = Home(tmp_path)
    store = home.store()
    for number, title in enumerate(("save 10 USDC", "hello \x1b[2J")):
        session, at = f"session-{number}", AT + number * 1000
        store.sessions.create(session, at)
        store.sessions.begin_turn(session, title, at)
        store.sessions.append(session, StoredMessage(1, "user", [{"type": "text", "text": title}], at))
    reply = {"data": {}, "display_text": "Saved 10 USDC."}
    refusal = {"error": {"code": "bad_input", "message": "No such coin."}}
    for role, content in (
        (
            "assistant",
            [
                {"type": "thinking", "text": "hm", "signature": "s", "redacted": False},
                {"type": "tool_call", "id": "1", "name": "save", "input": {"amount": 10}, "invalid": None},
            ],
        ),
        (
            "user",
            [
                {"type": "tool_reply", "id": "1", "content": json.dumps(reply), "is_error": False},
                {"type": "tool_reply", "id": "2", "content": json.dumps(refusal), "is_error": True},
                {"type": "tool_reply", "id": "3", "content": "not JSON", "is_error": True},
                {"type": "tool_reply", "id": "4", "content": "[]", "is_error": True},
                {"type": "notice", "text": "It was denied."},
            ],
        ),
        ("assistant", [{"type": "text", "text": "Done.\nAnything else?"}]),
    ):
        store.sessions.append("session-0", StoredMessage(1, role, content, AT))
    store.close()
    return home


def test_the_newest_is_listed_first(home: Home) -> None:
    first, second = home.run("sessions").rows
    assert [first["id"], second["id"]] == ["session-1", "session-0"]
    assert second == {
        "id": "session-0",
        "title": "save 10 USDC",
        "created": "2026-11-30T00:53:20.000Z",
        "updated": "2026-11-30T00:53:20.000Z",
        "turns": 1,
    }


def test_a_limit_is_kept(home: Home) -> None:
    assert home.run("sessions", "--limit", "1").row["id"] == "session-1"
    assert home.run("sessions", "--limit", "0").status == 2


def test_people_get_a_table_without_control_characters(home: Home) -> None:
    told = home.run("sessions", "--output", "text").stdout
    assert "\x1b" not in told
    assert r"hello \x1b[2J" in told


def test_a_conversation_is_shown_as_rows(home: Home) -> None:
    rows = home.run("sessions", "show", "session-0").rows
    assert [row["role"] for row in rows] == ["user", "assistant", "user", "assistant"]
    assert rows[0]["text"] == "save 10 USDC"
    assert rows[1]["content"][1]["name"] == "save"
    assert rows[3]["text"] == "Done.\nAnything else?"


def test_a_conversation_is_shown_as_people_read_it(home: Home) -> None:
    assert home.run("sessions", "show", "session-0", "--output", "text").stdout == (
        "> save 10 USDC\n"
        "· save amount=10\n"
        "  Saved 10 USDC.\n"
        "  No such coin.\n"
        "  not JSON\n"
        "  []\n"
        "· It was denied.\n"
        "Done.\nAnything else?\n"
    )


def test_an_unknown_one_is_said_to_be_so(home: Home) -> None:
    ended = home.run("sessions", "show", "nope")
    assert ended.status == 2
    assert "No session 'nope'" in ended.stderr
    assert ended.stdout == ""


def test_options_before_a_command_are_not_dropped_in_silence(home: Home) -> None:
    ended = home.run("sessions", "--output", "text", "show", "session-0")
    assert ended.status == 2
    assert "--output stands before show" in ended.stderr


def test_a_new_machine_has_none(tmp_path: Path) -> None:
    assert Home(tmp_path).run("sessions").stdout == ""
    assert "no conversation yet" in Home(tmp_path).run("sessions", "--output", "text").stderr
