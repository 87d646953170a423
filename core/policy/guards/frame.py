"""Asks the guards, in their order; the first that blocks has the last word."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from tidegate.core.errors import ConfigError
from tidegate.core.policy.guards.address_source import ADDRESS_SOURCE
from tidegate.core.policy.guards.balance_required import BALANCE_REQUIRED
from tidegate.core.policy.guards.base import ORDER, Guard, Phase
from tidegate.core.policy.guards.input_validation import INPUT_VALIDATION
from tidegate.core.policy.guards.swap_preview import SWAP_PREVIEW
from tidegate.core.policy.types import Finding, GuardContext


def in_order(guards: Iterable[Guard]) -> tuple[Guard, ...]:
    """Return guards in the order of their places."""
    return tuple(sorted(guards, key=lambda guard: guard.place.number))


GUARDS: tuple[Guard, ...] = in_order((INPUT_VALIDATION, ADDRESS_SOURCE, SWAP_PREVIEW, BALANCE_REQUIRED))


def run_before(
    context: GuardContext, disabled: Collection[str] = (), guards: Iterable[Guard] = GUARDS
) -> tuple[Finding, ...]:
    """Return what the guards say of a call that is about to be made, passes left out.

    Args:
        context: The call.
        disabled: Names of ux guards that the configuration switched off.
        guards: Whom to ask, in this order.

    Returns:
        Hints and warnings; if a guard blocks, its finding is the last one and no other guard was asked.

    Raises:
        ConfigError: `disabled` names a guard that cannot be switched off, or none at all.
    """
    return _run("before", context, disabled, guards)


def run_after(
    context: GuardContext, disabled: Collection[str] = (), guards: Iterable[Guard] = GUARDS
) -> tuple[Finding, ...]:
    """Return what the guards say of a call that has ended; `context.result` is its result.

    Raises:
        ConfigError: see run_before.
    """
    return _run("after", context, disabled, guards)


def check_disabled(disabled: Collection[str]) -> None:
    """Refuse to switch off anything but ux guards.

    Raises:
        ConfigError: a name is that of another guard, or of none.
    """
    optional = [place.name for place in ORDER if place.tier == "ux"]
    for name in sorted(disabled):
        if name not in optional:
            raise ConfigError(
                f"The guard {name[:80]!r} cannot be disabled.",
                hint=f"Only these can: {', '.join(optional)}.",
            )


def _run(
    phase: Phase, context: GuardContext, disabled: Collection[str], guards: Iterable[Guard]
) -> tuple[Finding, ...]:
    check_disabled(disabled)
    findings: list[Finding] = []
    for guard in guards:
        if guard.phase != phase or guard.name in disabled:
            continue
        finding = guard.check(context)
        if finding.verdict != "pass":
            findings.append(finding)
        if finding.verdict == "block":
            break
    return tuple(findings)
