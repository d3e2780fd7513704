"""The mode of a company in the portal: set, refused, on record, and as a banner."""

from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import uuid4

from fe.ecf.catalogue import Environment
from fe.ecf.dates import local
from fe.identifiers import TenantId
from fe.store.portal.people import PortalRole
from fe.store.postgres.db import Database
from fe.store.queue import circuits
from fe.store.records import agents
from fe.store.records.agents import AgentId
from tests.factories.tenants import rows
from tests.portal.receipt_form import ReceiptForm
from tests.portal.running import Running
from tests.printing import reading


async def test_a_mode_is_set_with_its_reason_and_shown_on_every_page(
    portal: Running, tenant: TenantId, db: Database
) -> None:
    here = f"/companies/{tenant}/ecf/contingency"
    person = await portal.person(tenant, PortalRole.MEMBER)
    async with portal.browser(person) as browser:
        first = await browser.get(here)
        without_number = await browser.send(here, {"mode": "contingency", "reason": "fire"})
        bad_date = await browser.send(here, {"mode": "contingency", "reason": "fire", "since": "yesterday"})
        offline = await browser.send(here, {"mode": "offline", "reason": "no line at the branch"})
        elsewhere = await browser.get(f"/companies/{tenant}")
        await browser.get(here)
        await browser.send(here, {"mode": "normal", "reason": "the line is back"})
        authorised = {"mode": "deferred", "reason": "route", "number": "A-1", "valid_until": "2090-12-31"}
        deferred = await browser.send(here, authorised)
        await browser.send(here, {"mode": "normal", "reason": "the route ends"})
        await db.run(circuits.open_circuit, "ecf", "ecf", "no answer", timedelta(seconds=3))
        away = await browser.get(f"/companies/{tenant}")
        record = await browser.get(here)

    assert "The mode was never changed" in first.text
    assert (without_number.status_code, bad_date.status_code) == (400, 400)
    assert "no line at the branch" in offline.text
    assert "without connection” since" in elsewhere.text
    assert "Receipts with IndicadorEnvioDiferido 1 carry the legend" in deferred.text
    assert "The DGII has not answered since" in away.text
    assert "/docs/en/authority" in away.text
    assert "/docs/en/authority" not in elsewhere.text
    assert "the DGII does not answer" in record.text


async def test_a_person_retires_an_agent_which_gets_no_more_leases(
    portal: Running, tenant: TenantId, db: Database
) -> None:
    here = f"/companies/{tenant}/ecf/contingency"
    agent, now = AgentId(uuid4()), datetime.now(UTC)

    async def lease(epoch: int) -> int | None:
        how: dict[str, Any] = {"epoch": epoch, "nonce": uuid4(), "certificate": None, "at": now}
        return await db.run(agents.lease, tenant, Environment.ECF, agent, **how)

    first = await lease(0)
    person = await portal.person(tenant, PortalRole.MEMBER)
    async with portal.browser(person) as browser:
        before = await browser.get(here)
        unknown = await browser.send(f"{here}/retire-agent", {"agent": "till 1"})
        await browser.get(here)
        after = await browser.send(f"{here}/retire-agent", {"agent": str(agent)})

    assert (first, await lease(1), await lease(2), await lease(0)) == (1, None, None, None)
    assert str(agent) in before.text
    assert 'data-confirm="Retire it for good?' in before.text
    assert "The agent was retired" in after.text
    assert unknown.status_code == 404
    noted = await rows(db, "SELECT action FROM tenant_changes WHERE tenant_id = %(tenant)s", tenant=tenant)
    assert "agent retired" in [one["action"] for one in noted]


async def test_paper_receipts_are_entered_printed_and_replaced_in_the_portal(
    portal: Running, tenant: TenantId, db: Database
) -> None:
    at = f"/companies/{tenant}/testecf"
    paper = f"{at}/contingency/paper"
    today = local(datetime.now(UTC)).date()
    ends = (today + timedelta(days=90)).isoformat()
    person = await portal.person(tenant, PortalRole.MEMBER)
    async with portal.browser(person) as browser:
        await browser.get(f"{at}/contingency")
        declared = await browser.send(f"{at}/contingency", {"mode": "contingency", "reason": "fire", "number": "C-1"})
        await browser.get(paper)
        the_range = {"first": "B0200000001", "last": "b0200000009", "expires_on": ends}
        two_types = await browser.send(f"{paper}/ranges", {**the_range, "first": "B0100000001"})
        recorded = await browser.send(f"{paper}/ranges", the_range)
        again = await browser.send(f"{paper}/ranges", the_range)
        form = await ReceiptForm.open(browser, f"{at}/new/32")
        offered = form.text
        form.type("item.NombreItem", "Martillo")
        form.type("item.PrecioUnitarioItem", "450")
        asked = await form.press("paper")
        browser.page = asked
        early = await browser.send(asked.url.path, {"ncf": "", "issued_on": f"{today + timedelta(days=1)}"})
        browser.page = asked
        drawn = await browser.send(asked.url.path, {"ncf": "", "issued_on": ""})
        form = await ReceiptForm.open(browser, f"{at}/new/32")
        form.type("item.NombreItem", "Martillo")
        form.type("item.PrecioUnitarioItem", "451")
        browser.page = await form.press("paper")
        await rows(db, "UPDATE paper_receipts SET issued_on = issued_on - 1 RETURNING 1")
        known = await browser.send(browser.page.url.path, {"ncf": "B0200000001", "issued_on": today.isoformat()})
        await rows(db, "UPDATE paper_receipts SET issued_on = issued_on + 1 RETURNING 1")
        listed = await browser.get(paper)
        printed = await browser.get(f"{paper}/B0200000001/pdf")
        await browser.get(paper)
        stopped = await browser.send(f"{paper}/replace", {})
        await browser.get(f"{at}/contingency")
        leaving = await browser.send(f"{at}/contingency", {"mode": "normal", "reason": "over"})
        left = await browser.send(f"{at}/contingency", {"mode": "normal", "reason": "over", "leave_open": "on"})
        home = await browser.get(f"/companies/{tenant}")
        month = await browser.get(f"{at}/months/{local(datetime.now(UTC)).date():%Y-%m}")

    assert "numbers of one type: the first is B01, the last B02" in two_types.text
    assert "Declaración Salida" in declared.text
    assert f"{local(datetime.now(UTC) + timedelta(days=15)):%d-%m-%Y}" in declared.text
    assert "B0200000001" in recorded.text
    assert (again.status_code, "overlaps" in again.text) == (400, True)
    assert "Enter as paper receipt" in offered
    assert "the next number is drawn" in asked.text
    tomorrow = f"{today + timedelta(days=1):%d-%m-%Y}"
    assert f'role="alert">The date on the paper, {tomorrow}, lies in the future</p>' in early.text
    assert (early.status_code, "InformacionReferencia" in early.text) == (400, False)
    assert "B0200000001 was entered" in drawn.text
    assert (known.status_code, "Correct what was entered" in known.text) == (409, True)
    assert f'value="{today - timedelta(days=1)}"' in known.text
    assert "To be replaced" in listed.text
    assert (printed.headers["content-type"], printed.content[:5]) == ("application/pdf", b"%PDF-")
    (page,) = reading.pages(printed.content)
    assert all(word in page.text for word in ("B0200000001", f"{date.fromisoformat(ends):%d-%m-%Y}", "Martillo"))
    assert page.codes == ()
    assert "Código de Seguridad" not in page.text
    assert (stopped.status_code, "certificate" in stopped.text) == (409, True)
    assert (leaving.status_code, left.status_code) == (400, 200)
    assert "paper receipts without an accepted e-CF: 1" in home.text
    assert "On paper, in a contingency" in month.text
