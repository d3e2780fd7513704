"""The public side: finding the operation, letting faults happen, and giving the answer."""

import random
from collections.abc import Awaitable, Callable

import trio

from fe.ecf.catalogue import Environment
from fe.simulator import (
    access,
    approval,
    counterparty,
    qr_pages,
    queries,
    reception,
    requested_outcome,
    services,
    voiding,
)
from fe.simulator.connection import CorruptedReply, FaultyConnection
from fe.simulator.exchange import RawAnswer, RawRequest
from fe.simulator.faults import FaultKind, Occasion
from fe.simulator.multipart import NoPart, Part, read_xml_part
from fe.simulator.operations import CARRIES_DOCUMENT, Access, SimulatedHost, SimulatedOperation, find_route
from fe.simulator.replies import HTML, JSON, AuthorityReply, other_shape, page, render, to_json
from fe.simulator.sessions import Bearer
from fe.simulator.state import AuthorityCall, AuthorityState

Handler = Callable[[AuthorityState, AuthorityCall], Awaitable[AuthorityReply | RawAnswer]]

_HANDLERS: dict[SimulatedOperation, Handler] = {
    SimulatedOperation.SEED: access.give_seed,
    SimulatedOperation.VALIDATE_SEED: access.validate_seed,
    SimulatedOperation.RECEPTION: reception.receive_ecf,
    SimulatedOperation.SUMMARY_RECEPTION: reception.receive_summary,
    SimulatedOperation.RESULT: queries.result,
    SimulatedOperation.STATE: queries.state,
    SimulatedOperation.TRACK_IDS: queries.track_ids,
    SimulatedOperation.SUMMARY_STATE: queries.summary_state,
    SimulatedOperation.COMMERCIAL_APPROVAL: approval.receive_approval,
    SimulatedOperation.RANGE_VOIDING: voiding.void_ranges,
    SimulatedOperation.DIRECTORY: services.directory,
    SimulatedOperation.DIRECTORY_ENTRY: services.directory_entry,
    SimulatedOperation.SERVICES: services.services,
    SimulatedOperation.WINDOWS: services.windows,
    SimulatedOperation.IS_UP: services.is_up,
    SimulatedOperation.QR: qr_pages.qr,
    SimulatedOperation.SUMMARY_QR: qr_pages.summary_qr,
    SimulatedOperation.COUNTERPARTY_SEED: access.give_seed,
    SimulatedOperation.COUNTERPARTY_TOKEN: access.validate_seed,
    SimulatedOperation.COUNTERPARTY_RECEPTION: counterparty.receive,
    SimulatedOperation.COUNTERPARTY_APPROVAL: counterparty.take_approval,
}

_TOO_LARGE = page(413, "<html><body>413 - Request entity too large</body></html>")
_NOTHING_HERE = page(404, "<html><body><h1>404 - File or directory not found.</h1></body></html>")
_MAINTENANCE = page(
    503,
    "<html><head><title>Mantenimiento</title></head><body><h1>Servicio en mantenimiento</h1></body></html>",
    ("Retry-After", "60"),
)
_GATEWAY = page(502, "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>")
_UNAUTHORIZED = RawAnswer(401, headers=(("WWW-Authenticate", "Bearer"),))


class PublicPort:
    """One public port, which serves the given hosts of the authority."""

    def __init__(self, state: AuthorityState, hosts: frozenset[SimulatedHost]) -> None:
        self._state = state
        self._hosts = hosts

    async def __call__(self, request: RawRequest, connection: FaultyConnection) -> RawAnswer | None:
        """The answer, or None when there will be none."""
        if request.too_large:
            return _TOO_LARGE
        state = self._state
        found = find_route(request.path, self._hosts, state.settings.availability)
        if found is None:
            return _NOTHING_HERE
        route, environment = found
        if request.method != route.method:
            return page(405, "<html><body>405 - Method not allowed</body></html>", ("Allow", route.method))
        # The status services ask for all environments; which one stands here does not matter to them.
        call = AuthorityCall(request, route, environment or Environment.ECF, state.now())
        if route.method == "POST":
            call.part = _part(request)
        occasion = self._occasion(call, environment)
        if route.method == "GET" and occasion.e_ncf:
            call.about = call.environment, occasion.issuer, occasion.e_ncf
            state.asked_at[call.about] = call.now
        try:
            call.asked = requested_outcome.read(state, call, occasion.issuer, occasion.e_ncf)
        except ValueError as wrong:
            return RawAnswer(400, str(wrong).encode())
        call.fault = state.faults.choose(occasion, call.now) or requested_outcome.fault_of(call.asked)
        answer = await self._serve(call, connection)
        state.requests[route.operation, "none" if answer is None else str(answer.status)] += 1
        return answer

    def _occasion(self, call: AuthorityCall, environment: Environment | None) -> Occasion:
        """Return the document of the call, by its file name or parameters, for choosing a fault."""
        issuer, number = reception.named_by(call.part)
        if call.operation is SimulatedOperation.RESULT:
            filed = self._state.ledger.track(call.environment, call.query("trackid"))
            if filed is not None:
                issuer, number = filed.issuer, filed.e_ncf
        elif call.route.method == "GET":
            issuer = call.query("rncemisor") or call.query("rnc_emisor")
            number = (call.query("encf") or call.query("ncfelectronico")).upper()
        return Occasion(call.operation, environment, issuer, number)

    async def _serve(self, call: AuthorityCall, connection: FaultyConnection) -> RawAnswer | None:
        call.session = self._session(call)
        if self._prevented(call):
            if call.operation in CARRIES_DOCUMENT:
                reception.journal(self._state, call, status=0, verdict=None, effect=False)
            return await self._fault_instead(call, connection)
        if not self._admitted(call):
            if call.operation in CARRIES_DOCUMENT:
                reception.journal(self._state, call, status=401, verdict=None, effect=False, refused="token")
            answer = _UNAUTHORIZED
        else:
            handler = _HANDLERS[call.operation]
            if call.suffers(FaultKind.DUPLICATE_DELIVERY):
                await handler(self._state, call)
            reply = await handler(self._state, call)
            answer = self._rendered(call, reply)
        return await self._corrupted(call, answer, connection)

    def _session(self, call: AuthorityCall) -> Bearer | None:
        if call.route.access is not Access.BEARER:
            return None
        authorization = call.request.headers.get("authorization", "")
        return self._state.sessions.session(call.environment, authorization, call.now)

    def _admitted(self, call: AuthorityCall) -> bool:
        match call.route.access:
            case Access.OPEN:
                return True
            case Access.BEARER:
                return call.session is not None
            case Access.API_KEY:
                scheme, _, key = call.request.headers.get("authorization", "").partition(" ")
                wanted = self._state.settings.status_key
                return scheme.lower() == "apikey" and bool(key.strip()) and wanted in (None, key.strip())

    def _rendered(self, call: AuthorityCall, reply: AuthorityReply | RawAnswer) -> RawAnswer:
        if isinstance(reply, RawAnswer):
            return reply
        if call.suffers(FaultKind.OTHER_SHAPE):
            reply = AuthorityReply(other_shape(reply.content), reply.root, reply.status)
        return render(reply, xml=call.request.wants_xml)

    def _prevented(self, call: AuthorityCall) -> bool:
        return call.fault is not None and not call.fault.kind.has_effect

    async def _fault_instead(self, call: AuthorityCall, connection: FaultyConnection) -> RawAnswer | None:
        """The answer of a call that a fault kept from happening."""
        assert call.fault is not None
        fault = call.fault
        match fault.kind:
            case FaultKind.RESET_BEFORE:
                await connection.reset()
                return None
            case FaultKind.UNAUTHORIZED:
                if call.session is not None:
                    self._state.sessions.revoke(call.session)
                return _UNAUTHORIZED
            case FaultKind.MAINTENANCE:
                return _MAINTENANCE
            case FaultKind.REDIRECT:
                return RawAnswer(302, headers=(("Location", f"/moved{call.request.path}"),))
            case FaultKind.HTML:
                return page(fault.status or 500, "<html><head><title>Error</title></head><body>ERROR:</body></html>")
            case FaultKind.BARE_STRING:
                messages = "Ha ocurrido un error con la solicitud."
                return RawAnswer(fault.status or 400, to_json(messages).encode(), JSON)
        return RawAnswer(fault.status or 503, b"Service Unavailable")

    async def _corrupted(
        self, call: AuthorityCall, answer: RawAnswer, connection: FaultyConnection
    ) -> RawAnswer | None:
        """The answer as the fault leaves it, after everything has happened that should."""
        if call.fault is None:
            return answer
        match call.fault.kind:
            case FaultKind.RESET_AFTER:
                await connection.reset()
                return None
            case FaultKind.UNAVAILABLE_AFTER:
                return _GATEWAY
            case FaultKind.HALF_REPLY:
                connection.bend(CorruptedReply.HALF)
            case FaultKind.DUPLICATE_REPLY:
                connection.bend(CorruptedReply.TWICE)
            case FaultKind.EMPTY:
                return RawAnswer(200, content_type=answer.content_type)
            case FaultKind.GARBAGE:
                # Not one byte of it can begin a JSON text or an XML document.
                noise = bytes(random.Random(call.request.path).choices(range(0x80, 0xC0), k=64))  # noqa: S311 - noise
                return RawAnswer(200, noise, JSON)
            case FaultKind.WRONG_TYPE:
                return RawAnswer(answer.status, answer.body, HTML, answer.headers)
            case FaultKind.SLOW:
                seconds = call.fault.seconds
                await trio.sleep(5 if seconds is None else seconds)
        return answer


def _part(request: RawRequest) -> Part | str:
    """The document part, or why there is none. Without a length the authority sees an empty form (section 4)."""
    if "content-length" not in request.headers:
        return "la solicitud no tiene Content-Length"
    try:
        return read_xml_part(request.headers.get("content-type", ""), request.body)
    except NoPart as wrong:
        return str(wrong)
