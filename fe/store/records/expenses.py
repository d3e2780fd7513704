"""Classifications of purchases for the 606, and the documents that it is made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from psycopg.rows import class_row

from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.month.period import YearMonth
from fe.month.purchases import Expense, Itbis
from fe.store.postgres.db import Conn

_OF_SUPPLIERS = """
    SELECT x.supplier, x.kind, x.isr_type, x.payment, x.paid_after, x.itbis
      FROM supplier_expenses AS x
     WHERE x.tenant_id = %(tenant)s AND x.supplier = ANY (%(suppliers)s)
"""
_OF_RECEIPTS = """
    SELECT x.supplier, x.e_ncf, x.kind, x.isr_type, x.payment, x.paid_on, x.itbis
      FROM receipt_expenses AS x
     WHERE x.tenant_id = %(tenant)s AND x.supplier = ANY (%(suppliers)s) AND x.e_ncf = ANY (%(numbers)s)
"""


async def of_suppliers(conn: Conn, tenant_id: TenantId, suppliers: Sequence[str]) -> dict[str, Expense]:
    """Find what is remembered of these suppliers."""
    cursor = await conn.execute(_OF_SUPPLIERS, {"tenant": tenant_id, "suppliers": list(suppliers)})
    return {
        supplier: Expense(kind, isr_type, payment, paid_after, None, Itbis(itbis))
        for supplier, kind, isr_type, payment, paid_after, itbis in await cursor.fetchall()
    }


async def of_receipts(
    conn: Conn, tenant_id: TenantId, suppliers: Sequence[str], numbers: Sequence[str]
) -> dict[tuple[str, str], Expense]:
    """Find what was said of single receipts, by supplier and number."""
    values = {"tenant": tenant_id, "suppliers": list(suppliers), "numbers": list(numbers)}
    cursor = await conn.execute(_OF_RECEIPTS, values)
    return {
        (supplier, e_ncf): Expense(kind, isr_type, payment, None, paid_on, Itbis(itbis))
        for supplier, e_ncf, kind, isr_type, payment, paid_on, itbis in await cursor.fetchall()
    }


_PUT_SUPPLIER = """
    INSERT INTO supplier_expenses (tenant_id, supplier, kind, isr_type, payment, paid_after, itbis, changed_at)
    VALUES (%(tenant)s, %(supplier)s, %(kind)s, %(isr_type)s, %(payment)s, %(paid_after)s, %(itbis)s, %(at)s)
    ON CONFLICT (tenant_id, supplier) DO UPDATE
       SET kind = EXCLUDED.kind, isr_type = EXCLUDED.isr_type, payment = EXCLUDED.payment,
           paid_after = EXCLUDED.paid_after, itbis = EXCLUDED.itbis, changed_at = EXCLUDED.changed_at
"""
_PUT_RECEIPT = """
    INSERT INTO receipt_expenses (tenant_id, supplier, e_ncf, kind, isr_type, payment, paid_on, itbis, changed_at)
    VALUES (%(tenant)s, %(supplier)s, %(e_ncf)s, %(kind)s, %(isr_type)s, %(payment)s, %(paid_on)s, %(itbis)s, %(at)s)
    ON CONFLICT (tenant_id, supplier, e_ncf) DO UPDATE
       SET kind = EXCLUDED.kind, isr_type = EXCLUDED.isr_type, payment = EXCLUDED.payment,
           paid_on = EXCLUDED.paid_on, itbis = EXCLUDED.itbis, changed_at = EXCLUDED.changed_at
"""


async def put(
    conn: Conn, tenant_id: TenantId, supplier: str, e_ncf: str | None, expense: Expense, at: datetime
) -> None:
    """Remember the classification of a supplier, or of its receipt `e_ncf` alone."""
    values = {
        "tenant": tenant_id,
        "supplier": supplier,
        "e_ncf": e_ncf,
        "kind": expense.kind,
        "isr_type": expense.isr_type,
        "payment": expense.payment,
        "paid_after": expense.paid_after,
        "paid_on": expense.paid_on,
        "itbis": expense.itbis,
        "at": at,
    }
    if e_ncf is None:
        await conn.execute(_PUT_SUPPLIER, values)
    else:
        await conn.execute(_PUT_RECEIPT, values)


@dataclass(frozen=True, slots=True)
class PurchaseDocument:
    """The XML of a purchase of a month. `is_answered`: the tenant approved it; its own are."""

    document_id: UUID
    ecf_type: str
    issued_on: date
    is_answered: bool
    document: bytes


#: Documents of one read.
A_PAGE = 200
_RECEIVED = f"""
    SELECT r.received_id AS document_id, r.ecf_type, r.issued_on, w.approved IS NOT NULL AS is_answered, d.document
      FROM received AS r
      JOIN acknowledgements AS d
        ON d.tenant_id = %(tenant)s AND d.environment = r.environment AND d.digest = r.digest AND d.reason = 0
      LEFT JOIN LATERAL (
        SELECT a.approved
          FROM approvals AS a
          JOIN submissions AS s ON s.tenant_id = a.tenant_id AND s.submission_id = a.submission_id
         WHERE a.tenant_id = %(tenant)s AND s.tenant_id = %(tenant)s AND a.received_id = r.received_id
           AND s.status NOT IN ('Rechazado', 'error')
         ORDER BY a.round DESC
         LIMIT 1) AS w ON true
     WHERE r.tenant_id = %(tenant)s AND r.environment = %(environment)s AND r.issued_on <= %(last)s
       AND (r.issued_on, r.received_id) > (%(after_day)s, %(after_id)s) AND w.approved IS DISTINCT FROM false
     ORDER BY r.issued_on, r.received_id
     LIMIT {A_PAGE}
"""
_OWN = f"""
    SELECT s.submission_id AS document_id, s.ecf_type, s.issued_on, true AS is_answered, d.content AS document
      FROM submissions AS s
      JOIN submission_documents AS d
        ON d.tenant_id = %(tenant)s AND d.submission_id = s.submission_id AND d.kind = 'signed'
     WHERE s.tenant_id = %(tenant)s AND s.environment = %(environment)s AND s.ecf_type IN ('41', '43', '47')
       AND s.status IN ('Aceptado', 'Aceptado Condicional') AND s.issued_on <= %(last)s
       AND (s.issued_on, s.submission_id) > (%(after_day)s, %(after_id)s)
     ORDER BY s.issued_on, s.submission_id
     LIMIT {A_PAGE}
"""


async def documents(
    conn: Conn,
    tenant_id: TenantId,
    environment: Environment,
    month: YearMonth,
    *,
    is_own: bool,
    after: PurchaseDocument | None = None,
) -> Sequence[PurchaseDocument]:
    """List purchases of a month by day of issue, A_PAGE at most, after one of them.

    Received ones but for those that the tenant rejected; or the accepted E41, E43 and E47 of its own.
    """
    values = {
        "tenant": tenant_id,
        "environment": environment,
        "last": month.last,
        "after_day": month.first if after is None else after.issued_on,
        "after_id": UUID(int=0) if after is None else after.document_id,
    }
    cursor = conn.cursor(row_factory=class_row(PurchaseDocument))
    if is_own:
        await cursor.execute(_OWN.encode(), values)
    else:
        await cursor.execute(_RECEIVED.encode(), values)
    return await cursor.fetchall()
