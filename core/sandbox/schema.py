"""Tables of the sandbox's database."""

from __future__ import annotations

# Numbers that may reach 2^64 are text: SQLite's integers are signed.
SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS objects (
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    type TEXT NOT NULL,
    owner_kind TEXT NOT NULL,
    owner TEXT NOT NULL,
    initial_version INTEGER NOT NULL,
    contents BLOB NOT NULL,
    state TEXT,
    previous_transaction TEXT NOT NULL,
    PRIMARY KEY (id, version)
) WITHOUT ROWID;

-- version of the latest write or deletion of each id that ever existed
CREATE TABLE IF NOT EXISTS latest (
    id TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    live INTEGER NOT NULL,
    owner TEXT NOT NULL,
    type TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS latest_owner ON latest (owner, type, id) WHERE live = 1;

CREATE TABLE IF NOT EXISTS checkpoints (
    sequence INTEGER PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    timestamp_ms INTEGER NOT NULL
);

CREATE TABLE IF NOT EXISTS transactions (
    digest TEXT PRIMARY KEY,
    checkpoint INTEGER NOT NULL UNIQUE REFERENCES checkpoints (sequence),
    sender TEXT NOT NULL,
    executed BLOB NOT NULL
);

CREATE TABLE IF NOT EXISTS affected (
    address TEXT NOT NULL,
    checkpoint INTEGER NOT NULL,
    PRIMARY KEY (address, checkpoint)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS prices (coin_type TEXT PRIMARY KEY, nano_usd TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS faults (kind TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
"""

TABLES = ("meta", "objects", "latest", "affected", "transactions", "checkpoints", "prices", "faults")
SCHEMA_VERSION = "1"
