"""`python -m tests.printing.pictures`: the pictures of docs/printing, from the golden receipts."""

from dataclasses import replace
from pathlib import Path

import pypdfium2
from fontpkg_ibm_plex_sans_condensed import ROOT as FONT
from PIL import Image, ImageDraw, ImageFont

from fe.ecf.catalogue import EcfType
from fe.ecf.qr_code import qr_code
from fe.printing import FiscalStanding, PaperSize, PrintOptions, pdf, ticket
from tests.printing.documents import GOLDEN, long_receipt, signed
from tests.printing.receipt_printer import Printed, decode

FOLDER = Path(__file__).parent.parent.parent / "docs" / "printing"
LOGO = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 36"><circle cx="18" cy="18" r="16" fill="#0b6e4f"/>'
    b'<path d="M10 20q8-14 16 0q-8 10-16 0z" fill="#fff"/>'
    b'<path d="M44 12h66v4h-66zM44 20h46v4h-46z" fill="#0b6e4f"/></svg>'
)


def of(name: str) -> bytes:
    return signed(next(path for path in GOLDEN if name in path.stem))


def draw(name: str, document: bytes, *, page: int = 0, scale: float = 1.25) -> None:
    with pypdfium2.PdfDocument(document) as opened:
        picture = opened[page].render(scale=scale).to_pil().convert("P", palette=Image.Palette.ADAPTIVE, colors=32)
        picture.save(FOLDER / f"{name}.png", optimize=True)


def draw_ticket(name: str, printed: Printed, columns: int) -> None:
    """Draw what a receipt printer of 203 dpi makes of its bytes: 12 dots for a character."""
    wide, high = 12, 26
    faces = {
        style: ImageFont.truetype(FONT / "files" / f"IBMPlexSansCondensed-{style}.ttf", 22)
        for style in ("Medium", "Bold")
    }
    code = qr_code(printed.codes[0])
    side = int(code.symbol_size(4, 4)[0])
    paper = Image.new("L", (columns * wide + 40, len(printed.lines) * high + side + 60), 255)
    pen = ImageDraw.Draw(paper)
    y = 20
    for line, style in printed.lines:
        if not line and "c" in style:
            for row, modules in enumerate(code.matrix_iter(4, 4)):
                for column, dark in enumerate(modules):
                    if dark:
                        paper.putpixel(((paper.width - side) // 2 + column, y + row), 0)
            y += side
            continue
        x = 20 + ((columns - len(line)) // 2 * wide if "c" in style else 0)
        for character in line:
            pen.text((x + wide / 2, y), character, 0, faces["Bold" if "b" in style else "Medium"], anchor="ma")
            x += wide
        y += high
    paper.resize((paper.width // 2, paper.height // 2)).save(FOLDER / f"{name}.png", optimize=True)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    coffee = of("coffee")
    plain = PrintOptions()
    footer = "Gracias por su compra. Cambios en 30 días con este comprobante."
    branded = replace(plain, logo=LOGO, accent="#0b6e4f", footer=footer)
    draw("letter", pdf(coffee, branded))
    draw("a4-english", pdf(of("cocoa"), PrintOptions(layout=PaperSize.A4, language="en")))
    draw("selective-taxes", pdf(of("beer"), plain))
    draw("note", pdf(of("bag-returned"), plain))
    draw("withholding", pdf(of("cleaning"), plain))
    draw("pages", pdf(long_receipt(60, EcfType.CREDIT_FISCAL), plain), page=0)
    draw("rejected", pdf(coffee, PrintOptions(standing=FiscalStanding.VOID)))
    draw("roll-80", pdf(coffee, replace(branded, layout=PaperSize.ROLL_80)), scale=1.6)
    draw("roll-58", pdf(of("lunch"), PrintOptions(layout=PaperSize.ROLL_58)), scale=1.6)
    draw_ticket("ticket-80", decode(ticket(of("lunch"), PrintOptions(layout=PaperSize.ROLL_80))), 48)


if __name__ == "__main__":
    main()
