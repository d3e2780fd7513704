"""Draws what the results hold: every series of bench/results/*.json becomes docs/performance/NAME-TITLE.svg.

    python -m bench.plots [--results FOLDER] [--into FOLDER]

Lines over one axis are all we draw, so it takes no library.
"""

import json
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from bench.report import ROOT
from bench.runner import read_options

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 720, 360, 70, 20, 36, 74
_INK, _FAINT = "#1f2933", "#d5dbe1"
_COLOURS = ("#1c64f2", "#d97706", "#057a55", "#c81e1e", "#7e3af2", "#0e7490", "#4b5563")

#: Where they belong.
INTO = ROOT / "docs" / "performance"

Points = Sequence[Sequence[float]]


def draw(series: Mapping[str, Any]) -> str:
    """One series as SVG. Its y axis begins at 0."""
    lines: Mapping[str, Points] = series["lines"]
    points = [point for line in lines.values() for point in line]
    across = _scale([x for x, _ in points], _LEFT, _WIDTH - _RIGHT, logarithmic=series["logarithmic"])
    top = max([y for _, y in points], default=0.0) or 1.0
    ticks = _ticks(top)

    def up(value: float) -> float:
        return round(_HEIGHT - _BOTTOM - value / ticks[-1] * (_HEIGHT - _BOTTOM - _TOP), 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'font-family="system-ui, sans-serif" font-size="12" fill="{_INK}">',
        f"<title>{escape(series['title'])}</title>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<text x="{_LEFT}" y="20" font-size="14">{escape(series["title"])}</text>',
    ]
    for tick in ticks:
        parts.append(f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{up(tick)}" y2="{up(tick)}" stroke="{_FAINT}"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{up(tick) + 4}" text-anchor="end">{_short(tick)}</text>')
    for x in _marks(sorted({x for x, _ in points})):
        parts.append(f'<text x="{across(x)}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle">{_short(x)}</text>')
    axis = f"{series['y']} by {series['x']}"
    parts.append(f'<text x="{_WIDTH - _RIGHT}" y="{_HEIGHT - _BOTTOM + 36}" text-anchor="end">{escape(axis)}</text>')
    at = _LEFT
    for nth, (name, line) in enumerate(lines.items()):
        colour = _COLOURS[nth % len(_COLOURS)]
        path = " ".join(f"{across(x)},{up(y)}" for x, y in line)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.8"/>')
        if len(line) <= 30:
            parts += [f'<circle cx="{across(x)}" cy="{up(y)}" r="3" fill="{colour}"/>' for x, y in line]
        parts.append(f'<rect x="{at}" y="{_HEIGHT - 18}" width="12" height="10" fill="{colour}"/>')
        parts.append(f'<text x="{at + 17}" y="{_HEIGHT - 9}">{escape(name)}</text>')
        at += 40 + 7 * len(name)
    return "\n".join([*parts, "</svg>", ""])


def _scale(values: Sequence[float], start: float, end: float, *, logarithmic: bool) -> Callable[[float], float]:
    def shape(value: float) -> float:
        return math.log10(value + 1) if logarithmic else value  # 0 has its place on a logarithmic axis too

    low, high = (shape(edge) for edge in (min(values, default=0.0), max(values, default=1.0)))
    return lambda value: round(start + (shape(value) - low) / ((high - low) or 1.0) * (end - start), 1)


def _ticks(top: float) -> list[float]:
    """Four to eight round values from 0 to above `top`."""
    rough = top / 5
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * each for each in (1, 2, 5, 10) if size * each >= rough)
    return [step * nth for nth in range(math.ceil(top / step - 1e-9) + 1)]


def _marks(values: Sequence[float]) -> Sequence[float]:
    """At most nine of them, the first and the last among them."""
    if len(values) <= 9:
        return values
    return [values[round(nth * (len(values) - 1) / 8)] for nth in range(9)]


def _short(value: float) -> str:
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


def file_of(result: Mapping[str, Any], series: Mapping[str, Any]) -> str:
    """The name of a plot's file."""
    title = re.sub(r"[^a-z0-9]+", "-", series["title"].lower()).strip("-")
    return f"{result['name']}-{title}.svg"


def draw_all(results: Path, into: Path) -> list[Path]:
    """Draw every series of the results into that folder; return the files."""
    into.mkdir(parents=True, exist_ok=True)
    drawn: list[Path] = []
    for file in sorted(results.glob("*.json")):
        result = json.loads(file.read_text(encoding="utf-8"))
        for series in result["series"]:
            if any(series["lines"].values()):
                drawn.append(into / file_of(result, series))
                drawn[-1].write_text(draw(series), encoding="utf-8")
                print(f"drew {drawn[-1]}")
    return drawn


def main() -> int:
    """Draw all there is."""
    results = {"type": Path, "default": ROOT / "bench" / "results"}
    arguments = read_options(__doc__, {"results": results, "into": {"type": Path, "default": INTO}})
    draw_all(arguments.results, arguments.into)
    return 0


if __name__ == "__main__":
    sys.exit(main())
