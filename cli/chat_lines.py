"""`tidegate chat` in a pipe: one JSON request a line. A line that cannot be used is one turn that says so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Literal, TextIO

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from tidegate.cli.exit_status import INTERRUPTED
from tidegate.core.errors import UsageError

if TYPE_CHECKING:
    from tidegate.cli.dialogue import Dialogue

MAX_LINE_BYTES = 2 * 1024 * 1024
"""Longest request line, its line feed not counted."""

_SHAPES = '{"text":"balance"} or {"resume":null,"decision":"approve"}'


def _written(value: object) -> object:
    return str(value) if isinstance(value, int | Decimal) and not isinstance(value, bool) else value


Typed = Annotated[str, BeforeValidator(_written)]
"""What a person would have typed; a JSON number is taken with the digits it was written with."""


class Request(BaseModel):
    """One line of input."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str | None = None
    resume: str | None = None
    decision: Literal["approve", "deny"] | None = None
    changes: dict[str, Typed] | None = None
    understood_usd: Decimal | None = None


def answer_lines(dialogue: Dialogue, stdin: TextIO | None) -> None:
    """Answer request lines until they end or the process is asked to end."""
    if stdin is None:
        return
    for line in read_lines(stdin):
        if line is not None and not line.strip():
            continue
        try:
            request = parse_request(line)
        except UsageError as error:
            dialogue.turns.refuse(error)
        else:
            _answer(dialogue, request)
        if dialogue.turns.interrupts.cancel.is_set():
            # It may have come after the turn's last event, which then says nothing of it.
            dialogue.turns.status.add(INTERRUPTED)
            return


def _answer(dialogue: Dialogue, request: Request) -> None:
    if request.text is not None:
        dialogue.ask(request.text)
        return
    dialogue.settle(
        request.resume,
        decision=request.decision,
        changes=request.changes,
        understood_usd=request.understood_usd,
    )


def read_lines(stdin: TextIO) -> Iterator[bytes | None]:
    """Yield lines without their line feeds, None for one that is too long."""
    raw = stdin.buffer
    while line := raw.readline(MAX_LINE_BYTES + 1):
        if line.endswith(b"\n") or len(line) <= MAX_LINE_BYTES:
            yield line.removesuffix(b"\n")
            continue
        while line and not line.endswith(b"\n"):
            line = raw.readline(MAX_LINE_BYTES)
        yield None


def parse_request(line: bytes | None) -> Request:
    """Return a request.

    Args:
        line: The line; None if it was too long to be read.

    Raises:
        UsageError: it is not one; the message says in what.
    """
    if line is None:
        raise UsageError(f"The line is longer than {MAX_LINE_BYTES:,} bytes.", hint="Ask in fewer words.")
    try:
        fields = json.loads(line.decode("utf-8"), parse_float=Decimal)
    except (ValueError, RecursionError):
        raise UsageError("The line is not JSON in UTF-8.", hint=f"Send {_SHAPES}.") from None
    if not isinstance(fields, dict):
        raise UsageError("The line is not a JSON object.", hint=f"Send {_SHAPES}.")
    try:
        request = Request.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part)[:40] for part in first["loc"])
        raise UsageError(f"{place}: {first['msg'].lower()}.", hint=f"Send {_SHAPES}.") from None
    if ("text" in fields) == ("resume" in fields):
        raise UsageError("A request has either text or resume.", hint=f"Send {_SHAPES}.")
    if "text" in fields and (request.text is None or len(fields) > 1):
        raise UsageError("A request with text has a string and nothing else.", hint=f"Send {_SHAPES}.")
    return request
