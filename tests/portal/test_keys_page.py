"""Keys by a form: one for each form, its secret once, and revoked at once."""

from datetime import timedelta
from uuid import uuid4

import pytest
import trio

from fe.accounts.keys import REVOKED_CHANNEL, SCOPES, Peppers
from fe.identifiers import ApiKeyId, TenantId
from fe.portal.pages.keys import SCOPE_WORDS
from fe.store.portal import changes
from fe.store.portal.people import PortalRole
from fe.store.postgres.db import Conn
from fe.store.records import keys
from fe.store.records.keys import ApiKey
from tests.http.front import PEPPER, make_key, make_tenant
from tests.portal.running import Browser, Running, hidden_fields
from tests.portal.typed import filled
from tests.waiting import until, until_listened_to


async def keys_of(portal: Running, tenant: TenantId) -> list[ApiKey]:
    return await portal.db.run(keys.of_tenant, tenant)


def new(tenant: TenantId) -> str:
    return f"/companies/{tenant}/keys/new"


async def test_a_key_is_made_and_its_secret_shown_once(portal: Running, owner: Browser, tenant: TenantId) -> None:
    page = await owner.get(new(tenant))
    for scope in SCOPES:
        assert f'value="{scope}"' in page.text
        assert SCOPE_WORDS[scope].en in page.text
    fields = {
        "name": "Caja <b>2</b>",
        "environment": "certecf",
        "scope": ["invoices:read", "usage:read"],
        "expires": "",
    }

    page = await owner.send(new(tenant), fields)

    (made,) = await keys_of(portal, tenant)
    assert (made.scopes, made.environment, made.expires_at) == (["invoices:read", "usage:read"], "certecf", None)
    secret = page.text.partition('id="key-secret">')[2].partition("<")[0]
    assert Peppers({"": PEPPER}).find(secret, made.secret_hash) == ""
    assert page.headers["cache-control"] == "no-store"
    assert 'data-copy="#key-secret"' in page.text
    for path in ("keys", f"keys/{made.api_key_id}", "changes", "changes/export"):
        page = await owner.get(f"/companies/{tenant}/{path}")
        assert (page.status_code, secret in page.text) == (200, False), path
        assert "<b>2</b>" not in page.text or path == "changes/export"
    (change,) = await portal.db.run(changes.latest, tenant, limit=9)
    assert (change.action, change.subject) == ("key created", made.api_key_id)
    assert secret not in str(change)


async def test_a_form_sent_twice_makes_one_key(portal: Running, owner: Browser, tenant: TenantId) -> None:
    page = await owner.get(new(tenant))
    fields = hidden_fields(page.text, new(tenant)) | {"environment": "ecf", "scope": "usage:read", "name": "x"}
    codes: list[int] = []

    async def send() -> None:
        codes.append((await owner.client.post(new(tenant), data=fields)).status_code)

    async with trio.open_nursery() as both:
        both.start_soon(send)
        both.start_soon(send)

    assert sorted(codes) == [200, 409]
    assert len(await keys_of(portal, tenant)) == 1


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"scope": []}, "without any scope"),
        ({"scope": ["everything"]}, "there is no scope everything"),
        ({"environment": "prod"}, "Choose an environment"),
        ({"expires": "2020-01-01"}, "lies in the past"),
        ({"expires": "31-31-2030"}, "not a date"),
        ({"expires": "9999-12-31"}, "not a date"),
        ({"name": "x" * 10_000}, "at most 200 characters"),
        ({"name": "a\u202eb"}, "at most 200 characters"),
    ],
)
async def test_what_cannot_be_is_said_and_no_key_is_made(
    portal: Running, owner: Browser, tenant: TenantId, fields: dict[str, object], said: str
) -> None:
    await owner.get(new(tenant))

    page = await owner.send(new(tenant), {"environment": "ecf", "scope": ["usage:read"], "name": "till"} | fields)

    assert (page.status_code, said in page.text) == (400, True)
    assert await keys_of(portal, tenant) == []
    if "scope" not in fields:
        assert filled(page.text, new(tenant))["scope"] == ["usage:read"], "what was ticked is kept"


async def test_a_key_ends_with_its_last_day(portal: Running, owner: Browser, tenant: TenantId) -> None:
    await owner.get(new(tenant))
    day = (portal.clock() + timedelta(days=3)).date()
    fields = {"environment": "ecf", "scope": ["usage:read"], "expires": day.isoformat()}

    await owner.send(new(tenant), fields)

    (made,) = await keys_of(portal, tenant)
    assert made.expires_at is not None
    assert made.expires_at.date() == day + timedelta(days=1), "at midnight in Santo Domingo"
    portal.clock.ahead = timedelta(days=9)
    async with portal.browser(await portal.person(tenant, email="later@example.do")) as browser:
        assert "expired" in (await browser.get(f"/companies/{tenant}/keys")).text


async def test_a_key_is_revoked_and_every_process_is_told(
    portal: Running, owner: Browser, tenant: TenantId, nursery: trio.Nursery
) -> None:
    key = await make_key(portal.db, tenant)
    told: list[str] = []
    nursery.start_soon(portal.db.listen, REVOKED_CHANNEL, told.append)

    async def used(conn: Conn) -> None:
        await conn.execute("SELECT note_key_use(%s, %s, %s)", (tenant, key.api_key_id, portal.clock()))

    await portal.db.transact(used)
    page = await owner.get(f"/companies/{tenant}/keys/{key.api_key_id}")
    assert page.text.count("never") == 0, "it was used"
    await until_listened_to(portal.db, REVOKED_CHANNEL)

    page = await owner.send(f"/companies/{tenant}/keys/{key.api_key_id}/revoke")

    assert (page.status_code, "refused from now on" in page.text) == (200, True)
    assert "revoked" in page.text
    (kept,) = await keys_of(portal, tenant)
    assert kept.revoked_at is not None
    await until(lambda: key.api_key_id in told)
    assert (await portal.db.run(changes.latest, tenant, limit=1))[0].action == "key revoked"


async def test_a_key_is_rolled_with_an_overlap(portal: Running, owner: Browser, tenant: TenantId) -> None:
    old = await make_key(portal.db, tenant)
    at = f"/companies/{tenant}/keys/{old.api_key_id}"
    await owner.get(at)
    refused = await owner.send(f"{at}/roll", {"overlap": "8760"})
    assert (refused.status_code, "how long the old key" in refused.text) == (400, True)

    page = await owner.send(f"{at}/roll", {"overlap": "24"})
    await owner.get(at)
    again = await owner.send(f"{at}/roll", {"overlap": "24"})

    assert (again.status_code, "create a new key" in again.text) == (400, True)
    before, after = await keys_of(portal, tenant)
    assert (after.environment, after.scopes, after.name) == (before.environment, before.scopes, before.name)
    secret = page.text.partition('id="key-secret">')[2].partition("<")[0]
    assert Peppers({"": PEPPER}).find(secret, after.secret_hash) == ""
    assert before.expires_at is not None
    assert timedelta(hours=23) < before.expires_at - after.created_at < timedelta(hours=25)
    actions = [one.action for one in await portal.db.run(changes.latest, tenant, limit=2)]
    assert sorted(actions) == ["key created", "key rolled"]


async def test_roles_and_other_companies(portal: Running, owner: Browser, tenant: TenantId) -> None:
    key = await make_key(portal.db, tenant)
    base = f"/companies/{tenant}/keys"
    for role in (PortalRole.MEMBER, PortalRole.ACCOUNTANT):
        async with portal.browser(await portal.person(tenant, role, email=f"{role}@example.do")) as browser:
            page = await browser.get(f"{base}/{key.api_key_id}")
            assert (page.status_code, "/revoke" in page.text) == (200, False)
            proof = hidden_fields(page.text, "/sign-out") | {"form": str(uuid4())}
            for path in ("new", f"{key.api_key_id}/revoke", f"{key.api_key_id}/roll"):
                assert (await browser.client.post(f"{base}/{path}", data=proof)).status_code == 403
    stranger = await make_tenant(portal.db, "Otra SRL")
    theirs = await make_key(portal.db, stranger)
    page = await owner.get(base)
    proof = hidden_fields(page.text, "/sign-out") | {"form": str(uuid4())}
    for other in (theirs.api_key_id, ApiKeyId("fak_000000000000"), "%00"):
        assert (await owner.get(f"{base}/{other}")).status_code == 404
        assert (await owner.client.post(f"{base}/{other}/revoke", data=proof)).status_code == 404
    assert theirs.api_key_id not in page.text
    (kept,) = await keys_of(portal, stranger)
    assert kept.revoked_at is None
    portal.clock.ahead = timedelta(minutes=11)
    asked = await owner.client.get(new(tenant))
    assert asked.headers["location"].partition("?")[0] == "/again"
