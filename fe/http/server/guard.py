"""Around the application: what no route ever sees. Request ids, refusals, shedding, metrics, sends that are finished.

It is an ASGI application around another one, for http scopes only; the connection makes no others. Requests that may
take the fast path (fast_path.py) it answers itself.
"""

import re
import time
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack
from typing import NamedTuple
from urllib.parse import unquote

import structlog
import trio
from hypercorn.typing import ASGIFramework, ASGIReceiveCallable, ASGISendCallable, ASGISendEvent, HTTPScope
from prometheus_client import Counter, Histogram

from fe.http import messages
from fe.http.calls import ApiReply
from fe.http.errors import ApiError
from fe.http.server.admission import Admission
from fe.http.server.come_again import ComeAgain, Whose, asked
from fe.http.server.fast_path import FastPath, FastRoute
from fe.http.server.plain_errors import language_of, new_request_id, plain_error
from fe.http.server.requests import make_scope, refuse_repeated
from fe.http.server.strangers import Strangers, has_body
from fe.http.server.whole_answers import Whole
from fe.http.server.whole_requests import read_head
from fe.monitoring.metrics import Metrics

#: Names and values of all headers together.
MAX_HEADER_BYTES = 16 * 1024

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"})
_ALWAYS = frozenset({"/healthz", "/readyz"})
#: Answers are about one tenant at one moment: nobody on the way may keep them, or take them for something else.
_ALWAYS_SENT = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))

_log = structlog.get_logger(__name__)


class FirstRefusal(NamedTuple):
    """What a connection is refused with by its first bytes, and whether these were all it has to say."""

    answer: Whole
    said_all: bool


class Guard:
    """What the server runs."""

    def __init__(
        self,
        app: ASGIFramework,
        fast_path: FastPath,
        admission: Admission,
        metrics: Metrics,
        strangers: Strangers,
        come_again: ComeAgain,
        *,
        knows_tokens: bool,
        route_of: Callable[[str, str], str] = "{} {}".format,
    ) -> None:
        """Take what is guarded; without `knows_tokens` nobody is told from others by an Authorization, which no page of
        it reads: whoever makes one up has no more than the turns of its address. `route_of` names the route of a method
        and a path, as refusals are noted."""
        self._route_of = route_of
        self._app = app
        self._knows_tokens = knows_tokens
        self._strangers = strangers
        self._come_again = come_again
        self._fast_path = fast_path
        self._admission = admission
        self._metrics = metrics
        self._series: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        self.match = fast_path.match
        self.max_body_bytes = fast_path.max_body_bytes

    def refuse_at_once(self, arrived: bytes, client: tuple[str, int] | None) -> FirstRefusal | None:
        """Refuse what a connection begins with, before anything is made for the connection: where a plain head is of
        somebody who was told a moment ago to come again later. None: it is to be read as all others are.

        It is the connection's last answer: no more is read, so it is all the same what else has arrived.
        """
        if self._come_again.is_empty or (head := read_head(arrived)) is None:
            return None
        scope = make_scope(head.method, head.target, b"1.1", head.headers, client)
        began = time.perf_counter()
        refused = self._come_again.refusal(self._whose(scope, self._authorization(scope)))
        if refused is None:
            return None
        request_id = scope["state"]["request_id"] = _request_id(head.headers)
        whole = _refusal(refused, request_id, scope)
        self._observe(scope, whole.status, time.perf_counter() - began)
        return FirstRefusal(whole, head.end == len(arrived) and not has_body(head.headers))

    def refuse(self, scope: HTTPScope) -> Whole | None:
        """Refuse a request that would get no further than the guard, before anything is made for it: no task, no
        stream, no request of the framework. None: it may come in."""
        began = time.perf_counter()
        request_id = self._begin(scope)
        try:
            refuse_hostile(scope)
            if scope["path"] in _ALWAYS:
                return None
            authorization = self._authorization(scope)
            self._require_patience(scope, authorization)
            self._admission.require_capacity(authorization)
        except ApiError as error:
            whole = _refusal(error, request_id, scope)
            self._observe(scope, whole.status, time.perf_counter() - began)
            return whole
        return None

    def _require_patience(self, scope: HTTPScope, authorization: bytes | None) -> None:
        if not self._come_again.is_empty:
            self._come_again.require_patience(self._whose(scope, authorization))

    def _whose(self, scope: HTTPScope, authorization: bytes | None) -> Whose:
        who = self._strangers.holder(scope) if authorization is None else authorization
        matched = self.match(scope)
        route = matched.route.name if matched is not None else self._route_of(scope["method"], scope["path"])
        return who, asked(route, scope["query_string"])

    async def __call__(self, scope: HTTPScope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Answer one request through Quart, whatever happens."""
        began = time.perf_counter()
        request_id = self._begin(scope)
        answer = _Answer(send, request_id)
        try:
            refuse_hostile(scope)
            keep_escaped_slashes(scope)
            if scope["path"] in _ALWAYS:
                await self._app(scope, receive, answer.send)
            else:
                authorization = self._authorization(scope)
                async with AsyncExitStack() as held:
                    if authorization is None:
                        await held.enter_async_context(self._strangers.slot(scope))
                        self._require_patience(scope, None)
                    self._admission.admit(authorization)
                    held.callback(self._admission.release, authorization)
                    await self._app(scope, receive, answer.send)
        except Exception as error:  # nothing below the guard may take the connection down with it
            await answer.give(_refusal(error, request_id, scope))
        finally:
            self._observe(scope, answer.status, time.perf_counter() - began)

    async def answer_whole(self, matched: FastRoute, scope: HTTPScope, body: bytes) -> Whole:
        """Answer one request on the fast path, whatever happens."""
        began = time.perf_counter()
        request_id = self._begin(scope)
        scope["state"]["route"] = matched.route.name
        try:
            refuse_hostile(scope)
            authorization = self._authorization(scope)
            if authorization is None:
                async with self._strangers.slot(scope):
                    reply = await self._serve(matched, scope, body, None)
            else:
                self._require_patience(scope, authorization)
                reply = await self._serve(matched, scope, body, authorization)
            headers = [(name.lower().encode(), value.encode()) for name, value in reply.headers]
            if all(name != b"content-type" for name, _ in headers):
                headers.append((b"content-type", b"application/json"))
            length = (b"content-length", str(len(reply.body)).encode())
            ours = (length, *_ALWAYS_SENT, (b"x-request-id", request_id.encode()))
            whole = Whole(reply.status, [*headers, *ours], reply.body)
        except Exception as error:  # likewise
            whole = _refusal(error, request_id, scope)
        except trio.Cancelled:  # the client left
            self._observe(scope, 0, time.perf_counter() - began)
            raise
        self._observe(scope, whole.status, time.perf_counter() - began)
        return whole

    async def _serve(self, matched: FastRoute, scope: HTTPScope, body: bytes, authorization: bytes | None) -> ApiReply:
        self._admission.admit(authorization)
        try:
            return await self._fast_path.serve(matched, scope, body)
        finally:
            self._admission.release(authorization)

    def _authorization(self, scope: HTTPScope) -> bytes | None:
        """What a request says of who it is from, unread; None: it is nobody's in particular."""
        if not self._knows_tokens:
            return None
        return next((value for name, value in scope["headers"] if name == b"authorization"), None)

    def _begin(self, scope: HTTPScope) -> str:
        request_id = _request_id(scope["headers"])
        scope["state"]["request_id"] = request_id
        structlog.contextvars.clear_contextvars()  # on the fast path a connection's requests share their context
        structlog.contextvars.bind_contextvars(request_id=request_id)
        return request_id

    def _observe(self, scope: HTTPScope, status: int, seconds: float) -> None:
        route = scope["state"].get("route", "none")
        method = scope["method"] if scope["method"] in _METHODS else "other"
        seen = self._series.get((route, method, status))
        if seen is None:  # there are few of them, and looking a series up costs more than counting in it
            requests = self._metrics.http_requests.labels(route, method, str(status))
            seen = self._series[route, method, status] = (requests, self._metrics.http_seconds.labels(route))
        seen[0].inc()
        example = {"request_id": scope["state"]["request_id"]}
        if trace_id := scope["state"].get("trace_id"):
            example["trace_id"] = trace_id
        seen[1].observe(seconds, example)


class _Answer:
    """The answer on its way out of Quart."""

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
            # What the application says of caching itself (files whose address is their content's) is left as it is.
            said = {bytes(name).lower() for name, _ in event["headers"]}
            ours = [(name, value) for name, value in _ALWAYS_SENT if name not in said]
            event["headers"] = [*event["headers"], *ours, (b"x-request-id", self._request_id.encode())]
        with trio.CancelScope(shield=True):
            await self._send(event)

    async def give(self, whole: Whole) -> None:
        """Give this answer, unless one has begun already."""
        if self.status:
            return
        self.status = whole.status
        with trio.CancelScope(shield=True):
            await self._send({"type": "http.response.start", "status": whole.status, "headers": whole.headers})
            await self._send({"type": "http.response.body", "body": whole.body, "more_body": False})


def _refusal(error: Exception, request_id: str, scope: HTTPScope) -> Whole:
    """The answer to a request that got no further than the guard; the connection ends with it."""
    if isinstance(error, ApiError):
        status, message, more = error.status, error.message, error.headers
    else:
        _log.error("the application failed to answer", error=error, exc_info=error)
        status, message, more = 500, messages.INTERNAL_ERROR, ()
    headers, body = plain_error(status, message, request_id, language_of(scope["headers"]))
    headers += [*_ALWAYS_SENT, *((name.lower().encode(), value.encode()) for name, value in more)]
    return Whole(status, headers, body)


def refuse_hostile(scope: HTTPScope) -> None:
    """Raise ApiError for requests that are ambiguous, or of another protocol than HTTP/1.1.

    An offer to go on in another one (`Upgrade`) is not taken up, and that is all (RFC 9110, section 7.8): in clear text
    Java's own client makes it with every request.
    """
    names = set()
    size = 0
    for name, value in scope["headers"]:
        names.add(bytes(name))
        size += len(name) + len(value)
    if size > MAX_HEADER_BYTES:
        raise ApiError(431, messages.headers_too_large(MAX_HEADER_BYTES))
    refuse_repeated(scope["headers"])
    if b"transfer-encoding" in names and b"content-length" in names:
        raise ApiError(400, messages.TWO_LENGTHS)
    if scope["http_version"] not in ("1.0", "1.1"):
        raise ApiError(505, messages.FOREIGN_VERSION)
    if scope["method"] == "CONNECT":
        raise ApiError(400, messages.NO_PROXY)
    if not scope["path"].startswith(("/", "http://", "https://")) and scope["path"] != "*":
        raise ApiError(400, messages.BAD_TARGET)


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
