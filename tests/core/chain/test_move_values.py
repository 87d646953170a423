"""Move values read from the bytes that a simulation returns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.core.chain.move_values import Fields, read_bool, read_byte_vector, read_uint
from tidegate.core.sandbox.encoding import blob


@given(st.integers(0, 2**256 - 1))
def test_an_unsigned_integer_is_read_at_its_full_width(value: int) -> None:
    assert read_uint(value.to_bytes(32, "little")) == value


def test_an_integer_has_its_lowest_byte_first() -> None:
    assert read_uint(bytes([1, 2, 0, 0])) == 513


@pytest.mark.parametrize(("raw", "value"), [(b"\0", False), (b"\1", True)])
def test_a_bool_is_one_byte(raw: bytes, value: bool) -> None:
    assert read_bool(raw) is value


@pytest.mark.parametrize("raw", [b"", b"\2", b"\xff", b"\1\0"])
def test_whatever_is_neither_0_nor_1_is_no_bool(raw: bytes) -> None:
    with pytest.raises(ValueError, match="is not a Move bool"):
        read_bool(raw)


@given(st.binary(max_size=300))
def test_a_vector_is_read_as_the_chain_writes_it(content: bytes) -> None:
    assert read_byte_vector(blob(content)) == content


@given(st.binary(max_size=300), st.binary(min_size=1, max_size=3))
def test_bytes_after_the_end_of_a_vector_are_not_dropped_silently(content: bytes, more: bytes) -> None:
    with pytest.raises(ValueError, match="bytes has"):
        read_byte_vector(blob(content) + more)


@given(st.binary(min_size=1, max_size=300), st.data())
def test_a_vector_that_was_cut_off_is_refused(content: bytes, data: st.DataObject) -> None:
    whole = blob(content)

    with pytest.raises(ValueError, match=r"a vector of|has no length"):
        read_byte_vector(whole[: data.draw(st.integers(0, len(whole) - 1))])


@pytest.mark.parametrize("raw", [b"", b"\x80", b"\x80\x80", b"\xff" * 12])
def test_a_length_that_never_ends_is_refused(raw: bytes) -> None:
    with pytest.raises(ValueError, match="has no length"):
        read_byte_vector(raw)


@given(
    st.lists(
        st.sampled_from([8, 16, 32, 64, 128, 256]).flatmap(
            lambda bits: st.tuples(st.just(bits), st.integers(0, 2**bits - 1))
        ),
        max_size=8,
    )
)
def test_fields_are_read_in_the_order_they_were_written(fields: list[tuple[int, int]]) -> None:
    raw = b"".join(value.to_bytes(bits // 8, "little") for bits, value in fields)
    struct = Fields(raw)

    assert [struct.uint(bits) for bits, _ in fields] == [value for _, value in fields]
    assert struct.at == len(raw)


def test_a_field_past_the_end_is_refused_and_the_place_kept() -> None:
    struct = Fields(bytes(9))
    struct.uint(64)

    with pytest.raises(ValueError, match="of 9 bytes has no field of 64 bits at 8"):
        struct.uint(64)
    assert struct.uint(8) == 0
