"""Send documents to the other party of a receipt, with a token if it requires one.

The directory names the other party, which is not trusted. Only its seeds are signed. The size of its answers is
limited, and the egress client restricts its addresses (fe/egress).
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

import trio

from fe.authority.classify import classify_token, read_retry_after
from fe.authority.client import Signing
from fe.authority.errors import AuthorityError
from fe.authority.multipart import MultipartForm, xml_form
from fe.authority.replies import GrantedToken
from fe.authority.session import NotASeed, sign_seed
from fe.cache import ExpiringCache
from fe.clock import Clock
from fe.egress.answer import HttpReply
from fe.egress.client import Egress, Request
from fe.egress.errors import CallNotSent, CallRefused, EgressError
from fe.store.records.counterparty import HandingKind

_PATHS = {
    HandingKind.RECEIPT: "fe/recepcion/api/ecf",
    HandingKind.APPROVAL: "fe/aprobacioncomercial/api/ecf",
}
_SEED = "fe/autenticacion/api/semilla"
_TOKEN = "fe/autenticacion/api/validacioncertificado"  # noqa: S105  (a path)

#: For each of the exchanges that handing on a document may take.
_SECONDS = 12.0
#: The part of a token's life in which it is used.
_USABLE = 0.9
_MAX_TOKENS = 10_000


class CannotReach(Exception):
    """Nothing of the document was taken in there; `reason` is one sentence, safe to show."""

    def __init__(self, reason: str, *, wait: timedelta | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.wait = wait


class NobodyKnows(CannotReach):
    """The document was on its way and there is no whole answer. The same bytes again are harmless."""


@dataclass(frozen=True, slots=True)
class CounterpartyAnswer:
    """The answer to a document."""

    status: int
    body: bytes
    #: The body was longer than is kept: what is there is not the whole of it.
    is_cut: bool
    wait: timedelta | None


class Counterparties:
    """Client for all counterparties; one per process."""

    def __init__(self, egress: Egress, clock: Clock, signing: trio.CapacityLimiter) -> None:
        self._egress = egress
        self._clock = clock
        self._signing = signing
        #: Tokens by base and certificate.
        self._tokens: ExpiringCache[tuple[str, str], str] = ExpiringCache(_MAX_TOKENS)

    async def deliver(
        self,
        base: str,
        kind: HandingKind,
        file_name: str,
        xml: bytes,
        credential: Signing,
        *,
        tokens: str | None = None,
        before_send: Callable[[str], Awaitable[None]],
    ) -> CounterpartyAnswer:
        """Send a document to the address for its kind below `base`; with a token where one is required (401).

        `tokens` is the base of their token service, where the directory names one. `before_send` gets the address
        before any connection is made: once, also where the document is sent again with a token; an exception of it
        comes out unchanged. Raises CannotReach, or NobodyKnows. Cancelled after `before_send`, the document may have
        arrived.
        """
        address = f"{base}/{_PATHS[kind]}"
        form = xml_form(file_name, xml)
        token = self._token(base, credential)
        await before_send(address)
        reply = await self._post(address, form, token)
        if reply.status == 401:
            # Asking for a token is the receiver's choice, and the directory does not tell it: this is how we learn.
            self._tokens.forget((base, credential.id))
            reply = await self._post(address, form, await self._log_in(base, tokens or base, credential))
        if reply.status == 401:
            self._tokens.forget((base, credential.id))
        wait = read_retry_after(reply.retry_after, self._clock())
        return CounterpartyAnswer(reply.status, reply.body, reply.is_cut, wait)

    def _token(self, base: str, credential: Signing) -> str | None:
        return self._tokens.get((base, credential.id), trio.current_time())

    async def _log_in(self, base: str, tokens: str, credential: Signing) -> str:
        """Get a token for `base` from where `tokens` says; if there is none to be had, from `base` itself.

        The authority's own counterparty gives them at its base, whatever the directory says (authority.md#directory).
        """
        asked = trio.current_time()
        try:
            granted = await self._granted(tokens, credential)
        except CannotReach as first:
            if tokens == base:
                raise
            try:
                granted = await self._granted(base, credential)
            except CannotReach:
                raise first from None
        until = asked + granted.lifetime.total_seconds() * _USABLE
        self._tokens.put((base, credential.id), granted.token, until)
        return granted.token

    async def _granted(self, base: str, credential: Signing) -> GrantedToken:
        seed = await self._exchange(Request("GET", f"{base}/{_SEED}", (("Accept", "application/xml"),), b""))
        if not 200 <= seed.status < 300:
            raise CannotReach(f"they ask for a token, and for a seed they answer {seed.status}")
        try:
            # Not abandoned on cancellation: it takes a millisecond, and an abandoned thread would keep its token.
            signed = await trio.to_thread.run_sync(sign_seed, seed.body, credential.signer, limiter=self._signing)
        except NotASeed as error:
            raise CannotReach(f"they ask for a token, and what they give is no seed: {error}") from error
        reply = await self._exchange(_posting(f"{base}/{_TOKEN}", xml_form("semilla.xml", signed), None))
        try:
            return classify_token(reply, self._clock())
        except AuthorityError as error:
            raise CannotReach(f"they give no token: status {reply.status}") from error

    async def _post(self, address: str, form: MultipartForm, token: str | None) -> HttpReply:
        try:
            return await self._egress.exchange(_posting(address, form, token), seconds=_SECONDS)
        except (CallRefused, CallNotSent) as error:
            raise CannotReach(_say(error)) from error
        except EgressError as error:
            raise NobodyKnows(_say(error)) from error

    async def _exchange(self, request: Request) -> HttpReply:
        try:
            return await self._egress.exchange(request, seconds=_SECONDS)
        except EgressError as error:
            raise CannotReach(_say(error)) from error


def _posting(address: str, form: MultipartForm, token: str | None) -> Request:
    headers = [("Content-Type", form.content_type), ("Accept", "application/xml, application/json;q=0.9")]
    if token is not None:
        headers.append(("Authorization", f"Bearer {token}"))
    return Request("POST", address, tuple(headers), form.body)


def _say(error: EgressError) -> str:
    return error.reason[:300]
