"""Voidings of number ranges and the 608 over HTTP (docs/decisions/voidings.md)."""

import re
from collections.abc import Sequence
from uuid import UUID

from fe.accounts import voidings as flow
from fe.accounts.audited_changes import Author
from fe.clock import Clock
from fe.ecf.catalogue import EcfType
from fe.ecf.ids import read_id
from fe.ecf.texts import Text
from fe.ecf.voiding import BadRanges, NumberRange
from fe.http.calls import ApiReply, Call
from fe.http.errors import ApiError
from fe.http.messages import must_be, say
from fe.http.models.voidings import (
    PROPOSALS,
    VOIDED,
    VOIDING,
    VOIDINGS,
    AskedRange,
    VoidedAnswer,
    VoidingRequest,
    serialize_proposal,
    serialize_voiding,
)
from fe.http.parameters import read_month
from fe.http.request_bodies import read_body
from fe.identifiers import ClientRequestId, TenantId
from fe.limits import ConcurrencyLimit
from fe.month.report_608 import VoidedNumber, file_608, name_608
from fe.store.postgres.db import Conn, Database
from fe.store.records import tenants, voidings
from fe.store.records.tenants import Tenant
from fe.store.records.voidings import Voiding

_NUMBER = re.compile(r"E[0-9]{12}")
_MOST_RANGES, _LONGEST_ID = 200, 120
_A_NUMBER = Text("an e-NCF such as E310000000005", "un e-NCF como E310000000005")
_OF_ONE_TYPE = Text("of the type of first", "del tipo de first")
_RANGES = Text(f"a list of 1 to {_MOST_RANGES} ranges", f"una lista de 1 a {_MOST_RANGES} rangos")
_ID = Text(f"a text of 1 to {_LONGEST_ID} characters", f"un texto de 1 a {_LONGEST_ID} caracteres")


class VoidingHandlers:
    """The handlers of /voidings, and the 608."""

    def __init__(self, db: Database, lists: ConcurrencyLimit[TenantId], clock: Clock) -> None:
        self._db = db
        self._lists = lists
        self._clock = clock

    async def propose(self, call: Call) -> ApiReply:
        """List what can be voided."""
        caller, prefix = call.identity, call.query().get("prefix")
        async with self._lists.turn(caller.tenant_id):
            found = await self._db.run_for(caller.tenant_id, flow.propose, caller.environment, prefix)
        return ApiReply(200, PROPOSALS.write({"items": [serialize_proposal(one) for one in found]}))

    async def listed(self, call: Call) -> ApiReply:
        """List the newest voidings."""
        caller = call.identity
        found = await self._db.run_for(caller.tenant_id, voidings.newest, caller.environment)
        return ApiReply(200, VOIDINGS.write({"items": [serialize_voiding(one) for one in found]}))

    async def request(self, call: Call) -> ApiReply:
        """Take ranges out of use and have them voided."""
        caller = call.identity
        asked = read_body(VoidingRequest, await call.body())
        ranges = _ranges(asked.ranges)
        named = asked.clientRequestId
        if named is not None and not 1 <= len(named) <= _LONGEST_ID:
            raise ApiError(400, must_be("clientRequestId", _ID))
        by = Author(str(caller.api_key_id), self._clock(), "api")

        async def make(conn: Conn) -> tuple[Voiding, bool]:
            return await flow.request(
                conn,
                by,
                await _tenant(conn, caller.tenant_id),
                caller.environment,
                ranges,
                asked.reason,
                client_request_id=None if named is None else ClientRequestId(named),
            )

        try:
            made, is_new = await self._db.transact_for(caller.tenant_id, make)
        except BadRanges as bad:
            raise ApiError(400, bad.text) from None
        except flow.VoidingRefused as refused:
            raise ApiError(409, refused.text) from None
        return ApiReply(202 if is_new else 200, VOIDING.write(serialize_voiding(made)))

    async def show(self, call: Call) -> ApiReply:
        """Show a voiding."""
        return ApiReply(200, VOIDING.write(serialize_voiding(await self._find(call))))

    async def xml(self, call: Call) -> ApiReply:
        """Send the signed ANECF."""
        found = await self._find(call)
        content = await self._db.run_for(call.identity.tenant_id, voidings.document, found.voiding_id)
        if content is None:
            raise ApiError(409, say("voiding-unsigned"))
        return ApiReply(200, content, (("Content-Type", "application/xml"),))

    async def voided_in_month(self, call: Call) -> ApiReply:
        """Write the 608 of a month."""
        caller, month = call.identity, read_month(call.params)

        async def read(conn: Conn) -> tuple[str, Sequence[VoidedNumber]]:
            rnc = str((await _tenant(conn, caller.tenant_id)).issuer.get("RNCEmisor") or "")
            if not rnc:
                raise ApiError(409, say("no-own-rnc"))
            return rnc, await flow.of_month(conn, caller.tenant_id, caller.environment, month)

        try:
            async with self._lists.turn(caller.tenant_id):
                rnc, numbers = await self._db.transact_for(caller.tenant_id, read)
        except flow.TooManyVoided as refused:
            raise ApiError(409, refused.text) from None
        answer: VoidedAnswer = {
            "month": str(month),
            "environment": caller.environment,
            "fileName": name_608(rnc, month),
            "rows": len(numbers),
            "content": file_608(rnc, month, numbers).decode("ascii"),
        }
        return ApiReply(200, VOIDED.write(answer))

    async def _find(self, call: Call) -> Voiding:
        voiding_id: UUID | None = read_id(call.params["voiding_id"])
        caller = call.identity
        found = None
        if voiding_id is not None:
            found = await self._db.run_for(caller.tenant_id, voidings.find, voiding_id)
        if found is None or found.environment is not caller.environment:
            raise ApiError(404, say("no-voiding"))
        return found


async def _tenant(conn: Conn, tenant_id: TenantId) -> Tenant:
    found = await tenants.by_id(conn, tenant_id)
    assert found is not None
    return found


def _ranges(asked: Sequence[AskedRange]) -> Sequence[NumberRange]:
    if not 1 <= len(asked) <= _MOST_RANGES:
        raise ApiError(400, must_be("ranges", _RANGES))
    return [_range(n, one) for n, one in enumerate(asked)]


def _range(n: int, asked: AskedRange) -> NumberRange:
    first, last = asked.first, asked.first if asked.last is None else asked.last
    for name, number in (("first", first), ("last", last)):
        if not _NUMBER.fullmatch(number) or number[1:3] not in tuple(EcfType):
            raise ApiError(400, must_be(f"ranges[{n}].{name}", _A_NUMBER))
    if first[:3] != last[:3]:
        raise ApiError(400, must_be(f"ranges[{n}].last", _OF_ONE_TYPE))
    return NumberRange(EcfType(first[1:3]), int(first[3:]), int(last[3:]))
