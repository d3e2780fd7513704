"""The short way to the routes that are called most: from the connection to the handler without the framework.

Quart gives every request a nursery with two tasks, a request object and a context: more work than a receipt's own.
Handlers know nothing of the framework, so the few routes named here are answered by the same handlers directly; all
others, and whatever is unusual about a request, go the long way and behave the same.
"""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import trio
from hypercorn.typing import ASGIReceiveCallable, ASGISendEvent, HTTPScope

from fe.http.errors import ApiError
from fe.http.load import Load
from fe.http.routes import Route
from fe.http.wire import Call, Reply

Answer = Callable[[Route, Call], Awaitable[Reply]]
Send = Callable[[ASGISendEvent], Awaitable[None]]


class ClientGone(Exception):
    """The client left before its request was whole: there is nobody to answer."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How large a body may be, and how long it may take."""

    max_bytes: int
    seconds: float

    def too_large(self) -> ApiError:
        """The refusal of a body that is too large."""
        return ApiError(413, f"the body must not be larger than {self.max_bytes} bytes", (("Connection", "close"),))

    def too_slow(self) -> ApiError:
        """The refusal of a body that does not arrive."""
        return ApiError(408, f"the body did not arrive within {self.seconds:g} s", (("Connection", "close"),))


class Express:
    """Answers what it knows; `takes` says whether it knows a request."""

    def __init__(self, answer: Answer, load: Load, limits: Limits, create: Route, show: Route) -> None:
        """Take the two routes: handing a submission in, and asking after one."""
        self._answer = answer
        self._load = load
        self._limits = limits
        self._create = create
        self._show = show
        self._one = re.compile(re.escape(create.path) + r"/([0-9A-Za-z-]{1,64})")

    def takes(self, scope: HTTPScope) -> tuple[Route, dict[str, str]] | None:
        """Find the route of a request, or None for the long way."""
        method, path = scope["method"], scope["path"]
        if method == "POST":
            return (self._create, {}) if path == self._create.path else None
        # A long poll goes the long way: there the client's leaving ends the wait.
        if method == "GET" and not scope["query_string"] and (found := self._one.fullmatch(path)):
            return self._show, {"track_or_id": found[1]}
        return None

    async def serve(
        self, route: Route, params: dict[str, str], scope: HTTPScope, receive: ASGIReceiveCallable, send: Send
    ) -> None:
        """Answer one request."""
        scope["state"]["route"] = route.name
        call = Call(
            headers=_headers(scope),
            query_string=scope["query_string"],
            params=params,
            peer=(scope["client"] or ("",))[0],
            request_id=scope["state"]["request_id"],
            read_body=lambda: self._read(scope, receive),
        )
        try:
            reply = await self._answer(route, call)
        except ClientGone:
            return
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(reply.body)).encode()),
            *((name.lower().encode(), value.encode()) for name, value in reply.headers),
        ]
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": reply.body, "more_body": False})

    async def _read(self, scope: HTTPScope, receive: ASGIReceiveCallable) -> bytes:
        """Read the body. Nearly always it is here already; if not, waiting for it is not work."""
        chunks: list[bytes] = []
        size = 0
        with self._load.resting(), trio.move_on_after(self._limits.seconds):
            while True:
                event = await receive()
                if event["type"] != "http.request":
                    raise ClientGone
                chunk = event["body"]
                size += len(chunk)
                if size > self._limits.max_bytes:
                    raise self._limits.too_large()
                chunks.append(chunk)
                if not event["more_body"]:
                    return b"".join(chunks)
        raise self._limits.too_slow()


def _headers(scope: HTTPScope) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1"), value.decode("latin-1")
        headers[key] = f"{headers[key]},{text}" if key in headers else text
    return headers
