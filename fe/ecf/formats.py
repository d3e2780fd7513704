"""How numbers and dates are written in each field (authority.md#formats)."""

import re
from datetime import datetime
from decimal import Decimal
from functools import cache

from fe.ecf.dates import ZONE
from fe.ecf.money import CENT
from fe.ecf.schema.model import Simple, ValueForm

_ISO_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})", re.ASCII)
_ISO_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}.*", re.ASCII | re.DOTALL)


def write_number(simple: Simple, value: int | Decimal) -> str:
    """Write a number as the field wants it: never with an exponent, never rounded.

    Amounts and prices get at least two decimals; other decimals stay as they were given. Zeros beyond the decimals the
    field has are dropped; other digits there are kept, for `validate` to report. In a field of codes the code with that
    value is written: 1 is `01` in TipoIngresos.
    """
    if simple.form is ValueForm.CODE:
        return _spelling(simple).get(Decimal(value)) or _plain(value)
    if simple.form is not ValueForm.NUMBER:
        return _plain(value)
    if value.__class__ is int:
        return f"{value}.{'0' * simple.pad}" if simple.pad else str(value)
    if simple.pad == 2 and value.__class__ is Decimal and value.same_quantum(CENT):
        return str(value)  # an amount with its two decimals, as nearly every number is
    text = _plain(value)
    allowed = simple.decimals or 0
    whole, _, decimals = text.partition(".")
    if len(decimals) > allowed:
        decimals = decimals[:allowed] + decimals[allowed:].rstrip("0")
    decimals = decimals.ljust(simple.pad, "0")
    return f"{whole}.{decimals}" if decimals else whole


def write_text(simple: Simple, value: str) -> str:
    """Write a text as it is; but an ISO date in a field of dates becomes dd-MM-yyyy.

    So does an ISO date and time in a field of both: `dd-MM-yyyy HH:mm:ss`, brought to -04:00 if it names an offset.
    """
    if simple.form is ValueForm.DATE:
        day = _ISO_DAY.fullmatch(value)
        return f"{day[3]}-{day[2]}-{day[1]}" if day else value
    if simple.form is ValueForm.TIMESTAMP and _ISO_MOMENT.fullmatch(value):
        try:
            moment = datetime.fromisoformat(value)
            moment = moment.astimezone(ZONE) if moment.tzinfo else moment
        except (ValueError, OverflowError):
            return value
        return moment.strftime("%d-%m-%Y %H:%M:%S")
    return value


def _plain(value: int | Decimal) -> str:
    return format(value, "f") if isinstance(value, Decimal) else str(value)


@cache
def _spelling(simple: Simple) -> dict[Decimal, str]:
    numeric = (code.value for code in simple.codes if code.value.replace(".", "").isdecimal())
    return {Decimal(value): value for value in numeric}
