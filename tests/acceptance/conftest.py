from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tidegate.core.events import json_schema

COMMAND = shutil.which("tidegate", path=os.path.dirname(sys.executable)) or "tidegate"

_CHECK = Draft202012Validator(json_schema())


def checked_events(text: str) -> list[dict[str, Any]]:
    """Return the events of one or more turns, each line held to the schema and each turn to its frame."""
    events = [json.loads(line, parse_float=Decimal) for line in text.splitlines()]
    for event, line in zip(events, text.splitlines(), strict=True):
        _CHECK.validate(json.loads(line))
        assert event["v"] == 1
    turns: list[list[dict[str, Any]]] = []
    for event in events:
        if event["type"] == "stream_started":
            turns.append([])
        turns[-1].append(event)
    for turn in turns:
        assert [event["seq"] for event in turn] == list(range(1, len(turn) + 1))
        assert turn[-1]["type"] == "turn_complete"
        assert [event["type"] for event in turn].count("turn_complete") == 1
    return events


@dataclass(frozen=True)
class Result:
    """What one run of the command printed and how it ended."""

    status: int
    stdout: str
    stderr: str

    @property
    def events(self) -> list[dict[str, Any]]:
        return checked_events(self.stdout)

    def all(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["type"] == kind]

    def one(self, kind: str) -> dict[str, Any]:
        found = self.all(kind)
        assert len(found) == 1, f"{len(found)} {kind} events in:\n{self.stdout}\n{self.stderr}"
        return found[0]

    @property
    def text(self) -> str:
        return str(self.one("turn_complete")["text"])


@dataclass
class User:
    """Somebody with a home of their own who runs the installed command."""

    home: Path
    environ: dict[str, str] = field(default_factory=dict)

    def env(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        base = {
            "PATH": f"{os.path.dirname(COMMAND)}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "XDG_STATE_HOME": str(self.home / "state"),
            "LANG": "C.UTF-8",
        }
        return base | self.environ | dict(extra or {})

    def run(
        self, *args: str, stdin: str | bytes | None = None, env: Mapping[str, str] | None = None
    ) -> Result:
        raw = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run(
            [COMMAND, *args],
            input=raw,
            stdin=subprocess.DEVNULL if raw is None else None,
            capture_output=True,
            env=self.env(env),
            cwd=self.home,
            timeout=120,
            check=False,
        )
        stderr = done.stderr.decode()
        assert "Traceback" not in stderr, stderr
        return Result(done.returncode, done.stdout.decode(), stderr)

    def shell(self, line: str) -> Result:
        """Run a line as it would be pasted into a shell."""
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", line],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=self.env(),
            cwd=self.home,
            timeout=120,
            check=False,
            text=True,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Result(done.returncode, done.stdout, done.stderr)

    def start(self, *args: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [COMMAND, *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.env(env),
            cwd=self.home,
        )

    @contextmanager
    def serving(self, *options: str) -> Iterator[str]:
        """The person's sandbox, served to other programs."""
        with self.start("sandbox", "serve", *options) as server:
            assert server.stdout is not None
            try:
                yield json.loads(server.stdout.readline())["url"]
            finally:
                server.terminate()

    def savings(self, symbol: str = "USDC") -> Decimal:
        result = self.run("call", "savings_info")
        positions = result.one("tool_result")["result"]["data"]["positions"]
        return sum((Decimal(p["amount"]) for p in positions if p["symbol"] == symbol), Decimal(0))

    def holding(self, symbol: str) -> Decimal:
        result = self.run("call", "balance_check")
        holdings = result.one("tool_result")["result"]["data"]["holdings"]
        return sum((Decimal(h["amount"]) for h in holdings if h["symbol"] == symbol), Decimal(0))


@pytest.fixture
def user(tmp_path: Path) -> User:
    """A person on a fresh machine: no config, no keys, no API key."""
    home = tmp_path / "home"
    home.mkdir()
    return User(home)


STRANGER = "0x" + "5e" * 32
