"""Deposit, withdrawal and swap over gRPC, built by pysui as shared/spec/chain.md builds them."""

from __future__ import annotations

from typing import Any

import pytest
from pysui.sui.sui_common import sui_commands as cmd

from tidegate.core.chain.deployments import CLOCK, SANDBOX_CETUS, SANDBOX_NAVI, SYSTEM_STATE
from tidegate.core.sandbox import controls
from tidegate.core.sandbox.ledger import Ledger
from tidegate.core.tokens import SUI, USDC

USDC_500 = 500_000_000
NAVI_USDC = next(pool for pool in SANDBOX_NAVI.pools if pool.coin_type == USDC.coin_type)
CETUS_POOL = SANDBOX_CETUS.pools[0]


@pytest.fixture
def funded(ledger: Ledger, alice: Any) -> Ledger:
    controls.faucet(ledger, alice.address, SUI.coin_type, 10 * 10**9)
    controls.faucet(ledger, alice.address, USDC.coin_type, USDC_500)
    return ledger


async def send(client: Any, build: Any) -> Any:
    transaction = await client.transaction()
    await build(transaction)
    result = await client.execute(command=cmd.ExecuteTransaction(**await transaction.build_and_sign()))
    assert result.is_ok(), result.result_string
    return result.result_data


def usdc_coin(ledger: Ledger, owner: str) -> str:
    [coin] = ledger.coins(owner, USDC.coin_type)
    return coin.id


async def deposit(transaction: Any, coin: str, amount: int) -> None:
    paid = await transaction.split_coin(coin=coin, amounts=[amount])
    await transaction.move_call(
        target=f"{SANDBOX_NAVI.package}::incentive_v3::entry_deposit",
        arguments=[
            CLOCK,
            SANDBOX_NAVI.storage,
            NAVI_USDC.pool,
            NAVI_USDC.asset_id,
            paid,
            amount,
            SANDBOX_NAVI.incentive_v2,
            SANDBOX_NAVI.incentive_v3,
        ],
        type_arguments=[USDC.coin_type],
    )


async def update_price(transaction: Any) -> None:
    await transaction.move_call(
        target=f"{SANDBOX_NAVI.oracle_package}::oracle_pro::update_single_price_v2",
        arguments=[
            CLOCK,
            SANDBOX_NAVI.oracle_config,
            SANDBOX_NAVI.price_oracle,
            SANDBOX_NAVI.supra_oracle_holder,
            NAVI_USDC.pyth_price_info,
            SANDBOX_NAVI.switchboard_aggregator,
            NAVI_USDC.feed_id,
        ],
    )


async def withdraw(transaction: Any, amount: int, owner: str) -> None:
    balance = await transaction.move_call(
        target=f"{SANDBOX_NAVI.package}::incentive_v3::withdraw_v2",
        arguments=[
            CLOCK,
            SANDBOX_NAVI.price_oracle,
            SANDBOX_NAVI.storage,
            NAVI_USDC.pool,
            NAVI_USDC.asset_id,
            amount,
            SANDBOX_NAVI.incentive_v2,
            SANDBOX_NAVI.incentive_v3,
            SYSTEM_STATE,
        ],
        type_arguments=[USDC.coin_type],
    )
    coin = await transaction.move_call(
        target="0x2::coin::from_balance", arguments=[balance], type_arguments=[USDC.coin_type]
    )
    await transaction.transfer_objects(transfers=[coin], recipient=owner)


async def swap(transaction: Any, coin: str, amount: int, minimum: int) -> None:
    router = f"{SANDBOX_CETUS.router_package}::router"
    sold = await transaction.split_coin(coin=coin, amounts=[amount])
    context = await transaction.move_call(
        target=f"{router}::new_swap_context",
        arguments=["quote-1", minimum, minimum, sold, 0, "0x0"],
        type_arguments=[USDC.coin_type, SUI.coin_type],
    )
    await transaction.move_call(
        target=f"{SANDBOX_CETUS.adapter_package}::cetus::swap",
        arguments=[
            context,
            SANDBOX_CETUS.global_config,
            CETUS_POOL.pool,
            SANDBOX_CETUS.partner,
            True,
            amount,
            CLOCK,
        ],
        type_arguments=[CETUS_POOL.coin_a, CETUS_POOL.coin_b],
    )
    bought = await transaction.move_call(
        target=f"{router}::confirm_swap", arguments=[context], type_arguments=[SUI.coin_type]
    )
    await transaction.move_call(
        target=f"{router}::transfer_or_destroy_coin", arguments=[bought], type_arguments=[SUI.coin_type]
    )


def changes(executed: Any, owner: str) -> dict[str, int]:
    return {each.coin_type: int(each.amount) for each in executed.balance_changes if each.address == owner}


def test_deposit_and_withdrawal_over_grpc(funded: Ledger, on_network: Any, alice: Any) -> None:
    coin = usdc_coin(funded, alice.address)

    async def take_out(transaction: Any) -> None:
        await update_price(transaction)
        await withdraw(transaction, 100_000_000, alice.address)

    async def body(client: Any) -> tuple[Any, Any]:
        paid_in = await send(client, lambda transaction: deposit(transaction, coin, 400_000_000))
        return paid_in, await send(client, take_out)

    paid_in, paid_out = on_network(body)

    assert paid_in.effects.status.success
    assert paid_out.effects.status.success
    assert changes(paid_in, alice.address)[USDC.coin_type] == -400_000_000
    assert changes(paid_out, alice.address)[USDC.coin_type] == 100_000_000
    assert funded.balances(alice.address)[USDC.coin_type] == USDC_500 - 300_000_000


def test_withdrawal_without_a_fresh_price_fails_in_its_effects(
    funded: Ledger, on_network: Any, alice: Any
) -> None:
    coin = usdc_coin(funded, alice.address)

    async def body(client: Any) -> Any:
        await send(client, lambda transaction: deposit(transaction, coin, 400_000_000))
        controls.advance_clock(funded, 60_000)
        transaction = await client.transaction()
        await withdraw(transaction, 100_000_000, alice.address)
        # The budget is given, since a simulation to find one would fail for the same reason.
        built = await transaction.build_and_sign(gas_budget="100000000")
        result = await client.execute(command=cmd.ExecuteTransaction(**built))
        assert result.is_ok(), result.result_string
        return result.result_data

    executed = on_network(body)

    assert not executed.effects.status.success
    assert executed.effects.status.error.abort.abort_code == 1502
    assert funded.balances(alice.address)[USDC.coin_type] == USDC_500 - 400_000_000


def test_swap_over_grpc(funded: Ledger, on_network: Any, alice: Any) -> None:
    coin, minimum = usdc_coin(funded, alice.address), 28 * 10**9

    executed = on_network(
        lambda client: send(client, lambda transaction: swap(transaction, coin, 100_000_000, minimum))
    )

    assert executed.effects.status.success
    moved = changes(executed, alice.address)
    assert moved[USDC.coin_type] == -100_000_000
    assert moved[SUI.coin_type] >= minimum
