from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.core.sandbox.encoding import BadEncoding, Reader, base58, digest_bytes, uleb128
from tidegate.core.sandbox.movetypes import (
    MoveType,
    decode_pure,
    encode_value,
    parse_parameter,
    parse_type,
    read_type_tag,
    type_tag,
)

names = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,8}", fullmatch=True)
structs = st.builds(
    lambda address, module, name: f"0x{address:064x}::{module}::{name}",
    st.integers(0, 2**256 - 1),
    names,
    names,
)
primitives = st.sampled_from(["bool", "u8", "u16", "u32", "u64", "u128", "u256", "address"])
types = st.recursive(
    st.builds(MoveType, primitives | structs),
    lambda inner: st.one_of(
        st.builds(lambda item: MoveType("vector", (item,)), inner),
        st.builds(MoveType, structs, st.lists(inner, min_size=1, max_size=3).map(tuple)),
    ),
    max_leaves=6,
)


@given(types)
def test_types_survive_text(move_type: MoveType) -> None:
    assert parse_type(str(move_type)) == move_type


@given(types)
def test_types_survive_bcs(move_type: MoveType) -> None:
    reader = Reader(type_tag(move_type))

    assert read_type_tag(reader) == move_type
    reader.end()


def test_short_addresses_and_spaces_are_read() -> None:
    written = "0x2::coin::Coin< 0x2::sui::SUI >"
    long = "0x" + "2".rjust(64, "0")

    assert str(parse_type(written)) == f"{long}::coin::Coin<{long}::sui::SUI>"


@pytest.mark.parametrize(
    "written",
    ["", "u7", "vector", "vector<u8", "0x2::coin", "0x2::a::B<>", "u8<u8>", "0x2::a::B>", "a::b::C"],
)
def test_what_is_no_type_is_refused(written: str) -> None:
    with pytest.raises(BadEncoding):
        parse_type(written)


def test_references_are_told_apart() -> None:
    assert [parse_parameter(p).reference for p in ("u8", "&u8", "&mut 0x2::a::B")] == ["", "&", "&mut"]


@given(st.binary(min_size=32, max_size=32))
def test_digests_survive_base58(raw: bytes) -> None:
    assert digest_bytes(base58(raw)) == raw


@pytest.mark.parametrize("digest", ["", "0", "l" * 44, "1" * 31, "z" * 60])
def test_what_is_no_digest_is_refused(digest: str) -> None:
    with pytest.raises(BadEncoding):
        digest_bytes(digest)


@given(st.integers(0, 2**32 - 1))
def test_lengths_survive(value: int) -> None:
    assert Reader(uleb128(value)).length() == value


def test_a_length_in_a_longer_form_is_refused() -> None:
    with pytest.raises(BadEncoding):
        Reader(b"\x80\x00").length()


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("u64", 2**64 - 1),
        ("bool", True),
        ("address", "0x" + "ab" * 32),
        ("0x1::string::String", "grüße"),
        ("vector<u8>", b"\0\1"),
        ("vector<vector<u16>>", [[1, 2], []]),
        ("0x1::option::Option<u64>", None),
        ("0x1::option::Option<u64>", 5),
        ("vector<address>", ["0x" + "01" * 32]),
    ],
)
def test_pure_values_survive(written: str, value: object) -> None:
    move_type = parse_type(written)

    assert decode_pure(move_type, encode_value(move_type, value)) == value  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("written", "raw"),
    [
        ("u64", b"\0" * 7),
        ("u64", b"\0" * 9),
        ("bool", b"\2"),
        ("0x1::string::String", b"\1\xff"),
        ("vector<u8>", b"\5\0"),
        ("0x2::coin::Coin<0x2::sui::SUI>", b"\0" * 40),
    ],
)
def test_bytes_that_are_no_value_are_refused(written: str, raw: bytes) -> None:
    with pytest.raises(BadEncoding):
        decode_pure(parse_type(written), raw)
