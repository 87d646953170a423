"""Every error that a person or a script can meet, with a stable code and an exit status.

    TidegateError                    exit  code
    ├── InternalError                   1  internal
    ├── UsageError                      2  bad_input
    │   ├── BadAmount                   2  bad_amount
    │   ├── BadAddress                  2  bad_address
    │   ├── UnknownToken                2  unknown_token
    │   ├── UnknownTool                 2  unknown_tool
    │   ├── NotUnderstood               2  not_understood
    │   ├── NotFound                    2  not_found
    │   ├── ConfigError                 2  bad_config
    │   │   └── UnknownSetting          2  unknown_setting
    │   └── WalletError                 2  wallet
    │       ├── WalletMissing           2  wallet_missing
    │       ├── PassphraseNeeded        2  passphrase_needed
    │       └── UnsafeKeyFile           2  unsafe_key_file
    ├── Refused                         4  refused
    │   ├── GuardBlocked                4  guard_blocked
    │   ├── Denied                      4  denied
    │   ├── ApprovalStale               4  approval_stale
    │   ├── InsufficientBalance         4  insufficient_balance
    │   └── SimulationFailed            4  simulation_failed
    │       └── InspectionAborted       4  inspection_aborted
    ├── ProviderError                   5  provider_failed
    ├── NetworkError                    6  network_failed
    │   ├── ChainMismatch               6  chain_mismatch
    │   ├── TransactionFailed           6  transaction_failed
    │   └── StoreError                  6  store_failed
    ├── OutcomeUnknown                  7  outcome_unknown
    ├── BudgetSpent                     8  budget_spent
    └── Interrupted                   130  interrupted

A tool that cannot do what the model asked raises one of these too: the engine turns it into an error result,
so that the model can try something else, and a command turns it into an error event and its exit status.
"""

from __future__ import annotations

from typing import ClassVar


class TidegateError(Exception):
    """Base of all. `message` says what happened, `hint` what to do next.

    Args:
        message: One or two plain sentences, without secrets.
        hint: What the person can do about it; the class's own hint if not given.
        retryable: Whether the very same call may succeed later; the class's own answer if not given.
    """

    code: ClassVar[str] = "internal"
    exit_status: ClassVar[int] = 1
    default_hint: ClassVar[str | None] = None
    default_retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, hint: str | None = None, retryable: bool | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = self.default_hint if hint is None else hint
        self.retryable = self.default_retryable if retryable is None else retryable


class InternalError(TidegateError):
    """A bug of ours."""

    default_hint = "This is a bug in tidegate. Run `tidegate doctor` and report what it prints."


class UsageError(TidegateError):
    """What was typed, piped or configured cannot be used as it is."""

    code = "bad_input"
    exit_status = 2


class BadAmount(UsageError):
    """An amount that is not exact, not positive, or not one the token can express."""

    code = "bad_amount"


class BadAddress(UsageError):
    """Neither a Sui address nor the name of a contact."""

    code = "bad_address"


class UnknownToken(UsageError):
    """A symbol nobody registered, or a coin type the network does not know."""

    code = "unknown_token"


class UnknownTool(UsageError):
    """No tool has this name."""

    code = "unknown_tool"
    default_hint = "Run `tidegate tools` for the list."


class NotUnderstood(UsageError):
    """The offline planner has no rule for the request."""

    code = "not_understood"


class NotFound(UsageError):
    """A session, attempt or contact of this name does not exist."""

    code = "not_found"


class ConfigError(UsageError):
    """The configuration file or a variable cannot be read or has a bad value."""

    code = "bad_config"


class UnknownSetting(ConfigError):
    """A key that no setting has."""

    code = "unknown_setting"


class WalletError(UsageError):
    """A key cannot be read, stored or used."""

    code = "wallet"


class WalletMissing(WalletError):
    """The command needs a wallet and there is none."""

    code = "wallet_missing"
    default_hint = "Run `tidegate wallet new` or `tidegate wallet import`, or set TIDEGATE_PRIVATE_KEY."


class PassphraseNeeded(WalletError):
    """The key file is encrypted, or has to be, and no passphrase was given."""

    code = "passphrase_needed"
    default_hint = "Set TIDEGATE_PASSPHRASE, or run on a terminal to be asked."


class UnsafeKeyFile(WalletError):
    """A key file or its folder can be read by others, or is a symbolic link."""

    code = "unsafe_key_file"


class Refused(TidegateError):
    """Policy, a guard or a person said no; nothing was sent."""

    code = "refused"
    exit_status = 4


class GuardBlocked(Refused):
    """A guard found the write unsafe."""

    code = "guard_blocked"


class Denied(Refused):
    """A person denied the write."""

    code = "denied"


class ApprovalStale(Refused):
    """The waiting write expired, or what it was shown under has changed."""

    code = "approval_stale"
    default_hint = "Ask again; a fresh pending_action will be made."


class InsufficientBalance(Refused):
    """The wallet or the position holds less than the write moves."""

    code = "insufficient_balance"


class SimulationFailed(Refused):
    """The network's simulation of the transaction failed or moved other amounts than the input says."""

    code = "simulation_failed"


class InspectionAborted(SimulationFailed):
    """A read-only call ran on chain and its contract stopped it."""

    code = "inspection_aborted"


class ProviderError(TidegateError):
    """The language model could not be reached or gave no usable answer."""

    code = "provider_failed"
    exit_status = 5


class NetworkError(TidegateError):
    """The network or a service failed and nothing was sent."""

    code = "network_failed"
    exit_status = 6
    default_retryable = True


class ChainMismatch(NetworkError):
    """The node serves another chain than the profile names."""

    code = "chain_mismatch"
    default_retryable = False


class TransactionFailed(NetworkError):
    """The transaction was executed and failed: it moved nothing but cost its gas."""

    code = "transaction_failed"
    default_retryable = False


class StoreError(NetworkError):
    """The state folder or database cannot be read or written; nothing was signed."""

    code = "store_failed"
    default_retryable = False


class OutcomeUnknown(TidegateError):
    """The transaction was sent and its outcome has not been heard."""

    code = "outcome_unknown"
    exit_status = 7
    default_hint = (
        "Run `tidegate resume`: it asks the network by the transaction's digest. Do not send again."
    )


class BudgetSpent(TidegateError):
    """The session's model budget is used up."""

    code = "budget_spent"
    exit_status = 8


class Interrupted(TidegateError):
    """The person or the system stopped the turn."""

    code = "interrupted"
    exit_status = 130


_CONCERN = (7, 3, 4, 130, 8, 6, 5, 2, 1, 0)


def worst_exit_status(*statuses: int) -> int:
    """Return the exit status of the highest concern: 7, 3, 4, then the rest (shared/CONTRACT.md)."""
    return min(statuses or (0,), key=lambda status: _CONCERN.index(status) if status in _CONCERN else 0)
