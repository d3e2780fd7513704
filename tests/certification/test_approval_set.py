"""The authority's set of approvals: read as downloaded, refused once a cell was changed, rehearsed to the cent."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from fe.certification.approval_set import COLUMNS, DETAIL, SHEET, read_approvals
from fe.certification.case_set import BadSet, CaseSet
from fe.ecf.document import read_xml
from fe.ecf.signature import Signer, verify
from fe.ecf.taxes import RATES
from fe.issuing.certification import read_workbook, rehearse, require_sound
from tests.certification.sets import DEMO_ISSUER, RNC, TODAY, Sheets, approvals, xlsx
from tests.certification.test_case_set import assert_says_what_to_do
from tests.ecf.receipts import NOW
from tests.factories.companies import credential_of_today

SIGNER = Signer(credential_of_today())


def check(cases: CaseSet, now: datetime = NOW, *, despite_doubts: bool = False) -> list[dict[str, str]]:
    done = rehearse(cases.cases, SIGNER, issuer={}, now=now, rates=RATES)
    require_sound(done, despite_doubts=despite_doubts)
    return [dict(read_xml(verify(one.signed).root).content[DETAIL]) for one in done]


def test_approvals_are_signed_as_the_workbook_has_them() -> None:
    found = read_workbook(xlsx(approvals()), RNC, TODAY)
    assert found.remarks == ()
    said = check(found)
    assert len(said) == 11
    assert said[0] == {
        **{"Version": "1.0", "RNCEmisor": DEMO_ISSUER, "eNCF": "E330000000001", "FechaEmision": "19-11-2026"},
        **{"MontoTotal": "1180.00", "RNCComprador": RNC, "Estado": "1"},
        "FechaHoraAprobacionComercial": "20-11-2026 09:15:30",
    }
    assert [one["MontoTotal"] for one in said[1:3]] == ["1002.25", "1003.25"]


def _cell(column: str, value: Any) -> Callable[[Sheets], Any]:
    return lambda made: made[SHEET][2].__setitem__(COLUMNS.index(column), value)


def _without(made: Sheets) -> None:
    made[SHEET] = [row[:-1] for row in made[SHEET]]


def _more(made: Sheets) -> None:
    made[SHEET] = [[*row, "Nueva" if at == 0 else "1"] for at, row in enumerate(made[SHEET])]


@pytest.mark.parametrize(
    ("spoil", "row", "column", "words"),
    [
        (_cell("RNCComprador", "101000001"), 3, "RNCComprador", "of taxpayer 101000001, not of 131880738"),
        (_cell("eNCF", ""), 3, "eNCF", "changed or emptied"),
        (_cell("eNCF", "E3100000000"), 3, "eNCF", "is no e-NCF"),
        (_cell("eNCF", "E330000000001"), 3, "eNCF", "is in row 2 already"),
        (_cell("RNCEmisor", 131880681), 3, "RNCEmisor", "changed or emptied"),
        (_cell("MontoTotal", 1002.251), 3, "MontoTotal", "changed or emptied"),
        (_cell("FechaHoraAprobacionComercial", NOW), 3, "FechaHoraAprobacionComercial", "changed or emptied"),
        (_without, 1, "FechaHoraAprobacionComercial", "this column is missing"),
        (_more, 2, "Nueva", "does not know the column"),
        (lambda made: made[SHEET].__delitem__(slice(1, None)), None, None, "there is no approval"),
    ],
)
def test_changed_workbook_of_approvals_is_refused(
    spoil: Callable[[Sheets], Any], row: int | None, column: str | None, words: str
) -> None:
    made = approvals(3)
    spoil(made)
    with pytest.raises(BadSet) as refused:
        read_approvals(made, buyer=RNC)
    fault = refused.value.faults[0]
    assert (fault.sheet, fault.row, fault.column) == (SHEET, row, column), fault.said
    assert words in fault.said.en
    assert_says_what_to_do(fault)


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("Estado", 3, "Estado"),
        ("Estado", 2, "DetalleMotivoRechazo"),
        ("eNCF", "E320000000001", "eNCF"),
        ("FechaEmision", "2026-11-19", "FechaEmision"),
    ],
)
def test_approval_that_breaks_a_rule_is_found_by_the_rehearsal(column: str, value: Any, words: str) -> None:
    made = approvals(2)
    _cell(column, value)(made)
    with pytest.raises(BadSet) as refused:
        check(read_approvals(made, buyer=RNC))
    (fault, *_) = refused.value.faults
    assert (fault.row, fault.column) == (3, words), fault.said


def test_set_of_another_year_is_a_doubt_that_a_person_decides() -> None:
    found = read_approvals(approvals(), buyer=RNC)
    later = NOW + timedelta(days=365)
    with pytest.raises(BadSet, match="the approval is of 2026-11-20: if the portal has a newer set"):
        check(found, later)
    assert len(check(found, later, despite_doubts=True)) == 11
    assert [one.en for one in read_approvals(approvals(2), buyer=RNC).remarks] == [
        "The set has 2 approvals; the authority's has 11. Compare it with the portal before you send it."
    ]
