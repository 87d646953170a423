"""tidegate quote."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from verbs import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_a_quote_says_what_is_given_received_and_charged(home: Home) -> None:
    row = home.run("quote", "SUI", "USDC", "2").row
    assert (row["from"], row["to"], row["amount_in"], row["by_amount_in"]) == ("SUI", "USDC", 2, True)
    assert row["from_coin_type"].endswith("::sui::SUI")
    assert row["rate"] == row["amount_out"] / 2
    assert row["min_out"] == (row["amount_out"] * Decimal("0.99")).quantize(Decimal("0.000001"), "ROUND_DOWN")
    assert sum(part["share"] for part in row["route"]) == 100


def test_the_other_side_can_be_the_exact_one(home: Home) -> None:
    row = home.run("quote", "SUI", "USDC", "7", "--by-amount-out").row
    assert (row["amount_out"], row["by_amount_in"]) == (7, False)
    there = home.run("quote", "SUI", "USDC", str(row["amount_in"])).row
    assert abs(there["amount_out"] - 7) < Decimal("0.001")


def test_a_wider_slippage_promises_less(home: Home) -> None:
    strict, loose = (
        home.run("quote", "SUI", "USDC", "2", "--slippage", share).row for share in ("0.001", "0.05")
    )
    assert strict["amount_out"] == loose["amount_out"]
    assert strict["min_out"] > loose["min_out"]


def test_tokens_are_named_in_any_case_or_by_their_type(home: Home) -> None:
    row = home.run("quote", "SUI", "USDC", "1,000.5").row
    assert row["amount_in"] == Decimal("1000.5")
    assert home.run("quote", "sui", "usdc", "1000.5").row["amount_out"] == row["amount_out"]
    by_type = home.run("quote", row["from_coin_type"], row["to_coin_type"], "1000.5").row
    assert by_type["amount_out"] == row["amount_out"]


def test_it_follows_the_market(home: Home) -> None:
    before = home.run("quote", "SUI", "USDC", "2").row
    home.run("sandbox", "price", "SUI", "10")
    assert home.run("quote", "SUI", "USDC", "2").row["amount_out"] > before["amount_out"]


def test_people_get_a_sentence(home: Home) -> None:
    told = home.run("quote", "SUI", "USDC", "2", "--output", "text").stdout
    assert told.startswith("2 SUI gives ")
    assert told.count("\n") == 1
    assert "1% slippage" in told


def test_no_wallet_and_no_conversation_is_made(home: Home) -> None:
    home.run("quote", "SUI", "USDC", "2")
    assert not home.paths.config_dir.exists()
    assert home.run("sessions").stdout == ""


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["SUI", "USDC", "0"], "is zero"),
        (["SUI", "USDC", "ten"], "not an amount"),
        (["SUI", "USDC", "0.0000000001"], "smallest unit"),
        (["SUI", "USDC", "1e30"], "64-bit"),
        (["SUI", "USDC", "1,5"], "1,5"),
        (["SUI", "USDC", "--", "-1"], "-1"),
        (["SUI", "SUI", "1"], "itself"),
        (["SUI", "DOGE", "1"], "DOGE"),
        (["SUI", "0x2::sui", "1"], "0x2::sui"),
        (["SUI", "USDC", "1", "--slippage", "0.5"], "slippage"),
        (["SUI", "USDC", "1", "--slippage", "little"], "slippage"),
        (["SUI", "USDC", "1", "--network", "moonnet"], "testnet, mainnet"),
    ],
)
def test_what_cannot_be_quoted_is_bad_input(home: Home, args: list[str], told: str) -> None:
    ended = home.run("quote", *args)
    assert (ended.status, ended.stdout) == (2, "")
    assert told in ended.stderr


def test_a_network_that_is_not_there(home: Home) -> None:
    ended = home.run("quote", "SUI", "USDC", "1", "--network", "http://127.0.0.1:9")
    assert (ended.status, ended.stdout) == (6, "")
    assert "Nothing listens at 127.0.0.1:9" in ended.stderr
