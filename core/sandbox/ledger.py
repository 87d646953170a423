"""The state of the sandbox network, in SQLite.

Several processes may open one file. A write takes the database's lock before it reads anything, so what it
decided on can not change under it; a failed write leaves nothing behind.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from tidegate.core.clock import Clock
from tidegate.core.sandbox.database import Database
from tidegate.core.sandbox.encoding import salted_digest, text, uint
from tidegate.core.sandbox.genesis import (
    EPOCH_MS,
    GENESIS_VERSION,
    SANDBOX_CHAIN_ID,
    build_genesis,
    coin_metadata_id,
)
from tidegate.core.sandbox.movetypes import coin_of, parse_type
from tidegate.core.sandbox.objects import (
    CoinDescription,
    Owner,
    StoredObject,
    clock_object,
    read_coin_metadata,
)
from tidegate.core.sandbox.schema import SCHEMA, SCHEMA_VERSION, TABLES

_OBJECT = (
    "SELECT o.id, o.version, o.type, o.owner_kind, o.owner, o.initial_version, o.contents, o.state,"
    " o.previous_transaction FROM objects o"
)
_LIVE_OBJECT = f"{_OBJECT} JOIN latest l ON o.id = l.id AND o.version = l.version WHERE l.live = 1"


class Fault(Enum):
    """A way in which the network can be made to misbehave, and what its number means."""

    DROP_RESPONSE = "drop-response"
    """Executions whose answer is never sent (count)."""
    UNAVAILABLE = "unavailable"
    """Executions refused before anything happens (count)."""
    DELAY = "delay"
    """How much later every execution is answered (ms)."""
    LAG = "lag"
    """How old prices and checkpoints look (ms)."""
    ABORT = "abort"
    """Executions that fail with a Move abort (count)."""


@dataclass(frozen=True, slots=True)
class CheckpointRow:
    """One checkpoint; it holds exactly one transaction."""

    sequence: int
    digest: str
    timestamp_ms: int


@dataclass(frozen=True, slots=True)
class TransactionRow:
    """An executed transaction: its checkpoint and the serialized ``ExecutedTransaction``."""

    checkpoint: int
    executed: bytes


class Ledger:
    """Objects, transactions, checkpoints, time, prices and faults of one sandbox network.

    Use `open`. Methods may be called from any thread.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._db = database
        self._clock = clock

    @classmethod
    def open(cls, path: Path | None, clock: Clock) -> Ledger:
        """Open a ledger; a fresh one begins with genesis.

        Args:
            path: Database file, made if it does not exist; None keeps everything in memory.
            clock: Where sandbox time comes from (an offset is added by `advance`).

        Raises:
            sqlite3.Error: the file is no database, or one of another version of the sandbox.
        """
        ledger = cls(Database(path), clock)
        try:
            ledger._prepare()
        except BaseException:
            ledger.close()
            raise
        return ledger

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    def reset(self) -> None:
        """Forget everything and begin again with genesis, for every process that has the file open."""
        with self.write():
            for table in TABLES:
                self._db.run(f"DELETE FROM {table}")
            self._begin_if_fresh()

    def write(self) -> AbstractContextManager[None]:
        """Hold the write lock of the database; commit at the end, or undo everything on an exception."""
        return self._db.write()

    def read(self) -> AbstractContextManager[None]:
        """See one unchanging state of the database."""
        return self._db.read()

    # Time

    @property
    def now_ms(self) -> int:
        """Sandbox time in milliseconds since 1970; it never goes back, even when the machine's clock does."""
        wall_ms = self._clock.now_ms() + self._db.number("clock_offset_ms")
        latest = self.checkpoint()
        return wall_ms if latest is None else max(wall_ms, latest.timestamp_ms)

    @property
    def genesis_ms(self) -> int:
        """Time of genesis."""
        return self._db.number("genesis_ms")

    @property
    def epoch(self) -> int:
        """Current epoch: whole days since genesis."""
        return max(0, (self.now_ms - self.genesis_ms) // EPOCH_MS)

    def advance(self, ms: int) -> None:
        """Move sandbox time forward.

        Args:
            ms: Milliseconds, zero or more: time on a chain never goes back.

        Raises:
            ValueError: `ms` is negative.
        """
        if ms < 0:
            raise ValueError("the sandbox clock only moves forward")
        with self.write():
            self._db.set_meta("clock_offset_ms", self._db.number("clock_offset_ms") + ms)

    # Objects

    def get_object(self, object_id: str, version: int | None = None) -> StoredObject | None:
        """Return a live object, or a past version of one; None when there is no such."""
        if version is None:
            found = self._db.one(f"{_LIVE_OBJECT} AND l.id = ?", (object_id,))
        else:
            found = self._db.one(f"{_OBJECT} WHERE o.id = ? AND o.version = ?", (object_id, version))
        return None if found is None else _stored(found)

    def deleted_version(self, object_id: str) -> int | None:
        """Return the version at which an object was deleted, or None when it lives or never existed."""
        found = self._db.one("SELECT version FROM latest WHERE id = ? AND live = 0", (object_id,))
        return None if found is None else int(str(found[0]))

    def owned(
        self, owner: str, type_name: str | None = None, *, after: str = "", limit: int | None = None
    ) -> list[StoredObject]:
        """Return live objects of an address in the order of their ids.

        Args:
            owner: Address.
            type_name: Full type, or the name of a generic type for all its instances.
            after: Id that the page begins after.
            limit: Most objects to return; None for all.
        """
        sql = f"{_LIVE_OBJECT} AND l.owner = ? AND l.id > ?"
        values: list[object] = [owner, after]
        if type_name is not None:
            sql += " AND (l.type = ? OR substr(l.type, 1, ?) = ?)"
            values += [type_name, len(type_name) + 1, type_name + "<"]
        sql += " ORDER BY l.id LIMIT ?"
        values.append(-1 if limit is None else limit)
        return [_stored(row) for row in self._db.all(sql, values)]

    def coins(self, owner: str, coin_type: str) -> list[StoredObject]:
        """Return an address's coins of one type, the largest first."""
        found = self.owned(owner, str(coin_of(coin_type)))
        return sorted(found, key=lambda coin: (-(coin.balance or 0), coin.id))

    def balances(self, owner: str) -> dict[str, int]:
        """Return base units by coin type over all coins of an address."""
        totals: dict[str, int] = {}
        for item in self.owned(owner, coin_of("0x2::sui::SUI").name):
            if item.coin_type is not None and item.balance is not None:
                totals[item.coin_type] = totals.get(item.coin_type, 0) + item.balance
        return totals

    def live_objects(self) -> list[StoredObject]:
        """Return every live object."""
        return [_stored(row) for row in self._db.all(f"{_LIVE_OBJECT} ORDER BY l.id", ())]

    def coin_description(self, coin_type: str) -> tuple[str, CoinDescription] | None:
        """Return the id and contents of a coin type's metadata, or None for an unknown coin."""
        found = self.get_object(coin_metadata_id(coin_type))
        return None if found is None else (found.id, read_coin_metadata(found.contents))

    # Transactions and checkpoints

    def transaction(self, digest: str) -> TransactionRow | None:
        """Return an executed transaction, or None."""
        found = self._db.one("SELECT checkpoint, executed FROM transactions WHERE digest = ?", (digest,))
        return None if found is None else _transaction_row(found)

    def transaction_at(self, checkpoint: int) -> TransactionRow | None:
        """Return the transaction of a checkpoint, or None."""
        found = self._db.one(
            "SELECT checkpoint, executed FROM transactions WHERE checkpoint = ?", (checkpoint,)
        )
        return None if found is None else _transaction_row(found)

    def transactions(
        self,
        *,
        after: int,
        before: int,
        descending: bool,
        limit: int,
        sender: str | None = None,
        affected: str | None = None,
    ) -> list[TransactionRow]:
        """Return transactions of the checkpoints strictly between two, in order.

        Args:
            after: Checkpoint below the first one (-1 for all).
            before: Checkpoint above the last one.
            descending: Newest first.
            limit: Most rows to return.
            sender: Only those an address sent.
            affected: Only those that changed what an address owns.
        """
        sql = "SELECT t.checkpoint, t.executed FROM transactions t"
        values: list[object] = []
        if affected is not None:
            sql += " JOIN affected a ON a.checkpoint = t.checkpoint AND a.address = ?"
            values.append(affected)
        sql += " WHERE t.checkpoint > ? AND t.checkpoint < ?"
        values += [after, before]
        if sender is not None:
            sql += " AND t.sender = ?"
            values.append(sender)
        sql += f" ORDER BY t.checkpoint {'DESC' if descending else 'ASC'} LIMIT ?"
        values.append(limit)
        return [_transaction_row(row) for row in self._db.all(sql, values)]

    def checkpoint(self, sequence: int | None = None, digest: str | None = None) -> CheckpointRow | None:
        """Return a checkpoint by number or digest, by default the latest."""
        sql = "SELECT sequence, digest, timestamp_ms FROM checkpoints"
        if sequence is not None:
            found = self._db.one(sql + " WHERE sequence = ?", (sequence,))
        elif digest is not None:
            found = self._db.one(sql + " WHERE digest = ?", (digest,))
        else:
            found = self._db.one(sql + " ORDER BY sequence DESC LIMIT 1", ())
        return None if found is None else CheckpointRow(int(str(found[0])), str(found[1]), int(str(found[2])))

    def next_checkpoint(self, transaction: str) -> CheckpointRow:
        """Return the checkpoint that would hold a transaction now."""
        latest = self.checkpoint()
        if latest is None:
            return CheckpointRow(0, SANDBOX_CHAIN_ID, self.now_ms)
        timestamp, sequence = self.now_ms, latest.sequence + 1
        summary = uint(sequence, 64) + uint(timestamp, 64) + text(latest.digest) + text(transaction)
        return CheckpointRow(sequence, salted_digest("CheckpointSummary", summary), timestamp)

    def commit(
        self,
        checkpoint: CheckpointRow,
        digest: str,
        sender: str,
        executed: bytes,
        written: Iterable[StoredObject],
        deleted: Iterable[tuple[str, int]],
        affected: Iterable[str],
    ) -> None:
        """Record a transaction and what it changed, as one checkpoint. Call it inside `write`.

        Args:
            checkpoint: From `next_checkpoint`, in the same `write`.
            digest: The transaction's.
            sender: Its sender.
            executed: Serialized ``ExecutedTransaction``.
            written: New versions of objects.
            deleted: Ids with the versions at which they ended.
            affected: Addresses whose objects changed.
        """
        self._db.run(
            "INSERT INTO checkpoints VALUES (?, ?, ?)",
            (checkpoint.sequence, checkpoint.digest, checkpoint.timestamp_ms),
        )
        self._db.run(
            "INSERT INTO transactions VALUES (?, ?, ?, ?)", (digest, checkpoint.sequence, sender, executed)
        )
        for item in written:
            self._put(item)
        for object_id, version in deleted:
            self._db.run("UPDATE latest SET version = ?, live = 0 WHERE id = ?", (version, object_id))
        self._put(clock_object(checkpoint.sequence + GENESIS_VERSION, checkpoint.timestamp_ms, digest))
        self._db.run_many(
            "INSERT OR IGNORE INTO affected VALUES (?, ?)",
            [(address, checkpoint.sequence) for address in affected],
        )

    # Prices and faults

    def price(self, coin_type: str) -> int | None:
        """Return a price in 1e-9 USD for one whole coin, or None."""
        found = self._db.one("SELECT nano_usd FROM prices WHERE coin_type = ?", (coin_type,))
        return None if found is None else int(str(found[0]))

    def set_price(self, coin_type: str, nano_usd: int) -> None:
        """Set a price in 1e-9 USD for one whole coin."""
        with self.write():
            self._db.run("INSERT OR REPLACE INTO prices VALUES (?, ?)", (coin_type, str(nano_usd)))

    def fault(self, kind: Fault) -> int:
        """Return a fault's number, zero when it is off."""
        found = self._db.one("SELECT value FROM faults WHERE kind = ?", (kind.value,))
        return 0 if found is None else int(str(found[0]))

    def set_fault(self, kind: Fault, value: int) -> None:
        """Set a fault's number; zero turns it off."""
        with self.write():
            self._db.run("INSERT OR REPLACE INTO faults VALUES (?, ?)", (kind.value, value))

    def take_fault(self, kind: Fault) -> bool:
        """Use up one of a counted fault's occurrences; False when none is left."""
        if not self.fault(kind):
            return False
        with self.write():
            used = "UPDATE faults SET value = value - 1 WHERE kind = ? AND value > 0"
            return self._db.run(used, (kind.value,)) == 1

    def add_supply(self, coin_type: str, amount: int, *, limit: int) -> None:
        """Count minted base units of a coin. Call it inside `write`.

        Raises:
            ValueError: more than `limit` would have been minted.
        """
        total = self._db.number(f"minted {coin_type}") + amount
        if total > limit:
            raise ValueError(f"the faucet has minted all it can of {coin_type}")
        self._db.set_meta(f"minted {coin_type}", total)

    def minted(self, coin_type: str) -> int:
        """Return how many base units of a coin the faucet has minted."""
        return self._db.number(f"minted {coin_type}")

    def count(self, name: str) -> int:
        """Return 0, 1, 2 … on successive calls, across processes. Call it inside `write`."""
        value = self._db.number(name)
        self._db.set_meta(name, value + 1)
        return value

    def is_noted(self, name: str) -> bool:
        """Say whether `note` was called with this name since genesis."""
        return self._db.meta(name) is not None

    def note(self, name: str) -> bool:
        """Note a name; False when it was noted before. Call it inside `write`."""
        if self.is_noted(name):
            return False
        self._db.set_meta(name, self.now_ms)
        return True

    # Inside

    def _prepare(self) -> None:
        version = self._db.meta("schema") if self._db.has_table("meta") else None
        if version is None:
            with self.write():
                self._begin_if_fresh()
        elif version != SCHEMA_VERSION:
            raise sqlite3.DatabaseError("the sandbox file is of another version of tidegate: delete it")

    def _begin_if_fresh(self) -> None:
        for statement in SCHEMA.split(";"):
            self._db.run(statement)
        if self._db.meta("schema") is not None:
            return
        self._db.set_meta("schema", SCHEMA_VERSION)
        self._db.set_meta("genesis_ms", self._clock.now_ms())
        genesis = build_genesis(self.genesis_ms)
        self._db.run("INSERT INTO checkpoints VALUES (0, ?, ?)", (SANDBOX_CHAIN_ID, self.genesis_ms))
        for item in genesis.objects:
            self._put(item)
        for coin_type, nano_usd in genesis.prices.items():
            self.set_price(coin_type, nano_usd)

    def _put(self, item: StoredObject) -> None:
        owner = item.owner
        self._db.run(
            "INSERT INTO objects VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                item.id,
                item.version,
                str(item.type),
                owner.kind,
                owner.address,
                owner.initial_version,
                item.contents,
                item.state,
                item.previous_transaction,
            ),
        )
        self._db.run(
            "INSERT OR REPLACE INTO latest VALUES (?, ?, 1, ?, ?)",
            (item.id, item.version, owner.address, str(item.type)),
        )


def _stored(row: tuple[object, ...]) -> StoredObject:
    object_id, version, type_name, kind, owner, initial_version, contents, state, previous = row
    if kind not in ("address", "shared", "immutable") or not isinstance(contents, bytes):
        raise sqlite3.DatabaseError(f"object {object_id} is stored in an unknown form")
    return StoredObject(
        str(object_id),
        int(str(version)),
        parse_type(str(type_name)),
        Owner(kind, str(owner), int(str(initial_version))),
        contents,
        str(previous),
        None if state is None else str(state),
    )


def _transaction_row(row: tuple[object, ...]) -> TransactionRow:
    checkpoint, executed = row
    if not isinstance(executed, bytes):
        raise sqlite3.DatabaseError(f"checkpoint {checkpoint} is stored in an unknown form")
    return TransactionRow(int(str(checkpoint)), executed)
