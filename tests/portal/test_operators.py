"""Operators' pages: who may see them, what is shown, and what each form does."""

import re
from datetime import timedelta
from uuid import uuid4

import trio

from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.lifecycle import Stage
from fe.portal.page_types import Needs
from fe.portal.pages import operators
from fe.store.portal.people import PortalRole
from fe.store.postgres.db import Database
from fe.store.queue import circuits
from tests.factories.tenants import make_submission, make_tenant, rows
from tests.portal.operators import WHY, make_dead, operating
from tests.portal.running import Running, start_portal

HOSTILE = "<img src=x onerror=alert(1)> =cmd() \u202e" + "x" * 500
PAGES = [
    "/operators",
    "/operators/dead-letters",
    "/operators/replays",
    "/operators/in-doubt",
    "/operators/pauses",
    "/operators/keys",
    "/operators/lockouts",
    "/operators/companies",
    "/operators/companies/new",
    "/operators/approvals",
    "/operators/actions",
]


def test_every_page_is_for_operators_alone() -> None:
    assert {page.needs for page in operators.PAGES} == {Needs.OPERATE}


async def test_pages_are_shown_in_both_languages(portal: Running, tenant: TenantId) -> None:
    subject, _ = await make_dead(portal.db, tenant, portal.clock(), 2)
    await make_submission(portal.db, tenant, at=portal.clock(), stage=Stage.RECONCILE)
    await portal.db.run(circuits.open_circuit, "ecf", "ecf", "connection refused", timedelta(minutes=1))
    for email, language, stage, status in (
        ("olga@fe.do", "en", "sending", "Needs the operator"),
        ("oscar@fe.do", "es", "envío a la DGII", "En revisión por el operador"),
    ):
        async with operating(portal, email, language) as browser:
            for path in (*PAGES, f"/operators/companies/{tenant}"):
                page = await browser.get(path)
                assert (path, page.status_code, page.url.path) == (path, 200, path)
            stopped = (await browser.get("/operators/dead-letters")).text
            one = (await browser.get(f"/operators/dead-letters/{subject}")).text
            assert (f"<td>{stage}</td>" in stopped, status in one) == (True, True), language


async def test_runbooks_are_a_click_away_and_link_to_each_other(portal: Running, tenant: TenantId) -> None:
    await make_dead(portal.db, tenant, portal.clock())
    async with operating(portal, "olga@fe.do", "es") as browser:
        found = {
            link
            for path in PAGES
            for link in re.findall(r'href="(/operators/runbooks/[^"]+)"', (await browser.get(path)).text)
        }
        assert {link.rpartition("/")[2] for link in found} >= {
            "actor-trouble",  # of the overview: no process works here
            "replay-dead-letters",
            "resolve-unknown-outcome",
            "pause-forgotten",
            "login-lockouts",
        }
        for link in sorted(found):
            assert (link, (await browser.get(link)).status_code) == (link, 200)
        page = (await browser.get("/operators/runbooks/replay-dead-letters")).text
        assert '<a href="/operators/runbooks/authority-down">authority-down.md</a>' in page
        assert "<table>" in page
        assert (await browser.get("/operators/runbooks/retention")).status_code == 404


async def test_who_is_no_operator_finds_nothing(portal: Running, tenant: TenantId) -> None:
    subject = (await make_dead(portal.db, tenant, portal.clock()))[0]
    person = await portal.person(tenant, PortalRole.OWNER)
    async with portal.browser(person) as browser:
        for path in (*PAGES, f"/operators/companies/{tenant}", f"/operators/dead-letters/{subject}"):
            assert (await browser.get(path)).status_code == 404, path
        home = await browser.get(f"/companies/{tenant}")
        csrf = home.text.partition('name="csrf" value="')[2].partition('"')[0]
        for page in operators.PAGES:
            if page.method == "POST":
                path = page.path.replace("<int:tenant>", str(tenant)).replace("<plan>", "p").replace("<action>", "a")
                sent = await browser.client.post(path, data={"csrf": csrf, "form": str(uuid4()), **WHY})
                assert sent.status_code == 404, path


async def test_without_the_setting_there_are_no_such_pages(
    nursery: trio.Nursery, db: Database, portal_db: Database
) -> None:
    portal = await start_portal(nursery, db, portal_db, None)
    async with operating(portal) as browser:
        for path in PAGES:
            assert (await browser.get(path)).status_code == 404, path


async def test_an_id_that_is_none_is_not_found(portal: Running) -> None:
    async with operating(portal) as browser:
        for path in ("dead-letters", "replays", "approvals", "companies"):
            for what in ("x", str(uuid4()), "99999999999999999999", "%00"):
                assert (await browser.get(f"/operators/{path}/{what}")).status_code == 404, (path, what)


async def test_what_others_wrote_is_shown_as_text(portal: Running, tenant: TenantId) -> None:
    subject = (await make_dead(portal.db, tenant, portal.clock(), error=HOSTILE))[0]
    async with operating(portal) as browser:
        for path in ("/operators/dead-letters", f"/operators/dead-letters/{subject}"):
            page = await browser.get(path)
            assert ("<img" in page.text, "&lt;img src=x onerror" in page.text) == (False, True), path
        page = await browser.get("/operators/dead-letters?tenant=<script>&error=%00<b>&minutes=-1")
        assert (page.status_code, "<script>&" in page.text) == (400, False)


async def test_minutes_that_nothing_can_have_waited_are_said_to_be_none(portal: Running) -> None:
    async with operating(portal) as browser:
        for minutes in ("x", "5256001", "000000000000" + "9" * 20):
            page = await browser.get(f"/operators/dead-letters?minutes={minutes}")
            assert (page.status_code, "Minutes are a whole number." in page.text) == (400, True), minutes


async def test_a_pause_of_one_does_not_hide_that_others_wait(portal: Running, tenant: TenantId) -> None:
    other = await make_tenant(portal.db)
    async with operating(portal) as browser:
        await browser.get("/operators/pauses")
        await browser.send("/operators/pauses", {"tenant": "Empresa de Prueba SRL", "environment": "ecf", **WHY})
        for waits, is_said in ((tenant, False), (other, True)):
            await make_submission(portal.db, waits, at=portal.clock(), stage=Stage.SEND)
            await rows(portal.db, "UPDATE outbox SET run_at = now() - interval '20 min'")
            page = await browser.get("/operators")
            assert ("runbooks/outbox-late" in page.text, "runbooks/pause-forgotten" in page.text) == (is_said, True)


# --- Pauses -----------------------------------------------------------------------------------------------------------


async def test_pause_of_every_company_asks_first_with_counts(portal: Running, tenant: TenantId) -> None:
    await make_submission(portal.db, tenant, at=portal.clock(), environment=Environment.ECF)
    async with operating(portal) as browser:
        await browser.get("/operators/pauses")
        asked = await browser.send("/operators/pauses", WHY)

        assert asked.status_code == 409
        assert "Nothing is paused yet." in asked.text
        assert "every environment, production too" in asked.text
        assert "<dt>Companies</dt><dd>1</dd>" in asked.text
        assert "<dt>Receipts that would wait</dt><dd>1</dd>" in asked.text
        assert not await rows(portal.db, "SELECT 1 AS n FROM pauses")

        done = await browser.send("/operators/pauses")
        assert "It is paused." in done.text
    assert await rows(portal.db, "SELECT tenant_id AS t, environment AS e FROM pauses") == [{"t": 0, "e": ""}]


async def test_a_company_is_paused_and_goes_on(portal: Running, tenant: TenantId) -> None:
    async with operating(portal) as browser:
        await browser.get("/operators/pauses")
        wrong = await browser.send("/operators/pauses", {"tenant": "nobody", **WHY})
        assert (wrong.status_code, "no company of that name" in wrong.text) == (409, True)
        fields = {"tenant": "Empresa de Prueba SRL", "environment": "ecf", **WHY}
        page = await browser.send("/operators/pauses", fields)
        assert (page.status_code, "It is paused." in page.text) == (200, True)
        again = await browser.send("/operators/pauses", fields)
        assert "paused already" in again.text
        page = await browser.send("/operators/pauses/resume", WHY)
        assert "It goes on." in page.text

    assert not await rows(portal.db, "SELECT 1 AS n FROM pauses")
    done = await rows(
        portal.db, "SELECT action, by_whom, reason, tenant_id FROM operator_actions ORDER BY at, action_id"
    )
    assert [(one["action"], one["by_whom"], one["tenant_id"]) for one in done] == [
        ("pause", "olga@fe.do", tenant),
        ("resume", "olga@fe.do", tenant),
    ]
    assert {one["reason"] for one in done} == {WHY["reason"]}


async def test_a_form_takes_effect_once_and_not_without_a_reason(portal: Running) -> None:
    async with operating(portal) as browser:
        page = await browser.get("/operators/pauses")
        refused = await browser.send("/operators/pauses", {"environment": "ecf"})
        assert (refused.status_code, "Give a reason" in refused.text) == (409, True)
        browser.page = page
        assert (
            await browser.send("/operators/pauses", {"environment": "ecf", "everyone": "yes", **WHY})
        ).status_code == 200
        browser.page = page
        twice = await browser.send("/operators/pauses", {"environment": "certecf", "everyone": "yes", **WHY})

    assert twice.status_code == 409
    assert [one["environment"] for one in await rows(portal.db, "SELECT environment FROM pauses")] == ["ecf"]
