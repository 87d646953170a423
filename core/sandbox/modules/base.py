"""The seam between the transaction interpreter and the Move modules that the sandbox emulates.

A module is data: functions with Move signatures and a Python body, the shared objects it has at genesis, and
a function that counts the coins locked in those objects. The interpreter checks every argument against the
signature before it calls the body, so a body receives good values and holds only the protocol's own rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias


class MoveAbort(Exception):
    """A Move function ended the transaction with a code of its own.

    Args:
        module: Full name of the module, ``0x…::name``.
        function: Name of the function that aborted.
        code: The module's abort code (u64).
    """

    def __init__(self, module: str, function: str, code: int) -> None:
        super().__init__(f"MoveAbort({code}) in {module}::{function}")
        self.module = module
        self.function = function
        self.code = code


@dataclass(slots=True)
class Coin:
    """A ``0x2::coin::Coin<T>``. A body may change `value` only of a coin it received as ``&mut``."""

    coin_type: str
    """Normalised type of T."""
    value: int
    """Base units, u64."""
    id: str | None = None
    """Object id. A body that makes a coin leaves None: the interpreter gives it an id."""


@dataclass(slots=True)
class Balance:
    """A ``0x2::balance::Balance<T>``: coins without an object id. It can not be dropped or copied."""

    coin_type: str
    value: int


@dataclass(frozen=True, slots=True)
class SharedObject:
    """A shared object passed to a function: ``ctx.state`` reads it, ``ctx.save_state`` writes it."""

    id: str
    type: str


@dataclass(frozen=True, slots=True)
class OwnedObject:
    """An object with ``key`` that is no coin, passed by value or reference."""

    id: str
    type: str


@dataclass(slots=True)
class MoveStruct:
    """A struct that is no object: a getter's answer, an event, or a hot potato such as a swap context.

    `layout` names the fields in declaration order with their Move types, as BCS writes them. `fields` may be
    changed by a body that received the struct as ``&mut`` (a hot potato that collects balances).
    """

    type: str
    layout: tuple[tuple[str, str], ...]
    fields: dict[str, Value]
    drop: bool = False
    """False: a transaction that does not consume the struct fails, as it does in Move."""


Value: TypeAlias = (
    int | bool | str | bytes | list["Value"] | Coin | Balance | SharedObject | OwnedObject | MoveStruct | None
)
"""What passes between functions.

Pure arguments arrive decoded by their declared type: u8..u256 as int, bool, address and ID as ``0x`` and
64 hex digits, ``0x1::string::String`` as str, ``vector<u8>`` as bytes, any other vector as list, Option as
None or the value.
"""

State: TypeAlias = dict[str, object]
"""Contents of a shared object: dicts with str keys, lists, str, bool, None and int of any size (exact)."""


class CallContext(Protocol):
    """What a function body may ask of the ledger while it runs."""

    @property
    def sender(self) -> str:
        """Address that signed, ``0x`` + 64 hex digits."""
        ...

    @property
    def now_ms(self) -> int:
        """Sandbox time in milliseconds since 1970: what ``0x6`` would say."""
        ...

    @property
    def epoch(self) -> int:
        """Current epoch."""
        ...

    def fresh_id(self) -> str:
        """Return a new object id, derived from the transaction digest."""
        ...

    def state(self, object_id: str) -> State:
        """Return a private copy of a shared object's contents; only objects named by the call's arguments."""
        ...

    def save_state(self, object_id: str, state: State) -> None:
        """Replace a shared object's contents and mark it mutated.

        Raises:
            ValueError: the object was not passed to this call as ``&mut``: an error of the module.
        """
        ...

    def price(self, coin_type: str) -> tuple[int, int] | None:
        """Return the live feed's price in 1e-9 USD per whole coin and when it was published (ms), or None.

        The ``lag`` fault makes the publication time old.
        """
        ...

    def emit(self, event: MoveStruct) -> None:
        """Emit an event, attributed to the running function's module."""
        ...

    def pay(self, coin_type: str, amount: int, to_address: str) -> None:
        """Make a coin of that value, which the body took from its state, and transfer it to an address."""
        ...


Body: TypeAlias = Callable[[CallContext, Sequence[str], Sequence[Value]], Sequence[Value]]
"""``run(ctx, type_args, args) -> returned values``, in the order of `MoveFunction.returns`."""


@dataclass(frozen=True, slots=True)
class MoveFunction:
    """One callable function.

    Types are written as Move writes them: ``u64``, ``address``, ``vector<u8>``, ``&0x2::clock::Clock``,
    ``&mut 0x…::pool::Pool<T0>``, ``0x2::coin::Coin<T0>``; T0, T1 … stand for the type arguments. A trailing
    ``&mut TxContext`` is left out, since transactions do not pass it.
    """

    package: str
    module: str
    name: str
    parameters: tuple[str, ...]
    returns: tuple[str, ...]
    run: Body
    type_parameters: int = 0
    """How many type arguments the function takes."""
    computation_units: int = 1_000
    """Gas bucket the call falls into: 1000, 5000, 10000, 20000, 50000 …; a transaction pays the sum."""
    entry: bool = False
    """Declared ``entry`` too (shown by GetFunction)."""


@dataclass(frozen=True, slots=True)
class ObjectSeed:
    """A shared object that exists from genesis."""

    id: str
    type: str
    """Full type with its type arguments."""
    state: State = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MoveModules:
    """One protocol as the sandbox knows it; each protocol file exposes one of these as ``MODULES``."""

    name: str
    functions: tuple[MoveFunction, ...]
    seeds: Callable[[int], Sequence[ObjectSeed]] = lambda _genesis_ms: ()
    """Shared objects at genesis, given the genesis time in milliseconds; equal input gives equal output."""
    vault_balances: Callable[[str, Mapping[str, object]], Mapping[str, int]] = lambda _type, _state: {}
    """Base units of each coin type that an object (type, state) of this protocol holds; for conservation."""
