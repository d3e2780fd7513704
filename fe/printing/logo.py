"""A tenant's logo: PNG or SVG, bounded in bytes, pixels and elements, and never a reason to fetch something."""

import re
from dataclasses import dataclass
from io import BytesIO

from fpdf import FPDF
from fpdf.enums import ResourceAccessPolicy
from lxml import etree
from PIL import Image

from fe.ecf.parse import MalformedXml, parse_xml

MAX_BYTES = 256 * 1024
MAX_SIDE = 4_000
MAX_PIXELS = 2_000_000
_MAX_ELEMENTS = 2_000
_PNG = b"\x89PNG\r\n\x1a\n"
_SVG = "{http://www.w3.org/2000/svg}"
#: Shapes alone: no text (its font would have to be embedded), no image, no script, no reference.
_ALLOWED = frozenset(
    _SVG + name
    for name in (
        *("svg", "g", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "title", "desc", "defs"),
        *("linearGradient", "radialGradient", "stop", "clipPath"),
    )
)
_NUMBER = re.compile(r"\s*([0-9]{1,6}(?:\.[0-9]{1,6})?)\s*(?:px|pt|mm)?\s*")


class BadLogo(ValueError):
    """The bytes are not a logo that is printed."""


@dataclass(frozen=True, slots=True)
class Logo:
    """A logo that was found in order: its bytes, and its width by its height."""

    data: bytes
    ratio: float
    is_svg: bool

    def fit(self, width: float, height: float) -> tuple[float, float]:
        """Return the largest size of it within a box."""
        return (width, width / self.ratio) if width / self.ratio <= height else (height * self.ratio, height)

    def draw(self, pdf: FPDF, x: float, y: float, width: float, height: float) -> None:
        """Draw it on the page at hand."""
        pdf.resource_access_policy = ResourceAccessPolicy.NONE
        pdf.image(BytesIO(self.data) if self.is_svg else self.picture(), x, y, width, height)

    def picture(self) -> Image.Image:
        """Return the pixels of a PNG, without profiles and remarks."""
        with Image.open(BytesIO(self.data), formats=("PNG",)) as opened:
            return opened.convert("RGBA")


def read_logo(data: bytes) -> Logo:
    """Check a logo. Raises BadLogo for anything but a PNG or SVG within the bounds."""
    if len(data) > MAX_BYTES:
        raise BadLogo(f"the logo is larger than {MAX_BYTES // 1024} kB")
    if data.startswith(_PNG):
        return _read_png(data)
    return _read_svg(data)


def _read_png(data: bytes) -> Logo:
    width, height = int.from_bytes(data[16:20]), int.from_bytes(data[20:24])  # before a pixel is unpacked
    if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE and width * height <= MAX_PIXELS):
        raise BadLogo(f"the logo has more than {MAX_PIXELS:,} pixels or {MAX_SIDE:,} on a side")
    logo = Logo(data, width / height, is_svg=False)
    _check_ratio(logo)
    try:
        picture = logo.picture()
    except Exception as error:  # Pillow raises errors of many kinds for a damaged file
        raise BadLogo("the logo is not a readable PNG") from error
    if picture.size != (width, height):
        raise BadLogo("the logo is not a readable PNG")
    return logo


def _read_svg(data: bytes) -> Logo:
    try:
        root = parse_xml(data, max_bytes=MAX_BYTES, max_elements=_MAX_ELEMENTS)
    except MalformedXml as error:
        raise BadLogo("the logo is neither a PNG nor an SVG") from error
    if root.tag != f"{_SVG}svg":
        raise BadLogo("the logo is neither a PNG nor an SVG")
    for element in root.iter():
        if element.tag not in _ALLOWED:
            raise BadLogo(f"the logo has an element that is not printed: {etree.QName(element).localname[:40]}")
        for name, value in element.attrib.items():
            if (
                str(name).endswith("href")
                or str(name) == "style"
                or ("url(" in str(value) and "url(#" not in str(value))
            ):
                raise BadLogo("the logo refers to something outside, or has a style attribute")
    ratio = _ratio(root)
    logo = Logo(etree.tostring(root), ratio, is_svg=True)
    _check_ratio(logo)
    try:
        trial = FPDF(unit="pt", format=(100, 100))
        trial.add_page()
        logo.draw(trial, 0, 0, 50, 50)
    except Exception as error:  # fpdf2 raises errors of many kinds for a path that is none
        raise BadLogo("the logo is not an SVG that can be drawn") from error
    return logo


def _ratio(root: etree._Element) -> float:
    box = re.split(r"[\s,]+", (root.get("viewBox") or "").strip())
    if len(box) == 4:
        sides = [_NUMBER.fullmatch(part) for part in box[2:]]
    else:
        sides = [_NUMBER.fullmatch(root.get(name) or "") for name in ("width", "height")]
    found = [float(side[1]) for side in sides if side is not None]
    if len(found) != 2 or not all(found):
        raise BadLogo("the logo says no size: give the SVG a viewBox")
    return found[0] / found[1]


def _check_ratio(logo: Logo) -> None:
    if not 0.1 <= logo.ratio <= 10:
        raise BadLogo("the logo is more than ten times as long as it is high, or the other way about")
