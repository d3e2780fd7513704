"""The portal's application: from a request to its page, and every refusal as a page.

Checks in this order: session, origin and proof of the form, access, recent confirmation of identity. Handlers run after
all of them. The body of a form for signed-in people is not read without a session.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, nullcontext
from typing import Any, cast
from urllib.parse import unquote, urlsplit

import structlog
import trio
from hypercorn.typing import HTTPScope
from quart import Response, request
from quart_trio import QuartTrio
from werkzeug.exceptions import HTTPException

from fe.accounts.provision import ProvisioningRefused
from fe.ecf.texts import Language, LocalizedError
from fe.http.calls import ApiReply, Call
from fe.http.errors import describe_limit
from fe.http.languages import choose
from fe.http.routes.types import Route
from fe.http.server.addresses import client_address
from fe.http.server.application import add_routes, new_application
from fe.http.server.fast_path import FastPath
from fe.http.server.limited_requests import request_class
from fe.limits import ConcurrencyLimit, Limited
from fe.portal.access import let_in
from fe.portal.cookies import set_cookie
from fe.portal.deps import Portal
from fe.portal.form_reader import MAX_BODY_BYTES, FormReader
from fe.portal.onboarding_api import PREFIX as PROVIDER
from fe.portal.onboarding_api import ROUTES, ProviderApi, ProviderRoute
from fe.portal.page_types import Needs, Page
from fe.portal.pages import every_page
from fe.portal.replies import NOT_FOUND, STALE_FORM, Refused, Reply, crowded, internal, unavailable
from fe.portal.session import IDLE, LIFE, NOTED, Session, hash_token, is_proof, new_token
from fe.portal.visit import Form, Visit
from fe.store.portal import sessions
from fe.store.postgres.errors import ANY_OF_THE_DATABASE, DatabaseUnavailable

#: Requests in work in a process before it turns others away.
IN_FLIGHT = 64
_FORGET_SECONDS = 3600.0
_LONGEST_AGENT = 300
#: Statuses of unread bodies: the connection must close.
_UNREAD = frozenset({408, 413})

#: Loads nothing from other origins, runs no inline code, forbids framing.
_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_SAFE = {
    "Content-Security-Policy": _POLICY,
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_HSTS = "max-age=63072000; includeSubDomains"

_log = structlog.get_logger(__name__)


class PortalApp:
    """The application that `serve_http` runs."""

    #: People have cookies, which are read later than turns are given.
    knows_tokens = False

    def __init__(self, portal: Portal) -> None:
        self.portal = portal
        self.metrics = portal.metrics
        self.admission: ConcurrencyLimit[bytes | None] = ConcurrencyLimit("", portal.metrics, together=IN_FLIGHT)
        self._forms = FormReader(self.admission, portal.metrics, portal.trusted_proxies)
        self.provider = None if portal.operators is None else ProviderApi(portal, portal.operators, self._forms)
        nothing = Route("POST", "/", None, _never)
        self.fast_path = FastPath(_never_routed, MAX_BODY_BYTES, nothing, nothing, enabled=False)

    async def answer(self, page: Page | None, params: Mapping[str, Any], scope: HTTPScope) -> Reply:
        """Answer a request: whatever goes wrong becomes a page here."""
        visit = self._visit(page, params, scope)
        sent, begun = visit.method == "POST", False
        try:
            async with AsyncExitStack() as held:
                async with self._turn(scope):
                    await self._find_session(visit)
                if page is None:
                    raise Refused(404, NOT_FOUND)
                if page.method == "POST":
                    self._require_own_page()
                    if visit.session is not None or page.needs is Needs.NOTHING:
                        visit.form = await held.enter_async_context(self._forms.read(page, scope))
                        self._require_proof(page, visit)
                    # Without a session the body is not read; the sender is redirected to sign in.
                stopped = await let_in(page, visit)
                if stopped is not None:
                    return stopped
                begun = sent and not visit.is_stale
                return await (page.resume if page.resume is not None and visit.is_stale else page.handler)(visit)
        except Refused as refused:
            if refused.status in _UNREAD:
                visit.headers.append(("Connection", "close"))
            return visit.page("refused.html", refused.status, message=refused.message, is_missing=refused.status == 404)
        except Limited as full:
            limited = describe_limit(full)
            visit.headers += limited.headers
            return visit.page("refused.html", limited.status, message=crowded(sent=sent, begun=begun))
        except LocalizedError as error:
            return visit.page("refused.html", 409, message=error.text)
        except ProvisioningRefused as refused:
            return visit.page("refused.html", 409, message=refused.text)
        except DatabaseUnavailable as away:
            _log.warning("the database cannot be reached", reason=str(away))
            visit.session = None  # the page's header would query the database again
            return visit.page("refused.html", 503, message=unavailable(sent=sent, begun=begun))
        except Exception as error:  # the one place where errors become pages
            _log.error("a page failed", page=visit.rule, error=error, exc_info=error)
            return visit.page("refused.html", 500, message=internal(begun=begun))

    def _visit(self, page: Page | None, params: Mapping[str, Any], scope: HTTPScope) -> Visit:
        headers = request.headers
        address = client_address(
            (scope["client"] or ("",))[0], headers.get("X-Forwarded-For"), self.portal.trusted_proxies
        )
        return Visit(
            portal=self.portal,
            method=scope["method"],
            path=scope["path"],
            rule=page.name if page else "none",
            params=params,
            query=dict(request.args.items()),
            form=Form(),
            language=_language(_cookie("language"), headers.get("Accept-Language")),
            address=str(address),
            user_agent=headers.get("User-Agent", "")[:_LONGEST_AGENT],
            request_id=scope["state"]["request_id"],
            token=_cookie(self.portal.cookie) or "",
            came_from=_path_of(headers.get("Referer", ""), self.portal.url),
            until_sent=scope["state"]["until_sent"],
        )

    def _turn(self, scope: HTTPScope) -> AbstractAsyncContextManager[None]:
        """The turn of a request's address; one that gets a page has it already (`Guard`)."""
        return nullcontext() if scope["method"] in {"GET", "HEAD"} else self._forms.turn(scope)

    async def _find_session(self, visit: Visit) -> None:
        """Find the session. A browser without a token gets one, for the CSRF proofs of its forms."""
        if not visit.token:
            visit.token = new_token()
            set_cookie(visit, visit.token)
            return
        now, token_hash = visit.now, hash_token(visit.token)
        found = await self.portal.db.run(sessions.find, token_hash, now=now, life=LIFE, idle=IDLE)
        if found is None:
            return
        record, person = found
        visit.session = Session(visit.token, record, person)
        visit.language = "es" if person.language == "es" else "en"
        if visit.method == "GET" and (record.notice is not None or now - record.seen_at > NOTED):
            await self.portal.db.run(sessions.seen, token_hash, now)
        elif now - record.seen_at > NOTED:  # a sent form counts as activity too
            await self.portal.db.run(sessions.used, token_hash, now)

    def _require_own_page(self) -> None:
        """Check the browser's headers for another site's form. Raises Refused."""
        origin, site = request.headers.get("Origin"), request.headers.get("Sec-Fetch-Site")
        if (origin is not None and origin != self.portal.url) or site not in (None, "same-origin", "none"):
            raise Refused(403, STALE_FORM)

    def _require_proof(self, page: Page, visit: Visit) -> None:
        """Check the form's CSRF proof. Raises Refused."""
        if is_proof(self.portal.form_keys, visit.token, visit.form.get("csrf")):
            return
        if page.resume is None or visit.session is None:
            raise Refused(403, STALE_FORM)
        visit.is_stale = True

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Take receipts in, and forget sessions and forms that are over, until cancelled."""
        async with self.portal.submitting.running(), self.portal.printers.running():
            task_status.started()
            while True:
                try:
                    await self.portal.db.run(sessions.forget, self.portal.clock() - 2 * LIFE)
                except ANY_OF_THE_DATABASE as error:
                    _log.warning("expired sessions not deleted", error=error)
                await trio.sleep(_FORGET_SECONDS)

    def release_waiters(self) -> None:
        """Do nothing: there are no long polls here."""

    async def finish(self) -> None:
        """Nothing is kept in memory."""

    def on_connection_fault(self, kind: str) -> None:
        """Count a connection that ended by a fault of its own."""
        self.metrics.http_faults.labels(kind).inc()


def _cookie(name: str) -> str | None:
    """A cookie of this browser.

    Other sites of the domain may set cookies in any form, and `SimpleCookie` stops at the first malformed one.
    """
    for one in request.headers.get("Cookie", "").split(";"):
        found, _, value = one.partition("=")
        if found.strip() == name:
            return value.strip()[:100]
    return None


def _path_of(address: str, ours: str) -> str:
    """The path and query of an address of ours; '' for anything else."""
    if not address.startswith(f"{ours}/"):
        return ""
    parts = urlsplit(address)
    said = unquote(parts.path) + (f"?{parts.query}" if parts.query else "")
    return "" if said.startswith("//") or "\\" in said or not said.isprintable() else said


def _language(wanted: str | None, accepted: str | None) -> Language:
    """Spanish, unless the browser or the person asks for English: taxpayers read here."""
    if wanted in ("es", "en"):
        return cast(Language, wanted)
    return choose(accepted) if accepted else "es"


async def _never(call: Call) -> ApiReply:
    raise AssertionError("the portal has no fast path")


async def _never_routed(route: Route, call: Call) -> ApiReply:
    return await _never(call)


def create_portal(portal: Portal) -> QuartTrio:
    """Build the application; `serve_http` puts the guard around it."""
    app = new_application("fe.portal", MAX_BODY_BYTES)
    pages = every_page(portal)
    app.request_class = request_class([page for page in pages if page.max_body_bytes > MAX_BODY_BYTES], MAX_BODY_BYTES)
    running = app.extensions["fe"] = PortalApp(portal)

    def respond(reply: Reply) -> Response:
        response = Response(reply.stream or reply.body, reply.status, content_type="text/html; charset=utf-8")
        if reply.stream is not None:
            response.timeout = None  # it bounds itself
        response.headers.update(_SAFE)
        if portal.is_https:
            response.headers["Strict-Transport-Security"] = _HSTS
        for name, value in reply.headers:
            if name == "Set-Cookie":
                response.headers.add(name, value)
            else:
                response.headers[name] = value
        return response

    def view_of(page: Page | None) -> Callable[..., Any]:
        async def view(**params: Any) -> Response:
            scope = cast(HTTPScope, request.scope)  # there are no WebSockets here
            scope["state"]["route"] = page.label if page else "none"
            return respond(await running.answer(page, params, scope))

        return view

    other = view_of(None)
    provider = running.provider

    def call_of(route: ProviderRoute | None) -> Callable[..., Any]:
        async def view(**params: Any) -> Response:
            assert provider is not None
            scope = cast(HTTPScope, request.scope)
            scope["state"]["route"] = "portal provider"
            return respond(await provider.answer(route, params, scope))

        return view

    no_call = call_of(None)
    rules = [(page.path, page.name, page.method, view_of(page)) for page in pages]
    if provider is not None:
        rules += [(route.path, route.name, route.method, call_of(route)) for route in ROUTES]
    add_routes(app, rules, strict_slashes=False)

    async def refuse(error: HTTPException) -> Response:
        is_call = provider is not None and request.path.startswith(f"{PROVIDER}/")
        response: Response = await (no_call if is_call else other)()
        if is_call:
            return response
        response.status_code = error.code or 500
        return response

    app.register_error_handler(HTTPException, refuse)
    return app
