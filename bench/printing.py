"""CPU of a printed receipt beside reportlab's for the same content, memory of the longest, and POSTs beside prints.

`python -m bench.printing [--rounds 5] [--short] [--posts]`. reportlab draws the same strings at the same places with
the same typeface, and the same QR code; it makes no PDF/A, no tags and embeds no XML.

Then a whole service takes POSTs for four minutes (`--posts`: only this), five seconds at a time: alone, while four
tenants ask it for PDFs, and while another program makes the same PDFs at the same low priority. The other program shows
how much of the difference is the use of the cores. The kinds change places, so that none has the quieter machine.
"""

import http.client
import io
import json
import resource
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
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
from bench.stack import Stack, open_stack
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
_POSTS, _PDFS, _SECONDS, _PARTS = 10, 20, 5, 16
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
    elsewhere = [(_xml(port, token, one), layout) for layout in PaperSize for token, one in receipts]
    first = _RECEIPTS + 1
    taken: dict[str, list[float]] = {kind: [] for kind in ("alone", "prints", "the same prints by another program")}
    made: dict[str, list[float]] = {kind: [] for kind in taken}
    with _another_program() as draw:
        for part in range(parts):
            for kind in taken if part % 2 else reversed(taken):
                order = submit.Order(port, tokens[0], first=first, documents=_POSTS * _SECONDS, rate=_POSTS)
                first += order.documents
                posts = submit.start(order)
                if kind == "prints":
                    asked, wanted = wanted[: _PDFS * _SECONDS], wanted[_PDFS * _SECONDS :]
                    made[kind].append(_at_rate([partial(_print, port, *one) for one in asked]))
                elif kind != "alone":
                    drawn, elsewhere = elsewhere[: _PDFS * _SECONDS], elsewhere[_PDFS * _SECONDS :]
                    made[kind].append(_at_rate([partial(draw, n, *one) for n, one in enumerate(drawn)]))
                taken[kind].extend(seconds * 1000 for _, seconds in submit.finish(posts).posts)
    alone = taken.pop("alone")
    for kind, beside in taken.items():
        report.posts(alone, beside, kind)
        report.figure(f"PDFs made meanwhile, {kind}", "PDF/s", made[kind])
        if max(made[kind]) < 0.9 * _PDFS:
            report.skip(f"{_PDFS} PDFs a second, {kind}", "low priority, and the machine has no more time for them")


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


@contextmanager
def _another_program() -> Iterator[Callable[[int, bytes, PaperSize], int]]:
    """Run a pool like that of the service, with its processes started; gives a function that prints there."""
    pool, begun, ended = Apart(1, Metrics(), share=1.0), Future[trio.lowlevel.TrioToken](), trio.Event()

    async def run() -> None:
        async with pool.running():
            await pool.run(0, int)
            begun.set_result(trio.lowlevel.current_trio_token())
            await ended.wait()

    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(trio.run, run)
        token = begun.result()
        try:
            yield lambda n, *drawn: trio.from_thread.run(pool.run, n % _TENANTS, _draw, *drawn, trio_token=token)
        finally:
            trio.from_thread.run_sync(ended.set, trio_token=token)
            running.result()


def _xml(port: int, token: str, receipt: str) -> bytes:
    _, said = _get(port, token, f"/{receipt}/xml")
    return str(json.loads(said)["xml"]).encode()


def _draw(xml: bytes, layout: PaperSize) -> int:
    return len(pdf(xml, PrintOptions(layout)))


def _print(port: int, token: str, path: str) -> bool:
    status, _ = _get(port, token, path)
    if status not in (200, 503):  # a service that is too busy to print says so
        raise SystemExit(f"not every receipt was printed: {status}")
    return status == 200


def _at_rate(works: list[Callable[[], object]]) -> float:
    """Begin each print when its moment has come; return how many were made a second."""
    began, late = time.monotonic(), threading.Event()
    made: list[object] = []

    def one(number: int, work: Callable[[], object]) -> None:
        time.sleep(max(began + number / _PDFS - time.monotonic(), 0))
        if not late.is_set():
            made.append(work())

    with ThreadPoolExecutor(_AT_ONCE) as threads:
        begun = [threads.submit(one, number, work) for number, work in enumerate(works)]
        time.sleep(max(began + _SECONDS - time.monotonic(), 0))
        counted = len([done for done in made if done])
        late.set()
    for each in begun:
        each.result()
    return counted / _SECONDS


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
