"""NAVI's price oracle: the calls that bring its table up to date, and the one that reads it.

Source: shared/spec/chain.md; naviprotocol/navi-smart-contracts, oracle (oracle_pro, oracle).
"""

from __future__ import annotations

from collections.abc import Iterable

from tidegate.core.chain.deployments import CLOCK, Navi, NaviPool
from tidegate.core.chain.types import Ptb


def refresh(ptb: Ptb, navi: Navi, pools: Iterable[NaviPool]) -> None:
    """Take over the present price of each pool's asset, which lending asks for within seconds.

    Args:
        ptb: Gets one call a pool.
        navi: The deployment.
        pools: Whose assets.
    """
    for pool in pools:
        ptb.call(
            f"{navi.oracle_package}::oracle_pro::update_single_price_v2",
            (
                ptb.shared(CLOCK, mutable=False),
                ptb.shared(navi.oracle_config, mutable=True),
                ptb.shared(navi.price_oracle, mutable=True),
                ptb.shared(navi.supra_oracle_holder, mutable=False),
                ptb.shared(pool.pyth_price_info, mutable=False),
                ptb.shared(navi.switchboard_aggregator, mutable=False),
                ptb.pure_address(pool.feed_id),
            ),
            results=0,
        )


def token_price(ptb: Ptb, navi: Navi, pool: NaviPool) -> None:
    """Read (valid: bool, price: u256, decimals: u8) of a pool's asset in USD."""
    ptb.call(
        f"{navi.oracle_package}::oracle::get_token_price",
        (
            ptb.shared(CLOCK, mutable=False),
            ptb.shared(navi.price_oracle, mutable=False),
            ptb.pure_u8(pool.oracle_id),
        ),
        results=3,
    )
