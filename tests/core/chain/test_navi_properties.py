"""What holds for every amount that is saved, however long it lies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tool_house import DAY_MS, change_reserve

from tidegate.core.chain import navi
from tidegate.core.chain.client import SuiNetwork
from tidegate.core.chain.types import Build, Outcome
from tidegate.core.money import Amount
from tidegate.core.sandbox import controls
from tidegate.core.sandbox.ledger import Ledger
from tidegate.core.tokens import SUI, USDC, Token

Send = Callable[[Build], Outcome]

# Every example goes on where the one before it ended, so that the indices become as uneven as real ones.
on_one_network = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def moved(outcome: Outcome, address: str, token: Token) -> int:
    """Return what an address gained, gas apart."""
    gas = outcome.gas.net if token == SUI else 0
    return gas + sum(
        each.base for each in outcome.changes if (each.address, each.coin_type) == (address, token.coin_type)
    )


@on_one_network
@given(
    token=st.sampled_from([USDC, SUI]),
    base=st.integers(1, 900 * 10**6),
    minutes_before=st.integers(0, 100_000),
)
def test_a_deposit_that_is_taken_out_at_once_returns_no_more_than_was_put_in(
    funded: SuiNetwork, ledger: Ledger, alice: Any, send: Send, token: Token, base: int, minutes_before: int
) -> None:
    # Parts of a base unit that an earlier example left behind would count as this one's gain.
    change_reserve(ledger, token, lambda it: it["supply_balance"]["user_state"].pop(alice.address, None))
    controls.advance_clock(ledger, minutes_before * 60_000)

    paid = -moved(send(lambda ptb: navi.deposit(funded, ptb, Amount(token, base))), alice.address, token)
    available = navi.supplied(funded, alice.address, token)
    got = 0
    if available.base:
        got = moved(send(lambda ptb: navi.withdraw(funded, ptb, available)), alice.address, token)

    assert paid == base
    assert got == available.base
    assert base - 1 <= got <= base


@on_one_network
@given(
    token=st.sampled_from([USDC, SUI]),
    base=st.integers(1, 50 * 10**6),
    ms_between=st.integers(0, 300 * DAY_MS),
)
def test_all_that_is_said_to_be_there_can_be_taken_out_after_any_time(
    funded: SuiNetwork, ledger: Ledger, alice: Any, send: Send, token: Token, base: int, ms_between: int
) -> None:
    # Rates at which even small deposits earn something within the test.
    def raise_rates(reserve: dict[str, Any]) -> None:
        reserve["current_supply_rate"] = navi.RAY // 7
        reserve["current_borrow_rate"] = navi.RAY // 5

    send(lambda ptb: navi.deposit(funded, ptb, Amount(token, base)))
    change_reserve(ledger, token, raise_rates)
    controls.advance_clock(ledger, ms_between)

    available = navi.supplied(funded, alice.address, token)
    if not available.base:
        return
    outcome = send(lambda ptb: navi.withdraw(funded, ptb, available))

    assert moved(outcome, alice.address, token) == available.base
    assert available.base >= base - 1
