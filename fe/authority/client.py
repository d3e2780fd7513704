"""The client of the tax authority: documents out, verdicts in.

Every failure is one of three (errors.py), told apart by whether the document may have been processed; classify.py has
the rules.
"""

import re
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TypeVar

import trio

from fe.authority.bodies import Body, Message
from fe.authority.classify import classify_query, classify_seed, classify_submission
from fe.authority.errors import Unavailable
from fe.authority.estado import Estado
from fe.authority.gateway import Gateway, Observe, Unauthorised
from fe.authority.hosts import AMBIENTE, SUBMIT, Host, Hosts, Operation
from fe.authority.multipart import xml_form
from fe.authority.replies import (
    DirectoryEntry,
    Receipt,
    Tracking,
    Verdict,
    read_directory,
    read_trackings,
    read_verdict_about,
)
from fe.authority.services import MaintenanceWindow, ServiceStatus, read_services, read_up, read_windows
from fe.authority.session import Sessions, Signing
from fe.authority.transport import BeforeSend, Timeouts, Transport
from fe.config import is_real_authority
from fe.ecf.catalogue import Environment, Service
from fe.ecf.identity import E_NCF_FORM, TAX_ID_FORM
from fe.egress.connection import LastLook
from fe.egress.tls import default_tls
from fe.identifiers import TrackId
from fe.requested_outcome import SIMULATE_HEADER, Simulation

__all__ = [
    "Authority",
    "BeforeSend",
    "DirectoryEntry",
    "LastLook",
    "MaintenanceWindow",
    "Message",
    "Outgoing",
    "Receipt",
    "ServiceStatus",
    "Signing",
    "Timeouts",
    "Tracking",
    "Verdict",
]

T = TypeVar("T")

_NUMBERED_FILE = re.compile(rf"{TAX_ID_FORM}({E_NCF_FORM})\.xml")
_STATUS_LANE = "status"


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A signed document on its way: `xml` goes out to the byte, `file_name` by authority.md#file-names."""

    environment: Environment
    service: Service
    file_name: str
    xml: bytes
    #: Outcome requested of the simulated authority; never sent to the real one.
    simulation: Simulation | None = None

    @property
    def e_ncf(self) -> str | None:
        """The e-NCF in the file name; None for a document named otherwise (ANECF)."""
        match = _NUMBERED_FILE.fullmatch(self.file_name)
        return match[1] if match else None


class Authority:
    """The authority, as far as one process talks to it. Make it once, close it at the end.

    Any number of tasks may call it at once. Each environment of each host has `connections` connections, so that no
    environment can delay another. `observe` is told of every exchange, `without_session` of every call on a host that
    was not made because the token service was away; neither may raise. `signing_limiter` bounds the threads that sign
    seeds; share the signer's.

    If the caller is cancelled: in `submit`, up to `before_send` nothing was sent, and after it the outcome is
    unknown, which only the caller can book; everything else is a question and may be asked again. The connection in
    use is closed, tokens and other callers are not touched.
    """

    def __init__(
        self,
        hosts: Hosts,
        *,
        clock: Callable[[], datetime],
        tls: ssl.SSLContext | None = None,
        timeouts: Timeouts | None = None,
        connections: int = 64,
        signing_limiter: trio.CapacityLimiter | None = None,
        observe: Observe | None = None,
        without_session: Callable[[Environment, Host], None] = lambda _, __: None,
    ) -> None:
        self._clock = clock
        self._without_session = without_session
        timeouts = timeouts or Timeouts()
        self._transport = Transport(tls=tls or default_tls(), timeouts=timeouts, connections=connections)
        self._gateway = Gateway(hosts, self._transport, observe)
        self._sessions = Sessions(
            self._gateway,
            clock=clock,
            signing_limiter=signing_limiter or trio.CapacityLimiter(2),
            timeout=timeouts.session,
        )

    def close(self) -> None:
        """Close the connections that wait for their next use; those in use close when their exchange ends."""
        self._transport.close()

    async def submit(
        self, outgoing: Outgoing, credential: Signing, *, before_send: BeforeSend | None = None
    ) -> Receipt | Verdict:
        """Send a document once; after a 401 once more, with a new token: a 401 is certain not to have processed it.

        e-CF reception answers with a Receipt, the other services with a Verdict. Raises Unavailable, OutcomeUnknown,
        AuthorityRefused or NotDelegated; ValueError, before anything else, if the file name cannot be written into a
        header, or the real authority is asked for an outcome.
        `before_send` runs before each sending; what it raises comes out unchanged, and nothing is sent. The same goes
        for the look that it may return, which is called when the first byte is about to leave.
        """
        form = xml_form(outgoing.file_name, outgoing.xml)
        operation = SUBMIT[outgoing.service]
        location = self._gateway.hosts.locate(operation, outgoing.environment)
        asked = outgoing.simulation
        if asked is not None and is_real_authority(location.origin.host):
            raise ValueError("the real authority is not asked for outcomes")
        more = () if asked is None else ((SIMULATE_HEADER, str(asked)),)

        async def send(authorization: str) -> Receipt | Verdict:
            with self._gateway.observed(operation, outgoing.environment, location.host):
                reply = await self._gateway.submit(
                    location,
                    outgoing.environment,
                    authorization=authorization,
                    form=form,
                    before_send=before_send,
                    more=more,
                )
                return classify_submission(outgoing.service, outgoing.e_ncf, reply, self._clock())

        return await self._in_session(outgoing.environment, location.host, credential, send)

    async def result(
        self, environment: Environment, track_id: TrackId, credential: Signing, *, e_ncf: str | None = None
    ) -> Verdict:
        """Ask for the verdict by trackId (row 5); "No encontrado" and "En Proceso" are verdicts here.

        Give `e_ncf`: reception's answer names only the trackId, so this is where an answer that was meant for another
        document shows, as ForeignAnswer (an Unavailable).
        """
        read = partial(read_verdict_about, e_ncf=e_ncf, track_id=track_id)
        return await self._query(Operation.RESULT, environment, credential, {"trackid": track_id}, read, _not_found)

    async def track_ids(
        self, environment: Environment, issuer_rnc: str, e_ncf: str, credential: Signing
    ) -> list[Tracking]:
        """Ask under which trackIds an e-NCF was received (row 7), all of them; empty if the authority knows none."""
        return await self._query(
            Operation.TRACK_IDS,
            environment,
            credential,
            {"rncemisor": issuer_rnc, "encf": e_ncf},
            read_trackings,
            lambda _: [],
        )

    async def state(
        self,
        environment: Environment,
        issuer_rnc: str,
        e_ncf: str,
        credential: Signing,
        *,
        buyer_rnc: str | None = None,
        security_code: str | None = None,
    ) -> Verdict | None:
        """Ask for the state of an e-CF by its number (row 6); None if the authority does not know it.

        `buyer_rnc` is not needed for consumer invoices. The certificate's owner must be delegated for issuer or buyer.
        """
        query = {
            "rncemisor": issuer_rnc,
            "ncfelectronico": e_ncf,
            "rnccomprador": buyer_rnc,
            "codigoseguridad": security_code,
        }
        read = partial(_read_known, e_ncf=e_ncf)
        return await self._query(Operation.STATE, environment, credential, query, read, lambda _: None)

    async def summary_state(
        self, environment: Environment, issuer_rnc: str, e_ncf: str, security_code: str, credential: Signing
    ) -> Verdict | None:
        """Ask for the state of a consumer summary (row 8); None if the authority does not know it."""
        query = {"RNC_Emisor": issuer_rnc, "ENCF": e_ncf, "Cod_Seguridad_eCF": security_code}
        read = partial(_read_known, e_ncf=e_ncf)
        return await self._query(Operation.SUMMARY_STATE, environment, credential, query, read, lambda _: None)

    async def directory_entry(self, environment: Environment, rnc: str, credential: Signing) -> DirectoryEntry | None:
        """Return where a taxpayer receives (row 12); None where the directory does not have it.

        In testecf every entry may be that of the authority's simulated counterparty.
        """
        read = partial(read_directory, rnc=rnc, stands_in=environment is Environment.TESTECF)
        return await self._query(Operation.DIRECTORY, environment, credential, {"RNC": rnc}, read, lambda _: None)

    async def service_status(self, api_key: str) -> list[ServiceStatus]:
        """Ask which services are up (row 13)."""
        return await self._status(Operation.SERVICES, api_key, {}, read_services)

    async def maintenance_windows(self, api_key: str) -> list[MaintenanceWindow]:
        """Ask for the announced maintenance (row 14)."""
        return await self._status(Operation.WINDOWS, api_key, {}, read_windows)

    async def is_up(self, environment: Environment, api_key: str) -> bool:
        """Ask whether an environment is up (row 15)."""
        return await self._status(Operation.IS_UP, api_key, {"ambiente": AMBIENTE[environment]}, read_up)

    async def probe(self, environment: Environment, host: Host) -> str | None:
        """Probe a host with a public request that changes nothing; None when it answers as it should.

        Otherwise returns what is wrong. The main host is probed by the seed. The host of summaries is probed by the
        page of the QR code, and by the seed as well: without a session, which the main host gives, nothing can be sent
        there.
        """
        for operation in (Operation.SEED,) if host is Host.ECF else (Operation.SUMMARY_PAGE, Operation.SEED):
            location = self._gateway.hosts.locate(operation, environment)
            try:
                with self._gateway.observed(operation, environment, location.host):
                    reply = await self._gateway.ask(location, environment, accept="*/*")
                    if reply.status >= 500:
                        raise Unavailable(f"{operation} answered with status {reply.status}")
                    if operation is Operation.SEED and 200 <= reply.status < 300:
                        classify_seed(reply, self._clock())
            except Unavailable as error:
                return error.reason
        return None

    async def _in_session(
        self, environment: Environment, host: Host, credential: Signing, call: Callable[[str], Awaitable[T]]
    ) -> T:
        token = await self._token(environment, host, credential)
        try:
            return await call(f"Bearer {token}")
        except Unauthorised:
            self._sessions.drop(environment, credential, token)
        return await call(f"Bearer {await self._token(environment, host, credential)}")

    async def _token(self, environment: Environment, host: Host, credential: Signing) -> str:
        try:
            return await self._sessions.token(environment, credential)
        except Unavailable:
            self._without_session(environment, host)
            raise

    async def _query(
        self,
        operation: Operation,
        environment: Environment,
        credential: Signing,
        query: Mapping[str, str | None],
        read: Callable[[Body], T],
        absent: Callable[[Body], T],
    ) -> T:
        location = self._gateway.hosts.locate(operation, environment, query)

        async def ask(authorization: str) -> T:
            with self._gateway.observed(operation, environment, location.host):
                reply = await self._gateway.ask(location, environment, authorization=authorization)
                return classify_query(reply, self._clock(), read, absent)

        return await self._in_session(environment, location.host, credential, ask)

    async def _status(self, operation: Operation, api_key: str, query: dict[str, str], read: Callable[[Body], T]) -> T:
        if not re.fullmatch(r"[!-~]{1,512}", api_key):
            raise ValueError("the key of the status service is not one word of visible ASCII")
        location = self._gateway.hosts.locate(operation, None, query)
        with self._gateway.observed(operation, None, location.host):
            reply = await self._gateway.ask(location, _STATUS_LANE, authorization=f"Apikey {api_key}")
            return classify_query(reply, self._clock(), read, read)


def _read_known(body: Body, *, e_ncf: str) -> Verdict | None:
    verdict = read_verdict_about(body, e_ncf=e_ncf)
    return None if verdict.estado is Estado.NOT_FOUND else verdict


def _not_found(body: Body) -> Verdict:
    return Verdict(Estado.NOT_FOUND, (), None, None, None, None, body.raw)
