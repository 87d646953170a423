"""The numbers that the sandbox's protocols start with: prices, lending reserves, liquidity.

They are near mainnet's of 2026, so that rates, health factors and price impacts look like real ones.
"""

from __future__ import annotations

from dataclasses import dataclass

from tidegate.core.sandbox.modules.lending_math import RAY
from tidegate.core.tokens import SUI, USDC, Token

PRICES: dict[str, int] = {SUI.coin_type: 3_500_000_000, USDC.coin_type: 1_000_000_000}
"""1e-9 USD for one whole coin."""

HOUSE = "0x" + "5e".rjust(64, "0")
"""Owner of the supply, the debt and the liquidity that exist from genesis; nobody holds its key."""


@dataclass(frozen=True, slots=True)
class ReserveNumbers:
    """A lending reserve at genesis; ratios and rates are rays."""

    token: Token
    supplied: int
    """Base units that the house supplied."""
    borrowed: int
    """Base units that the house borrowed."""
    cap: int
    """Base units that may be supplied in all."""
    ltv: int
    liquidation_threshold: int
    liquidation_bonus: int
    multiplier: int
    jump: int
    optimal: int


def _ray(thousandths: int) -> int:
    return thousandths * RAY // 1000


RESERVE_FACTOR = _ray(200)
BORROW_CAP = _ray(900)
LIQUIDATION_RATIO = _ray(350)
TREASURY_FACTOR = _ray(100)

_USDC, _SUI = 10**USDC.decimals, 10**SUI.decimals

RESERVES: dict[str, ReserveNumbers] = {
    USDC.coin_type: ReserveNumbers(
        token=USDC,
        supplied=8_000_000 * _USDC,
        borrowed=5_200_000 * _USDC,
        cap=50_000_000 * _USDC,
        ltv=_ray(800),
        liquidation_threshold=_ray(850),
        liquidation_bonus=_ray(50),
        multiplier=_ray(80),
        jump=_ray(1_100),
        optimal=_ray(800),
    ),
    SUI.coin_type: ReserveNumbers(
        token=SUI,
        supplied=5_000_000 * _SUI,
        borrowed=2_400_000 * _SUI,
        cap=50_000_000 * _SUI,
        ltv=_ray(700),
        liquidation_threshold=_ray(750),
        liquidation_bonus=_ray(100),
        multiplier=_ray(95),
        jump=_ray(1_200),
        optimal=_ray(700),
    ),
}
"""By coin type. With these the house has a health factor of about 1.5."""

POOL_COIN_A = 2_000_000 * _USDC
"""Coin A in the Cetus pool; coin B follows from the price."""
POOL_FEE_RATE = 2_500
"""Millionths."""
PROTOCOL_FEE_RATE = 2_000
"""Share of the fees that is Cetus', in 1/10,000."""
