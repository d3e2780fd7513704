"""How long the authority is waited for (interface.md#limits and #life)."""

from datetime import timedelta

#: How long an unknown outcome is asked about before it is an operator's matter.
DOUBT_FOR = timedelta(minutes=15)

#: How long a rejection because the number is used is not believed where the authority shows no document that holds it:
#: its services do not learn of a document all at once, but in minutes they do.
DISBELIEVED_FOR = timedelta(minutes=5)

#: How long a document is followed while the authority says En Proceso.
FOLLOW_FOR = timedelta(hours=72)

#: The authority's mean validation time is 200 ms (authority.md#tracking): asking once early spares most documents the
#: two seconds that the regular schedule begins with.
FIRST_LOOK = timedelta(milliseconds=500)
