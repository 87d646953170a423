"""The twelve steps of a write, in order.

    1 admit   2 value   3 guards   4 tier   5 build   6 simulate   7 compare
    8 reserve   9 hold or go   10 sign   11 submit   12 settle

Guards come before the tier because a warning is one of the things that decide it. Steps 10 to 12 are in
`settle.py`; what a person decides about a held write is in `approval.py`, and goes through these same steps.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress
from dataclasses import replace

from tidegate.core.chain import cetus, navi
from tidegate.core.chain.types import Draft, PricePoint
from tidegate.core.errors import GuardBlocked, SimulationFailed
from tidegate.core.events import Event, JsonObject, PendingAction, WriteResult, to_json
from tidegate.core.money import ZERO_USD, Usd
from tidegate.core.policy.guards import frame
from tidegate.core.policy.tiers import daily_limit_reached, decide, utc_day
from tidegate.core.policy.types import Decision, Finding, GuardContext, SwapFacts, Tier
from tidegate.core.policy.valuation import Valued, value_moves
from tidegate.core.store.base import Step, StepTaken
from tidegate.core.tokens import SUI
from tidegate.core.tools.base import Intent
from tidegate.core.writes import report, settle
from tidegate.core.writes.compare import difference
from tidegate.core.writes.types import Proposal, Road, WriteCall, Written


def carry_out(road: Road, call: WriteCall) -> Generator[Event, None, Written]:
    """Take one write down the road as far as policy lets it go.

    Yields guard events, then a pending_action or a write_result.

    Raises:
        GuardBlocked: a guard refused it.
        SimulationFailed: it would fail on chain, or move other amounts than it says.
        UsageError, Refused, NetworkError: it could not be understood, afforded or tried; nothing was sent.
    """
    return (yield from go_on(road, (yield from consider(road, call))))


def go_on(road: Road, proposal: Proposal) -> Generator[Event, None, Written]:
    """Take steps 8 to 12, as far as policy lets the write go."""
    if road.dry_run:
        return (yield from _rehearse(road, proposal))
    if proposal.decision.tier is Tier.AUTO:
        # A locked key must fail before anything is reserved in its name.
        signer = road.signer()
        attempt_id = road.ids()
        if _reserve(road, attempt_id, proposal):
            return (yield from settle.sign_and_send(road, attempt_id, proposal, signer, auto=True))
        proposal = replace(proposal, decision=_over_the_limit(road, proposal))
    return (yield from hold(road, proposal))


def consider(road: Road, call: WriteCall) -> Generator[Event, None, Proposal]:
    """Take steps 1 to 7: nothing is reserved, signed or sent."""
    intent = call.tool.prepare(call.args, road.context)
    valued, prices = value(road, intent)
    findings = yield from _ask_guards(road, call, intent, valued)
    proposal = assess(road, call, intent, valued, prices, findings)
    for finding in proposal.decision.findings:
        if (event := report.guard_event(finding, call.tool_use_id)) is not None:
            yield event
    return proposal


def value(road: Road, intent: Intent) -> tuple[Valued, dict[str, PricePoint]]:
    """Step 2: what the write moves in USD, and the prices by which that was found."""
    wanted = sorted({amount.token.coin_type for amount in intent.moves} | {SUI.coin_type})
    prices = road.context.prices().read(wanted)
    return value_moves(intent.moves, prices, road.clock.now_ms()), prices


def assess(
    road: Road,
    call: WriteCall,
    intent: Intent,
    valued: Valued,
    prices: dict[str, PricePoint],
    findings: tuple[Finding, ...],
) -> Proposal:
    """Steps 4 to 7: who may let it go, and what the network says it would do.

    Raises:
        SimulationFailed, InsufficientBalance: it would fail, or move other amounts than it says.
    """
    decision = decide_tier(road, call, intent, valued, findings)
    draft = road.network.draft(road.wallet, intent.build)
    check_simulation(draft, intent, road.wallet)
    return Proposal(call, intent, valued, prices, (*findings, *decision.findings), decision, draft)


def hold(road: Road, proposal: Proposal) -> Generator[Event, None, Written]:
    """Step 9 for what may not go by itself: write it down, say so, stop."""
    attempt_id = road.ids()
    expires_ms = road.clock.now_ms() + road.approval_ms
    body = report.pending_body(attempt_id, proposal, road, expires_ms)
    row = opening(road, proposal) | {
        "tier": proposal.decision.tier.value,
        "expires_ms": expires_ms,
        "action": to_json(body),
    }
    road.store.journal.append(attempt_id, Step.PROPOSED, road.clock.now_ms(), row)
    yield PendingAction(action=body)
    return Written(attempt_id, "held", report.held_reply(body, proposal.findings), None)


def opening(road: Road, proposal: Proposal) -> JsonObject:
    """Return what the first row of an attempt says: enough to make the same write again, and to fence it."""
    return {
        "tool": proposal.call.tool.name,
        "input": proposal.intent.input,
        "description": proposal.intent.description,
        "usd": report.usd_of(proposal),
        "wallet": road.wallet,
        "network": road.network.name,
        "chain_id": road.network.chain_id,
        "preset": None if road.preset is None else road.preset.name,
        "preset_digest": None if road.preset is None else road.preset.digest,
        "session_id": road.session_id,
        "turn": road.turn,
        "tool_use_id": proposal.call.tool_use_id,
        "direct": proposal.call.direct,
        "replaces": proposal.call.replaces,
    }


def decide_tier(
    road: Road, call: WriteCall, intent: Intent, valued: Valued, findings: tuple[Finding, ...]
) -> Decision:
    """Step 4: who may let it go."""
    day = utc_day(road.clock.now_ms())
    return decide(
        operation=call.tool.operation,
        usd=valued.usd,
        unpriced_reason=valued.reason,
        preset=road.preset,
        spent_today=road.store.spend.spent(road.wallet, day),
        has_key=road.has_key,
        recipient_is_contact=None if intent.recipient is None else intent.recipient_is_contact,
        findings=findings,
    )


def check_simulation(draft: Draft, intent: Intent, wallet: str) -> None:
    """Steps 6 and 7: refuse what would fail, and what moves other amounts than the input says.

    Raises:
        SimulationFailed: in words, with the Move abort where there is one.
    """
    failure = draft.outcome.failure
    if failure is not None:
        words = navi.explain_abort(failure) or cetus.explain_abort(failure) or failure.description
        raise SimulationFailed(
            f"{intent.description} would fail: {words}",
            hint="Nothing was sent. Check the amount and try again.",
        )
    problem = difference(draft.outcome, intent.expected, wallet)
    if problem is not None:
        raise SimulationFailed(problem, hint="Nothing was sent. The protocol does not do what was asked.")


def _ask_guards(
    road: Road, call: WriteCall, intent: Intent, valued: Valued
) -> Generator[Event, None, tuple[Finding, ...]]:
    findings = frame.run_before(guard_context(road, call, intent, valued.usd), road.disabled_guards)
    for finding in findings:
        if (event := report.guard_event(finding, call.tool_use_id)) is not None:
            yield event
    blocked = next((finding for finding in findings if finding.verdict == "block"), None)
    if blocked is not None:
        raise GuardBlocked(blocked.message, hint=f"Refused by guard {blocked.guard}; nothing was sent.")
    return findings


def guard_context(road: Road, call: WriteCall, intent: Intent, usd: Usd | None) -> GuardContext:
    """Return what guards may look at: frozen input, figures, and what the person wrote."""
    tool, quote = call.tool, intent.quote
    swap = None
    if quote is not None and intent.slippage is not None:
        swap = SwapFacts(intent.slippage, quote.price_impact, quote.amount_out)
    return GuardContext(
        tool=tool.name,
        input=intent.input,
        operation=tool.operation,
        mutating=True,
        requires_balance=tool.requires_balance,
        affects_health=tool.affects_health,
        irreversible=tool.irreversible,
        cost_aware=tool.cost_aware,
        outflows=intent.moves,
        usd=usd,
        recipient=intent.recipient,
        recipient_is_contact=intent.recipient_is_contact,
        wallet=road.wallet,
        user_texts=call.user_texts,
        history=call.history,
        now_ms=road.clock.now_ms(),
        direct=call.direct,
        preflight=intent.preflight,
        swap=swap,
    )


def _reserve(road: Road, attempt_id: str, proposal: Proposal) -> bool:
    """Step 8: take the value out of today's limit before anything is signed.

    The row comes first: should the process die between the two, the next run finds an attempt that was never
    signed and gives back whatever it may have taken.
    """
    if road.preset is None or proposal.valued.usd is None:
        return False
    now = road.clock.now_ms()
    road.store.journal.append(attempt_id, Step.RESERVED, now, opening(road, proposal))
    day, usd, limit = utc_day(now), proposal.valued.usd, road.preset.auto_daily
    if road.store.spend.reserve(attempt_id, road.wallet, day, usd, limit):
        return True
    # Should a slower clock's recovery have ended it already, that is as good.
    with suppress(StepTaken):
        road.store.journal.append(attempt_id, Step.FAILED, now, {"reason": "The day's limit was reached."})
    return False


def _over_the_limit(road: Road, proposal: Proposal) -> Decision:
    """Return the decision when another process used up the day's limit since step 4."""
    if road.preset is None:
        raise AssertionError("without a preset nothing is auto")
    spent = road.store.spend.spent(road.wallet, utc_day(road.clock.now_ms()))
    return daily_limit_reached(proposal.valued.usd or ZERO_USD, spent, road.preset)


def _rehearse(road: Road, proposal: Proposal) -> Generator[Event, None, Written]:
    outcome = proposal.draft.outcome
    receipt = WriteResult(
        attempt_id=road.ids(),
        tool_name=proposal.call.tool.name,
        status="simulated",
        digest=None,
        usd=report.usd_of(proposal),
        balance_changes=report.balance_changes(outcome, road.wallet, road.context.tokens(), proposal.prices),
        gas=report.gas_report(outcome, proposal.prices),
        auto=proposal.decision.tier is Tier.AUTO,
        message=proposal.decision.reason,
    )
    yield receipt
    reply = report.settled_reply(receipt, proposal.intent.description, proposal.findings)
    return Written(receipt.attempt_id, "simulated", reply, receipt)
