"""save_deposit and withdraw: into NAVI and out of it."""

from __future__ import annotations

from tidegate.core.chain import navi
from tidegate.core.chain.types import Ptb
from tidegate.core.errors import InsufficientBalance
from tidegate.core.money import Amount, Share, parse_quantity, take
from tidegate.core.policy.types import Operation
from tidegate.core.tokens import SUI, USDC, USDSUI, Token, token_by_symbol
from tidegate.core.tools.arguments import AmountText, TokenText, wallet_of
from tidegate.core.tools.base import Expected, Intent, ToolContext, ToolInput, WriteTool
from tidegate.core.tools.reads.market import spendable

_SAVABLE = (USDC, USDSUI)
_USDE = token_by_symbol("USDe")
_WITHDRAWABLE = (*_SAVABLE, SUI, *((_USDE,) if _USDE else ()))


class SaveInput(ToolInput):
    """How much to deposit."""

    amount: AmountText
    asset: TokenText = "USDC"


class WithdrawInput(ToolInput):
    """How much to take out."""

    amount: AmountText
    asset: TokenText = "USDC"


def prepare_save(args: SaveInput, context: ToolContext) -> Intent:
    """Return the deposit of an amount of a stablecoin into NAVI.

    Raises:
        BadAmount, UnknownToken, WalletMissing: the input means nothing that can be done.
    """
    wallet = wallet_of(context)
    token = context.tokens().resolve(args.asset)
    quantity = parse_quantity(args.amount)
    if isinstance(quantity, Share):
        amount = take(quantity, spendable(token.coin_type, context))
    else:
        amount = Amount.of(token, quantity.value)

    def build(ptb: Ptb) -> None:
        navi.deposit(context.network(), ptb, amount)

    return Intent(
        input={"amount": amount.value, "asset": token.coin_type},
        description=f"Save {amount} in NAVI",
        moves=(amount,),
        expected=(Expected(wallet, token, -amount.base, -amount.base),),
        build=build,
        preflight=_save_problem(amount),
    )


def _save_problem(amount: Amount) -> str | None:
    token = amount.token
    if token not in _SAVABLE:
        return (
            f"Only {_names(_SAVABLE)} can be saved. Swap {token.symbol} to USDC first; "
            "it is never swapped without being asked for."
        )
    if amount.base < 10**token.decimals:
        return f"The least that can be saved is 1 {token.symbol}."
    return None


def prepare_withdraw(args: WithdrawInput, context: ToolContext) -> Intent:
    """Return the withdrawal of an amount, or all, of what was saved.

    Raises:
        InsufficientBalance: less is saved, or less is liquid in the pool now.
        BadAmount, UnknownToken, WalletMissing: the input means nothing that can be done.
    """
    wallet = wallet_of(context)
    token = context.tokens().resolve(args.asset)
    quantity = parse_quantity(args.amount)
    if token not in _WITHDRAWABLE:
        return _nothing(token, f"Only {_names(_WITHDRAWABLE)} can be withdrawn from NAVI.")
    available = navi.supplied(context.network(), wallet, token)
    if available.base == 0:
        raise InsufficientBalance(
            f"No {token.symbol} is saved.", hint="savings_info shows what can be withdrawn."
        )
    amount = take(quantity, available)
    if amount.base > available.base:
        raise InsufficientBalance(
            f"{amount} is more than can be withdrawn.",
            hint=f"At most {available} can be withdrawn now.",
        )

    def build(ptb: Ptb) -> None:
        navi.withdraw(context.network(), ptb, amount)

    return Intent(
        input={"amount": amount.value, "asset": token.coin_type},
        description=f"Withdraw {amount} from NAVI",
        moves=(amount,),
        expected=(Expected(wallet, token, amount.base, amount.base),),
        build=build,
    )


def _nothing(token: Token, problem: str) -> Intent:
    """Return an intent that its own preflight refuses."""

    def build(ptb: Ptb) -> None:
        raise AssertionError("a refused intent is never built")

    return Intent(
        input={"asset": token.coin_type},
        description="",
        moves=(),
        expected=(),
        build=build,
        preflight=problem,
    )


def _names(tokens: tuple[Token, ...]) -> str:
    return " and ".join(token.symbol for token in tokens)


SAVE_DEPOSIT = WriteTool(
    name="save_deposit",
    description=(
        "Deposits USDC or USDsui into NAVI, where it earns interest. Other tokens must be swapped first, and "
        "only if the person asks for it."
    ),
    input_model=SaveInput,
    operation=Operation.SAVE,
    prepare=prepare_save,
    example={"amount": 10},
    affects_health=True,
)

WITHDRAW = WriteTool(
    name="withdraw",
    description='Takes a deposit, or "all" of it, out of NAVI into the wallet.',
    input_model=WithdrawInput,
    operation=Operation.WITHDRAW,
    prepare=prepare_withdraw,
    example={"amount": "all"},
    requires_balance=False,
    affects_health=True,
)
