"""tidegate tools: every tool describes itself, and its example works as it is shown."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from verbs import Home

from tidegate.core.tools.registry import all_tools

NAMES = [tool.name for tool in all_tools()]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_every_tool_is_listed_with_its_kind(home: Home) -> None:
    rows = home.run("tools").rows
    assert [row["name"] for row in rows] == NAMES
    assert {row["kind"] for row in rows} == {"read", "write", "local"}
    for row in rows:
        Draft202012Validator.check_schema(row["input_schema"])
        assert ("operation" in row) == (row["kind"] == "write")
        assert set(row.get("modifiable", ())) <= set(row["input_schema"]["properties"])


def test_one_tool_is_the_row_of_the_list(home: Home) -> None:
    listed = {row["name"]: row for row in home.run("tools").rows}
    assert home.run("tools", "swap_execute").row == listed["swap_execute"]


def test_the_list_is_one_value_when_that_is_asked_for(home: Home) -> None:
    (rows,) = home.run("tools", "--output", "json").rows
    assert len(rows) == len(NAMES)


def test_people_get_a_table_and_a_page(home: Home) -> None:
    table = home.run("tools", "--output", "text").stdout.splitlines()
    assert table[0].split() == ["name", "kind", "description"]
    assert [line.split()[0] for line in table[1:]] == NAMES
    page = home.run("tools", "send_transfer", "--output", "text").stdout
    assert page.startswith("send_transfer: Sends coins")
    assert "required" in page
    assert "optional" in page
    assert page.splitlines()[-1].startswith("Example: tidegate call send_transfer ")


def test_an_unknown_tool_names_the_closest(home: Home) -> None:
    ended = home.run("tools", "balance_chek")
    assert (ended.status, ended.stdout) == (2, "")
    assert "Did you mean balance_check?" in ended.stderr


@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_ready_to_be_pasted(home: Home, name: str) -> None:
    row = home.run("tools", name).row
    Draft202012Validator(row["input_schema"]).validate(row["example"])
    program, *args = shlex.split(row["command"])
    assert program == "tidegate"
    if name == "withdraw":
        home.run("call", "save_deposit", "amount=5")
    ended = home.run(*args)
    # A send to an address that nobody saved waits, which is as well as it can go.
    assert ended.status == (3 if name == "send_transfer" else 0), ended.stderr


def test_nothing_is_made_to_list_them(home: Home) -> None:
    home.run("tools")
    assert list(home.path.iterdir()) == []
