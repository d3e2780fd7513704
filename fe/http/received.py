"""Received documents over HTTP: what suppliers sent to the tenant, and the very bytes of it."""

from typing import Any
from uuid import UUID

from fe.http.calls import ApiReply, Call
from fe.http.parameters import iso, read_received_query, read_uuid
from fe.store import received
from fe.store.postgres.db import Database
from fe.store.received import ReceivedRecord

_NOT_FOUND = {"found": False}


class ReceivedHandlers:
    """The handlers of /received."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def listed(self, call: Call) -> ApiReply:
        """List what was received, newest first: one page and how many there are, or what follows a cursor."""
        query = read_received_query(call.query())
        tenant_id = call.identity.tenant_id
        fields: dict[str, Any] = {"limit": query.limit}
        offset = 0
        if query.cursor is None:
            offset = (query.page - 1) * query.limit
            total = await self._db.run_for(tenant_id, received.count, query.chosen)
            fields = {"page": query.page, "limit": query.limit, "total": total}
        records: list[ReceivedRecord] = []
        if query.cursor is not None or offset < fields["total"]:
            records = await self._db.run_for(
                tenant_id, received.listed, query.chosen, limit=query.limit, offset=offset, below=query.cursor
            )
        fields["items"] = [_serialize(record) for record in records]
        fields["nextCursor"] = str(records[-1].received_id) if len(records) == query.limit else None
        return ApiReply(200, fields)

    async def show(self, call: Call) -> ApiReply:
        """Show one; what matches nothing is 200 {found: false}."""
        record = await self._find(call)
        return ApiReply(200, _NOT_FOUND if record is None else _serialize(record))

    async def xml(self, call: Call) -> ApiReply:
        """Show the document as the supplier sent it, and the acknowledgement as it was given."""
        record = await self._find(call)
        if record is None:
            return ApiReply(200, _NOT_FOUND)
        document, said = await self._db.run_for(call.identity.tenant_id, received.documents, record.received_id)
        return ApiReply(
            200,
            {
                "id": str(record.received_id),
                "environment": record.environment,
                "xml": document.decode(),
                "acknowledgement": said.decode(),
            },
        )

    async def _find(self, call: Call) -> ReceivedRecord | None:
        wanted: UUID | None = read_uuid(call.params["received_id"])
        return None if wanted is None else await self._db.run_for(call.identity.tenant_id, received.one, wanted)


def _serialize(record: ReceivedRecord) -> dict[str, Any]:
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
