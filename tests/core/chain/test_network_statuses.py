"""What each gRPC status of a node comes to, told by a real gRPC server that answers as it is scripted."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from grpclib.const import Cardinality, Handler, Status
from grpclib.exceptions import GRPCError
from grpclib.server import Server
from pysui.sui.sui_grpc.suimsgs.sui.rpc import v2 as rpc

from tidegate.core.chain.endpoint import Endpoint
from tidegate.core.chain.execution import Submitter
from tidegate.core.chain.rpc import LoopThread, Node
from tidegate.core.chain.types import Signature
from tidegate.core.errors import NetworkError, OutcomeUnknown

SIGNATURE = Signature(b"\0" * 97)
TRANSACTION = b"\0" * 8


class ScriptedNode:
    """Answers executions, look-ups and epochs with the next entry of its script: a message or a status."""

    def __init__(self) -> None:
        self.script: dict[str, list[object]] = {"execute": [], "look up": [], "epoch": []}
        self.asked: list[str] = []

    def __mapping__(self) -> dict[str, Handler]:
        ledger, execution = "/sui.rpc.v2.LedgerService", "/sui.rpc.v2.TransactionExecutionService"
        return {
            f"{execution}/ExecuteTransaction": self._handler("execute", rpc.ExecuteTransactionRequest),
            f"{ledger}/GetTransaction": self._handler("look up", rpc.GetTransactionRequest),
            f"{ledger}/GetEpoch": self._handler("epoch", rpc.GetEpochRequest),
        }

    def _handler(self, name: str, request_type: Any) -> Handler:
        response_type: Any = {
            "execute": rpc.ExecuteTransactionResponse,
            "look up": rpc.GetTransactionResponse,
            "epoch": rpc.GetEpochResponse,
        }[name]

        async def answer(stream: Any) -> None:
            await stream.recv_message()
            self.asked.append(name)
            entry = self.script[name].pop(0) if self.script[name] else Status.NOT_FOUND
            if isinstance(entry, Status):
                raise GRPCError(entry, "as scripted")
            await stream.send_message(entry)

        return Handler(answer, Cardinality.UNARY_UNARY, request_type, response_type)


@pytest.fixture
def scripted() -> ScriptedNode:
    return ScriptedNode()


@pytest.fixture
def node(scripted: ScriptedNode) -> Iterator[Node]:
    loop = LoopThread()
    listening = socket.create_server(("127.0.0.1", 0))

    async def start() -> Server:
        server = Server([scripted])
        await server.start(sock=listening)
        return server

    async def stop() -> None:
        server.close()
        await server.wait_closed()

    server = loop.run(start)
    connected = Node(loop, Endpoint("127.0.0.1", int(listening.getsockname()[1]), tls=False), timeout_s=5.0)
    yield connected
    connected.close()
    loop.run(stop)
    loop.close()


@pytest.fixture
def submitter(node: Node) -> Submitter:
    return Submitter(node, poll_delays_s=(0.0, 0.0), sleep=lambda _: None)


def read_epoch(node: Node) -> rpc.GetEpochResponse:
    return node.read(lambda stubs: stubs.ledger.get_epoch(rpc.GetEpochRequest()))


def executed(*, success: bool = True) -> rpc.ExecutedTransaction:
    return rpc.ExecutedTransaction(
        effects=rpc.TransactionEffects(
            status=rpc.ExecutionStatus(success=success),
            gas_used=rpc.GasCostSummary(computation_cost=1, storage_cost=2, storage_rebate=5),
        )
    )


def test_a_read_is_made_again_while_the_node_is_not_available(scripted: ScriptedNode, node: Node) -> None:
    scripted.script["epoch"] = [Status.UNAVAILABLE, Status.UNAVAILABLE, rpc.GetEpochResponse()]

    read_epoch(node)

    assert scripted.asked == ["epoch"] * 3


def test_a_read_is_not_made_again_for_ever(scripted: ScriptedNode, node: Node) -> None:
    scripted.script["epoch"] = [Status.UNAVAILABLE] * 9

    with pytest.raises(NetworkError, match="UNAVAILABLE"):
        read_epoch(node)

    assert scripted.asked == ["epoch"] * 3


def test_a_refused_read_is_not_made_again(scripted: ScriptedNode, node: Node) -> None:
    scripted.script["epoch"] = [Status.INVALID_ARGUMENT]

    with pytest.raises(NetworkError, match=r"INVALID_ARGUMENT\): as scripted") as caught:
        read_epoch(node)

    assert scripted.asked == ["epoch"]
    assert not caught.value.retryable


@pytest.mark.parametrize(
    "status",
    [
        Status.INVALID_ARGUMENT,
        Status.FAILED_PRECONDITION,
        Status.NOT_FOUND,
        Status.PERMISSION_DENIED,
        Status.UNAUTHENTICATED,
        Status.RESOURCE_EXHAUSTED,
        Status.UNIMPLEMENTED,
    ],
)
def test_a_status_that_refuses_means_that_nothing_was_done(
    scripted: ScriptedNode, submitter: Submitter, status: Status
) -> None:
    scripted.script["execute"] = [status]

    with pytest.raises(NetworkError, match=status.name):
        submitter.execute(TRANSACTION, SIGNATURE)

    assert scripted.asked == ["execute", "look up"]


@pytest.mark.parametrize(
    "status",
    [
        Status.ABORTED,
        Status.CANCELLED,
        Status.DATA_LOSS,
        Status.DEADLINE_EXCEEDED,
        Status.INTERNAL,
        Status.UNKNOWN,
    ],
)
def test_any_other_status_leaves_the_outcome_unknown(
    scripted: ScriptedNode, submitter: Submitter, status: Status
) -> None:
    scripted.script["execute"] = [status]

    with pytest.raises(OutcomeUnknown, match=status.name):
        submitter.execute(TRANSACTION, SIGNATURE)

    assert scripted.asked == ["execute", "look up", "look up"]


def test_an_answer_without_effects_is_looked_into(scripted: ScriptedNode, submitter: Submitter) -> None:
    scripted.script["execute"] = [rpc.ExecuteTransactionResponse()]
    scripted.script["look up"] = [
        Status.NOT_FOUND,
        rpc.GetTransactionResponse(transaction=executed()),
    ]

    outcome = submitter.execute(TRANSACTION, SIGNATURE)

    assert outcome.failure is None
    assert outcome.gas.net == -2


def test_a_refusal_of_the_second_sending_does_not_settle_the_first(
    scripted: ScriptedNode, submitter: Submitter
) -> None:
    scripted.script["execute"] = [Status.UNAVAILABLE, Status.INVALID_ARGUMENT]

    with pytest.raises(OutcomeUnknown):
        submitter.execute(TRANSACTION, SIGNATURE)

    assert scripted.asked == ["execute", "look up", "execute", "look up"]


def test_a_failure_that_the_network_does_not_explain_is_a_failure(
    scripted: ScriptedNode, submitter: Submitter
) -> None:
    scripted.script["execute"] = [rpc.ExecuteTransactionResponse(transaction=executed(success=False))]

    assert submitter.execute(TRANSACTION, SIGNATURE).failure is not None


def test_what_a_node_says_is_shown_on_one_line_without_control_characters(
    scripted: ScriptedNode, node: Node
) -> None:
    call: Callable[[Any], Any] = lambda stubs: _raise(GRPCError(Status.INTERNAL, "a\x1b[31mb\nc"))  # noqa: E731

    with pytest.raises(NetworkError) as caught:
        node.read(call)

    assert "a [31mb c" in caught.value.message


async def _raise(error: Exception) -> None:
    raise error


def test_ctrl_c_reaches_the_thread_that_waits(node: Node) -> None:
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()

    with pytest.raises(KeyboardInterrupt):
        node.read(lambda _: asyncio.sleep(10))
    timer.join()
