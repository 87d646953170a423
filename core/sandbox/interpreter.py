"""Runs the commands of one programmable transaction over its input objects."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field

from tidegate.core.sandbox.encoding import BadEncoding, derived_id
from tidegate.core.sandbox.gas import computation_units
from tidegate.core.sandbox.modules import registry
from tidegate.core.sandbox.modules.base import (
    Balance,
    Coin,
    MoveAbort,
    MoveFunction,
    MoveStruct,
    OwnedObject,
    SharedObject,
    State,
    Value,
)
from tidegate.core.sandbox.movetypes import (
    BALANCE,
    MoveType,
    coin_of,
    decode_pure,
    encode_struct,
    encode_value,
    is_copy,
    is_pure,
    parse_parameter,
    parse_type,
    value_json,
)
from tidegate.core.sandbox.objects import Owner, StoredObject, owned_by, state_text
from tidegate.core.sandbox.refusals import ArgumentProblem, ExecutionFailure, FailureKind, bad_argument
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

_MAX_U64 = 2**64 - 1
_U64 = MoveType("u64")
_ADDRESS = MoveType("address")


@dataclass(slots=True)
class Slot:
    """A place that arguments point at: an input, the gas coin, or a returned value."""

    type: MoveType
    value: Value
    raw: bytes | None = None
    """Bytes of a pure input, whose type each use decides."""
    taken: bool = False
    writable: bool = True
    """False for shared objects passed for reading and for immutable objects."""
    by_value: bool = True
    """False for what a command may only borrow."""
    is_gas: bool = False


@dataclass(frozen=True, slots=True)
class ReturnedValue:
    """A value as it was when its command returned it."""

    type: MoveType
    value: Value
    bcs: bytes
    json: object


@dataclass(frozen=True, slots=True)
class EmittedEvent:
    """An event with the module that was called when it was emitted."""

    package: str
    module: str
    type: MoveType
    contents: bytes
    json: object


@dataclass(frozen=True, slots=True)
class Environment:
    """What a transaction can see of the network."""

    now_ms: int
    epoch: int
    price: Callable[[str], tuple[int, int] | None]


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
        gas_coin: The coin that pays, holding what the commands may spend; None for a simulation without gas.
        environment: Time, epoch and prices.
    """

    def __init__(
        self,
        transaction: Transaction,
        digest: str,
        objects: Mapping[str, StoredObject],
        gas_coin: Coin | None,
        environment: Environment,
    ) -> None:
        self.transaction = transaction
        self.environment = environment
        self._digest = digest
        self._objects = objects
        self._gas = gas_coin
        self._gas_before = 0 if gas_coin is None else gas_coin.value
        self._gas_slot = Slot(coin_of("0x2::sui::SUI"), gas_coin, is_gas=True)
        self._inputs = [self._input_slot(item) for item in transaction.inputs]
        self._ids = 0
        self._units: list[int] = []
        self._placed: dict[str, tuple[Coin, Owner]] = {}
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
                self.outcome.returned.append([_recorded(slot) for slot in results])
        if not keep_unused:
            self._refuse_unused()
        self.outcome.coins = self._living_coins()
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

    # What functions see

    def fresh_id(self) -> str:
        """Return the next object id of this transaction."""
        self._ids += 1
        return derived_id(self._digest, self._ids - 1)

    def state_of(self, object_id: str) -> State:
        """Return the current contents of a module-owned input, as a private copy."""
        saved = self.outcome.states.get(object_id)
        if saved is None:
            return self._objects[object_id].decoded_state()
        state: State = json.loads(saved)
        return state

    def save_state(self, object_id: str, state: State) -> None:
        """Replace the contents of a module-owned input."""
        self.outcome.states[object_id] = state_text(state)

    def place(self, coin: Coin, owner: str) -> None:
        """Give a coin to an address."""
        if coin.id is None:
            coin.id = self.fresh_id()
        self._placed[coin.id] = (coin, owned_by(owner))

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
            return _decode(wanted, slot.raw, position)
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
            parts.append(Slot(slot.type, Coin(coin.coin_type, amount, self.fresh_id())))
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
            self.place(value, str(recipient))
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
        frame = Frame(self, function)
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
                values.append(_decode(wanted, slot.raw, position))
                continue
            if slot.type != wanted:
                message = f"expected {wanted}, not {slot.type}"
                raise bad_argument(position, ArgumentProblem.TYPE_MISMATCH, message)
            if parameter.reference == "&mut" and not slot.writable:
                message = f"{slot.type} was passed for reading"
                raise bad_argument(position, ArgumentProblem.INVALID_OBJECT_BY_MUT_REF, message)
            alone = parameter.reference == "&mut" or (not parameter.reference and not is_copy(slot.type))
            if _among(slot, exclusive) or (alone and _among(slot, shared)):
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
            value.id = value.id or self.fresh_id()
        elif isinstance(value, Balance) and kind != MoveType(BALANCE, (parse_type(value.coin_type),)):
            raise TypeError(f"{name} returned {value!r} as {kind}")

    # The end of a run

    def _refuse_unused(self) -> None:
        for index, slots in enumerate(self.outcome.results):
            for sub, slot in enumerate(slots):
                if not slot.taken and not _droppable(slot.value):
                    failure = ExecutionFailure(
                        FailureKind.UNUSED_VALUE_WITHOUT_DROP,
                        f"nothing uses the {slot.type} that command {index} returned",
                        result=(index, sub),
                    )
                    failure.command = index
                    raise failure

    def _living_coins(self) -> dict[str, tuple[Coin, Owner]]:
        living = dict(self._placed)
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
            if item.id in self.outcome.states:
                old = registry.vault_balances(str(item.type), item.decoded_state())
                new = registry.vault_balances(str(item.type), self.state_of(item.id))
                for coin_type, amount in old.items():
                    _add(before, coin_type, amount)
                for coin_type, amount in new.items():
                    _add(after, coin_type, amount)
        if self._gas is not None:
            _add(before, self._gas.coin_type, self._gas_before)
            if not self._gas_slot.taken:
                _add(after, self._gas.coin_type, self._gas.value)
        for coin, _owner in self.outcome.coins.values():
            _add(after, coin.coin_type, coin.value)
        if {k: v for k, v in before.items() if v} != {k: v for k, v in after.items() if v}:
            raise ExecutionFailure(FailureKind.INVARIANT_VIOLATION, "coins were made or lost")


class Frame:
    """What one call of a Move function may do; the `CallContext` of its body."""

    def __init__(self, interpreter: Interpreter, function: MoveFunction) -> None:
        self._interpreter = interpreter
        self._function = function
        self._readable: set[str] = set()
        self._writable: set[str] = set()

    def admit(self, object_id: str, *, writable: bool) -> None:
        """Let the body read, and perhaps write, a shared object."""
        self._readable.add(object_id)
        if writable:
            self._writable.add(object_id)

    @property
    def sender(self) -> str:
        """Address that signed."""
        return self._interpreter.transaction.sender

    @property
    def now_ms(self) -> int:
        """Sandbox time in milliseconds."""
        return self._interpreter.environment.now_ms

    @property
    def epoch(self) -> int:
        """Current epoch."""
        return self._interpreter.environment.epoch

    def fresh_id(self) -> str:
        """Return a new object id."""
        return self._interpreter.fresh_id()

    def state(self, object_id: str) -> State:
        """Return a copy of the contents of a shared object that the call was given."""
        if object_id not in self._readable:
            raise ValueError(f"{object_id} was not passed to {self._function.name}")
        return self._interpreter.state_of(object_id)

    def save_state(self, object_id: str, state: State) -> None:
        """Replace the contents of a shared object that the call was given as ``&mut``."""
        if object_id not in self._writable:
            raise ValueError(f"{object_id} was not passed to {self._function.name} as &mut")
        self._interpreter.save_state(object_id, state)

    def price(self, coin_type: str) -> tuple[int, int] | None:
        """Return the live feed's price (1e-9 USD a coin) and publication time (ms)."""
        return self._interpreter.environment.price(coin_type)

    def emit(self, event: MoveStruct) -> None:
        """Emit an event."""
        self._interpreter.outcome.events.append(
            EmittedEvent(
                self._function.package,
                self._function.module,
                parse_type(event.type),
                encode_struct(event),
                value_json(event),
            )
        )

    def pay(self, coin_type: str, amount: int, to_address: str) -> None:
        """Transfer a new coin to an address."""
        self._interpreter.place(Coin(coin_type, amount), to_address)

    def transfer(self, item: Coin | OwnedObject, to_address: str) -> None:
        """Transfer an object that the call took by value."""
        if not isinstance(item, Coin):
            raise TypeError(f"{item.type} has no public transfer")
        self._interpreter.place(item, to_address)


def _recorded(slot: Slot) -> ReturnedValue:
    value = deepcopy(slot.value)
    return ReturnedValue(slot.type, value, encode_value(slot.type, value), value_json(value))


def _decode(wanted: MoveType, raw: bytes, position: int) -> Value:
    if not is_pure(wanted):
        problem = ArgumentProblem.INVALID_USAGE_OF_PURE_ARGUMENT
        raise bad_argument(position, problem, f"{wanted} can not be given as bytes")
    try:
        return decode_pure(wanted, raw)
    except BadEncoding as error:
        raise bad_argument(position, ArgumentProblem.INVALID_BCS_BYTES, str(error)) from error


def _among(slot: Slot, others: Sequence[Slot]) -> bool:
    return any(slot is other for other in others)


def _droppable(value: Value) -> bool:
    match value:
        case Coin() | Balance() | OwnedObject() | SharedObject():
            return False
        case MoveStruct():
            return value.drop
        case list():
            return all(_droppable(item) for item in value)
    return True


def _add(totals: dict[str, int], coin_type: str, amount: int) -> None:
    totals[coin_type] = totals.get(coin_type, 0) + amount
