"""Which receipt of its issuer a document refers to: told of the document, and of its signed bytes, alike."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fe.ecf.build import build, to_bytes
from fe.ecf.catalogue import EcfType
from fe.ecf.document import Document, NotADocument, read_payload, read_xml
from fe.ecf.modified import number_modified_by, number_modified_in
from fe.ecf.parse import parse_xml
from fe.ecf.signature import Canonical
from tests.ecf.receipts import line, payload
from tests.ecf.strategies import DOCUMENT_KINDS, documents

GOLDEN = Path(__file__).parent / "golden"


def note(**reference: Any) -> Document:
    made = payload(EcfType.CREDIT_NOTE, [line()])
    made["InformacionReferencia"] = {"FechaNCFModificado": "01-11-2026", "CodigoModificacion": "1", **reference}
    return read_payload(made)


@pytest.mark.parametrize(
    ("reference", "number"),
    [
        ({"NCFModificado": "E310000000007"}, "E310000000007"),
        ({"NCFModificado": " E310000000007 "}, "E310000000007"),
        ({"NCFModificado": "E310000000007", "RNCOtroContribuyente": "131880681"}, None),
        ({"NCFModificado": "B0100000001"}, None),
        ({"NCFModificado": "A010010010100000001"}, None),
        ({"NCFModificado": "E31000000000"}, None),
        ({"NCFModificado": "E310000000007<!--"}, None),
        ({}, None),
    ],
)
def test_only_an_electronic_receipt_of_its_own_issuer_counts(reference: dict[str, Any], number: str | None) -> None:
    document = note(**reference)

    assert number_modified_by(document) == number
    assert number_modified_in(to_bytes(build(document))) == number


def test_name_of_a_line_is_not_a_reference() -> None:
    made = payload(EcfType.CREDIT_FISCAL, [line(NombreItem="<NCFModificado>E310000000007</NCFModificado>")])
    document = read_payload(made)

    assert number_modified_by(document) is None
    assert number_modified_in(to_bytes(build(document))) is None


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.xml")), ids=lambda path: path.stem)
def test_both_readers_agree_on_signed_documents(path: Path) -> None:
    xml = path.read_bytes()

    assert number_modified_in(xml) == number_modified_by(read_xml(parse_xml(xml)))


@given(st.sampled_from([kind for kind in DOCUMENT_KINDS if kind.root.name == "ECF"]).flatmap(documents))
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], deadline=None, max_examples=40)
def test_both_say_the_same_of_any_document_that_can_be_written(document: Document) -> None:
    try:
        element = build(document)
    except NotADocument:
        return

    assert number_modified_in(Canonical.of(element).content) == number_modified_by(document)
