"""A real HTTP server on loopback that speaks Anthropic's streaming Messages API from a script.

Each request takes the next reply of the script and is kept for asserts. A test gets it by the fixture
`messages_server`; replies are made by the functions below, which the server carries as methods too::

    messages_server.script(reply_tools([("balance_check", {})]), reply_text("You hold 5 SUI."))
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

MODEL = "claude-sonnet-5-5"

Event = dict[str, Any]


@dataclass(frozen=True)
class Pause:
    """Say nothing for a while, or until the client hangs up."""

    seconds: float


@dataclass(frozen=True)
class Die:
    """Cut the connection.

    `reset` cuts it hard; otherwise the response ends as if it were whole, which only its missing
    message_stop gives away.
    """

    reset: bool = True


@dataclass(frozen=True)
class Raw:
    """Bytes sent as they are."""

    data: bytes


Piece = Event | Pause | Die | Raw


@dataclass(frozen=True)
class Reply:
    """What one request gets."""

    pieces: tuple[Piece, ...] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    """Of a reply that is no stream."""
    at_once: bool = False
    """Send all pieces in one write, as fast as the machine can."""


@dataclass(frozen=True)
class Request:
    """What a client sent."""

    path: str
    headers: Mapping[str, str]
    raw: bytes

    @property
    def body(self) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(self.raw)
        return body


def block_text(*deltas: str) -> list[Event]:
    """Return the events of a text block, without their index."""
    return [
        _start({"type": "text", "text": ""}),
        *(_delta({"type": "text_delta", "text": text}) for text in deltas),
        _stop(),
    ]


def block_thinking(*deltas: str, signature: str = "sig") -> list[Event]:
    """Return the events of a thinking block."""
    return [
        _start({"type": "thinking", "thinking": "", "signature": ""}),
        *(_delta({"type": "thinking_delta", "thinking": text}) for text in deltas),
        _delta({"type": "signature_delta", "signature": signature}),
        _stop(),
    ]


def block_redacted(data: str) -> list[Event]:
    """Return the events of a redacted thinking block."""
    return [_start({"type": "redacted_thinking", "data": data}), _stop()]


def block_tool(name: str, arguments: Mapping[str, Any] | str, call_id: str, *, size: int = 4) -> list[Event]:
    """Return the events of a tool call, its input split into deltas of `size` characters.

    Args:
        name: Tool.
        arguments: Its input; text is sent as it is, be it JSON or not.
        call_id: Id of the call.
        size: Characters a delta.
    """
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return [
        _start({"type": "tool_use", "id": call_id, "name": name, "input": {}}),
        *(
            _delta({"type": "input_json_delta", "partial_json": text[at : at + size]})
            for at in range(0, len(text), size)
        ),
        _stop(),
    ]


def reply_blocks(
    *blocks: Sequence[Event], stop_reason: str = "end_turn", usage: Mapping[str, int] | None = None
) -> Reply:
    """Return an answer of these blocks.

    Args:
        blocks: What the `block_` functions return.
        stop_reason: Why the model stopped.
        usage: Token counts that differ from 100 in and 20 out.
    """
    counts = {
        "input_tokens": 100,
        "output_tokens": 20,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    } | dict(usage or {})
    begun = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": counts | {"output_tokens": 1},
    }
    numbered = [event | {"index": index} for index, block in enumerate(blocks) for event in block]
    return Reply(
        (
            {"type": "message_start", "message": begun},
            {"type": "ping"},
            *numbered,
            {
                "type": "message_delta",
                "delta": {"stop_reason": stop_reason, "stop_sequence": None},
                "usage": {"output_tokens": counts["output_tokens"]},
            },
            {"type": "message_stop"},
        )
    )


def reply_text(text: str, *, deltas: int = 1, stop_reason: str = "end_turn") -> Reply:
    """Return an answer of one text in so many deltas of about the same length."""
    size = max(1, -(-len(text) // deltas))
    return reply_blocks(
        block_text(*(text[at : at + size] for at in range(0, len(text), size))), stop_reason=stop_reason
    )


def reply_tools(
    calls: Sequence[tuple[str, Mapping[str, Any] | str]], *, text: str | None = None, first_id: int = 1
) -> Reply:
    """Return an answer that calls tools; ids are toolu_1, toolu_2, … from `first_id`."""
    blocks = [] if text is None else [block_text(text)]
    for number, (name, arguments) in enumerate(calls, first_id):
        blocks.append(block_tool(name, arguments, f"toolu_{number}"))
    return reply_blocks(*blocks, stop_reason="tool_use")


def reply_many(deltas: int, text: str = "word ") -> Reply:
    """Return an answer of many text deltas, sent as fast as the machine can."""
    return replace(reply_blocks(block_text(*([text] * deltas))), at_once=True)


def slow_text(text: str, *, count: int, pause_s: float) -> Reply:
    """Return an answer that says `text` `count` times with a pause after each."""
    return slowed(reply_blocks(block_text(*([text] * count))), pause_s)


def slowed(reply: Reply, pause_s: float) -> Reply:
    """Return a reply with a pause after every block delta."""
    pieces: list[Piece] = []
    for piece in reply.pieces:
        pieces.append(piece)
        if isinstance(piece, dict) and piece["type"] == "content_block_delta":
            pieces.append(Pause(pause_s))
    return replace(reply, pieces=tuple(pieces))


def die_after(count: int, reply: Reply | None = None, *, reset: bool = True) -> Reply:
    """Return a reply whose connection is cut after `count` block deltas (0: before the first).

    Args:
        count: Deltas sent.
        reply: What it would have said; ten words if not given.
        reset: See `Die`.
    """
    whole = reply or reply_blocks(block_text(*(f"word{number} " for number in range(10))))
    pieces: list[Piece] = []
    seen = 0
    for piece in whole.pieces:
        is_delta = isinstance(piece, dict) and piece["type"] == "content_block_delta"
        if is_delta and seen == count:
            break
        seen += is_delta
        pieces.append(piece)
    return replace(whole, pieces=(*pieces, Die(reset)))


def status(
    code: int,
    headers: Mapping[str, str] | None = None,
    *,
    message: str = "no reason",
    error_type: str = "api_error",
) -> Reply:
    """Return an HTTP error in the API's form."""
    body = {"type": "error", "error": {"type": error_type, "message": message}}
    return Reply(status=code, headers=dict(headers or {}), body=json.dumps(body).encode())


def error_event(error_type: str = "overloaded_error", message: str = "Overloaded", after: int = 0) -> Reply:
    """Return a stream that ends in an error event after `after` block deltas."""
    cut = die_after(after).pieces[:-1]
    told = {"type": "error", "error": {"type": error_type, "message": message}}
    return Reply((*cut, told))


def plain_page(html: str = "<html>Please sign in</html>") -> Reply:
    """Return what a captive portal says: HTTP 200 and no stream."""
    return Reply(headers={"content-type": "text/html"}, body=html.encode())


def _start(block: Event) -> Event:
    return {"type": "content_block_start", "content_block": block}


def _delta(delta: Event) -> Event:
    return {"type": "content_block_delta", "delta": delta}


def _stop() -> Event:
    return {"type": "content_block_stop"}


class _QuietServer(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that went away; tests make them do so."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class MessagesServer:
    """Answers `POST /v1/messages` from its script, on a port of its own."""

    reply_text = staticmethod(reply_text)
    reply_tools = staticmethod(reply_tools)
    reply_blocks = staticmethod(reply_blocks)
    reply_many = staticmethod(reply_many)
    slow_text = staticmethod(slow_text)
    slowed = staticmethod(slowed)
    die_after = staticmethod(die_after)
    status = staticmethod(status)
    error_event = staticmethod(error_event)

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.hung_up = threading.Event()
        """Set when a client closed its connection before it had the whole reply."""
        self._replies: list[Reply] = []
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._http = _QuietServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(
            target=self._http.serve_forever,
            kwargs={"poll_interval": 0.02},
            name="messages-server",
            daemon=True,
        )
        self._thread.start()

    @property
    def url(self) -> str:
        """What the client takes as the API's base URL."""
        return f"http://127.0.0.1:{self._http.server_port}"

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """The requests' bodies, in order."""
        return [request.body for request in self.requests]

    def script(self, *replies: Reply) -> None:
        """Set the replies to come; a request past the last gets HTTP 500."""
        with self._lock:
            self._replies = list(replies)

    def close(self) -> None:
        """Stop, pauses included."""
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def __enter__(self) -> MessagesServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def take(self, request: Request) -> Reply:
        """Keep a request and return its reply."""
        with self._lock:
            self.requests.append(request)
            if self._replies:
                return self._replies.pop(0)
        return status(500, {"x-should-retry": "false"}, message="the script of the test has no more replies")

    def wait(self, seconds: float, is_gone: Callable[[], bool]) -> bool:
        """Wait; return False at once when the client hung up or the server closes."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if self._closing.wait(min(left, 0.02)) or is_gone():
                return False
        return True


def _handler(server: MessagesServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length", "0")))
            reply = server.take(Request(self.path, {k.lower(): v for k, v in self.headers.items()}, raw))
            try:
                if reply.body or reply.status != 200:
                    self._answer(reply)
                else:
                    self._stream(reply)
            except (BrokenPipeError, ConnectionResetError):
                server.hung_up.set()
                self.close_connection = True

        def _answer(self, reply: Reply) -> None:
            self.send_response(reply.status)
            for name, value in ({"content-type": "application/json"} | dict(reply.headers)).items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        def _stream(self, reply: Reply) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream; charset=utf-8")
            self.send_header("transfer-encoding", "chunked")
            if any(isinstance(piece, Die) for piece in reply.pieces):
                # Else the client may send its next request down a connection that is about to end.
                self.send_header("connection", "close")
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            if reply.at_once:
                self._chunk(b"".join(_encoded(reply.pieces)))
            else:
                for piece in reply.pieces:
                    if not self._send(piece):
                        return
            self.wfile.write(b"0\r\n\r\n")

        def _send(self, piece: Piece) -> bool:
            """Send one piece; return False when the connection is at its end."""
            match piece:
                case Pause(seconds):
                    if not server.wait(seconds, self._is_gone):
                        server.hung_up.set()
                        self.close_connection = True
                        return False
                case Die(reset):
                    self.close_connection = True
                    if reset:
                        # Lingering for no time makes the kernel send RST and not FIN.
                        linger = struct.pack("ii", 1, 0)
                        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                        self.connection.close()
                    else:
                        self.wfile.write(b"0\r\n\r\n")
                    return False
                case Raw(data):
                    self._chunk(data)
                case _:
                    self._chunk(next(_encoded([piece])))
            return True

        def _chunk(self, data: bytes) -> None:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

        def _is_gone(self) -> bool:
            with suppress(BlockingIOError):
                return self.connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
            return False

        def finish(self) -> None:
            with suppress(OSError, ValueError):
                super().finish()

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    return Handler


def _encoded(pieces: Iterable[Piece]) -> Iterator[bytes]:
    for piece in pieces:
        if isinstance(piece, Raw):
            yield piece.data
        elif isinstance(piece, dict):
            yield f"event: {piece['type']}\ndata: {json.dumps(piece)}\n\n".encode()
