"""From flags to a runtime, with what a command needs from the process it runs in."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tidegate.cli.flags import Flags
from tidegate.cli.output import Console, console

if TYPE_CHECKING:
    from tidegate.core.runtime import Runtime

SECRET_VARIABLES = (
    "TIDEGATE_PRIVATE_KEY",
    "TIDEGATE_PASSPHRASE",
    "ANTHROPIC_API_KEY",
    "BLOCKVISION_API_KEY",
    "BRAVE_API_KEY",
)


def take_environ() -> Mapping[str, str]:
    """Return a copy of the environment and remove the secrets from the process's own.

    Whatever this process might start would inherit them otherwise.
    """
    environ = dict(os.environ)
    for name in SECRET_VARIABLES:
        os.environ.pop(name, None)
    return environ


def make_runtime(environ: Mapping[str, str], flags: Flags) -> Runtime:
    """Return a runtime whose memory stays out of core dumps.

    Raises:
        ConfigError: a setting is unknown or has a bad value.
    """
    from tidegate.core.chain.wallet import harden_process
    from tidegate.core.runtime import open_runtime

    harden_process()
    runtime = open_runtime(environ=environ, flags=flags)
    if environ.get("TIDEGATE_DEBUG") == "1":
        runtime.on_bug = print_traceback
    return runtime


def print_traceback(error: BaseException) -> None:
    """Print a traceback to stderr, for whoever asked for it with TIDEGATE_DEBUG=1."""
    import traceback

    traceback.print_exception(error, file=sys.stderr)


def settings_console(output: str | None) -> Console:
    """Return where the output of a command goes that reads no more of the settings than that.

    Args:
        output: What the command line says of its form.

    Raises:
        ConfigError: a setting is unknown or has a bad value.
    """
    from tidegate.core.paths import Paths
    from tidegate.core.settings import load_settings

    environ = take_environ()
    loaded = load_settings(environ, {"output": output}, Paths.from_environ(environ))
    return console(loaded.settings.output, environ)


@contextmanager
def opened(flags: Flags) -> Iterator[tuple[Runtime, Console]]:
    """Yield a runtime for a command that prints no events, and where its output goes.

    Raises:
        ConfigError: a setting is unknown or has a bad value.
    """
    environ = take_environ()
    runtime = make_runtime(environ, flags)
    try:
        yield runtime, console(runtime.settings.output, environ)
    finally:
        runtime.close()
