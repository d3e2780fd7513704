"""Finished XML is signed as it stands, or refused with line and column: nothing in it is lost, moved or mended."""

import sys
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from fe.ecf import finished_xml
from fe.ecf.autofill import autofill
from fe.ecf.build import build, to_bytes
from fe.ecf.document import Document, NotADocument
from fe.ecf.finished_xml import read_finished
from fe.ecf.parse import parse_xml
from fe.ecf.problems import Problem
from fe.ecf.signature import Signer, profile, verify
from tests.ecf.receipts import EXPIRY, ISSUER, NOW
from tests.factories.companies import company_credential

GOLDEN = Path(__file__).parent / "golden"
SIGNER = Signer(company_credential())
WHOLE = [path for path in sorted(GOLDEN.glob("*.xml")) if not path.name.startswith("arecf")]
COFFEE = (GOLDEN / "ecf31-coffee-on-credit.xml").read_text(encoding="utf-8")


def signed(xml: bytes) -> bytes:
    document = autofill(read_finished(xml), issuer=ISSUER, expiry=EXPIRY, now=NOW)
    return SIGNER.sign(build(document)).xml


def bare(xml: bytes) -> bytes:
    """The canonical form without signature and without what is always ours."""
    root = deepcopy(parse_xml(xml))
    for name in (profile.SIGNATURE, "FechaHoraFirma"):
        for node in root.findall(name):
            root.remove(node)
    return etree.tostring(root, method="c14n")


def refused(xml: str) -> tuple[Problem, ...]:
    with pytest.raises(NotADocument) as error:
        read_finished(xml.encode())
    return error.value.problems


@pytest.mark.parametrize("path", WHOLE, ids=lambda path: path.stem)
def test_a_whole_document_is_signed_as_it_stands(path: Path) -> None:
    assert bare(signed(path.read_bytes())) == bare(path.read_bytes())


def test_declarations_of_the_root_are_signed_too() -> None:
    declared = COFFEE.replace(
        "<ECF>",
        '<ECF xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema">',
    )
    assert declared != COFFEE

    made = signed(declared.encode())

    verify(made)
    assert bare(made) == bare(declared.encode())
    assert b'<ECF xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi=' in made


def test_old_signature_is_removed_and_the_rest_kept() -> None:
    once = signed(COFFEE.encode())

    assert bare(signed(once)) == bare(COFFEE.encode())


_INVOICE = "<ECF>\n <Encabezado>\n  <Version>1.0</Version>\n  <IdDoc>{id_doc}</IdDoc>\n </Encabezado>\n{rest}</ECF>"
_ID = "<TipoeCF>31</TipoeCF><eNCF>E310000000001</eNCF>"


@pytest.mark.parametrize(
    ("xml", "code", "path", "line", "column"),
    [
        (_INVOICE.format(id_doc=f"{_ID} suelto ", rest=""), "unexpected-text", "Encabezado.IdDoc", 4, 58),
        (_INVOICE.format(id_doc=f"\n  suelto\n{_ID}", rest=""), "unexpected-text", "Encabezado.IdDoc", 5, 3),
        (_INVOICE.format(id_doc=f"<![CDATA[x>]]>{_ID}", rest=""), "unexpected-text", "Encabezado.IdDoc", 4, 10),
        (_INVOICE.format(id_doc=_ID, rest="suelto"), "unexpected-text", "", 6, 1),
        (_INVOICE.format(id_doc=_ID, rest=f'<Signature xmlns="{profile.NAMESPACE}"/>x'), "unexpected-text", "", 6, 56),
        (_INVOICE.format(id_doc=f"<a>b</a>{_ID}", rest=""), "unknown-element", "Encabezado.IdDoc.a", 4, 10),
        (
            _INVOICE.format(id_doc=f"<Seguro>1</Seguro>{_ID}", rest=""),
            "forbidden-element",
            "Encabezado.IdDoc.Seguro",
            4,
            10,
        ),
        (
            _INVOICE.format(id_doc='<TipoeCF a=">" b=\'"\'>31</TipoeCF><eNCF>E310000000001</eNCF>', rest=""),
            "unexpected-attribute",
            "Encabezado.IdDoc.TipoeCF",
            4,
            10,
        ),
        (
            _INVOICE.format(id_doc="<eNCF>E310000000001</eNCF>\n<TipoeCF>31</TipoeCF>", rest=""),
            "misplaced-element",
            "Encabezado.IdDoc.eNCF",
            4,
            10,
        ),
        (
            _INVOICE.format(id_doc=f"{_ID}<eNCF>E310000000001</eNCF>", rest=""),
            "too-many",
            "Encabezado.IdDoc.eNCF[2]",
            4,
            57,
        ),
        (_INVOICE.format(id_doc=f"{_ID}<TipoPago/>", rest=""), "empty-element", "Encabezado.IdDoc.TipoPago", 4, 57),
        (
            _INVOICE.format(
                id_doc=_ID,
                rest="<DetallesItems>\n<Item><NombreItem>a</NombreItem></Item>"
                "<Item><NombreItem>a&#xD;\nb</NombreItem></Item></DetallesItems>",
            ),
            "carriage-return",
            "DetallesItems.Item[2].NombreItem",
            7,
            46,
        ),
        (
            _INVOICE.format(id_doc=f"{_ID}<TipoPago><b/></TipoPago>", rest=""),
            "unexpected-children",
            "Encabezado.IdDoc.TipoPago",
            4,
            57,
        ),
        (_INVOICE.format(id_doc=_ID, rest="<DetallesItems> </DetallesItems>"), "empty-element", "DetallesItems", 6, 1),
        (_INVOICE.format(id_doc=_ID.replace("E31", "e31"), rest=""), "e-ncf-malformed", "Encabezado.IdDoc.eNCF", 4, 31),
        (_INVOICE.format(id_doc="<TipoeCF>35</TipoeCF>", rest=""), "unknown-type", "Encabezado.IdDoc.TipoeCF", 4, 10),
        ("<?xml version='1.0'?>\n <Otro/>", "unknown-root", "", 2, 2),
        ('<ECF xmlns:a="urn:a">' + _INVOICE.format(id_doc=_ID, rest="")[5:], "unexpected-attribute", "", 1, 1),
        (
            _INVOICE.format(id_doc=_ID, rest="").replace("<IdDoc>", '<IdDoc xmlns:a="urn:a">'),
            "unexpected-attribute",
            "Encabezado.IdDoc",
            4,
            3,
        ),
        (
            _INVOICE.format(id_doc=_ID, rest="").replace(
                "<ECF>",
                '<ECF xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="http://x/y.xsd">',
            ),
            "unexpected-attribute",
            "",
            1,
            1,
        ),
    ],
)
def test_unsignable_xml_is_reported_with_its_place(xml: str, code: str, path: str, line: int, column: int) -> None:
    first = refused(xml)[0]

    assert (first.code, first.path, first.line, first.column) == (code, path, line, column)


def test_line_ends_of_any_system_and_those_of_an_old_signature_are_no_hindrance() -> None:
    """Java's signatures have references in their base64; XML readers turn a bare carriage return into a line feed."""
    windows = COFFEE.replace("><", ">\r\n<").replace("Café", "Ca\r\nfé")
    old = f'<Signature xmlns="{profile.NAMESPACE}"><SignatureValue>a&#13;\nb</SignatureValue></Signature></ECF>'

    made = signed(windows.replace("</ECF>", old).encode())

    assert b"\r" not in made
    assert b"&#xD;" not in made


def test_all_obstacles_are_reported() -> None:
    xml = _INVOICE.format(id_doc=f"x<a/><b/>{_ID}<TipoPago/>", rest="")

    assert [(each.code, each.column) for each in refused(xml)] == [
        ("unexpected-text", 10),
        ("unknown-element", 11),
        ("unknown-element", 15),
        ("empty-element", 66),
    ]


def test_values_and_missing_elements_are_validated_later() -> None:
    document = read_finished(_INVOICE.format(id_doc=f"{_ID}<TipoPago>nueve</TipoPago>", rest="").encode())

    assert document.content["Encabezado"]["IdDoc"]["TipoPago"] == "nueve"
    assert "Totales" not in document.content["Encabezado"]


@settings(max_examples=150, derandomize=True, deadline=None)
@given(data=st.data())
def test_mutated_document_is_refused_or_signed_as_it_stands(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(WHOLE))
    root = parse_xml(path.read_bytes())
    nodes = list(root.iter())
    at, other = data.draw(st.sampled_from(nodes)), data.draw(st.sampled_from(nodes))
    match data.draw(st.sampled_from(["text", "tail", "attribute", "swap", "drop", "double", "rename", "empty"])):
        case "text":
            at.text = data.draw(st.sampled_from(["suelto", " 1", "\n", "é", ""]))
        case "tail" if at is not root:
            at.tail = data.draw(st.sampled_from(["suelto", " ", "\u00a0"]))
        case "attribute":
            at.set("a", "b")
        case "swap" if at is not root and other is not root and at not in other.iter() and other not in at.iter():
            at.addprevious(other)
        case "drop" if (parent := at.getparent()) is not None:
            parent.remove(at)
        case "double" if at is not root:
            at.addnext(deepcopy(at))
        case "rename":
            at.tag = data.draw(st.sampled_from(["Otro", "eNCF", "MontoTotal"]))
        case "empty":
            del at[:]
            at.text = None
    xml = to_bytes(root)

    try:
        document: Document | None = read_finished(xml)
    except NotADocument as error:
        placed, document = [each.line and each.column for each in error.problems], None
    else:
        placed = []

    assert all(placed)
    if document is not None:
        assert etree.tostring(build(document), method="c14n") == etree.tostring(parse_xml(xml), method="c14n")


def calls_of(work: Callable[[], object]) -> int:
    """How many functions are called, those in C included: the same in every run."""
    called = 0

    def note(_frame: object, event: str, _arg: object) -> None:
        nonlocal called
        called += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return called


def test_declarations_of_the_root_are_checked_once() -> None:
    lines = "<Otro/>" * 500
    few, many = (
        COFFEE.replace("<ECF>", "<ECF " + " ".join(f'xmlns:a{n}="{profile.NAMESPACE}"' for n in range(declared)) + ">")
        for declared in (1, 32)
    )

    def read(xml: str) -> int:
        return calls_of(lambda: refused(xml.replace("<DetallesItems>", f"<DetallesItems>{lines}")))

    read(few)  # what is made once for a kind of document
    assert read(many) - read(few) < 500


@pytest.mark.parametrize("tag", ["<ECF>", "<IdDoc>", "<NombreItem>"])
def test_document_with_an_empty_default_namespace_is_read(tag: str) -> None:
    """.NET writes xmlns="" into children; it says what is so without it."""
    assert tag in COFFEE

    declared = COFFEE.replace(tag, f'{tag[:-1]} xmlns="">')

    assert signed(declared.encode()) == signed(COFFEE.encode())


def test_first_foreign_declarations_are_reported() -> None:
    xml = COFFEE.replace("<NombreItem>", '<NombreItem xmlns:a="urn:a">').replace("<ECF>", '<ECF xmlns:a="urn:b">')
    item = xml[xml.index("<Item>") : xml.index("</Item>") + len("</Item>")]

    problems = refused(xml.replace(item, item * 100))

    assert [each.code for each in problems] == ["unexpected-attribute"] * 20
    assert [each.path for each in problems[:2]] == ["", "DetallesItems.Item[1].NombreItem"]
    assert all(each.line and each.column for each in problems)


def test_redundant_declaration_is_accepted_and_a_signature_has_its_own() -> None:
    again = f'xmlns:d="{profile.NAMESPACE}"'
    xml = COFFEE.replace("<ECF>", f"<ECF {again}>").replace("<Encabezado>", f"<Encabezado {again}>")
    signature = f'<d:Signature {again} xmlns:e="urn:e"><d:SignedInfo xmlns="urn:f"/></d:Signature>'

    assert read_finished(xml.replace("</ECF>", f"{signature}</ECF>").encode()).namespaces == {"d": profile.NAMESPACE}


def test_empty_tags_pass_the_door_and_are_not_signed() -> None:
    xml = b"<ACECF><DetalleAprobacionComercial/></ACECF>"

    assert read_finished(xml, at_the_door=True).content == {"DetalleAprobacionComercial": {}}
    assert [each.code for each in refused(xml.decode())] == ["empty-element"]


def test_document_with_too_many_lines_is_refused_before_parsing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parsed: list[int] = []

    def noting(raw: bytes) -> etree._Element:
        parsed.append(len(raw))
        return parse_xml(raw)

    monkeypatch.setattr(finished_xml, "parse_xml", noting)
    for line, lines in (("<Item/>", 10_001), ("<Item ></Item>", 10_001), ("<Item\n/>", 60_000)):
        with pytest.raises(NotADocument, match=rf"^Item appears here {str(lines)[:-1]}\d times; the limit is 10000$"):
            read_finished(COFFEE.replace("<DetallesItems>", f"<DetallesItems>{line * lines}").encode())
        (too_many,) = refused(COFFEE.replace("<DetallesItems>", f"\n<DetallesItems>{line * lines}"))
        assert (too_many.line is None, too_many.column is None) == (False, False)
    assert parsed == []

    # Of other elements that begin alike there may be as many as there are elements, and of lines as many as there may.
    with pytest.raises(NotADocument, match="Items is not an element"):
        read_finished(COFFEE.replace("<DetallesItems>", f"<DetallesItems>{'<Items/>' * 10_001}").encode())
    with pytest.raises(NotADocument, match="Item is empty"):
        read_finished(COFFEE.replace("<DetallesItems>", f"<DetallesItems>{'<Item/>' * 9_000}").encode())
    assert len(parsed) == 2
