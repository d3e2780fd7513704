"""CPU of a printed receipt beside reportlab's for the same content, and memory of the longest.

`python -m bench.printing [--rounds 5]`. reportlab draws the same strings at the same places with the same typeface, and
the same QR code; it makes no PDF/A, no tags and embeds no XML.
"""

import argparse
import io
import resource
import time
from collections.abc import Callable

import pypdfium2
from fontpkg_ibm_plex_sans_condensed import ROOT as TYPEFACE
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from bench.report import Report
from fe.ecf.catalogue import EcfType
from fe.printing import PaperSize, PrintOptions, pdf, qr_address
from fe.printing.canvas import qr_matrix
from tests.printing.documents import GOLDEN, long_receipt, signed

_PRINTS = 20
_LINES = 10_000


def main() -> None:
    """Measure, and show it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    xml, options = signed(GOLDEN[0]), PrintOptions()
    beside = _same_with_reportlab(xml, options)
    with Report("printing") as report:
        ours, theirs = [], []
        for _ in range(rounds):
            ours.append(_cpu_ms(lambda: pdf(xml, options)))
            theirs.append(_cpu_ms(beside))
        report.figure("one receipt", "ms of CPU", ours)
        report.figure("one receipt by reportlab", "ms of CPU", theirs)
        report.ratio("CPU of a receipt / reportlab's", ours, theirs, at_most=2)
        longest = long_receipt(_LINES, EcfType.DEBIT_NOTE)
        for paper in PaperSize:
            began = time.process_time()
            pdf(longest, PrintOptions(layout=paper))
            report.figure(f"{_LINES} lines on {paper}", "s of CPU", time.process_time() - began)
        report.figure("peak memory", "MB", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def _cpu_ms(work: Callable[[], object]) -> float:
    work()
    began = time.process_time()
    for _ in range(_PRINTS):
        qr_matrix.cache_clear()
        work()
    return (time.process_time() - began) / _PRINTS * 1000


def _same_with_reportlab(xml: bytes, options: PrintOptions) -> Callable[[], object]:
    for name in ("Regular", "SemiBold"):
        pdfmetrics.registerFont(TTFont(name, str(TYPEFACE / "files" / f"IBMPlexSansCondensed-{name}.ttf")))
    with pypdfium2.PdfDocument(pdf(xml, options)) as opened:
        page = opened[0].get_textpage()
        places = [page.get_rect(number) for number in range(page.count_rects())]
        texts = [(left, bottom, page.get_text_bounded(*place)) for place in places for left, bottom in [place[:2]]]
    url = qr_address(xml, options)

    def draw() -> object:
        made = io.BytesIO()
        canvas = Canvas(made, pagesize=(612, 792))
        for number, (left, bottom, words) in enumerate(texts):
            canvas.setFont("SemiBold" if number % 3 == 0 else "Regular", 9)
            canvas.drawString(left, bottom, words)
        modules = qr_matrix(url)
        side = 76 / len(modules)
        path = canvas.beginPath()
        for row, line in enumerate(modules):
            for column, dark in enumerate(line):
                if dark:
                    path.rect(57 + column * side, 60 + (len(modules) - row) * side, side, side)
        canvas.drawPath(path, stroke=0, fill=1)
        canvas.showPage()
        canvas.save()
        return made

    return draw


if __name__ == "__main__":
    main()
