"""Requested outcomes of a simulated authority, stored beside submissions (sql/migrations/0003)."""

from collections.abc import Sequence

from fe.identifiers import SubmissionId, TenantId
from fe.requested_outcome import AskedOutcome, Simulation
from fe.store.postgres.arrays import int4s, int8s, texts, uuids
from fe.store.postgres.db import Conn
from fe.store.queue.outbox import Work

# Each row's tenant is named to row-level security by what becomes its tenant_id, as in accept_submissions.
_KEEP = """
    INSERT INTO simulations (tenant_id, submission_id, environment, outcome, code, seconds)
    SELECT name_tenant(x.tenant), x.submission, x.environment, x.outcome, x.code,
           x.seconds
      FROM unnest(%(tenants)b::bigint[], %(submissions)b::uuid[], %(environments)b::text[], %(outcomes)b::text[],
                  %(codes)b::int[], %(seconds)b::int[])
           AS x (tenant, submission, environment, outcome, code, seconds)
"""


async def keep(conn: Conn, asked: Sequence[tuple[TenantId, SubmissionId, str, Simulation]]) -> None:
    """Keep what was asked, by tenant, submission and environment; in the transaction that takes the submissions in.

    The database refuses it of production.
    """
    await conn.execute(
        _KEEP,
        {
            "tenants": int8s([tenant_id for tenant_id, *_ in asked]),
            "submissions": uuids([submission_id for _, submission_id, *_ in asked]),
            "environments": texts([environment for *_, environment, _ in asked]),
            "outcomes": texts([simulation.outcome for *_, simulation in asked]),
            "codes": int4s([simulation.code for *_, simulation in asked]),
            "seconds": int4s([simulation.seconds for *_, simulation in asked]),
        },
    )


_ASKED_OF = """
    SELECT z.outcome, z.code, z.seconds
      FROM simulations AS z
     WHERE z.tenant_id = %(tenant)s AND z.submission_id = %(submission)s AND z.environment = %(environment)s
"""


async def asked_of(conn: Conn, work: Work) -> Simulation | None:
    """Read what was asked of this submission in the environment that the work is of; in production there is nothing."""
    cursor = await conn.execute(
        _ASKED_OF, {"tenant": work.tenant_id, "submission": work.subject, "environment": work.environment}
    )
    row = await cursor.fetchone()
    return None if row is None else Simulation(AskedOutcome(row[0]), row[1], row[2])
