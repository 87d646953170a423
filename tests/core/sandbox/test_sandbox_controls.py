"""First coins given exactly once, and pools that follow the price."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tidegate.core.chain.deployments import SANDBOX_CETUS
from tidegate.core.sandbox import controls
from tidegate.core.sandbox.ledger import Ledger
from tidegate.core.sandbox.modules import cetus, registry
from tidegate.core.tokens import SUI, USDC

GRANTS = {SUI.coin_type: 100 * 10**9, USDC.coin_type: 1_000 * 10**6}
POOL = SANDBOX_CETUS.pools[0]


def pool_price(ledger: Ledger) -> Decimal:
    """Return the whole SUI that one USDC buys in the pool, at its middle price."""
    found = ledger.get_object(POOL.pool)
    assert found is not None
    root = cetus.Pool.load(found.decoded_state()).current_sqrt_price
    return Decimal(root * root) / 2**128 / 10**3


def supply(ledger: Ledger) -> dict[str, int]:
    found: dict[str, int] = {}
    for item in ledger.live_objects():
        held = dict(registry.vault_balances(str(item.type), item.decoded_state()))
        if item.coin_type is not None and item.balance is not None:
            held[item.coin_type] = item.balance
        for coin_type, amount in held.items():
            found[coin_type] = found.get(coin_type, 0) + amount
    return found


def pool_holds(ledger: Ledger) -> dict[str, int]:
    found = ledger.get_object(POOL.pool)
    assert found is not None
    return registry.vault_balances(str(found.type), found.decoded_state())


def test_a_wallet_finds_its_first_coins(ledger: Ledger, alice: Any) -> None:
    assert controls.fund_once(ledger, alice.address, GRANTS)
    assert ledger.balances(alice.address) == GRANTS


def test_a_wallet_is_funded_once(ledger: Ledger, alice: Any) -> None:
    controls.fund_once(ledger, alice.address, GRANTS)

    assert not controls.fund_once(ledger, alice.address, GRANTS)
    assert ledger.balances(alice.address) == GRANTS


def test_a_wallet_is_funded_anew_after_a_reset(ledger: Ledger, alice: Any) -> None:
    controls.fund_once(ledger, alice.address, GRANTS)
    ledger.reset()

    assert controls.fund_once(ledger, alice.address, GRANTS)
    assert ledger.balances(alice.address) == GRANTS


def test_a_grant_that_cannot_be_made_leaves_none_behind(ledger: Ledger, alice: Any) -> None:
    with pytest.raises(ValueError, match="no coin"):
        controls.fund_once(ledger, alice.address, {SUI.coin_type: 1, "0x7::no::COIN": 1})

    assert ledger.balances(alice.address) == {}
    assert controls.fund_once(ledger, alice.address, GRANTS)


_RACER = """
import sys
from pathlib import Path
from tidegate.core.clock import system_clock
from tidegate.core.sandbox import controls
from tidegate.core.sandbox.ledger import Ledger
ledger = Ledger.open(Path(sys.argv[1]), system_clock())
sys.stdout.write("ready\\n"); sys.stdout.flush(); sys.stdin.readline()
print(controls.fund_once(ledger, sys.argv[2], {"0x2::sui::SUI": 7}))
"""


def test_two_processes_that_race_fund_a_wallet_once(path: Path, time: Any, alice: Any) -> None:
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", _RACER, str(path), alice.address],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for racer in racers:
        assert racer.stdout is not None
        racer.stdout.readline()
    answers = [racer.communicate("go\n", timeout=60)[0].strip() for racer in racers]

    ledger = Ledger.open(path, time.clock)
    assert sorted(answers) == ["False", "True"]
    assert ledger.balances(alice.address) == {SUI.coin_type: 7}
    ledger.close()


@pytest.mark.parametrize("price", ["3.1", "7", "0.02"])
def test_the_pool_follows_the_price(ledger: Ledger, price: str) -> None:
    controls.set_price(ledger, SUI.coin_type, Decimal(price))

    assert abs(pool_price(ledger) * Decimal(price) - 1) < Decimal("1e-12")


def test_following_the_price_changes_the_pools_coins_and_no_others(ledger: Ledger, alice: Any) -> None:
    controls.fund_once(ledger, alice.address, GRANTS)
    before, held = supply(ledger), pool_holds(ledger)

    controls.set_price(ledger, SUI.coin_type, Decimal("3.1"))

    moved = {coin: amount - held[coin] for coin, amount in pool_holds(ledger).items()}
    assert moved[SUI.coin_type] > 0 > moved[USDC.coin_type]
    assert supply(ledger) == {coin: amount + moved.get(coin, 0) for coin, amount in before.items()}


def test_following_the_price_is_a_transaction_of_its_own(ledger: Ledger) -> None:
    controls.set_price(ledger, SUI.coin_type, Decimal("3.1"))

    pool = ledger.get_object(POOL.pool)
    assert pool is not None
    row = ledger.transaction(pool.previous_transaction)
    assert row is not None
    assert row.checkpoint == 1
    assert pool.version == 2


def test_the_same_price_again_moves_nothing(ledger: Ledger) -> None:
    controls.set_price(ledger, SUI.coin_type, Decimal("3.5"))

    pool = ledger.get_object(POOL.pool)
    assert pool is not None
    assert pool.version == 1


def test_a_price_that_no_pool_can_follow_is_refused_and_not_set(ledger: Ledger) -> None:
    with pytest.raises(ValueError, match="no pool"):
        controls.set_price(ledger, SUI.coin_type, Decimal("0.000000001"))

    assert ledger.price(SUI.coin_type) == 3_500_000_000
