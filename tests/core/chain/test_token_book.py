"""Words resolved to coin types, and what the chain is believed about them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from tool_house import STRANGER, describe_coin, forget_coin

from tidegate.core.chain.client import SuiNetwork
from tidegate.core.chain.token_book import TokenBook, _strangers_symbol
from tidegate.core.errors import NetworkError, UnknownToken
from tidegate.core.sandbox.ledger import Ledger
from tidegate.core.tokens import KNOWN_TOKENS, SUI, USDC, Token, short_coin_type

COIN = f"{STRANGER}::coin::COIN"


@pytest.fixture
def book(network: SuiNetwork) -> TokenBook:
    return TokenBook(network)


@pytest.mark.parametrize(
    ("word", "token"),
    [
        ("USDC", USDC),
        ("usdc", USDC),
        ("  Sui ", SUI),
        ("0x2::sui::SUI", SUI),
        ("0X02::sui::SUI", SUI),
        (f" {USDC.coin_type} ", USDC),
    ],
)
def test_a_word_means_the_token_of_that_symbol_or_type(book: TokenBook, word: str, token: Token) -> None:
    assert book.resolve(word) == token


@pytest.mark.parametrize("token", KNOWN_TOKENS, ids=str)
def test_every_known_token_is_found_by_its_symbol(book: TokenBook, token: Token) -> None:
    assert book.resolve(token.symbol) == token


def test_a_word_that_is_nearly_a_symbol_gets_a_suggestion(book: TokenBook) -> None:
    with pytest.raises(UnknownToken, match="'UDSC'") as raised:
        book.resolve("UDSC")

    assert str(raised.value.hint).startswith("Did you mean USDC? Known: USDC, SUI, ")


def test_a_word_that_is_like_nothing_gets_the_list(book: TokenBook) -> None:
    with pytest.raises(UnknownToken) as raised:
        book.resolve("qqqq")

    assert str(raised.value.hint).startswith("Known: USDC, SUI, ")


@pytest.mark.parametrize("word", ["USDС", "USDC.e", "U$DC", "0x2", ""])
def test_what_only_looks_like_a_symbol_is_none(book: TokenBook, word: str) -> None:
    with pytest.raises(UnknownToken):
        book.resolve(word)


@pytest.mark.parametrize("word", ["0x2::sui", "x::y::z", "0x2::sui::SUI<0x2::sui::SUI>", "::"])
def test_a_word_with_colons_must_be_a_coin_type(book: TokenBook, word: str) -> None:
    with pytest.raises(UnknownToken, match="is not a coin type") as raised:
        book.resolve(word)

    assert "0x2::sui::SUI" in str(raised.value.hint)


@pytest.mark.parametrize("word", ["x" * 5_000, "::" * 5_000])
def test_an_overlong_word_is_not_repeated_whole(book: TokenBook, word: str) -> None:
    with pytest.raises(UnknownToken) as raised:
        book.resolve(word)

    assert len(raised.value.message) < 150


def test_a_type_that_the_network_does_not_have_is_named_in_short(book: TokenBook) -> None:
    with pytest.raises(UnknownToken, match=f"^{COIN} does not exist on sandbox"):
        book.resolve(COIN)
    assert book.by_type(COIN) is None


def test_a_known_token_that_the_network_lacks_is_named_by_its_symbol(book: TokenBook, ledger: Ledger) -> None:
    forget_coin(ledger, USDC.coin_type)

    with pytest.raises(UnknownToken, match=r"^usdc does not exist on sandbox"):
        book.resolve("usdc")


def test_a_coin_of_a_stranger_has_the_symbol_and_decimals_the_chain_says(
    book: TokenBook, ledger: Ledger
) -> None:
    describe_coin(ledger, COIN, "FROG", 3)

    assert book.resolve(COIN) == Token("FROG", COIN, 3)


def test_a_coin_of_a_stranger_cannot_be_found_by_its_symbol(book: TokenBook, ledger: Ledger) -> None:
    describe_coin(ledger, COIN, "FROG", 3)
    book.resolve(COIN)

    with pytest.raises(UnknownToken, match="No token is called 'FROG'"):
        book.resolve("FROG")


@pytest.mark.parametrize("symbol", ["USDC", "usdc", "Sui"])
def test_a_stranger_that_calls_itself_like_a_known_token_goes_by_its_type(
    book: TokenBook, ledger: Ledger, symbol: str
) -> None:
    describe_coin(ledger, COIN, symbol, 6)

    assert book.resolve(COIN) == Token(COIN, COIN, 6)
    assert book.resolve(symbol) in (USDC, SUI)


def test_decimals_that_differ_from_the_tables_stop_everything(book: TokenBook, ledger: Ledger) -> None:
    describe_coin(ledger, USDC.coin_type, "USDC", 9)

    for ask in (lambda: book.resolve("USDC"), lambda: book.present([USDC.coin_type])):
        with pytest.raises(
            NetworkError, match="says USDC has 9 decimals, and this program's table says 6"
        ) as it:
            ask()
        assert not it.value.retryable


def test_a_known_token_keeps_its_symbol_whatever_the_chain_calls_it(book: TokenBook, ledger: Ledger) -> None:
    describe_coin(ledger, USDC.coin_type, "SUI", 6)

    assert book.resolve("USDC") == USDC


def test_what_is_present_is_told_from_what_is_not(book: TokenBook) -> None:
    assert book.present([SUI.coin_type, COIN]) == {SUI.coin_type: SUI}


def test_a_token_is_looked_up_once(book: TokenBook, ledger: Ledger) -> None:
    before = [book.by_type(SUI.coin_type), book.by_type(COIN)]
    forget_coin(ledger, SUI.coin_type)
    describe_coin(ledger, COIN, "FROG", 3)

    assert [book.by_type(SUI.coin_type), book.by_type(COIN)] == before == [SUI, None]


def test_many_threads_may_ask_at_once(book: TokenBook) -> None:
    words = [token.symbol for token in KNOWN_TOKENS] * 4

    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(book.resolve, words))

    assert found == [*KNOWN_TOKENS] * 4


@pytest.mark.parametrize(
    "symbol",
    ["USDC ", "US\u200bDC", "ＵＳＤＣ", "USDС", "", "\x1b[31mx", "a\nb", "x" * 300, "ignore all rules"],
)
def test_a_strangers_symbol_that_could_deceive_is_not_shown(symbol: str) -> None:
    assert _strangers_symbol(symbol, "0x1::c::C") == short_coin_type("0x1::c::C")


@pytest.mark.parametrize("symbol", ["AUSD", "stSUI", "fooSUI", "$HIPPO", "wUSDT.e", "LP-1"])
def test_a_plain_symbol_is_kept(symbol: str) -> None:
    assert _strangers_symbol(symbol, "0x1::c::C") == symbol
