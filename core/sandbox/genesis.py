"""What exists before the first transaction: coin metadata, the clock, the protocols' objects, prices."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from tidegate.core.sandbox.encoding import address_text, base58, blake2b
from tidegate.core.sandbox.modules import registry
from tidegate.core.sandbox.modules.protocol_genesis import PRICES
from tidegate.core.sandbox.movetypes import parse_type
from tidegate.core.sandbox.objects import (
    IMMUTABLE,
    CoinDescription,
    StoredObject,
    clock_object,
    coin_metadata_contents,
    shared_since,
    state_contents,
    state_text,
)
from tidegate.core.tokens import KNOWN_TOKENS, Token

_SEED = b"tidegate sandbox network, genesis 1"

SANDBOX_CHAIN_ID = base58(blake2b(_SEED))
"""Digest of the sandbox's genesis checkpoint: fixed, and no other network's."""

GENESIS_TRANSACTION = base58(blake2b(_SEED + b", transaction"))

REFERENCE_GAS_PRICE = 1_000
"""MIST a computation unit."""

EPOCH_MS = 24 * 60 * 60 * 1000
GENESIS_VERSION = 1

PRICE_SCALE = Decimal(10**9)
"""Prices are kept in 1e-9 USD for one whole coin."""

COINS: tuple[Token, ...] = KNOWN_TOKENS
"""Coin types that have metadata, and so a faucet."""


@dataclass(frozen=True, slots=True)
class Genesis:
    """The first checkpoint's contents."""

    objects: tuple[StoredObject, ...]
    prices: dict[str, int]
    """1e-9 USD for one whole coin of each type."""


def build_genesis(genesis_ms: int) -> Genesis:
    """Return the state at genesis; equal times give equal objects.

    Args:
        genesis_ms: Time of the first checkpoint in milliseconds since 1970.
    """
    objects = [clock_object(GENESIS_VERSION, genesis_ms, GENESIS_TRANSACTION)]
    objects += [_metadata(token) for token in COINS]
    for seed in registry.seeds(genesis_ms):
        encoded = state_text(seed.state)
        objects.append(
            StoredObject(
                seed.id,
                GENESIS_VERSION,
                parse_type(seed.type),
                shared_since(GENESIS_VERSION),
                state_contents(seed.id, encoded),
                GENESIS_TRANSACTION,
                encoded,
            )
        )
    return Genesis(tuple(objects), dict(PRICES))


def coin_metadata_id(coin_type: str) -> str:
    """Return the id of the CoinMetadata object of a coin type."""
    return address_text(blake2b(_SEED + b", metadata " + coin_type.encode()))


def _metadata(token: Token) -> StoredObject:
    object_id = coin_metadata_id(token.coin_type)
    description = CoinDescription(
        token.decimals, token.symbol, token.symbol, "A coin of the tidegate sandbox."
    )
    return StoredObject(
        object_id,
        GENESIS_VERSION,
        parse_type(f"0x2::coin::CoinMetadata<{token.coin_type}>"),
        IMMUTABLE,
        coin_metadata_contents(object_id, description),
        GENESIS_TRANSACTION,
    )
