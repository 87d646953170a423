"""pysui's own client, unchanged but for TLS, against the sandbox."""

from __future__ import annotations

from typing import Any

import pytest
from pysui.sui.sui_common import sui_commands as cmd

from tidegate.core.sandbox import controls
from tidegate.core.sandbox.genesis import SANDBOX_CHAIN_ID
from tidegate.core.sandbox.ledger import Ledger
from tidegate.core.tokens import SUI, USDC

SUI_10 = 10 * 10**9


@pytest.fixture
def funded(ledger: Ledger, alice: Any) -> Ledger:
    controls.faucet(ledger, alice.address, SUI.coin_type, SUI_10)
    controls.faucet(ledger, alice.address, USDC.coin_type, 500_000_000)
    return ledger


def ok(result: Any) -> Any:
    assert result.is_ok(), result.result_string
    return result.result_data


async def send(client: Any, build: Any) -> Any:
    transaction = await client.transaction()
    await build(transaction)
    return ok(await client.execute(command=cmd.ExecuteTransaction(**await transaction.build_and_sign())))


def test_the_chain_id_is_the_sandboxs(on_network: Any) -> None:
    async def body(client: Any) -> Any:
        return ok(await client.execute(command=cmd.GetChainIdentifier()))

    assert SANDBOX_CHAIN_ID in str(on_network(body))


def test_sui_is_transferred_from_the_gas_coin(funded: Ledger, on_network: Any, alice: Any, bob: Any) -> None:
    async def transfer(transaction: Any) -> None:
        coin = await transaction.split_coin(coin=transaction.gas, amounts=[1_500_000_000])
        await transaction.transfer_objects(transfers=[coin], recipient=bob.address)

    executed = on_network(lambda client: send(client, transfer))

    assert executed.effects.status.success
    used = executed.effects.gas_used
    assert (used.computation_cost, used.storage_cost, used.storage_rebate) == (1_000_000, 1_976_000, 978_120)
    assert funded.balances(bob.address) == {SUI.coin_type: 1_500_000_000}
    net = 1_000_000 + 1_976_000 - 978_120
    assert funded.balances(alice.address)[SUI.coin_type] == SUI_10 - 1_500_000_000 - net


def test_usdc_is_split_merged_and_transferred(funded: Ledger, on_network: Any, alice: Any, bob: Any) -> None:
    controls.faucet(funded, alice.address, USDC.coin_type, 70_000_000)
    first, second = (coin.id for coin in funded.coins(alice.address, USDC.coin_type))

    async def transfer(transaction: Any) -> None:
        await transaction.merge_coins(merge_to=first, merge_from=[second])
        parts = await transaction.split_coin(coin=first, amounts=[550_000_000, 1])
        await transaction.transfer_objects(transfers=parts, recipient=bob.address)

    executed = on_network(lambda client: send(client, transfer))

    assert executed.effects.status.success
    assert funded.balances(bob.address)[USDC.coin_type] == 550_000_001
    assert funded.balances(alice.address)[USDC.coin_type] == 19_999_999
    changes = {(c.address, c.coin_type): int(c.amount) for c in executed.balance_changes}
    assert changes[bob.address, USDC.coin_type] == 550_000_001


def test_move_calls_are_built_from_the_described_signature(
    funded: Ledger, on_network: Any, alice: Any
) -> None:
    controls.faucet(funded, alice.address, USDC.coin_type, 70_000_000)
    first, second = (coin.id for coin in funded.coins(alice.address, USDC.coin_type))

    async def join(transaction: Any) -> None:
        await transaction.move_call(
            target="0x2::coin::join", arguments=[first, second], type_arguments=[USDC.coin_type]
        )

    executed = on_network(lambda client: send(client, join))

    assert executed.effects.status.success
    assert [coin.balance for coin in funded.coins(alice.address, USDC.coin_type)] == [570_000_000]
