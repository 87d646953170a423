"""tidegate resume: what waits is shown, changed, approved or denied, each once and by who may."""

from __future__ import annotations

import time
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from terminals import CTRL_C, CTRL_D, Terminal
from verbs import Ended, Home

from tidegate.core.cancel import Cancel
from tidegate.core.clock import Clock
from tidegate.core.engine import submit
from tidegate.core.events import PendingAction
from tidegate.core.runtime import open_runtime

STRANGER = "0x" + "5e" * 32


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture(scope="module")
def patient_home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Where one write waits and goes on waiting, whatever a test asks for; made once."""
    home = Home(tmp_path_factory.mktemp("patient"))
    send(home, 50)
    return home


def of(ended: Ended, kind: str) -> list[dict[str, Any]]:
    return [event for event in ended.rows if event["type"] == kind]


def error(ended: Ended) -> dict[str, Any]:
    (only,) = of(ended, "error")
    return only


def send(home: Home, amount: int) -> dict[str, Any]:
    """Ask for a send that waits, and return it."""
    asked = home.run("ask", f"send {amount} USDC to {STRANGER}")
    assert asked.status == 3
    action: dict[str, Any] = of(asked, "pending_action")[0]["action"]
    return action


def send_an_hour_ago(home: Home) -> str:
    """Ask for a send by a clock that is late, and return the id of what has expired since."""
    clock = Clock(now_ms=lambda: time.time_ns() // 1_000_000 - 3_600_000, monotonic=time.monotonic)
    with closing(open_runtime(environ=home.environ({}), flags={}, clock=clock)) as runtime:
        events = list(submit(runtime, f"send 40 USDC to {STRANGER}", cancelled=Cancel()))
    (attempt,) = [event.action.attempt_id for event in events if isinstance(event, PendingAction)]
    return attempt


def states(home: Home) -> dict[str, str]:
    return {row["attempt_id"]: row["state"] for row in home.run("journal").rows}


def test_without_anything_that_waits_it_says_so(home: Home) -> None:
    for args in ([], ["--approve"], ["--deny"], ["--set", "amount=5"], ["--regenerate"]):
        ended = home.run("resume", *args)
        assert (ended.status, error(ended)["code"]) == (2, "not_found")
        assert "No write waits" in ended.stderr


def test_looking_changes_nothing(home: Home) -> None:
    action = send(home, 50)
    for named in ([], [action["attempt_id"]], [action["attempt_id"][:4]]):
        ended = home.run("resume", *named)
        assert ended.status == 3
        assert of(ended, "pending_action")[0]["action"] == action
    assert states(home) == {action["attempt_id"]: "proposed"}


def test_people_are_shown_all_they_decide_on(home: Home) -> None:
    action = send(home, 50)
    told = home.run("resume", "--output", "text").stdout
    for needed in (STRANGER, "-50 USDC", "$50", "gas", action["expires_at"], action["reason"]):
        assert needed in told
    assert f"tidegate resume {action['attempt_id']} --approve\n" in told
    assert f"tidegate resume {action['attempt_id']} --deny\n" in told


@pytest.mark.parametrize("name", ["nope", "0000", "--", "%", "'; DROP TABLE journal"])
def test_an_id_that_no_write_has(patient_home: Home, name: str) -> None:
    ended = patient_home.run("resume", "--", name)
    assert (ended.status, error(ended)["code"]) == (2, "not_found")


def test_too_little_of_an_id_is_no_name(patient_home: Home) -> None:
    (attempt,) = states(patient_home)
    assert error(patient_home.run("resume", attempt[:3], "--approve"))["code"] == "not_found"


def test_with_several_waiting_one_has_to_be_named(home: Home) -> None:
    first, second = send(home, 20), send(home, 30)
    unclear = home.run("resume", "--approve")
    assert unclear.status == 2
    assert first["attempt_id"] in error(unclear)["message"]
    assert second["attempt_id"] in error(unclear)["message"]
    assert home.run("resume", second["attempt_id"], "--approve").status == 0
    assert states(home) == {first["attempt_id"]: "proposed", second["attempt_id"]: "final"}


@pytest.mark.parametrize(
    "args",
    [
        ["--approve", "--deny"],
        ["--approve", "--set", "amount=5"],
        ["--deny", "--regenerate"],
        ["--set", "amount=5", "--regenerate"],
        ["--set", "amount"],
        ["--set", "=5"],
        ["--set", "amount=5", "--set", "amount=6"],
        ["--i-understand", "50"],
        ["--explicit"],
        ["--deny", "--i-understand", "50"],
        ["--approve", "--i-understand", "much"],
        ["--approve", "--i-understand", "nan"],
        ["--approve", "--explicit"],
        ["--set", "amount=0"],
        ["--set", "amount=-5"],
        ["--set", "amount=5.0000001"],
        ["--set", "asset=SUI"],
        ["--set", "colour=red"],
        ["--set", "to=0x12"],
        ["--set", "to=bob"],
    ],
)
def test_what_cannot_be_meant_leaves_it_waiting(patient_home: Home, args: list[str]) -> None:
    ended = patient_home.run("resume", *args)
    assert ended.status == 2
    assert error(ended)["hint"]
    assert list(states(patient_home).values()) == ["proposed"]


def test_a_change_is_a_new_proposal_and_the_old_one_is_gone(home: Home) -> None:
    old = send(home, 50)
    changed = home.run("resume", "--set", "amount=7.5")
    new = of(changed, "pending_action")[0]["action"]
    assert new["input"]["amount"] == Decimal("7.5")
    assert (old.get("replaces"), new["replaces"]) == (None, old["attempt_id"])
    for args in (["--approve"], []):
        stale = home.run("resume", old["attempt_id"], *args)
        assert (stale.status, error(stale)["code"]) == (4, "approval_stale")
        assert "replaced by a changed request" in error(stale)["message"]
    assert states(home) == {old["attempt_id"]: "expired", new["attempt_id"]: "proposed"}


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [("amount=99999", 4, "insufficient_balance"), (f"to={'0x' + '0' * 64}", 4, "guard_blocked")],
)
def test_a_change_that_is_refused_leaves_the_old_one_waiting(
    home: Home, change: str, status: int, code: str
) -> None:
    attempt = send(home, 50)["attempt_id"]
    refused = home.run("resume", "--set", change)
    assert (refused.status, error(refused)["code"]) == (status, code)
    assert states(home) == {attempt: "proposed"}


def test_a_change_to_a_saved_contact_and_a_small_amount_goes_through_by_policy(home: Home) -> None:
    home.run("call", "save_contact", "name=bob", f"address={STRANGER}")
    old = of(home.run("ask", "send 50 USDC to bob"), "pending_action")[0]["action"]
    changed = home.run("resume", "--set", "amount=5")
    (receipt,) = of(changed, "write_result")
    assert receipt["replaces"] == old["attempt_id"]
    assert (changed.status, receipt["status"], receipt["auto"]) == (0, "executed", True)


def test_what_was_carried_out_can_be_looked_at_and_nothing_else(home: Home) -> None:
    attempt = send(home, 50)["attempt_id"]
    first = home.run("resume", "--approve")
    again = home.run("resume", attempt)
    assert (again.status, of(again, "write_result")) == (0, again.rows[1:2])
    assert of(again, "write_result")[0]["digest"] == of(first, "write_result")[0]["digest"]
    for args in (["--deny"], ["--set", "amount=1"], ["--regenerate"]):
        late = home.run("resume", attempt, *args)
        assert (late.status, error(late)["code"]) == (4, "approval_stale")
    assert states(home) == {attempt: "final"}


def test_what_was_denied_stays_denied(home: Home) -> None:
    attempt = send(home, 50)["attempt_id"]
    for _ in range(2):
        denied = home.run("resume", "--deny")
        assert (denied.status, of(denied, "write_result")[0]["status"]) == (4, "denied")
    for args in (["--approve"], ["--set", "amount=1"]):
        late = home.run("resume", attempt, *args)
        assert (late.status, error(late)["code"]) == (4, "approval_stale")
    assert states(home) == {attempt: "denied"}


def test_what_expired_is_not_carried_out(home: Home) -> None:
    attempt = send_an_hour_ago(home)
    assert home.run("resume", "--approve").status == 2
    for args in (["--approve"], []):
        late = home.run("resume", attempt, *args)
        assert (late.status, error(late)["code"]) == (4, "approval_stale")
        assert "expired" in error(late)["message"]
        assert of(late, "write_result") == []
    assert states(home) == {attempt: "expired"}


def test_what_expired_does_not_stand_in_the_way_of_what_waits(home: Home) -> None:
    action = send(home, 50)
    send_an_hour_ago(home)
    assert of(home.run("resume", "--approve"), "write_result")[0]["attempt_id"] == action["attempt_id"]


def test_an_approval_counts_for_what_it_was_shown_under_only(home: Home) -> None:
    attempt = send(home, 50)["attempt_id"]
    home.run("wallet", "new", "other")
    for extra, args in (
        ({"TIDEGATE_WALLET": "other"}, ["--approve"]),
        ({}, ["--approve", "--preset", "aggressive"]),
        ({"TIDEGATE_PRESET": "conservative"}, ["--approve"]),
    ):
        ended = home.run("resume", *args, **extra)
        assert (ended.status, error(ended)["code"]) == (4, "approval_stale")
    assert states(home) == {attempt: "proposed"}


def test_a_swap_that_would_give_less_than_was_shown_is_shown_again(home: Home) -> None:
    asked = home.run("ask", "swap 20 SUI to USDC")
    old = of(asked, "pending_action")[0]["action"]
    home.run("sandbox", "price", "SUI", "1")
    approved = home.run("resume", "--approve")
    assert (approved.status, of(approved, "write_result")) == (3, [])
    new = of(approved, "pending_action")[0]["action"]
    assert "would now give" in new["reason"]
    assert new["replaces"] == old["attempt_id"]
    assert states(home) == {old["attempt_id"]: "expired", new["attempt_id"]: "proposed"}
    assert home.run("resume", "--approve").status == 0


def test_a_fresh_look_at_the_market_is_a_fresh_proposal(home: Home) -> None:
    asked = home.run("ask", "swap 20 SUI to USDC")
    old = of(asked, "pending_action")[0]["action"]
    home.run("sandbox", "price", "SUI", "5")
    looked = home.run("resume", "--regenerate")
    new = of(looked, "pending_action")[0]["action"]
    assert (looked.status, new["input"]) == (3, old["input"])
    gained = [
        next(change["amount"] for change in action["preview"]["balance_changes"] if change["amount"] > 0)
        for action in (old, new)
    ]
    assert gained[1] > gained[0]


@pytest.mark.parametrize(("typed", "status"), [("no", 4), ("yes", 4), ("", 4), ("500", 0)])
def test_a_big_write_is_asked_about_at_a_terminal(home: Home, typed: str, status: int) -> None:
    attempt = send(home, 500)["attempt_id"]
    ended = home.converse(["resume", "--approve", "--explicit"], [("Type 500 to approve:", typed)])
    assert ended.status == status
    assert states(home) == {attempt: "final" if status == 0 else "proposed"}


def test_a_small_write_is_not_asked_about_again(home: Home) -> None:
    send(home, 50)
    assert home.converse(["resume", "--approve", "--explicit"], []).status == 0


@pytest.mark.parametrize("key", [CTRL_C, CTRL_D])
def test_who_leaves_the_question_has_not_approved(home: Home, key: str) -> None:
    attempt = send(home, 500)["attempt_id"]
    with Terminal(home, "resume", "--approve", "--explicit") as terminal:
        terminal.wait_for("Type 500 to approve:")
        terminal.type(key)
        assert terminal.ends() == 130
    assert "bug" not in terminal.shown
    assert "It still waits." in terminal.shown
    assert states(home) == {attempt: "proposed"}


def test_a_terminal_is_told_what_became_of_it(home: Home) -> None:
    send(home, 50)
    with Terminal(home, "resume") as terminal:
        assert terminal.ends() == 3
    assert "This waits for you: Send 50 USDC" in terminal.shown
    with Terminal(home, "resume", "--approve") as terminal:
        assert terminal.ends() == 0
    assert "send_transfer executed · -50 USDC" in terminal.shown


def test_the_conversation_is_told_of_the_decision(home: Home) -> None:
    send(home, 50)
    session = home.run("sessions").row["id"]
    home.run("resume", "--deny")
    last = home.run("sessions", "show", session).rows[-1]
    assert "Denied: Send 50 USDC" in str(last)
