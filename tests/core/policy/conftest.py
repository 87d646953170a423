from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tidegate.core.policy.types import GuardContext, Operation, SettledCall

NOW_MS = 1_796_000_000_000
WALLET = "0x" + "11" * 32


@pytest.fixture(scope="session")
def wallet() -> str:
    return WALLET


@pytest.fixture(scope="session")
def now_ms() -> int:
    return NOW_MS


@pytest.fixture(scope="session")
def call() -> Callable[..., GuardContext]:
    """A send by the model, unless told otherwise."""
    plain = GuardContext(
        tool="send_transfer",
        input={},
        operation=Operation.SEND,
        mutating=True,
        requires_balance=False,
        affects_health=False,
        irreversible=True,
        cost_aware=True,
        outflows=(),
        usd=None,
        recipient=None,
        recipient_is_contact=False,
        wallet=WALLET,
        user_texts=(),
        history=(),
        now_ms=NOW_MS,
        direct=False,
    )

    def make(**changes: Any) -> GuardContext:
        return replace(plain, **changes)

    return make


@pytest.fixture(scope="session")
def settled() -> Callable[..., SettledCall]:
    """A call that ended well a second ago, unless told otherwise."""

    def make(tool: str, data: dict[str, Any], **changes: Any) -> SettledCall:
        return replace(SettledCall(tool, {}, data, is_error=False, at_ms=NOW_MS - 1000), **changes)

    return make
