"""A tool: one pydantic model in, one out, and a function that reads or prepares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from threading import Event as Flag
from typing import Generic, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict

from tidegate.core.chain.token_book import TokenBook
from tidegate.core.chain.types import Build, Network, PricePoint, SwapQuote
from tidegate.core.clock import Clock
from tidegate.core.events import JsonObject, to_json
from tidegate.core.money import Amount
from tidegate.core.policy.types import Operation, SettledCall
from tidegate.core.store.base import Contacts
from tidegate.core.tokens import Token


class ToolInput(BaseModel):
    """Base of tool inputs: nothing unknown is let through."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class ToolOutput(BaseModel):
    """Base of tool outputs."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)


I = TypeVar("I", bound=ToolInput)  # noqa: E741


class Prices(Protocol):
    """What assets are worth."""

    def read(self, coin_types: Sequence[str]) -> dict[str, PricePoint]:
        """Return the prices that are known; what is missing from the answer has none."""
        ...


@dataclass(frozen=True)
class ToolContext:
    """What a tool may use."""

    network: Callable[[], Network]
    """Opens the network on first use."""
    tokens: Callable[[], TokenBook]
    prices: Callable[[], Prices]
    wallet: str | None
    """Address of the wallet, None when there is none."""
    contacts: Contacts
    clock: Clock
    history: Sequence[SettledCall] = ()
    cancelled: Flag = field(default_factory=Flag)
    progress: Callable[[str], None] = lambda message: None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool answers."""

    data: BaseModel
    display_text: str
    """One or two plain sentences for people."""

    def to_json(self) -> JsonObject:
        """Return the form that goes into events and to the model."""
        return {"data": to_json(self.data), "display_text": self.display_text}


@dataclass(frozen=True)
class ReadTool(Generic[I]):
    """A tool that changes nothing; runs in parallel with others."""

    name: str
    description: str
    input_model: type[I]
    output_model: type[BaseModel]
    run: Callable[[I, ToolContext], ToolResult]
    example: JsonObject
    cache_ttl_s: int = 60
    result_cap: int = 20_000
    """Characters of the result that the model sees."""
    deadline_s: float = 10.0


@dataclass(frozen=True)
class LocalTool(Generic[I]):
    """A tool that writes only to the store (contacts, plans): serial, but no money and no write road."""

    name: str
    description: str
    input_model: type[I]
    output_model: type[BaseModel]
    run: Callable[[I, ToolContext], ToolResult]
    example: JsonObject
    words: Callable[[I], tuple[str, ...]] = lambda args: ()
    """What of the input a model may not make up: the person must have written all of it in one message."""


@dataclass(frozen=True, slots=True)
class Expected:
    """The range in which a simulation must find one address's change in one coin, gas apart."""

    address: str
    token: Token
    low: int
    """Base units; negative leaves the address."""
    high: int


@dataclass(frozen=True)
class Intent:
    """One write, understood and frozen: what it moves, what it must show in simulation, how it is built."""

    input: JsonObject
    """Canonical: amounts exact, addresses and coin types in full; the tool makes the same write from it."""
    description: str
    moves: tuple[Amount, ...]
    """What counts against thresholds and limits."""
    expected: tuple[Expected, ...]
    """Everything that may change; any other coin of the wallet must stay or grow."""
    build: Build
    recipient: str | None = None
    recipient_is_contact: bool = False
    quote: SwapQuote | None = None
    quoted_at_ms: int | None = None
    min_out: Amount | None = None
    slippage: Decimal | None = None
    """Percent."""
    preflight: str | None = None
    """Why the tool's own rules refuse this, for guard input_validation."""
    with_floor: Callable[[Amount], Intent] | None = None
    """For swaps: the same write that receives at least this much, or fails on chain."""


@dataclass(frozen=True)
class WriteTool(Generic[I]):
    """A tool that moves money; it only prepares, the write road does the rest."""

    name: str
    description: str
    input_model: type[I]
    operation: Operation
    prepare: Callable[[I, ToolContext], Intent]
    example: JsonObject
    modifiable: tuple[str, ...] = ("amount",)
    requires_balance: bool = True
    affects_health: bool = False
    irreversible: bool = False
    cost_aware: bool = True
    touches: tuple[str, ...] = ("balance_check", "savings_info")
    """Reads whose answers are old once this has settled."""


Tool = ReadTool[ToolInput] | LocalTool[ToolInput] | WriteTool[ToolInput]
