"""What the write road is given and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from tidegate.core.cancel import Cancel
from tidegate.core.chain.types import Draft, Network, PricePoint, Signer
from tidegate.core.clock import Clock, Ids
from tidegate.core.errors import TidegateError
from tidegate.core.events import JsonObject, WriteResult
from tidegate.core.policy.presets import Preset
from tidegate.core.policy.types import Decision, Finding, SettledCall
from tidegate.core.policy.valuation import Valued
from tidegate.core.store.base import Store
from tidegate.core.tools.base import Intent, ToolContext, ToolInput, WriteTool

Status = Literal["executed", "failed", "unknown", "denied", "held", "simulated"]


@dataclass(frozen=True)
class Road:
    """Everything the road needs that is the same for all writes of one turn."""

    store: Store
    network: Network
    context: ToolContext
    wallet: str
    signer: Callable[[], Signer]
    """Unlocks the key; raises WalletError when it cannot."""
    has_key: bool
    preset: Preset | None
    disabled_guards: frozenset[str]
    clock: Clock
    ids: Ids
    session_id: str
    turn: int
    approval_ms: int
    """Milliseconds a held write may wait."""
    cancel: Cancel
    dry_run: bool = False
    sandbox: bool = False
    """Whether the network is the embedded one, where nothing is real."""


@dataclass(frozen=True)
class WriteCall:
    """One write that somebody asked for."""

    tool: WriteTool[ToolInput]
    args: ToolInput
    tool_use_id: str
    direct: bool
    """True when a person named the tool and its arguments."""
    user_texts: Sequence[str]
    history: Sequence[SettledCall]
    replaces: str | None = None
    """The waiting attempt in whose place it is asked for."""


@dataclass(frozen=True)
class Proposal:
    """A write that passed steps 1 to 7."""

    call: WriteCall
    intent: Intent
    valued: Valued
    prices: dict[str, PricePoint]
    findings: tuple[Finding, ...]
    decision: Decision
    draft: Draft


@dataclass(frozen=True)
class Written:
    """How a write ended, or where it waits."""

    attempt_id: str
    status: Status
    reply: JsonObject
    """What the model is told: data and display_text."""
    receipt: WriteResult | None
    """None while it waits."""
    error: TidegateError | None = None
    """What the command reports beside the receipt."""
