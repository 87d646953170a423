"""Words and clauses: what a person typed, cut up by one pass from left to right.

Nothing is thrown away here but blanks and the full stop at the end: what a rule does not expect must stay
visible to it, so that it can refuse.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

# Every alternative stops at the next quote, so that unclosed quotes do not make it quadratic.
_TOKEN = re.compile(
    r"""
      (?P<break> [;\n\r]+ )
    | (?P<quoted> "[^"\n]*" | “[^“”\n]*” | '[^'\n]*'(?=[\s;,.!?]|\Z) )
    | (?P<comma> [,:]+(?=\s|\Z) )
    | (?P<word> [^\s;]+ )
    """,
    re.VERBOSE,
)
_FULL_STOPS = ".!?"
_STRAIGHT = str.maketrans({"’": "'", "‘": "'", "ʼ": "'"})

BREAK = ";"
COMMA = ","


@dataclass(frozen=True, slots=True)
class Word:
    """One word, or a mark between words."""

    text: str
    """As typed."""
    key: str
    """What rules compare: lower case. Empty for what was quoted, which is never a word of a rule."""


def words_of(text: str) -> list[Word]:
    """Return the words; marks that end a sentence become BREAK, commas and colons become COMMA."""
    words: list[Word] = []
    for match in _TOKEN.finditer(text):
        typed = match.group()
        if match["break"]:
            words.append(Word(typed, BREAK))
        elif match["comma"]:
            words.append(Word(typed, COMMA))
        elif match["quoted"]:
            words.append(Word(typed[1:-1], ""))
        else:
            words.extend(_word(typed))
    return words


def _word(typed: str) -> list[Word]:
    body = typed.rstrip(".,:!?…")
    tail = typed[len(body) :]
    words = [Word(body, body.translate(_STRAIGHT).casefold())] if body else []
    if any(mark in _FULL_STOPS for mark in tail):
        words.append(Word(tail, BREAK))
    elif tail:
        words.append(Word(tail, COMMA))
    return words


Clause = tuple[Word, ...]

_JOINTS: tuple[tuple[str, ...], ...] = (
    ("and", "then"),
    ("and", "also"),
    ("and", "after", "that"),
    ("after", "that"),
    ("and",),
    ("then",),
    ("&",),
    (COMMA,),
)


def clauses_of(words: Sequence[Word], begins: Callable[[Sequence[Word]], bool]) -> list[Clause]:
    """Return the requests of a text.

    A sentence's end always parts two clauses; a joint such as "and" does only when what follows begins a
    request, so that "SUI and USDC" stays one list.

    Args:
        words: The whole text.
        begins: Tells whether words begin a request.
    """
    clauses: list[list[Word]] = [[]]
    at = 0
    while at < len(words):
        if words[at].key == BREAK:
            clauses.append([])
            at += 1
            continue
        after = _after_joints(words, at)
        # Rules look at a request's first words only; a slice of the rest would make this quadratic.
        if after > at and begins(words[after : after + 16]):
            clauses.append([])
            at = after
            continue
        clauses[-1].append(words[at])
        at += 1
    return [tuple(clause) for clause in clauses if clause]


def _after_joints(words: Sequence[Word], at: int) -> int:
    limit = at + 4
    while at < min(limit, len(words)):
        for joint in _JOINTS:
            if tuple(word.key for word in words[at : at + len(joint)]) == joint:
                at += len(joint)
                break
        else:
            break
    return at


class Cursor:
    """Reads a clause from left to right."""

    def __init__(self, words: Sequence[Word]) -> None:
        self._words = words
        self.at = 0
        """How many words have been read."""

    @property
    def rest(self) -> Sequence[Word]:
        """What has not been read."""
        return self._words[self.at :]

    @property
    def next(self) -> Word | None:
        """The next word, None at the end."""
        return self._words[self.at] if self.at < len(self._words) else None

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of what has not been read."""
        return tuple(word.key for word in self.rest)

    def take(self, *phrases: tuple[str, ...]) -> bool:
        """Read the first of these phrases that comes next."""
        for phrase in phrases:
            if tuple(word.key for word in self._words[self.at : self.at + len(phrase)]) == phrase:
                self.at += len(phrase)
                return True
        return False

    def take_word(self) -> Word:
        """Read one word, whatever it is."""
        word = self._words[self.at]
        self.at += 1
        return word
