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
from fe.http.server.requests import make_call

Answer = Callable[[Route, Call], Awaitable[ApiReply]]


class FastRoute(NamedTuple):
    """A request that may go the fast path: its route, and the parameters in its path."""

    route: Route
    params: dict[str, str]


class FastPath:
    """Answers whole requests of two routes: handing a submission in, and asking after one."""

    def __init__(
        self, answer: Answer, max_body_bytes: int, create: Route, show: Route, *, enabled: bool = True
    ) -> None:
        """Take how a route is answered, the largest body, and the two routes; unless `enabled`, it takes nothing."""
        self._answer = answer
        self._enabled = enabled
        #: A larger body goes Quart's road, which refuses it.
        self.max_body_bytes = max_body_bytes
        self._create = FastRoute(create, {})
        self._show = show
        self._one = re.compile(re.escape(create.path) + r"/([0-9A-Za-z-]{1,64})")

    def takes(self, scope: HTTPScope) -> FastRoute | None:
        """Find the route of a request, or None for Quart's road."""
        if not self._enabled:
            return None
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

        return await self._answer(known.route, make_call(scope, known.params, read_body))
