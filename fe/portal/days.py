"""Days and moments as forms write them."""

import re
from datetime import date, datetime

from fe.ecf.dates import ZONE
from fe.ecf.texts import LocalizedError, Text

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2})?")
#: What lies outside is a slip of the finger, and some of it no other program can reckon with.
_YEARS = range(1990, 3000)


class NoDay(LocalizedError):
    """What was given is no day or no moment; the message may be shown to anybody."""


def read_day(text: str) -> date | None:
    """Read what a field for a day gives; None where it was left empty. Raises NoDay."""
    if not text:
        return None
    try:
        if _DAY.fullmatch(text) and (day := date.fromisoformat(text)).year in _YEARS:
            return day
    except ValueError:
        pass
    raise NoDay(Text("a day is written YYYY-MM-DD", "un día se escribe AAAA-MM-DD"))


def read_moment(text: str) -> datetime:
    """Read what a field for a moment gives, in Santo Domingo. Raises NoDay."""
    try:
        if _MOMENT.fullmatch(text) and (moment := datetime.fromisoformat(text)).year in _YEARS:
            return moment.replace(tzinfo=ZONE)
    except ValueError:
        pass
    raise NoDay(Text("a moment is written YYYY-MM-DDTHH:MM", "un momento se escribe AAAA-MM-DDTHH:MM"))
