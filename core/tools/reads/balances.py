"""balance_check: what an account holds, has saved and owes, in tokens and dollars."""

from __future__ import annotations

from decimal import Decimal

from tidegate.core.chain import navi
from tidegate.core.chain.types import LendingPosition
from tidegate.core.clock import iso_ms
from tidegate.core.errors import NetworkError
from tidegate.core.events import Number
from tidegate.core.money import Amount, plain
from tidegate.core.tools.arguments import AddressText, account
from tidegate.core.tools.base import ReadTool, ToolContext, ToolInput, ToolOutput, ToolResult
from tidegate.core.tools.worth import DUST_USD, dollars, micro_usd, total, worth

GAS_RESERVE_SUI = Decimal("0.05")
"""SUI that is kept for gas when all of it is asked for; shared/spec/tools.md."""


class BalanceInput(ToolInput):
    """Whose balance."""

    address: AddressText | None = None


class Holding(ToolOutput):
    """One coin type in the wallet."""

    symbol: str
    coin_type: str
    amount: Number
    amount_raw: str
    """Base units."""
    price_usd: Number | None
    usd: Number | None


class BalanceOutput(ToolOutput):
    """All in USD but for holdings and gas_reserve_sui."""

    address: str
    is_self: bool
    available_usd: Number
    savings_usd: Number
    debt_usd: Number
    gas_reserve_sui: Number
    total_usd: Number
    holdings: list[Holding]
    price_source: str
    as_of: str
    degraded: bool = False
    degradation_reason: str | None = None


def check_balance(args: BalanceInput, context: ToolContext) -> ToolResult:
    """Read coins, lending positions and prices and add them up."""
    address = account(args.address, context)
    network = context.network()
    held = [balance for balance in network.balances(address) if balance.base > 0]
    doubts: list[str] = []
    positions: tuple[LendingPosition, ...] = ()
    if network.deployment.navi is not None:
        try:
            positions = navi.positions(network, address)
        except NetworkError as error:
            doubts.append(f"Savings and debt could not be read: {error.message}")
    else:
        doubts.append(f"Lending is not set up on {network.name}, so savings and debt are not counted.")
    coin_types = sorted({balance.coin_type for balance in held} | {p.coin_type for p in positions})
    tokens = context.tokens().present(coin_types)
    prices = context.prices().read(coin_types)

    def value(coin_type: str, base: int) -> Decimal | None:
        token = tokens.get(coin_type)
        return None if token is None else worth(Amount(token, base), prices.get(coin_type))

    holdings = []
    for balance in held:
        token = tokens.get(balance.coin_type)
        if token is None:
            doubts.append(f"{balance.coin_type} has no metadata on chain and is left out.")
            continue
        usd = value(balance.coin_type, balance.base)
        point = prices.get(balance.coin_type)
        holdings.append(
            Holding(
                symbol=token.symbol,
                coin_type=token.coin_type,
                amount=Amount(token, balance.base).value,
                amount_raw=str(balance.base),
                price_usd=point.usd if point and usd is not None else None,
                usd=None if usd is None else micro_usd(usd),
            )
        )
        if usd is None:
            doubts.append(f"{token.symbol} has no price and is not in the totals.")
    for position in positions:
        token = tokens.get(position.coin_type)
        if value(position.coin_type, position.base) is None:
            what = "Savings" if position.kind == "supply" else "Debt"
            name = position.coin_type if token is None else token.symbol
            doubts.append(f"{what} in {name} cannot be valued and is not in the totals.")
    available = total(value(balance.coin_type, balance.base) for balance in held)
    savings = total(value(p.coin_type, p.base) for p in positions if p.kind == "supply")
    debt = total(value(p.coin_type, p.base) for p in positions if p.kind == "borrow")
    shown = [holding for holding in holdings if holding.usd is None or holding.usd >= DUST_USD]
    shown.sort(key=lambda holding: (holding.usd is None, -(holding.usd or 0), holding.symbol))
    output = BalanceOutput(
        address=address,
        is_self=address == context.wallet,
        available_usd=micro_usd(available),
        savings_usd=micro_usd(savings),
        debt_usd=micro_usd(debt),
        gas_reserve_sui=GAS_RESERVE_SUI,
        total_usd=micro_usd(available + savings - debt),
        holdings=shown,
        price_source=", ".join(sorted({point.source for point in prices.values()})) or "none",
        as_of=iso_ms(context.clock.now_ms()),
        degraded=bool(doubts),
        degradation_reason=" ".join(dict.fromkeys(doubts)) or None,
    )
    return ToolResult(output, _sentence(output))


def _sentence(balance: BalanceOutput) -> str:
    whose = "You have" if balance.is_self else f"{balance.address} has"
    coins = ", ".join(f"{plain(holding.amount)} {holding.symbol}" for holding in balance.holdings[:6])
    more = f" and {len(balance.holdings) - 6} more" if len(balance.holdings) > 6 else ""
    wallet = f"{dollars(balance.available_usd)} in the wallet" if balance.available_usd else "an empty wallet"
    wallet = f"{dollars(balance.available_usd)} in the wallet ({coins}{more})" if coins else wallet
    saved = f", {dollars(balance.savings_usd)} in savings" if balance.savings_usd else ""
    owed = f", {dollars(balance.debt_usd)} of debt" if balance.debt_usd else ""
    doubt = f" {balance.degradation_reason}" if balance.degradation_reason else ""
    return f"{whose} {dollars(balance.total_usd)} in total: {wallet}{saved}{owed}.{doubt}"


BALANCE_CHECK = ReadTool(
    name="balance_check",
    description=(
        "Reads what an account holds: coins in the wallet, lending deposits, debt, and their value in USD. "
        "Use it before any write, and again after one."
    ),
    input_model=BalanceInput,
    output_model=BalanceOutput,
    run=check_balance,
    example={},
    cache_ttl_s=120,
)
