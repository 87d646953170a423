"""What a person wrote, as guards read it: whole words, never parts of them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tidegate.core.tokens import normalize_address

WINDOW = 16 * 1024
"""Characters of one message that are read; a longer message ends here for every guard."""

# An address stands alone: not inside a longer word, not cut short with dots, not the package of a coin type.
# Format characters count as part of a word, because nobody sees them.
_ADDRESS = re.compile(
    r"(?<![\w\u200b-\u200f\u2060-\u2064\ufeff])0[xX][0-9a-fA-F]{1,64}"
    r"(?![\w\u200b-\u200f\u2060-\u2064\ufeff…*]|::|\.\.)"
)
_EDGES = ".,;:!?()[]{}<>\"'`“”‘’"


def addresses_in(texts: Iterable[str]) -> frozenset[str]:
    """Return every address that stands as a whole word in the texts, normalised."""
    return frozenset(
        normalize_address(match[0])
        for text in texts
        for match in _ADDRESS.finditer(text[:WINDOW])
        # An address that the window's end cuts is another address.
        if match.end() < WINDOW or len(text) == WINDOW
    )


def said_together(parts: Iterable[str], texts: Iterable[str]) -> bool:
    """Tell whether one of the texts has every part in it, each as whole words and without regard to case.

    Addresses are compared by value, so ``0x2`` is also found where it is written with all its digits.
    """
    wanted = tuple(parts)
    return any(all(_says(text, part) for part in wanted) for text in texts)


def _says(text: str, part: str) -> bool:
    if (addresses := addresses_in([part])) and _ADDRESS.fullmatch(part.strip()):
        return addresses <= addresses_in([text])
    words = r"\s+".join(re.escape(word) for word in part.casefold().split())
    return re.search(rf"(?<!\w){words}(?!\w)", text[:WINDOW].casefold()) is not None


def words_in(texts: Iterable[str]) -> frozenset[str]:
    """Return the texts' words, lower case, without the punctuation around them."""
    return frozenset(word.strip(_EDGES).lower() for text in texts for word in _whole_words(text))


def _whole_words(text: str) -> list[str]:
    if len(text) <= WINDOW:
        return text.split()
    return text[:WINDOW].split()[:-1]
