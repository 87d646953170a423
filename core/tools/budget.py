"""Results that are too long for a model are cut at a record, and say how to ask for less."""

from __future__ import annotations

from tidegate.core.events import JsonObject
from tidegate.core.jsonlines import Json, dumps

_HINT = "The list was cut. Ask for fewer records, or narrow the filters, to see the rest."


def fit(reply: JsonObject, cap: int) -> tuple[JsonObject, bool]:
    """Return the reply with its longest list shortened until it is at most `cap` characters of JSON.

    Returns:
        The reply and whether anything was left out. A reply without lists is returned as it is.
    """
    size = len(dumps(reply))
    data = reply.get("data")
    if size <= cap or not isinstance(data, dict):
        return reply, False
    name = max(
        (key for key, value in data.items() if isinstance(value, list)),
        key=lambda key: len(dumps(data[key])),
        default=None,
    )
    if name is None:
        return reply, False
    records = data[name]
    if not isinstance(records, list):
        return reply, False
    kept: list[Json] = []
    room = cap - (size - len(dumps(records))) - len(_HINT) - 20
    for record in records:
        room -= len(dumps(record)) + 1
        if room < 0:
            break
        kept.append(record)
    return {**reply, "data": {**data, name: kept}, "hint": _HINT}, True
