"""The planner's rules: which requests it understands, and the tool calls that they are.

A rule reads its clause to the last word or refuses it. Words about money are never dropped and never guessed:
what is missing is asked for, and amounts go to the tools as typed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tidegate.core.errors import NotUnderstood
from tidegate.core.jsonlines import Json
from tidegate.core.providers.offline_questions import begins_question, read_question
from tidegate.core.providers.offline_terms import (
    CONTACT_VERBS,
    GREETINGS,
    HELP,
    SAVE_VERBS,
    SEND_VERBS,
    SWAP_VERBS,
    WITHDRAW_VERBS,
    WRITE_VERBS,
    after_courtesy,
    is_address,
    read_amount,
    read_recipient,
    read_token,
    without_courtesy,
)
from tidegate.core.providers.offline_words import COMMA, Clause, Cursor, Word, clauses_of, words_of

MAX_TEXT = 16_384
"""Longest text that is read, in characters."""

MAX_STEPS = 8
"""Most model steps one text may take; the engine's own limit must not cut a plan in two."""

UNDERSTOOD = (
    "balance; savings; rates; price of SUI; quote 2 SUI to USDC; history; save 10 USDC; withdraw 3 USDC; "
    "send 5 USDC to NAME or 0x…; swap 2 SUI to USDC; save contact NAME 0x…"
)


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call."""

    tool: str
    input: dict[str, Json]


@dataclass(frozen=True, slots=True)
class Request:
    """One thing that was asked for, as calls that must go well one after another."""

    said: str
    calls: tuple[Call, ...]
    writes: bool


def plan(text: str) -> tuple[Request, ...]:
    """Return what a text asks for, in order; nothing for a greeting.

    Raises:
        NotUnderstood: any part of it is not understood, or leaves open what it moves; then none of it counts.
    """
    if len(text) > MAX_TEXT:
        raise NotUnderstood(
            f"The request is too long to be read without a model: {len(text):,} characters.",
            hint=f"Keep it under {MAX_TEXT:,} characters, or set ANTHROPIC_API_KEY.",
        )
    clauses = [
        clause
        for whole in clauses_of(words_of(text), _begins)
        if _key(whole) not in GREETINGS and (clause := without_courtesy(whole))
    ]
    if not any(character.isalnum() for character in text):
        raise NotUnderstood("Nothing was asked.", hint=_hint())
    if all(_key(clause) in HELP for clause in clauses):
        return ()
    requests = tuple(_request(clause) for clause in clauses)
    if sum(len(request.calls) for request in requests) > MAX_STEPS:
        raise NotUnderstood("That is too much for one request.", hint="Ask for fewer things at once.")
    return requests


def _begins(words: Sequence[Word]) -> bool:
    first = words[after_courtesy(words) :]
    return bool(first) and (first[0].key in WRITE_VERBS or begins_question(first))


def _key(clause: Clause) -> str:
    return " ".join(word.key for word in clause)


def _request(clause: Clause) -> Request:
    said = " ".join(word.text for word in clause)
    for rule in _WRITE_RULES:
        calls = rule(Cursor(clause))
        if calls is not None:
            return Request(said, calls, writes=True)
    question = read_question(clause)
    if question is None:
        raise NotUnderstood(f"I do not understand: {_shown(said)}", hint=_hint())
    return Request(said, (Call(*question),), writes=False)


def _hint() -> str:
    return f"Without a model I understand: {UNDERSTOOD}. Set ANTHROPIC_API_KEY to ask in your own words."


def _shown(said: str) -> str:
    """Return a person's words for an error: short, and without what looks like a key."""
    words = ["…" if word.lower().startswith(("suiprivkey", "sk-")) else word for word in said.split()]
    text = " ".join(words)
    return text if len(text) <= 80 else text[:80] + "…"


def _missing(question: str) -> NotUnderstood:
    return NotUnderstood(question, hint="Say it in full: nothing about money is guessed.")


def _tail(cursor: Cursor) -> str:
    """Return what is left of a clause, without the articles before other words."""
    keys = [word.key or "?" for word in cursor.rest]
    kept = [key for key in keys[:-1] if key not in ("my", "the", "our")]
    return " ".join([*kept, *keys[-1:]])


# fmt: off
_SAVINGS = frozenset({"savings", "savings account", "navi", "navi savings"})
_TO_SAVINGS = frozenset(
    f"{word} {place}" for word in ("in", "into", "to", "on", "with") for place in _SAVINGS
)
_OUT_OF_SAVINGS = frozenset(
    f"{word} {place}{end}" for word in ("from", "out of") for place in _SAVINGS for end in ("", " to wallet")
)
# fmt: on


def _contact(cursor: Cursor) -> tuple[Call, ...] | None:
    """``save contact bob 0x…``, ``remember 0x… as bob``, ``remember bob as 0x…``."""
    if cursor.next is None or cursor.next.key not in CONTACT_VERBS:
        return None
    verb = cursor.take_word().key
    cursor.take(("a", "new"), ("new",), ("a",))
    called_contact = cursor.take(("contact", "named"), ("contact", "called"), ("contact",))
    name: str | None = None
    address: str | None = None
    if is_address(cursor.next) and (called_contact or verb in ("save", "add", "remember", "store")):
        address = cursor.take_word().text
        if cursor.take(("as", "contact"), ("as",)):
            name = read_recipient(cursor)
    elif called_contact or verb == "remember":
        name = read_recipient(cursor)
        cursor.take(("as", "address"), ("with", "address"), ("at",), ("as",), ("=",), ("is",), (COMMA,))
        address = cursor.take_word().text if is_address(cursor.next) else None
    if cursor.rest or not (called_contact or name or address):
        return None
    if name is None:
        raise _missing("Which name should the address have?")
    if address is None:
        raise _missing(f"Which address is {name}'s? Write 0x and all 64 hex digits.")
    return (Call("save_contact", {"name": name, "address": address}),)


def _save(cursor: Cursor) -> tuple[Call, ...] | None:
    """``save 10 USDC``, ``put 10 USDC into savings``, ``move 3 USDC from savings``."""
    if cursor.next is None or cursor.next.key not in SAVE_VERBS:
        return None
    verb = cursor.take_word().key
    amount = read_amount(cursor)
    if amount is None:
        read_token(cursor)
        if _tail(cursor) in _TO_SAVINGS | {""}:
            raise _missing(f"{verb.capitalize()} how much?")
        return None
    tail = _tail(cursor)
    if tail in _TO_SAVINGS or (tail == "" and verb in ("save", "deposit")):
        return (Call("save_deposit", _moved(amount)),)
    if verb == "move" and tail in _OUT_OF_SAVINGS:
        return (Call("withdraw", _moved(amount)),)
    return None


def _withdraw(cursor: Cursor) -> tuple[Call, ...] | None:
    """``withdraw 3``, ``take out half``, ``take 3 USDC out of my savings``."""
    if cursor.next is None or cursor.next.key not in WITHDRAW_VERBS:
        return None
    verb = cursor.take_word().key
    # "take 3" alone could be from anywhere; "take out" and "withdraw" say from where.
    clear = verb == "withdraw" or cursor.take(("out",))
    tails = _OUT_OF_SAVINGS | (_SAVINGS | {"", "to wallet"} if clear else {"out"})
    amount = read_amount(cursor)
    if amount is None:
        read_token(cursor)
        if _tail(cursor) in tails:
            raise _missing(f"{'Withdraw' if verb == 'withdraw' else 'Take out'} how much?")
        return None
    return (Call("withdraw", _moved(amount)),) if _tail(cursor) in tails else None


def _moved(amount: tuple[str, str | None]) -> dict[str, Json]:
    typed, token = amount
    return {"amount": typed} if token is None else {"amount": typed, "asset": token}


def _send(cursor: Cursor) -> tuple[Call, ...] | None:
    """``send 5 USDC to bob``, ``send to bob 5 USDC``, ``pay bob 5 USDC``."""
    if cursor.next is None or cursor.next.key not in SEND_VERBS:
        return None
    verb = cursor.take_word().key.capitalize()
    to: str | None = None
    amount = read_amount(cursor)
    if amount is None:
        said_to = cursor.take(("to",))
        to = read_recipient(cursor)
        amount = read_amount(cursor)
        if amount is None:
            if not cursor.rest or (not said_to and cursor.take(("to",)) and len(cursor.rest) <= 1):
                raise _missing(f"{verb} how much?")
            return None
    elif cursor.take(("to",)):
        to = read_recipient(cursor)
        if to is None and not cursor.rest:
            raise _missing(f"{verb} it to whom?")
    elif not cursor.rest:
        raise _missing(f"{verb} it to whom?")
    if cursor.rest or to is None:
        return None
    typed, token = amount
    if token is None:
        raise _missing(f"{verb} {typed} of which token?")
    return (Call("send_transfer", {"to": to, "amount": typed, "asset": token}),)


def _swap(cursor: Cursor) -> tuple[Call, ...] | None:
    """``swap 2 SUI to USDC``: quoted first, as guard swap_preview asks."""
    if cursor.next is None or cursor.next.key not in SWAP_VERBS:
        return None
    verb = cursor.take_word().key.capitalize()
    amount = read_amount(cursor)
    paid = amount[1] if amount is not None else read_token(cursor)
    joined = cursor.take(("to",), ("for",), ("into",), ("->",), ("→",))
    wanted = read_token(cursor) if joined else None
    if cursor.rest:
        return None
    if amount is None:
        raise _missing(f"{verb} how much?")
    if paid is None:
        raise _missing(f"{verb} {amount[0]} of which token?")
    if wanted is None:
        raise _missing(f"{verb} {amount[0]} {paid} to which token?")
    fields: dict[str, Json] = {"from": paid, "to": wanted, "amount": amount[0]}
    return (Call("swap_quote", fields), Call("swap_execute", dict(fields)))


_WRITE_RULES: tuple[Callable[[Cursor], tuple[Call, ...] | None], ...] = (
    _contact,
    _save,
    _withdraw,
    _send,
    _swap,
)
