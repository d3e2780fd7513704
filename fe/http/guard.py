"""Around the application: what no route ever sees. Request ids, refusals, shedding, metrics, sends that are finished.

It is an ASGI application around another one, for http scopes only; the connection makes no others.
"""

import re
import time
from collections.abc import Iterable
from urllib.parse import unquote

import structlog
import trio
from hypercorn.typing import ASGIFramework, ASGIReceiveCallable, ASGISendCallable, ASGISendEvent, HTTPScope
from prometheus_client import Counter, Histogram

from fe.http.errors import ApiError
from fe.http.express import Express
from fe.http.load import Load
from fe.http.plain import new_request_id, plain_error
from fe.metrics import Metrics

#: Names and values of all headers together.
MAX_HEADER_BYTES = 16 * 1024

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"})
_ALWAYS = frozenset({"/healthz", "/readyz"})
#: Answers are about one tenant at one moment: nobody on the way may keep them, or take them for something else.
_ALWAYS_SENT = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))

_log = structlog.get_logger(__name__)


class Guard:
    """The ASGI application that the server runs."""

    def __init__(self, app: ASGIFramework, express: Express, load: Load, metrics: Metrics) -> None:
        self._app = app
        self._express = express
        self._load = load
        self._metrics = metrics
        self._series: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    async def __call__(self, scope: HTTPScope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Answer one request, whatever happens."""
        began = time.perf_counter()
        request_id = _request_id(scope["headers"])
        scope["state"]["request_id"] = request_id
        answer = _Answer(send, request_id)
        structlog.contextvars.bind_contextvars(request_id=request_id)
        try:
            refuse_hostile(scope)
            keep_escaped_slashes(scope)
            if scope["path"] in _ALWAYS:
                await self._app(scope, receive, answer.send)
            else:
                with self._load.admitted():
                    if known := self._express.takes(scope):
                        await self._express.serve(*known, scope, receive, answer.send)
                    else:
                        await self._app(scope, receive, answer.send)
        except ApiError as refusal:
            await answer.give(refusal.status, refusal.message, refusal.headers)
        except Exception as error:  # nothing below the guard may take the connection down with it
            _log.error("the application failed to answer", error=error, exc_info=error)
            await answer.give(500, "Internal Server Error")
        finally:
            self._observe(scope, answer.status, time.perf_counter() - began)

    def _observe(self, scope: HTTPScope, status: int, seconds: float) -> None:
        route = scope["state"].get("route", "none")
        method = scope["method"] if scope["method"] in _METHODS else "other"
        seen = self._series.get((route, method, status))
        if seen is None:  # there are few of them, and looking a series up costs more than counting in it
            requests = self._metrics.http_requests.labels(route, method, str(status))
            seen = self._series[route, method, status] = (requests, self._metrics.http_seconds.labels(route))
        seen[0].inc()
        seen[1].observe(seconds)


class _Answer:
    """The answer on its way out."""

    def __init__(self, send: ASGISendCallable, request_id: str) -> None:
        self._send = send
        self._request_id = request_id
        #: 0 until an answer has begun; 0 at the end says that the client left before there was one.
        self.status = 0

    async def send(self, event: ASGISendEvent) -> None:
        """Pass an event on, shielded: the framework cancels itself as the answer ends, and in the middle of a send that
        would leave the connection without the timer that closes it when it is idle."""
        if event["type"] == "http.response.start":
            self.status = event["status"]
            event["headers"] = [*event["headers"], *_ALWAYS_SENT, (b"x-request-id", self._request_id.encode())]
        with trio.CancelScope(shield=True):
            await self._send(event)

    async def give(self, status: int, message: str, headers: Iterable[tuple[str, str]] = ()) -> None:
        """Answer with an error and close, unless an answer has begun already."""
        if self.status:
            return
        raw_headers, body = plain_error(status, message, self._request_id)
        raw_headers = [pair for pair in raw_headers if pair[0] != b"x-request-id"]
        raw_headers += [(name.lower().encode(), value.encode()) for name, value in headers]
        await self.send({"type": "http.response.start", "status": status, "headers": raw_headers})
        await self.send({"type": "http.response.body", "body": body, "more_body": False})


def refuse_hostile(scope: HTTPScope) -> None:
    """Raise ApiError for requests that are ambiguous, or ask for another protocol than HTTP/1.1."""
    names = set()
    size = 0
    for name, value in scope["headers"]:
        names.add(bytes(name))
        size += len(name) + len(value)
    if size > MAX_HEADER_BYTES:
        raise ApiError(431, f"the headers must not be larger than {MAX_HEADER_BYTES} bytes")
    if b"transfer-encoding" in names and b"content-length" in names:
        raise ApiError(400, "a request has either Content-Length or Transfer-Encoding")
    if b"upgrade" in names:
        raise ApiError(400, "no other protocol is spoken here: leave Upgrade out")
    if scope["http_version"] not in ("1.0", "1.1"):
        raise ApiError(505, "HTTP Version Not Supported")
    if scope["method"] == "CONNECT":
        raise ApiError(400, "this is not a proxy")
    if not scope["path"].startswith(("/", "http://", "https://")) and scope["path"] != "*":
        raise ApiError(400, "the request target must begin with /")


def keep_escaped_slashes(scope: HTTPScope) -> None:
    """Leave a slash that was escaped inside a path segment as it was sent, so that it does not begin a new segment."""
    raw = scope["raw_path"]
    if b"%2f" in raw.lower():
        scope["path"] = unquote(re.sub(rb"%(2[fF])", rb"%25\1", raw).decode("ascii"))


def _request_id(headers: Iterable[tuple[bytes, bytes]]) -> str:
    for name, value in headers:
        if name == b"x-request-id" and _REQUEST_ID.fullmatch(value):
            return value.decode("ascii")
    return new_request_id()
