"""Where people arrive: the companies they work for, and each company's first page."""

from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.portal.page_types import Needs, Page
from fe.portal.replies import Reply, redirect
from fe.portal.visit import Visit
from fe.store import tenants
from fe.store.portal import people
from fe.store.postgres.db import Conn
from fe.store.tenants import Tenant


async def start(visit: Visit) -> Reply:
    """Show the companies of whoever is here; with one of them only, go there."""
    mine = await visit.portal.db.run(people.tenants_of, visit.person.person.person_id)
    is_operator = visit.person.person.is_operator and visit.portal.operators is not None
    if len(mine) == 1 and not is_operator:
        return redirect(f"/companies/{mine[0][0]}")

    async def find(conn: Conn, tenant_id: TenantId) -> Tenant | None:
        return await tenants.by_id(conn, tenant_id)

    found = [(await visit.portal.db.run_for(tenant_id, find), role) for tenant_id, role in mine]
    companies = [(tenant, role) for tenant, role in found if tenant is not None]
    return visit.page("home.html", companies=companies, is_operator=is_operator)


async def company(visit: Visit) -> Reply:
    """Show where a company stands."""
    return visit.page("company/home.html", environments=list(Environment))


PAGES = (
    Page("GET", "/", Needs.PERSON, start),
    Page("GET", "/companies/<int:company>", Needs.READ, company),
)
