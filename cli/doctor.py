"""tidegate doctor: is everything here that a command needs, and is it sound?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from tidegate.cli.flags import NetworkFlag, OutputFlag, ProfileFlag, ProviderFlag
from tidegate.cli.output import Console, console
from tidegate.cli.rows import show_rows
from tidegate.cli.session import make_runtime, take_environ
from tidegate.cli.visible import visible_line
from tidegate.core.clock import system_clock
from tidegate.core.errors import TidegateError, worst_exit_status

if TYPE_CHECKING:
    from tidegate.core.doctor import Check
    from tidegate.core.events import JsonObject
    from tidegate.core.runtime import Runtime

_RED, _GREEN = 31, 32


def doctor(
    network: NetworkFlag = None,
    profile: ProfileFlag = None,
    provider: ProviderFlag = None,
    output: OutputFlag = None,
) -> None:
    """Check installation, settings, store, journal, wallet, network and provider.

    Exits 0 if all is well, else with the status of the worst that is not.
    Example: tidegate doctor | jq -r 'select(.ok|not).message'
    """
    from tidegate.core.doctor import examine
    from tidegate.core.paths import Paths

    environ = take_environ()
    flags = {"network": network, "profile": profile, "provider": provider, "output": output}
    made: Runtime | TidegateError
    form = output
    try:
        made = make_runtime(environ, flags)
        form = made.settings.output
    except TidegateError as error:
        made = error
    to = console(form, environ)
    checks: list[Check] = []
    try:
        for check in examine(Paths.from_environ(environ), system_clock(), made):
            checks.append(check)
            if to.text:
                _show(to, check)
    finally:
        if not isinstance(made, TidegateError):
            made.close()
    if not to.text:
        show_rows(to, [_row(check) for check in checks], (), empty="")
    status = worst_exit_status(*(check.error.exit_status for check in checks if check.error is not None))
    raise typer.Exit(status)


def _row(check: Check) -> JsonObject:
    row: JsonObject = {"name": check.name, "ok": check.ok, "message": check.message}
    if check.error is not None:
        row |= {"code": check.error.code, "hint": check.error.hint}
    return row


def _show(to: Console, check: Check) -> None:
    mark = to.out.style("ok  ", _GREEN) if check.ok else to.out.style("FAIL", _RED)
    to.out.write(f"{mark} {check.name.ljust(8)} {visible_line(check.message)}\n")
    if check.error is not None and check.error.hint:
        to.out.write(f"{' ' * 14}{visible_line(check.error.hint)}\n")
