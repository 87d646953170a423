"""Where the protocols live on a network: package and object ids, keyed by chain id.

Mainnet's ids are read from NAVI's open API at run time, since packages upgrade (shared/spec/chain.md). The
sandbox's are fixed at its genesis and are named here once, so that the objects the sandbox serves and the
ids that transactions are built with cannot drift apart. They equal mainnet's where public SDK sources give
them (naviprotocol/navi-sdk address.ts; Cetus aggregator and CLMM SDK), so the bytes differ only in object
versions, digests and gas.
"""

from __future__ import annotations

from dataclasses import dataclass

from tidegate.core.tokens import SUI, USDC

CLOCK = "0x" + "6".rjust(64, "0")
SYSTEM_STATE = "0x" + "5".rjust(64, "0")

MAINNET_CHAIN_ID = "4btiuiMPvEENsttpZC7CZ53DruC3MAgfznDbASZ7DR6S"
TESTNET_CHAIN_ID = "69WiPg3DAQiwdxfncX6wYQ2siKwAe6L9BZthQea3JNMD"


@dataclass(frozen=True, slots=True)
class NaviPool:
    """One asset of NAVI's lending market."""

    asset_id: int
    """u8 that names the asset in the lending storage."""
    coin_type: str
    pool: str
    """Shared object ``pool::Pool<T>``."""
    oracle_id: int
    """u8 that names the asset in the price oracle; not always the asset id."""
    feed_id: str
    """Address of the price feed in the oracle configuration."""
    pyth_price_info: str
    """Pyth's shared price info object of this feed."""


@dataclass(frozen=True, slots=True)
class Navi:
    """NAVI lending: the packages to call and the shared objects to pass."""

    package: str
    storage: str
    incentive_v2: str
    incentive_v3: str
    oracle_package: str
    price_oracle: str
    oracle_config: str
    supra_oracle_holder: str
    switchboard_aggregator: str
    pools: tuple[NaviPool, ...]


@dataclass(frozen=True, slots=True)
class CetusPool:
    """A Cetus CLMM pool ``pool::Pool<A, B>``."""

    pool: str
    coin_a: str
    coin_b: str


@dataclass(frozen=True, slots=True)
class Cetus:
    """Cetus: the CLMM package (quotes), the aggregator's router and its Cetus adapter (swaps)."""

    clmm_package: str
    router_package: str
    adapter_package: str
    """Package that holds ``cetus::swap``; a route names it as ``published_at``."""
    global_config: str
    partner: str
    pools: tuple[CetusPool, ...]


@dataclass(frozen=True, slots=True)
class Deployment:
    """Everything of one network that has an id of its own."""

    navi: Navi | None
    cetus: Cetus | None


SANDBOX_NAVI = Navi(
    package="0x81c408448d0d57b3e371ea94de1d40bf852784d3e225de1e74acab3e8395c18f",
    storage="0xbb4e2f4b6205c2e2a2db47aeb4f830796ec7c005f88537ee775986639bc442fe",
    incentive_v2="0xf87a8acb8b81d14307894d12595541a73f19933f88e1326d5be349c7a6f7559c",
    incentive_v3="0x62982dad27fb10bb314b3384d5de8d2ac2d72ab2dbeae5d801dbdb9efa816c80",
    oracle_package="0xc2d49bf5e75d2258ee5563efa527feb6155de7ac6f6bf025a23ee88cd12d5a83",
    price_oracle="0x1568865ed9a0b5ec414220e8f79b3d04c77acc82358f6e5ae4635687392ffbef",
    oracle_config="0x1afe1cb83634f581606cc73c4487ddd8cc39a944b951283af23f7d69d5589478",
    supra_oracle_holder="0xaa0315f0748c1f24ddb2b45f7939cff40f7a8104af5ccbc4a1d32f870c0b4105",
    switchboard_aggregator="0x" + "5b".rjust(64, "0"),
    pools=(
        NaviPool(
            asset_id=0,
            coin_type=SUI.coin_type,
            pool="0x96df0fce3c471489f4debaaa762cf960b3d97820bd1f3f025ff8190730e958c5",
            oracle_id=0,
            feed_id="0x2cab9b151ca1721624b09b421cc57d0bb26a1feb5da1f821492204b098ec35c9",
            pyth_price_info="0x801dbc2f0053d34734814b2d6df491ce7807a725fe9a01ad74a07e9c51396c37",
        ),
        NaviPool(
            asset_id=10,
            coin_type=USDC.coin_type,
            pool="0xa3582097b4c57630046c0c49a88bfc6b202a3ec0a9db5597c31765f7563755a8",
            oracle_id=10,
            feed_id="0x70a79226dda5e080378b639d1bb540ddea64761629aa4ad7355d79266d55af61",
            pyth_price_info="0x5dec622733a204ca27f5a90d8c2fad453cc6665186fd5dff13a83d0b6c9027ab",
        ),
    ),
)

SANDBOX_CETUS = Cetus(
    clmm_package="0x1eabed72c53feb3805120a081dc15963c204dc8d091542592abaf7a35689b2fb",
    router_package="0xde5d696a79714ca5cb910b9aed99d41f67353abb00715ceaeb0663d57ee39640",
    adapter_package="0xb2db7142fa83210a7d78d9c12ac49c043b3cbbd482224fea6e3da00aa5a5ae2d",
    global_config="0xdaa46292632c3c4d8f31f23ea0f9b36a28ff3677e9684980e4438403a67a3d8f",
    partner="0x639b5e433da31739e800cd085f356e64cae222966d0f1b11bd9dc76b322ff58b",
    pools=(
        CetusPool(
            pool="0x51e883ba7c0b566a26cbc8a94cd33eb0abd418a77cc1e60ad22fd9b1f29cd2ab",
            coin_a=USDC.coin_type,
            coin_b=SUI.coin_type,
        ),
    ),
)

SANDBOX = Deployment(navi=SANDBOX_NAVI, cetus=SANDBOX_CETUS)
