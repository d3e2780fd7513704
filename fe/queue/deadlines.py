"""Deadlines for the authority (interface.md#limits and #life)."""

from datetime import timedelta

#: How long to ask about an unknown outcome before an operator has to.
DOUBT_FOR = timedelta(minutes=15)

#: How long to doubt a rejection "number used" while the authority shows no document with that number: its services
#: learn of a document minutes apart.
DISBELIEVED_FOR = timedelta(minutes=5)

#: How long to follow a document while the authority answers En Proceso.
FOLLOW_FOR = timedelta(hours=72)

#: The authority validates in 200 ms on average (authority.md#tracking): an early first question spares most documents
#: the two seconds of the regular schedule.
FIRST_LOOK = timedelta(milliseconds=500)
