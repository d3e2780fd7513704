"""Every benchmark in turn, short, in under fifteen minutes: what `make bench` runs.

    python -m bench [--peers FOLDER] [--only road naive]

Each is a process of its own, `python -m bench.NAME --short`, writes bench/results/NAME.json and may take so long and no
longer. At the end plots are drawn into docs/performance/ and all ratios printed once more. Peers (other job queues,
FastAPI) are installed into FOLDER, outside the tree; without it what needs them is skipped, loudly. Ends with 1 when a
benchmark failed or did not end in time; a target that was missed is printed, and no failure.
"""

import argparse
import json
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
MOST_SECONDS = 870.0
#: The commit that this release is measured against.
BEFORE = "3ecf40f"
_LAST_SECONDS = 45.0


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One of them: how it is started, how long it may take, and whether it can use peers."""

    name: str
    seconds: float
    arguments: Sequence[str] = ("--short",)
    peers: bool = False


ALL = (
    Benchmark("documents", 80, ("--seconds", "8", "--documents", "1500")),
    Benchmark("database", 40, ("--seconds", "2")),
    Benchmark("outbox", 150, peers=True),
    Benchmark("http", 190, ("--seconds", "3", "--rounds", "2"), peers=True),
    Benchmark("road", 200, ("--documents", "500", "--rounds", "2", "--beside", BEFORE)),
    Benchmark("naive", 90),
    Benchmark("sustained", 150),
    Benchmark("growth", 200),
    Benchmark("hostile", 150),
    Benchmark("webhooks", 170, ("--seconds", "10")),
    Benchmark("metering", 90, ("--submissions", "50000", "--posts", "500", "--seconds", "1.5", "--rounds", "2")),
)


def run(benchmark: Benchmark, peers: Path | None, seconds: float) -> str:
    """Run one; say how it ended."""
    command = [sys.executable, "-m", f"bench.{benchmark.name}", *benchmark.arguments]
    if benchmark.peers and peers is not None:
        command += ["--peers", str(peers / benchmark.name)]
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
    results = ROOT / "bench" / "results"
    began, since, ends = time.monotonic(), time.time(), {}
    for each in chosen:
        left = MOST_SECONDS - (time.monotonic() - began)
        ends[each.name] = run(each, arguments.peers, min(each.seconds, left)) if left > 10 else "NOT RUN: no time left"
    sys.argv = sys.argv[:1]
    plots.main()
    print(f"\n== all, in {time.monotonic() - began:.0f} s")
    for name, end in ends.items():
        print(f"  {name:<10} {end}")
    summary(results, since)
    return 0 if all(end.startswith("took") for end in ends.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
