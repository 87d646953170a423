"""tidegate config."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from verbs import Ended, Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def by_key(ended: Ended) -> dict[str, dict[str, Any]]:
    return {row["key"]: row for row in ended.rows}


def test_every_setting_is_shown_with_its_source(home: Home) -> None:
    home.run("config", "set", "preset", "conservative")
    rows = by_key(home.run("config", "show", "--network", "testnet", TIDEGATE_MAX_TURNS="3"))
    assert rows["preset"] == {"key": "preset", "value": "conservative", "source": "file"}
    assert rows["network"] == {"key": "network", "value": "testnet", "source": "--network"}
    assert rows["max_turns"] == {"key": "max_turns", "value": 3, "source": "TIDEGATE_MAX_TURNS"}
    assert rows["output"]["source"] == "default"


def test_the_text_form_is_a_table(home: Home) -> None:
    lines = home.run("config", "show", "--output", "text").stdout.splitlines()
    assert lines[0].split() == ["key", "value", "source"]
    assert "network" in lines[2]


def test_a_profile_is_written_and_read(home: Home) -> None:
    home.run("config", "set", "network", "testnet", "--profile", "try")
    assert home.run("config", "get", "network").row["value"] == "sandbox"
    assert home.run("config", "get", "network", "--profile", "try").row["value"] == "testnet"
    assert by_key(home.run("config", "show", "--profile", "try"))["network"]["source"] == "profile try"


def test_secrets_are_neither_shown_nor_stored(home: Home) -> None:
    secrets = {
        "TIDEGATE_PRIVATE_KEY": "suiprivkey1verysecret",
        "TIDEGATE_PASSPHRASE": "verysecret",
        "ANTHROPIC_API_KEY": "sk-ant-verysecret",
    }
    shown = home.run("config", "show", **secrets)
    assert shown.status == 0
    assert "verysecret" not in shown.stdout + shown.stderr
    refused = home.run("config", "set", "anthropic_api_key", "sk-ant-verysecret")
    assert refused.status == 2
    assert "ANTHROPIC_API_KEY" in refused.stderr
    assert "verysecret" not in refused.stdout + refused.stderr
    assert not home.paths.config_file.exists()


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("netwrok", "testnet", "Did you mean network?"),
        ("max_turns", "many", "whole number"),
        ("presets.mine.base", "reckless", "not a built-in preset"),
        ("presets.mine.send.auto_below", "5", "presets.mine"),
        ("presets.mine.borrow.auto_below", "1", "presets.mine"),
    ],
)
def test_what_is_not_allowed_is_not_written(home: Home, key: str, value: str, told: str) -> None:
    ended = home.run("config", "set", key, value)
    assert ended.status == 2
    assert told in ended.stderr
    assert home.run("config", "show").status == 0


def test_a_preset_is_made_step_by_step_and_can_be_used(home: Home) -> None:
    home.run("config", "set", "presets.mine.base", "balanced")
    written = home.run("config", "set", "presets.mine.send.auto_below", "2.50")
    assert written.row["value"] == 2.5
    loose = home.run("config", "set", "presets.mine.send.auto_below", "100000")
    assert loose.status == 2
    assert home.run("config", "get", "presets").row["value"] == {
        "mine": {"base": "balanced", "send": {"auto_below": 2.5}}
    }


def test_one_is_told_when_the_environment_wins(home: Home) -> None:
    ended = home.run("config", "set", "preset", "aggressive", TIDEGATE_PRESET="conservative")
    assert ended.status == 0
    assert "TIDEGATE_PRESET is set" in ended.stderr


def test_a_bad_file_is_told_and_can_be_repaired(home: Home) -> None:
    home.paths.config_dir.mkdir(parents=True)
    home.paths.config_file.write_text('max_turns = "many"\n')
    broken = home.run("config", "show")
    assert broken.status == 2
    assert "max_turns" in broken.stderr
    assert home.run("config", "path").row["path"] == str(home.paths.config_file)
    assert home.run("config", "set", "max_turns", "5").row["value"] == 5
    assert home.run("config", "show").status == 0


def test_one_value_is_printed_bare_for_people(home: Home) -> None:
    assert home.run("config", "get", "network", "--output", "text").stdout == "sandbox\n"
    assert home.run("config", "get", "network", TIDEGATE_OUTPUT="text").stdout == "sandbox\n"
    assert home.run("config", "get", "nope").status == 2


def test_nothing_but_settings_is_loaded(home: Home) -> None:
    script = """
import contextlib, sys, typer
from tidegate.cli.config import config
with contextlib.suppress(SystemExit):
    config(["show"])
heavy = {"anthropic", "pysui", "grpclib", "httpx", "sqlite3", "cryptography", "prompt_toolkit"}
print(sorted(heavy & {name.split(".")[0] for name in sys.modules}), file=sys.stderr)
print("tidegate.core.runtime" in sys.modules, file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        env=home.environ({}),
        timeout=60,
        check=True,
    )
    assert done.stderr == "[]\nFalse\n"
    assert '"key":"network"' in done.stdout
