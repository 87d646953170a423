"""Move types read from text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.core.chain.move_types import PRIMITIVES, MoveType, parse_move_type
from tidegate.core.tokens import SUI

LONG_2 = "0x" + "2".rjust(64, "0")

primitives = st.sampled_from(sorted(PRIMITIVES)).map(MoveType)
names = st.builds(
    lambda address, module, name: f"0x{address:064x}::{module}::{name}",
    st.integers(0, 2**256 - 1),
    st.sampled_from(["coin", "u8", "vector", "_m1"]),
    st.sampled_from(["Coin", "address", "T_1"]),
)
types = st.recursive(
    primitives | names.map(MoveType),
    lambda inner: (
        st.builds(lambda one: MoveType("vector", (one,)), inner)
        | st.builds(MoveType, names, st.lists(inner, min_size=1, max_size=3).map(tuple))
    ),
    max_leaves=8,
)


@given(types)
def test_a_type_is_read_as_it_is_written(move_type: MoveType) -> None:
    assert parse_move_type(str(move_type)) == move_type


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("0x2::sui::SUI", SUI.coin_type),
        ("0X2::sui::SUI", SUI.coin_type),
        (" 0x2::coin::Coin< 0x2::sui::SUI > ", f"{LONG_2}::coin::Coin<{SUI.coin_type}>"),
        ("vector<vector<u8>>", "vector<vector<u8>>"),
        (
            "0x2::p::P<0x2::coin::Coin<0x2::sui::SUI>, vector<u64>>",
            f"{LONG_2}::p::P<{LONG_2}::coin::Coin<{SUI.coin_type}>,vector<u64>>",
        ),
        ("0x2::p::P<0x2::q::Q<u8,u64>,u64>", f"{LONG_2}::p::P<{LONG_2}::q::Q<u8,u64>,u64>"),
    ],
)
def test_a_type_has_one_normal_form(text: str, normal: str) -> None:
    assert str(parse_move_type(text)) == normal


@pytest.mark.parametrize(
    "text",
    [
        "",
        "u7",
        "vector",
        "vector<>",
        "vector<u8,u8>",
        "vector<u8",
        "u8>",
        "u8 u8",
        "0x2",
        "0x2::sui",
        "0x2::sui::",
        "0x2::sui::SUI::X",
        "0x2::sui::SUI<",
        "0x2::sui::SUI<>",
        "0x2::sui::SUI<u8,>",
        "0x2::sui::SUI>",
        "0x2::1sui::SUI",
        "2::sui::SUI",
        "0xg::sui::SUI",
        "0x" + "1" * 65 + "::sui::SUI",
        "0x2::sui::SUІ",
        "vector<" * 40 + "u8" + ">" * 40,
    ],
)
def test_anything_else_is_no_type(text: str) -> None:
    with pytest.raises(ValueError, match="not a Move type"):
        parse_move_type(text)
