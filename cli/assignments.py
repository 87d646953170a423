"""Fields given on a command line as NAME=VALUE."""

from __future__ import annotations

from collections.abc import Iterable


def parse_assignments(words: Iterable[str], example: str) -> dict[str, str]:
    """Return fields by name.

    Args:
        words: Each ``name=value``; the value may have further equal signs.
        example: One that would be right, for the error.

    Raises:
        UsageError: a word is of another form, or a name is given twice.
    """
    from tidegate.core.errors import UsageError

    fields: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise UsageError(
                f"{word[:80]!r} is not of the form name=value.", hint=f"Write it like {example}."
            )
        if name in fields:
            raise UsageError(f"{name[:80]} is given twice.", hint="Give it once.")
        fields[name] = value
    return fields
