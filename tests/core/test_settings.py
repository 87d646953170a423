from __future__ import annotations

import os
import resource
import stat
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from tidegate.core.errors import ConfigError, StoreError, UnknownSetting
from tidegate.core.paths import Paths
from tidegate.core.policy.presets import load_preset
from tidegate.core.policy.types import Operation
from tidegate.core.settings import (
    PRESET_OPERATIONS,
    Loaded,
    Settings,
    get_setting,
    load_settings,
    set_setting,
    setting_names,
)

KEY = "suiprivkey1qqqqzqsrqszsvpcgpy9qkrqdpc83qygjzv2p29shrqv35xcur50p74yefn7"


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(tmp_path / "config", tmp_path / "state")


def write(paths: Paths, text: str) -> None:
    paths.config_dir.mkdir(exist_ok=True)
    paths.config_file.write_text(text)


def load(
    paths: Paths, environ: Mapping[str, str] | None = None, flags: Mapping[str, str | None] | None = None
) -> Loaded:
    return load_settings(environ or {}, flags or {}, paths)


def refusal(paths: Paths, environ: Mapping[str, str] | None = None, **flags: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load(paths, environ, flags)
    return caught.value


# What wins


def test_with_nothing_set_everything_is_a_default(paths: Paths) -> None:
    loaded = load(paths)
    assert loaded.settings == Settings()
    assert set(loaded.sources.values()) == {"default"}


def test_loading_makes_no_files(paths: Paths) -> None:
    load(paths)
    assert not paths.config_dir.exists()


@pytest.mark.parametrize(
    ("layers", "value", "source"),
    [
        (1, 21, "file"),
        (2, 22, "profile ci"),
        (3, 23, "TIDEGATE_MAX_TURNS"),
        (4, 24, "--max-turns"),
    ],
)
def test_the_last_layer_that_says_anything_wins(paths: Paths, layers: int, value: int, source: str) -> None:
    profile = "\n[profiles.ci]\nmax_turns = 22\n" if layers >= 2 else "\n[profiles.ci]\n"
    write(paths, f'profile = "ci"\nmax_turns = 21\n{profile}')
    environ = {"TIDEGATE_MAX_TURNS": "23"} if layers >= 3 else {}
    loaded = load(paths, environ, {"max_turns": "24" if layers >= 4 else None})
    assert (loaded.settings.max_turns, loaded.sources["max_turns"]) == (value, source)


@pytest.mark.parametrize(
    ("environ", "flags", "expected"),
    [
        ({}, {}, "file"),
        ({"TIDEGATE_PROFILE": "env"}, {}, "env"),
        ({"TIDEGATE_PROFILE": "env"}, {"profile": "flag"}, "flag"),
    ],
)
def test_the_profile_is_chosen_by_the_same_order(
    paths: Paths, environ: dict[str, str], flags: dict[str, str | None], expected: str
) -> None:
    tables = "".join(f'[profiles.{name}]\nmodel = "{name}"\n' for name in ("file", "env", "flag"))
    write(paths, f'profile = "file"\n{tables}')
    loaded = load(paths, environ, flags)
    assert (loaded.settings.profile, loaded.settings.model) == (expected, expected)


def test_a_profile_adds_presets_to_those_of_the_top_level(paths: Paths) -> None:
    write(
        paths,
        '[presets.a]\nbase = "balanced"\n[presets.b]\nbase = "balanced"\n'
        '[profiles.ci.presets.b]\nbase = "aggressive"\n',
    )
    presets = load(paths, {"TIDEGATE_PROFILE": "ci"}).settings.presets
    assert presets == {"a": {"base": "balanced"}, "b": {"base": "aggressive"}}


def test_a_profile_may_have_presets_where_the_top_level_has_none(paths: Paths) -> None:
    write(paths, '[profiles.ci.presets.b]\nbase = "aggressive"\n')
    assert load(paths, {"TIDEGATE_PROFILE": "ci"}).settings.presets == {"b": {"base": "aggressive"}}


def test_an_empty_variable_counts_as_not_set(paths: Paths) -> None:
    assert load(paths, {"TIDEGATE_MODEL": "", "ANTHROPIC_API_KEY": ""}) == load(paths)


def test_settings_cannot_be_changed(paths: Paths) -> None:
    with pytest.raises(ValidationError):
        load(paths).settings.max_turns = 99  # type: ignore[misc]


# What they mean


@pytest.mark.parametrize(
    ("network", "preset", "expected"),
    [
        ("sandbox", None, "balanced"),
        ("mainnet", None, None),
        ("testnet", None, None),
        ("mainnet", "conservative", "conservative"),
        ("sandbox", "mine", "mine"),
    ],
)
def test_only_the_sandbox_has_a_preset_unasked(
    network: str, preset: str | None, expected: str | None
) -> None:
    assert Settings(network=network, preset=preset).preset_name == expected


@pytest.mark.parametrize(
    ("network", "wallet", "expected"),
    [("sandbox", None, "sandbox"), ("mainnet", None, "default"), ("mainnet", "cold", "cold")],
)
def test_the_wallet_has_a_name_of_its_own_on_the_sandbox(
    network: str, wallet: str | None, expected: str
) -> None:
    assert Settings(network=network, wallet=wallet).wallet_name == expected


def test_decimals_are_exact(paths: Paths) -> None:
    write(paths, "budget_usd = 0.1000000000000000055\n[presets.m.send]\nauto_below = 0.3\n")
    loaded = load(paths).settings
    assert loaded.budget_usd == Decimal("0.1000000000000000055")
    assert loaded.presets == {"m": {"send": {"auto_below": Decimal("0.3")}}}


@pytest.mark.parametrize("text", ["cost_warning, other", "cost_warning other", " cost_warning,,other "])
def test_guards_are_listed_with_commas_or_spaces(paths: Paths, text: str) -> None:
    loaded = load(paths, {"TIDEGATE_DISABLED_GUARDS": text})
    assert loaded.settings.disabled_guards == ("cost_warning", "other")


@pytest.mark.parametrize(
    "network",
    ["sandbox", "mainnet", "https://node.example:9000", "http://127.0.0.1:9000", "http://localhost:1"],
)
def test_a_network_is_a_name_or_an_endpoint(paths: Paths, network: str) -> None:
    assert load(paths, flags={"network": network}).settings.network == network


# What is refused


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("network", "devnet"),
        ("network", "http://node.example:9000"),
        ("network", "http://127.0.0.1.example"),
        ("network", "https://"),
        ("network", "http://[::1"),
        ("provider", "openai"),
        ("output", "yaml"),
        ("model", "two words"),
        ("model", "with\x1b[31m"),
        ("preset", "Mine!"),
        ("wallet", "../other"),
        ("wallet", ""),
        ("wallet", "a\n"),
        ("wallet", "a" * 33),
        ("max_turns", "0"),
        ("max_turns", "101"),
        ("max_turns", "1.0"),
        ("max_turns", "１"),
        ("max_tokens", "1e3"),
        ("thinking_tokens", "-1"),
        ("budget_usd", "-1"),
        ("budget_usd", "NaN"),
        ("budget_usd", "1_000"),
        ("budget_usd", "1,000"),
        ("approval_minutes", "0"),
        ("tool_deadline_s", "0"),
        ("network_timeout_s", "601"),
        ("network_timeout_s", "Infinity"),
        ("anthropic_base_url", "http://proxy.example"),
        ("anthropic_base_url", "ftp://proxy.example"),
        ("disabled_guards", "UPPER"),
    ],
)
def test_a_value_that_is_not_allowed_says_where_it_came_from(paths: Paths, key: str, value: str) -> None:
    error = refusal(paths, **{key: value})
    allowed = next(item.allowed for item in setting_names() if item.name == key)
    assert error.message == f"--{key.replace('_', '-')} must be {allowed}."


@pytest.mark.parametrize(
    "line",
    [
        "max_turns = true",
        'max_turns = "ten"',
        "max_turns = 10.0",
        "max_turns = []",
        "budget_usd = nan",
        "budget_usd = inf",
        "budget_usd = true",
        "model = 3",
        "disabled_guards = [1]",
        "network = {}",
        "presets = 1",
        "presets.m = 1",
        "presets.m = {}",
        "presets.m.send = 1",
        "presets.m.send = {}",
        "presets.m.send.auto_below.x = 1",
        "presets.m.base.x = 1",
        "presets.M.base = 'balanced'",
        "profiles = 1",
        "profiles.ci = 1",
    ],
)
def test_a_value_of_another_type_is_refused(paths: Paths, line: str) -> None:
    write(paths, line)
    assert f"{paths.config_file} must be " in refusal(paths).message


def test_a_bad_value_in_a_profile_names_the_profile(paths: Paths) -> None:
    write(paths, "[profiles.ci]\nmax_turns = 0\n")
    error = refusal(paths, profile="ci")
    assert error.message.startswith(f"max_turns in [profiles.ci] of {paths.config_file} must be a whole")


def test_a_bad_value_that_a_later_layer_overrides_does_no_harm(paths: Paths) -> None:
    write(paths, "max_turns = 0\n")
    assert load(paths, flags={"max_turns": "3"}).settings.max_turns == 3


@pytest.mark.parametrize("key", [item.name for item in setting_names() if item.variable])
def test_a_refused_value_is_never_repeated(paths: Paths, key: str) -> None:
    error = refusal(paths, {f"TIDEGATE_{key.upper()}": f"{KEY} {KEY}!"})
    assert KEY not in f"{error.message} {error.hint} {error!r}"
    assert error.__cause__ is None
    assert error.__context__ is None


@pytest.mark.parametrize(
    ("text", "closest"),
    [
        ("max_turn = 3", "max_turns"),
        ("[profiles.ci]\nnetwrok = 'x'", "network"),
        ("[presets.m]\nauto_dayly = 3", "auto_daily"),
        ("[presets.m]\nsned = {}", "send"),
        ("[presets.m.send]\nauto_bellow = 3", "auto_below"),
        ("[profiles.ci.presets.m.send]\nauto_bellow = 3", "auto_below"),
    ],
)
def test_an_unknown_key_names_the_closest(paths: Paths, text: str, closest: str) -> None:
    write(paths, text)
    error = refusal(paths)
    assert closest in (error.hint or "")


def test_a_profile_table_without_its_s_is_told_what_it_should_be(paths: Paths) -> None:
    write(paths, "[profile.ci]\n")
    assert "must be the name of a [profiles.NAME] table" in refusal(paths).message


def test_unknown_keys_are_their_own_error(paths: Paths) -> None:
    write(paths, "zzz = 3")
    error = refusal(paths)
    assert isinstance(error, UnknownSetting)
    assert (error.hint or "").startswith("Known: profile, network,")


def test_a_profile_names_no_profile(paths: Paths) -> None:
    write(paths, "[profiles.ci]\nprofile = 'other'\n")
    assert isinstance(refusal(paths), UnknownSetting)


@pytest.mark.parametrize(
    "variable", ["TIDEGATE_MAX_TURN", "TIDEGATE_", "TIDEGATE_PRESETS", "TIDEGATE_YES_BELOW"]
)
def test_an_unknown_variable_is_refused(paths: Paths, variable: str) -> None:
    assert isinstance(refusal(paths, {variable: "1"}), UnknownSetting)


def test_a_misspelt_variable_names_the_closest(paths: Paths) -> None:
    assert refusal(paths, {"TIDEGATE_MAX_TURN": "1"}).hint == "Did you mean TIDEGATE_MAX_TURNS?"


def test_variables_of_others_are_none_of_our_business(paths: Paths) -> None:
    environ = {"PATH": "/bin", "_TIDEGATE_COMPLETE": "x", "TIDEGATES": "1", "TIDEGATE_DEBUG": "1"}
    assert load(paths, environ) == load(paths)


def test_a_shared_store_that_would_not_be_used_is_refused(paths: Paths) -> None:
    assert "TIDEGATE_STORE" in refusal(paths, {"TIDEGATE_STORE": "postgresql://db.example/x"}).message


@pytest.mark.parametrize("flag", ["max_turn", "presets", "private_key"])
def test_an_unknown_flag_is_refused(paths: Paths, flag: str) -> None:
    with pytest.raises(UnknownSetting):
        load(paths, flags={flag: None})


def test_an_unknown_profile_names_the_known_ones(paths: Paths) -> None:
    write(paths, "[profiles.ci]\n[profiles.home]\n")
    assert refusal(paths, profile="work").hint == "Known: ci, home."


def test_a_profile_without_a_file_says_that_there_is_none(paths: Paths) -> None:
    assert "no [profiles.NAME] table" in (refusal(paths, profile="work").hint or "")


# Secrets


def test_secrets_come_from_the_environment(paths: Paths) -> None:
    environ = {"ANTHROPIC_API_KEY": "sk-ant", "TIDEGATE_PRIVATE_KEY": KEY, "TIDEGATE_PASSPHRASE": "tide"}
    secrets = load(paths, environ).secrets
    assert secrets.anthropic_api_key is not None
    assert secrets.anthropic_api_key.get_secret_value() == "sk-ant"
    assert secrets.private_key is not None
    assert secrets.private_key.get_secret_value() == KEY
    assert secrets.passphrase is not None
    assert secrets.passphrase.get_secret_value() == "tide"


def test_secrets_are_not_shown(paths: Paths) -> None:
    loaded = load(paths, {"ANTHROPIC_API_KEY": "sk-ant", "TIDEGATE_PRIVATE_KEY": KEY})
    assert "sk-ant" not in f"{loaded!r} {loaded.secrets!s} {loaded.secrets.model_dump_json()}"
    assert KEY not in f"{loaded!r} {loaded.secrets!s} {loaded.secrets.model_dump_json()}"


@pytest.mark.parametrize("where", ["", "[profiles.ci]\n"])
@pytest.mark.parametrize(
    ("key", "variable"),
    [
        ("anthropic_api_key", "ANTHROPIC_API_KEY"),
        ("ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY"),
        ("private_key", "TIDEGATE_PRIVATE_KEY"),
        ("passphrase", "TIDEGATE_PASSPHRASE"),
    ],
)
def test_a_secret_in_the_file_is_told_where_it_belongs(
    paths: Paths, where: str, key: str, variable: str
) -> None:
    write(paths, f'{where}{key} = "{KEY}"\n')
    error = refusal(paths)
    assert variable in (error.hint or "")
    assert KEY not in f"{error.message} {error.hint}"


# The file


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"max_turns = 3\nmodel = \n", 2),
        (b"max_turns = 3\nmax_turns = 3\n", 2),
        (b"\n\nmodel = 'a", 3),
        (b"model = '''a\nb", 2),
        (b"\nmodel = '\xff'\n", 2),
    ],
)
def test_a_file_that_is_not_toml_names_the_line(paths: Paths, content: bytes, line: int) -> None:
    paths.config_dir.mkdir()
    paths.config_file.write_bytes(content)
    assert refusal(paths).message.startswith(f"{paths.config_file}, line {line}: ")


@pytest.mark.parametrize(
    "text", ["x = " + "9" * 5000, "x = 1e99999999999999999999", "x = " + "[" * 5000 + "]" * 5000]
)
def test_a_file_that_is_too_much_is_refused(paths: Paths, text: str) -> None:
    write(paths, text)
    assert "too long or tables are nested too deep" in refusal(paths).message


def test_a_file_that_cannot_be_read_is_an_error_and_not_no_limits(paths: Paths) -> None:
    paths.config_file.mkdir(parents=True)
    assert "cannot be read: is a directory" in refusal(paths).message


# Writing


VALUES = {
    "profile": st.sampled_from(["ci"]),
    "network": st.sampled_from(["sandbox", "mainnet", "https://node.example"]),
    "provider": st.sampled_from(["auto", "anthropic", "offline"]),
    "model": st.from_regex(r"\A[!-~]{1,40}\Z"),
    "preset": st.from_regex(r"\A[a-z0-9_-]{1,32}\Z"),
    "wallet": st.from_regex(r"\A[a-z0-9_-]{1,32}\Z"),
    "output": st.sampled_from(["auto", "ndjson", "json", "text"]),
    "max_turns": st.integers(1, 100).map(str),
    "max_tokens": st.integers(1, 200_000).map(str),
    "thinking_tokens": st.integers(0, 200_000).map(str),
    "budget_usd": st.decimals(0, 10**12, places=6).map(lambda value: format(value, "f")),
    "approval_minutes": st.integers(1, 10_080).map(str),
    "tool_deadline_s": st.decimals("0.001", 600, places=3).map(lambda value: format(value, "f")),
    "network_timeout_s": st.decimals("0.001", 600, places=3).map(lambda value: format(value, "f")),
    "anthropic_base_url": st.sampled_from(["https://proxy.example/v1", "http://127.0.0.1:8080"]),
    "disabled_guards": st.lists(st.from_regex(r"\A[a-z_]{1,12}\Z"), min_size=1).map(",".join),
}


def test_every_setting_but_presets_is_tried_below() -> None:
    assert {*VALUES, "presets"} == set(Settings.model_fields)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(pair=st.sampled_from(sorted(VALUES)).flatmap(lambda key: st.tuples(st.just(key), VALUES[key])))
def test_what_is_set_is_what_a_variable_of_the_same_text_gives(paths: Paths, pair: tuple[str, str]) -> None:
    key, value = pair
    write(paths, "[profiles.ci]\n")
    by_variable = getattr(load(paths, {f"TIDEGATE_{key.upper()}": value}).settings, key)
    set_setting(paths, key, value)
    loaded = load(paths)
    assert (getattr(loaded.settings, key), loaded.sources[key]) == (by_variable, "file")


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(value=st.decimals(0, 10**12, places=9))
def test_a_threshold_comes_back_exactly(paths: Paths, value: Decimal) -> None:
    set_setting(paths, "presets.mine.send.auto_below", format(value, "f"))
    assert get_setting(paths, "presets.mine.send.auto_below") == value


def test_setting_one_thing_keeps_the_others(paths: Paths) -> None:
    write(paths, "max_turns = 3\n[presets.mine]\nauto_daily = 0.10\n[profiles.ci]\nmodel = 'm'\n")
    set_setting(paths, "network", "testnet")
    set_setting(paths, "presets.mine.base", "balanced")
    loaded = load(paths, {"TIDEGATE_PROFILE": "ci"}).settings
    assert (loaded.network, loaded.max_turns, loaded.model) == ("testnet", 3, "m")
    assert loaded.presets == {"mine": {"auto_daily": Decimal("0.10"), "base": "balanced"}}


def test_a_profile_is_made_by_setting_something_in_it(paths: Paths) -> None:
    set_setting(paths, "network", "mainnet", "live")
    assert load(paths).settings.network == "sandbox"
    assert load(paths, flags={"profile": "live"}).settings.network == "mainnet"


def test_a_profile_looks_to_itself_then_to_the_top_level_then_to_the_default(paths: Paths) -> None:
    set_setting(paths, "max_turns", "3")
    set_setting(paths, "max_turns", "4", "ci")
    assert get_setting(paths, "max_turns") == 3
    assert get_setting(paths, "max_turns", "ci") == 4
    set_setting(paths, "max_tokens", "5")
    assert get_setting(paths, "max_tokens", "ci") == 5
    assert get_setting(paths, "output", "ci") == "auto"
    assert get_setting(paths, "model", "ci") is None


def test_what_no_profile_of_the_file_says_cannot_be_asked_for(paths: Paths) -> None:
    with pytest.raises(ConfigError, match="There is no profile work"):
        get_setting(paths, "max_turns", "work")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("max_turns", "0"),
        ("max_turn", "3"),
        ("network.url", "x"),
        ("profiles.ci.max_turns", "3"),
        ("presets", "x"),
        ("presets.mine", "x"),
        ("presets.mine.sned.auto_below", "3"),
        ("presets.mine.send", "3"),
        ("presets.mine.send.auto", "3"),
        ("presets.mine.send.auto_below", "-3"),
        ("presets.mine.send.auto_below", "1e2"),
        ("presets.mine.send.auto_below.x", "1"),
        ("presets.mine.base", "Not a name"),
        ("presets.My preset.base", "balanced"),
        ("private_key", KEY),
        ("anthropic_api_key", KEY),
    ],
)
def test_what_would_not_load_is_not_written(paths: Paths, key: str, value: str) -> None:
    with pytest.raises(ConfigError) as caught:
        set_setting(paths, key, value)
    assert not paths.config_file.exists()
    assert KEY not in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize(("key", "profile"), [("profile", "ci"), ("max_turns", "Not a name")])
def test_a_profile_that_could_not_be_used_is_not_written(paths: Paths, key: str, profile: str) -> None:
    with pytest.raises(ConfigError):
        set_setting(paths, key, "3", profile)
    assert not paths.config_file.exists()


def test_a_preset_can_be_refused_as_a_whole_before_it_is_written(paths: Paths) -> None:
    def check(presets: Mapping[str, object]) -> None:
        load_preset("mine", presets)

    set_setting(paths, "presets.mine.base", "balanced", check_presets=check)
    with pytest.raises(ConfigError, match="debt is never taken"):
        set_setting(paths, "presets.mine.borrow.auto_below", "5", check_presets=check)
    assert get_setting(paths, "presets") == {"mine": {"base": "balanced"}}


def test_a_value_where_a_table_should_be_is_not_overwritten(paths: Paths) -> None:
    write(paths, "presets = 1\n")
    with pytest.raises(ConfigError, match="presets in the configuration is not a table"):
        set_setting(paths, "presets.mine.base", "balanced")
    assert paths.config_file.read_text() == "presets = 1\n"


def test_the_file_is_private(paths: Paths) -> None:
    set_setting(paths, "max_turns", "3")
    assert stat.S_IMODE(paths.config_file.stat().st_mode) == 0o600
    assert stat.S_IMODE(paths.config_dir.stat().st_mode) == 0o700


def test_nothing_is_left_beside_the_file(paths: Paths) -> None:
    set_setting(paths, "max_turns", "3")
    assert os.listdir(paths.config_dir) == ["config.toml"]


def test_a_linked_file_is_changed_where_it_lies(paths: Paths, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text("max_turns = 3\n")
    paths.config_dir.mkdir()
    paths.config_file.symlink_to(real)
    set_setting(paths, "max_turns", "4")
    assert paths.config_file.is_symlink()
    assert real.read_text() == "max_turns = 4\n"


def test_a_full_disk_leaves_the_file_as_it_was(paths: Paths) -> None:
    set_setting(paths, "max_turns", "3")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5, hard))
    try:
        with pytest.raises(StoreError, match="cannot be written: file too large"):
            set_setting(paths, "max_turns", "4")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert os.listdir(paths.config_dir) == ["config.toml"]
    assert get_setting(paths, "max_turns") == 3


def test_a_link_to_a_folder_that_is_gone_is_said_plainly(paths: Paths, tmp_path: Path) -> None:
    paths.config_dir.mkdir()
    paths.config_file.symlink_to(tmp_path / "gone" / "config.toml")
    with pytest.raises(StoreError, match="cannot be written: no such file"):
        set_setting(paths, "max_turns", "4")


def test_many_writers_lose_nothing(paths: Paths) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: set_setting(paths, f"presets.p{n}.auto_daily", str(n)), range(24)))
    assert len(load(paths).settings.presets) == 24


# Documentation


def test_every_setting_is_described() -> None:
    assert [item.name for item in setting_names()] == list(Settings.model_fields)
    assert all(item.summary and item.allowed for item in setting_names())


def test_every_setting_but_presets_has_a_variable() -> None:
    without = [item.name for item in setting_names() if item.variable is None]
    assert without == ["presets"]


def test_preset_tables_are_called_as_operations_are() -> None:
    assert tuple(operation.value for operation in Operation) == PRESET_OPERATIONS
