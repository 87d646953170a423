"""Transactions recorded, given coins and gas, drafted and executed."""

from __future__ import annotations

import base64
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pysui.sui.sui_bcs import bcs

from tidegate.core.chain.client import SuiNetwork
from tidegate.core.chain.transaction_data import (
    GasPayment,
    ObjectReference,
    SharedReference,
    transaction_bytes,
    transaction_digest,
)
from tidegate.core.chain.transactions import PtbBuilder, fewest, gas_budget, largest_first, total
from tidegate.core.chain.types import BalanceDelta, Build, CoinObject, Outcome
from tidegate.core.errors import InsufficientBalance
from tidegate.core.money import Amount
from tidegate.core.sandbox import controls
from tidegate.core.sandbox.ledger import Ledger
from tidegate.core.sandbox.transactions import (
    GasArg,
    InputArg,
    MergeCoins,
    MoveCall,
    OwnedInput,
    PureInput,
    ResultArg,
    SharedInput,
    SplitCoins,
    Transaction,
    TransferObjects,
    decode_transaction,
)
from tidegate.core.tokens import SUI, USDC, normalize_address

from .conftest import SUI_100, USDC_1000, pay

RECIPIENT = "0x" + "ab" * 32
DIGEST = "4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM"


def coin(number: int, base: int) -> CoinObject:
    return CoinObject(f"0x{number:064x}", 7, DIGEST, base)


def usdc(base: int) -> Amount:
    return Amount(USDC, base)


class Bench:
    """A builder over given coins, and the transaction that it recorded as the sandbox reads it."""

    def __init__(self, sui: list[int], other: list[int]) -> None:
        self.asked: list[str] = []
        sui_coins = [coin(index + 1_000, base) for index, base in enumerate(sui)]
        self.builder = PtbBuilder("0x1", sui_coins, self._list)
        self._other = [coin(index + 1, base) for index, base in enumerate(other)]

    def _list(self, coin_type: str) -> list[CoinObject]:
        self.asked.append(coin_type)
        return self._other

    def transaction(self, references: Any = None) -> Transaction:
        gas = GasPayment((coin(999, 10**9),), 1_000, 5_000_000)
        kind = self.builder.kind(references or {})
        return decode_transaction(transaction_bytes(kind, self.builder.sender, gas, last_epoch=None))


# The golden vector


@pytest.fixture(scope="module")
def vector() -> bytes:
    gas_coin = CoinObject("0x" + "11" * 32, 7, DIGEST, 10**10)
    sender = "0x160179a1565ea7cff27ead23f54cc7f50893bf58155cd7285156e57afa31c3ac"
    builder = PtbBuilder(sender, [gas_coin], lambda _: ())
    builder.transfer([builder.coin(Amount(SUI, 1_500_000_000))], RECIPIENT)
    gas = GasPayment((gas_coin,), 1_000, 5_000_000)
    return transaction_bytes(builder.kind({}), builder.sender, gas, last_epoch=None)


def test_the_vector_has_the_digest_that_the_js_sdk_gives(vector: bytes) -> None:
    assert transaction_digest(vector) == "D8uUVbrkhsA7TMrywPAoLqU6tUtQkmvip5AG7GdBvRf"


def test_the_vector_has_the_signature_that_the_js_sdk_gives(vector: bytes, alice: Any) -> None:
    assert base64.b64encode(alice.sign(vector).serialized).decode() == (
        "APqZYh3M/o5uYOFRKTrDcjkoKkLGJuwIZs+PxtSZklrGTvEHh+qgoPSsqfXsmkY8dtnm1a5eWEtgijtez9ohOgoDoQe/884Qvh1w3RjnS8CZ"
        "Z+TWMJulDV8d3IZkElUxuA=="
    )


def test_pysui_reads_the_vector_back(vector: bytes) -> None:
    assert bytes(bcs.TransactionData.deserialize(vector).serialize()) == vector


# Coins


def test_sui_is_split_from_the_gas_coin() -> None:
    bench = Bench([10], [])

    bench.builder.coin(Amount(SUI, 4))

    assert bench.transaction().commands == (SplitCoins(GasArg(), (InputArg(0),)),)
    assert bench.builder.spent_from_gas == 4
    assert bench.asked == []


def test_a_coin_of_just_the_right_size_is_used_whole() -> None:
    bench = Bench([], [9, 5, 7])

    bench.builder.transfer([bench.builder.coin(usdc(5))], RECIPIENT)

    [transfer] = bench.transaction().commands
    assert isinstance(transfer, TransferObjects)
    assert owned(bench) == [2]


def test_the_largest_coin_is_split_when_it_suffices() -> None:
    bench = Bench([], [5, 9, 7])

    bench.builder.coin(usdc(6))

    assert bench.transaction().commands == (SplitCoins(InputArg(0), (InputArg(1),)),)
    assert owned(bench) == [2]


def test_the_fewest_coins_are_merged_largest_first() -> None:
    bench = Bench([], [1, 5, 9, 7, 2])

    bench.builder.coin(usdc(17))

    merge, split = bench.transaction().commands
    assert merge == MergeCoins(InputArg(0), (InputArg(1), InputArg(2)))
    assert isinstance(split, SplitCoins)
    assert owned(bench) == [3, 4, 2]


def test_coins_that_come_to_the_amount_together_are_not_split() -> None:
    bench = Bench([], [5, 9])

    bench.builder.coin(usdc(14))

    assert bench.transaction().commands == (MergeCoins(InputArg(0), (InputArg(1),)),)


def test_a_second_amount_is_taken_from_what_the_first_left() -> None:
    bench = Bench([], [9, 5])

    bench.builder.coin(usdc(6))
    bench.builder.coin(usdc(2))

    assert [type(command) for command in bench.transaction().commands] == [SplitCoins, SplitCoins]
    assert owned(bench) == [1]
    assert bench.asked == [USDC.coin_type]


def test_a_second_amount_merges_more_when_too_little_is_left() -> None:
    bench = Bench([], [9, 5, 4])

    bench.builder.coin(usdc(6))
    bench.builder.coin(usdc(8))

    assert bench.transaction().commands[1] == MergeCoins(InputArg(0), (InputArg(2),))
    assert owned(bench) == [1, 2]


@given(st.lists(st.integers(0, 50), max_size=6), st.lists(st.integers(1, 60), min_size=1, max_size=4))
def test_amounts_are_given_exactly_while_coins_last(held: list[int], wanted: list[int]) -> None:
    bench = Bench([], held)
    given_amounts = []
    try:
        for base in wanted:
            bench.builder.coin(usdc(base))
            given_amounts.append(base)
    except InsufficientBalance:
        assert sum(given_amounts) + base > sum(held)
    assert sum(given_amounts) <= sum(held)


def test_more_than_the_coins_hold_is_refused_in_words() -> None:
    with pytest.raises(InsufficientBalance, match=r"hold 14 USDC, and this takes 15 USDC"):
        Bench([], [5_000_000, 9_000_000]).builder.coin(usdc(15_000_000))


def test_more_sui_than_there_is_is_refused_in_words() -> None:
    with pytest.raises(InsufficientBalance, match=r"hold 3 SUI, and this takes 4 SUI"):
        Bench([10**9, 2 * 10**9], []).builder.coin(Amount(SUI, 4 * 10**9))


def test_sui_in_more_coins_than_may_pay_for_gas_is_merged_into_the_gas_coin() -> None:
    bench = Bench([10**9] * 300, [])

    bench.builder.coin(Amount(SUI, 258 * 10**9))

    merge, split = bench.transaction().commands
    assert isinstance(merge, MergeCoins)
    assert (merge.target, len(merge.sources)) == (GasArg(), 3)
    assert isinstance(split, SplitCoins)
    assert len(bench.builder.gas_coins) == 256


def test_an_amount_of_nothing_is_a_new_empty_coin() -> None:
    bench = Bench([], [5])

    bench.builder.coin(usdc(0))

    [call] = bench.transaction().commands
    assert isinstance(call, MoveCall)
    assert (call.module, call.function) == ("coin", "zero")


def owned(bench: Bench) -> list[int]:
    """Return the numbers of the coins that are inputs, in order."""
    inputs = bench.transaction().inputs
    return [int(item.ref.id, 16) for item in inputs if isinstance(item, OwnedInput)]


# Values and calls


def test_pure_values_are_written_as_bcs() -> None:
    bench = Bench([], [])
    build = bench.builder

    build.pure_u8(255)
    build.pure_u32(1)
    build.pure_u64(2**64 - 1)
    build.pure_bool(True)
    build.pure_address("0xa")
    build.pure_string("é" * 100)
    build.call("0x2::m::f", [])

    assert [item.value.hex() for item in bench.transaction().inputs if isinstance(item, PureInput)] == [
        "ff",
        "01000000",
        "ff" * 8,
        "01",
        "0a".rjust(64, "0"),
        "c801" + "c3a9" * 100,
    ]


def test_equal_values_of_different_types_stay_apart() -> None:
    bench = Bench([], [])

    bench.builder.call("0x2::m::f", [bench.builder.pure_u8(1), bench.builder.pure_bool(True)])

    [call] = bench.transaction().commands
    assert isinstance(call, MoveCall)
    assert call.arguments == (InputArg(0), InputArg(1))


@pytest.mark.parametrize(("name", "value"), [("pure_u8", 256), ("pure_u32", 2**32), ("pure_u64", -1)])
def test_a_number_that_does_not_fit_is_refused(name: str, value: int) -> None:
    with pytest.raises(ValueError, match="does not fit"):
        getattr(Bench([], []).builder, name)(value)


def test_a_shared_object_is_mutable_when_any_use_is() -> None:
    bench, clock = Bench([], []), normalize_address("0x6")

    bench.builder.call("0x2::m::f", [bench.builder.shared("0x6", mutable=False)])
    bench.builder.call("0x2::m::g", [bench.builder.shared("0x6", mutable=True)])
    bench.builder.call("0x2::m::h", [bench.builder.shared("0x6", mutable=False)])

    read = bench.transaction({clock: SharedReference(clock, 3)})
    assert read.inputs == (SharedInput(clock, 3, mutable=True),)


def test_an_immutable_object_is_named_by_its_version() -> None:
    bench, thing = Bench([], []), normalize_address("0x77")

    bench.builder.call("0x2::m::f", [bench.builder.shared("0x77", mutable=False)])

    [item] = bench.transaction({thing: ObjectReference(thing, 4, DIGEST)}).inputs
    assert isinstance(item, OwnedInput)
    assert item.ref.version == 4


def test_results_of_a_call_are_named_one_by_one() -> None:
    bench = Bench([], [])

    one, two = bench.builder.call("0x2::m::f", [], results=2)
    bench.builder.call("0x2::m::g", [two, one])

    _, call = bench.transaction().commands
    assert isinstance(call, MoveCall)
    assert call.arguments == (ResultArg(0, 1), ResultArg(0, 0))


def test_nested_type_arguments_keep_all_their_parameters() -> None:
    bench = Bench([], [])
    written = "0x2::p::P<0x2::coin::Coin<0x2::sui::SUI>,vector<vector<u64>>,bool>"

    bench.builder.call("0x2::m::f", [], [written, "address"])

    [call] = bench.transaction().commands
    assert isinstance(call, MoveCall)
    long_2 = normalize_address("0x2")
    assert [str(each) for each in call.type_arguments] == [
        written.replace("0x2", long_2),
        "address",
    ]


# Choosing gas


@given(st.lists(st.integers(0, 100), max_size=8), st.integers(0, 300))
def test_the_fewest_coins_cover_what_is_wanted(sizes: list[int], wanted: int) -> None:
    coins = largest_first([coin(index, base) for index, base in enumerate(sizes)])

    chosen = fewest(coins, wanted)

    assert total(chosen) >= min(wanted, sum(sizes))
    assert len(chosen) <= 1 or total(chosen[:-1]) < wanted


def test_a_budget_adds_a_thousand_units_and_counts_no_rebate() -> None:
    assert gas_budget(1_000_000, 1_976_000, 750) == 1_000_000 + 1_976_000 + 750_000


def test_a_budget_is_never_above_the_protocols_limit() -> None:
    assert gas_budget(10**12, 10**12, 1_000) == 50_000_000_000


# Drafts


def test_a_transfer_is_drafted_signed_and_executed_as_simulated(funded: SuiNetwork, alice: Any) -> None:
    draft = funded.draft(alice.address, pay(usdc(25_000_000), RECIPIENT))

    outcome = funded.execute(draft.bytes, alice.sign(draft.bytes))

    assert draft.outcome.failure is outcome.failure is None
    assert (outcome.digest, outcome.gas, outcome.changes) == (
        draft.digest,
        draft.outcome.gas,
        draft.outcome.changes,
    )
    assert BalanceDelta(RECIPIENT, USDC.coin_type, 25_000_000) in outcome.changes
    assert BalanceDelta(alice.address, SUI.coin_type, -outcome.gas.net) in outcome.changes
    assert funded.balance(RECIPIENT, USDC.coin_type) == 25_000_000


def test_an_executed_outcome_says_where_it_stands(
    send: Callable[[Build], Outcome], funded: SuiNetwork
) -> None:
    outcome = send(pay(usdc(1), RECIPIENT))

    assert outcome.epoch == 0
    assert outcome.checkpoint == 3
    assert outcome.timestamp_ms is not None


def test_a_draft_ends_with_the_next_epoch(funded: SuiNetwork, ledger: Ledger, alice: Any) -> None:
    controls.advance_clock(ledger, 24 * 3600 * 1000)

    draft = funded.draft(alice.address, pay(usdc(1), RECIPIENT))

    assert decode_transaction(draft.bytes).expires_after == 2


def test_a_draft_costs_what_its_budget_allows(funded: SuiNetwork, alice: Any) -> None:
    draft = funded.draft(alice.address, pay(usdc(1), RECIPIENT))

    gas = draft.outcome.gas
    assert draft.gas_budget == gas.computation + gas.storage + 1_000_000
    assert decode_transaction(draft.bytes).gas.budget == draft.gas_budget


def test_many_coins_are_merged_and_sent(
    network: SuiNetwork, ledger: Ledger, alice: Any, send: Callable[[Build], Outcome]
) -> None:
    controls.faucet(ledger, alice.address, SUI.coin_type, 10**9)
    for base in range(1, 31):
        controls.faucet(ledger, alice.address, USDC.coin_type, base)

    send(pay(usdc(464), RECIPIENT))

    assert network.balance(RECIPIENT, USDC.coin_type) == 464
    assert network.balance(alice.address, USDC.coin_type) == 1


def test_gas_is_paid_from_the_fewest_coins(network: SuiNetwork, ledger: Ledger, alice: Any) -> None:
    for base in (30_000_000, 80_000_000, 50_000_000, 90_000_000):
        controls.faucet(ledger, alice.address, SUI.coin_type, base)

    draft = network.draft(alice.address, pay(Amount(SUI, 100_000_000), RECIPIENT))

    assert len(decode_transaction(draft.bytes).gas.payment) == 2
    assert draft.outcome.failure is None


def test_thirty_coins_too_small_for_gas_pay_together(
    network: SuiNetwork, ledger: Ledger, alice: Any, send: Callable[[Build], Outcome]
) -> None:
    for _ in range(30):
        controls.faucet(ledger, alice.address, SUI.coin_type, 500_000)

    send(pay(Amount(SUI, 5_000_000), RECIPIENT))

    assert network.balance(RECIPIENT, SUI.coin_type) == 5_000_000


def test_the_last_of_the_sui_pays_with_a_budget_of_what_is_left(
    network: SuiNetwork, ledger: Ledger, alice: Any
) -> None:
    controls.faucet(ledger, alice.address, SUI.coin_type, 10_000_000)

    draft = network.draft(alice.address, pay(Amount(SUI, 6_900_000), RECIPIENT))

    assert draft.gas_budget == 3_100_000
    assert draft.outcome.failure is None


def test_a_wallet_without_sui_is_told_that_gas_is_missing(
    network: SuiNetwork, ledger: Ledger, alice: Any
) -> None:
    controls.faucet(ledger, alice.address, USDC.coin_type, 10)

    with pytest.raises(InsufficientBalance, match=r"0 SUI.*gas"):
        network.draft(alice.address, pay(usdc(5), RECIPIENT))


def test_all_of_the_sui_leaves_nothing_for_gas(funded: SuiNetwork, alice: Any) -> None:
    with pytest.raises(InsufficientBalance, match=r"100 SUI.*0\.001 SUI for gas"):
        funded.draft(alice.address, pay(Amount(SUI, SUI_100), RECIPIENT))


def test_gas_that_does_not_suffice_is_refused_before_anything_is_signed(
    network: SuiNetwork, ledger: Ledger, alice: Any
) -> None:
    controls.faucet(ledger, alice.address, SUI.coin_type, 10**9)

    with pytest.raises(InsufficientBalance, match="gas"):
        network.draft(alice.address, pay(Amount(SUI, 10**9 - 1_500_000), RECIPIENT))


def test_a_draft_that_fails_is_returned_with_its_abort(funded: SuiNetwork, alice: Any) -> None:
    def build(ptb: Any) -> None:
        (rest,) = ptb.call("0x2::coin::zero", [], [USDC.coin_type])
        (part,) = ptb.call("0x2::coin::split", [rest, ptb.pure_u64(5)], [USDC.coin_type])
        ptb.transfer([rest, part], RECIPIENT)

    failure = funded.draft(alice.address, build).outcome.failure

    assert failure is not None
    assert (failure.module, failure.function, failure.code) == ("balance", "split", 2)
    assert "balance::split with code 2" in failure.description


def test_a_failure_that_is_no_abort_is_said_in_words(funded: SuiNetwork, alice: Any) -> None:
    failure = funded.draft(alice.address, lambda ptb: ptb.call("0x2::no::such", []) and None).outcome.failure

    assert failure is not None
    assert failure.description == "The transaction failed in command 0: function not found."
    assert failure.code is None


def test_a_protocol_is_called_with_its_shared_objects(
    funded: SuiNetwork, send: Callable[[Build], Outcome], alice: Any
) -> None:
    navi = funded.deployment.navi
    assert navi is not None
    pool = next(each for each in navi.pools if each.coin_type == USDC.coin_type)

    def deposit(ptb: Any) -> None:
        ptb.call(
            f"{navi.package}::incentive_v3::entry_deposit",
            [
                ptb.shared("0x6", mutable=False),
                ptb.shared(navi.storage, mutable=True),
                ptb.shared(pool.pool, mutable=True),
                ptb.pure_u8(pool.asset_id),
                ptb.coin(Amount.of(USDC, Decimal(400))),
                ptb.pure_u64(400 * 10**6),
                ptb.shared(navi.incentive_v2, mutable=True),
                ptb.shared(navi.incentive_v3, mutable=True),
            ],
            [USDC.coin_type],
            results=0,
        )

    send(deposit)

    assert funded.balance(alice.address, USDC.coin_type) == USDC_1000 - 400 * 10**6
