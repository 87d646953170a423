from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from house import (
    STRANGER,
    called,
    every,
    first_action,
    newest,
    only,
    resumed,
    road_of,
    steps_of,
    write_tool,
)

from tidegate.core.errors import ApprovalStale, NotFound, Refused, UsageError
from tidegate.core.events import ErrorEvent, GuardEvent, PendingAction, TurnComplete, WriteResult
from tidegate.core.sandbox.controls import set_price
from tidegate.core.settlement import unsettled, waiting_action
from tidegate.core.store.base import Attempt, Step
from tidegate.core.tokens import SUI, USDC
from tidegate.core.writes import approval

CARRIED_OUT = [Step.PROPOSED, Step.APPROVED, Step.SIGNED, Step.SUBMITTED, Step.FINAL]


@pytest.fixture
def waiting(runtime) -> Attempt:
    """A send of 50 USDC to a stranger, of tier confirm."""
    called(runtime, "send_transfer", to=STRANGER, amount="50", asset="USDC")
    return newest(runtime)


@pytest.fixture
def large(runtime) -> Attempt:
    """A send of 500 USDC, of tier explicit."""
    called(runtime, "send_transfer", to=STRANGER, amount="500", asset="USDC")
    return newest(runtime)


def price(house, usd):
    """Set SUI's price, and let so much time pass that nobody goes on with the old one."""
    house.now_ms += 60_000
    with house.ledger() as ledger:
        set_price(ledger, SUI.coin_type, Decimal(usd))


def test_an_approval_is_carried_out_once(house, runtime, waiting):
    first = only(WriteResult, resumed(runtime, decision="approve"))
    executed = house.transactions()
    again = only(WriteResult, resumed(runtime, decision="approve"))
    by_id = only(WriteResult, resumed(runtime, waiting.id, decision="approve"))

    assert (first.status, first.auto) == ("executed", False)
    assert first.digest == again.digest == by_id.digest
    assert steps_of(newest(runtime)) == CARRIED_OUT
    assert house.transactions() == executed
    assert house.holding(runtime, address=STRANGER) == 50_000_000


def test_another_process_can_approve(house, runtime, waiting):
    other = house.open()

    assert only(WriteResult, resumed(other, waiting.id[:8], decision="approve")).status == "executed"


def test_an_approval_that_a_dead_process_began_is_finished(house, runtime, waiting):
    runtime.store.journal.append(waiting.id, Step.APPROVED, house.now_ms, {})

    receipt = only(WriteResult, resumed(runtime, decision="approve"))

    assert receipt.status == "executed"
    assert steps_of(newest(runtime)) == CARRIED_OUT


def test_two_approvals_at_once_send_one_transaction(house, runtime, waiting):
    """Both read the attempt while it waits; the one signature in the journal decides."""
    tool = write_tool("send_transfer")
    steps = [
        approval.approve(road_of(process), tool, waiting, understood=None, at_terminal=False)
        for process in (runtime, house.open())
    ]

    receipts = [only(WriteResult, events) for events in steps]

    assert receipts[0].digest == receipts[1].digest
    assert house.holding(runtime, address=STRANGER) == 50_000_000


def test_a_denial_is_final(house, runtime, waiting):
    denied = resumed(runtime, decision="deny")
    assert only(WriteResult, denied).status == "denied"
    assert only(TurnComplete, denied).stop_reason == "refused"
    assert only(WriteResult, resumed(runtime, waiting.id, decision="deny")).status == "denied"

    approved = resumed(runtime, waiting.id, decision="approve")

    assert only(ErrorEvent, approved).code == "approval_stale"
    assert "denied" in only(ErrorEvent, approved).message
    assert every(WriteResult, approved) == []
    assert house.holding(runtime) == 1_000_000_000


def test_what_was_carried_out_cannot_be_denied_or_changed(runtime, waiting):
    resumed(runtime, decision="approve")

    for how in ({"decision": "deny"}, {"changes": {"amount": "5"}}):
        error = only(ErrorEvent, resumed(runtime, waiting.id, **how))
        assert error.code == "approval_stale"
        assert "carried out" in error.message


def test_an_approval_that_was_denied_meanwhile_sends_nothing(house, runtime, waiting):
    other = house.open()
    road = road_of(runtime)

    def unlocked_slowly():
        list(approval.deny(road_of(other), waiting))
        return runtime.signer()

    slow = replace(road, signer=unlocked_slowly)
    with pytest.raises(ApprovalStale, match="denied"):
        list(approval.approve(slow, write_tool("send_transfer"), waiting, understood=None, at_terminal=False))

    assert house.holding(runtime, address=STRANGER) == 0


def test_what_waited_too_long_is_closed(house, runtime, waiting):
    house.now_ms += runtime.settings.approval_minutes * 60_000

    error = only(ErrorEvent, resumed(runtime, waiting.id, decision="approve"))

    assert error.code == "approval_stale"
    assert "expired" in error.message
    assert newest(runtime).state is Step.EXPIRED
    again = only(ErrorEvent, resumed(runtime, waiting.id, decision="approve"))
    assert "expired" in again.message
    assert only(ErrorEvent, resumed(runtime)).code == NotFound.code


def test_another_wallet_network_or_preset_than_shown_is_refused(house, runtime, waiting):
    road, tool = road_of(runtime), write_tool("send_transfer")
    conservative = house.open(preset="conservative")
    for other, name in (
        (replace(road, wallet=STRANGER), "wallet"),
        (replace(road, preset=None), "preset"),
        (road_of(conservative), "preset"),
    ):
        with pytest.raises(ApprovalStale, match=f"another {name}"):
            list(approval.approve(other, tool, waiting, understood=None, at_terminal=False))
    assert newest(runtime).state is Step.PROPOSED


def test_much_money_needs_its_value_named_on_a_real_network(house, runtime, large):
    real, tool = replace(road_of(runtime), sandbox=False), write_tool("send_transfer")
    usd = first_action(large).usd

    with pytest.raises(Refused, match="needs more than --approve") as caught:
        list(approval.approve(real, tool, large, understood=None, at_terminal=False))
    assert f"--i-understand {usd}" in caught.value.hint
    with pytest.raises(Refused, match="not 499 USD"):
        list(approval.approve(real, tool, large, understood=Decimal(499), at_terminal=False))
    assert house.holding(runtime, address=STRANGER) == 0

    receipt = only(WriteResult, approval.approve(real, tool, large, understood=usd, at_terminal=False))
    assert receipt.status == "executed"


def test_a_person_at_a_terminal_may_confirm_much_money(runtime, large):
    real, tool = replace(road_of(runtime), sandbox=False), write_tool("send_transfer")

    events = list(approval.approve(real, tool, large, understood=None, at_terminal=True))

    assert only(WriteResult, events).status == "executed"


def test_the_sandbox_says_what_a_real_network_would_ask(runtime, large):
    events = resumed(runtime, decision="approve")

    hint = only(GuardEvent, events)
    assert (hint.guard, hint.verdict) == ("usd_threshold", "hint")
    assert f"--i-understand {first_action(large).usd}" in hint.message
    assert only(WriteResult, events).status == "executed"


def test_a_swap_that_became_worse_than_shown_is_shown_again(house, runtime):
    called(runtime, "swap_execute", **{"from": "SUI", "to": "USDC", "amount": "20"})
    shown = newest(runtime)
    price(house, "2")

    events = resumed(runtime, shown.id, decision="approve")

    action = only(PendingAction, events).action
    assert action.attempt_id != shown.id
    assert action.reason.startswith("Shown again because the swap would now give")
    old = runtime.store.journal.attempt(shown.id)
    assert old.state is Step.EXPIRED
    assert "replaced" in old.find(Step.EXPIRED).data["reason"]
    assert only(WriteResult, resumed(runtime, decision="approve")).status == "executed"


def test_a_swap_keeps_the_floor_that_was_shown(house, runtime):
    called(runtime, "swap_execute", **{"from": "SUI", "to": "USDC", "amount": "20"})
    shown = first_action(newest(runtime))
    floor = shown.preview.min_received[0].amount

    receipt = only(WriteResult, resumed(runtime, decision="approve"))

    assert next(c.amount for c in receipt.balance_changes if c.symbol == "USDC") >= floor


def test_what_became_worth_more_needs_the_value_named(house, runtime):
    called(runtime, "send_transfer", to=STRANGER, amount="40", asset="SUI")
    shown = newest(runtime)
    assert first_action(shown).tier == "confirm"
    price(house, "50")

    action = only(PendingAction, resumed(runtime, shown.id, decision="approve")).action

    assert action.tier == "explicit"
    assert "worth more now" in action.reason
    assert action.usd == 2000


def test_what_became_impossible_is_refused_and_still_waits(house, runtime, waiting):
    called(runtime, "send_transfer", to=STRANGER, amount="980", asset="USDC")
    resumed(runtime, newest(runtime).id, decision="approve")

    error = only(ErrorEvent, resumed(runtime, waiting.id, decision="approve"))

    assert error.code == "insufficient_balance"
    assert "hold 20 USDC" in error.message
    assert runtime.store.journal.attempt(waiting.id).state is Step.PROPOSED


def test_a_change_runs_the_whole_road_again(runtime, waiting):
    events = resumed(runtime, changes={"amount": "5"})

    action = only(PendingAction, events).action
    assert action.input["amount"] == 5
    assert action.input["to"] == STRANGER
    assert runtime.store.journal.attempt(waiting.id).state is Step.EXPIRED
    assert only(WriteResult, resumed(runtime, decision="approve")).balance_changes[0].amount == -5


def test_a_change_that_cannot_be_leaves_what_waits(runtime, waiting):
    for changes in ({"memo": "hi"}, {"amount": "0"}, {"amount": "1e99"}):
        error = only(ErrorEvent, resumed(runtime, changes=changes))
        assert error.code in (UsageError.code, "bad_amount"), changes
    assert newest(runtime).state is Step.PROPOSED


def test_the_recipient_is_changed_with_the_persons_own_words(runtime, waiting):
    events = resumed(runtime, changes={"to": "0x" + "7a" * 32})

    if every(PendingAction, events):
        assert only(PendingAction, events).action.input["to"] == "0x" + "7a" * 32
    else:
        assert "cannot be changed" in only(ErrorEvent, events).message


def test_a_quote_is_made_anew_on_demand(house, runtime):
    called(runtime, "swap_execute", **{"from": "SUI", "to": "USDC", "amount": "20"})
    shown = newest(runtime)
    price(house, "4")

    action = only(PendingAction, resumed(runtime, regenerate=True)).action

    assert action.attempt_id != shown.id
    assert action.preview.min_received[0].amount > first_action(shown).preview.min_received[0].amount


def test_what_waits_is_shown_again_as_it_was(runtime, waiting):
    events = resumed(runtime)

    assert only(PendingAction, events).action == first_action(waiting)
    assert only(TurnComplete, events).stop_reason == "pending_action"
    assert waiting_action(runtime, waiting.id) == first_action(waiting)
    assert [row["attempt_id"] for row in approval.waiting([waiting], 0)] == [waiting.id]


def test_what_does_not_wait_is_not_asked_about(runtime, waiting):
    resumed(runtime, decision="deny")

    assert waiting_action(runtime, waiting.id) is None


def test_with_several_open_one_has_to_be_named(runtime, waiting):
    called(runtime, "send_transfer", to=STRANGER, amount="60", asset="USDC")

    error = only(ErrorEvent, resumed(runtime, decision="approve"))

    assert "2 writes are open" in error.message
    assert waiting.id in error.message


@pytest.mark.parametrize("wanted", ["ffffffff", "0", "'; drop table", ""])
def test_an_unknown_id_is_said_to_be(runtime, waiting, wanted):
    assert only(ErrorEvent, resumed(runtime, wanted, decision="approve")).code == NotFound.code


def test_the_beginning_of_two_ids_is_not_enough(runtime, waiting):
    called(runtime, "send_transfer", to=STRANGER, amount="60", asset="USDC")

    error = only(ErrorEvent, resumed(runtime, "0000", decision="approve"))

    assert "beginning of 2 ids" in error.message


def test_the_session_hears_what_was_decided(runtime, waiting):
    resumed(runtime, decision="approve")

    session = str(waiting.opened["session_id"])
    notices = [
        block["text"]
        for message in runtime.store.sessions.messages(session)
        for block in message.content
        if block["type"] == "notice"
    ]
    assert any(waiting.id in notice and "Done" in notice for notice in notices)


def test_nothing_is_left_unsettled_after_a_decision(runtime, waiting):
    assert unsettled(runtime) == []
    resumed(runtime, decision="approve")
    assert unsettled(runtime) == []
    assert USDC.symbol in str(newest(runtime).opened["description"])


@pytest.mark.parametrize(
    "how",
    [
        {"decision": "approve", "changes": {"amount": "5"}},
        {"decision": "deny", "regenerate": True},
        {"changes": {"amount": "5"}, "regenerate": True},
    ],
)
def test_one_thing_is_done_at_a_time(runtime, waiting, how):
    error = only(ErrorEvent, resumed(runtime, **how))

    assert error.code == UsageError.code
    assert newest(runtime).state is Step.PROPOSED
