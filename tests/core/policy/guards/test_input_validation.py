from __future__ import annotations

from collections.abc import Callable

from tidegate.core.policy.guards.base import PASS, block
from tidegate.core.policy.guards.frame import run_before
from tidegate.core.policy.guards.input_validation import judge
from tidegate.core.policy.types import GuardContext

Make = Callable[..., GuardContext]


def test_what_the_tool_accepts_passes(call: Make) -> None:
    assert judge(call(preflight=None)) == PASS


def test_what_the_tool_refuses_is_blocked_in_its_own_words(call: Make) -> None:
    assert judge(call(preflight="At least 1 USDC.")) == block("At least 1 USDC.")


def test_an_empty_reason_is_a_refusal_all_the_same(call: Make) -> None:
    assert judge(call(preflight="")).verdict == "block"


def test_it_speaks_before_every_other_guard(call: Make) -> None:
    [finding] = run_before(call(preflight="No.", recipient="0x" + "22" * 32))
    assert finding.guard == "input_validation"
