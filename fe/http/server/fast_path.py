"""The fast path: the busiest routes, from the connection to the handler without the framework.

Hypercorn makes a task and a channel for every request, Quart a nursery with two more tasks, a request and a context:
together more work than accepting a receipt. A simple request (simple_requests.py) of these routes is answered by the
same handler in the task that read it. All other requests go through Quart, with the same answers.
"""

import re
from collections.abc import Awaitable, Callable, Iterable
from typing import NamedTuple

from hypercorn.typing import HTTPScope

from fe.http.calls import ApiReply, Call
from fe.http.routes.types import Route
from fe.http.server.requests import make_call, note_trace

#: The one query there is here: a long poll.
_WAIT = re.compile(rb"wait=[0-9]{1,3}")

Answer = Callable[[Route, Call], Awaitable[ApiReply]]


class FastRoute(NamedTuple):
    """A request that may take the fast path: its route, and the parameters in its path."""

    route: Route
    params: dict[str, str]


class FastPath:
    """Answers requests of few routes: submitting a document, its status, the description."""

    def __init__(
        self,
        answer: Answer,
        max_body_bytes: int,
        create: Route,
        show: Route,
        fixed: Iterable[Route] = (),
        *,
        enabled: bool = True,
    ) -> None:
        """Take how a route is answered, the largest body, the two routes, and those without parameters that are asked
        with GET and wait for nothing; unless `enabled`, it matches nothing."""
        self._answer = answer
        self._enabled = enabled
        #: A larger body goes through Quart, which refuses it.
        self.max_body_bytes = max_body_bytes
        self._create = FastRoute(create, {})
        self._show = show
        self._fixed = {route.path: FastRoute(route, {}) for route in fixed}
        self._one = re.compile(re.escape(create.path) + r"/([0-9A-Za-z-]{1,64})")

    def match(self, scope: HTTPScope) -> FastRoute | None:
        """Find the route of a request, or None: then it goes through Quart."""
        if not self._enabled:
            return None
        method, path = scope["method"], scope["path"]
        if method == "POST":
            return self._create if path == self._create.route.path else None
        if method != "GET":
            return None
        query = scope["query_string"]
        if (not query or _WAIT.fullmatch(query)) and (found := self._one.fullmatch(path)):
            return FastRoute(self._show, {"track_or_id": found[1]})
        return None if query else self._fixed.get(path)

    async def serve(self, matched: FastRoute, scope: HTTPScope, body: bytes) -> ApiReply:
        """Answer one request; the body of the reply is bytes."""

        async def read_body() -> bytes:
            return body

        call = make_call(scope, matched.params, read_body)
        reply = await self._answer(matched.route, call)
        note_trace(scope, call)
        return reply
