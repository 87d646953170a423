"""What the network tells us, as plain values: no protobuf message leaves core/chain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, Protocol

from tidegate.core.chain.deployments import Deployment
from tidegate.core.money import Amount


@dataclass(frozen=True, slots=True)
class CoinBalance:
    """All an address holds of one coin type."""

    coin_type: str
    """Normalised."""
    base: int
    """Base units, coin objects and address balance together."""


@dataclass(frozen=True, slots=True)
class CoinObject:
    """One coin object with the reference by which a transaction uses it."""

    object_id: str
    version: int
    digest: str
    base: int


@dataclass(frozen=True, slots=True)
class CoinMetadata:
    """What the chain says a coin is."""

    coin_type: str
    symbol: str
    name: str
    decimals: int


@dataclass(frozen=True, slots=True)
class EpochInfo:
    """The network's present epoch."""

    epoch: int
    reference_gas_price: int
    """MIST a gas unit."""


@dataclass(frozen=True, slots=True)
class BalanceDelta:
    """What a transaction adds to (or, negative, takes from) one address in one coin type, gas included."""

    address: str
    coin_type: str
    base: int


@dataclass(frozen=True, slots=True)
class GasSummary:
    """MIST charged, as the network reports them."""

    computation: int
    storage: int
    rebate: int

    @property
    def net(self) -> int:
        """MIST the gas payer loses: computation and storage less the rebate; negative when it gains."""
        return self.computation + self.storage - self.rebate


@dataclass(frozen=True, slots=True)
class MoveFailure:
    """Why a transaction failed on chain."""

    description: str
    """One sentence: the kind of failure, and for an abort its module, function and code."""
    module: str | None = None
    function: str | None = None
    code: int | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The effects of a simulated or executed transaction."""

    digest: str
    failure: MoveFailure | None
    """None when it succeeded."""
    gas: GasSummary
    changes: tuple[BalanceDelta, ...]
    epoch: int | None = None
    checkpoint: int | None = None
    timestamp_ms: int | None = None


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One executed transaction that touched an address."""

    outcome: Outcome
    sender: str
    calls: tuple[str, ...]
    """``package::module::function`` of each Move call, in order; packages normalised."""


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """Newest first."""

    entries: tuple[HistoryEntry, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class Argument:
    """A value inside a transaction under construction."""

    handle: object
    """What the builder understands; nobody else looks into it."""


class Ptb(Protocol):
    """A programmable transaction under construction. See `core/chain/transactions.py` for the builder."""

    @property
    def sender(self) -> str: ...

    def coin(self, amount: Amount) -> Argument:
        """Return a coin of exactly `amount`, taken from the sender's coins (SUI: from the gas coin).

        Raises:
            InsufficientBalance: the sender holds less.
        """
        ...

    def pure_u8(self, value: int) -> Argument: ...
    def pure_u32(self, value: int) -> Argument: ...
    def pure_u64(self, value: int) -> Argument: ...
    def pure_bool(self, value: bool) -> Argument: ...
    def pure_address(self, address: str) -> Argument: ...
    def pure_string(self, text: str) -> Argument: ...

    def shared(self, object_id: str, *, mutable: bool) -> Argument:
        """Return a shared (or immutable) object; its initial version is read from the network."""
        ...

    def call(
        self,
        target: str,
        arguments: Sequence[Argument],
        type_arguments: Sequence[str] = (),
        results: int = 1,
    ) -> tuple[Argument, ...]:
        """Call ``package::module::function`` and return its `results` values as nested results."""
        ...

    def transfer(self, objects: Sequence[Argument], recipient: str) -> None: ...


Build = Callable[[Ptb], None]
"""Adds the commands of one write or read to a transaction."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A transaction complete but for its signature, with what a simulation said of exactly its bytes."""

    bytes: bytes
    """BCS TransactionData."""
    digest: str
    gas_budget: int
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Signature:
    """What a key says about a transaction."""

    serialized: bytes
    """flag || signature || public key."""


class Signer(Protocol):
    """Holds a key and signs transactions with it."""

    @property
    def address(self) -> str: ...

    def sign(self, transaction: bytes) -> Signature:
        """Sign BCS TransactionData (intent: transaction data, version 0, Sui)."""
        ...


class Network(Protocol):
    """One Sui network. Every method may raise NetworkError; none of them signs."""

    @property
    def name(self) -> str: ...
    @property
    def url(self) -> str: ...
    @property
    def chain_id(self) -> str: ...
    @property
    def deployment(self) -> Deployment: ...

    def epoch(self) -> EpochInfo: ...
    def balances(self, address: str) -> tuple[CoinBalance, ...]: ...
    def balance(self, address: str, coin_type: str) -> int: ...
    def coin_metadata(self, coin_type: str) -> CoinMetadata | None: ...
    def object_kind(self, object_id: str) -> str | None:
        """Return the Move type of the object, ``package`` for a package, None if there is no such object."""
        ...

    def inspect(self, build: Build) -> tuple[tuple[bytes, ...], ...]:
        """Run a read-only transaction without checks; return each command's return values as BCS.

        Raises:
            SimulationFailed: it aborted.
        """
        ...

    def draft(self, sender: str, build: Build) -> Draft:
        """Build, choose gas, simulate, and return the transaction with its simulated outcome.

        A transaction that fails in simulation is returned too: see `Draft.outcome`.

        Raises:
            InsufficientBalance: coins or gas do not suffice.
        """
        ...

    def simulate(self, transaction: bytes) -> Outcome: ...

    def execute(self, transaction: bytes, signature: Signature) -> Outcome:
        """Submit and wait for finality.

        Raises:
            NetworkError: it was surely not accepted (refused, or the connection was never made).
            OutcomeUnknown: it was sent and no answer came, or an answer that does not say.
        """
        ...

    def transaction(self, digest: str) -> Outcome | None:
        """Return the effects of an executed transaction, or None if the network does not know it."""
        ...

    def history(self, address: str, *, limit: int, before: str | None = None) -> HistoryPage: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class PricePoint:
    """A price in USD of one whole token."""

    coin_type: str
    usd: Decimal
    as_of_ms: int
    source: str


@dataclass(frozen=True, slots=True)
class LendingPosition:
    """What an account supplied to or borrowed from one lending pool."""

    kind: Literal["supply", "borrow"]
    coin_type: str
    base: int
    """Base units, interest included."""
    apy: Decimal
    """Percent a year, as the chain's rate says now."""


@dataclass(frozen=True, slots=True)
class LendingMarket:
    """One asset of a lending protocol."""

    coin_type: str
    supply_apy: Decimal
    """Percent a year."""
    borrow_apy: Decimal
    utilisation: Decimal
    """Percent of what is supplied that is lent out."""
    supplied_base: int
    borrowed_base: int
    ltv: Decimal
    """Part of a collateral's value that may be borrowed, 0 to 1."""
    liquidation_threshold: Decimal
    """Part of a collateral's value at which a loan may be liquidated, 0 to 1."""


@dataclass(frozen=True, slots=True)
class SwapQuote:
    """What a swap would give now."""

    amount_in: Amount
    amount_out: Amount
    fee: Amount
    """In the token paid."""
    price_impact: Decimal
    """Percent of the mid price lost to the swap's own size, fee apart."""
    hops: tuple[SwapHop, ...]


@dataclass(frozen=True, slots=True)
class SwapHop:
    """One pool on the way."""

    dex: str
    pool: str
    coin_in: str
    coin_out: str
    a_to_b: bool
    fee_rate: int
    """Parts of 1,000,000."""
