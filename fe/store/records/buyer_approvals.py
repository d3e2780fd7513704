"""Buyers' approvals: what a buyer said of a receipt that a tenant issued."""

from dataclasses import dataclass
from datetime import datetime

from fe.ecf.catalogue import Environment
from fe.identifiers import SubmissionId, TenantId
from fe.store.postgres.db import Conn

# Only what is accepted is looked at: of a number that is handed in over and over the others may be any number.
_ACCEPTED = """
    SELECT s.submission_id
      FROM submissions AS s
     WHERE s.tenant_id = %(tenant)s AND s.e_ncf = %(e_ncf)s AND s.environment = %(environment)s
       AND s.issuer_rnc = %(issuer_rnc)s AND s.buyer_rnc = %(buyer_rnc)s AND s.root IN ('ECF', 'RFCE')
       AND s.status IN ('Aceptado', 'Aceptado Condicional')
     ORDER BY s.submission_id DESC
     LIMIT 1
"""


async def accepted(
    conn: Conn, tenant_id: TenantId, environment: Environment, issuer_rnc: str, e_ncf: str, buyer_rnc: str
) -> SubmissionId | None:
    """Find the accepted receipt of a number that a buyer's approval is about; None where that buyer has none."""
    values = {"tenant": tenant_id, "environment": environment, "issuer_rnc": issuer_rnc, "e_ncf": e_ncf}
    cursor = await conn.execute(_ACCEPTED, {**values, "buyer_rnc": buyer_rnc})
    row = await cursor.fetchone()
    return None if row is None else SubmissionId(row[0])


@dataclass(frozen=True, slots=True)
class Approval:
    """The buyer's word on a receipt: whether they agree, and if not, why."""

    approved: bool
    reason: str | None


_KEEP = """
    SELECT keep_approval(%(tenant)s, %(submission)s, %(approved)s, %(reason)s, %(signer)s, %(presenter)s,
                         %(document)b, %(at)s)
"""


async def keep(
    conn: Conn,
    tenant_id: TenantId,
    submission_id: SubmissionId,
    approval: Approval,
    *,
    signer: str | None,
    presenter: str | None,
    document: bytes,
    at: datetime,
) -> bool:
    """Keep the buyer's word; False when it contradicts what was said before, which stays."""
    cursor = await conn.execute(
        _KEEP,
        {
            "tenant": tenant_id,
            "submission": submission_id,
            "approved": approval.approved,
            "reason": approval.reason,
            "signer": signer,
            "presenter": presenter,
            "document": document,
            "at": at,
        },
    )
    return await cursor.fetchone() == (True,)
