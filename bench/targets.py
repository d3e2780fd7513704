"""The table of targets in docs/performance.md: what is aimed at, and what the results in bench/results say of it.

    python -m bench.targets            # print it
    python -m bench.targets --write    # put it into the page, which `make bench` does too

The page has it between two comments, and a test compares the two: figures there are those of the results.
"""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.plots import INTO, file_of
from bench.report import ROOT, number
from bench.runner import read_options

RESULTS = ROOT / "bench" / "results"
PAGE = ROOT / "docs" / "performance.md"
BEGIN, END = "<!-- targets: python -m bench.targets --write -->", "<!-- end of targets -->"
#: The table of road's that tells where CPU goes, and the smallest part that is shown.
PROFILE, SMALLEST_US = "microseconds per document, by part of ours", 20.0
HELD = {True: "holds", False: "MISSED", None: ""}


@dataclass(frozen=True, slots=True)
class Target:
    """One line: of the result of this name the ratios whose name matches; of several the worst is told."""

    number: int
    what: str
    result: str
    ratio: str


TARGETS = (
    Target(1, "CPU of service and Postgres for a document, POST to verdict, in RSA-2048 signatures", "road",
           "CPU per document : one signature, this tree"),
    Target(1, "the same in signatures and durable commits", "road",
           r"CPU per document : signature \+ durable commit, this tree"),
    Target(1, "verdicts/s beside commit 3ecf40f", "road", "verdicts/s, this tree : .*"),
    Target(2, "no-op jobs/s beside graphile-worker", "outbox", "jobs/s, ours : graphile-worker"),
    Target(2, "p95 from enqueue to start beside the best peer", "outbox", "p95 from enqueue to start.*"),
    Target(3, "accepted POSTs/s beside FastAPI", "accept", "accepted/s, front : fastapi"),
    Target(3, "accepted POSTs/s beside pgbench, the limit of one transaction for each", "accept",
           "accepted/s, front : pgbench"),
    Target(4, "signed, sent, judged and booked/s beside the naive form", "naive", "signed, sent.*"),
    Target(5, "p99 of a POST at 70 % of the peak, in 50 ms", "sustained", "POST p99 : 50 ms"),
    Target(5, "p95 from 202 to the verdict beyond the authority's time, in seconds", "sustained",
           "202 -> verdict p95.*"),
    Target(5, "memory of the service at the end, times that at the beginning", "sustained", "memory.*service"),
    Target(6, "grown: time for a document, times the empty system's", "growth", "time per document, .*"),
    Target(6, "grown: CPU for a document", "growth", "CPU, .*"),
    Target(6, "grown: pages that statements look at for a document", "growth", "pages, .*"),
    Target(6, "grown: p95 of a POST", "growth", "POST p95, .*"),
    Target(6, "grown: p95 from 202 to the verdict", "growth", "202 -> verdict p95, .*"),
    Target(6, "a restart on the backlog: seconds to its first claim, in 5 s", "growth", "start to first claim.*"),
    Target(7, "WAL for a document beside commit 3ecf40f", "road", "WAL bytes per document.*"),
    Target(7, "dead row versions for a document beside it", "road", "dead row versions per document.*"),
)  # fmt: skip


def wanted(ratio: Mapping[str, Any]) -> str:
    """Return the target of a ratio in words; empty if it has none."""
    if ratio["at_least"] is not None:
        return f"at least {ratio['at_least']:.3g}"
    return "" if ratio["at_most"] is None else f"at most {ratio['at_most']:.3g}"


def worst(ratios: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Of several with the same target the one that is farthest from it."""
    by = [(ratio["value"]["median"], nth) for nth, ratio in enumerate(ratios)]
    return ratios[(min if ratios[0]["at_least"] is not None else max)(by)[1]]


def _said(value: Mapping[str, Any]) -> str:
    if value["rounds"] == 1:
        return number(value["median"])
    return f"{number(value['median'])} ({number(value['lowest'])} to {number(value['highest'])})"


def table(results: Path = RESULTS) -> str:
    """The lines between the comments: a row for each target that was measured, then how; and which were not."""
    found = {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in sorted(results.glob("*.json"))}
    rows = ["| | What | Target | Measured | |", "| --- | --- | --- | --- | --- |"]
    used, missing = dict[str, None](), dict[str, None]()
    for target in TARGETS:
        ratios = [
            ratio
            for ratio in found.get(target.result, {}).get("ratios", ())
            if re.fullmatch(target.ratio, ratio["name"])
        ]
        if not ratios:
            missing[target.what] = None
            continue
        used[target.result] = None
        ratio = worst(ratios)
        where = "" if len(ratios) == 1 else f", the worst of {len(ratios)}: {ratio['name'].partition(', ')[2]}"
        said = f"{_said(ratio['value'])}{where}"
        rows.append(f"| {target.number} | {target.what} | {wanted(ratio)} | {said} | {HELD[ratio['holds']]} |")
    ends = [_how(found[name]) for name in used]
    if missing:
        ends.append(f"- not in the results: {'; '.join(missing)}")
    parts = [_profile(found.get("road", {})), _scenarios(found.get("engines", {})), _pictures(found)]
    return "\n".join([*rows, "", *ends, *(line for part in parts for line in part)])


def _profile(road: Mapping[str, Any]) -> list[str]:
    """Where the service's CPU goes, in lines of a table; none where road was not asked for it."""
    parts = road.get("tables", {}).get(PROFILE, [])
    if not parts:
        return []
    said = [f"| {part['part']} | {part['us']:.0f} | {part['share']} |" for part in parts if part["us"] >= SMALLEST_US]
    begin = ["", "Where the CPU of the service goes, sampled (`--profile`), in microseconds for a document:", ""]
    return [*begin, "| Part | us | Share |", "| --- | --- | --- |", *said]


def _scenarios(engines: Mapping[str, Any]) -> list[str]:
    """The queues under faults: a row for each scenario, a column for each engine."""
    rows = engines.get("tables", {}).get("scenarios", [])
    if not rows:
        return []
    names = list(dict.fromkeys(row["engine"] for row in rows))
    said: dict[str, list[str]] = {}
    for row in rows:
        cell = f"{row['lost']} / {row['twice']} / {row['longest gap, s']} / {row['done after the last, s']}"
        said.setdefault(row["scenario"], []).append(cell)
    what = "jobs lost / done twice / longest pause in s / from the last job put in to the last one done in s"
    head = [f"| Scenario | {' | '.join(names)} |", f"| --- |{' --- |' * len(names)}"]
    lines = [f"| {name} | {' | '.join(cells)} |" for name, cells in said.items()]
    return ["", f"Queues under faults: {what}:", "", *head, *lines, "", _how(engines)]


def _pictures(found: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The plots that there are results for."""
    lines = [
        f"![{series['title']}]({INTO.name}/{file_of(result, series)})"
        for result in found.values()
        for series in result.get("series", [])
        if any(series["lines"].values())
    ]
    return ["", *lines] if lines else []


def _how(result: Mapping[str, Any]) -> str:
    machine = result["machine"]
    load = f"load {machine['load_before']:.1f} before, {machine['load_after']:.1f} after"
    cores = f"{machine['usable_cores']} cores"
    return f"- `{result['command']}`: {result['taken_at'][:10]}, commit {machine['commit'][:7]}, {cores}, {load}"


def write(results: Path = RESULTS, page: Path = PAGE) -> None:
    """Put the table into the page."""
    page.write_text(with_table(page.read_text(encoding="utf-8"), table(results)), encoding="utf-8")


def with_table(text: str, lines: str) -> str:
    """The page's text with these lines between the comments. Raises ValueError when it does not have them."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"there is no {BEGIN} and {END} in the page")
    return f"{before}{begin}\n\n{lines}\n\n{end}{after}"


def main() -> int:
    """Print the table, or write it."""
    results = {"type": Path, "default": RESULTS}
    arguments = read_options(__doc__, {"write": (False, "into docs/performance.md"), "results": results})
    if arguments.write:
        write(arguments.results)
    else:
        print(table(arguments.results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
