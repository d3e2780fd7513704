"""Validating and signing say the same of every case, and accepting takes all: what one calls valid, the other signs."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.dates import read_day
from fe.ecf.document import Document, read_xml
from fe.ecf.json_text import write_canonical_json
from fe.ecf.problems import Problem, Severity
from fe.ecf.signature import Signer, verify
from fe.identifiers import ApiKeyId, CertificateId, TenantId
from fe.issuing.accept import admit
from fe.issuing.prepare import Draft, read
from fe.issuing.sign import CannotIssue, NumberTaken, QrHosts, make_signed
from fe.issuing.validate import find_problems, is_fatal
from fe.store.queue.inputs import Candidate, SigningInput
from fe.store.queue.steps import SignedDocument
from fe.store.records.submissions import NewSubmission
from fe.store.records.tenant_context import TenantContext
from tests.ecf.drafts import drafts
from tests.factories.companies import company_credential
from tests.issuing.cases import CASES, OTHER, Case, sale

SIGNER = Signer(company_credential())
HOSTS = QrHosts("https://ecf.example", "https://fc.example")


def draft_of(case: Case) -> Draft:
    if isinstance(case.given, bytes):
        return Draft("xml", xml=case.given.decode())
    return Draft("structured", payload=case.given)


def validated(case: Case) -> list[Problem]:
    draft = draft_of(case)
    document = draft.read()
    number = document.issued_number
    prefix = number[:3] if number is not None else document.type.prefix if document.type is not None else ""
    known = TenantContext(
        issuer=dict(case.issuer),
        user_is_known=True,
        own_rncs=frozenset({str(case.issuer["RNCEmisor"])}),
        expiries={prefix: case.expires} if case.expires is not None else {},
        next_numbers={prefix: case.next_number} if case.next_number is not None else {},
        holders=case.holders,
    )
    return find_problems(draft, document, known, case.now)


def signed(case: Case) -> SignedDocument:
    """Process it after intake: numbered, and signed from the input read at intake, or from the stored one."""
    admitted = admit(draft_of(case), TenantId(1), Environment.ECF, ApiKeyId("fak_000000000001"), case.now)
    assert (admitted.document is None) == (admitted.format == "xml")
    try:
        from_memory = _signed(case, admitted)
    except (CannotIssue, NumberTaken) as error:
        with pytest.raises(type(error), match=re.escape(str(error))):
            _signed(case, replace(admitted, document=None))
        raise
    assert from_memory == _signed(case, replace(admitted, document=None))  # to the byte
    return from_memory


def _signed(case: Case, admitted: NewSubmission) -> SignedDocument:
    drawn = None
    if admitted.draw_prefix is not None and case.next_number is not None:
        drawn = f"{admitted.draw_prefix}{case.next_number:010}"
    chosen = Candidate(CertificateId(UUID(int=7)), None, None, None, case.now, case.now)
    signing_input = SigningInput(
        format=admitted.format,
        root=admitted.root,
        ecf_type=admitted.ecf_type,
        e_ncf=admitted.e_ncf or drawn,
        as_user=None,
        as_user_id=None,
        original=admitted.original,
        issuer=dict(case.issuer),
        consumer_summary="automatic",
        sequence_expires=case.expires,
        candidates=(chosen,),
        holders=case.holders,
        document=admitted.document,
    )
    return make_signed(signing_input, Environment.ECF, chosen, SIGNER, now=case.now, hosts=HOSTS)


def fatal_codes(problems: list[Problem] | tuple[Problem, ...]) -> set[str]:
    return {problem.code for problem in problems if problem.severity is Severity.REJECTED}


def document_in(made: SignedDocument) -> Document:
    return read_xml(verify(made.signed).root)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_validation_agrees_with_signing(case: Case) -> None:
    problems = validated(case)

    assert case.codes <= fatal_codes(problems), problems
    assert is_fatal(problems) == bool(case.codes), problems
    if not case.codes:
        made = signed(case)
        if case.until is not None:
            until = read_day(case.until)
            assert document_in(made).get("Encabezado.IdDoc.FechaVencimientoSecuencia") == case.until
            assert made.ncf_expiration == until
    elif "number-taken" in case.codes:
        with pytest.raises(NumberTaken) as taken:
            signed(case)
        assert taken.value.holder == OTHER
    else:
        with pytest.raises(CannotIssue) as refused:
            signed(case)
        assert fatal_codes(refused.value.problems) == fatal_codes(problems)
        assert [problem.path for problem in refused.value.problems] == [
            problem.path for problem in problems if problem.severity is Severity.REJECTED
        ]


def test_a_number_of_a_sequence_that_is_over_is_not_promised() -> None:
    """Accepting would refuse to draw; validating must not call the document good."""
    drawing = next(case for case in CASES if case.name == "a number to be drawn")
    over = Case("over", drawing.given, now=datetime(2029, 1, 1, 15, tzinfo=UTC), next_number=7)

    assert "Encabezado.IdDoc.eNCF" in {problem.path for problem in validated(over)}


def known_to(**changes: Any) -> TenantContext:
    plain: dict[str, Any] = {
        "issuer": {},
        "user_is_known": True,
        "own_rncs": frozenset({"131880738"}),
        "expiries": {},
        "next_numbers": {},
        "holders": (),
    }
    return TenantContext(**{**plain, **changes})


def told(given: Mapping[str, Any], known: TenantContext, **of_the_draft: Any) -> list[Problem]:
    draft = Draft("structured", payload=given, **of_the_draft)
    return find_problems(draft, draft.read(), known, CASES[0].now)


@pytest.mark.parametrize(
    ("given", "rnc", "path"),
    [
        (
            {"Encabezado": {"IdDoc": {"TipoeCF": "31"}, "Emisor": {"RNCEmisor": "101000001"}}},
            "101000001",
            "Emisor.RNCEmisor",
        ),
        ({"ANECF": {"Encabezado": {"RncEmisor": "101000001"}}}, "101000001", "RncEmisor"),
    ],
)
def test_a_foreign_issuer_is_a_remark_and_no_refusal(given: Mapping[str, Any], rnc: str, path: str) -> None:
    (remark,) = [problem for problem in told(given, known_to()) if problem.code == "foreign-issuer"]

    assert (remark.severity, remark.found, remark.path) == (Severity.CONDITIONAL, rnc, f"Encabezado.{path}")
    assert remark.expected == "131880738"


@pytest.mark.parametrize(
    "given",
    [
        {"Encabezado": {"IdDoc": {"TipoeCF": "31"}, "Emisor": {"RNCEmisor": "131880738"}}},
        {"Encabezado": {"IdDoc": {"TipoeCF": "31"}, "Emisor": {"RNCEmisor": "130000001"}}},
        {"ACECF": {"DetalleAprobacionComercial": {"RNCEmisor": "101000001"}}},
    ],
    ids=["the tenant's", "a user's", "of what is approved"],
)
def test_an_issuer_of_our_own_and_the_supplier_that_is_approved_are_not_foreign(given: Mapping[str, Any]) -> None:
    known = known_to(own_rncs=frozenset({"131880738", "130000001"}))

    assert "foreign-issuer" not in {problem.code for problem in told(given, known)}


def test_small_consumer_invoice_sent_whole_has_a_remark() -> None:
    """The authority rejects it (authority.md#routing), and its number is used up; the summary would be taken."""
    small, large = sale(EcfType.CONSUMER), sale(EcfType.CONSUMER)
    large["DetallesItems"]["Item"][0]["PrecioUnitarioItem"] = "250000.00"
    whole = known_to(consumer_summary="off")

    (remark,) = [problem for problem in told(small, whole) if problem.code == "goes-out-whole"]

    assert (remark.severity, remark.path) == (Severity.CONDITIONAL, "Encabezado.Totales.MontoTotal")
    assert remark.found == "118.00"
    for other, known in ((small, known_to()), (large, whole), (sale(), whole)):
        assert "goes-out-whole" not in {problem.code for problem in told(other, known)}


def test_unknown_user_is_reported_at_its_field() -> None:
    given = CASES[0].given
    assert isinstance(given, Mapping)
    by_id = told(given, known_to(user_is_known=False), as_user_id=OTHER, as_user="ana@empresa.do")
    by_address = told(given, known_to(user_is_known=False), as_user="ana@empresa.do")

    assert [(one.path, one.found) for one in by_id if one.code == "unknown-user"] == [("asUserId", str(OTHER))]
    assert [(one.path, one.found) for one in by_address if one.code == "unknown-user"] == [("asUser", "ana@empresa.do")]
    assert is_fatal(by_id)


def test_stored_input_is_the_sent_input() -> None:
    """Validating completes a copy: the draft that is accepted afterwards is untouched."""
    case = CASES[0]
    assert isinstance(case.given, Mapping)
    before = write_canonical_json(case.given)

    validated(case)

    assert write_canonical_json(case.given) == before


@given(st.sampled_from(EcfType).flatmap(drafts))
def test_stored_input_reads_as_the_sent_input(document: Document) -> None:
    """So a signer may use the input in memory, and after a crash another one the stored input."""
    draft = Draft("structured", payload={"ECF": document.content})
    admitted = admit(
        draft, TenantId(1), Environment.ECF, ApiKeyId("fak_000000000001"), datetime(2026, 11, 6, tzinfo=UTC)
    )

    assert admitted.document == read("structured", admitted.original)
