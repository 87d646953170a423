"""What ends a request (a gRPC status) and what ends a transaction (effects with status failure)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tidegate.core.sandbox.modules.base import MoveAbort


class Refusal(Enum):
    """The gRPC statuses that the sandbox answers with."""

    INVALID_ARGUMENT = "INVALID_ARGUMENT"
    NOT_FOUND = "NOT_FOUND"
    UNIMPLEMENTED = "UNIMPLEMENTED"
    UNAVAILABLE = "UNAVAILABLE"


class Refused(Exception):
    """A request that changes nothing and is answered with a gRPC status.

    Args:
        kind: The status.
        message: What is wrong, as a node would say it.
    """

    def __init__(self, kind: Refusal, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


def invalid(message: str) -> Refused:
    """Return a refusal with INVALID_ARGUMENT."""
    return Refused(Refusal.INVALID_ARGUMENT, message)


def not_found(message: str) -> Refused:
    """Return a refusal with NOT_FOUND."""
    return Refused(Refusal.NOT_FOUND, message)


def unimplemented(message: str) -> Refused:
    """Return a refusal with UNIMPLEMENTED."""
    return Refused(Refusal.UNIMPLEMENTED, message)


class FailureKind(Enum):
    """Why an executed transaction failed; names are those of the protocol's ExecutionErrorKind."""

    INSUFFICIENT_GAS = "InsufficientGas"
    INVARIANT_VIOLATION = "InvariantViolation"
    INSUFFICIENT_COIN_BALANCE = "InsufficientCoinBalance"
    COIN_BALANCE_OVERFLOW = "CoinBalanceOverflow"
    MOVE_ABORT = "MoveAbort"
    FUNCTION_NOT_FOUND = "FunctionNotFound"
    ARITY_MISMATCH = "ArityMismatch"
    TYPE_ARITY_MISMATCH = "TypeArityMismatch"
    COMMAND_ARGUMENT_ERROR = "CommandArgumentError"
    UNUSED_VALUE_WITHOUT_DROP = "UnusedValueWithoutDrop"


class ArgumentProblem(Enum):
    """What is wrong with a command's argument; names are those of the protocol's CommandArgumentError."""

    TYPE_MISMATCH = "TypeMismatch"
    INVALID_BCS_BYTES = "InvalidBCSBytes"
    INVALID_USAGE_OF_PURE_ARGUMENT = "InvalidUsageOfPureArg"
    INDEX_OUT_OF_BOUNDS = "IndexOutOfBounds"
    SECONDARY_INDEX_OUT_OF_BOUNDS = "SecondaryIndexOutOfBounds"
    INVALID_RESULT_ARITY = "InvalidResultArity"
    INVALID_GAS_COIN_USAGE = "InvalidGasCoinUsage"
    INVALID_VALUE_USAGE = "InvalidValueUsage"
    INVALID_OBJECT_BY_VALUE = "InvalidObjectByValue"
    INVALID_OBJECT_BY_MUT_REF = "InvalidObjectByMutRef"
    INVALID_TRANSFER_OBJECT = "InvalidTransferObject"
    INVALID_MAKE_MOVE_VEC_NON_OBJECT_ARGUMENT = "InvalidMakeMoveVecNonObjectArgument"
    ARGUMENT_WITHOUT_VALUE = "ArgumentWithoutValue"


@dataclass(frozen=True, slots=True)
class BadArgument:
    """Which argument of a command is wrong, and how."""

    position: int
    problem: ArgumentProblem
    index: int = 0
    """The index that is out of bounds, for the problems that name one."""
    subindex: int = 0


class ExecutionFailure(Exception):
    """A transaction that is executed and fails: its gas is charged and nothing else of it stays.

    Args:
        kind: The protocol's name for the reason.
        message: The reason in words.
        argument: Set for COMMAND_ARGUMENT_ERROR.
        abort: Set for MOVE_ABORT.
        result: (command, value) of an UNUSED_VALUE_WITHOUT_DROP.
    """

    def __init__(
        self,
        kind: FailureKind,
        message: str,
        *,
        argument: BadArgument | None = None,
        abort: MoveAbort | None = None,
        result: tuple[int, int] = (0, 0),
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.argument = argument
        self.abort = abort
        self.result = result
        self.command: int | None = None
        """Index of the command, filled in by the interpreter."""


def bad_argument(
    position: int, problem: ArgumentProblem, message: str, *, index: int = 0, subindex: int = 0
) -> ExecutionFailure:
    """Return the failure of a command whose argument is wrong."""
    return ExecutionFailure(
        FailureKind.COMMAND_ARGUMENT_ERROR,
        message,
        argument=BadArgument(position, problem, index, subindex),
    )
