"""savings_info and rates_info: what lending earns, for an account and in the market."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from pydantic import Field

from tidegate.core.chain import navi
from tidegate.core.events import Number
from tidegate.core.money import Amount, plain
from tidegate.core.tokens import USDC, USDSUI, token_by_symbol
from tidegate.core.tools.arguments import AddressText, TokenText, account
from tidegate.core.tools.base import ReadTool, ToolContext, ToolInput, ToolOutput, ToolResult
from tidegate.core.tools.worth import dollars, micro_usd, percent, total, worth

_STABLE = frozenset(
    token.coin_type for token in (USDC, USDSUI, token_by_symbol("USDT"), token_by_symbol("USDe")) if token
)
_DAYS_A_YEAR = Decimal(365)
_MONTHS_A_YEAR = Decimal(12)


class SavingsInput(ToolInput):
    """Whose savings."""

    address: AddressText | None = None


class Position(ToolOutput):
    """One deposit or loan."""

    type: Literal["supply", "borrow"]
    protocol: str
    symbol: str
    coin_type: str
    amount: Number
    amount_raw: str
    usd: Number | None
    apy: Number
    """Percent a year."""


class SavingsOutput(ToolOutput):
    """Deposits, and what they earn at today's rates."""

    address: str
    is_self: bool
    positions: list[Position]
    supplied_usd: Number
    blended_apy: Number
    """Percent a year, weighted by value."""
    daily_earning: Number
    """USD."""
    monthly_projected: Number
    """USD."""
    degraded: bool = False
    degradation_reason: str | None = None


def read_savings(args: SavingsInput, context: ToolContext) -> ToolResult:
    """Read an account's lending positions and what they earn."""
    address = account(args.address, context)
    network = context.network()
    found = navi.positions(network, address)
    coin_types = sorted({position.coin_type for position in found})
    tokens = context.tokens().present(coin_types)
    prices = context.prices().read(coin_types)
    positions: list[Position] = []
    doubts: list[str] = []
    for position in found:
        token = tokens.get(position.coin_type)
        if token is None:
            doubts.append(f"{position.coin_type} has no metadata on chain and is left out.")
            continue
        amount = Amount(token, position.base)
        usd = worth(amount, prices.get(position.coin_type))
        if usd is None:
            doubts.append(f"{token.symbol} has no price and is not in the totals.")
        positions.append(
            Position(
                type=position.kind,
                protocol="NAVI",
                symbol=token.symbol,
                coin_type=token.coin_type,
                amount=amount.value,
                amount_raw=str(position.base),
                usd=None if usd is None else micro_usd(usd),
                apy=position.apy,
            )
        )
    supplies = [position for position in positions if position.type == "supply"]
    supplied = total(position.usd for position in supplies)
    yearly = total(position.usd * position.apy / 100 for position in supplies if position.usd is not None)
    output = SavingsOutput(
        address=address,
        is_self=address == context.wallet,
        positions=positions,
        supplied_usd=micro_usd(supplied),
        blended_apy=micro_usd(yearly / supplied * 100) if supplied else Decimal(0),
        daily_earning=micro_usd(yearly / _DAYS_A_YEAR),
        monthly_projected=micro_usd(yearly / _MONTHS_A_YEAR),
        degraded=bool(doubts),
        degradation_reason=" ".join(doubts) or None,
    )
    return ToolResult(output, _savings_sentence(output))


def _savings_sentence(savings: SavingsOutput) -> str:
    supplies = [position for position in savings.positions if position.type == "supply"]
    if not supplies:
        return "Nothing is saved yet."
    parts = ", ".join(f"{plain(p.amount)} {p.symbol} at {percent(p.apy)}" for p in supplies)
    return (
        f"{dollars(savings.supplied_usd)} is saved in NAVI ({parts}), earning about "
        f"{dollars(savings.monthly_projected)} a month at today's rates."
    )


class RatesInput(ToolInput):
    """Which markets."""

    assets: list[TokenText] | None = Field(default=None, max_length=20)
    stable_only: bool = False
    top_n: int = Field(default=8, ge=1, le=50)


class Market(ToolOutput):
    """One asset that is lent and borrowed."""

    symbol: str
    coin_type: str
    supply_apy: Number
    """Percent a year."""
    borrow_apy: Number
    utilisation: Number
    """Percent of what is supplied that is lent out."""
    tvl_usd: Number | None
    """Value of what is supplied."""
    ltv: Number
    threshold: Number


class RatesOutput(ToolOutput):
    """Highest supply APY first."""

    protocol: str
    markets: list[Market]


def read_rates(args: RatesInput, context: ToolContext) -> ToolResult:
    """Read the lending market's rates."""
    found = navi.markets(context.network())
    book = context.tokens()
    wanted = None if args.assets is None else {book.resolve(asset).coin_type for asset in args.assets}
    chosen = [
        market
        for market in found
        if (wanted is None or market.coin_type in wanted)
        and (not args.stable_only or market.coin_type in _STABLE)
    ]
    coin_types = [market.coin_type for market in chosen]
    tokens = book.present(coin_types)
    prices = context.prices().read(coin_types)
    markets = []
    for market in sorted(chosen, key=lambda market: -market.supply_apy):
        token = tokens.get(market.coin_type)
        if token is None:
            continue
        tvl = worth(Amount(token, market.supplied_base), prices.get(market.coin_type))
        markets.append(
            Market(
                symbol=token.symbol,
                coin_type=token.coin_type,
                supply_apy=market.supply_apy,
                borrow_apy=market.borrow_apy,
                utilisation=market.utilisation,
                tvl_usd=None if tvl is None else micro_usd(tvl),
                ltv=market.ltv,
                threshold=market.liquidation_threshold,
            )
        )
    output = RatesOutput(protocol="NAVI", markets=markets[: args.top_n])
    return ToolResult(output, _rates_sentence(output))


def _rates_sentence(rates: RatesOutput) -> str:
    if not rates.markets:
        return "No lending market matches."
    lines = ", ".join(
        f"{m.symbol} earns {percent(m.supply_apy)} and costs {percent(m.borrow_apy)}" for m in rates.markets
    )
    return f"Lending rates a year on NAVI: {lines}."


SAVINGS_INFO = ReadTool(
    name="savings_info",
    description="Reads an account's lending deposits and loans, their APY and what they earn.",
    input_model=SavingsInput,
    output_model=SavingsOutput,
    run=read_savings,
    example={},
    cache_ttl_s=120,
)

RATES_INFO = ReadTool(
    name="rates_info",
    description="Reads supply and borrow APY, utilisation, size and risk limits of the lending markets.",
    input_model=RatesInput,
    output_model=RatesOutput,
    run=read_rates,
    example={"assets": ["USDC"]},
    cache_ttl_s=90,
)
