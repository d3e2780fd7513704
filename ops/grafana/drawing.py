"""A dashboard as one SVG picture, laid out as Grafana does: for the documentation, and where no Grafana is.

It draws what `ops.grafana.build.render` gives: titles, units, legends, thresholds, annotations, each panel in its
place. What the queries came to is handed in.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from typing import Any

from ops.grafana.build import WIDTH
from ops.grafana.figures import scale, show

_ACROSS, _DOWN, _GAP, _HEAD = 60.0, 36.0, 8.0, 72.0
_INK, _SOFT, _FAINT, _PAPER, _GROUND = "#1f2933", "#66727f", "#e4e8ec", "#ffffff", "#f2f4f6"
_LINES = (
    *("#1f77b4", "#e8830c", "#2e9b4f", "#c8323c", "#8a5fbf", "#12a1a6", "#b0813b", "#d45fa6"),
    *("#5b6b7a", "#a3b300", "#7fb2e5", "#f0b37e", "#8fd19e", "#e79aa0", "#c3aede", "#84d6d8"),
)
_COLOURS = {"green": "#2e9b4f", "yellow": "#d9a406", "red": "#c8323c", "blue": "#1f77b4"}
#: Width of a character at 11 px, about.
_LETTER = 6.4
_LEGEND_LINE, _LEGEND_MOST = 16.0, 4
#: Width of the note that counts the rest.
_MORE = 80.0

Point = tuple[float, float]


@dataclass(frozen=True)
class Line:
    """A series: its name in the legend, and its values by Unix time. A value that is no number is left out."""

    name: str
    points: Sequence[Point]
    #: Its labels, for tables.
    labels: Mapping[str, str]


@dataclass(frozen=True)
class Mark:
    """Something that happened, across all panels."""

    at: float
    colour: str
    text: str


@dataclass(frozen=True)
class Shown:
    """Data of a dashboard: its period, each panel's lines by the panel's id, and what happened."""

    since: float
    until: float
    #: Seconds between two values: where one is missing, a line is broken.
    step: float
    lines: Mapping[int, Sequence[Line]]
    marks: Sequence[Mark] = ()


@dataclass(frozen=True)
class _Box:
    x: float
    y: float
    width: float
    height: float


def draw(dashboard: Mapping[str, Any], shown: Shown) -> str:
    """The picture of a rendered dashboard."""
    panels = dashboard["panels"]
    bottom = max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in panels)
    width, height = WIDTH * _ACROSS + _GAP, _HEAD + bottom * _DOWN + _GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'font-family="Inter, Helvetica, Arial, sans-serif" font-size="11" fill="{_INK}">',
        f"<title>{escape(dashboard['title'])}</title>",
        f'<rect width="{width:g}" height="{height:g}" fill="{_GROUND}"/>',
        _text(_GAP + 4, 30, dashboard["title"], size=20, weight=600),
        _text(_GAP + 4, 52, dashboard["description"], size=13, colour=_SOFT),
        _text(width - _GAP - 4, 30, _period(shown), size=13, colour=_SOFT, anchor="end"),
    ]
    for panel in panels:
        at = panel["gridPos"]
        box = _Box(_GAP + at["x"] * _ACROSS, _HEAD + at["y"] * _DOWN, at["w"] * _ACROSS - _GAP, at["h"] * _DOWN - _GAP)
        parts += _row(panel, box) if panel["type"] == "row" else _panel(panel, box, shown)
    return "\n".join([*parts, "</svg>", ""])


def _period(shown: Shown) -> str:
    since, until = (datetime.fromtimestamp(moment, UTC) for moment in (shown.since, shown.until))
    return f"{since:%Y-%m-%d %H:%M:%S} to {until:%H:%M:%S} UTC"


def _row(panel: Mapping[str, Any], box: _Box) -> Iterator[str]:
    yield _text(box.x + 4, box.y + 20, panel["title"], size=14, weight=600)


def _panel(panel: Mapping[str, Any], box: _Box, shown: Shown) -> Iterator[str]:
    lines = shown.lines.get(panel["id"], ())
    yield f'<g id="panel-{panel["id"]}">'
    yield f'<rect x="{box.x:g}" y="{box.y:g}" width="{box.width:g}" height="{box.height:g}" fill="{_PAPER}" rx="3"/>'
    yield f"<desc>{escape(panel['description'])}</desc>"
    yield _text(box.x + 10, box.y + 20, panel["title"], size=13, weight=600)
    inside = _Box(box.x + 10, box.y + 30, box.width - 20, box.height - 38)
    if not any(line.points for line in lines):
        idle = panel["fieldConfig"]["defaults"].get("noValue", "No data")
        yield _text(box.x + box.width / 2, box.y + box.height / 2 + 8, idle, size=14, colour=_SOFT, anchor="middle")
    elif panel["type"] == "timeseries":
        yield from _timeseries(panel, inside, lines, shown)
    elif panel["type"] == "stat":
        yield from _stat(panel, inside, lines, shown)
    else:
        yield from _table(inside, lines)
    yield "</g>"


# --- Lines over time --------------------------------------------------------------------------------------------------


def _timeseries(panel: Mapping[str, Any], box: _Box, lines: Sequence[Line], shown: Shown) -> Iterator[str]:
    defaults = panel["fieldConfig"]["defaults"]
    coloured = [(line, _LINES[nth % len(_LINES)]) for nth, line in enumerate(lines)]
    legend, legend_height = _legend(box, coloured)
    stacked = defaults["custom"]["stacking"]["mode"] == "normal"
    # (lower edge, upper edge) of each: a stack stands on the ones before it.
    edges = _stack(lines) if stacked else [([(at, 0.0) for at, _ in line.points], line.points) for line in lines]
    values = [value for _, upper in edges for _, value in upper]
    low = min(values) if "min" not in defaults else defaults["min"]
    ticks = scale(min(low, *values), max(values), defaults["unit"])
    margin = 10 + _LETTER * max(len(show(tick, defaults["unit"])) for tick in ticks)
    plot = _Box(box.x + margin, box.y + 4, box.width - margin - 6, box.height - legend_height - 22)

    def across(at: float) -> float:
        return plot.x + (at - shown.since) / (shown.until - shown.since) * plot.width

    def up(value: float) -> float:
        return plot.y + plot.height - (value - ticks[0]) / (ticks[-1] - ticks[0]) * plot.height

    for tick in ticks:
        yield _rule(plot.x, up(tick), plot.x + plot.width, up(tick), _FAINT)
        yield _text(plot.x - 6, up(tick) + 4, show(tick, defaults["unit"]), colour=_SOFT, anchor="end")
    for moment in _moments(shown, plot.width):
        if across(moment) > plot.x + plot.width - 24:
            continue  # it would stand over the edge
        clock = f"{datetime.fromtimestamp(moment, UTC):%H:%M:%S}"
        yield _text(across(moment), plot.y + plot.height + 15, clock, colour=_SOFT, anchor="middle")
    for mark in shown.marks:
        at, colour = across(mark.at), _COLOURS[mark.colour]
        yield f"<g><title>{escape(mark.text)}</title>"
        yield _rule(at, plot.y, at, plot.y + plot.height, colour, dash="3 3")
        yield f'<path d="M{at - 4:.1f} {plot.y + plot.height + 4:.1f}h8l-4 -5z" fill="{colour}"/></g>'
    if defaults["custom"]["thresholdsStyle"]["mode"] != "off":
        for step in defaults["thresholds"]["steps"]:
            if step["value"] is not None and ticks[0] < step["value"] <= ticks[-1]:
                height = up(step["value"])
                yield _rule(plot.x, height, plot.x + plot.width, height, _COLOURS[step["color"]], dash="6 4", width=1.2)
    opacity = 0.35 if stacked else 0.06
    for (line, colour), (lower, upper) in zip(coloured, edges, strict=True):
        yield f"<g><title>{escape(line.name)}</title>"
        for first, last in _unbroken(upper, shown.step):
            top = [(across(at), up(value)) for at, value in upper[first:last]]
            floor = [(across(at), up(max(value, ticks[0]))) for at, value in lower[first:last]]
            if any(value for _, value in line.points[first:last]):
                area = _path(top) + "L" + _path(list(reversed(floor)))[1:] + "Z"
                yield f'<path d="{area}" fill="{colour}" fill-opacity="{opacity}"/>'
            yield f'<path d="{_path(top)}" fill="none" stroke="{colour}" stroke-width="1.4"/>'
        yield "</g>"
    yield from legend


def _stack(lines: Sequence[Line]) -> list[tuple[Sequence[Point], Sequence[Point]]]:
    stand: dict[float, float] = {}
    edges: list[tuple[Sequence[Point], Sequence[Point]]] = []
    for line in lines:
        lower = [(at, stand.get(at, 0.0)) for at, _ in line.points]
        stand |= {at: below + value for (at, below), (_, value) in zip(lower, line.points, strict=True)}
        edges.append((lower, [(at, stand[at]) for at, _ in line.points]))
    return edges


def _unbroken(points: Sequence[Point], step: float) -> Iterator[tuple[int, int]]:
    """Where points follow one another without a gap: from which to before which."""
    first = 0
    for nth in range(1, len(points) + 1):
        if nth == len(points) or points[nth][0] - points[nth - 1][0] > 1.5 * step:
            yield first, nth
            first = nth


def _path(points: Sequence[Point]) -> str:
    """A line through all, without those that lie on the way from one to the next at the same height."""
    kept = [
        point
        for nth, point in enumerate(points)
        if nth in (0, len(points) - 1) or not points[nth - 1][1] == point[1] == points[nth + 1][1]
    ]
    if len(kept) == 1:
        kept = [kept[0], (kept[0][0] + 2, kept[0][1])]
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in kept)


def _moments(shown: Shown, width: float) -> Iterator[float]:
    """Round moments for the axis, as many as fit."""
    rough = (shown.until - shown.since) / max(width / 90, 1)
    step = next((each for each in (5, 10, 15, 30, 60, 120, 300, 600, 1800) if each >= rough), 3600)
    moment = (shown.since // step + 1) * step
    while moment < shown.until:
        yield moment
        moment += step


def _legend(box: _Box, coloured: Sequence[tuple[Line, str]]) -> tuple[list[str], float]:
    """The legend at the bottom of a box, in as many lines as it takes, and its height; what does not fit is counted.

    What was 0 all the time comes last.
    """
    coloured = sorted(coloured, key=lambda one: not any(value for _, value in one[0].points))
    rows: list[list[tuple[float, str, str]]] = [[]]
    at = 0.0
    for nth, (line, colour) in enumerate(coloured):
        takes = 30 + _LETTER * len(line.name)
        is_last_row = len(rows) == _LEGEND_MOST
        if at + takes > box.width - (_MORE if is_last_row and nth < len(coloured) - 1 else 0) and rows[-1]:
            if is_last_row:
                rows[-1].append((at, _PAPER, f"and {len(coloured) - nth} more"))
                break
            rows.append([])
            at = 0.0
        rows[-1].append((at, colour, line.name))
        at += takes
    height = _LEGEND_LINE * len(rows)
    drawn = []
    for number, row in enumerate(rows):
        y = box.y + box.height - height + _LEGEND_LINE * number + 10
        for x, colour, name in row:
            drawn.append(f'<rect x="{box.x + x:.1f}" y="{y - 4:.1f}" width="14" height="3" fill="{colour}"/>')
            drawn.append(_text(box.x + x + 19, y, name))
    return drawn, height


# --- One figure, and tables -------------------------------------------------------------------------------------------


def _stat(panel: Mapping[str, Any], box: _Box, lines: Sequence[Line], shown: Shown) -> Iterator[str]:
    defaults = panel["fieldConfig"]["defaults"]
    told = [line for line in lines if line.points]
    each = box.width / len(told)
    for nth, line in enumerate(told):
        last = line.points[-1][1]
        colour = _threshold(defaults, last) or _LINES[nth % len(_LINES)]
        place = _Box(box.x + nth * each, box.y, each - 8, box.height)
        yield from _spark(place, line, colour, shown)
        middle = place.x + place.width / 2
        size = 30 if len(told) == 1 else 24
        yield _text(
            middle, box.y + box.height * 0.5, show(last, defaults["unit"]), size=size, colour=colour, anchor="middle",
            weight=600,
        )  # fmt: skip
        if len(told) > 1:
            yield _text(middle, box.y + box.height * 0.5 - 28, line.name, size=12, colour=_SOFT, anchor="middle")


def _threshold(defaults: Mapping[str, Any], value: float) -> str | None:
    if "thresholds" not in defaults:
        return None
    passed = [step for step in defaults["thresholds"]["steps"] if step["value"] is None or value >= step["value"]]
    return _COLOURS[passed[-1]["color"]]


def _spark(box: _Box, line: Line, colour: str, shown: Shown) -> Iterator[str]:
    top = max(max(value for _, value in line.points), 1e-12)
    floor, height = box.y + box.height, box.height * 0.32
    points = [
        (
            box.x + (at - shown.since) / (shown.until - shown.since) * box.width,
            floor - max(value, 0.0) / top * height,
        )
        for at, value in line.points
    ]
    area = f"{_path(points)}L{points[-1][0]:.1f} {floor:.1f}L{points[0][0]:.1f} {floor:.1f}Z"
    yield f'<path d="{area}" fill="{colour}" fill-opacity="0.14"/>'
    yield f'<path d="{_path(points)}" fill="none" stroke="{colour}" stroke-opacity="0.5"/>'


def _table(box: _Box, lines: Sequence[Line]) -> Iterator[str]:
    columns = sorted({label for line in lines for label in line.labels})
    for nth, column in enumerate([*columns, "Value"]):
        x = box.x + nth * box.width / (len(columns) + 1)
        yield _text(x, box.y + 16, column, size=12, weight=600)
        for number, line in enumerate(lines):
            value = show(line.points[-1][1], "short") if column == "Value" else line.labels.get(column, "")
            yield _text(x, box.y + 38 + 20 * number, value, size=12)
    yield _rule(box.x, box.y + 22, box.x + box.width, box.y + 22, _FAINT)


# --- Strokes ----------------------------------------------------------------------------------------------------------


def _text(
    x: float, y: float, text: str, *, size: int = 11, colour: str = _INK, anchor: str = "start", weight: int = 400
) -> str:
    more = ("" if anchor == "start" else f' text-anchor="{anchor}"') + (
        "" if weight == 400 else f' font-weight="{weight}"'
    )
    fill = "" if colour == _INK else f' fill="{colour}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}"{fill}{more}>{escape(text)}</text>'


def _rule(x1: float, y1: float, x2: float, y2: float, colour: str, *, dash: str = "", width: float = 1.0) -> str:
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width:g}"'
        f"{dashed}/>"
    )
