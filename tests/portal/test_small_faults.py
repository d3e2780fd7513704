"""Single faults that people met at forms and lists, each as they met it."""

from datetime import UTC, date, datetime, timedelta
from uuid import UUID

import pytest

from fe.accounts.sequences import put
from fe.ecf.catalogue import EcfType, Environment
from fe.identifiers import SequenceId, TenantId
from fe.lifecycle import Status
from fe.portal.attention import notices
from fe.store.portal.people import PortalRole
from fe.store.postgres.db import Database
from fe.store.records.sequences import Sequence
from tests.factories.companies import make_certificate
from tests.factories.tenants import rows
from tests.portal.operators import WHY, operating
from tests.portal.receipt_form import ReceiptForm
from tests.portal.receipts import make_receipt, make_received
from tests.portal.running import Browser, Running


async def test_sequence_form_takes_whole_numbers_as_the_authority_writes_them(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    there = f"/companies/{tenant}/testecf/sequences"
    await owner.get(there)

    page = await owner.send(
        there, {"prefix": "E32", "minimum": "E320000000001", "maximum": "e320000000500", "active": "yes"}
    )

    assert "Sequence created." in page.text
    made = await rows(portal.db, "SELECT min_number AS a, max_number AS b FROM sequences")
    assert made == [{"a": 1, "b": 500}]


async def test_sequence_form_with_a_last_day_that_has_passed_is_refused(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    there = f"/companies/{tenant}/testecf/sequences"
    await owner.get(there)

    page = await owner.send(there, {"prefix": "E31", "minimum": "1", "maximum": "9", "expires": "2020-12-31"})

    assert (page.status_code, "The last day has passed" in page.text) == (400, True)
    assert await rows(portal.db, "SELECT 1 AS n FROM sequences") == []


async def test_exhausted_sequence_is_the_headline_of_the_check(portal: Running, tenant: TenantId) -> None:
    await make_certificate(portal.db, tenant)
    await portal.db.transact(put, tenant, Environment.TESTECF, "E32", minimum=1, maximum=1, now=portal.clock())
    await rows(portal.db, "UPDATE sequences SET current_number = 2")
    async with portal.browser(await portal.person(tenant, language="es")) as browser:
        form = await ReceiptForm.open(browser, f"/companies/{tenant}/testecf/new/32")
        form.type("item.NombreItem", "Café")
        form.type("item.PrecioUnitarioItem", "25")
        await form.press("issue")

    assert "No quedan números E32: agregue un rango" in form.text
    assert "falta eNCF" not in form.text


async def test_purchase_form_speaks_of_the_supplier_and_says_what_to_pay(portal: Running, tenant: TenantId) -> None:
    await make_certificate(portal.db, tenant)
    await portal.db.transact(put, tenant, Environment.TESTECF, "E41", last_day=date(2028, 12, 31), now=portal.clock())
    async with portal.browser(await portal.person(tenant, language="es")) as browser:
        form = await ReceiptForm.open(browser, f"/companies/{tenant}/testecf/new/41")
        section = form.text.partition('<section id="buyer">')[2].partition("</section>")[0]
        for name, value in (
            ("Encabezado.Comprador.RNCComprador", "131880657"),
            ("Encabezado.Comprador.RazonSocialComprador", "Suplidora SRL"),
            ("item.NombreItem", "Madera"),
            ("item.PrecioUnitarioItem", "1200"),
            ("item.Retencion.MontoITBISRetenido", "216"),
        ):
            form.type(name, value)
        await form.press("check")

    assert "<h2>Suplidor</h2>" in section
    assert "comprador" not in section.lower().replace("encabezado.comprador", "").replace("comprador.", "").replace(
        "rnccomprador", ""
    ).replace("razonsocialcomprador", "").replace("correocomprador", "").replace("contactocomprador", "").replace(
        "direccioncomprador", ""
    )
    assert "Entregue al suplidor" in form.text
    assert "<b>1,200.00</b>" in form.text


async def test_received_document_that_was_approved_is_shown_as_approved(
    owner: Browser, tenant: TenantId, db: Database
) -> None:
    await make_certificate(db, tenant)
    one = await make_received(db, tenant)
    there = f"/companies/{tenant}/ecf/received/{one}"
    await owner.get(there)

    page = await owner.send(f"{there}/approve")

    assert page.status_code == 200, page.text
    assert "Approved: being sent to the DGII" in page.text.partition("</h1>")[0]


async def test_overview_lets_rejections_be_dismissed_until_there_are_later_ones(
    portal: Running, owner: Browser, tenant: TenantId, db: Database
) -> None:
    now = portal.clock()
    await make_receipt(db, tenant, e_ncf="E310000000001", status=Status.REJECTED, at=now - timedelta(hours=1))
    before = await owner.get(f"/companies/{tenant}")
    assert "rejected in the last 7 days: 1" in before.text

    after = await owner.send(f"/companies/{tenant}/troubles-seen")
    assert "rejected in the last 7 days" not in after.text

    await make_receipt(
        db, tenant, e_ncf="E310000000002", status=Status.REJECTED, at=portal.clock() + timedelta(seconds=1)
    )
    later = await owner.get(f"/companies/{tenant}")
    assert "rejected in the last 7 days: 1" in later.text


async def test_overview_dismissed_by_an_accountant_still_shows_the_owner_rejections(
    portal: Running, owner: Browser, tenant: TenantId, db: Database
) -> None:
    await make_receipt(
        db, tenant, e_ncf="E310000000001", status=Status.REJECTED, at=portal.clock() - timedelta(hours=1)
    )
    person = await portal.person(tenant, PortalRole.ACCOUNTANT, email="accountant@example.do")
    async with portal.browser(person) as accountant:
        await accountant.get(f"/companies/{tenant}")
        dismissed = await accountant.send(f"/companies/{tenant}/troubles-seen")

    assert "rejected in the last 7 days" not in dismissed.text
    assert "rejected in the last 7 days: 1" in (await owner.get(f"/companies/{tenant}")).text


def test_sequence_that_is_used_up_is_said_once_and_as_being_so_now() -> None:
    at = datetime(2026, 11, 26, tzinfo=UTC)
    used_up = Sequence(
        TenantId(1), Environment.TESTECF, "E31", SequenceId(UUID(int=1)), 1, 5, 6, True, at + timedelta(days=3)
    )

    said = [(one.text.es, one.is_soon) for one in notices([], [used_up], [], [], at) if one.path != "certificates"]

    assert said == [("Pruebas: la secuencia de facturas de crédito fiscal (E31) está agotada.", False)]


async def test_check_of_an_old_date_a_free_line_and_an_unknown_receipt_is_doubted(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    await make_certificate(portal.db, tenant)
    form = await ReceiptForm.open(owner, f"/companies/{tenant}/testecf/new/34")
    for name, value in (
        ("Encabezado.Emisor.FechaEmision", "2019-01-01"),
        ("InformacionReferencia.NCFModificado", "E310000000999"),
        ("item.NombreItem", "Café"),
        ("item.PrecioUnitarioItem", "0"),
    ):
        form.type(name, value)

    await form.press("check")

    for said in ("The date of issue is", "has the price 0", "was not issued here"):
        assert said in form.text, said


async def test_operator_sees_the_link_first_and_takes_open_invitations_back(portal: Running, tenant: TenantId) -> None:
    there = f"/operators/companies/{tenant}"
    async with operating(portal) as browser:
        await browser.get(there)
        made = await browser.send(f"{there}/owners", {"email": "rosa@x.do", **WHY})
        assert made.text.index("/invitation/") < made.text.index("<dl")
        assert "data-copy" in made.text
        listed = await browser.get(there)
        assert "rosa@x.do: invited, until" in listed.text

        gone = await browser.send(f"{there}/owners/withdraw")

        assert "rosa@x.do" not in gone.text.partition('class="notice"')[2].partition("</main>")[0]


async def test_new_company_with_a_doubtful_rnc_is_remarked(portal: Running) -> None:
    async with operating(portal) as browser:
        await browser.get("/operators/companies/new")
        fields = {
            "name": "Dudosa",
            "RNCEmisor": "130199009",
            "RazonSocialEmisor": "Dudosa SRL",
            "DireccionEmisor": "Calle 1",
            **WHY,
        }
        page = await browser.send("/operators/companies/new", fields)

    assert "Compare the RNC 130199009 with the registry" in page.text


async def test_customers_rnc_that_does_not_check_is_said_in_words_of_the_form(
    portal: Running, tenant: TenantId
) -> None:
    async with portal.browser(await portal.person(tenant, language="es")) as browser:
        form = await ReceiptForm.open(browser, f"/companies/{tenant}/testecf/new/31")
        form.type("Encabezado.Comprador.RNCComprador", "130199009")
        await form.press("check")

    assert form.text.count("Este número no pasa la verificación: revise los dígitos.") == 2  # above, and at its field
    assert "compárelo" not in form.text


@pytest.mark.parametrize("of", [EcfType.CONSUMER])
async def test_own_rnc_that_does_not_check_asks_for_no_second_press(
    portal: Running, tenant: TenantId, of: EcfType
) -> None:
    await make_certificate(portal.db, tenant)
    await portal.db.transact(
        put, tenant, Environment.TESTECF, of.prefix, last_day=date(2028, 12, 31), now=portal.clock()
    )
    await rows(portal.db, """UPDATE tenants SET issuer = issuer || '{"RNCEmisor": "130199009"}'""")
    async with portal.browser(await portal.person(tenant, language="es")) as browser:
        form = await ReceiptForm.open(browser, f"/companies/{tenant}/testecf/new/{of.value}")
        form.type("item.NombreItem", "Café")
        form.type("item.PrecioUnitarioItem", "25")
        await form.press("issue")

    assert len(await rows(portal.db, "SELECT submission_id FROM submissions")) == 1


async def test_pages_of_a_shop_name_no_element_of_the_format(owner: Browser, tenant: TenantId) -> None:
    base = f"/companies/{tenant}"
    for path, word in (("testecf/new", "Informacion"), ("testecf/new", "Indicador"), ("mail", " notify")):
        assert word not in (await owner.get(f"{base}/{path}")).text, path
    assert "(Emisor)" not in (await owner.get(f"{base}/settings")).text
