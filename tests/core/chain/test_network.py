"""Opening networks and reading from them."""

from __future__ import annotations

import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tidegate.core.chain.client import SuiNetwork
from tidegate.core.chain.deployments import CLOCK, SANDBOX
from tidegate.core.chain.endpoint import Endpoint
from tidegate.core.chain.network import _PUBLIC, open_network, open_sandbox_ledger, serve_sandbox
from tidegate.core.chain.types import Build, CoinBalance, CoinMetadata, Outcome
from tidegate.core.errors import (
    ChainMismatch,
    NetworkError,
    SimulationFailed,
    StoreError,
    UsageError,
)
from tidegate.core.money import Amount
from tidegate.core.sandbox import controls
from tidegate.core.sandbox.genesis import SANDBOX_CHAIN_ID
from tidegate.core.sandbox.ledger import Ledger
from tidegate.core.tokens import SUI, USDC, normalize_address

from .conftest import SUI_100, USDC_1000, pay

STRANGER = "0x" + "77" * 32


def test_the_sandbox_is_its_own_chain_with_its_own_deployment(network: SuiNetwork) -> None:
    assert network.chain_id == SANDBOX_CHAIN_ID
    assert network.deployment == SANDBOX
    assert network.name == "sandbox"


def test_the_sandboxs_folder_is_private(network: SuiNetwork, state_dir: Path) -> None:
    assert stat.S_IMODE(state_dir.stat().st_mode) == 0o700


def test_balances_are_what_the_wallet_was_given(funded: SuiNetwork, alice: Any) -> None:
    assert funded.balances(alice.address) == (
        CoinBalance(SUI.coin_type, SUI_100),
        CoinBalance(USDC.coin_type, USDC_1000),
    )


def test_a_balance_is_that_of_one_coin(funded: SuiNetwork, alice: Any) -> None:
    assert funded.balance(alice.address, USDC.coin_type) == USDC_1000


def test_an_address_without_coins_holds_nothing(network: SuiNetwork) -> None:
    assert network.balances(STRANGER) == ()
    assert network.balance(STRANGER, SUI.coin_type) == 0


def test_the_epoch_follows_the_networks_time(network: SuiNetwork, ledger: Ledger) -> None:
    controls.advance_clock(ledger, 25 * 3600 * 1000)

    assert network.epoch().epoch == 1
    assert network.epoch().reference_gas_price == 1_000


def test_coin_metadata_says_how_many_decimals(network: SuiNetwork) -> None:
    assert network.coin_metadata(USDC.coin_type) == CoinMetadata(USDC.coin_type, "USDC", "USDC", 6)


def test_a_coin_that_the_network_does_not_have_has_no_metadata(network: SuiNetwork) -> None:
    assert network.coin_metadata(f"{STRANGER}::usdc::USDC") is None


def test_an_object_has_the_kind_of_its_type(network: SuiNetwork) -> None:
    assert network.object_kind(CLOCK) == f"{normalize_address('0x2')}::clock::Clock"


def test_what_is_no_object_has_no_kind(network: SuiNetwork) -> None:
    assert network.object_kind(STRANGER) is None


def test_inspection_returns_values_as_bcs(network: SuiNetwork) -> None:
    place = SANDBOX.cetus.pools[0] if SANDBOX.cetus else None
    assert place is not None

    def build(ptb: Any) -> None:
        pool = ptb.shared(place.pool, mutable=False)
        for name in ("fee_rate", "liquidity"):
            target = f"{SANDBOX.cetus.clmm_package}::pool::{name}"  # type: ignore[union-attr]
            ptb.call(target, [pool], [place.coin_a, place.coin_b])

    (fee_rate,), (liquidity,) = network.inspect(build)

    assert fee_rate == (2_500).to_bytes(8, "little")
    assert len(liquidity) == 16


def test_an_inspection_that_aborts_names_module_function_and_code(network: SuiNetwork) -> None:
    def build(ptb: Any) -> None:
        (zero,) = ptb.call("0x2::coin::zero", [], [SUI.coin_type])
        ptb.call("0x2::coin::split", [zero, ptb.pure_u64(5)], [SUI.coin_type])

    with pytest.raises(SimulationFailed, match=r"balance::split with code 2"):
        network.inspect(build)


def test_an_object_that_does_not_exist_is_named(network: SuiNetwork) -> None:
    def build(ptb: Any) -> None:
        ptb.call("0x2::clock::timestamp_ms", [ptb.shared(STRANGER, mutable=False)])

    with pytest.raises(NetworkError, match=STRANGER):
        network.inspect(build)


def test_many_threads_read_at_once(funded: SuiNetwork, alice: Any) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: funded.balance(alice.address, SUI.coin_type), range(64)))

    assert answers == [SUI_100] * 64


def test_two_networks_share_one_ledger(
    funded: SuiNetwork, state_dir: Path, time: Any, alice: Any, send: Callable[[Build], Outcome]
) -> None:
    other = open_network("sandbox", state_dir=state_dir, clock=time.clock)

    send(pay(Amount(USDC, 5), STRANGER))

    assert other.balance(STRANGER, USDC.coin_type) == 5
    other.close()


def test_a_standing_sandbox_is_reached_by_its_url(tmp_path: Path, time: Any) -> None:
    standing = serve_sandbox(None, time.clock, 0)
    network = open_network(standing.url, state_dir=tmp_path, clock=time.clock)

    assert network.deployment == SANDBOX
    network.close()
    standing.close()
    standing.wait()


def test_a_taken_port_is_said_to_be_taken(time: Any) -> None:
    standing = serve_sandbox(None, time.clock, 0)
    port = int(standing.url.rsplit(":", 1)[1])

    with pytest.raises(UsageError, match="taken"):
        serve_sandbox(None, time.clock, port)
    standing.close()


def test_a_port_that_is_none_is_refused(time: Any) -> None:
    with pytest.raises(UsageError, match="70000"):
        serve_sandbox(None, time.clock, 70_000)


def test_a_name_that_promises_another_chain_is_refused(
    tmp_path: Path, time: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    standing = serve_sandbox(None, time.clock, 0)
    port = int(standing.url.rsplit(":", 1)[1])
    monkeypatch.setitem(_PUBLIC, "mainnet", (Endpoint("127.0.0.1", port, tls=False), _PUBLIC["mainnet"][1]))

    with pytest.raises(ChainMismatch, match=SANDBOX_CHAIN_ID):
        open_network("mainnet", state_dir=tmp_path, clock=time.clock)
    standing.close()


def test_a_ledger_that_is_no_database_is_a_store_error(state_dir: Path, time: Any) -> None:
    state_dir.mkdir()
    (state_dir / "sandbox.db").write_bytes(b"not a database at all, but long enough to look at" * 40)

    with pytest.raises(StoreError, match=r"sandbox\.db"):
        open_sandbox_ledger(state_dir, time.clock)


def test_a_closed_network_answers_no_more(network: SuiNetwork) -> None:
    network.close()
    network.close()

    with pytest.raises(NetworkError, match="closed"):
        network.epoch()


def test_nothing_of_pysui_is_written_to_the_home_folder(
    tmp_path: Path, time: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))

    open_network("sandbox", state_dir=tmp_path / "state", clock=time.clock).close()

    assert not home.exists()


def test_history_is_newest_first_and_says_who_did_what(
    funded: SuiNetwork, alice: Any, send: Callable[[Build], Outcome]
) -> None:
    outcome = send(pay(Amount(USDC, 7), STRANGER))

    newest, *funding = funded.history(alice.address, limit=10).entries

    assert newest.outcome == outcome
    assert newest.sender == alice.address
    assert [entry.sender for entry in funding] == [normalize_address("0x0")] * 2
    assert funding[0].calls == (f"{normalize_address('0x2')}::coin::mint_and_transfer",)


def test_history_is_read_page_by_page(funded: SuiNetwork, ledger: Ledger, alice: Any) -> None:
    for count in range(1, 6):
        controls.faucet(ledger, alice.address, USDC.coin_type, count)

    seen, cursor = [], None
    for _ in range(4):
        page = funded.history(alice.address, limit=2, before=cursor)
        seen += [entry.outcome.changes[0].base for entry in page.entries]
        cursor = page.next_cursor

    assert seen == [5, 4, 3, 2, 1, USDC_1000, SUI_100]
    assert cursor is None


def test_history_of_a_stranger_is_empty(network: SuiNetwork) -> None:
    page = network.history(STRANGER, limit=5)

    assert page.entries == ()
    assert page.next_cursor is None


@pytest.mark.parametrize("cursor", ["zz", "abc"])
def test_a_cursor_that_is_none_is_refused(network: SuiNetwork, cursor: str) -> None:
    with pytest.raises(UsageError):
        network.history(STRANGER, limit=5, before=cursor)


def test_an_executed_transaction_is_found_by_its_digest(
    funded: SuiNetwork, send: Callable[[Build], Outcome]
) -> None:
    outcome = send(pay(Amount(SUI, 7), STRANGER))

    assert funded.transaction(outcome.digest) == outcome


def test_an_unknown_digest_is_no_transaction(network: SuiNetwork) -> None:
    assert network.transaction("4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM") is None


def test_inspections_see_a_price_that_was_just_set(network: SuiNetwork, ledger: Ledger) -> None:
    assert SANDBOX.cetus is not None
    place, package = SANDBOX.cetus.pools[0], SANDBOX.cetus.clmm_package

    def build(ptb: Any) -> None:
        pool = ptb.shared(place.pool, mutable=False)
        ptb.call(f"{package}::pool::current_sqrt_price", [pool], [place.coin_a, place.coin_b])

    before = network.inspect(build)
    controls.set_price(ledger, SUI.coin_type, Decimal("3.1"))

    assert network.inspect(build) != before
