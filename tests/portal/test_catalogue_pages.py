"""Customers and products in the portal."""

from datetime import date
from uuid import uuid4

import httpx

from fe.accounts.sequences import put
from fe.catalogue.taxpayers import RegisteredTaxpayer
from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.store.portal.people import PortalRole
from fe.store.records import taxpayers
from fe.store.records.catalogue import CUSTOMERS, PRODUCTS
from tests.factories.companies import make_certificate
from tests.portal.receipt_form import ReceiptForm
from tests.portal.running import Browser, Running, hidden_fields
from tests.portal.typed import filled


async def test_issued_receipt_fills_the_catalogue(portal: Running, owner: Browser, tenant: TenantId) -> None:
    await make_certificate(portal.db, tenant)
    ends = date(2028, 12, 31)
    await portal.db.transact(put, tenant, Environment.TESTECF, "E31", last_day=ends, now=portal.clock())
    form = await ReceiptForm.open(owner, f"/companies/{tenant}/testecf/new/31")
    form.type("Encabezado.Comprador.RNCComprador", "131880657")
    form.type("Encabezado.Comprador.RazonSocialComprador", "Cliente SRL")
    form.type("item.NombreItem", "Mesa")
    form.type("item.PrecioUnitarioItem", "1000")
    await form.press("issue")

    (customer,) = await portal.db.run_for(tenant, CUSTOMERS.suggested, "")
    (product,) = await portal.db.run_for(tenant, PRODUCTS.suggested, "")
    assert (customer.entry.name, customer.entry.rnc and customer.entry.rnc.digits) == ("Cliente SRL", "131880657")
    assert (product.entry.name, product.entry.price_text, product.source) == ("Mesa", "1000.00", "remembered")


CSV = """Nombre;RNC;Correo;Teléfono;Municipio
Ferretería El Sol;1-31-88065-7;compras@elsol.do;8095550142;320100
"Núñez; Ana";;;;
"""


async def test_customer_is_made_found_changed_by_one_and_deleted(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    where = f"/companies/{tenant}/customers"
    page = await owner.get(f"{where}/new")
    fields = filled(page.text, f"{where}/new") | {"name": "Ana Núñez", "rnc": "13188065"}
    bad = await owner.send(f"{where}/new", fields)
    page = await owner.send(f"{where}/new", filled(bad.text, f"{where}/new") | {"rnc": "131-88065-7"})
    (made,) = await portal.db.run_for(tenant, CUSTOMERS.listed)
    entry = f"{where}/entry/{made.id}"

    assert (bad.status_code, "must be an RNC" in bad.text, 'value="13188065"' in bad.text) == (400, True, True)
    assert "Saved: Ana Núñez." in page.text
    assert entry in (await owner.get(f"{where}?q=nun")).text
    assert "Nothing was found" in (await owner.get(f"{where}?q=zoe")).text
    opened = (await owner.get(entry)).text
    await owner.send(entry, filled(opened, entry) | {"name": "Ana N."})
    late = hidden_fields(opened, entry) | filled(opened, entry) | {"name": "Ana X.", "form": str(uuid4())}
    stale = owner.page = await owner.client.post(entry, data=late)
    assert (stale.status_code, "changed it meanwhile" in stale.text, "Ana X." in stale.text) == (409, True, True)
    page = await owner.send(entry, filled(stale.text, entry))
    assert "Saved: Ana X." in page.text
    page = await owner.send(f"{entry}/delete", filled((await owner.get(entry)).text, f"{entry}/delete"))
    assert "Deleted." in page.text
    assert (await owner.get(entry)).status_code == 404


async def test_file_is_written_whole_or_not_at_all(portal: Running, owner: Browser, tenant: TenantId) -> None:
    where = f"/companies/{tenant}/customers/import"

    async def send(content: bytes) -> httpx.Response:
        fields = filled((await owner.get(where)).text, where)
        return await owner.send(where, fields, files={"file": ("clientes.csv", content, "text/csv")})

    bad = await send(CSV.encode() + b"Otro;1;;;\n")
    assert (bad.status_code, "line 4: RNC: must be an RNC" in bad.text) == (400, True)
    assert await portal.db.run_for(tenant, CUSTOMERS.count) == 0
    assert "New or changed: 2. As they were: 0." in (await send(CSV.encode("cp1252"))).text
    assert "New or changed: 1. As they were: 1." in (await send(CSV.replace("0142", "0143").encode())).text
    sun, ana = await portal.db.run_for(tenant, CUSTOMERS.listed)
    assert (sun.entry.phone, sun.version, sun.source, ana.entry.name) == ("809-555-0143", 2, "import", "Núñez; Ana")
    assert (await owner.get(f"{where}/template")).text.startswith("\ufeffid,name,rnc,")
    doubtful = await send(b"nombre,rnc\nAna,131880682\n")
    assert "New or changed: 1. As they were: 0. Line 2: 131880682 does not pass the check" in doubtful.text
    assert "is empty" in (await send(b"")).text


async def test_import_page_explains_the_columns_in_spanish(portal: Running, tenant: TenantId) -> None:
    async with portal.browser(await portal.person(tenant, language="es"), "es") as browser:
        page = (await browser.get(f"/companies/{tenant}/products/import")).text
        template = (await browser.get(f"/companies/{tenant}/products/import/template")).text

    for said in ("<code>ITBIS incluido</code>: sí o no", "<code>clase</code>: bien, servicio", "18, 16, 0, exento"):
        assert said in page
    assert template.startswith("\ufeffid,nombre,código,unidad,precio,ITBIS incluido,")


async def test_product_is_made_with_its_price_and_shown_to_an_accountant(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    where = f"/companies/{tenant}/products"
    fields = filled((await owner.get(f"{where}/new")).text, f"{where}/new")
    fields |= {"name": "Ron", "price": "RD$ 1,234.5", "itbis": "18", "additional_taxes": "023 006", "unit": "43"}
    await owner.send(f"{where}/new", fields)
    (made,) = await portal.db.run_for(tenant, PRODUCTS.listed)
    async with portal.browser(await portal.person(tenant, PortalRole.ACCOUNTANT, email="lector@example.do")) as reader:
        seen = (await reader.get(f"{where}/entry/{made.id}")).text
        closed = await reader.get(f"{where}/new")

    assert (made.entry.price_text, made.entry.price_has_itbis) == ("1234.50", True)
    assert made.entry.additional_taxes == ("006", "023")
    assert ("1234.50" in seen, "<button>Save" in seen, closed.status_code) == (True, False, 403)
    assert (await owner.get(f"{where}?environment=testecf")).status_code == 200


async def test_name_of_a_buyer_comes_from_the_register(portal: Running, owner: Browser, tenant: TenantId) -> None:
    known = RegisteredTaxpayer("131880657", "FERRETERIA EL SOL SRL", "", "", "SUSPENDIDO", "NORMAL")
    await portal.db.transact(taxpayers.replace, [known], portal.clock(), "ana")
    form = await ReceiptForm.open(owner, f"/companies/{tenant}/testecf/new/31")
    form.type("Encabezado.Comprador.RNCComprador", "131-88065-7")
    form.type("item.NombreItem", "Mesa")
    form.type("item.PrecioUnitarioItem", "1000")
    checked = await form.press("check")

    assert form.value("Encabezado.Comprador.RazonSocialComprador") == "FERRETERIA EL SOL SRL"
    assert "the register of the authority has 131880657 as SUSPENDIDO" in checked.text
