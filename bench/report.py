"""Results of a benchmark in one form: ratios first, with the machine they were measured on.

    with Report("accept", dsn) as report:
        rates = in_turn({"front": measure_front, "fastapi": measure_fastapi}, rounds=3)
        report.figure("front", "accepted/s", rates["front"])
        report.figure("fastapi", "accepted/s", rates["fastapi"])
        report.ratio("accepted/s, front : fastapi", rates["front"], rates["fastapi"], at_least=2.0)

At the end of the block the result is printed and written to bench/results/NAME.json (`FE_BENCH_RESULTS` names another
folder), also when the block was interrupted (Ctrl-C): then it says so. When the block fails, no result is written.
"""

import json
import os
import platform
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Self, TypeVar

T = TypeVar("T")

ROOT = Path(__file__).resolve().parent.parent
#: Settings of a server that decide its speed.
_POSTGRES_SETTINGS = (
    "autovacuum",
    "checkpoint_timeout",
    "data_checksums",
    "fsync",
    "full_page_writes",
    "jit",
    "max_connections",
    "max_wal_size",
    "shared_buffers",
    "synchronous_commit",
    "wal_compression",
    "wal_level",
)


@dataclass(frozen=True, slots=True)
class Spread:
    """Values of one thing, measured again and again: the middle one, the lowest and the highest."""

    median: float
    lowest: float
    highest: float
    rounds: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Self:
        """Raises ValueError when there is none."""
        if not values:
            raise ValueError("nothing was measured")
        return cls(statistics.median(values), min(values), max(values), len(values))

    def __str__(self) -> str:
        if self.rounds == 1:
            return number(self.median)
        return f"{number(self.median)} ({number(self.lowest)} to {number(self.highest)})"


@dataclass(frozen=True, slots=True)
class Ratio:
    """Two things of the same round, one divided by the other; `holds` is None where no target was set."""

    name: str
    value: Spread
    at_least: float | None = None
    at_most: float | None = None

    @property
    def holds(self) -> bool | None:
        """Whether the median reaches its target."""
        if self.at_least is None and self.at_most is None:
            return None
        low = self.at_least is None or self.value.median >= self.at_least
        return low and (self.at_most is None or self.value.median <= self.at_most)


@dataclass(frozen=True, slots=True)
class Figure:
    """Measurement of one competitor, in `unit`."""

    of: str
    unit: str
    value: Spread


@dataclass(frozen=True, slots=True)
class Series:
    """Points of some lines over one axis: what a plot is drawn from (bench/plots.py)."""

    title: str
    x: str
    y: str
    lines: dict[str, list[tuple[float, float]]]
    logarithmic: bool = False


@dataclass(frozen=True, slots=True)
class Machine:
    """Where it was measured. Loads are the average of the minute before and at the end."""

    cores: int
    usable_cores: int
    model: str
    memory_gib: float
    system: str
    python: str
    commit: str
    changed_since: bool
    load_before: float
    load_after: float
    postgres: str
    postgres_settings: dict[str, str]


def line_by_line(said: Mapping[str, Any]) -> str:
    """Write an object as JSON, each member and each element of a list in it on a line of its own."""
    members = []
    for name, value in said.items():
        text = json.dumps(value, ensure_ascii=False)
        if isinstance(value, list) and value:
            text = "[\n  " + ",\n  ".join(json.dumps(each, ensure_ascii=False) for each in value) + "\n ]"
        members.append(f" {json.dumps(name)}: {text}")
    return "{\n" + ",\n".join(members) + "\n}\n"


@dataclass
class Report:
    """Collects what one benchmark finds. `dsn` is the server it runs on, if there is one and it is there already."""

    name: str
    dsn: str | None = None
    ratios: list[Ratio] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    series: list[Series] = field(default_factory=list)
    tables: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    _server: tuple[str, dict[str, str]] = ("", {})
    _load: float = 0.0
    _began: float = 0.0
    _at: datetime | None = None
    _heard_before: Any = signal.SIG_DFL

    def __enter__(self) -> Self:
        self._load, self._began, self._at = os.getloadavg()[0], time.perf_counter(), datetime.now(UTC)
        self._heard_before = signal.signal(signal.SIGINT, self._cut_off)
        if self.dsn is not None:
            self.server(self.dsn)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        signal.signal(signal.SIGINT, self._heard_before)
        if error is None:
            self.show()
            self.write()

    def _cut_off(self, number: int, frame: FrameType | None) -> None:
        """Write the results at once: the runner may kill a benchmark that is cut off before it ends."""
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self.skip("the rest", "it was cut off")
        if self.ratios or self.figures:
            self.show()
            self.write()
        raise KeyboardInterrupt

    # --- what was found ------------------------------------------------------------------------------------------

    def server(self, dsn: str) -> None:
        """Note which Postgres this is, and its settings."""
        self._server = postgres_facts(dsn)

    def figure(self, of: str, unit: str, values: Sequence[float] | float) -> None:
        """Note what one of those compared did in each round."""
        self.figures.append(Figure(of, unit, Spread.of(_many(values))))

    def ratio(
        self,
        name: str,
        over: Sequence[float] | float,
        under: Sequence[float] | float,
        *,
        at_least: float | None = None,
        at_most: float | None = None,
    ) -> None:
        """Note how many times `under` goes into `over`: round by round where both have the same rounds."""
        above, below = _many(over), _many(under)
        if len(above) != len(below):
            above, below = [statistics.median(above)], [statistics.median(below)]
        pairs = [a / b for a, b in zip(above, below, strict=True)]
        self.ratios.append(Ratio(name, Spread.of(pairs), at_least, at_most))

    def posts(self, alone: Sequence[float], beside: Sequence[float], what: str) -> None:
        """Add percentiles of all POSTs alone and beside other work, in milliseconds, and their ratios."""
        for percent in (50, 90, 99):
            of_alone, of_beside = (sorted(taken)[len(taken) * percent // 100] for taken in (alone, beside))
            self.figure(f"p{percent} of {len(alone)} POSTs without {what}", "ms", of_alone)
            self.figure(f"p{percent} of {len(beside)} POSTs beside {what}", "ms", of_beside)
            self.ratio(f"p{percent} of a POST, beside {what} / without", of_beside, of_alone)

    def plot(
        self,
        title: str,
        x: str,
        y: str,
        lines: Mapping[str, Sequence[tuple[float, float]]],
        *,
        logarithmic: bool = False,
    ) -> None:
        """Note what is to be drawn; `logarithmic` is the x axis."""
        self.series.append(Series(title, x, y, {name: list(points) for name, points in lines.items()}, logarithmic))

    def table(self, title: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Note rows of the same columns, such as statements by their number or a profile."""
        self.tables[title] = [dict(row) for row in rows]

    def note(self, text: str) -> None:
        """Say what a reader has to know to read the figures aright."""
        self.notes.append(text)

    def skip(self, what: str, why: str) -> None:
        """Say loudly what was not measured."""
        self.skipped.append(f"{what}: {why}")
        print(f"SKIPPED {what}: {why}", file=sys.stderr, flush=True)

    # --- what becomes of it --------------------------------------------------------------------------------------

    @property
    def missed(self) -> list[Ratio]:
        """Those ratios that are not what they should be."""
        return [ratio for ratio in self.ratios if ratio.holds is False]

    def as_json(self) -> dict[str, Any]:
        """The whole, ratios first."""
        assert self._at is not None, "a report is a context manager"
        return {
            "name": self.name,
            "ratios": [{**asdict(ratio), "holds": ratio.holds} for ratio in self.ratios],
            "figures": [asdict(figure) for figure in self.figures],
            "tables": self.tables,
            "series": [asdict(series) for series in self.series],
            "notes": self.notes,
            "skipped": self.skipped,
            "command": " ".join(["python -m", _module(), *sys.argv[1:]]),
            "taken_at": self._at.isoformat(timespec="seconds"),
            "seconds": round(time.perf_counter() - self._began, 1),
            "machine": asdict(machine_facts(self._load, self._server)),
        }

    def write(self) -> Path:
        """Write bench/results/NAME.json; return where it is."""
        folder = Path(os.environ.get("FE_BENCH_RESULTS", ROOT / "bench" / "results"))
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}.json"
        path.write_text(line_by_line(self.as_json()), encoding="utf-8")
        return path

    def show(self) -> None:
        """Print it: ratios, figures, tables."""
        print(f"\n== {self.name}   (load {self._load:.1f} before, {os.getloadavg()[0]:.1f} after)")
        for ratio in self.ratios:
            print(f"  {ratio.name:<58} {ratio.value}{_verdict(ratio)}")
        for figure in self.figures:
            print(f"    {figure.of:<34} {figure.unit:<22} {figure.value}")
        for title, rows in self.tables.items():
            print(f"  {title}")
            show_table(rows)
        for text in self.notes:
            print(f"  note: {text}")
        for text in self.skipped:
            print(f"  SKIPPED {text}")
        sys.stdout.flush()


def in_turn(kinds: Mapping[str, Callable[[], T]], rounds: int) -> dict[str, list[T]]:
    """Measure each kind once a round, so that a slow while on the machine slows all kinds.

    Every second round runs in reverse order: the first in a round may find the machine warmer or cooler.
    """
    found: dict[str, list[T]] = {name: [] for name in kinds}
    for nth in range(rounds):
        for name in reversed(list(kinds)) if nth % 2 else list(kinds):
            found[name].append(kinds[name]())
    return found


# --- the machine --------------------------------------------------------------------------------------------------


def machine_facts(load_before: float, server: tuple[str, dict[str, str]] = ("", {})) -> Machine:
    """Return the facts of this machine and this tree."""
    version, settings = server
    return Machine(
        cores=os.cpu_count() or 1,
        usable_cores=len(os.sched_getaffinity(0)),
        model=_model(),
        memory_gib=round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        python=platform.python_version(),
        commit=_git("rev-parse", "--short=12", "HEAD"),
        changed_since=bool(_git("status", "--porcelain", "--untracked-files=no")),
        load_before=round(load_before, 2),
        load_after=round(os.getloadavg()[0], 2),
        postgres=version,
        postgres_settings=settings,
    )


def postgres_facts(dsn: str) -> tuple[str, dict[str, str]]:
    """A server's version, and those of its settings that decide how fast it is."""
    import psycopg  # here: what is measured may patch what a driver finds at import (fe/store/postgres)

    with psycopg.connect(dsn, autocommit=True) as conn:
        said = conn.execute("SHOW server_version").fetchone()
        rows = conn.execute(
            "SELECT name, current_setting(name) FROM pg_settings WHERE name = any(%s) ORDER BY name",
            [list(_POSTGRES_SETTINGS)],
        ).fetchall()
    return (said[0] if said else ""), dict(rows)


def _model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def _git(*words: str) -> str:
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def _module() -> str:
    """The module that was started, as one would start it again."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    return spec.name.removesuffix(".__main__") if spec is not None else Path(sys.argv[0]).name


# --- words --------------------------------------------------------------------------------------------------------


def _many(values: Sequence[float] | float) -> list[float]:
    return [float(values)] if isinstance(values, int | float) else [float(value) for value in values]


def number(value: float) -> str:
    """Three digits of it, and thousands with commas."""
    size = abs(value)
    return f"{value:,.0f}" if size >= 1000 else f"{value:.1f}" if size >= 100 else f"{value:.3g}"


def _verdict(ratio: Ratio) -> str:
    if ratio.holds is None:
        return ""
    wanted = f"at least {ratio.at_least:g}" if ratio.at_least is not None else f"at most {ratio.at_most:g}"
    return f"   {'holds' if ratio.holds else 'MISSED'}: {wanted}"


def show_table(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print rows of the same columns: numbers to the right, words to the left."""
    if not rows:
        return
    texts = [[_cell(row[column]) for column in rows[0]] for row in rows]
    widths = [max(len(column), *(len(text[nth]) for text in texts)) for nth, column in enumerate(rows[0])]
    right = [isinstance(value, int | float) for value in rows[0].values()]
    for cells in [list(rows[0]), *texts]:
        line = (
            cell.rjust(width) if flush else cell.ljust(width)
            for cell, width, flush in zip(cells, widths, right, strict=True)
        )
        print("    " + "  ".join(line).rstrip())


def _cell(value: Any) -> str:
    return number(value) if isinstance(value, float) else str(value)
