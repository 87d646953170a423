"""tidegate call: one tool, with no model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.assignments import parse_assignments
from tidegate.cli.flags import (
    DryRunFlag,
    NetworkFlag,
    OutputFlag,
    PresetFlag,
    ProfileFlag,
    SessionFlag,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidegate.core.cancel import Cancel
    from tidegate.core.events import Event
    from tidegate.core.runtime import Runtime


def call(
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="A tool's name; `tidegate tools` lists them.")],
    fields: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME=VALUE", help="The tool's input; `tidegate tools TOOL` shows it."),
    ] = None,
    session: SessionFlag = None,
    dry_run: DryRunFlag = False,
    network: NetworkFlag = None,
    profile: ProfileFlag = None,
    preset: PresetFlag = None,
    output: OutputFlag = None,
) -> None:
    """Run one tool directly; a write takes the same road as any other.

    Example: tidegate call save_deposit amount=10 asset=USDC --dry-run
    """
    from tidegate.cli.turns import run_one
    from tidegate.core import engine

    def begin(runtime: Runtime, cancel: Cancel) -> Iterator[Event]:
        arguments = parse_assignments(fields or (), "amount=10")
        return engine.call(runtime, tool, arguments, session=session, dry_run=dry_run, cancelled=cancel)

    run_one({"network": network, "profile": profile, "preset": preset, "output": output}, begin)
