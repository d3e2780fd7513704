"""The steps of every request before the application: request id, checks, limits and metrics.

It is an ASGI application around another one, for http scopes only. Requests that may take the fast path (fast_path.py)
it answers itself.
"""

import re
import time
from collections.abc import AsyncIterator, Hashable, Iterable, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from http import HTTPStatus
from urllib.parse import unquote

import structlog
import trio
from hypercorn.typing import ASGIFramework, ASGIReceiveCallable, ASGISendCallable, ASGISendEvent, HTTPScope
from prometheus_client import Counter, Histogram

from fe.cache import ExpiringCache
from fe.config import Network
from fe.http.errors import ApiError, describe_limit
from fe.http.messages import FOREIGN_VERSION, INTERNAL_ERROR, say
from fe.http.server.addresses import holder_of_request
from fe.http.server.answers import ErrorPage, HttpAnswer, RawHeaders, accepted_of, new_request_id, plain_error
from fe.http.server.cors import Cors
from fe.http.server.fast_path import FastPath, FastRoute
from fe.http.server.requests import refuse_repeated
from fe.limits import ConcurrencyLimit, Limited, ShareTaken
from fe.monitoring.metrics import Metrics

#: Names and values of all headers together.
MAX_HEADER_BYTES = 16 * 1024

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"})
_ALWAYS = frozenset({"/healthz", "/readyz"})
_BODY_HEADERS = (b"content-length", b"transfer-encoding")
#: An answer is about one tenant at one moment: it must not be cached or taken for another type.
_ALWAYS_SENT = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))

#: Requests without a token and without a body: how many of one address are served at once, and how long the others
#: wait, in seconds. The framework takes a millisecond or two for each.
ANONYMOUS_AT_ONCE = 4
ANONYMOUS_PATIENCE = 5.0
#: Seconds for which a client that reached a limit is refused the same path without any work.
REFUSED_SECONDS = 1.0
_MAX_REFUSALS = 10_000
_LAST = (b"connection", b"close")

_log = structlog.get_logger(__name__)


class Pipeline:
    """The application that the server runs."""

    def __init__(
        self,
        app: ASGIFramework,
        fast_path: FastPath,
        admission: ConcurrencyLimit[bytes | None],
        metrics: Metrics,
        proxies: Sequence[Network],
        *,
        knows_tokens: bool,
        page: ErrorPage | None = None,
        cors: Cors | None = None,
    ) -> None:
        """Take the application and the limit of requests in work, by the very bytes of their Authorization.

        Without `knows_tokens` the application reads no Authorization: every request is anonymous. `page` writes
        refusals for people.
        """
        self._app = app
        self._knows_tokens = knows_tokens
        self.page = page
        self._cors = cors or Cors()
        self._proxies = proxies
        self._anonymous: ConcurrencyLimit[Hashable] = anonymous_limit()
        #: Recent 429 answers that ended their connection, and their Retry-After: by client and path.
        self._refusals: ExpiringCache[Hashable, int] = ExpiringCache(_MAX_REFUSALS)
        self._fast_path = fast_path
        self._admission = admission
        self._metrics = metrics
        self._series: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        self.match = fast_path.match
        self.max_body_bytes = fast_path.max_body_bytes

    def refuse(self, scope: HTTPScope) -> HttpAnswer | None:
        """Refuse a request that `__call__` would refuse, before a task or a stream is made for it; None: go on."""
        began = time.perf_counter()
        request_id = self._begin(scope)
        try:
            refuse_hostile(scope)
            if scope["path"] in _ALWAYS:
                return None
            authorization = self._authorization(scope)
            self._refuse_again(scope, authorization)
            self._admission.require(authorization)
        except (ApiError, Limited) as error:
            answer = self._refusal(error, request_id, scope)
            self._observe(scope, answer.status, time.perf_counter() - began)
            return answer
        return None

    async def __call__(self, scope: HTTPScope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Answer one request through Quart, whatever happens."""
        began = time.perf_counter()
        request_id = self._begin(scope)
        answer = _Answer(send, request_id, self._cors.headers(scope))
        try:
            refuse_hostile(scope)
            keep_escaped_slashes(scope)
            if preflight := self._cors.preflight(scope):
                request_header = (b"x-request-id", request_id.encode())
                await answer.give(HttpAnswer(preflight.status, [*preflight.headers, request_header], b""))
            elif scope["path"] in _ALWAYS:
                with ExitStack() as scope["state"]["until_sent"]:
                    await self._app(scope, receive, answer.send)
            else:
                authorization = self._authorization(scope)
                async with AsyncExitStack() as held:
                    if authorization is None:
                        await held.enter_async_context(self._anonymous_turn(scope))
                    held.enter_context(self._admission.held(authorization))
                    scope["state"]["until_sent"] = held.enter_context(ExitStack())
                    await self._app(scope, receive, answer.send)
                    self._note_refusal(scope, authorization, answer.status, answer.headers)
        except Exception as error:  # an error of the application must not end the connection
            await answer.give(self._refusal(error, request_id, scope))
        finally:
            self._observe(scope, answer.status, time.perf_counter() - began)

    async def answer(self, matched: FastRoute, scope: HTTPScope, body: bytes) -> HttpAnswer:
        """Answer one request on the fast path, whatever happens."""
        began = time.perf_counter()
        request_id = self._begin(scope)
        scope["state"]["route"] = matched.route.name
        try:
            refuse_hostile(scope)
            authorization = self._authorization(scope)
            self._refuse_again(scope, authorization)
            if authorization is None:
                async with self._anonymous_turn(scope):
                    with self._admission.held(None):
                        reply = await self._fast_path.serve(matched, scope, body)
            else:
                with self._admission.held(authorization):
                    reply = await self._fast_path.serve(matched, scope, body)
            headers = [(name.lower().encode(), value.encode()) for name, value in reply.headers]
            said = {name for name, _ in headers}
            if b"content-type" not in said:
                headers.append((b"content-type", b"application/json"))
            if reply.status != HTTPStatus.NOT_MODIFIED:
                headers.append((b"content-length", str(len(reply.body)).encode()))
            headers += [one for one in _ALWAYS_SENT if one[0] not in said]
            headers += [(b"x-request-id", request_id.encode()), *self._cors.headers(scope)]
            answer = HttpAnswer(reply.status, headers, reply.body)
            self._note_refusal(scope, authorization, answer.status, headers)
        except Exception as error:  # likewise
            answer = self._refusal(error, request_id, scope)
        except trio.Cancelled:  # the client left
            self._observe(scope, 0, time.perf_counter() - began)
            raise
        self._observe(scope, answer.status, time.perf_counter() - began)
        return answer

    def _refusal(self, error: Exception, request_id: str, scope: HTTPScope) -> HttpAnswer:
        """The answer to a request that the pipeline refuses; the connection ends with it."""
        if isinstance(error, Limited):
            limited = describe_limit(error)
            status, message, more = limited.status, limited.message, limited.headers
        elif isinstance(error, ApiError):
            status, message, more = error.status, error.message, error.headers
        else:
            _log.error("the application failed to answer", error=error, exc_info=error)
            status, message, more = 500, INTERNAL_ERROR, ()
        headers, body = plain_error(status, message, request_id, accepted_of(scope["headers"]), self.page)
        headers += [*_ALWAYS_SENT, *((name.lower().encode(), value.encode()) for name, value in more)]
        headers += self._cors.headers(scope)
        return HttpAnswer(status, headers, body)

    def _note_refusal(
        self, scope: HTTPScope, authorization: bytes | None, status: int, headers: Iterable[tuple[bytes, bytes]]
    ) -> None:
        if status == 429 and _LAST in (found := dict(headers)).items():
            until = trio.current_time() + REFUSED_SECONDS
            self._refusals.put(self._client_and_path(scope, authorization), int(found[b"retry-after"]), until)

    def _refuse_again(self, scope: HTTPScope, authorization: bytes | None) -> None:
        """Raise ShareTaken for a client that repeats a request which was refused a moment ago."""
        if not self._refusals:
            return
        retry_after = self._refusals.get(self._client_and_path(scope, authorization), trio.current_time())
        if retry_after is not None:
            self._metrics.share_refused.labels("too_soon").inc()
            raise ShareTaken(retry_after)

    def _client_and_path(self, scope: HTTPScope, authorization: bytes | None) -> Hashable:
        client = holder_of_request(scope, self._proxies) if authorization is None else authorization
        return client, scope["method"], scope["path"], bool(scope["query_string"])

    @asynccontextmanager
    async def _anonymous_turn(self, scope: HTTPScope) -> AsyncIterator[None]:
        """Hold a turn of the client's address for the block. Raises TurnTimeout.

        A request whose body may still be on its way waits for no turn and holds none.
        """
        if scope["method"] not in {"GET", "HEAD"} and any(name in _BODY_HEADERS for name, _ in scope["headers"]):
            yield
            return
        async with self._anonymous.turn(holder_of_request(scope, self._proxies)):
            yield

    def _authorization(self, scope: HTTPScope) -> bytes | None:
        """The Authorization of a request, unread; None for an anonymous one."""
        if not self._knows_tokens:
            return None
        return next((value for name, value in scope["headers"] if name == b"authorization"), None)

    def _begin(self, scope: HTTPScope) -> str:
        request_id = _request_id(scope["headers"])
        scope["state"]["request_id"] = request_id
        structlog.contextvars.clear_contextvars()  # on the fast path, requests of a connection share their context
        structlog.contextvars.bind_contextvars(request_id=request_id)
        return request_id

    def _observe(self, scope: HTTPScope, status: int, seconds: float) -> None:
        route = scope["state"].get("route", "none")
        method = scope["method"] if scope["method"] in _METHODS else "other"
        seen = self._series.get((route, method, status))
        if seen is None:  # a lookup of a series costs more than counting in it
            requests = self._metrics.http_requests.labels(route, method, str(status))
            seen = self._series[route, method, status] = (requests, self._metrics.http_seconds.labels(route))
        seen[0].inc()
        example = {"request_id": scope["state"]["request_id"]}
        if trace_id := scope["state"].get("trace_id"):
            example["trace_id"] = trace_id
        seen[1].observe(seconds, example)


class _Answer:
    """The answer of the framework."""

    def __init__(self, send: ASGISendCallable, request_id: str, more: RawHeaders) -> None:
        """Take headers that every answer to the request has beside the application's."""
        self._send = send
        self._request_id = request_id
        self._more = more
        #: 0 until an answer begins. 0 at the end: the client left before.
        self.status = 0
        self.headers: Sequence[tuple[bytes, bytes]] = ()

    async def send(self, event: ASGISendEvent) -> None:
        """Pass an event on, shielded: the framework cancels itself as the answer ends, and a send that is cancelled
        would leave the connection without its idle timer."""
        if event["type"] == "http.response.start":
            self.status = event["status"]
            self.headers = list(event["headers"])
            # A header that the application sends itself is kept.
            said = {bytes(name).lower() for name, _ in event["headers"]}
            ours = [(name, value) for name, value in _ALWAYS_SENT if name not in said]
            ours = [*ours, (b"x-request-id", self._request_id.encode()), *self._more]
            event["headers"] = [*event["headers"], *ours]
        with trio.CancelScope(shield=True):
            await self._send(event)

    async def give(self, answer: HttpAnswer) -> None:
        """Send this answer, unless one has begun already."""
        if self.status:
            return
        self.status = answer.status
        with trio.CancelScope(shield=True):
            await self._send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
            await self._send({"type": "http.response.body", "body": answer.body, "more_body": False})


def anonymous_limit() -> ConcurrencyLimit[Hashable]:
    """The limit of requests without a token, by address."""
    return ConcurrencyLimit(each=ANONYMOUS_AT_ONCE, patience=ANONYMOUS_PATIENCE)


def refuse_hostile(scope: HTTPScope) -> None:
    """Raise ApiError for requests that are ambiguous, or of another protocol than HTTP/1.1.

    `Upgrade` is ignored (RFC 9110, section 7.8): Java's client sends it with every request in clear text.
    """
    names = set()
    size = 0
    for name, value in scope["headers"]:
        names.add(bytes(name))
        size += len(name) + len(value)
    if size > MAX_HEADER_BYTES:
        raise ApiError(431, say("headers-too-large", limit=MAX_HEADER_BYTES))
    refuse_repeated(scope["headers"])
    if b"transfer-encoding" in names and b"content-length" in names:
        raise ApiError(400, say("two-lengths"))
    if scope["http_version"] not in ("1.0", "1.1"):
        raise ApiError(505, FOREIGN_VERSION)
    if scope["method"] == "CONNECT":
        raise ApiError(400, say("no-proxy"))
    if not scope["path"].startswith(("/", "http://", "https://")) and scope["path"] != "*":
        raise ApiError(400, say("bad-target"))


def keep_escaped_slashes(scope: HTTPScope) -> None:
    """Keep an escaped slash inside a path segment escaped, so that it does not begin a new segment."""
    raw = scope["raw_path"]
    if b"%2f" in raw.lower():
        scope["path"] = unquote(re.sub(rb"%(2[fF])", rb"%25\1", raw).decode("ascii"))


def _request_id(headers: Iterable[tuple[bytes, bytes]]) -> str:
    for name, value in headers:
        if name == b"x-request-id" and _REQUEST_ID.fullmatch(value):
            return value.decode("ascii")
    return new_request_id()
