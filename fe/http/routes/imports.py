"""Imports of receipts from workbooks over HTTP."""

import base64
import binascii
from decimal import Decimal
from functools import partial
from uuid import UUID

import trio

from fe.clock import iso
from fe.ecf.catalogue import EcfType
from fe.ecf.ids import read_id
from fe.ecf.parse import parse_json
from fe.ecf.problems import Problem
from fe.ecf.texts import Text
from fe.http.calls import ApiReply, Call
from fe.http.errors import ApiError
from fe.http.languages import Language, serialize_problems
from fe.http.messages import must_be, say
from fe.http.models.imports import IMPORT, ImportAnswer, ImportFault, ImportRequest
from fe.http.request_bodies import check
from fe.http.routes.ncf import read_prefix
from fe.identifiers import TenantId
from fe.issuing.imports import ImportNotReady, Imports, NoSuchImport
from fe.limits import ConcurrencyLimit
from fe.store.postgres.db import Database
from fe.store.records import imports
from fe.store.records.imports import ImportOutcome, ImportRecord
from fe.workbooks.columns import COLUMNS
from fe.workbooks.report import XLSX
from fe.workbooks.tables import BOUNDS, UnreadableWorkbook
from fe.workbooks.template import template

#: A file of the largest size in base64, and what is around it.
MAX_BODY = BOUNDS.size * 4 // 3 + 4096
#: Receipts whose faults an answer has.
_SHOWN = 200
_BINARY = (("Content-Type", "application/octet-stream"),)


class ImportHandlers:
    """The handlers of /imports."""

    def __init__(self, db: Database, own: Imports, lists: ConcurrencyLimit[TenantId]) -> None:
        self._db = db
        self._own = own
        self._lists = lists
        self._threads = trio.CapacityLimiter(1)

    async def upload(self, call: Call) -> ApiReply:
        """Store a workbook and begin to validate its receipts."""
        raw, caller = await call.body(), call.identity
        name, content, ignored = await trio.to_thread.run_sync(_read, raw, limiter=self._threads)
        try:
            import_id = await self._own.upload(
                caller.tenant_id, caller.environment, content, name, api_key_id=caller.api_key_id
            )
        except UnreadableWorkbook as refused:
            raise ApiError(refused.status, refused.text) from None
        return await self._shown(call, import_id, 202, ignored)

    async def show(self, call: Call) -> ApiReply:
        """Show an import with its counts and first faults."""
        return await self._shown(call, _import_id(call), 200)

    async def issue(self, call: Call) -> ApiReply:
        """Issue what is valid, or go on with it."""
        import_id = _import_id(call)
        try:
            await self._require_own(call, import_id)
            await self._own.issue(call.identity.tenant_id, import_id)
        except ImportNotReady as not_ready:
            raise ApiError(409, not_ready.text) from None
        return await self._shown(call, import_id, 202)

    async def workbook(self, call: Call) -> ApiReply:
        """Send the file back with errors, state and number beside each row."""
        import_id = _import_id(call)
        found = await self._require_own(call, import_id)
        try:
            content, _, ending = await self._own.report(call.identity.tenant_id, import_id, call.language)
        except UnreadableWorkbook as refused:
            raise ApiError(refused.status, refused.text) from None
        return ApiReply(200, content, (*_BINARY, _named(f"{found.import_id}.{ending}")))

    async def template(self, call: Call) -> ApiReply:
        """Send the template of a type, in the language of the call."""
        prefix = read_prefix(call)
        of = next(one for one in EcfType if one.prefix == prefix)
        made = await trio.to_thread.run_sync(partial(template, of, call.language), limiter=self._threads)
        return ApiReply(200, made, (("Content-Type", XLSX), _named(f"{prefix}.xlsx")))

    async def _require_own(self, call: Call, import_id: UUID) -> ImportRecord:
        """Find an import of the caller's environment. Raises ApiError (404)."""
        try:
            found = await self._own.find(call.identity.tenant_id, import_id)
        except NoSuchImport:
            raise ApiError(404, say("no-import")) from None
        if found.environment is not call.identity.environment:
            raise ApiError(404, say("no-import"))
        return found

    async def _shown(self, call: Call, import_id: UUID, status: int, ignored: tuple[Problem, ...] = ()) -> ApiReply:
        tenant_id = call.identity.tenant_id
        async with self._lists.turn(tenant_id):
            found = await self._require_own(call, import_id)
            bad = await self._db.run_for(
                tenant_id, imports.receipts_of, import_id, (ImportOutcome.FAULTY, ImportOutcome.FAILED), _SHOWN
            )
        faults = [fault for one in bad for fault in one.faults][:_SHOWN]
        answer = _serialize(found, [_fault(*fault, language=call.language) for fault in faults], call.language)
        if ignored:
            answer["warnings"] = serialize_problems(ignored, call.language)
        return ApiReply(status, IMPORT.write(answer))


def _read(raw: bytes) -> tuple[str, bytes, tuple[Problem, ...]]:
    body = check(ImportRequest, parse_json(raw, max_bytes=MAX_BODY))
    try:
        return body.name, base64.b64decode(body.content, validate=True), body.ignored
    except (binascii.Error, ValueError):
        raise ApiError(400, must_be("content", Text("a file in base64", "un archivo en base64"))) from None


def _import_id(call: Call) -> UUID:
    found = read_id(call.params["import_id"])
    if found is None:
        raise ApiError(404, say("no-import"))
    return found


def _named(name: str) -> tuple[str, str]:
    return ("Content-Disposition", f'attachment; filename="{name}"')


def _fault(row: int, column: str | None, en: str, es: str, *, language: Language) -> ImportFault:
    heading = None if column is None else COLUMNS[column].heading.said(language)
    return {"row": row, "column": column, "heading": heading, "message": Text(en, es).said(language), "messageEs": es}


def _serialize(found: ImportRecord, faults: list[ImportFault], language: Language) -> ImportAnswer:
    return {
        "importId": str(found.import_id),
        "environment": found.environment.value,
        "name": found.name,
        "state": found.state.value,
        "createdAt": iso(found.created_at),
        "receipts": found.receipts,
        "waiting": found.count(None),
        "valid": found.count(ImportOutcome.VALID),
        "faulty": found.count(ImportOutcome.FAULTY),
        "issued": found.count(ImportOutcome.ISSUED),
        "issuedBefore": found.count(ImportOutcome.BEFORE),
        "failed": found.count(ImportOutcome.FAILED),
        "types": [
            {"prefix": prefix, "receipts": receipts, "montoTotal": Decimal(total)}
            for prefix, receipts, total in found.types
        ],
        "montoTotal": sum((Decimal(total) for _, _, total in found.types), Decimal("0.00")),
        "notes": [Text(*note).said(language) for note in found.notes],
        "faults": faults,
    }
