"""tidegate call: one tool, named by a person."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from verbs import Ended, Home

STRANGER = "0x" + "5e" * 32


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def of(ended: Ended, kind: str) -> list[dict[str, Any]]:
    return [event for event in ended.rows if event["type"] == kind]


def result(ended: Ended) -> dict[str, Any]:
    (only,) = of(ended, "tool_result")
    row: dict[str, Any] = only["result"]
    return row


def test_a_read_is_one_tool_and_no_model_step(home: Home) -> None:
    ended = home.run("call", "balance_check")
    assert ended.status == 0
    assert [event["type"] for event in ended.rows] == [
        "stream_started",
        "tool_start",
        "tool_result",
        "turn_complete",
    ]
    assert ended.rows[1]["read_only"] is True
    assert ended.rows[-1]["text"] == result(ended)["display_text"]


def test_fields_are_read_as_their_kind(home: Home) -> None:
    prices = result(home.run("call", "token_prices", "symbols=SUI,USDC"))["data"]["prices"]
    assert [price["symbol"] for price in prices] == ["SUI", "USDC"]
    markets = result(home.run("call", "rates_info", "top_n=1", "stable_only=true"))["data"]
    assert str(markets).count("'symbol'") == 1
    assert home.run("call", "transaction_history", "limit=5").status == 0


def test_an_amount_keeps_the_digits_it_was_written_with(home: Home) -> None:
    ended = home.run("call", "save_deposit", "amount=1.123456")
    (receipt,) = of(ended, "write_result")
    assert ended.status == 0
    assert [change["amount"] for change in receipt["balance_changes"]] == [Decimal("-1.123456")]


def test_a_write_takes_the_road_of_any_other(home: Home) -> None:
    waits = home.run("call", "send_transfer", f"to={STRANGER}", "amount=50")
    assert waits.status == 3
    assert f"tidegate resume {of(waits, 'turn_complete')[0]['pending'][0]} --approve" in waits.stderr
    goes = home.run("call", "save_deposit", "amount=10")
    assert (goes.status, of(goes, "write_result")[0]["auto"]) == (0, True)
    assert {row["state"] for row in home.run("journal").rows} == {"proposed", "final"}


def test_a_dry_run_says_what_would_happen_and_leaves_no_trace(home: Home) -> None:
    for amount in ("10", "900"):
        ended = home.run("call", "save_deposit", f"amount={amount}", "--dry-run")
        (receipt,) = of(ended, "write_result")
        assert (ended.status, receipt["status"]) == (0, "simulated")
        assert receipt["balance_changes"][0]["amount"] == -int(amount)
    assert home.run("journal").stdout == ""


def test_a_share_is_of_what_is_held(home: Home) -> None:
    ended = home.run("call", "save_deposit", "amount=2%")
    assert of(ended, "write_result")[0]["balance_changes"][0]["amount"] == -20
    home.run("call", "withdraw", "amount=all")
    assert result(home.run("call", "savings_info"))["data"]["positions"] == []


def test_a_contact_is_saved_and_used(home: Home) -> None:
    saved = home.run("call", "save_contact", "name=bob", f"address={STRANGER}")
    assert (saved.status, of(saved, "write_result")) == (0, [])
    sent = home.run("call", "send_transfer", "to=bob", "amount=5")
    assert of(sent, "write_result")[0]["status"] == "executed"
    assert result(home.run("call", "balance_check", "address=bob"))["data"]["holdings"][0]["amount"] == 5


def test_a_value_may_hold_an_equal_sign(home: Home) -> None:
    ended = home.run("call", "save_contact", "name=a=b", f"address={STRANGER}")
    assert of(ended, "tool_start")[0]["input"]["name"] == "a=b"


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["save_deposit"], "amount"),
        (["save_deposit", "amount=10", "colour=red"], "colour"),
        (["save_deposit", "10"], "name=value"),
        (["save_deposit", "=10"], "name=value"),
        (["save_deposit", "amount=10", "amount=20"], "given twice"),
        (["rates_info", "top_n=many"], "top_n"),
        (["rates_info", "top_n=0"], "top_n"),
        (["transaction_history", "limit=51"], "limit"),
        (["balance_check", "address=nobody"], "nobody"),
        (["save_contact", "name=bob", "address=0x12"], "0x12"),
        (["save_deposit", "amount=10", "asset=DOGE"], "DOGE"),
    ],
)
def test_what_a_tool_cannot_take_is_bad_input_and_writes_nothing(
    home: Home, args: list[str], told: str
) -> None:
    ended = home.run("call", *args)
    assert ended.status == 2
    (wrong,) = of(ended, "error")
    assert told in wrong["message"]
    assert (wrong["retryable"], of(ended, "write_result")) == (False, [])
    assert f"error: {wrong['message']}" in ended.stderr
    assert home.run("journal").stdout == ""


def test_a_call_belongs_to_a_conversation(home: Home) -> None:
    session = home.run("ask", "balance").rows[0]["session_id"]
    ended = home.run("call", "token_prices", "symbols=SUI", "--session", session)
    assert (ended.rows[0]["session_id"], ended.rows[0]["turn"]) == (session, 2)
    unknown = home.run("call", "balance_check", "--session", "nope")
    assert (unknown.status, of(unknown, "error")[0]["code"]) == (2, "not_found")


def test_people_see_the_answer_on_stdout_and_the_way_there_on_stderr(home: Home) -> None:
    ended = home.run("call", "save_deposit", "amount=10", "--output", "text")
    assert ended.stdout.startswith("save_deposit executed · -10 USDC")
    assert "· save_deposit amount=10" in ended.stderr


def test_an_unknown_model_provider_is_told_even_where_no_model_is_asked(home: Home) -> None:
    ended = home.run("call", "balance_check", TIDEGATE_PROVIDER="oracle")
    assert (ended.status, of(ended, "error")[0]["code"]) == (2, "bad_config")
