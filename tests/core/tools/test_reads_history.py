"""transaction_history: what each transaction was, and which of them are listed."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from threading import Event as Flag
from typing import Any

import pytest
from tool_house import DAY_MS, START_MS, STRANGER, House, describe_coin, forget_coin, save

from tidegate.core.chain import cetus, navi
from tidegate.core.chain.types import Ptb
from tidegate.core.errors import BadAddress, UsageError, WalletMissing
from tidegate.core.money import Amount
from tidegate.core.sandbox import controls
from tidegate.core.tokens import SUI, USDC
from tidegate.core.tools.reads.history import (
    TRANSACTION_HISTORY,
    Change,
    HistoryInput,
    HistoryOutput,
    Transaction,
    read_history,
)
from tidegate.core.tools.registry import parse_input

OTHER = "0x" + "88" * 32
FROG = f"{STRANGER}::frog::FROG"
USDC_5, SUI_2 = Amount(USDC, 5 * 10**6), Amount(SUI, 2 * 10**9)


def history(house: House, **fields: Any) -> HistoryOutput:
    output = read_history(parse_input(TRANSACTION_HISTORY, fields), house.context()).data
    assert isinstance(output, HistoryOutput)
    return output


def newest(house: House, **fields: Any) -> Transaction:
    return history(house, **fields).transactions[0]


def pay(house: House, amount: Amount, to: str = STRANGER) -> str:
    return house.carry_out(lambda ptb: ptb.transfer([ptb.coin(amount)], to)).digest


def withdraw(house: House, amount: Amount) -> str:
    return house.carry_out(lambda ptb: navi.withdraw(house.network, ptb, amount)).digest


def swap(house: House, paid: Amount, wanted: Any = USDC) -> str:
    quote = cetus.quote_exact_in(house.network, paid, wanted)
    return house.carry_out(lambda ptb: cetus.swap(house.network, ptb, quote, 0)).digest


# What a transaction was


def test_a_payment_has_its_amount_without_the_gas(house: House) -> None:
    digest = pay(house, SUI_2)

    found = newest(house)

    assert (found.digest, found.action, found.status) == (digest, "send", "success")
    assert found.changes == [Change(symbol="SUI", coin_type=SUI.coin_type, amount=Decimal(-2))]
    assert found.counterparty == STRANGER
    assert found.label == f"Sent 2 SUI to {STRANGER}"
    assert found.time == "2027-01-15T08:00:00.000Z"
    assert 0 < found.gas_sui < Decimal("0.1")


def test_a_contact_is_named_in_the_label_and_in_full_beside_it(house: House) -> None:
    house.befriend("bob", STRANGER)
    pay(house, USDC_5)

    assert (newest(house).label, newest(house).counterparty) == ("Sent 5 USDC to bob", STRANGER)


def test_whoever_received_sees_the_other_side_and_paid_no_gas(house: House) -> None:
    house.befriend("alice", house.wallet)
    pay(house, USDC_5)

    found = newest(house, address=STRANGER)

    assert found.label == "Received 5 USDC from alice"
    assert [change.amount for change in found.changes] == [5]
    assert found.gas_sui == 0


def test_a_payment_to_several_has_no_one_counterparty(house: House) -> None:
    def build(ptb: Ptb) -> None:
        ptb.transfer([ptb.coin(USDC_5)], STRANGER)
        ptb.transfer([ptb.coin(USDC_5)], OTHER)

    house.carry_out(build)

    assert (newest(house).label, newest(house).counterparty) == ("Sent 10 USDC", None)


def test_a_payment_of_two_coins_names_both(house: House) -> None:
    house.carry_out(lambda ptb: ptb.transfer([ptb.coin(USDC_5), ptb.coin(SUI_2)], STRANGER))

    assert newest(house).label == f"Sent 2 SUI and 5 USDC to {STRANGER}"


def test_what_moves_nothing_but_gas_is_just_a_transaction(house: House) -> None:
    pay(house, USDC_5, to=house.wallet)

    found = newest(house)

    assert (found.label, found.changes, found.counterparty) == ("Transaction", [], None)
    assert found.gas_sui > 0


def test_coins_that_were_given_are_received_from_nobody(house: House) -> None:
    assert [(each.action, each.label) for each in history(house).transactions] == [
        ("transaction", "Received 1000 USDC"),
        ("transaction", "Received 100 SUI"),
    ]


def test_deposits_and_withdrawals_are_told_apart(house: House) -> None:
    save(house, USDC_5)
    withdraw(house, Amount(USDC, 3 * 10**6))
    save(house, SUI_2)
    withdraw(house, Amount(SUI, 10**9))

    assert [(each.action, each.label) for each in history(house).transactions[:4]] == [
        ("lending", "Took 1 SUI out of NAVI"),
        ("lending", "Paid 2 SUI into NAVI"),
        ("lending", "Took 3 USDC out of NAVI"),
        ("lending", "Paid 5 USDC into NAVI"),
    ]


@pytest.mark.parametrize("amount", [SUI_2, USDC_5])
def test_a_swap_has_both_sides_without_the_gas(house: House, amount: Amount) -> None:
    wanted = USDC if amount.token == SUI else SUI
    quote = cetus.quote_exact_in(house.network, amount, wanted)
    swap(house, amount, wanted)

    assert newest(house).action == "swap"
    assert newest(house).label == f"Swapped {amount} to {quote.amount_out}"


def test_a_failed_transaction_says_why_and_what_it_cost(house: House) -> None:
    draft = house.network.draft(house.wallet, lambda ptb: ptb.transfer([ptb.coin(USDC_5)], STRANGER))
    controls.set_fault(house.ledger, "abort", 1)
    house.network.execute(draft.bytes, house.signer.sign(draft.bytes))

    found = newest(house)

    assert (found.status, found.changes) == ("failed", [])
    assert found.label == "Failed: The contract stopped in fault::abort with code 1."
    assert found.gas_sui > 0


def test_a_coin_without_metadata_is_left_out_of_the_changes(house: House) -> None:
    describe_coin(house.ledger, FROG, "FROG", 2)
    controls.faucet(house.ledger, house.wallet, FROG, 123)
    assert newest(house).label == "Received 1.23 FROG"

    forget_coin(house.ledger, FROG)
    house.tokens = type(house.tokens)(house.network)

    assert (newest(house).label, newest(house).changes) == ("Transaction", [])


def test_amounts_keep_every_digit(house: House) -> None:
    pay(house, Amount(SUI, 1_234_567_891))

    assert newest(house).changes[0].amount == Decimal("-1.234567891")


# Which are listed


@pytest.fixture
def busy(house: House) -> House:
    """A wallet that was given coins, saved, and on the next day paid, swapped and was paid."""
    save(house, USDC_5)
    house.now_ms += DAY_MS
    pay(house, USDC_5)
    swap(house, SUI_2)
    pay(house, Amount(USDC, 10**6), OTHER)
    return house


@pytest.mark.parametrize(
    ("fields", "labels"),
    [
        ({"limit": 2}, ["Sent 1 USDC", "Swapped 2 SUI"]),
        ({"action": "send"}, ["Sent 1 USDC", "Sent 5 USDC"]),
        ({"action": "swap"}, ["Swapped 2 SUI"]),
        ({"action": "lending"}, ["Paid 5 USDC"]),
        ({"action": "transaction"}, ["Received 1000 USDC", "Received 100 SUI"]),
        ({"counterparty": STRANGER}, ["Sent 5 USDC"]),
        ({"counterparty": "other"}, ["Sent 1 USDC"]),
        ({"date": "2027-01-15"}, ["Paid 5 USDC", "Received 1000 USDC", "Received 100 SUI"]),
        ({"date": "2027-01-16", "action": "send"}, ["Sent 1 USDC", "Sent 5 USDC"]),
        ({"date": "2027-01-17"}, []),
        ({"direction": "in"}, ["Swapped 2 SUI", "Received 1000 USDC", "Received 100 SUI"]),
        ({"direction": "out"}, ["Sent 1 USDC", "Swapped 2 SUI", "Sent 5 USDC", "Paid 5 USDC"]),
    ],
)
def test_filters_leave_what_matches_all_of_them(busy: House, fields: Any, labels: list[str]) -> None:
    busy.befriend("other", OTHER)

    found = history(busy, **fields).transactions

    assert len(found) == len(labels)
    assert all(each.label.startswith(label) for each, label in zip(found, labels, strict=True))


def test_the_day_is_that_of_utc(house: House) -> None:
    midnight = START_MS - START_MS % DAY_MS + DAY_MS
    house.now_ms = midnight - 1
    pay(house, USDC_5)
    house.now_ms = midnight
    pay(house, Amount(USDC, 10**6))

    (before,) = history(house, date="2027-01-15", action="send").transactions
    (after,) = history(house, date="2027-01-16").transactions

    assert (before.time, after.time) == ("2027-01-15T23:59:59.999Z", "2027-01-16T00:00:00.000Z")


def test_a_list_goes_on_where_the_last_one_ended(busy: House) -> None:
    first = history(busy, limit=4)
    second = history(busy, limit=4, before=first.next_cursor)

    assert (len(first.transactions), len(second.transactions)) == (4, 2)
    assert first.transactions + second.transactions == history(busy, limit=50).transactions
    assert second.next_cursor is None


def test_a_filter_looks_beyond_the_first_page(busy: House) -> None:
    found = history(busy, limit=1, action="lending")

    assert [each.action for each in found.transactions] == ["lending"]
    assert found.searched >= 4


def give_often(house: House, times: int) -> None:
    """Make a long history."""
    with house.ledger.write():
        for _ in range(times):
            controls.faucet(house.ledger, house.wallet, SUI.coin_type, 10**9)


def test_a_search_gives_up_in_a_long_history_and_says_where_to_go_on(house: House) -> None:
    save(house, USDC_5)
    give_often(house, 300)

    found = history(house, limit=1, action="lending")

    assert found.transactions == []
    assert found.next_cursor is not None


def test_a_search_that_was_interrupted_goes_no_further(house: House) -> None:
    save(house, USDC_5)
    give_often(house, 60)
    cancelled = Flag()
    cancelled.set()

    result = read_history(HistoryInput(limit=1, action="lending"), house.context(cancelled=cancelled))

    assert isinstance(result.data, HistoryOutput)
    assert result.data.transactions == []
    assert result.data.next_cursor is not None


@pytest.mark.parametrize(
    "fields",
    [
        {"limit": 0},
        {"limit": 51},
        {"action": "pay"},
        {"direction": "up"},
        {"date": "yesterday"},
        {"before": "x" * 201},
    ],
)
def test_filters_that_mean_nothing_are_refused(fields: Any) -> None:
    with pytest.raises(UsageError, match="transaction_history cannot take this input"):
        parse_input(TRANSACTION_HISTORY, fields)


def test_a_cursor_that_is_none_is_refused(house: House) -> None:
    with pytest.raises(UsageError):
        history(house, before="nonsense")


@pytest.mark.parametrize("name", ["address", "counterparty"])
def test_an_account_that_nobody_knows_is_refused(house: House, name: str) -> None:
    with pytest.raises(BadAddress):
        history(house, **{name: "bob"})


def test_without_a_wallet_an_account_must_be_named(house: House) -> None:
    nobody = house.context(wallet=None)

    with pytest.raises(WalletMissing):
        read_history(HistoryInput(), nobody)
    assert read_history(HistoryInput(address=house.wallet), nobody).data != history(house)


# The sentence


def sentences(house: House, **fields: Any) -> str:
    return read_history(parse_input(TRANSACTION_HISTORY, fields), house.context()).display_text


@pytest.mark.parametrize(
    ("act", "fields", "text"),
    [
        (lambda house: None, {"address": STRANGER}, "No transactions yet."),
        (lambda house: None, {"action": "swap"}, "No transaction matches."),
        (lambda house: None, {"limit": 1}, "One transaction: 2027-01-15 08:00 Received 1000 USDC."),
        (
            lambda house: save(house, USDC_5),
            {"limit": 2},
            "The last 2 transactions: 2027-01-15 08:00 Paid 5 USDC into NAVI; "
            "2027-01-15 08:00 Received 1000 USDC.",
        ),
    ],
)
def test_the_sentence_lists_them(
    house: House, act: Callable[[House], object], fields: Any, text: str
) -> None:
    act(house)

    assert sentences(house, **fields) == text


def test_the_sentence_stops_at_ten(house: House) -> None:
    give_often(house, 10)

    text = sentences(house, limit=12)

    assert text.startswith("The last 12 transactions: ")
    assert text.count("Received") == 10
