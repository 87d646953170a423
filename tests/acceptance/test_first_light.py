"""A fresh machine: no config, no key, no network."""

from __future__ import annotations

import json
from decimal import Decimal

STRANGER = "0x" + "5e" * 32


def test_the_balance_is_a_sentence(user):
    line = """tidegate ask "What is my balance?" | jq -r 'select(.type=="turn_complete").text'"""

    result = user.shell(line)

    assert result.status == 0
    assert result.stdout.startswith("You have $")
    assert "1000 USDC" in result.stdout
    assert "100 SUI" in result.stdout


def test_the_first_event_says_what_it_runs_on(user):
    first = user.run("ask", "balance").events[0]

    assert first["type"] == "stream_started"
    assert (first["network"], first["provider"], first["preset"]) == ("sandbox", "offline", "balanced")
    assert len(first["address"]) == 66


def test_saving_ten_is_carried_out_and_shows(user):
    saved = user.run("ask", "save 10 USDC")

    assert saved.status == 0
    receipt = saved.one("write_result")
    assert (receipt["status"], receipt["auto"]) == ("executed", True)
    assert receipt["digest"] in saved.text
    assert Decimal("9.99") < user.savings() <= 10
    assert user.holding("USDC") == 990
    journal = [json.loads(row) for row in user.run("journal").stdout.splitlines()]
    assert [row["state"] for row in journal] == ["final"]
    assert journal[0]["attempt_id"] == receipt["attempt_id"]


def test_sending_much_waits_then_settles_once(user):
    asked = user.run("ask", f"send 500 USDC to {STRANGER}")

    assert asked.status == 3
    action = asked.one("pending_action")["action"]
    assert action["tx"]["bytes"]
    assert action["tier"] == "explicit"
    assert user.holding("USDC") == 1000

    refused = user.run("resume", "--approve", "--i-understand", "1")
    assert refused.status == 4, "an amount that is not this write's is never agreed to"
    approved = user.run("resume", "--approve")
    assert approved.status == 0, approved.stdout
    assert str(action["usd"]) in approved.one("guard")["message"], "what a real network would ask"
    receipt = approved.one("write_result")
    assert receipt["status"] == "executed"
    assert user.holding("USDC") == 500

    again = user.run("resume", "--approve")
    assert again.status == 0
    assert again.one("write_result")["digest"] == receipt["digest"]
    assert user.holding("USDC") == 500


def test_off_the_embedded_sandbox_much_money_needs_the_amount_repeated(user):
    mine = json.loads(user.run("wallet", "new", "mine").stdout)["address"]
    assert user.run("sandbox", "faucet", mine, "1000", "--token", "USDC").status == 0
    assert user.run("sandbox", "faucet", mine, "10").status == 0
    with user.serving() as url:
        user.environ |= {"TIDEGATE_NETWORK": url, "TIDEGATE_WALLET": "mine"}
        asked = user.run("ask", f"send 500 USDC to {STRANGER}")
        assert asked.status == 3, asked.stdout + asked.stderr
        usd = str(asked.one("pending_action")["action"]["usd"])

        plain = user.run("resume", "--approve")
        assert plain.status == 4
        assert f"--i-understand {usd}" in plain.one("error")["hint"]
        assert user.holding("USDC") == 1000

        understood = user.run("resume", "--approve", "--i-understand", usd)
        assert understood.status == 0, understood.stdout
        assert user.holding("USDC") == 500


def test_a_send_to_a_stranger_waits_and_a_plain_approval_settles_it(user):
    asked = user.run("ask", f"send 50 USDC to {STRANGER}")
    assert asked.status == 3
    attempt = asked.one("pending_action")["action"]["attempt_id"]

    approved = user.run("resume", attempt, "--approve")

    assert approved.status == 0
    assert approved.one("write_result")["status"] == "executed"
    again = user.run("resume", "--approve")
    assert again.one("write_result")["digest"] == approved.one("write_result")["digest"]
    assert user.holding("USDC") == 950


def test_denying_moves_nothing(user):
    user.run("ask", f"send 50 USDC to {STRANGER}")

    denied = user.run("resume", "--deny")

    assert denied.status == 4
    assert denied.one("write_result")["status"] == "denied"
    assert user.run("resume", "--approve").status in (2, 4)
    assert user.holding("USDC") == 1000


def test_a_changed_amount_runs_the_road_again(user):
    user.run("ask", f"send 50 USDC to {STRANGER}")

    changed = user.run("resume", "--set", "amount=5")

    assert changed.status == 3
    action = changed.one("pending_action")["action"]
    assert (action["input"]["amount"], action["description"][:11]) == (5, "Send 5 USDC")
    assert user.run("resume", "--approve").status == 0
    assert user.holding("USDC") == 995


def test_a_quote_is_a_number(user):
    line = "tidegate quote SUI USDC 2 | jq .amount_out"

    result = user.shell(line)

    assert result.status == 0
    assert Decimal(result.stdout.strip()) > 0
    assert not (user.home / "config").exists()


def test_two_requests_in_one_chat(user):
    lines = '{"text":"balance"}\n{"text":"save 1 USDC"}\n'

    chat = user.run("chat", stdin=lines)

    assert chat.status == 0
    done = chat.all("turn_complete")
    assert len(done) == 2
    assert len({event["session_id"] for event in chat.events}) == 1
    assert chat.one("write_result")["status"] == "executed"


def test_a_swap_is_quoted_then_carried_out(user):
    swapped = user.run("ask", "swap 2 SUI to USDC")

    assert swapped.status == 0
    assert [event["tool_name"] for event in swapped.all("tool_start")] == ["swap_quote", "swap_execute"]
    quoted = swapped.all("tool_result")[0]["result"]["data"]
    gained = next(c for c in swapped.one("write_result")["balance_changes"] if c["symbol"] == "USDC")
    assert gained["amount"] == quoted["amount_out"]


def test_withdrawing_after_saving(user):
    user.run("ask", "save 10 USDC")

    taken = user.run("ask", "withdraw 3")

    assert taken.status == 0
    assert user.holding("USDC") == 993


def test_two_requests_joined_by_and(user):
    done = user.run("ask", "save 10 USDC and then withdraw 3")

    assert done.status == 0
    assert [receipt["tool_name"] for receipt in done.all("write_result")] == ["save_deposit", "withdraw"]


def test_money_to_a_saved_contact_goes_at_once(user):
    user.run("ask", f"save contact bob {STRANGER}")

    sent = user.run("ask", "send 5 USDC to bob")

    assert sent.status == 0
    assert sent.one("write_result")["auto"] is True


def test_the_rates_and_the_history_read(user):
    user.run("ask", "save 10 USDC")

    assert "USDC" in user.run("ask", "what are the rates").text
    assert "Paid 10 USDC into NAVI" in user.run("ask", "history").text


def test_a_dry_run_moves_nothing(user):
    rehearsed = user.run("ask", "save 10 USDC", "--dry-run")

    assert rehearsed.status == 0
    assert rehearsed.one("write_result")["status"] == "simulated"
    assert user.holding("USDC") == 1000
    assert user.run("journal").stdout == ""


def test_what_is_not_understood_says_what_is(user):
    result = user.run("ask", "paint my fence")

    assert result.status == 2
    assert result.one("error")["code"] == "not_understood"
    assert "balance" in str(result.one("error"))
