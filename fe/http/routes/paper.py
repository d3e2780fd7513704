"""Ranges of series B, receipts on paper, and their replacement, over HTTP (docs/contingency.md)."""

from collections.abc import Sequence
from datetime import date

import trio

from fe.accounts import paper as flow
from fe.accounts.audited_changes import Author
from fe.accounts.paper import Entered
from fe.clock import Clock
from fe.contingency import Mode
from fe.ecf.ids import read_id
from fe.ecf.paper import NoSuchPaper, PaperConflict, PaperRefused, is_ncf
from fe.ecf.parse import refuse_crowd
from fe.ecf.problems import Problem, Severity
from fe.ecf.texts import LocalizedError, Text
from fe.http.calls import ApiReply, Call
from fe.http.errors import ApiError
from fe.http.languages import serialize_problems
from fe.http.messages import must_be, say
from fe.http.models.paper import (
    PAPER_ENTERED,
    PAPER_RANGE,
    PAPER_RANGE_DELETED,
    PAPER_RANGES,
    PAPER_RECEIPT,
    PAPER_RECEIPTS,
    REPLACEMENTS,
    PaperContent,
    PaperEntered,
    PaperRangeRequest,
    PaperReceiptAnswer,
    PaperReceiptRequest,
    ReplacementItem,
    ReplacementsRequest,
    SentPaperReceipts,
    serialize_paper,
    serialize_range,
)
from fe.http.paging import read_in_turn
from fe.http.request_bodies import check, read_body
from fe.identifiers import ClientRequestId, TenantId
from fe.issuing.paper import BadPaper, examine
from fe.issuing.paper_replacing import PaperReplacer, Replaced
from fe.limits import ConcurrencyLimit
from fe.store.postgres.db import Conn, Database
from fe.store.records import modes, paper, paper_ranges, tenants
from fe.store.records.paper import PAGE, AskedPaper, ExaminedPaper, PaperRecord
from fe.store.records.tenants import Tenant

_NO_RANGE = Text("no range has this id", "ningún rango tiene este id")
_NO_PAPER = Text("no paper receipt has this number", "ningún comprobante en papel tiene este número")
_OPEN = Text("`open`, or left out", "`open`, o se omite")
_NAMED = Text("a text of 1 to 120 characters", "un texto de 1 a 120 caracteres")
_OBJECTS = Text("a list of JSON objects", "una lista de objetos JSON")
_ENTERED, _BEFORE = (
    Text("entered", "registrado"),
    Text("entered before with the same content", "ya registrado con el mismo contenido"),
)
_STILL_IN_CONTINGENCY = Problem(
    code="contingency-goes-on",
    path="",
    message="a declared contingency is on record: the first e-CF that you issue ends a total one",
    message_es="hay una contingencia declarada registrada: el primer e-CF que emita termina una total",
    fix="declare the exit in the DGII's virtual office, and record it in the portal, under Contingency",
    fix_es="declare la salida en la Oficina Virtual de la DGII y regístrela en el portal, en Contingencia",
    severity=Severity.CONDITIONAL,
)


class PaperHandlers:
    """The handlers of /paper-ranges and /paper-receipts."""

    def __init__(self, db: Database, replacer: PaperReplacer, lists: ConcurrencyLimit[TenantId], clock: Clock) -> None:
        self._db = db
        self._replacer = replacer
        self._lists = lists
        self._clock = clock
        self._threads = trio.CapacityLimiter(1)

    # -- ranges ----------------------------------------------------------------------------------------------------

    async def ranges(self, call: Call) -> ApiReply:
        """List the ranges."""
        caller = call.identity
        found = await self._db.run_for(caller.tenant_id, paper_ranges.listed, caller.environment)
        return ApiReply(200, PAPER_RANGES.write({"items": [serialize_range(one) for one in found]}))

    async def add_range(self, call: Call) -> ApiReply:
        """Record a range."""
        caller = call.identity
        asked = read_body(PaperRangeRequest, await call.body())
        expires_on = date.fromisoformat(asked.expiresOn)
        try:
            made = await flow.add_range(
                self._db,
                self._author(call),
                await self._tenant(call),
                caller.environment,
                asked.first,
                asked.last,
                expires_on,
            )
        except PaperRefused as refused:
            raise _error(refused) from None
        answer = serialize_range(made)
        if asked.ignored:
            answer["warnings"] = serialize_problems(asked.ignored, call.language)
        return ApiReply(200, PAPER_RANGE.write(answer))

    async def delete_range(self, call: Call) -> ApiReply:
        """Delete a range without receipts."""
        caller = call.identity
        range_id = read_id(call.params["range_id"])
        found = await self._db.run_for(caller.tenant_id, paper_ranges.listed, caller.environment)
        one = next((one for one in found if one.range_id == range_id), None)
        if one is None:
            raise ApiError(404, _NO_RANGE)
        by, tenant = self._author(call), await self._tenant(call)
        try:
            await self._db.transact_for(caller.tenant_id, flow.delete_range, by, tenant, one)
        except PaperRefused as refused:
            raise _error(refused) from None
        return ApiReply(200, PAPER_RANGE_DELETED.write({"ok": True, "rangeId": str(one.range_id)}))

    # -- receipts --------------------------------------------------------------------------------------------------

    async def listed(self, call: Call) -> ApiReply:
        """List paper receipts by number."""
        caller, query = call.identity, call.query()
        state = query.get("state", "")
        if state not in ("", "open"):
            raise ApiError(400, must_be("state", _OPEN))
        after = query.get("cursor", "")
        if after and not is_ncf(after):
            raise ApiError(400, say("bad-cursor"))
        found = await read_in_turn(
            self._db,
            self._lists,
            caller.tenant_id,
            paper.listed,
            caller.environment,
            after=after,
            only_open=state == "open",
        )
        items = await self._shown(call, found)
        cursor = found[-1].ncf if len(found) == PAGE else None
        return ApiReply(200, PAPER_RECEIPTS.write({"items": items, "nextCursor": cursor}))

    async def show(self, call: Call) -> ApiReply:
        """Show a paper receipt."""
        caller, ncf = call.identity, call.params["ncf"]
        found = None
        if is_ncf(ncf):
            found = await self._db.run_for(caller.tenant_id, paper.find, caller.environment, ncf)
        if found is None:
            raise ApiError(404, _NO_PAPER)
        (shown,) = await self._shown(call, [found])
        return ApiReply(200, PAPER_RECEIPT.write(shown))

    async def enter(self, call: Call) -> ApiReply:
        """Store paper receipts, each by itself: 200, and what became of each in their order."""
        raw = await call.body()
        refuse_crowd(raw)
        asked = await trio.to_thread.run_sync(read_body, SentPaperReceipts, raw, limiter=self._threads)
        tenant = await self._tenant(call)
        items = [await self._enter_one(call, tenant, one) for one in asked.receipts]
        if asked.ignored:
            warnings = serialize_problems(asked.ignored, call.language)
            return ApiReply(200, PAPER_ENTERED.write({"items": items, "warnings": warnings}))
        return ApiReply(200, PAPER_ENTERED.write({"items": items}))

    async def _enter_one(self, call: Call, tenant: Tenant, sent: object) -> PaperEntered:
        if not isinstance(sent, dict):
            return {"statusCode": 400, "message": must_be("receipts", _OBJECTS).said(call.language), "ncf": None}
        try:
            one = check(PaperReceiptRequest, sent)
        except ApiError as wrong:
            ncf = sent.get("ncf")
            said = wrong.message.said(call.language)
            return {"statusCode": 400, "message": said, "ncf": ncf if isinstance(ncf, str) else None}
        done = await self._enter_checked(call, tenant, one)
        if one.ignored:
            # Beside the receipt's remarks, or beside the reason why there is no receipt.
            remarks = serialize_problems(one.ignored, call.language)
            if "receipt" in done:
                done["receipt"]["warnings"] = [*remarks, *done["receipt"].get("warnings", ())]
            else:
                done["problems"] = [*done.get("problems", ()), *remarks]
        return done

    async def _enter_checked(self, call: Call, tenant: Tenant, one: PaperReceiptRequest) -> PaperEntered:
        named = one.clientRequestId
        if named is not None and not 1 <= len(named) <= 120:
            return {
                "statusCode": 400,
                "message": must_be("clientRequestId", _NAMED).said(call.language),
                "ncf": one.ncf,
            }
        asked = AskedPaper(one.payload, one.ncf, _day(one.issuedOn), None if named is None else ClientRequestId(named))
        try:
            examined = await self._examined(tenant, asked)
            done = await flow.enter(self._db, self._author(call), tenant, call.identity.environment, asked, examined)
        except BadPaper as bad:
            problems = serialize_problems(bad.problems, call.language)
            first = problems[0]["message"]
            return {"statusCode": 400, "message": first, "ncf": one.ncf, "problems": problems}
        except PaperRefused as refused:
            status = 409 if isinstance(refused, PaperConflict) else 400
            return {"statusCode": status, "message": refused.text.said(call.language), "ncf": one.ncf}
        receipt = await self._one(call, done)
        status, said = (201, _ENTERED) if done.is_new else (200, _BEFORE)
        return {
            "statusCode": status,
            "message": said.said(call.language),
            "ncf": done.record.ncf,
            "receipt": receipt,
        }

    async def correct(self, call: Call) -> ApiReply:
        """Write another content of a receipt that has no e-CF."""
        caller = call.identity
        body = read_body(PaperContent, await call.body())
        asked = AskedPaper(body.payload, call.params["ncf"], _day(body.issuedOn))
        tenant = await self._tenant(call)
        try:
            examined = await self._examined(tenant, asked)
            done = await self._db.transact_for(
                caller.tenant_id, flow.correct, self._author(call), tenant, caller.environment, asked, examined
            )
        except BadPaper as bad:
            problems = serialize_problems(bad.problems, call.language)
            raise ApiError(400, bad.problems[0].text.after("payload"), problems=problems) from None
        except PaperRefused as refused:
            raise _error(refused) from None
        answer = await self._one(call, done, body.ignored)
        return ApiReply(200, PAPER_RECEIPT.write(answer))

    async def replace(self, call: Call) -> ApiReply:
        """Issue the e-CF of paper receipts."""
        caller = call.identity
        asked = read_body(ReplacementsRequest, await call.body())
        try:
            done = await self._replacer.issue(
                caller.tenant_id,
                caller.environment,
                asked.ncfs,
                api_key_id=caller.api_key_id,
                by=str(caller.api_key_id),
                now=self._clock(),
                http_request=call.request_id,
            )
        except NoSuchPaper as unknown:
            raise _error(unknown) from None
        left = (await self._db.run_for(caller.tenant_id, paper.still_open)).get(caller.environment)
        open_now = 0 if left is None else left.receipts
        period = await self._db.run_for(caller.tenant_id, modes.current, caller.environment)
        remarks = list(asked.ignored)
        if period is not None and period.mode is Mode.CONTINGENCY and any(one.is_new for one in done):
            remarks.append(_STILL_IN_CONTINGENCY)
        items = [_serialize_replaced(one, call) for one in done]
        if remarks:
            warnings = serialize_problems(remarks, call.language)
            return ApiReply(200, REPLACEMENTS.write({"items": items, "open": open_now, "warnings": warnings}))
        return ApiReply(200, REPLACEMENTS.write({"items": items, "open": open_now}))

    # -- common ----------------------------------------------------------------------------------------------------

    def _author(self, call: Call) -> Author:
        return Author(str(call.identity.api_key_id), self._clock(), "api")

    async def _tenant(self, call: Call) -> Tenant:
        found = await self._db.run_for(call.identity.tenant_id, _tenant)
        assert found is not None
        return found

    async def _examined(self, tenant: Tenant, asked: AskedPaper) -> ExaminedPaper:
        return await trio.to_thread.run_sync(examine, asked, tenant.issuer, self._clock(), limiter=self._threads)

    async def _shown(self, call: Call, found: Sequence[PaperRecord]) -> list[PaperReceiptAnswer]:
        caller = call.identity
        tried = await self._db.run_for(caller.tenant_id, paper.tried, caller.environment, found)
        return [serialize_paper(one, None if one.request_id is None else tried.get(one.request_id)) for one in found]

    async def _one(self, call: Call, done: Entered, ignored: Sequence[Problem] = ()) -> PaperReceiptAnswer:
        (shown,) = await self._shown(call, [done.record])
        remarks = [*ignored, *done.remarks]
        if remarks:
            shown["warnings"] = serialize_problems(remarks, call.language)
        return shown


async def _tenant(conn: Conn, tenant_id: TenantId) -> Tenant | None:
    return await tenants.by_id(conn, tenant_id)


def _day(written: str | None) -> date | None:
    return None if written is None else date.fromisoformat(written)


def _error(refused: LocalizedError) -> ApiError:
    status = 404 if isinstance(refused, NoSuchPaper) else 409 if isinstance(refused, PaperConflict) else 400
    return ApiError(status, refused.text)


def _serialize_replaced(one: Replaced, call: Call) -> ReplacementItem:
    item: ReplacementItem = {
        "ncf": one.ncf,
        "state": one.state,
        "issued": one.is_new,
        "taxLogId": None if one.submission_id is None else str(one.submission_id),
        "eNCF": one.e_ncf,
    }
    if one.problems:
        item["problems"] = serialize_problems(one.problems, call.language)
    return item
