"""Page of a company's costs: the current month, past months, and charges."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from fe.ecf.texts import Text
from fe.identifiers import TenantId
from fe.portal.page_types import Needs, Page
from fe.portal.plots import Plot, Series
from fe.portal.replies import Reply
from fe.portal.visit import Visit
from fe.store.postgres.db import Conn
from fe.store.records import billing, charges
from fe.store.records.billing import Account, Month, Snapshot
from fe.store.records.charges import ChargeRecord
from fe.store.records.months import month_after, month_of

_WAITING = Text("Open: the month is not closed", "Abierto: el mes no ha cerrado")
_CLOSED = Text("Closed, nothing to charge", "Cerrado, nada que cobrar")
_STAGES = {
    "charge": (Text("To be charged", "Por cobrar"), "warn"),
    "charged": (Text("Charged", "Cobrado"), "ok"),
    "failed": (Text("The charge failed", "El cobro falló"), "bad"),
}

TIERS = {
    "standard": Text("Standard", "Estándar"),
    "volume": Text("Volume", "Volumen"),
    "enterprise": Text("Enterprise", "Empresarial"),
}


@dataclass(frozen=True, slots=True)
class _Books:
    """All that the page shows."""

    snapshot: Snapshot
    account: Account | None
    months: Sequence[Month]
    charges: Sequence[ChargeRecord]


async def show(visit: Visit) -> Reply:
    """Show the month so far, the months before, and their charges."""
    begin = month_of(visit.now)
    books = await visit.read(_books, begin.date())
    months = [(month, _state(month, books.charges)) for month in books.months]
    return visit.page(
        "company/billing.html",
        books=books,
        begin=begin,
        end=month_after(begin),
        subtotal=books.snapshot.emissions * (books.snapshot.unit_price or Decimal(0)),
        months=months,
        tiers=TIERS,
        stages=_STAGES,
        plot=_plot(visit, books.months),
    )


async def _books(conn: Conn, tenant_id: TenantId, month: date) -> _Books:
    return _Books(
        await billing.snapshot(conn, tenant_id, month),
        await billing.account(conn, tenant_id),
        await billing.months(conn, tenant_id),
        await charges.of_tenant(conn, tenant_id),
    )


def _state(month: Month, made: Sequence[ChargeRecord]) -> tuple[Text, str]:
    """Where a month stands: of its charges the one that needs most looking at."""
    stages = {one.stage for one in made if one.month == month.month}
    for stage in ("failed", "charge", "charged"):
        if stage in stages:
            return _STAGES[stage]
    return (_WAITING, "soft") if month.closed_at is None else (_CLOSED, "soft")


def _plot(visit: Visit, months: Sequence[Month]) -> Plot | None:
    """The last twelve months, the oldest first."""
    shown = list(reversed(months[:12]))
    if not shown:
        return None
    title = Text("Receipts counted by month", "Comprobantes contados por mes").said(visit.language)
    description = Text(
        f"Bars for {len(shown)} months: how many accepted receipts are billed.",
        f"Barras de {len(shown)} meses: cuántos comprobantes aceptados se cobran.",
    ).said(visit.language)
    counted = Series(Text("Counted", "Contados").said(visit.language), [month.emissions for month in shown])
    return Plot("months", title, description, [f"{month.month:%m-%Y}" for month in shown], [counted])


PAGES = (Page("GET", "/companies/<int:company>/billing", Needs.READ, show),)
