"""Classifications of purchases for the 606, and the documents that it is made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from uuid import UUID

from psycopg.rows import class_row

from fe.ecf.catalogue import Environment
from fe.ecf.dates import ZONE
from fe.ecf.ids import first_id
from fe.identifiers import TenantId
from fe.month.period import YearMonth
from fe.month.report_606 import Expense, Itbis
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
    """A purchase of a month: what was kept of it (fe/month/received_facts.py), or its XML where nothing was.

    `is_answered`: the tenant approved it; its own are.
    """

    document_id: UUID
    issued_on: date
    supplier: str
    supplier_name: str
    ecf_type: str
    e_ncf: str
    is_answered: bool
    facts: dict[str, str] | None
    document: bytes | None


#: Documents of one read.
A_PAGE = 200
# In the order of the index first (OFFSET 0): else amounts and answers of the whole month are looked up for one page.
_RECEIVED = f"""
    SELECT r.received_id AS document_id, r.issued_on, r.issuer_rnc AS supplier, r.issuer_name AS supplier_name,
           r.ecf_type, r.e_ncf, w.approved IS NOT NULL AS is_answered, f.amounts AS facts,
           CASE WHEN f.amounts IS NULL
                THEN (SELECT d.document
                        FROM acknowledgements AS d
                       WHERE d.tenant_id = %(tenant)s AND d.environment = r.environment AND d.digest = r.digest
                         AND d.reason = 0)
           END AS document
      FROM (SELECT y.*
              FROM received AS y
             WHERE y.tenant_id = %(tenant)s AND y.environment = %(environment)s AND y.issued_on <= %(last)s
               AND (y.issued_on, y.received_id) > (%(after_day)s, %(after_id)s)
               AND (%(supplier)s::text IS NULL OR y.issuer_rnc = %(supplier)s)
             ORDER BY y.issued_on, y.received_id
            OFFSET 0) AS r
      LEFT JOIN received_amounts AS f
        ON f.tenant_id = %(tenant)s AND f.received_id = r.received_id AND f.amounts ? 'services'
      LEFT JOIN LATERAL (
        SELECT a.approved
          FROM approvals AS a
          JOIN submissions AS s ON s.tenant_id = a.tenant_id AND s.submission_id = a.submission_id
         WHERE a.tenant_id = %(tenant)s AND s.tenant_id = %(tenant)s AND a.received_id = r.received_id
           AND s.status NOT IN ('Rechazado', 'error')
         ORDER BY a.round DESC
         LIMIT 1) AS w ON true
     WHERE w.approved IS DISTINCT FROM false
     ORDER BY r.issued_on, r.received_id
     LIMIT {A_PAGE}
"""
# A receipt is dated no later than the day it was submitted, so older ids are of other months.
_OWN = f"""
    SELECT s.submission_id AS document_id, s.issued_on, coalesce(s.buyer_rnc, '') AS supplier,
           coalesce(s.buyer_name, '') AS supplier_name, s.ecf_type, s.e_ncf, true AS is_answered,
           NULL::jsonb AS facts, d.content AS document
      FROM submissions AS s
      JOIN submission_documents AS d
        ON d.tenant_id = %(tenant)s AND d.submission_id = s.submission_id AND d.kind = 'signed'
     WHERE s.tenant_id = %(tenant)s AND s.environment = %(environment)s AND s.ecf_type IN ('41', '43', '47')
       AND s.submission_id >= %(since)s AND s.status IN ('Aceptado', 'Aceptado Condicional') AND s.issued_on <= %(last)s
       AND (s.issued_on, s.submission_id) > (%(after_day)s, %(after_id)s)
       AND (%(supplier)s::text IS NULL OR coalesce(s.buyer_rnc, %(own)s) = %(supplier)s)
     ORDER BY s.issued_on, s.submission_id
     LIMIT {A_PAGE}
"""


@dataclass(frozen=True, slots=True)
class PurchasePlace:
    """A place in the list of a month's purchases: received ones first, then the company's own."""

    is_own: bool
    issued_on: date
    document_id: UUID

    @classmethod
    def read(cls, text: str) -> "PurchasePlace | None":
        """Read a place as `str` writes it; None where it is none."""
        is_own, _, place = text.partition(".")
        day, _, document_id = place.partition(".")
        try:
            return cls(is_own == "own", date.fromisoformat(day), UUID(document_id))
        except ValueError:
            return None

    def __str__(self) -> str:
        return f"{'own' if self.is_own else 'received'}.{self.issued_on}.{self.document_id}"


async def documents(
    conn: Conn,
    tenant_id: TenantId,
    environment: Environment,
    month: YearMonth,
    *,
    own_rnc: str,
    is_own: bool,
    supplier: str | None = None,
    after: PurchasePlace | None = None,
) -> Sequence[PurchaseDocument]:
    """List purchases of a month by day of issue, A_PAGE at most, after one of them.

    Received ones but for those that the tenant rejected; or the accepted E41, E43 and E47 of its own, which name
    `own_rnc` as the supplier where they name none.
    """
    values = {
        "tenant": tenant_id,
        "environment": environment,
        "own": own_rnc,
        "supplier": supplier,
        "since": first_id(datetime.combine(month.first, time.min, ZONE)),
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
