"""Where a node listens, and which URLs may name one."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from tidegate.core.errors import UsageError


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a node listens."""

    host: str
    port: int
    tls: bool

    @property
    def url(self) -> str:
        """The address as a URL with its port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.tls else 'http'}://{host}:{self.port}"


def parse_endpoint(text: str) -> Endpoint:
    """Return the endpoint of ``https://host[:port]``, ``host:port`` (TLS) or, on loopback, ``http://host:port``.

    Raises:
        UsageError: another form, or plain HTTP to another machine.
    """
    example = "Use sandbox, testnet, mainnet, or a URL such as https://fullnode.mainnet.sui.io:443."
    try:
        parts = urlsplit(text if "://" in text else f"https://{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or parts.scheme not in ("http", "https") or ("://" not in text and port is None):
        raise UsageError("The network is neither a name nor a URL that can be read.", hint=example)
    if parts.username or parts.password or parts.path.strip("/") or parts.query or parts.fragment:
        # Not repeated: what stands there is often a provider's key.
        raise UsageError(
            "A node's URL has a scheme, a host and a port, and nothing after them: gRPC has no paths.",
            hint=example,
        )
    if parts.scheme == "http" and not _is_loopback(host):
        raise UsageError(
            f"http://{host} is not encrypted, and only allowed on this machine.", hint=f"Use https://{host}."
        )
    tls = parts.scheme == "https"
    return Endpoint(host, port or (443 if tls else 80), tls)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
