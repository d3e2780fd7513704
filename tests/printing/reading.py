"""Read a printed PDF back with programs that did not make it: PDFium, qpdf, ZXing."""

import io
import re
import warnings
from dataclasses import dataclass
from functools import cached_property

import pikepdf
import pypdfium2
import zxingcpp
from fpdf import FPDF
from PIL import Image


@dataclass(frozen=True)
class Page:
    """One page: its text with blanks as one space. Drawing it takes most of the CPU, and waits until it is wanted."""

    text: str
    _document: bytes
    _number: int

    @cached_property
    def picture(self) -> Image.Image:
        with pypdfium2.PdfDocument(self._document) as opened:
            picture: Image.Image = opened[self._number].render(scale=_SCALE).to_pil()
            return picture

    @cached_property
    def codes(self) -> tuple[tuple[str, float, float], ...]:
        """The codes in the picture, with their sides and their places from the left in millimetres."""
        return _codes(self.picture)


_SCALE = 3.0


def pages(document: bytes) -> list[Page]:
    with pypdfium2.PdfDocument(document) as opened:
        texts = [page.get_textpage().get_text_range() for page in opened]
    return [Page(re.sub(r"\s+", " ", text), document, number) for number, text in enumerate(texts)]


def qr_codes(picture: Image.Image) -> list[zxingcpp.Barcode]:
    """Only QR codes: a page of text looks like a Codabar now and then."""
    return zxingcpp.read_barcodes(picture, formats=zxingcpp.BarcodeFormats(zxingcpp.BarcodeFormat.QRCode))


def _codes(picture: Image.Image) -> tuple[tuple[str, float, float], ...]:
    found = []
    for code in qr_codes(picture):
        at = code.position
        side = (at.top_right.x - at.top_left.x) / _SCALE / 72 * 25.4
        found.append((code.text, side, at.top_left.x / _SCALE / 72 * 25.4))
    return tuple(found)


def text(document: bytes) -> str:
    return " ".join(page.text for page in pages(document))


def opened(document: bytes) -> pikepdf.Pdf:
    return pikepdf.open(io.BytesIO(document))


def attached(document: bytes) -> bytes:
    """The one file embedded in a PDF."""
    with opened(document) as pdf:
        ((_, spec),) = pdf.attachments.items()
        return spec.get_file().read_bytes()


def picture(png: bytes) -> Image.Image:
    return Image.open(io.BytesIO(png)).convert("L")


def svg_picture(svg: bytes) -> Image.Image:
    """Draw an SVG on a page of a PDF, and the page as a picture."""
    page = FPDF(unit="pt", format=(400, 400))
    page.add_page()
    with warnings.catch_warnings(action="ignore"):  # it has no viewBox: its width and height are taken
        page.image(io.BytesIO(svg), 0, 0, 400, 400)
    with pypdfium2.PdfDocument(bytes(page.output())) as opened:
        drawn: Image.Image = opened[0].render(scale=2).to_pil()
        return drawn


def overlaps(document: bytes) -> list[tuple[str, str]]:
    """Texts of one page that touch each other or leave it."""
    found = []
    with pypdfium2.PdfDocument(document) as opened:
        for page in opened:
            texts = page.get_textpage()
            places = sorted(texts.get_rect(number) for number in range(texts.count_rects()))
            wide, high = page.get_size()
            for number, (left, bottom, right, top) in enumerate(places):
                said = texts.get_text_bounded(left, bottom, right, top)
                if left < 0 or bottom < 0 or right > wide or top > high:
                    found.append((said, "the page"))
                for other in places[number + 1 :]:
                    if other[0] > right:
                        break
                    if min(top, other[3]) - max(bottom, other[1]) > 1 and right - other[0] > 1:
                        found.append((said, texts.get_text_bounded(*other)))
    return found
