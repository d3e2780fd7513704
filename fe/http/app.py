"""The HTTP application: builds every handler, and one table of routes from which all else follows."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network
from typing import Any

import trio
from quart import Response, request
from quart_trio import QuartTrio
from werkzeug.exceptions import HTTPException, RequestEntityTooLarge, RequestTimeout

from fe.clock import Clock
from fe.config import Settings, named_keys, require
from fe.flows.json_text import write_json
from fe.http.auth import Authenticator, KeyStates
from fe.http.errors import ApiError, describe
from fe.http.health import Health
from fe.http.invoices import Invoices
from fe.http.load import Load
from fe.http.login import Login
from fe.http.tokens import Tokens
from fe.http.wire import Call, Handler, Reply
from fe.metrics import Metrics
from fe.store.db import Database
from fe.store.wakeups import Wakeups

PREFIX = "/api/v1/fe"
BODY_SECONDS = 10

Network = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True)
class HttpDeps:
    """What the front is built from."""

    db: Database
    wakeups: Wakeups
    clock: Clock
    metrics: Metrics
    jwt_keys: dict[str, bytes]
    pepper: bytes
    max_body_bytes: int = 1024 * 1024
    max_in_flight: int = 200

    @classmethod
    def from_settings(
        cls, settings: Settings, *, db: Database, wakeups: Wakeups, clock: Clock, metrics: Metrics
    ) -> "HttpDeps":
        """Take secrets and limits from the settings. Raises ConfigError naming a secret that is not set."""
        return cls(
            db=db,
            wakeups=wakeups,
            clock=clock,
            metrics=metrics,
            jwt_keys=named_keys(require(settings.jwt_keys, "FE_JWT_KEYS")),
            pepper=bytes.fromhex(require(settings.api_key_pepper, "FE_API_KEY_PEPPER")),
            max_body_bytes=settings.max_body_bytes,
            max_in_flight=settings.max_in_flight,
        )


@dataclass(frozen=True, slots=True)
class Route:
    """A method and path, who may call it (`scope` None: anybody), and what answers. Paths are whole."""

    method: str
    path: str
    scope: str | None
    handler: Handler

    @property
    def name(self) -> str:
        """A name for metrics and the router."""
        return f"{self.method} {self.path}"


class Front:
    """Everything behind the routes, and what runs beside them. One per process."""

    def __init__(self, deps: HttpDeps) -> None:
        self.metrics = deps.metrics
        self.load = Load(deps.max_in_flight, deps.metrics)
        self.max_body_bytes = deps.max_body_bytes
        tokens = Tokens(deps.jwt_keys)
        self._states = KeyStates(deps.db)
        self._authenticator = Authenticator(tokens, self._states, deps.clock)
        health = Health(deps.db)
        login = Login(deps.db, tokens, deps.pepper, deps.clock, deps.metrics)
        invoices = Invoices(deps.db, deps.wakeups, deps.clock, deps.metrics)
        self.routes = (
            Route("GET", "/healthz", None, health.live),
            Route("GET", "/readyz", None, health.ready),
            Route("POST", f"{PREFIX}/login", None, login.login),
            Route("POST", f"{PREFIX}/invoices", "invoices:write", invoices.create),
            Route("GET", f"{PREFIX}/invoices", "invoices:read", invoices.history),
            Route("GET", f"{PREFIX}/invoices/<track_or_id>", "invoices:read", invoices.show),
            Route("GET", f"{PREFIX}/invoices/<track_or_id>/xml", "invoices:read", invoices.xml),
        )

    async def answer(self, route: Route, call: Call) -> Reply:
        """Answer a call of `route`: authenticate, handle, and turn whatever goes wrong into an answer."""
        try:
            if route.scope is not None:
                call.caller = await self._authenticator.authenticate(call.headers.get("authorization"), route.scope)
            return await route.handler(call)
        except Exception as error:  # the one place where errors become answers
            problem = describe(error)
            return Reply(problem.status, problem.body, problem.headers)

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Do what the front does beside requests, until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._states.listen)
            task_status.started()

    async def finish(self) -> None:
        """Write down what is still in memory."""

    def on_connection_fault(self, kind: str) -> None:
        """Count a connection that ended by a fault of its own."""
        self.metrics.http_faults.labels(kind).inc()


def create_app(deps: HttpDeps) -> QuartTrio:
    """Build the application. `app.extensions["fe"]` is its Front; `serve_http` puts the guard around it."""
    app = QuartTrio("fe", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = deps.max_body_bytes
    app.config["BODY_TIMEOUT"] = BODY_SECONDS
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    # Otherwise the router answers a doubled or trailing slash with a redirect, as a page.
    app.url_map.merge_slashes = False
    app.url_map.redirect_defaults = False
    front = app.extensions["fe"] = Front(deps)
    for route in front.routes:
        app.add_url_rule(route.path, route.name, _view(front, route), methods=[route.method], strict_slashes=True)
    app.register_error_handler(HTTPException, _refuse)
    return app


def _view(front: Front, route: Route) -> Callable[..., Awaitable[Response]]:
    async def view(**params: str) -> Response:
        state = request.scope["state"]
        state["route"] = route.name

        async def read_body() -> bytes:
            with front.load.resting():
                try:
                    return await request.get_data(cache=False, as_text=False, parse_form_data=False)
                except RequestEntityTooLarge:
                    message = f"the body must not be larger than {front.max_body_bytes} bytes"
                    raise ApiError(413, message, (("Connection", "close"),)) from None
                except RequestTimeout:
                    message = f"the body did not arrive within {BODY_SECONDS} s"
                    raise ApiError(408, message, (("Connection", "close"),)) from None

        call = Call(
            headers={name.lower(): value for name, value in request.headers.items()},
            query_string=request.query_string,
            params=params,
            peer=(request.scope["client"] or ("",))[0],
            request_id=state["request_id"],
            read_body=read_body,
        )
        return _respond(await front.answer(route, call))

    return view


async def _refuse(error: HTTPException) -> Response:
    problem = describe(error)
    return _respond(Reply(problem.status, problem.body, problem.headers))


def _respond(reply: Reply) -> Response:
    body: Any = reply.body
    raw = body if isinstance(body, bytes) else write_json(body)
    return Response(raw, reply.status, dict(reply.headers), content_type="application/json")
