"""SVG plots: bars and lines over days or months, with axes and a text alternative, without scripts.

The style sheet gives the colours: classes `s1`, `s2`, ... for bars, `l1`, ... for lines, `grid` for the background. A
page shows the plot's numbers in a table beside it (macro `plots.figure`).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

_WIDTH, _HEIGHT = 680, 280
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 24, 40, 44
_TICKS = 4
_MAX_LABELS = 10
#: Of a letter of an axis, about: for where text would run into text.
_LETTER = 6.6

_SHAPES = {
    "dot": Markup('<circle cx="{}" cy="{}" r="2.5" class="s{}" fill="currentColor"/>'),
    "line": Markup(
        '<polyline points="{}" class="l{}" fill="none" stroke="currentColor" stroke-width="2" '
        'stroke-linejoin="round" stroke-dasharray="{}"/>'
    ),
    "plot": Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" '
        'aria-labelledby="{name}-t {name}-d" font-family="system-ui,sans-serif" font-size="12" '
        'fill="currentColor"><title id="{name}-t">{title}</title><desc id="{name}-d">{text}</desc>'
        "{legend}{grid}{inside}{labels}</svg>"
    ),
    "key": Markup(
        '<rect x="{}" y="8" width="12" height="12" class="s{}" fill="currentColor"/><text x="{}" y="18">{}</text>'
    ),
    "label": Markup('<text x="{}" y="{}" text-anchor="middle">{}</text>'),
    "tick": Markup(
        '<line x1="{}" x2="{}" y1="{}" y2="{}" class="grid" stroke="currentColor" stroke-opacity="0.18"/>'
        '<text x="{}" y="{}" text-anchor="end" dominant-baseline="middle">{}</text>'
    ),
}


@dataclass(frozen=True, slots=True)
class Series:
    """Values in a row, one for each label; None where there is none."""

    name: str
    values: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Plot:
    """Data of a plot. `name` is unique on its page: letters and dashes."""

    name: str
    title: str
    description: str
    labels: Sequence[str]
    series: Sequence[Series]

    def bars(self) -> Markup:
        """Draw bars, the series upon each other."""
        tops = [sum(one.values[at] or 0 for one in self.series) for at in range(len(self.labels))]
        scale = _Scale(max(tops, default=0), len(self.labels))
        drawn = [bar for at in range(len(self.labels)) for bar in self._bars_of(scale, at)]
        return self._drawn(scale, Markup("".join(drawn)))  # noqa: S704  (numbers, and words that are escaped)

    def lines(self) -> Markup:
        """Draw lines, one for each series, broken where there is no value."""
        known = [value for one in self.series for value in one.values if value is not None]
        scale = _Scale(max(known, default=0), len(self.labels))
        return self._drawn(
            scale, Markup("").join(self._line(scale, number, one) for number, one in enumerate(self.series))
        )

    def _bars_of(self, scale: "_Scale", at: int) -> Iterator[str]:
        """The bars of a day, as text: there are hundreds, and escaping each number takes the page's time."""
        below, left, width = 0.0, _short(scale.x(at) - scale.bar / 2), _short(scale.bar)
        for number, one in enumerate(self.series):
            value = one.values[at]
            if not value:
                continue
            top, bottom = scale.y(below + value), scale.y(below)
            title = escape(f"{self.labels[at]}: {one.name} {_figure(value)}")
            yield (
                f'<rect x="{left}" y="{_short(top)}" width="{width}" height="{_short(max(bottom - top, 0.5))}"'
                f' class="s{number + 1}" fill="currentColor"><title>{title}</title></rect>'
            )
            below += value

    def _line(self, scale: "_Scale", number: int, one: Series) -> Markup:
        pieces: list[list[str]] = [[]]
        for at, value in enumerate(one.values):
            if value is None:
                pieces.append([])
            else:
                pieces[-1].append(f"{_short(scale.x(at))},{_short(scale.y(value))}")
        drawn = Markup("")
        for points in pieces:
            if len(points) == 1:
                x, _, y = points[0].partition(",")
                drawn += _SHAPES["dot"].format(x, y, number + 1)
            elif points:
                drawn += _SHAPES["line"].format(" ".join(points), number + 1, "none" if number == 0 else "6 4")
        return drawn

    def _drawn(self, scale: "_Scale", inside: Markup) -> Markup:
        return _SHAPES["plot"].format(
            w=_WIDTH,
            h=_HEIGHT,
            name=self.name,
            title=self.title,
            text=self.description,
            legend=self._legend(),
            grid=scale.grid(),
            inside=inside,
            labels=self._labels(scale),
        )

    def _legend(self) -> Markup:
        drawn, x = Markup(""), float(_LEFT)
        for number, one in enumerate(self.series):
            drawn += _SHAPES["key"].format(_short(x), number + 1, _short(x + 17), one.name)
            x += 17 + len(one.name) * _LETTER + 16
        return drawn

    def _labels(self, scale: "_Scale") -> Markup:
        """As many labels as have room, the last one among them."""
        longest = max((len(label) for label in self.labels), default=1) * _LETTER + 12
        fitting = max(1, min(_MAX_LABELS, int((_WIDTH - _LEFT - _RIGHT) / longest)))
        step = max(1, math.ceil(len(self.labels) / fitting))
        drawn = Markup("")
        for at in range(len(self.labels) - 1, -1, -step):
            drawn += _SHAPES["label"].format(_short(scale.x(at)), _HEIGHT - _BOTTOM + 20, self.labels[at])
        return drawn


class _Scale:
    """Where values and labels are."""

    def __init__(self, largest: float, many: int) -> None:
        self.step = _round_step(largest / _TICKS)
        self.top = self.step * max(1, math.ceil(largest / self.step))
        self._slot = (_WIDTH - _LEFT - _RIGHT) / max(many, 1)
        self.bar = min(self._slot * 0.75, 48)

    def x(self, at: int) -> float:
        return _LEFT + self._slot * (at + 0.5)

    def y(self, value: float) -> float:
        return _HEIGHT - _BOTTOM - (_HEIGHT - _BOTTOM - _TOP) * value / self.top

    def grid(self) -> Markup:
        """Return the horizontal grid lines with their labels."""
        drawn = Markup("")
        for tick in range(round(self.top / self.step) + 1):
            y = _short(self.y(tick * self.step))
            drawn += _SHAPES["tick"].format(_LEFT, _WIDTH - _RIGHT, y, y, _LEFT - 8, y, _figure(tick * self.step))
        return drawn


def _round_step(step: float) -> float:
    """Return the next 1, 2 or 5 with zeros; whole numbers, since counts are whole."""
    if step <= 1:
        return 1.0
    power = 10.0 ** math.floor(math.log10(step))
    return next(power * nice for nice in (1, 2, 5, 10) if step <= power * nice)


def _short(value: float) -> str:
    return f"{value:.1f}"


def _figure(value: float) -> str:
    return str(escape(f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"))
