"""The 606 of a company's month: what each supplier's purchases are, and the file."""

from collections import Counter
from collections.abc import Mapping
from datetime import date

from fe.accounts import purchases
from fe.accounts.purchases import PurchaseLine, Purchases
from fe.ecf.texts import Text
from fe.month.period import YearMonth
from fe.month.report_606 import (
    ISR_TYPES,
    KINDS,
    LONGEST_CREDIT,
    MOST_ROWS,
    PAYMENTS,
    BadExpense,
    Expense,
    Itbis,
    check_expense,
)
from fe.portal.days import NoDay, read_day
from fe.portal.document_facts import name_shown
from fe.portal.page_types import Needs, Page
from fe.portal.replies import Reply, not_found
from fe.portal.visit import Visit
from fe.store.postgres.db import Conn
from fe.store.records.expenses import PurchasePlace

#: Purchases on a page.
PAGE = 100
_ITBIS = {
    Itbis.ADVANCE: Text("To be deducted", "Por adelantar"),
    Itbis.COST: Text("Part of the cost", "Llevado al costo"),
    Itbis.PROPORTIONAL: Text("Proportional (art. 349)", "Sujeto a proporcionalidad (art. 349)"),
}
#: Fields of the form by their names in `BadExpense`.
_FIELDS = {
    "kind": "kind",
    "payment": "payment",
    "isrType": "isr_type",
    "itbis": "itbis",
    "paidAfter": "paid_after",
    "paidOn": "paid_on",
}
_INCOMPLETE = Text(
    "The file is not complete yet: classify the purchases marked below.",
    "El archivo todavía no está completo: clasifique las compras marcadas.",
)
_KEPT = Text("Remembered.", "Guardado.")


async def show(visit: Visit) -> Reply:
    """Show purchases of a month, of each page those that lack something first."""
    return _show(visit, await _read(visit, after=PurchasePlace.read(visit.query.get("after", "")), most=PAGE))


def _show(visit: Visit, found: Purchases, problem: Text | None = None, status: int = 200) -> Reply:
    lines = sorted(found.lines, key=lambda line: not line.missing)
    return visit.page(
        "company/purchases.html",
        status,
        month=found.month,
        found=found,
        lines=lines[:PAGE],
        to_ask=_to_ask(found),
        problem=problem,
        kinds=KINDS,
        name_shown=name_shown,
    )


def _to_ask(found: Purchases) -> list[tuple[str, str, int]]:
    """Suppliers whose purchases lack something, the most frequent first: id, name, and how many."""
    lacking = Counter(line.purchase.supplier for line in found.incomplete)
    names = {line.purchase.supplier: line.purchase.supplier_name for line in found.incomplete}
    return [(one, name_shown(names[one]) or one, many) for one, many in lacking.most_common()]


async def file(visit: Visit) -> Reply:
    """Return the file, once nothing is missing."""
    found = await _read(visit)
    if not found.is_ready:
        return _show(visit, found, _INCOMPLETE if found.incomplete else found.remarks[0].text, 409)
    reply = visit.file("606.txt", "text/plain; charset=us-ascii", found.file())
    named = f'attachment; filename="{found.name}"'
    headers = tuple((name, named if name == "Content-Disposition" else value) for name, value in reply.headers)
    return Reply(reply.status, reply.body, headers)


async def form(visit: Visit) -> Reply:
    """Show the form of a supplier, or of one of its receipts."""
    return await _form(visit)


async def _form(visit: Visit, problems: Mapping[str, Text] | None = None) -> Reply:
    """Show the form: as it was sent if it has problems (field to error), otherwise what is remembered."""
    line, e_ncf = await _chosen(visit)
    kept = line.expense or Expense("02")
    typed = {name: visit.form.get(name) if problems else _shown(getattr(kept, name)) for name in _FIELDS.values()}
    return visit.page(
        "company/expense.html",
        400 if problems else 200,
        month=_month(visit),
        supplier=visit.params["supplier"],
        line=line,
        e_ncf=e_ncf,
        typed=typed,
        problems=problems or {},
        kinds=KINDS,
        isr_types=ISR_TYPES,
        payments=PAYMENTS,
        itbis=_ITBIS,
        longest=LONGEST_CREDIT,
        name_shown=name_shown,
    )


def _shown(value: str | int | date | None) -> str:
    return "" if value is None else str(value)


async def put(visit: Visit) -> Reply:
    """Remember what the form says."""
    _, e_ncf = await _chosen(visit)
    supplier = visit.params["supplier"]
    try:
        expense = _expense(visit, is_of_receipt=e_ncf is not None)
    except BadExpense as error:
        return await _form(visit, {_FIELDS[error.field]: error.text})
    except NoDay as error:
        return await _form(visit, {"paid_on": error.text})

    async def keep(conn: Conn) -> None:
        await purchases.classify(conn, visit.author, visit.company.tenant, supplier, e_ncf, expense)

    await visit.change(keep)
    return await visit.go(visit.within(f"months/{_month(visit)}/606"), _KEPT)


def _expense(visit: Visit, *, is_of_receipt: bool) -> Expense:
    days = visit.form.get("paid_after")
    return check_expense(
        kind=visit.form.get("kind"),
        isr_type=visit.form.get("isr_type") or None,
        payment=visit.form.get("payment") or None,
        paid_after=None if not days else int(days[:4]) if days.isascii() and days.isdigit() else -1,
        paid_on=read_day(visit.form.get("paid_on")),
        itbis=visit.form.get("itbis"),
        is_of_receipt=is_of_receipt,
    )


async def _chosen(visit: Visit) -> tuple[PurchaseLine, str | None]:
    """Find a purchase of the supplier of the address: the receipt that is named, or any. Raises Refused."""
    supplier, e_ncf = visit.params["supplier"], visit.query.get("receipt") or None
    for line in (await _read(visit, supplier=supplier)).lines:
        if e_ncf in (None, line.purchase.e_ncf):
            return line, e_ncf
    raise not_found()


async def _read(
    visit: Visit, *, supplier: str | None = None, after: PurchasePlace | None = None, most: int = MOST_ROWS
) -> Purchases:
    rnc = purchases.rnc_of(visit.company.tenant.issuer)
    return await visit.read_list(
        purchases.of_month, visit.environment, _month(visit), rnc, supplier=supplier, after=after, most=most
    )


def _month(visit: Visit) -> YearMonth:
    month = YearMonth.read(visit.params["month"])
    if month is None:
        raise not_found()
    return month


_606 = "/companies/<int:company>/<environment>/months/<month>/606"
_SUPPLIER = f"{_606}/<supplier>"
PAGES = (
    Page("GET", _606, Needs.READ, show),
    Page("GET", f"{_606}.txt", Needs.READ, file),
    Page("GET", _SUPPLIER, Needs.READ, form),
    # An accountant's own work: reading is enough.
    Page("POST", _SUPPLIER, Needs.READ, put),
)
