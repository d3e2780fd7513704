"""Handlers for suppliers: seed, token, e-CF with acknowledgement, approval (authority.md#receivers)."""

import re
import unicodedata
from collections.abc import Awaitable, Callable
from datetime import datetime
from enum import StrEnum
from functools import partial

import structlog
import trio

from fe.clock import Clock
from fe.ecf.catalogue import Environment
from fe.ecf.json_text import write_json
from fe.ecf.parse import MalformedXml
from fe.ecf.texts import Text
from fe.http.calls import ApiReply, Call
from fe.http.errors import RETRY_WHEN_DOWN, ApiError
from fe.http.messages import METHOD_NOT_ALLOWED, NOT_FOUND, UNAVAILABLE, of_status
from fe.http.reception.multipart import BadForm, read_xml_part
from fe.receiving.assess import ApprovalRefused, NothingToAnswer
from fe.receiving.receive import CannotAcknowledge, Reception
from fe.receiving.seeds_and_tokens import SeedRefused, SupplierSessions, SupplierToken
from fe.store.records import receivers, spent_seeds
from fe.store.records.receivers import Receiver

_log = structlog.get_logger(__name__)

_XML = (("Content-Type", "application/xml; charset=utf-8"),)


class ReceptionService(StrEnum):
    """The operations of a receiver: the end of their paths, in lower case and without accents."""

    SEED = "fe/autenticacion/api/semilla"
    TOKEN = "fe/autenticacion/api/validacioncertificado"  # noqa: S105  (a path)
    RECEPTION = "fe/recepcion/api/ecf"
    APPROVAL = "fe/aprobacioncomercial/api/ecf"

    @property
    def method(self) -> str:
        """The one method it is called with."""
        return "GET" if self is ReceptionService.SEED else "POST"


_PATH = re.compile(rf"/({'|'.join(Environment)})/([0-9]{{9}}|[0-9]{{11}})/({'|'.join(ReceptionService)})/?", re.ASCII)
_SLASHES = re.compile("/+")


def read_path(path: str) -> tuple[Environment, str, ReceptionService] | None:
    """Read `/{environment}/{rnc}/fe/...`; None for another path.

    Case, accents and repeated slashes do not matter: senders append the service to a registered base that ends in "/".
    """
    plain = "".join(c for c in unicodedata.normalize("NFD", path.lower()) if not unicodedata.combining(c))
    found = _PATH.fullmatch(_SLASHES.sub("/", plain))
    return None if found is None else (Environment(found[1]), found[2], ReceptionService(found[3]))


class Suppliers:
    """The handlers. Nothing in a request is trusted that is not signed or issued by us."""

    def __init__(self, reception: Reception, sessions: SupplierSessions, clock: Clock) -> None:
        self._reception = reception
        self._sessions = sessions
        self._clock = clock
        self._answers: dict[ReceptionService, Callable[[Receiver, Call], Awaitable[ApiReply]]] = {
            ReceptionService.SEED: self._seed,
            ReceptionService.TOKEN: self._token,
            ReceptionService.RECEPTION: self._receive,
            ReceptionService.APPROVAL: self._approve,
        }

    async def answer(self, method: str, path: str, call: Call) -> ApiReply:
        """Answer a call of a path. Raises ApiError, or DatabaseUnavailable."""
        where = read_path(path)
        if where is None:
            raise ApiError(404, NOT_FOUND)
        environment, rnc, service = where
        if method != service.method:
            raise ApiError(405, METHOD_NOT_ALLOWED, (("Allow", service.method),))
        receiver = await self._reception.db.run(receivers.find, environment, rnc)
        if receiver is None:
            raise ApiError(404, _in_english("nobody receives under this address"))
        return await self._answers[service](receiver, call)

    async def _seed(self, receiver: Receiver, call: Call) -> ApiReply:
        return ApiReply(200, self._sessions.new_seed(_audience(receiver), self._clock()), _XML)

    async def _token(self, receiver: Receiver, call: Call) -> ApiReply:
        raw = await self._part(call)
        now, audience = self._clock(), _audience(receiver)
        read = partial(self._sessions.read_seed, raw, audience, self._reception.trust, now)
        try:
            seed = await trio.to_thread.run_sync(read, limiter=self._reception.threads)
        except MalformedXml as wrong:
            raise ApiError(400, _in_english(f"xml: {wrong}")) from None
        except SeedRefused as refused:
            raise ApiError(400, _in_english(str(refused))) from None
        spend = spent_seeds.spend
        if not await self._reception.db.run_for(receiver.tenant_id, spend, seed.spent, seed.expires):
            raise ApiError(400, _in_english("the seed was used before: ask for another one"))
        return _token_reply(self._sessions.grant(audience, seed.holder, now), call.headers.get("accept", ""))

    async def _receive(self, receiver: Receiver, call: Call) -> ApiReply:
        presenter = self._presenter(receiver, call)
        raw = await self._part(call)
        try:
            said = await self._reception.receive(receiver, raw, presenter, self._clock())
        except MalformedXml as wrong:
            raise ApiError(400, _in_english(f"xml: {wrong}")) from None
        except NothingToAnswer as nothing:
            raise ApiError(400, _in_english(str(nothing))) from None
        except CannotAcknowledge as cannot:
            _log.error("nothing can be acknowledged", reason=str(cannot))
            raise ApiError(503, UNAVAILABLE, (("Retry-After", str(RETRY_WHEN_DOWN)),)) from None
        return ApiReply(200, said, _XML)

    async def _approve(self, receiver: Receiver, call: Call) -> ApiReply:
        presenter = self._presenter(receiver, call)
        raw = await self._part(call)
        try:
            await self._reception.approve(receiver, raw, presenter, self._clock())
        except MalformedXml as wrong:
            raise ApiError(400, _in_english(f"xml: {wrong}")) from None
        except ApprovalRefused as refused:
            raise ApiError(400, _in_english(str(refused))) from None
        return ApiReply(200, write_json({"message": "received"}))

    def _presenter(self, receiver: Receiver, call: Call) -> str | None:
        """The holder of the token. Without a valid one the call ends if the receiver requires tokens."""
        scheme, _, token = call.headers.get("authorization", "").partition(" ")
        holder = None
        if scheme.lower() == "bearer":
            holder = self._sessions.holder_of(token.strip(), _audience(receiver), self._clock())
        if holder is None and receiver.demands_token:
            raise ApiError(401, of_status(401), (("WWW-Authenticate", "Bearer"),))
        return holder

    async def _part(self, call: Call) -> bytes:
        """The bytes of the file that was sent. Raises ApiError (400, 408, 413, 415)."""
        if call.headers.get("content-encoding", "identity").lower() != "identity":
            raise ApiError(
                415, _in_english("send the form as it is, without Content-Encoding"), (("Connection", "close"),)
            )
        body = await call.read_body()
        read = partial(read_xml_part, call.headers.get("content-type", ""), body)
        try:
            return await trio.to_thread.run_sync(read, limiter=self._reception.threads)
        except BadForm as bad:
            raise ApiError(400, _in_english(str(bad))) from None


def _in_english(reason: str) -> Text:
    """Messages to a supplier's program: in English only, since it speaks the authority's protocol."""
    return Text(reason, reason)


def _audience(receiver: Receiver) -> str:
    return f"{receiver.environment}/{receiver.rnc}"


def _token_reply(token: SupplierToken, accept: str) -> ApiReply:
    fields = {"token": token.text, "expira": _utc(token.expires), "expedido": _utc(token.issued)}
    if "xml" not in accept.lower() or "json" in accept.lower():
        return ApiReply(200, write_json(fields))
    inside = "".join(f"<{name}>{text}</{name}>" for name, text in fields.items())  # nothing in them needs escaping
    body = f'<?xml version="1.0" encoding="utf-8"?><RespuestaAutenticacion>{inside}</RespuestaAutenticacion>'
    return ApiReply(200, body.encode(), _XML)


def _utc(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
