"""How much machinery a rate takes, on paper, from what bench.road measured: the arithmetic behind docs/scaling.md.

    python -m bench.road && python -m bench.plan --rate 10000

Every line is a figure of bench/results/road.json times the rate, divided by what part of a thing may be used. It knows
nothing of what does not grow in proportion; docs/scaling.md says what that is.
"""

import json
import math
import sys
from pathlib import Path
from typing import Any

from bench.report import ROOT, show_table
from bench.road import OURS
from bench.runner import read_options

#: How much of a core, a process or a disk is planned with; the rest is for peaks, failover and maintenance.
USED = 0.6
#: Of a server: connections it may well have, and the CPU it may have.
CONNECTIONS, CORES = 400, 64
#: The mean rate of a month, as a share of the peak that is planned for.
MEAN = 0.2


def figures(result: dict[str, Any]) -> dict[str, float]:
    """Medians that bench.road measured of this tree, by unit."""
    return {figure["unit"]: figure["value"]["median"] for figure in result["figures"] if figure["of"] == OURS}


def plan(found: dict[str, float], rate: float, signature_ms: float, connections: int) -> list[dict[str, Any]]:
    """Rows of the table: what, how much, and how it comes about."""
    service, server = found["ms of CPU, service"], found["ms of CPU, Postgres"]
    service_cores, server_cores = rate * service / 1000 / USED, rate * server / 1000 / USED
    processes = math.ceil(service_cores)
    links = processes * (connections + 3)
    wal, month = found["WAL bytes per document"], rate * MEAN * 86_400 * 30
    return [
        _row("cores of the service", service_cores, f"{service:.2f} ms each, {USED:.0%} used"),
        _row("of them for RSA", rate * signature_ms / 1000 / USED, f"{signature_ms:.2f} ms for a signature"),
        _row("processes of the service", processes, "a process fills one core"),
        _row("cores of Postgres", server_cores, f"{server:.2f} ms each, {USED:.0%} used"),
        _row("servers of Postgres", math.ceil(server_cores / CORES), f"of {CORES} cores"),
        _row("connections", links, f"{connections} and 3 for each process"),
        _row("round trips a second", rate * found["round trips per document"], "from the wire"),
        _row("commits a second", rate * found["commits per document"], "from the log"),
        _row("WAL, MB a second", rate * wal / 1e6, f"{wal / 1000:.1f} kB each, without full pages"),
        _row("WAL, TB a day at the mean rate", rate * MEAN * wal * 86_400 / 1e12, f"mean is {MEAN:.0%} of the peak"),
        _row("dead row versions a second", rate * found["dead row versions per document"], "for autovacuum"),
        _row("submissions a month, millions", month / 1e6, "one partition of each table, or one a shard"),
    ]


def _row(what: str, value: float, how: str) -> dict[str, Any]:
    return {"what": what, "value": value, "how": how}


def main() -> int:
    """Print the plan."""
    wanted = {
        "rate": (10_000.0, "documents a second at the peak"),
        "connections": (8, "FE_DATABASE_CONNECTIONS of a process of one role"),
        "result": {"type": Path, "default": ROOT / "bench" / "results" / "road.json"},
    }
    arguments = read_options(__doc__, wanted)
    if not arguments.result.exists():
        print(f"there is no {arguments.result}: run bench.road first", file=sys.stderr)
        return 1
    result = json.loads(arguments.result.read_text(encoding="utf-8"))
    signature = next(each["value"]["median"] for each in result["figures"] if "signature" in each["of"])
    machine = result["machine"]
    print(f"{arguments.rate:,.0f} documents a second, by {result['command']} at commit {machine['commit']},")
    print(f"{machine['cores']} cores, load {machine['load_before']} before and {machine['load_after']} after")
    show_table(plan(figures(result), arguments.rate, signature, arguments.connections))
    return 0


if __name__ == "__main__":
    sys.exit(main())
