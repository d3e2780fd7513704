"""The receipt on a roll as PDF: one column of 72 or 48 mm, on one page as long as it needs."""

from collections.abc import Sequence

from fe.printing.canvas import BLACK, MILLIMETRE, Canvas
from fe.printing.labels import label
from fe.printing.logo import Logo
from fe.printing.options import FiscalStanding, PaperSize, PrintOptions
from fe.printing.read import PrintedReceipt
from fe.printing.rows import Line, Pair, Picture, QrCode, Row, Tone, Words, ticket_rows

#: Paper and printable width in millimetres, and the size of usual text.
_PAPER = {PaperSize.ROLL_80: (80.0, 72.0, 8.6), PaperSize.ROLL_58: (58.0, 48.0, 7.6)}
_QR = 27 * MILLIMETRE
_LONGEST = 14_000.0  # points; a page of a PDF is at most 14,400
_EDGE = 12.0
_SCALES: dict[Tone, tuple[float, bool]] = {
    "normal": (1.0, False),
    "strong": (1.04, True),
    "title": (1.36, True),
    "soft": (0.92, False),  # printers of rolls have no grey
    "alert": (1.0, True),
}


def roll_width(paper: PaperSize) -> float:
    """Return the width of a roll in points."""
    return _PAPER[paper][0] * MILLIMETRE


class Roll:
    """Draws one receipt on pages as wide as the roll."""

    def __init__(
        self, canvas: Canvas, receipt: PrintedReceipt, options: PrintOptions, logo: Logo | None, url: str
    ) -> None:
        paper, printable, self._size = _PAPER[options.layout]
        self._canvas = canvas
        self._receipt = receipt
        self._options = options
        self._logo = logo
        self._url = url
        self._wide = paper * MILLIMETRE
        self._left = (paper - printable) / 2 * MILLIMETRE
        self._right = self._wide - self._left

    def draw(self) -> None:
        """Draw every copy, each from a page of its own."""
        for mark in self._options.copies:
            page: list[tuple[Row, list[str], float]] = []
            used = 0.0
            for row in ticket_rows(self._receipt, self._options, self._url, mark):
                lines, height = self._measure(row)
                if used + height > _LONGEST - 2 * _EDGE:
                    self._draw_page(page, used)
                    page, used = [], 0.0
                page.append((row, lines, height))
                used += height
            self._draw_page(page, used)

    def _measure(self, row: Row) -> tuple[list[str], float]:
        wide = self._right - self._left
        if isinstance(row, Line):
            return [], 6.0
        if isinstance(row, QrCode):
            return [], _QR + 16
        if isinstance(row, Picture):
            return [], (0.0 if self._logo is None else self._logo.fit(wide * 0.7, 54)[1] + 6)
        scale, bold = _SCALES[row.tone]
        size = self._size * scale
        if isinstance(row, Words):
            lines = self._canvas.wrap(row.text, size, wide, bold)
            return lines, len(lines) * size * 1.24 + 0.6
        room = wide - self._canvas.width(row.right, size, bold) - 6
        lines = self._canvas.wrap(row.left, size, wide, bold)
        if self._canvas.width(lines[-1], size, bold) > room:
            lines.append("")
        return lines, len(lines) * size * 1.24 + 0.6

    def _draw_page(self, rows: Sequence[tuple[Row, list[str], float]], used: float) -> None:
        canvas, standing = self._canvas, self._options.standing
        canvas.page((self._wide, used + 2 * _EDGE))
        if standing in (FiscalStanding.VOID, FiscalStanding.PREVIEW):
            canvas.watermark(label(standing, self._options.language))
        y = _EDGE
        for row, lines, height in rows:
            self._draw_row(row, lines, y)
            y += height

    def _draw_row(self, row: Row, lines: list[str], y: float) -> None:
        canvas = self._canvas
        middle = self._wide / 2
        if isinstance(row, Line):
            with canvas.artifact():
                canvas.line(self._left, y + 3, self._right, ink=BLACK, thick=0.4)
        elif isinstance(row, QrCode):
            with canvas.block("Figure", label("qr", self._options.language)):
                canvas.qr(middle - _QR / 2, y + 9, _QR, row.url)
        elif isinstance(row, Picture):
            logo = self._logo
            if logo is not None:
                wide, high = logo.fit((self._right - self._left) * 0.7, 54)
                with canvas.block("Figure", self._receipt.issuer.name):
                    canvas.drawing(lambda pdf: logo.draw(pdf, middle - wide / 2, y, wide, high))
        else:
            scale, bold = _SCALES[row.tone]
            size = self._size * scale
            with canvas.block():
                for number, line in enumerate(lines, 1):
                    baseline = y + number * size * 1.24 - size * 0.26
                    if isinstance(row, Words) and row.centered:
                        canvas.text(middle, baseline, line, size, bold=bold, align="center")
                    else:
                        canvas.text(self._left, baseline, line, size, bold=bold)
                    if isinstance(row, Pair) and number == len(lines):
                        canvas.text(self._right, baseline, row.right, size, bold=bold, align="right")
