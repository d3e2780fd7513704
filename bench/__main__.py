"""Every benchmark in turn, short, in under fifteen minutes: what `make bench` runs.

    python -m bench [--peers FOLDER] [--only road naive]

Each is a process of its own, `python -m bench.NAME --short`, writes bench/results/NAME.json and may take so long and no
longer. At the end plots are drawn into docs/performance/ and all ratios printed once more. Peers (other job queues,
FastAPI) are installed into FOLDER, outside the tree, before the clock starts; without it, or where one cannot be
installed, what needs them is skipped, loudly. Ends with 1 when a benchmark failed or did not end in time; a target that
was missed is printed, and no failure.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import plots
from bench.report import ROOT

#: All of them together.
MAX_SECONDS = 840.0
#: The commit that this release is measured against.
BEFORE = "3ecf40f"
_LAST_SECONDS = 45.0
_LEAST_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One of them: how it is started, and how long it may take."""

    name: str
    seconds: float
    arguments: Sequence[str] = ("--short",)


#: What the targets are set on comes first: whatever is slower than it should be takes its time from those at the end.
ALL = (
    Benchmark("documents", 60, ("--seconds", "8", "--documents", "1500")),
    Benchmark("road", 170, ("--documents", "500", "--rounds", "2", "--beside", BEFORE)),
    Benchmark("outbox", 120),
    Benchmark("http", 100, ("--seconds", "3", "--rounds", "2")),
    Benchmark("naive", 70),
    Benchmark("sustained", 140),
    Benchmark("growth", 160),
    Benchmark("database", 40, ("--seconds", "2")),
    Benchmark("webhooks", 80, ("--seconds", "8")),
    Benchmark("metering", 80, ("--submissions", "50000", "--posts", "500", "--seconds", "1.5", "--rounds", "2")),
    Benchmark("hostile", 110),
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


def run(benchmark: Benchmark, peers: Path | None, seconds: float) -> str:
    """Run one; say how it ended."""
    command = [sys.executable, "-m", f"bench.{benchmark.name}", *benchmark.arguments]
    if peers is not None:
        command += ["--peers", str(peers)]
    print(f"\n>> {' '.join(command[1:])}", flush=True)
    began = time.monotonic()
    process = subprocess.Popen(command, cwd=ROOT)
    try:
        code = process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)  # it stops what it started
        try:
            process.wait(_LAST_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        return f"CUT OFF after {seconds:.0f} s"
    took = f"{time.monotonic() - began:.0f} s"
    return f"ENDED with {code} after {took}" if code else f"took {took}"


def summary(results: Path, since: float) -> None:
    """All ratios of this run, one a line."""
    for file in sorted(results.glob("*.json")):
        if file.stat().st_mtime < since:
            continue  # of another run
        result = json.loads(file.read_text(encoding="utf-8"))
        name = result["name"]
        for ratio in result["ratios"]:
            value = ratio["value"]
            held = {True: "holds", False: "MISSED", None: ""}[ratio["holds"]]
            print(f"  {name:<10} {ratio['name']:<66} {value['median']:>8.3g} {held}")
        for text in result["skipped"]:
            print(f"  {name:<10} SKIPPED {text}")


def main() -> int:
    """Run them, draw, sum up."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, help="a folder outside the tree for what we are compared with")
    parser.add_argument("--only", nargs="+", choices=[each.name for each in ALL], help="run these alone")
    arguments = parser.parse_args()
    chosen = [each for each in ALL if arguments.only is None or each.name in arguments.only]
    results = Path(os.environ.get("FE_BENCH_RESULTS", ROOT / "bench" / "results"))
    peers = install(arguments.peers) if arguments.peers is not None else {}
    began, since, ends = time.monotonic(), time.time(), dict[str, str]()
    for each in chosen:
        left = MAX_SECONDS - (time.monotonic() - began)
        if left < _LEAST_SECONDS:
            ends[each.name] = "NOT RUN: no time left"
        else:
            ends[each.name] = run(each, peers.get(each.name), min(each.seconds, left))
    sys.argv = [*sys.argv[:1], "--results", str(results)]
    plots.main()
    print(f"\n== all, in {time.monotonic() - began:.0f} s")
    for name, end in ends.items():
        print(f"  {name:<10} {end}")
    summary(results, since)
    return 0 if all(end.startswith("took") for end in ends.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
