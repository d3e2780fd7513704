"""`fe verify` and `fe qr`: a signed document looked at offline, check by check."""

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding
from lxml import etree

from fe.ecf.build import build
from fe.ecf.catalogue import EcfType, Environment, Root
from fe.ecf.certificate import Credential
from fe.ecf.document import Document
from fe.ecf.parse import MAX_BYTES
from fe.ecf.signature import Signer, security_code
from fe.ecf.summary import summarise
from fe.integrator import signed
from fe.integrator.checks import DocumentCheck, check_document, is_good
from tests.cli.in_process import FeHere
from tests.ecf.receipts import NOW, changed, fill, line, long_draft, receipt
from tests.factories.certificates import VALID_FROM, VALID_UNTIL, default_root, make_root, name, rsa_key

LATER = NOW + timedelta(days=30)
CHECKS = ["document", "signature", "certificate", "chain", "schema", "rules", "security code", "qr"]


def signer(not_before: datetime = VALID_FROM, not_after: datetime = VALID_UNTIL) -> Signer:
    key, whose = rsa_key("signs documents"), name("JUANA DE PRUEBA", serial_number="IDCDO-00112233445")
    return Signer(Credential(key, default_root().issue(whose, key, not_before=not_before, not_after=not_after)))


def sign(document: Document, **dates: datetime) -> bytes:
    return signer(**dates).sign(build(document)).xml


def states(found: Sequence[DocumentCheck]) -> dict[str, str]:
    return {one.check: one.state for one in found}


def look(raw: bytes, **how: Any) -> dict[str, str]:
    return states(check_document(raw, **{"now": LATER, **how}))


def failed(raw: bytes, **how: Any) -> list[str]:
    return [check for check, state in look(raw, **how).items() if state == "failed"]


@pytest.mark.parametrize("ecf_type", EcfType)
def test_a_good_receipt_of_every_type_passes_every_check(ecf_type: EcfType) -> None:
    found = check_document(sign(receipt(ecf_type)), now=LATER, roots=[default_root().certificate])

    assert is_good(found), found
    assert [one.check for one in found] == CHECKS
    assert {one.state for one in found} == {"ok"}


def every_range() -> Document:
    """An ANECF with as many ranges of a type as it may have, each of one number."""
    numbers = [f"E31{number:010}" for number in range(1, 20_000, 2)]
    block = {
        "NoLinea": "1",
        "TipoeCF": "31",
        "TablaRangoSecuenciasAnuladaseNCF": {
            "Secuencias": [{"SecuenciaeNCFDesde": one, "SecuenciaeNCFHasta": one} for one in numbers]
        },
        "CantidadeNCFAnulados": "10000",
    }
    head = {"RncEmisor": "131880738", "CantidadeNCFAnulados": "10000"}
    return Document(Root.ANECF, None, {"Encabezado": head, "DetalleAnulacion": {"Anulacion": [block]}})


@pytest.mark.parametrize("drafted", [long_draft, every_range])
def test_what_was_signed_may_be_longer_than_what_it_was_made_from(drafted: Callable[[], Document]) -> None:
    raw = sign(fill(drafted()))

    assert len(raw) > MAX_BYTES
    assert is_good(check_document(raw, now=LATER, roots=[default_root().certificate]))


def test_without_roots_nobody_says_whose_it_is_and_with_others_it_fails() -> None:
    raw = sign(receipt(EcfType.CREDIT_FISCAL))

    assert look(raw)["chain"] == "skipped"
    assert failed(raw, roots=[make_root("OTRA").certificate]) == ["chain"]


def test_the_certificate_has_to_have_been_good_when_it_signed_and_not_today() -> None:
    document = receipt(EcfType.CREDIT_FISCAL)
    over = sign(document, not_before=NOW - timedelta(days=9), not_after=NOW + timedelta(days=1))
    before = sign(document, not_before=NOW - timedelta(days=9), not_after=NOW - timedelta(days=1))

    assert failed(over) == []
    assert failed(before) == ["certificate"]
    assert failed(sign(document), now=NOW - timedelta(hours=1)) == ["certificate"]


def test_what_was_changed_after_it_was_signed_fails_and_nothing_of_its_signer_is_believed() -> None:
    raw = sign(receipt(EcfType.CREDIT_FISCAL)).replace(b"<MontoTotal>118.00<", b"<MontoTotal>11.80<")
    found = look(raw)

    assert found["signature"] == "failed"
    assert {found[check] for check in ("certificate", "chain", "security code", "qr")} == {"skipped"}
    assert found["schema"] == "ok", "its format is looked at all the same"


def test_format_and_rules_are_told_apart_with_their_problems() -> None:
    document = receipt(EcfType.CREDIT_FISCAL)
    wrong_type = check_document(sign(changed(document, "Encabezado.IdDoc.eNCF", "E320000000007")), now=LATER)
    wrong_sum = check_document(sign(changed(document, "Encabezado.Totales.MontoTotal", Decimal("200.00"))), now=LATER)
    wrong_form = check_document(sign(changed(document, "Encabezado.IdDoc.TipoPago", "9")), now=LATER)

    assert [one.check for one in wrong_type if one.state == "failed"] == ["rules"]
    assert [one.check for one in wrong_form if one.state == "failed"] == ["schema"]
    (problem,) = next(one for one in wrong_form if one.check == "schema").problems
    assert problem.path == "Encabezado.IdDoc.TipoPago"
    assert is_good(wrong_sum), "the authority accepts that, with remarks"
    assert next(one for one in wrong_sum if one.check == "rules").says == "1 remark(s)"


@pytest.mark.parametrize("raw", [b"", b"<ECF>", b"<!DOCTYPE x><ECF/>", b"<html/>", b"<ECF/>", b"\x89PNG"])
def test_what_is_no_document_fails_at_once(raw: bytes) -> None:
    assert look(raw) == {"document": "failed"}


def test_an_unsigned_document_says_so() -> None:
    assert failed(etree.tostring(build(receipt(EcfType.CREDIT_FISCAL)))) == ["signature"]


def test_the_address_is_that_of_the_summary_where_only_that_is_sent() -> None:
    small = check_document(sign(receipt(EcfType.CONSUMER)), now=LATER)
    large = check_document(
        sign(receipt(EcfType.CONSUMER, [line("300000.00")])), now=LATER, environment=Environment.TESTECF
    )

    assert small[-1].says.startswith(
        "https://fc.dgii.gov.do/ecf/ConsultaTimbreFC?RncEmisor=131880738&ENCF=E320000000007&"
    )
    assert large[-1].says.startswith("https://ecf.dgii.gov.do/testecf/ConsultaTimbre?RncEmisor=131880738&")


def test_a_summary_prints_the_code_of_its_invoice() -> None:
    summary = summarise(receipt(EcfType.CONSUMER), "aB3+/x")
    found = {one.check: one for one in check_document(sign(summary), now=LATER)}

    assert found["security code"].says == "aB3+/x (of its invoice)"
    assert found["qr"].says.endswith("&CodigoSeguridad=aB3%2B%2Fx")


def test_a_printed_address_is_this_document_s_in_one_environment_or_it_is_not() -> None:
    raw = sign(receipt(EcfType.CREDIT_FISCAL))
    address = check_document(raw, now=LATER, environment=Environment.CERTECF)[-1].says

    assert look(raw, printed=address)["qr"] == "ok"
    assert failed(raw, printed=address.replace("dgii.gov.do", "dgii.example")) == ["qr"]
    assert failed(raw, printed=address.replace("118.00", "1.18")) == ["qr"]


@pytest.fixture
def there(here: FeHere, monkeypatch: pytest.MonkeyPatch) -> FeHere:
    """With a signed receipt in a file, a month later."""
    (here.folder / "receipt.xml").write_bytes(sign(receipt(EcfType.CREDIT_FISCAL)))
    (here.folder / "roots.pem").write_bytes(default_root().certificate.public_bytes(Encoding.PEM))
    monkeypatch.setattr(signed, "system_clock", lambda: LATER)
    return here


def test_the_command_says_a_line_for_each_check_and_ends_with_1_when_one_fails(
    there: FeHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = there("verify", "receipt.xml", "--roots", "roots.pem")
    told = there.json("verify", "receipt.xml")
    raw = (there.folder / "receipt.xml").read_bytes()
    (there.folder / "bad.xml").write_bytes(raw.replace(b">118.00<", b">11.80<"))
    bad = there("verify", "bad.xml")
    monkeypatch.setenv("LANG", "es_DO.UTF-8")
    spanish = there("verify", "bad.xml")

    assert good.code == 0, good
    assert [text[6:].split("  ")[0] for text in good.out.splitlines()] == CHECKS
    assert "JUANA DE PRUEBA (00112233445)" in good.out
    assert [one["check"] for one in told] == CHECKS
    assert list(told[0]) == ["check", "state", "says", "problems"]
    assert bad.code == 1
    assert "FAIL  signature      the content is not what was signed" in bad.out
    assert "Encabezado.Totales.MontoTotal" in bad.out
    assert "nada que objetar" in spanish.out
    assert "-> " in spanish.out


def test_what_cannot_be_read_is_one_line(there: FeHere) -> None:
    (there.folder / "notes.txt").write_text("hello")

    assert there.refused("verify", "none.xml") == "none.xml: No such file or directory"
    assert "holds no certificates" in there.refused("verify", "receipt.xml", "--roots", "notes.txt")
    assert there("verify", "notes.txt").code == 1
    assert there.refused("qr", "notes.txt").startswith("notes.txt: ")


def test_a_qr_code_is_drawn_in_the_terminal_and_in_files(there: FeHere) -> None:
    address = check_document((there.folder / "receipt.xml").read_bytes(), now=LATER)[-1].says

    shown = there("qr", "receipt.xml")
    png = there("qr", "receipt.xml", "-o", "code.png")
    svg = there.json("qr", "receipt.xml", "-o", "code.svg", "--environment", "testecf")

    first, *picture = shown.out.splitlines()
    assert first == address
    assert len(picture) > 20
    assert set("".join(picture)) <= set(" ▀▄█")
    assert png.out == f"{address}\n"
    assert (there.folder / "code.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert ElementTree.parse(there.folder / "code.svg").getroot().tag.endswith("svg")
    assert svg == {"qrCodeUrl": address.replace("/ecf/", "/testecf/"), "file": "code.svg"}
    assert there("qr", "receipt.xml", "-o", "code.jpg").code == 2


def test_a_document_without_a_security_code_has_no_qr_code(there: FeHere) -> None:
    golden = Path(__file__).parents[2] / "ecf/golden/acecf-rejected.xml"
    raw = signer().sign(etree.parse(golden, etree.XMLParser(remove_blank_text=True)).getroot()).xml
    (there.folder / "approval.xml").write_bytes(raw)

    assert there.refused("qr", "approval.xml") == "approval.xml: ACECF has no QR code"
    assert look(raw, now=datetime(2030, 1, 1, tzinfo=UTC))["qr"] == "skipped"


def test_the_code_is_that_of_the_signature() -> None:
    raw = sign(receipt(EcfType.CREDIT_FISCAL))
    value = etree.fromstring(raw).findtext(".//{http://www.w3.org/2000/09/xmldsig#}SignatureValue") or ""

    assert check_document(raw, now=LATER)[-2].says == security_code("".join(value.split()))
