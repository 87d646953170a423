"""Move values as a simulation returns them (BCS), read back."""

from __future__ import annotations

from dataclasses import dataclass


def read_uint(raw: bytes) -> int:
    """Return an unsigned integer of any width."""
    return int.from_bytes(raw, "little")


def read_bool(raw: bytes) -> bool:
    """Return a bool.

    Raises:
        ValueError: it is neither 0 nor 1.
    """
    if raw not in (b"\0", b"\1"):
        raise ValueError(f"{raw.hex()} is not a Move bool")
    return raw == b"\1"


def read_byte_vector(raw: bytes) -> bytes:
    """Return a ``vector<u8>``, or the bytes of a string.

    Raises:
        ValueError: its length is not that of what follows.
    """
    length, start = _uleb128(raw)
    if len(raw) - start != length:
        raise ValueError(f"a vector of {length} bytes has {len(raw) - start}")
    return raw[start:]


@dataclass
class Fields:
    """Reads the fields of a struct, one after another."""

    raw: bytes
    at: int = 0

    def uint(self, bits: int) -> int:
        """Return the next field, an unsigned integer.

        Raises:
            ValueError: the struct ends before it.
        """
        end = self.at + bits // 8
        if end > len(self.raw):
            raise ValueError(
                f"a Move struct of {len(self.raw)} bytes has no field of {bits} bits at {self.at}"
            )
        value = read_uint(self.raw[self.at : end])
        self.at = end
        return value


def _uleb128(raw: bytes) -> tuple[int, int]:
    """Return the number and where it ends."""
    value = 0
    for index, byte in enumerate(raw[:5]):
        value |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            return value, index + 1
    raise ValueError("a Move vector has no length")
