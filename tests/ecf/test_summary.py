from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings

from fe.ecf.build import build
from fe.ecf.catalogue import EcfType, Root
from fe.ecf.document import Document, read_xml
from fe.ecf.parse import parse_xml
from fe.ecf.rules import check
from fe.ecf.summary import summarise, takes_summary
from tests.ecf.drafts import drafts
from tests.ecf.receipts import NOW, changed, fill, line, receipt
from tests.shared import needs_shared, shared

TODAY = date(2026, 11, 20)


@needs_shared
def test_the_authoritys_sample_gives_its_summary() -> None:
    full = read_xml(parse_xml(shared("samples/ecf32-under-250k-full.xml").read_bytes()))
    printed = read_xml(parse_xml(shared("samples/rfce32-summary-of-ecf32.xml").read_bytes()))

    assert summarise(full, "AbC1+/") == printed


@given(drafts(EcfType.CONSUMER))
@settings(max_examples=75, deadline=None)
def test_every_summary_of_a_small_invoice_is_in_order(document: Document) -> None:
    full = read_xml(build(fill(document)))

    problems = check(summarise(full, "AbC1+/"), now=NOW)

    if takes_summary(full, on=TODAY):
        assert problems == []
    else:
        assert [one.code for one in problems] == ["summary-too-large"]


@pytest.mark.parametrize(
    ("sent", "copied"),
    [("12", "12"), ("12.50", "12.50"), ("12.5", "12.50"), ("12.00", "12.00"), ("0", "0"), ("1234567.8", "1234567.80")],
)
def test_an_amount_has_no_decimals_or_two(sent: str, copied: str) -> None:
    full = changed(receipt(EcfType.CONSUMER), "Encabezado.Totales", {"MontoTotal": sent})

    summary = summarise(full, "abcdef")

    assert summary.content["Encabezado"]["Totales"] == {"MontoTotal": copied}


def test_an_unknown_buyer_is_an_empty_element() -> None:
    anonymous = changed(receipt(EcfType.CONSUMER), "Encabezado.Comprador", None)

    summary = summarise(anonymous, "abcdef")

    assert summary.content["Encabezado"]["Comprador"] == {}
    assert check(summary, now=NOW) == []


def test_payments_and_additional_taxes_come_along_without_rates() -> None:
    tip = line("100.00", TablaImpuestoAdicional={"ImpuestoAdicional": [{"TipoImpuesto": "001"}]})
    full = changed(
        receipt(EcfType.CONSUMER, [tip]),
        "Encabezado.IdDoc.TablaFormasPago",
        {"FormaDePago": [{"FormaPago": "1", "MontoPago": "100.5"}, {"FormaPago": "3", "MontoPago": "28"}]},
    )

    header = summarise(full, "abcdef").content["Encabezado"]

    assert header["IdDoc"]["TablaFormasPago"] == {
        "FormaDePago": [{"FormaPago": "1", "MontoPago": "100.50"}, {"FormaPago": "3", "MontoPago": "28"}]
    }
    assert header["Totales"]["ImpuestosAdicionales"] == {
        "ImpuestoAdicional": [{"TipoImpuesto": "001", "OtrosImpuestosAdicionales": "10.00"}]
    }
    assert header["CodigoSeguridadeCF"] == "abcdef"


@pytest.mark.parametrize(
    ("total", "small"),
    [("0.00", True), ("249999.99", True), ("250000.00", False), ("250000", False), ("1e3", False), (None, False)],
)
def test_the_threshold_decides_whether_only_the_summary_is_taken(total: str | None, small: bool) -> None:
    document = receipt(EcfType.CONSUMER, Totales={"MontoTotal": total})
    document = changed(document, "Encabezado.Totales.MontoTotal", total)

    assert takes_summary(document, on=TODAY) is small


@pytest.mark.parametrize("ecf_type", [one for one in EcfType if one is not EcfType.CONSUMER])
def test_other_types_have_no_summary(ecf_type: EcfType) -> None:
    document = receipt(ecf_type)

    assert not takes_summary(document, on=TODAY)
    with pytest.raises(ValueError, match="type 32"):
        summarise(document, "abcdef")


@pytest.mark.parametrize("content", [{}, {"Encabezado": "x"}, {"Encabezado": {"Totales": []}}])
def test_a_broken_document_is_not_summarised_away(content: dict[str, Any]) -> None:
    assert not takes_summary(Document(Root.ECF, EcfType.CONSUMER, content), on=TODAY)
