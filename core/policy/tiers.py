"""Who may let a write go: policy, a person, or a person who names the value.

Thresholds come first; every other rule can only turn auto into confirm (shared/spec/policy.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from tidegate.core.clock import iso_ms
from tidegate.core.money import Usd, plain
from tidegate.core.policy.presets import CONSERVATIVE, Preset
from tidegate.core.policy.types import Decision, Finding, Operation, Tier


def decide(
    *,
    operation: Operation,
    usd: Usd | None,
    unpriced_reason: str | None,
    preset: Preset | None,
    spent_today: Usd,
    has_key: bool,
    recipient_is_contact: bool | None,
    findings: Sequence[Finding],
) -> Decision:
    """Return the tier of a write and the one rule that decided it.

    Args:
        operation: Whose thresholds count.
        usd: What the write moves; None when it has no trustworthy value.
        unpriced_reason: Why `usd` is None.
        preset: None when none was chosen on a real network: then nothing is auto, and the conservative
            preset says from where on the value must be named.
        spent_today: What policy has let through for this wallet on this UTC day.
        has_key: Whether this process can sign.
        recipient_is_contact: None for anything but a send.
        findings: What the guards said; a warning rules out auto.
    """
    if usd is None:
        why = unpriced_reason or "No price is known."
        return Decision(Tier.CONFIRM, f"{why} What has no value in dollars never goes without asking.", ())
    limits = (preset or CONSERVATIVE).thresholds[operation]
    if usd >= limits.confirm_below:
        return _by_threshold(Tier.EXPLICIT, operation, usd, limits.confirm_below, preset)
    if preset is None:
        return Decision(
            Tier.CONFIRM,
            "No preset is chosen on this network, so nothing goes without asking; "
            "`tidegate config set preset balanced` chooses one.",
            (),
        )
    if usd >= limits.auto_below:
        return _by_threshold(Tier.CONFIRM, operation, usd, limits.auto_below, preset)
    objection = _objection(has_key, recipient_is_contact, findings)
    if objection is not None:
        return Decision(Tier.CONFIRM, objection, ())
    if spent_today + usd > preset.auto_daily:
        return daily_limit_reached(usd, spent_today, preset)
    return Decision(
        Tier.AUTO,
        f"{_beside(usd, limits.auto_below)} is below {_in_full(limits.auto_below)}, "
        f"the {preset.name} preset's limit for {operation.value} without asking.",
        (),
    )


def daily_limit_reached(usd: Usd, spent_today: Usd, preset: Preset) -> Decision:
    """Return the decision for a write that would pass what policy may let through in a day."""
    reason = (
        f"{spent_today} went without asking today, and {usd} more would pass {_in_full(preset.auto_daily)}, "
        f"the {preset.name} preset's limit for a day."
    )
    return Decision(Tier.CONFIRM, reason, (Finding("daily_spend_limit", "financial", "hint", reason),))


def utc_day(now_ms: int) -> str:
    """Return the UTC day of milliseconds since 1970 as ``YYYY-MM-DD``."""
    return iso_ms(now_ms)[:10]


def _by_threshold(tier: Tier, operation: Operation, usd: Usd, limit: Usd, preset: Preset | None) -> Decision:
    whose = f"the {(preset or CONSERVATIVE).name} preset's limit"
    if tier is Tier.CONFIRM and limit.value == 0:
        reason = f"The {(preset or CONSERVATIVE).name} preset never lets {operation.value} go without asking."
    else:
        how = "without asking" if tier is Tier.CONFIRM else "by a plain approval"
        reason = f"{_beside(usd, limit)} is {_in_full(limit)} or more, {whose} for {operation.value} {how}"
        reason += "." if preset is not None else ", which counts while no preset is chosen."
    return Decision(tier, reason, (Finding("usd_threshold", "financial", "hint", reason),))


def _objection(has_key: bool, recipient_is_contact: bool | None, findings: Sequence[Finding]) -> str | None:
    """Return the first rule, thresholds and the day's limit apart, that rules out auto."""
    if not has_key:
        return "No key is loaded, so it waits for a signature."
    for finding in findings:
        if finding.verdict in ("warn", "block"):
            return f"Guard {finding.guard} warns: {finding.message}"
    if recipient_is_contact is False:
        return "The recipient is not a saved contact, so it does not go without asking."
    return None


def _beside(usd: Usd, limit: Usd) -> str:
    """Return a value in cents, or in full where rounding would put it on the other side of the limit."""
    rounded = Usd(Decimal(f"{usd.value:.2f}"))
    return str(usd) if (rounded >= limit) == (usd >= limit) else _in_full(usd)


def _in_full(usd: Usd) -> str:
    """Return dollars in cents, or with every digit where cents would not be exact."""
    return str(usd) if Decimal(f"{usd.value:.2f}") == usd.value else f"{plain(usd.value)} USD"
