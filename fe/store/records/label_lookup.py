"""Label lookup for operators: find a submission by any of its names, over all tenants."""

from dataclasses import dataclass

from fe.ecf.catalogue import Environment
from fe.ecf.ids import read_id
from fe.identifiers import SubmissionId, TenantId
from fe.lifecycle import Status
from fe.store.postgres.db import Conn
from fe.store.postgres.engine import engine_of
from fe.store.postgres.rows import record_row


@dataclass(frozen=True, slots=True)
class NamedSubmission:
    """A submission found by one of its names."""

    tenant_id: TenantId
    tenant: str
    subject: SubmissionId
    environment: Environment
    status: Status


# Tenant by tenant, so that each is looked up by its indexes. The first kind of name with a result wins: no submission
# can be found under the id of another.
_NAMED = """
    WITH found AS (
        SELECT t.tenant_id, t.name AS tenant, s.kind, s.subject, s.environment, s.status
          FROM tenants AS t
         CROSS JOIN LATERAL (
                SELECT 1 AS kind, a.submission_id AS subject, a.environment, a.status
                  FROM submissions AS a
                 WHERE a.tenant_id = t.tenant_id AND a.submission_id = %(submission)s
                 UNION ALL
                SELECT 2, b.submission_id, b.environment, b.status
                  FROM submissions AS b
                 WHERE b.tenant_id = t.tenant_id AND b.track_id = ANY (%(spellings)s)
                 UNION ALL
                SELECT 3, c.submission_id, c.environment, c.status
                  FROM submissions AS c
                 WHERE c.tenant_id = t.tenant_id AND c.e_ncf = %(name)s
                 UNION ALL
                SELECT 4, d.submission_id, d.environment, d.status
                  FROM client_requests AS r
                  JOIN submissions AS d ON d.tenant_id = r.tenant_id AND d.submission_id = r.submission_id
                 WHERE r.tenant_id = t.tenant_id AND r.environment = ANY (%(environments)s)
                   AND r.client_request_id = %(name)s
         ) AS s
    )
    SELECT f.tenant_id, f.tenant, f.subject, f.environment, f.status
      FROM found AS f
     WHERE f.kind = (SELECT min(g.kind) FROM found AS g)
     ORDER BY f.subject DESC
     LIMIT 20
"""


# The same where submissions are spread over nodes and tenants are not: the tenants go there, and what is found is
# said of each kind by itself, because nothing is looked up there row by row of a table that they have not.
_NAMED_ON_NODES = """
    WITH whose AS MATERIALIZED (
        SELECT t.tenant_id, t.name FROM tenants AS t
    ), found AS MATERIALIZED (
        SELECT t.tenant_id, t.name AS tenant, 1 AS kind, a.submission_id AS subject, a.environment, a.status
          FROM whose AS t
          JOIN submissions AS a ON a.tenant_id = t.tenant_id
         WHERE a.submission_id = %(submission)s
         UNION ALL
        SELECT t.tenant_id, t.name, 2, b.submission_id, b.environment, b.status
          FROM whose AS t
          JOIN submissions AS b ON b.tenant_id = t.tenant_id
         WHERE b.track_id = ANY (%(spellings)s)
         UNION ALL
        SELECT t.tenant_id, t.name, 3, c.submission_id, c.environment, c.status
          FROM whose AS t
          JOIN submissions AS c ON c.tenant_id = t.tenant_id
         WHERE c.e_ncf = %(name)s
         UNION ALL
        SELECT t.tenant_id, t.name, 4, d.submission_id, d.environment, d.status
          FROM whose AS t
          JOIN client_requests AS r ON r.tenant_id = t.tenant_id
          JOIN submissions AS d ON d.tenant_id = r.tenant_id AND d.submission_id = r.submission_id
         WHERE r.environment = ANY (%(environments)s) AND r.client_request_id = %(name)s
    )
    SELECT f.tenant_id, f.tenant, f.subject, f.environment, f.status
      FROM found AS f
     WHERE f.kind = (SELECT min(g.kind) FROM found AS g)
     ORDER BY f.subject DESC
     LIMIT 20
"""


async def named(conn: Conn, name: str) -> list[NamedSubmission]:
    """Find the submissions, whosever they are, that go by a taxLogId, a trackId, an e-NCF or a clientRequestId.

    The newest first, at most 20.
    """
    cursor = conn.cursor(row_factory=record_row(NamedSubmission))
    submission = read_id(name)
    values = {"submission": submission, "spellings": [name, name.upper()], "name": name}
    statement = _NAMED_ON_NODES if "submissions" in engine_of(conn).distributed else _NAMED
    await cursor.execute(statement, {**values, "environments": list(Environment)})
    return await cursor.fetchall()
