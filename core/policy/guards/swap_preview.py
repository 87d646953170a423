"""Guard 6, swap_preview: nobody swaps without having seen what it would give."""

from __future__ import annotations

from decimal import Decimal

from tidegate.core.policy.guards.base import PASS, Opinion, block, guard
from tidegate.core.policy.guards.facts import coin_type, number
from tidegate.core.policy.types import GuardContext, Operation, SettledCall

QUOTE_AGE_MS = 60_000
"""A quote older than this is no preview."""

_TOLERANCE = Decimal("0.01")


def judge(context: GuardContext) -> Opinion:
    """Block a swap without a quote of the same pair, side and (within 1 %) amount in the last 60 seconds.

    A person who typed the call has no model that could ask for a quote: there the quote the write road has
    just taken counts, because it is what the held or finished write shows.
    """
    if context.operation is not Operation.SWAP:
        return PASS
    if context.direct and context.swap is not None and context.swap.expected_out is not None:
        return PASS
    if any(_previews(call, context) for call in context.history):
        return PASS
    return block(
        "There is no swap_quote of this swap from the last 60 seconds. "
        "Ask swap_quote for the same tokens and amount, then swap."
    )


def _previews(call: SettledCall, context: GuardContext) -> bool:
    if call.tool != "swap_quote" or call.is_error or not 0 <= context.now_ms - call.at_ms <= QUOTE_AGE_MS:
        return False
    by_amount_in = context.input.get("by_amount_in", True)
    if call.data.get("by_amount_in") is not by_amount_in:
        return False
    wanted = coin_type(context.input.get("from")), coin_type(context.input.get("to"))
    quoted = coin_type(call.data.get("from_coin_type")), coin_type(call.data.get("to_coin_type"))
    if None in wanted or wanted != quoted:
        return False
    amount = number(context.input.get("amount"))
    shown = number(call.data.get("amount_in" if by_amount_in else "amount_out"))
    return amount is not None and shown is not None and abs(amount - shown) <= shown * _TOLERANCE


SWAP_PREVIEW = guard("swap_preview", judge)
