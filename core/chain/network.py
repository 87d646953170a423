"""Opens a Sui network by name; the sandbox is started here, and then spoken to like any other node."""

from __future__ import annotations

import errno
import sqlite3
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate.core.chain.client import SuiNetwork, read_identity
from tidegate.core.chain.deployments import MAINNET_CHAIN_ID, SANDBOX, TESTNET_CHAIN_ID, Deployment
from tidegate.core.chain.endpoint import Endpoint, parse_endpoint
from tidegate.core.chain.rpc import LoopThread, Node
from tidegate.core.clock import Clock
from tidegate.core.errors import ChainMismatch, StoreError, UsageError
from tidegate.core.paths import ensure_private_dir

if TYPE_CHECKING:
    from tidegate.core.chain.types import Network
    from tidegate.core.sandbox.ledger import Ledger

SANDBOX_NAME = "sandbox"

_PUBLIC = {
    "testnet": (Endpoint("fullnode.testnet.sui.io", 443, tls=True), TESTNET_CHAIN_ID),
    "mainnet": (Endpoint("fullnode.mainnet.sui.io", 443, tls=True), MAINNET_CHAIN_ID),
}
_LOOPBACK = "127.0.0.1"
_SANDBOX_FILE = "sandbox.db"


def open_network(name: str, *, state_dir: Path, clock: Clock, timeout_s: float = 10.0) -> Network:
    """Connect to a network and check that it is the one that the name promises.

    Args:
        name: ``sandbox``, ``testnet``, ``mainnet``, or the URL of a node: ``https://host[:port]``,
            ``host:port`` (TLS), or ``http://`` on this machine.
        state_dir: Where the sandbox keeps its ledger.
        clock: Where the sandbox's time comes from.
        timeout_s: Longest that one call may take.

    Raises:
        UsageError: the name is none of these.
        ChainMismatch: the node serves another chain.
        NetworkError: the node cannot be reached.
        StoreError: the sandbox's file cannot be used.
    """
    with ExitStack() as opened:
        loop = LoopThread()
        opened.callback(loop.close)
        if name == SANDBOX_NAME:
            endpoint, expected = _start_sandbox(opened, loop, state_dir, clock), _sandbox_chain_id()
        elif name in _PUBLIC:
            endpoint, expected = _PUBLIC[name]
        else:
            endpoint, expected = parse_endpoint(name), None
        node = Node(loop, endpoint, timeout_s=timeout_s)
        opened.callback(node.close)
        chain_id, epoch = read_identity(node)
        if expected is not None and chain_id != expected:
            raise ChainMismatch(
                f"{endpoint.url} serves chain {chain_id}, which is not {name}.",
                hint=f"{name}'s chain id is {expected}. Nothing is signed for another chain.",
            )
        return SuiNetwork(
            name=name,
            chain_id=chain_id,
            deployment=_deployment(chain_id),
            epoch=epoch,
            node=node,
            monotonic=clock.monotonic,
            resources=opened.pop_all(),
        )


def open_sandbox_ledger(state_dir: Path, clock: Clock) -> Ledger:
    """Open the ledger that the network ``sandbox`` serves, to fund wallets or to change the world.

    Args:
        state_dir: The folder of its file; made private if it does not exist.
        clock: Where sandbox time comes from.

    Raises:
        StoreError: the file cannot be used.
    """
    from tidegate.core.sandbox.ledger import Ledger

    path = ensure_private_dir(state_dir) / _SANDBOX_FILE
    try:
        return Ledger.open(path, clock)
    except sqlite3.Error as error:
        raise StoreError(
            f"The sandbox's ledger {path} cannot be opened: {error}.",
            hint=f"Delete {path} to begin a new sandbox network; coins in it are play money.",
        ) from error


class StandingSandbox:
    """A sandbox network that serves until it is closed; made by `serve_sandbox`."""

    def __init__(self, url: str, running: ExitStack) -> None:
        self.url = url
        """What to give as ``--network``."""
        self._running = running
        self._ended = threading.Event()

    def wait(self) -> None:
        """Block until `close` is called from another thread, or the person interrupts."""
        self._ended.wait()

    def close(self) -> None:
        """Stop serving and close the ledger. Closing twice does nothing."""
        self._running.close()
        self._ended.set()


def serve_sandbox(state_dir: Path | None, clock: Clock, port: int) -> StandingSandbox:
    """Serve the sandbox on loopback for other processes.

    Args:
        state_dir: The folder of its ledger; None keeps it in memory.
        clock: Where sandbox time comes from.
        port: TCP port; 0 takes a free one.

    Raises:
        UsageError: the port cannot be used.
        StoreError: the ledger cannot be used.
    """
    with ExitStack() as opened:
        loop = LoopThread()
        opened.callback(loop.close)
        endpoint = _start_sandbox(opened, loop, state_dir, clock, port)
        return StandingSandbox(endpoint.url, opened.pop_all())


def _start_sandbox(
    opened: ExitStack, loop: LoopThread, state_dir: Path | None, clock: Clock, port: int = 0
) -> Endpoint:
    from tidegate.core.sandbox.ledger import Ledger
    from tidegate.core.sandbox.server import serve

    if not 0 <= port < 2**16:
        raise _unusable_port(port, taken=False)
    ledger = Ledger.open(None, clock) if state_dir is None else open_sandbox_ledger(state_dir, clock)
    opened.callback(ledger.close)
    try:
        server = loop.run(lambda: serve(ledger, _LOOPBACK, port))
    except OSError as error:
        raise _unusable_port(port, taken=error.errno == errno.EADDRINUSE) from error
    opened.callback(lambda: loop.run(server.close))
    return Endpoint(_LOOPBACK, server.port, tls=False)


def _unusable_port(port: int, *, taken: bool) -> UsageError:
    problem = "is taken by another program" if taken else "cannot be used"
    return UsageError(f"Port {port} {problem}.", hint="Give another --port, or 0 for any free one.")


def _sandbox_chain_id() -> str:
    from tidegate.core.sandbox.genesis import SANDBOX_CHAIN_ID

    return SANDBOX_CHAIN_ID


def _deployment(chain_id: str) -> Deployment:
    if chain_id in (MAINNET_CHAIN_ID, TESTNET_CHAIN_ID):
        return Deployment(None, None)
    return SANDBOX if chain_id == _sandbox_chain_id() else Deployment(None, None)
