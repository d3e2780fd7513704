"""`check` as a whole: silent on valid documents, each problem reported once, no input makes it fail."""

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from fe.ecf.build import build
from fe.ecf.catalogue import EcfType, Root
from fe.ecf.document import Document, read_xml
from fe.ecf.parse import parse_xml
from fe.ecf.problems import Severity
from fe.ecf.rules import RULES, apply_rules, check
from fe.ecf.schema.messages import MESSAGES
from tests.ecf.breaking import (
    BEER,
    CONSUMER,
    CREDIT,
    ID,
    ISSUED,
    REFERENCE,
    TOTALS,
    acknowledgement,
    approval,
    changed_all,
    consumer,
    in_dollars,
    note,
    paged,
    sale,
    summary,
    taxed,
    voided,
    with_tax,
)
from tests.ecf.drafts import any_draft
from tests.ecf.receipts import NOW, changed, fill, line, receipt, withheld
from tests.shared import needs_shared, shared

MAKERS = [sale, consumer, note, in_dollars, paged, summary, approval, acknowledgement, voided]


@pytest.mark.parametrize("make", MAKERS)
def test_valid_document_has_no_problem(make: Callable[[], Document]) -> None:
    assert check(make(), now=NOW) == []


@pytest.mark.parametrize("ecf_type", EcfType)
def test_plain_receipt_of_each_type_has_no_problem(ecf_type: EcfType) -> None:
    assert check(receipt(ecf_type), now=NOW) == []


@needs_shared
def test_authority_samples_have_no_problem() -> None:
    samples = sorted(shared("samples").glob("*.xml"))

    for sample in samples:
        tree = parse_xml(sample.read_bytes())
        problems = check(read_xml(tree), now=NOW, element=tree)
        assert [each for each in problems if each.code != "issue-date-past"] == [], sample.name
    assert len(samples) == 6


def reference(number: str, code: str) -> dict[str, Any]:
    return {REFERENCE: {"NCFModificado": number, "FechaNCFModificado": ISSUED, "CodigoModificacion": code}}


@pytest.mark.parametrize(
    ("make", "changes"),
    [
        (sale, {f"{ID}.TipoPago": "2", f"{ID}.FechaLimitePago": ISSUED}),
        (sale, {f"{ID}.FechaVencimientoSecuencia": "20-11-2026"}),
        (sale, {"Encabezado.Emisor.FechaEmision": "20-11-2026"}),
        (sale, {f"{ID}.FechaDesde": ISSUED, f"{ID}.FechaHasta": ISSUED}),
        (sale, {f"{TOTALS}.ValorPagar": "98.00", f"{TOTALS}.MontoAvancePago": "20.00"}),
        (sale, {f"{TOTALS}.MontoPeriodo": "118.00"}),
        (note, {f"{REFERENCE}.FechaNCFModificado": "15-09-2025"}),  # 30 days before
        (note, {f"{REFERENCE}.FechaNCFModificado": "14-09-2025", f"{ID}.IndicadorNotaCredito": "1"}),
        (note, {f"{REFERENCE}.NCFModificado": "B0100000001"}),
        (note, {f"{REFERENCE}.NCFModificado": "A010010010100000001"}),
        (sale, reference("B0100000001", "4")),
        (sale, reference("E320000000001", "5")),
        (sale, reference("B0200000001", "5")),
        (partial(receipt, CONSUMER, [line("249999.99", indicator="4")]), {"Encabezado.Comprador": {}}),
        (
            partial(receipt, CONSUMER, [line("300000.00", indicator="4")]),
            {"Encabezado.Comprador": {"IdentificadorExtranjero": "X1", "RazonSocialComprador": "A"}},
        ),
        (partial(with_tax, "023", more={**BEER, "UnidadMedida": "18"}), {}),
        (partial(receipt, EcfType.SPECIAL_REGIME, [{**taxed("001"), "IndicadorFacturacion": "4"}]), {}),
        (partial(receipt, EcfType.PURCHASES, [withheld(EcfType.PURCHASES, line(indicator="4"), income="0.00")]), {}),
        (
            acknowledgement,
            {"DetalleAcusedeRecibo.Estado": "1", "DetalleAcusedeRecibo.CodigoMotivoNoRecibido": "3"},
        ),
        (
            approval,
            {"DetalleAprobacionComercial.Estado": "2", "DetalleAprobacionComercial.DetalleMotivoRechazo": "no"},
        ),
    ],
)
def test_value_at_a_limit_has_no_problem(make: Callable[[], Document], changes: dict[str, Any]) -> None:
    assert check(changed_all(make(), changes), now=NOW) == []


def test_inserted_line_is_reported_once() -> None:
    document = receipt(CREDIT, [line(), line(), line(), line()])
    items = [
        {**item, "NumeroLinea": number}
        for item, number in zip(document.content["DetallesItems"]["Item"], ("1", "3", "4", "5"), strict=True)
    ]

    problems = apply_rules(changed(document, "DetallesItems.Item", items), now=NOW)

    assert [(one.code, one.path) for one in problems] == [("line-number", "DetallesItems.Item[2].NumeroLinea")]


def test_a_voided_range_that_holds_two_others_overlaps_both() -> None:
    ends = [(1, 100), (2, 3), (50, 60), (101, 110)]
    rows = [{"SecuenciaeNCFDesde": f"E31{a:010d}", "SecuenciaeNCFHasta": f"E31{b:010d}"} for a, b in ends]
    table = "DetalleAnulacion.Anulacion[1].TablaRangoSecuenciasAnuladaseNCF"

    problems = apply_rules(changed(voided(), f"{table}.Secuencias", rows), now=NOW)

    overlaps = [problem.path for problem in problems if problem.code == "void-overlap"]
    assert overlaps == [f"{table}.Secuencias[2]", f"{table}.Secuencias[3]"]


def test_all_problems_are_reported() -> None:
    broken = changed_all(
        sale(),
        {
            f"{ID}.eNCF": "E320000000001",
            f"{ID}.FechaVencimientoSecuencia": "31-12-2020",
            f"{ID}.TipoIngresos": "99",
            f"{TOTALS}.TotalITBIS1": "1.00",
            "Encabezado.Comprador.RNCComprador": "131880682",
            "DetallesItems.Item[1].NombreItem": None,
        },
    )

    codes = {problem.code for problem in check(broken, now=NOW)}

    assert codes == {
        "unknown-code",
        "missing-element",
        "e-ncf-type",
        "sequence-expired",
        "vat-mismatch",
        "check-digit",
    }


def test_value_refused_by_the_format_is_reported_once() -> None:
    problems = check(changed(sale(), f"{ID}.eNCF", "E31"), now=NOW)

    assert [problem.path for problem in problems] == [f"{ID}.eNCF"]
    assert problems[0].code not in RULES


def test_unwritable_content_is_reported_with_the_rules() -> None:
    broken = changed_all(sale(), {"Encabezado.Nuevo": "x", f"{TOTALS}.MontoTotal": "900.00"})

    assert [problem.code for problem in check(broken, now=NOW)] == ["unknown-element", "total-mismatch"]


def test_problems_carry_the_line_of_xml_that_has_lines() -> None:
    raw = b"\n".join(_one_element_a_line(changed(sale(), f"{TOTALS}.MontoTotal", "900.00")))
    tree = parse_xml(raw)

    problems = check(read_xml(tree), now=NOW, element=tree)

    assert [problem.code for problem in problems] == ["total-mismatch"]
    assert problems[0].line is not None
    assert b"<MontoTotal>900.00</MontoTotal>" in raw.splitlines()[problems[0].line - 1]


def test_a_missing_element_has_the_line_of_its_place() -> None:
    raw = b"\n".join(_one_element_a_line(changed(sale(), f"{TOTALS}.TotalITBIS1", None)))
    tree = parse_xml(raw)

    problems = check(read_xml(tree), now=NOW, element=tree)

    assert [problem.path for problem in problems] == [f"{TOTALS}.TotalITBIS1"]
    assert problems[0].line is not None
    assert b"<Totales>" in raw.splitlines()[problems[0].line - 1]


def test_xml_on_one_line_has_no_lines_to_tell() -> None:
    broken = changed(sale(), f"{TOTALS}.MontoTotal", "900.00")

    problems = check(broken, now=NOW, element=build(broken))

    assert [(problem.code, problem.line) for problem in problems] == [("total-mismatch", None)]


def _one_element_a_line(document: Document) -> list[bytes]:
    tree = build(document)
    etree.indent(tree)
    return etree.tostring(tree).split(b"\n")


def test_problem_has_found_and_expected() -> None:
    problem = apply_rules(changed(sale(), f"{TOTALS}.MontoTotal", "900.00"), now=NOW)[0]

    assert (problem.found, problem.expected) == ("900.00", "118.00")
    assert problem.severity is Severity.CONDITIONAL


def test_placeholder_is_filled_in_both_languages() -> None:
    tall = changed(receipt(CONSUMER, [line("250000.00", indicator="4")]), "Encabezado.Comprador", {})

    problem = apply_rules(tall, now=NOW)[0]

    assert "250,000.00" in problem.message
    assert "250,000.00" in problem.message_es


def test_the_moment_of_judgement_must_know_its_zone() -> None:
    with pytest.raises(ValueError, match="time zone"):
        check(sale(), now=datetime(2026, 11, 20))


def test_the_moment_of_judgement_decides() -> None:
    document = sale()

    in_time = check(document, now=datetime(2028, 12, 31, 23, 0, tzinfo=UTC))
    late = check(document, now=datetime(2029, 1, 1, 5, 0, tzinfo=UTC))

    assert {problem.code for problem in late} - {problem.code for problem in in_time} == {"sequence-expired"}


def test_no_rule_has_the_code_of_a_problem_of_form() -> None:
    assert not RULES.keys() & MESSAGES.keys()


def test_rule_has_message_fix_and_source_in_both_languages() -> None:
    for rule in RULES.values():
        messages = (rule.message, rule.message_es, rule.fix, rule.fix_es)
        assert all(messages), rule.code
        assert rule.source, rule.code
        assert not any(text.endswith(".") and not text.endswith("...") for text in messages), rule.code


# --- nothing makes it fail ------------------------------------------------------------------------------------------

_leaves = st.one_of(
    st.text(max_size=12),
    st.sampled_from(["", "0", "-1", "1e9", "99999999999999999999999999", "0.001", "E310000000001", "31-02-2026", "%"]),
    st.integers(-(10**30), 10**30),
    st.decimals(allow_nan=True, allow_infinity=True),
    st.none(),
    st.booleans(),
)
_anything = st.recursive(
    _leaves,
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.text(max_size=5), inner, max_size=2)),
)


def _paths(value: Any, path: str = "") -> list[str]:
    if isinstance(value, dict):
        below = [one for name, inner in value.items() for one in _paths(inner, f"{path}.{name}" if path else name)]
    elif isinstance(value, list):
        below = [one for place, inner in enumerate(value, 1) for one in _paths(inner, f"{path}[{place}]")]
    else:
        return [path]
    return [path, *below] if path else below


@pytest.mark.parametrize("value", ["NaN", "sNaN", "Infinity"])
def test_line_with_an_unreadable_number_is_checked(value: str) -> None:
    document = changed(
        receipt(EcfType.CREDIT_FISCAL, [line(), line()]), "DetallesItems.Item[2].NumeroLinea", Decimal(value)
    )

    assert isinstance(apply_rules(document, now=NOW), list)


@given(any_draft, st.data())
@settings(max_examples=200, deadline=None)
def test_any_value_anywhere_in_a_receipt_is_judged_without_failing(document: Document, data: st.DataObject) -> None:
    filled = fill(document)
    path = data.draw(st.sampled_from(_paths(filled.content)))
    broken = changed(filled, path, data.draw(_anything))

    assert isinstance(apply_rules(broken, now=NOW), list)
    assert fill(broken).type is document.type


@pytest.mark.parametrize("make", [summary, approval, acknowledgement, voided])
@given(st.data())
@settings(max_examples=60, deadline=None)
def test_any_value_anywhere_in_a_companion_is_judged_without_failing(
    make: Callable[[], Document], data: st.DataObject
) -> None:
    document = make()
    path = data.draw(st.sampled_from(_paths(document.content)))

    assert isinstance(apply_rules(changed(document, path, data.draw(_anything)), now=NOW), list)


@given(st.sampled_from(Root), st.dictionaries(st.sampled_from(["Encabezado", "DetallesItems", "x"]), _anything))
@settings(max_examples=100, deadline=None)
def test_any_content_is_judged_without_failing(root: Root, content: dict[str, Any]) -> None:
    ecf_type = CREDIT if root is Root.ECF else None

    assert isinstance(check(Document(root, ecf_type, content), now=NOW), list)


def _instructions(work: Callable[[], object]) -> int:
    """How many instructions of the interpreter `work` takes, on a busy machine as on an idle one."""
    count = 0

    def each(frame: FrameType, event: str, _: object) -> Any:
        nonlocal count
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        count += event == "opcode"
        return each

    before = sys.gettrace()
    sys.settrace(each)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def test_two_hundred_lines_take_no_more_work_a_line_than_twenty() -> None:
    def work_a_line(count: int) -> float:
        document = receipt(CREDIT, [line(f"{place}.25", "3.00") for place in range(count)])
        apply_rules(fill(document), now=NOW)  # what is kept after the first time is not counted
        return _instructions(lambda: apply_rules(fill(document), now=NOW)) / count

    # Work done once per receipt weighs less; a rule that looked at every line for every line would weigh more.
    assert work_a_line(200) < 1.25 * work_a_line(20)
