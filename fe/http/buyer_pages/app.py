"""The application that buyers reach: the page of a shared receipt, its PDF, its XML and a check of its signature.

Callers are strangers: limits are per address, a token that leads nowhere is answered like one that is malformed, and
the process holds no key.
"""

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import cast
from urllib.parse import parse_qsl

import trio
from cryptography import x509
from hypercorn.typing import HTTPScope
from quart import Response, request
from quart_trio import QuartTrio
from werkzeug.exceptions import HTTPException

from fe.cache import ExpiringCache
from fe.config import Network
from fe.ecf.json_text import write_json
from fe.ecf.texts import Language, Text
from fe.http.buyer_pages.page import PAGE_HEADERS, error_page, receipt_page, signature_page, verify_shared
from fe.http.calls import ApiReply, Call
from fe.http.errors import ApiError, describe
from fe.http.languages import choose
from fe.http.messages import METHOD_NOT_ALLOWED
from fe.http.routes.types import Route
from fe.http.server.addresses import client_address, holder_of
from fe.http.server.application import new_application
from fe.http.server.fast_path import FastPath
from fe.http.server.replies import respond
from fe.http.server.requests import make_call
from fe.issuing.sharing import TOKEN_LENGTH, token_hash
from fe.limits import ConcurrencyLimit, TokenBucket
from fe.mail.facts import read_facts
from fe.monitoring.metrics import Metrics
from fe.offload.pool import Apart
from fe.printing import NotPrintable, PaperSize, TooManyPages, pdf
from fe.store.postgres.db import Database
from fe.store.records import shared_receipts
from fe.store.records.shared_receipts import SharedReceipt

#: An address may have one part in this many of the requests in work.
_SHARE = 4
#: Prints that are kept, and the largest of them; and the same of larger ones.
_KEPT, _KEPT_BYTES = 64, 256 * 1024
_KEPT_LARGE, _KEPT_LARGE_BYTES = 8, 4 * 1024 * 1024
#: After these the issuer's new logo shows.
_KEPT_SECONDS = 300.0
#: Larger documents are printed in a process of their own.
_LARGE = 64 * 1024
#: Seconds for which a large print waits for its turn.
_PRINT_PATIENCE = 20.0
#: No body is read.
_MAX_BODY_BYTES = 1024
#: The readiness check looks up this hash, which no token has.
_NO_TOKEN = bytes(32)

_NOT_FOUND = Text(
    "This link leads to no receipt. Please ask the issuer for a new one.",
    "Este enlace no lleva a ningún comprobante. Solicite uno nuevo al emisor.",
)
_NO_PDF = Text("This receipt has no PDF. Save its XML.", "Este comprobante no tiene PDF. Descargue su XML.")
_PATH = re.compile(rf"/([A-Za-z0-9_-]{{{TOKEN_LENGTH}}})(?:/(pdf|xml|signature))?", re.ASCII)
_ALWAYS = (
    ("Cache-Control", "private, no-store"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Robots-Tag", "noindex, nofollow, noarchive"),
    # Without it a link that is typed without https:// would go over the wire in the clear.
    ("Strict-Transport-Security", "max-age=31536000"),
)


@dataclass(frozen=True, slots=True)
class ShareDeps:
    """The dependencies and limits of the buyers' page."""

    db: Database
    metrics: Metrics
    #: Certification authorities to verify signers with; None: their issuers are not checked.
    roots: Sequence[x509.Certificate] | None = None
    in_flight: int = 32
    #: Documents printed or verified at once: CPU work that the rest of the process waits for.
    threads: int = 2
    #: Calls per second and address; 0: as many as they like.
    calls_per_second: float = 20.0
    trusted_proxies: tuple[Network, ...] = ()


class SharePages:
    """The handlers of all paths, with the interface that `serve_http` expects."""

    knows_tokens = False

    def __init__(self, deps: ShareDeps) -> None:
        self.metrics = deps.metrics
        self.admission: ConcurrencyLimit[bytes | None] = ConcurrencyLimit(
            "tenant_requests", deps.metrics, together=deps.in_flight
        )
        self._db = deps.db
        self._roots = deps.roots
        self._calls = TokenBucket[Hashable].per_second(deps.calls_per_second)
        self._by_address: ConcurrencyLimit[Hashable] = ConcurrencyLimit(each=max(deps.in_flight // _SHARE, 1))
        self._trusted = deps.trusted_proxies
        self._threads = trio.CapacityLimiter(deps.threads)
        self._printers = Apart(1, deps.metrics)
        #: By the hash of a token and by language. The row never changes, its issuer's settings may.
        self._made: ExpiringCache[tuple[bytes, Language], bytes] = ExpiringCache(_KEPT)
        self._made_large: ExpiringCache[tuple[bytes, Language], bytes] = ExpiringCache(_KEPT_LARGE)
        nothing = Route("POST", "/", None, self._alive)
        self.fast_path = FastPath(_never, _MAX_BODY_BYTES, nothing, nothing, enabled=False)

    async def answer(self, method: str, path: str, call: Call) -> ApiReply:
        """Answer a call: whatever goes wrong becomes a page here."""
        if path == "/healthz":
            return await self._alive(call)
        language = _language(call)
        try:
            address = holder_of(client_address(call.peer, call.headers.get("x-forwarded-for"), self._trusted))
            if self._calls is not None:
                self._calls.require(address, trio.current_time())
            with self._by_address.held(address):
                if path == "/readyz":
                    await self._db.run(shared_receipts.by_token, _NO_TOKEN)  # a database that is away becomes 503
                    return await self._alive(call)
                reply = await self._page(method, path, language, address)
        except Exception as error:  # here and in `create_share`: the two places where errors become answers
            reply = _refusal(error, language)
        return replace(reply, headers=(*reply.headers, *_ALWAYS))

    async def _page(self, method: str, path: str, language: Language, address: Hashable) -> ApiReply:
        if method not in ("GET", "HEAD"):
            raise ApiError(405, METHOD_NOT_ALLOWED, (("Allow", "GET, HEAD"),))
        named = _PATH.fullmatch(path)
        if named is None:
            raise ApiError(404, _NOT_FOUND)
        token, part = named[1], named[2]
        hashed = token_hash(token)
        receipt = await self._db.run(shared_receipts.by_token, hashed)
        if receipt is None:
            raise ApiError(404, _NOT_FOUND)
        in_thread = trio.to_thread.run_sync
        if part == "signature":
            found = await in_thread(verify_shared, receipt, self._roots, limiter=self._threads)
            return ApiReply(200, signature_page(receipt, found, token, language), PAGE_HEADERS)
        facts = await in_thread(read_facts, receipt.document, limiter=self._threads)
        name = re.sub(r"[^0-9A-Za-z]", "", f"{facts.issuer_rnc}{facts.e_ncf}") or "e-CF"
        if part == "xml":
            return ApiReply(200, receipt.document, _file("application/xml", f'attachment; filename="{name}.xml"'))
        if part == "pdf":
            made = await self._print((hashed, language), receipt, address)
            return ApiReply(200, made, _file("application/pdf", f'inline; filename="{name}.pdf"'))
        return ApiReply(200, receipt_page(receipt, facts, token, language), PAGE_HEADERS)

    async def _print(self, key: tuple[bytes, Language], receipt: SharedReceipt, address: Hashable) -> bytes:
        """Print a receipt, or return its kept print. Large ones take turns, one at a time for each address."""
        now = trio.current_time()
        if (made := self._made.get(key, now) or self._made_large.get(key, now)) is not None:
            return made
        settings = await self._db.run(shared_receipts.settings_of, receipt.tenant_id, key[0])
        options = replace(
            settings.options(PaperSize.LETTER, key[1]), environment=receipt.environment, url=receipt.qr_code_url or ""
        )
        try:
            if len(receipt.document) + len(options.logo or b"") > _LARGE:
                made = await self._printers.run(address, pdf, receipt.document, options, within=_PRINT_PATIENCE)
            else:
                made = await trio.to_thread.run_sync(pdf, receipt.document, options, limiter=self._threads)
        except (NotPrintable, TooManyPages):
            raise ApiError(409, _NO_PDF) from None
        if len(made) <= _KEPT_BYTES:
            self._made.put(key, made, now + _KEPT_SECONDS)
        elif len(made) <= _KEPT_LARGE_BYTES:
            self._made_large.put(key, made, now + _KEPT_SECONDS)
        return made

    async def _alive(self, call: Call) -> ApiReply:
        return ApiReply(200, write_json({"status": "ok"}))

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Keep the pool that prints large receipts, until cancelled."""
        async with self._printers.running():
            task_status.started()
            await trio.sleep_forever()

    def refusal_page(self, message: Text, accepted: bytes | None) -> tuple[Sequence[tuple[str, str]], bytes]:
        """Write a refusal of the server as a page, in both languages where the browser's is not known."""
        _, *always = _ALWAYS  # the pipeline says itself that nothing is kept
        language = None if accepted is None else choose(accepted.decode("latin-1"))
        return (*PAGE_HEADERS, *always), error_page(message, language)

    def release_waiters(self) -> None:
        """Do nothing: there are no long polls here."""

    async def finish(self) -> None:
        """Do nothing: no state is kept in memory."""

    def on_connection_fault(self, kind: str) -> None:
        """Count a connection that ended by a fault of its own."""
        self.metrics.http_faults.labels(kind).inc()


def _file(media_type: str, disposition: str) -> tuple[tuple[str, str], ...]:
    return ("Content-Type", media_type), ("Content-Disposition", disposition)


def _language(call: Call) -> Language:
    """Choose the language: the one that the link names, else the browser's, else Spanish."""
    for name, value in parse_qsl(call.query_string.decode("latin-1")[:100]):
        if name == "lang" and value in ("es", "en"):
            return "en" if value == "en" else "es"
    accepted = call.headers.get("accept-language")
    return "es" if not accepted else choose(accepted)


def _refusal(error: Exception, language: Language) -> ApiReply:
    problem = describe(error)
    return ApiReply(problem.status, error_page(problem.message, language), (*PAGE_HEADERS, *problem.headers))


def _route_of(path: str) -> str:
    """Name the route for the metrics, without the token."""
    if path in ("/healthz", "/readyz"):
        return f"GET {path}"
    named = _PATH.fullmatch(path)
    return "none" if named is None else f"share {named[2] or 'page'}"


async def _never(route: Route, call: Call) -> ApiReply:
    raise ApiError(404, _NOT_FOUND)


async def _no_body() -> bytes:
    return b""


def create_share(deps: ShareDeps) -> QuartTrio:
    """Build the application; `serve_http` puts the pipeline around it."""
    app = new_application("fe.share", _MAX_BODY_BYTES)
    pages = app.extensions["fe"] = SharePages(deps)

    async def view(path: str = "") -> Response:
        scope = cast(HTTPScope, request.scope)  # there are no WebSockets here
        scope["state"]["route"] = _route_of(scope["path"])
        return respond(await pages.answer(scope["method"], scope["path"], make_call(scope, {}, _no_body)))

    methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    app.add_url_rule("/", "root", view, methods=methods)
    app.add_url_rule("/<path:path>", "any", view, methods=methods, strict_slashes=False)

    async def refuse(error: HTTPException) -> Response:
        known = ApiError(404, _NOT_FOUND) if error.code == 404 else error
        return respond(_refusal(known, choose(request.headers.get("Accept-Language") or "es")))

    app.register_error_handler(HTTPException, refuse)
    return app
