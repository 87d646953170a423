"""tidegate tools: what can be called."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.flags import OutputFlag

if TYPE_CHECKING:
    from tidegate.core.events import JsonObject
    from tidegate.core.tools.base import Tool


def tools(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Show one tool with its input and an example.")
    ] = None,
    output: OutputFlag = None,
) -> None:
    """List the tools that a model, or `tidegate call`, can use.

    Example: tidegate tools | jq -r 'select(.kind=="write").name'
    """
    from tidegate.cli.rows import show_row, show_rows
    from tidegate.cli.session import settings_console
    from tidegate.cli.visible import visible_line
    from tidegate.core.tools.registry import all_tools, tool_by_name

    to = settings_console(output)
    if name is None:
        rows = [describe(tool) for tool in all_tools()]
        show_rows(to, rows, ("name", "kind", "description"), empty="There is no tool.")
        return
    tool = tool_by_name(name)
    if not to.text:
        show_row(to, describe(tool))
        return
    for line in _lines(tool):
        to.out.write(f"{visible_line(line)}\n")


def describe(tool: Tool) -> JsonObject:
    """Return a tool as programs read it."""
    from tidegate.core.tools.base import LocalTool, ReadTool, WriteTool
    from tidegate.core.tools.registry import input_schema

    kind = "read" if isinstance(tool, ReadTool) else "local" if isinstance(tool, LocalTool) else "write"
    row: JsonObject = {
        "name": tool.name,
        "kind": kind,
        "description": tool.description,
        "input_schema": input_schema(tool),
        "example": dict(tool.example),
        "command": command(tool),
    }
    if isinstance(tool, WriteTool):
        row["operation"] = tool.operation.value
        row["modifiable"] = list(tool.modifiable)
    return row


def command(tool: Tool) -> str:
    """Return an example call of a tool, ready to paste into a shell."""
    words = [f"{name}={_word(value)}" for name, value in tool.example.items()]
    return shlex.join(["tidegate", "call", tool.name, *words])


def _word(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _lines(tool: Tool) -> Iterator[str]:
    from tidegate.core.tools.registry import input_schema

    yield f"{tool.name}: {tool.description}"
    shape = input_schema(tool)
    fields, required = shape.get("properties"), shape.get("required")
    if isinstance(fields, dict) and fields:
        yield ""
        width = max(map(len, fields))
        for name, field in fields.items():
            needed = "required" if isinstance(required, list) and name in required else "optional"
            yield f"  {name.ljust(width)}  {needed}, {_form(field)}"
    yield ""
    yield f"Example: {command(tool)}"


def _form(field: object) -> str:
    """Return what a field takes, in words, from its JSON Schema."""
    if not isinstance(field, dict):
        return "anything"
    choices = field.get("enum") or ([field["const"]] if "const" in field else None)
    if choices:
        return "one of " + ", ".join(map(str, choices))
    options = [option for option in field.get("anyOf", ()) if option.get("type") != "null"]
    form = " or ".join(_form(option) for option in options) or str(field.get("format") or field.get("type"))
    text = field.get("description")
    return f"{form}: {text}" if text else form
