"""The asynchronous corner: one event loop on its own thread, and a node's gRPC methods behind a plain face.

Everything here is called from ordinary threads, any number at once, and blocks the caller only. Nothing is
read from or written to a pysui configuration: calls go to pysui's generated stubs over a channel of ours.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

from tidegate.core.chain.endpoint import Endpoint
from tidegate.core.errors import NetworkError

if TYPE_CHECKING:
    from grpclib.client import Channel
    from grpclib.exceptions import GRPCError
    from pysui.sui.sui_grpc.suimsgs.sui.rpc import v2 as rpc

T = TypeVar("T")
U = TypeVar("U")

RETRY_DELAYS_S = (0.1, 0.4)
"""Pauses before a read is asked again of a node that was not available."""

_CLOSE_S = 5.0
_SHOWN = 300

# Without a handler Python prints what a library warns of to stderr, which belongs to the person.
logging.getLogger("grpclib").addHandler(logging.NullHandler())


class LoopThread:
    """An event loop that runs on a daemon thread, so that Ctrl-C stays with the main thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._lock = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._loop.run_forever, name="tidegate-network", daemon=True)
        self._thread.start()

    def run(self, work: Callable[[], Coroutine[object, object, T]]) -> T:
        """Run a coroutine on the loop and wait for what it returns or raises.

        Args:
            work: Makes the coroutine; called only if the loop will run it.

        Raises:
            NetworkError: the loop is closed, or was closed meanwhile.
        """
        with self._lock:
            if self._closed:
                raise _closed()
            future = asyncio.run_coroutine_threadsafe(work(), self._loop)
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            raise _closed() from None
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        """Cancel what still runs and end the thread. Closing twice does nothing."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            ended = asyncio.run_coroutine_threadsafe(_cancel_others(), self._loop)
        ended.result(_CLOSE_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_CLOSE_S)
        self._loop.close()


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


def _closed() -> NetworkError:
    return NetworkError("The connection to the network is closed.", retryable=False)


class Unheard(Exception):
    """A request was sent, and nothing that was answered says whether it was carried out.

    Args:
        reason: What happened instead, as one sentence.
        unavailable: The node said that it could not serve the request.
    """

    def __init__(self, reason: str, *, unavailable: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.unavailable = unavailable


@dataclass(frozen=True, slots=True)
class Stubs:
    """The services of a node; their methods return awaitables, which only `Node` awaits."""

    ledger: rpc.LedgerServiceStub
    state: rpc.StateServiceStub
    execution: rpc.TransactionExecutionServiceStub


Call = Callable[[Stubs], Awaitable[T]]
"""One request to a node, such as ``lambda stubs: stubs.ledger.get_epoch(request)``."""

StreamCall = Callable[[Stubs], AsyncIterator[T]]


@dataclass(frozen=True, slots=True)
class _Found(Generic[T]):
    value: T | None


class Node:
    """A connection to one full node, made on first use and made again when it was lost.

    Args:
        loop: Where it lives; not closed with it.
        endpoint: The node.
        timeout_s: Longest that a call may take, retries included.
    """

    def __init__(self, loop: LoopThread, endpoint: Endpoint, *, timeout_s: float) -> None:
        self._loop = loop
        self._timeout_s = timeout_s
        self.endpoint = endpoint
        self._channel, self._stubs = loop.run(partial(_connect, endpoint))

    def read(self, call: Call[T]) -> T:
        """Make a call that changes nothing, again if the node was not available.

        Raises:
            NetworkError: no answer, or a refusal.
        """
        return self._loop.run(lambda: self._read(call, self._timeout_s))

    def find(self, call: Call[T], *, timeout_s: float | None = None) -> T | None:
        """Make a call as `read` does; None when the node says NOT_FOUND.

        Args:
            call: The call.
            timeout_s: Another limit than the node's own.

        Raises:
            NetworkError: no answer, or another refusal.
        """
        return self._loop.run(lambda: self._find(call, timeout_s or self._timeout_s))

    def read_both(self, first: Call[T], second: Call[U]) -> tuple[T, U]:
        """Make two reads at once.

        Raises:
            NetworkError: either failed.
        """
        return self._loop.run(lambda: self._read_both(first, second))

    def read_all(self, calls: Sequence[Call[T]]) -> list[T]:
        """Make many reads at once; answers are in the order of the calls.

        Raises:
            NetworkError: one of them failed.
        """
        return self._loop.run(lambda: self._read_all(calls))

    def collect(self, call: StreamCall[T]) -> list[T]:
        """Read a stream to its end.

        Raises:
            NetworkError: it broke off, or a refusal.
        """
        return self._loop.run(lambda: self._attempts(partial(self._drain, call), self._timeout_s))

    def submit(self, call: Call[T]) -> T:
        """Make a call that changes something, once.

        Raises:
            NetworkError: it was never sent, or the node refused it.
            Unheard: it was sent, and whether it was carried out is not known.
        """
        return self._loop.run(lambda: self._submit(call))

    def close(self) -> None:
        """Close the connection."""
        self._loop.run(self._close)

    async def _close(self) -> None:
        self._channel.close()

    async def _read(self, call: Call[T], timeout_s: float) -> T:
        return await self._attempts(partial(self._once, call), timeout_s)

    async def _find(self, call: Call[T], timeout_s: float) -> T | None:
        return (await self._attempts(partial(self._lookup, call), timeout_s)).value

    async def _read_both(self, first: Call[T], second: Call[U]) -> tuple[T, U]:
        one, two = await asyncio.gather(self._caught(first), self._caught(second))
        return _unwrap(one), _unwrap(two)

    async def _read_all(self, calls: Sequence[Call[T]]) -> list[T]:
        answers = await asyncio.gather(*(self._caught(call) for call in calls))
        return [_unwrap(answer) for answer in answers]

    async def _caught(self, call: Call[T]) -> _Found[T] | NetworkError:
        # Errors are carried as values, so that one call's failure does not cancel its neighbours midway.
        try:
            return _Found(await self._read(call, self._timeout_s))
        except NetworkError as error:
            return error

    async def _once(self, call: Call[T]) -> T:
        return await call(self._stubs)

    async def _drain(self, call: StreamCall[T]) -> list[T]:
        return [item async for item in call(self._stubs)]

    async def _lookup(self, call: Call[T]) -> _Found[T]:
        from grpclib.const import Status
        from grpclib.exceptions import GRPCError

        try:
            return _Found(await call(self._stubs))
        except GRPCError as error:
            if error.status is Status.NOT_FOUND:
                return _Found(None)
            raise

    async def _attempts(self, attempt: Callable[[], Awaitable[T]], timeout_s: float) -> T:
        from grpclib.const import Status
        from grpclib.exceptions import GRPCError, StreamTerminatedError

        try:
            async with asyncio.timeout(timeout_s):
                for delay in RETRY_DELAYS_S:
                    try:
                        return await attempt()
                    except (StreamTerminatedError, ConnectionResetError, BrokenPipeError):
                        await asyncio.sleep(delay)
                    except GRPCError as error:
                        if error.status is not Status.UNAVAILABLE:
                            raise
                        await asyncio.sleep(delay)
                return await attempt()
        except (GRPCError, StreamTerminatedError, OSError, ValueError) as error:
            raise self._explained(error, timeout_s) from error

    async def _submit(self, call: Call[T]) -> T:
        from grpclib.exceptions import GRPCError, StreamTerminatedError

        try:
            async with asyncio.timeout(self._timeout_s):
                await self._channel.__connect__()
        except OSError as error:
            raise self._explained(error, self._timeout_s) from error
        try:
            async with asyncio.timeout(self._timeout_s):
                return await call(self._stubs)
        except GRPCError as error:
            explained = self._explained(error, self._timeout_s)
            if _refuses(error):
                raise explained from error
            raise Unheard(explained.message, unavailable=_unavailable(error)) from error
        except (StreamTerminatedError, OSError, ValueError) as error:
            raise Unheard(self._explained(error, self._timeout_s).message) from error

    def _explained(self, error: Exception, timeout_s: float) -> NetworkError:
        """Return what a failure means to the person."""
        from grpclib.exceptions import GRPCError, StreamTerminatedError

        place = f"{self.endpoint.host}:{self.endpoint.port}"
        hint = "Check the connection and the network's address, then try again."
        match error:
            case GRPCError():
                detail = _shown(error.message or "no reason given")
                return NetworkError(
                    f"The node at {place} refused the request ({error.status.name}): {detail}",
                    retryable=not _refuses(error),
                )
            case StreamTerminatedError() | ConnectionResetError() | BrokenPipeError():
                return NetworkError(f"The connection to {place} was lost.", hint=hint)
            case TimeoutError():
                return NetworkError(f"{place} did not answer within {timeout_s:g} s.", hint=hint)
            case ConnectionRefusedError():
                return NetworkError(f"Nothing listens at {place}.", hint=hint)
            case socket.gaierror():
                return NetworkError(f"The host name {self.endpoint.host} cannot be resolved.", hint=hint)
            case ssl.SSLError():
                return NetworkError(
                    f"No secure connection to {place}: {_shown(error.reason or str(error))}.",
                    hint="The node must speak gRPC over TLS with a certificate that this machine trusts.",
                    retryable=False,
                )
            case OSError():
                return NetworkError(f"{place} cannot be reached: {error.strerror or error}.", hint=hint)
        return NetworkError(f"The answer of {place} is not one that a Sui node gives.", retryable=False)


async def _connect(endpoint: Endpoint) -> tuple[Channel, Stubs]:
    # A channel belongs to the loop it is made in; it opens its socket with the first call.
    from grpclib.client import Channel
    from pysui.sui.sui_grpc.suimsgs.sui.rpc import v2 as rpc

    channel = Channel(endpoint.host, endpoint.port, ssl=endpoint.tls)
    stubs = Stubs(
        rpc.LedgerServiceStub(channel),
        rpc.StateServiceStub(channel),
        rpc.TransactionExecutionServiceStub(channel),
    )
    return channel, stubs


def _unwrap(answer: _Found[T] | NetworkError) -> T:
    if isinstance(answer, NetworkError):
        raise answer
    return answer.value  # type: ignore[return-value]  # only `_lookup` stores None


def _refuses(error: GRPCError) -> bool:
    """Say whether a status means that a submitted transaction was surely not accepted.

    ABORTED is not among them: a full node answers so when the transaction is final already.
    """
    from grpclib.const import Status

    return error.status in (
        Status.INVALID_ARGUMENT,
        Status.NOT_FOUND,
        Status.PERMISSION_DENIED,
        Status.RESOURCE_EXHAUSTED,
        Status.FAILED_PRECONDITION,
        Status.OUT_OF_RANGE,
        Status.UNIMPLEMENTED,
        Status.UNAUTHENTICATED,
    )


def _unavailable(error: GRPCError) -> bool:
    from grpclib.const import Status

    return error.status is Status.UNAVAILABLE


def _shown(text: str) -> str:
    """Return a stranger's text on one line, printable and not too long."""
    line = "".join(char if char.isprintable() else " " for char in text)
    return line if len(line) <= _SHOWN else line[:_SHOWN] + "…"
