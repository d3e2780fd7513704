"""Every benchmark in turn, short, in under fifteen minutes: what `make bench` runs.

    python -m bench [--peers FOLDER] [--only road naive]

Each runs in a process of its own, `python -m bench.NAME` in its short form, writes bench/results/NAME.json and has a
time limit. A benchmark that is cut off keeps its results so far; it is named, like one that fails, and the others run.

At the end it draws the plots in docs/performance/, updates the table of targets in docs/performance.md (both only when
results went to bench/results), and prints all ratios in one table. Peers (other job queues, FastAPI) are installed into
FOLDER, outside the tree, before the clock starts; comparisons without their peer are skipped with a message. Exits with
1 when a benchmark failed or did not end in time; a missed target is printed and is no failure.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import plots, targets
from bench.report import ROOT, show_table

#: All of them together.
MAX_SECONDS = 890.0
#: The commit that this release is measured against.
BEFORE = "3ecf40f"
#: Seconds for a benchmark that is cut off to stop its processes.
LAST_SECONDS = 20.0
RESULTS = ROOT / "bench" / "results"


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One of them: how it is started, and how long it may take; twice what it took on two quiet cores, about."""

    name: str
    seconds: float
    arguments: Sequence[str] = ("--short",)
    #: Arguments of Python, if not the module of the name.
    program: Sequence[str] = ()

    def command(self, peers: Path | None) -> list[str]:
        """The whole command."""
        beside = [] if peers is None else ["--peers", str(peers)]
        return [sys.executable, *(self.program or ("-m", f"bench.{self.name}")), *self.arguments, *beside]


#: Benchmarks with targets come first.
ALL = (
    Benchmark("road", 90, ("--documents", "1500", "--rounds", "2", "--beside", BEFORE, "--profile")),
    Benchmark("outbox", 85),
    Benchmark("http", 70, ("--seconds", "3", "--rounds", "2")),
    Benchmark("naive", 70),
    Benchmark("sustained", 115),
    Benchmark("growth", 150),
    Benchmark("documents", 40, ("--seconds", "8", "--documents", "1500")),
    Benchmark("database", 20, ("--seconds", "1")),
    Benchmark("webhooks", 60, ("--seconds", "4", "--rounds", "1")),
    Benchmark("metering", 35, ("--submissions", "20000", "--posts", "300", "--seconds", "1", "--rounds", "2")),
    Benchmark("hostile", 85, ("--short", "--only", "held_bodies", "validations")),
    Benchmark("printing", 50),
)


def install(folder: Path) -> dict[str, Path]:
    """Install what benchmarks are compared with, each in a folder of its own; those that could not be are left out."""
    from bench import http, outbox  # they load the service, which the others do in processes of their own

    installed: dict[str, Path] = {}
    for name, by in (("outbox", outbox.install_peers), ("http", http.install_peers)):
        try:
            by(folder.resolve() / name)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"!! the peers of {name} cannot be installed, it runs without: {error}", flush=True)
        else:
            installed[name] = folder.resolve() / name
    return installed


def run(benchmark: Benchmark, peers: Path | None, seconds: float, last_seconds: float = LAST_SECONDS) -> str:
    """Run one; say how it ended: `took`, when all is well."""
    command = benchmark.command(peers)
    print(f"\n>> {' '.join(command[1:])}", flush=True)
    began = time.monotonic()
    process = subprocess.Popen(command, cwd=ROOT)
    try:
        code = process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)  # it stops what it started
        try:
            process.wait(last_seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return f"CUT OFF after {seconds:.0f} s, and killed"
        return f"CUT OFF after {seconds:.0f} s"
    took = f"{time.monotonic() - began:.0f} s"
    return f"ENDED with {code} after {took}" if code else f"took {took}"


def run_all(chosen: Sequence[Benchmark], peers: Mapping[str, Path], max_seconds: float = MAX_SECONDS) -> dict[str, str]:
    """Run them one after the other, within `max_seconds`; return how each ended."""
    began, ends = time.monotonic(), dict[str, str]()
    for each in chosen:
        left = max_seconds - (time.monotonic() - began)
        ends[each.name] = run(each, peers.get(each.name), min(each.seconds, left)) if left > 0 else "NO TIME LEFT"
    return ends


def found(results: Path, since: float) -> tuple[list[dict[str, Any]], list[str]]:
    """All ratios that were written since then, as rows of one table; and what was skipped."""
    rows: list[dict[str, Any]] = []
    skipped: list[str] = []
    for file in sorted(results.glob("*.json")):
        if file.stat().st_mtime < since:
            continue  # of another run
        result = json.loads(file.read_text(encoding="utf-8"))
        name = result["name"]
        for ratio in result["ratios"]:
            value = ratio["value"]
            rows.append(
                {
                    "benchmark": name,
                    "ratio": ratio["name"],
                    "median": value["median"],
                    "lowest": value["lowest"],
                    "highest": value["highest"],
                    "target": targets.wanted(ratio),
                    "": targets.HELD[ratio["holds"]],
                }
            )
        skipped += [f"{name}: {text}" for text in result["skipped"]]
    return rows, skipped


def main() -> int:
    """Run them, draw, sum up."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, help="a folder outside the tree for what we are compared with")
    parser.add_argument("--only", nargs="+", choices=[each.name for each in ALL], help="run these alone")
    arguments = parser.parse_args()
    chosen = [each for each in ALL if arguments.only is None or each.name in arguments.only]
    results = Path(os.environ.get("FE_BENCH_RESULTS", RESULTS))
    peers = install(arguments.peers) if arguments.peers is not None else {}
    began, since = time.monotonic(), time.time()
    ends = run_all(chosen, peers)
    plots.draw_all(results, plots.INTO if results == RESULTS else results)
    if results == RESULTS:
        targets.write()
    rows, skipped = found(results, since)
    print(f"\n== all, in {time.monotonic() - began:.0f} s")
    show_table(rows)
    for text in skipped:
        print(f"  SKIPPED {text}")
    for name, end in ends.items():
        print(f"  {name:<10} {end}")
    return 0 if all(end.startswith("took") for end in ends.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
