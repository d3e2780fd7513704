"""Where people arrive: the inbox over their companies, the switch between them, and each company's first page."""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import trio

from fe.accounts import months
from fe.ecf.catalogue import Environment
from fe.ecf.dates import local
from fe.identifiers import TenantId
from fe.portal import company_state
from fe.portal import receipt_words as words
from fe.portal.attention import PortalNotice
from fe.portal.company_state import CompanyState
from fe.portal.document_facts import total_in
from fe.portal.first_steps import first_steps
from fe.portal.page_types import Needs, Page
from fe.portal.pages.submissions import names_of
from fe.portal.replies import Reply, redirect
from fe.portal.visit import Visit
from fe.store.portal import people, receipts, standing
from fe.store.portal.people import Rights
from fe.store.postgres.db import Conn
from fe.store.postgres.errors import NodeUnavailable
from fe.store.records import sequences, tenants
from fe.store.records.tenants import Tenant

T = TypeVar("T")

#: How many of the last receipts are shown.
_RECENT = 8
#: Companies whose state one page reads, companies that are listed to switch between, and notices on a page.
COMPANIES, MOST_LISTED, NOTICES = 50, 500, 25
#: Companies that are read at the same time.
_TOGETHER = 3
#: The part of an address that a company's pages share: `ecf/submissions`, `people`.
_SECTION = re.compile(r"[a-z-]{1,30}(/[a-z-]{1,30})?")

_Role = tuple[TenantId, Rights]


@dataclass(frozen=True, slots=True)
class Membership:
    """A company of the person."""

    tenant: Tenant
    rights: Rights


@dataclass(frozen=True, slots=True)
class CompanyInInbox:
    """A company and its state."""

    tenant: Tenant
    rights: Rights
    state: CompanyState


@dataclass(frozen=True, slots=True)
class InboxEntry:
    """One notice of one company."""

    tenant: Tenant
    notice: PortalNotice


async def start(visit: Visit) -> Reply:
    """Show what needs attention in the person's companies; with only one company, redirect to it."""
    mine = await visit.portal.db.run(people.tenants_of, visit.person.person.person_id)
    is_operator = visit.person.person.is_operator and visit.portal.operators is not None
    if len(mine) == 1 and not is_operator:
        return redirect(await _first_page(visit, mine[0][0]))
    wanted = visit.query.get("q", "").strip()[:100]
    unreached = 0
    if wanted:
        named, unreached = await _named(visit, mine)
        mine = [(one.tenant.tenant_id, one.rights) for one in named if _matches(one.tenant, wanted)]
    first, shown_from = _number(visit, "companies"), _number(visit, "notices")
    part = mine[first : first + COMPANIES]
    person_id, days = visit.person.person.person_id, visit.portal.settings.approval_days

    async def read(conn: Conn, tenant_id: TenantId) -> tuple[Tenant, CompanyState] | None:
        tenant, state = await company_state.read_with_tenant(conn, tenant_id, person_id, visit.now, days)
        return None if tenant is None else (tenant, state)

    found, missed = await read_each(visit, part, read)
    companies = [CompanyInInbox(tenant, rights, state) for rights, (tenant, state) in found]
    entries = [InboxEntry(one.tenant, notice) for one in companies for notice in one.state.notices]
    entries.sort(key=lambda entry: (entry.notice.urgency, entry.tenant.name.lower()))
    companies.sort(key=lambda one: (-one.state.now, -one.state.soon, one.tenant.name.lower()))
    return visit.page(
        "home.html",
        companies=companies,
        entries=entries[shown_from : shown_from + NOTICES],
        total=len(entries),
        notices_from=shown_from,
        more_notices=shown_from + NOTICES if len(entries) > shown_from + NOTICES else None,
        companies_from=first,
        more_companies=first + COMPANIES if len(mine) > first + COMPANIES else None,
        many=len(mine),
        wanted=wanted,
        unreached=unreached + missed,
        is_operator=is_operator,
    )


async def _first_page(visit: Visit, tenant_id: TenantId) -> str:
    """Return the company's page in production, or in the environment of its tests while nothing is set up there."""

    async def read(conn: Conn, tenant_id: TenantId) -> Environment:
        used = await standing.accepted_in(conn, tenant_id)
        if any(one.environment is Environment.ECF for one in await sequences.of_all_environments(conn, tenant_id)):
            used.add(Environment.ECF)
        return next((one for one in Environment if one in used), Environment.ECF)

    environment = await visit.portal.db.run_for(tenant_id, read)
    address = f"/companies/{tenant_id}"
    return address if environment is Environment.ECF else f"{address}?environment={environment}"


async def switch(visit: Visit) -> Reply:
    """List the person's companies, by a part of their name or RNC; links lead to the section `to` of each."""
    mine = await visit.portal.db.run(people.tenants_of, visit.person.person.person_id)
    named, unreached = await _named(visit, mine)
    wanted, to = visit.query.get("q", "").strip()[:100], visit.query.get("to", "")
    found = sorted((one for one in named if _matches(one.tenant, wanted)), key=lambda one: one.tenant.name.lower())
    section = to if _SECTION.fullmatch(to) else ""
    if wanted and len(found) == 1:
        return redirect(f"/companies/{found[0].tenant.tenant_id}/{section}".rstrip("/"))
    return visit.page("switch.html", companies=found, to=section, wanted=wanted, unreached=unreached)


async def _named(visit: Visit, mine: Sequence[_Role]) -> tuple[list[Membership], int]:
    """Read the companies' records, MOST_LISTED at most; and how many could not be reached."""
    found, missed = await read_each(visit, mine[:MOST_LISTED], tenants.by_id)
    return [Membership(tenant, rights) for rights, tenant in found], missed


async def read_each(
    visit: Visit, mine: Sequence[_Role], read: Callable[[Conn, TenantId], Awaitable[T | None]]
) -> tuple[list[tuple[Rights, T]], int]:
    """Read each company as its own tenant, a few at a time; and how many could not be reached."""
    found: dict[int, tuple[Rights, T]] = {}
    limiter, missed = trio.CapacityLimiter(_TOGETHER), 0

    async def one(place: int, tenant_id: TenantId, rights: Rights) -> None:
        nonlocal missed
        async with limiter:
            try:
                value = await visit.portal.db.run_for(tenant_id, read)
            except NodeUnavailable:  # its database node is away; other companies stay reachable
                missed += 1
                return
        if value is not None:
            found[place] = rights, value

    async with trio.open_nursery() as nursery:
        for place, (tenant_id, rights) in enumerate(mine):
            nursery.start_soon(one, place, tenant_id, rights)
    return [found[place] for place in sorted(found)], missed


def _matches(tenant: Tenant, wanted: str) -> bool:
    """Tell whether every word is in the name, or is a part of the RNC that is no accident."""
    name, rnc = tenant.name.casefold(), str(tenant.issuer.get("RNCEmisor", ""))
    return all(word in name or (len(word) > 2 and word in rnc) for word in wanted.casefold().split())


def _number(visit: Visit, name: str) -> int:
    text = visit.query.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0


async def company(visit: Visit) -> Reply:
    """Show a company's overview: sales, notices, the month's numbers, the latest receipts."""
    person_id, days = visit.person.person.person_id, visit.portal.settings.approval_days
    state = await visit.read(company_state.read, person_id, visit.now, days)
    accepted = await visit.read(standing.accepted_in)
    today = local(visit.now).date()
    month = today.replace(day=1)
    sold_today, sold_this_month = await visit.read(months.sold, visit.here, today)
    recent = await visit.read(receipts.newest, _RECENT)
    return visit.page(
        "company/home.html",
        notices=state.notices,
        steps=first_steps(visit.company.tenant.issuer, state.certificates, state.ranges, accepted),
        numbers=list(zip(await visit.read(standing.verdicts, month), state.troubles, strict=True)),
        max_counted=standing.MAX_COUNTED,
        has_rejections=any(one.rejected or one.failed for one in state.troubles),
        today=today,
        month=month,
        sold_today=sold_today,
        sold_this_month=sold_this_month,
        recent=recent,
        names=await names_of(visit, recent),
        totals={row.submission_id: total_in(row.qr_code_url) for row in recent},
        words=words,
    )


async def see_troubles(visit: Visit) -> Reply:
    """Mark rejected receipts as seen, so that the overview shows only later ones."""
    await visit.read(standing.see_troubles, visit.person.person.person_id, visit.now)
    return await visit.go(visit.at(""))


PAGES = (
    Page("GET", "/", Needs.PERSON, start),
    Page("GET", "/switch", Needs.PERSON, switch),
    Page("GET", "/companies/<int:company>", Needs.READ, company),
    Page("POST", "/companies/<int:company>/troubles-seen", Needs.READ, see_troubles),
)
