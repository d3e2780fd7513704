"""Whole documents of every kind: the payload a client sends, and the XML it becomes.

To accept a change of the XML: `UPDATE_GOLDEN=1 pytest tests/ecf/test_golden.py`, then read the diff. The XML is
indented for reading; what is compared is the bytes without the blanks.
"""

import os
from pathlib import Path

import pytest
from lxml import etree

from fe.ecf.build import build, to_bytes
from fe.ecf.catalogue import Root
from fe.ecf.document import Document, read_payload, read_xml
from fe.ecf.parse import parse_json, parse_xml
from fe.ecf.schema import validate
from fe.ecf.schema.kinds import SIGNATURE
from tests.ecf import authority_xsd
from tests.ecf.strategies import DOCUMENT_KINDS
from tests.shared import needs_shared

GOLDEN = Path(__file__).parent / "golden"
UPDATE = bool(os.environ.get("UPDATE_GOLDEN"))
every_document = pytest.mark.parametrize("name", sorted(path.stem for path in GOLDEN.glob("*.json")))


def read(name: str) -> Document:
    return read_payload(parse_json((GOLDEN / f"{name}.json").read_bytes()), roots=list(Root))


def test_there_is_a_document_of_every_kind() -> None:
    kinds = {(document.root, document.type) for document in map(read, (path.stem for path in GOLDEN.glob("*.json")))}

    assert len(kinds) == len(DOCUMENT_KINDS)


@every_document
def test_the_payload_becomes_exactly_this_xml(name: str) -> None:
    path = GOLDEN / f"{name}.xml"
    tree = build(read(name))
    raw = to_bytes(tree)
    if UPDATE:
        path.write_bytes(etree.tostring(tree, pretty_print=True, encoding="utf-8", xml_declaration=True))

    expected = parse_xml(path.read_bytes())

    assert raw == to_bytes(expected)
    assert to_bytes(build(read_xml(expected))) == raw


@every_document
def test_the_xml_follows_our_format(name: str) -> None:
    assert validate(parse_xml((GOLDEN / f"{name}.xml").read_bytes())) == []


@needs_shared
@every_document
def test_the_xml_follows_the_authority_s_xsd(name: str) -> None:
    document = read(name)
    tree = parse_xml((GOLDEN / f"{name}.xml").read_bytes())
    etree.SubElement(tree, SIGNATURE)
    files = {
        (Root(kind.root.name), kind.name): file for file, kind in authority_xsd.FILES.items() if kind in DOCUMENT_KINDS
    }
    kind_name = f"e-CF {document.type}" if document.root is Root.ECF else document.root.value

    theirs = authority_xsd.compiled(files[document.root, kind_name])

    assert theirs.validate(tree), theirs.error_log
