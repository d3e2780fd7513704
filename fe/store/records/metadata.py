"""Metadata: a client's own labels of a submission, kept beside it (sql/migrations/0103)."""

from collections.abc import Mapping, Sequence

from fe.ecf.json_text import write_json
from fe.identifiers import SubmissionId, TenantId
from fe.store.postgres.arrays import int8s, texts, uuids
from fe.store.postgres.db import Conn

#: The labels of a submission `s`; NULL where it has none.
OF_SUBMISSION = """(SELECT m.metadata
              FROM submission_metadata AS m
             WHERE m.tenant_id = %(tenant)s AND m.submission_id = s.submission_id) AS metadata"""

#: Whether a submission `s` has a label with a value.
HAS_LABEL = """coalesce((SELECT m.metadata ->> %(label)s = %(labelled)s
                         FROM submission_metadata AS m
                        WHERE m.tenant_id = %(tenant)s AND m.submission_id = s.submission_id), false)"""

_KEEP = "SELECT keep_metadata(%(tenants)b::bigint[], %(submissions)b::uuid[], %(metadata)b::text[]::jsonb[])"


async def keep(conn: Conn, labelled: Sequence[tuple[TenantId, SubmissionId, Mapping[str, str]]]) -> None:
    """Keep the labels of submissions, in the transaction that accepts them."""
    await conn.execute(
        _KEEP,
        {
            "tenants": int8s([tenant_id for tenant_id, *_ in labelled]),
            "submissions": uuids([submission_id for _, submission_id, _ in labelled]),
            "metadata": texts([write_json(metadata).decode() for *_, metadata in labelled]),
        },
    )
