"""Amounts by tax, security code and signing time of received receipts: read off the document once, then kept."""

from collections.abc import Sequence
from functools import partial
from uuid import UUID

import trio

from fe.ecf.parse import parse_xml
from fe.identifiers import TenantId
from fe.month.received_facts import received_facts
from fe.store.postgres.db import Conn
from fe.store.records import received, received_sums

#: Documents that are not read for a list when they are larger.
_LARGEST = 256 * 1024


def facts_of(documents: Sequence[bytes]) -> list[dict[str, str]]:
    """Read documents that were verified when they were received (fe/month/received_facts.py)."""
    return [received_facts(parse_xml(document)) for document in documents]


async def complete(conn: Conn, tenant_id: TenantId, ids: Sequence[UUID]) -> dict[UUID, dict[str, str]]:
    """Return the facts of received documents; those that have none yet are read and kept first."""
    known = await received.facts(conn, tenant_id, ids)
    missing = [one for one in ids if one not in known]
    documents = await received.small_documents(conn, tenant_id, missing, _LARGEST) if missing else []
    if documents:
        found = await trio.to_thread.run_sync(partial(facts_of, [content for _, content in documents]))
        new = [(one, facts) for (one, _), facts in zip(documents, found, strict=True)]
        await received_sums.keep_amounts(conn, tenant_id, new)
        known.update(new)
    return known
