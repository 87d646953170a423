"""What a guard is, and the place of each in the order of shared/spec/policy.md, "Guards"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tidegate.core.policy.types import Finding, GuardContext, GuardTier, Verdict

Phase = Literal["before", "after"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a guard stands: guards are asked in the order of their numbers."""

    number: int
    name: str
    tier: GuardTier
    phase: Phase


ORDER: tuple[Place, ...] = (
    Place(1, "input_validation", "safety", "before"),
    Place(2, "retry_protection", "safety", "before"),
    Place(3, "address_source", "safety", "before"),
    Place(4, "asset_intent", "safety", "before"),
    Place(5, "address_scope", "safety", "before"),
    Place(6, "swap_preview", "safety", "before"),
    Place(7, "irreversibility", "safety", "before"),
    Place(8, "balance_required", "financial", "before"),
    Place(9, "health_factor", "financial", "before"),
    Place(10, "large_transfer", "financial", "before"),
    Place(11, "slippage", "financial", "before"),
    Place(12, "cost_warning", "ux", "before"),
    Place(13, "artifact_preview", "ux", "after"),
    Place(14, "stale_data", "financial", "after"),
)

_PLACES = {place.name: place for place in ORDER}


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a guard thinks of a call; the guard's name is added by whoever asked it."""

    verdict: Verdict
    message: str = ""


PASS = Opinion("pass")


def hint(message: str) -> Opinion:
    """Tell the model."""
    return Opinion("hint", message)


def warn(message: str) -> Opinion:
    """Tell the person; the call does not go without asking."""
    return Opinion("warn", message)


def block(message: str) -> Opinion:
    """Refuse the call. The message says what to do instead."""
    return Opinion("block", message)


@dataclass(frozen=True, slots=True)
class Guard:
    """One rule about a call: a pure function of what is known about it."""

    place: Place
    judge: Callable[[GuardContext], Opinion]

    @property
    def name(self) -> str:
        """As findings and the configuration name it."""
        return self.place.name

    @property
    def tier(self) -> GuardTier:
        """Only guards of tier ux can be disabled."""
        return self.place.tier

    @property
    def phase(self) -> Phase:
        """Whether it is asked before the call or after it."""
        return self.place.phase

    def check(self, context: GuardContext) -> Finding:
        """Return what the guard says about a call."""
        opinion = self.judge(context)
        return Finding(self.name, self.tier, opinion.verdict, opinion.message)


def guard(name: str, judge: Callable[[GuardContext], Opinion]) -> Guard:
    """Return the guard of that name, in its place.

    Raises:
        KeyError: ORDER has no such guard.
    """
    return Guard(_PLACES[name], judge)
