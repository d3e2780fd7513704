"""`python -m tests.faults.timeline REPORT SVG`: draw what happened in a run, from its report."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

_LEFT, _WIDTH, _ROW, _CHART = 110, 1080, 34, 70
_INK, _FAINT, _BAR = "#1f2933", "#cbd2d9", "#9fb3c8"

#: Marks, in the order of the legend: colour, and the first words of the happenings that it stands for.
_MARKS = {
    "killed": (
        "#c81e1e",
        ("kill -9", "died at", "postgres crashes", "postgres stops", "postgres loses", "postgres is"),
    ),
    "stopped in order": ("#d97706", ("SIGTERM", "ended by itself")),
    "cut, black hole or slow network": ("#7e3af2", ("cut", "black hole", "slow network")),
    "answers gone wrong": ("#0e7490", ("authority is",)),
}
_FROZEN = "#1c64f2"


def draw(report: Mapping[str, Any]) -> str:
    """The whole drawing, as SVG."""
    happenings: Sequence[Mapping[str, Any]] = report["timeline"]
    calm: float = next((h["at"] for h in happenings if h["what"] == "calm"), report["seconds"])
    end: float = max([calm, len(report["acknowledged"]), *(h["at"] for h in happenings if h["what"] == "drained")]) + 1
    lanes = ["http-1", "http-2", "actors-1", "actors-2", "authority", "postgres"]
    height = 50 + _ROW * len(lanes) + _CHART + 70

    def x(at: float) -> float:
        return round(_LEFT + float(at) / float(end) * _WIDTH, 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_LEFT + _WIDTH + 20} {height}" '
        f'font-family="system-ui, sans-serif" font-size="12" fill="{_INK}">',
        f"<title>Fault run of seed {report['seed']}</title>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<rect x="{x(calm)}" y="30" width="{x(end) - x(calm)}" height="{height - 90}" fill="#ecfdf3"/>',
        f'<text x="{x(calm) + 4}" y="24">the faults are over</text>',
    ]
    for number, lane in enumerate(lanes):
        y = 50 + _ROW * number
        parts.append(f'<text x="8" y="{y + 4}">{lane}</text>')
        parts += _lane([h for h in happenings if h["where"] == lane], y, end, x, always=lane == "postgres")
    parts += _chart(report, 50 + _ROW * len(lanes), x)
    parts += _axis(end, height - 44, x)
    parts += _legend(height - 12)
    return "\n".join([*parts, "</svg>", ""])


def _lane(happenings: Sequence[Mapping[str, Any]], y: int, end: float, x: Any, *, always: bool) -> Iterator[str]:
    since: float | None = 0.0 if always else None
    frozen = 0.0
    marks: list[str] = []
    for happening in happenings:
        at, what = happening["at"], happening["what"]
        if what == "start":
            since = max(at, 0.0) if since is None else since
        elif what == "frozen":
            frozen = at
        elif what == "thawed":
            marks.append(_bar(x(frozen), x(at), y, 14, _FROZEN))
        elif what.startswith(("died at", "kill -9", "SIGTERM", "ended by itself", "the end", "would not")):
            if since is not None:
                yield _bar(x(since), x(min(at, end)), y, 10, _BAR)
            since = None
        colour = next((colour for colour, words in _MARKS.values() if what.startswith(words)), None)
        if colour is not None:
            marks.append(
                f'<line x1="{x(at)}" x2="{x(at)}" y1="{y - 10}" y2="{y + 10}" stroke="{colour}" stroke-width="1.6">'
                f"<title>{at:.1f} s: {escape(what)}</title></line>"
            )
    if since is not None:
        yield _bar(x(since), x(end), y, 10, _BAR)
    yield from marks


def _bar(start: float, end: float, y: int, thick: int, colour: str) -> str:
    return (
        f'<rect x="{start}" y="{y - thick // 2}" width="{max(end - start, 0.5):.1f}" height="{thick}" fill="{colour}"/>'
    )


def _chart(report: Mapping[str, Any], top: int, x: Any) -> Iterator[str]:
    peak = max([1, *report["acknowledged"], *report["ended"]])
    for name, colour, row in (("acknowledged", "#057a55", 0), ("ended", "#111827", 1)):
        points = [(x(0), top + _CHART)]
        for second, count in enumerate(report[name]):
            points.append((x(second + 0.5), round(top + _CHART - count / peak * (_CHART - 12), 1)))
        path = " ".join(f"{px},{py}" for px, py in points)
        yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
        label = f"{name}/s" if row else f"{name}/s, at most {peak}"
        yield f'<text x="8" y="{top + 26 + 18 * row}" fill="{colour}" font-size="11">{escape(label[:18])}</text>'


def _axis(end: float, y: int, x: Any) -> Iterator[str]:
    yield f'<line x1="{_LEFT}" x2="{_LEFT + _WIDTH}" y1="{y}" y2="{y}" stroke="{_FAINT}"/>'
    step = 5 if end < 90 else 20
    for second in range(0, int(end) + 1, step):
        yield f'<line x1="{x(second)}" x2="{x(second)}" y1="{y}" y2="{y + 5}" stroke="{_INK}"/>'
        yield f'<text x="{x(second)}" y="{y + 18}" text-anchor="middle">{second} s</text>'


def _legend(y: int) -> Iterator[str]:
    at = _LEFT
    for name, colour in [("alive", _BAR), ("frozen", _FROZEN), *((name, mark[0]) for name, mark in _MARKS.items())]:
        yield f'<rect x="{at}" y="{y - 10}" width="12" height="10" fill="{colour}"/>'
        yield f'<text x="{at + 17}" y="{y}">{name}</text>'
        at += 40 + 7 * len(name)


if __name__ == "__main__":
    told = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    Path(sys.argv[2]).write_text(draw(told), encoding="utf-8")
