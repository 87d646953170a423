from __future__ import annotations

import base64
from dataclasses import replace

import pytest
from house import called, newest, only, road_of, steps_of, write_call

from tidegate.core.errors import NetworkError, OutcomeUnknown, Refused, StoreError, TransactionFailed
from tidegate.core.events import ErrorEvent, TurnComplete, WriteResult
from tidegate.core.policy.tiers import utc_day
from tidegate.core.sandbox.controls import advance_clock, set_fault
from tidegate.core.store.base import Attempt, JournalRow, Step
from tidegate.core.writes import settle
from tidegate.core.writes.road import consider, opening

DAY_MS = 86_400_000


def fault(house, kind, value=1):
    with house.ledger() as ledger:
        set_fault(ledger, kind, value)


def spent_today(house, runtime):
    return runtime.store.spend.spent(runtime.address(), utc_day(house.now_ms)).value


def proposed(road, amount=10):
    """Take a deposit through steps 1 to 7."""
    steps = consider(road, write_call("save_deposit", amount=amount))
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def reserved(house, road, attempt_id="dead0000"):
    """Leave an attempt as a process leaves it that dies after step 8."""
    proposal = proposed(road)
    road.store.journal.append(attempt_id, Step.RESERVED, house.now_ms, opening(road, proposal))
    road.store.spend.reserve(
        attempt_id, road.wallet, utc_day(house.now_ms), proposal.valued.usd, road.preset.auto_daily
    )
    return proposal


def signed(house, road, attempt_id="dead0000"):
    """Leave an attempt as a process leaves it that dies after step 10: signed, and perhaps sent."""
    proposal = reserved(house, road, attempt_id)
    signature = road.signer().sign(proposal.draft.bytes)
    row = {
        "digest": proposal.draft.digest,
        "bytes": base64.b64encode(proposal.draft.bytes).decode(),
        "signature": base64.b64encode(signature.serialized).decode(),
        "epoch": road.network.epoch().epoch,
    }
    road.store.journal.append(attempt_id, Step.SIGNED, house.now_ms, row)
    return proposal, signature


@pytest.fixture
def impatient(monkeypatch, runtime):
    """The network's client as it is, but for the seconds it waits between questions."""
    monkeypatch.setattr(runtime.network()._submitter, "_sleep", lambda seconds: None)


def test_an_answer_that_is_lost_is_asked_for(house, runtime):
    fault(house, "drop-response")

    receipt = only(WriteResult, called(runtime, "save_deposit", amount="10"))

    assert receipt.status == "executed"
    assert house.holding(runtime) == 990_000_000


@pytest.mark.usefixtures("impatient")
def test_an_outcome_that_nobody_tells_stays_unknown_until_the_network_does(house, runtime):
    fault(house, "unavailable", 99)

    events = called(runtime, "save_deposit", amount="10")

    receipt = only(WriteResult, events)
    assert (receipt.status, receipt.auto) == ("unknown", True)
    assert only(ErrorEvent, events).code == "outcome_unknown"
    attempt = newest(runtime)
    assert attempt.state is Step.UNKNOWN
    assert spent_today(house, runtime) > 0

    again = settle.settle(road_of(runtime), attempt)
    assert (again.status, again.receipt.digest) == ("unknown", receipt.digest)
    assert isinstance(again.error, OutcomeUnknown)

    fault(house, "unavailable", 0)
    written = settle.settle(road_of(runtime), newest(runtime))
    assert (written.status, written.receipt.digest) == ("executed", receipt.digest)
    assert steps_of(newest(runtime))[-3:] == [Step.UNKNOWN, Step.UNKNOWN, Step.FINAL]
    assert house.holding(runtime) == 990_000_000


def test_what_was_refused_at_once_moved_nothing_and_gives_its_limit_back(house, runtime):
    """Another process spends the coins between simulation and sending."""
    road = road_of(runtime)
    other, ours = proposed(road, amount=20).draft, reserved(house, road)
    road.network.execute(other.bytes, road.signer().sign(other.bytes))

    receipt = only(WriteResult, settle.sign_and_send(road, "dead0000", ours, road.signer(), auto=True))

    assert receipt.status == "failed"
    assert "Nothing was executed" in receipt.message
    assert newest(runtime).state is Step.FAILED
    assert spent_today(house, runtime) == 0


def test_what_fails_on_chain_costs_its_gas_and_gives_its_limit_back(house, runtime):
    fault(house, "abort")

    events = called(runtime, "save_deposit", amount="10")

    receipt = only(WriteResult, events)
    assert receipt.status == "failed"
    assert receipt.digest is not None
    assert receipt.gas.sui > 0
    error = only(ErrorEvent, events)
    assert error.code == TransactionFailed.code
    assert only(TurnComplete, events).stop_reason == "error"
    assert spent_today(house, runtime) == 0
    assert house.holding(runtime) == 1_000_000_000


def test_a_process_that_died_before_it_sent_is_finished_with_the_same_bytes(house, runtime):
    road = road_of(runtime)
    proposal, _ = signed(house, road)

    written = settle.settle(road, newest(runtime))

    assert (written.status, written.receipt.digest) == ("executed", proposal.draft.digest)
    assert house.holding(runtime) == 990_000_000
    again = settle.settle(road, newest(runtime))
    assert again.receipt == written.receipt
    assert house.holding(runtime) == 990_000_000


def test_a_process_that_died_after_it_sent_is_believed_to_the_network_only(house, runtime):
    road = road_of(runtime)
    proposal, signature = signed(house, road)
    road.network.execute(proposal.draft.bytes, signature)
    executed = house.transactions()

    written = settle.settle(road, newest(runtime))

    assert written.status == "executed"
    assert house.transactions() == executed


def test_what_can_never_be_executed_any_more_is_given_up(house, runtime):
    road = road_of(runtime)
    signed(house, road)
    with house.ledger() as ledger:
        advance_clock(ledger, 3 * DAY_MS)
    house.now_ms += 3 * DAY_MS

    written = settle.settle(road, newest(runtime))

    assert written.status == "failed"
    assert "Its epoch passed" in written.receipt.message
    assert isinstance(written.error, NetworkError)
    assert house.holding(runtime) == 1_000_000_000


def test_an_attempt_in_the_hands_of_another_process_is_left_alone(house, runtime):
    road = road_of(runtime)
    reserved(house, road)

    with pytest.raises(Refused, match="another process"):
        settle.settle(road, newest(runtime))

    assert newest(runtime).state is Step.RESERVED


def test_an_attempt_that_was_never_signed_gives_its_limit_back_after_a_minute(house, runtime):
    road = road_of(runtime)
    reserved(house, road)
    assert spent_today(house, runtime) > 0
    house.now_ms += 60_000

    written = settle.settle(road, newest(runtime))

    assert (written.status, written.receipt.digest) == ("failed", None)
    assert "before it was signed" in written.receipt.message
    assert spent_today(house, runtime) == 0


def test_a_process_that_comes_too_late_to_sign_reports_the_other_ones_outcome(house, runtime):
    road = road_of(runtime)
    late = proposed(road)
    proposal, _ = signed(house, road)
    steps = settle.sign_and_send(road, "dead0000", late, road.signer(), auto=True)

    receipt = next(steps)

    assert (receipt.status, receipt.digest) == ("executed", proposal.draft.digest)
    assert house.holding(runtime) == 990_000_000


def test_two_that_hear_the_same_outcome_write_it_down_once(house, runtime):
    road = road_of(runtime)
    proposal, signature = signed(house, road)
    stale = newest(runtime)
    road.network.execute(proposal.draft.bytes, signature)

    first, second = settle.settle(road, stale), settle.settle(road, stale)

    assert first.receipt == second.receipt
    assert steps_of(newest(runtime)).count(Step.FINAL) == 1


def test_an_outcome_is_written_down_even_if_nobody_quotes_a_price(house, runtime):
    road = road_of(runtime)
    signed(house, road)

    class Silent:
        def read(self, coin_types):
            raise NetworkError("No price comes.")

    silent = replace(road, context=replace(road.context, prices=Silent))
    written = settle.settle(silent, newest(runtime))

    assert written.status == "executed"
    assert written.receipt.gas.usd is None
    assert all(change.usd is None for change in written.receipt.balance_changes)


@pytest.mark.parametrize(
    ("ending", "status"), [(Step.DENIED, "denied"), (Step.EXPIRED, "failed"), (Step.FAILED, "failed")]
)
def test_an_ending_without_a_receipt_is_told_from_its_reason(runtime, ending, status):
    attempt = ended(ending, {"reason": "because"})

    written = settle.ended(attempt)

    assert (written.status, written.receipt.message) == (status, "because")


def test_an_ending_is_told_from_the_journal_alone(house, runtime):
    receipt = only(WriteResult, called(runtime, "save_deposit", amount="10"))

    written = settle.settle(road_of(runtime), newest(runtime))

    assert settle.report.to_json_receipt(written.receipt) == settle.report.to_json_receipt(receipt)
    assert written.error is None


def test_an_attempt_that_is_not_in_the_journal_is_a_broken_store(runtime):
    with pytest.raises(StoreError):
        settle._attempt(road_of(runtime), "nowhere0")


def ended(step, data):
    opened = {"tool": "save_deposit", "description": "Save", "usd": None}
    rows = (
        JournalRow(1, "dead0000", Step.PROPOSED, 0, opened),
        JournalRow(2, "dead0000", step, 1, data),
    )
    return Attempt("dead0000", rows)
