"""Which coin type a word means on one network, and what the chain says of its decimals."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from threading import Lock

from tidegate.core.chain.types import Network
from tidegate.core.errors import NetworkError, UnknownToken
from tidegate.core.tokens import (
    KNOWN_TOKENS,
    Token,
    normalize_coin_type,
    short_coin_type,
    token_by_symbol,
    token_by_type,
)

_PLAIN_SYMBOL = re.compile(r"[A-Za-z0-9$][A-Za-z0-9$._+-]{0,19}")


class TokenBook:
    """Tokens of one network, each looked up on chain once and remembered."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._seen: dict[str, Token | None] = {}
        self._lock = Lock()

    def resolve(self, word: str) -> Token:
        """Return the token a person means by a symbol or a full coin type.

        A symbol is looked up in the table of known tokens only: no coin on chain can name itself USDC and be
        found by that name.

        Raises:
            UnknownToken: no such symbol, or the network has no coin of that type.
            NetworkError: the chain gives a known token other decimals than the table has.
        """
        text = word.strip()
        if "::" in text:
            try:
                coin_type = normalize_coin_type(text)
            except ValueError:
                raise UnknownToken(
                    f"{_short(text)!r} is not a coin type.", hint="A coin type looks like 0x2::sui::SUI."
                ) from None
        else:
            known = token_by_symbol(text)
            if known is None:
                raise UnknownToken(f"No token is called {_short(text)!r}.", hint=_suggest(text))
            coin_type = known.coin_type
        token = self.by_type(coin_type)
        if token is None:
            name = text if "::" not in text else short_coin_type(coin_type)
            raise UnknownToken(
                f"{_short(name)} does not exist on {self._network.name}.",
                hint="Choose a token that this network has, or another --network.",
            )
        return token

    def by_type(self, coin_type: str) -> Token | None:
        """Return the token of a coin type as this network has it, or None if it has no such coin.

        Raises:
            NetworkError: the chain's decimals differ from the table's, so amounts would be wrong.
        """
        with self._lock:
            if coin_type in self._seen:
                return self._seen[coin_type]
        token = self._look_up(coin_type)
        with self._lock:
            self._seen[coin_type] = token
        return token

    def present(self, coin_types: Sequence[str]) -> dict[str, Token]:
        """Return those of the coin types that the network has."""
        found = ((coin_type, self.by_type(coin_type)) for coin_type in coin_types)
        return {coin_type: token for coin_type, token in found if token is not None}

    def _look_up(self, coin_type: str) -> Token | None:
        metadata = self._network.coin_metadata(coin_type)
        if metadata is None:
            return None
        known = token_by_type(coin_type)
        if known is None:
            return Token(_strangers_symbol(metadata.symbol, coin_type), coin_type, metadata.decimals)
        if known.decimals != metadata.decimals:
            raise NetworkError(
                f"The network says {known.symbol} has {metadata.decimals} decimals, "
                f"and this program's table says {known.decimals}.",
                hint="Nothing is computed with decimals in doubt. Please report it.",
                retryable=False,
            )
        return known


def _strangers_symbol(symbol: str, coin_type: str) -> str:
    """Return what a coin calls itself, or its type where that could pass for another coin or be a text.

    Whoever sends dust chooses its symbol, and people and models read it.
    """
    plain = _PLAIN_SYMBOL.fullmatch(symbol) is not None
    return symbol if plain and token_by_symbol(symbol) is None else short_coin_type(coin_type)


def _suggest(word: str) -> str:
    names = [token.symbol for token in KNOWN_TOKENS]
    by_fold = {name.casefold(): name for name in names}
    close = difflib.get_close_matches(word.casefold()[:40], list(by_fold), n=1, cutoff=0.5)
    nearest = f"Did you mean {by_fold[close[0]]}? " if close else ""
    return f"{nearest}Known: {', '.join(names)}; any other by its full coin type."


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:80] + "…"
