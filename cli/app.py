"""The commands, put together."""

from __future__ import annotations

from typing import Annotated

import typer

from tidegate.cli.ask import ask
from tidegate.cli.call import call
from tidegate.cli.chat import chat
from tidegate.cli.config import config
from tidegate.cli.doctor import doctor
from tidegate.cli.journal import journal
from tidegate.cli.quote import quote
from tidegate.cli.resume import resume
from tidegate.cli.sandbox import sandbox
from tidegate.cli.schema import schema
from tidegate.cli.sessions import sessions
from tidegate.cli.tools import tools
from tidegate.cli.wallet import wallet

HELP_COLUMNS = 100

app = typer.Typer(
    name="tidegate",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"terminal_width": HELP_COLUMNS, "help_option_names": ["--help", "-h"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"tidegate {version('tidegate')}")
        raise typer.Exit


@app.callback()
def tidegate(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """A money agent for the Sui blockchain that lives in a shell.

    Small writes go through by policy; everything else waits for `tidegate resume`. Without any setup it
    runs on a sandbox network on this machine. Exit status: 0 done, 1 a bug, 2 bad input, 3 a write waits,
    4 refused, 5 model failed, 6 network failed, 7 sent but outcome unknown, 8 budget spent,
    130 interrupted.
    """


for _command in (ask, chat, quote, resume, call, tools, doctor):
    app.command()(_command)
for _group in (sessions, journal, wallet, config, sandbox, schema):
    app.add_typer(_group)
