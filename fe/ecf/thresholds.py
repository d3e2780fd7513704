"""Amounts the rules turn on, as dated data."""

from datetime import date, timedelta
from decimal import Decimal

from fe.ecf.taxes import Period

#: Pesos of MontoTotal from which a consumer invoice (type 32) goes to the authority in full and must name its buyer;
#: below it only the summary goes (authority.md#routing). Earliest first; a change is a new row.
CONSUMER_IN_FULL = (Period(Decimal("250000.00"), date.min),)


def consumer_in_full(on: date) -> Decimal:
    """Return the threshold in force on the day of issue."""
    return next(period.rate for period in reversed(CONSUMER_IN_FULL) if period.since <= on)


#: VAT can be taken back by a credit note for this long.
_CREDIT_NOTE_DAYS = timedelta(days=30)


def credit_note_age(issued: date, modified: date) -> int:
    """Return IndicadorNotaCredito of a note issued then: 1 if the modified receipt is older than 30 days, else 0."""
    return int(issued - modified > _CREDIT_NOTE_DAYS)
