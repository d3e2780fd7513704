"""Draw on the pages of a PDF/A-3b: text, lines, QR codes and logos, tagged. Places are points from the top left.

Over fpdf2, whose tags, fonts and files it uses and whose text layout it does not: a receipt has fixed columns, and
placing strings takes a tenth of the CPU. Private names of fpdf2 are used: `_out`, and the tables of its fonts.
"""

import logging
import re
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import cache, lru_cache
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Literal

import fontpkg_ibm_plex_sans_condensed
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from fpdf import FPDF
from fpdf.fonts import TTFFont

from fe.ecf.qr_code import qr_code
from fe.ecf.texts import Language
from fe.printing.read import TooManyPages

Align = Literal["left", "right", "center"]
Color = tuple[float, float, float]

BLACK: Color = (0.1, 0.1, 0.12)
GREY: Color = (0.38, 0.4, 0.44)
LIGHT: Color = (0.8, 0.82, 0.85)
PALE: Color = (0.955, 0.96, 0.968)

#: Pages of one document. Beyond it nothing is printed: such a document is no receipt.
MAX_PAGES = 1_200
MILLIMETRE = 72 / 25.4

_XMP = """<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"
 xmlns:pdfaid="http://www.aiim.org/pdfa/ns/id/" xmp:CreatorTool="fe" xmp:CreateDate="{at}" xmp:ModifyDate="{at}"
 pdfaid:part="3" pdfaid:conformance="B"><dc:title><rdf:Alt><rdf:li xml:lang="x-default">{title}</rdf:li></rdf:Alt>
</dc:title></rdf:Description></rdf:RDF></x:xmpmeta>"""
_FONTS = Path(fontpkg_ibm_plex_sans_condensed.ROOT) / "files"
_FACES = {"": "Regular", "B": "SemiBold"}
#: Marks on one letter beyond this are no writing of any language.
_MAX_MARKS = 2
_INVISIBLE = re.compile(r"[^\S ]+")

#: It reports every step of a subset as information.
logging.getLogger("fontTools").setLevel(logging.WARNING)


def clean(text: str) -> str:
    """Return a text on one line, composed, without control characters, direction marks or piles of accents."""
    if text.isascii() and text.isprintable():
        return text
    made: list[str] = []
    marks = 0
    for character in unicodedata.normalize("NFC", _INVISIBLE.sub(" ", text)):
        category = unicodedata.category(character)
        if category.startswith("C"):
            continue
        marks = marks + 1 if category.startswith("M") else 0
        if marks <= _MAX_MARKS:
            made.append(character)
    return "".join(made)


def color(value: str) -> Color:
    """Read `#rrggbb`."""
    return int(value[1:3], 16) / 255, int(value[3:5], 16) / 255, int(value[5:7], 16) / 255


class Canvas:
    """A document under way. `size` is that of its pages; `page` takes another for roll paper."""

    def __init__(self, size: tuple[float, float], *, title: str, language: Language, made: datetime) -> None:
        pdf = self._pdf = FPDF(unit="pt", format=size, enforce_compliance="PDF/A-3B")
        pdf.set_auto_page_break(False)
        pdf.alias_nb_pages("")
        pdf.set_title(title)
        pdf.set_lang("en" if language == "en" else "es-DO")
        # fpdf2's own metadata tell the time of day, and the same receipt has to give the same bytes.
        pdf.set_xmp_metadata(_XMP.format(title=escape(title), at=made.isoformat()))
        pdf.set_creation_date(made)
        self._fonts: dict[str, TTFFont] = {}
        for style, face in _FACES.items():
            key = f"receipt{style}"
            font = TTFFont(pdf, BytesIO(_unhinted(face)), key, style)  # type: ignore[arg-type]  # a file as well
            font.ttfont.recalcBBoxes = False  # glyphs stay as they are: unpacking each takes a fifth of a print's CPU
            pdf.fonts[key] = self._fonts[style] = font
        self._widths: dict[tuple[str, str], float] = {}
        self._height = size[1]
        self._content = -1

    def page(self, size: tuple[float, float] | None = None) -> None:
        """Begin a page."""
        if self._pdf.pages_count >= MAX_PAGES:
            raise TooManyPages(f"the receipt has more than {MAX_PAGES} pages")
        self._pdf.add_page(format=size or "")
        self._height = self._pdf.h
        self._content = -1
        for font in self._fonts.values():
            self._pdf._out(self._pdf._set_font_for_page(font, 9))

    # --- measure ---

    def width(self, text: str, size: float, bold: bool = False) -> float:
        """Return how wide a clean text is."""
        key = text, "B" if bold else ""
        known = self._widths.get(key)
        if known is None:
            widths = self._fonts[key[1]].cw
            known = self._widths[key] = sum(widths[ord(character)] for character in text) / 1000
        return known * size

    def wrap(self, text: str, size: float, width: float, bold: bool = False, most: int = 99) -> list[str]:
        """Break a text into lines of at most `width`; a word that is longer is cut, the last of `most` ends in `…`."""
        text = clean(text)
        if self.width(text, size, bold) <= width:
            return [text]
        lines: list[str] = []
        line = ""
        for word in text.split():
            longer = f"{line} {word}" if line else word
            if self.width(longer, size, bold) <= width:
                line = longer
                continue
            if line:
                lines.append(line)
            while self.width(word, size, bold) > width:
                cut = self._fitting(word, size, width, bold)
                lines.append(word[:cut])
                word = word[cut:]
                if len(lines) > most:
                    break
            line = word
            if len(lines) > most:
                break
        lines.append(line)
        if len(lines) > most:
            last = lines[most - 1]
            while last and self.width(last + "…", size, bold) > width:
                last = last[:-1]
            lines = [*lines[: most - 1], last + "…"]
        return lines

    def _fitting(self, word: str, size: float, width: float, bold: bool) -> int:
        widths = self._fonts["B" if bold else ""].cw
        taken = 0.0
        for number, character in enumerate(word):
            taken += widths[ord(character)] * size / 1000
            if taken > width:
                return max(number, 1)
        return len(word)

    # --- draw ---

    @contextmanager
    def block(self, kind: str = "P", words: str | None = None) -> Iterator[None]:
        """Tag what the block draws as one element of the structure; `words` describe a figure."""
        number = self._content = self._content + 1
        builder, pdf = self._pdf.struct_builder, self._pdf
        _, parents = builder.add_marked_content(pdf.page, f"/{kind}", number, alt_text=words)
        pdf.pages[pdf.page].struct_parents = parents
        pdf._out(f"/{kind} <</MCID {number}>> BDC")
        yield
        pdf._out("EMC")

    @contextmanager
    def artifact(self) -> Iterator[None]:
        """Mark what the block draws as no content: rules, colors, watermarks."""
        self._pdf._out("/Artifact BMC")
        yield
        self._pdf._out("EMC")

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float = 9,
        *,
        bold: bool = False,
        ink: Color = BLACK,
        align: Align = "left",
    ) -> None:
        """Draw a clean text on the baseline `y`; `x` is its left end, right end or middle."""
        if not text:
            return
        if align != "left":
            wide = self.width(text, size, bold)
            x -= wide if align == "right" else wide / 2
        font = self._fonts["B" if bold else ""]
        red, green, blue = ink
        self._pdf._out(
            f"BT /F{font.i} {size:.2f} Tf {red:.3f} {green:.3f} {blue:.3f} rg"
            f" {x:.2f} {self._height - y:.2f} Td {_encoded(font, text)} Tj ET"
        )

    def line(self, x1: float, y: float, x2: float, *, ink: Color = LIGHT, thick: float = 0.6) -> None:
        """Draw a horizontal line."""
        self.box(x1, y - thick / 2, x2 - x1, thick, ink)

    def box(self, x: float, y: float, width: float, height: float, ink: Color) -> None:
        """Fill a rectangle."""
        red, green, blue = ink
        self._pdf._out(
            f"{red:.3f} {green:.3f} {blue:.3f} rg {x:.2f} {self._height - y - height:.2f} {width:.2f} {height:.2f} re f"
        )

    def qr(self, x: float, y: float, side: float, url: str) -> None:
        """Draw a QR code as one path: dark modules alone, `side` without the quiet zone."""
        matrix = qr_matrix(url)
        module = side / len(matrix)
        parts = ["0 0 0 rg"]
        for row, modules in enumerate(matrix):
            there = self._height - y - (row + 1) * module
            column = 0
            while column < len(modules):
                run = 0
                while column + run < len(modules) and modules[column + run]:
                    run += 1
                if run:
                    parts.append(f"{x + column * module:.3f} {there:.3f} {run * module:.3f} {module:.3f} re")
                column += run + 1
        self._pdf._out(" ".join((*parts, "f")))

    def watermark(self, words: str) -> None:
        """Write words across the page, under what is drawn after."""
        pdf = self._pdf
        size = min(88.0, pdf.w * 0.82 / max(self.width(words, 1, True), 1))
        wide = self.width(words, size, True)
        font = self._fonts["B"]
        turn = 0.7071
        x, y = pdf.w / 2 - wide / 2 * turn, self._height / 2 - wide / 2 * turn
        with self.artifact():
            pdf._out(
                f"BT /F{font.i} {size:.2f} Tf 0.93 0.86 0.86 rg {turn} {turn} -{turn} {turn} {x:.2f} {y:.2f} Tm"
                f" {_encoded(font, words)} Tj ET"
            )

    def drawing(self, draw: Callable[[FPDF], None]) -> None:
        """Let a logo draw itself by fpdf2's own means."""
        draw(self._pdf)

    def finish(self, attached: bytes, name: str, words: str, at: datetime) -> bytes:
        """Embed a file as the source of the document, and return the bytes."""
        self._pdf.embed_file(
            bytes=attached,
            basename=name,
            mime_type="text/xml",
            associated_file_relationship="Source",
            desc=words,
            creation_date=at,
            modification_date=at,
            compress=True,
        )
        return self.finish_alone()

    def finish_alone(self) -> bytes:
        """Return the bytes of a document without a file in it."""
        return bytes(self._pdf.output())


@cache
def _unhinted(face: str) -> bytes:
    """Return a face without hints and layout tables, once per process: subsets of it take a third less CPU."""
    options = Options(hinting=False, layout_features=[], notdef_outline=True, name_IDs=["*"])
    options.drop_tables += ["GDEF", "GPOS", "GSUB", "STAT", "DSIG", "meta"]
    with TTFont(_FONTS / f"IBMPlexSansCondensed-{face}.ttf", recalcTimestamp=False) as font:
        subsetter = Subsetter(options)
        subsetter.populate(unicodes=font.getBestCmap())
        subsetter.subset(font)
        made = BytesIO()
        font.save(made)
        return made.getvalue()


def _encoded(font: TTFFont, text: str) -> str:
    pick, known = font.subset.pick, font.glyph_ids
    codes = (pick(ord(character) if ord(character) in known else 0x3F) for character in text)
    return "<" + "".join(f"{code:04X}" for code in codes) + ">"


@lru_cache(maxsize=32)
def qr_matrix(url: str) -> tuple[bytes, ...]:
    """Return the modules of the QR code, row by row."""
    return tuple(bytes(row) for row in qr_code(url).matrix)
