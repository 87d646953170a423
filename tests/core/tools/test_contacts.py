"""save_contact: which names and addresses are kept, and which are not."""

from __future__ import annotations

import pytest
from tool_house import STRANGER, House

from tidegate.core.errors import BadAddress, UsageError
from tidegate.core.store.base import Contact
from tidegate.core.tools.contacts import ContactInput, ContactOutput, save_contact


def saved(house: House, name: str, address: str = STRANGER) -> ContactOutput:
    output = save_contact(ContactInput(name=name, address=address), house.context()).data
    assert isinstance(output, ContactOutput)
    return output


def test_a_contact_is_kept_with_its_address_in_full_and_lower_case(house: House) -> None:
    output = saved(house, "Bob", "0X" + "AB" * 32)

    assert house.contacts.all() == [Contact("Bob", "0x" + "ab" * 32)]
    assert output == ContactOutput(name="Bob", address="0x" + "ab" * 32)


def test_the_answer_repeats_the_whole_address(house: House) -> None:
    result = save_contact(ContactInput(name="Bob", address=STRANGER), house.context())

    assert result.display_text == f"Saved Bob as {STRANGER}."


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("  Bob   the  Builder ", "Bob the Builder"),
        ("José", "José"),
        ("Łukasz", "Łukasz"),
        ("山田", "山田"),
        ("o'neill_2 @work-b.x", "o'neill_2 @work-b.x"),
        ("n" * 40, "n" * 40),
    ],
)
def test_a_name_is_kept_as_people_write_it_with_single_spaces(house: House, typed: str, kept: str) -> None:
    assert saved(house, typed).name == kept
    assert house.contacts.get(kept) == Contact(kept, STRANGER)


@pytest.mark.parametrize(
    "name", ["0xbob", "0X1", "a/b", "bob\x1b[31m", "bob\u202e", "b\u200bob", "<b>", "bob,eve"]
)
def test_a_name_that_could_be_read_as_something_else_is_refused(house: House, name: str) -> None:
    with pytest.raises(UsageError, match="cannot be a contact's name"):
        saved(house, name)
    assert house.contacts.all() == []


def test_a_name_that_is_too_long_is_refused(house: House) -> None:
    with pytest.raises(UsageError, match="too long") as raised:
        saved(house, "n" * 41)
    assert "40" in str(raised.value.hint)


@pytest.mark.parametrize("address", ["0x2", STRANGER[:-1], STRANGER + "0"])
def test_a_shortened_address_is_refused(house: House, address: str) -> None:
    with pytest.raises(BadAddress, match="not a full Sui address"):
        saved(house, "Bob", address)


def test_zero_is_nobodys_address(house: House) -> None:
    with pytest.raises(BadAddress, match="0x0 is nobody's address"):
        saved(house, "Bob", "0x" + "0" * 64)


def test_a_name_cannot_stand_for_the_address_of_another_name(house: House) -> None:
    saved(house, "Bob")

    with pytest.raises(BadAddress, match="needs an address"):
        saved(house, "Robert", "Bob")


def test_the_same_contact_may_be_saved_again(house: House) -> None:
    assert saved(house, "Bob") == saved(house, "Bob")
    assert len(house.contacts.all()) == 1


@pytest.mark.parametrize("name", ["Bob", "bob", " BOB ", "Ｂob"])
def test_a_name_is_never_pointed_to_another_address(house: House, name: str) -> None:
    house.befriend("Bob", STRANGER)

    with pytest.raises(UsageError):
        saved(house, name, "0x" + "88" * 32)
    assert house.contacts.get("Bob") == Contact("Bob", STRANGER)


def test_one_address_may_have_two_names(house: House) -> None:
    assert saved(house, "Bob").look_alike is None
    assert saved(house, "Robert").look_alike is None


def test_an_address_that_begins_and_ends_like_a_contacts_is_told(house: House) -> None:
    house.befriend("Bob", STRANGER)
    twin = STRANGER[:8] + "0" * 52 + STRANGER[-6:]

    result = save_contact(ContactInput(name="Bobby", address=twin), house.context())

    assert isinstance(result.data, ContactOutput)
    assert result.data.look_alike == "Bob"
    assert "begins and ends like the address of Bob" in result.display_text


@pytest.mark.parametrize(
    "address", [STRANGER[:7] + "0" + STRANGER[8:], STRANGER[:-6] + "0" + STRANGER[-5:], "0x" + "12" * 32]
)
def test_an_address_that_only_begins_or_only_ends_alike_is_none(house: House, address: str) -> None:
    house.befriend("Bob", STRANGER)

    assert saved(house, "Bobby", address).look_alike is None
