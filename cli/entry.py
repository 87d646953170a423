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
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
