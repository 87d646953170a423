"""--help: the same text as the parser's, and nothing loaded for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from verbs import COMMAND, Home

from tidegate.cli.help_texts import BARE, HELP
from tidegate.cli.render_help import render

SDKS = {"anthropic", "mcp"}
PARSERS = {"typer", "pydantic", "pysui", *SDKS}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def loaded_by(home: Home, *args: str) -> set[str]:
    """Return the packages that a run of the installed command imports."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", COMMAND, *args],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=home.environ({}),
        cwd=home.path,
        timeout=60,
        check=True,
    )
    assert done.stdout
    trace = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    names = {line.rpartition("|")[2].strip() for line in trace}
    assert "tidegate.cli.entry" in names, "it was not our command that was looked at"
    return {name.split(".")[0] for name in names}


def test_the_stored_help_is_what_the_parser_would_print() -> None:
    now: dict[str, Any] = {}
    exec(render(), now)  # What it says is compared, since the formatter has a hand in how it is written.
    assert (now["HELP"], now["BARE"]) == (HELP, BARE), "run: python -m tidegate.cli.render_help"


@pytest.mark.parametrize("path", HELP)
def test_every_command_explains_itself(home: Home, path: str) -> None:
    ended = home.run(*path.split(), "--help")
    assert (ended.status, ended.stderr) == (0, "")
    assert ended.stdout.startswith(f"Usage: {' '.join(['tidegate', *path.split()])} ")
    assert home.run(*path.split(), "-h").stdout == ended.stdout
    assert list(home.path.iterdir()) == []


@pytest.mark.parametrize("path", sorted(BARE))
def test_a_group_called_bare_explains_itself(home: Home, path: str) -> None:
    ended = home.run(*path.split())
    assert (ended.status, ended.stdout) == (0, HELP[path])


def test_help_asked_for_among_other_words_is_the_parser_s(home: Home) -> None:
    assert home.run("quote", "--help", "SUI").stdout == HELP["quote"]
    assert home.run("quote", "SUI", "USDC", "2", "--help").stdout == HELP["quote"]


def test_the_version_is_one_line(home: Home) -> None:
    assert home.run("--version").stdout.startswith("tidegate 0.")
    assert home.run("--version").stdout.count("\n") == 1


@pytest.mark.parametrize("args", [["--nonsense"], ["nonsense"], ["ask", "hi", "--nonsense"], ["quote"]])
def test_what_no_command_takes_is_wrong_usage(home: Home, args: list[str]) -> None:
    ended = home.run(*args)
    assert (ended.status, ended.stdout) == (2, "")
    assert "--help" in ended.stderr


@pytest.mark.parametrize("args", [["--help"], ["quote", "--help"], ["wallet"], ["--version"]])
def test_nothing_is_loaded_for_help(home: Home, args: list[str]) -> None:
    assert loaded_by(home, *args) & PARSERS == set()


def test_a_quote_loads_no_model(home: Home) -> None:
    loaded = loaded_by(home, "quote", "SUI", "USDC", "2")
    assert loaded & SDKS == set()
    assert "typer" in loaded, "the trace is one of a whole run"


def test_settings_are_shown_without_chain_or_model(home: Home) -> None:
    assert loaded_by(home, "config", "show") & {"pysui", *SDKS} == set()
