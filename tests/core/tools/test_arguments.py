"""What people and models write, as tools read it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from tool_house import STRANGER, House

from tidegate.core.chain.deployments import CLOCK
from tidegate.core.errors import BadAddress, BadAmount, WalletMissing
from tidegate.core.money import Exactly, Share, parse_quantity
from tidegate.core.tokens import SUI
from tidegate.core.tools.arguments import (
    AddressText,
    AmountText,
    Party,
    TokenText,
    account,
    recipient_problem,
    resolve_party,
    typed_arguments,
    wallet_of,
)
from tidegate.core.tools.base import ToolInput
from tidegate.core.tools.registry import all_tools, tool_by_name

MIXED_CASE = "0X" + "aB" * 32


class Asked(ToolInput):
    """Every kind of argument."""

    amount: AmountText = "1"
    token: TokenText = "USDC"
    address: AddressText = "bob"


def amount_of(value: object) -> Any:
    return parse_quantity(Asked.model_validate({"amount": value}).amount)


# Amounts


@pytest.mark.parametrize(
    ("value", "meaning"),
    [
        (10, Exactly(Decimal(10))),
        (0.1, Exactly(Decimal("0.1"))),
        (1e-7, Exactly(Decimal("0.0000001"))),
        (Decimal("10.50"), Exactly(Decimal("10.5"))),
        (" 1,000 ", Exactly(Decimal(1000))),
        ("all", Share(Decimal(100))),
        ("half", Share(Decimal(50))),
        ("12.5%", Share(Decimal("12.5"))),
    ],
)
def test_an_amount_may_be_a_number_or_words(value: object, meaning: object) -> None:
    assert amount_of(value) == meaning


@given(st.integers(1, 10**30))
def test_a_whole_number_keeps_all_its_digits(value: int) -> None:
    assert amount_of(value) == Exactly(Decimal(value))


@given(st.decimals(min_value="0.000000000001", max_value=10**18, places=12))
def test_a_decimal_number_keeps_all_its_digits(value: Decimal) -> None:
    assert amount_of(value) == Exactly(value)


@given(st.floats(min_value=1e-12, max_value=1e22))
def test_a_float_means_the_digits_it_is_written_with(value: float) -> None:
    assert amount_of(value) == Exactly(Decimal(repr(value)))


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), -1, -0.5, 0, Decimal("NaN"), Decimal("-Infinity"), "   "]
)
def test_what_means_no_amount_is_refused_where_its_meaning_is_read(value: object) -> None:
    with pytest.raises(BadAmount):
        amount_of(value)


@pytest.mark.parametrize("value", [True, False, None, [], {"a": 1}, "", "1" * 201])
def test_what_is_neither_a_number_nor_words_is_no_amount(value: object) -> None:
    with pytest.raises(ValidationError):
        Asked.model_validate({"amount": value})


def test_a_model_is_told_that_an_amount_is_a_number_or_text() -> None:
    properties = Asked.model_json_schema()["properties"]

    assert properties["amount"]["anyOf"] == [{"type": "number"}, {"type": "string"}]
    assert properties["token"]["type"] == properties["address"]["type"] == "string"


@pytest.mark.parametrize("name", ["token", "address"])
def test_tokens_and_addresses_lose_the_spaces_around_them_and_are_never_empty(name: str) -> None:
    assert getattr(Asked.model_validate({name: "  x "}), name) == "x"
    with pytest.raises(ValidationError):
        Asked.model_validate({name: "  "})


def test_a_field_that_no_input_has_is_not_let_through() -> None:
    with pytest.raises(ValidationError):
        Asked.model_validate({"ammount": 1})


# Parties


def test_a_full_address_is_itself(house: House) -> None:
    assert resolve_party(MIXED_CASE, house.contacts) == Party("0x" + "ab" * 32, None)


def test_an_address_of_a_contact_is_recognised(house: House) -> None:
    house.befriend("Bob", "0x" + "ab" * 32)

    assert resolve_party(MIXED_CASE, house.contacts) == Party("0x" + "ab" * 32, "Bob")


@pytest.mark.parametrize("name", ["Bob", "bob", "BOB", "ｂｏｂ"])
def test_a_contact_is_found_by_its_name_however_it_is_cased(house: House, name: str) -> None:
    house.befriend("Bob", STRANGER)

    assert resolve_party(name, house.contacts) == Party(STRANGER, "Bob")


@pytest.mark.parametrize(
    "text", ["0x", "0x2", "0x" + "a" * 63, "0x" + "a" * 65, "0X" + "g" * 64, "0x" + "a" * 62 + "…", "0xbob"]
)
def test_a_shortened_address_is_refused_even_if_a_contact_is_called_so(house: House, text: str) -> None:
    house.befriend(text, STRANGER)

    with pytest.raises(BadAddress, match="is not a full Sui address") as raised:
        resolve_party(text, house.contacts)
    assert "64 hex digits" in str(raised.value.hint)


def test_a_line_end_after_an_address_is_not_overlooked(house: House) -> None:
    with pytest.raises(BadAddress):
        resolve_party(STRANGER + "\n", house.contacts)


def test_a_misspelt_contact_gets_the_closest_names(house: House) -> None:
    house.befriend("Robert", STRANGER)
    house.befriend("Rupert", "0x" + "88" * 32)
    house.befriend("Yang", "0x" + "99" * 32)

    with pytest.raises(BadAddress, match="'Robet'") as raised:
        resolve_party("Robet", house.contacts)
    assert raised.value.hint == "Did you mean Robert or Rupert?"


def test_a_name_that_is_like_none_gets_the_list(house: House) -> None:
    house.befriend("Robert", STRANGER)

    with pytest.raises(BadAddress) as raised:
        resolve_party("qqqq", house.contacts)
    assert raised.value.hint == "Known contacts: Robert."


def test_without_contacts_the_hint_says_how_to_save_one(house: House) -> None:
    with pytest.raises(BadAddress) as raised:
        resolve_party("bob", house.contacts)
    assert "save contact NAME 0x…" in str(raised.value.hint)


def test_an_overlong_name_is_not_repeated_whole(house: House) -> None:
    for text in ("x" * 5_000, "0x" + "1" * 5_000):
        with pytest.raises(BadAddress) as raised:
            resolve_party(text, house.contacts)
        assert len(raised.value.message) < 150


# Accounts


def test_a_read_is_about_the_wallet_unless_an_account_is_named(house: House) -> None:
    house.befriend("bob", STRANGER)

    assert account(None, house.context()) == house.wallet == wallet_of(house.context())
    assert account("bob", house.context()) == STRANGER


def test_without_a_wallet_an_account_must_be_named(house: House) -> None:
    nobody = house.context(wallet=None)

    assert account(STRANGER, nobody) == STRANGER
    with pytest.raises(WalletMissing, match="no wallet for this network") as raised:
        account(None, nobody)
    assert "tidegate wallet new" in str(raised.value.hint)


# Recipients


def test_an_address_that_nothing_is_known_of_may_receive(house: House) -> None:
    assert recipient_problem(STRANGER, house.context()) is None


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("0x" + "0" * 64, "nobody's address"),
        (CLOCK, "id of an object"),
    ],
)
def test_what_would_lose_the_money_is_no_recipient(house: House, address: str, problem: str) -> None:
    assert problem in str(recipient_problem(address, house.context()))


def test_a_package_is_no_recipient(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    # The sandbox keeps its packages as no objects, so a node's answer about one is given here.
    monkeypatch.setattr(house.network, "object_kind", lambda object_id: "package")

    assert "id of a package" in str(recipient_problem(STRANGER, house.context()))


def test_the_wallet_itself_is_no_recipient(house: House) -> None:
    assert "this wallet's own address" in str(recipient_problem(house.wallet, house.context()))


def test_a_coin_of_somebody_is_no_recipient(house: House) -> None:
    (coin,) = house.ledger.coins(house.wallet, SUI.coin_type)

    assert "id of an object" in str(recipient_problem(coin.id, house.context()))


# Fields typed on a command line


@pytest.mark.parametrize(
    ("tool", "typed", "read"),
    [
        ("token_prices", {"symbols": "SUI, USDC,"}, {"symbols": ["SUI", "USDC"]}),
        ("rates_info", {"assets": "USDC"}, {"assets": ["USDC"]}),
        ("rates_info", {"top_n": "3", "stable_only": "true"}, {"top_n": "3", "stable_only": "true"}),
        ("save_deposit", {"amount": "1,000"}, {"amount": "1,000"}),
        ("swap_quote", {"from": "SUI,USDC"}, {"from": "SUI,USDC"}),
        ("balance_check", {"nonsense": "a,b"}, {"nonsense": "a,b"}),
        ("transaction_history", {"date": "2026-11-30"}, {"date": "2026-11-30"}),
    ],
)
def test_only_lists_are_split_at_commas(tool: str, typed: dict[str, str], read: dict[str, Any]) -> None:
    assert typed_arguments(tool_by_name(tool), typed) == read


def test_every_tool_takes_its_typed_fields() -> None:
    assert all(typed_arguments(tool, {}) == {} for tool in all_tools())
