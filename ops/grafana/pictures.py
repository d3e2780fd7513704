"""Draws every dashboard as one SVG from what a Prometheus has: `python -m ops.grafana.pictures --prometheus URL`.

Each panel's queries are asked as Grafana asks them, with all environments and processes chosen. How the pictures of
docs/operations.md came about is in `tests/ops/scene.py`.
"""

import argparse
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

import httpx

from ops.grafana.build import ANNOTATIONS, DASHBOARDS, render
from ops.grafana.drawing import Line, Mark, Shown, draw

#: How many values a line has.
_VALUES = 150
#: Marks fewer values apart than this become one.
_TOGETHER = 5


def filled_in(query: str, *, rate_interval: str = "1m", shown: str = "1h") -> str:
    """A query as Grafana sends it, with all of everything chosen."""
    filled = {"$environment": ".*", "$instance": ".*", "$__rate_interval": rate_interval, "$__range": shown}
    for variable, value in filled.items():
        query = query.replace(variable, value)
    return query


class Asked:
    """A Prometheus, asked about one stretch of time."""

    def __init__(self, client: httpx.Client, since: float, until: float, rate_interval: str) -> None:
        self.since, self.until = since, until
        self.step = max((until - since) / _VALUES, 1.0)
        self._client = client
        self._rate_interval = rate_interval

    def lines(self, target: Mapping[str, Any]) -> Iterator[Line]:
        """Series of a panel's target, named by its legend, in the order of their names."""
        query = filled_in(target["expr"], rate_interval=self._rate_interval, shown=f"{round(self.until - self.since)}s")
        params: dict[str, str | float] = {"query": query, "start": self.since, "end": self.until, "step": self.step}
        answer = self._client.get("/api/v1/query_range", params=params).json()
        if answer["status"] != "success":
            raise ValueError(f"{query}: {answer['error']}")
        found = [
            Line(
                named(target.get("legendFormat", ""), series["metric"]),
                [(at, value) for at, text in series["values"] if isfinite(value := float(text))],
                {name: value for name, value in series["metric"].items() if not name.startswith("__")},
            )
            for series in answer["data"]["result"]
        ]
        yield from sorted(found, key=lambda line: line.name)

    def marks(self) -> Iterator[Mark]:
        """Annotations, each where its query begins to return a value; those at one moment together."""
        for note in ANNOTATIONS:
            found: dict[float, list[str]] = {}
            for line in self.lines({**note["target"], "legendFormat": note["titleFormat"]}):
                before = float("-inf")
                for at, _ in line.points:
                    if at - before > 1.5 * self.step and at - self.since > 1.5 * self.step:
                        near = next((other for other in found if abs(other - at) < _TOGETHER * self.step), at)
                        found.setdefault(near, []).append(line.name)
                    before = at
            yield from (Mark(at, note["iconColor"], "; ".join(texts)) for at, texts in found.items())


def named(legend: str, labels: Mapping[str, str]) -> str:
    """The name of a series in the legend."""
    return re.sub(r"\{\{\s*(\w+)\s*\}\}", lambda match: labels.get(match[1], ""), legend).strip()


def picture(dashboard: Mapping[str, Any], asked: Asked) -> str:
    """The picture of a rendered dashboard."""
    lines: dict[int, Sequence[Line]] = {
        panel["id"]: [line for target in panel["targets"] for line in asked.lines(target)]
        for panel in dashboard["panels"]
        if panel["type"] != "row"
    }
    return draw(dashboard, Shown(asked.since, asked.until, asked.step, lines, list(asked.marks())))


def main() -> int:
    """Draw all."""
    options = argparse.ArgumentParser(prog="python -m ops.grafana.pictures", description=__doc__)
    options.add_argument("--prometheus", required=True, metavar="URL")
    options.add_argument("--minutes", type=float, default=60.0, help="how far back they look")
    options.add_argument("--rate-interval", default="1m", help="four times what lies between two scrapes, at least")
    options.add_argument("--into", type=Path, default=Path("docs/operations"), metavar="FOLDER")
    asked_for = options.parse_args()
    asked_for.into.mkdir(parents=True, exist_ok=True)
    now = time.time()
    with httpx.Client(base_url=asked_for.prometheus, trust_env=False, timeout=60.0) as client:
        asked = Asked(client, now - asked_for.minutes * 60, now, asked_for.rate_interval)
        for dashboard in map(render, DASHBOARDS):
            file = asked_for.into / f"{dashboard['uid']}.svg"
            file.write_text(picture(dashboard, asked), encoding="utf-8")
            sys.stdout.write(f"drew {file}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
