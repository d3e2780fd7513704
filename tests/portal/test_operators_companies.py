"""Companies, their terms and owners, and lockouts, as operators deal with them."""

from decimal import Decimal
from ipaddress import ip_address

import httpx
import trio

from fe.accounts import changes
from fe.identifiers import ApiKeyId, TenantId
from fe.store.postgres.db import Conn, Database
from fe.store.records import billing, throttle
from fe.store.records.throttle import AttemptLimits
from tests.factories.operators import act, tenant_of
from tests.factories.tenants import row, rows
from tests.portal.operators import WHY, operating
from tests.portal.running import Running, start_portal
from tests.waiting import until_waited_for

NEW = "/operators/companies/new"
COMPANY = {
    "name": "Ozama",
    "RNCEmisor": "131880738",
    "RazonSocialEmisor": "OZAMA SRL",
    "DireccionEmisor": "C/ El Conde 1",
}


async def test_a_company_is_made_and_what_is_wrong_is_said(portal: Running) -> None:
    async with operating(portal) as browser:
        for wrong in ({"RNCEmisor": "12"}, {"name": ""}, {"reason": ""}, {"name": "x" * 201}):
            await browser.get(NEW)
            page = await browser.send(NEW, COMPANY | WHY | wrong)
            assert (page.status_code, 'role="alert"' in page.text) == (400, True), wrong
            assert "C/ El Conde 1" in page.text
        await browser.get(NEW)
        page = await browser.send(NEW, COMPANY | WHY)
        assert "Company created." in page.text
        await browser.get(NEW)
        taken = await browser.send(NEW, COMPANY | WHY)
        assert taken.status_code == 400
        assert "Ozama" in (await browser.get("/operators/companies?q=ozam")).text
        assert "Ozama" not in (await browser.get("/operators/companies?q=yuna")).text

    (made,) = await rows(portal.db, "SELECT name, issuer ->> 'RNCEmisor' AS rnc FROM tenants")
    assert made == {"name": "Ozama", "rnc": "131880738"}
    assert (await row(portal.db, "SELECT action FROM operator_actions"))["action"] == "tenant create"
    (noted,) = await rows(portal.db, "SELECT action, subject, through, before, after FROM tenant_changes")
    assert (noted["action"], noted["subject"], noted["through"]) == ("company created", "Ozama", "portal")
    assert (noted["before"], noted["after"]["RNCEmisor"]) == (None, "131880738")


async def test_a_company_is_shut_out_and_let_in(portal: Running, tenant: TenantId) -> None:
    here = f"/operators/companies/{tenant}"
    async with operating(portal) as browser:
        stale = await browser.get(here)
        page = await browser.send(f"{here}/disable", WHY)
        assert "shut out since" in page.text
        browser.page = stale
        assert (await browser.send(f"{here}/disable", WHY)).status_code == 409
        await browser.get(here)
        page = await browser.send(f"{here}/enable", WHY)
        assert "The company is let in." in page.text

    assert not await rows(portal.db, "SELECT 1 AS n FROM disabled_tenants")
    acts = await rows(portal.db, "SELECT action FROM operator_actions ORDER BY at, action_id")
    assert [one["action"] for one in acts] == ["tenant disable", "tenant enable"]


async def test_terms_are_set_seen_and_ended(portal: Running, tenant: TenantId) -> None:
    here = f"/operators/companies/{tenant}"
    terms = {"subscription": "sub_1", "price": "0.035", "currency": "usd", "tier": "volume"}
    async with operating(portal) as browser:
        for wrong in ({"price": "1e3"}, {"price": "-1"}, {"currency": "JPY"}, {"subscription": "x"}, {"reason": ""}):
            await browser.get(here)
            page = await browser.send(f"{here}/terms", terms | WHY | wrong)
            assert (page.status_code, 'role="alert"' in page.text) == (409, True), wrong
        stale = await browser.get(here)
        page = await browser.send(f"{here}/terms", terms | WHY)
        assert ("The terms are set." in page.text, "0.0350 USD" in page.text) == (True, True)
        browser.page = stale
        assert (await browser.send(f"{here}/terms", terms | WHY)).status_code == 409
        await browser.get(here)
        assert "Billing stopped." in (await browser.send(f"{here}/terms/stop", WHY)).text

    acts = await rows(portal.db, "SELECT action FROM operator_actions ORDER BY at, action_id")
    assert [one["action"] for one in acts] == ["billing enable", "billing disable"]


async def test_terms_that_another_has_changed_meanwhile_are_not_said_to_be_set(
    portal: Running, operator_db: Database, tenant: TenantId
) -> None:
    """The change comes between the check of the old terms and the update; the request is on record before."""
    here = f"/operators/companies/{tenant}"
    terms = {"subscription": "sub_1", "price": "0.035", "currency": "usd", "tier": "volume"}
    pages: list[httpx.Response] = []

    async with operating(portal) as browser:
        await browser.get(here)

        async def sending() -> None:
            pages.append(await browser.send(f"{here}/terms", terms | WHY))

        async def setting(conn: Conn, nursery: trio.Nursery) -> None:
            # A change of terms holds the audit trail, which the request waits for.
            await billing.enable(
                conn, tenant, subscription_id="sub_2", unit_price=Decimal(1), currency="USD", pricing_tier="standard"
            )
            nursery.start_soon(sending)
            await until_waited_for(portal.db)

        async with trio.open_nursery() as both:
            await operator_db.transact(setting, both)

    (page,) = pages
    assert (page.status_code, "The terms are set." in page.text) == (409, False)
    assert "This was changed meanwhile" in page.text
    account = await operator_db.run(billing.account, tenant)
    assert account is not None
    assert account.subscription_id == "sub_2"


async def test_a_company_that_another_has_shut_out_meanwhile_is_shown_as_it_is(
    portal: Running, operator_db: Database, tenant: TenantId
) -> None:
    here = f"/operators/companies/{tenant}"
    pages: list[httpx.Response] = []

    async with operating(portal) as browser:
        await browser.get(here)

        async def sending() -> None:
            pages.append(await browser.send(f"{here}/disable", WHY))

        async def shutting_out(conn: Conn, nursery: trio.Nursery) -> None:
            await changes.disable_tenant(conn, await tenant_of(conn, tenant), act(portal.clock()))
            nursery.start_soon(sending)
            await until_waited_for(portal.db)

        async with trio.open_nursery() as both:
            await operator_db.transact(shutting_out, both)

    (page,) = pages
    assert (page.status_code, "The company is shut out." in page.text) == (409, False)
    assert "shut out since" in page.text


async def test_a_second_person_is_asked_for_what_costs_a_company_dear(
    nursery: trio.Nursery, db: Database, portal_db: Database, operator_db: Database, tenant: TenantId
) -> None:
    await rows(db, "UPDATE second_person SET more_than = 10")
    portal = await start_portal(nursery, db, portal_db, operator_db)
    here = f"/operators/companies/{tenant}"
    async with operating(portal) as olga, operating(portal, "oscar@fe.do") as oscar:
        await olga.get(here)
        page = await olga.send(f"{here}/disable", WHY)
        assert page.url.path.startswith("/operators/approvals/")
        assert not await rows(db, "SELECT 1 AS n FROM disabled_tenants")
        await oscar.get(page.url.path)
        await oscar.send(f"{page.url.path}/approve", {"reason": "agreed"})

    assert len(await rows(db, "SELECT 1 AS n FROM disabled_tenants")) == 1
    (noted,) = await rows(db, "SELECT by_whom, through, action FROM tenant_changes")
    assert noted == {"by_whom": "olga@fe.do", "through": "portal", "action": "company disabled"}


async def test_who_agreed_is_recorded_and_taken_back(portal: Running, tenant: TenantId) -> None:
    here = f"/operators/companies/{tenant}"
    async with operating(portal) as browser:
        await browser.get(here)
        assert (await browser.send(f"{here}/delegations", {"rnc": "12", **WHY})).status_code == 409
        await browser.get(here)
        page = await browser.send(f"{here}/delegations", {"rnc": "130000001", "reason": "contract 7"})
        assert "contract 7" in page.text
        assert (await browser.send(f"{here}/delegations", {"rnc": "130000001", **WHY})).status_code == 409
        await browser.get(here)
        assert "It is taken back." in (await browser.send(f"{here}/delegations/withdraw", WHY)).text

    assert not await rows(portal.db, "SELECT 1 AS n FROM issuer_delegations")


async def test_the_first_owner_is_invited_by_a_link_that_is_shown_once(portal: Running, tenant: TenantId) -> None:
    here = f"/operators/companies/{tenant}"
    async with operating(portal) as browser:
        await browser.get(here)
        page = await browser.send(f"{here}/owners", {"email": "duena@example.do", **WHY})
        assert page.status_code == 200
        assert f"{portal.url}/invitation/" in page.text
        assert "/invitation/" not in (await browser.get(here)).text
        again = await browser.send(f"{here}/owners", {"email": "duena@example.do", **WHY})
        assert (again.status_code, "is invited already" in again.text) == (409, True)
        link = page.text.partition(f"{portal.url}/invitation/")[2].partition("<")[0]

    (made,) = await rows(portal.db, "SELECT email, role::text, invited_by FROM invitations")
    assert made == {"email": "duena@example.do", "role": "owner", "invited_by": "olga@fe.do"}
    noted = await rows(portal.db, "SELECT detail::text AS said FROM operator_actions")
    assert not any(link in one["said"] for one in noted)


async def test_lockouts_of_keys_addresses_and_people_are_lifted(portal: Running) -> None:
    limits = AttemptLimits(address=1, key=1)
    key = throttle.bucket_of_key(ApiKeyId("fak_000000000001"))
    address = throttle.bucket_of_address(ip_address("203.0.113.7"))
    for _ in range(2):
        await portal.db.run(throttle.attempt, address, key, limits)
    await rows(portal.db, "UPDATE login_attempts SET locked_until = now() + interval '10 minutes' RETURNING 1")
    here = "/operators/lockouts"
    async with operating(portal) as browser:
        await rows(
            portal.db,
            "INSERT INTO login_attempts VALUES (%(bucket)s, 'person', '{}', now() + interval '5 minutes', now())"
            " RETURNING 1",
            bucket=throttle.bucket_of_person("olga@fe.do"),
        )
        page = await browser.get(here)
        assert "olga@fe.do" in page.text
        for who in ("nonsense", "fak_999999999999", "198.51.100.1"):
            refused = await browser.send(here, {"bucket": "", "who": who, **WHY})
            assert refused.status_code == 409, who
            await browser.get(here)
        for who in ("fak_000000000001", "203.0.113.7"):
            page = await browser.send(here, {"bucket": "", "who": who, **WHY})
            assert "The lockout is lifted." in page.text, who
        page = await browser.send(here, WHY)
        assert "There are no lockouts." in page.text

    acts = await rows(portal.db, "SELECT 1 AS n FROM operator_actions WHERE action = 'lockout lift'")
    assert len(acts) == 3
