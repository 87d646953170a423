"""What commands without events print: rows as lines of JSON, as one list, or as a table that people read."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

import typer

from tidegate.cli.output import Console
from tidegate.cli.visible import visible_json, visible_line
from tidegate.core.errors import UsageError
from tidegate.core.jsonlines import Json, dumps
from tidegate.core.money import plain

if TYPE_CHECKING:
    from tidegate.core.events import JsonObject

_BOLD, _DIM = 1, 2
_GAP = "  "


def show_rows(to: Console, rows: Iterable[JsonObject], columns: Sequence[str], *, empty: str) -> None:
    """Print rows: one JSON object a line, one JSON list, or a table.

    Args:
        to: Where, and in which form.
        rows: What to print; programs get every field.
        columns: The fields that people get, in this order.
        empty: What people are told when there is no row.

    Raises:
        OutputGone: stdout takes no more.
    """
    match to.form:
        case "ndjson":
            for row in rows:
                _write_json(to, row)
        case "json":
            _write_json(to, list(rows))
        case "text":
            table = [[shown(row.get(column)) for column in columns] for row in rows]
            if not table:
                to.notices.write(f"{empty}\n")
                return
            _write_table(to, [column.replace("_", " ") for column in columns], table)


def show_row(to: Console, row: JsonObject, text: str | None = None) -> None:
    """Print one JSON object, or what people read instead.

    Args:
        to: Where, and in which form.
        row: What to print.
        text: What people get, without a line feed at its end; by default a line for each field.

    Raises:
        OutputGone: stdout takes no more.
    """
    if not to.text:
        _write_json(to, row)
    elif text is not None:
        to.out.write(f"{visible_line(text)}\n")
    else:
        width = max(map(len, row), default=0)
        for key, value in row.items():
            label = key.replace("_", " ").ljust(width)
            to.out.write(f"{to.out.style(label, _DIM)}{_GAP}{shown(value)}\n")


def shown(value: Json) -> str:
    """Return a field as people read it, on one line and with nothing hidden."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case Decimal():
            return plain(value)
        case str():
            return visible_line(value)
        case _:
            return visible_json(dumps(value))


def called_bare(context: typer.Context) -> bool:
    """Tell whether a group was called without one of its commands.

    Raises:
        UsageError: it was called with one, and with options before it, which nothing would read.
    """
    if context.invoked_subcommand is None:
        return True
    for name in context.params:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise UsageError(
                f"--{name.replace('_', '-')} stands before {context.invoked_subcommand}.",
                hint="Options stand after the command that they are for.",
            )
    return False


def _write_json(to: Console, value: Json | JsonObject) -> None:
    line = dumps(value)
    to.out.write(f"{visible_json(line) if to.out.terminal else line}\n")


def _write_table(to: Console, titles: Sequence[str], table: Sequence[Sequence[str]]) -> None:
    widths = [max(map(_width, column)) for column in zip(titles, *table, strict=True)]
    to.out.write(f"{to.out.style(_line(titles, widths), _BOLD)}\n")
    for cells in table:
        to.out.write(f"{_line(cells, widths)}\n")


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [cell + " " * (width - _width(cell)) for cell, width in zip(cells, widths, strict=True)]
    return _GAP.join(padded).rstrip()


def _width(text: str) -> int:
    """Return how many columns of a terminal text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )
