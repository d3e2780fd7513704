"""GOBL invoices become payloads of e-CF; what has no place there is named, and nothing else is lost."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fe.ecf.catalogue import EcfType
from fe.ecf.gobl import NotConvertible, payload_of

SCHEMA = "https://gobl.org/draft-0/bill/invoice"
LINE = {
    "i": 1,
    "quantity": "2",
    "item": {"name": "Martillo", "key": "goods", "price": "450.50", "unit": "item", "ref": "M-1"},
    "sum": "901.00",
    "taxes": [{"cat": "VAT", "rate": "standard", "percent": "18.0%"}],
    "total": "901.00",
}
VAT = {"cat": "VAT", "percent": "18%"}
CUSTOMER = {"name": "Cliente SRL", "tax_id": {"country": "DO", "code": "131880657"}}


def invoice(**more: Any) -> dict[str, Any]:
    return {"$schema": SCHEMA, "type": "standard", "customer": CUSTOMER, "lines": [LINE], **more}


def head(**more: Any) -> Any:
    return payload_of(invoice(**more)).payload["Encabezado"]


def first_line(**more: Any) -> Any:
    return payload_of(invoice(lines=[{**LINE, **more}])).payload["DetallesItems"]["Item"][0]


def test_an_invoice_becomes_a_payload_and_names_what_it_leaves_out() -> None:
    found = payload_of(
        {
            "head": {"uuid": "x"},
            "doc": invoice(
                code="17",
                series="A",
                issue_date="2026-11-29",
                tax={"prices_include": "VAT"},
                supplier={"name": "Yo SRL", "tax_id": {"country": "DO", "code": "131880738"}},
                payment={
                    "advances": [{"key": "card+credit", "amount": "400.00"}, {"key": "other", "amount": "501.00"}],
                    "instructions": {"key": "card"},
                },
                notes=[{"text": "gracias"}],
                totals={"total_with_tax": "901.00"},
            ),
        }
    )

    assert found.payload == {
        "Encabezado": {
            "IdDoc": {
                "TipoeCF": "31",
                "IndicadorMontoGravado": "1",
                "TipoIngresos": "01",
                "TipoPago": "1",
                "TablaFormasPago": {
                    "FormaDePago": [
                        {"FormaPago": "3", "MontoPago": "400.00"},
                        {"FormaPago": "8", "MontoPago": "501.00"},
                    ]
                },
            },
            "Emisor": {"RNCEmisor": "131880738", "FechaEmision": "29-11-2026", "NumeroFacturaInterna": "A-17"},
            "Comprador": {"RNCComprador": "131880657", "RazonSocialComprador": "Cliente SRL"},
            "Totales": {"MontoTotal": "901.00"},
        },
        "DetallesItems": {
            "Item": [
                {
                    "IndicadorFacturacion": "1",
                    "NombreItem": "Martillo",
                    "IndicadorBienoServicio": "1",
                    "CantidadItem": "2",
                    "PrecioUnitarioItem": "450.50",
                    "TablaCodigosItem": {"CodigosItem": [{"TipoCodigo": "INTERNA", "CodigoItem": "M-1"}]},
                    "UnidadMedida": "43",
                }
            ]
        },
    }
    assert [(one.code, one.path) for one in found.remarks] == [
        ("gobl-ignored", "payload.doc.notes"),
        ("gobl-ignored", "payload.doc.payment.instructions"),
    ]


@pytest.mark.parametrize(
    ("more", "ecf_type", "number"),
    [
        ({}, "31", None),
        ({"customer": None}, "32", None),
        ({"customer": {"tax_id": {"country": "US", "code": "X1"}}}, "32", None),
        ({"type": "credit-note"}, "34", None),
        ({"type": "debit-note"}, "33", None),
        ({"series": "E44", "code": "7"}, "44", "E440000000007"),
        ({"code": "E450000000009"}, "45", "E450000000009"),
        ({"series": "E46"}, "46", None),
    ],
)
def test_the_type_and_number(more: dict[str, Any], ecf_type: str, number: str | None) -> None:
    found = head(**more)["IdDoc"]

    assert (found["TipoeCF"], found.get("eNCF")) == (ecf_type, number)


def test_credit_and_a_buyer_from_abroad() -> None:
    found = head(
        payment={"terms": {"due_dates": [{"date": "2026-12-15"}, {"date": "2027-01-15"}]}},
        customer={
            "name": "Buyer Inc.",
            "tax_id": {"country": "US", "code": "12-3456789"},
            "emails": [{"addr": "a@buyer.example"}],
            "addresses": [{"street": "Main St", "num": "5", "locality": "Miami", "country": "US"}],
        },
    )

    assert found["IdDoc"]["TipoPago"] == "2"
    assert found["IdDoc"]["FechaLimitePago"] == "15-01-2027"
    assert found["Comprador"] == {
        "IdentificadorExtranjero": "12-3456789",
        "RazonSocialComprador": "Buyer Inc.",
        "CorreoComprador": "a@buyer.example",
        "DireccionComprador": "Main St, 5, Miami",
    }


@pytest.mark.parametrize(
    ("taxes", "indicator"),
    [
        ([{"cat": "VAT", "percent": "16%"}], "2"),
        ([{"cat": "ITBIS", "percent": "0%"}], "3"),
        ([{"cat": "VAT", "key": "exempt"}], "4"),
        ([{"cat": "VAT", "rate": "general"}], "1"),
        ([], "4"),
    ],
)
def test_the_rate_of_a_line(taxes: list[Any], indicator: str) -> None:
    assert first_line(taxes=taxes)["IndicadorFacturacion"] == indicator


def test_discounts_and_charges_are_rounded_to_the_cent() -> None:
    line = first_line(quantity="3", discounts=[{"percent": "7.5%"}], charges=[{"amount": "12.00", "reason": "corte"}])

    assert (line["DescuentoMonto"], line["RecargoMonto"]) == ("101.36", "12.00")


def test_another_currency_is_converted_by_line() -> None:
    found = payload_of(
        invoice(
            currency="USD",
            exchange_rates=[
                {"from": "EUR", "to": "DOP", "amount": "70"},
                {"from": "USD", "to": "DOP", "amount": "60.25"},
            ],
            lines=[{**LINE, "discounts": [{"amount": "1.00"}]}],
        )
    )
    (line,) = found.payload["DetallesItems"]["Item"]

    assert found.payload["Encabezado"]["OtraMoneda"] == {"TipoMoneda": "USD", "TipoCambio": "60.25"}
    assert line["PrecioUnitarioItem"] == "27142.6250"
    assert line["DescuentoMonto"] == "60.25"
    assert line["OtraMonedaDetalle"] == {
        "PrecioOtraMoneda": "450.50",
        "DescuentoOtraMoneda": "1.00",
        "MontoItemOtraMoneda": "900.00",
    }


def test_amounts_of_the_whole_invoice_in_another_currency_are_converted() -> None:
    found = payload_of(
        invoice(
            currency="USD",
            exchange_rates=[{"from": "USD", "to": "DOP", "amount": "60.25"}],
            discounts=[{"amount": "10.00"}],
            charges=[{"percent": "5%", "base": "20.00"}],
            payment={"advances": [{"key": "cash", "amount": "901.00"}]},
            totals={"total_with_tax": "1051.38"},
        )
    )
    off, more = found.payload["DescuentosORecargos"]["DescuentoORecargo"]

    assert (off["MontoDescuentooRecargo"], off["MontoDescuentooRecargoOtraMoneda"]) == ("602.50", "10.00")
    assert (more["MontoDescuentooRecargo"], more["MontoDescuentooRecargoOtraMoneda"]) == ("60.25", "1.00")
    assert found.payload["Encabezado"]["IdDoc"]["TablaFormasPago"] == {
        "FormaDePago": [{"FormaPago": "1", "MontoPago": "54285.25"}]
    }
    # There is no sum in pesos to compare with, and that is said.
    assert "Totales" not in found.payload["Encabezado"]
    assert [one.path for one in found.remarks] == ["payload.totals.total_with_tax"]


def test_a_percent_of_a_base_is_an_amount_of_that_base() -> None:
    line = first_line(discounts=[{"percent": "5%", "base": "100.00"}])
    (whole,) = payload_of(invoice(discounts=[{"percent": "5%", "base": "100.00"}])).payload["DescuentosORecargos"][
        "DescuentoORecargo"
    ]

    assert line["DescuentoMonto"] == "5.00"
    assert whole["MontoDescuentooRecargo"] == "5.00"


def test_a_quantity_of_zero_stays_zero() -> None:
    assert first_line(quantity="0")["CantidadItem"] == "0"


def test_credit_lasts_until_the_latest_day() -> None:
    found = head(payment={"terms": {"due_dates": [{"date": "2027-01-15"}, {"date": "2026-12-31"}]}})

    assert found["IdDoc"]["FechaLimitePago"] == "15-01-2027"


def test_totals_that_gobl_computes_are_no_remarks_but_what_changes_the_sum_is() -> None:
    totals = {"sum": "901.00", "tax": "162.18", "taxes": {"sum": "162.18"}, "payable": "1063.18", "due": "1063.18"}
    found = payload_of(invoice(totals={**totals, "total_with_tax": "1063.18", "rounding": "0.02"}))

    assert [one.path for one in found.remarks] == ["payload.totals.rounding"]


def test_a_reason_and_a_country_without_a_place_are_named() -> None:
    customer = {**CUSTOMER, "addresses": [{"street": "Calle 1", "country": "US", "code": "33101"}]}
    line = {**LINE, "charges": [{"amount": "12.00", "reason": "corte"}]}
    found = payload_of(invoice(customer=customer, lines=[line]))

    assert {one.path for one in found.remarks} == {
        "payload.customer.addresses[1].country",
        "payload.customer.addresses[1].code",
        "payload.lines[1].charges[1].reason",
    }


def test_a_note_refers_to_its_receipt() -> None:
    before = {"series": "E31", "code": "0000000001", "issue_date": "2026-11-01", "reason": "Devolución"}
    assumed = payload_of(invoice(type="credit-note", preceding=[before]))
    said = payload_of(invoice(type="credit-note", preceding=[{**before, "ext": {"do-ecf-modification": "1"}}]))

    assert assumed.payload["InformacionReferencia"] == {
        "NCFModificado": "E310000000001",
        "FechaNCFModificado": "01-11-2026",
        "CodigoModificacion": "3",
        "RazonModificacion": "Devolución",
    }
    assert [(one.code, one.path) for one in assumed.remarks] == [("gobl-assumed", "payload.preceding[1].ext")]
    assert said.payload["InformacionReferencia"]["CodigoModificacion"] == "1"
    assert said.remarks == ()


def test_adjustments_of_the_whole_invoice() -> None:
    vat = [{"cat": "VAT", "percent": "18%"}]
    found = payload_of(
        invoice(
            discounts=[{"reason": "Cliente frecuente", "percent": "5%", "taxes": vat}],
            charges=[{"key": "delivery", "reason": "Envío", "amount": "200.00"}],
        )
    )

    assert found.payload["DescuentosORecargos"]["DescuentoORecargo"] == [
        {
            "NumeroLinea": "1",
            "TipoAjuste": "D",
            "DescripcionDescuentooRecargo": "Cliente frecuente",
            "TipoValor": "%",
            "ValorDescuentooRecargo": "5",
            "IndicadorFacturacionDescuentooRecargo": "1",
        },
        {
            "NumeroLinea": "2",
            "TipoAjuste": "R",
            "DescripcionDescuentooRecargo": "Envío",
            "TipoValor": "$",
            "MontoDescuentooRecargo": "200.00",
            "IndicadorFacturacionDescuentooRecargo": "4",
        },
    ]


@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        ({"$schema": "https://gobl.org/draft-0/bill/order"}, "payload.$schema"),
        (invoice(type="proforma"), "payload.type"),
        (invoice(currency="USD"), "payload.exchange_rates"),
        (invoice(lines=[{**LINE, "taxes": [{"cat": "IRPF", "percent": "15%"}]}]), "payload.lines[1].taxes[1].cat"),
        (invoice(lines=[{**LINE, "taxes": [{"cat": "VAT", "percent": "21%"}]}]), "payload.lines[1].taxes[1].percent"),
        (invoice(lines=[{**LINE, "quantity": "dos"}]), "payload.lines[1].quantity"),
        (invoice(lines="no"), "payload.lines"),
        (invoice(customer=[1]), "payload.customer"),
        (invoice(issue_date="29/11/2026"), "payload.issue_date"),
        (invoice(code=True), "payload.code"),
        (invoice(preceding=[{}, {}]), "payload.preceding"),
        (invoice(type="credit-note", series="E31", code="7"), "payload.type"),
        (invoice(series="E34", code="7"), "payload.type"),
        (invoice(tax={"prices_include": "IGIC"}), "payload.tax.prices_include"),
        (invoice(lines=[{**LINE, "item": {"name": "Martillo"}}]), "payload.lines[1].item.price"),
        (invoice(lines=[{**LINE, "item": {"price": "10%"}}]), "payload.lines[1].item.price"),
        (invoice(lines=[{**LINE, "item": {"price": "1", "currency": "USD"}}]), "payload.lines[1].item.currency"),
        (invoice(lines=[{**LINE, "taxes": [VAT, {**VAT, "percent": "0%"}]}]), "payload.lines[1].taxes[2].percent"),
        (invoice(lines=[{**LINE, "charges": [{"rate": "3"}]}]), "payload.lines[1].charges[1].amount"),
        (invoice(discounts=[{"reason": "x"}]), "payload.discounts[1].amount"),
    ],
)
def test_what_cannot_be_converted_is_refused_with_its_place(wrong: dict[str, Any], place: str) -> None:
    with pytest.raises(NotConvertible) as refused:
        payload_of(wrong)

    assert refused.value.text.en.startswith(place)
    assert refused.value.text.es.startswith(place)


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.decimals() | st.text(max_size=9),
    lambda below: st.lists(below, max_size=2) | st.dictionaries(st.text(max_size=9), below, max_size=2),
    max_leaves=4,
)
NAMES = (
    "type",
    "series",
    "code",
    "issue_date",
    "currency",
    "customer",
    "lines",
    "payment",
    "preceding",
    "discounts",
    "tax",
)


@given(st.dictionaries(st.sampled_from(NAMES), ANY), st.dictionaries(st.sampled_from([*LINE, "item"]), ANY))
def test_whatever_comes_is_converted_or_refused(some: dict[str, Any], line: dict[str, Any]) -> None:
    for given_one in (invoice(**some), invoice(lines=[{**LINE, **line}])):
        try:
            found = payload_of(given_one).payload["Encabezado"]["IdDoc"]["TipoeCF"]
        except NotConvertible as refused:
            found = refused.text.en
        assert found[:7] in {"payload", *EcfType}
