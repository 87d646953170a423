from __future__ import annotations

from decimal import Decimal, Inexact
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.core.errors import BadAmount
from tidegate.core.money import MAX_U64, Amount, Exactly, Share, Usd, parse_quantity, plain, take
from tidegate.core.tokens import SUI, USDC, Token

ALL = Share(Decimal(100))
HALF = Share(Decimal(50))
bases = st.integers(0, MAX_U64)


@pytest.mark.parametrize(
    ("text", "quantity"),
    [
        ("10", Exactly(Decimal(10))),
        ("10.5", Exactly(Decimal("10.5"))),
        ("10.", Exactly(Decimal(10))),
        (".5", Exactly(Decimal("0.5"))),
        ("007", Exactly(Decimal(7))),
        ("1,000", Exactly(Decimal(1000))),
        ("1,000,000.25", Exactly(Decimal("1000000.25"))),
        ("1e3", Exactly(Decimal(1000))),
        ("1E3", Exactly(Decimal(1000))),
        ("1e-9", Exactly(Decimal("0.000000001"))),
        ("2E+2", Exactly(Decimal(200))),
        ("0.123456789012345678", Exactly(Decimal("0.123456789012345678"))),
        ("  7  ", Exactly(Decimal(7))),
        ("１０．５", Exactly(Decimal("10.5"))),
        ("١٢", Exactly(Decimal(12))),
        ("१", Exactly(Decimal(1))),
        ("１，０００", Exactly(Decimal(1000))),
        ("all", ALL),
        ("ALL", ALL),
        ("everything", ALL),
        ("Max", ALL),
        ("half", HALF),
        ("50%", HALF),
        ("50 %", HALF),
        ("12.5%", Share(Decimal("12.5"))),
        ("100%", ALL),
        ("５０％", HALF),
    ],
)
def test_what_people_write_is_read_exactly(text: str, quantity: object) -> None:
    assert parse_quantity(text) == quantity


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "-1",
        "-0",
        "0",
        "0.000",
        "0e5",
        "+1",
        "NaN",
        "nan",
        "sNaN",
        "Infinity",
        "inf",
        "-Infinity",
        "1_000",
        "1 000",
        "1,00",
        "1,0000",
        "1,000,00",
        ",100",
        "1.000,5",
        "1,000e3.5",
        "10,5",
        "1.2.3",
        "0x10",
        "1e",
        "e5",
        "1e1000",
        "ten",
        "10 USDC",
        "$10",
        "10²",
        "½",
        "Ⅷ",
        "五",
        "1O",
        "l0",
        "１−",
        "1\u200b0",
        "−1",
        "101%",
        "0%",
        "-5%",
        "%",
        "50%%",
        "half%",
        "al1",
        "9" * 81,
        "1" * 1000,
        "0." + "0" * 90 + "1",
        "1\n2",
        "1\x00",
    ],
)
def test_what_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(BadAmount):
        parse_quantity(text)


def test_a_comma_for_a_point_is_told_what_to_write() -> None:
    with pytest.raises(BadAmount) as caught:
        parse_quantity("10,5")
    assert "write decimals with a point" in str(caught.value.hint)


def test_a_megabyte_of_digits_is_refused_at_once_and_shortened() -> None:
    with pytest.raises(BadAmount) as caught:
        parse_quantity("9" * 10**6)
    assert len(caught.value.message) < 120


@settings(derandomize=True, deadline=None)
@given(st.text(max_size=90))
def test_any_text_is_an_exact_quantity_or_a_bad_amount(text: str) -> None:
    try:
        quantity = parse_quantity(text)
    except BadAmount:
        return
    number = quantity.value if isinstance(quantity, Exactly) else quantity.percent
    assert number.is_finite()
    assert number > 0


@settings(derandomize=True, deadline=None)
@given(st.integers(1, 10**30), st.integers(0, 18))
def test_plain_numbers_are_read_to_the_last_digit(digits: int, places: int) -> None:
    number = Decimal((0, tuple(map(int, str(digits))), -places))
    assert parse_quantity(plain(number)) == Exactly(number)


@pytest.mark.parametrize(
    ("token", "value", "base"),
    [
        (USDC, "0.000001", 1),
        (USDC, "0.3", 300_000),
        (SUI, "1e-9", 1),
        (SUI, "18446744073.709551615", MAX_U64),
        (USDC, "1.10000000000000000000", 1_100_000),
        (USDC, "0", 0),
    ],
)
def test_an_amount_is_exactly_its_value(token: Token, value: str, base: int) -> None:
    amount = Amount.of(token, Decimal(value))
    assert amount.base == base
    assert amount.value == Decimal(value)


@pytest.mark.parametrize(
    ("token", "value"),
    [
        (USDC, "0.0000001"),
        (USDC, "1.0000009"),
        (SUI, "0.1234567891"),
        (SUI, "18446744073.709551616"),
        (USDC, "-1"),
        (USDC, "-0"),
        (USDC, "NaN"),
        (USDC, "-NaN"),
        (USDC, "Infinity"),
        (USDC, "1e80"),
        (USDC, "1e-400"),
        (USDC, "1." + "1" * 90),
        (USDC, "1e999999"),
    ],
)
def test_what_the_token_cannot_express_is_refused_and_never_rounded(token: Token, value: str) -> None:
    with pytest.raises(BadAmount):
        Amount.of(token, Decimal(value))


def test_a_tenth_and_two_tenths_are_three_tenths() -> None:
    tenth, two = Amount.of(SUI, Decimal("0.1")), Amount.of(SUI, Decimal("0.2"))
    assert tenth.base + two.base == Amount.of(SUI, Decimal("0.3")).base


@pytest.mark.parametrize("base", [-1, MAX_U64 + 1])
def test_base_units_are_unsigned_64_bit(base: int) -> None:
    with pytest.raises(BadAmount):
        Amount(USDC, base)


@settings(derandomize=True, deadline=None)
@given(bases, st.integers(0, 255))
def test_an_amount_survives_the_way_through_its_value(base: int, decimals: int) -> None:
    amount = Amount(Token("T", "0x5::t::T", decimals), base)
    assert Amount.of(amount.token, amount.value) == amount


@settings(derandomize=True, deadline=None)
@given(bases, st.decimals(0, 10**7, places=18))
def test_dollars_are_the_exact_product(base: int, price: Decimal) -> None:
    assert Fraction(Amount(SUI, base).usd(price).value) == Fraction(base, 10**9) * Fraction(price)


def test_a_product_that_would_be_rounded_fails() -> None:
    with pytest.raises(Inexact):
        Amount(SUI, MAX_U64).usd(Decimal("1." + "1" * 75))


@settings(derandomize=True, deadline=None)
@given(st.decimals(-(10**12), 10**12, places=18), st.decimals(-(10**12), 10**12, places=18))
def test_dollars_add_up_exactly(left: Decimal, right: Decimal) -> None:
    total = Usd(left) + Usd(right)
    assert Fraction(total.value) == Fraction(left) + Fraction(right)
    assert total - Usd(right) == Usd(left)


@pytest.mark.parametrize("value", ["NaN", "sNaN", "Infinity", "-Infinity"])
def test_dollars_are_finite(value: str) -> None:
    with pytest.raises(BadAmount):
        Usd(Decimal(value))


def test_dollars_are_ordered_by_value() -> None:
    assert Usd(Decimal("2")) < Usd(Decimal("10")) <= Usd(Decimal("10.0"))


@settings(derandomize=True, deadline=None)
@given(bases, st.decimals("0.01", 100, places=2))
def test_a_share_is_never_more_than_its_part(base: int, percent: Decimal) -> None:
    exact = Fraction(base) * Fraction(percent) / 100
    try:
        taken = take(Share(percent), Amount(SUI, base))
    except BadAmount:
        assert exact < 1
        return
    assert taken.base <= exact < taken.base + 1


@settings(derandomize=True, deadline=None)
@given(st.integers(1, MAX_U64))
def test_all_is_all(base: int) -> None:
    assert take(ALL, Amount(SUI, base)) == Amount(SUI, base)


@pytest.mark.parametrize(("share", "base"), [(ALL, 0), (HALF, 1)])
def test_a_share_that_comes_to_nothing_is_refused(share: Share, base: int) -> None:
    with pytest.raises(BadAmount, match="comes to nothing"):
        take(share, Amount(SUI, base))


def test_a_share_may_have_more_digits_than_base_units() -> None:
    third = parse_quantity("33." + "3" * 70 + "%")
    assert take(third, Amount(SUI, MAX_U64)).base == MAX_U64 // 3 - 1


def test_an_exact_quantity_does_not_depend_on_what_is_there() -> None:
    assert take(Exactly(Decimal(7)), Amount(USDC, 0)) == Amount(USDC, 7_000_000)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("100", "100"),
        ("1E+3", "1000"),
        ("1.500", "1.5"),
        ("0.000001", "0.000001"),
        ("-0", "0"),
        ("-0.00", "0"),
        ("0E-9", "0"),
        ("-1.50", "-1.5"),
        ("1000000", "1000000"),
    ],
)
def test_numbers_are_written_plainly(value: str, text: str) -> None:
    assert plain(Decimal(value)) == text


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (Usd(Decimal("1234.5")), "1,234.50 USD"),
        (Usd(Decimal("-0.5")), "-0.50 USD"),
        (Amount(USDC, 1_500_000), "1.5 USDC"),
        (Amount(SUI, 10**10), "10 SUI"),
    ],
)
def test_money_is_shown_as_people_write_it(shown: object, text: str) -> None:
    assert str(shown) == text
