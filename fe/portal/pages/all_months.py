"""The month of all companies of a person: sums side by side, and their receipts as CSV in one ZIP."""

import io
import re
import zipfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Concatenate, ParamSpec, TypeVar

import trio

from fe.accounts.month_book import MOST_LINES, Read
from fe.accounts.months import MonthReport, MonthTotals
from fe.ecf.catalogue import Environment
from fe.ecf.dates import local
from fe.http.paging import read_in_turn
from fe.identifiers import TenantId
from fe.month.period import YearMonth
from fe.portal.page_types import Needs, Page
from fe.portal.pages.home import COMPANIES, read_each
from fe.portal.pages.months import issued_csv
from fe.portal.replies import Reply
from fe.portal.visit import Visit
from fe.store.portal import people, todo
from fe.store.portal.people import Rights
from fe.store.postgres.db import Conn
from fe.store.postgres.tenant_scope import fetch_together
from fe.store.records import month_sums, tenants
from fe.store.records.tenants import Tenant

P = ParamSpec("P")
T = TypeVar("T")

#: Lines of one ZIP; companies beyond are named in a file of it.
_MOST_LINES = 5 * MOST_LINES
_PLAIN = re.compile(r"[^A-Za-z0-9]+")
_ENVIRONMENT = Environment.ECF


@dataclass(frozen=True, slots=True)
class CompanyMonth:
    """The sums of one company. `unclassified` suppliers are open questions of its 606.

    `is_cut`: receipts that ended in the last seconds are not all in the sums.
    """

    tenant: Tenant
    receipts: int
    rejected: int
    totals: MonthTotals
    unclassified: int
    is_cut: bool


async def show(visit: Visit) -> Reply:
    """Show the month of each company."""
    month = _month(visit)

    async def read(conn: Conn, tenant_id: TenantId) -> CompanyMonth | None:
        # The ends of the last seconds are read before the sums, as for one month.
        found, (left_out,), issued, (unclassified,) = await fetch_together(
            conn,
            tenants.by_id_asked(tenant_id),
            month_sums.left_out_asked(tenant_id, _ENVIRONMENT, month, with_open=False),
            month_sums.issued_asked(tenant_id, _ENVIRONMENT, month, lately=False),
            todo.unclassified_asked(tenant_id, _ENVIRONMENT, month),
        )
        if not found:
            return None
        if left_out.lately:
            issued = list(await month_sums.issued(conn, tenant_id, _ENVIRONMENT, month))
        received = await visit.portal.months.received(conn, tenant_id, _ENVIRONMENT, month)
        sums = MonthReport(month, _ENVIRONMENT, issued, received, (), (), (), True, left_out)
        accepted = sum(one.receipts for one in issued if one.status.startswith("Aceptado"))
        rejected = sum(one.receipts for one in issued if one.status == "Rechazado")
        return CompanyMonth(found[0], accepted, rejected, sums.totals, unclassified, left_out.ended)

    mine = await _mine(visit)
    found, missed = await read_each(visit, mine[:COMPANIES], read)
    companies = sorted((one for _, one in found), key=lambda one: one.tenant.name.lower())
    return visit.page(
        "months.html",
        month=month,
        today=YearMonth.of(local(visit.now).date()),
        companies=companies,
        unreached=missed,
        left_out=max(0, len(mine) - COMPANIES),
    )


async def archive(visit: Visit) -> Reply:
    """Return the receipts that each company issued in the month, a CSV for each in one ZIP."""
    month, lines, left_out = _month(visit), 0, []
    mine = await _mine(visit)
    named, _ = await read_each(visit, mine[:COMPANIES], tenants.by_id)
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as written:
        for _, tenant in named:
            if lines >= _MOST_LINES:
                left_out.append(tenant.name)
                continue
            content, many = await issued_csv(_reader(visit, tenant.tenant_id), _ENVIRONMENT, month, visit.language)
            lines += many
            await trio.to_thread.run_sync(written.writestr, f"{_file_name(tenant)}-{month}.csv", content)
        if left_out:
            written.writestr("left-out.txt", "\n".join(left_out))
    return visit.file(f"{month}.zip", "application/zip", sink.getvalue())


def _reader(visit: Visit, company: TenantId) -> Read:
    """Return a reader for one company, in its turn for lists."""

    async def read(work: Callable[Concatenate[Conn, TenantId, P], Awaitable[T]], *a: P.args, **k: P.kwargs) -> T:
        return await read_in_turn(visit.portal.db, visit.portal.lists, company, work, *a, **k)

    return read


async def _mine(visit: Visit) -> Sequence[tuple[TenantId, Rights]]:
    return await visit.portal.db.run(people.tenants_of, visit.person.person.person_id)


def _file_name(tenant: Tenant) -> str:
    named = _PLAIN.sub("-", tenant.name).strip("-")[:60]
    return f"{tenant.issuer.get('RNCEmisor') or tenant.tenant_id}-{named}".rstrip("-")


def _month(visit: Visit) -> YearMonth:
    """The month that is asked for, or the last one."""
    return YearMonth.read(visit.query.get("month", "")) or YearMonth.of(local(visit.now).date()).before


PAGES = (
    Page("GET", "/months", Needs.PERSON, show),
    Page("GET", "/months/zip", Needs.PERSON, archive),
)
