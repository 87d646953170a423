from __future__ import annotations

from itertools import permutations

import pytest

from tidegate.core import errors
from tidegate.core.errors import TidegateError, worst_exit_status


def drawn() -> list[tuple[int, str, int | None, str | None]]:
    """Return depth, name, exit status and code of every line of the tree at the top of the module."""
    rows: list[tuple[int, str, int | None, str | None]] = []
    for line in (errors.__doc__ or "").splitlines():
        words = line.replace("│", " ").replace("├──", "   ").replace("└──", "   ").split()
        if len(words) == 3 and words[1:] == ["exit", "code"]:
            rows.append((0, words[0], None, None))
        elif len(words) == 3 and words[1].isdigit():
            rows.append(((line.index(words[0]) - 4) // 4, words[0], int(words[1]), words[2]))
    return rows


def defined(cls: type[TidegateError] = TidegateError, depth: int = 0) -> list[tuple[int, str, int, str]]:
    """Return the same of the classes."""
    rows = [(depth, cls.__name__, cls.exit_status, cls.code)]
    for child in cls.__subclasses__():
        rows += defined(child, depth + 1)
    return rows


def everyone() -> list[type[TidegateError]]:
    return [getattr(errors, name) for _, name, _, _ in defined()]


def test_the_tree_that_is_drawn_is_the_tree_that_is_there() -> None:
    assert drawn()[1:] == defined()[1:]


def test_codes_are_unique() -> None:
    codes = [cls.code for cls in everyone()[1:]]
    assert len(codes) == len(set(codes))


@pytest.mark.parametrize("cls", everyone())
def test_every_error_carries_its_message_hint_and_retryability(cls: type[TidegateError]) -> None:
    error = cls("It broke.", hint="Mend it.", retryable=True)
    assert (str(error), error.message, error.hint, error.retryable) == (
        "It broke.",
        "It broke.",
        "Mend it.",
        True,
    )


@pytest.mark.parametrize("cls", everyone())
def test_what_is_not_said_is_what_the_class_says(cls: type[TidegateError]) -> None:
    error = cls("It broke.")
    assert (error.hint, error.retryable) == (cls.default_hint, cls.default_retryable)


def test_an_empty_hint_is_not_the_default_hint() -> None:
    assert errors.WalletMissing("No wallet.", hint="").hint == ""


def test_a_sent_transaction_is_never_retryable() -> None:
    assert not errors.OutcomeUnknown("Sent.").retryable
    assert not errors.TransactionFailed("Failed.").retryable


@pytest.mark.parametrize("cls", everyone())
def test_every_class_has_a_sentence(cls: type[TidegateError]) -> None:
    assert (cls.__doc__ or "").splitlines()[0].endswith(".")


@pytest.mark.parametrize(
    ("statuses", "worst"),
    [
        ((), 0),
        ((0,), 0),
        ((0, 1), 1),
        ((3, 7), 7),
        ((4, 3), 3),
        ((6, 4), 4),
        ((5, 6), 6),
        ((0, 2, 5), 5),
        ((130, 4), 4),
        ((8, 130), 130),
    ],
)
def test_the_highest_concern_wins(statuses: tuple[int, ...], worst: int) -> None:
    assert {worst_exit_status(*order) for order in permutations(statuses)} == {worst}


def test_a_status_nobody_ranked_is_never_hidden() -> None:
    assert worst_exit_status(99, 0, 5) == 99


@pytest.mark.parametrize("cls", everyone())
def test_an_error_outranks_success(cls: type[TidegateError]) -> None:
    assert worst_exit_status(0, cls.exit_status) == cls.exit_status
