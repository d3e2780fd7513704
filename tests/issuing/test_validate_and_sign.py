"""Validation and signing agree: a valid document ends signed, and a refused one does not.

Documents of every kind, and of each many with odd spellings: blanks and line ends around a value, dates in other forms,
numbers as text and as numbers, values of the wrong kind. The draws are the same in every run.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from lxml import etree

from fe.ecf.build import build, to_bytes
from fe.ecf.catalogue import EcfType, Environment, Root
from fe.ecf.document import NotADocument
from fe.ecf.json_text import write_canonical_json
from fe.ecf.parse import Malformed, parse_json, parse_xml
from fe.ecf.problems import Problem
from fe.ecf.schema import validate
from fe.ecf.schema.kinds import kind
from fe.ecf.schema.model import Base, Element
from fe.ecf.signature import Signer, verify
from fe.identifiers import ApiKeyId, CertificateId, TenantId
from fe.issuing.accept import admit
from fe.issuing.prepare import Draft
from fe.issuing.sign import CannotIssue, QrHosts, make_signed
from fe.issuing.validate import find_problems, is_fatal
from fe.store.queue.inputs import Candidate, SigningInput
from fe.store.queue.steps import SignedDocument
from fe.store.records.submissions import NewSubmission
from fe.store.records.tenant_context import TenantContext
from tests.ecf.drafts import any_draft, drafts
from tests.ecf.receipts import ISSUER, USUAL_INDICATOR, fill, line, payload, receipt
from tests.ecf.strategies import DOCUMENT_KINDS, documents
from tests.factories.companies import company_credential

NOW = datetime(2026, 11, 6, 14, 15, 30, tzinfo=UTC)
EXPIRES = datetime(2028, 12, 31, 16, tzinfo=UTC)
HOSTS = QrHosts("https://ecf.example", "https://fc.example")
SIGNER = Signer(company_credential())
CHOSEN = Candidate(CertificateId(UUID(int=7)), None, None, None, NOW, NOW)
KNOWN = TenantContext(
    issuer=ISSUER,
    user_is_known=True,
    own_rncs=frozenset({str(ISSUER["RNCEmisor"])}),
    expiries={ecf_type.prefix: EXPIRES for ecf_type in EcfType},
    next_numbers={ecf_type.prefix: 42 for ecf_type in EcfType},
    holders=(),
    may_defer=True,
)
GOLDEN = Path(__file__).parent.parent / "ecf" / "golden"

odd_judgement = settings(
    max_examples=80,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


# --- both ways of asking -----------------------------------------------------------------------------------------


def would_be_signed(draft: Draft) -> bool:
    """The answer of POST /invoices/validate."""
    try:
        return not is_fatal(validated(draft))
    except Malformed:
        return False


def validated(draft: Draft) -> list[Problem]:
    try:
        document = draft.read()
    except NotADocument as error:
        return list(error.problems)
    return find_problems(draft, document, KNOWN, NOW)


def signed(draft: Draft) -> SignedDocument | None:
    """The result of POST /invoices and the worker; None where either of them refuses, with their messages."""
    try:
        new = admit(draft, TenantId(1), Environment.ECF, ApiKeyId("key"), NOW)
    except (Malformed, NotADocument):
        return None
    number = new.e_ncf if new.draw_prefix is None else f"{new.draw_prefix}0000000042"
    signing_input = SigningInput(
        format=new.format,
        root=new.root,
        ecf_type=new.ecf_type,
        e_ncf=number,
        as_user=None,
        as_user_id=None,
        original=new.original,
        issuer=ISSUER,
        consumer_summary="automatic",
        sequence_expires=EXPIRES,
        candidates=(CHOSEN,),
    )
    try:
        made = make_signed(signing_input, Environment.ECF, CHOSEN, SIGNER, now=NOW, hosts=HOSTS)
    except CannotIssue:
        return None
    the_facts_are_those_of_the_xml(new, made)
    return made


def the_facts_are_those_of_the_xml(new: NewSubmission, made: SignedDocument) -> None:
    """Hold what the 202 says, and what lists will say, against the signed XML."""
    xml = parse_xml(made.signed)
    total, itbis = (xml.findtext(f"Encabezado/Totales/{name}") for name in ("MontoTotal", "TotalITBIS"))
    assert made.facts.total == (None if total is None else Decimal(total))
    assert made.facts.itbis == (None if total is None else Decimal(itbis or 0))
    for before, after in zip(new.facts, made.facts, strict=True):
        assert before in (None, after)
    if new.facts.total is None and made.facts.total is not None:
        assert b"TablaImpuestoAdicional" in new.original or b"IndicadorNorma1007" in new.original


def structured(content: dict[str, Any]) -> Draft:
    return Draft("structured", payload=parse_json(write_canonical_json(content)))


def agree(draft: Draft) -> SignedDocument | None:
    """Hold the two against each other, and what was signed against what may be signed."""
    said, made = said_and_made(draft)
    assert said == (made is not None)
    return made


def said_and_made(draft: Draft) -> tuple[bool, SignedDocument | None]:
    """Whether it is called valid, and what is made of it, which is held against what may be signed."""
    made = signed(draft)
    if made is not None:
        for document in filter(None, (made.signed, made.sent)):
            verify(document)
            assert validate(parse_xml(document)) == []
            assert list(blanks_around_values(parse_xml(document))) == []
        the_address_says_what_was_sent(made)
    return would_be_signed(draft), made


def blanks_around_values(root: etree._Element) -> Iterator[str]:
    """Where a number, a code or a date of the document has blanks around it."""
    root_name = Root(str(root.tag))
    tipo = root.findtext("Encabezado/IdDoc/TipoeCF")
    of = kind(root_name, EcfType(str(tipo)) if root_name in (Root.ECF, Root.RFCE) else None).root
    yield from _blanks(of, root)


def _blanks(of: Element, node: etree._Element) -> Iterator[str]:
    for child in node:
        known = of.by_name.get(str(child.tag))
        if known is None:
            continue
        if known.simple is None:
            yield from _blanks(known, child)
        elif known.simple.base is not Base.STRING and (child.text or "") != (child.text or "").strip():
            yield known.name


def the_address_says_what_was_sent(made: SignedDocument) -> None:
    if made.qr_code_url is None:
        return
    sent = parse_xml(made.sent or made.signed)
    said = {name: values[0] for name, values in parse_qs(urlsplit(made.qr_code_url).query).items()}
    assert said["MontoTotal"] == sent.findtext("Encabezado/Totales/MontoTotal")
    assert said["RncEmisor"] == sent.findtext("Encabezado/Emisor/RNCEmisor")
    assert said["ENCF"] == sent.findtext("Encabezado/IdDoc/eNCF")
    assert said.get("FechaEmision", sent.findtext("Encabezado/Emisor/FechaEmision")) == sent.findtext(
        "Encabezado/Emisor/FechaEmision"
    )


# --- odd ways of saying things -----------------------------------------------------------------------------------

_ODD = [
    "{}\n", " {}", "{} ", "\t{}", "{}\r\n", "\u00a0{}", "+{}", "0{}", "{}0", "{}.0", "-{}", "{}.", "{}e0", "'{}'",
]  # fmt: skip
_VALUES: list[Any] = [
    "2027-12-31", "31-12-2027", "1-5-2027", "2027-5-1", "31-02-2027", "2027-02-31", "31/12/2027", "20271231",
    "2027-12-31T00:00:00Z", "2026-11-05T10:00:00-04:00", "2026-11-05 10:00:00", "05-11-2026 10:00:00", " 31-12-2027",
    "31-12-2027\n", "31-12-20२७", "0", "1", 0, 1, 2, 31, -1, Decimal("118.5"), Decimal("118.500"), Decimal("0.001"),
    "118.5", "118.50", "118", "", " ", "\n", "E310000000007", "E31000000000A", "31", "01", "abc", "Ñandú & <Cía>",
    "x" * 300, None,
]  # fmt: skip


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict):
        for name, below in value.items():
            yield from _leaves(below, (*path, name))
    elif isinstance(value, list):
        for place, below in enumerate(value):
            yield from _leaves(below, (*path, place))
    else:
        yield path


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copy(below) for name, below in value.items()}
    return [_copy(below) for below in value] if isinstance(value, list) else value


def _put(content: Any, path: tuple[Any, ...], change: Any) -> None:
    for step in path[:-1]:
        content = content[step]
    content[path[-1]] = change(content[path[-1]]) if callable(change) else change


_changes: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(_ODD).map(lambda form: lambda value: form.format(value)),
    st.sampled_from(_VALUES),
    st.just(
        lambda value: Decimal(value) if isinstance(value, str) and value.replace(".", "", 1).isdecimal() else value
    ),
)
_dates = st.sampled_from([value for value in _VALUES if isinstance(value, str) and "20" in value])


@st.composite
def odd(draw: st.DrawFn, contents: st.SearchStrategy[dict[str, Any]], most: int = 2) -> dict[str, Any]:
    """A payload, up to `most` of its values said otherwise."""
    content: dict[str, Any] = _copy(draw(contents))
    for _ in range(draw(st.integers(0, most))):
        _put(content, draw(st.sampled_from(sorted(_leaves(content), key=str))), draw(_changes))
    return content


@st.composite
def drafts_with_dates(draw: st.DrawFn) -> dict[str, Any]:
    """A receipt of any type with one more date in it, in whatever form."""
    ecf_type = draw(st.sampled_from(EcfType))
    content = payload(ecf_type, [line(indicator=USUAL_INDICATOR[ecf_type])], issued="05-11-2026")
    place, name = draw(
        st.sampled_from(
            [
                ("IdDoc", "FechaVencimientoSecuencia"),
                ("IdDoc", "FechaLimitePago"),
                ("IdDoc", "FechaDesde"),
                ("IdDoc", "FechaHasta"),
                ("Emisor", "FechaEmision"),
                ("Comprador", "FechaEntrega"),
                ("Comprador", "FechaOrdenCompra"),
            ]
        )
    )
    content["Encabezado"].setdefault(place, {})[name] = draw(_dates)
    return content


def _ancillary_documents() -> list[dict[str, Any]]:
    names = ("rfce-of-the-lunch", "acecf-rejected", "anecf-two-blocks")
    return [parse_json((GOLDEN / f"{name}.json").read_bytes()) for name in names]


@odd_judgement
@given(content=odd(any_draft.map(lambda document: dict(document.content))))
def test_valid_documents_are_signed_and_invalid_ones_are_not(content: dict[str, Any]) -> None:
    said, made = said_and_made(structured(content))
    event(f"signed: {made is not None}")

    assert said == (made is not None)


@odd_judgement
@given(content=drafts_with_dates())
def test_date_is_read_alike_in_every_field(content: dict[str, Any]) -> None:
    said, made = said_and_made(structured(content))
    event(f"signed: {made is not None}")

    assert said == (made is not None)


@odd_judgement
@given(content=odd(st.sampled_from(_ancillary_documents())))
def test_the_ancillary_documents_are_judged_as_they_are_signed(content: dict[str, Any]) -> None:
    said, made = said_and_made(structured(content))
    event(f"signed: {made is not None}")

    assert said == (made is not None)


def _that_differ(valid: dict[str, Any], drawn: dict[str, Any], path: tuple[Any, ...] = ()) -> Iterator[Any]:
    """Where `drawn` says what `valid` does not or says otherwise, and what it says there; as far down as both go."""
    for name, value in drawn.items():
        here = valid.get(name)
        if isinstance(value, dict) and isinstance(here, dict):
            yield from _that_differ(here, value, (*path, name))
        elif isinstance(value, list) and isinstance(here, list):
            for place, (one, other) in enumerate(zip(here, value, strict=False)):
                yield from _that_differ(one, other, (*path, name, place))
        else:
            yield (*path, name), value


@st.composite
def documents_near_valid_ones(draw: st.DrawFn) -> dict[str, Any]:
    """A valid document of any kind, up to eight of its values as they are in one that only follows the format.

    One that is drawn as a whole is never signed: its sums, its numbers and whose it is are wrong at once.
    """
    kind_of = draw(st.sampled_from([one for one in DOCUMENT_KINDS if one.root.name != Root.ARECF.value]))
    drawn = draw(documents(kind_of))
    if drawn.type is not None and drawn.root is Root.ECF:
        valid = _copy(dict(fill(draw(drafts(drawn.type, max_lines=2))).content))
    else:
        (valid,) = (_copy(one[drawn.root.value]) for one in _ancillary_documents() if drawn.root.value in one)
    differing = sorted(_that_differ(valid, dict(drawn.content)), key=str)
    for path, value in draw(st.lists(st.sampled_from(differing), min_size=1, max_size=8)) if differing else []:
        _put(valid, path, value)
    return {drawn.root.value: valid}


def test_documents_that_follow_the_format_are_judged_as_they_are_signed() -> None:
    """Their arithmetic need not hold, and their values are of every form the format takes."""
    outcomes: Counter[bool] = Counter()

    @odd_judgement
    @given(content=documents_near_valid_ones())
    def judge(content: dict[str, Any]) -> None:
        said, made = said_and_made(structured(content))
        outcomes[made is not None] += 1

        assert said == (made is not None)

    judge()
    assert min(outcomes[True], outcomes[False]) * 10 >= outcomes.total(), f"signed or not: {outcomes}"


@odd_judgement
@given(data=st.data())
def test_finished_xml_is_judged_as_it_is_signed(data: st.DataObject) -> None:
    ecf_type = data.draw(st.sampled_from(EcfType))
    xml = to_bytes(build(receipt(ecf_type, issued="05-11-2026"))).decode()
    root = parse_xml(xml.encode())
    for _ in range(data.draw(st.integers(0, 2))):
        leaf = data.draw(st.sampled_from([node for node in root.iter() if not len(node)]))
        leaf.text = data.draw(st.sampled_from(_ODD)).format(leaf.text or "")
        if data.draw(st.booleans()):
            leaf.text = data.draw(st.sampled_from([value for value in _VALUES if isinstance(value, str)]))
    said, made = said_and_made(Draft("xml", xml=etree.tostring(root, encoding="unicode")))
    event(f"signed: {made is not None}")

    assert said == (made is not None)


# --- the cases that were found -----------------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["FechaVencimientoSecuencia", "FechaLimitePago"])
def test_iso_date_is_written_and_returned_in_the_authority_form(field: str) -> None:
    content = payload(EcfType.CREDIT_FISCAL, [line()], issued="2026-11-05")
    content["Encabezado"]["IdDoc"][field] = "2027-12-31"

    made = agree(structured(content))

    assert made is not None
    assert parse_xml(made.signed).findtext(f"Encabezado/IdDoc/{field}") == "31-12-2027"
    assert parse_xml(made.signed).findtext("Encabezado/Emisor/FechaEmision") == "05-11-2026"
    if field == "FechaVencimientoSecuencia":
        assert made.ncf_expiration is not None
        assert made.ncf_expiration.isoformat() == "2027-12-31"


@pytest.mark.parametrize("value", ["100\n", " 100", "100.00\r\n", "\t100"])
def test_blanks_around_a_number_are_reported(value: str) -> None:
    content = payload(EcfType.CREDIT_FISCAL, [line(value)], issued="05-11-2026")

    assert agree(structured(content)) is None
    (problem,) = validated(structured(content))
    assert (problem.code, problem.path) == ("blanks-around", "DetallesItems.Item[1].PrecioUnitarioItem")
    assert problem.message == "PrecioUnitarioItem has blanks or line ends around its value"
    assert problem.message_es == "PrecioUnitarioItem tiene espacios o saltos de línea alrededor del valor"


def test_blanks_around_a_value_of_another_form_are_named_too() -> None:
    content = payload(EcfType.CREDIT_FISCAL, [line()], issued=" 05-11-2026")
    content["Encabezado"]["Comprador"]["RNCComprador"] += "\n"

    found = {problem.path: problem.code for problem in validated(structured(content))}

    assert found == {
        "Encabezado.Emisor.FechaEmision": "blanks-around",
        "Encabezado.Comprador.RNCComprador": "blanks-around",
    }


def test_blanks_around_a_text_are_the_texts_own() -> None:
    content = payload(EcfType.CREDIT_FISCAL, [line(NombreItem=" COSA ")], issued="05-11-2026")

    made = agree(structured(content))

    assert made is not None
    assert parse_xml(made.signed).findtext("DetallesItems/Item/NombreItem") == " COSA "


def test_qr_of_a_summary_has_the_total_as_sent() -> None:
    content = payload(EcfType.CONSUMER, [line("100.42")], issued="05-11-2026")
    content["Encabezado"]["Totales"] = {"MontoTotal": "118.5", "MontoGravadoTotal": "100.42"}
    content["Encabezado"]["Totales"] |= {"MontoGravadoI1": "100.42", "ITBIS1": "18"}
    content["Encabezado"]["Totales"] |= {"TotalITBIS": "18.08", "TotalITBIS1": "18.08"}

    made = agree(structured(content))

    assert made is not None
    assert made.sent is not None
    assert made.qr_code_url is not None
    assert parse_xml(made.signed).findtext("Encabezado/Totales/MontoTotal") == "118.5"
    assert parse_xml(made.sent).findtext("Encabezado/Totales/MontoTotal") == "118.50"
    assert "MontoTotal=118.50&" in made.qr_code_url
