"""Forms of receipts as drafts: kept over back, reload and switches; and the environment, which is the tab's own."""

from datetime import date, timedelta
from uuid import uuid4

import pytest

from fe.accounts.sequences import put
from fe.ecf.catalogue import EcfType, Environment
from fe.identifiers import TenantId
from fe.portal.pages.new_receipt import MAX_FORM_BYTES
from fe.store.portal import drafts
from fe.store.postgres.db import Database
from tests.factories.companies import make_certificate
from tests.factories.tenants import rows
from tests.portal.receipt_form import ReceiptForm
from tests.portal.running import Browser, Running


@pytest.fixture
async def able(portal: Running, tenant: TenantId) -> TenantId:
    """A company that can issue in production and in tests."""
    await make_certificate(portal.db, tenant)
    for environment in (Environment.ECF, Environment.TESTECF):
        for of in (EcfType.CREDIT_FISCAL, EcfType.CONSUMER):
            await portal.db.transact(
                put, tenant, environment, of.prefix, last_day=date(2028, 12, 31), now=portal.clock()
            )
    return tenant


async def begun(browser: Browser, tenant: TenantId, environment: str = "testecf") -> ReceiptForm:
    """A form that is filled in."""
    form = await ReceiptForm.open(browser, f"/companies/{tenant}/{environment}/new/32")
    form.type("item.NombreItem", "Café molido")
    form.type("item.PrecioUnitarioItem", "25")
    return form


async def issued(db: Database) -> int:
    return len(await rows(db, "SELECT submission_id FROM submissions"))


@pytest.mark.parametrize("button", ["check", "add:item", "remove:item:2", "issue"])
async def test_form_that_is_not_issued_is_answered_by_a_page_that_can_be_loaded_again(
    owner: Browser, able: TenantId, button: str
) -> None:
    form = await begun(owner, able)
    form.type("Encabezado.Comprador.RNCComprador", "12" if button == "issue" else "")

    answer = await form.press(button)

    assert [one.status_code for one in answer.history] == [303]
    assert answer.request.method == "GET"
    again = await owner.get(answer.url.path)
    assert (again.status_code, "Café molido" in again.text) == (answer.status_code, True)
    assert ('id="checked"' in again.text) == (button in ("check", "issue"))


async def test_switch_of_the_language_keeps_the_form(owner: Browser, able: TenantId) -> None:
    form = await begun(owner, able)

    await form.press("language:es")

    assert '<html lang="es">' in form.text
    assert form.value("item.NombreItem") == "Café molido"


async def test_switch_of_the_environment_keeps_the_form_as_another_receipt(owner: Browser, able: TenantId) -> None:
    form = await begun(owner, able)
    before = form.value("form")

    await form.press("environment:certecf")

    assert form.url is not None
    assert form.url.path == f"/companies/{able}/certecf/new/32/{form.value('form')}"
    assert form.value("item.NombreItem") == "Café molido"
    assert form.value("form") != before


async def test_draft_is_kept_while_somebody_types_and_after_a_form_that_is_too_large(
    owner: Browser, able: TenantId
) -> None:
    form = await begun(owner, able)
    there = f"{form.path}/{form.value('form')}"
    sent = {**form.sent("save")}

    kept = await owner.client.post(form.path, data=sent)
    sent["more"] = ["x" * (MAX_FORM_BYTES + 1)]
    too_large = await owner.client.post(form.path, data=sent, headers={"Referer": f"{owner.portal.url}{there}"})

    assert (kept.status_code, kept.content) == (204, b"")
    assert too_large.status_code == 413
    assert f'href="{there}"' in too_large.text
    assert "Café molido" in (await owner.get(there)).text


async def test_draft_of_another_person_or_company_or_type_is_not_shown(
    portal: Running, owner: Browser, able: TenantId
) -> None:
    form = await begun(owner, able)
    await form.press("check")
    assert form.url is not None
    there = form.url.path

    other_type = await owner.get(there.replace("/32/", "/31/"))
    unknown = await owner.get(f"/companies/{able}/testecf/new/32/{uuid4()}")
    async with portal.browser(await portal.person(able, email="b@example.do")) as other:
        other_person = await other.get(there)

    for page in (other_type, unknown, other_person):
        assert (page.status_code, 'value="Café molido"' in page.text) == (200, False)
        assert page.url.path.endswith(("/new/31", "/new/32"))
    assert "is no longer kept" in unknown.text


async def test_draft_ends_with_its_receipt_to_which_its_page_leads_then(
    portal: Running, owner: Browser, able: TenantId
) -> None:
    form = await begun(owner, able)
    await form.press("check")
    assert form.url is not None
    there = form.url.path
    await form.press("issue")
    assert form.url.path.startswith(f"/companies/{able}/testecf/submissions/")

    back = await owner.get(there)

    assert back.url.path == form.url.path
    assert await rows(portal.db, "SELECT draft_id FROM portal_drafts") == []


async def test_drafts_are_few_and_forgotten_in_time(portal: Running, owner: Browser, able: TenantId) -> None:
    form = await begun(owner, able)
    for _ in range(drafts.MOST + 3):
        form.type("form", str(uuid4()))
        await owner.client.post(form.path, data=form.sent("save"))
    assert len(await rows(portal.db, "SELECT draft_id FROM portal_drafts")) == drafts.MOST

    await portal.db.run(drafts.forget, portal.clock() + drafts.KEPT + timedelta(minutes=1))

    assert await rows(portal.db, "SELECT draft_id FROM portal_drafts") == []


async def test_receipt_of_production_is_issued_once_its_total_was_looked_at(
    portal: Running, owner: Browser, able: TenantId
) -> None:
    form = await begun(owner, able, "ecf")

    await form.press("issue")
    assert "not issued yet" in form.text
    assert "RD$ 29.50</span></button>" in form.text
    assert await issued(portal.db) == 0

    form.type("item.PrecioUnitarioItem", "250")
    await form.press("issue")
    assert "RD$ 295.00</span></button>" in form.text, "what was changed is looked at again"
    assert await issued(portal.db) == 0

    await form.press("issue")
    assert await issued(portal.db) == 1


@pytest.mark.parametrize(("shown", "price", "is_issued"), [("29.50", "25", 1), ("29.49", "25", 0), ("0.00", "0", 0)])
async def test_receipt_of_production_is_issued_at_once_where_its_total_was_on_the_button(
    portal: Running, owner: Browser, able: TenantId, shown: str, price: str, is_issued: int
) -> None:
    """A price of 0 is asked about all the same."""
    form = await begun(owner, able, "ecf")
    form.type("item.PrecioUnitarioItem", price)
    form.type("shown", shown)

    await form.press("issue")

    assert await issued(portal.db) == is_issued


async def test_receipt_of_a_trial_is_issued_at_once(portal: Running, owner: Browser, able: TenantId) -> None:
    form = await begun(owner, able)

    await form.press("issue")

    assert await issued(portal.db) == 1


async def test_environment_is_that_of_the_tab_and_not_of_the_browser(owner: Browser, able: TenantId) -> None:
    company = f"/companies/{able}"
    tests = await owner.get(f"{company}/testecf/submissions")
    settings = f"{company}/settings?environment=testecf"
    assert f'href="{settings}"' in tests.text
    await owner.get(f"{company}/ecf/submissions")  # another tab

    page = await owner.get(settings)

    assert f'href="{company}/testecf/new"' in page.text
    assert f'href="{company}/ecf/new"' not in page.text
    assert f'action="{settings}"' in page.text
    assert ">Tests</span>" in page.text
    assert "environment" not in owner.client.cookies
    production = await owner.get(f"{company}/settings")
    assert f'href="{company}/ecf/new"' in production.text
    assert ">Production</span>" in production.text


async def test_switch_of_the_language_keeps_the_filter_of_a_list(owner: Browser, able: TenantId) -> None:
    here = f"/companies/{able}/testecf/submissions"
    await owner.get(f"{here}?state=rejected&type=31")

    page = await owner.send("/language")

    assert (page.url.path, dict(page.url.params)) == (here, {"state": "rejected", "type": "31"})
    assert '<html lang="es">' in page.text


async def test_new_form_offers_the_unfinished_receipt_of_its_environment_until_it_is_discarded(
    portal: Running, owner: Browser, able: TenantId, db: Database
) -> None:
    form = await begun(owner, able)
    await owner.client.post(form.path, data=form.sent("save"))
    base = f"/companies/{able}/testecf/new"
    draft = f"{base}/32/{form.value('form')}"
    offered = [await owner.get(page) for page in (f"{base}/31", f"{base}?types")]
    elsewhere = await owner.get(f"/companies/{able}/ecf/new/32")
    resumed = await ReceiptForm.open(owner, draft)
    async with portal.browser(await portal.person(able, email="otra@x.do")) as colleague:
        others = await colleague.get(f"{base}/32")

    assert [(f'href="{draft}"' in page.text, "E32 · <bdi>Café molido</bdi>" in page.text) for page in offered] == [
        *((True, True), (True, True))
    ]
    assert resumed.value("item.NombreItem") == "Café molido"
    assert ["unfinished receipt" in page for page in (elsewhere.text, others.text, resumed.text)] == [False] * 3

    await owner.get(f"{base}/32")
    gone = await owner.send(draft)
    assert "The unfinished receipt is discarded" in gone.text
    assert "There is an unfinished receipt" not in gone.text
    assert await rows(db, "SELECT draft_id FROM portal_drafts") == []


async def test_issued_receipt_is_not_offered_as_unfinished(owner: Browser, able: TenantId) -> None:
    form = await begun(owner, able)
    await form.press("check")
    await form.press("issue")
    page = await owner.get(f"/companies/{able}/testecf/new/32")

    assert "There is an unfinished receipt" not in page.text
