"""The last line of defence: whatever a command raises becomes one clear line and an exit status."""

from __future__ import annotations

import os
from collections.abc import Callable

from tidegate.cli.output import OutputGone, stderr
from tidegate.core.errors import TidegateError


def run(arguments: list[str]) -> int:
    """Run the command that the arguments name and return its exit status."""
    return guarded(lambda: _dispatch(arguments))


def guarded(work: Callable[[], int]) -> int:
    """Return what `work` returns, or the exit status of what it raises."""
    # The environment is read before a command takes the secrets out of it.
    environ = dict(os.environ)
    notices = stderr(environ)
    try:
        return work()
    except TidegateError as error:
        notices.fail(error)
        if error.exit_status == 1:
            _trace(error, environ)
        return error.exit_status
    except OutputGone as gone:
        if gone.error is None:
            _close_stdout()
            return 0
        notices.fail(gone.error)
        _close_stdout()
        return gone.error.exit_status
    except BrokenPipeError:
        _close_stdout()
        return 0
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # noqa: BLE001 - a bug is told in one line, not in a traceback
        notices.error(
            f"{type(error).__name__}. This is a bug in tidegate.",
            "Run `tidegate doctor` and report what it prints; TIDEGATE_DEBUG=1 shows where it happened.",
        )
        _trace(error, environ)
        return 1


def _dispatch(arguments: list[str]) -> int:
    import typer
    from typer._click.exceptions import ClickException

    from tidegate.cli.app import app

    command = typer.main.get_command(app)
    try:
        status = command.main(arguments, prog_name="tidegate", standalone_mode=False)
    except ClickException as error:
        error.show()
        return error.exit_code
    except typer.Abort:
        return 130
    return status if isinstance(status, int) else 0


def _trace(error: BaseException, environ: dict[str, str]) -> None:
    if environ.get("TIDEGATE_DEBUG") == "1":
        from tidegate.cli.session import print_traceback

        print_traceback(error)


def _close_stdout() -> None:
    """Send what is still buffered nowhere, so that ending the process does not fail on it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
