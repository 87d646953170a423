"""send_transfer: coins to an address or a contact."""

from __future__ import annotations

from pydantic import Field

from tidegate.core.chain.types import Ptb
from tidegate.core.events import JsonObject
from tidegate.core.money import Amount, Share, parse_quantity, take
from tidegate.core.policy.types import Operation
from tidegate.core.tools.arguments import (
    AddressText,
    AmountText,
    TokenText,
    recipient_problem,
    resolve_party,
    wallet_of,
)
from tidegate.core.tools.base import Expected, Intent, ToolContext, ToolInput, WriteTool
from tidegate.core.tools.reads.market import spendable


class SendInput(ToolInput):
    """What to send to whom."""

    to: AddressText
    amount: AmountText
    asset: TokenText = "USDC"
    memo: str | None = Field(default=None, max_length=200)
    """A note for this machine's journal; it does not go on chain."""


def prepare_send(args: SendInput, context: ToolContext) -> Intent:
    """Return the transfer of an amount to an address.

    Raises:
        BadAmount, BadAddress, UnknownToken, WalletMissing: the input means nothing that can be done.
    """
    wallet = wallet_of(context)
    party = resolve_party(args.to, context.contacts)
    token = context.tokens().resolve(args.asset)
    quantity = parse_quantity(args.amount)
    if isinstance(quantity, Share):
        amount = take(quantity, spendable(token.coin_type, context))
    else:
        amount = Amount.of(token, quantity.value)

    def build(ptb: Ptb) -> None:
        ptb.transfer([ptb.coin(amount)], party.address)

    canonical: JsonObject = {
        "to": party.address,
        "amount": amount.value,
        "asset": token.coin_type,
    }
    if args.memo is not None:
        canonical["memo"] = args.memo
    whom = party.address if party.contact is None else f"{party.contact} ({party.address})"
    return Intent(
        input=canonical,
        description=f"Send {amount} to {whom}",
        moves=(amount,),
        expected=(
            Expected(wallet, token, -amount.base, -amount.base),
            Expected(party.address, token, amount.base, amount.base),
        ),
        build=build,
        recipient=party.address,
        recipient_is_contact=party.contact is not None,
        preflight=recipient_problem(party.address, context),
    )


SEND_TRANSFER = WriteTool(
    name="send_transfer",
    description=(
        "Sends coins to a full Sui address or to a saved contact, and only to one the person wrote or saved. "
        "The asset is USDC unless the person named another."
    ),
    input_model=SendInput,
    operation=Operation.SEND,
    prepare=prepare_send,
    example={"to": "0x" + "ab" * 32, "amount": 5, "asset": "USDC"},
    modifiable=("amount", "to"),
    irreversible=True,
    touches=("balance_check",),
)
