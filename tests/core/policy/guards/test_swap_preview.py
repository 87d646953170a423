from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from tidegate.core.money import Amount
from tidegate.core.policy.guards.swap_preview import judge
from tidegate.core.policy.types import GuardContext, Operation, SettledCall, SwapFacts
from tidegate.core.tokens import SUI, USDC, short_coin_type

Make = Callable[..., GuardContext]
Settle = Callable[..., SettledCall]

QUOTE: dict[str, Any] = {
    "from": "SUI",
    "to": "USDC",
    "from_coin_type": SUI.coin_type,
    "to_coin_type": USDC.coin_type,
    "by_amount_in": True,
    "amount_in": Decimal(100),
    "amount_out": Decimal(300),
}
SWAP: dict[str, Any] = {
    "from": SUI.coin_type,
    "to": USDC.coin_type,
    "amount": Decimal(100),
    "by_amount_in": True,
    "slippage": Decimal("0.01"),
}
FACTS = SwapFacts(slippage=Decimal(1), price_impact=Decimal(0), expected_out=Amount(USDC, 300_000_000))


@pytest.fixture
def verdict(call: Make, settled: Settle) -> Callable[..., str]:
    """Judge a swap after one quote, either changed as told."""

    def ask(quote: dict[str, Any] | None = None, swap: dict[str, Any] | None = None, **changes: Any) -> str:
        history = [settled("swap_quote", QUOTE | (quote or {}), **changes)]
        context = call(operation=Operation.SWAP, input=SWAP | (swap or {}), history=history, swap=FACTS)
        return judge(context).verdict

    return ask


def test_a_swap_just_quoted_passes(verdict: Callable[..., str]) -> None:
    assert verdict() == "pass"


def test_a_swap_never_quoted_is_blocked_and_told_what_to_do(call: Make) -> None:
    opinion = judge(call(operation=Operation.SWAP, input=SWAP, swap=FACTS))
    assert opinion.verdict == "block"
    assert "Ask swap_quote" in opinion.message


def test_other_writes_need_no_quote(call: Make) -> None:
    assert judge(call(operation=Operation.SAVE)).verdict == "pass"


@pytest.mark.parametrize(
    ("age_ms", "expected"), [(0, "pass"), (60_000, "pass"), (60_001, "block"), (-1, "block")]
)
def test_a_quote_counts_for_sixty_seconds(
    verdict: Callable[..., str], now_ms: int, age_ms: int, expected: str
) -> None:
    assert verdict(at_ms=now_ms - age_ms) == expected


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        ("99", "pass"),
        ("101", "pass"),
        ("98.999999999", "block"),
        ("101.000000001", "block"),
        ("300", "block"),
    ],
)
def test_the_amount_may_differ_by_one_percent(
    verdict: Callable[..., str], amount: str, expected: str
) -> None:
    assert verdict(swap={"amount": Decimal(amount)}) == expected


@pytest.mark.parametrize("amount", [100, 100.0, "100", Decimal("1E2")])
def test_amounts_that_came_back_from_the_store_are_the_same(
    verdict: Callable[..., str], amount: object
) -> None:
    assert verdict(quote={"amount_in": amount}) == "pass"


@pytest.mark.parametrize(
    "quote",
    [
        {"from_coin_type": USDC.coin_type, "to_coin_type": SUI.coin_type},
        {"to_coin_type": "0x" + "66" * 32 + "::usdc::USDC"},
        {"from_coin_type": "SUI"},
        {"from_coin_type": None},
        {"by_amount_in": False},
        {"amount_in": None},
        {"amount_in": True},
        {"amount_in": "NaN"},
        {"amount_in": "a hundred"},
        {"amount_in": [100]},
    ],
)
def test_a_quote_of_something_else_is_no_preview(verdict: Callable[..., str], quote: dict[str, Any]) -> None:
    assert verdict(quote=quote) == "block"


def test_a_coin_type_in_short_form_is_the_same(verdict: Callable[..., str]) -> None:
    assert verdict(quote={"from_coin_type": short_coin_type(SUI.coin_type)}) == "pass"


@pytest.mark.parametrize(("amount", "expected"), [(300, "pass"), (100, "block")])
def test_an_amount_to_receive_is_compared_with_what_comes_out(
    verdict: Callable[..., str], amount: int, expected: str
) -> None:
    assert verdict(quote={"by_amount_in": False}, swap={"by_amount_in": False, "amount": amount}) == expected


def test_a_swap_whose_pair_is_not_known_is_blocked(verdict: Callable[..., str]) -> None:
    assert (
        verdict(quote={"from_coin_type": "x", "to_coin_type": "y"}, swap={"from": "x", "to": "y"}) == "block"
    )


def test_a_quote_that_failed_is_no_preview(verdict: Callable[..., str]) -> None:
    assert verdict(is_error=True) == "block"


def test_another_tools_answer_is_no_preview(call: Make, settled: Settle) -> None:
    history = [settled("token_prices", QUOTE)]
    assert judge(call(operation=Operation.SWAP, input=SWAP, history=history)).verdict == "block"


@pytest.mark.parametrize(
    ("facts", "expected"),
    [(FACTS, "pass"), (None, "block"), (SwapFacts(Decimal(1), Decimal(0), None), "block")],
)
def test_for_a_person_the_quote_just_taken_is_the_preview(
    call: Make, facts: SwapFacts | None, expected: str
) -> None:
    assert judge(call(operation=Operation.SWAP, input=SWAP, swap=facts, direct=True)).verdict == expected
