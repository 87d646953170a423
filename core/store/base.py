"""What is kept between commands, and by which names: SQLite here, PostgreSQL where hosts share it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from tidegate.core.events import JsonObject
from tidegate.core.jsonlines import Json
from tidegate.core.money import Usd


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """One conversation."""

    id: str
    created_ms: int
    updated_ms: int
    turns: int
    title: str
    """The first words the person wrote."""


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """One message of a session, in the order it was said."""

    turn: int
    role: str
    content: Sequence[JsonObject]
    """Blocks in the form core/conversation.py gives them."""
    at_ms: int


class Sessions(Protocol):
    """Conversations."""

    def create(self, session_id: str, at_ms: int) -> None: ...
    def get(self, session_id: str) -> SessionInfo | None: ...
    def latest(self) -> SessionInfo | None: ...
    def recent(self, limit: int = 50) -> list[SessionInfo]:
        """Return the newest first."""
        ...

    def begin_turn(self, session_id: str, title: str, at_ms: int) -> int:
        """Count one more turn and return its number, from 1; `title` is kept only from the first."""
        ...

    def append(self, session_id: str, message: StoredMessage) -> None: ...
    def messages(self, session_id: str) -> list[StoredMessage]: ...
    def record_call(self, session_id: str, call: JsonObject, at_ms: int) -> None:
        """Keep a settled tool call for guards that look back: tool, input, data, is_error."""
        ...

    def calls(self, session_id: str, limit: int = 200) -> list[tuple[int, JsonObject]]:
        """Return (at_ms, call), oldest first, the newest `limit` of them."""
        ...


class Step(StrEnum):
    """A step of an attempt, in the order of the write road."""

    PROPOSED = "proposed"
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    RESERVED = "reserved"
    SIGNED = "signed"
    SUBMITTED = "submitted"
    UNKNOWN = "unknown"
    FINAL = "final"
    FAILED = "failed"
    RELEASED = "released"


ENDINGS = frozenset({Step.DENIED, Step.EXPIRED, Step.FINAL, Step.FAILED})
"""Steps after which an attempt is over, whatever a slower process still adds to its rows."""

SINGLE_USE = ENDINGS | {Step.PROPOSED, Step.APPROVED, Step.SIGNED}
"""Steps an attempt can take once: the store refuses a second, so that two processes cannot both take it."""

_BARRED_BY: Mapping[Step, frozenset[Step]] = {
    Step.APPROVED: ENDINGS,
    Step.DENIED: ENDINGS | {Step.APPROVED, Step.SIGNED},
    Step.EXPIRED: ENDINGS | {Step.APPROVED, Step.SIGNED},
    # What was given up or closed is never signed, however late the process that wanted to.
    Step.SIGNED: ENDINGS,
    # FINAL after FAILED is let through: what the network executed is the truth.
    Step.FAILED: frozenset({Step.FINAL}),
}


def barrier(step: Step, taken: Sequence[Step]) -> Step | None:
    """Return the step already taken that forbids `step` to the attempt, or None."""
    barred_by = _BARRED_BY.get(step, frozenset()) | ({step} & SINGLE_USE)
    return next((earlier for earlier in taken if earlier in barred_by), None)


def state_of(taken: Sequence[Step]) -> Step:
    """Return the step an attempt is at: its newest ending, else the last step that is not bookkeeping.

    Args:
        taken: All its steps, oldest first; at least one.
    """
    told: list[Step] = [step for step in taken if step is not Step.RELEASED]
    told = told or list(taken)
    return next((step for step in reversed(told) if step in ENDINGS), told[-1])


@dataclass(frozen=True, slots=True)
class JournalRow:
    """One step of one attempt; rows are only ever added."""

    seq: int
    attempt_id: str
    step: Step
    at_ms: int
    data: JsonObject


@dataclass(frozen=True, slots=True)
class Attempt:
    """All rows of one write, oldest first, read as one."""

    id: str
    rows: tuple[JournalRow, ...]

    @property
    def state(self) -> Step:
        """The step the attempt is at: its newest ending, else the last one that is not bookkeeping."""
        return state_of([row.step for row in self.rows])

    def find(self, step: Step) -> JournalRow | None:
        """Return the newest row of a step, or None."""
        return next((row for row in reversed(self.rows) if row.step is step), None)

    @property
    def opened(self) -> JsonObject:
        """What the first row says: tool, input, description, usd, wallet, chain_id, session_id."""
        return self.rows[0].data


class StepTaken(Exception):
    """Another process, or an earlier call, took this single-use step of the attempt already."""


class Journal(Protocol):
    """What became of every write."""

    def append(self, attempt_id: str, step: Step, at_ms: int, data: Mapping[str, Json]) -> JournalRow:
        """Write one row durably before returning.

        Raises:
            StepTaken: the step is single-use and the attempt has it already; or one of APPROVED, DENIED and
                EXPIRED after another of them; or DENIED or EXPIRED after SIGNED; or APPROVED or SIGNED after
                an ending; or FAILED after FINAL.
        """
        ...

    def attempt(self, attempt_id: str) -> Attempt | None: ...
    def match(self, prefix: str) -> list[Attempt]:
        """Return the attempts whose id begins with `prefix` (at least 4 characters)."""
        ...

    def recent(self, limit: int = 50) -> list[Attempt]:
        """Return the newest first."""
        ...

    def in_state(self, *states: Step) -> list[Attempt]:
        """Return every attempt at one of these steps, oldest first."""
        ...

    def verify(self) -> str | None:
        """Return None when the rows are those that were written, else the first sign that they are not."""
        ...


class Spend(Protocol):
    """What policy has let through on a day, counted for all processes that share the store."""

    def reserve(self, attempt_id: str, wallet: str, day: str, usd: Usd, limit: Usd) -> bool:
        """Take `usd` out of the limit for `wallet` on `day` (UTC, YYYY-MM-DD), atomically.

        A day before the newest on which anything was reserved for the wallet counts as that newest day, so
        that a clock set back finds no fresh limit. A clock that was wrongly ahead therefore leaves one limit
        for all days up to the wrong one; what does not fit waits for a person.

        An attempt takes once: the same call again returns True and takes nothing more, and an attempt that
        was released takes nothing again.

        Returns:
            False, with nothing taken, when the day's sum would pass the limit.

        Raises:
            ValueError: `usd` is negative, `day` is no day, or the attempt took another sum before.
            ArithmeticError: the day's sum would have more digits than can be added exactly.
        """
        ...

    def release(self, attempt_id: str) -> None:
        """Give back what an attempt that surely moved nothing had taken; harmless if it took nothing."""
        ...

    def spent(self, wallet: str, day: str) -> Usd:
        """Return what is taken of the limit on `day`, or on the newest day if later (see `reserve`)."""
        ...


@dataclass(frozen=True, slots=True)
class Contact:
    """A name for an address."""

    name: str
    address: str
    """Normalised."""


class Contacts(Protocol):
    """Names people gave to addresses; names are equal without regard to case."""

    def get(self, name: str) -> Contact | None: ...
    def by_address(self, address: str) -> Contact | None: ...
    def all(self) -> list[Contact]: ...
    def save(self, contact: Contact, at_ms: int) -> None:
        """Add a contact.

        Raises:
            UsageError: the name belongs to another address already.
        """
        ...


class Store(Protocol):
    """All of it."""

    @property
    def sessions(self) -> Sessions: ...
    @property
    def journal(self) -> Journal: ...
    @property
    def spend(self) -> Spend: ...
    @property
    def contacts(self) -> Contacts: ...

    def integrity(self) -> str | None:
        """Return None when the database is sound, else what is wrong with it."""
        ...

    def close(self) -> None: ...
