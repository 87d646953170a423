"""Private keys: their text forms, what they sign, and whose they are.

Scheme flags, address and signature layout are Sui's (docs.sui.io, "Cryptography"): an address is the
BLAKE2b-256 of flag and public key; a transaction is signed as the BLAKE2b-256 of intent and BCS; a serialized
signature is flag, signature, public key.
"""

from __future__ import annotations

import base64
import hashlib
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NoReturn

from tidegate.core.chain.types import Signature, Signer
from tidegate.core.errors import WalletError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

Scheme = Literal["ed25519", "secp256k1", "secp256r1"]

SECRET_BYTES = 32
_SCHEMES: tuple[Scheme, ...] = ("ed25519", "secp256k1", "secp256r1")
"""In the order of their flags: 0, 1, 2."""
_HRP = "suiprivkey"
_TRANSACTION_INTENT = bytes(3)
"""Scope transaction data, version 0, application Sui."""


def address_of(flag: int, public_key: bytes) -> str:
    """Return the Sui address of a public key.

    Args:
        flag: 0 Ed25519, 1 secp256k1, 2 secp256r1.
        public_key: 32 bytes for Ed25519, else 33 (compressed).
    """
    return "0x" + _blake2b(bytes([flag]) + public_key).hex()


def _blake2b(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=32).digest()


@dataclass(slots=True)
class KeyPair:
    """A private key in the open, on its way between a text, a file and a signer. Its repr shows the address.

    Python keeps copies that nobody can reach, so `forget` overwrites this one and promises nothing of others.
    """

    flag: int
    secret: bytearray
    public_key: bytes

    @property
    def scheme(self) -> Scheme:
        """The name of the signature scheme."""
        return _SCHEMES[self.flag]

    @property
    def address(self) -> str:
        """The Sui address."""
        return address_of(self.flag, self.public_key)

    def __repr__(self) -> str:
        return f"KeyPair({self.address})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not pickled")

    def text(self) -> str:
        """Return the key as ``suiprivkey1…``: whoever sees this text owns what the key owns."""
        import pysui_fastcrypto

        return str(pysui_fastcrypto.encode_bech32(bytes([self.flag]) + bytes(self.secret), _HRP))

    def forget(self) -> None:
        """Overwrite the private key."""
        self.secret[:] = bytes(len(self.secret))


def new_key_pair() -> KeyPair:
    """Return a fresh Ed25519 key from the system's random source."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    return KeyPair(0, bytearray(key.private_bytes_raw()), key.public_key().public_bytes_raw())


def key_pair_from_text(text: str) -> KeyPair:
    """Return the key of ``suiprivkey1…`` or of one entry of a sui.keystore file (44 characters, base64).

    Raises:
        WalletError: the text is neither, or is damaged; it is never repeated in the error.
    """
    import pysui_fastcrypto

    text = text.strip()
    flag, public_key, secret = 255, b"", b""
    # What fails to parse leaves the flag that no scheme has; the parser's own errors repeat the text.
    with suppress(ValueError):
        if text[: len(_HRP)].lower() == _HRP:
            flag, public_key, secret = pysui_fastcrypto.decode_bech32(text, _HRP)
        elif len(base64.b64decode(text, validate=True)) == 1 + SECRET_BYTES:
            flag, public_key, secret = pysui_fastcrypto.keys_from_keystring(text)
    if flag >= len(_SCHEMES) or len(secret) != SECRET_BYTES:
        raise WalletError(
            "This is not a private key, or a character of it is wrong.",
            hint="Give a key that begins with suiprivkey1, or one entry of a sui.keystore file.",
        )
    return KeyPair(flag, bytearray(secret), bytes(public_key))


class Ed25519Signer:
    """Signs with a native key object, so that no private key lies about as Python bytes."""

    __slots__ = ("_key", "_public_key", "address")

    def __init__(self, pair: KeyPair) -> None:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        self._key: Ed25519PrivateKey = Ed25519PrivateKey.from_private_bytes(pair.secret)
        self._public_key = pair.public_key
        self.address = pair.address

    def sign(self, transaction: bytes) -> Signature:
        """Sign BCS TransactionData."""
        signature = self._key.sign(_blake2b(_TRANSACTION_INTENT + transaction))
        return Signature(b"\x00" + signature + self._public_key)

    def __repr__(self) -> str:
        return f"Ed25519Signer({self.address})"


class EcdsaSigner:
    """Signs for secp256k1 and secp256r1, where the library takes the private key as bytes every time."""

    __slots__ = ("_flag", "_secret", "address")

    def __init__(self, pair: KeyPair) -> None:
        self._flag = pair.flag
        self._secret = bytes(pair.secret)
        self.address = pair.address

    def sign(self, transaction: bytes) -> Signature:
        """Sign BCS TransactionData."""
        import pysui_fastcrypto

        text = base64.b64encode(transaction).decode()
        return Signature(
            bytes(pysui_fastcrypto.sign_digest(self._flag, self._secret, text, _TRANSACTION_INTENT))
        )

    def __repr__(self) -> str:
        return f"EcdsaSigner({self.address})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not pickled")


def signer_of(pair: KeyPair) -> Signer:
    """Return what signs with a key, and forget the key pair itself."""
    signer: Signer = Ed25519Signer(pair) if pair.flag == 0 else EcdsaSigner(pair)
    pair.forget()
    return signer
