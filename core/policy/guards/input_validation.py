"""Guard 1, input_validation: a tool's own rules come first."""

from __future__ import annotations

from tidegate.core.policy.guards.base import PASS, Opinion, block, guard
from tidegate.core.policy.types import GuardContext


def judge(context: GuardContext) -> Opinion:
    """Block what the tool itself refuses, in the tool's words."""
    return PASS if context.preflight is None else block(context.preflight)


INPUT_VALIDATION = guard("input_validation", judge)
