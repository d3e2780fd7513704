"""Days and moments as forms write them."""

import re
from datetime import date, datetime

from fe.ecf.dates import ZONE
from fe.ecf.texts import LocalizedError, Text

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2})?")
#: Days outside are typing errors, and other programs cannot handle some of them.
_YEARS = range(1990, 3000)


class NoDay(LocalizedError):
    """Not a valid day or time; the message may be shown to any user."""


def read_day(text: str) -> date | None:
    """Parse a day; None if empty. Raises NoDay."""
    if not text:
        return None
    try:
        if _DAY.fullmatch(text) and (day := date.fromisoformat(text)).year in _YEARS:
            return day
    except ValueError:
        pass
    raise NoDay(Text("a day is written YYYY-MM-DD", "escriba la fecha así: AAAA-MM-DD"))


def read_moment(text: str) -> datetime:
    """Parse a time in Santo Domingo. Raises NoDay."""
    try:
        if _MOMENT.fullmatch(text) and (moment := datetime.fromisoformat(text)).year in _YEARS:
            return moment.replace(tzinfo=ZONE)
    except ValueError:
        pass
    raise NoDay(Text("a moment is written YYYY-MM-DDTHH:MM", "escriba la fecha y hora así: AAAA-MM-DDTHH:MM"))
