"""Sessions with the authority: seed, signed seed, token (authority.md#session).

One token serves all services of an environment for one certificate. Many senders need it at the same moment, so one of
them gets it while the others wait; a token that nears its end is renewed by one sender while the others go on with it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

import trio

from fe.authority.classify import classify_seed, classify_token
from fe.authority.errors import AuthorityError, Unavailable
from fe.authority.gateway import Gateway
from fe.authority.hosts import Operation
from fe.authority.multipart import xml_form
from fe.ecf.catalogue import Environment
from fe.ecf.parse import MalformedXml, parse_xml
from fe.ecf.signature import NotSignable, Signer

#: Parts of a token's life: from the first on it is renewed, from the second on it is not used any more.
_RENEW, _USABLE = 0.9, 0.97
#: Seconds until a renewal is tried again while the old token still serves.
_RENEWAL_PAUSE = 15.0


class Signing(Protocol):
    """Owner of a session: a certificate that can sign, and a stable name for it."""

    @property
    def id(self) -> str:
        """The certificate's id; two certificates never share one."""

    @property
    def signer(self) -> Signer:
        """Signs the seed."""


@dataclass(slots=True)
class _Session:
    lock: trio.Lock = field(default_factory=trio.Lock)
    token: str | None = field(default=None, repr=False)
    renew_at: float = -math.inf
    usable_until: float = -math.inf
    failures: int = 0
    failure: AuthorityError | None = None

    def current(self, until: float) -> str | None:
        return self.token if trio.current_time() < until else None


class Sessions:
    """Tokens by environment and certificate.

    How long a token lasts is measured on Trio's clock from the moment the seed was asked for, so neither a wrong wall
    clock nor one that jumps changes it; `clock` serves only an authority that does not say when it issued the token.
    """

    def __init__(
        self, gateway: Gateway, *, clock: Callable[[], datetime], signing_limiter: trio.CapacityLimiter, timeout: float
    ) -> None:
        self._gateway = gateway
        self._clock = clock
        self._signing_limiter = signing_limiter
        self._timeout = timeout
        self._sessions: dict[tuple[Environment, str], _Session] = {}

    async def token(self, environment: Environment, signing: Signing) -> str:
        """Return a token that should be valid, getting one first if need be.

        Raises Unavailable, NotDelegated or AuthorityRefused; callers that wait for the same attempt get the same error,
        not an attempt each. If the caller that makes the attempt is cancelled, one of those that wait repeats it.
        """
        session = self._session(environment, signing.id)
        token = session.current(session.usable_until if session.lock.locked() else session.renew_at)
        if token is not None:
            return token
        failures = session.failures
        with trio.move_on_after(self._timeout):
            async with session.lock:
                token = session.current(session.renew_at)
                if token is not None:
                    return token
                if session.failure is not None and session.failures != failures:
                    raise session.failure.again()
                return await self._renew(session, environment, signing)
        raise Unavailable(f"no session with the authority within {self._timeout:g} s")

    def drop(self, environment: Environment, signing: Signing, token: str) -> None:
        """Forget a token that was answered with 401, unless it has been replaced already."""
        session = self._session(environment, signing.id)
        if session.token == token:
            session.token = None

    def _session(self, environment: Environment, certificate: str) -> _Session:
        key = (environment, certificate)
        if key not in self._sessions:
            now = trio.current_time()
            for old in [k for k, s in self._sessions.items() if s.usable_until < now and not s.lock.locked()]:
                del self._sessions[old]
            self._sessions[key] = _Session()
        return self._sessions[key]

    async def _renew(self, session: _Session, environment: Environment, signing: Signing) -> str:
        try:
            return await self._log_in(session, environment, signing)
        except AuthorityError as error:
            token = session.current(session.usable_until)
            if token is not None:
                session.renew_at = trio.current_time() + _RENEWAL_PAUSE
                return token
            session.failures += 1
            session.failure = error.again()
            raise

    async def _log_in(self, session: _Session, environment: Environment, signing: Signing) -> str:
        asked = trio.current_time()
        location = self._gateway.hosts.locate(Operation.SEED, environment)
        with self._gateway.observed(Operation.SEED, environment, location.host):
            reply = await self._gateway.ask(location, environment, accept="application/xml")
            seed = classify_seed(reply, self._clock())
        try:
            # Not abandoned on cancellation: it takes a millisecond, and an abandoned thread would keep its token.
            signed = await trio.to_thread.run_sync(sign_seed, seed, signing.signer, limiter=self._signing_limiter)
        except NotASeed as error:
            raise Unavailable(f"the token service did not give a seed: {error}") from error
        location = self._gateway.hosts.locate(Operation.VALIDATE_SEED, environment)
        with self._gateway.observed(Operation.VALIDATE_SEED, environment, location.host):
            reply = await self._gateway.ask(location, environment, form=xml_form("semilla.xml", signed))
            granted = classify_token(reply, self._clock())
        lifetime = granted.lifetime.total_seconds()
        session.token = granted.token
        session.renew_at = asked + lifetime * _RENEW
        session.usable_until = asked + lifetime * _USABLE
        return granted.token


class NotASeed(Exception):
    """The seed is not a seed; the message says what it is."""


def sign_seed(raw: bytes, signer: Signer) -> bytes:
    """Sign a seed, and nothing else: the answering server must not choose what we sign. Raises NotASeed."""
    try:
        root = parse_xml(raw)
    except MalformedXml as error:
        raise NotASeed(str(error)) from error
    if root.tag != "SemillaModel" or root.attrib or [child.tag for child in root] != ["valor", "fecha"]:
        raise NotASeed("it is another document")
    if any(len(child) or child.attrib for child in root):
        raise NotASeed("its parts are not plain text")
    try:
        return signer.sign(root).xml
    except NotSignable as error:
        raise NotASeed(str(error)) from error
