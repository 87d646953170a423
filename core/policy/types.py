"""Words that policy, tools and the write road share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Literal

from tidegate.core.jsonlines import Json
from tidegate.core.money import Amount, Usd


class Operation(StrEnum):
    """What a write is, for its thresholds."""

    SAVE = "save"
    REPAY = "repay"
    WITHDRAW = "withdraw"
    SWAP = "swap"
    SEND = "send"
    PAY = "pay"
    BORROW = "borrow"
    OTHER = "other"


class Tier(StrEnum):
    """Who may let a write go: policy, a person, or a person who names the value."""

    AUTO = "auto"
    CONFIRM = "confirm"
    EXPLICIT = "explicit"


GuardTier = Literal["safety", "financial", "ux"]
Verdict = Literal["pass", "hint", "warn", "block"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What one guard says about one call."""

    guard: str
    tier: GuardTier
    verdict: Verdict
    message: str = ""


@dataclass(frozen=True, slots=True)
class SettledCall:
    """A tool call of this session that has ended, as guards look back on it."""

    tool: str
    input: Mapping[str, Json]
    data: Mapping[str, Json]
    is_error: bool
    at_ms: int


@dataclass(frozen=True, slots=True)
class SwapFacts:
    """What a swap about to be made would do."""

    slippage: Decimal
    """Percent."""
    price_impact: Decimal
    """Percent."""
    expected_out: Amount | None


@dataclass(frozen=True, slots=True)
class GuardContext:
    """Everything a guard may look at. No text of a model or a tool result is in it but `history`'s data."""

    tool: str
    input: Mapping[str, Json]
    """Canonical: amounts exact, addresses in full."""
    operation: Operation | None
    """None for reads and for writes that move no money (save_contact)."""
    mutating: bool
    requires_balance: bool
    affects_health: bool
    irreversible: bool
    cost_aware: bool
    outflows: Sequence[Amount]
    """What the write takes from the wallet or moves, gas apart."""
    usd: Usd | None
    recipient: str | None
    """Normalised address a send goes to."""
    recipient_is_contact: bool
    wallet: str | None
    user_texts: Sequence[str]
    """The person's own last 10 messages, newest last; for `call`, the command's own arguments are the
    person's words."""
    history: Sequence[SettledCall]
    """This session's settled calls, oldest first."""
    now_ms: int
    direct: bool
    """True when a person named the tool and its arguments (call, resume --set): there was no model."""
    preflight: str | None = None
    """Why the tool's own checks refuse this input, None if they do not."""
    swap: SwapFacts | None = None
    health_factor_after: Decimal | None = None
    result: Mapping[str, Json] | None = None
    """For the guards that run after: the tool's result."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The tier of a write, and the one sentence why."""

    tier: Tier
    reason: str
    findings: tuple[Finding, ...]
    """usd_threshold and daily_spend_limit, when they changed the tier."""
