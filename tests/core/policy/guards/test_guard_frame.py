from __future__ import annotations

from collections.abc import Callable

import pytest

from tidegate.core.errors import ConfigError
from tidegate.core.policy.guards.base import ORDER, PASS, Guard, Opinion, Place, block, guard, hint, warn
from tidegate.core.policy.guards.frame import GUARDS, check_disabled, in_order, run_after, run_before
from tidegate.core.policy.types import Finding, GuardContext

Make = Callable[..., GuardContext]
TABLE = """
1 input_validation safety before
2 retry_protection safety before
3 address_source safety before
4 asset_intent safety before
5 address_scope safety before
6 swap_preview safety before
7 irreversibility safety before
8 balance_required financial before
9 health_factor financial before
10 large_transfer financial before
11 slippage financial before
12 cost_warning ux before
13 artifact_preview ux after
14 stale_data financial after
"""


def says(name: str, opinion: Opinion) -> Guard:
    return guard(name, lambda context: opinion)


def must_not_be_asked(context: GuardContext) -> Opinion:
    raise AssertionError("asked")


def test_the_fourteen_places_are_those_of_the_specification() -> None:
    rows = [f"{place.number} {place.name} {place.tier} {place.phase}" for place in ORDER]
    assert rows == TABLE.strip().splitlines()


def test_guards_stand_in_their_order_wherever_they_are_registered() -> None:
    shuffled = [
        says(name, PASS) for name in ("cost_warning", "slippage", "address_source", "input_validation")
    ]
    names = [guard.name for guard in in_order(shuffled)]
    assert names == ["input_validation", "address_source", "slippage", "cost_warning"]


def test_registered_guards_are_in_order_and_each_is_there_once() -> None:
    numbers = [guard.place.number for guard in GUARDS]
    assert numbers == sorted(set(numbers))


def test_a_guard_without_a_place_cannot_be_made() -> None:
    with pytest.raises(KeyError):
        says("no_such_guard", PASS)


def test_a_finding_carries_the_name_and_tier_of_its_guard(call: Make) -> None:
    finding = says("slippage", warn("Mind the gap.")).check(call())
    assert finding == Finding("slippage", "financial", "warn", "Mind the gap.")


def test_hints_and_warnings_are_all_collected_and_passes_left_out(call: Make) -> None:
    guards = [says("asset_intent", hint("a")), says("slippage", PASS), says("cost_warning", warn("b"))]
    found = run_before(call(), guards=guards)
    assert [(finding.guard, finding.verdict) for finding in found] == [
        ("asset_intent", "hint"),
        ("cost_warning", "warn"),
    ]


def test_the_first_block_is_last_and_nobody_else_is_asked(call: Make) -> None:
    guards = [
        says("asset_intent", hint("a")),
        says("slippage", block("b")),
        guard("cost_warning", must_not_be_asked),
    ]
    assert [finding.verdict for finding in run_before(call(), guards=guards)] == ["hint", "block"]


def test_guards_of_the_other_phase_are_not_asked(call: Make) -> None:
    before, after = guard("slippage", must_not_be_asked), says("stale_data", hint("Read again."))
    assert [finding.guard for finding in run_after(call(), guards=[before, after])] == ["stale_data"]


def test_no_registered_guard_objects_to_a_call_that_moves_nothing(call: Make) -> None:
    assert run_before(call(operation=None)) == ()
    assert run_after(call(operation=None)) == ()


def test_a_disabled_ux_guard_is_not_asked(call: Make) -> None:
    assert run_before(call(), {"cost_warning"}, [guard("cost_warning", must_not_be_asked)]) == ()


@pytest.mark.parametrize("name", ["address_source", "balance_required", "no_such_guard"])
def test_only_ux_guards_can_be_disabled(call: Make, name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        run_before(call(), {name})
    assert caught.value.hint == "Only these can: cost_warning, artifact_preview."


def test_disabling_ux_guards_is_accepted() -> None:
    optional = [place for place in ORDER if place.tier == "ux"]
    check_disabled([place.name for place in optional])
    assert all(isinstance(place, Place) for place in optional)
