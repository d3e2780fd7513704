"""The receipt on sheets: letter and A4. One grid of columns, figures aligned right, the QR code lower left."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from fe.printing.canvas import BLACK, GREY, LIGHT, MILLIMETRE, PALE, Align, Canvas, Color, color
from fe.printing.labels import label
from fe.printing.logo import Logo
from fe.printing.options import MAX_FOOTER_LINES, FiscalStanding, PaperSize, PrintOptions
from fe.printing.read import Adjustment, Amount, Item, PrintedReceipt, page_sums, show, show_quantity
from fe.printing.rows import adjustment_words, currency_words, standing_note

SIZES = {PaperSize.LETTER: (612.0, 792.0), PaperSize.A4: (595.28, 841.89)}
_QUIET = 3 * MILLIMETRE
#: With the quiet zone the code is 2 cm away from the edge, as the authority asks.
_MARGIN = 20 * MILLIMETRE - _QUIET
_TOP = 40.0
_QR = 27 * MILLIMETRE
_GAP = 9.0
_RED: Color = (0.7, 0.15, 0.15)
_TOTALS_WIDTH = 218.0
_ROW = 12.6
#: Columns of very large amounts leave the description less than its least width: then the table is set smaller.
_NARROWEST, _SMALLEST = 70.0, 4.5
#: Lines of a text that has to be printed: no text of the schema needs as many.
_MOST = 16
#: Widths below which a column of a table with room would look cramped.
_LEAST = {"quantity": 40.0, "unit": 46.0, "price": 56.0, "vat": 52.0, "value": 62.0}


@dataclass
class _Frame:
    """Texts at places relative to its top, so that it is drawn on every page alike."""

    texts: list[tuple[float, float, str, float, bool, Color, Align]] = field(default_factory=list)
    height: float = 0.0

    def add(
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
        self.texts.append((x, y, text, size, bold, ink, align))

    def draw(self, canvas: Canvas, top: float) -> None:
        for x, y, text, size, bold, ink, align in self.texts:
            canvas.text(x, top + y, text, size, bold=bold, ink=ink, align=align)


@dataclass(frozen=True)
class _Column:
    """A column of the table: its heading, its edge, and where its texts are aligned."""

    name: str
    x: float
    width: float
    align: Align

    @property
    def edge(self) -> float:
        return self.x + self.width if self.align == "right" else self.x


class Sheet:
    """Draws one receipt on a canvas of sheets."""

    def __init__(
        self, canvas: Canvas, receipt: PrintedReceipt, options: PrintOptions, logo: Logo | None, url: str
    ) -> None:
        self._canvas = canvas
        self._receipt = receipt
        self._options = options
        self._language = options.language
        self._logo = logo
        self._url = url
        self._accent = color(options.accent)
        self._wide, self._high = SIZES[options.layout]
        self._left, self._right = _MARGIN, self._wide - _MARGIN
        self._size = 7.6 if receipt.has_excise else 8.8
        self._head = self._make_head()
        self._parties = self._make_parties()
        self._columns = self._make_columns()
        self._heading = self._make_heading()
        self._middle = self._make_middle()
        self._totals = self._make_totals()
        self._top_of_rows = _TOP + self._head.height + 8 + self._parties.height + 4 + self._heading.height
        self._room = self._high - self._top_of_rows - self._foot_height(5 * _ROW + 4)
        self._rows = [self._make_row(item) for item in receipt.items]
        self._rows += [self._make_adjustment(one) for one in receipt.adjustments]

    def draw(self) -> None:
        """Draw every copy."""
        pages = self._paginate()
        for mark in self._options.copies:
            for number, (first, last) in enumerate(pages, 1):
                self._draw_page(mark, number, len(pages), first, last)

    # --- what stands on every page ---

    def _words(self, name: str, **values: object) -> str:
        return label(name, self._language, **values)

    def _make_head(self) -> _Frame:
        receipt, canvas, frame = self._receipt, self._canvas, _Frame()
        box = self._right - 214
        wide = box - self._left - 20
        y = 0.0
        if self._logo is not None:
            y = self._logo.fit(170, 48)[1] + 8
        issuer = receipt.issuer
        for line in canvas.wrap(issuer.trade_name or issuer.name, 14, wide, True, _MOST):
            y += 15
            frame.add(self._left, y, line, 14, bold=True, ink=self._accent)
        if issuer.trade_name:
            for line in canvas.wrap(issuer.name, 9.5, wide, True, _MOST):
                y += 12
                frame.add(self._left, y, line, 9.5, bold=True)
        y += 2
        branch = (f"{self._words('branch')}: {issuer.branch}",) if issuer.branch else ()
        for text in (f"{self._words('rnc')}: {issuer.rnc}", *branch, *issuer.lines):
            for line in canvas.wrap(text, 8.6, wide, most=_MOST):
                y += 11
                frame.add(self._left, y, line, 8.6, ink=BLACK if text.startswith("RNC") else GREY)
        y += 11
        frame.add(self._left, y, f"{self._words('issued')}: {receipt.issued}", 8.6)
        left = y
        y = 6.0
        for line in canvas.wrap(receipt.title, 12, 190, True):
            y += 14
            frame.add(box + 12, y, line, 12, bold=True, ink=self._accent)
        y += 17
        frame.add(box + 12, y, f"{self._words('ncf' if receipt.is_paper else 'e_ncf')}:", 9, ink=GREY)
        frame.add(self._right - 12, y, receipt.e_ncf, 13, bold=True, align="right")
        if receipt.expires:
            y += 14
            frame.add(box + 12, y, f"{self._words('expires')}:", 9, ink=GREY)
            frame.add(self._right - 12, y, receipt.expires, 9, align="right")
        modified = receipt.modified
        if modified is not None:
            y += 14
            frame.add(box + 12, y, f"{self._words('modified')}:", 9, ink=GREY)
            frame.add(self._right - 12, y, modified.ncf, 9, bold=True, align="right")
            for line in canvas.wrap(modified.words, 8.6, 190):
                y += 11
                frame.add(box + 12, y, line, 8.6)
            if modified.reason:
                for line in canvas.wrap(f"{self._words('reason')}: {modified.reason}", 8, 190, most=2):
                    y += 10
                    frame.add(box + 12, y, line, 8, ink=GREY)
        note = standing_note(self._options)
        for line in canvas.wrap(note, 8, 190) if note else ():
            y += 10.5
            frame.add(box + 12, y, line, 8, ink=_RED)
        self._box = (box, y + 10)
        frame.height = max(left + 6, y + 10)
        return frame

    def _make_parties(self) -> _Frame:
        canvas, buyer, frame = self._canvas, self._receipt.buyer, _Frame()
        middle = self._left + (self._right - self._left) * 0.6
        left: list[tuple[str, str]] = []
        if buyer is not None:
            left = [
                (name, value)
                for name, value in (
                    ("buyer_name", buyer.name),
                    ("buyer_rnc", buyer.rnc),
                    ("foreign_id", buyer.foreign_id),
                    ("country", buyer.country),
                )
                if value
            ]
        bottoms = [0.0]
        for x, wide, facts in (
            (self._left, middle - self._left - 14, left),
            (middle, self._right - middle, self._receipt.facts),
        ):
            indent = max((canvas.width(f"{self._words(name)}:", 8.6) for name, _ in facts), default=0) + 6
            y = 3.0
            for name, value in facts:
                shown = self._words("due", day=value) if name == "due" else value
                most = _MOST if facts is left else 3
                lines = canvas.wrap(shown, 8.8, wide - (0 if name == "due" else indent), name == "buyer_name", most)
                for number, line in enumerate(lines):
                    y += 11.6
                    if not number and name != "due":
                        frame.add(x, y, f"{self._words(name)}:", 8.6, ink=GREY)
                    frame.add(x + indent, y, line, 8.8, bold=name == "buyer_name")
            if x == self._left and buyer is not None:
                for text in buyer.lines:
                    for line in canvas.wrap(text, 8.2, wide - indent, most=6):
                        y += 10.6
                        frame.add(x + indent, y, line, 8.2, ink=GREY)
            bottoms.append(y + 6)
        frame.height = max(bottoms) if max(bottoms) > 9 else 0
        return frame

    # --- the table ---

    def _cells(self, item: Item) -> dict[str, str]:
        cells = {
            "quantity": show_quantity(item.quantity),
            "unit": item.unit,
            "price": show(item.price),
            "vat": show(item.vat),
            "value": show(item.value),
        }
        if self._receipt.has_excise:
            cells |= {
                "degrees": "" if item.degrees is None else show_quantity(item.degrees),
                "retail": "" if item.retail is None else show(item.retail),
                "specific": show(item.specific) if item.specific else "",
                "ad_valorem": show(item.ad_valorem) if item.ad_valorem else "",
            }
        return cells

    def _make_columns(self) -> dict[str, _Column]:
        canvas = self._canvas
        names = ["quantity", "description", "unit", "price", "vat", "value"]
        if self._receipt.has_excise:
            names[3:4] = ["degrees", "retail", "price", "specific", "ad_valorem"]
        every = [self._cells(item) for item in self._receipt.items]
        least: dict[str, float] = {}
        widest: dict[str, float] = {}
        for name in names:
            if name != "description":
                heading = max(canvas.width(word, 7.6, True) for word in self._words(name).split())
                least[name] = max(heading, 0 if self._receipt.has_excise else _LEAST[name])
                widest[name] = max((canvas.width(cell, 1) for cell in {cells[name] for cells in every}), default=0.0)
        room = self._right - self._left - 12 - _GAP * (len(names) - 1)
        while True:
            widths = {
                name: max(least[name], min(wide * self._size, 62.0 if name == "unit" else room))
                for name, wide in widest.items()
            }
            widths["description"] = room - sum(widths.values())
            if widths["description"] >= _NARROWEST or self._size < _SMALLEST:
                break
            self._size -= 0.4
        self._wraps = widths["description"] < _NARROWEST
        if self._wraps:  # amounts of 25 digits: they go on in the next line
            share = (room - _NARROWEST) / (room - widths["description"])
            widths = {name: wide * share for name, wide in widths.items()} | {"description": _NARROWEST}
        columns: dict[str, _Column] = {}
        x = self._left + 6
        for name in names:
            align: Align = "left" if name in ("description", "unit") else "right"
            columns[name] = _Column(name, x, widths[name], align)
            x += widths[name] + _GAP
        return columns

    def _make_heading(self) -> _Frame:
        frame = _Frame()
        cells = {
            name: self._canvas.wrap(self._words(name), 7.6, column.width + 0.1, True)
            for name, column in self._columns.items()
        }
        most = max(len(lines) for lines in cells.values())
        for name, lines in cells.items():
            column = self._columns[name]
            for number, line in enumerate(lines):
                y = 10 + (most - len(lines) + number) * 9
                frame.add(column.edge, y, line, 7.6, bold=True, ink=self._accent, align=column.align)
        frame.height = most * 9 + 6
        return frame

    def _make_row(self, item: Item) -> _Frame:
        canvas, size, frame = self._canvas, self._size, _Frame()
        leading = size + 2.2
        description = self._columns["description"]
        name = f"E  {item.name}" if item.exempt else item.name
        y = 1.5
        for line in canvas.wrap(name, size, description.width, most=_MOST):
            y += leading
            frame.add(description.x, y, line, size)
        for text in (*self._adjusted(item), *self._details(item)):
            fit = max(int((self._room - 3.6 - y) / (leading - 1)), 1)
            for line in canvas.wrap(text, size - 1.2, description.width, most=min(fit, 14)):
                y += leading - 1
                frame.add(description.x, y, line, size - 1.2, ink=GREY)
        bottom = y
        for key, cell in self._cells(item).items():
            column = self._columns[key]
            y = 1.5
            for line in canvas.wrap(cell, size, column.width + 0.1) if key == "unit" or self._wraps else (cell,):
                y += leading
                frame.add(column.edge, y, line, size, align=column.align)
            bottom = max(bottom, y)
        frame.height = bottom + 3.6
        return frame

    def _details(self, item: Item) -> Iterator[str]:
        if item.description:
            yield item.description
        if item.abroad is not None:
            yield currency_words(item.abroad, self._words)

    def _make_adjustment(self, one: Adjustment) -> _Frame:
        """A row of the table: there may be 20, more than the totals have room for."""
        frame, canvas, size = _Frame(), self._canvas, self._size
        shown = ("-" if one.is_discount else "") + show(one.amount)
        x, edge = self._columns["description"].x, self._columns["value"].edge
        words = adjustment_words(one, self._words)
        y = 1.5
        for line in canvas.wrap(words, size, edge - canvas.width(shown, size) - _GAP - x, most=_MOST):
            y += size + 2.2
            frame.add(x, y, line, size)
        frame.add(edge, y, shown, size, align="right")
        frame.height = y + 3.6
        return frame

    def _adjusted(self, item: Item) -> Iterable[str]:
        if item.discount:
            yield f"{self._words('discount')}: -{show(item.discount)}"
        if item.surcharge:
            yield f"{self._words('surcharge')}: {show(item.surcharge)}"

    # --- the foot ---

    def _amount_rows(self, amounts: Sequence[Amount]) -> list[tuple[str, str, bool]]:
        made = []
        for one in amounts:
            words = one.words or self._words(one.name, percent=one.percent)
            made.append((f"{words}:", show(one.amount), one.name in ("page_total", "to_pay")))
        return made

    def _make_totals(self) -> _Frame:
        receipt = self._receipt
        frame = self._frame_of(self._amount_rows(receipt.totals))
        y = frame.height + 16
        self._total_at = frame.height + 2
        left = self._right - _TOTALS_WIDTH
        frame.add(left + 8, y, f"{self._words('total')}:", 12, bold=True, ink=self._accent)
        frame.add(self._right - 6, y, f"RD$ {show(receipt.total)}", 12, bold=True, align="right")
        after = self._frame_of(self._amount_rows(receipt.after_total), y + 8)
        frame.texts += after.texts
        frame.height = max(y + 8, after.height)
        return frame

    def _frame_of(self, rows: Sequence[tuple[str, str, bool]], y: float = 0.0) -> _Frame:
        frame = _Frame()
        left = self._right - _TOTALS_WIDTH + 8
        for words, amount, bold in rows:
            room = self._right - 6 - left - self._canvas.width(amount, 9, bold) - 8
            lines = self._canvas.wrap(words, 8.8, room, bold)
            for number, line in enumerate(lines):
                y += _ROW
                frame.add(left, y, line, 8.8, bold=bold, ink=BLACK if bold else GREY)
                if number == 0:
                    frame.add(self._right - 6, y, amount, 9, bold=bold, align="right")
        frame.height = y + 4
        return frame

    def _make_middle(self) -> _Frame:
        """Between the QR code and the totals: amounts in another currency, and the tenant's footer."""
        frame, currency = _Frame(), self._receipt.currency
        x = self._left + _QUIET + _QR + _QUIET + 4
        wide = self._right - _TOTALS_WIDTH - 14 - x
        y = 0.0
        if currency is not None:
            rate = "" if currency.rate is None else show_quantity(currency.rate)
            y += 11
            frame.add(x, y, self._words("in_currency", currency=currency.code, rate=rate), 8.2, bold=True)
            for one in currency.amounts:
                y += 10.6
                frame.add(x, y, f"{self._words(one.name)} {currency.code}:", 8, ink=GREY)
                frame.add(x + wide, y, show(one.amount), 8, align="right")
            y += 6
        lines = [
            part for line in self._options.footer.splitlines() for part in self._canvas.wrap(line, 7.8, wide, most=9)
        ]
        for line in lines[:MAX_FOOTER_LINES]:
            y += 10
            frame.add(x, y, line, 7.8, ink=GREY)
        frame.height = y + 4
        return frame

    # --- pages ---

    def _foot_height(self, height: float) -> float:
        return max(height, self._middle.height, _QR + _QUIET) + 78 - _QUIET

    def _subtotals(self, first: int, last: int) -> _Frame:
        """Sums of the lines of a page; none for a page of discounts alone."""
        items = self._receipt.items[first:last]
        sums = page_sums(items) if items else ()
        for page in self._receipt.pages:
            if items and (page.first, page.last) == (first + 1, first + len(items)):
                sums = page.subtotals
        return self._frame_of(self._amount_rows(sums))

    def _paginate(self) -> list[tuple[int, int]]:
        """Cut the lines into pages: where the XML's Paginacion does, and wherever a page is full."""
        with_totals = self._high - self._top_of_rows - self._foot_height(self._totals.height)
        cuts = {page.last for page in self._receipt.pages if page.last < len(self._receipt.items)}
        starts, used = [0], 0.0
        for number, row in enumerate(self._rows):
            if number > starts[-1] and (used + row.height > self._room or number in cuts):
                starts.append(number)
                used = 0.0
            used += row.height
        if used > with_totals and self._rows:
            # The last lines move to a page with the totals, or none where they leave no room.
            number, kept = len(self._rows), 0.0
            while number - starts[-1] > 1 and kept + self._rows[number - 1].height <= with_totals:
                number -= 1
                kept += self._rows[number].height
            starts.append(number)
        return list(pairwise([*starts, len(self._rows)]))

    def _draw_page(self, mark: str, number: int, pages: int, first: int, last: int) -> None:
        canvas, options = self._canvas, self._options
        canvas.page()
        if options.standing in (FiscalStanding.VOID, FiscalStanding.PREVIEW):
            canvas.watermark(self._words("void" if options.standing is FiscalStanding.VOID else "preview"))
        box, tall = self._box
        with canvas.artifact():
            canvas.box(box, _TOP, self._right - box, tall, PALE)
            canvas.box(box, _TOP, 2.4, tall, self._accent)
        if self._logo is not None:
            wide, high = self._logo.fit(170, 48)
            with canvas.block("Figure", self._receipt.issuer.trade_name or self._receipt.issuer.name):
                logo = self._logo
                canvas.drawing(lambda pdf: logo.draw(pdf, self._left, _TOP, wide, high))
        with canvas.block("H1"):
            self._head.draw(canvas, _TOP)
        if mark:
            with canvas.block():
                canvas.text(self._right, _TOP - 8, mark.upper(), 8, bold=True, ink=GREY, align="right")
        y = _TOP + self._head.height + 8
        if self._parties.height:
            with canvas.artifact():
                canvas.line(self._left, y, self._right)
            with canvas.block():
                self._parties.draw(canvas, y)
        y += self._parties.height + 4
        with canvas.artifact():
            canvas.line(self._left, y, self._right, ink=self._accent, thick=1)
            canvas.line(self._left, y + self._heading.height, self._right, ink=self._accent, thick=0.6)
        with canvas.block():
            self._heading.draw(canvas, y)
        y += self._heading.height
        for place in range(first, last):
            row = self._rows[place]
            with canvas.block():
                row.draw(canvas, y)
            y += row.height
            with canvas.artifact():
                canvas.line(self._left, y, self._right, thick=0.4)
        self._draw_foot(number, pages, first, last)

    def _draw_foot(self, number: int, pages: int, first: int, last: int) -> None:
        canvas, receipt = self._canvas, self._receipt
        is_last = number == pages
        frame = self._totals if is_last else self._subtotals(first, last)
        base = self._high - 30
        qr = base - 40 - _QR
        if not receipt.is_paper:
            with canvas.block("Figure", self._words("qr")):
                canvas.qr(self._left + _QUIET, qr, _QR, self._url)
            with canvas.block():
                canvas.text(self._left + _QUIET, base - 26, f"{self._words('code')}: {receipt.code}", 8.4)
                canvas.text(self._left + _QUIET, base - 15, f"{self._words('signed')}: {receipt.signed}", 8.4)
        top = base - 40 - max(frame.height, _QR) + 2
        if frame.height < _QR:
            top = qr - 2
        left = self._right - _TOTALS_WIDTH
        with canvas.artifact():
            canvas.line(left, top, self._right, ink=LIGHT)
            if is_last:
                canvas.box(left, top + self._total_at, _TOTALS_WIDTH, 20, PALE)
        with canvas.block():
            frame.draw(canvas, top)
        if is_last:
            with canvas.block():
                self._middle.draw(canvas, base - 42 - max(self._middle.height, _QR))
        with canvas.artifact():
            canvas.text(
                self._wide / 2, base, self._words("page", page=number, pages=pages), 8, ink=GREY, align="center"
            )
