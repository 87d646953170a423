"""Rows in all three forms, and what is refused before them."""

from __future__ import annotations

import io
from decimal import Decimal

import pytest

from tidegate.cli.output import Console, Form, Notices, Sink
from tidegate.cli.rows import show_row, show_rows, shown

ROWS = [
    {"name": "a", "usd": Decimal("1.50"), "held": True, "more": {"deep": [1, None]}},
    {"name": "日本", "usd": None, "held": False, "more": {}},
]


def printed(
    form: Form, *, terminal: bool = False, rows: list[dict[str, object]] | None = None
) -> tuple[str, str]:
    out, notices = io.BytesIO(), io.BytesIO()
    to = Console(Sink(out, terminal=terminal), Notices(notices), form)
    show_rows(to, ROWS if rows is None else rows, ("name", "usd", "held"), empty="There is nothing.")
    return out.getvalue().decode(), notices.getvalue().decode()


def one(form: Form, row: dict[str, object], text: str | None = None) -> str:
    out = io.BytesIO()
    show_row(Console(Sink(out), Notices(io.BytesIO()), form), row, text)
    return out.getvalue().decode()


def test_a_program_gets_every_field_one_object_a_line() -> None:
    assert printed("ndjson")[0] == (
        '{"name":"a","usd":1.5,"held":true,"more":{"deep":[1,null]}}\n'
        '{"name":"日本","usd":null,"held":false,"more":{}}\n'
    )


def test_json_is_one_list_even_of_nothing() -> None:
    assert printed("json")[0].startswith('[{"name":"a",')
    assert printed("json", rows=[]) == ("[]\n", "")


def test_people_get_a_table_whose_columns_stand_below_each_other() -> None:
    assert printed("text")[0] == "name  usd  held\na     1.5  yes\n日本       no\n"


def test_people_are_told_that_there_is_nothing_and_programs_are_not() -> None:
    assert printed("text", rows=[]) == ("", "There is nothing.\n")
    assert printed("ndjson", rows=[]) == ("", "")


@pytest.mark.parametrize("form", ["text", "ndjson", "json"])
def test_nothing_hidden_reaches_a_terminal(form: Form) -> None:
    told, _ = printed(form, terminal=True, rows=[{"name": "a\x1b[2J\u202e\n", "usd": None, "held": False}])
    assert "\x1b" not in told
    assert "\u202e" not in told
    assert told.count("\n") == (2 if form == "text" else 1)


def test_one_object_is_told_in_words_or_field_by_field() -> None:
    assert one("json", {"url": "x"}, "It serves.") == '{"url":"x"}\n'
    assert one("text", {"url": "x"}, "It serves.") == "It serves.\n"
    assert one("text", {"in_use": True, "name": "a"}) == "in use  yes\nname    a\n"
    assert one("text", {}) == ""


def test_values_are_told_as_people_read_them() -> None:
    assert [shown(value) for value in (None, True, False, Decimal("1E+2"), 7, [1, "x"])] == [
        "",
        "yes",
        "no",
        "100",
        "7",
        '[1,"x"]',
    ]
