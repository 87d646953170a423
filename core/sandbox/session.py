"""What the functions of one transaction share, and what each of their calls may touch."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tidegate.core.sandbox.encoding import derived_id
from tidegate.core.sandbox.modules.base import Coin, MoveFunction, MoveStruct, OwnedObject, State
from tidegate.core.sandbox.movetypes import MoveType, encode_struct, parse_type, value_json
from tidegate.core.sandbox.objects import Owner, StoredObject, owned_by, state_text


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


class Session:
    """Ids, contents, events and transfers of one run.

    Args:
        sender: Address that signed.
        digest: The transaction's, from which new ids derive.
        objects: The input objects by id.
        environment: Time, epoch and prices.
    """

    def __init__(
        self, sender: str, digest: str, objects: Mapping[str, StoredObject], environment: Environment
    ) -> None:
        self.sender = sender
        self.environment = environment
        self.states: dict[str, str] = {}
        self.events: list[EmittedEvent] = []
        self.placed: dict[str, tuple[Coin, Owner]] = {}
        self._digest = digest
        self._objects = objects
        self._ids = 0

    def fresh_id(self) -> str:
        """Return the next object id of this transaction."""
        self._ids += 1
        return derived_id(self._digest, self._ids - 1)

    def state_of(self, object_id: str) -> State:
        """Return the current contents of a module-owned input, as a private copy."""
        saved = self.states.get(object_id)
        if saved is None:
            return self._objects[object_id].decoded_state()
        state: State = json.loads(saved)
        return state

    def save_state(self, object_id: str, state: State) -> None:
        """Replace the contents of a module-owned input."""
        self.states[object_id] = state_text(state)

    def place(self, coin: Coin, owner: str) -> None:
        """Give a coin to an address."""
        if coin.id is None:
            coin.id = self.fresh_id()
        self.placed[coin.id] = (coin, owned_by(owner))


class Frame:
    """What one call of a Move function may do; the `CallContext` of its body."""

    def __init__(self, session: Session, function: MoveFunction) -> None:
        self._session = session
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
        return self._session.sender

    @property
    def now_ms(self) -> int:
        """Sandbox time in milliseconds."""
        return self._session.environment.now_ms

    @property
    def epoch(self) -> int:
        """Current epoch."""
        return self._session.environment.epoch

    def fresh_id(self) -> str:
        """Return a new object id."""
        return self._session.fresh_id()

    def state(self, object_id: str) -> State:
        """Return a copy of the contents of a shared object that the call was given."""
        if object_id not in self._readable:
            raise ValueError(f"{object_id} was not passed to {self._function.name}")
        return self._session.state_of(object_id)

    def save_state(self, object_id: str, state: State) -> None:
        """Replace the contents of a shared object that the call was given as ``&mut``."""
        if object_id not in self._writable:
            raise ValueError(f"{object_id} was not passed to {self._function.name} as &mut")
        self._session.save_state(object_id, state)

    def price(self, coin_type: str) -> tuple[int, int] | None:
        """Return the live feed's price (1e-9 USD a coin) and publication time (ms)."""
        return self._session.environment.price(coin_type)

    def emit(self, event: MoveStruct) -> None:
        """Emit an event."""
        self._session.events.append(
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
        self._session.place(Coin(coin_type, amount), to_address)

    def transfer(self, item: Coin | OwnedObject, to_address: str) -> None:
        """Transfer an object that the call took by value."""
        if not isinstance(item, Coin):
            raise TypeError(f"{item.type} has no public transfer")
        self._session.place(item, to_address)
