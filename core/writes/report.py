"""What the road tells people and models: previews, receipts, replies."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from decimal import Decimal

from tidegate.core.chain.token_book import TokenBook
from tidegate.core.chain.types import Outcome, PricePoint
from tidegate.core.clock import iso_ms
from tidegate.core.events import (
    BalanceChange,
    GasReport,
    GuardEvent,
    GuardNote,
    JsonObject,
    PendingActionBody,
    Preview,
    UnsignedTransaction,
    WriteResult,
    to_json,
)
from tidegate.core.money import MAX_U64, Amount, plain
from tidegate.core.policy.types import Finding, Tier
from tidegate.core.tokens import SUI
from tidegate.core.tools.signed_amount import signed_value
from tidegate.core.tools.worth import dollars, micro_usd, worth
from tidegate.core.writes.compare import net_changes
from tidegate.core.writes.types import Proposal, Road, Status


def balance_changes(
    outcome: Outcome, wallet: str, book: TokenBook, prices: Mapping[str, PricePoint]
) -> list[BalanceChange]:
    """Return what the wallet gains and loses, gas apart; losses first."""
    found = []
    for (address, coin_type), base in sorted(net_changes(outcome, wallet).items()):
        token = book.by_type(coin_type) if address == wallet else None
        if token is None:
            continue
        size = worth(Amount(token, abs(base)), prices.get(coin_type))
        found.append(
            BalanceChange(
                symbol=token.symbol,
                coin_type=coin_type,
                amount=signed_value(token, base),
                amount_raw=str(base),
                usd=None if size is None else micro_usd(size.copy_sign(Decimal(base))),
            )
        )
    return sorted(found, key=lambda change: change.amount)


def gas_report(outcome: Outcome, prices: Mapping[str, PricePoint]) -> GasReport:
    """Return the gas the payer loses; negative when the storage rebate is larger."""
    net = outcome.gas.net
    size = worth(Amount(SUI, min(abs(net), MAX_U64)), prices.get(SUI.coin_type))
    usd = None if size is None else micro_usd(size.copy_sign(Decimal(net)))
    return GasReport(sui=signed_value(SUI, net), mist=str(net), usd=usd)


def preview(proposal: Proposal, road: Road) -> Preview:
    """Return what the simulation says the write would do."""
    outcome, quote, floor = proposal.draft.outcome, proposal.intent.quote, proposal.intent.min_out
    book = road.context.tokens()
    gas = gas_report(outcome, proposal.prices)
    return Preview(
        balance_changes=balance_changes(outcome, road.wallet, book, proposal.prices),
        gas=gas,
        gas_usd=gas.usd,
        min_received=None
        if floor is None
        else [
            BalanceChange(
                symbol=floor.token.symbol,
                coin_type=floor.token.coin_type,
                amount=floor.value,
                amount_raw=str(floor.base),
            )
        ],
        route=None
        if quote is None
        else [
            {"dex": hop.dex, "pool": hop.pool, "from": hop.coin_in, "to": hop.coin_out} for hop in quote.hops
        ],
        price_impact=None if quote is None else quote.price_impact,
    )


def pending_body(attempt_id: str, proposal: Proposal, road: Road, expires_ms: int) -> PendingActionBody:
    """Return the write as it waits."""
    intent, decision, call = proposal.intent, proposal.decision, proposal.call
    quoted = intent.quoted_at_ms
    return PendingActionBody(
        attempt_id=attempt_id,
        approval_id=attempt_id,
        tool_use_id=call.tool_use_id,
        turn_index=road.turn,
        name=call.tool.name,
        input=intent.input,
        description=intent.description,
        tier="explicit" if decision.tier is Tier.EXPLICIT else "confirm",
        reason=decision.reason,
        usd=usd_of(proposal),
        modifiable_fields=list(call.tool.modifiable),
        steps=[],
        guard_injections=notes(proposal.findings),
        preview=preview(proposal, road),
        quote_age_s=None if quoted is None else Decimal(road.clock.now_ms() - quoted) / 1000,
        can_regenerate=intent.quote is not None,
        regenerate_input=intent.input if intent.quote is not None else None,
        expires_at=iso_ms(expires_ms),
        tx=UnsignedTransaction(bytes=_base64(proposal.draft.bytes), digest=proposal.draft.digest),
        replaces=call.replaces,
    )


def usd_of(proposal: Proposal) -> Decimal | None:
    """Return the value of the write in USD, or None when it is unpriced."""
    usd = proposal.valued.usd
    return None if usd is None else micro_usd(usd.value)


def notes(findings: tuple[Finding, ...]) -> list[GuardNote]:
    """Return the findings that are for people: warnings and blocks."""
    return [
        GuardNote(guard=item.guard, tier=item.tier, verdict=item.verdict, message=item.message)
        for item in findings
        if item.verdict == "warn" or item.verdict == "block"
    ]


def guard_event(finding: Finding, tool_use_id: str) -> GuardEvent | None:
    """Return the event of a finding, None for a pass."""
    if finding.verdict == "pass":
        return None
    return GuardEvent(
        guard=finding.guard,
        tier=finding.tier,
        verdict=finding.verdict,
        message=finding.message,
        tool_use_id=tool_use_id,
    )


def held_reply(body: PendingActionBody, findings: tuple[Finding, ...]) -> JsonObject:
    """Return what the model is told of a write that waits."""
    text = (
        f"{body.description} waits for the person's approval: {body.reason} Approve with: {body.approval()}"
    )
    data: JsonObject = {
        "attempt_id": body.attempt_id,
        "status": "waiting",
        "reason": body.reason,
        "usd": body.usd,
    }
    return {"data": data, "display_text": text, **hints(findings)}


def settled_reply(receipt: WriteResult, description: str, findings: tuple[Finding, ...]) -> JsonObject:
    """Return what the model is told of a write that ended."""
    return {
        "data": to_json_receipt(receipt),
        "display_text": sentence(receipt.status, description, receipt),
        **hints(findings),
    }


def to_json_receipt(receipt: WriteResult) -> JsonObject:
    """Return a receipt without the envelope of its event."""
    whole = to_json(receipt)
    for envelope in ("v", "seq", "ts", "session_id", "turn", "type"):
        whole.pop(envelope)
    return whole


def sentence(status: Status, description: str, receipt: WriteResult) -> str:
    """Return one plain sentence on how a write ended."""
    gas = ""
    if receipt.gas is not None:
        cost = "" if receipt.gas.usd is None else f" ({dollars(receipt.gas.usd)})"
        gas = f" Gas: {plain(receipt.gas.sui)} SUI{cost}."
    match status:
        case "executed":
            return f"Done: {description}.{gas} Digest {receipt.digest}."
        case "failed":
            return f"Failed: {description}. {receipt.message or ''}{gas}".rstrip()
        case "unknown":
            return (
                f"Sent, outcome not heard yet: {description}. Digest {receipt.digest}. "
                "Do not send it again; `tidegate resume` asks the network."
            )
        case "denied":
            return f"Denied: {description}. Nothing was sent."
        case _:
            changes = ", ".join(
                f"{plain(change.amount)} {change.symbol}" for change in receipt.balance_changes
            )
            return f"Would do: {description}. Balance changes: {changes or 'none'}.{gas} Nothing was sent."


def hints(findings: tuple[Finding, ...]) -> JsonObject:
    """Return what guards want the model to know, nothing if they said nothing."""
    said = [f"{item.guard}: {item.message}" for item in findings if item.verdict in ("hint", "warn")]
    return {"guards": list(said)} if said else {}


def _base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()
