"""A tenant's print settings: checked values from which every print of the tenant starts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fe.ecf.texts import Language, LocalizedError, Text
from fe.printing.logo import MAX_BYTES, MAX_SVG_BYTES
from fe.printing.options import ACCENT, MAX_COPIES, MAX_FOOTER, MAX_FOOTER_LINES, MAX_MARK, PaperSize, PrintOptions

LAYOUTS: Final = tuple(map(str, PaperSize))
ROLLS: Final = tuple(str(paper) for paper in PaperSize if paper.is_roll)
LANGUAGES: Final = ("es", "en")
#: The form of a logo. `read_logo` names the fault of a given one.
LOGO_FORM: Final = Text(
    f"a PNG of at most {MAX_BYTES // 1024} kB or an SVG of at most {MAX_SVG_BYTES // 1024} kB",
    f"un PNG de máximo {MAX_BYTES // 1024} kB o un SVG de máximo {MAX_SVG_BYTES // 1024} kB",
)
_ACCENT_FORM = Text("a color such as #1f3a5f", "un color como #1f3a5f")
_DARKER = Text(
    "a darker color, such as #1f3a5f: titles in this one cannot be read on white paper",
    "un color más oscuro, como #1f3a5f: en papel blanco los títulos de este color no se leen",
)
#: The least contrast of text to its ground (WCAG 2.2, 1.4.3).
_LEAST_CONTRAST = 4.5
_FOOTER_FORM = Text(
    f"a text of at most {MAX_FOOTER} printable characters and {MAX_FOOTER_LINES} lines",
    f"un texto de máximo {MAX_FOOTER} caracteres imprimibles y {MAX_FOOTER_LINES} líneas",
)
_MARKS_FORM = Text(
    f"1 to {MAX_COPIES} texts, each of at most {MAX_MARK} printable characters",
    f"de 1 a {MAX_COPIES} textos, cada uno de máximo {MAX_MARK} caracteres imprimibles",
)


class BadPrintSetting(LocalizedError):
    """A print setting is out of range; `text` says what `field` must be."""

    def __init__(self, field: str, text: Text) -> None:
        super().__init__(text)
        self.field = field


@dataclass(frozen=True, slots=True)
class PrintSettings:
    """A tenant's choice, or the defaults. `marks` has one for each copy, empty for none."""

    logo: bytes | None = None
    accent: str = "#1f3a5f"
    footer: str = ""
    marks: tuple[str, ...] = ("",)
    language: Language = "es"
    layout: PaperSize = PaperSize.LETTER

    def options(self, layout: PaperSize | None = None, language: Language | None = None) -> PrintOptions:
        """Return the options of a print; a layout or a language that was asked for goes first."""
        return PrintOptions(
            layout=layout or self.layout,
            language=language or self.language,
            logo=self.logo,
            accent=self.accent,
            footer=self.footer,
            copies=self.marks,
        )


def check_settings(
    *, logo: bytes | None, accent: str, footer: str, marks: Sequence[str], language: str, layout: str
) -> PrintSettings:
    """Check a tenant's choice. Raises BadPrintSetting. The logo is not drawn here: `read_logo` takes a while."""
    footer = footer.replace("\r\n", "\n")
    if logo is not None and not 1 <= len(logo) <= MAX_BYTES:
        raise BadPrintSetting("logo", LOGO_FORM)
    if not ACCENT.fullmatch(accent):
        raise BadPrintSetting("accent", _ACCENT_FORM)
    if contrast_to_white(accent) < _LEAST_CONTRAST:
        raise BadPrintSetting("accent", _DARKER)
    lines = footer.splitlines()
    if len(footer) > MAX_FOOTER or len(lines) > MAX_FOOTER_LINES or not footer.replace("\n", "").isprintable():
        raise BadPrintSetting("footer", _FOOTER_FORM)
    if not 1 <= len(marks) <= MAX_COPIES or any(len(mark) > MAX_MARK or not mark.isprintable() for mark in marks):
        raise BadPrintSetting("marks", _MARKS_FORM)
    if language not in LANGUAGES:
        raise BadPrintSetting("language", _one_of(LANGUAGES))
    if layout not in LAYOUTS:
        raise BadPrintSetting("layout", _one_of(LAYOUTS))
    return PrintSettings(logo, accent, footer, tuple(marks), "en" if language == "en" else "es", PaperSize(layout))


def contrast_to_white(accent: str) -> float:
    """Return the contrast of a color to white, 1 to 21 (WCAG 2.2, relative luminance)."""
    parts = [int(accent[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)


def _one_of(names: Sequence[str]) -> Text:
    listed = ", ".join(names)
    return Text(f"one of: {listed}", f"uno de: {listed}")
