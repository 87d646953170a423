from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tidegate.core.errors import UsageError
from tidegate.core.store.base import Contact, Store

AT_MS = 1_800_000_000_000
ALICE, BOB = "0x" + "a1" * 32, "0x" + "b0" * 32


def test_a_name_that_nobody_has_is_none(store: Store) -> None:
    assert store.contacts.get("bob") is None
    assert store.contacts.by_address(BOB) is None
    assert store.contacts.all() == []


@pytest.mark.parametrize("name", ["Zoë Groß", "zoë groß", "ZOË GROSS", " zoe\u0308  groß ", "ＺＯË Groß"])
def test_a_name_is_found_however_it_is_written(store: Store, name: str) -> None:
    store.contacts.save(Contact("Zoë Groß", BOB), AT_MS)

    assert store.contacts.get(name) == Contact("Zoë Groß", BOB)


def test_a_contact_is_found_by_address(store: Store) -> None:
    store.contacts.save(Contact("bob", BOB), AT_MS)
    store.contacts.save(Contact("al", BOB), AT_MS)

    assert store.contacts.by_address(BOB) == Contact("bob", BOB)
    assert store.contacts.by_address(ALICE) is None


def test_contacts_are_sorted_without_regard_to_case(store: Store) -> None:
    for name in ("bob", "Carol", "alice", "Bea"):
        store.contacts.save(Contact(name, BOB), AT_MS)

    assert [contact.name for contact in store.contacts.all()] == ["alice", "Bea", "bob", "Carol"]


def test_a_name_cannot_be_pointed_at_another_address(store: Store) -> None:
    store.contacts.save(Contact("Bob", BOB), AT_MS)

    with pytest.raises(UsageError, match="Bob is already the name of another address") as refused:
        store.contacts.save(Contact("BOB", ALICE), AT_MS)

    assert refused.value.hint
    assert store.contacts.all() == [Contact("Bob", BOB)]


def test_saving_the_same_contact_again_changes_nothing(store: Store) -> None:
    store.contacts.save(Contact("Bob", BOB), AT_MS)

    store.contacts.save(Contact("bob", BOB), AT_MS + 1)

    assert store.contacts.all() == [Contact("Bob", BOB)]


def test_a_name_that_is_not_unicode_is_nobody(store: Store) -> None:
    assert store.contacts.get("\udcff") is None


def test_threads_read_while_others_write(store: Store) -> None:
    def use(index: int) -> Contact | None:
        if index % 2:
            store.contacts.save(Contact(f"c{index}", BOB), AT_MS)
        return store.contacts.get(f"c{index}")

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(use, range(40)))

    assert [contact is not None for contact in found] == [bool(index % 2) for index in range(40)]
