"""swap_execute: one token for another, with the least output enforced on chain."""

from __future__ import annotations

from pydantic import Field

from tidegate.core.chain import cetus
from tidegate.core.chain.types import Ptb
from tidegate.core.events import Number
from tidegate.core.money import MAX_U64, Amount
from tidegate.core.policy.types import Operation
from tidegate.core.tools.arguments import AmountText, TokenText, wallet_of
from tidegate.core.tools.base import Expected, Intent, ToolContext, ToolInput, WriteTool
from tidegate.core.tools.reads.market import (
    DEFAULT_SLIPPAGE,
    MAX_SLIPPAGE,
    MIN_SLIPPAGE,
    ask_pools,
    least_out,
)


class SwapInput(ToolInput):
    """What to swap."""

    from_token: TokenText = Field(alias="from")
    to_token: TokenText = Field(alias="to")
    amount: AmountText
    by_amount_in: bool = True
    """True: `amount` is what is paid; False: what is to be received."""
    slippage: Number = Field(default=DEFAULT_SLIPPAGE, ge=MIN_SLIPPAGE, le=MAX_SLIPPAGE)
    """Part of the output that may be lost to price movement: 0.01 is 1 percent."""


def prepare_swap(args: SwapInput, context: ToolContext) -> Intent:
    """Return the swap at the pools' present quote.

    Raises:
        UsageError, BadAmount, UnknownToken, WalletMissing: the input means nothing that can be done.
    """
    wallet = wallet_of(context)
    quote = ask_pools(args.from_token, args.to_token, args.amount, args.by_amount_in, context)
    paid, received = quote.amount_in, quote.amount_out
    fixed = paid if args.by_amount_in else received
    quoted_at_ms = context.clock.now_ms()

    def intent(floor: Amount) -> Intent:
        def build(ptb: Ptb) -> None:
            cetus.swap(context.network(), ptb, quote, floor.base)

        return Intent(
            input={
                "from": paid.token.coin_type,
                "to": received.token.coin_type,
                "amount": fixed.value,
                "by_amount_in": args.by_amount_in,
                "slippage": args.slippage,
            },
            description=f"Swap {paid} to about {received}, at least {floor}",
            moves=(paid,),
            expected=(
                Expected(wallet, paid.token, -paid.base, -paid.base),
                Expected(wallet, received.token, floor.base, MAX_U64),
            ),
            build=build,
            quote=quote,
            quoted_at_ms=quoted_at_ms,
            min_out=floor,
            slippage=args.slippage * 100,
            with_floor=lambda least: intent(max(floor, least, key=lambda amount: amount.base)),
        )

    return intent(least_out(quote, args.slippage))


SWAP_EXECUTE = WriteTool(
    name="swap_execute",
    description=(
        "Swaps one token for another. Ask swap_quote first, with the same tokens and amount; the least "
        "output is enforced on chain."
    ),
    input_model=SwapInput,
    operation=Operation.SWAP,
    prepare=prepare_swap,
    example={"from": "SUI", "to": "USDC", "amount": 2},
    touches=("balance_check",),
)
