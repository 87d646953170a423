"""The forms of output, which stream each thing goes to, and what a terminal may be sent."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from messages_server import MessagesServer, reply_text
from terminals import Terminal
from verbs import COMMAND, Ended, Home

STRANGER = "0x" + "5e" * 32
HOSTILE = "a\x1b[2Jb\x07c\u202ed\u200be"
"""Text that would clear the screen, ring, turn letters round and hide itself."""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def model(messages_server: MessagesServer) -> dict[str, str]:
    """The variables under which a model answers with hostile text."""
    messages_server.script(reply_text(HOSTILE))
    return {"ANTHROPIC_API_KEY": "sk-test", "TIDEGATE_ANTHROPIC_BASE_URL": messages_server.url}


PRINTING = ("ask balance", "quote SUI USDC 2", "tools", "config show", "ask --help", "--version")


def shell(home: Home, line: str, **extra: str) -> Ended:
    """Run a line as it would be pasted into a shell."""
    environ = home.environ(extra)
    environ["PATH"] = f"{os.path.dirname(COMMAND)}:{environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", line],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environ,
        cwd=home.path,
        timeout=60,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return Ended(done.returncode, done.stdout, done.stderr)


def types(ended: Ended) -> list[str]:
    return [row["type"] for row in ended.rows]


def test_a_pipe_gets_one_event_a_line_and_nothing_on_stderr(home: Home) -> None:
    plain, asked = home.run("ask", "balance"), home.run("ask", "balance", "--output", "ndjson")
    assert types(plain) == types(asked)
    assert (types(plain)[0], types(plain)[-1]) == ("stream_started", "turn_complete")
    assert (plain.stderr, asked.stderr) == ("", "")


def test_json_is_the_last_event_only(home: Home) -> None:
    ended = home.run("ask", "balance", "--output", "json")
    assert types(ended) == ["turn_complete"]
    assert ended.row["text"].startswith("You have $")


def test_text_in_a_pipe_is_the_answer_alone(home: Home) -> None:
    ended = home.run("ask", "balance", "--output", "text")
    assert ended.stdout.startswith("You have $")
    assert ended.stdout.count("\n") == 1
    assert "· balance_check\n" in ended.stderr


@pytest.mark.parametrize("form", ["ndjson", "json", "text"])
def test_what_went_wrong_and_what_waits_is_told_to_people_in_every_form(home: Home, form: str) -> None:
    failed = home.run("ask", "paint my fence", "--output", form)
    assert failed.status == 2
    assert "error: " in failed.stderr
    assert "hint: " in failed.stderr
    waits = home.run("ask", f"send 50 USDC to {STRANGER}", "--output", form)
    assert waits.status == 3
    assert " --approve" in (waits.stdout if form == "text" else waits.stderr)


def test_the_form_may_be_a_setting_and_a_flag_wins(home: Home) -> None:
    home.run("config", "set", "output", "text")
    assert home.run("ask", "balance").stdout.startswith("You have $")
    assert types(home.run("ask", "balance", TIDEGATE_OUTPUT="json")) == ["turn_complete"]
    flagged = home.run("ask", "balance", "--output", "ndjson", TIDEGATE_OUTPUT="json")
    assert types(flagged)[0] == "stream_started"
    assert home.run("tools").stdout.startswith("name ")
    assert home.run("schema", "events").stdout.startswith("{\n  ")
    assert len(home.run("tools", TIDEGATE_OUTPUT="json").rows) == 1


def test_a_form_that_is_not_there_is_wrong_usage(home: Home) -> None:
    for args in (["ask", "balance"], ["tools"], ["sessions"], ["schema", "events"], ["config", "show"]):
        ended = home.run(*args, "--output", "xml")
        assert (ended.status, ended.stdout) == (2, "")
        assert "ndjson" in ended.stderr


def test_a_terminal_gets_text(home: Home) -> None:
    with Terminal(home, "ask", "balance") as terminal:
        assert terminal.ends() == 0
    lines = terminal.shown.splitlines()
    assert lines[0].startswith("sandbox · offline · preset balanced · 0x")
    assert lines[1] == "· balance_check"
    assert lines[2].startswith("You have $")
    assert len(lines) == 3


def test_a_terminal_gets_events_when_it_asks_for_them(home: Home) -> None:
    with Terminal(home, "ask", "balance", "--output", "ndjson") as terminal:
        assert terminal.ends() == 0
    events = [json.loads(line) for line in terminal.shown.splitlines()]
    assert events[-1]["type"] == "turn_complete"
    assert "\x1b" not in terminal.raw


def test_a_terminal_gets_weights_and_colours(home: Home) -> None:
    with Terminal(home, "ask", "paint my fence") as terminal:
        assert terminal.ends() == 2
    assert "\x1b[1;31merror:\x1b[0m" in terminal.raw


@pytest.mark.parametrize("extra", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"CI": "true"}])
def test_a_terminal_that_wants_none_gets_none(home: Home, extra: dict[str, str]) -> None:
    for args in (["ask", "paint my fence"], ["tools"], ["ask", "save 1 USDC"]):
        with Terminal(home, *args, **extra) as terminal:
            terminal.ends()
        assert terminal.shown
        assert "\x1b" not in terminal.raw


def test_an_empty_no_color_is_none(home: Home) -> None:
    with Terminal(home, "tools", NO_COLOR="") as terminal:
        terminal.ends()
    assert "\x1b[1m" in terminal.raw


def test_a_pipe_never_gets_colours(home: Home) -> None:
    for args in (["tools"], ["ask", f"send 50 USDC to {STRANGER}"], ["journal"]):
        ended = home.run(*args, "--output", "text", TERM="xterm-256color")
        assert ended.stdout
        assert "\x1b" not in ended.stdout + ended.stderr


def test_a_terminal_shows_what_a_model_hides(home: Home, model: dict[str, str]) -> None:
    with Terminal(home, "ask", "talk", NO_COLOR="1", **model) as terminal:
        assert terminal.ends() == 0
    assert r"a\x1b[2Jb\x07c\u202ed\u200be" in terminal.raw


def test_a_terminal_that_asked_for_events_is_safe_too(home: Home, model: dict[str, str]) -> None:
    with Terminal(home, "ask", "talk", "--output", "json", **model) as terminal:
        assert terminal.ends() == 0
    assert "\x1b" not in terminal.raw
    assert "\u202e" not in terminal.raw
    assert json.loads(terminal.shown)["text"] == HOSTILE


def test_a_program_gets_what_the_model_said(home: Home, model: dict[str, str]) -> None:
    ended = home.run("ask", "talk", **model)
    (said,) = [row["text"] for row in ended.rows if row["type"] == "text_delta"]
    assert said == HOSTILE
    assert "\x1b" not in ended.stdout


def test_output_is_utf_8_whatever_the_locale_says(home: Home, messages_server: MessagesServer) -> None:
    environ = {"ANTHROPIC_API_KEY": "sk-test", "TIDEGATE_ANTHROPIC_BASE_URL": messages_server.url}
    legacy = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    for form in ("text", "ndjson"):
        messages_server.script(reply_text("né 日本 €"))
        ended = home.run("ask", "dis-le", "--output", form, **environ, **legacy)
        assert ended.status == 0
        assert "né 日本 €" in ended.stdout


@pytest.mark.parametrize(
    "command", ["tools", "ask balance", "ask balance --output text", "schema events", "--help", "--version"]
)
def test_a_reader_that_has_seen_enough_ends_it_quietly(home: Home, command: str) -> None:
    ended = shell(home, f'tidegate {command} | true; echo "${{PIPESTATUS[0]}}"')
    assert ended.stdout == "0\n"
    assert "error" not in ended.stderr


@pytest.mark.parametrize("command", PRINTING)
def test_a_full_disk_is_told(home: Home, command: str) -> None:
    ended = shell(home, f"tidegate {command} >/dev/full")
    assert ended.status == 6
    assert "no space left on device" in ended.stderr


@pytest.mark.parametrize("command", PRINTING)
def test_streams_that_are_closed_are_nobody_s_trouble(home: Home, command: str) -> None:
    silent = shell(home, f"tidegate {command} >&-")
    assert (silent.status, silent.stdout, silent.stderr) == (0, "", "")
    deaf = shell(home, f"tidegate {command} <&- 2>&-")
    assert deaf.status == 0
    assert deaf.stdout


def test_a_shell_is_told_how_to_complete(home: Home) -> None:
    shown = shell(home, "tidegate --show-completion bash")
    assert shown.status == 0
    assert "_TIDEGATE_COMPLETE=complete_bash" in shown.stdout
    declared = shell(home, 'eval "$(tidegate --show-completion bash)"; complete -p tidegate')
    assert declared.stdout == "complete -o default -F _tidegate_completion tidegate\n"


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("tidegate q", ["quote"]),
        ("tidegate s", ["sessions", "sandbox", "schema"]),
        ("tidegate wallet e", ["export"]),
        ("tidegate ask --dr", ["--dry-run"]),
    ],
)
def test_words_are_completed(home: Home, typed: str, offered: list[str]) -> None:
    environ = {
        "_TIDEGATE_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(typed.count(" ")),
    }
    ended = home.run(**environ)
    assert (ended.status, sorted(ended.stdout.split())) == (0, sorted(offered))
    assert list(home.path.iterdir()) == []
