from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tidegate.core.errors import ConfigError
from tidegate.core.money import Usd
from tidegate.core.policy.presets import AGGRESSIVE, BALANCED, BUILT_IN, CONSERVATIVE, load_preset
from tidegate.core.policy.types import Operation

SPECIFICATION = """
conservative 5 100  5 100  5 100   5 100  5 100  1 25   0 100   5 1000   100
balanced     50 1000 50 1000 25 500 25 300 10 200 1 50  0 500   10 1000  200
aggressive   100 2000 100 2000 50 1000 50 500 25 500 5 100 0 1000 25 1000 500
"""


def usd(value: str | int) -> Usd:
    return Usd(Decimal(value))


def full_table() -> dict[str, Any]:
    limits = {operation.value: {"auto_below": 2, "confirm_below": 20} for operation in Operation}
    return limits | {"borrow": {"auto_below": 0, "confirm_below": 20}, "auto_daily": 50}


@pytest.mark.parametrize("row", SPECIFICATION.strip().splitlines())
def test_built_in_presets_have_the_figures_of_the_specification(row: str) -> None:
    name, *figures = row.split()
    preset = load_preset(name, {})
    told = [
        limit
        for operation in Operation
        for limit in (preset.thresholds[operation].auto_below, preset.thresholds[operation].confirm_below)
    ]
    assert [*told, preset.auto_daily] == [usd(figure) for figure in figures]


def test_a_full_table_is_a_preset() -> None:
    preset = load_preset("mine", {"mine": full_table()})
    assert preset.thresholds[Operation.SEND].confirm_below == usd(20)
    assert preset.auto_daily == usd(50)


def test_a_base_fills_in_what_a_table_leaves_out() -> None:
    preset = load_preset("mine", {"mine": {"base": "balanced", "send": {"auto_below": 3}}})
    assert preset.thresholds[Operation.SEND].auto_below == usd(3)
    assert preset.thresholds[Operation.SEND].confirm_below == usd(200)
    assert preset.thresholds[Operation.SAVE] == BALANCED.thresholds[Operation.SAVE]
    assert preset.auto_daily == BALANCED.auto_daily


@pytest.mark.parametrize("value", [0.1, "0.1", Decimal("0.1")])
def test_limits_are_exact_however_they_are_written(value: object) -> None:
    preset = load_preset("mine", {"mine": {"base": "balanced", "auto_daily": value}})
    assert preset.auto_daily == usd("0.1")


def test_an_unknown_name_is_told_the_closest() -> None:
    with pytest.raises(ConfigError) as caught:
        load_preset("balancd", {})
    assert caught.value.hint == "Did you mean balanced?"


def test_an_unknown_name_like_no_other_is_told_all() -> None:
    with pytest.raises(ConfigError) as caught:
        load_preset("x", {"mine": {}})
    assert caught.value.hint == "Known: conservative, balanced, aggressive, mine."


def test_a_built_in_preset_cannot_be_redefined() -> None:
    with pytest.raises(ConfigError, match="built in"):
        load_preset("balanced", {"balanced": full_table()})


@pytest.mark.parametrize("name", ["aggressive", "conservative"])
def test_an_unused_user_preset_does_not_get_in_the_way(name: str) -> None:
    assert load_preset(name, {"mine": "nonsense"}) is BUILT_IN[name]


def test_borrowing_without_asking_is_refused_at_load() -> None:
    table = {"base": "balanced", "borrow": {"auto_below": "0.01"}}
    with pytest.raises(ConfigError, match="debt is never taken without asking"):
        load_preset("mine", {"mine": table})


def test_auto_above_confirm_is_refused() -> None:
    table = {"base": "balanced", "send": {"auto_below": 201}}
    with pytest.raises(ConfigError, match="auto_below"):
        load_preset("mine", {"mine": table})


def test_auto_equal_to_confirm_is_fine() -> None:
    table = {"base": "balanced", "send": {"auto_below": 200}}
    assert load_preset("mine", {"mine": table}).thresholds[Operation.SEND].auto_below == usd(200)


@pytest.mark.parametrize(
    "value", [-1, "NaN", float("inf"), "Infinity", "ten", True, None, [], "1e13", float("nan"), "", "sNaN"]
)
def test_what_is_no_amount_of_dollars_is_refused(value: object) -> None:
    with pytest.raises(ConfigError, match=r"presets\.mine\.auto_daily is not an amount of dollars"):
        load_preset("mine", {"mine": {"base": "balanced", "auto_daily": value}})


def test_negative_zero_becomes_zero() -> None:
    preset = load_preset("mine", {"mine": {"base": "balanced", "auto_daily": "-0"}})
    assert str(preset.auto_daily) == "0.00 USD"


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ({"base": "balanced", "sned": {}}, "Did you mean send?"),
        ({"base": "balanced", "send": {"auto_bellow": 1}}, "Did you mean auto_below?"),
        ({"base": "balanced", "qqq": 1}, "Known: save, repay"),
        ({"base": "agressive"}, "Did you mean aggressive?"),
        ({"base": 3}, "Known: conservative"),
        ("balanced", "It takes save, repay"),
        ({"base": "balanced", "send": 5}, "It takes auto_below, confirm_below."),
        ({5: 5}, "Known: save"),
    ],
)
def test_a_slip_in_a_table_is_named(table: object, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_preset("mine", {"mine": table})
    assert told in str(caught.value.hint)


@pytest.mark.parametrize("absent", [*Operation, "auto_daily"])
def test_a_table_without_base_must_be_complete(absent: str) -> None:
    table = full_table()
    del table[str(absent)]
    with pytest.raises(ConfigError, match=rf"presets\.mine\.{absent} is missing"):
        load_preset("mine", {"mine": table})


@pytest.mark.parametrize("absent", ["auto_below", "confirm_below"])
def test_half_a_pair_without_base_is_refused(absent: str) -> None:
    table = full_table()
    del table["send"][absent]
    with pytest.raises(ConfigError, match=rf"presets\.mine\.send\.{absent} is missing"):
        load_preset("mine", {"mine": table})


def test_the_digest_is_stable() -> None:
    assert BALANCED.digest == "6f002386fca78cb3ef82df78a7406545a8eeb3f26178343a3c2b88ba983dac31"


def test_the_digest_does_not_depend_on_how_a_number_is_written() -> None:
    one = load_preset("mine", {"mine": {"base": "balanced", "auto_daily": "200.00"}})
    other = load_preset("mine", {"mine": {"base": "balanced", "auto_daily": 200}})
    assert one.digest == other.digest


@pytest.mark.parametrize("operation", [operation for operation in Operation if operation != "borrow"])
def test_the_digest_changes_with_any_limit(operation: Operation) -> None:
    table = {"base": "balanced", operation.value: {"auto_below": "0.5"}}
    changed = load_preset("mine", {"mine": table})
    assert changed.digest != load_preset("mine", {"mine": {"base": "balanced"}}).digest


def test_no_two_presets_share_a_digest() -> None:
    assert len({preset.digest for preset in (CONSERVATIVE, BALANCED, AGGRESSIVE)}) == 3


def test_a_preset_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        BALANCED.thresholds[Operation.SEND] = AGGRESSIVE.thresholds[Operation.SEND]  # type: ignore[index]
