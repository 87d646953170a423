"""Which model answers: chosen by name, or by whether there is a key."""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Callable
from urllib.parse import urlsplit

from tidegate.core.clock import Clock
from tidegate.core.errors import ConfigError
from tidegate.core.providers.anthropic import DEFAULT_BASE_URL, DEFAULT_MODEL, AnthropicProvider
from tidegate.core.providers.base import Provider
from tidegate.core.providers.offline import OfflineProvider

CHOICES = ("auto", "anthropic", "offline")


def open_provider(
    choice: str,
    *,
    model: str | None = None,
    api_key: str | None = None,
    base_url: str | None = None,
    clock: Clock | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> Provider:
    """Return a provider; nothing is asked of it yet.

    Args:
        choice: ``anthropic``, ``offline``, or ``auto``: Claude if there is a key, else offline.
        model: Id of the model, the provider's default if not given; offline has none.
        api_key: Key of the Anthropic API.
        base_url: Address of the Anthropic API, if not its own.
        clock: Where the provider gets the time from.
        sleep: Waits between tries, in seconds.

    Raises:
        ConfigError: no such provider, no key or an unusable one, or an address that would show the key.
    """
    key = (api_key or "").strip()
    if choice == "auto":
        choice = "anthropic" if key else "offline"
    if choice == "offline":
        return OfflineProvider()
    if choice != "anthropic":
        raise ConfigError(f"No provider is called {choice[:40]!r}.", hint=f"Choose {', '.join(CHOICES)}.")
    if not key:
        raise ConfigError(
            "The provider anthropic needs a key, and there is none.",
            hint="Set ANTHROPIC_API_KEY, or use --provider offline.",
        )
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(
            "ANTHROPIC_API_KEY is not a key: it holds blanks or signs that no key has.",
            hint="Set it again; copy the key only.",
        )
    address = base_url or DEFAULT_BASE_URL
    _check_address(address)
    return AnthropicProvider(key, model or DEFAULT_MODEL, address, clock=clock, sleep=sleep)


def _check_address(url: str) -> None:
    """Refuse an address to which the key would travel in the open."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        parts, host = urlsplit(""), ""
    if "@" in parts.netloc or not host or parts.scheme not in ("http", "https"):
        raise ConfigError(
            "The address of the Anthropic API is not one that can be used.",
            hint=f"Write it like {DEFAULT_BASE_URL}, without a name or password in it.",
        )
    if parts.scheme == "http" and not _is_loopback(host):
        raise ConfigError(
            f"The address of the Anthropic API would show the key to everybody between here and {host}.",
            hint="Use https; plain http is for this machine only.",
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
