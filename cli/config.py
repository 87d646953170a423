"""tidegate config: settings, and where each comes from. Loads nothing but the settings."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.flags import ModelFlag, NetworkFlag, OutputFlag, PresetFlag, ProfileFlag, ProviderFlag
from tidegate.cli.output import console
from tidegate.cli.rows import show_row, show_rows, shown
from tidegate.cli.session import take_environ

if TYPE_CHECKING:
    from tidegate.cli.output import Console
    from tidegate.core.jsonlines import Json

config = typer.Typer(
    name="config", help="Show and change settings.", rich_markup_mode=None, no_args_is_help=True
)

KeyArgument = Annotated[
    str, typer.Argument(metavar="KEY", help="A setting, such as network or presets.mine.send.auto_below.")
]


@config.command("show")
def show_config(
    network: NetworkFlag = None,
    profile: ProfileFlag = None,
    provider: ProviderFlag = None,
    model: ModelFlag = None,
    preset: PresetFlag = None,
    output: OutputFlag = None,
) -> None:
    """Show every setting in force and where its value comes from.

    Example: tidegate config show | jq -r 'select(.source!="default")'
    """
    from tidegate.core.paths import Paths
    from tidegate.core.settings import load_settings

    environ = take_environ()
    flags = {
        "network": network,
        "profile": profile,
        "provider": provider,
        "model": model,
        "preset": preset,
        "output": output,
    }
    loaded = load_settings(environ, flags, Paths.from_environ(environ))
    values = loaded.settings.model_dump()
    show_rows(
        console(loaded.settings.output, environ),
        [
            {"key": key, "value": _json(values[key]), "source": source}
            for key, source in loaded.sources.items()
        ],
        ("key", "value", "source"),
        empty="There are no settings.",
    )


@config.command("get")
def get_config(key: KeyArgument, profile: ProfileFlag = None, output: OutputFlag = None) -> None:
    """Show what the file says of one setting, or its default.

    `tidegate config show` says what is in force, with the environment and flags counted in.
    """
    from tidegate.core.paths import Paths
    from tidegate.core.settings import get_setting

    environ = take_environ()
    value = _json(get_setting(Paths.from_environ(environ), key, profile))
    show_row(_console(output, environ), {"key": key, "value": value}, shown(value))


@config.command("set")
def set_config(
    key: KeyArgument,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="As in an environment variable.")],
    profile: ProfileFlag = None,
    output: OutputFlag = None,
) -> None:
    """Write one setting into the configuration file; comments in it are lost.

    Example: tidegate config set preset conservative
    """
    from tidegate.core.paths import Paths
    from tidegate.core.settings import get_setting, set_setting, setting_names

    environ = take_environ()
    to, paths = _console(output, environ), Paths.from_environ(environ)
    set_setting(paths, key, value, profile, check_presets=_check_presets)
    written = _json(get_setting(paths, key, profile))
    show_row(to, {"key": key, "value": written, "file": str(paths.config_file)}, f"{key} = {shown(written)}")
    variable = next((known.variable for known in setting_names() if known.name == key), None)
    if variable is not None and environ.get(variable):
        to.notices.write(f"{variable} is set, and wins over the file as long as it is.\n")


@config.command("path")
def show_path(output: OutputFlag = None) -> None:
    """Show where the configuration file is, whether or not it exists."""
    from tidegate.core.paths import Paths

    environ = take_environ()
    path = str(Paths.from_environ(environ).config_file)
    show_row(_console(output, environ), {"path": path}, path)


def _console(output: str | None, environ: Mapping[str, str]) -> Console:
    """Return where output goes, without reading the file: these commands are what repairs a bad one.

    Raises:
        UsageError: no such form.
    """
    return console(output or environ.get("TIDEGATE_OUTPUT") or None, environ)


def _check_presets(presets: Mapping[str, object]) -> None:
    from tidegate.core.policy.presets import load_preset

    for name in presets:
        load_preset(name, presets)


def _json(value: object) -> Json:
    match value:
        case None | bool() | int() | str() | Decimal():
            return value
        case Mapping():
            return {str(key): _json(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_json(inner) for inner in value]
        case _:
            return str(value)
