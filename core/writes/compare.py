"""Step 7: what the simulation moves must be what the input says, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from tidegate.core.chain.types import Outcome
from tidegate.core.money import plain
from tidegate.core.tokens import SUI
from tidegate.core.tools.base import Expected
from tidegate.core.tools.signed_amount import signed_value


def net_changes(outcome: Outcome, payer: str) -> dict[tuple[str, str], int]:
    """Return base units by (address, coin type), with the gas the payer paid given back."""
    sums: dict[tuple[str, str], int] = {(payer, SUI.coin_type): outcome.gas.net}
    for change in outcome.changes:
        key = (change.address, change.coin_type)
        sums[key] = sums.get(key, 0) + change.base
    return {key: base for key, base in sums.items() if base != 0}


def difference(outcome: Outcome, expected: Sequence[Expected], wallet: str) -> str | None:
    """Return in what the simulated changes differ from the expected ones, or None if they do not.

    Args:
        outcome: Effects of a simulation whose gas `wallet` pays.
        expected: Everything that may change and by how much; gas apart.
        wallet: The wallet that must lose nothing else.
    """
    changes = net_changes(outcome, wallet)
    for item in expected:
        found = changes.pop((item.address, item.token.coin_type), 0)
        if not item.low <= found <= item.high:
            whose = "the wallet" if item.address == wallet else item.address
            return (
                f"In simulation {whose} changes by {_signed(item, found)}, "
                f"and the request means {_range(item)}."
            )
    for (address, coin_type), base in changes.items():
        if address == wallet and base < 0:
            return f"In simulation the wallet also loses {-base} base units of {coin_type}."
    return None


def _signed(item: Expected, base: int) -> str:
    return f"{plain(signed_value(item.token, base))} {item.token.symbol}"


def _range(item: Expected) -> str:
    if item.low == item.high:
        return _signed(item, item.low)
    return f"at least {_signed(item, item.low)}"
