"""Signed receipts to print: the golden ones of every type, the authority's disclosed samples, and long ones."""

from functools import cache
from pathlib import Path

from lxml import etree

from fe.ecf.build import build
from fe.ecf.catalogue import EcfType
from fe.ecf.parse import parse_xml
from fe.ecf.signature import Signer
from tests.ecf.receipts import line, receipt
from tests.factories.certificates import default_credential
from tests.shared import SHARED

GOLDEN = sorted((Path(__file__).parent.parent / "ecf" / "golden").glob("ecf*.xml"))
SAMPLES = [] if SHARED is None else sorted((SHARED / "samples").glob("ecf*.xml"))


@cache
def signed(path: Path) -> bytes:
    """The document of a file, signed by us."""
    return sign(parse_xml(path.read_bytes()))


def sign(root: etree._Element) -> bytes:
    return Signer(default_credential()).sign(root).xml


@cache
def long_receipt(lines: int, ecf_type: EcfType = EcfType.CREDIT_FISCAL) -> bytes:
    """A receipt with `lines` lines."""
    document = receipt(ecf_type, [line("1.00", NombreItem=f"Artículo {number}") for number in range(1, lines + 1)])
    return sign(build(document))
