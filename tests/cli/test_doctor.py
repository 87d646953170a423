"""tidegate doctor: each thing that can be wrong is told, and stops no other check."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from verbs import Ended, Home

from tidegate.core.jsonlines import Json
from tidegate.core.store.base import Step

AT = 1_796_000_000_000
NAMES = ["version", "config", "state", "store", "journal", "writes", "wallet", "network", "provider"]
SECRET = "suiprivkey1qqqqzqsrqszsvpcgpy9qkrqdpc83qygjzv2p29shrqv35xcur50p74yefn7"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def failed(ended: Ended) -> dict[str, dict[str, Any]]:
    """Return what is wrong by name, having seen that nothing else was left out."""
    assert [row["name"] for row in ended.rows] == NAMES
    return {row["name"]: row for row in ended.rows if not row["ok"]}


def attempt(home: Home, *steps: Step) -> str:
    data: dict[str, Json] = {"description": "Save 10 USDC", "expires_ms": AT + 10**12}
    store = home.store()
    for step in steps:
        store.journal.append("attempt-1", step, AT, data)
    store.close()
    return "attempt-1"


def test_all_is_well_on_a_fresh_machine_and_no_wallet_is_made(home: Home) -> None:
    ended = home.run("doctor")
    assert (ended.status, failed(ended), ended.stderr) == (0, {}, "")
    assert not home.paths.keys_dir.exists()


def test_people_get_a_line_for_each(home: Home) -> None:
    lines = home.run("doctor", "--output", "text").stdout.splitlines()
    assert [line.split()[:2] for line in lines] == [["ok", name] for name in NAMES]
    assert len(home.run("doctor", "--output", "json").rows[0]) == len(NAMES)


def test_a_bad_configuration_stops_only_what_needs_it(home: Home) -> None:
    home.paths.config_dir.mkdir(parents=True)
    home.paths.config_file.write_text("network = [\n")
    ended = home.run("doctor")
    wrong = failed(ended)
    assert ended.status == 2
    assert list(wrong) == ["config", "wallet", "network", "provider"]
    assert "config.toml, line 2" in wrong["config"]["message"]
    assert "Not looked at" in wrong["network"]["message"]
    assert all(row["hint"] for row in wrong.values())


def test_a_preset_that_does_not_exist_is_a_bad_configuration(home: Home) -> None:
    wrong = failed(home.run("doctor", TIDEGATE_PRESET="reckless"))
    assert "reckless" in wrong["config"]["message"]


def test_a_folder_that_others_can_enter(home: Home) -> None:
    home.paths.state_dir.mkdir(parents=True)
    home.paths.state_dir.chmod(0o755)
    ended = home.run("doctor", "--output", "text")
    assert ended.status == 6
    assert "FAIL state" in ended.stdout
    assert "chmod 700" in ended.stdout


def test_a_store_that_is_none(home: Home) -> None:
    home.paths.state_dir.mkdir(parents=True, mode=0o700)
    home.paths.store_file.write_bytes(b"no database" * 1000)
    ended = home.run("doctor")
    assert ended.status == 6
    assert list(failed(ended)) == ["store", "journal", "writes"]


def test_a_journal_that_was_changed(home: Home) -> None:
    attempt(home, Step.PROPOSED, Step.DENIED)
    with sqlite3.connect(home.paths.store_file) as connection:
        connection.execute("DROP TRIGGER journal_keeps_rows")
        connection.execute("UPDATE journal SET at_ms = at_ms + 1 WHERE seq = 1")
    connection.close()
    ended = home.run("doctor")
    assert ended.status == 6
    assert list(failed(ended)) == ["journal"]


def test_what_was_sent_and_not_heard_of_is_the_highest_concern(home: Home) -> None:
    name = attempt(home, Step.RESERVED, Step.SIGNED, Step.SUBMITTED)
    ended = home.run("doctor", "--network", "http://127.0.0.1:1")
    wrong = failed(ended)
    assert ended.status == 7
    assert name in wrong["writes"]["message"]
    assert "tidegate resume" in wrong["writes"]["hint"]
    assert wrong["network"]["code"] == "network_failed"


def test_what_waits_for_a_decision_is_told_and_is_nothing_wrong(home: Home) -> None:
    name = attempt(home, Step.PROPOSED)
    ended = home.run("doctor")
    assert ended.status == 0
    assert name in next(row["message"] for row in ended.rows if row["name"] == "writes")


@pytest.mark.parametrize("network", ["testnet", "mainnet"])
def test_a_wallet_that_is_missing(home: Home, network: str) -> None:
    wrong = failed(home.run("doctor", "--network", network, TIDEGATE_NETWORK_TIMEOUT_S="0.01"))
    assert wrong["wallet"]["code"] == "wallet_missing"


def test_a_wallet_that_others_can_read(home: Home) -> None:
    home.run("wallet", "new")
    (home.paths.keys_dir / "sandbox.json").chmod(0o644)
    ended = home.run("doctor")
    assert ended.status == 2
    assert list(failed(ended)) == ["wallet"]


def test_a_wallet_that_a_passphrase_opens(home: Home) -> None:
    home.run("wallet", "import", stdin=SECRET, TIDEGATE_PASSPHRASE="pw")
    assert home.run("doctor").status == 0
    assert home.run("doctor", TIDEGATE_PASSPHRASE="pw").status == 0
    wrong = failed(home.run("doctor", TIDEGATE_PASSPHRASE="other"))
    assert "wrong passphrase" in wrong["wallet"]["message"]


def test_a_key_in_the_environment_is_looked_at_and_not_shown(home: Home) -> None:
    well = home.run("doctor", TIDEGATE_PRIVATE_KEY=SECRET)
    assert well.status == 0
    assert SECRET not in well.stdout
    ill = home.run("doctor", TIDEGATE_PRIVATE_KEY="suiprivkey1nonsense")
    assert "wallet" in failed(ill)
    assert "nonsense" not in ill.stdout + ill.stderr


def test_a_provider_without_its_key(home: Home) -> None:
    ended = home.run("doctor", "--provider", "anthropic")
    assert ended.status == 2
    assert list(failed(ended)) == ["provider"]
    assert home.run("doctor", "--provider", "anthropic", ANTHROPIC_API_KEY="sk-ant-x").status == 0
