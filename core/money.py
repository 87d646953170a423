"""Money: exact amounts of tokens in base units, and US dollars. No float ever holds money."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import ROUND_DOWN, Context, Decimal, Inexact, InvalidOperation

from tidegate.core.errors import BadAmount
from tidegate.core.tokens import Token

MAX_U64 = 2**64 - 1

# Wide enough for u64 base units times an 18-digit price; anything longer must fail, not round.
_EXACT = Context(prec=80, traps=[Inexact, InvalidOperation])

_GROUPED = re.compile(r"\d{1,3}(,\d{3})+(\.\d+)?\Z")
_PLAIN = re.compile(r"(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?\Z")
_MAX_LENGTH = 80


@dataclass(frozen=True, slots=True, order=True)
class Usd:
    """A finite number of US dollars."""

    value: Decimal

    def __post_init__(self) -> None:
        if not self.value.is_finite():
            raise BadAmount(f"{self.value} is not an amount of dollars.")

    def __add__(self, other: Usd) -> Usd:
        return Usd(_EXACT.add(self.value, other.value))

    def __sub__(self, other: Usd) -> Usd:
        return Usd(_EXACT.subtract(self.value, other.value))

    def __str__(self) -> str:
        return f"{self.value:,.2f} USD"


ZERO_USD = Usd(Decimal(0))


@dataclass(frozen=True, slots=True)
class Amount:
    """A non-negative number of base units of one token."""

    token: Token
    base: int
    """Base units (MIST for SUI, 1e-6 USDC for USDC)."""

    def __post_init__(self) -> None:
        if not 0 <= self.base <= MAX_U64:
            raise BadAmount(
                f"{_shorten(str(self.base))} base units of {self.token.symbol} do not fit in an unsigned "
                "64-bit number."
            )

    @classmethod
    def of(cls, token: Token, value: Decimal) -> Amount:
        """Return the amount that is exactly `value` tokens.

        Args:
            token: What is counted.
            value: Number of whole tokens, zero or more.

        Raises:
            BadAmount: not finite, negative, finer than the token's base unit, or past 64 bits.
        """
        if not value.is_finite() or value.is_signed():
            raise BadAmount(
                f"{_shorten(str(value))} is not an amount of {token.symbol}.",
                hint="Give a positive number, such as 10.5.",
            )
        try:
            base = value.scaleb(token.decimals, _EXACT)
            whole = base.to_integral_value(ROUND_DOWN)
        except (InvalidOperation, Inexact):
            raise BadAmount(
                f"{_shorten(str(value))} has more digits than an amount of {token.symbol} can have."
            ) from None
        if whole != base:
            raise BadAmount(
                f"{_shorten(str(value))} {token.symbol} is finer than its smallest unit: "
                f"{token.symbol} has {token.decimals} decimals.",
                hint=f"Give at most {token.decimals} digits after the point; nothing is rounded for you.",
            )
        return cls(token, int(whole))

    @property
    def value(self) -> Decimal:
        """The exact number of whole tokens."""
        return Decimal(self.base).scaleb(-self.token.decimals, _EXACT)

    def usd(self, price: Decimal) -> Usd:
        """Return the exact value at a price in USD for one token."""
        return Usd(_EXACT.multiply(self.value, price))

    def __str__(self) -> str:
        return f"{plain(self.value)} {self.token.symbol}"


@dataclass(frozen=True, slots=True)
class Exactly:
    """A stated number of tokens."""

    value: Decimal


@dataclass(frozen=True, slots=True)
class Share:
    """A part of what is there: ``all`` is 100 percent."""

    percent: Decimal


Quantity = Exactly | Share


def parse_quantity(text: str) -> Quantity:
    """Return what a person means by ``10``, ``1,000``, ``1e3``, ``all``, ``half`` or ``50%``, exactly.

    Full-width and other decimal digits are read as their ASCII forms; every other look-alike is refused.

    Raises:
        BadAmount: the text is not an amount, or zero, negative, not finite, or over 100 percent.
    """
    word = "".join(_ascii(char) for char in text.strip()[: 2 * _MAX_LENGTH])
    shown = _shorten(word)
    if word.lower() in ("all", "everything", "max"):
        return Share(Decimal(100))
    if word.lower() == "half":
        return Share(Decimal(50))
    if word.endswith("%"):
        percent = _number(word[:-1].rstrip(), shown)
        if percent > 100:
            raise BadAmount(f"{shown!r} is more than all of it.")
        return Share(percent)
    return Exactly(_number(word, shown))


def _ascii(char: str) -> str:
    """Return the ASCII form of a full-width sign or of a decimal digit of any script, else the character.

    Superscripts and fractions stay as they are: reading 10² as 102 would invent an amount.
    """
    if unicodedata.category(char) == "Nd":
        return str(unicodedata.decimal(char))
    return chr(ord(char) - 0xFEE0) if "\uff01" <= char <= "\uff5e" else char


def _shorten(text: str) -> str:
    return text if len(text) <= 40 else text[:40] + "…"


def _number(word: str, shown: str) -> Decimal:
    if len(word) > _MAX_LENGTH:
        raise BadAmount(f"{shown!r} is too long to be an amount.")
    if word.startswith("-"):
        raise BadAmount(f"{shown!r} is negative.", hint="Give a positive number, such as 10.5.")
    if _GROUPED.match(word):
        word = word.replace(",", "")
    elif "," in word:
        raise BadAmount(
            f"{shown!r} can be read in two ways.",
            hint="Commas may only separate thousands (1,000); write decimals with a point (10.5).",
        )
    if not (word.isascii() and _PLAIN.match(word)):
        raise BadAmount(
            f"{shown!r} is not an amount.", hint="Give a number such as 10.5, a share such as 50%, or all."
        )
    number = Decimal(word)
    if number == 0:
        raise BadAmount(f"{shown!r} is zero.", hint="Give an amount above zero.")
    return number


def take(quantity: Quantity, available: Amount) -> Amount:
    """Return the amount a quantity names, shares being taken of `available` and rounded down to a base unit.

    Raises:
        BadAmount: an exact quantity is finer than the token's base unit, or a share of it comes to nothing.
    """
    if isinstance(quantity, Exactly):
        return Amount.of(available.token, quantity.value)
    # In whole numbers: a share may have more digits than any decimal context keeps.
    numerator, denominator = quantity.percent.as_integer_ratio()
    base = available.base * numerator // (denominator * 100)
    if base == 0:
        raise BadAmount(
            f"{plain(quantity.percent)}% of the {available} that can be moved comes to nothing.",
            hint="Add some first, or name an amount.",
        )
    return Amount(available.token, base)


def plain(value: Decimal) -> str:
    """Return a number without exponent or trailing zeros: ``100``, ``0.000001``."""
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text
