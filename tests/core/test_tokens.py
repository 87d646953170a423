from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.core.tokens import (
    KNOWN_TOKENS,
    SUI,
    USDC,
    normalize_address,
    normalize_coin_type,
    short_coin_type,
    token_by_symbol,
    token_by_type,
)

hex_digits = st.text("0123456789abcdefABCDEF", min_size=1, max_size=64)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("0x2", "0x" + "0" * 63 + "2"),
        ("0X2", "0x" + "0" * 63 + "2"),
        ("0x" + "AB" * 32, "0x" + "ab" * 32),
        ("0x0", "0x" + "0" * 64),
    ],
)
def test_an_address_is_written_in_full(text: str, address: str) -> None:
    assert normalize_address(text) == address


@pytest.mark.parametrize(
    "text", ["", "0x", "2", "0x" + "a" * 65, "0xg", " 0x2", "0x2\n", "0x２", "0x2::sui::SUI", "x2", "00x2"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a Sui address"):
        normalize_address(text)


@settings(derandomize=True, deadline=None)
@given(hex_digits)
def test_a_full_address_is_the_same_number_and_stays_as_it_is(digits: str) -> None:
    full = normalize_address("0x" + digits)
    assert (len(full), int(full, 16)) == (66, int(digits, 16))
    assert normalize_address(full) == full


@pytest.mark.parametrize(
    "text",
    [
        "0x2::sui",
        "0x2::sui::SUI::x",
        "0x2::coin::Coin<0x2::sui::SUI>",
        "2::sui::SUI",
        "0x2::sui::SUI ",
        "0x2::sui::SUI\n",
        "0x2::1sui::SUI",
        "0x2::sui::",
        "0x2::ѕui::SUI",
        "",
    ],
)
def test_what_is_no_coin_type_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a coin type"):
        normalize_coin_type(text)


def test_a_coin_type_keeps_the_case_of_its_names() -> None:
    assert normalize_coin_type("0xA::lofi::LOFI") == "0x" + "a".rjust(64, "0") + "::lofi::LOFI"
    assert normalize_coin_type("0xA::LOFI::LOFI") != normalize_coin_type("0xA::lofi::LOFI")


@settings(derandomize=True, deadline=None)
@given(hex_digits)
def test_the_short_form_means_the_same_coin_type(digits: str) -> None:
    full = normalize_coin_type(f"0x{digits}::m::T")
    short = short_coin_type(full)
    assert normalize_coin_type(short) == full
    assert not short.startswith("0x0") or short.startswith("0x0::")


def test_sui_in_short_form_is_as_people_write_it() -> None:
    assert short_coin_type(SUI.coin_type) == "0x2::sui::SUI"


@pytest.mark.parametrize("token", KNOWN_TOKENS, ids=str)
def test_every_known_token_is_found_by_symbol_and_by_type(token: object) -> None:
    known = next(item for item in KNOWN_TOKENS if item is token)
    assert token_by_symbol(known.symbol.upper()) is known
    assert token_by_symbol(known.symbol.lower()) is known
    assert token_by_type(short_coin_type(known.coin_type)) is known
    assert str(known) == known.symbol


def test_no_two_known_tokens_share_a_symbol_or_a_type() -> None:
    assert len({token.symbol.casefold() for token in KNOWN_TOKENS}) == len(KNOWN_TOKENS)
    assert len({token.coin_type for token in KNOWN_TOKENS}) == len(KNOWN_TOKENS)


@pytest.mark.parametrize("symbol", ["USD", "UЅDC", "ＵＳＤＣ", "USDC ", "", "S UI", "5UI"])
def test_a_look_alike_symbol_is_no_known_token(symbol: str) -> None:
    assert token_by_symbol(symbol) is None


@pytest.mark.parametrize(
    "coin_type",
    [
        "0x66::usdc::USDC",
        USDC.coin_type.replace("7::usdc", "8::usdc"),
        USDC.coin_type + "x",
        USDC.coin_type.replace("USDC", "usdc"),
        "USDC",
        "",
    ],
)
def test_a_coin_that_only_calls_itself_usdc_is_not_usdc(coin_type: str) -> None:
    assert token_by_type(coin_type) is None
