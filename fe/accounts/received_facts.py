"""Amounts by tax, security code and signing time of received receipts: read off the document once, then kept."""

from collections.abc import Sequence
from functools import partial
from uuid import UUID

import trio

from fe.ecf.parse import parse_xml
from fe.ecf.reading import text_at
from fe.ecf.signature.profile import NAMESPACE, security_code
from fe.ecf.tax_amounts import tax_amounts
from fe.identifiers import TenantId
from fe.store.postgres.db import Conn
from fe.store.records import month_sums, received

#: Documents that are not read for a list when they are larger.
_LARGEST = 256 * 1024
_SIGNATURE = f"{{{NAMESPACE}}}Signature/{{{NAMESPACE}}}SignatureValue"


def facts_of(documents: Sequence[bytes]) -> list[dict[str, str]]:
    """Read documents that were verified when they were received: `tax_amounts`, `securityCode` and `signedAt`."""
    return [_facts(document) for document in documents]


def _facts(document: bytes) -> dict[str, str]:
    root = parse_xml(document)
    value = "".join((root.findtext(_SIGNATURE) or "").split())
    signed = (text_at(root, "FechaHoraFirma") or "").strip()
    found = {"securityCode": security_code(value) if value else "", "signedAt": signed}
    return {**tax_amounts(root), **{name: text for name, text in found.items() if text}}


async def complete(conn: Conn, tenant_id: TenantId, ids: Sequence[UUID]) -> dict[UUID, dict[str, str]]:
    """Return the facts of received documents; those that have none yet are read and kept first."""
    known = await received.facts(conn, tenant_id, ids)
    missing = [one for one in ids if one not in known]
    documents = await received.small_documents(conn, tenant_id, missing, _LARGEST) if missing else []
    if documents:
        found = await trio.to_thread.run_sync(partial(facts_of, [content for _, content in documents]))
        new = [(one, facts) for (one, _), facts in zip(documents, found, strict=True)]
        await month_sums.keep_amounts(conn, tenant_id, new)
        known.update(new)
    return known
