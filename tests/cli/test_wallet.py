"""tidegate wallet."""

from __future__ import annotations

import base64
import json
import stat
from pathlib import Path

import pytest
from verbs import Home

SECRET = "suiprivkey1qqqqzqsrqszsvpcgpy9qkrqdpc83qygjzv2p29shrqv35xcur50p74yefn7"
ADDRESS = "0x160179a1565ea7cff27ead23f54cc7f50893bf58155cd7285156e57afa31c3ac"
"""Of the key whose bytes are 0, 1, 2 … 31."""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_a_key_is_made_once_and_only_its_owner_can_read_it(home: Home) -> None:
    made = home.run("wallet", "new", "alice")
    assert made.row["address"].startswith("0x")
    assert "config set wallet alice" in made.stderr
    assert stat.S_IMODE((home.paths.keys_dir / "alice.json").stat().st_mode) == 0o600
    again = home.run("wallet", "new", "alice")
    assert again.status == 2
    assert "already" in again.stderr


def test_without_a_name_the_key_in_use_is_meant(home: Home) -> None:
    assert home.run("wallet", "new").row["name"] == "sandbox"
    assert home.run("wallet", "new", "--network", "testnet").row["name"] == "default"
    assert home.run("wallet", "address", TIDEGATE_NETWORK="testnet").row["name"] == "default"


def test_real_money_needs_a_passphrase(home: Home) -> None:
    refused = home.run("wallet", "new", "real", "--network", "mainnet")
    assert refused.status == 2
    assert "TIDEGATE_PASSPHRASE" in refused.stderr
    assert not home.paths.keys_dir.exists()
    made = home.run("wallet", "new", "real", "--network", "mainnet", TIDEGATE_PASSPHRASE="open sesame")
    assert made.row["encrypted"] is True
    assert "open sesame" not in made.stdout + made.stderr
    assert "suiprivkey" not in (home.paths.keys_dir / "real.json").read_text()


def test_a_terminal_is_asked_for_the_passphrase_twice(home: Home) -> None:
    made = home.converse(
        ["wallet", "new", "real", "--network", "mainnet"],
        [
            ("Passphrase: ", "open sesame"),
            ("same again: ", "open sesamf"),
            ("Passphrase: ", "open sesame"),
            ("same again: ", "open sesame"),
        ],
    )
    assert made.row["encrypted"] is True
    assert "do not match" in made.stderr
    assert "sesame" not in made.stderr
    shown = home.converse(["wallet", "export", "real", "--reveal"], [("Passphrase: ", "open sesame")])
    assert shown.stdout.startswith("suiprivkey1")


def test_an_empty_passphrase_leaves_play_money_in_the_open_and_real_money_out(home: Home) -> None:
    answers = [("none): ", ""), ("same again: ", "")]
    assert home.converse(["wallet", "new", "play"], answers).row["encrypted"] is False
    answers = [("Passphrase: ", ""), ("same again: ", "")]
    assert home.converse(["wallet", "new", "real", "--network", "mainnet"], answers).status == 2


def test_a_key_is_read_from_stdin(home: Home) -> None:
    added = home.run("wallet", "import", "mine", stdin=f"{SECRET}\n")
    assert added.row["address"] == ADDRESS
    assert SECRET not in added.stdout + added.stderr
    assert home.run("wallet", "address", "mine", "--output", "text").stdout == f"{ADDRESS}\n"


def test_a_terminal_is_asked_for_the_key_without_showing_it(home: Home) -> None:
    answers = [("…): ", SECRET), ("none): ", ""), ("same again: ", "")]
    added = home.converse(["wallet", "import", "mine"], answers)
    assert added.row["address"] == ADDRESS
    assert SECRET not in added.stderr


def test_a_key_is_never_taken_from_the_command_line(home: Home) -> None:
    ended = home.run("wallet", "import", "mine", SECRET)
    assert ended.status == 2
    assert not home.paths.keys_dir.exists()


@pytest.mark.parametrize("text", ["", "suiprivkey1nonsense", "\0\x1b[2J"])
def test_what_is_no_key_is_refused_and_not_repeated(home: Home, text: str) -> None:
    ended = home.run("wallet", "import", "mine", stdin=text)
    assert ended.status == 2
    assert "not a private key" in ended.stderr
    assert "nonsense" not in ended.stderr


def test_a_key_is_taken_from_a_sui_keystore(home: Home) -> None:
    file = home.path / "sui.keystore"
    entries = [base64.b64encode(bytes([0, *range(first, first + 32)])).decode() for first in (0, 1)]
    file.write_text(json.dumps(entries))
    several = home.run("wallet", "import", "mine", "--sui-keystore", str(file))
    assert several.status == 2
    assert ADDRESS in several.stderr
    chosen = home.run("wallet", "import", "mine", "--sui-keystore", str(file), "--address", ADDRESS)
    assert chosen.row["address"] == ADDRESS
    assert home.run("wallet", "import", "x", "--address", ADDRESS).status == 2


def test_keys_are_listed_with_the_one_in_use(home: Home) -> None:
    home.run("wallet", "new", "alice")
    home.run("wallet", "import", "bob", stdin=SECRET)
    rows = home.run("wallet", "list", TIDEGATE_WALLET="bob").rows
    assert [(row["name"], row["in_use"]) for row in rows] == [("alice", False), ("bob", True)]
    rows = home.run("wallet", "list", TIDEGATE_WALLET="bob", TIDEGATE_PRIVATE_KEY=SECRET).rows
    assert [row["in_use"] for row in rows] == [False, False]


def test_the_address_is_that_of_what_signs(home: Home) -> None:
    assert home.run("wallet", "address", TIDEGATE_PRIVATE_KEY=SECRET).row == {
        "name": None,
        "address": ADDRESS,
    }
    assert home.run("wallet", "address").row["name"] == "sandbox"
    missing = home.run("wallet", "address", "--network", "testnet")
    assert missing.status == 2
    assert "tidegate wallet new" in missing.stderr


def test_a_private_key_is_shown_only_to_who_insists(home: Home) -> None:
    home.run("wallet", "import", "mine", stdin=SECRET, TIDEGATE_PASSPHRASE="pw")
    refused = home.run("wallet", "export", "mine", TIDEGATE_PASSPHRASE="pw")
    assert refused.status == 2
    assert refused.stdout == ""
    assert "--reveal" in refused.stderr
    shown = home.run("wallet", "export", "mine", "--reveal", TIDEGATE_PASSPHRASE="pw")
    assert (shown.status, shown.stdout, shown.stderr) == (0, f"{SECRET}\n", "")
    for passphrase in ("", "wrong"):
        locked = home.run("wallet", "export", "mine", "--reveal", TIDEGATE_PASSPHRASE=passphrase)
        assert locked.status == 2
        assert locked.stdout == ""


def test_a_key_that_others_can_read_is_not_used(home: Home) -> None:
    home.run("wallet", "new", "alice")
    (home.paths.keys_dir / "alice.json").chmod(0o644)
    for args in (["list"], ["address", "alice"], ["export", "alice", "--reveal"]):
        ended = home.run("wallet", *args)
        assert ended.status == 2
        assert "chmod 600" in ended.stderr
        assert ended.stdout == ""
