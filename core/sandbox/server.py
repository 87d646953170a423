"""The sandbox's gRPC server: HTTP/2 without TLS, on loopback."""

from __future__ import annotations

import socket
from collections.abc import Mapping

from grpclib.const import Handler
from grpclib.server import Server

from tidegate.core.sandbox.ledger import Ledger
from tidegate.core.sandbox.services.execution import SignatureVerificationService, TransactionExecutionService
from tidegate.core.sandbox.services.ledger import LedgerService
from tidegate.core.sandbox.services.packages import MovePackageService, NameService
from tidegate.core.sandbox.services.state import StateService


class _Service:
    """What grpclib asks of a service: its handlers by path."""

    def __init__(self, handlers: Mapping[str, Handler]) -> None:
        self._handlers = dict(handlers)

    def __mapping__(self) -> dict[str, Handler]:
        return self._handlers


class SandboxServer:
    """A server that runs until `close`; made by `serve`."""

    def __init__(self, server: Server, port: int) -> None:
        self._server = server
        self.port = port

    async def close(self) -> None:
        """Stop listening and wait until the requests that are running have ended. The ledger stays open."""
        self._server.close()
        await self._server.wait_closed()


async def serve(ledger: Ledger, host: str = "127.0.0.1", port: int = 0) -> SandboxServer:
    """Start serving a ledger in the running event loop.

    Args:
        ledger: The network's state; several servers may serve one.
        host: IPv4 address to listen on.
        port: TCP port; 0 takes a free one.

    Raises:
        OSError: the port is taken.
    """
    services = [
        LedgerService(ledger).handlers(),
        StateService(ledger).handlers(),
        TransactionExecutionService(ledger).handlers(),
        SignatureVerificationService().handlers(),
        MovePackageService().handlers(),
        NameService().handlers(),
    ]
    server = Server([_Service(handlers) for handlers in services])
    # The socket is made here because grpclib does not say which port it got for port 0.
    listening = _listen(host, port)
    try:
        await server.start(sock=listening)
    except BaseException:
        listening.close()
        raise
    return SandboxServer(server, int(listening.getsockname()[1]))


def _listen(host: str, port: int) -> socket.socket:
    # asyncio turns Nagle's algorithm off only where the protocol is named, which `socket.create_server` does
    # not do; with it every answer waits 40 ms for a delayed acknowledgement.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen()
    except BaseException:
        listening.close()
        raise
    return listening
