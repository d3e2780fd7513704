"""The HTTP application: builds every handler, and one table of routes from which all else follows."""

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Hashable, Mapping
from contextlib import ExitStack, aclosing
from dataclasses import dataclass, replace
from typing import cast

import structlog
import trio
from hypercorn.typing import HTTPScope
from quart import Response, request
from quart_trio import QuartTrio
from werkzeug.exceptions import HTTPException, RequestEntityTooLarge, RequestTimeout

from fe.accounts.keys import Peppers
from fe.archiving.documents import ReceiptDocuments
from fe.clock import Clock, ClockFault, no_fault
from fe.config import Network, Settings, named_keys, read_networks, require
from fe.http.access_log import AccessLog
from fe.http.api_headers import API_VERSION, deprecation_headers, rate_headers
from fe.http.auth.authenticate import KEY_PATIENCE, Authenticator, KeyPatience, KeyStates, ScopeMissing
from fe.http.auth.login import Login
from fe.http.auth.tokens import Tokens
from fe.http.calls import ApiReply, Call
from fe.http.counters import Counters
from fe.http.errors import ApiError, describe, refusal
from fe.http.languages import HEADERS
from fe.http.messages import body_too_large, say
from fe.http.openapi.served import docs
from fe.http.outage_header import OutageHeader
from fe.http.pages.site import Site
from fe.http.paging import list_limit
from fe.http.request_log import RequestLog
from fe.http.routes.agents import Agents
from fe.http.routes.approvals import ApprovalHandlers
from fe.http.routes.archive import ArchiveHandlers
from fe.http.routes.authority import AuthorityHandlers
from fe.http.routes.billing import BillingHandlers
from fe.http.routes.catalogue import CatalogueHandlers
from fe.http.routes.contingency import ContingencyHandlers
from fe.http.routes.health import LOOK_PATIENCE, Health, LookPatience
from fe.http.routes.imports import ImportHandlers
from fe.http.routes.invoices import Invoices
from fe.http.routes.long_polls import LongPolls
from fe.http.routes.mail_settings import MailSettingsHandlers
from fe.http.routes.months import MonthHandlers
from fe.http.routes.ncf import Ncf
from fe.http.routes.paper import PaperHandlers
from fe.http.routes.print_archives import PrintArchives
from fe.http.routes.printing import PrintHandlers
from fe.http.routes.received import ReceivedHandlers
from fe.http.routes.recurring import RecurringHandlers
from fe.http.routes.requests import RequestHandlers
from fe.http.routes.sandbox import SandboxHandlers
from fe.http.routes.service_status import StatusHandlers
from fe.http.routes.sharing import ShareHandlers
from fe.http.routes.table import PREFIX as PREFIX  # re-exported for servers and callers of the application
from fe.http.routes.table import every_route
from fe.http.routes.types import Route
from fe.http.routes.usage import UsageHandlers
from fe.http.routes.voidings import VoidingHandlers
from fe.http.routes.webhooks import WebhookHandlers
from fe.http.server.addresses import Address, client_address, holder_of
from fe.http.server.application import add_routes, new_application
from fe.http.server.fast_path import FastPath
from fe.http.server.limited_requests import request_class
from fe.http.server.replies import refuser, respond
from fe.http.server.requests import make_call, note_trace
from fe.http.simulator import Simulator
from fe.identifiers import TenantId
from fe.issuing.certification_runs import CertificationRunner
from fe.issuing.imports import ImportRunner, Imports
from fe.issuing.paper_replacing import PaperReplacer
from fe.issuing.recurring_runner import RecurringRunner
from fe.issuing.sharing import Sharing
from fe.issuing.submitting import Submitting
from fe.limits import NO_QUOTA, WEBHOOK_QUOTA, ConcurrencyLimit, DocumentQuota, LimitReached, QuotaLimits, TokenBucket
from fe.monitoring.initial_series import initialize_front_series
from fe.monitoring.metrics import Metrics
from fe.monitoring.submission_log import SubmissionLog
from fe.monitoring.tracing import OFF, Tracing
from fe.objects.configured import archive_store
from fe.objects.storage import ObjectStore
from fe.offload.pool import PRINTER_IDLE_SECONDS, Apart
from fe.queue.direct_intake import DirectIntake
from fe.store.postgres.db import Database
from fe.store.postgres.errors import ANY_OF_THE_DATABASE, DatabaseUnavailable
from fe.store.queue.outbox import Work
from fe.store.queue.wakeups import Wakeups
from fe.store.records import throttle
from fe.store.records.throttle import ATTEMPT_LIMITS, AttemptLimits
from fe.store.records.verdict_notices import VerdictNotices
from fe.webhooks.accounts import WebhookAccounts, webhook_accounts

PRUNE_SECONDS = 60.0
#: Time between the first looks of background tasks: one connection serves them, where each would open its own.
STAGGER_SECONDS = 0.1
#: Bytes of bodies that are read and answered: of one tenant (before it is known who it is: of one address), and of all.
BODY_BYTES_OF_ONE = 16 * 1024 * 1024
BODY_BYTES = 64 * 1024 * 1024
_CLOSE = ("Connection", "close")
#: Part of a processor that printing for one tenant takes before it waits for an idle one.
_PRINTING_SHARE = 0.5
#: Answers to a change that report stored state and have written nothing: it is not there, or it was done before.
_REPORT_STATE = (404, 409)

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class HttpDeps:
    """The dependencies and limits of the front."""

    db: Database
    wakeups: Wakeups
    clock: Clock
    metrics: Metrics
    jwt_keys: dict[str, bytes]
    #: By id, the one in use first.
    peppers: Mapping[str, bytes]
    max_body_bytes: int = 1024 * 1024
    max_in_flight: int = 200
    trusted_proxies: tuple[Network, ...] = ()
    #: Calls per second that one API key may make of one process; 0: as many as it likes.
    calls_per_second: float = 0.0
    #: Requests of one tenant in work at once in this process, and as many more that wait for verdicts.
    tenant_requests: int = 100
    #: Requests of all that wait for verdicts: each has a connection.
    max_waiting: int = 500
    quota: QuotaLimits = NO_QUOTA
    #: Calls of its own webhook that a tenant may ask for.
    webhook_quota: QuotaLimits = NO_QUOTA
    #: Processes for large documents.
    large_processes: int = 1
    #: How long a body may take to arrive, in seconds.
    body_seconds: float = 10
    #: The share of requests that get a line in the log.
    access_log: float = 0.0
    #: The share of submissions whose acceptance gets one.
    submission_log: float = 0.0
    key_patience: KeyPatience = KEY_PATIENCE
    look_patience: LookPatience = LOOK_PATIENCE
    attempt_limits: AttemptLimits = ATTEMPT_LIMITS
    #: Whether whole requests of the busiest routes skip the framework. The answers are the same; the tests see to it.
    fast_path: bool = True
    #: None: webhooks cannot be set here, because there is no key for their secrets.
    webhooks: WebhookAccounts | None = None
    #: Shared with the actors of this process; without it only the database notifies the front of verdicts.
    verdicts: VerdictNotices | None = None
    tracing: Tracing = OFF
    #: Straight to the signers of this process, where it has any.
    intake: DirectIntake[Work] | None = None
    #: Whether clients may ask for outcomes, outside production.
    authority_simulated: bool = False
    #: None: clients cannot order receipts and approvals of other taxpayers.
    simulator: Simulator | None = None
    #: Where the QR codes of received receipts lead.
    authority_ecf_url: str = "https://ecf.dgii.gov.do"
    authority_fc_url: str = "https://fc.dgii.gov.do"
    #: Why this process must not sign; then it is not ready either.
    clock_fault: ClockFault = no_fault
    #: None: no receipt can be shared with its buyer.
    sharing: Sharing | None = None
    #: None: no package of the archive can be fetched here.
    archive: ObjectStore | None = None

    @classmethod
    def from_settings(
        cls,
        settings: Settings,
        *,
        db: Database,
        wakeups: Wakeups,
        clock: Clock,
        metrics: Metrics,
        verdicts: VerdictNotices | None = None,
        tracing: Tracing = OFF,
        intake: DirectIntake[Work] | None = None,
        clock_fault: ClockFault = no_fault,
    ) -> "HttpDeps":
        """Take secrets and limits from the settings. Raises ConfigError naming what is not set or wrong."""
        return cls(
            db=db,
            wakeups=wakeups,
            clock=clock,
            metrics=metrics,
            jwt_keys=named_keys(require(settings.jwt_keys, "FE_JWT_KEYS")),
            peppers=settings.peppers(),
            max_in_flight=settings.max_in_flight,
            trusted_proxies=read_networks(settings.trusted_proxies),
            verdicts=verdicts,
            tracing=tracing,
            intake=intake,
            clock_fault=clock_fault,
            authority_simulated=settings.authority_simulated,
            simulator=Simulator.from_settings(settings),
            authority_ecf_url=settings.authority_ecf_url,
            authority_fc_url=settings.authority_fc_url,
            webhooks=webhook_accounts(settings),
            sharing=Sharing.from_settings(settings),
            archive=archive_store(settings),
            calls_per_second=settings.calls_per_second,
            access_log=settings.access_log,
            submission_log=settings.submission_log,
            tenant_requests=settings.tenant_requests,
            large_processes=settings.large_processes,
            max_waiting=max(settings.max_connections // 2, 1),
            quota=QuotaLimits.from_settings(settings),
            webhook_quota=WEBHOOK_QUOTA,
        )


class Api:
    """The handlers of all routes, and the tasks that run beside them. One per process."""

    knows_tokens = True

    def __init__(self, deps: HttpDeps) -> None:
        db, clock, metrics = deps.db, deps.clock, deps.metrics
        self._db = db
        self.metrics = metrics
        #: Requests in work, by the bytes of their Authorization, which are known before the tenant is.
        self.admission: ConcurrencyLimit[bytes | None] = ConcurrencyLimit(
            "tenant_requests", metrics, each=deps.tenant_requests, together=deps.max_in_flight
        )
        metrics.http_in_flight.set_function(lambda: self.admission.all_held)
        self.max_body_bytes = deps.max_body_bytes
        self.body_seconds = deps.body_seconds
        self._trusted = deps.trusted_proxies
        self._policy = f"{PREFIX}/docs/guide/changes"
        self._tracing = deps.tracing
        tokens = Tokens(deps.jwt_keys)
        self._states = KeyStates(db, deps.key_patience)
        self._authenticator = Authenticator(tokens, self._states, clock)
        self._calls = TokenBucket[str].per_second(deps.calls_per_second)
        self._requests: ConcurrencyLimit[TenantId] = ConcurrencyLimit(
            "tenant_requests", metrics, each=deps.tenant_requests
        )
        self.bodies: ConcurrencyLimit[Hashable] = ConcurrencyLimit(
            "body_bytes",
            metrics,
            each=max(BODY_BYTES_OF_ONE, deps.max_body_bytes),
            together=max(BODY_BYTES, deps.max_body_bytes),
        )
        self._counters = Counters(db, clock)
        self.outages = OutageHeader(db, simulated=deps.authority_simulated)
        self._access_log = AccessLog(deps.access_log)
        self._request_log = RequestLog(db, clock, metrics)
        self._own_verdicts = deps.verdicts is None
        self._verdicts = deps.verdicts or VerdictNotices(db)
        slots: ConcurrencyLimit[TenantId] = ConcurrencyLimit(
            "tenant_long_polls", metrics, each=deps.tenant_requests, together=deps.max_waiting
        )
        answers = TokenBucket[TenantId].per_second(max(deps.tenant_requests / 10, 1))
        self.waiting = LongPolls(db, self._verdicts, self.admission, self._requests, slots, answers)
        self._apart = Apart(deps.large_processes, metrics)
        self._printers = Apart(deps.large_processes, metrics, share=_PRINTING_SHARE, idle=PRINTER_IDLE_SECONDS)
        quotas, log = DocumentQuota(deps.quota, metrics), SubmissionLog(deps.submission_log)
        webhook_calls = DocumentQuota(deps.webhook_quota, metrics, name="tenant_webhooks")
        self._submitting = Submitting(db, deps.wakeups, metrics, log, deps.intake)
        self.lists = lists = list_limit(metrics)
        documents = ReceiptDocuments(db, deps.archive, metrics)
        prints = PrintHandlers(
            documents, self._printers, clock, ecf_host=deps.authority_ecf_url, fc_host=deps.authority_fc_url
        )
        # Validating thousands of receipts takes a share of a processor that printing takes too, not that of the API.
        uploads = Imports(db, self._printers, clock)
        self._imports = ImportRunner(db, self._printers, self._submitting, quotas, clock, uploads)
        self._certifications = CertificationRunner(db, self._submitting, clock, deps.wakeups, self._verdicts)
        self._recurring = RecurringRunner(db, self._submitting, quotas, clock)
        self.routes = every_route(
            PREFIX,
            docs(),
            Site(PREFIX),
            Health(db, self._states, deps.metrics.stages_in_trouble, deps.look_patience, deps.clock_fault),
            Login(db, tokens, Peppers(deps.peppers), clock, metrics, deps.trusted_proxies, deps.attempt_limits),
            Invoices(
                db,
                documents,
                lists,
                self._submitting,
                self.waiting,
                quotas,
                self._apart,
                clock,
                metrics,
                simulated=deps.authority_simulated,
            ),
            ReceivedHandlers(db, lists),
            ApprovalHandlers(db, self._submitting, deps.wakeups, quotas, clock, metrics, log),
            WebhookHandlers(db, lists, deps.webhooks, deps.wakeups, clock, webhook_calls),
            Ncf(db, clock),
            UsageHandlers(db, clock),
            BillingHandlers(db, clock),
            MailSettingsHandlers(db, clock),
            prints,
            PrintArchives(documents, lists, prints.printer, metrics),
            ShareHandlers(db, deps.sharing, clock),
            ImportHandlers(db, uploads, lists),
            CatalogueHandlers(db, lists, clock),
            MonthHandlers(db, lists, self._printers, clock),
            VoidingHandlers(db, lists, clock),
            RecurringHandlers(db, lists, clock),
            Agents(db, clock, ecf_host=deps.authority_ecf_url, fc_host=deps.authority_fc_url),
            ContingencyHandlers(db, clock),
            AuthorityHandlers(PREFIX, db, clock),
            StatusHandlers(PREFIX, db, clock, metrics),
            PaperHandlers(db, PaperReplacer(db, self._submitting, quotas), lists, clock),
            ArchiveHandlers(db, lists, deps.archive, metrics),
            RequestHandlers(db, lists),
            SandboxHandlers(
                db,
                lists,
                documents,
                deps.simulator,
                self.outages if deps.authority_simulated else None,
                webhook_calls,
            ),
        )
        by_name = {route.name: route for route in self.routes}
        self._handing_in = by_name[f"POST {PREFIX}/invoices"]
        self.fast_path = FastPath(
            self.answer,
            deps.max_body_bytes,
            self._handing_in,
            by_name[f"GET {PREFIX}/invoices/<track_or_id>"],
            [by_name[f"GET {PREFIX}/openapi.json"], by_name[f"GET {PREFIX}/docs"]],
            enabled=deps.fast_path,
        )

    async def answer(self, route: Route, call: Call) -> ApiReply:
        """Answer a call of `route`: authenticate, handle, turn errors into answers, count it."""
        began = trio.current_time()
        if call.query_string:
            call.parameters = route.query_parameters
        try:
            if route.scope is not None:
                call.caller = await self._authenticator.authenticate(call.headers.get("authorization"), route.scope)
                if self._calls is not None:
                    self._calls.require(call.caller.api_key_id, trio.current_time())
                    call.limit_by(self._calls.allowance(call.caller.api_key_id, trio.current_time()))
                with self._requests.held(call.caller.tenant_id):
                    reply = await self._traced(route, call)
            else:
                reply = await route.handler(call)
        except Exception as error:  # here and in _traced: the two places where errors become answers
            reply = self._refusal(route, call, error)
        if reply.status in _REPORT_STATE and call.caller is not None and route.method != "GET":
            try:
                await self._db.confirm()
            except DatabaseUnavailable as error:
                reply = self._refusal(route, call, error)
        headers = reply.headers
        if call.caller is not None and (outage := self.outages.of(call.caller.tenant_id, call.caller.environment)):
            headers = (*headers, *outage)
        if call.allowance is not None:
            headers = (*headers, *rate_headers(call.allowance))
        if call.query_string and route.deprecated_parameters:
            headers = (*headers, *deprecation_headers(route.deprecated_parameters, call.query_string, self._policy))
        if route.about is not None or (reply.status >= 400 and not _is_page(reply)):
            headers = (*headers, *HEADERS[call.language], API_VERSION)
        if headers is not reply.headers:
            reply = replace(reply, headers=headers)
        if reply.stream is None:
            self._count(route, call, reply.status, len(reply.body), began)
        else:
            call.until_sent.callback(lambda: self._count(route, call, reply.status, call.bytes_out, began))
            reply = replace(reply, stream=_counted(reply.stream, call))
        return reply

    def _count(self, route: Route, call: Call, status: int, bytes_out: int, began: float) -> None:
        if route is self._handing_in:
            self.metrics.findings.handled += 1
            self.metrics.findings.failed += status >= 500
        if call.caller is not None:
            self._counters.count(call.caller, status, call.bytes_in, bytes_out)
            if status >= 400:
                self._request_log.note(route, call, status, began)
        if self._access_log.is_on:
            self._access_log.write(route, call, self.client_of(call), status, bytes_out, began)

    async def _traced(self, route: Route, call: Call) -> ApiReply:
        """Handle a call. A trace begins with what hands a document in, and once it is known who does."""
        if route is not self._handing_in or not self._tracing.is_on:
            return await route.handler(call)
        with self._tracing.request(route.name, call.headers, call.identity.tenant_id) as call.span:
            try:
                reply = await route.handler(call)
            except Exception as error:
                reply = self._refusal(route, call, error)
            call.span.annotate(answer=reply.status)
        return reply

    def _refusal(self, route: Route, call: Call, error: Exception) -> ApiReply:
        """The answer that an error is, counted."""
        problem = describe(error)
        call.problem = problem.message
        if isinstance(error, LimitReached):
            call.limit_by(error.allowance)
        if reason := refusal(error):
            self.metrics.refused.labels(reason).inc()
        if isinstance(error, ScopeMissing):
            self.metrics.refused.labels("scope").inc()
            _log.warning(
                "a token lacks a scope",
                address=str(self.client_of(call)),
                api_key_id=error.api_key_id,
                scope=error.scope,
            )
        return ApiReply(problem.status, problem.body(call.language), problem.headers)

    def client_of(self, call: Call) -> Address:
        """The address a call comes from."""
        return client_address(call.peer, call.headers.get("x-forwarded-for"), self._trusted)

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Run the background tasks of the front until cancelled."""
        async with (
            self._submitting.running(),
            self._apart.running(),
            self._printers.running(),
            trio.open_nursery() as nursery,
        ):
            nursery.start_soon(self._states.listen)
            nursery.start_soon(self._counters.run)
            nursery.start_soon(self._request_log.run)
            nursery.start_soon(self._prune)
            nursery.start_soon(self.outages.run)
            nursery.start_soon(self.waiting.run)
            for place, run in enumerate((self._imports.run, self._certifications.run, self._recurring.run), 1):
                nursery.start_soon(_staggered, place * STAGGER_SECONDS, run)
            if self._own_verdicts:
                nursery.start_soon(self._verdicts.run)
            task_status.started()

    async def _prune(self) -> None:
        while True:
            await trio.sleep(PRUNE_SECONDS)
            try:
                await self._db.run(throttle.prune)
            except ANY_OF_THE_DATABASE as error:
                _log.warning("old login attempts were not pruned", error=error)

    def release_waiters(self) -> None:
        """Answer long polls now: the process is about to stop."""
        self.waiting.release()

    async def finish(self) -> None:
        """Store the counters and failed requests that are still in memory."""
        await self._counters.flush()
        await self._request_log.flush()

    def on_connection_fault(self, kind: str) -> None:
        """Count a connection that ended by an internal error."""
        self.metrics.http_faults.labels(kind).inc()


def _is_page(reply: ApiReply) -> bool:
    """Return whether an answer says its language itself, and has no message."""
    return any(name == "Content-Language" for name, _ in reply.headers)


async def _staggered(seconds: float, run: Callable[[], Awaitable[None]]) -> None:
    await trio.sleep(seconds)
    await run()


async def _counted(stream: AsyncGenerator[bytes, None], call: Call) -> AsyncGenerator[bytes, None]:
    async with aclosing(stream):
        async for part in stream:
            yield part
            call.bytes_out += len(part)


def create_app(deps: HttpDeps) -> QuartTrio:
    """Build the application. `app.extensions["fe"]` is its Api; `serve_http` puts the pipeline around it."""
    app = new_application("fe", deps.max_body_bytes)
    app.config["BODY_TIMEOUT"] = deps.body_seconds
    api = app.extensions["fe"] = Api(deps)
    app.request_class = request_class(api.routes, deps.max_body_bytes)
    initialize_front_series(deps.metrics, [(route.name, route.method) for route in api.routes])
    rules = ((route.path, route.name, route.method, _view(api, route)) for route in api.routes)
    add_routes(app, rules, strict_slashes=True)
    documentation = (f"{PREFIX}/docs", f"{PREFIX}/openapi.json")
    shown = {
        re.sub(r"<(\w+)>", r"{\1}", route.path)
        for route in api.routes
        if route.about is not None or route.path in documentation
    }
    app.register_error_handler(HTTPException, refuser(PREFIX, sorted(shown)))
    return app


def _view(api: Api, route: Route) -> Callable[..., Awaitable[Response]]:
    async def view(**params: str) -> Response:
        request.scope["state"]["route"] = route.name
        held = ExitStack()

        async def read_body() -> bytes:
            # Counted before it is read, until the request ends. Bodies on the fast path are not counted: each is one
            # read of the socket, and there are at most `max_in_flight`.
            who = call.caller.tenant_id if call.caller is not None else holder_of(api.client_of(call))
            held.enter_context(api.bodies.held(who, call.announced(request.max_content_length or api.max_body_bytes)))
            with api.admission.paused(None):
                try:
                    return await request.get_data(cache=False, as_text=False, parse_form_data=False)
                except RequestEntityTooLarge:
                    limit, is_batch = request.max_content_length, route.path == f"{PREFIX}/invoices/batch"
                    raise ApiError(
                        413, body_too_large(limit, request.content_length, is_batch=is_batch), (_CLOSE,)
                    ) from None
                except RequestTimeout:
                    raise ApiError(408, say("body-too-slow", seconds=api.body_seconds), (_CLOSE,)) from None

        scope = cast(HTTPScope, request.scope)  # there are no WebSockets here
        call = make_call(scope, params, read_body)
        call.until_sent = scope["state"]["until_sent"]
        with held:
            reply = await api.answer(route, call)
        note_trace(scope, call)
        return respond(reply)

    return view
