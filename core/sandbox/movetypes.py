"""Move types and the values of them: parsing, canonical text, BCS.

pysui's own parser loses nested generics (shared/spec notes it), so types are parsed here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tidegate.core.sandbox.encoding import (
    BadEncoding,
    Reader,
    address_bytes,
    address_text,
    blob,
    text,
    uint,
    uleb128,
)
from tidegate.core.sandbox.modules.base import Balance, Coin, MoveStruct, OwnedObject, SharedObject, Value
from tidegate.core.tokens import normalize_address

INTEGER_BITS = {"u8": 8, "u16": 16, "u32": 32, "u64": 64, "u128": 128, "u256": 256}

# Variant indices of TypeTag in BCS (Sui Rust SDK, `TypeTag`); structs and vectors carry more.
_TAG_OF_PRIMITIVE = {
    "bool": 0,
    "u8": 1,
    "u64": 2,
    "u128": 3,
    "address": 4,
    "signer": 5,
    "u16": 8,
    "u32": 9,
    "u256": 10,
}
_TAG_VECTOR, _TAG_STRUCT = 6, 7
_PRIMITIVE_OF_TAG = {tag: name for name, tag in _TAG_OF_PRIMITIVE.items()}

_TOKEN = re.compile(r"\s*([A-Za-z0-9_:]+|[<>,])")
_STRUCT = re.compile(r"(0x[0-9a-fA-F]{1,64})::([A-Za-z]\w*)::([A-Za-z]\w*)\Z")
_PARAMETER = re.compile(r"T\d+\Z")
_MAX_DEPTH = 16


def _framework(name: str) -> str:
    address, rest = name.split("::", 1)
    return f"{normalize_address(address)}::{rest}"


COIN = _framework("0x2::coin::Coin")
BALANCE = _framework("0x2::balance::Balance")
STRING = _framework("0x1::string::String")
ASCII_STRING = _framework("0x1::ascii::String")
OPTION = _framework("0x1::option::Option")
ID = _framework("0x2::object::ID")


@dataclass(frozen=True, slots=True)
class MoveType:
    """A type: a primitive, ``vector``, a struct by its full name, or a type parameter ``T0``."""

    name: str
    params: tuple[MoveType, ...] = ()

    def __str__(self) -> str:
        if not self.params:
            return self.name
        return f"{self.name}<{','.join(str(param) for param in self.params)}>"

    def fill(self, arguments: Sequence[MoveType]) -> MoveType:
        """Return the type with ``T0``, ``T1`` … replaced by the arguments."""
        if _PARAMETER.match(self.name):
            return arguments[int(self.name[1:])]
        return MoveType(self.name, tuple(param.fill(arguments) for param in self.params))


@dataclass(frozen=True, slots=True)
class Parameter:
    """A declared parameter: by value, by ``&`` or by ``&mut``."""

    type: MoveType
    reference: str
    """``""``, ``"&"`` or ``"&mut"``."""


def parse_type(written: str) -> MoveType:
    """Return the type that a text names; addresses may be short.

    Raises:
        BadEncoding: not a Move type.
    """
    tokens: list[str] = []
    at = 0
    while at < len(written.rstrip()):
        match = _TOKEN.match(written, at)
        if match is None:
            raise BadEncoding(f"not a Move type: {written!r}")
        tokens.append(match[1])
        at = match.end()
    parsed, rest = _parse(tokens, written, 0)
    if rest:
        raise BadEncoding(f"not a Move type: {written!r}")
    return parsed


def _parse(tokens: list[str], written: str, depth: int) -> tuple[MoveType, list[str]]:
    if not tokens or depth > _MAX_DEPTH:
        raise BadEncoding(f"not a Move type: {written!r}")
    name, rest = tokens[0], tokens[1:]
    params: list[MoveType] = []
    if rest and rest[0] == "<":
        while rest and rest[0] in "<,":
            param, rest = _parse(rest[1:], written, depth + 1)
            params.append(param)
        if not rest or rest[0] != ">":
            raise BadEncoding(f"not a Move type: {written!r}")
        rest = rest[1:]
    struct = _STRUCT.match(name)
    if struct:
        return MoveType(f"{normalize_address(struct[1])}::{struct[2]}::{struct[3]}", tuple(params)), rest
    known = name in _TAG_OF_PRIMITIVE or _PARAMETER.match(name)
    if (known and not params) or (name == "vector" and len(params) == 1):
        return MoveType(name, tuple(params)), rest
    raise BadEncoding(f"not a Move type: {written!r}")


def parse_parameter(written: str) -> Parameter:
    """Return a declared parameter such as ``&mut 0x2::coin::Coin<T0>``."""
    for reference in ("&mut ", "&"):
        if written.startswith(reference):
            return Parameter(parse_type(written[len(reference) :]), reference.strip())
    return Parameter(parse_type(written), "")


def coin_of(coin_type: str | MoveType) -> MoveType:
    """Return ``0x2::coin::Coin<T>``."""
    return MoveType(COIN, (coin_type if isinstance(coin_type, MoveType) else parse_type(coin_type),))


def type_tag(move_type: MoveType) -> bytes:
    """Return the BCS of a TypeTag."""
    if move_type.name == "vector":
        return bytes([_TAG_VECTOR]) + type_tag(move_type.params[0])
    if move_type.name in _TAG_OF_PRIMITIVE:
        return bytes([_TAG_OF_PRIMITIVE[move_type.name]])
    return bytes([_TAG_STRUCT]) + struct_tag(move_type)


def struct_tag(move_type: MoveType) -> bytes:
    """Return the BCS of a StructTag: address, module, name, type parameters."""
    address, module, name = move_type.name.split("::")
    params = b"".join(type_tag(param) for param in move_type.params)
    return address_bytes(address) + text(module) + text(name) + uleb128(len(move_type.params)) + params


def read_type_tag(reader: Reader) -> MoveType:
    """Read one TypeTag.

    Raises:
        BadEncoding: unknown variant or cut short.
    """
    tag = reader.length()
    if tag == _TAG_VECTOR:
        return MoveType("vector", (read_type_tag(reader),))
    if tag == _TAG_STRUCT:
        address = address_text(reader.take(32))
        module, name = (_utf8(reader.blob()) for _ in range(2))
        params = tuple(read_type_tag(reader) for _ in range(reader.length()))
        return MoveType(f"{address}::{module}::{name}", params)
    if tag not in _PRIMITIVE_OF_TAG:
        raise BadEncoding(f"unknown type tag {tag}")
    return MoveType(_PRIMITIVE_OF_TAG[tag])


def is_pure(move_type: MoveType) -> bool:
    """Say whether a transaction may give a value of the type as raw bytes."""
    if move_type.name in ("vector", OPTION):
        return is_pure(move_type.params[0])
    return (
        move_type.name in INTEGER_BITS
        or move_type.name in ("bool", "address", ID, STRING)
        or move_type.name == ASCII_STRING
    )


def is_copy(move_type: MoveType) -> bool:
    """Say whether values of the type can be copied and dropped: the pure types can, no other here."""
    return is_pure(move_type)


def decode_pure(move_type: MoveType, raw: bytes) -> Value:
    """Return the value that the bytes of a pure input stand for.

    Raises:
        BadEncoding: they are not one value of the type.
    """
    reader = Reader(raw)
    value = _read(move_type, reader)
    reader.end()
    return value


def _read(move_type: MoveType, reader: Reader) -> Value:
    name = move_type.name
    if name in INTEGER_BITS:
        return reader.uint(INTEGER_BITS[name])
    if name == "bool":
        return _flag(reader)
    if name in ("address", ID):
        return address_text(reader.take(32))
    if name == STRING:
        return _utf8(reader.blob())
    if name == ASCII_STRING:
        word = _utf8(reader.blob())
        if not word.isascii():
            raise BadEncoding("not ASCII")
        return word
    if name == OPTION:
        return _read(move_type.params[0], reader) if _flag(reader) else None
    if name == "vector":
        if move_type.params[0].name == "u8":
            return reader.blob()
        return [_read(move_type.params[0], reader) for _ in range(reader.length())]
    raise BadEncoding(f"{move_type} can not be given as bytes")


def _flag(reader: Reader) -> bool:
    byte = reader.uint(8)
    if byte > 1:
        raise BadEncoding("neither true nor false")
    return byte == 1


def _utf8(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise BadEncoding("not UTF-8") from error


def encode_value(move_type: MoveType, value: Value) -> bytes:
    """Return the BCS of a value of the type.

    Raises:
        BadEncoding: the value is not of the type.
    """
    name = move_type.name
    match value:
        case bool() if name == "bool":
            return bytes([value])
        case int() if name in INTEGER_BITS and not isinstance(value, bool):
            return uint(value, INTEGER_BITS[name])
        case str() if name in ("address", ID):
            return address_bytes(value)
        case str() if name in (STRING, ASCII_STRING):
            return text(value)
        case bytes() if name == "vector":
            return blob(value)
        case list() if name == "vector":
            return uleb128(len(value)) + b"".join(encode_value(move_type.params[0], item) for item in value)
        case None if name == OPTION:
            return b"\0"
        case _ if name == OPTION:
            return b"\1" + encode_value(move_type.params[0], value)
        case Coin(id=str(object_id)) if name == COIN:
            return address_bytes(object_id) + uint(value.value, 64)
        case Balance() if name == BALANCE:
            return uint(value.value, 64)
        case MoveStruct():
            return encode_struct(value)
        case SharedObject() | OwnedObject():
            return address_bytes(value.id)
    raise BadEncoding(f"{value!r} is no {move_type}")


def encode_struct(value: MoveStruct) -> bytes:
    """Return the BCS of a struct: its fields in declaration order."""
    return b"".join(encode_value(parse_type(written), value.fields[name]) for name, written in value.layout)


def value_json(value: Value) -> object:
    """Return a value as Sui's JSON shows it: integers as strings, bytes as lists of numbers."""
    match value:
        case bool() | str() | None:
            return value
        case int():
            return str(value)
        case bytes():
            return list(value)
        case list():
            return [value_json(item) for item in value]
        case Coin():
            return {"id": value.id, "balance": str(value.value)}
        case Balance():
            return {"value": str(value.value)}
        case SharedObject() | OwnedObject():
            return {"id": value.id}
    return {name: value_json(value.fields[name]) for name, _ in value.layout}
