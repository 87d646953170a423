"""tidegate ask: one turn."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.flags import (
    ContinueFlag,
    DryRunFlag,
    ModelFlag,
    NetworkFlag,
    OutputFlag,
    PresetFlag,
    ProfileFlag,
    ProviderFlag,
    SessionFlag,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidegate.core.cancel import Cancel
    from tidegate.core.events import Event
    from tidegate.core.runtime import Runtime

_MOST_BYTES = 16 * 1024 * 1024
"""What is read of stdin at most; the engine refuses much less, and names the size."""


def ask(
    text: Annotated[
        str | None, typer.Argument(metavar="TEXT|-", help="What you want, in plain words; - reads stdin.")
    ] = None,
    session: SessionFlag = None,
    continue_: ContinueFlag = False,
    dry_run: DryRunFlag = False,
    network: NetworkFlag = None,
    profile: ProfileFlag = None,
    provider: ProviderFlag = None,
    model: ModelFlag = None,
    preset: PresetFlag = None,
    output: OutputFlag = None,
) -> None:
    """Ask for one thing; it is done, or it waits for `tidegate resume`.

    Example: tidegate ask "save 10 USDC" | jq -r 'select(.type=="turn_complete").text'
    """
    from tidegate.cli.turns import run_one
    from tidegate.core.engine import submit

    def begin(runtime: Runtime, cancel: Cancel) -> Iterator[Event]:
        return submit(
            runtime,
            request_text(text),
            session=session,
            continue_latest=continue_,
            dry_run=dry_run,
            cancelled=cancel,
        )

    run_one(
        {
            "network": network,
            "profile": profile,
            "provider": provider,
            "model": model,
            "preset": preset,
            "output": output,
        },
        begin,
    )


def request_text(text: str | None) -> str:
    """Return the text of a request: the argument, or stdin for `-` and when there is nobody to type.

    Raises:
        UsageError: there is no text, or it is not UTF-8.
    """
    from tidegate.core.errors import UsageError

    if text is not None and text != "-":
        return text
    if sys.stdin is None or (text is None and sys.stdin.isatty()):
        raise UsageError("What do you want to ask?", hint='Try: tidegate ask "What is my balance?"')
    raw = sys.stdin.buffer.read(_MOST_BYTES)
    try:
        return raw.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"stdin is not UTF-8 text (byte {error.start}).", hint="Ask in plain words."
        ) from None
