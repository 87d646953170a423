"""Everything that goes wrong says so in one error event, with the right status, and loses nothing."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import time

import pytest

STRANGER = "0x" + "5e" * 32


@pytest.mark.parametrize("amount", ["0", "-1", "NaN", "1e-30"])
def test_a_bad_amount_is_refused(user, amount):
    result = user.run("ask", f"save {amount} USDC")

    assert result.status == 2
    assert result.one("error")["code"] == "bad_amount"
    assert result.all("write_result") == []


@pytest.mark.parametrize("amount", ["0", "-1", "NaN", "1e-30", "1,00", "ten"])
def test_a_bad_amount_is_refused_by_call_too(user, amount):
    result = user.run("call", "save_deposit", f"amount={amount}")

    assert result.status == 2
    assert result.one("error")["code"] == "bad_amount"


def test_an_unknown_token_names_the_known(user):
    result = user.run("call", "swap_quote", "from=SUI", "to=USDX", "amount=1")

    assert result.status == 2
    error = result.one("error")
    assert error["code"] == "unknown_token"
    assert "USDC" in error["hint"]


def test_more_than_there_is_is_refused(user):
    result = user.run("call", "save_deposit", "amount=999999")

    assert result.status == 4
    assert result.one("error")["code"] in ("insufficient_balance", "guard_blocked")


def test_an_unreachable_network(user):
    result = user.run("call", "balance_check", "--network", "http://127.0.0.1:9")

    assert result.status in (2, 6)
    assert result.one("error")["code"] in ("network_failed", "wallet_missing")


def test_an_unreachable_network_with_a_wallet(user):
    user.run("wallet", "new", "default")

    result = user.run("call", "balance_check", "--network", "http://127.0.0.1:9")

    assert result.status == 6
    assert result.one("error")["code"] == "network_failed"


def test_a_missing_passphrase(user):
    made = user.run("wallet", "new", "locked", env={"TIDEGATE_PASSPHRASE": "open sesame"})
    assert made.status == 0

    result = user.run("ask", "save 10 USDC", env={"TIDEGATE_WALLET": "locked"})

    assert result.status == 2
    assert result.one("error")["code"] == "passphrase_needed"
    assert result.all("write_result") == []
    opened = user.run(
        "ask", "save 10 USDC", env={"TIDEGATE_WALLET": "locked", "TIDEGATE_PASSPHRASE": "open sesame"}
    )
    assert opened.status == 0


def test_a_key_that_others_can_read_is_refused(user):
    user.run("ask", "hi")
    key = user.home / "config" / "tidegate" / "keys" / "sandbox.json"
    key.chmod(0o644)

    result = user.run("ask", "balance")

    assert result.status == 2
    assert result.one("error")["code"] == "unsafe_key_file"
    assert "chmod" in result.one("error")["hint"]


def test_ten_megabytes_on_stdin(user):
    result = user.run("ask", "-", stdin=b"save 10 USDC " * 800_000)

    assert result.status == 2
    assert result.one("error")["code"] == "bad_input"


def test_rubbish_on_stdin_of_chat_is_one_error_a_line(user):
    result = user.run("chat", stdin=b'{"text":"balance"}\nnot json\n[1]\n\xff\xfe\n{"text":"savings"}\n')

    assert result.status == 2
    assert [event["code"] for event in result.all("error")] == ["bad_input"] * 3
    assert len(result.all("turn_complete")) == 5


def test_a_closed_pipe_ends_quietly(user):
    result = user.shell("tidegate ask hi | head -1")

    assert result.stderr == ""
    assert result.stdout.count("\n") == 1


def test_an_unknown_setting_names_the_closest(user):
    folder = user.home / "config" / "tidegate"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text('netwrok = "sandbox"\n')

    result = user.run("ask", "balance")

    assert result.status == 2
    assert "network" in result.stdout + result.stderr


def test_an_unknown_tool_names_the_closest(user):
    result = user.run("call", "balance_chek")

    assert result.status == 2
    assert "balance_check" in result.one("error")["hint"]


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_the_stream_as_the_contract_says(user, messages_server, sent):
    messages_server.script(messages_server.slow_text("tick ", count=600, pause_s=0.1))
    process = user.start("ask", "talk", env=user_of(messages_server))
    assert process.stdout is not None
    lines = []
    for raw in process.stdout:
        lines.append(raw)
        if b"text_delta" in raw:
            break
    process.send_signal(sent)

    rest, stderr = process.communicate(timeout=20)

    text = (b"".join(lines) + rest).decode()
    assert b"Traceback" not in stderr
    assert '"stop_reason":"interrupted"' in text.splitlines()[-1]
    assert process.returncode == (130 if sent == signal.SIGINT else 143)


def user_of(server):
    return {"ANTHROPIC_API_KEY": "sk-test", "TIDEGATE_ANTHROPIC_BASE_URL": server.url}


def test_a_damaged_state_file_is_an_error_and_not_a_new_start(user):
    user.run("ask", "hi")
    (user.home / "state" / "tidegate" / "tidegate.db").write_bytes(b"not a database" * 1000)

    result = user.run("ask", "save 10 USDC")

    assert result.status == 6
    assert "Traceback" not in result.stderr


def test_a_killed_write_is_settled_by_the_next_resume(user):
    """Kill the process at a random moment of a write; afterwards journal and chain agree."""
    user.run("ask", "hi")
    with user.start("ask", "save 10 USDC") as process:
        time.sleep(1.5)
        process.kill()

    user.run("resume")

    saved = user.savings()
    rows = _journal_states(user)
    assert saved == 0 or rows == ["final"]
    assert (saved > 0) == (rows == ["final"])


def _journal_states(user) -> list[str]:
    return [json.loads(row)["state"] for row in user.run("journal").stdout.splitlines()]


def test_no_secret_is_written_anywhere(user):
    secret = "suiprivkey1qqqqzqsrqszsvpcgpy9qkrqdpc83qygjzv2p29shrqv35xcur50p74yefn7"
    result = user.run("ask", "save 1 USDC", env={"TIDEGATE_PRIVATE_KEY": secret})

    assert secret not in result.stdout + result.stderr
    for path in user.home.rglob("*"):
        if path.is_file():
            assert secret.encode() not in path.read_bytes(), path
    with sqlite3.connect(user.home / "state" / "tidegate" / "tidegate.db") as database:
        assert secret not in "\n".join(database.iterdump())
    database.close()


def test_two_first_runs_at_once_share_one_wallet(user):
    both = [user.start("ask", "balance") for _ in range(2)]
    outputs = [process.communicate(timeout=60)[0].decode() for process in both]

    addresses = {json.loads(text.splitlines()[0])["address"] for text in outputs}
    assert [process.returncode for process in both] == [0, 0]
    assert len(addresses) == 1


def test_help_needs_nothing(user):
    env = user.env() | {"HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent/c"}
    done = subprocess.run(
        ["tidegate", "--help"], capture_output=True, text=True, env=env, check=False, cwd=os.sep
    )

    assert done.returncode == 0
    assert "ask" in done.stdout
