"""the fast path to the routes that are called most: from the connection to the handler without the framework.

Hypercorn gives every request a task and a channel, Quart a nursery with two more tasks, a request object and a context:
together more work than taking a receipt in. Handlers know nothing of either, so a request of the few routes named here
that has arrived whole is answered by the same handler directly, in the task that read it. Everything else, and whatever
is unusual about a request, goes Quart's road and behaves the same.
"""

import re
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from hypercorn.typing import HTTPScope

from fe.http.calls import ApiReply, Call
from fe.http.route_types import Route

Answer = Callable[[Route, Call], Awaitable[ApiReply]]


class FastRoute(NamedTuple):
    """A request that may go the fast path: its route, and the parameters in its path."""

    route: Route
    params: dict[str, str]


class FastPath:
    """Answers whole requests of two routes: handing a submission in, and asking after one."""

    def __init__(self, answer: Answer, max_body_bytes: int, create: Route, show: Route) -> None:
        """Take how a route is answered, the largest body, and the two routes."""
        self._answer = answer
        #: A larger body goes Quart's road, which refuses it.
        self.max_body_bytes = max_body_bytes
        self._create = FastRoute(create, {})
        self._show = show
        self._one = re.compile(re.escape(create.path) + r"/([0-9A-Za-z-]{1,64})")

    def takes(self, scope: HTTPScope) -> FastRoute | None:
        """Find the route of a request, or None for Quart's road."""
        method, path = scope["method"], scope["path"]
        if method == "POST":
            return self._create if path == self._create.route.path else None
        # A long poll goes Quart's road: there the client's leaving ends the wait.
        if method == "GET" and not scope["query_string"] and (found := self._one.fullmatch(path)):
            return FastRoute(self._show, {"track_or_id": found[1]})
        return None

    async def serve(self, known: FastRoute, scope: HTTPScope, body: bytes) -> ApiReply:
        """Answer one request; the body of the reply is bytes."""

        async def read_body() -> bytes:
            return body

        call = Call(
            headers=_headers(scope),
            query_string=scope["query_string"],
            params=known.params,
            peer=(scope["client"] or ("",))[0],
            request_id=scope["state"]["request_id"],
            read_body=read_body,
        )
        return await self._answer(known.route, call)


def _headers(scope: HTTPScope) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1"), value.decode("latin-1")
        headers[key] = f"{headers[key]},{text}" if key in headers else text
    return headers
