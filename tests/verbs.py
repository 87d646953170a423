"""Runs commands that print no events, each in a process of its own and in a home made for the test."""

from __future__ import annotations

import json
import os
import pty
import select
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from tidegate.core.paths import Paths
from tidegate.core.store.base import Store
from tidegate.core.store.open import open_store

COMMAND = shutil.which("tidegate", path=os.path.dirname(sys.executable)) or "tidegate"
_SILENCE = 20
"""Seconds after which a terminal that shows nothing more is given up."""
_OURS = ("TIDEGATE_", "XDG_", "ANTHROPIC_", "NO_COLOR", "CI", "TERM")


@dataclass(frozen=True)
class Ended:
    """What a command printed and how it ended."""

    status: int
    stdout: str
    stderr: str

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Every line as the JSON object that it must be."""
        return [json.loads(line, parse_float=Decimal) for line in self.stdout.splitlines()]

    @property
    def row(self) -> dict[str, Any]:
        assert self.status == 0, self.stderr
        (only,) = self.rows
        return only


@dataclass(frozen=True)
class Home:
    """A fresh machine for one person."""

    path: Path

    @property
    def paths(self) -> Paths:
        return Paths.from_environ(self.environ({}))

    def environ(self, extra: Mapping[str, str]) -> dict[str, str]:
        inherited = {key: value for key, value in os.environ.items() if not key.startswith(_OURS)}
        own = {
            "HOME": str(self.path),
            "XDG_CONFIG_HOME": str(self.path / "config"),
            "XDG_STATE_HOME": str(self.path / "state"),
            "LANG": "C.UTF-8",
        }
        return inherited | own | dict(extra)

    def run(self, *args: str, stdin: str = "", **extra: str) -> Ended:
        done = subprocess.run(
            [COMMAND, *args],
            input=stdin.encode(),
            capture_output=True,
            env=self.environ(extra),
            cwd=self.path,
            timeout=60,
            check=False,
        )
        stderr = done.stderr.decode()
        assert "Traceback" not in stderr, stderr
        return Ended(done.returncode, done.stdout.decode(), stderr)

    def start(self, *args: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [COMMAND, *args],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environ({}),
            cwd=self.path,
        )

    def store(self) -> Store:
        return open_store(self.paths.store_file)

    def converse(self, args: Sequence[str], answers: Sequence[tuple[str, str]], **extra: str) -> Ended:
        """Run a command whose stdin and stderr are a terminal; stdout is a pipe.

        Args:
            args: The command.
            answers: Pairs of what the terminal must show and what is typed then. A hidden prompt throws away
                what was typed before its last character, the blank, was shown, so name it up to there.
            extra: Variables of the environment.
        """
        person, terminal = pty.openpty()
        process = subprocess.Popen(
            [COMMAND, *args],
            stdin=terminal,
            stdout=subprocess.PIPE,
            stderr=terminal,
            env=self.environ(extra),
            cwd=self.path,
            start_new_session=True,
        )
        os.close(terminal)
        shown = b""
        try:
            for question, answer in answers:
                at = len(shown)
                while question.encode() not in shown[at:]:
                    more = _read(person)
                    assert more, f"no {question!r} in {shown.decode()!r}"
                    shown += more
                os.write(person, f"{answer}\n".encode())
            stdout, _ = process.communicate(timeout=60)
            while more := _read(person):
                shown += more
        finally:
            process.kill()
            process.wait()
            os.close(person)
        return Ended(process.returncode, stdout.decode(), shown.decode())


def _read(person: int) -> bytes:
    """Return what the terminal shows next, nothing once nobody holds its other end or nothing comes."""
    ready, _, _ = select.select([person], [], [], _SILENCE)
    if not ready:
        return b""
    try:
        return os.read(person, 4096)
    except OSError:
        return b""
