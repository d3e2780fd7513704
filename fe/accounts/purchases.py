"""The purchases of a tenant's month, each with its classification: what the 606 is made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any

import trio

from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.parse import parse_xml
from fe.ecf.texts import Text
from fe.identifiers import TenantId
from fe.month.period import YearMonth
from fe.month.purchases import (
    MOST_ROWS,
    Expense,
    Missing,
    Purchase,
    file_606,
    is_unpaid,
    missing,
    name_606,
    read_purchase,
    row,
)
from fe.store.postgres.db import Conn
from fe.store.records import expenses
from fe.store.records.expenses import PurchaseDocument


@dataclass(frozen=True, slots=True)
class PurchaseLine:
    """A purchase, its classification if there is one, and what its row lacks."""

    purchase: Purchase
    expense: Expense | None
    missing: Sequence[Missing]


class RemarkCode(StrEnum):
    """A remark on a 606. The first two stand in the way of the file."""

    NO_RNC = "no-rnc"
    TOO_MANY = "too-many"
    CONSUMER = "consumer"
    UNANSWERED = "unanswered"
    UNPAID = "unpaid"


_REMARKS = {
    RemarkCode.NO_RNC: Text(
        "The company has no RNC yet: enter it under Company data.",
        "La empresa todavía no tiene RNC: escríbalo en Datos de la empresa.",
    ),
    RemarkCode.TOO_MANY: Text(
        f"There are more than {MOST_ROWS:,} purchases: the DGII takes no more in one file.",
        f"Hay más de {MOST_ROWS:,} compras: la DGII no acepta más en un archivo.",
    ),
    RemarkCode.CONSUMER: Text(
        "Received consumer receipts (E32) are left out: {receipts}. They give no fiscal credit.",
        "No se incluyen facturas de consumo (E32) recibidas: {receipts}. No dan crédito fiscal.",
    ),
    RemarkCode.UNANSWERED: Text(
        "Receipts that you neither approved nor rejected yet, and that are in the file: {receipts}.",
        "Comprobantes que usted todavía no aprueba ni rechaza, y que están en el archivo: {receipts}.",
    ),
    RemarkCode.UNPAID: Text(
        "Purchases without a day of payment by the end of the month: {receipts}. They go as not paid yet.",
        "Compras sin fecha de pago al cierre del mes: {receipts}. Van como pendientes de pago.",
    ),
}


@dataclass(frozen=True, slots=True)
class Remark:
    """A remark, and how many receipts it is about."""

    code: RemarkCode
    receipts: int = 0

    @property
    def text(self) -> Text:
        """For people."""
        return _REMARKS[self.code].fill(receipts=f"{self.receipts:,}")


@dataclass(frozen=True, slots=True)
class Purchases:
    """A month's purchases: received receipts but for those that the tenant rejected, and its own E41, E43 and E47."""

    month: YearMonth
    rnc: str
    lines: Sequence[PurchaseLine]
    remarks: Sequence[Remark]

    @property
    def incomplete(self) -> Sequence[PurchaseLine]:
        """The lines that lack something."""
        return [line for line in self.lines if line.missing]

    @property
    def is_ready(self) -> bool:
        """Whether the file can be written."""
        blocked = any(remark.code in (RemarkCode.NO_RNC, RemarkCode.TOO_MANY) for remark in self.remarks)
        return not blocked and not self.incomplete

    @property
    def name(self) -> str:
        """The file's name."""
        return name_606(self.rnc, self.month)

    def file(self) -> bytes:
        """Write the 606. It is ready."""
        rows = [row(line.purchase, line.expense, self.month) for line in self.lines if line.expense is not None]
        assert len(rows) == len(self.lines)
        return file_606(self.rnc, self.month, rows)


def rnc_of(issuer: Mapping[str, Any]) -> str:
    """The RNC of a tenant's fiscal data; '' where there is none."""
    return str(issuer.get("RNCEmisor") or "")


async def of_month(conn: Conn, tenant_id: TenantId, environment: Environment, month: YearMonth, rnc: str) -> Purchases:
    """Read the purchases of a month from their XML, in stretches."""
    found: list[Purchase] = []
    unanswered = 0
    for is_own in (False, True):
        after: PurchaseDocument | None = None
        while len(found) <= MOST_ROWS:
            page = await expenses.documents(conn, tenant_id, environment, month, is_own=is_own, after=after)
            found += await trio.to_thread.run_sync(partial(_read, page, rnc, is_own=is_own))
            unanswered += sum(not one.is_answered and one.ecf_type != EcfType.CONSUMER for one in page)
            if len(page) < expenses.A_PAGE:
                break
            after = page[-1]
    purchases = [one for one in found if one.ecf_type != EcfType.CONSUMER]
    is_cut = len(found) > MOST_ROWS
    suppliers = sorted({one.supplier for one in purchases})
    of_suppliers = await expenses.of_suppliers(conn, tenant_id, suppliers)
    of_receipts = await expenses.of_receipts(conn, tenant_id, suppliers, [one.e_ncf for one in purchases])
    lines = []
    for one in purchases[:MOST_ROWS]:
        expense = of_receipts.get((one.supplier, one.e_ncf)) or of_suppliers.get(one.supplier)
        lines.append(PurchaseLine(one, expense, missing(one, expense, month)))
    counts = {
        RemarkCode.NO_RNC: int(not rnc),
        RemarkCode.TOO_MANY: int(is_cut),
        RemarkCode.CONSUMER: len(found) - len(purchases),
        RemarkCode.UNANSWERED: unanswered,
        RemarkCode.UNPAID: sum(is_unpaid(line.purchase, line.expense, month) for line in lines),
    }
    return Purchases(month, rnc, lines, [Remark(code, number) for code, number in counts.items() if number])


def _read(page: Sequence[PurchaseDocument], own_rnc: str, *, is_own: bool) -> list[Purchase]:
    return [
        read_purchase(parse_xml(bytes(one.document)), own_rnc=own_rnc, is_own=is_own, issued_on=one.issued_on)
        for one in page
    ]
