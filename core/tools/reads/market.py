"""token_prices and swap_quote: what a token is worth and what a swap would give."""

from __future__ import annotations

from decimal import Decimal, localcontext

from pydantic import Field

from tidegate.core.chain import cetus
from tidegate.core.chain.types import SwapQuote
from tidegate.core.clock import iso_ms
from tidegate.core.errors import BadAmount, UnknownToken, UsageError
from tidegate.core.events import Number
from tidegate.core.money import Amount, Share, parse_quantity, plain, take
from tidegate.core.tokens import SUI
from tidegate.core.tools.arguments import AmountText, TokenText, wallet_of
from tidegate.core.tools.base import ReadTool, ToolContext, ToolInput, ToolOutput, ToolResult
from tidegate.core.tools.reads.balances import GAS_RESERVE_SUI
from tidegate.core.tools.worth import dollars

QUOTE_TTL_S = 30
"""A quote older than this is not acted on; shared/spec/policy.md, caches."""

DEFAULT_SLIPPAGE = Decimal("0.01")
MIN_SLIPPAGE = Decimal("0.001")
MAX_SLIPPAGE = Decimal("0.05")


class PricesInput(ToolInput):
    """Which tokens."""

    symbols: list[TokenText] = Field(default_factory=list, max_length=10)
    coin_types: list[TokenText] = Field(default_factory=list, max_length=10)


class TokenPrice(ToolOutput):
    """One token's price."""

    coin_type: str
    symbol: str
    price_usd: Number
    as_of: str
    source: str


class PricesOutput(ToolOutput):
    """Prices that are known; `missing` names the rest."""

    prices: list[TokenPrice]
    missing: list[str]
    degraded: bool = False
    degradation_reason: str | None = None


def read_prices(args: PricesInput, context: ToolContext) -> ToolResult:
    """Read token prices in USD."""
    words = [*args.symbols, *args.coin_types]
    if not words:
        raise UsageError("Which tokens?", hint='Name one to ten, such as symbols=["SUI","USDC"].')
    book = context.tokens()
    tokens = [book.resolve(word) for word in words]
    points = context.prices().read([token.coin_type for token in tokens])
    known = [
        TokenPrice(
            coin_type=token.coin_type,
            symbol=token.symbol,
            price_usd=points[token.coin_type].usd,
            as_of=iso_ms(points[token.coin_type].as_of_ms),
            source=points[token.coin_type].source,
        )
        for token in tokens
        if token.coin_type in points
    ]
    missing = [token.symbol for token in tokens if token.coin_type not in points]
    if not known:
        raise UnknownToken(f"Nobody gives a price for {', '.join(missing)}.", hint="Ask for SUI or USDC.")
    output = PricesOutput(
        prices=known,
        missing=missing,
        degraded=bool(missing),
        degradation_reason=f"No price is known for {', '.join(missing)}." if missing else None,
    )
    sentence = ", ".join(f"1 {price.symbol} is worth {_price(price.price_usd)}" for price in known)
    doubt = f" {output.degradation_reason}" if output.degradation_reason else ""
    return ToolResult(output, f"{sentence}.{doubt}")


def _price(usd: Decimal) -> str:
    return dollars(usd) if usd >= 1 else f"${plain(usd)}"


class QuoteInput(ToolInput):
    """What to swap."""

    from_token: TokenText = Field(alias="from")
    to_token: TokenText = Field(alias="to")
    amount: AmountText
    by_amount_in: bool = True
    """True: `amount` is what is paid; False: what is to be received."""
    slippage: Number = Field(default=DEFAULT_SLIPPAGE, ge=MIN_SLIPPAGE, le=MAX_SLIPPAGE)
    """Part of the output that may be lost to price movement: 0.01 is 1 percent."""


class Hop(ToolOutput):
    """One pool on the way."""

    dex: str
    pool: str
    from_token: str = Field(alias="from")
    to_token: str = Field(alias="to")
    share: Number
    """Percent of the amount that goes this way."""


class QuoteOutput(ToolOutput):
    """What the swap would give now."""

    from_token: str = Field(alias="from")
    to_token: str = Field(alias="to")
    from_coin_type: str
    to_coin_type: str
    by_amount_in: bool
    amount_in: Number
    amount_out: Number
    min_out: Number
    """The least the chain lets through at this slippage."""
    rate: Number
    """Tokens received for one token paid."""
    price_impact: Number
    """Percent."""
    slippage: Number
    route: list[Hop]
    fee: Number
    """Pool fee in the token paid, part of amount_in."""
    expires_at: str


def read_quote(args: QuoteInput, context: ToolContext) -> ToolResult:
    """Ask the pools what a swap would give."""
    quote = ask_pools(args.from_token, args.to_token, args.amount, args.by_amount_in, context)
    output = describe_quote(quote, args.by_amount_in, args.slippage, context.clock.now_ms())
    sentence = (
        f"{quote.amount_in} gives {quote.amount_out} now, at least {plain(output.min_out)} "
        f"{quote.amount_out.token.symbol} with {plain(args.slippage * 100)}% slippage; "
        f"the fee is {quote.fee} and the price impact {plain(output.price_impact)}%."
    )
    return ToolResult(output, sentence)


def ask_pools(
    from_word: str, to_word: str, amount_word: str, by_amount_in: bool, context: ToolContext
) -> SwapQuote:
    """Return the pools' quote for a swap given in words.

    Raises:
        UsageError: both tokens are the same.
        BadAmount, UnknownToken: see the parsing functions; shares are taken of the wallet.
    """
    book = context.tokens()
    paid, received = book.resolve(from_word), book.resolve(to_word)
    if paid == received:
        raise UsageError(f"{paid.symbol} cannot be swapped to itself.", hint="Name two different tokens.")
    quantity = parse_quantity(amount_word)
    network = context.network()
    if not by_amount_in:
        if isinstance(quantity, Share):
            raise BadAmount("The amount to receive must be a number.", hint="Give a number such as 10.5.")
        return cetus.quote_exact_out(network, paid, Amount.of(received, quantity.value))
    if isinstance(quantity, Share):
        if context.wallet is None:
            raise BadAmount(
                f"There is no wallet that {amount_word!r} could be a share of.",
                hint="Give a number such as 10.5.",
            )
        amount = take(quantity, spendable(paid.coin_type, context))
    else:
        amount = Amount.of(paid, quantity.value)
    return cetus.quote_exact_in(network, amount, received)


def spendable(coin_type: str, context: ToolContext) -> Amount:
    """Return what the wallet can spend of a coin; of SUI, all but the gas reserve."""
    token = context.tokens().resolve(coin_type)
    base = context.network().balance(wallet_of(context), coin_type)
    if token == SUI:
        base = max(0, base - Amount.of(SUI, GAS_RESERVE_SUI).base)
    return Amount(token, base)


def least_out(quote: SwapQuote, slippage: Decimal) -> Amount:
    """Return amount_out * (1 - slippage), rounded down to a base unit (shared/spec/chain.md, Cetus)."""
    with localcontext() as context:
        context.prec = 60
        base = int(Decimal(quote.amount_out.base) * (1 - slippage))
    return Amount(quote.amount_out.token, base)


def describe_quote(quote: SwapQuote, by_amount_in: bool, slippage: Decimal, now_ms: int) -> QuoteOutput:
    """Return the quote as the tool's output."""
    symbols = {
        quote.amount_in.token.coin_type: quote.amount_in.token.symbol,
        quote.amount_out.token.coin_type: quote.amount_out.token.symbol,
    }

    def name(coin_type: str) -> str:
        known = symbols.get(coin_type)
        return coin_type if known is None else known

    with localcontext() as context:
        context.prec = 18
        rate = quote.amount_out.value / quote.amount_in.value
    return QuoteOutput.model_validate(
        {
            "from": quote.amount_in.token.symbol,
            "to": quote.amount_out.token.symbol,
            "from_coin_type": quote.amount_in.token.coin_type,
            "to_coin_type": quote.amount_out.token.coin_type,
            "by_amount_in": by_amount_in,
            "amount_in": quote.amount_in.value,
            "amount_out": quote.amount_out.value,
            "min_out": least_out(quote, slippage).value,
            "rate": rate,
            "price_impact": quote.price_impact,
            "slippage": slippage,
            "route": [
                {
                    "dex": hop.dex,
                    "pool": hop.pool,
                    "from": name(hop.coin_in),
                    "to": name(hop.coin_out),
                    "share": Decimal(100),
                }
                for hop in quote.hops
            ],
            "fee": quote.fee.value,
            "expires_at": iso_ms(now_ms + QUOTE_TTL_S * 1000),
        }
    )


TOKEN_PRICES = ReadTool(
    name="token_prices",
    description="Reads the price of one to ten tokens in USD.",
    input_model=PricesInput,
    output_model=PricesOutput,
    run=read_prices,
    example={"symbols": ["SUI", "USDC"]},
)

SWAP_QUOTE = ReadTool(
    name="swap_quote",
    description=(
        "Asks what a swap would give now: output, least output, rate, price impact, route and fee. "
        "Always use it right before swap_execute, with the same tokens and amount."
    ),
    input_model=QuoteInput,
    output_model=QuoteOutput,
    run=read_quote,
    example={"from": "SUI", "to": "USDC", "amount": 2},
    cache_ttl_s=QUOTE_TTL_S,
)
