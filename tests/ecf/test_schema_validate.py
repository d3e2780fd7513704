"""`validate` on valid documents, and on every kind of invalid one."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from lxml import etree

from fe.ecf.build import build, to_bytes
from fe.ecf.parse import parse_xml
from fe.ecf.problems import MAX_PROBLEMS, Problem, Severity
from fe.ecf.schema import validate
from fe.ecf.schema.kinds import DS, SIGNATURE, DocumentKind, kinds
from fe.ecf.schema.messages import MESSAGES
from fe.ecf.schema.validator import walk
from fe.ecf.schema.xsd import compiled
from tests.ecf import authority_xsd
from tests.ecf.authority_xsd import FILES
from tests.ecf.mutations import mutations
from tests.ecf.strategies import DOCUMENT_KINDS, documents, whole_document
from tests.shared import needs_shared

every_kind = pytest.mark.parametrize("kind", DOCUMENT_KINDS, ids=lambda kind: kind.name)


WITH_BUYER = [kind for kind in DOCUMENT_KINDS if build(whole_document(kind)).find("Encabezado/Comprador") is not None]

#: After these nothing says which type an e-CF is.
WITHOUT_TYPE = {f"{done} {path}" for done in ("drop", "empty") for path in ("Encabezado", "Encabezado.IdDoc")}


def said(problems: list[Problem]) -> set[tuple[str, str]]:
    return {(problem.code, problem.path) for problem in problems}


def of_type(number: str) -> DocumentKind:
    return next(kind for kind in kinds() if kind.name == f"e-CF {number}")


@every_kind
def test_a_document_with_every_element_is_in_order_signed_and_unsigned(kind: DocumentKind) -> None:
    tree = build(whole_document(kind))

    assert validate(tree) == []
    etree.SubElement(tree, SIGNATURE)
    assert validate(tree) == []


@every_kind
def test_every_single_mutation_is_reported_at_its_place_and_nothing_else_is(kind: DocumentKind) -> None:
    tree = build(whole_document(kind))

    for broken in mutations(kind.root, tree):
        found = said(validate(tree))
        if broken.either:
            assert len(found) == 1, broken
            assert found <= broken.expected, broken
        elif kind.root.name == "ECF" and broken.done in WITHOUT_TYPE:
            assert found == {("missing-type", "Encabezado.IdDoc.TipoeCF")}
        else:
            assert found == broken.expected, broken
    assert validate(tree) == []


@needs_shared
@pytest.mark.parametrize("name", [name for name in FILES if name != "Semilla"])
def test_document_we_refuse_is_refused_by_the_authority_xsd(name: str) -> None:
    theirs = authority_xsd.compiled(name)
    tree = build(whole_document(FILES[name]))
    signature = etree.SubElement(tree, SIGNATURE)

    for broken in mutations(FILES[name].root, tree):
        if broken.emptied or broken.done == "repeat DetalleAnulacion.Anulacion[1].NoLinea":
            continue
        tree.append(signature)
        assert theirs.validate(tree) == (not broken.expected), (broken, theirs.error_log)
        tree.remove(signature)


@every_kind
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_the_walk_and_libxml2_agree_about_any_text(kind: DocumentKind, data: st.DataObject) -> None:
    tree = build(data.draw(documents(kind)))
    leaves = [node for node in tree.iter() if not len(node) and node.text]
    leaf = data.draw(st.sampled_from(leaves))
    leaf.text = data.draw(
        st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn"]))
        | st.text("0123456789.-+ E", max_size=24)
        | st.just((leaf.text or "") + " ")
    )
    assume((leaf.text or "").strip(" \t\r\n"))

    found, fine = {problem.code for problem in walk(kind, tree)}, compiled(kind)(tree)

    # libxml2 takes blanks off before it looks at a number, a code or a date; what is signed may have none.
    assert found <= {"blanks-around"} if fine else found


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_all_problems_are_reported_at_once(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(DOCUMENT_KINDS))
    tree = build(whole_document(kind))
    # Where the type is not known nothing else is looked at: there is no schema to look with.
    candidates = [node for node in tree.iter() if not len(node) and node.tag != "TipoeCF"]
    leaves = data.draw(st.lists(st.sampled_from(candidates), min_size=2, unique=True))
    for leaf in leaves:
        leaf.text = "~" * 2000

    problems = validate(tree)

    assert len(problems) == len(leaves)
    assert len({problem.path for problem in problems}) == len(leaves)


def test_thousands_of_problems_are_answered_with_the_first_thousand() -> None:
    tree = build(whole_document(of_type("31")))
    items = tree.find("DetallesItems")
    assert items is not None
    items[:] = [etree.Element("Item") for _ in range(5000)]

    problems = validate(tree)

    assert len(problems) == MAX_PROBLEMS + 1
    assert (problems[-1].code, problems[-1].path) == ("more-problems", "")


def test_problem_has_found_expected_and_fix_in_both_languages() -> None:
    tree = build(whole_document(of_type("31")))
    total = tree.find("Encabezado/Totales/MontoTotal")
    assert total is not None
    total.text = "12,345.60" + "9" * 100

    (problem,) = validate(tree)

    assert problem.code == "not-a-number"
    assert problem.path == "Encabezado.Totales.MontoTotal"
    assert problem.found is not None
    assert problem.found.startswith("12,345.60")
    assert len(problem.found) == 64
    assert problem.expected == "a number of up to 16 digits with up to 2 decimals, 0 or more"
    assert problem.fix == f"write {problem.expected}"
    assert problem.message_es == "MontoTotal no es un número"
    assert problem.fix_es == "escriba un número de hasta 16 dígitos con hasta 2 decimales, 0 o mayor"
    assert problem.severity is Severity.REJECTED


def test_texts_are_complete_in_both_languages() -> None:
    for code, text in MESSAGES.items():
        assert all((text.message, text.message_es, text.fix, text.fix_es)), code
        assert text.message != text.message_es, code
        assert text.fix != text.fix_es, code


def test_items_count_from_one_and_lines_are_those_of_the_xml() -> None:
    pretty = etree.tostring(build(whole_document(of_type("32"))), pretty_print=True)
    raw = pretty.replace(b"<NombreItem>Mar</NombreItem>", b"<NombreItem>\n" + b"e" * 81 + b"</NombreItem>")
    first = pretty[: pretty.index(b"<NombreItem>")].count(b"\n") + 1
    second = pretty[: pretty.rindex(b"<NombreItem>")].count(b"\n") + 2

    problems = validate(parse_xml(raw))

    assert [(problem.path, problem.line) for problem in problems] == [
        ("DetallesItems.Item[1].NombreItem", first),
        ("DetallesItems.Item[2].NombreItem", second),
    ]


def test_a_document_on_one_line_has_no_lines_to_show() -> None:
    raw = to_bytes(build(whole_document(of_type("32")))).replace(b"<Version>1.0", b"<Version>2.0")

    (problem,) = validate(parse_xml(raw))

    assert (problem.path, problem.line) == ("Encabezado.Version", None)


@pytest.mark.parametrize("kind", WITH_BUYER, ids=lambda kind: kind.name)
def test_an_empty_buyer_is_allowed_in_a_consumer_invoice_and_its_summary_only(kind: DocumentKind) -> None:
    tree = build(whole_document(kind))
    buyer = tree.find("Encabezado/Comprador")
    assert buyer is not None
    buyer[:] = []

    paths = {problem.path.rpartition(".Comprador")[0] for problem in validate(tree)}

    assert paths == (set() if kind.name in ("e-CF 32", "RFCE") else {"Encabezado"})


@pytest.mark.parametrize(
    ("xml", "code"),
    [
        (b"<Factura/>", "unknown-root"),
        (b"<x:ECF xmlns:x='urn:x'/>", "unknown-root"),
        (b"<ECF/>", "missing-type"),
        (b"<ECF><Encabezado><IdDoc><TipoeCF/></IdDoc></Encabezado></ECF>", "missing-type"),
        (b"<ECF><Encabezado><IdDoc><TipoeCF>35</TipoeCF></IdDoc></Encabezado></ECF>", "unknown-type"),
        (b"<ECF><Encabezado><IdDoc><TipoeCF>031</TipoeCF></IdDoc></Encabezado></ECF>", "unknown-type"),
        (b"<ECF><Encabezado><IdDoc><eNCF>E350000000001</eNCF></IdDoc></Encabezado></ECF>", "missing-type"),
    ],
)
def test_an_unknown_root_or_type_is_the_only_problem_there_is(xml: bytes, code: str) -> None:
    assert [problem.code for problem in validate(parse_xml(xml))] == [code]


def test_an_e_cf_without_its_type_is_judged_by_its_number() -> None:
    tree = build(whole_document(of_type("33")))
    id_doc = tree.find("Encabezado/IdDoc")
    assert id_doc is not None
    id_doc.remove(id_doc[0])

    assert said(validate(tree)) == {("missing-element", "Encabezado.IdDoc.TipoeCF")}


def test_only_a_signature_may_follow_and_only_at_the_end() -> None:
    tree = build(whole_document(of_type("31")))

    stranger = etree.SubElement(tree, f"{{{DS}}}Object")
    assert said(validate(tree)) == {("unknown-element", f"{{{DS}}}Object")}
    tree.remove(stranger)
    stranger = etree.SubElement(tree, "Otro")
    assert said(validate(tree)) == {("unknown-element", "Otro")}
    tree.remove(stranger)
    tree.insert(0, etree.Element(SIGNATURE))
    assert said(validate(tree)) == {("unknown-element", SIGNATURE)}
    etree.SubElement(tree, SIGNATURE)
    assert said(validate(tree)) == {("unknown-element", SIGNATURE)}


def test_element_of_another_type_is_reported_as_forbidden() -> None:
    tree = build(whole_document(of_type("32")))
    number = tree.find("Encabezado/IdDoc/eNCF")
    assert number is not None
    expiry = etree.Element("FechaVencimientoSecuencia")
    expiry.text = "31-12-2028"
    number.addnext(expiry)

    (problem,) = validate(tree)

    assert (problem.code, problem.path) == ("forbidden-element", "Encabezado.IdDoc.FechaVencimientoSecuencia")
    assert "e-CF 32" in problem.message


def test_problem_found_by_libxml2_alone_is_reported() -> None:
    tree = build(whole_document(of_type("31")))
    tree[0].set("{http://www.w3.org/2001/XMLSchema-instance}nil", "true")

    assert [problem.code for problem in validate(tree)] == ["schema"]


def test_the_seed_is_judged_too() -> None:
    seed = parse_xml(
        b"<SemillaModel><valor>YWJj</valor><fecha>2026-02-05T14:03:09.1234567-04:00</fecha></SemillaModel>"
    )
    assert validate(seed) == []

    seed[1].text = "ayer"
    assert said(validate(seed)) == {("pattern", "fecha")}


def test_threads_do_not_disturb_each_other() -> None:
    good = to_bytes(build(whole_document(of_type("31"))))
    bad = good.replace(b"<Version>1.0", b"<Version>2.0").replace(b"<eNCF>E", b"<eNCF>~")

    def judge(number: int) -> set[tuple[str, str]]:
        return said(validate(parse_xml(bad if number % 3 else good)))

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(judge, range(120)))

    expected = {("unknown-code", "Encabezado.Version"), ("pattern", "Encabezado.IdDoc.eNCF")}
    assert answers == [expected if number % 3 else set() for number in range(120)]
