"""Cross-origin requests (CORS): the pages of which origins may call the API from a browser.

Off unless origins are set. There are no cookies: a page needs a token as any client does. The origin has to be one of
the list, to the letter.
"""

from collections.abc import Collection

from hypercorn.typing import HTTPScope

from fe.http.server.answers import HttpAnswer, RawHeaders

#: Headers that a page's program may read, beside those that it always may.
_READABLE = (
    "X-Request-Id, X-API-Version, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, "
    "Content-Disposition, Content-Language, ETag, Deprecation, Sunset, Link, Authority-Outage, X-Archived"
)
_SENDABLE = "Authorization, Content-Type, Accept-Language, Idempotency-Key, X-Request-Id"
_METHODS = "GET, POST, PUT, PATCH, DELETE"
#: Seconds for which a browser need not ask again.
_KEPT = "600"


class Cors:
    """The allowed origins."""

    def __init__(self, origins: Collection[str] = ()) -> None:
        self._origins = frozenset(one.encode() for one in origins)

    def headers(self, scope: HTTPScope) -> RawHeaders:
        """Return the headers that let the page of the request read the answer; none for an origin not allowed."""
        if not self._origins:
            return []
        origin = _header(scope, b"origin")
        if origin not in self._origins:
            return [(b"vary", b"Origin")]
        return [
            (b"access-control-allow-origin", origin),
            (b"access-control-expose-headers", _READABLE.encode()),
            (b"vary", b"Origin"),
        ]

    def preflight(self, scope: HTTPScope) -> HttpAnswer | None:
        """Answer a browser that asks before a call; None for any other request."""
        if not self._origins or scope["method"] != "OPTIONS" or not _header(scope, b"access-control-request-method"):
            return None
        headers = self.headers(scope)
        if len(headers) > 1:
            headers += [
                (b"access-control-allow-methods", _METHODS.encode()),
                (b"access-control-allow-headers", _SENDABLE.encode()),
                (b"access-control-max-age", _KEPT.encode()),
            ]
        return HttpAnswer(204, headers, b"")


def _header(scope: HTTPScope, wanted: bytes) -> bytes:
    return next((bytes(value) for name, value in scope["headers"] if name == wanted), b"")
