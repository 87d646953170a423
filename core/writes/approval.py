"""What a person decides about a write that waits: approve, deny, change, or look again."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from tidegate.core.errors import ApprovalStale, Refused, UsageError
from tidegate.core.events import (
    Event,
    GuardEvent,
    JsonObject,
    PendingAction,
    PendingActionBody,
    WriteResult,
)
from tidegate.core.jsonlines import Json
from tidegate.core.money import Amount, plain
from tidegate.core.policy.types import Tier
from tidegate.core.store.base import Attempt, Step, StepTaken
from tidegate.core.tools.base import ToolInput, WriteTool
from tidegate.core.tools.registry import parse_input
from tidegate.core.writes import report, settle
from tidegate.core.writes import road as steps
from tidegate.core.writes.types import Proposal, Road, WriteCall, Written

WAITS = (Step.PROPOSED, Step.APPROVED)
"""Steps at which an attempt can still be decided, unless it was signed."""

_STRICTNESS = {Tier.AUTO: 0, Tier.CONFIRM: 1, Tier.EXPLICIT: 2}


def show(attempt: Attempt) -> PendingAction:
    """Return the pending_action of an attempt that waits, as it was first shown."""
    return PendingAction(action=_shown(attempt))


def approve(
    road: Road,
    tool: WriteTool[ToolInput],
    attempt: Attempt,
    *,
    understood: Decimal | None,
    at_terminal: bool,
) -> Generator[Event, None, Written]:
    """Carry out what waits, if it is still what was shown; an attempt that ended gives its first receipt.

    Args:
        road: The road of this run.
        tool: The attempt's tool.
        attempt: What waits.
        understood: The value in USD that the person named, for writes of tier explicit.
        at_terminal: Whether the person confirmed an explicit write at a terminal.

    Raises:
        ApprovalStale: it expired, or wallet, network or preset are not those it was shown under.
        Refused: it is of tier explicit, the network is real, and its value was not named.
    """
    if attempt.state not in WAITS or attempt.find(Step.SIGNED) is not None:
        if attempt.state is Step.DENIED:
            raise ApprovalStale(f"It cannot be approved any more: {_ending(attempt)}")
        return (yield from report_end(road, attempt))
    expire_if_due(road, attempt)
    _check_fence(road, attempt)
    shown = _shown(attempt)
    lenient = _check_explicit(road, shown, understood, at_terminal)
    if lenient is not None:
        yield lenient
    signer = road.signer()
    proposal, worse = _rebuild(road, tool, attempt, shown)
    if worse is not None:
        close(road, attempt, f"replaced: {worse}")
        return (yield from steps.hold(road, _held_because(proposal, worse)))
    try:
        road.store.journal.append(attempt.id, Step.APPROVED, road.clock.now_ms(), {})
    except StepTaken:
        current = road.store.journal.attempt(attempt.id) or attempt
        if current.state in (Step.DENIED, Step.EXPIRED):
            raise ApprovalStale(f"It cannot be approved any more: {_ending(current)}") from None
        # Approved before, by another process or by one that died: the single signature decides who sends.
    return (yield from settle.sign_and_send(road, attempt.id, proposal, signer, auto=False))


def report_end(road: Road, attempt: Attempt) -> Generator[Event, None, Written]:
    """Say how an attempt that does not wait ended, asking the network where nobody knows yet.

    Raises:
        ApprovalStale: it went unapproved: there is no outcome to tell.
        NetworkError: the network cannot be asked now.
    """
    if attempt.state is Step.EXPIRED:
        raise ApprovalStale(f"It does not wait any more: {_ending(attempt)}")
    written = settle.settle(road, attempt)
    if written.receipt is not None:
        yield written.receipt
    return written


def deny(road: Road, attempt: Attempt) -> Generator[Event, None, Written]:
    """Close what waits; nothing is ever sent for it.

    Raises:
        ApprovalStale: it was approved or closed already.
    """
    try:
        road.store.journal.append(
            attempt.id, Step.DENIED, road.clock.now_ms(), {"reason": "denied by the person"}
        )
    except StepTaken:
        current = road.store.journal.attempt(attempt.id) or attempt
        if current.state is not Step.DENIED:
            raise ApprovalStale(f"It cannot be denied any more: {_ending(current)}") from None
    receipt = WriteResult(
        attempt_id=attempt.id,
        tool_name=str(attempt.opened["tool"]),
        status="denied",
        usd=_decimal(attempt.opened.get("usd")),
        balance_changes=[],
        gas=None,
        auto=False,
    )
    yield receipt
    reply = report.settled_reply(receipt, str(attempt.opened["description"]), ())
    return Written(attempt.id, "denied", reply, receipt)


def change(
    road: Road, tool: WriteTool[ToolInput], attempt: Attempt, changes: Mapping[str, str]
) -> Generator[Event, None, Written]:
    """Run the whole road again with some fields changed, or with none: the market may have moved.

    The old attempt goes on waiting until the new one has passed guards and simulation.

    Raises:
        UsageError: a field may not be changed.
        ApprovalStale: see `approve`.
        TidegateError: see `road.carry_out`.
    """
    if attempt.state not in WAITS or attempt.find(Step.SIGNED) is not None:
        raise ApprovalStale(f"It cannot be changed any more: {_ending(attempt)}")
    expire_if_due(road, attempt)
    _check_fence(road, attempt)
    fields = attempt.opened["input"]
    if not isinstance(fields, dict):
        raise UsageError(f"Attempt {attempt.id} has no input to change.")
    foreign = [name for name in changes if name not in tool.modifiable]
    if foreign:
        raise UsageError(
            f"{', '.join(foreign)} cannot be changed on a waiting {tool.name}.",
            hint=f"Only {' and '.join(tool.modifiable)} can.",
        )
    args = parse_input(tool, {**fields, **changes})
    words = [" ".join(f"{name}={value}" for name, value in changes.items())]
    if "to" not in changes and isinstance(fields.get("to"), str):
        words.append(str(fields["to"]))
    call = WriteCall(tool, args, _tool_use_id(attempt), True, words, (), replaces=attempt.id)
    proposal = yield from steps.consider(road, call)
    close(road, attempt, "replaced by a changed request")
    return (yield from steps.go_on(road, proposal))


def close(road: Road, attempt: Attempt, reason: str) -> None:
    """End an attempt that nobody may approve any more.

    One that was approved by a process that died before it signed has failed; any other has expired.

    Raises:
        ApprovalStale: another process decided it meanwhile.
    """
    step = Step.EXPIRED if attempt.find(Step.APPROVED) is None else Step.FAILED
    try:
        road.store.journal.append(attempt.id, step, road.clock.now_ms(), {"reason": reason})
    except StepTaken:
        raise ApprovalStale("Another process decided it meanwhile.") from None


def expire_if_due(road: Road, attempt: Attempt) -> None:
    """Close a proposal that waited too long.

    Raises:
        ApprovalStale: it did.
    """
    if is_due(attempt, road.clock.now_ms()):
        close(road, attempt, "expired")
        raise ApprovalStale(f"It expired at {_shown(attempt).expires_at}.")


def is_due(attempt: Attempt, now_ms: int) -> bool:
    """Tell whether a proposal's time to be approved is over."""
    expires = attempt.opened.get("expires_ms")
    return isinstance(expires, int) and now_ms >= expires and attempt.state is Step.PROPOSED


def _check_fence(road: Road, attempt: Attempt) -> None:
    opened = attempt.opened
    present: Sequence[tuple[str, Json, Json]] = (
        ("network", opened["chain_id"], road.network.chain_id),
        ("wallet", opened["wallet"], road.wallet),
        ("preset", opened["preset_digest"], None if road.preset is None else road.preset.digest),
    )
    for name, then, now in present:
        if then != now:
            raise ApprovalStale(
                f"It was shown under another {name} than this one.",
                hint=f"Use the {name} it was asked with, or ask again.",
            )


def _check_explicit(
    road: Road, shown: PendingActionBody, understood: Decimal | None, at_terminal: bool
) -> GuardEvent | None:
    """Check that a person who approves an explicit write has said what it is worth.

    On the embedded sandbox nothing is real, so a plain approval is enough there, and what a real network
    would have asked for is returned to be shown: a rehearsal must not hide it.

    Raises:
        Refused: the value was not named, or it is another.
    """
    if shown.tier != "explicit" or at_terminal:
        return None
    worth = "a value that is not known" if shown.usd is None else f"{plain(shown.usd)} USD"
    if understood is not None:
        if understood == shown.usd:
            return None
        raise Refused(
            f"The write is worth {worth}, not {plain(understood)} USD.",
            hint="Name the value exactly as the pending_action shows it.",
        )
    way = "--explicit at a terminal"
    if shown.usd is not None:
        way = f"--i-understand {plain(shown.usd)}, or {way}"
    if not road.sandbox:
        raise Refused(f"This write is worth {worth} and needs more than --approve.", hint=f"Add {way}.")
    message = f"On a real network this approval, worth {worth}, needs {way}."
    return GuardEvent(
        guard="usd_threshold",
        tier="financial",
        verdict="hint",
        message=message,
        tool_use_id=shown.tool_use_id,
    )


def _rebuild(
    road: Road, tool: WriteTool[ToolInput], attempt: Attempt, shown: PendingActionBody
) -> tuple[Proposal, str | None]:
    """Take steps 1 to 7 again on the stored input, without the guards that look at the conversation.

    They passed when the write was proposed, and a person has looked at it since; the input is the same.

    Returns:
        The write as it would be now, and in what it is worse than shown by more than its tolerance, if it is.
    """
    fields = attempt.opened["input"]
    if not isinstance(fields, dict):
        raise ApprovalStale(f"Attempt {attempt.id} has no input to build from.")
    args = parse_input(tool, fields)
    call = WriteCall(tool, args, _tool_use_id(attempt), True, (), (), replaces=attempt.id)
    intent = tool.prepare(call.args, road.context)
    if intent.preflight is not None:
        raise ApprovalStale(f"It cannot be carried out any more: {intent.preflight}")
    if intent.input != fields:
        raise ApprovalStale("The stored request does not mean the same write any more.")
    worse = None
    if shown.preview.min_received is not None and intent.quote is not None and intent.with_floor is not None:
        now = intent.quote.amount_out
        floor = Amount(now.token, int(shown.preview.min_received[0].amount_raw))
        if now.base < floor.base:
            worse = (
                f"the swap would now give {now}, less than the {floor} that were the least when it was shown"
            )
        else:
            intent = intent.with_floor(floor)
    valued, prices = steps.value(road, intent)
    proposal = steps.assess(road, call, intent, valued, prices, ())
    if worse is None and shown.tier == "confirm" and proposal.decision.tier is Tier.EXPLICIT:
        worse = f"it is worth more now: {proposal.decision.reason}"
    return proposal, worse


def _held_because(proposal: Proposal, worse: str) -> Proposal:
    tier = proposal.decision.tier
    stricter = tier if _STRICTNESS[tier] > 0 else Tier.CONFIRM
    reason = f"Shown again because {worse}."
    return replace(proposal, decision=replace(proposal.decision, tier=stricter, reason=reason))


def _shown(attempt: Attempt) -> PendingActionBody:
    return PendingActionBody.model_validate(attempt.opened["action"])


def _ending(attempt: Attempt) -> str:
    match attempt.state:
        case Step.DENIED:
            return "it was denied."
        case Step.EXPIRED:
            row = attempt.find(Step.EXPIRED)
            return f"{row.data.get('reason', 'it expired') if row else 'it expired'}."
        case Step.FINAL:
            return "it has been carried out."
        case Step.FAILED:
            return "it has failed."
        case _:
            return "it is being carried out."


def _tool_use_id(attempt: Attempt) -> str:
    return str(attempt.opened["tool_use_id"])


def _decimal(value: Json) -> Decimal | None:
    return None if value is None else Decimal(str(value))


def waiting(attempts: Sequence[Attempt], now_ms: int) -> list[JsonObject]:
    """Return what a list of waiting attempts shows of each."""
    return [
        {
            "attempt_id": attempt.id,
            "state": attempt.state.value,
            "description": attempt.opened.get("description"),
            "usd": attempt.opened.get("usd"),
        }
        for attempt in attempts
        if not is_due(attempt, now_ms)
    ]
