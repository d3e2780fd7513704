"""The first problem of a single mistake names its cause, and its repair, applied mechanically, works."""

from typing import Any

import pytest

from fe.ecf.catalogue import EcfType
from fe.ecf.document import NotADocument, read_payload
from fe.ecf.problems import Problem, Severity, serialize_problem
from fe.issuing.prepare import prepare
from tests.ecf.receipts import EXPIRY, ISSUER, NOW
from tests.mistakes.corpus import UNREADABLE, Mistake, good, mistakes, of_other_types
from tests.mistakes.repairing import applied


def problems_of(payload: dict[str, Any]) -> list[Problem]:
    """Problems that validation reports about the document itself."""
    try:
        document = read_payload(payload)
    except NotADocument as error:
        return list(error.problems)
    return list(prepare(document, number=None, issuer=ISSUER, last_day=EXPIRY, holders=(), now=NOW).problems)


@pytest.mark.parametrize("ecf_type", list(EcfType))
def test_documents_before_mistakes_are_valid(ecf_type: EcfType) -> None:
    assert problems_of(good(ecf_type)) == []


def test_there_are_two_hundred_at_least_and_no_two_are_called_the_same() -> None:
    names = [mistake.name for mistake in mistakes()]

    assert len(names) >= 200
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("mistake", mistakes(), ids=str)
def test_the_first_problem_names_the_cause_and_its_repair_works(mistake: Mistake) -> None:
    problems = problems_of(mistake.given)

    first = serialize_problem(problems[0])
    assert first["path"] == mistake.path, [(one.code, one.path, one.message) for one in problems]
    assert first["fix"], first
    assert first["fixEs"], first
    repair = first.get("repair")
    if mistake.name in UNREADABLE:
        assert repair is None, repair
        return
    assert repair is not None, first
    mended = applied(mistake.given, repair)
    left = problems_of(mended)
    assert [one for one in left if one.path == problems[0].path and one.code == problems[0].code] == []
    if repair["certain"]:
        # A sale on credit that is one now may have a remark.
        fatal = [(one.code, one.path, one.message) for one in left if one.severity is Severity.REJECTED]
        assert fatal == [], repair


@pytest.mark.parametrize("mistake", list(of_other_types()), ids=str)
def test_element_of_another_type_names_the_types_that_have_it(mistake: Mistake) -> None:
    first = problems_of(mistake.given)[0]

    assert "does not belong to a document e-CF" in first.message
    assert "these types have it: " in first.message
    assert "lo tienen los tipos: " in first.message_es
