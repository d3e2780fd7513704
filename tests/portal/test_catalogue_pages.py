"""Customers and products in the portal."""

from datetime import date

from fe.accounts.sequences import put
from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.store.records.catalogue import CUSTOMERS, PRODUCTS
from tests.factories.companies import make_certificate
from tests.portal.receipt_form import ReceiptForm
from tests.portal.running import Browser, Running


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
