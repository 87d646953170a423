"""Known tokens and the rule by which a word becomes a coin type.

Coin types are mainnet's and come from shared/spec/sandbox.md ("Tokens"). Decimals here are a cache: a
network's own coin metadata is asked before an amount in a token is signed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_ADDRESS = re.compile(r"0[xX][0-9a-fA-F]{1,64}\Z")
_COIN_TYPE = re.compile(r"(0[xX][0-9a-fA-F]{1,64})::([A-Za-z_][A-Za-z0-9_]*)::([A-Za-z_][A-Za-z0-9_]*)\Z")


def normalize_address(text: str) -> str:
    """Return a Sui address or object id as ``0x`` and 64 lower-case hex digits.

    Args:
        text: ``0x`` followed by 1 to 64 hex digits.

    Raises:
        ValueError: the text has another form.
    """
    if not _ADDRESS.match(text):
        raise ValueError(f"not a Sui address: {text!r}")
    return "0x" + text[2:].lower().rjust(64, "0")


def normalize_coin_type(text: str) -> str:
    """Return a coin type with its address part in the long form; module and name keep their case.

    Raises:
        ValueError: the text is not ``address::module::NAME`` (coin types with type parameters are not coins
            we move).
    """
    match = _COIN_TYPE.match(text)
    if match is None:
        raise ValueError(f"not a coin type: {text!r}")
    return f"{normalize_address(match[1])}::{match[2]}::{match[3]}"


def short_coin_type(coin_type: str) -> str:
    """Return a coin type without the leading zeros of its address (``0x2::sui::SUI``)."""
    address, module, name = coin_type.split("::")
    return f"0x{address[2:].lstrip('0') or '0'}::{module}::{name}"


@dataclass(frozen=True, slots=True)
class Token:
    """A coin type with the symbol people write and the decimals of its base unit."""

    symbol: str
    coin_type: str
    """Normalised: the address has 64 hex digits."""
    decimals: int

    def __str__(self) -> str:
        return self.symbol


def _known(symbol: str, coin_type: str, decimals: int) -> Token:
    return Token(symbol, normalize_coin_type(coin_type), decimals)


SUI = _known("SUI", "0x2::sui::SUI", 9)
USDC = _known("USDC", "0xdba34672e30cb065b1f93e3ab55318768fd6fef66c15942c9f7cb846e2f900e7::usdc::USDC", 6)
USDSUI = _known(
    "USDsui", "0x44f838219cf67b058f3b37907b655f226153c18e33dfcd0da559a844fea9b1c1::usdsui::USDSUI", 6
)

KNOWN_TOKENS: tuple[Token, ...] = (
    USDC,
    SUI,
    USDSUI,
    _known("wBTC", "0x0041f9f9344cac094454cd574e333c4fdb132d7bcc9379bcd4aab485b2a63942::wbtc::WBTC", 8),
    _known("ETH", "0xd0e89b2af5e4910726fbcd8b8dd37bb79b29e5f83f7491bca830e94f7f226d29::eth::ETH", 8),
    _known("GOLD", "0x9d297676e7a4b771ab023291377b2adfaa4938fb9080b8d12430e4b108b836a9::xaum::XAUM", 9),
    _known("DEEP", "0xdeeb7a4662eec9f2f3def03fb937a663dddaa2e215b8078a284d026b7946c270::deep::DEEP", 6),
    _known("WAL", "0x356a26eb9e012a68958082340d4c4116e7f55615cf27affcff209cf0ae544f59::wal::WAL", 9),
    _known("NS", "0x5145494a5f5100e645e4b0aa950fa6b68f614e8c59e17bc5ded3495123a79178::ns::NS", 6),
    _known("IKA", "0x7262fb2f7a3a14c888c438a3cd9b912469a58cf60f367352c46584262e8299aa::ika::IKA", 9),
    _known("CETUS", "0x06864a6f921804860930db6ddbe2e16acdf8504495ea7481637a1c8b9a8fe54b::cetus::CETUS", 9),
    _known("NAVX", "0xa99b8952d4f7d947ea77fe0ecdcc9e5fc0bcab2841d6e2a5aa00c3044e5544b5::navx::NAVX", 9),
    _known("vSUI", "0x549e8b69270defbfafd4f94e17ec44cdbdd99820b33bda2278dea3b9a32d3f55::cert::CERT", 9),
    _known("haSUI", "0xbde4ba4c2e274a60ce15c1cfff9e5c42e41654ac8b6d906a57efa4bd3c29f47d::hasui::HASUI", 9),
    _known("afSUI", "0xf325ce1300e8dac124071d3152c5c5ee6174914f8bc2161e88329cf579246efc::afsui::AFSUI", 9),
    _known("LOFI", "0xf22da9a24ad027cccb5f2d496cbe91de953d363513db08a3a734d361c7c17503::LOFI::LOFI", 9),
    _known(
        "MANIFEST",
        "0xc466c28d87b3d5cd34f3d5c088751532d71a38d93a8aae4551dd56272cfb4355::manifest::MANIFEST",
        9,
    ),
    _known("USDT", "0x375f70cf2ae4c00bf37117d0c85a2c71545e6ee05c4a5c7d282cd66a4504b068::usdt::USDT", 6),
    _known(
        "USDe", "0x41d587e5336f1c86cad50d38a7136db99333bb9bda91cea4ba69115defeb1402::sui_usde::SUI_USDE", 6
    ),
)

_BY_SYMBOL = {token.symbol.casefold(): token for token in KNOWN_TOKENS}
_BY_TYPE = {token.coin_type: token for token in KNOWN_TOKENS}


def token_by_symbol(symbol: str) -> Token | None:
    """Return the known token of that symbol, without regard to case, or None."""
    return _BY_SYMBOL.get(symbol.casefold())


def token_by_type(coin_type: str) -> Token | None:
    """Return the known token whose full coin type this is, or None.

    The whole type must be equal: a coin of another package that calls itself USDC is not USDC.
    """
    try:
        return _BY_TYPE.get(normalize_coin_type(coin_type))
    except ValueError:
        return None
