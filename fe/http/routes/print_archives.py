"""Many printed receipts at once: those of a list of ids, of a filter, or of a month, as one ZIP."""

from collections.abc import Sequence
from functools import partial
from typing import Protocol

from fe.archiving.documents import ReceiptDocuments
from fe.ecf.ids import read_id
from fe.http.archives import (
    ISSUED,
    MAX_ARCHIVE_BYTES,
    MAX_SECONDS,
    RECEIVED,
    Kind,
    Part,
    Printer,
    Receipt,
    all_of,
    archive_limit,
    of_month,
    written,
)
from fe.http.calls import ApiReply, Call
from fe.http.errors import ApiError
from fe.http.messages import must_be, say
from fe.http.models.printing import PrintManyRequest
from fe.http.paging import read_in_turn
from fe.http.parameters import read_month
from fe.http.request_bodies import read_body
from fe.identifiers import TenantId
from fe.limits import ConcurrencyLimit
from fe.monitoring.metrics import Metrics

#: Most receipts of one archive that is no month's.
MAX_RECEIPTS = 1000
_FEW = 5


class PrinterFor(Protocol):
    """Makes the printer of a call. Raises ApiError for an option that is out of range."""

    async def __call__(self, call: Call) -> Printer:
        """Read the options of the call."""


class PrintArchives:
    """The handlers of POST /invoices/pdf, POST /received/pdf and GET /months/{month}/zip."""

    def __init__(
        self,
        documents: ReceiptDocuments,
        lists: ConcurrencyLimit[TenantId],
        printer_for: PrinterFor,
        metrics: Metrics,
        *,
        most_bytes: int = MAX_ARCHIVE_BYTES,
        seconds: float = MAX_SECONDS,
    ) -> None:
        self._documents = documents
        self._db = documents.db
        self._lists = lists
        self._printer_for = printer_for
        self._archives = archive_limit(metrics)
        self._most_bytes = most_bytes
        self._seconds = seconds

    async def issued(self, call: Call) -> ApiReply:
        """Send the receipts that the body names by their ids, or that the query chooses."""
        return await self._send(call, ISSUED)

    async def received(self, call: Call) -> ApiReply:
        """Send received receipts, chosen in the same way."""
        return await self._send(call, RECEIVED)

    async def _send(self, call: Call, kind: Kind) -> ApiReply:
        printer = await self._printer_for(call)
        records = await self._chosen(call, kind)
        return self._reply(call, [partial(all_of, kind, records)], printer, "e-CF")

    async def month(self, call: Call) -> ApiReply:
        """Send all receipts of a month, issued and received."""
        month, caller = read_month(call.params), call.identity
        printer = await self._printer_for(call)
        read = partial(read_in_turn, self._db, self._lists, caller.tenant_id)
        parts = await of_month(self._db, caller.tenant_id, read, caller.environment, month)
        return self._reply(call, parts, printer, str(month), folders=True)

    def _reply(
        self, call: Call, parts: Sequence[Part], printer: Printer, name: str, *, folders: bool = False
    ) -> ApiReply:
        tenant_id = call.identity.tenant_id
        call.until_sent.enter_context(self._archives.held(tenant_id))
        stream = written(
            self._documents,
            tenant_id,
            parts,
            printer,
            call.language,
            folders=folders,
            most_bytes=self._most_bytes,
            seconds=self._seconds,
        )
        named = ("Content-Disposition", f'attachment; filename="{name}.zip"')
        return ApiReply(200, b"", (("Content-Type", "application/zip"), named), stream)

    async def _chosen(self, call: Call, kind: Kind) -> Sequence[Receipt]:
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
