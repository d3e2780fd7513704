"""Headers of answers about the API itself: its version, rate limits, and parameters that will go."""

from collections.abc import Iterable
from datetime import UTC, datetime, time
from email.utils import format_datetime

from fe import RELEASE
from fe.http.routes.types import Parameter
from fe.limits import Allowance

#: The version of the description that answers follow.
API_VERSION = ("X-API-Version", RELEASE)
#: The document left the database: it was read from the archive, which takes longer.
ARCHIVED = (("X-Archived", "true"),)


def rate_headers(allowance: Allowance) -> tuple[tuple[str, str], ...]:
    """Say what is left of a rate limit, and in how many seconds all of it is there again."""
    return (
        ("X-RateLimit-Limit", str(allowance.limit)),
        ("X-RateLimit-Remaining", str(allowance.remaining)),
        ("X-RateLimit-Reset", str(allowance.reset)),
    )


def deprecation_headers(
    parameters: Iterable[Parameter], query_string: bytes, policy: str
) -> tuple[tuple[str, str], ...]:
    """Announce the end of the parameters that a query uses (RFC 9745, RFC 8594): the earliest dates of all.

    `policy` is the address of the page about changes.
    """
    named = {part.partition(b"=")[0] for part in query_string.split(b"&")}
    used = [one.deprecated for one in parameters if one.deprecated and one.name.encode() in named]
    if not used:
        return ()
    since = min(one.since for one in used)
    sunsets = [one.sunset for one in used if one.sunset is not None]
    headers = [
        ("Deprecation", f"@{datetime.combine(since, time(), UTC).timestamp():.0f}"),
        ("Link", f'<{policy}>; rel="deprecation"; type="text/html"'),
    ]
    if sunsets:
        headers.append(("Sunset", format_datetime(datetime.combine(min(sunsets), time(), UTC), usegmt=True)))
    return tuple(headers)
