"""tidegate quote: what a swap would give now."""

from __future__ import annotations

from typing import Annotated

import typer

from tidegate.cli.flags import NetworkFlag, OutputFlag, ProfileFlag


def quote(
    token_from: Annotated[str, typer.Argument(metavar="FROM", help="The token that is given.")],
    token_to: Annotated[str, typer.Argument(metavar="TO", help="The token that is received.")],
    amount: Annotated[str, typer.Argument(metavar="AMOUNT", help="How much of FROM, such as 2 or 1,000.5.")],
    by_amount_out: Annotated[
        bool, typer.Option("--by-amount-out", help="AMOUNT is how much of TO is to be received.")
    ] = False,
    slippage: Annotated[
        str | None,
        typer.Option("--slippage", metavar="FRACTION", help="Accepted loss against the quote: 0.01 is 1%."),
    ] = None,
    network: NetworkFlag = None,
    profile: ProfileFlag = None,
    output: OutputFlag = None,
) -> None:
    """Show what a swap would give now. Needs no wallet and no model.

    Example: tidegate quote SUI USDC 2 | jq .amount_out
    """
    from tidegate.cli.rows import show_row
    from tidegate.cli.session import opened
    from tidegate.core import engine
    from tidegate.core.events import to_json

    with opened({"network": network, "profile": profile, "output": output}) as (runtime, to):
        found = engine.quote(
            runtime, token_from, token_to, amount, by_amount_out=by_amount_out, slippage=slippage
        )
        show_row(to, to_json(found.data), found.display_text)
