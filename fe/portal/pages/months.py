"""A company's month: sums by type and rate, ITBIS, what is open, and an account of the numbers."""

from collections.abc import Sequence
from decimal import Decimal

from fe.accounts import months
from fe.ecf.catalogue import EcfType
from fe.ecf.dates import local
from fe.ecf.texts import Text
from fe.month.period import YearMonth
from fe.portal import receipt_words as words
from fe.portal.csv_cells import CSV_TYPE, Cell, csv_file
from fe.portal.document_facts import name_shown
from fe.portal.page_types import Needs, Page
from fe.portal.replies import Reply, not_found, redirect
from fe.portal.visit import Visit
from fe.store.records import month_sums
from fe.store.records.month_sums import IssuedLine

#: Lines of a file at most.
MAX_EXPORTED = 20_000
_HEADINGS = {
    "en": (
        "Issued",
        "Type",
        "e-NCF",
        "Status",
        "Buyer RNC",
        "Buyer",
        "Taxed at 18 %",
        "Taxed at 16 %",
        "Taxed at 0 %",
        "Exempt",
        "ITBIS",
        "ITBIS withheld",
        "ISR withheld",
        "Total",
    ),
    "es": (
        "Fecha de emisión",
        "Tipo",
        "e-NCF",
        "Estado",
        "RNC comprador",
        "Comprador",
        "Gravado al 18 %",
        "Gravado al 16 %",
        "Gravado al 0 %",
        "Exento",
        "ITBIS",
        "ITBIS retenido",
        "ISR retenido",
        "Monto total",
    ),
}
_AMOUNTS = ("base18", "base16", "base0", "exempt")
_WITHHELD = ("itbisWithheld", "isrWithheld")


async def newest(visit: Visit) -> Reply:
    """Go to the month that was asked for, or to this one."""
    asked = YearMonth.read(visit.query.get("month", ""))
    return redirect(visit.within(f"months/{asked or YearMonth.of(local(visit.now).date())}"))


async def show(visit: Visit) -> Reply:
    """Show a month."""
    month = _month(visit)
    report = await visit.read_list(months.report, visit.environment, month)
    return visit.page(
        "company/month.html",
        month=month,
        today=YearMonth.of(local(visit.now).date()),
        report=report,
        totals=report.totals,
        kind=_kind,
        words=words,
        number=_number,
    )


async def export(visit: Visit) -> Reply:
    """Export the receipts issued in a month as CSV, by day of issue."""
    month = _month(visit)
    lines: list[Sequence[Cell]] = []
    after: IssuedLine | None = None
    while len(lines) < MAX_EXPORTED:
        found = await visit.read_list(month_sums.issued_lines, visit.environment, month, after)
        lines += [_line(visit, one) for one in found]
        if len(found) < month_sums.A_PAGE:
            break
        after = found[-1]
    else:
        lines.append([words.MORE_ROWS.said(visit.language)])
    return visit.file(f"{visit.environment}-{month}.csv", CSV_TYPE, csv_file(_HEADINGS[visit.language], lines))


def _line(visit: Visit, one: IssuedLine) -> Sequence[Cell]:
    amounts = one.amounts or {}

    def of(names: Sequence[str]) -> list[Cell]:
        if one.amounts is None:
            return [None] * len(names)
        return [Decimal(amounts.get(name, "0.00")) for name in names]

    return (
        one.issued_on,
        _kind(one.ecf_type).said(visit.language),
        one.e_ncf,
        words.status_badge(one.status).text.said(visit.language),
        one.buyer_rnc,
        name_shown(one.buyer_name or ""),
        *of(_AMOUNTS),
        one.itbis,
        *of(_WITHHELD),
        one.total,
    )


def _kind(code: str) -> Text:
    return words.TYPES[EcfType(code)] if code in tuple(EcfType) else Text(code, code)


def _number(prefix: str, number: int) -> str:
    return f"{prefix}{number:010d}"


def _month(visit: Visit) -> YearMonth:
    month = YearMonth.read(visit.params["month"])
    if month is None:
        raise not_found()
    return month


_LIST = "/companies/<int:company>/<environment>/months"
PAGES = (
    Page("GET", _LIST, Needs.READ, newest),
    Page("GET", f"{_LIST}/<month>", Needs.READ, show),
    Page("GET", f"{_LIST}/<month>/csv", Needs.READ, export),
)
