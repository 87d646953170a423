"""What a key file says, and how a passphrase seals the private key in it.

Sealing is scrypt (RFC 7914) and ChaCha20-Poly1305 (RFC 8439). The address is bound to the ciphertext, so that
a file whose address was changed does not open.
"""

from __future__ import annotations

import os
import unicodedata
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tidegate.core.chain.keys import KeyPair, Scheme, key_pair_from_text
from tidegate.core.errors import PassphraseNeeded, WalletError

_SCRYPT_LOG2_N, _SCRYPT_R, _SCRYPT_P = 15, 8, 3
"""32 MiB, three times over: one of the equal choices of OWASP's Password Storage Cheat Sheet."""

_CONFIG = ConfigDict(
    extra="forbid", frozen=True, hide_input_in_errors=True, ser_json_bytes="base64", val_json_bytes="base64"
)


class PlainSecret(BaseModel):
    """A private key that only the file's mode protects."""

    model_config = _CONFIG

    kind: Literal["plain"] = "plain"
    key: str = Field(repr=False)
    """``suiprivkey1…``."""


class SealedSecret(BaseModel):
    """A private key that a passphrase opens."""

    model_config = _CONFIG

    kind: Literal["scrypt+chacha20-poly1305"] = "scrypt+chacha20-poly1305"
    # The bounds keep a planted file from taking all memory (128 · 2^log2_n · r bytes) or minutes.
    log2_n: int = Field(ge=15, le=20)
    r: int = Field(ge=8, le=8)
    p: int = Field(ge=1, le=8)
    salt: bytes = Field(min_length=16, max_length=64)
    nonce: bytes = Field(min_length=12, max_length=12)
    ciphertext: bytes = Field(max_length=1024)


class KeyFile(BaseModel):
    """The content of one key file."""

    model_config = _CONFIG

    version: Literal[1] = 1
    scheme: Scheme
    address: str = Field(pattern="^0x[0-9a-f]{64}$")
    secret: Annotated[PlainSecret | SealedSecret, Field(discriminator="kind")]

    @property
    def encrypted(self) -> bool:
        """Whether it takes a passphrase to open."""
        return isinstance(self.secret, SealedSecret)


def parse_key_file(content: bytes, name: str) -> KeyFile:
    """Return what a key file says.

    Raises:
        WalletError: it is not a key file of this version.
    """
    try:
        return KeyFile.model_validate_json(content)
    except ValidationError:
        raise _damaged(name) from None


def close_key_file(pair: KeyPair, passphrase: str | None) -> KeyFile:
    """Return the file for a key: sealed, or in the open when there is no passphrase.

    Raises:
        WalletError: the passphrase is empty.
    """
    if passphrase is None:
        return KeyFile(scheme=pair.scheme, address=pair.address, secret=PlainSecret(key=pair.text()))
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    salt, nonce = os.urandom(16), os.urandom(12)
    key = _derive(passphrase, salt, _SCRYPT_LOG2_N, _SCRYPT_R, _SCRYPT_P)
    ciphertext = ChaCha20Poly1305(key).encrypt(
        nonce, pair.text().encode(), _associated(pair.scheme, pair.address)
    )
    sealed = SealedSecret(
        log2_n=_SCRYPT_LOG2_N, r=_SCRYPT_R, p=_SCRYPT_P, salt=salt, nonce=nonce, ciphertext=ciphertext
    )
    return KeyFile(scheme=pair.scheme, address=pair.address, secret=sealed)


def open_key_file(file: KeyFile, name: str, passphrase: str | None) -> KeyPair:
    """Return the key in a file.

    Args:
        file: What `parse_key_file` gave.
        name: The key's name, for errors.
        passphrase: What the file was closed with; not looked at if it is in the open.

    Raises:
        PassphraseNeeded: the file is sealed and there is no passphrase.
        WalletError: the passphrase is wrong, or the key in the file is not that of its address.
    """
    if isinstance(file.secret, PlainSecret):
        text = file.secret.key
    elif passphrase is None:
        raise PassphraseNeeded(f"The key {name} is encrypted and needs its passphrase.")
    else:
        text = _unseal(file.secret, _associated(file.scheme, file.address), name, passphrase)
    pair = key_pair_from_text(text)
    if (pair.scheme, pair.address) != (file.scheme, file.address):
        pair.forget()
        raise _damaged(name)
    return pair


def _unseal(sealed: SealedSecret, associated: bytes, name: str, passphrase: str) -> str:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

    key = _derive(passphrase, sealed.salt, sealed.log2_n, sealed.r, sealed.p)
    try:
        return ChaCha20Poly1305(key).decrypt(sealed.nonce, sealed.ciphertext, associated).decode()
    except InvalidTag:
        raise WalletError(
            f"This is the wrong passphrase for the key {name}, or its file was changed.",
            hint="Try again. Without the passphrase only a backup of the key can bring it back.",
        ) from None


def _derive(passphrase: str, salt: bytes, log2_n: int, r: int, p: int) -> bytes:
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    if not passphrase:
        raise WalletError("The passphrase is empty.", hint="Give at least one character; many are better.")
    # The same letters come composed from one keyboard and decomposed from another.
    password = unicodedata.normalize("NFC", passphrase).encode("utf-8", "surrogatepass")
    return bytes(Scrypt(salt=salt, length=32, n=2**log2_n, r=r, p=p).derive(password))


def _associated(scheme: str, address: str) -> bytes:
    return f"tidegate key 1\n{scheme}\n{address}".encode()


def _damaged(name: str) -> WalletError:
    return WalletError(
        f"The file of the key {name} is damaged.",
        hint="Restore it from a backup, or move it away and import the key again.",
    )
