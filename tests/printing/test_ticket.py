"""ESC/POS bytes, read back by a printer of the tests."""

from pathlib import Path

import pytest
from lxml import etree
from PIL import Image

from fe import printing
from fe.ecf.parse import parse_xml
from fe.printing import PaperSize, PrintOptions, qr_address, ticket
from fe.printing.read import read, show
from tests.printing import reading
from tests.printing.documents import GOLDEN, SAMPLES, sign, signed
from tests.printing.receipt_printer import Printed, decode
from tests.printing.test_logo import png

every_receipt = pytest.mark.parametrize("path", [*GOLDEN, *SAMPLES], ids=lambda path: path.stem)
ROLLS = {PaperSize.ROLL_80: 48, PaperSize.ROLL_58: 32}


@pytest.mark.parametrize("layout", ROLLS)
@every_receipt
def test_ticket_has_all_of_the_receipt_within_the_width(path: Path, layout: PaperSize) -> None:
    xml, options = signed(path), PrintOptions(layout=layout)
    receipt = read(xml)

    printed = decode(ticket(xml, options))

    squeezed = "".join(printed.text.split())
    wanted = [receipt.title, receipt.e_ncf, receipt.issuer.name, receipt.code, show(receipt.total)]
    wanted += [item.name for item in receipt.items]
    wanted += [show(amount) for item in receipt.items for amount in (item.price, item.vat, item.value)]
    wanted += [f"ITBIS:{show(item.vat)}" for item in receipt.items]
    wanted += [show(one.amount) for one in (*receipt.totals, *receipt.after_total)]
    assert [words for words in wanted if "".join(words.split()) not in squeezed] == []
    assert max(len(line) for line, _ in printed.lines) <= ROLLS[layout]
    assert (printed.codes, printed.cuts) == ([qr_address(xml, options)], 1)
    assert "?" not in printed.text


def test_a_ticket_is_printed_after_a_pdf() -> None:
    """The modules that draw a PDF load at the first one, and no name of theirs may hide a function of the package."""
    xml = signed(GOLDEN[0])
    printing.pdf(xml, PrintOptions())

    assert decode(printing.ticket(xml, PrintOptions(layout=PaperSize.ROLL_80))).cuts == 1


def test_ticket_with_raster_has_a_code_that_can_be_read() -> None:
    xml, options = signed(GOLDEN[0]), PrintOptions(layout=PaperSize.ROLL_58)

    printed = decode(ticket(xml, options, raster=True))

    (picture,) = printed.pictures
    (found,) = reading.qr_codes(picture.convert("L"))
    assert (found.text, printed.codes) == (qr_address(xml, options), [])
    assert 25 <= picture.width / 203 * 25.4 <= 48


def test_ticket_has_the_logo_and_a_cut_after_each_copy() -> None:
    options = PrintOptions(layout=PaperSize.ROLL_80, logo=png(300, 100), copies=("original", "copia"))

    printed = decode(ticket(signed(GOLDEN[0]), options))

    assert printed.cuts == 2
    assert [picture.size for picture in printed.pictures] == [(408, 134)] * 2
    assert [line for line, _ in printed.lines if line in ("ORIGINAL", "COPIA")] == ["ORIGINAL", "COPIA"]
    assert isinstance(printed.pictures[0], Image.Image)


def test_ticket_of_a_sheet_is_refused() -> None:
    with pytest.raises(ValueError, match="a receipt printer takes a roll"):
        ticket(signed(GOLDEN[0]), PrintOptions())


def test_ticket_names_each_selective_tax_that_a_line_has() -> None:
    beer = next(path for path in GOLDEN if "beer" in path.stem)
    root = parse_xml(beer.read_bytes())
    etree.strip_elements(root, "GradosAlcohol")

    whole, without = (decode(ticket(xml, PrintOptions(layout=PaperSize.ROLL_80))) for xml in (signed(beer), sign(root)))

    def joined(printed: Printed) -> str:
        return " ".join(printed.text.split())

    assert "Grados Alcohol (%): 5 · PVP: 65.00 · ISC Específico: 540.04 · ISC Ad Valorem: 191.28" in joined(whole)
    assert "PVP: 65.00 · ISC Ad Valorem: " in joined(without)
    assert "Grados" not in without.text
