"""The receipt as ESC/POS bytes: code page 858, native QR code or raster, cut. For rolls of 80 and 58 mm at 203 dpi."""

from collections.abc import Iterator

from PIL import Image, ImageChops

from fe.printing.canvas import clean, qr_matrix
from fe.printing.logo import Logo
from fe.printing.options import PaperSize, PrintOptions
from fe.printing.read import PrintedReceipt
from fe.printing.rows import Line, Pair, Picture, QrCode, Row, Words, ticket_rows

#: Characters on a line of font A, and dots across.
_PAPER = {PaperSize.ROLL_80: (48, 576), PaperSize.ROLL_58: (32, 384)}
_INIT = b"\x1b@"
_CODE_PAGE_858 = b"\x1bt\x13"
_LEFT, _CENTER = b"\x1ba\x00", b"\x1ba\x01"
_BOLD, _PLAIN = b"\x1bE\x01", b"\x1bE\x00"
_TALL, _NORMAL = b"\x1d!\x01", b"\x1d!\x00"
_CUT = b"\x1dV\x42\x50"
#: 5 dots at 203 dpi are 0.63 mm: the smallest code that a printer chooses, of 45 modules, is 28 mm wide, and at least
#: 25 mm are asked for.
_MODULE = 5
_INSTEAD = str.maketrans({"×": "x", "…": "...", "–": "-", "—": "-", "“": '"', "”": '"', "’": "'", "‘": "'"})


def escpos(receipt: PrintedReceipt, options: PrintOptions, logo: Logo | None, url: str, *, raster: bool) -> bytes:
    """Write every copy of a receipt; `raster` sends the QR code as a picture, for printers without the command."""
    columns, dots = _PAPER[options.layout]
    made = bytearray(_INIT + _CODE_PAGE_858)
    for mark in options.copies:
        for row in ticket_rows(receipt, options, url, mark):
            made += b"".join(_row(row, columns, dots, logo, raster))
        made += _CUT
    return bytes(made)


def _row(row: Row, columns: int, dots: int, logo: Logo | None, raster: bool) -> Iterator[bytes]:
    if isinstance(row, Line):
        yield b"-" * columns + b"\n"
    elif isinstance(row, QrCode):
        yield _CENTER
        yield _raster(_qr_picture(row.url)) if raster else _native_qr(row.url)
        yield b"\n" + _LEFT
    elif isinstance(row, Picture):
        if logo is not None and not logo.is_svg:
            yield _CENTER + _raster(_logo_picture(logo, dots)) + b"\n" + _LEFT
    else:
        strong, tall = row.tone in ("strong", "title", "alert"), row.tone == "title"
        yield (_BOLD if strong else b"") + (_TALL if tall else b"")
        if isinstance(row, Words):
            yield _CENTER if row.centered else b""
            for line in wrap(row.text, columns):
                yield _encode(line) + b"\n"
            yield _LEFT if row.centered else b""
        else:
            yield from _pair(row, columns)
        yield (_NORMAL if tall else b"") + (_PLAIN if strong else b"")


def _pair(row: Pair, columns: int) -> Iterator[bytes]:
    right = _printable(row.right)
    *above, last = wrap(row.left, columns)
    for line in above:
        yield _encode(line) + b"\n"
    if len(last) + 1 + len(right) > columns:
        yield _encode(last) + b"\n"
        last = ""
    yield _encode(last + right.rjust(columns - len(last))) + b"\n"


def wrap(text: str, columns: int) -> list[str]:
    """Break a text into lines of at most `columns` characters; a longer word is cut."""
    lines: list[str] = []
    line = ""
    for word in _printable(text).split(" "):
        while len(word) > columns:
            if line:
                lines.append(line)
                line = ""
            lines.append(word[:columns])
            word = word[columns:]
        longer = f"{line} {word}" if line else word
        if len(longer) > columns:
            lines.append(line)
            longer = word
        line = longer
    return [*lines, line]


def _printable(text: str) -> str:
    return clean(text).translate(_INSTEAD)


def _encode(text: str) -> bytes:
    return text.encode("cp858", "replace")


def _native_qr(url: str) -> bytes:
    data = url.encode("ascii")
    store = len(data) + 3
    return (
        b"\x1d(k\x04\x001A2\x00"
        + b"\x1d(k\x03\x001C"
        + bytes([_MODULE])
        + b"\x1d(k\x03\x001E1"  # level M
        + b"\x1d(k"
        + store.to_bytes(2, "little")
        + b"1P0"
        + data
        + b"\x1d(k\x03\x001Q0"
    )


def _qr_picture(url: str) -> Image.Image:
    matrix = qr_matrix(url)
    side = len(matrix)
    small = Image.new("1", (side + 8, side + 8))
    for y, row in enumerate(matrix):
        for x, dark in enumerate(row):
            if dark:
                small.putpixel((x + 4, y + 4), 1)
    return small.resize(((side + 8) * _MODULE, (side + 8) * _MODULE), Image.Resampling.NEAREST)


def _logo_picture(logo: Logo, dots: int) -> Image.Image:
    picture = logo.picture()
    white = Image.new("RGBA", picture.size, "white")
    white.alpha_composite(picture)
    wide, high = logo.fit(dots * 0.7, 160)
    return ImageChops.invert(white.convert("L").resize((max(int(wide), 1), max(int(high), 1)))).convert("1")


def _raster(picture: Image.Image) -> bytes:
    """Write a picture of two colors by `GS v 0`; its set bits are the dark dots."""
    wide = (picture.width + 7) // 8
    return b"\x1dv0\x00" + wide.to_bytes(2, "little") + picture.height.to_bytes(2, "little") + picture.tobytes()
