"""The golden vector of shared/spec/sandbox.md: bytes, digest and signature that the JS SDK gives too."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from pysui.sui.sui_bcs import bcs
from pysui.sui.sui_common.txn_pure import PureInput as PysuiPure
from pysui.sui.sui_common.txn_transaction_builder import ProgrammableTransactionBuilder

from tidegate.core.sandbox.encoding import BadEncoding
from tidegate.core.sandbox.transactions import (
    Gas,
    GasArg,
    InputArg,
    ObjectRef,
    PureInput,
    ResultArg,
    SplitCoins,
    Transaction,
    TransferObjects,
    decode_transaction,
    transaction_digest,
)

SENDER = "0x160179a1565ea7cff27ead23f54cc7f50893bf58155cd7285156e57afa31c3ac"
RECIPIENT = "0x" + "ab" * 32
GAS_COIN = ObjectRef("0x" + "11" * 32, 7, "4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM")
AMOUNT, PRICE, BUDGET = 1_500_000_000, 1_000, 5_000_000
DIGEST = "D8uUVbrkhsA7TMrywPAoLqU6tUtQkmvip5AG7GdBvRf"
SIGNATURE = (
    "APqZYh3M/o5uYOFRKTrDcjkoKkLGJuwIZs+PxtSZklrGTvEHh+qgoPSsqfXsmkY8dtnm1a5eWEtgijtez9ohOgoDoQe/884Qvh1w3RjnS8CZ"
    "Z+TWMJulDV8d3IZkElUxuA=="
)


@pytest.fixture(scope="module")
def pysui_bytes() -> bytes:
    builder = ProgrammableTransactionBuilder(compress_inputs=True)
    builder.split_coin(bcs.Argument("GasCoin"), [PysuiPure.as_input(bcs.SuiU64(AMOUNT))])
    builder.transfer_objects(
        PysuiPure.as_input(bcs.Address.from_str(RECIPIENT)), [bcs.Argument("NestedResult", (0, 0))]
    )
    gas = bcs.GasData(
        [
            bcs.ObjectReference(
                bcs.Address.from_str(GAS_COIN.id), GAS_COIN.version, bcs.Digest.from_str(GAS_COIN.digest)
            )
        ],
        bcs.Address.from_str(SENDER),
        PRICE,
        BUDGET,
    )
    kind, sender = builder.finish_for_inspect(), bcs.Address.from_str(SENDER)
    data = bcs.TransactionDataV1(kind, sender, gas, bcs.TransactionExpiration("None"))
    return bytes(bcs.TransactionData("V1", data).serialize())


def test_the_key_has_the_address(alice: Any) -> None:
    assert alice.address == SENDER


def test_pysui_builds_the_bytes_of_the_digest(pysui_bytes: bytes) -> None:
    assert transaction_digest(pysui_bytes) == DIGEST


def test_the_signature_is_the_given_one(pysui_bytes: bytes, alice: Any) -> None:
    assert base64.b64encode(alice.sign(pysui_bytes)).decode() == SIGNATURE


def test_the_sandbox_reads_and_writes_the_same_bytes(pysui_bytes: bytes) -> None:
    expected = Transaction(
        SENDER,
        (PureInput(AMOUNT.to_bytes(8, "little")), PureInput(b"\xab" * 32)),
        (SplitCoins(GasArg(), (InputArg(0),)), TransferObjects((ResultArg(0, 0),), InputArg(1))),
        Gas((GAS_COIN,), SENDER, PRICE, BUDGET),
    )

    assert decode_transaction(pysui_bytes) == expected
    assert expected.bcs() == pysui_bytes


def test_no_prefix_and_no_longer_bytes_are_a_transaction(pysui_bytes: bytes) -> None:
    for length in range(len(pysui_bytes)):
        with pytest.raises(BadEncoding):
            decode_transaction(pysui_bytes[:length])
    with pytest.raises(BadEncoding):
        decode_transaction(pysui_bytes + b"\0")
