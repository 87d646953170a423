"""tidegate chat: request lines in a pipe, and a prompt on a terminal."""

from __future__ import annotations

import json
import signal
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from messages_server import MessagesServer, reply_text, slow_text
from terminals import CTRL_C, CTRL_D, ENTER, Terminal
from verbs import COMMAND, Ended, Home

from tidegate.cli.chat_lines import MAX_LINE_BYTES

STRANGER = "0x" + "5e" * 32
PROMPT = "tidegate>"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def talk(home: Home, *requests: dict[str, Any], args: tuple[str, ...] = ()) -> Ended:
    return home.run("chat", *args, stdin="".join(f"{json.dumps(request)}\n" for request in requests))


def of(ended: Ended, kind: str) -> list[dict[str, Any]]:
    return [event for event in ended.rows if event["type"] == kind]


def holding(home: Home, symbol: str) -> Decimal:
    result = of(home.run("call", "balance_check"), "tool_result")[0]["result"]
    return sum(
        (Decimal(h["amount"]) for h in result["data"]["holdings"] if h["symbol"] == symbol), Decimal(0)
    )


class Talk:
    """A chat whose other end answers only once it has read."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process = process
        self._requests, self._events = process.stdin, process.stdout

    def say(self, line: str) -> list[dict[str, Any]]:
        """Send a line, whose feed may be a part of it, and return the events up to the end of its turn."""
        self._requests.write(line.encode())
        self._requests.flush()
        events: list[dict[str, Any]] = []
        while not events or events[-1]["type"] != "turn_complete":
            events.append(json.loads(self._events.readline()))
        return events


@contextmanager
def talking(home: Home) -> Iterator[Talk]:
    with subprocess.Popen(
        [COMMAND, "chat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=home.environ({}),
        cwd=home.path,
    ) as process:
        try:
            yield Talk(process)
        finally:
            process.kill()


def test_nothing_asked_is_nothing_said(home: Home) -> None:
    for stdin in ("", "\n", " \n\r\n\t\n"):
        ended = home.run("chat", stdin=stdin)
        assert (ended.status, ended.stdout, ended.stderr) == (0, "", "")
    assert home.run("sessions").stdout == ""


def test_an_answer_comes_before_the_next_question_is_asked(home: Home) -> None:
    with talking(home) as chat:
        first = chat.say('{"text":"balance"}\n')
        second = chat.say('{"text":"savings"}\n')
        rest, told = chat.process.communicate(timeout=30)
    assert (chat.process.returncode, rest, told) == (0, b"", b"")
    assert [event["turn"] for event in (first[0], second[0])] == [1, 2]
    assert first[0]["session_id"] == second[0]["session_id"]
    assert [event["seq"] for event in second] == list(range(1, len(second) + 1))


def test_a_last_line_needs_no_line_feed_and_may_end_as_on_windows(home: Home) -> None:
    ended = home.run("chat", stdin='{"text":"balance"}\r\n{"text":"savings"}')
    assert ended.status == 0
    assert [event["turn"] for event in of(ended, "turn_complete")] == [1, 2]


def test_a_conversation_remembers_what_was_said_in_it(home: Home) -> None:
    first = talk(home, {"text": "balance"})
    session = first.rows[0]["session_id"]
    named = talk(home, {"text": "savings"}, args=("--session", session))
    newest = talk(home, {"text": "rates"}, args=("--continue",))
    assert [(ended.rows[0]["session_id"], ended.rows[0]["turn"]) for ended in (named, newest)] == [
        (session, 2),
        (session, 3),
    ]
    shown = [row["text"] for row in home.run("sessions", "show", session).rows if row["role"] == "user"]
    assert [text for text in shown if text in ("balance", "savings", "rates")] == [
        "balance",
        "savings",
        "rates",
    ]
    assert talk(home, {"text": "balance"}).rows[0]["session_id"] != session


def test_a_session_that_does_not_exist_fails_every_turn(home: Home) -> None:
    ended = talk(home, {"text": "balance"}, {"text": "savings"}, args=("--session", "nope"))
    assert ended.status == 2
    assert [event["code"] for event in of(ended, "error")] == ["not_found"] * 2


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{}", "either text or resume"),
        ('{"text":"balance","resume":null}', "either text or resume"),
        ('{"decision":"approve"}', "either text or resume"),
        ('{"text":null}', "a string and nothing else"),
        ('{"text":"balance","decision":"approve"}', "a string and nothing else"),
        ('{"text":5}', "text:"),
        ('{"text":"balance","speed":9}', "speed:"),
        ('{"resume":7}', "resume:"),
        ('{"resume":null,"decision":"perhaps"}', "'approve' or 'deny'"),
        ('{"resume":null,"decision":"approve","changes":{"amount":"5"}}', "changed"),
        ('{"resume":null,"changes":{"amount":true}}', "changes.amount:"),
        ('{"resume":null,"changes":["amount"]}', "changes:"),
        ('{"resume":null,"decision":"approve","understood_usd":NaN}', "understood_usd:"),
        ("null", "not a JSON object"),
        ('"balance"', "not a JSON object"),
        ("{'text':'balance'}", "not JSON"),
        ('{"text":"balance"', "not JSON"),
        ("[" * 10_000, "not JSON"),
    ],
)
def test_a_line_that_is_no_request_is_a_turn_that_says_in_what(home: Home, line: str, told: str) -> None:
    ended = home.run("chat", stdin=f"{line}\n")
    assert [event["type"] for event in ended.rows] == ["stream_started", "error", "turn_complete"]
    assert (ended.status, ended.rows[1]["code"]) == (2, "bad_input")
    assert told in ended.rows[1]["message"]
    assert '{"text":' in ended.rows[1]["hint"] or "approve" in ended.rows[1]["hint"]


def test_a_line_without_end_is_not_read_into_memory_and_the_next_one_is_answered(home: Home) -> None:
    long = json.dumps({"text": "a" * (2 * MAX_LINE_BYTES)})
    ended = home.run("chat", stdin=f'{long}\n{{"text":"balance"}}\n')
    refused, answered = of(ended, "turn_complete")
    assert (refused["stop_reason"], answered["stop_reason"]) == ("error", "end_turn")
    assert f"{MAX_LINE_BYTES:,}" in of(ended, "error")[0]["message"]


def test_what_waits_is_shown_changed_and_approved_by_lines(home: Home) -> None:
    ended = talk(
        home,
        {"text": f"send 50 USDC to {STRANGER}"},
        {"resume": None, "changes": {"amount": 7.25}},
        {"resume": None},
        {"resume": None, "decision": "approve"},
    )
    actions = [event["action"] for event in of(ended, "pending_action")]
    assert [action["input"]["amount"] for action in actions] == [50, Decimal("7.25"), Decimal("7.25")]
    assert actions[0]["attempt_id"] != actions[1]["attempt_id"] == actions[2]["attempt_id"]
    (receipt,) = of(ended, "write_result")
    assert (receipt["attempt_id"], receipt["status"]) == (actions[1]["attempt_id"], "executed")
    assert len({event["session_id"] for event in ended.rows}) == 1
    assert ended.status == 0
    assert holding(home, "USDC") == Decimal("992.75")


def test_what_still_waits_at_the_end_is_what_it_ends_with(home: Home) -> None:
    ask, deny = {"text": f"send 50 USDC to {STRANGER}"}, {"resume": None, "decision": "deny"}
    changed = {"resume": None, "changes": {"amount": 40}}
    assert talk(home, ask, {"text": "balance"}).status == 3
    assert talk(home, deny, ask, deny).status == 4
    assert talk(home, ask, changed).status == 3
    assert talk(home, changed | {"changes": {"amount": 1000000}}, ask).status == 3


def test_what_waits_is_named_by_its_id_or_its_beginning(home: Home) -> None:
    waiting = [
        of(talk(home, {"text": f"send {amount} USDC to {STRANGER}"}), "pending_action")[0]["action"]
        for amount in (20, 30)
    ]
    unclear = talk(home, {"resume": None, "decision": "deny"})
    assert unclear.status == 2
    assert all(action["attempt_id"] in of(unclear, "error")[0]["message"] for action in waiting)
    denied = talk(
        home,
        {"resume": waiting[0]["attempt_id"], "decision": "deny"},
        {"resume": waiting[1]["attempt_id"][:8], "decision": "deny"},
    )
    assert denied.status == 4
    assert [event["status"] for event in of(denied, "write_result")] == ["denied", "denied"]


def test_a_big_write_is_refused_under_another_value_and_done_under_its_own(home: Home) -> None:
    ended = talk(
        home,
        {"text": f"send 500 USDC to {STRANGER}"},
        {"resume": None, "decision": "approve", "understood_usd": 499},
        {"resume": None, "decision": "approve", "understood_usd": 500},
    )
    assert [event["code"] for event in of(ended, "error")] == ["refused"]
    assert of(ended, "write_result")[0]["status"] == "executed"
    assert ended.status == 4


@pytest.mark.parametrize("decision", [{}, {"decision": "deny"}, {"changes": {"amount": 5}}])
def test_a_value_without_an_approval_decides_nothing(home: Home, decision: dict[str, Any]) -> None:
    ended = talk(
        home,
        {"text": f"send 500 USDC to {STRANGER}"},
        {"resume": None, "understood_usd": 500} | decision,
    )
    assert [event["code"] for event in of(ended, "error")] == ["bad_input"]
    assert [row["state"] for row in home.run("journal").rows] == ["proposed"]


def test_a_dry_run_lasts_for_the_whole_conversation(home: Home) -> None:
    ended = talk(home, {"text": "save 10 USDC"}, {"text": "save 20 USDC"}, args=("--dry-run",))
    assert ended.status == 0
    assert [event["status"] for event in of(ended, "write_result")] == ["simulated", "simulated"]
    assert holding(home, "USDC") == 1000


def test_only_the_last_event_of_each_turn_is_printed_when_that_is_asked_for(home: Home) -> None:
    ended = talk(home, {"text": "balance"}, {"text": "savings"}, args=("--output", "json"))
    assert [event["type"] for event in ended.rows] == ["turn_complete", "turn_complete"]


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_being_told_to_end_between_two_turns_ends_the_chat_without_a_word(
    home: Home, number: signal.Signals, status: int
) -> None:
    with talking(home) as chat:
        chat.say('{"text":"balance"}\n')
        chat.process.send_signal(number)
        assert chat.process.wait(timeout=30) == status
        assert chat.process.communicate(timeout=30) == (b"", b"")


def test_a_terminal_gets_a_prompt_and_an_answer_and_ctrl_d_ends_it(home: Home) -> None:
    with Terminal(home, "chat") as terminal:
        terminal.wait_for(PROMPT)
        terminal.type(f"balance{ENTER}")
        terminal.wait_for("sandbox · offline · preset balanced")
        terminal.wait_for("You have $1,350.00 in total")
        terminal.wait_for(PROMPT)
        terminal.type(f"savings{ENTER}")
        terminal.wait_for("Nothing is saved yet.")
        terminal.wait_for(PROMPT)
        terminal.type(CTRL_D)
        assert terminal.ends() == 0
    assert terminal.shown.count("preset balanced") == 1, "what it runs on is said once"
    assert '"type"' not in terminal.shown
    assert home.run("sessions").row["turns"] == 2


def test_the_prompt_s_history_is_kept_where_only_its_owner_reads_it(home: Home) -> None:
    with Terminal(home, "chat") as terminal:
        terminal.wait_for(PROMPT)
        terminal.type(f"balance{ENTER}")
        terminal.wait_for("You have $")
        terminal.wait_for(PROMPT)
        terminal.type(f"/quit{ENTER}")
        assert terminal.ends() == 0
    kept = home.paths.history_file
    assert kept.parent == home.paths.state_dir
    assert "+balance\n" in kept.read_text("utf-8")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_a_history_that_others_could_read_is_closed_to_them(home: Home) -> None:
    home.paths.state_dir.mkdir(parents=True, mode=0o700)
    home.paths.history_file.write_text("")
    home.paths.history_file.chmod(0o644)
    with Terminal(home, "chat") as terminal:
        terminal.wait_for(PROMPT)
        terminal.type(CTRL_D)
        assert terminal.ends() == 0
    assert stat.S_IMODE(home.paths.history_file.stat().st_mode) == 0o600


def test_a_history_that_points_elsewhere_is_not_written_to(home: Home) -> None:
    home.paths.state_dir.mkdir(parents=True, mode=0o700)
    target = home.path / "diary"
    target.write_text("dear diary\n")
    home.paths.history_file.symlink_to(target)
    with Terminal(home, "chat") as terminal:
        assert terminal.ends() == 6
    assert "cannot be used" in terminal.shown
    assert target.read_text() == "dear diary\n"


def test_ctrl_c_at_the_prompt_drops_the_line_and_not_the_chat(home: Home) -> None:
    with Terminal(home, "chat") as terminal:
        terminal.wait_for(PROMPT)
        terminal.type("save 10 USDC")
        terminal.wait_for("save 10 USDC")
        terminal.type(CTRL_C)
        terminal.wait_for(f"\n{PROMPT}")
        terminal.type(f"balance{ENTER}")
        terminal.wait_for("You have $")
        terminal.wait_for(PROMPT)
        terminal.type(CTRL_D)
        assert terminal.ends() == 0
    assert home.run("journal").stdout == ""


def test_ctrl_c_stops_what_runs_and_not_the_chat(home: Home, messages_server: MessagesServer) -> None:
    messages_server.script(slow_text("tick ", count=600, pause_s=0.1), reply_text("Still here."))
    with Terminal(
        home, "chat", ANTHROPIC_API_KEY="sk-test", TIDEGATE_ANTHROPIC_BASE_URL=messages_server.url
    ) as terminal:
        terminal.wait_for(PROMPT)
        terminal.type(f"talk{ENTER}")
        terminal.wait_for("tick tick")
        terminal.type(CTRL_C)
        terminal.wait_for("error: Stopped before the turn was finished.")
        terminal.wait_for(PROMPT)
        terminal.type(f"are you there{ENTER}")
        terminal.wait_for("Still here.")
        terminal.wait_for(PROMPT)
        terminal.type(CTRL_D)
        assert terminal.ends() == 130
    assert "are you there" in str(messages_server.bodies[1]["messages"][-1])


def waiting(terminal: Terminal, amount: int) -> None:
    """Ask for a send that waits."""
    terminal.wait_for(PROMPT)
    terminal.type(f"send {amount} USDC to {STRANGER}{ENTER}")
    terminal.wait_for(f"This waits for you: Send {amount} USDC to {STRANGER}")
    terminal.wait_for(PROMPT)


def test_what_waits_is_approved_at_the_prompt(home: Home) -> None:
    with Terminal(home, "chat") as terminal:
        waiting(terminal, 50)
        terminal.type(f"/approve{ENTER}")
        terminal.wait_for("send_transfer executed · -50 USDC")
        terminal.wait_for(PROMPT)
        terminal.type(CTRL_D)
        terminal.ends()
    assert holding(home, "USDC") == 950


def test_what_waits_is_denied_at_the_prompt(home: Home) -> None:
    with Terminal(home, "chat") as terminal:
        waiting(terminal, 50)
        terminal.type(f"/deny{ENTER}")
        terminal.wait_for("send_transfer denied")
        terminal.wait_for(PROMPT)
        terminal.type(CTRL_D)
        terminal.ends()
    assert holding(home, "USDC") == 1000


def test_what_waits_is_changed_at_the_prompt(home: Home) -> None:
    with Terminal(home, "chat") as terminal:
        waiting(terminal, 50)
        terminal.type(f"/set amount=20{ENTER}")
        terminal.wait_for("This waits for you: Send 20 USDC")
        terminal.wait_for(PROMPT)
        terminal.type(f"/show{ENTER}")
        terminal.wait_for("This waits for you: Send 20 USDC")
        terminal.wait_for(PROMPT)
        terminal.type(CTRL_D)
        assert terminal.ends() == 3
    assert [row["state"] for row in home.run("journal").rows].count("proposed") == 1


def test_a_big_write_is_approved_by_typing_its_value(home: Home) -> None:
    with Terminal(home, "chat") as terminal:
        waiting(terminal, 500)
        for wrong in (f"y{ENTER}", f"yes{ENTER}", f"499{ENTER}", ENTER, CTRL_C, CTRL_D):
            terminal.type(f"/approve{ENTER}")
            terminal.wait_for("Type 500 to approve:")
            terminal.type(wrong)
            terminal.wait_for("It still waits.")
            terminal.wait_for(PROMPT)
        terminal.type(f"/approve{ENTER}")
        terminal.wait_for("Type 500 to approve:")
        terminal.type(f"500{ENTER}")
        terminal.wait_for("send_transfer executed")
        terminal.wait_for(PROMPT)
        terminal.type(CTRL_D)
        terminal.ends()
    assert holding(home, "USDC") == 500


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/help", "Ctrl-C stops what runs"),
        ("/dance", "no command '/dance'"),
        ("/approve", "No write waits"),
        ("/approve a b", "One ID at a time"),
        ("/set", "What is to be changed?"),
        ("/set amount", "not of the form name=value"),
        ("paint my fence", "error:"),
    ],
)
def test_whatever_is_typed_the_prompt_comes_back(home: Home, line: str, told: str) -> None:
    with Terminal(home, "chat") as terminal:
        terminal.wait_for(PROMPT)
        terminal.type(f"{line}{ENTER}")
        terminal.wait_for(told)
        terminal.wait_for(PROMPT)
        terminal.type(f"/exit{ENTER}")
        terminal.ends()


def test_with_stdout_in_a_pipe_the_prompt_is_a_person_s_and_the_events_a_program_s(home: Home) -> None:
    ended = home.converse(
        ["chat"],
        [(PROMPT, "balance"), (PROMPT, "/quit")],
        TERM="xterm",
        PROMPT_TOOLKIT_NO_CPR="1",
    )
    assert ended.status == 0
    assert PROMPT not in ended.stdout
    assert [ended.rows[0]["type"], ended.rows[-1]["type"]] == ["stream_started", "turn_complete"]
    assert "You have $" not in ended.stderr
