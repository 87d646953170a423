"""Bytes as Sui writes them: BCS primitives, base58, hashes with their salts, and derived ids.

Sources: the BCS specification (little-endian integers, ULEB128 lengths) and the salts of the Sui Rust SDK
(``Object::``, ``TransactionData::``, ``TransactionEffects::``, ``TransactionEvents::``).
"""

from __future__ import annotations

import hashlib

_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_DERIVED_OBJECT_SCOPE = b"\xf1"


class BadEncoding(ValueError):
    """Bytes or text that do not decode as what they should be."""


def uleb128(value: int) -> bytes:
    """Return a length or variant index as BCS writes it."""
    out = bytearray()
    while True:
        byte, value = value & 0x7F, value >> 7
        if not value:
            out.append(byte)
            return bytes(out)
        out.append(byte | 0x80)


def uint(value: int, bits: int) -> bytes:
    """Return an unsigned integer in little-endian form.

    Raises:
        BadEncoding: the value does not fit.
    """
    if not 0 <= value < 1 << bits:
        raise BadEncoding(f"{value} does not fit in u{bits}")
    return value.to_bytes(bits // 8, "little")


def blob(data: bytes) -> bytes:
    """Return ``vector<u8>``: a length and the bytes."""
    return uleb128(len(data)) + data


def text(value: str) -> bytes:
    """Return a UTF-8 string with its length."""
    return blob(value.encode())


def address_bytes(address: str) -> bytes:
    """Return the 32 bytes of ``0x`` and 64 hex digits."""
    raw = bytes.fromhex(address[2:])
    if len(raw) != 32:
        raise BadEncoding(f"not a full address: {address}")
    return raw


def address_text(raw: bytes) -> str:
    """Return 32 bytes as ``0x`` and 64 hex digits."""
    return "0x" + raw.hex()


class Reader:
    """Reads BCS from left to right.

    Args:
        data: All the bytes; `end` refuses what is left over.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, count: int) -> bytes:
        """Return the next bytes, or raise BadEncoding when there are fewer."""
        if self._at + count > len(self._data):
            raise BadEncoding("value is cut short")
        self._at += count
        return self._data[self._at - count : self._at]

    def uint(self, bits: int) -> int:
        """Return an unsigned integer."""
        return int.from_bytes(self.take(bits // 8), "little")

    def length(self) -> int:
        """Return a ULEB128 number below 2^32; longer forms than needed are refused, as BCS demands."""
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if not byte & 0x80:
                if shift and not byte:
                    raise BadEncoding("length is not in its shortest form")
                if value >= 1 << 32:
                    raise BadEncoding("length is too large")
                return value
            shift += 7
            if shift > 28:
                raise BadEncoding("length is too large")

    def blob(self) -> bytes:
        """Return a ``vector<u8>``."""
        return self.take(self.length())

    def end(self) -> None:
        """Refuse trailing bytes."""
        if self._at != len(self._data):
            raise BadEncoding("bytes are left over")


def base58(raw: bytes) -> str:
    """Return bytes in base58, as Sui shows digests."""
    number = int.from_bytes(raw, "big")
    digits = ""
    while number:
        number, digit = divmod(number, 58)
        digits = _ALPHABET[digit] + digits
    return "1" * (len(raw) - len(raw.lstrip(b"\0"))) + digits


def digest_bytes(digest: str) -> bytes:
    """Return the 32 bytes of a base58 digest.

    Raises:
        BadEncoding: another alphabet or another length.
    """
    number = 0
    for letter in digest:
        index = _ALPHABET.find(letter)
        if index < 0:
            raise BadEncoding(f"not base58: {digest!r}")
        number = number * 58 + index
    zeros = len(digest) - len(digest.lstrip("1"))
    raw = b"\0" * zeros + number.to_bytes((number.bit_length() + 7) // 8, "big")
    if len(raw) != 32:
        raise BadEncoding(f"not a 32-byte digest: {digest!r}")
    return raw


def blake2b(data: bytes) -> bytes:
    """Return BLAKE2b-256."""
    return hashlib.blake2b(data, digest_size=32).digest()


def salted_digest(kind: str, bcs: bytes) -> str:
    """Return the digest of a BCS value: base58 of BLAKE2b-256 over ``kind::`` and the bytes."""
    return base58(blake2b(kind.encode() + b"::" + bcs))


def derived_id(transaction_digest: str, counter: int) -> str:
    """Return the id of the n-th object that a transaction creates (0xf1, digest, u64 counter)."""
    return address_text(blake2b(_DERIVED_OBJECT_SCOPE + digest_bytes(transaction_digest) + uint(counter, 64)))


def address_of_key(flag: int, public_key: bytes) -> str:
    """Return the address of a public key: BLAKE2b-256 over the scheme's flag and the key."""
    return address_text(blake2b(bytes([flag]) + public_key))
