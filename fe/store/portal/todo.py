"""Open tasks of a company: answers to suppliers, and questions of the 606."""

from dataclasses import dataclass
from datetime import datetime

from psycopg.rows import scalar_row

from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.month.period import YearMonth
from fe.store.postgres.tenant_scope import Asked

#: Receipts that are looked through for suppliers without a kind of expense.
_LOOK = 1000
_UNCLASSIFIED = f"""
    SELECT count(DISTINCT r.issuer_rnc)
      FROM (SELECT x.issuer_rnc, x.e_ncf
              FROM received AS x
             WHERE x.tenant_id = %(tenant)s AND x.environment = %(environment)s
               AND x.issued_on BETWEEN %(first)s AND %(last)s
             ORDER BY x.issued_on
             LIMIT {_LOOK}) AS r
     WHERE NOT EXISTS (SELECT 1
                         FROM supplier_expenses AS s
                        WHERE s.tenant_id = %(tenant)s AND s.supplier = r.issuer_rnc)
       AND NOT EXISTS (SELECT 1
                         FROM receipt_expenses AS e
                        WHERE e.tenant_id = %(tenant)s AND e.supplier = r.issuer_rnc AND e.e_ncf = r.e_ncf)
"""


@dataclass(frozen=True, slots=True)
class Todo:
    """Answers that suppliers wait for, since when, and suppliers of `month` without a kind of expense for the 606."""

    environment: Environment
    answers: int
    since: datetime | None
    month: YearMonth
    unclassified: int


def unclassified_asked(tenant_id: TenantId, environment: Environment, month: YearMonth) -> Asked[int]:
    """Count the suppliers of a month that have no kind of expense."""
    values = {"tenant": tenant_id, "environment": environment, "first": month.first, "last": month.last}
    return Asked(_UNCLASSIFIED.encode(), values, scalar_row)
