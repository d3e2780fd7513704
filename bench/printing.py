"""CPU of a printed receipt beside reportlab's for the same content, memory of the longest, and POSTs beside prints.

`python -m bench.printing [--rounds 5] [--short] [--posts]`. reportlab draws the same strings at the same places with
the same typeface, and the same QR code; it makes no PDF/A, no tags and embeds no XML. Then a whole service takes POSTs
for some seconds alone and for as long while four tenants ask it for PDFs, in turn, for four minutes (`--posts`: only
this). Percentiles are of all POSTs of a kind; the parts are in the order alone, beside, beside, alone, so that neither
kind has the quieter machine.
"""

import http.client
import io
import json
import os
import resource
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pypdfium2
import trio
from fontpkg_ibm_plex_sans_condensed import ROOT as TYPEFACE
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

import bench.printing
from bench import submit
from bench.report import Report, in_turn
from bench.runner import read_options
from bench.stack import Stack, family, open_stack
from fe.ecf.catalogue import EcfType
from fe.monitoring.metrics import Metrics
from fe.offload.pool import Apart
from fe.printing import PaperSize, PrintOptions, pdf, qr_address
from fe.printing.canvas import qr_matrix
from tests.printing.documents import GOLDEN, long_receipt, signed

_PRINTS = 20
_LINES = 10_000
#: Load of the service: POSTs a second, prints a second of all tenants, seconds of each part, and parts of each kind.
#: Prints run at low priority: beside more POSTs two cores make fewer of them.
_POSTS, _PDFS, _SECONDS, _PARTS = 10, 20, 5, 12
#: Receipts of each tenant, each printed once on each paper: the service keeps what it has made. Prints asked at once.
_RECEIPTS, _TENANTS, _AT_ONCE = 155, 4, 8


def main() -> None:
    """Measure, and show it."""
    chosen = read_options(__doc__, {"rounds": 5, "posts": False}, short={"rounds": 2})
    with Report("printing") as report:
        if not chosen.posts:
            _print_alone(report, chosen.rounds, 1_000 if chosen.short else _LINES)
        with open_stack() as stack:
            _post_beside_prints(stack, report, 1 if chosen.short else _PARTS)


def _print_alone(report: Report, rounds: int, lines: int) -> None:
    xml, options = signed(GOLDEN[0]), PrintOptions()
    beside = _same_with_reportlab(xml, options)
    kinds = {"ours": lambda: _cpu_ms(lambda: pdf(xml, options)), "reportlab": lambda: _cpu_ms(beside)}
    took = in_turn(kinds, rounds)
    report.figure("one receipt", "ms of CPU", took["ours"])
    report.figure("one receipt by reportlab", "ms of CPU", took["reportlab"])
    report.ratio("CPU of a receipt / reportlab's", took["ours"], took["reportlab"], at_most=2)
    longest = long_receipt(lines, EcfType.DEBIT_NOTE)
    for paper in PaperSize:
        began = time.process_time()
        pdf(longest, PrintOptions(layout=paper))
        report.figure(f"{lines} lines on {paper}", "s of CPU", time.process_time() - began)
    report.figure("memory of the pool's process", "MB", trio.run(_peak_of_the_pool, longest))


def peak_mb(xml: bytes, layouts: tuple[PaperSize, ...]) -> float:
    """Print on each layout; return the largest memory this process ever held."""
    for layout in layouts:
        pdf(xml, PrintOptions(layout=layout))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def _peak_of_the_pool(xml: bytes) -> float:
    apart = Apart(1, Metrics(), seconds=300)  # four prints in one piece of work, at low priority
    async with apart.running():
        # By its full name: a process of the pool has another `__main__`.
        return await apart.run("bench", bench.printing.peak_mb, xml, tuple(PaperSize))


def _post_beside_prints(stack: Stack, report: Report, parts: int) -> None:
    stack.start_service()
    port = urlsplit(stack.base_url).port
    assert port is not None
    tokens = [stack.log_in()]
    for _ in range(_TENANTS - 1):
        stack.provision()
        tokens.append(stack.log_in())
    for token in tokens:
        submit.submit(submit.Order(port, token, first=1, documents=_RECEIPTS))
    receipts = [(token, one) for token in tokens for one in _accepted(port, token)]
    wanted = [(token, f"/{one}/pdf?layout={layout}") for layout in PaperSize for token, one in receipts]
    first = _RECEIPTS + 1
    for where in "", ", prints on a core of their own":
        alone: list[float] = []
        beside: list[float] = []
        made: list[float] = []
        for part in range(2 * parts):
            is_beside = part % 4 in (1, 2)
            if where:
                _get(port, *wanted.pop())  # the pool has its processes now
                _divide_cores()
            order = submit.Order(port, tokens[0], first=first, documents=_POSTS * _SECONDS, rate=_POSTS)
            first += order.documents
            posts = submit.start(order)
            if is_beside:
                asked, wanted = wanted[: _PDFS * _SECONDS], wanted[_PDFS * _SECONDS :]
                made.append(_print(port, asked) / _SECONDS)
            taken = [seconds * 1000 for _, seconds in submit.finish(posts).posts]
            (beside if is_beside else alone).extend(taken)
        report.posts(alone, beside, f"prints{where}")
        report.figure(f"PDFs made meanwhile{where}", "PDF/s", made)
        if max(made) < 0.9 * _PDFS:
            report.skip(
                f"{_PDFS} PDFs a second{where}", "the machine is busy, and prints run at low priority behind all else"
            )


def _divide_cores() -> None:
    """Give the pool's processes, which run at low priority, the last core, and the rest of this benchmark the first."""
    first, *_, last = range(os.cpu_count() or 1)
    for process in family(os.getpid()):
        with suppress(ProcessLookupError):
            core = first if os.getpriority(os.PRIO_PROCESS, process) == 0 else last
            for thread in Path(f"/proc/{process}/task").iterdir():
                os.sched_setaffinity(int(thread.name), {core})


def _accepted(port: int, token: str) -> list[str]:
    """Wait until all receipts of a tenant are accepted; return their ids."""
    until = time.monotonic() + 300
    while time.monotonic() < until:
        _, said = _get(port, token, "?limit=200")
        found = [one["taxLogId"] for one in json.loads(said)["items"] if one["status"] == "Aceptado"]
        if len(found) == _RECEIPTS:
            return found
        time.sleep(0.5)
    raise SystemExit("the receipts are not accepted")


def _print(port: int, asked: list[tuple[str, str]]) -> int:
    """Ask for each print when its moment has come; return how many were made in the time of a part."""
    began, late = time.monotonic(), threading.Event()
    made: list[int] = []

    def one(number: int, token: str, path: str) -> None:
        time.sleep(max(began + number / _PDFS - time.monotonic(), 0))
        if not late.is_set():
            made.append(_get(port, token, path)[0])

    with ThreadPoolExecutor(_AT_ONCE) as threads:
        for number, (token, path) in enumerate(asked):
            threads.submit(one, number, token, path)
        time.sleep(max(began + _SECONDS - time.monotonic(), 0))
        counted = made.count(200)
        late.set()
    if not set(made) <= {200, 503}:  # a service that is too busy to print says so
        raise SystemExit(f"not every receipt was printed: {set(made)}")
    return counted


def _get(port: int, token: str, path: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=150)
    try:
        connection.request("GET", f"/api/v1/fe/invoices{path}", headers={"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


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
