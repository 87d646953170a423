from __future__ import annotations

import base64
import hashlib
import pickle
import subprocess
import sys

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from hypothesis import assume, given
from hypothesis import strategies as st

from tidegate.core.chain.keys import (
    KeyPair,
    address_of,
    key_pair_from_text,
    new_key_pair,
    signer_of,
)
from tidegate.core.errors import WalletError

SECRET = bytes(range(32))
TEXT = "suiprivkey1qqqqzqsrqszsvpcgpy9qkrqdpc83qygjzv2p29shrqv35xcur50p74yefn7"
ADDRESS = "0x160179a1565ea7cff27ead23f54cc7f50893bf58155cd7285156e57afa31c3ac"
ENTRY = base64.b64encode(b"\0" + SECRET).decode()

SECRETS = st.binary(min_size=32, max_size=32).filter(lambda secret: 0 < int.from_bytes(secret) < 2**255)
"""Below the order of every curve."""


def entry(flag: int, secret: bytes) -> str:
    return base64.b64encode(bytes([flag]) + secret).decode()


def transfer() -> bytes:
    """Return the transaction that the JavaScript SDK signed for the vector below."""
    from pysui.sui.sui_bcs import bcs
    from pysui.sui.sui_common.txn_pure import PureInput
    from pysui.sui.sui_common.txn_transaction_builder import ProgrammableTransactionBuilder

    builder = ProgrammableTransactionBuilder(compress_inputs=True)
    builder.split_coin(bcs.Argument("GasCoin"), [PureInput.as_input(bcs.SuiU64(1_500_000_000))])
    recipient = PureInput.as_input(bcs.Address.from_str("0x" + "ab" * 32))
    builder.transfer_objects(recipient, [bcs.Argument("NestedResult", (0, 0))])
    gas = bcs.ObjectReference(
        bcs.Address.from_str("0x" + "11" * 32),
        7,
        bcs.Digest.from_str("4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM"),
    )
    sender = bcs.Address.from_str(ADDRESS)
    data = bcs.TransactionDataV1(
        builder.finish_for_inspect(),
        sender,
        bcs.GasData([gas], sender, 1000, 5_000_000),
        bcs.TransactionExpiration("None"),
    )
    return bytes(bcs.TransactionData("V1", data).serialize())


def test_the_address_is_that_of_the_published_key() -> None:
    assert key_pair_from_text(TEXT).address == ADDRESS


def test_the_address_is_the_hash_of_flag_and_public_key() -> None:
    pair = key_pair_from_text(TEXT)
    assert address_of(0, pair.public_key) == ADDRESS
    assert address_of(1, pair.public_key) != ADDRESS


def test_a_transfer_is_signed_as_the_javascript_sdk_signs_it() -> None:
    signature = signer_of(key_pair_from_text(TEXT)).sign(transfer())
    assert base64.b64encode(signature.serialized).decode() == (
        "APqZYh3M/o5uYOFRKTrDcjkoKkLGJuwIZs+PxtSZklrGTvEHh+qgoPSsqfXsmkY8dtnm1a5eWEtgijtez9ohOgoDoQe/884Qvh1w3R"
        "jnS8CZZ+TWMJulDV8d3IZkElUxuA=="
    )


@pytest.mark.parametrize("text", [TEXT, f" {TEXT}\n", TEXT.upper(), ENTRY])
def test_both_text_forms_of_a_key_are_read(text: str) -> None:
    assert key_pair_from_text(text).secret == SECRET


@pytest.mark.parametrize(("flag", "scheme"), [(0, "ed25519"), (1, "secp256k1"), (2, "secp256r1")])
def test_the_flag_names_the_scheme(flag: int, scheme: str) -> None:
    assert key_pair_from_text(entry(flag, SECRET)).scheme == scheme


@given(flag=st.integers(0, 2), secret=SECRETS)
def test_a_key_survives_its_text(flag: int, secret: bytes) -> None:
    pair = key_pair_from_text(entry(flag, secret))
    again = key_pair_from_text(pair.text())
    assert (again.flag, again.secret, again.public_key) == (flag, secret, pair.public_key)


@given(position=st.integers(0, len(TEXT) - 1), char=st.sampled_from("023456789acdefghjklmnpqrstuvwxyz1b"))
def test_one_wrong_character_is_noticed(position: int, char: str) -> None:
    wrong = TEXT[:position] + char + TEXT[position + 1 :]
    if wrong != TEXT:
        with pytest.raises(WalletError):
            key_pair_from_text(wrong)


@given(
    st.text()
    | st.binary().map(lambda raw: base64.b64encode(raw).decode())
    | st.text().map("suiprivkey1".__add__)
)
def test_what_is_no_key_is_refused_without_being_repeated(text: str) -> None:
    assume(len(text.strip()) != 44)
    with pytest.raises(WalletError) as caught:
        key_pair_from_text(text)
    assert caught.value.message == "This is not a private key, or a character of it is wrong."
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        entry(3, SECRET),
        entry(0, SECRET[:31]),
        entry(1, bytes(32)),
        entry(1, b"\xff" * 32),
        "0x" + SECRET.hex(),
        "abandon " * 11 + "about",
        "suiprivkey1",
    ],
)
def test_other_forms_are_refused(text: str) -> None:
    with pytest.raises(WalletError):
        key_pair_from_text(text)


def test_new_keys_differ() -> None:
    assert new_key_pair().secret != new_key_pair().secret


def test_a_new_key_is_that_of_its_own_text() -> None:
    pair = new_key_pair()
    assert key_pair_from_text(pair.text()).address == pair.address


@pytest.mark.parametrize(("flag", "curve"), [(1, ec.SECP256K1()), (2, ec.SECP256R1())])
def test_ecdsa_signatures_verify_over_the_hashed_intent_message(flag: int, curve: ec.EllipticCurve) -> None:
    pair = key_pair_from_text(entry(flag, SECRET))
    raw = signer_of(pair).sign(b"transaction").serialized
    assert (raw[0], raw[65:]) == (flag, pair.public_key)
    rs = encode_dss_signature(int.from_bytes(raw[1:33]), int.from_bytes(raw[33:65]))
    message = hashlib.blake2b(b"\0\0\0transaction", digest_size=32).digest()
    key = ec.EllipticCurvePublicKey.from_encoded_point(curve, pair.public_key)
    key.verify(rs, message, ec.ECDSA(hashes.SHA256()))


@pytest.mark.parametrize("flag", [0, 1, 2])
def test_a_signer_keeps_the_address_and_the_pair_forgets_the_key(flag: int) -> None:
    pair = key_pair_from_text(entry(flag, SECRET))
    address = pair.address
    assert signer_of(pair).address == address
    assert pair.secret == bytes(32)


@pytest.mark.parametrize("flag", [0, 1, 2])
def test_nothing_that_holds_a_key_shows_it(flag: int) -> None:
    pair = key_pair_from_text(entry(flag, SECRET))
    shown = repr(pair)
    signer = signer_of(pair)
    assert shown == f"KeyPair({signer.address})"
    assert repr(signer) in (f"Ed25519Signer({signer.address})", f"EcdsaSigner({signer.address})")


@pytest.mark.parametrize("flag", [0, 1, 2])
def test_a_signer_cannot_be_written_away(flag: int) -> None:
    signer = signer_of(key_pair_from_text(entry(flag, SECRET)))
    with pytest.raises(TypeError):
        pickle.dumps(signer)


def test_a_key_pair_cannot_be_written_away() -> None:
    with pytest.raises(TypeError):
        pickle.dumps(KeyPair(0, bytearray(SECRET), b""))


def test_importing_the_wallet_loads_no_cryptography() -> None:
    code = (
        "import sys, tidegate.core.chain.wallet;"
        "print({'cryptography', 'pysui', 'pysui_fastcrypto'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "set()\n"


def test_signing_does_not_load_pysui() -> None:
    code = (
        "import sys; from tidegate.core.chain.wallet import signer_from_secret as s;"
        f"s({TEXT!r}).sign(b''); s({entry(1, SECRET)!r}).sign(b''); print('pysui' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"
