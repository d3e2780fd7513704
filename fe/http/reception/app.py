"""The application that suppliers reach: one handler for every path, its own limits, and nothing of the API.

Memory is bounded by what is in work at once times the largest body: a body that is still arriving counts as work here,
and has ten seconds to arrive. CPU work has threads of its own.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import cast

import trio
from hypercorn.typing import HTTPScope
from quart import Response, request
from quart_trio import QuartTrio
from werkzeug.exceptions import HTTPException, RequestEntityTooLarge, RequestTimeout
from werkzeug.routing import PathConverter

from fe.clock import Clock, ClockFault, no_fault
from fe.config import Network
from fe.ecf.catalogue import Environment
from fe.ecf.json_text import write_json
from fe.http.calls import ApiReply, Call
from fe.http.errors import ApiError, describe
from fe.http.messages import NOT_FOUND, body_too_large, say
from fe.http.reception.handlers import Suppliers, read_path
from fe.http.routes.health import not_ready
from fe.http.routes.types import Route
from fe.http.server.addresses import client_address, holder_of
from fe.http.server.application import new_application
from fe.http.server.fast_path import FastPath
from fe.http.server.replies import refuse, respond
from fe.http.server.requests import make_call
from fe.limits import ConcurrencyLimit, TokenBucket
from fe.monitoring.metrics import Metrics
from fe.receiving.assess import AckReason, Trust
from fe.receiving.receive import Reception, Signers
from fe.receiving.seeds_and_tokens import SupplierSessions
from fe.store.postgres.db import Database
from fe.store.records import receivers

#: Above what a document may be (fe/ecf/parse), with the form around it.
MAX_BODY_BYTES = 1024 * 1024 + 64 * 1024
BODY_SECONDS = 10
_CLOSE = ("Connection", "close")
#: An address may have one part in this many of the requests in work.
_SHARE = 4
#: The readiness check looks up this tax id, which no tenant has.
_NOBODY = "000000000"


@dataclass(frozen=True, slots=True)
class ReceptionDeps:
    """The dependencies and limits of reception. `keys` make seeds and tokens (`sessions.derive_keys`)."""

    db: Database
    signers: Signers
    trust: Trust
    keys: Mapping[str, bytes]
    clock: Clock
    metrics: Metrics
    in_flight: int = 32
    #: Documents assessed or signed at once: CPU work that the rest of the process waits for.
    threads: int = 2
    #: Calls per second and address; 0: as many as they like.
    calls_per_second: float = 20.0
    trusted_proxies: tuple[Network, ...] = ()
    #: Why this process must not sign; then it acknowledges nothing and is not ready.
    clock_fault: ClockFault = no_fault


class ReceptionApi:
    """The handlers of all paths, with the interface that `serve_http` expects."""

    knows_tokens = True

    def __init__(self, deps: ReceptionDeps) -> None:
        self.metrics = deps.metrics
        self.admission: ConcurrencyLimit[bytes | None] = ConcurrencyLimit(
            "tenant_requests", deps.metrics, each=deps.in_flight, together=deps.in_flight
        )
        self._db = deps.db
        self._calls = TokenBucket[Hashable].per_second(deps.calls_per_second)
        self._by_address: ConcurrencyLimit[Hashable] = ConcurrencyLimit(each=max(deps.in_flight // _SHARE, 1))
        self._trusted = deps.trusted_proxies
        for environment, reason in product(Environment, AckReason):
            deps.metrics.received.labels(environment, str(int(reason)))
        self._clock_fault = deps.clock_fault
        reception = Reception(
            deps.db,
            deps.signers,
            deps.trust,
            trio.CapacityLimiter(deps.threads),
            count=self._count,
            clock_fault=deps.clock_fault,
        )
        self._suppliers = Suppliers(reception, SupplierSessions(deps.keys), deps.clock)
        nothing = Route("POST", "/", None, self._alive)
        self.fast_path = FastPath(_never, MAX_BODY_BYTES, nothing, nothing, enabled=False)

    def _count(self, environment: Environment, reason: AckReason) -> None:
        self.metrics.received.labels(environment, str(int(reason))).inc()

    async def answer(self, method: str, path: str, call: Call) -> ApiReply:
        """Answer a call: whatever goes wrong becomes an answer here."""
        try:
            if path == "/healthz":
                return await self._alive(call)
            address = holder_of(client_address(call.peer, call.headers.get("x-forwarded-for"), self._trusted))
            if self._calls is not None:
                self._calls.require(address, trio.current_time())
            with self._by_address.held(address):
                if path == "/readyz":
                    return await self._ready()
                return await self._suppliers.answer(method, path, call)
        except Exception as error:  # the one place where errors become answers
            problem = describe(error)
            return ApiReply(problem.status, problem.body(), problem.headers)

    async def _alive(self, call: Call) -> ApiReply:
        return ApiReply(200, write_json({"status": "ok"}))

    async def _ready(self) -> ApiReply:
        await self._db.run(receivers.find, Environment.ECF, _NOBODY)  # a database that is away becomes 503
        if (fault := self._clock_fault()) is not None:
            return not_ready(fault)
        return ApiReply(200, write_json({"status": "ready"}))

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Do nothing beside requests, until cancelled."""
        task_status.started()
        await trio.sleep_forever()

    def release_waiters(self) -> None:
        """There are no long polls here."""

    async def finish(self) -> None:
        """Nothing is kept in memory."""

    def on_connection_fault(self, kind: str) -> None:
        """Count a connection that ended by a fault of its own."""
        self.metrics.http_faults.labels(kind).inc()


def _route_of(method: str, path: str) -> str:
    """Name the route for the metrics; health checks as at the API's listener."""
    if path in ("/healthz", "/readyz"):
        return f"{method} {path}"
    where = read_path(path)
    return f"reception {where[2].name.lower()}" if where else "none"


async def _never(route: Route, call: Call) -> ApiReply:
    raise ApiError(404, NOT_FOUND)


class _Rest(PathConverter):
    """The whole rest of a path, empty or with a slash at its start, which the usual converter leaves out."""

    regex = ".*?"
    part_isolating = False  # it matches across slashes


def create_reception(deps: ReceptionDeps) -> QuartTrio:
    """Build the application; `serve_http` puts the pipeline around it."""
    app = new_application("fe.reception", MAX_BODY_BYTES)
    app.config["BODY_TIMEOUT"] = BODY_SECONDS
    api = app.extensions["fe"] = ReceptionApi(deps)

    async def view(path: str = "") -> Response:
        scope = cast(HTTPScope, request.scope)  # there are no WebSockets here
        scope["state"]["route"] = _route_of(scope["method"], scope["path"])

        async def read_body() -> bytes:
            try:
                return await request.get_data(cache=False, as_text=False, parse_form_data=False)
            except RequestEntityTooLarge:
                raise ApiError(413, body_too_large(MAX_BODY_BYTES), (_CLOSE,)) from None
            except RequestTimeout:
                raise ApiError(408, say("body-too-slow", seconds=BODY_SECONDS), (_CLOSE,)) from None

        return respond(await api.answer(scope["method"], scope["path"], make_call(scope, {}, read_body)))

    methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    app.url_map.converters["rest"] = _Rest
    app.add_url_rule("/<rest:path>", "any", view, methods=methods, strict_slashes=False)
    app.register_error_handler(HTTPException, refuse)
    return app
