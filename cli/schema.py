"""tidegate schema: what the output looks like, for programs that read it."""

from __future__ import annotations

import typer

from tidegate.cli.flags import OutputFlag

schema = typer.Typer(
    name="schema", help="Print JSON Schemas of the output.", rich_markup_mode=None, no_args_is_help=True
)


@schema.callback()
def schemas() -> None:
    """Print JSON Schemas of the output."""


@schema.command("events")
def event_schema(output: OutputFlag = None) -> None:
    """Print the JSON Schema of one event line.

    Example: tidegate schema events > events.schema.json
    """
    import json

    from tidegate.cli.session import settings_console
    from tidegate.core.events import json_schema

    to = settings_console(output)
    text = json.dumps(json_schema(), indent=2 if to.text else None, ensure_ascii=False)
    to.out.write(f"{text}\n")
