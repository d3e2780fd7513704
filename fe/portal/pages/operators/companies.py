"""Companies of the installation: create, disable, delegations and owners."""

import re

from fe.accounts import approvals, audited_changes, provision
from fe.ecf.identity import TAX_ID_FORM
from fe.ecf.texts import LocalizedError, Text
from fe.identifiers import TenantId
from fe.portal.page_types import Needs, Page
from fe.portal.pages.operators.acting import (
    FormProblem,
    acting,
    executed,
    go_to_approval,
    may_alone,
    tenant_in_address,
)
from fe.portal.receipt.labels import label
from fe.portal.replies import CHANGED_MEANWHILE, Reply
from fe.portal.visit import Visit
from fe.store.portal import invitations, members
from fe.store.postgres.db import Conn
from fe.store.queue.audit import OperatorAction, record
from fe.store.records import billing, issuers, tenants
from fe.store.records.issuers import Delegation
from fe.store.records.tenants import Tenant

_SHOWN = 200
_LONGEST_NAME = 200
_FIELDS = ("RNCEmisor", "RazonSocialEmisor", "NombreComercial", "DireccionEmisor")
_NAME = Text("A company's name has 1 to 200 characters.", "El nombre de una empresa tiene de 1 a 200 caracteres.")
_RNC = Text("An RNC has 9 digits, a cédula 11.", "Un RNC tiene 9 dígitos; una cédula, 11.")
_RECORDED = Text("That is recorded already.", "Eso ya está registrado.")
_NOT_RECORDED = Text("That is not recorded, or no longer.", "Eso no está registrado (o ya no lo está).")


async def index(visit: Visit) -> Reply:
    """List companies, by a part of their name or RNC."""
    wanted = visit.query.get("q", "").strip()
    every = await visit.operators.run(tenants.everyone)
    found = [one for one in every if wanted.lower() in f"{one.name} {one.issuer.get('RNCEmisor', '')}".lower()]
    return visit.page(
        "operators/companies.html", found=found[:_SHOWN], total=len(every), matching=len(found), wanted=wanted
    )


async def new(visit: Visit) -> Reply:
    """Ask for the data of a company."""
    return visit.page("operators/company_new.html", problem=None, typed=visit.form)


async def create(visit: Visit) -> Reply:
    """Create a company."""
    issuer = {field: visit.form.get(field) for field in _FIELDS if visit.form.get(field)}
    name, summary = visit.form.get("name"), "off" if visit.form.get("consumer_summary") == "off" else "automatic"
    try:
        by = acting(visit)
        if not 1 <= len(name) <= _LONGEST_NAME or not name.isprintable():
            raise FormProblem(_NAME)
        made = await visit.run_operation(_create, visit, name, issuer, summary, by)
    except provision.ProvisioningRefused as refused:
        return visit.page("operators/company_new.html", 400, problem=refusal(refused), typed=visit.form)
    except LocalizedError as wrong:
        return visit.page("operators/company_new.html", 400, problem=wrong.text, typed=visit.form)
    created, remark = Text("Company created.", "Empresa creada."), provision.remark_on(issuer)
    if remark is not None:
        created = Text(f"{created.en} {remark.en}", f"{created.es} {remark.es}")
    return await visit.go(f"/operators/companies/{made.tenant_id}", created)


async def _create(
    conn: Conn, visit: Visit, name: str, issuer: dict[str, str], summary: str, by: OperatorAction
) -> Tenant:
    made = await audited_changes.create_tenant(conn, visit.author, name, issuer, summary)
    await record(conn, by, "tenant create", made.tenant_id, None, {"tenant": name, "rnc": issuer.get("RNCEmisor")})
    return made


def refusal(refused: provision.ProvisioningRefused) -> Text | str:
    """Return a refusal's text, in both languages if it has them."""
    found = getattr(refused, "text", None)
    return found if isinstance(found, Text) else str(refused)


async def one(visit: Visit) -> Reply:
    """Show a company."""
    return await show(visit, await tenant_in_address(visit))


async def show(visit: Visit, tenant: Tenant, problem: Text | str | None = None, invitation: str = "") -> Reply:
    """Show a company, with the errors of a form."""
    tenant_id = tenant.tenant_id
    account = await visit.operators.run(billing.account, tenant_id)
    return visit.page(
        "operators/company.html",
        409 if problem else 200,
        tenant=tenant,
        delegations=await visit.operators.run(issuers.delegations_of, tenant_id),
        account=account,
        terms=approvals.shown_terms(account),
        members=await visit.operators.run(members.of_tenant, tenant_id),
        months=await visit.operators.run(billing.months, tenant_id, 6),
        invitations=await visit.operators.run(invitations.waiting, tenant_id, visit.now),
        label=label,
        remark=provision.remark_on(tenant.issuer),
        needs_second=not await may_alone(visit, "tenant disable"),
        problem=problem,
        invitation=invitation,
        typed=visit.form,
    )


async def disable(visit: Visit) -> Reply:
    """Shut a company out, or ask a second person to."""
    tenant = await tenant_in_address(visit)
    alone = await may_alone(visit, "tenant disable")
    try:
        by = acting(visit)
        visit.require_unchanged([tenant.tenant_id, tenant.disabled_since])
        action_id = await visit.run_operation(
            approvals.ask, "tenant disable", {"tenant": tenant.name}, by, "portal", tenant=tenant, alone=alone
        )
    except LocalizedError as wrong:
        return await show(visit, tenant, wrong.text)
    if not alone:
        return await go_to_approval(visit, action_id)
    if not await executed(visit, action_id):
        return await show(visit, await tenant_in_address(visit), CHANGED_MEANWHILE)
    return await visit.go(
        f"/operators/companies/{tenant.tenant_id}", Text("The company is shut out.", "La empresa está desactivada.")
    )


async def enable(visit: Visit) -> Reply:
    """Let a company in again."""
    tenant = await tenant_in_address(visit)
    try:
        by = acting(visit)
        await visit.run_operation(audited_changes.enable_tenant, visit.author, tenant, by)
    except provision.ProvisioningRefused as refused:
        return await show(visit, tenant, refusal(refused))
    except LocalizedError as wrong:
        return await show(visit, tenant, wrong.text)
    return await visit.go(
        f"/operators/companies/{tenant.tenant_id}", Text("The company is let in.", "La empresa está activa.")
    )


async def delegate(visit: Visit) -> Reply:
    """Record that another taxpayer lets the company issue."""
    tenant = await tenant_in_address(visit)
    rnc = visit.form.get("rnc")
    try:
        by = acting(visit)
        if not re.fullmatch(TAX_ID_FORM, rnc):
            raise FormProblem(_RNC)
        await visit.run_operation(_delegate, tenant.tenant_id, rnc, by)
    except LocalizedError as wrong:
        return await show(visit, tenant, wrong.text)
    return await visit.go(f"/operators/companies/{tenant.tenant_id}", Text("It is recorded.", "Quedó registrado."))


async def _delegate(conn: Conn, tenant_id: TenantId, rnc: str, by: OperatorAction) -> None:
    if not await issuers.record(conn, Delegation(tenant_id, rnc, by.at, by.by_whom, by.reason)):
        raise FormProblem(_RECORDED)
    await record(conn, by, "delegation record", tenant_id, None, {"rnc": rnc})


async def withdraw(visit: Visit) -> Reply:
    """Take a recorded delegation back."""
    tenant = await tenant_in_address(visit)
    try:
        await visit.run_operation(_withdraw, tenant.tenant_id, visit.form.get("rnc"), acting(visit))
    except LocalizedError as wrong:
        return await show(visit, tenant, wrong.text)
    return await visit.go(f"/operators/companies/{tenant.tenant_id}", Text("It is taken back.", "Quedó retirado."))


async def _withdraw(conn: Conn, tenant_id: TenantId, rnc: str, by: OperatorAction) -> None:
    if not await issuers.withdraw(conn, tenant_id, rnc.replace("\0", "")):
        raise FormProblem(_NOT_RECORDED)
    await record(conn, by, "delegation withdraw", tenant_id, None, {"rnc": rnc})


PAGES = (
    Page("GET", "/operators/companies", Needs.OPERATE, index),
    Page("GET", "/operators/companies/new", Needs.OPERATE, new),
    Page("POST", "/operators/companies/new", Needs.OPERATE, create),
    Page("GET", "/operators/companies/<int:tenant>", Needs.OPERATE, one),
    Page("POST", "/operators/companies/<int:tenant>/disable", Needs.OPERATE, disable),
    Page("POST", "/operators/companies/<int:tenant>/enable", Needs.OPERATE, enable),
    Page("POST", "/operators/companies/<int:tenant>/delegations", Needs.OPERATE, delegate),
    Page("POST", "/operators/companies/<int:tenant>/delegations/withdraw", Needs.OPERATE, withdraw),
)
