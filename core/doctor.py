"""What `tidegate doctor` looks at. Checks stand alone: one that fails stops no other."""

from __future__ import annotations

import platform
import shlex
import stat
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass

from tidegate.core.clock import Clock
from tidegate.core.config_file import read_document
from tidegate.core.errors import (
    ConfigError,
    InternalError,
    OutcomeUnknown,
    StoreError,
    TidegateError,
    WalletMissing,
)
from tidegate.core.paths import Paths
from tidegate.core.runtime import SANDBOX, Runtime, package_version
from tidegate.core.settlement import OPEN
from tidegate.core.store.base import Step, Store
from tidegate.core.store.open import open_store
from tidegate.core.writes.approval import is_due


@dataclass(frozen=True, slots=True)
class Check:
    """What was found of one thing."""

    name: str
    message: str
    error: TidegateError | None = None
    """What is wrong; None if all is well."""

    @property
    def ok(self) -> bool:
        """Whether all is well."""
        return self.error is None


def examine(paths: Paths, clock: Clock, made: Runtime | TidegateError) -> Iterator[Check]:
    """Look at everything a command needs, and change nothing but what a first use makes anyway.

    Args:
        paths: Where files are.
        clock: Tells which waiting writes are past their time.
        made: The runtime, or why there is none: then the checks that need none are still made.

    Yields:
        One finding after another, in the order in which a person would want to repair them.
    """
    checks: tuple[tuple[str, Callable[[], str]], ...] = (
        ("version", _version),
        ("config", lambda: _config(paths, made)),
        ("state", lambda: _state(paths)),
        ("store", lambda: _store(paths)),
        ("journal", lambda: _journal(paths)),
        ("writes", lambda: _writes(paths, clock)),
        ("wallet", lambda: _wallet(_needed(made))),
        ("network", lambda: _network(_needed(made))),
        ("provider", lambda: _provider(_needed(made))),
    )
    for name, check in checks:
        try:
            found = Check(name, check())
        except TidegateError as error:
            found = Check(name, error.message, error)
        except Exception as error:  # noqa: BLE001 - a bug in one check must not hide what the others find
            bug = InternalError(
                f"{type(error).__name__}: {error}", hint="This is a bug in tidegate: report it."
            )
            found = Check(name, bug.message, bug)
        yield found


def _version() -> str:
    return f"tidegate {package_version()}, Python {platform.python_version()} on {platform.system()}."


def _needed(made: Runtime | TidegateError) -> Runtime:
    if isinstance(made, TidegateError):
        raise ConfigError("Not looked at: the settings cannot be used.", hint="Correct the settings first.")
    return made


def _config(paths: Paths, made: Runtime | TidegateError) -> str:
    if isinstance(made, TidegateError):
        raise made
    preset = "no preset" if made.preset is None else f"preset {made.preset.name}"
    file = f"{paths.config_file} is valid" if read_document(paths.config_file) else "Defaults are in force"
    return f"{file}: network {made.settings.network}, {preset}."


def _state(paths: Paths) -> str:
    folder = paths.state_dir
    try:
        mode = stat.S_IMODE(folder.stat().st_mode)
    except FileNotFoundError:
        return f"{folder} will be made when something is first kept."
    except OSError as error:
        raise StoreError(
            f"{folder} cannot be looked at: {(error.strerror or str(error)).lower()}.",
            hint="Give yourself permission to enter it, or set XDG_STATE_HOME to another folder.",
        ) from error
    if mode & 0o077:
        raise StoreError(
            f"{folder} is open to other users (mode {mode:04o}).",
            hint=f"Run: chmod 700 {shlex.quote(str(folder))}",
        )
    return f"{folder} is yours alone."


def _store(paths: Paths) -> str:
    with _opened_store(paths) as store:
        wrong = store.integrity()
    if wrong is not None:
        raise StoreError(
            f"{paths.store_file} is damaged: {wrong}.", hint="Keep the file, and restore a backup of it."
        )
    return f"{paths.store_file} is sound."


def _journal(paths: Paths) -> str:
    with _opened_store(paths) as store:
        broken = store.journal.verify()
    if broken is not None:
        raise StoreError(broken, hint="The journal was changed. Look at the chain for what the wallet did.")
    return "The journal says what was written into it."


def _writes(paths: Paths, clock: Clock) -> str:
    """Tell of writes that have not ended; one that waits for a decision is nothing wrong."""
    with _opened_store(paths) as store:
        attempts = store.journal.in_state(*OPEN)
    sent = [attempt.id for attempt in attempts if attempt.find(Step.SIGNED) is not None]
    if sent:
        raise OutcomeUnknown(f"The outcome of what was sent is not known yet: {', '.join(sent)}.")
    waiting = [attempt.id for attempt in attempts if not is_due(attempt, clock.now_ms())]
    if waiting:
        return f"Waiting for `tidegate resume`: {', '.join(waiting)}."
    return "No write waits."


def _wallet(runtime: Runtime) -> str:
    if runtime.secrets.private_key is not None:
        return f"TIDEGATE_PRIVATE_KEY signs for {runtime.signer().address}."
    settings = runtime.settings
    try:
        info = runtime.keystore().info(settings.wallet_name)
    except WalletMissing:
        if settings.network != SANDBOX or settings.wallet is not None:
            raise
        return "The sandbox's wallet will be made when it is first needed."
    if info.encrypted and runtime.secrets.passphrase is None:
        return f"{info.name} is {info.address}; it is encrypted, and TIDEGATE_PASSPHRASE is not set."
    return f"{info.name} is {runtime.signer().address}."


def _network(runtime: Runtime) -> str:
    from tidegate.core.chain.network import open_network

    # Not runtime.network(): that makes and funds a wallet on the sandbox.
    settings = runtime.settings
    network = open_network(
        settings.network,
        state_dir=runtime.paths.state_dir,
        clock=runtime.clock,
        timeout_s=float(settings.network_timeout_s),
    )
    with closing(network):
        return f"{network.name} answers: chain {network.chain_id}, epoch {network.epoch().epoch}."


def _provider(runtime: Runtime) -> str:
    provider = runtime.provider()
    model = f", model {provider.model}" if provider.model else ""
    return f"{provider.name}{model}; nothing was asked of it."


def _opened_store(paths: Paths) -> closing[Store]:
    return closing(open_store(paths.store_file))
