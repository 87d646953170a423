"""Where tidegate keeps its files, by the XDG Base Directory rules."""

from __future__ import annotations

import os
import pwd
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tidegate.core.errors import StoreError

_APP = "tidegate"


@dataclass(frozen=True, slots=True)
class Paths:
    """The two folders of one user; nothing in them is opened or made by asking for a path."""

    config_dir: Path
    """What people write, and keys."""
    state_dir: Path
    """What tidegate remembers."""

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Paths:
        """Return the folders of this environment.

        A relative ``XDG_CONFIG_HOME`` or ``XDG_STATE_HOME`` counts as not set, as the XDG Base Directory
        Specification (0.8, "Environment variables") demands.
        """
        home = Path(environ.get("HOME") or pwd.getpwuid(os.getuid()).pw_dir)
        return cls(
            config_dir=_base(environ.get("XDG_CONFIG_HOME"), home / ".config") / _APP,
            state_dir=_base(environ.get("XDG_STATE_HOME"), home / ".local" / "state") / _APP,
        )

    @property
    def config_file(self) -> Path:
        """Settings, TOML."""
        return self.config_dir / "config.toml"

    @property
    def keys_dir(self) -> Path:
        """One file for each key."""
        return self.config_dir / "keys"

    @property
    def store_file(self) -> Path:
        """Sessions, journal and spending, SQLite."""
        return self.state_dir / "tidegate.db"

    @property
    def sandbox_file(self) -> Path:
        """The ledger of the sandbox network, SQLite."""
        return self.state_dir / "sandbox.db"

    @property
    def history_file(self) -> Path:
        """Lines typed into `tidegate chat`."""
        return self.state_dir / "history"


def _base(value: str | None, default: Path) -> Path:
    return Path(value) if value and os.path.isabs(value) else default


def ensure_private_dir(path: Path) -> Path:
    """Make a folder that only its owner can enter, with the folders above it, and return it.

    A folder that is there already is narrowed to mode 0700 if others could enter it; the folders above it are
    left as they are.

    Raises:
        StoreError: it cannot be made or narrowed: a full or read-only disk, no permission, a file there.
    """
    try:
        _make_private(path)
        if stat.S_IMODE(path.stat().st_mode) != 0o700:
            path.chmod(0o700)
    except OSError as error:
        raise StoreError(
            f"The folder {path} cannot be made private to you: {(error.strerror or str(error)).lower()}.",
            hint="Free some space or give yourself permission to write there, or point XDG_CONFIG_HOME and "
            "XDG_STATE_HOME to a folder that can be written.",
        ) from error
    return path


def _make_private(path: Path) -> None:
    if path.is_dir():
        return
    _make_private(path.parent)
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        if not path.is_dir():
            raise
    else:
        # The umask may have taken bits from the owner too.
        path.chmod(0o700)
