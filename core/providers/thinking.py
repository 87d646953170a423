"""How much a Claude model thinks: which request fields each model takes for it.

Facts: the SDK's `ThinkingConfigParam` and `OutputConfigParam`, and Anthropic's pages on extended thinking,
adaptive thinking and the migration to each 5.5 model. A model refuses a form that it does not know (400).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Effort = Literal["low", "medium", "high", "max"]
Off = Literal["left_out", "disabled", "between_tools", "never"]

MIN_BUDGET = 1024
"""Fewest tokens `budget_tokens` may be."""

_VERSION = re.compile(r"claude-(?P<family>[a-z]+)-(?P<major>\d{1,2})(?:-(?P<minor>\d{1,2}))?(?![0-9])")


@dataclass(frozen=True, slots=True)
class ThinkingForm:
    """What one model takes."""

    adaptive: bool
    """True: the model decides how much it thinks, guided by effort; False: it takes a budget in tokens."""
    off: Off
    """How it is told not to think; ``never`` is a model that always does."""


@dataclass(frozen=True, slots=True)
class ThinkingFields:
    """What one request says about thinking."""

    thinking: dict[str, object] | None
    effort: Effort | None
    max_tokens: int


def form_of(model: str) -> ThinkingForm:
    """Return what a model takes; one whose id says nothing is taken for a new one."""
    match = _VERSION.search(model)
    if match is None:
        old = re.search(r"claude-[23]", model) is not None
        return ThinkingForm(adaptive=not old, off="left_out")
    family = match["family"]
    version = (int(match["major"]), int(match["minor"] or 0))
    if family in ("fable", "mythos") or (family == "opus" and version >= (5, 5)):
        return ThinkingForm(adaptive=True, off="never")
    if family == "sonnet" and version >= (5, 5):
        return ThinkingForm(adaptive=True, off="between_tools")
    if version >= (5, 0):
        return ThinkingForm(adaptive=True, off="disabled")
    return ThinkingForm(adaptive=version >= (4, 6), off="left_out")


def fields_for(model: str, max_tokens: int, thinking_tokens: int) -> ThinkingFields:
    """Return the fields of one request.

    Args:
        model: The model's id.
        max_tokens: Longest answer. The API counts thinking into its own limit, so it comes on top here.
        thinking_tokens: Budget for thinking; 0 is none, or as little as the model can do.
    """
    form = form_of(model)
    if thinking_tokens <= 0:
        if form.off == "never":
            return ThinkingFields(None, "low", max_tokens)
        if form.off == "left_out":
            return ThinkingFields(None, None, max_tokens)
        return ThinkingFields({"type": form.off}, None, max_tokens)
    if not form.adaptive:
        budget = max(thinking_tokens, MIN_BUDGET)
        return ThinkingFields({"type": "enabled", "budget_tokens": budget}, None, max_tokens + budget)
    # Newer models leave the text of their thinking out unless asked for it.
    shown: dict[str, object] = {"type": "adaptive", "display": "summarized"}
    return ThinkingFields(shown, _effort(thinking_tokens), max_tokens + thinking_tokens)


def _effort(thinking_tokens: int) -> Effort:
    """Return the effort that stands for a budget; the steps are the caps of shared/spec/policy.md."""
    if thinking_tokens < 4_000:
        return "low"
    if thinking_tokens <= 8_000:
        return "medium"
    return "high" if thinking_tokens <= 16_000 else "max"
