"""From JSON and XML to documents and back: accepted and refused inputs, and a round trip without loss."""

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from fe.ecf.build import build, to_bytes
from fe.ecf.catalogue import EcfType, Root
from fe.ecf.document import Document, NotADocument, read_payload, read_xml
from fe.ecf.parse import parse_json, parse_xml
from fe.ecf.problems import MAX_PROBLEMS
from fe.ecf.schema import validate
from fe.ecf.schema.kinds import SIGNATURE, DocumentKind
from tests.ecf.strategies import DOCUMENT_KINDS, documents, json_values, whole_document
from tests.shared import needs_shared, shared

every_kind = pytest.mark.parametrize("kind", DOCUMENT_KINDS, ids=lambda kind: kind.name)
quick = settings(
    max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def ecf(**id_doc: Any) -> dict[str, Any]:
    return {"Encabezado": {"IdDoc": {"eNCF": "E310000000001", **id_doc}}}


def refused(payload: Any) -> set[tuple[str, str]]:
    with pytest.raises(NotADocument) as caught:
        read_payload(payload)
    return {(problem.code, problem.path) for problem in caught.value.problems}


# --- which document ---------------------------------------------------------------------------------------------------


def test_a_payload_with_encabezado_at_its_top_is_an_ecf() -> None:
    document = read_payload(ecf())

    assert (document.root, document.type) == (Root.ECF, EcfType.CREDIT_FISCAL)
    assert document.content == ecf()
    assert document == read_payload({"ECF": ecf()})


@pytest.mark.parametrize(("root", "ecf_type"), [(Root.RFCE, EcfType.CONSUMER), (Root.ACECF, None), (Root.ANECF, None)])
def test_the_other_roots_are_named_by_the_one_key(root: Root, ecf_type: EcfType | None) -> None:
    document = read_payload({root.value: {}})

    assert (document.root, document.type, document.content) == (root, ecf_type, {})


@pytest.mark.parametrize(
    "payload",
    [{}, {"Factura": {}}, {"ECF": {}, "RFCE": {}}, {"ACECF": {}, "x": 1}, {"ARECF": {}}, {"SemillaModel": {}}],
)
def test_a_payload_without_a_root_to_submit_is_refused(payload: dict[str, Any]) -> None:
    assert refused(payload) == {("unknown-root", "")}


def test_acknowledgement_is_read_when_its_root_is_allowed() -> None:
    assert read_payload({"ARECF": {}}, roots=[Root.ARECF]) == Document(Root.ARECF, None, {})


@pytest.mark.parametrize("ecf_type", list(EcfType))
def test_the_type_is_the_stated_one_or_that_of_the_number(ecf_type: EcfType) -> None:
    number = {"Encabezado": {"IdDoc": {"eNCF": f"E{ecf_type}0000000001"}}}
    stated = {"Encabezado": {"IdDoc": {"TipoeCF": str(ecf_type)}}}
    as_number = {"Encabezado": {"IdDoc": {"TipoeCF": int(ecf_type)}}}

    assert read_payload(number).type is read_payload(stated).type is read_payload(as_number).type is ecf_type
    assert read_payload(number).get("Encabezado.IdDoc.TipoeCF") is None


@pytest.mark.parametrize(
    ("id_doc", "problem"),
    [
        ({}, ("missing-type", "Encabezado.IdDoc.TipoeCF")),
        ({"TipoeCF": None, "eNCF": None}, ("missing-type", "Encabezado.IdDoc.TipoeCF")),
        ({"TipoeCF": "", "eNCF": ""}, ("missing-type", "Encabezado.IdDoc.TipoeCF")),
        ({"eNCF": ["E31"]}, ("missing-type", "Encabezado.IdDoc.TipoeCF")),
        ({"TipoeCF": {}}, ("missing-type", "Encabezado.IdDoc.TipoeCF")),
        ({"TipoeCF": "35"}, ("unknown-type", "Encabezado.IdDoc.TipoeCF")),
        ({"TipoeCF": True}, ("unknown-type", "Encabezado.IdDoc.TipoeCF")),
        ({"TipoeCF": Decimal("31.5")}, ("unknown-type", "Encabezado.IdDoc.TipoeCF")),
        ({"TipoeCF": "35", "eNCF": "E310000000001"}, ("unknown-type", "Encabezado.IdDoc.TipoeCF")),
        ({"eNCF": "E350000000001"}, ("e-ncf-malformed", "Encabezado.IdDoc.eNCF")),
        ({"eNCF": "B0100000001"}, ("e-ncf-malformed", "Encabezado.IdDoc.eNCF")),
        ({"eNCF": "E"}, ("e-ncf-malformed", "Encabezado.IdDoc.eNCF")),
    ],
)
def test_an_ecf_without_a_known_type_is_refused(id_doc: dict[str, Any], problem: tuple[str, str]) -> None:
    assert refused({"Encabezado": {"IdDoc": id_doc}}) == {problem}


@pytest.mark.parametrize(
    "e_ncf",
    [
        *("E31", "E31000000000A", "e310000000001", "E3100000000012", "E350000000001", "E310000000001\n", " "),
        *(310000000001, Decimal("31.5"), "B0100000001", "E31000000000\u0661"),
    ],
)
@pytest.mark.parametrize("root", [Root.ECF, Root.RFCE])
def test_impossible_number_is_reported_first(root: Root, e_ncf: object) -> None:
    payload = {root.value: {"Encabezado": {"IdDoc": {"TipoeCF": "32", "eNCF": e_ncf, "Otro": "x"}}}}

    with pytest.raises(NotADocument) as error:
        read_payload(payload)

    first, second = error.value.problems
    assert (first.code, first.path) == ("e-ncf-malformed", "Encabezado.IdDoc.eNCF")
    assert first.message == "the e-NCF is not the letter E, the two digits of a type of e-CF and ten digits"
    assert first.expected == "E, the two digits of a type, ten digits: E310000000001"
    assert second.code == "unknown-element"


@pytest.mark.parametrize("e_ncf", [None, "", "E320000000000", "E329999999999"])
def test_a_number_that_is_absent_or_well_formed_is_let_through(e_ncf: object) -> None:
    """The authority checks the authorised range."""
    assert read_payload({"Encabezado": {"IdDoc": {"TipoeCF": "32", "eNCF": e_ncf}}}).type is EcfType.CONSUMER


@pytest.mark.parametrize("payload", [{"Encabezado": []}, {"Encabezado": 1}, {"Encabezado": {"IdDoc": "x"}}])
def test_header_of_wrong_shape_is_reported_as_the_cause_of_the_missing_type(payload: dict[str, Any]) -> None:
    ((code, path),) = refused(payload)
    assert code == "wrong-shape"
    assert path in ("Encabezado", "Encabezado.IdDoc")


# --- what is in it ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("e_ncf", "most"), [("E310000000001", 1000), ("E320000000001", 1000), ("E340000000001", 10_000)]
)
def test_more_lines_than_the_format_has_are_not_read(e_ncf: str, most: int) -> None:
    def lines(number: int) -> dict[str, Any]:
        return {**ecf(eNCF=e_ncf), "DetallesItems": {"Item": [{"NumeroLinea": 1}] * number}}

    assert len(read_payload(lines(most)).content["DetallesItems"]["Item"]) == most
    with pytest.raises(NotADocument) as caught:
        read_payload({**lines(0), "DetallesItems": {"Item": [{"NobodyKnows": 1}] * (most + 1)}})
    (too_many,) = caught.value.problems
    assert (too_many.code, too_many.path, too_many.found, too_many.expected) == (
        "too-many",
        f"DetallesItems.Item[{most + 1}]",
        str(most + 1),
        str(most),
    )


def test_nulls_are_absent_and_other_leaves_are_kept_as_they_came() -> None:
    payload = ecf(TipoPago=1, TerminoPago=" 30 días ", BancoPago=None, TipoeCF=None)
    payload["Encabezado"]["Totales"] = {"MontoTotal": Decimal("118.0"), "MontoExento": ""}
    payload["Subtotales"] = None
    payload["Desconocido"] = None

    assert read_payload(payload).content == {
        "Encabezado": {
            "IdDoc": {"eNCF": "E310000000001", "TipoPago": 1, "TerminoPago": " 30 días "},
            "Totales": {"MontoTotal": Decimal("118.0"), "MontoExento": ""},
        }
    }


ONE = {"NombreItem": "Café"}


@pytest.mark.parametrize("given", [{"Item": [ONE]}, {"Item": ONE}, [ONE]])
def test_one_item_its_list_and_a_bare_list_are_the_same(given: Any) -> None:
    assert read_payload({**ecf(), "DetallesItems": given}).content["DetallesItems"] == {"Item": [ONE]}


def test_tables_of_values_may_be_given_as_lists_too() -> None:
    phones = {"TablaTelefonoEmisor": ["809-555-0100", "809-555-0101"]}
    one = {"TablaTelefonoEmisor": {"TelefonoEmisor": "809-555-0100"}}

    for issuer, expected in ((phones, ["809-555-0100", "809-555-0101"]), (one, ["809-555-0100"])):
        payload = ecf()
        payload["Encabezado"]["Emisor"] = issuer
        assert read_payload(payload).get("Encabezado.Emisor.TablaTelefonoEmisor.TelefonoEmisor") == expected


def test_all_unknown_keys_are_named_with_their_paths() -> None:
    payload = {
        **ecf(Tipo="1", FechaVencimiento="31-12-2028"),
        "DetallesItems": {"Item": [{}, {"Precio": 1, "TablaSubDescuento": [{"Otro": 1}]}], "Nota": "x"},
        "Firma": {},
        "{http://www.w3.org/2000/09/xmldsig#}Signature": {},
        "a b": 1,
        "": 1,
    }

    assert refused(payload) == {
        ("unknown-element", "Encabezado.IdDoc.Tipo"),
        ("unknown-element", "Encabezado.IdDoc.FechaVencimiento"),
        ("unknown-element", "DetallesItems.Item[2].Precio"),
        ("unknown-element", "DetallesItems.Item[2].TablaSubDescuento.SubDescuento[1].Otro"),
        ("unknown-element", "DetallesItems.Nota"),
        ("unknown-element", "Firma"),
        ("unknown-element", "{http://www.w3.org/2000/09/xmldsig#}Signature"),
        ("unknown-element", "a b"),
        ("unknown-element", ""),
    }


def test_an_element_of_another_type_is_refused_as_such() -> None:
    payload = ecf(eNCF="E320000000001", FechaVencimientoSecuencia="31-12-2028")

    assert refused(payload) == {("forbidden-element", "Encabezado.IdDoc.FechaVencimientoSecuencia")}


def test_a_misspelt_key_is_answered_with_the_right_one() -> None:
    with pytest.raises(NotADocument) as caught:
        read_payload(ecf(TipoPagos="1"))

    (problem,) = caught.value.problems
    assert problem.fix == "did you mean TipoPago?"
    assert problem.fix_es == "¿quiso decir TipoPago?"
    assert str(caught.value) == "Encabezado.IdDoc.TipoPagos: TipoPagos is not an element of the format"


def test_thousands_of_problems_are_answered_with_the_first_thousand() -> None:
    payload = {**ecf(), **{f"MontoTotl{number}": 1 for number in range(20_000)}}

    problems = refused(payload)

    assert len(problems) == MAX_PROBLEMS + 1
    assert ("more-problems", "") in problems
    assert refused({**ecf(), "DetallesItems": [{"x": 1, "y": 1}] * 1_000}) >= {
        ("more-problems", ""),
        ("unknown-element", "DetallesItems.Item[500].y"),
    }


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"Emisor": []}, "Encabezado.Emisor"),
        ({"Emisor": "x"}, "Encabezado.Emisor"),
        ({"Emisor": True}, "Encabezado.Emisor"),
        ({"Emisor": {"RNCEmisor": {}}}, "Encabezado.Emisor.RNCEmisor"),
        ({"Emisor": {"RNCEmisor": ["131880738"]}}, "Encabezado.Emisor.RNCEmisor"),
        ({"Emisor": {"RNCEmisor": False}}, "Encabezado.Emisor.RNCEmisor"),
        ({"Emisor": {"RNCEmisor": 1.5}}, "Encabezado.Emisor.RNCEmisor"),
        ({"Emisor": {"TablaTelefonoEmisor": "x"}}, "Encabezado.Emisor.TablaTelefonoEmisor"),
        ({"Emisor": {"TablaTelefonoEmisor": [None]}}, "Encabezado.Emisor.TablaTelefonoEmisor.TelefonoEmisor[1]"),
        ({"Emisor": {"TablaTelefonoEmisor": [["x"]]}}, "Encabezado.Emisor.TablaTelefonoEmisor.TelefonoEmisor[1]"),
    ],
)
def test_wrong_shapes_are_named(change: dict[str, Any], path: str) -> None:
    payload = ecf()
    payload["Encabezado"] |= change

    assert refused(payload) == {("wrong-shape", path)}


@pytest.mark.parametrize("given", ["1", "2", "3", "4", 1, 2, 3, 4, Decimal("1.0"), None])
def test_items_may_say_1_to_4_or_nothing(given: Any) -> None:
    document = read_payload({**ecf(), "DetallesItems": [{"IndicadorFacturacion": given}]})

    assert document.get("DetallesItems.Item[1].IndicadorFacturacion") == given


@pytest.mark.parametrize("given", ["0", 0, "5", 5, "01", " 1", "", "exento", Decimal("1.5"), -1])
def test_any_other_billing_indicator_is_refused_naming_the_line(given: Any) -> None:
    items = [{"NumeroLinea": 10}, {"NumeroLinea": 20, "IndicadorFacturacion": given}, {"IndicadorFacturacion": given}]
    with pytest.raises(NotADocument) as caught:
        read_payload({**ecf(), "DetallesItems": items})

    assert [(problem.code, problem.path) for problem in caught.value.problems] == [
        ("indicador-facturacion", f"DetallesItems.Item[{number}].IndicadorFacturacion") for number in (2, 3)
    ]
    first, second = caught.value.problems
    assert first.message == f'invalid IndicadorFacturacion "{given}" on line 20'
    assert second.message == f'invalid IndicadorFacturacion "{given}" on line 3'


def test_only_an_ecf_has_billing_indicators() -> None:
    assert refused({"RFCE": {"DetallesItems": []}}) == {("forbidden-element", "DetallesItems")}


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from(["ECF", "RFCE", "Encabezado", "DetallesItems", "x"]), json_values, max_size=3))
def test_any_json_is_a_document_or_refused_with_reasons(payload: dict[str, Any]) -> None:
    try:
        document = read_payload(payload)
    except NotADocument as reasons:
        refusal = reasons
    else:
        assert isinstance(document, Document)
        return
    assert refusal.problems
    assert all(problem.message and problem.message_es for problem in refusal.problems)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(DOCUMENT_KINDS), json_values, st.data())
def test_any_json_anywhere_in_a_document_is_refused_or_can_be_built(
    kind: DocumentKind, value: Any, data: st.DataObject
) -> None:
    document = whole_document(kind)
    place: Any = document.content
    while True:
        key = data.draw(st.sampled_from(sorted(place)) if isinstance(place, dict) else st.integers(0, len(place) - 1))
        if not isinstance(place[key], (dict, list)) or data.draw(st.booleans()):
            break
        place = place[key]
    place[key] = value
    try:
        tree = build(read_payload({document.root.value: document.content}, roots=list(Root)))
    except NotADocument as refusal:
        problems = list(refusal.problems)
    else:
        problems = validate(parse_xml(to_bytes(tree)))
    assert all(problem.code and problem.message for problem in problems)


# --- XML and back -----------------------------------------------------------------------------------------------------


@every_kind
@quick
@given(data=st.data())
def test_a_document_survives_xml_and_back_exactly(kind: DocumentKind, data: st.DataObject) -> None:
    document = data.draw(documents(kind))

    raw = to_bytes(build(document))

    assert read_xml(parse_xml(raw)) == document
    assert to_bytes(build(read_xml(parse_xml(raw)))) == raw


@every_kind
@quick
@given(data=st.data())
def test_a_document_survives_json_and_back_exactly(kind: DocumentKind, data: st.DataObject) -> None:
    document = data.draw(documents(kind, chance=2))
    for item in (document.get("DetallesItems.Item") or []) if document.root is Root.ECF else []:
        item["IndicadorFacturacion"] = "1"

    payload = parse_json(json.dumps({document.root.value: document.content}).encode())

    assert read_payload(payload, roots=list(Root)) == document


@needs_shared
@pytest.mark.parametrize("name", ["beer-selective-tax", "itbis-included-global-discounts"])
def test_the_samples_survive_reading_and_building(name: str) -> None:
    tree = parse_xml(shared(f"samples/ecf31-{name}.xml").read_bytes())

    assert etree.tostring(build(read_xml(tree)), method="c14n") == etree.tostring(tree, method="c14n")


def test_a_signature_at_the_end_is_left_aside() -> None:
    document = whole_document(DOCUMENT_KINDS[0])
    tree = build(document)
    etree.SubElement(etree.SubElement(tree, SIGNATURE), SIGNATURE).text = "x"

    assert read_xml(tree) == document


@pytest.mark.parametrize(
    ("xml", "code"),
    [
        (b"<Factura/>", "unknown-root"),
        (b"<SemillaModel/>", "unknown-root"),
        (b"<ecf/>", "unknown-root"),
        (b"<e:ECF xmlns:e='urn:e'/>", "unknown-root"),
        (b"<ECF/>", "missing-type"),
        (b"<ECF><Encabezado><IdDoc><eNCF>E310000000001</eNCF></IdDoc></Encabezado></ECF>", "missing-type"),
        (b"<ECF><Encabezado><IdDoc><TipoeCF>35</TipoeCF></IdDoc></Encabezado></ECF>", "unknown-type"),
    ],
)
def test_xml_of_an_unknown_root_or_type_is_refused(xml: bytes, code: str) -> None:
    with pytest.raises(NotADocument) as caught:
        read_xml(parse_xml(xml))

    assert [problem.code for problem in caught.value.problems] == [code]


def test_unknown_element_is_kept_and_refused_when_built() -> None:
    inside = b"<eNCF>a</eNCF><eNCF>b</eNCF><eNCF>c</eNCF><Otro>x</Otro><Version><v>1</v></Version>"
    detail = b"<DetalleAprobacionComercial>" + inside + b"</DetalleAprobacionComercial>"

    document = read_xml(parse_xml(b"<ACECF>" + detail + b"</ACECF>"))

    assert document.content == {"DetalleAprobacionComercial": {"eNCF": ["a", "b", "c"], "Otro": "x", "Version": ["1"]}}
    with pytest.raises(NotADocument) as caught:
        build(document)
    assert {(problem.code, problem.path.rpartition(".")[2]) for problem in caught.value.problems} == {
        ("wrong-shape", "eNCF"),
        ("unknown-element", "Otro"),
        ("wrong-shape", "Version"),
    }


# --- helpers ----------------------------------------------------------------------------------------------------------


def test_a_document_finds_its_values_by_path() -> None:
    items = {"Item": [{"MontoItem": "1.00"}, {"MontoItem": "2.00"}]}
    document = Document(Root.ECF, EcfType.CONSUMER, {"Encabezado": {"Version": "1.0"}, "DetallesItems": items})

    assert document.get("Encabezado.Version") == "1.0"
    assert document.get("DetallesItems.Item[2].MontoItem") == "2.00"
    assert document.get("DetallesItems.Item") == items["Item"]
    for nowhere in (
        "Encabezado.IdDoc.eNCF",
        "Encabezado.Version.x",
        "DetallesItems.Item[3].MontoItem",
        "DetallesItems.Item[0]",
        "DetallesItems.Item.MontoItem",
        "Encabezado[1]",
    ):
        assert document.get(nowhere) is None


@pytest.mark.parametrize(
    ("root", "content", "expected"),
    [
        (
            Root.ECF,
            {"Encabezado": {"IdDoc": {"eNCF": "E31"}, "Emisor": {"RNCEmisor": 1}, "Comprador": {"RNCComprador": "2"}}},
            ("E31", "1", "2"),
        ),
        (Root.RFCE, {"Encabezado": {"IdDoc": {"eNCF": "E32"}, "Emisor": {"RNCEmisor": "1"}}}, ("E32", "1", None)),
        (
            Root.ACECF,
            {"DetalleAprobacionComercial": {"eNCF": "E31", "RNCEmisor": "1", "RNCComprador": "2"}},
            ("E31", "1", "2"),
        ),
        (
            Root.ARECF,
            {"DetalleAcusedeRecibo": {"eNCF": "E31", "RNCEmisor": "1", "RNCComprador": "2"}},
            ("E31", "1", "2"),
        ),
        (Root.ANECF, {"Encabezado": {"RncEmisor": "1"}}, (None, "1", None)),
        (Root.ECF, {"Encabezado": {"IdDoc": {"eNCF": {}}, "Emisor": {"RNCEmisor": ""}}}, (None, None, None)),
    ],
)
def test_a_document_knows_its_number_and_its_parties(
    root: Root, content: dict[str, Any], expected: tuple[str | None, str | None, str | None]
) -> None:
    document = Document(root, None, content)

    assert (document.e_ncf, document.issuer_rnc, document.buyer_rnc) == expected
