"""The form with what is known already: the catalogue's customers and products, and the last receipt of the person."""

import re
from datetime import date, timedelta
from typing import Any

import pytest

from fe.accounts.sequences import put
from fe.catalogue.entries import EntrySource, check_customer, check_product
from fe.catalogue.fields import EntryId
from fe.ecf.catalogue import EcfType, Environment
from fe.identifiers import TenantId
from fe.portal.receipt.entry import ReceiptEntry
from fe.portal.receipt.layout import PAYMENT_TERMS, SELLER, layout
from fe.portal.receipt.withholding import INCOME_TAX_WITHHELD, VAT_WITHHELD, compute_withheld
from fe.store.records.catalogue import CUSTOMERS, PRODUCTS
from tests.factories.companies import make_certificate
from tests.portal.receipt_form import ReceiptForm
from tests.portal.running import Browser, Running

_INCLUDED = "Encabezado.IdDoc.IndicadorMontoGravado"


@pytest.fixture
async def shop(portal: Running, tenant: TenantId) -> str:
    """A company that issues in testecf, with a catalogue; the address of its forms."""
    await make_certificate(portal.db, tenant)
    for of in (EcfType.CREDIT_FISCAL, EcfType.CONSUMER):
        ends = date(2028, 12, 31)
        await portal.db.transact(put, tenant, Environment.TESTECF, of.prefix, last_day=ends, now=portal.clock())
    written: Any = {"source": EntrySource.PERSON, "at": portal.clock(), "by": "ana@example.do"}
    customer = check_customer(name="Hotel Brisas SRL", rnc="131880681", email="pagos@brisas.do")
    hostile = check_customer(name='<img src=x onerror="alert(1)">')
    for number, one in enumerate((customer, hostile)):
        await portal.db.transact_for(tenant, CUSTOMERS.put, tenant, EntryId(f"c-{number}"), one, **written)
    products = (
        check_product(name="Café molido", code="C-1", price="118", price_has_itbis=True, itbis="18", unit="43"),
        check_product(name="Consulta", price="1000", itbis="exempt", kind="service"),
        check_product(name="Ron añejo", price="500", additional_taxes=["006"]),
    )
    for number, product in enumerate(products):
        await portal.db.transact_for(tenant, PRODUCTS.put, tenant, EntryId(f"p-{number}"), product, **written)
    return f"/companies/{tenant}/testecf/new"


async def test_product_pressed_twice_is_one_line_of_two(owner: Browser, shop: str) -> None:
    form = await ReceiptForm.open(owner, f"{shop}/32")

    for _ in range(2):
        await form.press("product:p-0")
    await form.press("product:p-1")

    assert [form.value("item.NombreItem", row) for row in (1, 2)] == ["Café molido", "Consulta"]
    assert [form.value("item.CantidadItem", row) for row in (1, 2)] == ["2", "1"]
    assert [form.value("item.IndicadorFacturacion", row) for row in (1, 2)] == ["1", "4"]
    assert (form.value("item.UnidadMedida"), form.value(_INCLUDED)) == ("43", "1")
    await form.press("check")
    assert form.totals()["MontoTotal"] == "1236.00"


async def test_product_priced_with_itbis_among_prices_without_is_converted(owner: Browser, shop: str) -> None:
    form = await ReceiptForm.open(owner, f"{shop}/32")
    form.type("item.NombreItem", "Otro")
    form.type("item.PrecioUnitarioItem", "10")

    await form.press("product:p-0")

    assert (form.value("item.PrecioUnitarioItem", 2), form.value(_INCLUDED)) == ("100.0000", "")


async def test_product_with_a_selective_tax_says_it_in_its_line(owner: Browser, shop: str) -> None:
    form = await ReceiptForm.open(owner, f"{shop}/32")

    await form.press("product:p-2")

    assert form.value("item.more") == "TablaImpuestoAdicional.ImpuestoAdicional[1].TipoImpuesto=006"


@pytest.mark.parametrize(
    ("typed", "value"),
    [("RNCComprador", "131-88068-1"), ("RazonSocialComprador", "hotel brisas srl")],
)
async def test_check_completes_customer_and_products_that_were_typed_by_name_or_code(
    owner: Browser, shop: str, typed: str, value: str
) -> None:
    form = await ReceiptForm.open(owner, f"{shop}/31")
    form.type(f"Encabezado.Comprador.{typed}", value)
    form.type("item.NombreItem", "c-1")

    await form.press("check")

    assert "Everything is in order" in form.text
    assert form.value("Encabezado.Comprador.RazonSocialComprador") == "Hotel Brisas SRL"
    assert form.value("Encabezado.Comprador.CorreoComprador") == "pagos@brisas.do"
    assert (form.value("item.NombreItem"), form.totals()["MontoTotal"]) == ("Café molido", "118.00")


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("of=product&q=caf", ["Café molido", "RD$ 118.00"]),
        ("of=customer&q=131-88068-1", ["Hotel Brisas SRL"]),
        ("of=customer&q=img", ["&lt;img src=x"]),
        (f"of=x&q={'%00' * 300}", []),
        ("of=product&q=nadie", []),
    ],
)
async def test_options_are_found_as_one_types(owner: Browser, shop: str, query: str, shown: list[str]) -> None:
    page = await owner.get(f"{shop}/options?{query}")

    assert page.status_code == 200
    assert page.text.count('role="option"') == bool(shown)
    assert all(one in page.text for one in shown)
    assert "<img" not in page.text


async def test_next_form_begins_as_the_last_receipt_of_the_person_was(
    portal: Running, owner: Browser, tenant: TenantId, shop: str
) -> None:
    form = await ReceiptForm.open(owner, f"{shop}/32")
    for name, value in {
        **{"item.NombreItem": "Clase", "item.PrecioUnitarioItem": "500", "item.IndicadorFacturacion": "4"},
        **{"item.UnidadMedida": "43", "item.IndicadorBienoServicio": "2", _INCLUDED: "1"},
        **{"Encabezado.IdDoc.TipoPago": "3", SELLER: "V-07"},
    }.items():
        form.type(name, value)
    await form.press("issue")
    portal.clock.ahead = timedelta(minutes=1)

    again, other = await ReceiptForm.open(owner, shop), await ReceiptForm.open(owner, f"{shop}/31")

    assert again.url is not None
    assert again.url.path == f"{shop}/32"
    names = ("item.IndicadorFacturacion", "item.UnidadMedida", "item.IndicadorBienoServicio", _INCLUDED)
    assert [again.value(name) for name in names] == ["4", "43", "2", "1"]
    assert (again.value(SELLER), other.value(SELLER)) == ("V-07", "V-07")
    assert '<details id="options" open>' in again.text  # so that the seller is seen
    assert [other.value(name) for name in names] == ["4", "43", "2", "1"]
    assert [form.value("Encabezado.IdDoc.TipoPago") for form in (again, other)] == ["3", "1"]
    assert (await owner.get(f"{shop}?types")).text.count("/testecf/new/") >= 10
    async with portal.browser(await portal.person(tenant, email="b@example.do")) as colleague:
        assert (await ReceiptForm.open(colleague, f"{shop}/32")).value("item.IndicadorFacturacion") == "1"


async def test_lines_that_differ_are_no_habit_of_the_next_sale(portal: Running, owner: Browser, shop: str) -> None:
    form = await ReceiptForm.open(owner, f"{shop}/32")
    await form.press("product:p-0")
    await form.press("product:p-1")
    await form.press("issue")
    portal.clock.ahead = timedelta(minutes=1)

    again = await ReceiptForm.open(owner, shop)

    assert (again.value("item.IndicadorFacturacion"), again.value("item.UnidadMedida")) == ("1", "")


async def test_expense_between_two_sales_changes_nothing_of_the_second(
    portal: Running, owner: Browser, tenant: TenantId, shop: str
) -> None:
    ends = date(2028, 12, 31)
    await portal.db.transact(put, tenant, Environment.TESTECF, "E43", last_day=ends, now=portal.clock())
    for of, typed in (("32", {_INCLUDED: "1"}), ("43", {})):
        form = await ReceiptForm.open(owner, f"{shop}/{of}")
        for name, value in {"item.NombreItem": "Hielo", "item.PrecioUnitarioItem": "118", **typed}.items():
            form.type(name, value)
        await form.press("issue")
        assert f"E{of}" in form.text
        portal.clock.ahead += timedelta(minutes=1)

    again = await ReceiptForm.open(owner, shop)

    assert again.url is not None
    assert (again.url.path, again.value(_INCLUDED)) == (f"{shop}/32", "1")


async def test_sale_is_paid_by_one_tap_and_the_next_begins_so(portal: Running, owner: Browser, shop: str) -> None:
    form = await ReceiptForm.open(owner, f"{shop}/32")
    assert form.value(PAYMENT_TERMS) == "1"
    await form.press("product:p-0")
    form.type(PAYMENT_TERMS, "1-3")

    await form.press("issue")
    portal.clock.ahead = timedelta(minutes=1)
    again = await ReceiptForm.open(owner, f"{shop}/32")

    assert again.value(PAYMENT_TERMS) == "1-3"
    await again.press("product:p-0")
    await again.press("add:pay")
    again.type("pay.FormaPago", "1")
    await again.press("check")
    assert "Everything is in order" in again.text


@pytest.mark.parametrize(
    ("typed", "paid", "id_doc"),
    [
        ("1-3", [], {"TipoPago": "1", "TablaFormasPago": {"FormaDePago": [{"FormaPago": "3"}]}}),
        ("2-4", [], {"TipoPago": "2", "TablaFormasPago": {"FormaDePago": [{"FormaPago": "4"}]}}),
        ("1", [], {"TipoPago": "1"}),
        (
            "1-3",
            ["1", "8"],
            {"TipoPago": "1", "TablaFormasPago": {"FormaDePago": [{"FormaPago": "1"}, {"FormaPago": "8"}]}},
        ),
    ],
)
def test_terms_and_form_of_payment_are_one_choice(typed: str, paid: list[str], id_doc: dict[str, Any]) -> None:
    entry = ReceiptEntry.empty(layout(EcfType.CONSUMER))
    entry.values[PAYMENT_TERMS] = typed
    entry.rows["pay"] = [{"pay.FormaPago": form, "pay.MontoPago": "", "pay.more": ""} for form in paid]

    made = entry.payload()

    assert made["Encabezado"]["IdDoc"] == {"TipoeCF": "32", "TipoIngresos": "01", **id_doc}
    assert ReceiptEntry.of(entry.layout, made).payload() == made
    assert ReceiptEntry.of(entry.layout, made).values[PAYMENT_TERMS] == ("1" if paid else typed)


async def test_form_is_turned_into_one_of_another_type(owner: Browser, shop: str) -> None:
    form = await ReceiptForm.open(owner, f"{shop}/32")
    form.type("item.NombreItem", "Mesa")

    await form.press("type:31")

    assert form.url is not None
    assert form.url.path.startswith(f"{shop}/31/")
    assert form.value("item.NombreItem") == "Mesa"
    assert (await form.press("type:99")).status_code == 404


@pytest.fixture
async def sold(portal: Running, owner: Browser, tenant: TenantId, shop: str) -> str:
    """The address of the lines that may come back of a receipt: 3 at 100 less 30, 1 at 50, and 10 off the whole."""
    ends = date(2028, 12, 31)
    await portal.db.transact(put, tenant, Environment.TESTECF, "E34", last_day=ends, now=portal.clock())
    form = await ReceiptForm.open(owner, f"{shop}/31")
    form.type("Encabezado.Comprador.RNCComprador", "131880681")
    for adding, typed in (
        ("item", {"NombreItem": "Mesa", "CantidadItem": "3", "PrecioUnitarioItem": "100", "DescuentoMonto": "30"}),
        ("adjust", {"NombreItem": "Silla", "PrecioUnitarioItem": "50"}),
    ):
        for name, value in typed.items():
            form.type(f"item.{name}", value, form.rows("item.NombreItem"))
        await form.press(f"add:{adding}")
    for name, value in {"TipoValor": "$", "MontoDescuentooRecargo": "16", "DescripcionDescuentooRecargo": "A"}.items():
        form.type(f"adjust.{name}", value)
    await form.press("issue")
    assert form.url is not None
    assert "/submissions/" in form.url.path, form.text
    return f"{shop}/return?from={form.url.path.rpartition('/')[2]}"


async def test_next_sale_after_a_return_begins_as_the_sale_before_it(owner: Browser, sold: str, shop: str) -> None:
    form = ReceiptForm(owner, sold)
    await owner.get(sold)
    form._show(await owner.send(sold.partition("?")[0], {"do": "all"}))
    form.path = form._action()
    await form.press("issue")
    assert "E34" in form.text

    next_link = re.search(r'id="next" href="([^"]+)"', form.text)
    assert next_link is not None
    page = await owner.get(next_link[1])

    assert page.url.path == f"{shop}/31"


@pytest.mark.parametrize(
    ("sent", "lines", "effect", "total"),
    [
        ({"do": "chosen", "line": ["1"], "quantity-1": "1"}, [("Mesa", "1")], "3", "100.89"),
        ({"do": "chosen", "line": ["2"], "quantity-2": "1"}, [("Silla", "1")], "3", "56.05"),
        ({"do": "all"}, [("Mesa", "3"), ("Silla", "1")], "1", "358.72"),
    ],
)
async def test_credit_note_is_made_of_the_lines_that_come_back(
    owner: Browser, sold: str, sent: dict[str, Any], lines: list[tuple[str, str]], effect: str, total: str
) -> None:
    page = await owner.get(sold)
    assert page.text.count("checked") == 0
    form = ReceiptForm(owner, sold)

    form._show(await owner.send(sold.partition("?")[0], {**sent, "reason": "No le sirvió"}))

    assert form.url is not None
    assert "/34/" in form.url.path
    names = ("item.NombreItem", "item.CantidadItem")
    found = [tuple(form.value(name, row) for name in names) for row in range(1, form.rows("item.NombreItem") + 1)]
    assert found == lines
    assert form.value("InformacionReferencia.CodigoModificacion") == effect
    assert form.value("InformacionReferencia.RazonModificacion") == "No le sirvió"
    assert "Everything is in order" in form.text
    assert form.totals()["MontoTotal"] == total


@pytest.mark.parametrize(
    "sent",
    [
        {"line": []},
        {"line": ["1"], "quantity-1": "4"},
        {"line": ["1"], "quantity-1": "0"},
        {"line": ["1"]},
        {"line": ["9"]},
    ],
)
async def test_lines_that_cannot_come_back_are_asked_about(owner: Browser, sold: str, sent: dict[str, Any]) -> None:
    await owner.get(sold)

    page = await owner.send(sold.partition("?")[0], {"do": "chosen", "quantity-1": "x", **sent})

    assert (page.status_code, 'role="alert"' in page.text) == (400, True)
    assert (await owner.get(f"{sold}0")).status_code == 404


@pytest.mark.parametrize(
    ("typed", "withheld"),
    [
        ({}, ["2160.00", "1200.00"]),
        ({"included": "1", "PrecioUnitarioItem": "1,180", "CantidadItem": "1"}, ["180.00", "100.00"]),
        ({"IndicadorFacturacion": "4"}, ["0.00", "1200.00"]),
        ({"PrecioUnitarioItem": "mil"}, ["100%", "10 %"]),
    ],
)
def test_taxes_withheld_are_computed_from_percentages(typed: dict[str, str], withheld: list[str]) -> None:
    entry = ReceiptEntry.empty(layout(EcfType.PURCHASES))
    entry.values[_INCLUDED] = typed.get("included", "")
    (row,) = entry.rows["item"]
    said = {"PrecioUnitarioItem": "4000", "CantidadItem": "3", **typed}
    row.update({f"item.{name}": value for name, value in said.items() if name != "included"})
    row.update({VAT_WITHHELD: "100%", INCOME_TAX_WITHHELD: "10 %"})

    compute_withheld(entry)

    assert [row[VAT_WITHHELD], row[INCOME_TAX_WITHHELD]] == withheld


async def test_prices_typed_in_another_currency_are_converted_to_pesos(owner: Browser, shop: str) -> None:
    form = await ReceiptForm.open(owner, f"{shop}/32")
    form.type("item.NombreItem", "Excursión")
    form.type("item.PrecioUnitarioItem", "85")

    assert (await form.press("convert")).status_code == 400
    form.type("Encabezado.OtraMoneda.TipoMoneda", "USD")
    form.type("Encabezado.OtraMoneda.TipoCambio", "60.50")
    await form.press("check")
    assert "Convert the prices to pesos" in form.text
    assert form.totals()["MontoTotalOtraMoneda"] == "1.66"
    await form.press("convert")
    await form.press("check")

    assert form.value("item.PrecioUnitarioItem") == "5142.50"
    assert form.totals()["MontoTotal"] == "6068.15"
    assert form.totals()["MontoTotalOtraMoneda"] == "100.30"
    assert (await form.press("total")).json()["MontoTotalOtraMoneda"] == "100.30"
