"""A company's fiscal data by a form: the format's own fields and rules, said beside the field, and never half."""

import re

import pytest

from fe.accounts import audited_changes
from fe.accounts.audited_changes import Author
from fe.identifiers import TenantId
from fe.portal.issuer_form import issuer_fields
from fe.store.portal import changes
from fe.store.portal.people import PortalRole
from fe.store.records import issuers, tenants
from fe.store.records.issuers import Delegation
from fe.store.records.tenants import Tenant
from tests.factories import tenants as factories
from tests.factories.tenants import make_submission
from tests.http.front import ISSUER, make_tenant
from tests.portal.running import PASSWORD, Browser, Running, hidden_fields
from tests.portal.typed import filled


async def now_of(portal: Running, tenant: TenantId) -> Tenant:
    found = await portal.db.run(tenants.by_id, tenant)
    assert found is not None
    return found


async def test_every_field_of_the_format_is_in_the_form(owner: Browser, tenant: TenantId) -> None:
    page = await owner.get(f"/companies/{tenant}/settings")

    names = {field.name for field in issuer_fields()}
    assert {"RNCEmisor", "TelefonoEmisor", "Municipio", "InformacionAdicionalEmisor"} < names
    assert len(names) == 13
    assert not names & {"FechaEmision", "NumeroFacturaInterna", "NumeroPedidoInterno", "ZonaVenta", "RutaVenta"}
    for name in names:
        assert f'name="{name}"' in page.text, name
    assert '<option lang="es" value="320000">Santo Domingo</option>' in page.text
    assert '<optgroup lang="es" label="Santo Domingo">' in page.text


async def test_fiscal_data_are_changed_and_the_change_is_on_record(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    page = await owner.get(f"/companies/{tenant}/settings")
    fields = filled(page.text, f"/companies/{tenant}/settings")
    fields |= {
        "NombreComercial": "Café & Té",
        "Provincia": "010000",
        "Municipio": "010100",
        "TelefonoEmisor": ["809-555-0142", "", "829-555-0142"],
        "consumer_summary": "off",
    }

    page = await owner.send(f"/companies/{tenant}/settings", fields)

    assert (page.status_code, "Company data changed" in page.text) == (200, True)
    kept = await now_of(portal, tenant)
    assert kept.issuer == {
        **ISSUER,
        "NombreComercial": "Café & Té",
        "Provincia": "010000",
        "Municipio": "010100",
        "TablaTelefonoEmisor": {"TelefonoEmisor": ["809-555-0142", "829-555-0142"]},
    }
    assert kept.consumer_summary == "off"
    (change,) = await portal.db.run(changes.latest, tenant, limit=9)
    assert (change.action, change.by_whom, change.through) == ("company changed", "ana@example.do", "portal")
    assert change.before == {"consumerSummary": "automatic"}
    assert set(change.after or {}) == {
        "NombreComercial",
        "Provincia",
        "Municipio",
        "TablaTelefonoEmisor",
        "consumerSummary",
    }
    page = await owner.get(f"/companies/{tenant}/settings")
    assert 'value="829-555-0142"' in page.text
    assert '<option lang="es" value="010100" selected>' in page.text
    await owner.send(f"/companies/{tenant}/settings", filled(page.text, f"/companies/{tenant}/settings"))
    assert len(await portal.db.run(changes.latest, tenant, limit=9)) == 1, "nothing changed: nothing to record"


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("RNCEmisor", "12", "9 digits"),
        ("RNCEmisor", "", "RNC"),
        ("RazonSocialEmisor", "x" * 10_000, "150"),
        ("TelefonoEmisor", "809555014", ""),
        ("CorreoEmisor", "nobody", ""),
        ("Municipio", "999999", ""),
        ("NombreComercial", "a\x0cb", ""),
        ("name", "", "1 to 200"),
        ("name", "a\u202eb", "1 to 200"),
    ],
)
async def test_what_is_wrong_is_said_beside_its_field_and_what_was_typed_is_kept(
    portal: Running, owner: Browser, tenant: TenantId, field: str, value: str, said: str
) -> None:
    action = f"/companies/{tenant}/settings"
    page = await owner.get(action)
    before = await now_of(portal, tenant)

    page = await owner.send(action, filled(page.text, action) | {"WebSite": "typed.example", field: value})

    assert page.status_code in (400, 409)
    behind = page.text.partition(f'name="{field}"')[2]
    beside = behind[: behind.find("<label")]
    assert 'class="wrong"' in beside, "beside its field"
    assert said in beside
    assert "typed.example" in page.text
    assert await now_of(portal, tenant) == before
    fixed = filled(page.text, action) | {field: {"name": "Fixed", **ISSUER}.get(field, "")}
    assert (await owner.send(action, fixed)).status_code == 200


async def test_html_in_a_name_is_text(owner: Browser, tenant: TenantId) -> None:
    action, bad = f"/companies/{tenant}/settings", "<img src=x onerror=alert(1)>"
    page = await owner.get(action)

    page = await owner.send(action, filled(page.text, action) | {"NombreComercial": bad, "name": bad})

    assert page.status_code == 200
    assert "<img" not in page.text
    assert "&lt;img src=x" in page.text


async def test_a_form_from_before_somebody_elses_change_is_refused(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    action = f"/companies/{tenant}/settings"
    page = await owner.get(action)
    stale = filled(page.text, action)
    await portal.db.transact(
        audited_changes.update_tenant,
        Author("bob", portal.clock(), "cli"),
        await now_of(portal, tenant),
        issuer={"NombreComercial": "By another"},
    )

    page = await owner.send(action, stale | {"NombreComercial": "Mine"})

    assert (page.status_code, "This was changed meanwhile" in page.text) == (409, True)
    assert (await now_of(portal, tenant)).issuer["NombreComercial"] == "By another"


async def test_who_shows_again_who_it_is_in_another_tab_loses_nothing_that_was_typed(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    there = f"/companies/{tenant}/settings"
    page = await owner.get(there)
    typed = filled(page.text, there) | {"NombreComercial": "Lo que se escribió"}
    before = hidden_fields(page.text, there) | typed
    await owner.get("/again")
    await owner.send("/again", {"password": PASSWORD})

    stale = await owner.client.post(there, data=before)

    assert (stale.status_code, "Your text is here" in stale.text) == (403, True)
    assert 'value="Lo que se escribió"' in stale.text
    assert "Lo que se escribió" not in (await owner.client.get(there)).text, "nothing was changed"
    owner.page = stale
    saved = await owner.send(there, filled(stale.text, there))
    assert 'value="Lo que se escribió"' in saved.text
    assert "Company data changed" in saved.text


async def test_the_same_form_does_its_work_once(owner: Browser, tenant: TenantId) -> None:
    action = f"/companies/{tenant}/settings"
    page = await owner.get(action)
    fields = filled(page.text, action) | hidden_fields(page.text, action)

    assert (await owner.client.post(action, data=fields)).status_code == 303
    assert (await owner.client.post(action, data=fields)).status_code == 409


async def test_the_rnc_of_who_has_issued_stays(portal: Running, tenant: TenantId) -> None:
    await make_submission(portal.db, tenant)
    person = await portal.person(tenant, language="es")
    async with portal.browser(person, "es") as browser:
        action = f"/companies/{tenant}/settings"
        page = await browser.get(action)
        page = await browser.send(action, filled(page.text, action) | {"RNCEmisor": "101000001"})

    assert page.status_code == 409
    assert "otro RNC es otro contribuyente" in page.text
    assert "fe tenant create" not in page.text, "commands are not for people"


async def test_another_companys_rnc_is_its_own_until_an_operator_recorded_a_delegation(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    await factories.make_tenant(portal.db, issuer={**ISSUER, "RNCEmisor": "101000001"})
    action = f"/companies/{tenant}/settings"
    page = await owner.get(action)

    page = await owner.send(action, filled(page.text, action) | {"RNCEmisor": "101000001"})

    assert (page.status_code, "is that of another taxpayer" in page.text) == (409, True)
    assert (await now_of(portal, tenant)).issuer["RNCEmisor"] == ISSUER["RNCEmisor"]
    now = portal.clock()
    assert await portal.db.run(issuers.record, Delegation(tenant, "101000001", now, "olga", "a letter"))
    page = await owner.send(action, filled(page.text, action) | {"RNCEmisor": "101000001"})
    assert page.status_code == 200
    assert (await now_of(portal, tenant)).issuer["RNCEmisor"] == "101000001"


async def test_another_companys_name_is_taken(portal: Running, owner: Browser, tenant: TenantId) -> None:
    await make_tenant(portal.db, "Otra SRL")
    action = f"/companies/{tenant}/settings"
    page = await owner.get(action)

    page = await owner.send(action, filled(page.text, action) | {"name": "Otra SRL"})

    assert page.status_code == 409
    assert "already" in page.text


async def test_only_an_owner_changes_them(portal: Running, owner: Browser, tenant: TenantId) -> None:
    action = f"/companies/{tenant}/settings"
    fields = filled((await owner.get(action)).text, action)
    for role in (PortalRole.MEMBER, PortalRole.ACCOUNTANT):
        person = await portal.person(tenant, role, email=f"{role}@example.do")
        async with portal.browser(person) as browser:
            page = await browser.get(action)
            assert ISSUER["RazonSocialEmisor"] in page.text
            assert not re.search(f'<form[^>]*action="{action}"', page.text)
            proof = hidden_fields(page.text, "/sign-out")
            refused = await browser.client.post(action, data=fields | proof)
            assert refused.status_code == 403, role
    stranger = await make_tenant(portal.db, "Otra SRL")
    assert (await owner.get(f"/companies/{stranger}/settings")).status_code == 404
