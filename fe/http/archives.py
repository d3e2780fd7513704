"""A ZIP of PDF and signed XML of many receipts, sent while it is made.

One receipt is in memory at a time; a tenant has two archives at once. A PDF is made in the pool of prints, where a
tenant has one process at a time. A receipt that cannot be printed, or that a limit leaves out, is in the manifest with
its error.
"""

import json
import zipfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from operator import attrgetter
from typing import Any
from uuid import UUID

import structlog
import trio

from fe.accounts import month_book
from fe.archiving.documents import ArchiveAway, ArchiveDiffers, ReceiptDocuments
from fe.archiving.zip_stream import PartsSink
from fe.ecf.catalogue import Environment
from fe.ecf.texts import Language, Text
from fe.http.errors import ApiError, describe
from fe.http.messages import say
from fe.http.parameters import ListQuery, read_history_query, read_received_query
from fe.identifiers import SubmissionId, TenantId
from fe.limits import ConcurrencyLimit
from fe.monitoring.metrics import Metrics
from fe.month.period import YearMonth
from fe.store.postgres.db import Conn, Database
from fe.store.records import history, received
from fe.store.records.received import ReceivedFilter, ReceivedRecord
from fe.store.records.submissions import Record

_log = structlog.get_logger(__name__)

#: Most bytes and seconds of one archive, and most receipts of that of a month.
MAX_ARCHIVE_BYTES = 256 * 1024 * 1024
MAX_SECONDS = 600.0
MAX_OF_MONTH = 5000
#: Archives of one tenant at once; more get 429.
ARCHIVES_AT_ONCE = 2
#: Records of a month that are read together.
_TOGETHER = 200

#: An issued receipt, or a received one.
Receipt = Record | ReceivedRecord
#: Prints a receipt from its XML; raises ApiError.
Printer = Callable[[Receipt, bytes], Awaitable[bytes]]


@dataclass(frozen=True, slots=True)
class Kind:
    """How receipts are chosen and read: the issued ones, or the received ones."""

    folder: Text
    filters: Sequence[str]
    read_query: Callable[[Mapping[str, str]], ListQuery[Any]]
    newest: Callable[..., Awaitable[Sequence[Receipt]]]
    of_ids: Callable[..., Awaitable[Sequence[Receipt]]]
    id_of: Callable[[Any], UUID]
    #: Its line of the manifest, before it is printed.
    line: Callable[[Any], dict[str, Any]]
    xml: Callable[[ReceiptDocuments, TenantId, UUID], Awaitable[bytes]]


async def _issued_xml(documents: ReceiptDocuments, tenant_id: TenantId, submission_id: UUID) -> bytes:
    found = await documents.xml(tenant_id, SubmissionId(submission_id))
    if found.kind != "signed":
        raise ApiError(409, say("not-signed-yet"))
    return found.content


async def _received_xml(documents: ReceiptDocuments, tenant_id: TenantId, received_id: UUID) -> bytes:
    xml, _ = await documents.db.run_for(tenant_id, received.documents, received_id)
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
ISSUED = Kind(
    Text("issued", "emitidos"),
    ("from", "to", "state", "encf", "rnc", "clientRequestId", "asUser", *_CONTENT),
    read_history_query,
    history.newest,
    history.of_ids,
    attrgetter("submission_id"),
    _issued_line,
    _issued_xml,
)
RECEIVED = Kind(
    Text("received", "recibidos"),
    ("from", "to", "encf", "rnc", "approvalStatus", *_CONTENT),
    read_received_query,
    _newest_received,
    received.of_ids,
    attrgetter("received_id"),
    _received_line,
    _received_xml,
)


Chosen = Sequence[tuple[Kind, Receipt]]
#: Reads some of the receipts, when their turn comes.
Part = Callable[[], Awaitable[Chosen]]


def archive_limit(metrics: Metrics) -> ConcurrencyLimit[TenantId]:
    """The limit of archives that a tenant has at once, one per process."""
    return ConcurrencyLimit("tenant_archives", metrics, each=ARCHIVES_AT_ONCE)


async def all_of(kind: Kind, records: Sequence[Receipt]) -> Chosen:
    """Return receipts of one kind as a part."""
    return [(kind, record) for record in records]


async def of_month(
    db: Database, tenant_id: TenantId, read: month_book.Read, environment: Environment, month: YearMonth
) -> list[Part]:
    """Choose the receipts of a month, issued ones first. Raises ApiError where there is none, or too many."""
    issued, is_cut = await month_book.issued_lines(read, environment, month)
    got, is_cut_too = await month_book.received_lines(read, environment, month)
    if not issued and not got:
        raise ApiError(404, say("empty-month"))
    if is_cut or is_cut_too or len(issued) + len(got) > MAX_OF_MONTH:
        raise ApiError(400, say("month-too-large", limit=MAX_OF_MONTH))
    ids = [(ISSUED, [one.submission_id for one in issued]), (RECEIVED, [one.received_id for one in got])]

    return [
        partial(_of_ids, db, tenant_id, kind, wanted[start : start + _TOGETHER])
        for kind, wanted in ids
        for start in range(0, len(wanted), _TOGETHER)
    ]


async def _of_ids(db: Database, tenant_id: TenantId, kind: Kind, wanted: Sequence[UUID]) -> Chosen:
    by_id = {kind.id_of(one): one for one in await db.run_for(tenant_id, kind.of_ids, wanted)}
    return [(kind, by_id[one]) for one in wanted if one in by_id]


async def written(
    documents: ReceiptDocuments,
    tenant_id: TenantId,
    parts: Sequence[Part],
    printer: Printer,
    language: Language,
    *,
    folders: bool = False,
    most_bytes: int = MAX_ARCHIVE_BYTES,
    seconds: float = MAX_SECONDS,
) -> AsyncGenerator[bytes, None]:
    """Write the ZIP, part by part.

    With `folders`, a folder for each kind, and the XML also of receipts that cannot be printed.
    """
    sink, manifest = PartsSink(), []
    sent, until = 0, trio.current_time() + seconds
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for part in parts:
            for kind, record in await part():
                line = kind.line(record)
                manifest.append(line)
                xml = made = None
                try:
                    if sent >= most_bytes or trio.current_time() >= until:
                        raise ApiError(409, say("archive-full"))
                    xml = await kind.xml(documents, tenant_id, kind.id_of(record))
                    made = await printer(record, xml)
                except (ApiError, ArchiveAway, ArchiveDiffers) as error:
                    line["error"] = describe(error).message.said(language)
                except Exception as error:  # whatever it is, the manifest names the receipt and the others follow
                    _log.warning(
                        "a receipt of an archive was not printed", receipt=str(kind.id_of(record)), error=error
                    )
                    line["error"] = say("print-failed").said(language)
                if made is None and not folders:
                    continue
                folder = f"{kind.folder.said(language)}/" if folders else ""
                for suffix, content in (("pdf", made), ("xml", xml)):
                    if content is None:
                        continue
                    name = f"{folder}{record.e_ncf or 'e-CF'}-{kind.id_of(record)}.{suffix}"
                    line[suffix] = name
                    line[f"{suffix}Sha256"] = sha256(content).hexdigest()
                    await trio.to_thread.run_sync(archive.writestr, name, content)
                    if made_bytes := sink.taken():
                        sent += len(made_bytes)
                        yield made_bytes
        archive.writestr("manifest.json", json.dumps({"receipts": manifest}, ensure_ascii=False, indent=1))
    yield sink.taken()
