"""tidegate resume: what waits, or was cut off, is settled."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.assignments import parse_assignments
from tidegate.cli.flags import NetworkFlag, OutputFlag, PresetFlag, ProfileFlag

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal

    from tidegate.core.cancel import Cancel
    from tidegate.core.events import Event
    from tidegate.core.runtime import Runtime
    from tidegate.core.settlement import Choice


def resume(
    attempt: Annotated[
        str | None,
        typer.Argument(
            metavar="ID", help="The write's id, or its first characters; the only one if not given."
        ),
    ] = None,
    approve: Annotated[bool, typer.Option("--approve", help="Carry it out.")] = False,
    deny: Annotated[bool, typer.Option("--deny", help="Never carry it out.")] = False,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Change a field and propose the write again."),
    ] = None,
    regenerate: Annotated[
        bool, typer.Option("--regenerate", help="Read the market again and propose the write again.")
    ] = False,
    i_understand: Annotated[
        str | None,
        typer.Option(
            "--i-understand", metavar="USD", help="With --approve: the value that a big write shows."
        ),
    ] = None,
    explicit: Annotated[
        bool, typer.Option("--explicit", help="With --approve at a terminal: ask me about a big write.")
    ] = False,
    network: NetworkFlag = None,
    profile: ProfileFlag = None,
    preset: PresetFlag = None,
    output: OutputFlag = None,
) -> None:
    """Settle a write that waits, or finish one that was cut off. Without an option it is shown.

    Example: tidegate resume --approve
    """
    from tidegate.cli.turns import run_one
    from tidegate.core.settlement import resume as settle

    def begin(runtime: Runtime, cancel: Cancel) -> Iterator[Event]:
        changes = parse_assignments(set_ or (), "--set amount=5")
        decision = chosen(approve=approve, deny=deny)
        if explicit:
            _check_explicit(decision)
        return settle(
            runtime,
            attempt,
            decision=decision,
            changes=changes,
            understood_usd=understood_value(i_understand),
            regenerate=regenerate,
            interactive_explicit=explicit and confirmed(runtime, attempt),
            cancelled=cancel,
        )

    run_one({"network": network, "profile": profile, "preset": preset, "output": output}, begin)


def chosen(*, approve: bool, deny: bool) -> Choice | None:
    """Return the decision.

    Raises:
        UsageError: both were asked for.
    """
    from tidegate.core.errors import UsageError

    if approve and deny:
        raise UsageError("--approve and --deny cannot be used together.", hint="Use one of them.")
    return "approve" if approve else "deny" if deny else None


def understood_value(text: str | None) -> Decimal | None:
    """Return the value in USD that a person named.

    Raises:
        UsageError: it is not a number.
    """
    from decimal import Decimal, InvalidOperation

    from tidegate.core.errors import UsageError

    if text is None:
        return None
    try:
        value = Decimal(text.removeprefix("$").replace(",", ""))
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite():
        raise UsageError(f"{text[:40]!r} is not a value in USD.", hint="Write it like --i-understand 500.")
    return value


def _check_explicit(decision: Choice | None) -> None:
    """Refuse --explicit where nothing is approved or nobody sits.

    Raises:
        UsageError: one of these.
    """
    from tidegate.cli.output import is_terminal
    from tidegate.core.errors import UsageError

    if decision != "approve":
        raise UsageError("--explicit belongs to --approve.", hint="Add --approve.")
    if not is_terminal(sys.stdin):
        raise UsageError(
            "--explicit asks a person, and stdin is not a terminal.",
            hint="Name the value instead: --i-understand USD.",
        )


def confirmed(runtime: Runtime, attempt: str | None) -> bool:
    """Show what waits and let the person type what it is worth, or yes where that is not known.

    Raises:
        Refused: they typed something else.
        Interrupted: they left.
    """
    from tidegate.cli.output import stderr
    from tidegate.cli.text_view import pending_lines
    from tidegate.cli.visible import visible_line
    from tidegate.core.errors import Interrupted, Refused
    from tidegate.core.money import plain
    from tidegate.core.settlement import waiting_action

    action = waiting_action(runtime, attempt)
    if action is None or action.tier != "explicit":
        return False
    notices = stderr({})
    for label, value in pending_lines(action):
        notices.write(f"{label.ljust(9)} {visible_line(value)}\n")
    wanted = "yes" if action.usd is None else plain(action.usd)
    try:
        typed = str(typer.prompt(f"Type {wanted} to approve", default="", show_default=False, err=True))
    except typer.Abort:
        raise Interrupted("It was not approved.", hint="It still waits.") from None
    if typed.strip() != wanted:
        raise Refused("It was not approved.", hint="It still waits.")
    return True
