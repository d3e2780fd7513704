"""Common parts of every page: access, origin of forms, and security headers."""

from typing import Any

import pytest
import trio

from fe.http.paging import LISTS_AT_ONCE
from fe.identifiers import TenantId
from fe.store.portal import people, receipts
from fe.store.portal.people import PortalRole
from fe.store.portal.receipts import ReceiptPage
from fe.store.postgres.db import Database
from fe.store.postgres.errors import DatabaseUnavailable, NodeUnavailable
from fe.store.records import keys
from tests.http.front import make_tenant
from tests.portal.running import Browser, Running, hidden_fields
from tests.waiting import PATIENCE, until


async def test_somebody_logs_in_sees_the_company_and_logs_out(portal: Running, tenant: TenantId) -> None:
    person = await portal.person(tenant)
    async with portal.browser() as browser:
        asked = await browser.get(f"/companies/{tenant}")
        assert asked.url.path == "/sign-in"
        wrong = await browser.sign_in(person.email, "wrong")
        assert (wrong.status_code, "is not right" in wrong.text) == (403, True)
        before = dict(browser.client.cookies)

        page = await browser.sign_in(person.email)

        assert (page.url.path, page.status_code) == (f"/companies/{tenant}", 200)
        assert dict(browser.client.cookies) != before
        kept = dict(browser.client.cookies)
        await browser.send("/sign-out")
        browser.client.cookies.clear()
        browser.client.cookies.update(kept)
        assert (await browser.get("/")).url.path == "/sign-in"


async def test_a_company_whose_node_is_away_does_not_keep_the_others_from_being_shown(
    portal: Running, owner: Browser, tenant: TenantId, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = await portal.db.run(people.by_email, "ana@example.do")
    assert person is not None
    away = await make_tenant(portal.db, "Lejana SRL")
    await portal.db.run(people.join, away, person.person_id, PortalRole.OWNER, portal.clock())
    both = await owner.get("/")
    assert ("Lejana SRL" in both.text, f'href="/companies/{tenant}"' in both.text) == (True, True)
    run_for = Database.run_for

    async def unless_away(self: Database, of: TenantId, *given: Any, **more: Any) -> Any:
        if of == away:
            raise NodeUnavailable("its node does not answer")
        return await run_for(self, of, *given, **more)

    monkeypatch.setattr(Database, "run_for", unless_away)
    page = await owner.get("/")

    assert (page.status_code, "Lejana SRL" in page.text) == (200, False)
    assert f'href="/companies/{tenant}"' in page.text
    assert "Some companies cannot be reached at the moment" in page.text


async def test_lists_of_a_company_have_turns_and_a_page_says_when_there_is_none(
    portal: Running, owner: Browser, tenant: TenantId, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading: list[TenantId] = []
    may_go_on = trio.Event()

    async def wait(_: Any, tenant_id: TenantId, *__: Any, **___: Any) -> ReceiptPage:
        reading.append(tenant_id)
        await may_go_on.wait()
        return ReceiptPage(())

    monkeypatch.setattr(receipts, "page", wait)
    portal.portal.lists.patience = PATIENCE
    async with trio.open_nursery() as asking:
        for _ in range(LISTS_AT_ONCE):
            asking.start_soon(owner.client.get, f"/companies/{tenant}/testecf/submissions")
        await until(lambda: len(reading) == LISTS_AT_ONCE)
        portal.portal.lists.patience = 0.05
        refused = await owner.client.get(f"/companies/{tenant}/testecf/received")
        other = await owner.client.get(f"/companies/{tenant}/keys")
        may_go_on.set()

    assert (refused.status_code, "Load the page again in a moment" in refused.text) == (429, True)
    assert other.status_code == 200


async def test_another_companys_pages_are_not_there(portal: Running, owner: Browser) -> None:
    stranger = await make_tenant(portal.db, "Otra SRL")

    page = await owner.get(f"/companies/{stranger}")

    assert (page.status_code, "Otra" in page.text) == (404, False)


async def test_a_form_of_another_site_or_session_is_refused(portal: Running, owner: Browser, tenant: TenantId) -> None:
    page = await owner.get("/")
    fields = hidden_fields(page.text, "/sign-out")

    for headers, sent in (
        ({"Origin": "https://evil.example"}, fields),
        ({"Sec-Fetch-Site": "cross-site"}, fields),
        ({}, {}),
        ({}, {"csrf": "0" * 64}),
    ):
        refused = await owner.client.post("/sign-out", data=sent, headers=headers)
        assert refused.status_code == 403, headers
    assert (await owner.get("/")).url.path == f"/companies/{tenant}"


async def test_pages_say_what_browsers_may_do_with_them(portal: Running, owner: Browser) -> None:
    page = await owner.get("/")

    assert "unsafe" not in page.headers["content-security-policy"]
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
    assert page.headers["cache-control"] == "no-store"
    style = await owner.client.get(portal.portal.renderer.assets["portal.css"].address)
    assert style.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert (await owner.get("/nothing/here")).status_code == 404


async def test_an_accountant_is_told_so(portal: Running, tenant: TenantId) -> None:
    person = await portal.person(tenant, PortalRole.ACCOUNTANT)
    async with portal.browser(person, "es") as browser:
        assert (await browser.get("/")).status_code == 200


async def test_what_a_form_did_before_the_database_went_away_is_not_denied(
    portal: Running, owner: Browser, tenant: TenantId, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = f"/companies/{tenant}/keys/new"
    page = await owner.get(there)
    form = hidden_fields(page.text, there) | {"environment": "testecf", "scope": "invoices:read"}
    transact = Database.transact_for

    async def answer_is_lost(*given: Any, **more: Any) -> Any:
        await transact(*given, **more)
        raise DatabaseUnavailable("the link broke before the answer")

    async def away(*_: Any, **__: Any) -> Any:
        raise DatabaseUnavailable("no link")

    monkeypatch.setattr(Database, "transact_for", answer_is_lost)
    lost = await owner.client.post(there, data=form)
    monkeypatch.setattr(Database, "run_for", away)
    reading = await owner.client.get(f"/companies/{tenant}/keys")
    monkeypatch.setattr(Database, "run", away)
    before_anything = await owner.client.post(there, data=form)
    monkeypatch.undo()
    again = await owner.client.post(there, data=form)

    assert {one.status_code for one in (lost, reading, before_anything)} == {503}
    assert "It is not known whether what you sent was done. Load this page again" in lost.text
    assert "Nothing was changed" not in lost.text
    assert "Nothing was changed" not in reading.text, "a form that was done may have led there"
    assert "Nothing was changed; try again in a moment" in before_anything.text
    assert (again.status_code, "it was done once" in again.text) == (409, True)
    assert len(await portal.db.run_for(tenant, keys.of_tenant)) == 1
