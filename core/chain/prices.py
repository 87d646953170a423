"""Prices in USD, read from the price oracle that the lending market itself goes by."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from threading import Lock

from tidegate.core.chain import navi_oracle
from tidegate.core.chain.deployments import Navi, NaviPool
from tidegate.core.chain.move_values import read_bool, read_uint
from tidegate.core.chain.types import Network, PricePoint, Ptb
from tidegate.core.clock import Clock
from tidegate.core.errors import NetworkError, SimulationFailed

SOURCE = "navi-oracle"

CACHE_MS = 15_000
"""A price younger than this is not asked for again."""


class OnChainPrices:
    """The prices of one network; may be shared between threads.

    Args:
        network: Where the oracle is. A network without one has no prices.
        clock: Dates what was read.
    """

    def __init__(self, network: Network, clock: Clock) -> None:
        self._network = network
        self._clock = clock
        self._known: dict[str, PricePoint] = {}
        self._read_at: dict[str, int] = {}
        self._lock = Lock()

    def read(self, coin_types: Sequence[str]) -> dict[str, PricePoint]:
        """Return the prices of the coin types that have a valid one.

        Args:
            coin_types: Normalised.

        Raises:
            NetworkError: the oracle could not be asked.
        """
        navi = self._network.deployment.navi
        if navi is None:
            return {}
        wanted = set(coin_types)
        pools = [pool for pool in navi.pools if pool.coin_type in wanted]
        with self._lock:
            now = self._clock.now_ms()
            due = [pool for pool in pools if not self._is_fresh(pool.coin_type, now)]
            if due:
                self._ask(navi, due, now)
            return {
                pool.coin_type: self._known[pool.coin_type] for pool in pools if pool.coin_type in self._known
            }

    def _is_fresh(self, coin_type: str, now_ms: int) -> bool:
        read_at = self._read_at.get(coin_type)
        # A clock that was set back makes nothing fresh.
        return read_at is not None and 0 <= now_ms - read_at < CACHE_MS

    def _ask(self, navi: Navi, pools: Sequence[NaviPool], now_ms: int) -> None:
        def build(ptb: Ptb) -> None:
            navi_oracle.refresh(ptb, navi, pools)
            for pool in pools:
                navi_oracle.token_price(ptb, navi, pool)

        try:
            results = self._network.inspect(build)
        except SimulationFailed as error:
            raise NetworkError(f"The price oracle could not be read: {error.message}") from error
        for pool, result in zip(pools, results[len(pools) :], strict=True):
            self._read_at[pool.coin_type] = now_ms
            valid, price, decimals = read_bool(result[0]), read_uint(result[1]), read_uint(result[2])
            if valid and price:
                usd = Decimal(price).scaleb(-decimals)
                self._known[pool.coin_type] = PricePoint(pool.coin_type, usd, now_ms, SOURCE)
            else:
                self._known.pop(pool.coin_type, None)
