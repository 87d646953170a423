from __future__ import annotations

from collections.abc import Iterator

import pytest
from messages_server import MessagesServer


@pytest.fixture
def messages_server() -> Iterator[MessagesServer]:
    """A Messages API on loopback that the test scripts; see messages_server.py."""
    with MessagesServer() as server:
        yield server
