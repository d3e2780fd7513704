"""The 606 in the portal: asked once for a supplier, corrected for a receipt, then a file."""

import re

import pytest

from fe.identifiers import TenantId
from fe.store.portal.people import PortalRole
from fe.store.postgres.db import Database
from tests.factories.tenants import rows
from tests.portal.receipts import make_received
from tests.portal.running import Browser, Running

DOCUMENT = (
    "<ECF><Encabezado><IdDoc><TipoeCF>31</TipoeCF><eNCF>{number}</eNCF><TipoPago>2</TipoPago></IdDoc>"
    "<Emisor><RNCEmisor>131880738</RNCEmisor><RazonSocialEmisor>Suplidora SRL</RazonSocialEmisor></Emisor>"
    "<Totales><TotalITBIS>18.00</TotalITBIS><MontoTotal>118.00</MontoTotal></Totales></Encabezado>"
    "<DetallesItems><Item><IndicadorBienoServicio>2</IndicadorBienoServicio><MontoItem>100</MontoItem></Item>"
    "</DetallesItems></ECF>"
)


async def make_purchase(db: Database, tenant: TenantId) -> None:
    await rows(
        db,
        "UPDATE tenants SET issuer = jsonb_build_object('RNCEmisor', '131880681') WHERE tenant_id = %(id)s",
        id=tenant,
    )
    number = "E310000000001"
    await make_received(db, tenant, e_ncf=number, document=DOCUMENT.format(number=number).encode())


@pytest.mark.parametrize("days", ["treinta", "400"])
async def test_expense_form_with_wrong_days_returns_as_it_was_sent(
    portal: Running, owner: Browser, tenant: TenantId, db: Database, days: str
) -> None:
    await make_purchase(db, tenant)
    at = f"/companies/{tenant}/ecf/months/2026-11/606/131880738"
    await owner.get(at)
    sent = {"kind": "09", "payment": "04", "isr_type": "02", "itbis": "cost", "paid_after": days}
    page = await owner.send(at, sent)

    assert page.status_code == 400
    assert re.findall(r'<option value="(\w*)" selected', page.text.partition("<main")[2]) == ["09", "04", "02", "cost"]
    assert f'value="{days}"' in page.text
    assert re.search(
        r'name="paid_after"[^>]* aria-describedby="h-paid_after w-paid_after" aria-invalid="true" autofocus', page.text
    )
    assert re.search(r'id="w-paid_after">Days until payment are a number from 0 to 365', page.text)


async def test_expense_form_of_a_receipt_with_wrong_day_returns_as_it_was_sent(
    portal: Running, owner: Browser, tenant: TenantId, db: Database
) -> None:
    await make_purchase(db, tenant)
    at = f"/companies/{tenant}/ecf/months/2026-11/606/131880738?receipt=E310000000001"
    await owner.get(at)
    page = await owner.send(at, {"kind": "09", "itbis": "cost", "paid_on": "mañana"})

    assert page.status_code == 400
    assert '<option value="09" selected' in page.text
    assert 'id="w-paid_on">a day is written' in page.text


async def test_an_accountant_classifies_suppliers_once_and_downloads_the_606(
    portal: Running, tenant: TenantId, db: Database
) -> None:
    await rows(
        db,
        "UPDATE tenants SET issuer = jsonb_build_object('RNCEmisor', '131880681') WHERE tenant_id = %(id)s",
        id=tenant,
    )
    for number in ("E310000000001", "E310000000002"):
        await make_received(db, tenant, e_ncf=number, document=DOCUMENT.format(number=number).encode())
    here = f"/companies/{tenant}/ecf/months/2026-11/606"
    person = await portal.person(tenant, PortalRole.ACCOUNTANT, email="conta@example.do")
    async with portal.browser(person) as browser:
        page = await browser.get(here)
        assert page.text.count("kind of expense</span>") == 2
        early = await browser.get(f"{here}.txt")
        assert early.status_code == 409

        await browser.get(f"{here}/131880738")
        wrong = await browser.send(f"{here}/131880738", {"kind": "99", "itbis": "advance"})
        assert wrong.status_code == 400
        await browser.get(f"{here}/131880738")
        page = await browser.send(f"{here}/131880738", {"kind": "02", "itbis": "advance", "paid_after": "0"})
        assert "kind of expense</span>" not in page.text
        one = f"{here}/131880738?receipt=E310000000002"
        await browser.get(one)
        await browser.send(one, {"kind": "09", "itbis": "cost", "payment": "02"})
        made = await browser.get(f"{here}.txt")

    assert made.headers["content-disposition"] == 'attachment; filename="DGII_F_606_131880681_202611.TXT"'
    assert made.text.split("\r\n") == [
        "606|131880681|202611|2",
        "131880738|1|02|E310000000001||20261106|20261106|100.00||100.00|18.00||||18.00||||||||04",
        "131880738|1|09|E310000000002||20261106||100.00||100.00|18.00|||18.00|||||||||02",
    ]
