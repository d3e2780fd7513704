"""From what a client sent to the bytes that are sent: every kind of document, checked with what the other side has."""

import json
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import pytest

from fe.ecf.catalogue import EcfType, Environment, Root
from fe.ecf.document import Document, read_payload, read_xml
from fe.ecf.json_text import write_canonical_json
from fe.ecf.parse import parse_json, parse_xml
from fe.ecf.schema import validate
from fe.ecf.signature import Signer, verify
from fe.identifiers import CertificateId
from fe.issuing.sign import CannotIssue, QrHosts, ToSign, Unsigned, make_signed, make_unsigned, sign_all, sign_unsigned
from fe.store.queue.inputs import Candidate, SigningInput
from fe.store.queue.steps import SignedDocument
from tests.ecf.receipts import BUYER, ISSUER, USUAL_INDICATOR, line, payload
from tests.factories.companies import company_credential

NOW = datetime(2026, 11, 6, 2, 15, 30, 999999, tzinfo=UTC)  # the evening before in Santo Domingo
TODAY = "05-11-2026"
HOSTS = QrHosts("https://ecf.example", "https://fc.example")
EXPIRES = datetime(2028, 12, 31, 3, tzinfo=UTC)  # the evening before in Santo Domingo too
SIGNER = Signer(company_credential())
GOLDEN = Path(__file__).parent.parent / "ecf" / "golden"
CHOSEN = Candidate(CertificateId(UUID(int=7)), None, None, None, NOW, NOW)


def signing_input(original: bytes, **changes: Any) -> SigningInput:
    plain: dict[str, Any] = {
        "format": "structured",
        "root": "ECF",
        "ecf_type": None,
        "e_ncf": None,
        "as_user": None,
        "as_user_id": None,
        "original": original,
        "issuer": ISSUER,
        "consumer_summary": "automatic",
        "sequence_expires": EXPIRES,
        "candidates": (CHOSEN,),
    }
    return SigningInput(**{**plain, **changes})


def sign(
    given: Mapping[str, Any] | bytes,
    *,
    override: dict[str, Any] | None = None,
    environment: Environment = Environment.ECF,
    **changes: Any,
) -> SignedDocument:
    original = given if isinstance(given, bytes) else write_canonical_json(given)
    chosen = Candidate(CertificateId(UUID(int=7)), None, None, override, NOW, NOW)
    return make_signed(signing_input(original, **changes), environment, chosen, SIGNER, now=NOW, hosts=HOSTS)


def to_sign(original: bytes, done: list[str] | None = None) -> ToSign:
    """Notes each step that was taken."""
    chosen = Candidate(CertificateId(UUID(int=7)), None, None, None, NOW, NOW)
    noted = [] if done is None else done

    def make() -> Unsigned:
        noted.append("made")
        return make_unsigned(signing_input(original), chosen, now=NOW)

    def signed(unsigned: Unsigned) -> SignedDocument:
        noted.append("signed")
        return sign_unsigned(unsigned, Environment.ECF, chosen, SIGNER, now=NOW, hosts=HOSTS)

    return ToSign(make, signed)


def sale(ecf_type: EcfType, price: str = "100.00") -> dict[str, Any]:
    return payload(ecf_type, [line(price=price, indicator=USUAL_INDICATOR[ecf_type])], issued=TODAY)


def document_of(signed: bytes) -> Document:
    """Return what a receiver reads after it has verified the signature."""
    verified = verify(signed)
    assert verified.certificate == company_credential().certificate
    return read_xml(verified.root)


def companion(name: str) -> dict[str, Any]:
    found: dict[str, Any] = parse_json((GOLDEN / f"{name}.json").read_bytes())
    return found


@pytest.mark.parametrize("ecf_type", list(EcfType))
def test_a_receipt_of_every_type_is_made_whole_signed_and_follows_the_format(ecf_type: EcfType) -> None:
    made = sign(sale(ecf_type))

    document = document_of(made.signed)
    assert (document.root, document.type) == (Root.ECF, ecf_type)
    assert (made.ecf_type, made.issuer_rnc) == (ecf_type, ISSUER["RNCEmisor"])
    assert validate(parse_xml(made.signed)) == []
    assert document.get("Encabezado.Emisor.RazonSocialEmisor") == ISSUER["RazonSocialEmisor"]
    assert document.get("FechaHoraFirma") == "05-11-2026 22:15:30"
    assert made.security_code == verify(made.signed).security_code
    assert (made.sent is None) == (ecf_type is not EcfType.CONSUMER)
    assert made.host == ("fc" if ecf_type is EcfType.CONSUMER else "ecf")
    assert (made.certificate_id, made.signed_at) == (UUID(int=7), NOW)


@pytest.mark.parametrize(
    ("name", "root", "issuer", "buyer", "host", "has_code"),
    [
        ("rfce-of-the-lunch", Root.RFCE, "131880738", None, "fc", True),
        ("acecf-rejected", Root.ACECF, "131880738", "131880681", "ecf", False),
        ("anecf-two-blocks", Root.ANECF, "131880738", None, "ecf", False),
    ],
)
def test_the_ancillary_documents_are_signed_as_they_are(
    name: str, root: Root, issuer: str, buyer: str | None, host: str, has_code: bool
) -> None:
    made = sign(companion(name), root=root)

    assert document_of(made.signed).root is root
    assert validate(parse_xml(made.signed)) == []
    assert (made.issuer_rnc, made.buyer_rnc, made.host, made.sent) == (issuer, buyer, host, None)
    assert (made.security_code is not None) == has_code
    assert (made.qr_code_url is not None) == has_code


@pytest.mark.parametrize("name", ["ecf31-coffee-on-credit", "ecf34-one-bag-returned", "ecf32-lunch-with-tip"])
def test_signed_xml_keeps_every_value(name: str) -> None:
    """Also when it came with a signature: that one is replaced."""
    original = (GOLDEN / f"{name}.xml").read_bytes()
    once = sign(original, format="xml").signed

    made = sign(once, format="xml")

    before, after = read_xml(parse_xml(original)).content, dict(document_of(made.signed).content)
    assert {**before, "FechaHoraFirma": None} == {**after, "FechaHoraFirma": None}
    assert made.signed.count(b"<Signature ") == 1


# --- The number --------------------------------------------------------------------------------------------------


def without_number(made: dict[str, Any]) -> dict[str, Any]:
    del made["Encabezado"]["IdDoc"]["eNCF"]
    made["Encabezado"]["IdDoc"]["TipoeCF"] = "31"
    return made


def test_a_drawn_number_is_written_into_the_document() -> None:
    made = sign(without_number(sale(EcfType.CREDIT_FISCAL)), e_ncf="E310000000042")

    assert document_of(made.signed).e_ncf == "E310000000042"
    assert made.qr_code_url is not None
    assert "ENCF=E310000000042" in made.qr_code_url


def test_a_number_that_was_sent_is_kept() -> None:
    made = sign(sale(EcfType.CREDIT_FISCAL), e_ncf="E310000000007")

    assert document_of(made.signed).e_ncf == "E310000000007"


def test_a_document_without_any_number_cannot_be_issued() -> None:
    with pytest.raises(CannotIssue) as refused:
        sign(without_number(sale(EcfType.CREDIT_FISCAL)))

    assert any(problem.path == "Encabezado.IdDoc.eNCF" for problem in refused.value.problems)


# --- The issuer --------------------------------------------------------------------------------------------------


def test_the_users_override_is_laid_over_the_tenants_issuer() -> None:
    made = sign(sale(EcfType.CREDIT_FISCAL), override={"ZonaVenta": "SUR", "Sucursal": "SUR-1"})

    emisor = document_of(made.signed).content["Encabezado"]["Emisor"]
    assert (emisor["ZonaVenta"], emisor["Sucursal"]) == ("SUR", "SUR-1")
    assert emisor["RazonSocialEmisor"] == ISSUER["RazonSocialEmisor"]


def test_an_override_can_name_another_taxpayer() -> None:
    made = sign(sale(EcfType.CREDIT_FISCAL), override={"RNCEmisor": "101000001"})

    assert made.issuer_rnc == "101000001"


def test_an_issuer_that_was_sent_is_kept_whole() -> None:
    given = sale(EcfType.CREDIT_FISCAL)
    given["Encabezado"]["Emisor"] = {
        "RNCEmisor": "101000001",
        "RazonSocialEmisor": "OTRA",
        "DireccionEmisor": "C/ 1",
        "FechaEmision": TODAY,
    }

    made = sign(given, override={"ZonaVenta": "SUR"})

    assert document_of(made.signed).content["Encabezado"]["Emisor"] == given["Encabezado"]["Emisor"]


# --- Dates -------------------------------------------------------------------------------------------------------


def test_sequence_expiry_is_written_and_returned_where_the_type_has_it() -> None:
    with_it, without_it = sign(sale(EcfType.CREDIT_FISCAL)), sign(sale(EcfType.CREDIT_NOTE))

    assert document_of(with_it.signed).get("Encabezado.IdDoc.FechaVencimientoSecuencia") == "30-12-2028"
    assert document_of(without_it.signed).get("Encabezado.IdDoc.FechaVencimientoSecuencia") is None
    assert with_it.ncf_expiration == without_it.ncf_expiration == date(2028, 12, 30)


def test_sent_expiry_is_kept_and_returned() -> None:
    given = sale(EcfType.CREDIT_FISCAL)
    given["Encabezado"]["IdDoc"]["FechaVencimientoSecuencia"] = "31-12-2027"

    made = sign(given)

    assert document_of(made.signed).get("Encabezado.IdDoc.FechaVencimientoSecuencia") == "31-12-2027"
    assert made.ncf_expiration == date(2027, 12, 31)


@pytest.mark.parametrize(
    ("name", "root", "told"),
    [
        ("rfce-of-the-lunch", Root.RFCE, date(2028, 12, 30)),
        ("acecf-rejected", Root.ACECF, None),
        ("anecf-two-blocks", Root.ANECF, None),
    ],
)
def test_sequence_expiry_is_returned_only_for_own_numbers(name: str, root: Root, told: date | None) -> None:
    """An approval names a number of the supplier's."""
    assert sign(companion(name), root=root).ncf_expiration == told


# --- The summary -------------------------------------------------------------------------------------------------


def test_a_small_consumer_invoice_goes_out_as_its_summary_under_the_invoices_code() -> None:
    made = sign(sale(EcfType.CONSUMER))

    assert made.sent is not None
    summary = document_of(made.sent)
    assert (summary.root, summary.e_ncf) == (Root.RFCE, document_of(made.signed).e_ncf)
    assert summary.get("Encabezado.CodigoSeguridadeCF") == made.security_code
    assert validate(parse_xml(made.sent)) == []
    assert made.security_code != verify(made.sent).security_code
    assert made.qr_code_url is not None
    assert made.qr_code_url.startswith("https://fc.example/ecf/ConsultaTimbreFC?")


@pytest.mark.parametrize(
    ("price", "setting", "is_summary"),
    [
        ("211864.40", "automatic", True),  # 249,999.99 with tax
        ("211864.41", "automatic", False),  # 250,000.00
        ("100.00", "off", False),
        ("211864.41", "off", False),
    ],
)
def test_the_summary_is_made_below_the_threshold_and_where_the_tenant_wants_it(
    price: str, setting: str, is_summary: bool
) -> None:
    made = sign(sale(EcfType.CONSUMER, price), consumer_summary=setting)

    total = Decimal(str(document_of(made.signed).get("Encabezado.Totales.MontoTotal")))
    assert (total < 250_000) == (price != "211864.41")
    assert (made.sent is not None) == is_summary
    assert made.host == ("fc" if is_summary else "ecf")


# --- The address for the printed code ----------------------------------------------------------------------------


def test_the_qr_address_is_of_the_very_texts_in_the_signed_xml() -> None:
    made = sign(sale(EcfType.CREDIT_FISCAL), environment=Environment.CERTECF)

    assert made.qr_code_url is not None
    where = urlsplit(made.qr_code_url)
    document = document_of(made.signed)
    assert (where.netloc, where.path) == ("ecf.example", "/certecf/ConsultaTimbre")
    assert parse_qs(where.query) == {
        "RncEmisor": [ISSUER["RNCEmisor"]],
        "RncComprador": [BUYER["RNCComprador"]],
        "ENCF": ["E310000000007"],
        "FechaEmision": [TODAY],
        "MontoTotal": [document.get("Encabezado.Totales.MontoTotal")],
        "FechaFirma": ["05-11-2026 22:15:30"],
        "CodigoSeguridad": [made.security_code],
    }


def test_the_qr_address_of_a_summary_that_was_handed_in_names_the_invoices_code() -> None:
    made = sign(companion("rfce-of-the-lunch"), root="RFCE", environment=Environment.TESTECF)

    assert made.security_code == "aB3+/x"
    assert made.qr_code_url is not None
    where = urlsplit(made.qr_code_url)
    assert (where.netloc, where.path) == ("fc.example", "/testecf/ConsultaTimbreFC")
    assert parse_qs(where.query)["CodigoSeguridad"] == ["aB3+/x"]


# --- What cannot be issued ---------------------------------------------------------------------------------------


def test_all_problems_are_reported_together() -> None:
    given = sale(EcfType.CREDIT_FISCAL)
    given["Encabezado"]["Comprador"]["RNCComprador"] = "12"
    given["DetallesItems"]["Item"][0]["NombreItem"] = "x" * 81

    with pytest.raises(CannotIssue) as refused:
        sign(given)

    paths = {problem.path for problem in refused.value.problems}
    assert {"Encabezado.Comprador.RNCComprador", "DetallesItems.Item[1].NombreItem"} <= paths
    assert "more)" in str(refused.value)


def test_input_of_an_older_release_that_is_unreadable_fails_with_its_place() -> None:
    declared = " ".join(f'xmlns:a{number}="http://www.w3.org/2001/XMLSchema"' for number in range(900))
    xml = (GOLDEN / "ecf31-coffee-on-credit.xml").read_bytes().replace(b"<ECF>", b"<ECF %s>" % declared.encode())

    with pytest.raises(CannotIssue) as refused:
        sign(xml, format="xml")

    (problem,) = refused.value.problems
    assert (problem.code, problem.line is None, problem.column) == ("unreadable", False, 1)
    assert "namespace declarations" in problem.message


def test_signing_again_makes_another_document_of_the_same_content() -> None:
    """Nothing is stored here; the outbox prevents signing twice."""
    given = sale(EcfType.CREDIT_FISCAL)

    one, other = sign(given), sign(given)

    assert document_of(one.signed).content == document_of(other.signed).content


def test_decimals_reach_the_document_as_they_were_sent() -> None:
    given = json.loads(json.dumps(sale(EcfType.CREDIT_FISCAL)))
    raw = write_canonical_json(given).replace(b'"100.00"', b"0.1")

    made = sign(raw)

    item = document_of(made.signed).content["DetallesItems"]["Item"]
    entry = item[0] if isinstance(item, list) else item
    assert Decimal(str(entry["PrecioUnitarioItem"])) == Decimal("0.1")
    assert read_payload(parse_json(raw)).root is Root.ECF


def test_documents_are_all_made_before_one_is_signed_and_a_bad_one_fails_alone() -> None:
    good = write_canonical_json(sale(EcfType.CREDIT_FISCAL))
    bad = write_canonical_json(payload(EcfType.CREDIT_FISCAL, [line(quantity="x")], issued=TODAY))
    done: list[str] = []

    first, second, third = sign_all([to_sign(each, done) for each in (good, bad, good)])

    assert isinstance(second, CannotIssue)
    assert first == third == sign(sale(EcfType.CREDIT_FISCAL))
    assert done == ["made", "made", "made", "signed", "signed"]
