from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest

from tidegate.core.errors import NotFound, StoreError
from tidegate.core.jsonlines import Json
from tidegate.core.store.base import Store, StoredMessage

AT_MS = 1_800_000_000_000


def said(text: Json, turn: int = 1, at_ms: int = AT_MS) -> StoredMessage:
    return StoredMessage(turn, "user", [{"type": "text", "text": text}], at_ms)


def test_a_session_that_nobody_made_is_none(store: Store) -> None:
    assert store.sessions.get("s1") is None
    assert store.sessions.latest() is None


def test_a_session_begins_without_turns(store: Store) -> None:
    store.sessions.create("s1", AT_MS)

    info = store.sessions.get("s1")

    assert info is not None
    assert (info.id, info.created_ms, info.updated_ms, info.turns, info.title) == ("s1", AT_MS, AT_MS, 0, "")


def test_a_session_is_made_once(store: Store) -> None:
    store.sessions.create("s1", AT_MS)

    with pytest.raises(StoreError, match="s1 exists already"):
        store.sessions.create("s1", AT_MS)


def test_turns_count_from_one_and_the_first_gives_the_title(store: Store) -> None:
    store.sessions.create("s1", AT_MS)

    numbers = [store.sessions.begin_turn("s1", title, AT_MS + 5) for title in ("balance", "send it")]
    info = store.sessions.get("s1")

    assert numbers == [1, 2]
    assert info is not None
    assert (info.turns, info.title, info.updated_ms) == (2, "balance", AT_MS + 5)


def test_turns_begun_side_by_side_have_different_numbers(store: Store) -> None:
    store.sessions.create("s1", AT_MS)

    with ThreadPoolExecutor(8) as pool:
        numbers = list(pool.map(lambda _: store.sessions.begin_turn("s1", "", AT_MS), range(40)))

    assert sorted(numbers) == list(range(1, 41))


def test_a_turn_needs_a_session(store: Store) -> None:
    with pytest.raises(NotFound, match="No session 'missing'"):
        store.sessions.begin_turn("missing", "", AT_MS)


def test_a_message_needs_a_session(store: Store) -> None:
    with pytest.raises(NotFound):
        store.sessions.append("missing", said("hello"))


def test_a_call_needs_a_session(store: Store) -> None:
    with pytest.raises(NotFound):
        store.sessions.record_call("missing", {"tool": "balance_check"}, AT_MS)


def test_the_newest_session_is_the_one_last_written_to(store: Store) -> None:
    for index in range(3):
        store.sessions.create(f"s{index}", AT_MS + index)
    store.sessions.append("s0", said("again", at_ms=AT_MS + 10))

    assert [info.id for info in store.sessions.recent(2)] == ["s0", "s2"]
    latest = store.sessions.latest()
    assert latest is not None
    assert latest.id == "s0"


def test_of_sessions_of_one_moment_the_last_made_is_newest(store: Store) -> None:
    for name in ("b", "a"):
        store.sessions.create(name, AT_MS)

    assert [info.id for info in store.sessions.recent()] == ["a", "b"]


def test_messages_come_back_in_the_order_they_were_said(store: Store) -> None:
    store.sessions.create("s1", AT_MS)
    store.sessions.create("s2", AT_MS)
    messages = [said("one", 1), said("two", 1, AT_MS - 1), said("three", 2)]

    for message in messages:
        store.sessions.append("s1", message)
        store.sessions.append("s2", said("elsewhere"))

    assert store.sessions.messages("s1") == messages


def test_message_content_keeps_its_numbers(store: Store) -> None:
    store.sessions.create("s1", AT_MS)
    exact = Decimal("0.123456789012345678901234567890")

    store.sessions.append("s1", said({"usd": exact, "base": 2**64}))

    assert store.sessions.messages("s1")[0].content[0]["text"] == {"usd": exact, "base": 2**64}


def test_calls_are_the_newest_ones_oldest_first(store: Store) -> None:
    store.sessions.create("s1", AT_MS)
    for index in range(5):
        store.sessions.record_call(
            "s1", {"tool": f"t{index}", "data": {"usd": Decimal("1.5")}}, AT_MS + index
        )

    calls = store.sessions.calls("s1", limit=2)

    assert calls == [
        (AT_MS + 3, {"tool": "t3", "data": {"usd": Decimal("1.5")}}),
        (AT_MS + 4, {"tool": "t4", "data": {"usd": Decimal("1.5")}}),
    ]


def test_words_that_are_not_unicode_are_kept_as_question_marks(store: Store) -> None:
    store.sessions.create("s1", AT_MS)

    store.sessions.begin_turn("s1", "send \udcff", AT_MS)

    assert store.sessions.recent()[0].title == "send ?"
    assert store.sessions.get("\udcff") is None


def test_another_command_reads_what_one_wrote(store: Store, reopen: Callable[[], Store]) -> None:
    store.sessions.create("s1", AT_MS)
    store.sessions.append("s1", said("hello"))

    assert reopen().sessions.messages("s1") == [said("hello")]
