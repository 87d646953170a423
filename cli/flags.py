"""Options that several commands share. Each stands after the command: `tidegate ask … --network testnet`."""

from __future__ import annotations

from typing import Annotated

import typer

NetworkFlag = Annotated[
    str | None,
    typer.Option("--network", metavar="NAME", help="sandbox, testnet, mainnet or the URL of a node."),
]
ProfileFlag = Annotated[
    str | None, typer.Option("--profile", metavar="NAME", help="Settings of [profiles.NAME] in the file.")
]
ProviderFlag = Annotated[
    str | None, typer.Option("--provider", metavar="NAME", help="Who answers: auto, anthropic or offline.")
]
ModelFlag = Annotated[str | None, typer.Option("--model", metavar="ID", help="The model that answers.")]
PresetFlag = Annotated[
    str | None,
    typer.Option("--preset", metavar="NAME", help="What may go through without asking, such as balanced."),
]
SessionFlag = Annotated[
    str | None, typer.Option("--session", metavar="ID", help="Go on with this conversation.")
]
ContinueFlag = Annotated[bool, typer.Option("--continue", help="Go on with the newest conversation.")]
OutputFlag = Annotated[
    str | None,
    typer.Option(
        "--output",
        metavar="FORM",
        help="auto, ndjson, json or text; auto is text on a terminal, else ndjson.",
    ),
]
DryRunFlag = Annotated[
    bool, typer.Option("--dry-run", help="Simulate writes, report what they would do, send nothing.")
]
LimitFlag = Annotated[int, typer.Option("--limit", min=1, max=1000, metavar="N", help="Most to show.")]

Flags = dict[str, str | None]
"""Settings given on the command line, by name of the setting; None is not given."""
