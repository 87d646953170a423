"""The planner's questions: what can be read, by the phrases people use for it."""

from __future__ import annotations

from collections.abc import Sequence

from tidegate.core.jsonlines import Json
from tidegate.core.providers.offline_terms import ARTICLES, read_amount, read_token, read_tokens
from tidegate.core.providers.offline_words import Cursor, Word
from tidegate.core.tokens import token_by_symbol

Question = tuple[str, dict[str, Json]]
"""A tool's name and its input."""

MAIN_TOKENS = ("SUI", "USDC")
"""What "prices" means when no token is named."""

# fmt: off
_LEADS = (
    ("what", "is"), ("what's",), ("whats",), ("what", "are"), ("what're",), ("show", "me"), ("show",),
    ("tell", "me"), ("give", "me"), ("get", "me"), ("get",), ("check",), ("display",), ("list",), ("view",),
    ("see",), ("read",), ("look", "up"), ("how", "is"), ("how", "are"),
)
_PHRASES: dict[str, tuple[str, ...]] = {
    "balance_check": (
        "balance", "balances", "wallet balance", "wallet balances", "account balance", "token balances",
        "wallet", "holdings", "portfolio", "funds", "money", "coins", "assets", "total balance",
        "how much do i have", "how much have i", "how much have i got", "how much money do i have",
        "how much money have i got", "how much is in wallet", "how much do i have in wallet",
        "how much do i own",
        "what do i have", "what do i own", "what have i got", "what is in wallet", "what's in wallet",
        "how rich am i", "balance in wallet", "how many coins do i have",
    ),
    "savings_info": (
        "savings", "savings balance", "savings info", "savings position", "savings positions", "deposits",
        "positions", "how much have i saved", "how much did i save", "how much do i have saved",
        "how much do i have in savings", "how much is in savings", "what do i have in savings",
        "how much am i earning", "what am i earning", "how much do i earn", "what is in savings",
        "what's in savings", "savings on navi", "earnings",
    ),
    "transaction_history": (
        "history", "transaction history", "transactions", "recent transactions", "activity",
        "recent activity", "last transactions", "payments", "recent payments", "recent history",
        "past transactions", "transaction list", "transactions list",
    ),
}
_BY_PHRASE = {phrase: tool for tool, phrases in _PHRASES.items() for phrase in phrases}

_RATES = (
    ("interest", "rates"), ("interest", "rate"), ("savings", "rates"), ("savings", "rate"),
    ("lending", "rates"), ("lending", "rate"), ("deposit", "rates"), ("supply", "rates"), ("borrow", "rates"),
    ("borrowing", "rates"), ("navi", "rates"), ("savings", "apy"), ("supply", "apy"), ("deposit", "apy"),
    ("rates",), ("rate",), ("apys",), ("apy",), ("yields",), ("yield",), ("interest",),
)
_BEGINNINGS = frozenset({
    "what", "what's", "whats", "what're", "how", "show", "tell", "give", "get", "check", "display", "list",
    "view", "see", "read", "look", "preview", "quote", "price", "prices", "balance", "balances", "wallet",
    "holdings", "portfolio", "savings", "positions", "rates", "rate", "apy", "apys", "yields", "interest",
    "history", "transactions", "activity", "last", "recent", "my", "the",
})
# fmt: on
_HISTORY_NOUNS = frozenset({"transaction", "transactions", "payment", "payments"})
_MAX_COUNT_DIGITS = 4


def begins_question(words: Sequence[Word]) -> bool:
    """Tell whether words begin a question."""
    return words[0].key in _BEGINNINGS


def read_question(clause: Sequence[Word]) -> Question | None:
    """Return the read that a clause asks for, None if it is not understood to its last word."""
    words = [word for word in clause if word.key not in ARTICLES]
    whole = " ".join(word.key or "?" for word in words)
    if whole in _BY_PHRASE:
        return _BY_PHRASE[whole], {}
    cursor = Cursor(words)
    led = cursor.take(*_LEADS)
    core = " ".join(key or "?" for key in cursor.keys)
    if core in _BY_PHRASE:
        return _BY_PHRASE[core], {}
    for rule in (_history, _rates, _quote, _prices, _token_first):
        question = rule(Cursor(cursor.rest), led)
        if question is not None:
            return question
    # Questions that begin with their own words: "how much USDC for 2 SUI".
    return _how_much(Cursor(words))


def _history(cursor: Cursor, led: bool) -> Question | None:
    """``last 5 transactions``, ``5 recent transactions``, ``last transaction``."""
    marked = cursor.take(("last",), ("recent",), ("past",), ("most", "recent"))
    count: str | None = None
    word = cursor.next
    if word is not None and word.key.isascii() and word.key.isdigit() and len(word.key) <= _MAX_COUNT_DIGITS:
        count = cursor.take_word().key
    marked = cursor.take(("last",), ("recent",), ("past",), ("most", "recent")) or marked
    noun = cursor.next
    if noun is None or noun.key not in _HISTORY_NOUNS or len(cursor.rest) > 1:
        return None
    if count is None:
        return ("transaction_history", {"limit": 1}) if marked and noun.key[-1] != "s" else None
    return "transaction_history", {"limit": int(count)}


def _rates(cursor: Cursor, led: bool) -> Question | None:
    """``rates``, ``apy on USDC``, ``interest rates for SUI and USDC``."""
    if not cursor.take(*_RATES):
        return None
    if cursor.take(("on", "navi"), ("at", "navi")) or not cursor.rest:
        return None if cursor.rest else ("rates_info", {})
    if not cursor.take(("for",), ("on",), ("of",), ("in",)):
        return None
    return _listed("rates_info", "assets", cursor)


def _quote(cursor: Cursor, led: bool) -> Question | None:
    """``quote 2 SUI to USDC``, ``quote for swapping 2 SUI to USDC``, ``2 SUI in USDC``."""
    quoted = cursor.take(("quote", "for"), ("quote", "of"), ("quote",), ("preview", "of"), ("preview",))
    if quoted:
        cursor.take(("swapping",), ("converting",), ("exchanging",), ("swap",))
    if not quoted and not led:
        return None
    return _exchange(cursor)


def _exchange(cursor: Cursor) -> Question | None:
    amount = read_amount(cursor)
    if amount is None or amount[1] is None:
        return None
    if not cursor.take(("worth", "in"), ("to",), ("for",), ("into",), ("in",), ("->",), ("→",)):
        return None
    wanted = read_token(cursor)
    if wanted is None or cursor.rest:
        return None
    return "swap_quote", {"from": amount[1], "to": wanted, "amount": amount[0]}


def _prices(cursor: Cursor, led: bool) -> Question | None:
    """``prices``, ``price of SUI``, ``token prices``."""
    cursor.take(("token",), ("coin",), ("market",))
    if not cursor.take(("prices",), ("price",)):
        return None
    if not cursor.rest:
        return "token_prices", {"symbols": list(MAIN_TOKENS)}
    cursor.take(("of",), ("for",))
    return _listed("token_prices", "symbols", cursor)


def _listed(tool: str, name: str, cursor: Cursor) -> Question | None:
    tokens = read_tokens(cursor)
    _take_dollars(cursor)
    return (tool, {name: list(tokens)}) if tokens and not cursor.rest else None


def _take_dollars(cursor: Cursor) -> None:
    cursor.take(("in", "usd"), ("in", "dollars"), ("in", "us", "dollars"))


def _token_first(cursor: Cursor, led: bool) -> Question | None:
    """``SUI price``, ``SUI and USDC prices``, ``USDC rates``, ``USDC balance``, ``SUI worth``."""
    tokens = read_known_tokens(cursor)
    if not tokens:
        return None
    if cursor.take(("price",), ("prices",)) or (led and cursor.take(("worth",), ("at",), ("trading", "at"))):
        _take_dollars(cursor)
        return None if cursor.rest else ("token_prices", {"symbols": list(tokens)})
    if cursor.take(*_RATES):
        return None if cursor.rest else ("rates_info", {"assets": list(tokens)})
    if cursor.take(("balance",), ("balances",)):
        return None if cursor.rest else ("balance_check", {})
    return None


def read_known_tokens(cursor: Cursor) -> list[str]:
    """Read a list of tokens whose symbols are known; other words end it."""
    tokens: list[str] = []
    while (word := cursor.next) is not None and token_by_symbol(word.text) is not None:
        tokens.append(cursor.take_word().text)
        cursor.take((",", "and"), (",",), ("and",), ("&",))
    return tokens


def _how_much(cursor: Cursor) -> Question | None:
    """``how much is SUI``, ``how much is 2 SUI in USDC``, ``how much USDC for 2 SUI``."""
    if cursor.take(("what", "does"), ("how", "much", "does")):
        return _priced(cursor, ("cost",))
    if not cursor.take(("how", "much"), ("how", "many")):
        return None
    if cursor.take(("is",), ("are",)):
        quoted = _exchange(Cursor(cursor.rest))
        return quoted or _priced(cursor, ("worth",))
    wanted = read_known_tokens(cursor)
    if len(wanted) != 1:
        return None
    if cursor.take(("do", "i", "have"), ("have", "i", "got"), ("do", "i", "own"), ("is", "in", "wallet")):
        return None if cursor.rest else ("balance_check", {})
    cursor.take(("would", "i", "get"), ("will", "i", "get"), ("do", "i", "get"), ("can", "i", "get"))
    if not cursor.take(("for",), ("from",)):
        return None
    paid = read_amount(cursor)
    if paid is None or paid[1] is None or cursor.rest:
        return None
    return "swap_quote", {"from": paid[1], "to": wanted[0], "amount": paid[0]}


def _priced(cursor: Cursor, ending: tuple[str, ...]) -> Question | None:
    tokens = read_known_tokens(cursor)
    cursor.take(ending, ("now",))
    _take_dollars(cursor)
    return ("token_prices", {"symbols": list(tokens)}) if tokens and not cursor.rest else None
