"""The authority's set of test cases: read as downloaded, refused once a cell was changed, rehearsed to the cent."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from fe.certification.case_set import BadSet, CaseSet, SetFault, read_set
from fe.certification.columns import ECF, RFCE, columns
from fe.ecf.document import read_xml
from fe.ecf.money import number
from fe.ecf.signature import Signer, verify
from fe.ecf.taxes import RATES
from fe.issuing.certification import BOUNDS, Rehearsed, read_workbook, rehearse, require_sound
from fe.workbooks.tables import UnreadableWorkbook, read_table
from tests.certification.sets import (
    CASES_OF_THE_ORDER,
    DISCLOSED,
    DISCLOSED_ISSUER,
    RNC,
    TODAY,
    Sheets,
    change,
    row_of,
    sheets,
    xlsx,
)
from tests.ecf.receipts import NOW
from tests.factories.companies import credential_of_today
from tests.shared import needs_shared, shared

SIGNER = Signer(credential_of_today())


def read(made: Sheets) -> CaseSet:
    return read_set(made, issuer=RNC, today=TODAY)


def rehearsed(cases: CaseSet, now: datetime = NOW) -> list[Rehearsed]:
    return rehearse(cases.cases, SIGNER, issuer={}, now=now, rates=RATES)


def compare(done: Rehearsed, made: Sheets) -> int:
    """Compare each cell of the case with the bytes to be sent, and the total to the cent; return how many cells."""
    compared = 0
    sent = [(ECF, done.case.row, done.signed)]
    if done.summary is not None and done.case.summary_row is not None:
        sent.append((RFCE, done.case.summary_row, done.summary))
    for sheet, row, raw in sent:
        document = read_xml(verify(raw).root)
        heads = [str(name).strip() for name in made[sheet][0]]
        for name, cell in zip(heads, made[sheet][row - 1], strict=True):
            path = columns(sheet)[name]
            if path is None or (sheet == RFCE and cell == "#e"):
                continue
            said = document.get(path)
            if sheet == RFCE:
                assert said == cell or number(said) == Decimal(cell), (sheet, row, name)
            elif cell == "#e":
                assert not said, (sheet, row, name)
            else:
                column = done.case.places
                assert any(column[at] == name and document.get(at) == cell for at in column), (sheet, row, name)
            compared += cell != "#e"
    return compared


def test_set_with_other_values_is_put_in_official_order_and_rehearsed_to_the_cent() -> None:
    made = sheets()
    found = read(made)
    assert [case.e_ncf for case in found.cases] == CASES_OF_THE_ORDER
    assert found.remarks == ()
    done = rehearsed(found)
    require_sound(done)
    assert sum(compare(one, made) for one in done) > 900
    full = [one for one in done if one.summary is not None]
    assert len(full) == 4
    for one in full:
        assert one.summary is not None
        code = verify(one.signed).security_code
        assert read_xml(verify(one.summary).root).get("Encabezado.CodigoSeguridadeCF") == code


@needs_shared
def test_disclosed_set_of_the_authority_is_rehearsed_to_the_cent() -> None:
    content = shared(DISCLOSED).read_bytes()
    found = read_workbook(content, DISCLOSED_ISSUER, date(2026, 11, 27))
    made: Sheets = {sheet.name: sheet.rows for sheet in read_table(content, BOUNDS).sheets}
    for name in (ECF, RFCE):
        assert [str(cell).strip() for cell in made[name][0]] == list(columns(name))
    done = rehearsed(found, datetime(2026, 11, 27, 15, tzinfo=UTC))
    require_sound(done)
    assert [one.case.e_ncf for one in done] == [
        *("E310000000002", "E310000000004", "E410000000001", "E340000000018", "E320000000011"),
    ]
    assert sum(compare(one, made) for one in done) > 230
    assert [remark.en for remark in found.remarks] == [
        "The set has 5 cases, 1 of them with a summary; the authority's has 25 and 4. "
        "Compare it with the portal before you send it.",
        "E340000000018 refers to E460000000009, which is not in the set: it must have been accepted before.",
    ]


def test_note_on_a_summarised_invoice_or_on_a_note_comes_after_it() -> None:
    made = sheets()
    change(made, ECF, row_of(made, ECF, "E330000000001"), "NCFModificado", "E320000000012")
    change(made, ECF, row_of(made, ECF, "E340000000001"), "NCFModificado", "E330000000001")
    order = [case.e_ncf for case in read(made).cases]
    assert order.index("E320000000012") < order.index("E330000000001") < order.index("E340000000001")
    change(made, ECF, row_of(made, ECF, "E330000000001"), "NCFModificado", "E340000000001")  # one on the other
    assert len(read(made).cases) == 25


def _without(sheet: str, column: str) -> Callable[[Sheets], Any]:
    def remove(made: Sheets) -> None:
        place = list(columns(sheet)).index(column)
        made[sheet] = [row[:place] + row[place + 1 :] for row in made[sheet]]

    return remove


def _cell(sheet: str, e_ncf: str, column: str, value: Any) -> Callable[[Sheets], Any]:
    return lambda made: change(made, sheet, row_of(made, sheet, e_ncf), column, value)


def _twice(made: Sheets) -> None:
    made[ECF].append(list(made[ECF][2]))


def _more_columns(made: Sheets) -> None:
    for at, row in enumerate(made[ECF]):
        row.append("IndicadorServicioTodoIncluido" if at == 0 else "1" if at == 2 else "#e")


_31 = "E310000000001"
_TWO = [_31, "E320000000011"]
BAD = [
    (_cell(ECF, _31, "FechaVencimientoSecuencia", "31-12-2025"), 3, "FechaVencimientoSecuencia", "of another year"),
    (_cell(ECF, _31, "RNCEmisor", "101000001"), 3, "RNCEmisor", "of taxpayer 101000001, not of 131880738"),
    (_cell(ECF, _31, "MontoTotal", 384.62), 3, "MontoTotal", "it is no text any more"),
    (_cell(ECF, _31, "MontoTotal", ""), 3, "MontoTotal", "the cell was emptied"),
    (_cell(ECF, _31, "ENCF", "E310000000009"), 3, "CasoPrueba", "does not fit the issuer and number"),
    (_cell(ECF, _31, "TipoeCF", "33"), 3, "ENCF", "is no number of type 33"),
    (_without(ECF, "TipoPago"), 1, "TipoPago", "this column is missing"),
    (_without(RFCE, "MontoTotal"), 1, "MontoTotal", "this column is missing"),
    (_twice, 4, "CasoPrueba", "is in row 3 already"),
    (_more_columns, 3, "IndicadorServicioTodoIncluido", "would leave its value out"),
    (lambda made: made[RFCE].pop(), 2, "CasoPrueba", "sheet RFCE lacks the summary of E320000000011"),
    (lambda made: made[ECF].pop(1), 2, "CasoPrueba", "sheet ECF lacks the invoice of 131880738E320000000011"),
    (_cell(ECF, "E320000000011", "MontoTotal", "250000.00"), 2, "CasoPrueba", "is sent whole, without a summary"),
    (lambda made: made.pop(RFCE), None, None, "the sheet is missing"),
    (lambda made: made.update(ACEECF_Generadas=made.pop(RFCE)), None, None, "this is the workbook of step 3"),
    (lambda made: made[ECF].__delitem__(slice(1, None)), None, None, "there is no case"),
]


@pytest.mark.parametrize(("spoil", "row", "column", "words"), BAD)
def test_changed_workbook_is_refused_with_sheet_row_and_column(
    spoil: Callable[[Sheets], Any], row: int | None, column: str | None, words: str
) -> None:
    made = sheets(only=_TWO)
    spoil(made)
    with pytest.raises(BadSet) as refused:
        read(made)
    fault = refused.value.faults[0]
    assert (fault.row, fault.column) == (row, column), fault.said
    assert words in fault.said.en
    assert fault.sheet in (ECF, RFCE)
    assert_says_what_to_do(fault)


def assert_says_what_to_do(fault: SetFault) -> None:
    """A fault names the remedy in both languages."""
    remedies = {
        "Download the set again and load it unopened.": "Descargue el set otra vez y cárguelo sin abrirlo.",
        "load the set of this company.": "cargue el set de esta empresa.",
        "load that of step 2.": "cargue el del paso 2.",
        "generate a new one in the portal.": "genere uno nuevo en el portal.",
        "report it.": "repórtelo.",
    }
    found = [(en, es) for en, es in remedies.items() if fault.text.en.endswith(en)]
    assert [es for _, es in found if fault.text.es.endswith(es)], fault.text


#: Changes that only the rehearsal finds: the case, its column, the new text, whether the authority certainly rejects.
CHANGED = [
    (ECF, _31, "MontoTotal", "384.72", "MontoTotal", False),
    (ECF, _31, "MontoItem[1]", "202.55", "MontoItem[1]", False),
    (ECF, _31, "MontoTotal", "390.62", "MontoTotal", False),
    (ECF, _31, "TotalITBIS1", "158.67", "TotalITBIS1", True),
    (ECF, _31, "TipoIngresos", "1", "TipoIngresos", True),
    (ECF, _31, "TipoIngresos", "#e", "TipoIngresos", True),
    (ECF, _31, "RazonModificacion", "x", "RazonModificacion", True),
    (ECF, _31, "TipoPago", " 1", "TipoPago", True),
    (ECF, _31, "IndicadorMontoGravado", "#e", "IndicadorMontoGravado", True),
    (RFCE, "E320000000011", "MontoTotal", "999.99", "MontoTotal", True),
    (RFCE, "E320000000011", "RazonSocialComprador", "OTRA", "RazonSocialComprador", True),
]


@pytest.mark.parametrize(("sheet", "e_ncf", "column", "value", "where", "is_certain"), CHANGED)
def test_changed_value_is_found_by_the_rehearsal(
    sheet: str, e_ncf: str, column: str, value: str, where: str, is_certain: bool
) -> None:
    made = sheets(only=_TWO)
    change(made, sheet, row_of(made, sheet, e_ncf), column, value)
    done = rehearsed(read(made))
    faults = [fault for one in done for fault in one.faults]
    assert where in {fault.column for fault in faults}
    assert {fault.sheet for fault in faults} == {sheet}
    assert is_certain in {fault.is_certain for fault in faults}
    with pytest.raises(BadSet):
        require_sound(done)
    if not is_certain:
        require_sound(done, despite_doubts=True)


def test_workbook_is_read_within_bounds() -> None:
    made = sheets(only=_TWO)
    assert [case.e_ncf for case in read_workbook(xlsx(made), RNC, TODAY).cases] == _TWO
    with pytest.raises(UnreadableWorkbook, match=r"\.xlsx file of the portal"):
        read_workbook(b"a,b\r\n1,2\r\n", RNC, TODAY)
    long = {"ECF": [["x"]] * 202, "RFCE": [["x"]]}
    with pytest.raises(UnreadableWorkbook, match="more than 200 rows"):
        read_workbook(xlsx(long), RNC, TODAY)
