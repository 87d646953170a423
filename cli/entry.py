"""Where the command begins: help without loading anything, then the commands, and one place for what fails.

Nothing but the standard library's smallest parts is imported before it is known that it will be needed.
"""

import os
import sys

_COMPLETION = "_TIDEGATE_COMPLETE"


def main() -> int:
    """Run the command line of this process and return its exit status."""
    try:
        arguments = sys.argv[1:]
        if _COMPLETION not in os.environ:
            text = quick_answer(arguments)
            if text is not None:
                return _print(text)
        from tidegate.cli.guard import run

        return run(arguments)
    except KeyboardInterrupt:
        return 130


def quick_answer(arguments: list[str]) -> str | None:
    """Return the help or version text that the arguments ask for, if it can be known without a parser."""
    if arguments == ["--version"]:
        from importlib.metadata import version

        return f"tidegate {version('tidegate')}\n"
    words = arguments[:-1] if arguments and arguments[-1] in ("--help", "-h") else arguments
    if words is arguments and len(words) > 1:
        return None
    from tidegate.cli.help_texts import BARE, HELP

    key = " ".join(words)
    return HELP.get(key) if words is not arguments or key in BARE else None


def _print(text: str) -> int:
    if sys.stdout is None:
        return 0
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError:
        return _print_again(text)
    return 0


def _print_again(text: str) -> int:
    """Print what could not be printed, by the way that tells a closed pipe from a full disk."""
    from tidegate.cli.guard import guarded
    from tidegate.cli.output import console

    def write() -> int:
        console("text", os.environ).out.write(text)
        return 0

    return guarded(write)
