from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from tidegate.core.money import Amount, Usd
from tidegate.core.policy.guards.balance_required import judge
from tidegate.core.policy.types import GuardContext, Operation, SettledCall
from tidegate.core.tokens import SUI, USDC, Token

Make = Callable[..., GuardContext]
Settle = Callable[..., SettledCall]

FIVE_USDC = Amount(USDC, 5_000_000)
FAKE_USDC = Token("USDC", "0x" + "66" * 32 + "::usdc::USDC", 6)


@pytest.fixture
def send(call: Make) -> Make:
    """A send of 5 USDC that needs a balance, unless told otherwise."""

    def make(**changes: Any) -> GuardContext:
        asked = {"requires_balance": True, "outflows": (FIVE_USDC,), "usd": Usd(Decimal(5))}
        return call(**(asked | changes))

    return make


@pytest.fixture
def withdraw(send: Make) -> Make:
    """A withdrawal of 5 USDC."""

    def make(**changes: Any) -> GuardContext:
        return send(operation=Operation.WITHDRAW, requires_balance=False, **changes)

    return make


@pytest.fixture
def balance(settled: Settle, wallet: str) -> Settle:
    """A reading of the wallet that found so many base units of USDC."""

    def make(usdc: object, **changes: Any) -> SettledCall:
        rows = [] if usdc is None else [{"symbol": "USDC", "coin_type": USDC.coin_type, "amount_raw": usdc}]
        data = {"address": wallet, "is_self": True, "degraded": False, "holdings": rows}
        return settled("balance_check", data | changes)

    return make


@pytest.fixture
def savings(settled: Settle, wallet: str) -> Settle:
    """A reading of deposits that found so many base units of USDC."""

    def make(usdc: str, kind: str = "supply") -> SettledCall:
        row = {"type": kind, "coin_type": USDC.coin_type, "amount_raw": usdc}
        return settled("savings_info", {"address": wallet, "positions": [row]})

    return make


@pytest.fixture
def write(settled: Settle) -> Settle:
    """A write that ended so."""

    def make(status: str) -> SettledCall:
        return settled("save_deposit", {"attempt_id": "a", "status": status})

    return make


def test_less_than_was_read_passes(send: Make, balance: Settle) -> None:
    assert judge(send(history=[balance("5000001")])).verdict == "pass"


def test_exactly_what_was_read_passes(send: Make, balance: Settle) -> None:
    assert judge(send(history=[balance("5000000")])).verdict == "pass"


def test_more_than_was_read_is_blocked_with_both_amounts(send: Make, balance: Settle) -> None:
    opinion = judge(send(history=[balance("4999999")]))
    assert opinion.verdict == "block"
    assert opinion.message.startswith("5 USDC is more than the 4.999999 USDC that balance_check found.")


def test_a_person_who_asks_for_more_than_was_read_is_blocked_too(send: Make, balance: Settle) -> None:
    assert judge(send(history=[balance("4999999")], direct=True)).verdict == "block"


def test_the_newest_reading_counts(send: Make, balance: Settle) -> None:
    assert judge(send(history=[balance("9000000"), balance("1")])).verdict == "block"
    assert judge(send(history=[balance("1"), balance("9000000")])).verdict == "pass"


def test_a_balance_never_read_is_a_hint(send: Make) -> None:
    opinion = judge(send())
    assert opinion.verdict == "hint"
    assert "Read balance_check" in opinion.message


def test_a_person_is_given_no_hint(send: Make) -> None:
    assert judge(send(direct=True)).verdict == "pass"


@pytest.mark.parametrize("status", ["executed", "failed", "unknown"])
def test_a_reading_from_before_the_last_write_is_no_reading(
    send: Make, balance: Settle, write: Settle, status: str
) -> None:
    assert judge(send(history=[balance("1"), write(status)])).verdict == "hint"


@pytest.mark.parametrize("status", ["waiting", "denied", "simulated"])
def test_a_write_that_was_not_sent_changes_no_balance(
    send: Make, balance: Settle, write: Settle, status: str
) -> None:
    assert judge(send(history=[balance("1"), write(status)])).verdict == "block"


def test_what_explain_tx_says_of_a_transaction_is_not_a_write(
    send: Make, balance: Settle, settled: Settle
) -> None:
    history = [balance("1"), settled("explain_tx", {"status": "executed"})]
    assert judge(send(history=history)).verdict == "block"


def test_a_reading_of_somebody_else_is_no_reading(send: Make, balance: Settle) -> None:
    assert judge(send(history=[balance("1", address="0x" + "22" * 32)])).verdict == "hint"


@pytest.mark.parametrize("address", [None, "0x" + "11" * 32])
def test_without_a_wallet_no_reading_is_its_own(send: Make, balance: Settle, address: str | None) -> None:
    assert judge(send(history=[balance("1", address=address)], wallet=None)).verdict == "hint"


def test_a_reading_that_failed_is_no_reading(send: Make, settled: Settle, wallet: str) -> None:
    failed = settled("balance_check", {"address": wallet}, is_error=True)
    assert judge(send(history=[failed])).verdict == "hint"


def test_a_tool_that_needs_no_balance_passes(send: Make) -> None:
    assert judge(send(requires_balance=False)).verdict == "pass"


def test_a_coin_that_is_not_listed_is_not_there(send: Make, balance: Settle) -> None:
    assert judge(send(history=[balance(None)])).verdict == "block"


def test_a_look_alike_coin_is_not_the_coin(send: Make, balance: Settle) -> None:
    context = send(history=[balance("9000000")], outflows=(Amount(FAKE_USDC, 1),))
    assert judge(context).verdict == "block"


@pytest.mark.parametrize(
    ("value", "degraded"), [(Usd(Decimal("0.009")), False), (None, False), (Usd(Decimal(5)), True)]
)
def test_a_coin_that_may_be_left_out_of_the_list_passes(
    send: Make, balance: Settle, value: Usd | None, degraded: bool
) -> None:
    assert judge(send(history=[balance(None, degraded=degraded)], usd=value)).verdict == "pass"


def test_each_of_several_coins_may_be_too_little_to_be_listed(send: Make, balance: Settle) -> None:
    outflows = (Amount(USDC, 9_000), Amount(SUI, 1))
    context = send(history=[balance(None)], outflows=outflows, usd=Usd(Decimal("0.018")))
    assert judge(context).verdict == "pass"


def test_every_coin_that_leaves_is_compared(send: Make, balance: Settle) -> None:
    outflows = (FIVE_USDC, Amount(SUI, 10**9))
    assert judge(send(history=[balance("9000000")], outflows=outflows)).verdict == "block"


@pytest.mark.parametrize("raw", [5_000_000, Decimal(5_000_000)])
def test_base_units_may_be_numbers(send: Make, balance: Settle, raw: object) -> None:
    assert judge(send(history=[balance(raw)])).verdict == "pass"


@pytest.mark.parametrize("raw", ["-1", "NaN", "1e30", None])
def test_base_units_that_are_none_are_not_counted(send: Make, balance: Settle, raw: object) -> None:
    rows = [{"coin_type": USDC.coin_type, "amount_raw": raw}]
    assert judge(send(history=[balance("5000000", holdings=rows)])).verdict == "block"


@pytest.mark.parametrize(
    "rows", [None, "none", 5, ["USDC", 5, None], [{"coin_type": "USDC", "amount_raw": "9000000"}]]
)
def test_a_list_that_cannot_be_read_is_an_empty_one(send: Make, balance: Settle, rows: object) -> None:
    assert judge(send(history=[balance("5000000", holdings=rows)])).verdict == "block"


def test_rows_of_one_coin_are_added_up(send: Make, balance: Settle) -> None:
    row = {"coin_type": USDC.coin_type, "amount_raw": "2500000"}
    assert judge(send(history=[balance("1", holdings=[row, row])])).verdict == "pass"


def test_a_withdrawal_is_compared_with_deposits(withdraw: Make, savings: Settle) -> None:
    assert judge(withdraw(history=[savings("5000000")])).verdict == "pass"
    opinion = judge(withdraw(history=[savings("4000000")]))
    assert (opinion.verdict, "4 USDC that savings_info found" in opinion.message) == ("block", True)


def test_the_interest_since_the_reading_may_be_withdrawn(withdraw: Make, savings: Settle) -> None:
    assert judge(withdraw(history=[savings("4999000")])).verdict == "pass"


def test_a_loan_is_not_a_deposit(withdraw: Make, savings: Settle) -> None:
    assert judge(withdraw(history=[savings("1", "borrow")])).verdict == "pass"


def test_a_withdrawal_without_a_reading_passes(withdraw: Make, balance: Settle) -> None:
    assert judge(withdraw(history=[balance("1")])).verdict == "pass"
