"""Runs the commands of one programmable transaction over its input objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tidegate.core.sandbox.gas import computation_units
from tidegate.core.sandbox.modules import registry
from tidegate.core.sandbox.modules.base import (
    Balance,
    Coin,
    MoveAbort,
    MoveFunction,
    OwnedObject,
    SharedObject,
    Value,
)
from tidegate.core.sandbox.movetypes import (
    BALANCE,
    MoveType,
    coin_of,
    is_copy,
    is_pure,
    parse_parameter,
    parse_type,
)
from tidegate.core.sandbox.objects import GAS_COIN_TYPE, Owner, StoredObject
from tidegate.core.sandbox.refusals import ArgumentProblem, ExecutionFailure, FailureKind, bad_argument
from tidegate.core.sandbox.session import EmittedEvent, Environment, Frame, Session
from tidegate.core.sandbox.transactions import (
    Argument,
    GasArg,
    Input,
    InputArg,
    MakeMoveVec,
    MergeCoins,
    MoveCall,
    PureInput,
    ResultArg,
    SharedInput,
    SplitCoins,
    Transaction,
    TransferObjects,
)
from tidegate.core.sandbox.values import ReturnedValue, Slot, among, decode_argument, droppable, recorded

_MAX_U64 = 2**64 - 1
_U64 = MoveType("u64")
_ADDRESS = MoveType("address")


@dataclass(slots=True)
class Outcome:
    """What a run leaves behind, before gas is charged."""

    coins: dict[str, tuple[Coin, Owner]] = field(default_factory=dict)
    """Every coin that is alive afterwards, by id."""
    states: dict[str, str] = field(default_factory=dict)
    """New contents of the module-owned objects that were saved."""
    events: list[EmittedEvent] = field(default_factory=list)
    results: list[list[Slot]] = field(default_factory=list)
    """Returned values by command, as later commands left them."""
    returned: list[list[ReturnedValue]] = field(default_factory=list)
    """Returned values by command, as they were returned; only when the run records them."""


class Interpreter:
    """One run of one transaction.

    Args:
        transaction: What to run.
        digest: Its digest, from which new ids derive.
        objects: The input objects by id, without gas coins.
        gas_coin: The coin that pays, holding what the commands may spend.
        environment: Time, epoch and prices.
    """

    def __init__(
        self,
        transaction: Transaction,
        digest: str,
        objects: Mapping[str, StoredObject],
        gas_coin: Coin,
        environment: Environment,
    ) -> None:
        self.transaction = transaction
        self._session = Session(transaction.sender, digest, objects, environment)
        self._objects = objects
        self._gas = gas_coin
        self._gas_before = gas_coin.value
        self._gas_slot = Slot(GAS_COIN_TYPE, gas_coin, is_gas=True)
        self._inputs = [self._input_slot(item) for item in transaction.inputs]
        self._units: list[int] = []
        self.outcome = Outcome()

    @property
    def units(self) -> int:
        """Computation units used so far."""
        return computation_units(self._units)

    def run(self, *, record: bool = False, keep_unused: bool = False) -> Outcome:
        """Run every command.

        Args:
            record: Keep what every command returned.
            keep_unused: Accept returned values that nothing consumes (an inspection without checks).

        Raises:
            ExecutionFailure: a command failed; `command` says which.
        """
        for index, command in enumerate(self.transaction.commands):
            try:
                match command:
                    case MoveCall():
                        results = self._call(command)
                    case TransferObjects():
                        results = self._transfer(command)
                    case SplitCoins():
                        results = self._split(command)
                    case MergeCoins():
                        results = self._merge(command)
                    case MakeMoveVec():
                        results = self._make_vector(command)
            except ExecutionFailure as failure:
                failure.command = index
                raise
            except MoveAbort as abort:
                aborted = ExecutionFailure(FailureKind.MOVE_ABORT, str(abort), abort=abort)
                aborted.command = index
                raise aborted from abort
            self.outcome.results.append(results)
            if record:
                self.outcome.returned.append([recorded(slot) for slot in results])
        if not keep_unused:
            self._refuse_unused()
        self.outcome.coins = self._living_coins()
        self.outcome.states = self._session.states
        self.outcome.events = self._session.events
        if not keep_unused:
            self._check_conservation()
        return self.outcome

    def untouched(self) -> Outcome:
        """Return the outcome of a transaction that failed: every input as it was."""
        coins = {
            item.id: (Coin(item.coin_type, item.balance, item.id), item.owner)
            for item in self._objects.values()
            if item.coin_type is not None and item.balance is not None
        }
        return Outcome(coins=coins)

    # Arguments

    def _input_slot(self, item: Input) -> Slot:
        if isinstance(item, PureInput):
            return Slot(_ADDRESS, None, raw=item.value)
        stored = self._objects[item.id if isinstance(item, SharedInput) else item.ref.id]
        if isinstance(item, SharedInput):
            value: Value = SharedObject(stored.id, str(stored.type))
            return Slot(stored.type, value, writable=item.mutable, by_value=False)
        if stored.coin_type is not None and stored.balance is not None:
            return Slot(stored.type, Coin(stored.coin_type, stored.balance, stored.id))
        owned = stored.owner.kind == "address"
        return Slot(stored.type, OwnedObject(stored.id, str(stored.type)), writable=owned, by_value=owned)

    def _slot(self, argument: Argument, position: int) -> Slot:
        match argument:
            case GasArg():
                if self._gas is None:
                    raise bad_argument(
                        position, ArgumentProblem.INVALID_GAS_COIN_USAGE, "there is no gas coin"
                    )
                return self._gas_slot
            case InputArg(index):
                if index >= len(self._inputs):
                    raise bad_argument(
                        position,
                        ArgumentProblem.INDEX_OUT_OF_BOUNDS,
                        f"there is no input {index}",
                        index=index,
                    )
                return self._inputs[index]
            case ResultArg(command, sub):
                return self._result_slot(command, sub, position)

    def _result_slot(self, command: int, sub: int | None, position: int) -> Slot:
        done = self.outcome.results
        if command >= len(done):
            problem = ArgumentProblem.INDEX_OUT_OF_BOUNDS
            raise bad_argument(position, problem, f"command {command} has not run", index=command)
        values = done[command]
        if sub is None:
            if len(values) != 1:
                problem = ArgumentProblem.INVALID_RESULT_ARITY
                message = f"command {command} returned {len(values)} values, not one"
                raise bad_argument(position, problem, message, index=command)
            return values[0]
        if sub >= len(values):
            problem = ArgumentProblem.SECONDARY_INDEX_OUT_OF_BOUNDS
            message = f"command {command} returned {len(values)} values"
            raise bad_argument(position, problem, message, index=command, subindex=sub)
        return values[sub]

    def _held(self, argument: Argument, position: int) -> Slot:
        slot = self._slot(argument, position)
        if slot.taken:
            raise bad_argument(position, ArgumentProblem.ARGUMENT_WITHOUT_VALUE, "the value was used before")
        return slot

    def _take(self, slot: Slot, position: int, *, gas_allowed: bool = False) -> Value:
        if slot.is_gas and not gas_allowed:
            message = "the gas coin can only be given away by TransferObjects"
            raise bad_argument(position, ArgumentProblem.INVALID_GAS_COIN_USAGE, message)
        if not slot.by_value:
            message = f"{slot.type} can not be taken by value"
            raise bad_argument(position, ArgumentProblem.INVALID_OBJECT_BY_VALUE, message)
        slot.taken = True
        return slot.value

    def _pure(self, argument: Argument, position: int, wanted: MoveType) -> Value:
        slot = self._held(argument, position)
        if slot.raw is not None:
            return decode_argument(wanted, slot.raw, position)
        if slot.type != wanted:
            message = f"expected {wanted}, not {slot.type}"
            raise bad_argument(position, ArgumentProblem.TYPE_MISMATCH, message)
        return slot.value

    def _coin(self, argument: Argument, position: int) -> tuple[Slot, Coin]:
        slot = self._held(argument, position)
        if not isinstance(slot.value, Coin):
            raise bad_argument(position, ArgumentProblem.TYPE_MISMATCH, "expected a coin")
        return slot, slot.value

    # Commands

    def _split(self, command: SplitCoins) -> list[Slot]:
        slot, coin = self._coin(command.coin, 0)
        parts: list[Slot] = []
        for position, argument in enumerate(command.amounts, 1):
            amount = self._pure(argument, position, _U64)
            if not isinstance(amount, int):
                raise bad_argument(position, ArgumentProblem.TYPE_MISMATCH, "expected an amount")
            if amount > coin.value:
                message = f"a coin of {coin.value} can not give {amount}"
                raise ExecutionFailure(FailureKind.INSUFFICIENT_COIN_BALANCE, message)
            coin.value -= amount
            parts.append(Slot(slot.type, Coin(coin.coin_type, amount, self._session.fresh_id())))
        return parts

    def _merge(self, command: MergeCoins) -> list[Slot]:
        target_slot, target = self._coin(command.target, 0)
        for position, argument in enumerate(command.sources, 1):
            slot, coin = self._coin(argument, position)
            if slot.type != target_slot.type:
                message = f"{slot.type} can not be merged into {target_slot.type}"
                raise bad_argument(position, ArgumentProblem.TYPE_MISMATCH, message)
            if slot is target_slot:
                raise bad_argument(
                    position, ArgumentProblem.INVALID_VALUE_USAGE, "a coin is merged into itself"
                )
            self._take(slot, position)
            if target.value + coin.value > _MAX_U64:
                raise ExecutionFailure(FailureKind.COIN_BALANCE_OVERFLOW, "the merged coin would overflow")
            target.value += coin.value
        return []

    def _transfer(self, command: TransferObjects) -> list[Slot]:
        recipient = self._pure(command.address, len(command.objects), _ADDRESS)
        for position, argument in enumerate(command.objects):
            slot = self._held(argument, position)
            value = self._take(slot, position, gas_allowed=True)
            if not isinstance(value, Coin):
                problem = ArgumentProblem.INVALID_TRANSFER_OBJECT
                raise bad_argument(position, problem, f"{slot.type} can not be transferred")
            self._session.place(value, str(recipient))
        return []

    def _make_vector(self, command: MakeMoveVec) -> list[Slot]:
        if command.element is not None and is_pure(command.element):
            values = [
                self._pure(argument, at, command.element) for at, argument in enumerate(command.elements)
            ]
            if command.element.name == "u8":
                packed: Value = bytes(value for value in values if isinstance(value, int))
            else:
                packed = values
            return [Slot(MoveType("vector", (command.element,)), packed)]
        element, items = command.element, list[Value]()
        for position, argument in enumerate(command.elements):
            slot = self._held(argument, position)
            if slot.raw is not None or not isinstance(slot.value, Coin | OwnedObject):
                problem = ArgumentProblem.INVALID_MAKE_MOVE_VEC_NON_OBJECT_ARGUMENT
                raise bad_argument(position, problem, "expected an object")
            element = element or slot.type
            if slot.type != element:
                message = f"{slot.type} in a vector of {element}"
                raise bad_argument(position, ArgumentProblem.TYPE_MISMATCH, message)
            items.append(self._take(slot, position))
        if element is None:
            raise bad_argument(0, ArgumentProblem.TYPE_MISMATCH, "an empty vector needs its type")
        return [Slot(MoveType("vector", (element,)), items)]

    def _call(self, command: MoveCall) -> list[Slot]:
        function = registry.find_function(command.package, command.module, command.function)
        name = f"{command.package}::{command.module}::{command.function}"
        if function is None:
            raise ExecutionFailure(FailureKind.FUNCTION_NOT_FOUND, f"there is no function {name}")
        if len(command.type_arguments) != function.type_parameters:
            message = f"{name} takes {function.type_parameters} type arguments"
            raise ExecutionFailure(FailureKind.TYPE_ARITY_MISMATCH, message)
        if len(command.arguments) != len(function.parameters):
            message = f"{name} takes {len(function.parameters)} arguments"
            raise ExecutionFailure(FailureKind.ARITY_MISMATCH, message)
        frame = Frame(self._session, function)
        values = self._arguments(command, function, frame)
        self._units.append(function.computation_units)
        returned = function.run(frame, [str(param) for param in command.type_arguments], values)
        types = [parse_type(written).fill(command.type_arguments) for written in function.returns]
        if len(returned) != len(types):
            raise TypeError(f"{name} returned {len(returned)} values, not {len(types)}")
        slots = [Slot(kind, value) for kind, value in zip(types, returned, strict=True)]
        for slot in slots:
            self._admit(slot, name)
        return slots

    def _arguments(self, command: MoveCall, function: MoveFunction, frame: Frame) -> list[Value]:
        values: list[Value] = []
        exclusive: list[Slot] = []
        shared: list[Slot] = []
        for position, (written, argument) in enumerate(
            zip(function.parameters, command.arguments, strict=True)
        ):
            parameter = parse_parameter(written)
            wanted = parameter.type.fill(command.type_arguments)
            slot = self._held(argument, position)
            if slot.raw is not None:
                values.append(decode_argument(wanted, slot.raw, position))
                continue
            if slot.type != wanted:
                message = f"expected {wanted}, not {slot.type}"
                raise bad_argument(position, ArgumentProblem.TYPE_MISMATCH, message)
            if parameter.reference == "&mut" and not slot.writable:
                message = f"{slot.type} was passed for reading"
                raise bad_argument(position, ArgumentProblem.INVALID_OBJECT_BY_MUT_REF, message)
            alone = parameter.reference == "&mut" or (not parameter.reference and not is_copy(slot.type))
            if among(slot, exclusive) or (alone and among(slot, shared)):
                raise bad_argument(position, ArgumentProblem.INVALID_VALUE_USAGE, "the value is passed twice")
            (exclusive if alone else shared).append(slot)
            if isinstance(slot.value, SharedObject):
                frame.admit(slot.value.id, writable=parameter.reference == "&mut")
            takes = not parameter.reference and not is_copy(slot.type)
            values.append(self._take(slot, position) if takes else slot.value)
        return values

    def _admit(self, slot: Slot, name: str) -> None:
        value, kind = slot.value, slot.type
        if isinstance(value, Coin):
            if kind != coin_of(value.coin_type):
                raise TypeError(f"{name} returned {value!r} as {kind}")
            value.id = value.id or self._session.fresh_id()
        elif isinstance(value, Balance) and kind != MoveType(BALANCE, (parse_type(value.coin_type),)):
            raise TypeError(f"{name} returned {value!r} as {kind}")

    # The end of a run

    def _refuse_unused(self) -> None:
        for index, slots in enumerate(self.outcome.results):
            for sub, slot in enumerate(slots):
                if not slot.taken and not droppable(slot.value):
                    failure = ExecutionFailure(
                        FailureKind.UNUSED_VALUE_WITHOUT_DROP,
                        f"nothing uses the {slot.type} that command {index} returned",
                        result=(index, sub),
                    )
                    failure.command = index
                    raise failure

    def _living_coins(self) -> dict[str, tuple[Coin, Owner]]:
        living = dict(self._session.placed)
        for slot in self._inputs:
            if isinstance(slot.value, Coin) and slot.value.id is not None and not slot.taken:
                living[slot.value.id] = (slot.value, self._objects[slot.value.id].owner)
        return living

    def _check_conservation(self) -> None:
        # Sui's own invariant, here for every coin type: a module with a mistake must not make or lose coins.
        before: dict[str, int] = {}
        after: dict[str, int] = {}
        for item in self._objects.values():
            if item.coin_type is not None and item.balance is not None:
                _add(before, item.coin_type, item.balance)
            if item.id in self._session.states:
                old = registry.vault_balances(str(item.type), item.decoded_state())
                new = registry.vault_balances(str(item.type), self._session.state_of(item.id))
                for coin_type, amount in old.items():
                    _add(before, coin_type, amount)
                for coin_type, amount in new.items():
                    _add(after, coin_type, amount)
        _add(before, self._gas.coin_type, self._gas_before)
        if not self._gas_slot.taken:
            _add(after, self._gas.coin_type, self._gas.value)
        for coin, _owner in self.outcome.coins.values():
            _add(after, coin.coin_type, coin.value)
        if {k: v for k, v in before.items() if v} != {k: v for k, v in after.items() if v}:
            raise ExecutionFailure(FailureKind.INVARIANT_VIOLATION, "coins were made or lost")


def _add(totals: dict[str, int], coin_type: str, amount: int) -> None:
    totals[coin_type] = totals.get(coin_type, 0) + amount
