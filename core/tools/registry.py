"""All tools, by name, and how their input is checked."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import cast

from pydantic import ValidationError

from tidegate.core.errors import UnknownTool, UsageError
from tidegate.core.events import JsonObject
from tidegate.core.providers.base import ToolSpec
from tidegate.core.tools.base import I, LocalTool, ReadTool, Tool, WriteTool
from tidegate.core.tools.contacts import SAVE_CONTACT
from tidegate.core.tools.reads.balances import BALANCE_CHECK
from tidegate.core.tools.reads.history import TRANSACTION_HISTORY
from tidegate.core.tools.reads.lending import RATES_INFO, SAVINGS_INFO
from tidegate.core.tools.reads.market import SWAP_QUOTE, TOKEN_PRICES
from tidegate.core.tools.writes.lending import SAVE_DEPOSIT, WITHDRAW
from tidegate.core.tools.writes.send import SEND_TRANSFER
from tidegate.core.tools.writes.swap import SWAP_EXECUTE

_ALL = (
    BALANCE_CHECK,
    SAVINGS_INFO,
    RATES_INFO,
    TOKEN_PRICES,
    SWAP_QUOTE,
    TRANSACTION_HISTORY,
    SAVE_DEPOSIT,
    WITHDRAW,
    SEND_TRANSFER,
    SWAP_EXECUTE,
    SAVE_CONTACT,
)


def all_tools() -> tuple[Tool, ...]:
    """Return every tool: reads, then writes, then those that only touch this machine."""
    # Each tool is generic in its own input; whoever runs one parses with that same tool's model first.
    return cast(tuple[Tool, ...], _ALL)


def tool_by_name(name: str) -> Tool:
    """Return a tool.

    Raises:
        UnknownTool: there is none; the hint names the closest.
    """
    for tool in all_tools():
        if tool.name == name:
            return tool
    names = [tool.name for tool in all_tools()]
    close = difflib.get_close_matches(name[:80], names, n=1, cutoff=0.5)
    nearest = f"Did you mean {close[0]}? " if close else ""
    raise UnknownTool(f"No tool is called {name[:80]!r}.", hint=f"{nearest}Tools: {', '.join(names)}.")


def is_read(tool: Tool) -> bool:
    """Tell whether the tool may run beside others."""
    return isinstance(tool, ReadTool)


def spec(tool: Tool) -> ToolSpec:
    """Return the tool as a model sees it."""
    return ToolSpec(tool.name, tool.description, input_schema(tool))


def input_schema(tool: Tool) -> JsonObject:
    """Return the JSON Schema of a tool's input."""
    schema: JsonObject = tool.input_model.model_json_schema(by_alias=True)
    return schema


def parse_input(tool: ReadTool[I] | LocalTool[I] | WriteTool[I], raw: Mapping[str, object]) -> I:
    """Return a tool's input, checked.

    Raises:
        UsageError: a field is missing, unknown or of a wrong form; every fault is named.
    """
    try:
        return tool.input_model.model_validate(dict(raw))
    except ValidationError as error:
        fields = [info.alias or name for name, info in tool.input_model.model_fields.items()]
        faults = [
            _fault(".".join(str(part) for part in item["loc"]), item["type"], item["msg"], fields)
            for item in error.errors(include_url=False, include_context=False, include_input=False)[:5]
        ]
        raise UsageError(
            f"{tool.name} cannot take this input: {'; '.join(faults)}.",
            hint=f"It takes {', '.join(fields) or 'nothing'}. See `tidegate tools {tool.name}`.",
        ) from None


def _fault(place: str, kind: str, message: str, fields: list[str]) -> str:
    if kind == "missing":
        return f"{place} is missing"
    if kind == "extra_forbidden":
        close = difflib.get_close_matches(place[:80], fields, n=1, cutoff=0.5)
        return f"{place[:80]} is not one of its fields" + (f" (did you mean {close[0]}?)" if close else "")
    return f"{place}: {message[:1].lower()}{message[1:]}"
