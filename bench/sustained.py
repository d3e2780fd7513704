"""A steady load of seven tenths of what it can do, for a while: is every POST quick, every verdict soon, memory flat?

    python -m bench.sustained --minutes 10       # in full
    python -m bench.sustained --short            # as `make bench` runs it: 40 s, and 6 s for each load of the curve

First how many the front takes in by the number of connections. Then the peak: documents as fast as they are taken,
until their verdicts. Then shares of it, each for some seconds, for the curve of latency by load; then 70 % for as long
as was asked, with memory looked at all the while. Documents come when their moment has come, answered or not. The
authority takes --verdict-delay to judge, which is taken off.
"""

import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from bench.history import live_in
from bench.report import Report
from bench.road import Numbers, drive, quantile, verdicts_of, wait_for_verdicts
from bench.runner import read_options
from bench.stack import QUICK, Stack, memory_mib, open_stack
from bench.submit import Answer, Order, finish, start, submit

#: Shares of the peak, in percent, that the curve is drawn through.
LOADS = (10, 30, 50, 70, 85)
#: How many connections the curve of throughput is drawn through.
CONNECTIONS = (1, 4, 16, 64, 128)
#: Targets in seconds.
POST_P99, VERDICT_P95 = 0.050, 1.0
#: Memory counts from the second fifth on: caches fill first.
FIFTHS = 5


@dataclass(frozen=True, slots=True)
class Steady:
    """One load: what POSTs took, what verdicts took beyond the authority, memory in MiB over the seconds."""

    answer: Answer
    verdicts: list[float]
    service: list[tuple[float, float]]
    postgres: list[tuple[float, float]]

    @property
    def posts(self) -> list[float]:
        """Seconds of each POST."""
        return [seconds for _, seconds in self.answer.posts]


def hold(stack: Stack, numbers: Numbers, rate: float, seconds: float, delay: float, every: float = 2.0) -> Steady:
    """Keep up a rate for some seconds."""
    documents = max(10, round(rate * seconds))
    first = numbers.take(documents)
    port = urlsplit(stack.base_url).port
    assert port is not None
    began = time.monotonic()
    order = Order(port, stack.token, first, documents, 128, rate, cores=tuple(stack.cores.beside))
    load = start(order)
    service: list[tuple[float, float]] = []
    postgres: list[tuple[float, float]] = []
    while load.poll() is None and time.monotonic() - began < seconds:
        at = time.monotonic() - began
        service.append((at, memory_mib(stack.pid("service"))))
        postgres.append((at, memory_mib(stack.pid("Postgres"))))
        time.sleep(every)
    answer = finish(load)
    wait_for_verdicts(stack)
    _, verdicts = verdicts_of(stack, first, documents)
    return Steady(answer, [max(0.0, seconds - delay) for seconds in verdicts], service, postgres)


def by_time(answer: Answer, window: float) -> list[tuple[float, float]]:
    """p99 of the POSTs of each window, in milliseconds, by seconds from the start."""
    windows: dict[int, list[float]] = {}
    for due, seconds in answer.posts:
        windows.setdefault(int(due / window), []).append(seconds)
    return [((nth + 0.5) * window, quantile(found, 99)) for nth, found in sorted(windows.items())]


def growth(samples: Sequence[tuple[float, float]]) -> float:
    """Memory of the last fifth, as a multiple of that of the second."""
    fifth = max(1, len(samples) // FIFTHS)
    values = [mib for _, mib in samples]
    early = values[fifth : 2 * fifth] or values
    return statistics.median(values[-fifth:]) / statistics.median(early)


def main() -> int:
    """Measure and tell."""
    wanted = {
        "minutes": 10.0,
        "curve-seconds": (15.0, "for each load of the curve"),
        "peak-documents": (2000, "that the peak is measured with"),
        "processes": (2, "of the service"),
        "verdict-delay": (0.2, "seconds the authority takes to judge"),
        "rate": (0.0, "documents a second, instead of 70 %% of the peak"),
    }
    arguments = read_options(__doc__, wanted, short={"minutes": 40 / 60, "curve_seconds": 6.0, "peak_documents": 600})
    seconds, curve, most = arguments.minutes * 60, arguments.curve_seconds, arguments.peak_documents
    authority = [*QUICK, "--delay", str(arguments.verdict_delay)]
    with Report("sustained") as report, open_stack(authority=authority) as stack:
        report.server(stack.dsn)
        live_in(stack)
        numbers = Numbers()
        throughput(report, stack, numbers, arguments.processes, max(200, most // 4))
        stack.start_service(processes=arguments.processes)
        stack.log_in()
        wait_for_verdicts(stack)  # of what the front alone has taken in
        drive(stack, numbers, 200, 32)  # warm
        peak = statistics.median(drive(stack, numbers, most, 64).verdicts_per_second for _ in range(2))
        report.figure("peak", "verdicts/s", peak)
        points: dict[str, list[tuple[float, float]]] = {"POST p50": [], "POST p99": [], "202 -> verdict p95": []}
        for percent in LOADS:
            found = hold(stack, numbers, peak * percent / 100, curve, arguments.verdict_delay)
            points["POST p50"].append((percent, quantile(found.posts, 50)))
            points["POST p99"].append((percent, quantile(found.posts, 99)))
            points["202 -> verdict p95"].append((percent, quantile(found.verdicts, 95)))
        report.plot("latency by load", "load, % of peak", "ms", points)
        steady(report, stack, numbers, arguments.rate or peak * 0.7, seconds, arguments.verdict_delay)
    return 0


def throughput(report: Report, stack: Stack, numbers: Numbers, processes: int, documents: int) -> None:
    """How many the front takes in, alone on the machine, by the number of connections."""
    stack.start_service(role="http", processes=processes)
    stack.log_in()
    port = urlsplit(stack.base_url).port
    assert port is not None
    points: list[tuple[float, float]] = []
    for connections in CONNECTIONS:
        first, cores = numbers.take(documents), tuple(stack.cores.beside)
        answer = submit(Order(port, stack.token, first, documents, connections, cores=cores))
        points.append((connections, documents / answer.seconds))
    report.plot("throughput by connections", "connections", "accepted/s", {"front": points}, logarithmic=True)
    stack.stop("service")


def steady(report: Report, stack: Stack, numbers: Numbers, rate: float, seconds: float, delay: float) -> None:
    """Hold the one load that has targets."""
    stack.log_in()  # a token for this hour
    found = hold(stack, numbers, rate, seconds, delay)
    name = f"{rate:.0f}/s for {seconds:.0f} s"
    report.ratio("POST p99 : 50 ms", quantile(found.posts, 99) / 1000, POST_P99, at_most=1)
    report.ratio(
        "202 -> verdict p95, beyond the authority's : 1 s", quantile(found.verdicts, 95) / 1000, VERDICT_P95, at_most=1
    )
    for what, samples in (("service", found.service), ("Postgres", found.postgres)):
        report.ratio(
            f"memory at the end : early, {what}", growth(samples), 1.0, at_most=1.1 if what == "service" else None
        )
        report.figure(name, f"MiB at the end, {what}", samples[-1][1])
    for percent in (50, 95, 99):
        report.figure(name, f"POST p{percent}, ms", quantile(found.posts, percent))
        report.figure(name, f"202 -> verdict p{percent}, ms", quantile(found.verdicts, percent))
    report.plot("memory over time", "seconds", "MiB", {"service": found.service, "Postgres": found.postgres})
    window = max(2.0, seconds / 60)
    report.plot("POST p99 over time", "seconds", "ms", {"POST p99": by_time(found.answer, window)})
    report.note("memory is the proportional set size of a process and its children; Postgres's grows with its buffers")


if __name__ == "__main__":
    sys.exit(main())
