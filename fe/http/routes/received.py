"""Received documents over HTTP: what suppliers sent to the tenant, and the very bytes of it."""

from operator import attrgetter

from fe.clock import iso
from fe.ecf.ids import read_id
from fe.http.calls import ApiReply, Call
from fe.http.models.approvals import ApprovalAtAuthority, ReceivedApproval
from fe.http.models.delivery import serialize_handing
from fe.http.models.responses import (
    NOT_FOUND,
    RECEIVED,
    RECEIVED_PAGE,
    RECEIVED_STRETCH,
    RECEIVED_XML,
    ReceivedItem,
    ReceivedXml,
)
from fe.http.paging import list_reply, read_page
from fe.http.parameters import read_received_query
from fe.identifiers import TenantId
from fe.lifecycle import FINAL, Status
from fe.limits import ConcurrencyLimit
from fe.store.postgres.db import Database
from fe.store.records import approvals, received
from fe.store.records.approvals import Word
from fe.store.records.received import ReceivedRecord


class ReceivedHandlers:
    """The handlers of /received."""

    def __init__(self, db: Database, lists: ConcurrencyLimit[TenantId]) -> None:
        self._db = db
        self._lists = lists

    async def listed(self, call: Call) -> ApiReply:
        """List what was received, newest first: one page and how many there are, or what follows a cursor."""
        query = read_received_query(call.query())
        tenant_id = call.identity.tenant_id
        records, total = await read_page(self._db, self._lists, tenant_id, query, received.listed, received.count)
        return list_reply(query, records, total, _serialize, attrgetter("received_id"), RECEIVED_PAGE, RECEIVED_STRETCH)

    async def show(self, call: Call) -> ApiReply:
        """Show one; what matches nothing is 200 {found: false}."""
        record = await self._find(call)
        if record is None:
            return _not_found()
        answer = _serialize(record)
        word = await self._db.run_for(call.identity.tenant_id, approvals.word_on, record.received_id)
        if word is not None:
            answer["approval"] = _serialize_word(word)
        return ApiReply(200, RECEIVED.write(answer))

    async def xml(self, call: Call) -> ApiReply:
        """Show the document as the supplier sent it, and the acknowledgement as it was given."""
        record = await self._find(call)
        if record is None:
            return _not_found()
        document, said = await self._db.run_for(call.identity.tenant_id, received.documents, record.received_id)
        answer: ReceivedXml = {
            "id": str(record.received_id),
            "environment": record.environment,
            "xml": document.decode(),
            "acknowledgement": said.decode(),
        }
        return ApiReply(200, RECEIVED_XML.write(answer))

    async def _find(self, call: Call) -> ReceivedRecord | None:
        wanted = read_id(call.params["received_id"])
        return None if wanted is None else await self._db.run_for(call.identity.tenant_id, received.one, wanted)


def _not_found() -> ApiReply:
    return ApiReply(200, NOT_FOUND.write({"found": False}))


def _serialize(record: ReceivedRecord) -> ReceivedItem:
    return {
        "id": str(record.received_id),
        "environment": record.environment,
        "encf": record.e_ncf,
        "tipoEcf": f"E{record.ecf_type}",
        "rncEmisor": record.issuer_rnc,
        "razonSocialEmisor": record.issuer_name,
        "rncComprador": record.buyer_rnc,
        "montoTotal": record.total,
        "fechaEmision": record.issued_on.isoformat(),
        "approvalStatus": record.approval_status,
        "receivedAt": iso(record.received_at),
    }


def _serialize_word(word: Word) -> ReceivedApproval:
    answer: ReceivedApproval = {
        "decision": "approved" if word.approved else "rejected",
        "taxLogId": str(word.submission_id),
        "decidedAt": iso(word.decided_at),
        "authority": _at_the_authority(word),
    }
    if word.reason is not None:
        answer["reason"] = word.reason
    if word.delivery_state is not None and word.delivery_at is not None:
        answer["issuer"] = serialize_handing(word.delivery_state, word.delivery_reason, word.delivery_at)
    elif word.status not in FINAL:
        answer["issuer"] = {"state": "waiting"}
    return answer


def _at_the_authority(word: Word) -> ApprovalAtAuthority:
    answer: ApprovalAtAuthority = {"status": word.status, "at": iso(word.status_at)}
    if word.status in (Status.REJECTED, Status.ERROR) and word.response:
        said = [message.get("valor") for message in word.response.get("mensajes", ())]
        message = next(filter(None, said), None) or word.response.get("error")
        if message:
            answer["message"] = str(message)
    return answer
