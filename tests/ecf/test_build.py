"""From content to XML: order, formats, what is left out, and what cannot be written."""

import random
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from fe.ecf.build import build, to_bytes, write
from fe.ecf.catalogue import EcfType, Root
from fe.ecf.document import Document, NotADocument, read_payload, read_xml
from fe.ecf.formats import write_number, write_text
from fe.ecf.parse import parse_xml
from fe.ecf.problems import MAX_PROBLEMS
from fe.ecf.schema import validate
from fe.ecf.schema.kinds import DocumentKind
from fe.ecf.schema.model import Simple
from fe.ecf.schema.simple import simple_type
from fe.ecf.signature import Canonical
from tests.ecf.strategies import DOCUMENT_KINDS, whole_document

every_kind = pytest.mark.parametrize("kind", DOCUMENT_KINDS, ids=lambda kind: kind.name)


def shuffled(content: Any) -> Any:
    if isinstance(content, dict):
        pairs = list(content.items())
        random.Random(7).shuffle(pairs)
        return {name: shuffled(value) for name, value in pairs}
    return [shuffled(value) for value in content] if isinstance(content, list) else content


def invoice(content: Mapping[str, Any], ecf_type: EcfType = EcfType.CREDIT_FISCAL) -> Document:
    return Document(Root.ECF, ecf_type, content)


@every_kind
def test_elements_stand_in_the_order_of_the_format_whatever_that_of_the_content(kind: DocumentKind) -> None:
    document = whole_document(kind)

    tree = build(Document(document.root, document.type, shuffled(document.content)))

    assert to_bytes(tree) == to_bytes(build(document))
    assert validate(tree) == []


def test_bytes_are_compact_utf_8_with_a_declaration() -> None:
    tree = build(invoice({"Encabezado": {"Emisor": {"RazonSocialEmisor": "Peña & Cía <1> \"x\" 'y'"}}}))
    tree.tail = "\n"

    raw = to_bytes(tree)

    assert raw.decode() == (
        '<?xml version="1.0" encoding="utf-8"?>'
        "<ECF><Encabezado><Emisor><RazonSocialEmisor>Peña &amp; Cía &lt;1&gt; \"x\" 'y'</RazonSocialEmisor>"
        "</Emisor></Encabezado></ECF>"
    )


@pytest.mark.parametrize("text", ["a\nb", "a\n\nb", "\ta\t", "  a  ", "a ", "\U0001f600", "]]>", "&amp;"])
def test_text_survives_to_the_last_blank(text: str) -> None:
    content = {"Encabezado": {"Emisor": {"InformacionAdicionalEmisor": text, "RNCEmisor": "1"}}}

    tree = build(invoice(content))

    assert read_xml_content(to_bytes(tree)) == content
    lines: set[Any] = {node.sourceline for node in tree.iter()}
    assert lines == {1}


@pytest.mark.parametrize(
    ("text", "written"), [("a\r\nb", "a\nb"), ("a\rb", "a\nb"), ("a\r\n\r\nb\r", "a\n\nb\n"), ("a\n\rb", "a\n\nb")]
)
def test_a_line_end_is_a_line_feed_because_the_authority_would_not_verify_a_carriage_return(
    text: str, written: str
) -> None:
    def content(of: str) -> dict[str, Any]:
        phones = {"TelefonoEmisor": [of]}
        return {"Encabezado": {"Emisor": {"InformacionAdicionalEmisor": of, "TablaTelefonoEmisor": phones}}}

    tree = build(invoice(content(text)))

    assert read_xml_content(to_bytes(tree)) == content(written)
    assert b"&#xD;" not in Canonical.of(tree).content


#: Texts that XML, its canonical form or the validation treat as they treat no other, and some that only look like it.
_ODD = st.sampled_from(
    [" ", "\t", "\r", "\n", "&", "<", ">", "\x7f", "\x85", "\xa0", "\u2003", "\u2028", "ñ", "a", '"', "'"]
)


@given(st.lists(st.one_of(st.lists(_ODD, max_size=4).map("".join), st.text(max_size=6)), min_size=3, max_size=3))
def test_a_plain_document_is_its_own_canonical_form_and_holds_nothing_that_xsd_overlooks(texts: list[str]) -> None:
    names = ("RazonSocialEmisor", "NombreComercial", "InformacionAdicionalEmisor")
    document = invoice({"Encabezado": {"IdDoc": {"TipoeCF": "31"}, "Emisor": dict(zip(names, texts, strict=True))}})
    try:
        written = write(document)
    except NotADocument:
        return

    if written.is_plain:
        assert Canonical.of_plain(written.text) == Canonical.of(written.element)
        assert validate(written.element, is_plain=True) == validate(written.element)
    else:
        assert any(not text.isprintable() or set(text) & set("&<> ") or text != text.strip() for text in texts)


@every_kind
def test_ordinary_documents_are_plain_and_those_with_namespaces_are_not(kind: DocumentKind) -> None:
    document = whole_document(kind)
    written = write(document)

    assert written.is_plain
    assert Canonical.of_plain(written.text) == Canonical.of(written.element)
    assert not write(replace(document, namespaces={"xsi": "http://www.w3.org/2001/XMLSchema-instance"})).is_plain


def read_xml_content(raw: bytes) -> Mapping[str, Any]:
    tree = parse_xml(raw.replace(b"<Encabezado>", b"<Encabezado><IdDoc><TipoeCF>31</TipoeCF></IdDoc>"))
    content = dict(read_xml(tree).content)
    content["Encabezado"] = {name: value for name, value in content["Encabezado"].items() if name != "IdDoc"}
    return content


def test_there_are_no_empty_tags() -> None:
    content = {
        "Encabezado": {
            "IdDoc": {"eNCF": "", "TipoPago": None, "TablaFormasPago": {"FormaDePago": []}},
            "Emisor": {"TablaTelefonoEmisor": {"TelefonoEmisor": [""]}, "RNCEmisor": "131880738"},
            "Comprador": {},
            "Transporte": {"Conductor": ""},
        },
        "DetallesItems": {"Item": [{}, {"TablaCodigosItem": {"CodigosItem": [{"TipoCodigo": ""}]}}]},
        "Subtotales": None,
    }

    tree = build(invoice(content))

    assert etree.tostring(tree) == (
        b"<ECF><Encabezado><Emisor><RNCEmisor>131880738</RNCEmisor></Emisor></Encabezado></ECF>"
    )


@pytest.mark.parametrize("buyer", [{}, {"Comprador": {}}, {"Comprador": None}, {"Comprador": {"RNCComprador": ""}}])
@pytest.mark.parametrize("root", [Root.ECF, Root.RFCE])
def test_a_consumer_invoice_and_its_summary_always_have_a_buyer_if_an_empty_one(
    root: Root, buyer: dict[str, Any]
) -> None:
    tree = build(Document(root, EcfType.CONSUMER, {"Encabezado": {"Version": "1.0", **buyer}}))

    assert etree.tostring(tree[0]) == b"<Encabezado><Version>1.0</Version><Comprador/></Encabezado>"


def test_no_other_type_has_an_empty_buyer() -> None:
    assert len(build(invoice({"Encabezado": {"Comprador": {}}}, EcfType.DEBIT_NOTE))) == 0


@pytest.mark.parametrize(
    ("of", "value", "written"),
    [
        (simple_type("amount"), 100, "100.00"),
        (simple_type("amount"), Decimal("100.5"), "100.50"),
        (simple_type("amount"), Decimal("0.10"), "0.10"),
        (simple_type("amount"), Decimal("100.5000"), "100.50"),
        (simple_type("amount"), Decimal("1E+3"), "1000.00"),
        (simple_type("amount"), Decimal("0E-10"), "0.00"),
        (simple_type("amount"), Decimal("100.555"), "100.555"),
        (simple_type("amount"), Decimal("0.00000001"), "0.00000001"),
        (simple_type("amount-signed"), -5, "-5.00"),
        (simple_type("price"), 100, "100.00"),
        (simple_type("price"), Decimal("100.1"), "100.10"),
        (simple_type("price"), Decimal("100.123"), "100.123"),
        (simple_type("price"), Decimal("100.1230"), "100.1230"),
        (simple_type("price"), Decimal("100.12340"), "100.1234"),
        (simple_type("price"), Decimal("100.12345"), "100.12345"),
        (simple_type("quantity-above-0"), 2, "2"),
        (simple_type("quantity-above-0"), Decimal("2.00"), "2.00"),
        (simple_type("fine-quantity"), Decimal("0.355"), "0.355"),
        (simple_type("percentage"), 10, "10"),
        (simple_type("percentage"), Decimal("633.85"), "633.85"),
        (simple_type("exchange-rate"), Decimal("59.2512"), "59.2512"),
        (simple_type("whole-2"), 18, "18"),
        (simple_type("whole-2"), Decimal("18.00"), "18"),
        (simple_type("whole-2"), Decimal("18.5"), "18.5"),
        (simple_type("to-1000"), 1, "1"),
        (simple_type("amount-2"), 12, "12.00"),
        (simple_type("amount-2"), Decimal("12.5"), "12.50"),
        (simple_type("approved-amount"), 35400, "35400.00"),
        (simple_type("version"), 1, "1.0"),
        (simple_type("version"), Decimal("1.0"), "1.0"),
        (simple_type("income-type"), 1, "01"),
        (simple_type("additional-tax"), 23, "023"),
        (simple_type("place"), 10100, "010100"),
        (simple_type("payment-type"), Decimal("1.0"), "1"),
        (simple_type("payment-type"), 9, "9"),
        (simple_type("payment-type"), Decimal("1.5"), "1.5"),
        (simple_type("currency"), 5, "5"),
        (simple_type("rnc"), 131880738, "131880738"),
        (simple_type("text-20"), Decimal("1E+2"), "100"),
        (simple_type("date"), 20260205, "20260205"),
    ],
)
def test_numbers_are_written_as_their_field_wants_them_and_never_rounded(
    of: Simple, value: int | Decimal, written: str
) -> None:
    assert write_number(of, value) == written


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(["amount", "price", "quantity", "percentage", "whole-20", "yes"]).map(simple_type),
    st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**20), max_value=10**20),
)
def test_a_number_written_is_the_number_given(of: Simple, value: Decimal) -> None:
    written = write_number(of, value)

    assert Decimal(written) == value
    assert "E" not in written


@pytest.mark.parametrize(
    ("of", "text", "written"),
    [
        (simple_type("date"), "2026-02-05", "05-02-2026"),
        (simple_type("date"), "05-02-2026", "05-02-2026"),
        (simple_type("date"), "2026-2-5", "2026-2-5"),
        (simple_type("date"), "2026-02-05T00:00:00", "2026-02-05T00:00:00"),
        (simple_type("date"), "٢٠٢٦-٠٢-٠٥", "٢٠٢٦-٠٢-٠٥"),
        (simple_type("date-from-2000"), "2026-02-05", "05-02-2026"),
        (simple_type("timestamp"), "2026-02-05T14:03:09", "05-02-2026 14:03:09"),
        (simple_type("timestamp"), "2026-02-05 14:03:09", "05-02-2026 14:03:09"),
        (simple_type("timestamp"), "2026-02-05T14:03:09-04:00", "05-02-2026 14:03:09"),
        (simple_type("timestamp"), "2026-02-05T02:03:09.123Z", "04-02-2026 22:03:09"),
        (simple_type("timestamp-any-year"), "2026-02-05T14:03:09+00:00", "05-02-2026 10:03:09"),
        (simple_type("timestamp"), "2026-02-30T14:03:09", "2026-02-30T14:03:09"),
        (simple_type("timestamp"), "0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        (simple_type("timestamp"), "05-02-2026 14:03:09", "05-02-2026 14:03:09"),
        (simple_type("timestamp"), "2026-02-05", "2026-02-05"),
        (simple_type("text-20"), "2026-02-05", "2026-02-05"),
    ],
)
def test_iso_dates_are_written_the_format_s_way_in_fields_of_dates_alone(of: Simple, text: str, written: str) -> None:
    assert write_text(of, text) == written


def test_a_payload_of_numbers_and_iso_dates_becomes_a_document_in_order() -> None:
    document = whole_document(DOCUMENT_KINDS[0])
    loose: Any = shuffled(document.content)
    loose["Encabezado"]["Version"] = 1
    loose["Encabezado"]["IdDoc"] |= {"TipoPago": 1, "TipoIngresos": 1, "FechaVencimientoSecuencia": "2028-12-31"}
    loose["Encabezado"]["Emisor"] |= {"RNCEmisor": 131880738, "Municipio": 10100}
    loose["Encabezado"]["Totales"] |= {"MontoTotal": 118, "ITBIS1": Decimal("18.0")}
    loose["FechaHoraFirma"] = "2026-02-05T14:03:09-04:00"
    for number, item in enumerate(loose["DetallesItems"]["Item"], 1):
        item |= {"NumeroLinea": number, "PrecioUnitarioItem": Decimal("50.0000"), "CantidadItem": 2}

    tree = build(read_payload(loose))

    assert validate(tree) == []
    assert tree.findtext("Encabezado/IdDoc/FechaVencimientoSecuencia") == "31-12-2028"
    assert tree.findtext("Encabezado/Totales/MontoTotal") == "118.00"
    assert tree.findtext("Encabezado/Emisor/Municipio") == "010100"
    assert tree.findtext("FechaHoraFirma") == "05-02-2026 14:03:09"


@pytest.mark.parametrize("value", [Decimal("1.005"), Decimal("NaN"), Decimal("Infinity"), Decimal(10**17), -1])
def test_a_number_the_field_cannot_hold_is_a_problem_and_not_rounded(value: Decimal) -> None:
    document = whole_document(DOCUMENT_KINDS[0])
    content: Any = document.content
    content["Encabezado"]["Totales"]["MontoTotal"] = value

    assert [problem.path for problem in validate(build(document))] == ["Encabezado.Totales.MontoTotal"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({"Otro": "x"}, ("unknown-element", "Otro")),
        ({1: "x"}, ("unknown-element", "1")),
        ({"Encabezado": {"Totales": {"Seguro": 1}}}, ("forbidden-element", "Encabezado.Totales.Seguro")),
        ({"Encabezado": "x"}, ("wrong-shape", "Encabezado")),
        ({"Encabezado": ["x"]}, ("wrong-shape", "Encabezado")),
        ({"FechaHoraFirma": {"x": 1}}, ("wrong-shape", "FechaHoraFirma")),
        ({"FechaHoraFirma": ["x"]}, ("wrong-shape", "FechaHoraFirma")),
        ({"FechaHoraFirma": True}, ("wrong-shape", "FechaHoraFirma")),
        ({"FechaHoraFirma": 1.5}, ("wrong-shape", "FechaHoraFirma")),
        ({"FechaHoraFirma": b"x"}, ("wrong-shape", "FechaHoraFirma")),
        ({"DetallesItems": {"Item": {"NombreItem": "x"}}}, ("wrong-shape", "DetallesItems.Item")),
        ({"DetallesItems": {"Item": ["x"]}}, ("wrong-shape", "DetallesItems.Item[1]")),
        ({"DetallesItems": {"Item": [None]}}, ("wrong-shape", "DetallesItems.Item[1]")),
        ({"FechaHoraFirma": "a\x01"}, ("unwritable", "FechaHoraFirma")),
        ({"FechaHoraFirma": "\ud800"}, ("unwritable", "FechaHoraFirma")),
        ({"FechaHoraFirma": "\uffff"}, ("unwritable", "FechaHoraFirma")),
        ({"DetallesItems": {"Item": [{}, {"NombreItem": "\x00"}]}}, ("unwritable", "DetallesItems.Item[2].NombreItem")),
    ],
)  # fmt: skip
def test_content_that_cannot_be_written_is_refused_naming_the_path(
    content: dict[Any, Any], problem: tuple[str, str]
) -> None:
    with pytest.raises(NotADocument) as caught:
        build(invoice(content))

    assert [(each.code, each.path) for each in caught.value.problems] == [problem]


def test_thousands_of_problems_are_answered_with_the_first_thousand() -> None:
    with pytest.raises(NotADocument) as caught:
        build(invoice({"DetallesItems": {"Item": [{"x": 1}] * 5000}}))

    assert len(caught.value.problems) == MAX_PROBLEMS + 1
    assert caught.value.problems[-1].code == "more-problems"


def test_text_longer_than_libxml2_reads_is_refused() -> None:
    with pytest.raises(NotADocument) as caught:
        build(invoice({"FechaHoraFirma": "x" * 11_000_000}))

    assert [problem.code for problem in caught.value.problems] == ["unwritable"]


def test_the_content_is_not_changed() -> None:
    content: dict[str, Any] = {"Encabezado": {"Version": 1}, "DetallesItems": {"Item": [{"NombreItem": "x"}]}}

    build(invoice(content, EcfType.CONSUMER))

    assert content == {"Encabezado": {"Version": 1}, "DetallesItems": {"Item": [{"NombreItem": "x"}]}}
