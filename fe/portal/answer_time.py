"""How long a received receipt waits for an answer, and how long it still may."""

from datetime import datetime

from fe.ecf.dates import local
from fe.ecf.texts import Text
from fe.portal.receipt_words import Badge

#: Days left from which a receipt is urgent.
URGENT = 3


def time_left(since: datetime, *, now: datetime, days: int) -> Badge:
    """Say for how many days it waits; with `days` to answer in, how many are left."""
    waited = (local(now).date() - local(since).date()).days
    left = days - waited
    if not days:
        if not waited:
            return Badge("soft", Text("arrived today", "llegó hoy"))
        return Badge("soft", Text(f"waits for {waited} d", f"espera hace {waited} d"))
    if left < 0:
        return Badge("bad", Text(f"overdue by {-left} d", f"vencido hace {-left} d"))
    if not left:
        return Badge("bad", Text("last day", "último día"))
    return Badge("warn" if left <= URGENT else "soft", Text(f"{left} d left", f"quedan {left} d"))
