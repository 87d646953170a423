"""What reads say when they know only a part."""

from __future__ import annotations

import pytest
from house import House, called, every, only

from tidegate.core.errors import Refused
from tidegate.core.events import ToolResultEvent, WriteResult
from tidegate.core.runtime import Runtime
from tidegate.core.sandbox.controls import advance_clock, set_fault


@pytest.fixture
def machine(tmp_path):
    house = House(tmp_path)
    yield house
    house.close()


@pytest.fixture
def runtime(machine: House) -> Runtime:
    runtime = machine.open()
    runtime.network()
    return runtime


def answer(events):
    return only(ToolResultEvent, events).result


def test_savings_that_cannot_be_valued_are_named(machine, runtime):
    called(runtime, "save_deposit", amount="40")
    with machine.ledger() as ledger:
        advance_clock(ledger, 600_000)
        set_fault(ledger, "lag", 600_000)
    machine.now_ms += 600_000

    read = answer(called(machine.open(), "balance_check"))

    assert read["data"]["degraded"] is True
    assert "Savings in USDC cannot be valued" in read["display_text"]


def test_a_filtered_search_looks_further_than_its_limit(machine, runtime):
    called(runtime, "swap_execute", **{"from": "SUI", "to": "USDC", "amount": "1"})
    for _ in range(6):
        assert every(WriteResult, called(runtime, "save_deposit", amount="1"))

    found = answer(called(runtime, "transaction_history", limit="1", action="swap"))["data"]

    assert [row["action"] for row in found["transactions"]] == ["swap"]
    assert found["searched"] > 6


def test_a_search_goes_on_where_its_page_ended(machine, runtime):
    for amount in ("1", "2", "3"):
        called(runtime, "save_deposit", amount=amount)
        called(runtime, "withdraw", amount=amount)

    labels, cursor = [], {}
    while True:
        found = answer(called(runtime, "transaction_history", limit="1", direction="out", **cursor))["data"]
        labels += [row["label"] for row in found["transactions"]]
        if found["next_cursor"] is None:
            break
        cursor = {"before": found["next_cursor"]}

    assert labels == [f"Paid {amount} USDC into NAVI" for amount in (3, 2, 1)]


def test_more_than_the_pool_holds_is_refused_and_not_tried_again(runtime):
    fields = {"from": "USDC", "to": "SUI", "amount": "1000000", "by_amount_in": "false"}

    error = answer(called(runtime, "swap_quote", **fields))["error"]

    assert (error["code"], error["retryable"]) == (Refused.code, False)
    assert "smaller" in error["hint"]


def test_a_contact_needs_a_name(runtime):
    for name in ("  ", "...", "\u200b"):
        error = answer(called(runtime, "save_contact", name=name, address="0x" + "77" * 32))["error"]
        assert error["code"] == "bad_input"
    assert runtime.store.contacts.all() == []


def test_names_of_every_script_are_kept(runtime):
    for number, name in enumerate(("हिन्दी", "O’Neill", "李雷")):
        saved = answer(called(runtime, "save_contact", name=name, address="0x" + f"7{number}" * 32))
        assert saved["data"]["name"] == name
