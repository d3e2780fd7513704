"""Signed receipts to print: the golden ones of every type, the authority's disclosed samples, and long ones."""

from functools import cache
from pathlib import Path
from zipfile import ZipFile

from lxml import etree

from fe.ecf.build import build
from fe.ecf.catalogue import EcfType
from fe.ecf.parse import parse_xml
from fe.ecf.signature import Signer
from tests.ecf.receipts import line, receipt
from tests.factories.certificates import default_credential
from tests.shared import SHARED, shared

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


@cache
def official_cases() -> list[dict[str, str]]:
    """The rows of the authority's disclosed test set, by the names of its columns. Call it under `needs_shared`."""
    space = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    with ZipFile(shared("samples/test-set-disclosed.xlsx")) as book:
        strings, sheet = (
            etree.fromstring(book.read(f"xl/{name}.xml")) for name in ("sharedStrings", "worksheets/sheet1")
        )
    texts = ["".join(text.text or "" for text in one.iter(f"{space}t")) for one in strings]
    made = []
    for row in sheet.iter(f"{space}row"):
        cells = {}
        for cell in row:
            value = cell.findtext(f"{space}v")
            if value is not None:
                column = (cell.get("r") or "").rstrip("0123456789")
                cells[column] = texts[int(value)] if cell.get("t") == "s" else value
        made.append(cells)
    names, *rows = made
    return [{names[column]: value for column, value in row.items() if value != "#e"} for row in rows]
