"""tidegate schema: what programs may rely on, held against what is printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from verbs import Home

STRANGER = "0x" + "5e" * 32


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def checker(home: Home) -> Draft202012Validator:
    schema = json.loads(home.run("schema", "events").stdout)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_it_is_one_line_for_programs_and_many_for_people(home: Home) -> None:
    bare, shown = home.run("schema", "events"), home.run("schema", "events", "--output", "text")
    assert bare.stdout.count("\n") == 1
    assert shown.stdout.count("\n") > 100
    assert json.loads(bare.stdout) == json.loads(shown.stdout)
    assert (bare.status, bare.stderr, list(home.path.iterdir())) == (0, "", [])


@pytest.mark.parametrize(
    "args",
    [
        ["ask", "balance"],
        ["ask", "swap 2 SUI to USDC and then save 5"],
        ["ask", f"send 50 USDC to {STRANGER}"],
        ["ask", "save 10 USDC", "--dry-run"],
        ["ask", "paint my fence"],
        ["ask", "save 999999 USDC"],
        ["call", "nope"],
        ["resume"],
        ["ask", "balance", "--network", "moonnet"],
    ],
)
def test_everything_that_is_printed_fits(home: Home, args: list[str]) -> None:
    check = checker(home)
    for event in lines(home.run(*args).stdout):
        check.validate(event)


def test_what_waits_and_what_is_decided_fits(home: Home) -> None:
    check = checker(home)
    home.run("ask", f"send 500 USDC to {STRANGER}")
    for args in (["--set", "amount=300"], ["--regenerate"], [], ["--approve"]):
        for event in lines(home.run("resume", *args).stdout):
            check.validate(event)


@pytest.mark.parametrize(
    "change",
    [{"seq": "1"}, {"v": 2}, {"ts": 5}, {"type": None}, {"turn": -1.5}],
)
def test_what_is_never_printed_does_not_fit(home: Home, change: dict[str, Any]) -> None:
    check = checker(home)
    event = lines(home.run("ask", "hi").stdout)[0]
    check.validate(event)
    assert not check.is_valid(event | change)


def test_a_schema_that_is_not_there_is_wrong_usage(home: Home) -> None:
    ended = home.run("schema", "weather")
    assert (ended.status, ended.stdout) == (2, "")
