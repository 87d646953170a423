"""How a method becomes a grpclib handler: pysui has the messages and the clients, but no server side."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import TypeAlias, TypeVar

from betterproto2 import Message
from grpclib.const import Cardinality, Handler, Status
from grpclib.exceptions import GRPCError
from grpclib.server import Stream

from tidegate.core.sandbox.refusals import Refusal, Refused

Request = TypeVar("Request", bound=Message)
Response = TypeVar("Response", bound=Message)

Handlers: TypeAlias = Mapping[str, Handler]

_STATUS = {
    Refusal.INVALID_ARGUMENT: Status.INVALID_ARGUMENT,
    Refusal.NOT_FOUND: Status.NOT_FOUND,
    Refusal.UNIMPLEMENTED: Status.UNIMPLEMENTED,
    Refusal.UNAVAILABLE: Status.UNAVAILABLE,
}


class Silence(Exception):
    """The request was served but must never be answered (the ``drop-response`` fault)."""


def unary(
    method: Callable[[Request], Response], request_type: type[Request], response_type: type[Response]
) -> Handler:
    """Return the handler of a method that answers at once."""

    async def answer(request: Request) -> Response:
        return method(request)

    return awaited(answer, request_type, response_type)


def awaited(
    method: Callable[[Request], Awaitable[Response]],
    request_type: type[Request],
    response_type: type[Response],
) -> Handler:
    """Return the handler of a method that may wait before it answers."""

    async def handle(stream: Stream[Request, Response]) -> None:
        request = await stream.recv_message()
        if request is None:
            raise GRPCError(Status.INVALID_ARGUMENT, "empty request")
        try:
            response = await method(request)
        except Refused as refused:
            raise GRPCError(_STATUS[refused.kind], refused.message) from refused
        except Silence:
            await stream.cancel()
            return
        await stream.send_message(response)

    return Handler(handle, Cardinality.UNARY_UNARY, request_type, response_type)


def streamed(
    method: Callable[[Request], AsyncIterator[Response]],
    request_type: type[Request],
    response_type: type[Response],
) -> Handler:
    """Return the handler of a method that answers with a stream."""

    async def handle(stream: Stream[Request, Response]) -> None:
        request = await stream.recv_message()
        if request is None:
            raise GRPCError(Status.INVALID_ARGUMENT, "empty request")
        try:
            async for response in method(request):
                await stream.send_message(response)
        except Refused as refused:
            raise GRPCError(_STATUS[refused.kind], refused.message) from refused

    return Handler(handle, Cardinality.UNARY_STREAM, request_type, response_type)
