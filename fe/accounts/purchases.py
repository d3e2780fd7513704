"""The purchases of a tenant's month, each with its classification: what the 606 is made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import trio

from fe.ecf.catalogue import Environment
from fe.ecf.parse import parse_xml
from fe.identifiers import TenantId
from fe.month.period import YearMonth
from fe.month.purchases import MOST_ROWS, Expense, Missing, Purchase, file_606, missing, read_purchase, row
from fe.store.postgres.db import Conn
from fe.store.records import expenses
from fe.store.records.expenses import PurchaseDocument


@dataclass(frozen=True, slots=True)
class PurchaseLine:
    """A purchase, its classification if there is one, and what its row lacks."""

    purchase: Purchase
    expense: Expense | None
    missing: Sequence[Missing]


@dataclass(frozen=True, slots=True)
class Purchases:
    """A month's purchases. `is_cut`: there are more than the authority takes in one file."""

    month: YearMonth
    lines: Sequence[PurchaseLine]
    is_cut: bool

    @property
    def incomplete(self) -> Sequence[PurchaseLine]:
        """The lines that lack something."""
        return [line for line in self.lines if line.missing]

    def file(self, rnc: str) -> bytes:
        """Write the 606. Nothing may be missing."""
        rows = [row(line.purchase, line.expense, self.month) for line in self.lines if line.expense is not None]
        assert len(rows) == len(self.lines)
        return file_606(rnc, self.month, rows)


async def of_month(
    conn: Conn, tenant_id: TenantId, environment: Environment, month: YearMonth, own_rnc: str
) -> Purchases:
    """Read the purchases of a month from their XML, in stretches."""
    found: list[Purchase] = []
    for is_own in (False, True):
        after: PurchaseDocument | None = None
        while len(found) <= MOST_ROWS:
            page = await expenses.documents(conn, tenant_id, environment, month, is_own=is_own, after=after)
            found += await trio.to_thread.run_sync(partial(_read, page, own_rnc, is_own=is_own))
            if len(page) < expenses.A_PAGE:
                break
            after = page[-1]
    is_cut, found = len(found) > MOST_ROWS, found[:MOST_ROWS]
    suppliers = sorted({one.supplier for one in found})
    of_suppliers = await expenses.of_suppliers(conn, tenant_id, suppliers)
    of_receipts = await expenses.of_receipts(conn, tenant_id, suppliers, [one.e_ncf for one in found])
    lines = []
    for one in found:
        expense = of_receipts.get((one.supplier, one.e_ncf)) or of_suppliers.get(one.supplier)
        lines.append(PurchaseLine(one, expense, missing(one, expense, month)))
    return Purchases(month, lines, is_cut)


def _read(page: Sequence[PurchaseDocument], own_rnc: str, *, is_own: bool) -> list[Purchase]:
    return [
        read_purchase(parse_xml(bytes(one.document)), own_rnc=own_rnc, is_own=is_own, issued_on=one.issued_on)
        for one in page
    ]
