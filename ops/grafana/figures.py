"""Values as Grafana writes them, by its names of units; and the round values of a scale."""

import math
from collections.abc import Sequence

_SECONDS = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
_BINARY = ((1024.0**3, "GiB"), (1024.0**2, "MiB"), (1024.0, "KiB"), (1.0, "B"))
_DECIMAL = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
#: Unit of a plain number.
_SUFFIX = {"reqps": " req/s", "ops": " ops/s"}


def show(value: float, unit: str) -> str:
    """A value in words: `250 ms`, `1.5 MiB`, `12 %`, `3.4 req/s`."""
    if value == 0:
        return "0"
    if unit == "percentunit":
        return f"{_digits(value * 100)} %"
    if unit in ("s", "bytes", "Bps"):
        names = _SECONDS if unit == "s" else _BINARY
        size, name = next((one for one in names if abs(value) >= one[0]), names[-1])
        return f"{_digits(value / size)} {name}{'/s' if unit == 'Bps' else ''}"
    for size, name in _DECIMAL:
        if abs(value) >= size:
            return f"{_digits(value / size)}{name}{_SUFFIX.get(unit, '')}"
    return f"{_digits(value)}{_SUFFIX.get(unit, '')}"


def _digits(value: float) -> str:
    """Three digits that count, no more than are there."""
    if value == 0 or abs(value) < 1e-9:
        return "0"
    places = max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def scale(low: float, high: float, unit: str) -> Sequence[float]:
    """Three to six round values that hold `low` and `high` between them."""
    if high <= low:
        high = low + (0.01 if unit == "percentunit" else 1.0)
    base = 1.0
    if unit in ("bytes", "Bps") and high - low >= 1:
        base = 1024.0 ** math.floor(math.log(high - low, 1024))
    elif unit == "s":
        base = next((size for size, _ in _SECONDS if size >= 60 and high - low >= 2 * size), 1.0)
    rough = (high - low) / base / 4
    size = 10.0 ** math.floor(math.log10(rough))
    step = base * next(size * each for each in (1, 2, 5, 10) if size * each >= rough - 1e-12)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [number * step for number in range(first, last + 1)]
