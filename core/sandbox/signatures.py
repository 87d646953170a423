"""User signatures: Ed25519 over the intent message, and whose they are."""

from __future__ import annotations

from collections.abc import Sequence

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from tidegate.core.sandbox.encoding import address_of_key, blake2b
from tidegate.core.sandbox.refusals import invalid, unimplemented
from tidegate.core.sandbox.transactions import Transaction

_ED25519_FLAG = 0
_LENGTH = 1 + 64 + 32
_TRANSACTION_INTENT = bytes([0, 0, 0])
_PERSONAL_MESSAGE_INTENT = bytes([3, 0, 0])


def signer_of(signature: bytes, intent_message: bytes) -> str:
    """Return the address whose key made a signature.

    Args:
        signature: Flag byte, 64 bytes of signature, public key.
        intent_message: Three intent bytes and the BCS of what was signed.

    Raises:
        Refused: UNIMPLEMENTED for another scheme than Ed25519, INVALID_ARGUMENT for a signature that does not
            verify.
    """
    if not signature:
        raise invalid("Invalid user signature: it is empty")
    if signature[0] != _ED25519_FLAG:
        raise unimplemented(f"signature scheme {signature[0]} is not emulated: sign with Ed25519")
    if len(signature) != _LENGTH:
        raise invalid(f"Invalid user signature: {len(signature)} bytes, expected {_LENGTH}")
    public_key = signature[65:]
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature[1:65], blake2b(intent_message))
    except (InvalidSignature, ValueError) as error:
        raise invalid("Invalid user signature: Ed25519 verification failed") from error
    return address_of_key(_ED25519_FLAG, public_key)


def transaction_intent(bcs: bytes) -> bytes:
    """Return the intent message of a transaction."""
    return _TRANSACTION_INTENT + bcs


def personal_message_intent(bcs: bytes) -> bytes:
    """Return the intent message of a personal message, given as BCS: its bytes with their length in front."""
    return _PERSONAL_MESSAGE_INTENT + bcs


def check_signatures(transaction: Transaction, bcs: bytes, signatures: Sequence[bytes]) -> None:
    """Refuse a transaction that the sender, and a sponsor if there is one, did not all sign.

    Raises:
        Refused: INVALID_ARGUMENT, or UNIMPLEMENTED for another scheme.
    """
    required = {transaction.sender, transaction.gas.owner}
    if len(signatures) != len(required):
        raise invalid(f"Expect {len(required)} signer signatures but got {len(signatures)}")
    signers = {signer_of(signature, transaction_intent(bcs)) for signature in signatures}
    if signers != required:
        raise invalid(f"required signers are {sorted(required)}, signatures are of {sorted(signers)}")
