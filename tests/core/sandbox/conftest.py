from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from grpclib.client import Channel
from pysui.sui.sui_common.client import PysuiClient
from pysui.sui.sui_common.config.confgroup import (
    GroupProtocol,
    NetworkType,
    Profile,
    ProfileAlias,
    ProfileGroup,
)
from pysui.sui.sui_common.config.confmodel import PysuiConfigModel
from pysui.sui.sui_common.config.pysui_config import PysuiConfiguration
from pysui.sui.sui_grpc.pgrpc_clients import GrpcProtocolClient
from pysui.sui.sui_grpc.suimsgs.sui.rpc import v2 as rpc

from tidegate.core.clock import Clock
from tidegate.core.sandbox import controls
from tidegate.core.sandbox.encoding import address_of_key, blake2b
from tidegate.core.sandbox.ledger import Ledger
from tidegate.core.sandbox.node import execute_signed
from tidegate.core.sandbox.server import serve
from tidegate.core.sandbox.signatures import transaction_intent
from tidegate.core.sandbox.transactions import (
    Command,
    Gas,
    GasArg,
    Input,
    InputArg,
    ObjectRef,
    PureInput,
    ResultArg,
    SplitCoins,
    Transaction,
    TransferObjects,
)
from tidegate.core.tokens import SUI, USDC

START_MS = 1_800_000_000_000


@dataclass
class TestTime:
    """A clock that stands still until a test moves it."""

    __test__ = False
    ms: int = START_MS
    clock: Clock = field(init=False)

    def __post_init__(self) -> None:
        self.clock = Clock(now_ms=lambda: self.ms, monotonic=lambda: self.ms / 1000)


class Key:
    """An Ed25519 key as pysui's signing asks for one."""

    def __init__(self, secret: bytes) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(secret)
        self.public = self._key.public_key().public_bytes_raw()
        self.address = address_of_key(0, self.public)

    def sign(self, bcs: bytes) -> bytes:
        return b"\0" + self._key.sign(blake2b(transaction_intent(bcs))) + self.public

    def new_sign_secure(self, tx_b64: str) -> str:
        return base64.b64encode(self.sign(base64.b64decode(tx_b64))).decode()


class _Config(PysuiConfiguration):  # type: ignore[misc]
    def __init__(self, url: str, key: Key) -> None:
        group = ProfileGroup(
            "sandbox",
            "sandbox",
            key.address,
            [ProfileAlias("main", "")],
            [],
            [key.address],
            [Profile("sandbox", url, None, None, NetworkType.LOCAL)],
            GroupProtocol.GRPC,
        )
        group.add_transient_keypair(profile_name="sandbox", address=key.address, keypair=key)
        self._model = PysuiConfigModel("1.2.0", "", "sandbox", [group])

    def _write_model(self) -> None:
        pass


class Client(GrpcProtocolClient):  # type: ignore[misc]
    """pysui's client without TLS."""

    def __init__(self, port: int, key: Key) -> None:
        PysuiClient.__init__(self, pysui_config=_Config(f"http://127.0.0.1:{port}", key), default_header={})
        self._channel = Channel("127.0.0.1", port, ssl=False)
        self._channels = []
        self._protocol_config = None
        self._gas_price = None


@asynccontextmanager
async def network(ledger: Ledger, key: Key) -> AsyncIterator[Client]:
    """Serve a ledger and connect pysui's client to it."""
    server = await serve(ledger)
    client = Client(server.port, key)
    try:
        yield client
    finally:
        await client.close()
        await server.close()


@pytest.fixture
def time() -> TestTime:
    return TestTime()


@pytest.fixture
def ledger(time: TestTime) -> Iterator[Ledger]:
    opened = Ledger.open(None, time.clock)
    yield opened
    opened.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sandbox.db"


@pytest.fixture(scope="session")
def alice() -> Key:
    return Key(bytes(range(32)))


@pytest.fixture(scope="session")
def bob() -> Key:
    return Key(bytes(range(1, 33)))


@pytest.fixture
def on_network(ledger: Ledger, alice: Key) -> Callable[[Callable[[Client], Coroutine[Any, Any, Any]]], Any]:
    """Run a coroutine function with a client that is connected to the ledger."""

    def run(body: Callable[[Client], Coroutine[Any, Any, Any]]) -> Any:
        async def main() -> Any:
            async with network(ledger, alice) as client:
                return await body(client)

        return asyncio.run(main())

    return run


@dataclass
class Wallet:
    """Builds and executes transactions against a ledger, without a network in between."""

    ledger: Ledger
    key: Key

    def ref(self, object_id: str) -> ObjectRef:
        found = self.ledger.get_object(object_id)
        assert found is not None
        return ObjectRef(found.id, found.version, found.digest)

    def coin(self, coin_type: str, index: int = 0) -> ObjectRef:
        return self.ref(self.ledger.coins(self.key.address, coin_type)[index].id)

    def transaction(self, *commands: Command, inputs: tuple[Input, ...] = (), **gas: Any) -> Transaction:
        payment = gas.get("payment") or (self.coin(SUI.coin_type),)
        price, budget = gas.get("price", 1_000), gas.get("budget", 20_000_000)
        return Transaction(self.key.address, inputs, commands, Gas(payment, self.key.address, price, budget))

    def pay(self, recipient: str, amount: int, **gas: Any) -> Transaction:
        """Build a transfer of MIST from the gas coin."""
        return self.transaction(
            SplitCoins(GasArg(), (InputArg(0),)),
            TransferObjects((ResultArg(0, 0),), InputArg(1)),
            inputs=(PureInput(amount.to_bytes(8, "little")), PureInput(bytes.fromhex(recipient[2:]))),
            **gas,
        )

    def execute(self, transaction: Transaction) -> rpc.ExecutedTransaction:
        bcs = transaction.bcs()
        return execute_signed(self.ledger, bcs, [self.key.sign(bcs)])


@pytest.fixture
def new_wallet(time: TestTime, alice: Key) -> Callable[[], Wallet]:
    """Make alice's wallet with 10 SUI and 500 USDC on a network of its own."""

    def make() -> Wallet:
        ledger = Ledger.open(None, time.clock)
        controls.faucet(ledger, alice.address, SUI.coin_type, 10 * 10**9)
        controls.faucet(ledger, alice.address, USDC.coin_type, 500 * 10**6)
        return Wallet(ledger, alice)

    return make


@pytest.fixture
def wallet(ledger: Ledger, alice: Key) -> Wallet:
    """Alice's wallet with 10 SUI and 500 USDC on the network that `on_network` serves."""
    controls.faucet(ledger, alice.address, SUI.coin_type, 10 * 10**9)
    controls.faucet(ledger, alice.address, USDC.coin_type, 500 * 10**6)
    return Wallet(ledger, alice)
