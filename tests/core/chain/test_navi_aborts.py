"""NAVI's refusals: what the contract says, and the words for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tool_house import DAY_MS, NAVI_POOLS, STRANGER, change_reserve, lend_to, rewrite

from tidegate.core.chain import navi
from tidegate.core.chain.client import SuiNetwork
from tidegate.core.chain.deployments import SANDBOX_NAVI
from tidegate.core.chain.types import Build, MoveFailure, Outcome
from tidegate.core.money import Amount
from tidegate.core.sandbox import controls
from tidegate.core.sandbox.ledger import Fault, Ledger
from tidegate.core.tokens import SUI, USDC

USDC_400 = 400 * 10**6
Send = Callable[[Build], Outcome]
Refusal = Callable[[Build], str | None]


@pytest.fixture
def saved(funded: SuiNetwork, send: Send) -> SuiNetwork:
    """The network on which alice has saved 400 USDC."""
    send(lambda ptb: navi.deposit(funded, ptb, Amount(USDC, USDC_400)))
    return funded


@pytest.fixture
def refusal(funded: SuiNetwork, alice: Any) -> Refusal:
    """Draft a transaction of alice's that must fail, and explain it."""

    def draft(build: Build) -> str | None:
        failure = funded.draft(alice.address, build).outcome.failure
        assert failure is not None
        return navi.explain_abort(failure)

    return draft


def test_a_market_that_is_paused_says_so(saved: SuiNetwork, ledger: Ledger, refusal: Refusal) -> None:
    rewrite(ledger, SANDBOX_NAVI.storage, lambda state: state.update(paused=True))

    for action in (navi.deposit, navi.withdraw):
        assert refusal(lambda ptb, do=action: do(saved, ptb, Amount(USDC, 10**6))) == "NAVI is paused."  # type: ignore[misc]


def test_a_feed_that_lags_leaves_the_price_out_of_date(
    saved: SuiNetwork, ledger: Ledger, refusal: Refusal
) -> None:
    controls.advance_clock(ledger, DAY_MS)
    controls.set_fault(ledger, Fault.LAG.value, 60_000)

    words = refusal(lambda ptb: navi.withdraw(saved, ptb, Amount(USDC, 10**6)))

    assert words == "NAVI's price of one of your assets is out of date."


def test_nothing_is_too_small_an_amount(saved: SuiNetwork, refusal: Refusal) -> None:
    words = refusal(lambda ptb: navi.withdraw(saved, ptb, Amount(USDC, 0)))

    assert words == "The amount is too small for NAVI to count."


def test_what_is_lent_out_is_told_from_what_was_never_saved(
    saved: SuiNetwork, ledger: Ledger, refusal: Refusal
) -> None:
    lend_to(ledger, STRANGER, USDC, 2_800_250 * 10**9)

    lent = refusal(lambda ptb: navi.withdraw(saved, ptb, Amount(USDC, 151 * 10**6)))
    never = refusal(lambda ptb: navi.withdraw(saved, ptb, Amount(SUI, 1)))

    assert lent == "NAVI has lent out what you want to withdraw; less may be available."
    assert never == "Nothing of this asset is saved."


def test_a_pool_whose_coins_ran_dry_says_so(saved: SuiNetwork, ledger: Ledger, refusal: Refusal) -> None:
    rewrite(ledger, NAVI_POOLS[USDC.coin_type].pool, lambda state: state.update(balance=5))

    words = refusal(lambda ptb: navi.withdraw(saved, ptb, Amount(USDC, 6)))

    assert words == "The pool does not hold that much now; less may be available."


def test_a_deposit_that_covers_a_debt_stays(
    saved: SuiNetwork, ledger: Ledger, alice: Any, refusal: Refusal
) -> None:
    # 340 USDC are the most that 400 cover at a threshold of 85 percent.
    lend_to(ledger, alice.address, USDC, 339 * 10**9)

    words = refusal(lambda ptb: navi.withdraw(saved, ptb, Amount(USDC, 10 * 10**6)))

    assert words == "What remains would no longer cover your debt."


def test_what_a_debt_does_not_need_can_be_withdrawn(
    saved: SuiNetwork, ledger: Ledger, alice: Any, send: Send
) -> None:
    lend_to(ledger, alice.address, USDC, 170 * 10**9)

    send(lambda ptb: navi.withdraw(saved, ptb, Amount(USDC, 199 * 10**6)))

    assert navi.supplied(saved, alice.address, USDC) == Amount(USDC, 201 * 10**6)


def test_a_fallen_price_can_take_the_cover_away(
    funded: SuiNetwork, ledger: Ledger, alice: Any, send: Send, refusal: Refusal
) -> None:
    send(lambda ptb: navi.deposit(funded, ptb, Amount(SUI, 50 * 10**9)))
    lend_to(ledger, alice.address, USDC, 100 * 10**9)
    send(lambda ptb: navi.withdraw(funded, ptb, Amount(SUI, 10**9)))
    controls.set_price(ledger, SUI.coin_type, navi.markets(funded)[0].ltv)

    words = refusal(lambda ptb: navi.withdraw(funded, ptb, Amount(SUI, 10**9)))

    assert words == "What remains would no longer cover your debt."


def test_a_market_that_is_full_says_so(saved: SuiNetwork, ledger: Ledger, refusal: Refusal) -> None:
    def lower_the_cap(reserve: dict[str, Any]) -> None:
        reserve["supply_cap_ceiling"] = 8_000_401 * 10**9 * navi.RAY

    change_reserve(ledger, USDC, lower_the_cap)

    words = refusal(lambda ptb: navi.deposit(saved, ptb, Amount(USDC, 2 * 10**6)))

    assert words == "NAVI's cap for this asset is reached."


def test_an_abort_nobody_knows_is_left_to_its_own_description(saved: SuiNetwork, refusal: Refusal) -> None:
    assert refusal(lambda ptb: navi.deposit(saved, ptb, Amount(USDC, 0))) is None


@pytest.mark.parametrize(
    "failure",
    [
        MoveFailure("The transaction failed: insufficient gas."),
        MoveFailure("", module="storage"),
        MoveFailure("", module=None, code=1500),
        MoveFailure("", module="errors", function="err_amount_in_is_zero", code=3),
        MoveFailure("", module="logic", code=1500),
    ],
)
def test_a_failure_that_is_not_known_to_be_navis_gets_no_words(failure: MoveFailure) -> None:
    assert navi.explain_abort(failure) is None
