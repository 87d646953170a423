"""A terminal with a person at it: one pty is all three streams of a command, and controls it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from types import TracebackType

from verbs import COMMAND, Home

CTRL_C, CTRL_D, ENTER = "\x03", "\x04", "\r"
_PATIENCE_S = 60
"""How long anything is waited for before the test has failed."""
_ROWS, _COLUMNS = 50, 400
"""Wide enough that no answer is broken into lines."""
_STYLES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """Runs a command at a terminal.

    Args:
        home: Whose command.
        args: The command.
        extra: Variables of the environment.
    """

    def __init__(self, home: Home, *args: str, **extra: str) -> None:
        self._person, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
        # A real terminal says where its cursor is when it is asked; this one cannot.
        environ = home.environ({"TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"} | extra)
        self._process = subprocess.Popen(
            [COMMAND, *args],
            env=environ,
            cwd=home.path,
            # Without a controlling terminal Ctrl-C would be a letter like any other.
            preexec_fn=lambda: os.login_tty(terminal),
            pass_fds=[terminal],
        )
        os.close(terminal)
        self._raw = b""
        self._seen = 0

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._person)

    @property
    def raw(self) -> str:
        """All that was sent to the terminal so far, styles included."""
        return self._raw.decode("utf-8", "replace")

    @property
    def shown(self) -> str:
        """All that was shown so far, without styles."""
        return _STYLES.sub("", self.raw).replace("\r", "")

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._person, keys.encode())

    def wait_for(self, text: str) -> None:
        """Wait until a text is shown behind the last one that was waited for."""
        until = time.monotonic() + _PATIENCE_S
        while (at := self.shown.find(text, self._seen)) < 0:
            assert self._read(until), f"no {text!r} in {self.shown[self._seen :]!r}"
        self._seen = at + len(text)

    def ends(self) -> int:
        """Wait for the end of the command and return its exit status."""
        until = time.monotonic() + _PATIENCE_S
        while self._read(until):
            pass
        return self._process.wait(timeout=_PATIENCE_S)

    def _read(self, until: float) -> bool:
        """Take what comes next; return False once nobody holds the other end, or it is too late."""
        ready, _, _ = select.select([self._person], [], [], max(0.0, until - time.monotonic()))
        try:
            more = os.read(self._person, 65536) if ready else b""
        except OSError:
            more = b""
        self._raw += more
        return more != b""
