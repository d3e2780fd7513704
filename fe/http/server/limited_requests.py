"""Requests of the framework whose bodies have a limit of their route's own, from the first byte on."""

import re
from collections.abc import Sequence
from typing import Any, Protocol

from quart_trio.wrappers.request import TrioRequest


class LimitedPath(Protocol):
    """A route of the API, or a page of the portal."""

    @property
    def method(self) -> str: ...  # noqa: D102  (the class says what it is of)
    @property
    def path(self) -> str: ...  # noqa: D102  (the class says what it is of)
    @property
    def max_body_bytes(self) -> int | None: ...  # noqa: D102  (the class says what it is of)


#: A route whose limit is larger than this takes files, which no setting limits.
_FILE = 4 * 1024 * 1024


def request_class(routes: Sequence[LimitedPath], max_body_bytes: int) -> type[TrioRequest]:
    """Make the class of requests: a body larger than its route takes, or than `max_body_bytes`, is never collected.

    `max_content_length` of a request is its limit. A route of files takes more than `max_body_bytes`.
    """
    limits = [
        (route.method, re.compile(re.sub(r"<[^>]+>", "[^/]+", route.path)), route.max_body_bytes)
        for route in routes
        if route.max_body_bytes is not None
    ]

    class LimitedRequest(TrioRequest):
        def __init__(self, method: str, scheme: str, path: str, *args: Any, **more: Any) -> None:
            here = (limit for verb, form, limit in limits if verb == method and form.fullmatch(path))
            own = next(here, max_body_bytes)
            more["max_content_length"] = limit = own if own > _FILE else min(own, max_body_bytes)
            super().__init__(method, scheme, path, *args, **more)
            self.max_content_length = limit

    return LimitedRequest
