"""tidegate sandbox."""

from __future__ import annotations

import json
import signal
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pytest
from verbs import Home

from tidegate.core.chain.network import open_network, open_sandbox_ledger
from tidegate.core.clock import system_clock
from tidegate.core.sandbox.ledger import Fault
from tidegate.core.tokens import SUI, USDC

OTHER = "0x" + "ab" * 32


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def balance(home: Home, address: str, coin_type: str) -> int:
    with closing(open_sandbox_ledger(home.paths.state_dir, system_clock())) as ledger:
        return ledger.balances(address).get(coin_type, 0)


def test_the_faucet_gives_to_the_wallet_or_to_an_address(home: Home) -> None:
    mine = home.run("sandbox", "faucet", "250.5", "--token", "usdc").row
    assert (mine["token"], mine["amount"]) == ("USDC", Decimal("250.5"))
    assert balance(home, mine["address"], USDC.coin_type) == 250_500_000
    assert mine["address"] == home.run("wallet", "address").row["address"]
    assert home.run("sandbox", "faucet", OTHER).row["amount"] == 100
    assert home.run("sandbox", "faucet", OTHER, "1").row["address"] == OTHER
    assert balance(home, OTHER, SUI.coin_type) == 101 * 10**9


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["all"], "share"),
        (["0"], "zero"),
        (["0.0000000001"], "smallest unit"),
        (["1,5"], "two ways"),
        ([OTHER, "9999999999"], "minted all it can"),
        (["0xzz"], "not a Sui address"),
        (["1", "--token", "DOGE"], "no coin"),
    ],
)
def test_what_the_faucet_cannot_give_is_refused(home: Home, args: list[str], told: str) -> None:
    ended = home.run("sandbox", "faucet", *args)
    assert ended.status == 2
    assert told in ended.stderr
    assert ended.stdout == ""


def test_time_moves_forward_only(home: Home) -> None:
    before = home.run("sandbox", "clock").row
    after = home.run("sandbox", "clock", "+1d12h").row
    assert (before["epoch"], after["epoch"]) == (0, 1)
    assert home.run("sandbox", "clock", "show", "--output", "text").stdout.endswith("epoch 1\n")
    for wrong in ("+", "yesterday", "+1", "+-1d", "1d and more", "+999999999w"):
        assert home.run("sandbox", "clock", wrong).status == 2
    assert home.run("sandbox", "clock").row["epoch"] == 1


def test_prices_are_set(home: Home) -> None:
    assert home.run("sandbox", "price", "sui", "4.10").row["usd"] == Decimal("4.1")
    with closing(open_sandbox_ledger(home.paths.state_dir, system_clock())) as ledger:
        assert ledger.price(SUI.coin_type) == 4_100_000_000
    for wrong in ("0", "50%", "1e-20", "1e300", "free"):
        ended = home.run("sandbox", "price", "SUI", wrong)
        assert ended.status == 2
        assert "hint:" in ended.stderr


def test_faults_are_set_shown_and_ended(home: Home) -> None:
    assert home.run("sandbox", "fault", "drop-response", "2").row == {"fault": "drop-response", "value": 2}
    assert home.run("sandbox", "fault", "lag").row["value"] == 1
    shown = {row["fault"]: row["value"] for row in home.run("sandbox", "fault").rows}
    assert shown == {kind.value: 0 for kind in Fault} | {"drop-response": 2, "lag": 1}
    assert home.run("sandbox", "fault", "lag", "0").row["value"] == 0
    assert "Known:" in home.run("sandbox", "fault", "gremlins").stderr


def test_a_reset_has_to_be_meant(home: Home) -> None:
    home.run("sandbox", "faucet", OTHER)
    refused = home.run("sandbox", "reset")
    assert refused.status == 2
    assert "--yes" in refused.stderr
    assert home.converse(["sandbox", "reset"], [("[y/N]:", "n")]).status == 4
    assert balance(home, OTHER, SUI.coin_type) > 0
    assert home.converse(["sandbox", "reset"], [("[y/N]:", "y")]).row["reset"] is True
    assert balance(home, OTHER, SUI.coin_type) == 0
    assert home.run("sandbox", "reset", "--yes").row["reset"] is True


def test_with_another_network_it_is_said_which_one_is_meant(home: Home) -> None:
    ended = home.run("sandbox", "clock", "--network", "testnet")
    assert ended.status == 0
    assert "not about testnet" in ended.stderr
    assert home.run("sandbox", "clock").stderr == ""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("options", [[], ["--memory"]])
def test_it_serves_until_it_is_told_to_end(home: Home, options: list[str], number: int) -> None:
    with home.start("sandbox", "serve", *options) as process:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        network = open_network(ready["url"], state_dir=home.path / "unused", clock=system_clock())
        with closing(network):
            assert network.chain_id == ready["chain_id"]
        process.send_signal(number)
        rest, told = process.communicate(timeout=30)
    assert (process.returncode, rest, told) == (0, b"", b"")
    assert home.paths.sandbox_file.exists() is (options == [])


def test_a_port_that_is_taken_is_said_to_be(home: Home) -> None:
    process = home.start("sandbox", "serve", "--memory")
    try:
        assert process.stdout is not None
        port = json.loads(process.stdout.readline())["url"].rpartition(":")[2]
        ended = home.run("sandbox", "serve", "--memory", "--port", port)
        assert ended.status == 2
        assert f"Port {port} is taken" in ended.stderr
    finally:
        process.terminate()
        process.communicate(timeout=30)
