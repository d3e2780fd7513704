"""Decimal arithmetic for amounts: exact until it is rounded, rounded half up at the second decimal.

See authority.md#arithmetic.

Amounts come from outside as text, whole numbers or Decimals. `number` is the one place that turns them into a Decimal;
binary floats are never numbers here. Sums and products of what the formats allow (16 + 4 digits a factor, five factors
at most) are exact in `EXACT`, so that no result depends on the order of the lines.
"""

import re
from contextlib import AbstractContextManager
from decimal import ROUND_HALF_UP, Context, Decimal, localcontext
from functools import lru_cache

ZERO = Decimal(0)
ONE = Decimal(1)
HUNDRED = Decimal(100)
CENT = Decimal("0.01")

#: Holds the longest product of the formulas (a rate, degrees, two quantities and a sub-quantity) even where each is as
#: long as `number` lets it be, with room to sum: nothing that is read here can overflow a rounding.
EXACT = Context(prec=150, rounding=ROUND_HALF_UP)

#: No number of the formats is longer (16 + 4 digits, a sign, a point); what is, is no number to us.
LONGEST = 24

_DIGITS = LONGEST - 1
_TOO_LONG = 10**_DIGITS
_PLAIN = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?", re.ASCII)


def exact() -> AbstractContextManager[Context]:
    """Enter the context in which the operators of Decimal do not round: `with exact(): total = a * b + c`."""
    return localcontext(EXACT)


def number(value: object) -> Decimal | None:
    """Read `value` as a plain decimal number, or None where it is absent or none.

    Exponents, infinities, NaN, thousands separators, digits of other scripts, floats and booleans are no numbers, nor
    is anything beyond 24 characters.
    """
    if type(value) is str:
        if len(value) > LONGEST:
            value = value.strip()
        return _read(value) if len(value) <= LONGEST else None
    if type(value) is int:
        return Decimal(value) if -_TOO_LONG < value < _TOO_LONG else None
    if isinstance(value, Decimal):
        if value.same_quantum(CENT) and value.adjusted() < _DIGITS - 2:  # an amount, as nearly every Decimal here is
            return value
        _, digits, exponent = value.as_tuple()
        if not isinstance(exponent, int) or exponent < -_DIGITS:
            return None
        return value if len(digits) <= _DIGITS and value.adjusted() < _DIGITS else None
    if isinstance(value, int) and not isinstance(value, bool):
        return Decimal(value) if -_TOO_LONG < value < _TOO_LONG else None
    return None


# Filling a document in, checking it and checking it again read the same few numbers, so the last ones are remembered.
@lru_cache(maxsize=8192)
def _read(text: str) -> Decimal | None:
    text = text.strip()
    return Decimal(text) if _PLAIN.fullmatch(text) else None


def cents(value: Decimal) -> Decimal:
    """Round half up (away from zero) to two decimals."""
    return value.quantize(CENT, ROUND_HALF_UP, EXACT)
