"""Presets: how much of each operation goes through without asking.

The figures of the three built-in presets are those of shared/spec/policy.md, "Presets". A configuration may
define more, either in full or as changes to a built-in one.
"""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from types import MappingProxyType

from tidegate.core.errors import ConfigError
from tidegate.core.money import ZERO_USD, Usd, plain
from tidegate.core.policy.types import Operation

_MOST = Decimal(10) ** 12
"""USD. A limit past this is a slip of the keyboard."""

_OPERATIONS = tuple(operation.value for operation in Operation)
_PRESET_KEYS = (*_OPERATIONS, "auto_daily", "base")
_THRESHOLD_KEYS = ("auto_below", "confirm_below")


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The two limits of one operation. A value equal to a limit is past it."""

    auto_below: Usd
    """Below this a write goes through by policy."""
    confirm_below: Usd
    """Below this a plain approval is enough; from here on the person has to name the value."""


@dataclass(frozen=True, slots=True)
class Preset:
    """A named set of limits, one pair for every operation."""

    name: str
    thresholds: Mapping[Operation, Thresholds]
    auto_daily: Usd
    """What may go through by policy on one UTC day."""

    @property
    def digest(self) -> str:
        """SHA-256 of name and limits, hex: a write shown under one preset is not approved under another."""
        lines = [self.name, plain(self.auto_daily.value)]
        for operation in Operation:
            limits = self.thresholds[operation]
            lines.append(
                f"{operation.value} {plain(limits.auto_below.value)} {plain(limits.confirm_below.value)}"
            )
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _built_in(name: str, auto_daily: int, **limits: tuple[int, int]) -> Preset:
    thresholds = {
        Operation(operation): Thresholds(Usd(Decimal(auto)), Usd(Decimal(confirm)))
        for operation, (auto, confirm) in limits.items()
    }
    return Preset(name, MappingProxyType(thresholds), Usd(Decimal(auto_daily)))


CONSERVATIVE = _built_in(
    "conservative",
    auto_daily=100,
    save=(5, 100),
    repay=(5, 100),
    withdraw=(5, 100),
    swap=(5, 100),
    send=(5, 100),
    pay=(1, 25),
    borrow=(0, 100),
    other=(5, 1000),
)
BALANCED = _built_in(
    "balanced",
    auto_daily=200,
    save=(50, 1000),
    repay=(50, 1000),
    withdraw=(25, 500),
    swap=(25, 300),
    send=(10, 200),
    pay=(1, 50),
    borrow=(0, 500),
    other=(10, 1000),
)
AGGRESSIVE = _built_in(
    "aggressive",
    auto_daily=500,
    save=(100, 2000),
    repay=(100, 2000),
    withdraw=(50, 1000),
    swap=(50, 500),
    send=(25, 500),
    pay=(5, 100),
    borrow=(0, 1000),
    other=(25, 1000),
)

BUILT_IN: Mapping[str, Preset] = MappingProxyType(
    {preset.name: preset for preset in (CONSERVATIVE, BALANCED, AGGRESSIVE)}
)


def load_preset(name: str, user_presets: Mapping[str, object]) -> Preset:
    """Return the preset of that name.

    Args:
        name: A built-in preset or a key of `user_presets`.
        user_presets: The configuration's own tables by name. Each has ``auto_daily`` and for every operation
            a table with ``auto_below`` and ``confirm_below``, in USD; with ``base`` naming a built-in preset
            it need only have what differs.

    Raises:
        ConfigError: no preset has this name, or its table is incomplete, unknown in a key, or unsafe.
    """
    if name in BUILT_IN:
        if name in user_presets:
            raise ConfigError(
                f"The preset {name} is built in and cannot be redefined.",
                hint=f'Give yours another name, with base = "{name}".',
            )
        return BUILT_IN[name]
    if name in user_presets:
        return _parse(name, user_presets[name])
    raise ConfigError(
        f"There is no preset {name[:80]!r}.", hint=_suggestion(name, [*BUILT_IN, *map(str, user_presets)])
    )


def _parse(name: str, table: object) -> Preset:
    fields = _table(table, _PRESET_KEYS, f"presets.{name}")
    base = _base(name, fields)
    thresholds = {operation: _thresholds(name, operation, fields, base) for operation in Operation}
    if "auto_daily" in fields:
        auto_daily = _usd(fields["auto_daily"], f"presets.{name}.auto_daily")
    elif base is not None:
        auto_daily = base.auto_daily
    else:
        raise _missing(f"presets.{name}.auto_daily")
    return Preset(name, MappingProxyType(thresholds), auto_daily)


def _base(name: str, fields: Mapping[str, object]) -> Preset | None:
    if "base" not in fields:
        return None
    base = fields["base"]
    if not isinstance(base, str) or base not in BUILT_IN:
        raise ConfigError(
            f"presets.{name}.base is not a built-in preset.", hint=_suggestion(str(base), list(BUILT_IN))
        )
    return BUILT_IN[base]


def _thresholds(
    name: str, operation: Operation, fields: Mapping[str, object], base: Preset | None
) -> Thresholds:
    path = f"presets.{name}.{operation.value}"
    if operation.value not in fields:
        if base is None:
            raise _missing(path)
        return base.thresholds[operation]
    given = {
        key: _usd(value, f"{path}.{key}")
        for key, value in _table(fields[operation.value], _THRESHOLD_KEYS, path).items()
    }
    if base is not None:
        limits = replace(base.thresholds[operation], **given)
    elif absent := [key for key in _THRESHOLD_KEYS if key not in given]:
        raise _missing(f"{path}.{absent[0]}")
    else:
        limits = Thresholds(**given)
    if limits.auto_below > limits.confirm_below:
        raise ConfigError(
            f"{path}: auto_below ({limits.auto_below}) is more than confirm_below ({limits.confirm_below}).",
            hint="What goes through without asking must need no more than a plain approval.",
        )
    if operation is Operation.BORROW and limits.auto_below > ZERO_USD:
        raise ConfigError(
            f"{path}.auto_below must be 0: debt is never taken without asking.",
            hint="Remove it, or set it to 0.",
        )
    return limits


def _table(value: object, keys: tuple[str, ...], path: str) -> dict[str, object]:
    if not isinstance(value, Mapping):
        raise ConfigError(f"{path} is not a table.", hint=f"It takes {', '.join(keys)}.")
    for key in value:
        if key not in keys:
            raise ConfigError(
                f"{path} has no setting {str(key)[:80]!r}.", hint=_suggestion(str(key), list(keys))
            )
    return dict(value)


def _usd(value: object, path: str) -> Usd:
    number = _number(value)
    if number is None or not number.is_finite() or not 0 <= number <= _MOST:
        raise ConfigError(
            f"{path} is not an amount of dollars: {str(value)[:40]!r}.",
            hint="Give a number of USD, zero or more, such as 25 or 2.50.",
        )
    return Usd(abs(number))


def _number(value: object) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        return None
    try:
        # Through text, so that 0.1 in a file is a tenth and not the nearest binary fraction.
        return Decimal(str(value))
    except InvalidOperation:
        return None


def _missing(path: str) -> ConfigError:
    return ConfigError(
        f"{path} is missing.",
        hint='A preset names every operation and auto_daily, or says base = "balanced" and what differs.',
    )


def _suggestion(word: str, known: list[str]) -> str:
    close = difflib.get_close_matches(word[:80], known, n=1, cutoff=0.5)
    return f"Did you mean {close[0]}?" if close else f"Known: {', '.join(known)}."
