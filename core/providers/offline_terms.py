"""The planner's dictionary: polite words, amounts, tokens and recipients, and the verbs that move money."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from tidegate.core.providers.offline_words import COMMA, Clause, Cursor, Word
from tidegate.core.tokens import token_by_symbol

# fmt: off
_LEADS = (
    ("can", "you"), ("could", "you"), ("would", "you"), ("will", "you"), ("i", "want", "to"),
    ("i'd", "like", "to"), ("i", "would", "like", "to"), ("i", "need", "to"), ("go", "ahead", "and"),
    ("help", "me"), ("let's",), ("lets",), ("let", "us"), ("thank", "you"), ("good", "morning"),
    ("good", "afternoon"), ("good", "evening"), ("please",), ("pls",), ("plz",), ("kindly",), ("hey",),
    ("hi",), ("hello",), ("ok",), ("okay",), ("now",), ("just",), ("first",), ("next",), ("finally",),
    ("also",), ("thanks",), ("thx",), ("tidegate",), (COMMA,),
)
_TRAILS = (
    ("right", "now"), ("for", "me"), ("right", "away"), ("thank", "you"), ("please",), ("pls",), ("plz",),
    ("thanks",), ("thx",), ("now",), ("tidegate",), (COMMA,),
)
GREETINGS = frozenset({
    "hi", "hello", "hey", "hey there", "hi there", "hello there", "thanks", "thank you", "thx",
    "good morning", "good afternoon", "good evening", "bye", "goodbye", "ok", "okay", "tidegate",
})
"""Words that ask for nothing, wherever they stand."""
HELP = frozenset({
    "help", "commands", "what can you do", "who are you", "what are you", "how are you",
    "what do you understand", "how does this work", "how do you work", "how do i use you",
})
"""Words that ask for help when they stand alone; beside a request they may mean help with it."""

SAVE_VERBS = frozenset({"save", "deposit", "put", "move", "stash"})
WITHDRAW_VERBS = frozenset({"withdraw", "take", "pull"})
SEND_VERBS = frozenset({"send", "pay", "transfer"})
SWAP_VERBS = frozenset({"swap", "convert", "exchange", "trade", "sell"})
CONTACT_VERBS = frozenset({"save", "add", "remember", "store", "create", "new"})
WRITE_VERBS = SAVE_VERBS | WITHDRAW_VERBS | SEND_VERBS | SWAP_VERBS | CONTACT_VERBS

ARTICLES = frozenset({"my", "the", "our", "a", "an", "current", "present", "latest", "live"})

_SHARES = frozenset({"all", "everything", "max", "half"})
_NOT_FINITE = frozenset({"nan", "inf", "infinity"})
# What stands where a token or a name could stand, and is neither.
_NO_TOKENS = frozenset({
    "to", "into", "in", "from", "for", "out", "on", "at", "as", "of", "with", "and", "or", "if", "but", "not",
    "my", "the", "our", "a", "an", "it", "that", "this", "them", "savings", "saving", "navi", "back", "then",
    "when", "unless", "until", "after", "before", "except", "only", "no", "never", "don't", "worth", "please",
    "tomorrow", "today", "later", "tonight", "daily", "weekly", "monthly", "every", "each", "now", "once",
    "without", "maybe", "perhaps", "almost", "nearly", "exactly", "approximately", "roughly", "least", "most",
    "is", "are", "be", "do", "does", "per", "via", "over", "under", "about", "around", "less", "more",
})
_NO_NAMES = _NO_TOKENS | frozenset({
    "me", "myself", "you", "him", "her", "us", "someone", "somebody", "anyone", "anybody", "everyone", "all",
    "nobody", "contact", "contacts", "address", "wallet", "account", "same", "his", "their", "who",
    "whoever", "whom",
})
# fmt: on
_LEADS_BY_FIRST = {phrase[0]: tuple(other for other in _LEADS if other[0] == phrase[0]) for phrase in _LEADS}
_TRAILS_BY_LAST = {
    phrase[-1]: tuple(other for other in _TRAILS if other[-1] == phrase[-1]) for phrase in _TRAILS
}

_GLUED = re.compile(r"([0-9][0-9.,]*)([A-Za-z]{2,20})")
_SYMBOL = re.compile(r"[A-Za-z][A-Za-z0-9]{0,31}")
_COIN_TYPE = re.compile(r"0[xX][0-9A-Fa-f]{1,64}::\w{1,128}::\w{1,128}")
_EXPONENT = re.compile(r"[0-9.,]+e[0-9]*", re.IGNORECASE)


def without_courtesy(words: Sequence[Word]) -> Clause:
    """Return a clause without the polite words around it."""
    first, last = after_courtesy(words), len(words)
    while last > first and (skipped := _length_before(words, first, last)):
        last -= skipped
    return tuple(words[first:last])


def after_courtesy(words: Sequence[Word]) -> int:
    """Return how many of the first words are only polite."""
    first = 0
    while first < len(words) and (skipped := _length_at(words, first)):
        first += skipped
    return first


def _length_at(words: Sequence[Word], first: int) -> int:
    for phrase in _LEADS_BY_FIRST.get(words[first].key, ()):
        if tuple(word.key for word in words[first : first + len(phrase)]) == phrase:
            return len(phrase)
    return 0


def _length_before(words: Sequence[Word], first: int, last: int) -> int:
    for phrase in _TRAILS_BY_LAST.get(words[last - 1].key, ()):
        start = last - len(phrase)
        if start >= first and tuple(word.key for word in words[start:last]) == phrase:
            return len(phrase)
    return 0


def is_address(word: Word | None) -> bool:
    """Tell whether a word is meant as an address."""
    return word is not None and word.key.startswith("0x") and "::" not in word.key


def is_amount(word: Word | None) -> bool:
    """Tell whether a word is meant as an amount, be it a good one or not: the tool judges that."""
    if word is None or not word.key or word.key.startswith("0x"):
        return False
    if word.key in _SHARES:
        return True
    bare = word.key.lstrip("+-−–")
    if bare in _NOT_FINITE:
        return True
    if bare[:1] and unicodedata.category(bare[0]) == "Sc":
        bare = bare[1:]
    bare = bare.removeprefix(".")
    return bare[:1].isnumeric()


def read_amount(cursor: Cursor) -> tuple[str, str | None] | None:
    """Read an amount and the token if it is named: ``10 USDC``, ``10usdc``, ``half of my SUI``.

    Returns:
        The amount as typed and the token as typed; None, with nothing read, if no amount comes next.
    """
    if not is_amount(cursor.next):
        return None
    typed = cursor.take_word().text
    glued = _GLUED.fullmatch(typed)
    if glued is not None and not _EXPONENT.fullmatch(typed):
        return glued[1], glued[2]
    # "all of my USDC", "50% of savings": an "of" without what it is of stays, for the rule to refuse.
    start = cursor.at
    of = cursor.take(("of", "my"), ("of", "the"), ("of",), ("my",), ("the",))
    token = read_token(cursor)
    if of and token is None and cursor.keys[:1] != ("savings",):
        cursor.at = start
    return typed, token


def read_token(cursor: Cursor) -> str | None:
    """Read a token's symbol or coin type; None, with nothing read, if none comes next."""
    word = cursor.next
    if word is None or not word.key or word.key in _NO_TOKENS or is_amount(word):
        return None
    # Symbols that are not ours to know are capitals: "save 10 tomorrow" names no token.
    symbol = _SYMBOL.fullmatch(word.text) is not None and sum(map(str.isupper, word.text)) >= 2
    if symbol or token_by_symbol(word.text) is not None or _COIN_TYPE.fullmatch(word.text):
        return cursor.take_word().text
    return None


def read_tokens(cursor: Cursor) -> list[str]:
    """Read a list of tokens: ``SUI, USDC and DEEP``."""
    tokens: list[str] = []
    while (token := read_token(cursor)) is not None:
        tokens.append(token)
        if not cursor.take((COMMA, "and"), (COMMA,), ("and",), ("&",)):
            break
    return tokens


def read_recipient(cursor: Cursor) -> str | None:
    """Read an address or a name; None, with nothing read, if neither comes next."""
    word = cursor.next
    if word is None:
        return None
    if not word.key:
        return cursor.take_word().text if word.text.strip() else None
    if word.key in _NO_NAMES or not all(char.isalnum() or char in "._-'@" for char in word.text):
        return None
    if is_amount(word) and not is_address(word):
        return None
    return cursor.take_word().text
