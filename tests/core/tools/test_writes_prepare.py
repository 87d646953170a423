"""What every write prepares, that the network does just that, and the rules of send, save and withdraw."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from tool_house import (
    STRANGER,
    House,
    carry_out_as_announced,
    lend_to,
    prepare,
    save,
    write_tool,
)

from tidegate.core.chain.deployments import CLOCK
from tidegate.core.errors import (
    BadAddress,
    BadAmount,
    InsufficientBalance,
    UnknownToken,
    UsageError,
    WalletMissing,
)
from tidegate.core.money import Amount
from tidegate.core.policy.types import Operation
from tidegate.core.sandbox import controls
from tidegate.core.tokens import SUI, USDC, token_by_symbol
from tidegate.core.tools.base import Expected

SWAP = {"from": "SUI", "to": "USDC", "amount": 2}
WRITES = ("send_transfer", "save_deposit", "withdraw", "swap_execute")


# All of them


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("send_transfer", {"to": STRANGER, "amount": "800.00", "memo": "rent"}),
        ("send_transfer", {"to": "bob", "amount": "half", "asset": "sui"}),
        ("save_deposit", {"amount": "12.5%"}),
        ("withdraw", {"amount": "all"}),
        ("withdraw", {"amount": 1.5, "asset": "sui"}),
        ("swap_execute", SWAP),
        ("swap_execute", {**SWAP, "amount": "10%", "slippage": 0.05}),
        ("swap_execute", {"from": "USDC", "to": "SUI", "amount": "3", "by_amount_in": False}),
    ],
)
def test_a_write_does_what_it_announced_and_its_input_means_the_same_write_again(
    house: House, name: str, fields: dict[str, Any]
) -> None:
    house.befriend("bob", "0x" + "88" * 32)
    save(house, Amount(USDC, 200 * 10**6))
    save(house, Amount(SUI, 2 * 10**9))
    intent = prepare(house, name, **fields)
    assert intent.preflight is None

    again = prepare(house, name, **intent.input)
    carry_out_as_announced(house, intent)

    assert again.input == intent.input
    assert (again.moves, again.expected, again.min_out) == (intent.moves, intent.expected, intent.min_out)
    assert (again.description, again.recipient) == (intent.description, intent.recipient)


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("send_transfer", {"to": STRANGER, "amount": 1}),
        ("save_deposit", {"amount": 1}),
        ("withdraw", {"amount": 1}),
        ("swap_execute", SWAP),
    ],
)
def test_nothing_is_written_without_a_wallet(house: House, name: str, fields: dict[str, Any]) -> None:
    with pytest.raises(WalletMissing):
        prepare(house, name, house.context(wallet=None), **fields)


@pytest.mark.parametrize("name", ["send_transfer", "save_deposit", "withdraw"])
@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"amount": "-1"}, BadAmount),
        ({"amount": 0}, BadAmount),
        ({"amount": "ten"}, BadAmount),
        ({"amount": "101%"}, BadAmount),
        ({"amount": "0.0000001"}, BadAmount),
        ({"asset": "UDSC"}, UnknownToken),
    ],
)
def test_an_amount_or_token_that_means_nothing_is_refused(
    house: House, name: str, changes: dict[str, Any], error: type[Exception]
) -> None:
    save(house, Amount(USDC, 10**6))
    to = {"to": STRANGER} if name == "send_transfer" else {}

    with pytest.raises(error):
        prepare(house, name, **({"amount": 1} | to | changes))


def test_tools_say_what_policy_needs_to_know_of_them() -> None:
    tools = [write_tool(name) for name in WRITES]

    assert [tool.operation for tool in tools] == [
        Operation.SEND,
        Operation.SAVE,
        Operation.WITHDRAW,
        Operation.SWAP,
    ]
    assert [tool.name for tool in tools if tool.irreversible] == ["send_transfer"]
    assert [tool.name for tool in tools if not tool.requires_balance] == ["withdraw"]
    assert [tool.name for tool in tools if tool.affects_health] == ["save_deposit", "withdraw"]


# send_transfer


def test_a_transfer_is_exact_and_names_both_sides(house: House) -> None:
    intent = prepare(house, "send_transfer", to=STRANGER.upper().replace("X", "x"), amount="5.25")

    assert intent.input == {"to": STRANGER, "amount": Decimal("5.25"), "asset": USDC.coin_type}
    assert intent.description == f"Send 5.25 USDC to {STRANGER}"
    assert intent.moves == (Amount(USDC, 5_250_000),)
    assert intent.expected == (
        Expected(house.wallet, USDC, -5_250_000, -5_250_000),
        Expected(STRANGER, USDC, 5_250_000, 5_250_000),
    )
    assert (intent.recipient, intent.recipient_is_contact) == (STRANGER, False)


@pytest.mark.parametrize("to", ["bob", STRANGER])
def test_a_contact_is_named_together_with_the_address(house: House, to: str) -> None:
    house.befriend("Bob", STRANGER)

    intent = prepare(house, "send_transfer", to=to, amount=5)

    assert intent.description == f"Send 5 USDC to Bob ({STRANGER})"
    assert (intent.recipient, intent.recipient_is_contact) == (STRANGER, True)
    assert intent.input["to"] == STRANGER


def test_a_memo_stays_in_the_input(house: House) -> None:
    assert prepare(house, "send_transfer", to=STRANGER, amount=5, memo="rent").input["memo"] == "rent"


def test_all_of_the_sui_leaves_what_gas_needs(house: House) -> None:
    intent = prepare(house, "send_transfer", to=STRANGER, amount="all", asset="SUI")

    carry_out_as_announced(house, intent)

    assert house.holding(SUI, STRANGER) == 99_950_000_000
    assert 0 < house.holding(SUI) < 50_000_000


def test_all_of_another_coin_leaves_nothing(house: House) -> None:
    carry_out_as_announced(house, prepare(house, "send_transfer", to=STRANGER, amount="all"))

    assert (house.holding(USDC), house.holding(USDC, STRANGER)) == (0, 1_000 * 10**6)


def test_a_share_of_nothing_is_refused(house: House) -> None:
    with pytest.raises(BadAmount, match="50% of the 0 ETH"):
        prepare(house, "send_transfer", to=STRANGER, amount="half", asset="ETH")


def test_a_recipient_that_would_lose_the_money_is_left_to_the_guard(house: House) -> None:
    assert "id of an object" in str(prepare(house, "send_transfer", to=CLOCK, amount=1).preflight)
    assert "own address" in str(prepare(house, "send_transfer", to=house.wallet, amount=1).preflight)


@pytest.mark.parametrize("to", ["bob", "0x77"])
def test_a_recipient_that_nobody_knows_is_refused(house: House, to: str) -> None:
    with pytest.raises(BadAddress):
        prepare(house, "send_transfer", to=to, amount=1)


def test_more_than_there_is_can_be_prepared_but_not_built(house: House) -> None:
    intent = prepare(house, "send_transfer", to=STRANGER, amount=1_001)

    with pytest.raises(InsufficientBalance):
        house.network.draft(house.wallet, intent.build)


# save_deposit


def test_a_deposit_is_of_usdc_unless_another_is_named(house: House) -> None:
    intent = prepare(house, "save_deposit", amount=10)

    assert intent.input == {"amount": 10, "asset": USDC.coin_type}
    assert intent.description == "Save 10 USDC in NAVI"
    assert intent.expected == (Expected(house.wallet, USDC, -10_000_000, -10_000_000),)


@pytest.mark.parametrize("asset", ["SUI", "ETH"])
def test_what_cannot_be_saved_is_never_swapped_silently(house: House, asset: str) -> None:
    problem = str(prepare(house, "save_deposit", amount=10, asset=asset).preflight)

    assert problem.startswith(f"Only USDC and USDsui can be saved. Swap {asset} to USDC first")


@pytest.mark.parametrize(("amount", "fine"), [("0.999999", False), ("1", True)])
def test_the_least_deposit_is_one_coin(house: House, amount: str, fine: bool) -> None:
    problem = prepare(house, "save_deposit", amount=amount).preflight

    assert problem == (None if fine else "The least that can be saved is 1 USDC.")


# withdraw


def test_usde_is_among_the_known_tokens() -> None:
    # The withdrawal tool would silently offer one token less without it.
    assert token_by_symbol("USDe") is not None


def test_all_means_what_is_saved_with_its_interest(house: House) -> None:
    save(house, Amount(USDC, 400 * 10**6))
    controls.advance_clock(house.ledger, 365 * 24 * 3_600 * 1_000)

    (amount,) = prepare(house, "withdraw", amount="all").moves

    assert amount.value > 410


def test_a_withdrawal_announces_what_comes_in(house: House) -> None:
    save(house, Amount(USDC, 400 * 10**6))

    intent = prepare(house, "withdraw", amount="25%")

    assert intent.description == "Withdraw 100 USDC from NAVI"
    assert intent.expected == (Expected(house.wallet, USDC, 100 * 10**6, 100 * 10**6),)


def test_more_than_is_saved_cannot_be_withdrawn(house: House) -> None:
    save(house, Amount(USDC, 400 * 10**6))

    with pytest.raises(InsufficientBalance, match=r"400.000001 USDC is more") as raised:
        prepare(house, "withdraw", amount="400.000001")
    assert raised.value.hint == "At most 400 USDC can be withdrawn now."


def test_of_what_is_lent_out_only_the_rest_can_be_withdrawn(house: House) -> None:
    save(house, Amount(USDC, 400 * 10**6))
    lend_to(house.ledger, STRANGER, USDC, 2_800_250 * 10**9)

    assert prepare(house, "withdraw", amount="all").moves == (Amount(USDC, 150 * 10**6),)


@pytest.mark.parametrize("amount", ["all", "1"])
def test_what_was_never_saved_cannot_be_withdrawn(house: House, amount: str) -> None:
    with pytest.raises(InsufficientBalance, match="No SUI is saved"):
        prepare(house, "withdraw", amount=amount, asset="SUI")


@pytest.mark.parametrize("amount", ["all", "1"])
def test_a_token_that_is_never_withdrawn_is_left_to_the_guard(house: House, amount: str) -> None:
    intent = prepare(house, "withdraw", amount=amount, asset="ETH")

    assert intent.preflight == "Only USDC and USDsui and SUI and USDe can be withdrawn from NAVI."
    assert (intent.moves, intent.expected) == ((), ())
    with pytest.raises(AssertionError, match="never built"):
        house.network.draft(house.wallet, intent.build)


def test_a_token_whose_market_this_network_lacks_is_refused(house: House) -> None:
    with pytest.raises(UsageError, match="no market for USDsui"):
        prepare(house, "withdraw", amount="all", asset="USDsui")
