"""Nodes that are not there, do not answer, or answer with something else; and URLs."""

from __future__ import annotations

import http.server
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tidegate.core.chain.endpoint import Endpoint, parse_endpoint
from tidegate.core.chain.network import open_network
from tidegate.core.errors import NetworkError, UsageError

Open = Callable[..., object]


@pytest.fixture
def open_url(tmp_path: Path, time: Any) -> Open:
    def opener(url: str, timeout_s: float = 5.0) -> object:
        return open_network(url, state_dir=tmp_path, clock=time.clock, timeout_s=timeout_s)

    return opener


@pytest.fixture
def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield int(listening.getsockname()[1])


@pytest.fixture
def hanging_up_port() -> Iterator[int]:
    """A port that ends every connection at once."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def hang_up() -> None:
            while True:
                try:
                    listening.accept()[0].close()
                except OSError:
                    return

        thread = threading.Thread(target=hang_up)
        thread.start()
        yield int(listening.getsockname()[1])
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()


@pytest.fixture
def web_port() -> Iterator[int]:
    """A web server that knows nothing of gRPC."""

    class Quiet(http.server.BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Quiet) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def test_a_port_where_nothing_listens(open_url: Open, free_port: int) -> None:
    with pytest.raises(NetworkError, match=f"Nothing listens at 127.0.0.1:{free_port}") as caught:
        open_url(f"http://127.0.0.1:{free_port}")
    assert caught.value.hint
    assert caught.value.retryable


def test_a_node_that_does_not_answer(open_url: Open, silent_port: int) -> None:
    with pytest.raises(NetworkError, match=r"did not answer within 0\.3 s"):
        open_url(f"http://127.0.0.1:{silent_port}", timeout_s=0.3)


def test_a_node_that_hangs_up(open_url: Open, hanging_up_port: int) -> None:
    with pytest.raises(NetworkError, match="was lost"):
        open_url(f"http://127.0.0.1:{hanging_up_port}")


def test_a_web_server_is_no_node(open_url: Open, web_port: int) -> None:
    with pytest.raises(NetworkError):
        open_url(f"http://127.0.0.1:{web_port}")


def test_a_node_without_tls_is_not_spoken_to_over_tls(open_url: Open, web_port: int) -> None:
    with pytest.raises(NetworkError, match="No secure connection"):
        open_url(f"https://127.0.0.1:{web_port}")


def test_a_host_name_that_does_not_exist(open_url: Open) -> None:
    with pytest.raises(NetworkError, match=r"no-such-host\.invalid cannot be resolved"):
        open_url("https://no-such-host.invalid:443")


def test_failures_print_nothing(
    open_url: Open, hanging_up_port: int, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(NetworkError):
        open_url(f"http://127.0.0.1:{hanging_up_port}")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("text", "endpoint"),
    [
        ("https://fullnode.mainnet.sui.io", Endpoint("fullnode.mainnet.sui.io", 443, tls=True)),
        ("https://node.example:9000/", Endpoint("node.example", 9000, tls=True)),
        ("node.example:443", Endpoint("node.example", 443, tls=True)),
        ("http://127.0.0.1:9000", Endpoint("127.0.0.1", 9000, tls=False)),
        ("http://localhost:9000", Endpoint("localhost", 9000, tls=False)),
        ("http://[::1]:9000", Endpoint("::1", 9000, tls=False)),
    ],
)
def test_a_url_says_where_a_node_is(text: str, endpoint: Endpoint) -> None:
    assert parse_endpoint(text) == endpoint


@pytest.mark.parametrize(
    "text",
    [
        "",
        "devnet",
        "ftp://node.example",
        "http://node.example:9000",
        "http://127.0.0.1.example:9000",
        "https://node.example:99999",
        "https://:443",
        "http://10.0.0.1:9000",
    ],
)
def test_anything_else_is_no_network(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_endpoint(text)
    assert caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        "https://node.example/s3cret",
        "https://user:s3cret@node.example",
        "https://node.example?key=s3cret",
        "https://node.example/#s3cret",
    ],
)
def test_a_key_in_a_url_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_endpoint(text)
    assert "s3cret" not in f"{caught.value.message} {caught.value.hint}"


def test_an_endpoint_has_a_url_with_its_port() -> None:
    assert Endpoint("::1", 9000, tls=False).url == "http://[::1]:9000"
