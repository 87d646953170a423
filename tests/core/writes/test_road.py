from __future__ import annotations

import base64
from dataclasses import replace
from decimal import Decimal

import pytest
from house import STRANGER, called, every, newest, only, road_of, steps_of, write_call

from tidegate.core.errors import GuardBlocked, InsufficientBalance, PassphraseNeeded, SimulationFailed
from tidegate.core.events import (
    ErrorEvent,
    GuardEvent,
    PendingAction,
    TurnComplete,
    WriteResult,
)
from tidegate.core.money import Amount, Usd
from tidegate.core.policy.tiers import utc_day
from tidegate.core.store.base import Step
from tidegate.core.tokens import USDC
from tidegate.core.tools.registry import tool_by_name
from tidegate.core.writes.road import carry_out, check_simulation

SAVED = [Step.RESERVED, Step.SIGNED, Step.SUBMITTED, Step.FINAL]


def finished(steps):
    """Run a road to its end; return its events and what it came to."""
    events = []
    while True:
        try:
            events.append(next(steps))
        except StopIteration as end:
            return events, end.value


def spent_today(house, runtime):
    return runtime.store.spend.spent(runtime.address(), utc_day(house.now_ms)).value


def test_what_policy_lets_through_is_journalled_before_each_step(house, runtime):
    events, written = finished(carry_out(road_of(runtime), write_call("save_deposit", amount=10)))

    receipt = only(WriteResult, events)
    attempt = newest(runtime)
    assert steps_of(attempt) == SAVED
    assert (attempt.id, written.status, receipt.auto) == (receipt.attempt_id, "executed", True)
    assert attempt.find(Step.SIGNED).data["digest"] == receipt.digest
    assert attempt.opened["input"] == written_input(10)
    assert runtime.store.journal.verify() is None
    assert spent_today(house, runtime) == receipt.usd > 0
    assert house.holding(runtime) == 990_000_000


def written_input(amount):
    return {"amount": amount, "asset": USDC.coin_type}


def test_what_waits_is_written_down_and_nothing_else_happens(house, runtime):
    before = house.transactions()

    events, written = finished(carry_out(road_of(runtime), write_call("save_deposit", amount=100)))

    action = only(PendingAction, events).action
    attempt = newest(runtime)
    assert (written.status, written.receipt, written.attempt_id) == ("held", None, attempt.id)
    assert steps_of(attempt) == [Step.PROPOSED]
    assert action.tier == "confirm"
    assert "50" in action.reason
    assert base64.b64decode(action.tx.bytes)
    assert f"resume {attempt.id} --approve" in written.reply["display_text"]
    assert attempt.opened["expires_ms"] == house.now_ms + runtime.settings.approval_minutes * 60_000
    assert spent_today(house, runtime) == 0
    assert house.transactions() == before


def test_what_waits_says_what_it_would_move(runtime):
    events, _ = finished(carry_out(road_of(runtime), write_call("swap_execute", **SWAP, amount=50)))

    action = only(PendingAction, events).action
    gone, come = action.preview.balance_changes
    assert (gone.symbol, gone.amount) == ("SUI", -50)
    assert come.amount >= action.preview.min_received[0].amount > 0
    assert action.preview.route[0]["dex"] == "CETUS"
    assert action.can_regenerate is True
    assert action.quote_age_s == 0
    assert action.modifiable_fields


SWAP = {"from": "SUI", "to": "USDC"}


def test_a_guard_that_blocks_stops_it_before_the_network_is_asked(house, runtime):
    road = road_of(runtime)

    with pytest.raises(GuardBlocked, match="wallet's own address"):
        finished(carry_out(road, write_call("send_transfer", to=road.wallet, amount=1, asset="USDC")))

    assert runtime.store.journal.recent() == []


def test_a_guard_that_blocks_is_an_event_and_the_turn_is_refused(runtime):
    events = called(runtime, "send_transfer", to=str(runtime.address()), amount="1", asset="USDC")

    assert only(GuardEvent, events).verdict == "block"
    assert only(ErrorEvent, events).code == "guard_blocked"
    assert only(TurnComplete, events).stop_reason == "refused"


def test_more_than_the_wallet_holds_is_refused_in_words(runtime):
    with pytest.raises(InsufficientBalance, match="hold 1000 USDC"):
        finished(carry_out(road_of(runtime), write_call("save_deposit", amount=1001)))

    assert runtime.store.journal.recent() == []


def test_what_would_fail_on_chain_is_never_signed(runtime):
    """A swap whose floor no pool meets is the plainest transaction that aborts."""
    road, call = road_of(runtime), write_call("swap_execute", **SWAP, amount=2)
    intent = call.tool.prepare(call.args, road.context)
    greedy = intent.with_floor(Amount(USDC, 10**12))

    with pytest.raises(SimulationFailed, match="would fail"):
        check_simulation(road.network.draft(road.wallet, greedy.build), greedy, road.wallet)


def test_what_moves_other_amounts_than_asked_is_never_signed(runtime):
    """Step 7: had the tool built a transaction for another amount, its effects would give it away."""
    road = road_of(runtime)
    small, large = (
        write_call("send_transfer", to=STRANGER, amount=amount, asset="USDC") for amount in (1, 900)
    )
    meant = small.tool.prepare(small.args, road.context)
    built = large.tool.prepare(large.args, road.context)

    with pytest.raises(SimulationFailed) as caught:
        check_simulation(road.network.draft(road.wallet, built.build), meant, road.wallet)

    assert "Nothing was sent" in caught.value.hint


def test_a_day_lets_through_what_its_limit_holds(house, runtime):
    house.environ["TIDEGATE_PRESET"] = "conservative"
    runtime = house.open()
    for _ in range(22):
        assert only(WriteResult, called(runtime, "save_deposit", amount="4.5")).auto

    events = called(runtime, "save_deposit", amount="4.5")

    action = only(PendingAction, events).action
    assert "limit for a day" in action.reason
    assert [hint.guard for hint in every(GuardEvent, events) if "day" in hint.message] == [
        "daily_spend_limit"
    ]
    assert 95 < spent_today(house, runtime) <= 100
    house.now_ms += 86_400_000
    assert only(WriteResult, called(house.open(), "save_deposit", amount="4.5")).auto


def test_the_limit_holds_against_a_process_that_was_quicker(house, runtime):
    """Another process takes the day's limit between the decision and the reservation."""
    other = house.open()
    road = road_of(runtime)

    def unlocked_slowly():
        other.store.spend.reserve(
            "other", road.wallet, utc_day(house.now_ms), Usd(Decimal(195)), Usd(Decimal(200))
        )
        return runtime.signer()

    slow = replace(road, signer=unlocked_slowly)
    events, written = finished(carry_out(slow, write_call("save_deposit", amount=10)))

    assert written.status == "held"
    assert "limit for a day" in only(PendingAction, events).action.reason
    proposed, given_up = runtime.store.journal.recent()
    assert steps_of(proposed) == [Step.PROPOSED]
    assert steps_of(given_up) == [Step.RESERVED, Step.FAILED]
    assert house.holding(runtime) == 1_000_000_000


def test_a_slower_clock_that_gave_the_attempt_up_first_changes_nothing(house, runtime):
    other = house.open()
    road = road_of(runtime)
    spend = runtime.store.spend
    day = utc_day(house.now_ms)
    spend.reserve("other", road.wallet, day, Usd(Decimal(195)), Usd(Decimal(200)))

    class Recovering:
        """Ends every attempt at the moment it reserves, as a recovery on another host might."""

        def __getattr__(self, name):
            return getattr(spend, name)

        def spent(self, wallet, day):
            return Usd(Decimal(0))

        def reserve(self, attempt_id, wallet, day, usd, limit):
            other.store.journal.append(attempt_id, Step.FAILED, house.now_ms, {"reason": "given up"})
            return spend.reserve(attempt_id, wallet, day, usd, limit)

    class Shared:
        journal, sessions, contacts = runtime.store.journal, runtime.store.sessions, runtime.store.contacts
        spend = Recovering()

    _, written = finished(carry_out(replace(road, store=Shared()), write_call("save_deposit", amount=10)))

    assert written.status == "held"


def test_a_locked_key_reserves_nothing(house, runtime):
    road = road_of(runtime)

    def locked():
        raise PassphraseNeeded("It is locked.")

    with pytest.raises(PassphraseNeeded):
        finished(carry_out(replace(road, signer=locked), write_call("save_deposit", amount=10)))

    assert runtime.store.journal.recent() == []
    assert spent_today(house, runtime) == 0


def test_without_a_preset_everything_waits(runtime):
    road = replace(road_of(runtime), preset=None)

    events, written = finished(carry_out(road, write_call("save_deposit", amount=1)))

    assert written.status == "held"
    assert "No preset is chosen" in only(PendingAction, events).action.reason
    assert newest(runtime).opened["preset"] is None


def test_money_for_a_stranger_waits_and_for_a_contact_does_not(runtime):
    send = {"to": STRANGER, "amount": "5", "asset": "USDC"}
    assert only(PendingAction, called(runtime, "send_transfer", **send)).action.tier == "confirm"

    called(runtime, "save_contact", name="bob", address=STRANGER)

    assert only(WriteResult, called(runtime, "send_transfer", **send | {"to": "bob"})).auto is True


def test_a_rehearsal_shows_the_effects_and_leaves_no_trace(house, runtime):
    before = house.transactions()

    events, written = finished(
        carry_out(road_of(runtime, dry_run=True), write_call("save_deposit", amount=10))
    )

    receipt = only(WriteResult, events)
    assert (receipt.status, receipt.digest, receipt.auto) == ("simulated", None, True)
    assert receipt.balance_changes[0].amount == -10
    assert receipt.gas.sui > 0
    assert "Nothing was sent" in written.reply["display_text"]
    assert runtime.store.journal.recent() == []
    assert house.transactions() == before


def test_a_rehearsal_of_what_would_wait_says_so(runtime):
    events, _ = finished(carry_out(road_of(runtime, dry_run=True), write_call("save_deposit", amount=100)))

    receipt = only(WriteResult, events)
    assert receipt.auto is False
    assert "without asking" in receipt.message


def test_a_model_that_read_no_balance_is_told_to_and_the_write_goes_on(runtime):
    call = replace(write_call("save_deposit", amount=10), direct=False)

    events, written = finished(carry_out(road_of(runtime), call))

    assert only(GuardEvent, events).guard == "balance_required"
    assert written.reply["guards"] == [f"balance_required: {only(GuardEvent, events).message}"]
    assert written.status == "executed"


def test_every_write_tool_makes_the_same_write_from_its_canonical_input(runtime):
    """Approval rebuilds from the journal: a field that drifts on the way would change what was agreed to."""
    called(runtime, "save_deposit", amount="10")
    road = road_of(runtime)
    for name, fields in (
        ("save_deposit", {"amount": "10.0"}),
        ("withdraw", {"amount": "50%"}),
        ("send_transfer", {"to": STRANGER.upper().replace("0X", "0x"), "amount": "1e1", "asset": "usdc"}),
        ("swap_execute", SWAP | {"amount": "2"}),
        ("swap_execute", SWAP | {"amount": "2", "by_amount_in": "false"}),
    ):
        call = write_call(name, **fields)
        once = call.tool.prepare(call.args, road.context)
        again = call.tool.prepare(type(call.args).model_validate(once.input), road.context)
        assert again.input == once.input, name
        assert again.moves == once.moves, name
        assert tool_by_name(name) is call.tool
