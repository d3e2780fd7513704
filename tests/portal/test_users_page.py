"""A company's users by a form: made, changed, removed; only their own company's."""

from uuid import uuid4

import pytest

from fe.identifiers import TenantId, UserId
from fe.store.portal import changes
from fe.store.portal.people import PortalRole
from fe.store.records import tenants
from fe.store.records.tenants import User
from tests.factories import tenants as factories
from tests.factories.companies import make_certificate
from tests.factories.tenants import make_submission
from tests.http.front import ISSUER, make_tenant
from tests.portal.running import Browser, Running, hidden_fields
from tests.portal.typed import filled

EMAIL = "santiago@example.do"


async def users_of(portal: Running, tenant: TenantId) -> list[User]:
    return await portal.db.run(tenants.users_of, tenant)


async def create(owner: Browser, tenant: TenantId, email: str = EMAIL, **fields: str) -> User | None:
    action = f"/companies/{tenant}/users/new"
    page = await owner.get(action)
    await owner.send(action, filled(page.text, action) | {"email": email, **fields})
    return None


async def test_a_user_is_made_changed_and_removed(portal: Running, owner: Browser, tenant: TenantId) -> None:
    await create(owner, tenant, Sucursal="Santiago", DireccionEmisor="Calle del Sol 2")
    (user,) = await users_of(portal, tenant)
    assert user.issuer_override == {"Sucursal": "Santiago", "DireccionEmisor": "Calle del Sol 2"}
    assert owner.page is not None
    assert EMAIL in owner.page.text

    action = f"/companies/{tenant}/users/{user.user_id}"
    page = await owner.get(action)
    assert 'placeholder="Empresa de Prueba SRL"' in page.text, "what it is where it is left empty"
    page = await owner.send(action, filled(page.text, action) | {"Sucursal": "", "DireccionEmisor": ""})
    assert page.status_code == 200
    assert (await users_of(portal, tenant))[0].issuer_override is None

    await owner.get(action)
    page = await owner.send(f"{action}/remove")
    assert (page.status_code, EMAIL in page.text) == (200, False)
    assert await users_of(portal, tenant) == []
    found = await portal.db.run(changes.latest, tenant, limit=9)
    assert [each.action for each in found] == ["user removed", "user changed", "user created"]
    assert found[1].before == {"Sucursal": "Santiago", "DireccionEmisor": "Calle del Sol 2"}


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"email": "nobody"}, "is not an e-mail address"),
        ({"email": "x" * 10_000 + "@b"}, "is not an e-mail address"),
        ({"RNCEmisor": "1"}, "9 digits"),
        ({"email": "<img src=x onerror=alert(1)>"}, "&lt;img src=x"),
    ],
)
async def test_what_cannot_be_is_said_and_nothing_is_made(
    portal: Running, owner: Browser, tenant: TenantId, fields: dict[str, str], said: str
) -> None:
    action = f"/companies/{tenant}/users/new"
    page = await owner.get(action)

    page = await owner.send(action, filled(page.text, action) | {"email": EMAIL, "WebSite": "typed.example"} | fields)

    assert page.status_code in (400, 409)
    assert said in page.text
    assert "typed.example" in page.text
    assert "<img" not in page.text
    assert await users_of(portal, tenant) == []


async def test_a_user_issues_under_no_other_companys_rnc(portal: Running, owner: Browser, tenant: TenantId) -> None:
    await factories.make_tenant(portal.db, issuer={**ISSUER, "RNCEmisor": "101000001"})

    await create(owner, tenant, RNCEmisor="101000001")

    assert owner.page is not None
    assert (owner.page.status_code, "is that of another taxpayer" in owner.page.text) == (409, True)
    assert await users_of(portal, tenant) == []
    await create(owner, tenant, RNCEmisor="101000002")  # no tenant's: the authority knows the delegation
    (user,) = await users_of(portal, tenant)
    action = f"/companies/{tenant}/users/{user.user_id}"
    page = await owner.get(action)
    page = await owner.send(action, filled(page.text, action) | {"RNCEmisor": "101000001"})
    assert (page.status_code, "is that of another taxpayer" in page.text) == (409, True)
    assert (await users_of(portal, tenant))[0].issuer_override == {"RNCEmisor": "101000002"}


async def test_an_address_is_taken_once(portal: Running, owner: Browser, tenant: TenantId) -> None:
    await create(owner, tenant)
    await create(owner, tenant, EMAIL.upper())

    assert owner.page is not None
    assert (owner.page.status_code, "already" in owner.page.text) == (409, True)
    assert len(await users_of(portal, tenant)) == 1


async def test_who_signs_something_stays(portal: Running, owner: Browser, tenant: TenantId) -> None:
    await create(owner, tenant)
    (user,) = await users_of(portal, tenant)
    await make_submission(portal.db, tenant, as_user=EMAIL)
    action = f"/companies/{tenant}/users/{user.user_id}"

    await owner.get(action)
    refused = await owner.send(f"{action}/remove")
    assert (refused.status_code, "1 document waits to be signed as" in refused.text) == (409, True)

    await make_certificate(portal.db, tenant, user_id=user.user_id)
    await owner.get(action)
    refused = await owner.send(f"{action}/remove")
    assert "has a certificate in use: retire it first" in refused.text
    assert "fe certificate" not in refused.text
    assert len(await users_of(portal, tenant)) == 1


async def test_a_form_from_before_somebody_elses_change_is_refused(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    await create(owner, tenant)
    (user,) = await users_of(portal, tenant)
    action = f"/companies/{tenant}/users/{user.user_id}"
    page = await owner.get(action)
    await portal.db.run(tenants.change_user, tenant, user.user_id, {"Sucursal": "Moca"})

    page = await owner.send(action, filled(page.text, action) | {"Sucursal": "Santiago"})

    assert page.status_code == 409
    assert (await users_of(portal, tenant))[0].issuer_override == {"Sucursal": "Moca"}


async def test_roles_and_other_companies(portal: Running, owner: Browser, tenant: TenantId) -> None:
    await create(owner, tenant)
    (user,) = await users_of(portal, tenant)
    base = f"/companies/{tenant}/users"
    async with portal.browser(await portal.person(tenant, PortalRole.ACCOUNTANT, email="c@example.do")) as browser:
        page = await browser.get(base)
        assert (EMAIL in page.text, "users/new" in page.text) == (True, False)
        page = await browser.get(f"{base}/{user.user_id}")
        assert "/remove" not in page.text
        proof = hidden_fields(page.text, "/sign-out") | {"form": str(uuid4())}
        for path in (f"{base}/new", f"{base}/{user.user_id}", f"{base}/{user.user_id}/remove"):
            assert (await browser.client.post(path, data=proof)).status_code == 403
    stranger = await make_tenant(portal.db, "Otra SRL")
    theirs = await portal.db.run(tenants.create_user, stranger, UserId(uuid4()), "otra@example.do", None)
    assert theirs is not None
    page = await owner.get(base)
    proof = hidden_fields(page.text, "/sign-out") | {"form": str(uuid4()), "shown": "x"}
    assert (await owner.get(f"{base}/{theirs.user_id}")).status_code == 404
    assert (await owner.get(f"{base}/not-a-uuid")).status_code == 404
    for path in (f"{base}/{theirs.user_id}", f"{base}/{theirs.user_id}/remove"):
        assert (await owner.client.post(path, data=proof)).status_code == 404
    assert await users_of(portal, stranger) == [theirs]
