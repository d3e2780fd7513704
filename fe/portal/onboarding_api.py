"""The API for providers: JSON below /provider/v1, with an operator's key and without cookies (docs/providers.md).

It is served where operators' pages are, with the same rights. A browser's session gives no right here, and a key gives
none to pages.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any
from urllib.parse import unquote

import msgspec
import structlog
from hypercorn.typing import HTTPScope
from quart import request
from werkzeug.exceptions import NotFound

from fe.accounts import operator_keys
from fe.accounts.keys import Peppers
from fe.accounts.provision import ProvisioningRefused
from fe.ecf.certificate import MAX_BYTES, CertificateError
from fe.ecf.parse import excerpt
from fe.ecf.texts import LocalizedError, Text
from fe.http.calls import refuse_foreign_media_type
from fe.http.errors import WWW_AUTHENTICATE, ApiError, describe
from fe.http.languages import HEADERS, choose
from fe.http.messages import TOO_MANY_REQUESTS, body_too_large, say
from fe.http.server.addresses import client_address
from fe.portal import onboarding_calls as calls
from fe.portal.deps import Portal
from fe.portal.form_reader import FormReader
from fe.portal.onboarding_calls import Answer, Handler, ProviderCall
from fe.portal.replies import Refused, Reply
from fe.store.portal.operator_keys import OperatorKey
from fe.store.postgres.db import Database
from fe.store.queue.audit import OperatorAction
from fe.store.records import throttle

PREFIX = "/provider/v1"
#: A certificate in base64 with its passphrase; everything else is far smaller.
MAX_BODY = 2 * MAX_BYTES + 16 * 1024
_BAD_KEY = Text(
    "the operator's key is missing, wrong, expired or revoked",
    "la clave de operador falta, no es válida, venció o fue revocada",
)

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ProviderRoute:
    """A method and a path below PREFIX, and its handler."""

    method: str
    below: str
    handler: Handler
    #: Its query parameters.
    parameters: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """The whole path."""
        return PREFIX + self.below

    @property
    def name(self) -> str:
        """A name for the router."""
        return f"{self.method} {self.path}"


ROUTES = (
    ProviderRoute("POST", "/tenants", calls.create_company),
    ProviderRoute("GET", "/tenants", calls.list_companies, ("cursor",)),
    ProviderRoute("GET", "/tenants/<name>", calls.show_company),
    ProviderRoute("PUT", "/tenants/<name>/certificate", calls.put_certificate),
    ProviderRoute("PUT", "/tenants/<name>/sequences/<environment>/<prefix>", calls.put_sequence),
    ProviderRoute("POST", "/tenants/<name>/keys", calls.create_key),
    ProviderRoute("DELETE", "/tenants/<name>/keys/<key>", calls.revoke_key),
)


class ProviderApi:
    """Answers the calls of providers' programs."""

    def __init__(self, portal: Portal, operators: Database, forms: FormReader) -> None:
        """Take the portal, the database with an operator's rights, and the limits of bodies."""
        self._portal = portal
        self._operators = operators
        self._forms = forms
        self._peppers = Peppers(portal.peppers)

    async def answer(self, route: ProviderRoute | None, params: Mapping[str, Any], scope: HTTPScope) -> Reply:
        """Answer a call; whatever goes wrong becomes an error in the API's form here."""
        language = choose(request.headers.get("Accept-Language"))
        headers = (("Content-Type", "application/json"), *HEADERS[language])
        try:
            status, body = await self._answer(route, params, scope)
        except Exception as error:  # the one place where errors become answers
            answer = describe(_as_api_error(error))
            return Reply(answer.status, answer.body(language), (*headers, *answer.headers))
        return Reply(status, msgspec.json.encode(body), headers)

    async def _answer(self, route: ProviderRoute | None, params: Mapping[str, Any], scope: HTTPScope) -> Answer:
        async with self._forms.turn(scope):
            key = await self._recognize(scope)
        if route is None:
            raise NotFound
        if request.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise ApiError(415, say("coded-body"))
        for name in request.args:
            if name not in route.parameters:
                known = ", ".join(route.parameters) or "-"
                raise ApiError(400, say("no-such-parameter", name=excerpt(name, 40), known=known))
        async with self._forms.body(MAX_BODY, scope) as body:
            if body:
                refuse_foreign_media_type(request.headers.get("Content-Type"))
            reason = f"API for providers, request {scope['state']['request_id']}"
            call = ProviderCall(
                self._portal,
                self._operators,
                key,
                OperatorAction.of(key.by_whom, reason, self._portal.clock()),
                # Not of `params`, where an escaped slash is still escaped.
                name=_segment(scope, 4) if "name" in params else "",
                params=params,
                query=dict(request.args.items()),
                body=body,
                language=choose(request.headers.get("Accept-Language")),
            )
            return await route.handler(call)

    async def _recognize(self, scope: HTTPScope) -> OperatorKey:
        """Return the key of a call. Raises ApiError: 401, or 429 for an address that tried too often."""
        portal = self._portal
        forwarded = request.headers.get("X-Forwarded-For")
        address = str(client_address((scope["client"] or ("",))[0], forwarded, portal.trusted_proxies))
        bucket = throttle.bucket_of_address(ip_address(address))
        lockout = await portal.db.run(throttle.locked_out, bucket)
        if lockout is None:
            scheme, _, token = request.headers.get("Authorization", "").partition(" ")
            given = token.strip() if scheme.lower() == "bearer" else ""
            key = await operator_keys.recognize(self._operators, given, self._peppers, portal.clock())
            if key is not None:
                return key
            portal.metrics.login.labels("refused").inc()
            _log.warning("an operator's key was refused", address=address)
            lockout = await portal.db.run(throttle.attempt, bucket, None)
        if lockout is None:
            raise ApiError(401, _BAD_KEY, (WWW_AUTHENTICATE,))
        portal.metrics.login.labels("throttled").inc()
        if lockout.began:
            portal.metrics.lockouts.labels(lockout.kind).inc()
            _log.warning("a login lockout began", bucket=lockout.kind, address=address)
        raise ApiError(429, TOO_MANY_REQUESTS, (("Retry-After", str(max(math.ceil(lockout.retry_after), 1))),))


def _segment(scope: HTTPScope, number: int) -> str:
    return unquote(scope["raw_path"].decode("ascii").split("/")[number])


def _as_api_error(error: Exception) -> Exception:
    match error:
        case Refused(status=413):
            return ApiError(413, body_too_large(MAX_BODY), (("Connection", "close"),))
        case Refused(status=408):
            return ApiError(408, error.message, (("Connection", "close"),))
        case CertificateError():
            return ApiError(400, Text(error.message, error.message_es).after("p12"))
        case ProvisioningRefused():
            return ApiError(400, error.text)
        case LocalizedError():
            return ApiError(400, error.text)
    return error
