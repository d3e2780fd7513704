"""Many printed receipts at once: a ZIP of PDF and signed XML for each, sent while it is made.

One receipt is in memory at a time; a tenant has two archives at once. A PDF is made in the pool of prints, where a
tenant has one process at a time. A receipt that cannot be printed, or that a limit leaves out, is in the manifest with
its error.
"""

import io
import json
import zipfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from operator import attrgetter
from typing import Any, Protocol
from uuid import UUID

import structlog
import trio

from fe.ecf.ids import read_id
from fe.http.calls import ApiReply, Call
from fe.http.errors import ApiError
from fe.http.languages import Language
from fe.http.messages import must_be, say
from fe.http.models.printing import PrintManyRequest
from fe.http.paging import read_in_turn
from fe.http.parameters import ListQuery, read_history_query, read_received_query
from fe.http.request_bodies import read_body
from fe.identifiers import SubmissionId, TenantId
from fe.limits import ConcurrencyLimit
from fe.monitoring.metrics import Metrics
from fe.store.postgres.db import Conn, Database
from fe.store.records import history, received, submissions
from fe.store.records.received import ReceivedFilter, ReceivedRecord
from fe.store.records.submissions import Record

_log = structlog.get_logger(__name__)

#: Most receipts, bytes and seconds of one archive.
MAX_RECEIPTS = 1000
MAX_ARCHIVE_BYTES = 256 * 1024 * 1024
MAX_SECONDS = 600.0
#: Archives of one tenant at once; more get 429.
ARCHIVES_AT_ONCE = 2
_FEW = 5

#: An issued receipt, or a received one.
Receipt = Record | ReceivedRecord
#: Prints a receipt from its XML; raises ApiError.
Printer = Callable[[Receipt, bytes], Awaitable[bytes]]


class PrinterFor(Protocol):
    """Makes the printer of a call. Raises ApiError for an option that is out of range."""

    async def __call__(self, call: Call) -> Printer:
        """Read the options of the call."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """How receipts are chosen and read: the issued ones, or the received ones."""

    filters: Sequence[str]
    read_query: Callable[[Mapping[str, str]], ListQuery[Any]]
    newest: Callable[..., Awaitable[Sequence[Receipt]]]
    of_ids: Callable[..., Awaitable[Sequence[Receipt]]]
    id_of: Callable[[Any], UUID]
    #: Its line of the manifest, before it is printed.
    line: Callable[[Any], dict[str, Any]]
    xml: Callable[[Conn, TenantId, UUID], Awaitable[bytes]]


async def _issued_xml(conn: Conn, tenant_id: TenantId, submission_id: UUID) -> bytes:
    kind, xml = await submissions.xml(conn, tenant_id, SubmissionId(submission_id))
    if kind != "signed":
        raise ApiError(409, say("not-signed-yet"))
    return xml


async def _received_xml(conn: Conn, tenant_id: TenantId, received_id: UUID) -> bytes:
    xml, _ = await received.documents(conn, tenant_id, received_id)
    return xml


async def _newest_received(
    conn: Conn, tenant_id: TenantId, chosen: ReceivedFilter, *, limit: int
) -> Sequence[ReceivedRecord]:
    return await received.listed(conn, tenant_id, chosen, limit=limit)


def _issued_line(record: Record) -> dict[str, Any]:
    return {"taxLogId": str(record.submission_id), "eNCF": record.e_ncf, "status": record.status}


def _received_line(record: ReceivedRecord) -> dict[str, Any]:
    return {"id": str(record.received_id), "eNCF": record.e_ncf, "rncEmisor": record.issuer_rnc}


_CONTENT = ("tipoEcf", "issuedFrom", "issuedTo", "totalFrom", "totalTo", "text")
ISSUED = _Kind(
    ("from", "to", "state", "encf", "rnc", "clientRequestId", "asUser", *_CONTENT),
    read_history_query,
    history.newest,
    history.of_ids,
    attrgetter("submission_id"),
    _issued_line,
    _issued_xml,
)
RECEIVED = _Kind(
    ("from", "to", "encf", "rnc", "approvalStatus", *_CONTENT),
    read_received_query,
    _newest_received,
    received.of_ids,
    attrgetter("received_id"),
    _received_line,
    _received_xml,
)


class PrintArchives:
    """The handlers of POST /invoices/pdf and /received/pdf."""

    def __init__(
        self,
        db: Database,
        lists: ConcurrencyLimit[TenantId],
        printer_for: PrinterFor,
        metrics: Metrics,
        *,
        most_bytes: int = MAX_ARCHIVE_BYTES,
        seconds: float = MAX_SECONDS,
    ) -> None:
        self._db = db
        self._lists = lists
        self._printer_for = printer_for
        self._archives: ConcurrencyLimit[TenantId] = ConcurrencyLimit("tenant_archives", metrics, each=ARCHIVES_AT_ONCE)
        self._most_bytes = most_bytes
        self._seconds = seconds

    async def issued(self, call: Call) -> ApiReply:
        """Send the receipts that the body names by their ids, or that the query chooses."""
        return await self._send(call, ISSUED)

    async def received(self, call: Call) -> ApiReply:
        """Send received receipts, chosen in the same way."""
        return await self._send(call, RECEIVED)

    async def _send(self, call: Call, kind: _Kind) -> ApiReply:
        printer = await self._printer_for(call)
        records = await self._chosen(call, kind)
        call.until_sent.enter_context(self._archives.held(call.identity.tenant_id))
        named = ("Content-Disposition", 'attachment; filename="e-CF.zip"')
        stream = self._written(call.identity.tenant_id, kind, records, printer, call.language)
        return ApiReply(200, b"", (("Content-Type", "application/zip"), named), stream)

    async def _chosen(self, call: Call, kind: _Kind) -> Sequence[Receipt]:
        raw = await call.body() if call.headers.get("content-length") != "0" else b""
        ids = read_body(PrintManyRequest, raw).ids if raw else None
        query, tenant_id = call.query(), call.identity.tenant_id
        given = {name: query[name] for name in kind.filters if name in query}
        if (ids is None) == (not given):
            raise ApiError(400, say("ids-or-filter"))
        if ids is None:
            chosen = kind.read_query(given).chosen
            records = await read_in_turn(self._db, self._lists, tenant_id, kind.newest, chosen, limit=MAX_RECEIPTS + 1)
            if not records:
                raise ApiError(404, say("no-receipt-chosen"))
            if len(records) > MAX_RECEIPTS:
                raise ApiError(400, say("too-many-chosen", limit=MAX_RECEIPTS))
            return records
        if not 1 <= len(ids) <= MAX_RECEIPTS:
            raise ApiError(400, must_be("ids", say("so-many-ids", limit=MAX_RECEIPTS)))
        wanted = {text: read_id(text) for text in ids}
        found = await self._db.run_for(tenant_id, kind.of_ids, [one for one in wanted.values() if one is not None])
        by_id = {kind.id_of(record): record for record in found}
        if missing := [text[:64] for text, one in wanted.items() if one not in by_id]:
            raise ApiError(404, say("no-receipts", ids=", ".join(missing[:_FEW]), number=len(missing)))
        return [by_id[one] for one in wanted.values() if one is not None]

    async def _written(
        self, tenant_id: TenantId, kind: _Kind, records: Sequence[Receipt], printer: Printer, language: Language
    ) -> AsyncGenerator[bytes, None]:
        sink, manifest = _Sink(), []
        sent, until = 0, trio.current_time() + self._seconds
        with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
            for record in records:
                line = kind.line(record)
                manifest.append(line)
                try:
                    if sent >= self._most_bytes or trio.current_time() >= until:
                        raise ApiError(409, say("archive-full"))
                    xml = await self._db.run_for(tenant_id, kind.xml, kind.id_of(record))
                    made = await printer(record, xml)
                except ApiError as error:
                    line["error"] = error.message.said(language)
                    continue
                except Exception as error:  # whatever it is, the manifest names the receipt and the others follow
                    _log.warning(
                        "a receipt of an archive was not printed", receipt=str(kind.id_of(record)), error=error
                    )
                    line["error"] = say("print-failed").said(language)
                    continue
                for suffix, content in (("pdf", made), ("xml", xml)):
                    name = f"{record.e_ncf or 'e-CF'}-{kind.id_of(record)}.{suffix}"
                    line[suffix] = name
                    line[f"{suffix}Sha256"] = sha256(content).hexdigest()
                    await trio.to_thread.run_sync(archive.writestr, name, content)
                    if written := sink.taken():
                        sent += len(written)
                        yield written
            archive.writestr("manifest.json", json.dumps({"receipts": manifest}, ensure_ascii=False, indent=1))
        yield sink.taken()


class _Sink(io.RawIOBase):
    """A file that cannot be sought: takes what is written until it is taken out."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, data: Any) -> int:
        """Keep a part."""
        self._parts.append(bytes(data))
        return len(data)

    def taken(self) -> bytes:
        """Take out what was written."""
        parts, self._parts = self._parts, []
        return b"".join(parts)
