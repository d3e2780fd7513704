"""Where people arrive: the companies they work for, and each company's first page."""

from fe.ecf.catalogue import Environment
from fe.ecf.dates import local
from fe.identifiers import TenantId
from fe.portal import attention
from fe.portal import receipt_words as words
from fe.portal.document_facts import total_in
from fe.portal.page_types import Needs, Page
from fe.portal.pages.submissions import names_of
from fe.portal.replies import Reply, redirect
from fe.portal.visit import Visit
from fe.store.portal import people, receipts, standing
from fe.store.postgres.db import Conn
from fe.store.postgres.errors import NodeUnavailable
from fe.store.records import certificates, sequences, tenants
from fe.store.records.tenants import Tenant
from fe.store.webhooks import endpoints

#: How many of the last receipts are shown.
_RECENT = 8


async def start(visit: Visit) -> Reply:
    """List the person's companies; with only one, redirect to it."""
    mine = await visit.portal.db.run(people.tenants_of, visit.person.person.person_id)
    is_operator = visit.person.person.is_operator and visit.portal.operators is not None
    if len(mine) == 1 and not is_operator:
        return redirect(f"/companies/{mine[0][0]}")

    async def find(conn: Conn, tenant_id: TenantId) -> Tenant | None:
        return await tenants.by_id(conn, tenant_id)

    companies, unreached = [], 0
    for tenant_id, role in mine:
        try:
            tenant = await visit.portal.db.run_for(tenant_id, find)
        except NodeUnavailable:  # its database node is away; other companies stay reachable
            unreached += 1
            continue
        if tenant is not None:
            companies.append((tenant, role))
    return visit.page("home.html", companies=companies, unreached=unreached, is_operator=is_operator)


async def company(visit: Visit) -> Reply:
    """Show a company's overview: notices, the month's numbers, the latest receipts."""
    seen_at = await visit.read(standing.troubles_seen_at, visit.person.person.person_id)
    since = visit.now - attention.LATELY
    troubles = await visit.read(standing.trouble, since if seen_at is None else max(since, seen_at))
    found_sequences = [one for of in Environment for one in await visit.read(sequences.listed, of)]
    month = local(visit.now).date().replace(day=1)
    recent = await visit.read(receipts.newest, _RECENT)
    return visit.page(
        "company/home.html",
        notices=attention.notices(
            await visit.read(certificates.in_use),
            found_sequences,
            await visit.read(endpoints.listed),
            troubles,
            visit.now,
        ),
        numbers=list(zip(await visit.read(standing.verdicts, month), troubles, strict=True)),
        max_counted=standing.MAX_COUNTED,
        has_rejections=any(one.rejected or one.failed for one in troubles),
        month=month,
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
    Page("GET", "/companies/<int:company>", Needs.READ, company),
    Page("POST", "/companies/<int:company>/troubles-seen", Needs.READ, see_troubles),
)
