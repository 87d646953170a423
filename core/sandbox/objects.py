"""Objects as the ledger keeps them, with their BCS, digest and storage price."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from tidegate.core.chain.deployments import CLOCK
from tidegate.core.sandbox.encoding import (
    Reader,
    address_bytes,
    blob,
    digest_bytes,
    salted_digest,
    text,
    uint,
    uleb128,
)
from tidegate.core.sandbox.modules.base import State
from tidegate.core.sandbox.movetypes import COIN, MoveType, coin_of, parse_type, struct_tag, type_tag
from tidegate.core.tokens import SUI

OwnerKind = Literal["address", "shared", "immutable"]

GAS_COIN_TYPE = coin_of(SUI.coin_type)
CLOCK_TYPE = parse_type("0x2::clock::Clock")
COIN_METADATA = parse_type("0x2::coin::CoinMetadata<0x2::sui::SUI>").name

# Protocol constants of Sui: 76 MIST a storage unit, 100 units a byte, 80 bytes counted for the metadata of an
# object (shared/spec/pysui.md, section 2).
_STORAGE_PRICE = 76
_UNITS_PER_BYTE = 100
_METADATA_BYTES = 80
_HEADER_BYTES = 9  # has_public_transfer and version


@dataclass(frozen=True, slots=True)
class Owner:
    """Who may use an object."""

    kind: OwnerKind
    address: str = ""
    """Set when `kind` is address."""
    initial_version: int = 0
    """Version at which the object was shared; set when `kind` is shared."""

    def bcs(self) -> bytes:
        """Return the BCS of the owner (AddressOwner 0, Shared 2, Immutable 3)."""
        if self.kind == "address":
            return b"\0" + address_bytes(self.address)
        if self.kind == "shared":
            return b"\2" + uint(self.initial_version, 64)
        return b"\3"


IMMUTABLE = Owner("immutable")


def owned_by(address: str) -> Owner:
    """Return the owner of an object that one address owns."""
    return Owner("address", address=address)


def shared_since(version: int) -> Owner:
    """Return the owner of an object shared at a version."""
    return Owner("shared", initial_version=version)


@dataclass(frozen=True)
class StoredObject:
    """One version of an object."""

    id: str
    version: int
    type: MoveType
    owner: Owner
    contents: bytes
    """BCS of the Move struct, beginning with the 32 bytes of its id."""
    previous_transaction: str
    state: str | None = None
    """Canonical JSON of a module-owned object; `contents` then is the id and this text."""

    @cached_property
    def storage_rebate(self) -> int:
        """MIST that storing the object costs: 76 x 100 x bytes."""
        size = _METADATA_BYTES + _HEADER_BYTES + len(_object_type(self.type)) + len(self.contents)
        return size * _UNITS_PER_BYTE * _STORAGE_PRICE

    @cached_property
    def bcs(self) -> bytes:
        """The BCS of ``Object``."""
        return (
            b"\0"
            + _object_type(self.type)
            + bytes([self.has_public_transfer])
            + uint(self.version, 64)
            + blob(self.contents)
            + self.owner.bcs()
            + digest_bytes(self.previous_transaction)
            + uint(self.storage_rebate, 64)
        )

    @cached_property
    def digest(self) -> str:
        """Base58 digest of this version."""
        return salted_digest("Object", self.bcs)

    @property
    def has_public_transfer(self) -> bool:
        """Whether any module may transfer it: coins and their metadata can be."""
        return self.type.name in (COIN, COIN_METADATA)

    @property
    def coin_type(self) -> str | None:
        """Normalised T of a ``Coin<T>``, None for anything else."""
        return str(self.type.params[0]) if self.type.name == COIN else None

    @property
    def balance(self) -> int | None:
        """Base units in a coin, None for anything else."""
        return int.from_bytes(self.contents[32:40], "little") if self.type.name == COIN else None

    def decoded_state(self) -> State:
        """Return a private copy of a module-owned object's contents."""
        state: State = json.loads(self.state or "{}")
        return state

    def next_version(
        self, version: int, transaction: str, *, owner: Owner | None = None, contents: bytes | None = None
    ) -> StoredObject:
        """Return the object as a transaction leaves it."""
        return replace(
            self,
            version=version,
            previous_transaction=transaction,
            owner=owner or self.owner,
            contents=self.contents if contents is None else contents,
        )

    def with_state(self, encoded: str) -> StoredObject:
        """Return a module-owned object with other contents, given as canonical JSON."""
        return replace(self, state=encoded, contents=state_contents(self.id, encoded))


def _object_type(move_type: MoveType) -> bytes:
    # MoveObjectType writes the two frequent types short: GasCoin is variant 1, Coin<T> is 3 with T alone.
    if move_type == GAS_COIN_TYPE:
        return b"\1"
    if move_type.name == COIN:
        return b"\3" + type_tag(move_type.params[0])
    return b"\0" + struct_tag(move_type)


def coin_contents(object_id: str, value: int) -> bytes:
    """Return the BCS of a coin: its id and a u64."""
    return address_bytes(object_id) + uint(value, 64)


def state_text(state: State) -> str:
    """Return a state as canonical JSON: equal states give equal bytes and so equal digests."""
    return json.dumps(state, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def state_contents(object_id: str, encoded: str) -> bytes:
    """Return the contents of a module-owned object.

    The Move layouts of the emulated protocols are not reproduced: after its id an object carries its JSON as
    a string. Clients read these objects through the protocol's getters.
    """
    return address_bytes(object_id) + text(encoded)


def clock_object(version: int, now_ms: int, transaction: str) -> StoredObject:
    """Return ``0x6`` as the checkpoint at `now_ms` leaves it."""
    contents = address_bytes(CLOCK) + uint(now_ms, 64)
    return StoredObject(CLOCK, version, CLOCK_TYPE, shared_since(1), contents, transaction)


@dataclass(frozen=True, slots=True)
class CoinDescription:
    """What ``0x2::coin::CoinMetadata`` says of a coin."""

    decimals: int
    name: str
    symbol: str
    description: str


def coin_metadata_contents(object_id: str, description: CoinDescription) -> bytes:
    """Return the BCS of CoinMetadata: id, decimals, name, symbol, description, no icon."""
    return (
        address_bytes(object_id)
        + uint(description.decimals, 8)
        + text(description.name)
        + text(description.symbol)
        + text(description.description)
        + uleb128(0)
    )


def read_coin_metadata(contents: bytes) -> CoinDescription:
    """Return what a CoinMetadata object says."""
    reader = Reader(contents[32:])
    decimals = reader.uint(8)
    name, symbol, description = (reader.blob().decode() for _ in range(3))
    return CoinDescription(decimals, name, symbol, description)
