"""Output of the demonstration: steps with durations, a table, and the life of one receipt."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from fe.integrator.demo.client import DemoOutcome
from fe.lifecycle import EventKind
from fe.store.records.submissions import Event

_GOOD, _BAD, _DIM = "green", "red", "dim"
#: Fields that both sides of a receipt share.
_SAME = ("number", "sha256 of the document", "approvalStatus")


@dataclass(frozen=True, slots=True)
class TableRow:
    """One receipt as a row of the table."""

    title: str
    format: str
    e_ncf: str
    status: str
    seconds: float
    verified: str
    as_expected: bool


class Count:
    """Counts receipts done, and reports the count."""

    def __init__(self, tell: Callable[[int], None]) -> None:
        self._tell = tell
        self._done = 0

    def one_more(self) -> None:
        """One more is done."""
        self._done += 1
        self._tell(self._done)


class Show:
    """Prints to a terminal with colours and progress, or plainly to anything else."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(highlight=False)

    def heading(self, text: str) -> None:
        """Begin a new part."""
        self._console.print(f"\n[bold]{escape(text)}[/bold]")

    def line(self, text: str = "") -> None:
        """Print a line as it is: never wrapped, so that it can be copied."""
        self._console.print(Text(text), soft_wrap=True)

    @contextmanager
    def step(self, text: str) -> Iterator[None]:
        """Show that something is going on, and how long it took."""
        started = monotonic()
        with self._console.status(f"{escape(text)} ..."):
            yield
        self._done(text, monotonic() - started)

    @contextmanager
    def counting(self, text: str, total: int) -> Iterator[Count]:
        """Show how many of `total` are done."""
        started = monotonic()
        with self._console.status(f"{escape(text)} ...") as status:
            yield Count(lambda done: status.update(f"{escape(text)}: {done} of {total} ..."))
        self._done(text, monotonic() - started)

    def _done(self, text: str, seconds: float) -> None:
        self._console.print(f"  [green]✓[/green] {escape(text)} [dim]{_duration(seconds)}[/dim]", soft_wrap=True)

    def results(self, rows: Sequence[TableRow]) -> None:
        """Print the table of receipts."""
        lines = [[Text(name, _DIM) for name in ("receipt", "as", "number", "verdict", "after", "signed XML")]]
        for row in rows:
            style = _GOOD if row.as_expected else _BAD
            cells = (row.title, row.format, row.e_ncf)
            lines.append(
                [*map(Text, cells), Text(row.status, style), Text(f"{row.seconds:.1f} s"), Text(row.verified, style)]
            )
        self._columns(lines)

    def life(self, outcome: DemoOutcome, events: Sequence[Event]) -> None:
        """Print the life of a receipt as a timeline: each line's moment, and how long after the line before it was."""
        lived = [(outcome.posted_at, "client", "POST /invoices", "")]
        lived += [(e.at, "service", EventKind(e.kind).meaning, _detail(e)) for e in events]
        lived.append((outcome.answered_at, "client", "202: it has a taxLogId", ""))
        lived.append((outcome.decided_at, "client", "sees the verdict", ""))
        lived.sort(key=lambda line: line[0])
        lines = []
        before = outcome.posted_at
        for at, who, what, detail in lived:
            since, gap = _milliseconds(at - outcome.posted_at), _milliseconds(at - before)
            lines.append(
                [Text(f"{since:>5} ms"), Text(f"{'+' + gap:>5}", _DIM), Text(who, _DIM), Text(what), Text(detail, _DIM)]
            )
            before = at
        self._columns(lines)

    def both_sides(self, sides: tuple[str, str], rows: Sequence[tuple[str, str, str]]) -> None:
        """Print both sides' data side by side, and mark differences."""
        lines = [[Text("", _DIM), *(Text(side, _DIM) for side in sides)]]
        for name, one, other in rows:
            style = _BAD if name in _SAME and one != other else _GOOD
            lines.append([Text(name, _DIM), Text(one, style), Text(other, style)])
        self._columns(lines)

    def _columns(self, lines: Sequence[Sequence[Text]]) -> None:
        """Print cells as lines, untruncated; the terminal wraps them."""
        widths = [max(cell.cell_len for cell in column) for column in zip(*lines, strict=True)]
        for line in lines:
            text = Text("  ")
            for cell, width in zip(line, widths, strict=True):
                text.append_text(cell)
                text.append(" " * (width - cell.cell_len + 2))
            text.rstrip()
            self._console.print(text, soft_wrap=True)


def _duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"


def _milliseconds(gap: timedelta) -> str:
    return f"{gap.total_seconds() * 1000:.0f}"


def _detail(event: Event) -> str:
    """Select the interesting part of an event's detail."""
    detail = event.detail
    shown = [str(detail[name]) for name in ("eNCF", "status", "error") if detail.get(name)]
    if track_id := detail.get("trackId"):
        shown.append(f"trackId {track_id}")
    if code := detail.get("securityCode"):
        shown.append(f"security code {code}")
    if digest := detail.get("sha256"):
        shown.append(f"sha256 {str(digest)[:8]}")
    return ", ".join(shown)
