"""The fast path to the routes that are called most: from the connection to the handler without the framework.

Hypercorn gives every request a task and a channel, Quart a nursery with two more tasks, a request object and a context:
together more work than taking a receipt in. Handlers know nothing of either, so a request of the few routes named here
that has arrived whole is answered by the same handler directly, in the task that read it. Every other request, and any
that is unusual, goes through Quart and is answered the same.
"""

import re
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from hypercorn.typing import HTTPScope

from fe.http.calls import ApiReply, Call
from fe.http.route_types import Route
from fe.http.server.requests import make_call, note_trace

Answer = Callable[[Route, Call], Awaitable[ApiReply]]


class FastRoute(NamedTuple):
    """A request that may take the fast path: its route, and the parameters in its path."""

    route: Route
    params: dict[str, str]


class FastPath:
    """Answers whole requests of two routes: submitting a document, and asking for its status."""

    def __init__(
        self, answer: Answer, max_body_bytes: int, create: Route, show: Route, *, enabled: bool = True
    ) -> None:
        """Take how a route is answered, the largest body, and the two routes; unless `enabled`, it matches nothing."""
        self._answer = answer
        self._enabled = enabled
        #: A larger body goes through Quart, which refuses it.
        self.max_body_bytes = max_body_bytes
        self._create = FastRoute(create, {})
        self._show = show
        self._one = re.compile(re.escape(create.path) + r"/([0-9A-Za-z-]{1,64})")

    def match(self, scope: HTTPScope) -> FastRoute | None:
        """Find the route of a request, or None: then it goes through Quart."""
        if not self._enabled:
            return None
        method, path = scope["method"], scope["path"]
        if method == "POST":
            return self._create if path == self._create.route.path else None
        # A long poll goes through Quart: there, a client that leaves ends the wait.
        if method == "GET" and not scope["query_string"] and (found := self._one.fullmatch(path)):
            return FastRoute(self._show, {"track_or_id": found[1]})
        return None

    async def serve(self, matched: FastRoute, scope: HTTPScope, body: bytes) -> ApiReply:
        """Answer one request; the body of the reply is bytes."""

        async def read_body() -> bytes:
            return body

        call = make_call(scope, matched.params, read_body)
        reply = await self._answer(matched.route, call)
        note_trace(scope, call)
        return reply
