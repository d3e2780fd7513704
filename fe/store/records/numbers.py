"""Owners of fiscal numbers: each belongs to one submission of its issuer, until its fate is `reusable`.

The key of `held_numbers` decides, when a submission is signed (hold_number_batch.sql). Reads here only warn earlier:
at acceptance, and in the signer.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from psycopg.rows import class_row, scalar_row

from fe.ecf.catalogue import Environment
from fe.ecf.ids import LAST_ID, first_id, moment_of
from fe.identifiers import SubmissionId, TenantId
from fe.lifecycle import Status
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row
from fe.store.queue.inputs import Holder as Holder
from fe.store.queue.outbox import Work

# Held, or on its way to be signed. The second is no more than fairness: who came first is served first. So it looks no
# further back than anything waits to be signed, and into few months.
_HOLDERS = """
    SELECT n.submission_id, n.issuer_rnc
      FROM asked
      JOIN held_numbers AS n
        ON n.tenant_id = %(tenant)s AND n.environment = asked.environment AND n.e_ncf = asked.e_ncf
       AND n.submission_id <> %(before)s
      JOIN submissions AS s
        ON s.tenant_id = %(tenant)s AND s.submission_id = n.submission_id AND s.number_fate <> 'reusable'
     UNION ALL
    SELECT o.submission_id, o.issuer_rnc
      FROM asked
      JOIN submissions AS o
        ON o.tenant_id = %(tenant)s AND o.environment = asked.environment AND o.e_ncf = asked.e_ncf
       AND o.submission_id >= %(floor)s AND o.submission_id < %(before)s AND o.root IN ('ECF', 'RFCE')
       AND o.status <> 'error' AND o.number_fate <> 'reusable'
"""

_OF_A_NUMBER = f"""
    WITH asked (environment, e_ncf) AS (SELECT %(environment)s::text, %(e_ncf)s::text)
    {_HOLDERS}
"""

_OF_A_SUBMISSION = f"""
    WITH asked (environment, e_ncf) AS (
        SELECT m.environment, m.e_ncf
          FROM submissions AS m
         WHERE m.tenant_id = %(tenant)s AND m.submission_id = %(submission)s AND m.root IN ('ECF', 'RFCE')
         LIMIT 1)
    {_HOLDERS}
"""

# One that is a note itself counts only if it came before: else two that name each other would wait for ever.
_UNDECIDED = """
    SELECT o.submission_id
      FROM submissions AS o
     WHERE o.tenant_id = %(tenant)s AND o.environment = %(environment)s AND o.e_ncf = %(e_ncf)s
       AND o.submission_id >= %(floor)s AND o.root IN ('ECF', 'RFCE') AND o.status IN ('queued', 'En Proceso')
       AND (o.issuer_rnc IS NULL OR o.issuer_rnc = %(issuer)s)
       AND (o.submission_id < %(subject)s OR o.ecf_type IS NULL OR o.ecf_type NOT IN ('33', '34'))
       AND o.submission_id <> %(subject)s
     ORDER BY o.submission_id
     LIMIT 1
"""

# A statement of its own: on Citus these tables are not on one node.
_COUNTED = """
    SELECT EXISTS (SELECT 1
                     FROM certification_cases AS c
                    WHERE c.tenant_id = %(tenant)s AND c.submission_id = %(submission)s AND c.is_confirmed)
"""

# The holder of a number says whether it was accepted; without one, the last that was handed in says why not. The credit
# notes on it are found by their text, among the latest that were issued after it.
_ISSUED = """
    WITH issued AS (
        SELECT s.submission_id, s.status, s.issuer_rnc
          FROM held_numbers AS n
          JOIN submissions AS s ON s.tenant_id = %(tenant)s AND s.submission_id = n.submission_id
         WHERE n.tenant_id = %(tenant)s AND n.environment = %(environment)s AND n.e_ncf = %(e_ncf)s
         UNION ALL
        (SELECT o.submission_id, o.status, o.issuer_rnc
           FROM submissions AS o
          WHERE o.tenant_id = %(tenant)s AND o.environment = %(environment)s AND o.e_ncf = %(e_ncf)s
            AND o.root IN ('ECF', 'RFCE')
          ORDER BY o.submission_id DESC
          LIMIT 1)
    ), notes AS (
        SELECT c.submission_id, c.status, c.issuer_rnc
          FROM submissions AS c
         WHERE c.tenant_id = %(tenant)s AND c.environment = %(environment)s AND c.ecf_type = '34'
           AND c.submission_id > (SELECT i.submission_id FROM issued AS i ORDER BY i.submission_id LIMIT 1)
           AND c.status NOT IN ('Rechazado', 'error')
         ORDER BY c.submission_id DESC
         LIMIT %(notes)s
    )
    SELECT false AS is_note, i.submission_id, i.status, i.issuer_rnc, d.content AS signed
      FROM issued AS i
      LEFT JOIN submission_documents AS d
        ON d.tenant_id = %(tenant)s AND d.submission_id = i.submission_id AND d.kind = 'signed'
     UNION ALL
    SELECT true, n.submission_id, n.status, n.issuer_rnc, d.content
      FROM notes AS n
      JOIN submission_documents AS d
        ON d.tenant_id = %(tenant)s AND d.submission_id = n.submission_id AND d.kind = 'signed'
     WHERE position(%(refers)s IN d.content) > 0
"""

# The signer fills in a note from it: only the receipt itself.
_SIGNED = """
    SELECT d.content
      FROM submissions AS s
      JOIN submission_documents AS d
        ON d.tenant_id = %(tenant)s AND d.submission_id = s.submission_id AND d.kind = 'signed'
     WHERE s.tenant_id = %(tenant)s AND s.environment = %(environment)s AND s.e_ncf = %(e_ncf)s
       AND s.root IN ('ECF', 'RFCE')
     ORDER BY s.number_fate = 'reusable', s.submission_id DESC
     LIMIT 1
"""

#: How many of the latest credit notes are searched for those on one receipt.
_NOTES_SEARCHED = 2000

#: As long as anything waits to be signed.
_WAITS = timedelta(days=40)


async def holders_before(conn: Conn, work: Work) -> tuple[Holder, ...]:
    """Return earlier submissions with its number, of any issuer."""
    values = {
        "tenant": work.tenant_id,
        "submission": work.subject,
        "floor": first_id(moment_of(work.subject) - _WAITS),
        "before": work.subject,
    }
    cursor = conn.cursor(row_factory=class_row(Holder))
    await cursor.execute(_OF_A_SUBMISSION, values)
    return tuple(await cursor.fetchall())


async def holders(
    conn: Conn, tenant_id: TenantId, environment: Environment, e_ncf: str, now: datetime
) -> tuple[Holder, ...]:
    """Return the submissions of this tenant that own a number in an environment, of any issuer."""
    values = {
        "tenant": tenant_id,
        "environment": environment,
        "e_ncf": e_ncf,
        "floor": first_id(now - _WAITS),
        "before": LAST_ID,
    }
    cursor = conn.cursor(row_factory=class_row(Holder))
    await cursor.execute(_OF_A_NUMBER, values)
    return tuple(await cursor.fetchall())


@dataclass(frozen=True, slots=True)
class NumberUse:
    """A submission with a number, or a credit note on it, and its status.

    `issuer_rnc` is None where it was not said nor signed.
    """

    submission_id: SubmissionId
    status: Status
    issuer_rnc: str | None
    is_note: bool = False
    #: The signed document, where there is one.
    signed: bytes | None = None


async def issued(conn: Conn, tenant_id: TenantId, environment: Environment, e_ncf: str) -> tuple[NumberUse, ...]:
    """List the submissions of this tenant that have a number in an environment, and the credit notes on it.

    They may have several issuers. Rejected notes do not count, and of the others the latest are searched.
    """
    cursor = conn.cursor(row_factory=record_row(NumberUse))
    refers = f"<NCFModificado>{e_ncf}</NCFModificado>".encode()
    await cursor.execute(
        _ISSUED,
        {
            "tenant": tenant_id,
            "environment": environment,
            "e_ncf": e_ncf,
            "refers": refers,
            "notes": _NOTES_SEARCHED,
        },
    )
    return tuple(await cursor.fetchall())


async def signed_receipt(conn: Conn, work: Work, e_ncf: str) -> bytes | None:
    """Read the signed receipt with a number of this tenant; of several the latest whose number is in use."""
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(_SIGNED, {"tenant": work.tenant_id, "environment": work.environment, "e_ncf": e_ncf})
    return await cursor.fetchone()


async def undecided(conn: Conn, work: Work, e_ncf: str, issuer_rnc: str | None) -> SubmissionId | None:
    """Name the submission by which this issuer's receipt with that number is on its way: it has no verdict yet.

    None where there is no such submission of the tenant in the environment of `work`, where it has ended, or where a
    person saw that the authority's certification counts it.
    """
    values = {
        "tenant": work.tenant_id,
        "environment": work.environment,
        "e_ncf": e_ncf,
        "issuer": issuer_rnc,
        "floor": first_id(moment_of(work.subject) - _WAITS),
        "subject": work.subject,
    }
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(_UNDECIDED, values)
    found: SubmissionId | None = await cursor.fetchone()
    if found is None or work.environment is not Environment.CERTECF:
        return found
    await cursor.execute(_COUNTED, {"tenant": work.tenant_id, "submission": found})
    return None if await cursor.fetchone() else found
