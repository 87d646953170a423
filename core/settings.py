"""Settings: defaults, then the file, then a profile of it, then the environment, then flags.

The last one that says anything wins. Secrets come from the environment alone and are held apart, so that
whatever shows or stores settings cannot show or store a secret.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from pydantic import ValidationError

from tidegate.core.config_file import edit_document, find, place, read_document
from tidegate.core.errors import ConfigError, UnknownSetting
from tidegate.core.paths import Paths
from tidegate.core.settings_model import DOLLARS_ALLOWED, NAME, NAME_ALLOWED, Allows, Secrets, Settings

__all__ = [
    "PRESET_OPERATIONS",
    "Loaded",
    "Secrets",
    "SettingDescription",
    "Settings",
    "get_setting",
    "load_settings",
    "set_setting",
    "setting_names",
]

_PREFIX = "TIDEGATE_"


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings with where each came from."""

    settings: Settings
    secrets: Secrets
    sources: Mapping[str, str]
    """By setting: ``default``, ``file``, ``profile NAME``, ``TIDEGATE_X`` or ``--flag``."""


@dataclass(frozen=True, slots=True)
class SettingDescription:
    """One line of the settings table in README.md."""

    name: str
    variable: str | None
    """Its environment variable, if it has one."""
    default: str
    summary: str
    allowed: str


_SECRET_VARIABLES = {
    "anthropic_api_key": "ANTHROPIC_API_KEY",
    "blockvision_api_key": "BLOCKVISION_API_KEY",
    "brave_api_key": "BRAVE_API_KEY",
    "private_key": "TIDEGATE_PRIVATE_KEY",
    "passphrase": "TIDEGATE_PASSPHRASE",
}
_OTHER_VARIABLES = frozenset({"TIDEGATE_PRIVATE_KEY", "TIDEGATE_PASSPHRASE", "TIDEGATE_DEBUG"})
_FIELDS = tuple(Settings.model_fields)
_FILE_ONLY = frozenset({"presets"})
_VARIABLES = {_PREFIX + key.upper(): key for key in _FIELDS if key not in _FILE_ONLY}

PRESET_OPERATIONS = ("save", "repay", "withdraw", "swap", "send", "pay", "borrow", "other")
"""What a preset's tables are called; the same words as `Operation` of core/policy/types.py."""
_PRESET_KEYS = ("base", "auto_daily", *PRESET_OPERATIONS)
_THRESHOLDS = ("auto_below", "confirm_below")


def setting_names() -> list[SettingDescription]:
    """Return every setting with what the documentation says of it, in the order of `Settings`."""
    variables = {key: variable for variable, key in _VARIABLES.items()}
    defaults = Settings()
    return [
        SettingDescription(
            name=key,
            variable=variables.get(key),
            default="" if (value := getattr(defaults, key)) in (None, (), {}) else str(value),
            summary=info.description or "",
            allowed=_allowed(key),
        )
        for key, info in Settings.model_fields.items()
    ]


Given = dict[str, tuple[str, object]]
"""By setting: where its value comes from, and the value as written there."""


def load_settings(environ: Mapping[str, str], flags: Mapping[str, str | None], paths: Paths) -> Loaded:
    """Return the settings in force.

    Args:
        environ: The process's environment; an empty variable counts as not set.
        flags: Settings given on the command line, by setting name; None is not given.
        paths: Where the file is.

    Raises:
        UnknownSetting: the file, a ``TIDEGATE_`` variable or a flag names a setting that does not exist.
        ConfigError: the file cannot be read, a value is not allowed, a profile does not exist, or the file
            holds a secret.
    """
    file = paths.config_file
    top, profiles = _split(read_document(file), file)
    from_file: Given = {key: ("file", value) for key, value in top.items()}
    typed = _from_environ(environ) | _from_flags(flags)
    given = from_file | typed
    name = _checked({"profile": given["profile"]}, file).profile if "profile" in given else None
    if name is not None:
        given = from_file | _from_profile(_profile(profiles, name, file), name, top) | typed
    return Loaded(
        settings=_checked(given, file),
        secrets=Secrets.model_validate(
            {key: environ.get(_SECRET_VARIABLES[key]) or None for key in Secrets.model_fields}
        ),
        sources={key: given[key][0] if key in given else "default" for key in _FIELDS},
    )


def get_setting(paths: Paths, key: str, profile: str | None = None) -> object:
    """Return what the file says of a setting: the profile, else the top level, else the default.

    Args:
        paths: Where the file is.
        key: A setting, or a part of a preset: ``presets.mine.send.auto_below``.
        profile: The profile to look in first.

    Raises:
        UnknownSetting: there is no such setting.
        ConfigError: the file cannot be read, or there is no such profile.
    """
    path = _path(key)
    top, profiles = _split(read_document(paths.config_file), paths.config_file)
    tables = [top, Settings().model_dump()]
    if profile is not None:
        tables.insert(0, _profile(profiles, profile, paths.config_file))
    return next((found for table in tables if (found := find(table, path)) is not None), None)


def set_setting(
    paths: Paths,
    key: str,
    value: str,
    profile: str | None = None,
    *,
    check_presets: Callable[[Mapping[str, object]], None] | None = None,
) -> None:
    """Write one setting into the file; whatever else the file holds stays, comments apart.

    Args:
        paths: Where the file is; it is made if missing, with mode 0600.
        key: A setting, or a part of a preset: ``presets.mine.send.auto_below``.
        value: As it would be written in an environment variable.
        profile: Write it into this profile, which is made if missing, and not at the top level.
        check_presets: Called with the presets of that level as they would be when `key` is a part of one,
            before anything is written; what it raises is passed on.

    Raises:
        UnknownSetting: there is no such setting.
        ConfigError: the value is not allowed, or the file cannot be read.
        StoreError: the file cannot be written.
    """
    path, level = _path(key), list[str]()
    if profile is not None:
        if path == ["profile"]:
            raise ConfigError("A profile cannot name another profile.", hint="Set it without --profile.")
        level = ["profiles", str(_checked({"profile": ("--profile", profile)}, paths.config_file).profile)]
    written = _written(path, value)
    with edit_document(paths.config_file) as document:
        place(document, [*level, *path], written)
        presets = find(document, [*level, "presets"])
        if check_presets is not None and path[0] == "presets" and isinstance(presets, Mapping):
            check_presets(presets)


def _checked(given: Given, file: Path) -> Settings:
    try:
        return Settings.model_validate({key: value for key, (_, value) in given.items()})
    except ValidationError as error:
        key = str(error.errors(include_input=False, include_url=False, include_context=False)[0]["loc"][0])
    raise _not_allowed(_where(key, given[key][0], file), _allowed(key))


def _allowed(key: str) -> str:
    return next(note.text for note in Settings.model_fields[key].metadata if isinstance(note, Allows))


def _not_allowed(where: str, allowed: str) -> ConfigError:
    # Never with the value: it may be a secret that was put into the wrong place.
    return ConfigError(f"{where} must be {allowed}.", hint="Correct it, or remove it to use the default.")


def _where(key: str, source: str, file: Path) -> str:
    if source == "file":
        return f"{key} in {file}"
    if source.startswith("profile "):
        return f"{key} in [profiles.{source.removeprefix('profile ')}] of {file}"
    return source


def _from_environ(environ: Mapping[str, str]) -> Given:
    given: Given = {}
    for variable, value in environ.items():
        if not variable.startswith(_PREFIX) or variable in _OTHER_VARIABLES:
            continue
        if variable == "TIDEGATE_STORE":
            raise ConfigError(
                "TIDEGATE_STORE is set, but this version keeps its state on this machine only.",
                hint="Unset it: your limits would not be shared with other machines, as it asks for.",
            )
        if variable not in _VARIABLES:
            raise _unknown(variable, "There is no setting", sorted({*_VARIABLES, *_OTHER_VARIABLES}))
        if value:
            given[_VARIABLES[variable]] = (variable, value)
    return given


def _from_flags(flags: Mapping[str, str | None]) -> Given:
    for key in flags:
        if key not in _VARIABLES.values():
            raise _unknown(key, "There is no flag for", list(_VARIABLES.values()))
    return {key: (f"--{key.replace('_', '-')}", value) for key, value in flags.items() if value is not None}


def _from_profile(table: Mapping[str, object], name: str, top: Mapping[str, object]) -> Given:
    values = dict(table)
    if "presets" in table:
        values["presets"] = {
            name: preset
            for presets in (top.get("presets"), table["presets"])
            if isinstance(presets, Mapping)
            for name, preset in presets.items()
        }
    return {key: (f"profile {name}", value) for key, value in values.items()}


def _split(document: Mapping[str, object], file: Path) -> tuple[Mapping[str, object], Mapping[str, object]]:
    """Return the top level and the profiles of a document, every key of both known."""
    top = {key: value for key, value in document.items() if key != "profiles"}
    _check_keys(top, str(file), [*_FIELDS, "profiles"])
    profiles = document.get("profiles", {})
    if not isinstance(profiles, Mapping):
        raise _not_allowed(f"profiles in {file}", "a table of profiles")
    for name, table in profiles.items():
        where = f"[profiles.{name[:40]}] of {file}"
        if not isinstance(table, Mapping):
            raise _not_allowed(where, "a table of settings")
        _check_keys(table, where, [key for key in _FIELDS if key != "profile"])
    return top, profiles


def _check_keys(table: Mapping[str, object], where: str, known: Sequence[str]) -> None:
    for key in table:
        _refuse_secret(key, where)
        if key not in known:
            raise _unknown(key, f"{where} has the unknown setting", known)
    presets = table.get("presets", {})
    if not isinstance(presets, Mapping):
        raise _not_allowed(f"presets in {where}", "a table of presets")
    for name, preset in presets.items():
        for path in _leaves(preset):
            _check_preset_path([name, *path], where)


def _leaves(value: object) -> list[list[str]]:
    """Return the path of keys to everything in nested tables that is no table, or an empty one."""
    if not isinstance(value, Mapping) or not value:
        return [[]]
    return [[key, *path] for key, inner in value.items() for path in _leaves(inner)]


def _check_preset_path(path: Sequence[str], where: str) -> None:
    """Refuse keys that no preset has; what the values mean is for core/policy/presets.py to say."""
    name, key, *rest = [*path, *[""] * (2 - len(path))]
    if not re.fullmatch(NAME, name):
        raise _not_allowed(f"the name of a preset in {where}", NAME_ALLOWED.text)
    if not key:
        raise _not_allowed(f"presets.{name} in {where}", f"a table with {', '.join(_PRESET_KEYS)}")
    if key not in _PRESET_KEYS:
        raise _unknown(key, f"presets.{name} in {where} has the unknown setting", _PRESET_KEYS)
    if key in PRESET_OPERATIONS and not rest:
        raise _not_allowed(f"presets.{name}.{key} in {where}", f"a table with {' and '.join(_THRESHOLDS)}")
    if key in PRESET_OPERATIONS and rest[0] not in _THRESHOLDS:
        raise _unknown(rest[0], f"presets.{name}.{key} in {where} has the unknown setting", _THRESHOLDS)
    if len(path) > (3 if key in PRESET_OPERATIONS else 2):
        raise _not_allowed(f"presets.{'.'.join(path[:-1])} in {where}", DOLLARS_ALLOWED.text)


def _profile(profiles: Mapping[str, object], name: str, file: Path) -> Mapping[str, object]:
    table = profiles.get(name)
    if isinstance(table, Mapping):
        return table
    known = f"Known: {', '.join(profiles)}." if profiles else f"{file} has no [profiles.NAME] table."
    raise ConfigError(f"There is no profile {name[:40]}.", hint=known)


def _path(key: str) -> list[str]:
    """Return the keys of a dotted name that can be asked for and set."""
    path = key.split(".")
    _refuse_secret(path[-1], "The configuration file")
    if path[0] not in _FIELDS or (len(path) > 1 and path[0] != "presets"):
        raise _unknown(key, "There is no setting", _FIELDS)
    if len(path) > 1:
        _check_preset_path(path[1:], "the configuration file")
    return path


def _written(path: Sequence[str], value: str) -> str | int | Decimal | list[str]:
    """Return a value, checked, as TOML holds it."""
    key = ".".join(path)
    if path[0] != "presets":
        typed = getattr(_checked({key: (key, value)}, Path()), key)
        return list(typed) if isinstance(typed, tuple) else typed
    if path[-1] == "base":
        return str(_checked({"preset": (key, value)}, Path()).preset)
    if path[-1] not in ("auto_daily", *_THRESHOLDS):
        raise ConfigError(
            f"{key} is a table and cannot be set as one.",
            hint="Set one value of it, such as presets.mine.send.auto_below.",
        )
    dollars = _checked({"budget_usd": (key, value)}, Path()).budget_usd
    return Decimal(0) if dollars is None else dollars


def _refuse_secret(key: str, where: str) -> None:
    if variable := _SECRET_VARIABLES.get(key.lower()):
        raise ConfigError(
            f"{where} may not hold {key}: secrets are read from the environment only.",
            hint=f"Remove it from the file, if it is there, and set the variable {variable}.",
        )


def _unknown(word: str, what: str, known: Sequence[str]) -> UnknownSetting:
    close = difflib.get_close_matches(word[:80], known, n=1, cutoff=0.5)
    hint = f"Did you mean {close[0]}?" if close else f"Known: {', '.join(known)}."
    return UnknownSetting(f"{what} {word[:80]}.", hint=hint)
