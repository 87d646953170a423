"""A sandbox network in a folder of its own, spoken to over real gRPC, and two keys."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tidegate.core.chain.client import SuiNetwork
from tidegate.core.chain.network import open_network, open_sandbox_ledger
from tidegate.core.chain.types import Build, Outcome, Signature
from tidegate.core.clock import Clock
from tidegate.core.money import Amount
from tidegate.core.sandbox.controls import fund_once
from tidegate.core.sandbox.ledger import Ledger
from tidegate.core.tokens import SUI, USDC

START_MS = 1_800_000_000_000
SUI_100 = 100 * 10**9
USDC_1000 = 1_000 * 10**6


@dataclass
class StandingTime:
    """A clock that stands still until a test moves it."""

    ms: int = START_MS
    step_ms: int = 0
    """How far it goes on whenever somebody reads it."""
    clock: Clock = field(init=False)

    def __post_init__(self) -> None:
        self.clock = Clock(now_ms=self._read, monotonic=lambda: self.ms / 1000)

    def _read(self) -> int:
        self.ms += self.step_ms
        return self.ms


class Key:
    """An Ed25519 key that signs transactions."""

    def __init__(self, secret: bytes) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(secret)
        self._public = self._key.public_key().public_bytes_raw()
        self.address = "0x" + hashlib.blake2b(b"\0" + self._public, digest_size=32).hexdigest()

    def sign(self, transaction: bytes) -> Signature:
        message = hashlib.blake2b(b"\0\0\0" + transaction, digest_size=32).digest()
        return Signature(b"\0" + self._key.sign(message) + self._public)


def pay(amount: Amount, recipient: str) -> Build:
    """Return a build that sends an amount."""
    return lambda ptb: ptb.transfer([ptb.coin(amount)], recipient)


@pytest.fixture
def time() -> StandingTime:
    return StandingTime()


@pytest.fixture
def state_dir(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def ledger(state_dir: Path, time: StandingTime) -> Iterator[Ledger]:
    """The ledger that `network` serves, as another process would open it."""
    opened = open_sandbox_ledger(state_dir, time.clock)
    yield opened
    opened.close()


@pytest.fixture
def network(ledger: Ledger, state_dir: Path, time: StandingTime) -> Iterator[SuiNetwork]:
    opened = open_network("sandbox", state_dir=state_dir, clock=time.clock)
    assert isinstance(opened, SuiNetwork)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def alice() -> Key:
    return Key(bytes(range(32)))


@pytest.fixture(scope="session")
def bob() -> Key:
    return Key(bytes(range(1, 33)))


@pytest.fixture
def funded(ledger: Ledger, network: SuiNetwork, alice: Key) -> SuiNetwork:
    """The network on which alice holds 100 SUI and 1,000 USDC, a coin of each."""
    fund_once(ledger, alice.address, {SUI.coin_type: SUI_100, USDC.coin_type: USDC_1000})
    return network


@pytest.fixture
def send(network: SuiNetwork, alice: Key) -> Callable[[Build], Outcome]:
    """Draft, sign and execute a transaction of alice's."""

    def carry_out(build: Build) -> Outcome:
        draft = network.draft(alice.address, build)
        assert draft.outcome.failure is None, draft.outcome.failure
        return network.execute(draft.bytes, alice.sign(draft.bytes))

    return carry_out
