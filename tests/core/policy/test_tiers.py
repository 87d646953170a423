from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.core.money import ZERO_USD, Usd
from tidegate.core.policy.presets import BALANCED, BUILT_IN, CONSERVATIVE, Preset, load_preset
from tidegate.core.policy.tiers import daily_limit_reached, decide, utc_day
from tidegate.core.policy.types import Decision, Finding, Operation, Tier

STRICTNESS = [Tier.AUTO, Tier.CONFIRM, Tier.EXPLICIT]
WARNING = Finding("large_transfer", "financial", "warn", "That is a lot.")


def usd(value: str | int | Decimal) -> Usd:
    return Usd(Decimal(value))


def a_send(value: str | int | None, **changes: Any) -> Decision:
    """Decide on a send to a contact under the balanced preset, unless told otherwise."""
    arguments: dict[str, Any] = {
        "operation": Operation.SEND,
        "usd": None if value is None else usd(value),
        "unpriced_reason": None if value is not None else "No price is known for SUI.",
        "preset": BALANCED,
        "spent_today": ZERO_USD,
        "has_key": True,
        "recipient_is_contact": True,
        "findings": (),
    }
    return decide(**(arguments | changes))


@pytest.mark.parametrize("preset", BUILT_IN.values())
@pytest.mark.parametrize("operation", Operation)
def test_a_value_equal_to_a_limit_is_past_it(preset: Preset, operation: Operation) -> None:
    preset = replace(preset, auto_daily=usd(10_000))
    limits, least = preset.thresholds[operation], usd("0.000000000000000001")
    steps = {
        limits.confirm_below: Tier.EXPLICIT,
        limits.confirm_below - least: Tier.CONFIRM,
        limits.auto_below: Tier.CONFIRM,
    }
    if limits.auto_below > ZERO_USD:
        steps[limits.auto_below - least] = Tier.AUTO
    for value, tier in steps.items():
        assert a_send(1, usd=value, operation=operation, preset=preset).tier is tier


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("9.43", "9.43 USD is below 10.00 USD, the balanced preset's limit for send without asking."),
        ("9.999", "9.999 USD is below 10.00 USD, the balanced preset's limit for send without asking."),
        ("10", "10.00 USD is 10.00 USD or more, the balanced preset's limit for send without asking."),
        (
            "500",
            "500.00 USD is 200.00 USD or more, the balanced preset's limit for send by a plain approval.",
        ),
    ],
)
def test_the_reason_names_the_number_that_decided(value: str, reason: str) -> None:
    assert a_send(value).reason == reason


def test_a_limit_finer_than_a_cent_is_shown_in_full() -> None:
    preset = load_preset("mine", {"mine": {"base": "balanced", "send": {"auto_below": "0.005"}}})
    assert a_send("0.004", preset=preset).reason.startswith("0.00 USD is below 0.005 USD")


def test_borrowing_says_that_it_never_goes_without_asking() -> None:
    decision = a_send("0.01", operation=Operation.BORROW, recipient_is_contact=None)
    assert decision.reason == "The balanced preset never lets borrow go without asking."


@pytest.mark.parametrize(
    ("value", "names"), [("9.99", []), ("10", ["usd_threshold"]), ("200", ["usd_threshold"])]
)
def test_the_threshold_is_a_finding_only_when_it_changed_the_tier(value: str, names: list[str]) -> None:
    findings = a_send(value).findings
    assert [finding.guard for finding in findings] == names
    assert all(finding.verdict == "hint" and finding.message for finding in findings)


def test_unpriced_is_never_auto_and_says_why() -> None:
    decision = a_send(None)
    assert decision.tier is Tier.CONFIRM
    assert decision.reason.startswith("No price is known for SUI.")


def test_unpriced_without_a_reason_still_says_something() -> None:
    assert a_send(None, unpriced_reason=None).reason.startswith("No price is known.")


@pytest.mark.parametrize(("value", "tier"), [("0.01", Tier.CONFIRM), ("100", Tier.EXPLICIT)])
def test_without_a_preset_nothing_is_auto_and_the_conservative_limit_stands(value: str, tier: Tier) -> None:
    assert a_send(value, preset=None).tier is tier


def test_without_a_preset_the_reason_says_how_to_choose_one() -> None:
    assert "tidegate config set preset" in a_send("0.01", preset=None).reason
    assert a_send(100, preset=None).reason.endswith("which counts while no preset is chosen.")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"has_key": False}, "No key is loaded"),
        ({"recipient_is_contact": False}, "not a saved contact"),
        ({"findings": (WARNING,)}, "Guard large_transfer warns: That is a lot."),
        (
            {"spent_today": usd("195.01")},
            "195.01 USD went without asking today, and 5.00 USD more would pass",
        ),
    ],
)
def test_each_rule_turns_auto_into_confirm_and_says_so(changes: dict[str, Any], told: str) -> None:
    decision = a_send(5, **changes)
    assert decision.tier is Tier.CONFIRM
    assert told in decision.reason


def test_a_block_that_reaches_the_tier_rules_out_auto_too() -> None:
    assert a_send(5, findings=(replace(WARNING, verdict="block"),)).tier is Tier.CONFIRM


@pytest.mark.parametrize("verdict", ["hint", "pass"])
def test_a_hint_does_not_rule_out_auto(verdict: Any) -> None:
    assert a_send(5, findings=(replace(WARNING, verdict=verdict),)).tier is Tier.AUTO


def test_a_send_is_the_only_write_that_has_a_recipient() -> None:
    assert a_send(5, operation=Operation.SAVE, recipient_is_contact=None).tier is Tier.AUTO


@pytest.mark.parametrize(("spent", "tier"), [("195", Tier.AUTO), ("195.000001", Tier.CONFIRM)])
def test_the_daily_limit_may_be_reached_but_not_passed(spent: str, tier: Tier) -> None:
    assert a_send(5, spent_today=usd(spent)).tier is tier


def test_the_daily_limit_is_a_finding_when_it_changed_the_tier() -> None:
    [finding] = a_send(5, spent_today=usd(200)).findings
    assert (finding.guard, finding.tier, finding.verdict) == ("daily_spend_limit", "financial", "hint")


def test_the_daily_limit_is_no_finding_when_the_write_would_have_waited_anyway() -> None:
    assert a_send(5, spent_today=usd(200), has_key=False).findings == ()


def test_a_limit_used_up_by_another_process_decides_alike() -> None:
    assert daily_limit_reached(usd(5), usd(200), BALANCED) == a_send(5, spent_today=usd(200))


values = st.decimals("0", "3000", places=6).map(usd)
operations = st.sampled_from(Operation)
presets = st.sampled_from([*BUILT_IN.values(), None])


@settings(derandomize=True, deadline=None)
@given(
    values, operations, presets, values, st.booleans(), st.sampled_from([True, False, None]), st.booleans()
)
def test_rules_only_ever_lower_auto_to_confirm(
    value: Usd,
    operation: Operation,
    preset: Preset | None,
    spent: Usd,
    has_key: bool,
    contact: bool | None,
    warned: bool,
) -> None:
    by_value = a_send(
        1, usd=value, operation=operation, preset=replace(preset or CONSERVATIVE, auto_daily=usd(10_000))
    )
    decided = a_send(
        1,
        usd=value,
        operation=operation,
        preset=preset,
        spent_today=spent,
        has_key=has_key,
        recipient_is_contact=contact,
        findings=(WARNING,) if warned else (),
    )
    objected = (
        not has_key or contact is False or warned or preset is None or spent + value > preset.auto_daily
    )
    lowered = Tier.CONFIRM if objected and by_value.tier is Tier.AUTO else by_value.tier
    assert decided.tier is lowered


@settings(derandomize=True, deadline=None)
@given(st.lists(values, min_size=2, max_size=6), operations)
def test_more_money_never_needs_less_consent(several: list[Usd], operation: Operation) -> None:
    tiers = [STRICTNESS.index(a_send(1, usd=value, operation=operation).tier) for value in sorted(several)]
    assert all(less <= more for less, more in pairwise(tiers))


@pytest.mark.parametrize(
    ("now_ms", "day"),
    [(1_796_083_199_999, "2026-11-30"), (1_796_083_200_000, "2026-12-01"), (0, "1970-01-01")],
)
def test_a_day_is_a_utc_day(now_ms: int, day: str) -> None:
    assert utc_day(now_ms) == day
