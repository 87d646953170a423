from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from messages_server import MessagesServer
from provider_requests import KEY, NOON

from tidegate.core.clock import Clock
from tidegate.core.providers.anthropic import AnthropicProvider


@pytest.fixture
def slept() -> list[float]:
    """The seconds the provider waited between tries."""
    return []


@pytest.fixture
def make_provider(
    messages_server: MessagesServer, slept: list[float]
) -> Iterator[Callable[..., AnthropicProvider]]:
    """Makes providers that speak to the test's server and do not really wait."""
    made: list[AnthropicProvider] = []

    def make(model: str = "claude-sonnet-5-5", **options: float) -> AnthropicProvider:
        clock = Clock(now_ms=lambda: NOON, monotonic=lambda: 0.0)
        made.append(
            AnthropicProvider(KEY, model, messages_server.url, clock=clock, sleep=slept.append, **options)
        )
        return made[-1]

    yield make
    for provider in made:
        provider.close()


@pytest.fixture
def provider(make_provider: Callable[..., AnthropicProvider]) -> AnthropicProvider:
    return make_provider()
