"""Writes help_texts.py, which is what `--help` prints without loading a parser.

Run it: python -m tidegate.cli.render_help
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import typer
from typer._click.core import Command, Context
from typer.core import TyperGroup

from tidegate.cli.app import app

TARGET = Path(__file__).with_name("help_texts.py")

_HEAD = '''"""What `--help` prints, by command. Made by render_help.py; a test fails when it is old."""

from typing import Final

'''


def render() -> str:
    """Return the text of help_texts.py."""
    root = typer.main.get_command(app)
    # Made as a call makes it, so that the settings of the commands apply.
    found = dict(_pages(root, root.make_context("tidegate", [], resilient_parsing=True), ()))
    bare = ", ".join(f'"{path}"' for path, (_, is_bare) in found.items() if is_bare)
    lines = [_HEAD, "HELP: Final[dict[str, str]] = {\n"]
    lines += [f'    "{path}": {_literal(text)},\n' for path, (text, _) in found.items()]
    lines.append("}\n\n")
    lines.append(f"BARE: Final[frozenset[str]] = frozenset({{{bare}}})\n")
    lines.append('"""Commands that print their help when they are called without anything else."""\n')
    return "".join(lines)


def _pages(
    command: Command, context: Context, path: tuple[str, ...]
) -> Iterator[tuple[str, tuple[str, bool]]]:
    bare = isinstance(command, TyperGroup) and command.no_args_is_help
    yield " ".join(path), (f"{command.get_help(context)}\n", bare)
    if isinstance(command, TyperGroup):
        for name, below in command.commands.items():
            inner = below.make_context(name, [], parent=context, resilient_parsing=True)
            yield from _pages(below, inner, (*path, name))


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return f'"""\\\n{escaped}"""'


if __name__ == "__main__":
    TARGET.write_text(render())
