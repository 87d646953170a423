from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.core.jsonlines import dumps, quote

any_text = st.text(st.characters(exclude_categories=()))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@settings(derandomize=True, deadline=None)
@given(values)
def test_what_is_written_is_read_back(value: Any) -> None:
    assert json.loads(dumps(value)) == value


@settings(derandomize=True, deadline=None)
@given(any_text)
def test_a_line_is_utf_8_without_controls_whatever_the_text(text: str) -> None:
    line = quote(text)
    line.encode("utf-8")
    assert [char for char in line if ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0] == []
    assert len(line.splitlines()) == 1


@settings(derandomize=True, deadline=None)
@given(any_text)
def test_only_lone_surrogates_are_replaced(text: str) -> None:
    clean = "".join("?" if "\ud800" <= char <= "\udfff" else char for char in text)
    assert json.loads(quote(text)) == clean


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (-(2**70), "-1180591620717411303424"),
        (Decimal("0.1"), "0.1"),
        (Decimal("1E3"), "1000"),
        (Decimal("100.00"), "100"),
        (Decimal("1e-18"), "0.000000000000000001"),
        (Decimal("18446744073709551615.123456789"), "18446744073709551615.123456789"),
        (Decimal("-0"), "0"),
        (0.5, "0.5"),
        ("é", '"é"'),
        ('"\\\n', '"\\"\\\\\\n"'),
        ("\x1b[31m", '"\\u001b[31m"'),
        ("\x7f\x9b\u2028", '"\\u007f\\u009b\\u2028"'),
        ({}, "{}"),
        ([], "[]"),
        ({"a": [1, {"b": None}], "c": ()}, '{"a":[1,{"b":null}],"c":[]}'),
        ({5: "x"}, '{"5":"x"}'),
    ],
)
def test_values_have_one_exact_form(value: object, line: str) -> None:
    assert dumps(value) == line


@settings(derandomize=True, deadline=None)
@given(st.decimals(allow_nan=False, allow_infinity=False, places=18))
def test_decimals_are_exact_numbers(value: Decimal) -> None:
    assert json.loads(dumps(value), parse_float=Decimal, parse_int=Decimal) == value


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), -float("inf"), Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity")]
)
@pytest.mark.parametrize("wrapped", [False, True])
def test_what_is_not_finite_is_never_written(value: object, wrapped: bool) -> None:
    with pytest.raises(ValueError, match="cannot be written as JSON"):
        dumps({"a": [value]} if wrapped else value)


@pytest.mark.parametrize("value", [object(), {1, 2}, b"x"])
def test_what_has_no_json_form_is_refused_by_its_type(value: object) -> None:
    with pytest.raises(TypeError, match=f"{type(value).__name__} has no JSON form"):
        dumps(value)
