from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fe.ecf.money import EXACT, cents, exact, number


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("12", "12"),
        ("12.50", "12.50"),
        ("+12.5", "12.5"),
        ("-3.00", "-3.00"),
        (" 7.1 ", "7.1"),
        ("7.1".rjust(40), "7.1"),
        ("9" * 24, "9" * 24),
        ("007", "7"),
        (12, "12"),
        (Decimal("1.2345"), "1.2345"),
        (0, "0"),
    ],
)
def test_a_plain_number_is_read_with_all_its_digits(value: object, expected: str) -> None:
    read = number(value)

    assert read == Decimal(expected)


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        " ",
        ".",
        ".5",
        "5.",
        "1e5",
        "1E+400000000",
        "1_000",
        "1,000.00",
        "1,5",
        "NaN",
        "Infinity",
        "٣",
        "²",
        "12 3",
        "--1",
        "9" * 25,
        "9" * 1_000_000,
        True,
        False,
        1.5,
        10**60,
        Decimal("NaN"),
        Decimal("Infinity"),
        Decimal("1e300"),
        Decimal("1e-300"),
        Decimal("1." + "1" * 23),
        [],
        {},
    ],
)
def test_malformed_number_reads_as_none(value: object) -> None:
    assert number(value) is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0.005", "0.01"),
        ("0.0049999", "0.00"),
        ("2.675", "2.68"),
        ("1.005", "1.01"),
        ("-0.005", "-0.01"),
        ("10", "10.00"),
        ("9999999999999999.995", "10000000000000000.00"),
    ],
)
def test_rounding_is_half_up_at_the_second_decimal(value: str, expected: str) -> None:
    assert str(cents(Decimal(value))) == expected


def test_rounding_does_not_depend_on_the_context_of_the_caller() -> None:
    assert cents(Decimal("123456789012345678901234567890.125")) == Decimal("123456789012345678901234567890.13")


_factor = st.decimals(min_value=0, max_value=Decimal("9999999999999999.9999"), places=4)


@given(st.lists(_factor, min_size=5, max_size=5), st.permutations(range(5)))
def test_products_of_the_longest_factors_are_exact_in_any_order(factors: list[Decimal], order: list[int]) -> None:
    with exact():
        forward = factors[0] * factors[1] * factors[2] * factors[3] * factors[4]
        shuffled = Decimal(1)
        for place in order:
            shuffled *= factors[place]

    assert forward == shuffled
    assert forward == _by_integers(factors)


def _by_integers(factors: list[Decimal]) -> Decimal:
    product = 1
    for factor in factors:
        product *= int(factor.scaleb(4, EXACT))
    return Decimal(product).scaleb(-4 * len(factors), EXACT)
