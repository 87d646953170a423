from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tidegate.core.errors import UsageError
from tidegate.core.jsonlines import Json
from tidegate.core.store.base import SINGLE_USE, Step, StepTaken, Store

AT_MS = 1_800_000_000_000
REPEATED = [step for step in Step if step not in SINGLE_USE]

shared = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
decimals = st.decimals(allow_nan=False, allow_infinity=False).filter(
    lambda value: abs(value.adjusted()) < 400
)
documents = st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | decimals
        | st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3)
        ),
        max_leaves=8,
    ),
    max_size=4,
)


def add(store: Store, attempt_id: str, *steps: Step) -> None:
    for step in steps:
        store.journal.append(attempt_id, step, AT_MS, {})


def ids(store: Store, *states: Step) -> list[str]:
    return [attempt.id for attempt in store.journal.in_state(*states)]


def test_an_attempt_that_nobody_made_is_none(store: Store) -> None:
    assert store.journal.attempt("a-missing") is None


def test_rows_are_numbered_and_read_back_as_they_were_returned(store: Store) -> None:
    data: dict[str, Json] = {
        "tool": "send_transfer",
        "usd": Decimal("12.340000000000000001"),
        "note": "für Zoë",
    }

    first = store.journal.append("a1", Step.PROPOSED, AT_MS, data)
    second = store.journal.append("a1", Step.APPROVED, AT_MS - 1, {})
    attempt = store.journal.attempt("a1")

    assert attempt is not None
    assert attempt.rows == (first, second)
    assert (first.seq, second.seq, attempt.opened) == (1, 2, data)
    assert attempt.find(Step.APPROVED) == second
    assert attempt.find(Step.SIGNED) is None


@shared
@given(document=documents)
def test_every_document_comes_back_equal(store: Store, document: dict[str, Json]) -> None:
    row = store.journal.append("a-any", Step.UNKNOWN, AT_MS, document)

    attempt = store.journal.attempt("a-any")

    assert attempt is not None
    assert attempt.rows[-1].data == row.data == document


@shared
@given(value=decimals)
def test_a_decimal_keeps_every_digit(store: Store, value: Decimal) -> None:
    row = store.journal.append("a-any", Step.UNKNOWN, AT_MS, {"usd": value})

    assert Decimal(str(row.data["usd"])) == value


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (Decimal("NaN"), "cannot be written"),
        (float("inf"), "cannot be written"),
        (Decimal("1E+5000"), "Exceeds the limit"),
    ],
)
def test_what_could_not_be_read_again_is_not_written(store: Store, value: Json, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        store.journal.append("a1", Step.PROPOSED, AT_MS, {"usd": value})

    assert store.journal.attempt("a1") is None


@pytest.mark.parametrize("step", sorted(SINGLE_USE))
def test_a_single_use_step_is_taken_once(store: Store, step: Step) -> None:
    add(store, "a1", step)

    with pytest.raises(StepTaken):
        add(store, "a1", step)


@pytest.mark.parametrize("step", sorted(SINGLE_USE))
def test_a_step_that_one_attempt_took_is_free_for_another(store: Store, step: Step) -> None:
    add(store, "a1", step)

    add(store, "a2", step)

    assert ids(store, step) == ["a1", "a2"]


@pytest.mark.parametrize("step", REPEATED)
def test_other_steps_repeat(store: Store, step: Step) -> None:
    add(store, "a1", step, step)

    attempt = store.journal.attempt("a1")

    assert attempt is not None
    assert [row.step for row in attempt.rows] == [step, step]


@pytest.mark.parametrize("second", [Step.APPROVED, Step.DENIED, Step.EXPIRED])
@pytest.mark.parametrize("first", [Step.APPROVED, Step.DENIED, Step.EXPIRED])
def test_a_proposal_is_decided_once(store: Store, first: Step, second: Step) -> None:
    add(store, "a1", Step.PROPOSED, first)

    with pytest.raises(StepTaken, match=f"a1 is {first} and cannot be {second}"):
        add(store, "a1", second)


@pytest.mark.parametrize("ending", [Step.DENIED, Step.EXPIRED, Step.FINAL, Step.FAILED])
@pytest.mark.parametrize("late", [Step.APPROVED, Step.SIGNED])
def test_what_has_ended_is_neither_approved_nor_signed(store: Store, ending: Step, late: Step) -> None:
    add(store, "a1", Step.PROPOSED, ending)

    with pytest.raises(StepTaken):
        add(store, "a1", late)


@pytest.mark.parametrize("late", [Step.DENIED, Step.EXPIRED])
def test_what_is_signed_cannot_be_denied_any_more(store: Store, late: Step) -> None:
    add(store, "a1", Step.RESERVED, Step.SIGNED)

    with pytest.raises(StepTaken):
        add(store, "a1", late)


def test_what_the_network_executed_does_not_fail_afterwards(store: Store) -> None:
    add(store, "a1", Step.RESERVED, Step.SIGNED, Step.FINAL)

    with pytest.raises(StepTaken):
        add(store, "a1", Step.FAILED)


def test_the_truth_is_told_even_after_an_attempt_was_given_up(store: Store) -> None:
    add(store, "a1", Step.RESERVED, Step.SIGNED, Step.FAILED, Step.FINAL)

    assert ids(store, Step.FINAL) == ["a1"]


def test_a_refused_step_leaves_nothing(store: Store) -> None:
    add(store, "a1", Step.PROPOSED, Step.DENIED)

    with pytest.raises(StepTaken):
        add(store, "a1", Step.APPROVED)

    add(store, "a2", Step.PROPOSED)
    assert [row.seq for attempt in store.journal.recent() for row in attempt.rows] == [3, 1, 2]
    assert store.journal.verify() is None


@pytest.mark.parametrize("late", [Step.SUBMITTED, Step.UNKNOWN, Step.RELEASED])
def test_an_attempt_that_ended_stays_so_whatever_a_slower_process_adds(store: Store, late: Step) -> None:
    add(store, "a1", Step.RESERVED, Step.SIGNED, Step.FINAL, late)

    attempt = store.journal.attempt("a1")

    assert attempt is not None
    assert attempt.state is Step.FINAL
    assert ids(store, Step.FINAL) == ["a1"]
    assert ids(store, late) == []


def test_bookkeeping_does_not_change_where_an_attempt_is(store: Store) -> None:
    add(store, "a1", Step.RESERVED, Step.RELEASED)
    add(store, "a2", Step.RELEASED)

    assert ids(store, Step.RESERVED) == ["a1"]
    assert ids(store, Step.RELEASED) == ["a2"]


def test_attempts_are_found_by_state_oldest_first(store: Store) -> None:
    add(store, "a3", Step.PROPOSED)
    add(store, "a1", Step.PROPOSED, Step.APPROVED, Step.SIGNED)
    add(store, "a2", Step.PROPOSED, Step.DENIED)
    add(store, "a3", Step.UNKNOWN)

    assert ids(store, Step.UNKNOWN, Step.SIGNED) == ["a3", "a1"]
    assert ids(store, Step.PROPOSED) == []
    assert ids(store) == []


def test_recent_attempts_are_newest_first_with_all_their_rows(store: Store) -> None:
    for name in ("a1", "a2", "a3"):
        add(store, name, Step.PROPOSED)
    add(store, "a2", Step.DENIED)

    recent = store.journal.recent(2)

    assert [(attempt.id, len(attempt.rows)) for attempt in recent] == [("a3", 1), ("a2", 2)]


def test_an_attempt_is_found_by_the_beginning_of_its_id(store: Store) -> None:
    for name in ("abcd-2", "abcd-1", "abce-1"):
        add(store, name, Step.PROPOSED)

    assert [attempt.id for attempt in store.journal.match("abcd")] == ["abcd-2", "abcd-1"]
    assert [attempt.id for attempt in store.journal.match("abcd-1")] == ["abcd-1"]


@pytest.mark.parametrize("prefix", ["____", "%%%%", "ABCD", "\udcff" * 4, "abcd-11"])
def test_a_prefix_is_no_pattern(store: Store, prefix: str) -> None:
    add(store, "abcd-1", Step.PROPOSED)

    assert store.journal.match(prefix) == []


def test_a_prefix_that_names_too_much_is_refused(store: Store) -> None:
    with pytest.raises(UsageError, match="'abc' is too short"):
        store.journal.match("abc")


def test_an_untouched_journal_verifies(store: Store) -> None:
    add(store, "a1", Step.PROPOSED, Step.APPROVED, Step.SIGNED, Step.FINAL)
    add(store, "a2", Step.RESERVED, Step.FAILED, Step.RELEASED)

    assert store.journal.verify() is None
