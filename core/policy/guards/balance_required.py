"""Guard 8, balance_required: a write that spends goes by what is there, not by what was once there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from tidegate.core.jsonlines import Json
from tidegate.core.money import Amount
from tidegate.core.policy.guards.base import PASS, Opinion, block, guard, hint
from tidegate.core.policy.guards.facts import coin_type, number
from tidegate.core.policy.types import GuardContext, Operation, SettledCall

_SENT = ("executed", "failed", "unknown")
_LEFT_OUT_USD = Decimal("0.01")
"""balance_check lists no holding below this."""

_INTEREST = Decimal("1.01")
"""Deposits grow between a reading and a withdrawal of all; never by this much."""


def judge(context: GuardContext) -> Opinion:
    """Block a write of more than was read; hint when nothing was read since the last write.

    A person who typed the call (`direct`) gets no hint: it is meant for a model, and the transaction is
    built from the balances of that moment anyway.
    """
    if context.operation is Operation.WITHDRAW:
        return _against_savings(context)
    if not context.requires_balance:
        return PASS
    reading = _newest(context, "balance_check")
    if reading is not None:
        return _against_balance(context, reading.data)
    if context.direct:
        return PASS
    return hint("The balance was not read since the last write. Read balance_check before the next one.")


def _against_balance(context: GuardContext, data: Mapping[str, Json]) -> Opinion:
    held = _bases(data.get("holdings"))
    for amount in context.outflows:
        base = held.get(amount.token.coin_type)
        if base is None and _may_be_unlisted(context, data):
            continue
        there = Amount(amount.token, base or 0)
        if amount.base > there.base:
            return block(
                f"{amount} is more than the {there} that balance_check found. "
                "Name a smaller amount, or read balance_check again if more has come in."
            )
    return PASS


def _against_savings(context: GuardContext) -> Opinion:
    reading = _newest(context, "savings_info")
    if reading is None:
        return PASS
    saved = _bases(reading.data.get("positions"), kind="supply")
    for amount in context.outflows:
        base = saved.get(amount.token.coin_type)
        if base is not None and amount.base > base * _INTEREST:
            return block(
                f"{amount} is more than the {Amount(amount.token, base)} that savings_info found. "
                "Name a smaller amount, or read savings_info again."
            )
    return PASS


def _newest(context: GuardContext, tool: str) -> SettledCall | None:
    """Return the newest reading of the wallet by a tool, if nothing was sent after it."""
    for call in reversed(context.history):
        if _was_sent(call):
            return None
        if call.tool == tool and not call.is_error and _is_own(call.data, context.wallet):
            return call
    return None


def _was_sent(call: SettledCall) -> bool:
    return "attempt_id" in call.data and call.data.get("status") in _SENT


def _is_own(data: Mapping[str, Json], wallet: str | None) -> bool:
    return wallet is not None and data.get("address") == wallet


def _may_be_unlisted(context: GuardContext, data: Mapping[str, Json]) -> bool:
    """Return whether a coin that a reading does not list may be there all the same, as dust or unreadable."""
    if data.get("degraded") is True or context.usd is None:
        return True
    return context.usd.value < _LEFT_OUT_USD * max(1, len(context.outflows))


def _bases(rows: Json, kind: str | None = None) -> dict[str, int]:
    """Return base units by coin type from the rows of a reading."""
    found: dict[str, int] = {}
    for row in rows if isinstance(rows, Sequence) and not isinstance(rows, str) else ():
        if not isinstance(row, Mapping) or (kind is not None and row.get("type") != kind):
            continue
        coin, base = coin_type(row.get("coin_type")), number(row.get("amount_raw"))
        if coin is not None and base is not None and 0 <= base < 2**64:
            found[coin] = found.get(coin, 0) + int(base)
    return found


BALANCE_REQUIRED = guard("balance_required", judge)
