"""The purchases of a tenant's month, each with its classification: what the 606 is made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any

import trio

from fe.accounts.audited_changes import Author, Shown, note
from fe.accounts.received_facts import facts_of
from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.parse import parse_xml
from fe.ecf.texts import Text
from fe.identifiers import TenantId
from fe.month.period import YearMonth
from fe.month.report_606 import (
    MOST_ROWS,
    Expense,
    Missing,
    Purchase,
    file_606,
    is_unpaid,
    missing,
    name_606,
    purchase_of,
    read_purchase,
    row,
)
from fe.store.postgres.db import Conn
from fe.store.records import expenses, received_sums
from fe.store.records.expenses import PurchaseDocument, PurchasePlace
from fe.store.records.tenants import Tenant


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
    """A month's purchases: received receipts but for those that the tenant rejected, and its own E41, E43 and E47.

    `next_place`: where a part of them ends. Only the whole has remarks that count receipts.
    """

    month: YearMonth
    rnc: str
    lines: Sequence[PurchaseLine]
    remarks: Sequence[Remark]
    next_place: PurchasePlace | None = None

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


async def of_month(
    conn: Conn,
    tenant_id: TenantId,
    environment: Environment,
    month: YearMonth,
    rnc: str,
    *,
    supplier: str | None = None,
    after: PurchasePlace | None = None,
    most: int = MOST_ROWS,
) -> Purchases:
    """Read the purchases of a month, or of one supplier, `most` of them after a place of the list."""
    found: list[Purchase] = []
    unanswered = 0
    places: list[PurchasePlace] = []
    for is_own in (False, True):
        if after is not None and after.is_own and not is_own:
            continue
        place = after if after is not None and after.is_own == is_own else None
        while len(found) <= most:
            page = await expenses.documents(
                conn, tenant_id, environment, month, own_rnc=rnc, is_own=is_own, supplier=supplier, after=place
            )
            found += await _purchases(conn, tenant_id, page, rnc, is_own=is_own)
            unanswered += sum(not one.is_answered and one.ecf_type != EcfType.CONSUMER for one in page)
            places += [PurchasePlace(is_own, one.issued_on, one.document_id) for one in page]
            if len(page) < expenses.A_PAGE:
                break
            place = places[-1]
    next_place = places[most - 1] if len(found) > most else None
    is_whole = after is None and next_place is None
    found = found[:most]
    bought = [one for one in found if one.ecf_type != EcfType.CONSUMER]
    suppliers = sorted({one.supplier for one in bought})
    of_suppliers = await expenses.of_suppliers(conn, tenant_id, suppliers)
    of_receipts = await expenses.of_receipts(conn, tenant_id, suppliers, [one.e_ncf for one in bought])
    lines = []
    for one in bought:
        expense = of_receipts.get((one.supplier, one.e_ncf)) or of_suppliers.get(one.supplier)
        lines.append(PurchaseLine(one, expense, missing(one, expense, month)))
    counts = {RemarkCode.NO_RNC: int(not rnc), RemarkCode.TOO_MANY: int(most == MOST_ROWS and next_place is not None)}
    if is_whole:
        counts |= {
            RemarkCode.CONSUMER: len(found) - len(bought),
            RemarkCode.UNANSWERED: unanswered,
            RemarkCode.UNPAID: sum(is_unpaid(line.purchase, line.expense, month) for line in lines),
        }
    remarks = [Remark(code, number) for code, number in counts.items() if number]
    return Purchases(month, rnc, lines, remarks, next_place)


async def _purchases(
    conn: Conn, tenant_id: TenantId, page: Sequence[PurchaseDocument], own_rnc: str, *, is_own: bool
) -> list[Purchase]:
    """Make purchases of what was kept; of received ones, what nothing was kept of is read and kept."""
    unread = [one for one in page if one.facts is None and one.document is not None]
    if not unread:
        facts = {}
    elif is_own:
        return await trio.to_thread.run_sync(partial(_read, page, own_rnc))
    else:
        read = await trio.to_thread.run_sync(partial(facts_of, [bytes(one.document or b"") for one in unread]))
        facts = {one.document_id: each for one, each in zip(unread, read, strict=True)}
        await received_sums.keep_amounts(conn, tenant_id, list(facts.items()))
    return [
        purchase_of(
            one.facts or facts[one.document_id],
            supplier=one.supplier,
            supplier_name=one.supplier_name,
            ecf_type=one.ecf_type,
            e_ncf=one.e_ncf,
            issued_on=one.issued_on,
        )
        for one in page
    ]


def _read(page: Sequence[PurchaseDocument], own_rnc: str) -> list[Purchase]:
    return [
        read_purchase(parse_xml(bytes(one.document or b"")), own_rnc=own_rnc, is_own=True, issued_on=one.issued_on)
        for one in page
    ]


async def classify(conn: Conn, by: Author, tenant: Tenant, supplier: str, e_ncf: str | None, expense: Expense) -> None:
    """Remember the classification of a supplier, or of its receipt `e_ncf` alone. Run it in a transaction."""
    if e_ncf is None:
        before = (await expenses.of_suppliers(conn, tenant.tenant_id, [supplier])).get(supplier)
    else:
        before = (await expenses.of_receipts(conn, tenant.tenant_id, [supplier], [e_ncf])).get((supplier, e_ncf))
    await expenses.put(conn, tenant.tenant_id, supplier, e_ncf, expense, by.at)
    if before != expense:
        old = None if before is None else _shown(supplier, e_ncf, before)
        await note(conn, tenant, by, "expense classified", supplier, old, _shown(supplier, e_ncf, expense))


def _shown(supplier: str, e_ncf: str | None, expense: Expense) -> Shown:
    """Show a classification in a record."""
    paid_on = None if expense.paid_on is None else expense.paid_on.isoformat()
    return {
        "supplier": supplier,
        "eNCF": e_ncf,
        "kind": expense.kind,
        "isrType": expense.isr_type,
        "payment": expense.payment,
        "paidAfter": expense.paid_after,
        "paidOn": paid_on,
        "itbis": expense.itbis,
    }
