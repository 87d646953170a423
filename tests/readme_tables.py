"""The tables in README.md, made from the code they describe.

`python tests/readme_tables.py` writes them; tests/test_readme.py fails when they are old.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"
_BLOCK = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def _table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [header, tuple("---" for _ in header), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def events() -> str:
    from tidegate.core.events import Event, TextDelta, describe

    envelope = set(TextDelta.model_fields) & set(Event.model_fields)
    models = {model.model_fields["type"].default: model for model in Event.__subclasses__()}

    def fields(kind: str) -> str:
        found = [
            f"{info.alias or name}{'?' if info.default is None else ''}"
            for name, info in models[kind].model_fields.items()
            if name not in envelope and name != "type"
        ]
        return ", ".join(found)

    return _table(
        ("type", "when", "fields"), ((f"`{e.type}`", e.summary, fields(e.type)) for e in describe())
    )


def settings() -> str:
    from tidegate.core.settings import setting_names

    return _table(
        ("setting", "variable", "default", "what it is"),
        (
            (
                f"`{s.name}`",
                f"`{s.variable}`" if s.variable else "",
                f"`{s.default}`" if s.default else "",
                s.summary,
            )
            for s in setting_names()
        ),
    )


def tools() -> str:
    from tidegate.cli.tools import describe
    from tidegate.core.tools.registry import all_tools

    return _table(
        ("tool", "kind", "what it does"),
        ((f"`{t.name}`", str(describe(t)["kind"]), t.description) for t in all_tools()),
    )


def errors() -> str:
    from tidegate.core.errors import TidegateError

    def below(base: type[TidegateError]) -> Iterable[type[TidegateError]]:
        yield base
        for derived in base.__subclasses__():
            yield from below(derived)

    found = {error.code: error for error in below(TidegateError) if error is not TidegateError}
    ordered = sorted(found.values(), key=lambda error: error.exit_status)
    return _table(
        ("code", "exit status", "what happened"),
        ((f"`{e.code}`", str(e.exit_status), (e.__doc__ or "").splitlines()[0]) for e in ordered),
    )


def presets() -> str:
    from tidegate.core.money import plain
    from tidegate.core.policy.presets import BUILT_IN
    from tidegate.core.policy.types import Operation

    found = list(BUILT_IN.values())
    rows = [
        (
            preset.name,
            *(
                f"{plain(preset.thresholds[operation].auto_below.value)} / "
                f"{plain(preset.thresholds[operation].confirm_below.value)}"
                for operation in Operation
            ),
            plain(preset.auto_daily.value),
        )
        for preset in found
    ]
    return _table(("preset", *(operation.value for operation in Operation), "a day"), rows)


TABLES: dict[str, Callable[[], str]] = {
    "events": events,
    "settings": settings,
    "tools": tools,
    "errors": errors,
    "presets": presets,
}


def rendered(text: str) -> str:
    """Return README text with every table made anew."""
    return _BLOCK.sub(lambda match: match[1] + TABLES[match[2]]() + match[3], text)


if __name__ == "__main__":
    README.write_text(rendered(README.read_text()))
