"""A tenant's logo: PNG or SVG, bounded in bytes, pixels and elements, and never a reason to fetch something."""

import re
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

from lxml import etree
from PIL import Image

from fe.ecf.parse import MalformedXml, excerpt, parse_xml
from fe.ecf.texts import LocalizedError, Text

if TYPE_CHECKING:
    from fpdf import FPDF  # takes long to import, so it is when something is drawn

MAX_BYTES = 256 * 1024
#: Each print draws an SVG anew, at some 4 ms a kilobyte.
MAX_SVG_BYTES = 32 * 1024
MAX_SIDE = 4_000
MAX_PIXELS = 2_000_000
_MAX_ELEMENTS = 2_000
_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG_BEGINS = b"\xff\xd8\xff"
_SVG = "{http://www.w3.org/2000/svg}"
#: Shapes alone: no text (its font would have to be embedded), no image, no script, no reference.
_ALLOWED = frozenset(
    _SVG + name
    for name in (
        *("svg", "g", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "title", "desc", "defs"),
        *("linearGradient", "radialGradient", "stop", "clipPath"),
    )
)
#: Comments and document types, which drawing programs write. A document type with entities stays, and is refused.
_REMARKS = re.compile(rb"<!--.*?-->|<!DOCTYPE[^\[>]*>", re.DOTALL)
_SHAPES = frozenset(_SVG + name for name in ("path", "rect", "circle", "ellipse", "line", "polyline", "polygon"))
_NUMBER = re.compile(r"\s*([0-9]{1,6}(?:\.[0-9]{1,6})?)\s*(?:px|pt|mm)?\s*")


#: The conditions for a logo, one for each refusal.
_TOO_LARGE = Text(f"a file of at most {MAX_BYTES // 1024} kB", f"un archivo de máximo {MAX_BYTES // 1024} kB")
_SVG_TOO_LARGE = Text(
    f"an SVG of at most {MAX_SVG_BYTES // 1024} kB: simplify it, or export it as PNG",
    f"un SVG de máximo {MAX_SVG_BYTES // 1024} kB: simplifíquelo o expórtelo como PNG",
)
_OTHER_FILE = Text("a PNG or SVG file; this is another kind of file", "un archivo PNG o SVG; este es de otro tipo")
_JPEG = Text("a PNG or SVG file; this is a JPEG", "un archivo PNG o SVG; este es un JPEG")
_TOO_MANY_PIXELS = Text(
    f"an image of at most {MAX_PIXELS:,} pixels, and {MAX_SIDE:,} on a side",
    f"una imagen de máximo {MAX_PIXELS:,} píxeles, y {MAX_SIDE:,} por lado",
)
_DAMAGED = Text("a PNG that can be read; this one is damaged", "un PNG que se pueda leer; este está dañado")
_NOT_SHAPES = Text(
    "an SVG of shapes alone, texts as outlines; it has {name}",
    "un SVG solo de figuras, con los textos como contornos; tiene {name}",
)
_REFERS = Text(
    "an SVG without references to other files and without style attributes",
    "un SVG sin referencias a otros archivos y sin atributos style",
)
_EMPTY = Text("an SVG with at least one shape", "un SVG con al menos una figura")
_NO_SIZE = Text("an SVG with a viewBox, which says its size", "un SVG con viewBox, que dice su tamaño")
_NOT_DRAWN = Text("an SVG whose shapes can be drawn", "un SVG cuyas figuras se puedan dibujar")
_TOO_LONG = Text(
    "at most ten times as long as it is high, and at most ten times as high as it is long",
    "máximo diez veces más largo que alto, y máximo diez veces más alto que largo",
)


class BadLogo(LocalizedError, ValueError):
    """The bytes are not a logo that is printed. `text` says what a logo must be."""


@dataclass(frozen=True, slots=True)
class Logo:
    """A logo that was found in order: its bytes, and its width by its height."""

    data: bytes
    ratio: float
    is_svg: bool

    def fit(self, width: float, height: float) -> tuple[float, float]:
        """Return the largest size of it within a box."""
        return (width, width / self.ratio) if width / self.ratio <= height else (height * self.ratio, height)

    def draw(self, pdf: "FPDF", x: float, y: float, width: float, height: float) -> None:
        """Draw it on the page at hand."""
        from fpdf.enums import ResourceAccessPolicy

        pdf.resource_access_policy = ResourceAccessPolicy.NONE
        # Without it, shapes outside of the viewBox would cover the watermark or the QR code.
        with pdf.rect_clip(x, y, width, height):
            pdf.image(BytesIO(self.data) if self.is_svg else self.picture(), x, y, width, height)

    def picture(self) -> Image.Image:
        """Return the pixels of a PNG, without profiles and remarks."""
        with Image.open(BytesIO(self.data), formats=("PNG",)) as opened:
            return opened.convert("RGBA")


def read_logo(data: bytes) -> Logo:
    """Check a logo. Raises BadLogo for anything but a PNG or SVG within the bounds."""
    if len(data) > MAX_BYTES:
        raise BadLogo(_TOO_LARGE)
    if data.startswith(_PNG):
        return _read_png(data)
    if data.startswith(_JPEG_BEGINS):
        raise BadLogo(_JPEG)
    return _read_svg(data)


def _read_png(data: bytes) -> Logo:
    width, height = int.from_bytes(data[16:20]), int.from_bytes(data[20:24])  # before a pixel is unpacked
    if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE and width * height <= MAX_PIXELS):
        raise BadLogo(_TOO_MANY_PIXELS)
    logo = Logo(data, width / height, is_svg=False)
    _check_ratio(logo)
    try:
        picture = logo.picture()
    except Exception as error:  # Pillow raises errors of many kinds for a damaged file
        raise BadLogo(_DAMAGED) from error
    if picture.size != (width, height):
        raise BadLogo(_DAMAGED)
    return logo


def _read_svg(data: bytes) -> Logo:
    try:
        root = parse_xml(_REMARKS.sub(b"", data), max_bytes=MAX_BYTES, max_elements=_MAX_ELEMENTS)
    except MalformedXml as error:
        raise BadLogo(_OTHER_FILE) from error
    if root.tag != f"{_SVG}svg":
        raise BadLogo(_OTHER_FILE)
    if len(data) > MAX_SVG_BYTES:
        raise BadLogo(_SVG_TOO_LARGE)
    for element in root.iter("*"):
        if element.tag not in _ALLOWED:
            raise BadLogo(_NOT_SHAPES.fill(name=f"<{excerpt(etree.QName(element).localname)}>"))
        for name, value in element.attrib.items():
            if (
                str(name).endswith("href")
                or str(name) == "style"
                or ("url(" in str(value) and "url(#" not in str(value))
            ):
                raise BadLogo(_REFERS)
    if not any(element.tag in _SHAPES for element in root.iter("*")):
        raise BadLogo(_EMPTY)
    ratio = _ratio(root)
    logo = Logo(etree.tostring(root), ratio, is_svg=True)
    _check_ratio(logo)
    from fpdf import FPDF

    try:
        trial = FPDF(unit="pt", format=(100, 100))
        trial.add_page()
        logo.draw(trial, 0, 0, 50, 50)
    except Exception as error:  # fpdf2 raises errors of many kinds for a path that is none
        raise BadLogo(_NOT_DRAWN) from error
    return logo


def _ratio(root: etree._Element) -> float:
    box = re.split(r"[\s,]+", (root.get("viewBox") or "").strip())
    if len(box) == 4:
        sides = [_NUMBER.fullmatch(part) for part in box[2:]]
    else:
        sides = [_NUMBER.fullmatch(root.get(name) or "") for name in ("width", "height")]
    found = [float(side[1]) for side in sides if side is not None]
    if len(found) != 2 or not all(found):
        raise BadLogo(_NO_SIZE)
    return found[0] / found[1]


def _check_ratio(logo: Logo) -> None:
    if not 0.1 <= logo.ratio <= 10:
        raise BadLogo(_TOO_LONG)
