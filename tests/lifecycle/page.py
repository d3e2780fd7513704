"""`python -m tests.lifecycle.page`: write anew the part of docs/api/states.md that is made from fe/lifecycle.py."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from fe.lifecycle import MOVES, TABLE, EventKind, Place, Transition

PAGE = Path(__file__).resolve().parents[2] / "docs" / "api" / "states.md"
BEGIN = "<!-- made from fe/lifecycle.py by python -m tests.lifecycle.page -->\n"
END = "<!-- end of what is made -->\n"


def made() -> str:
    """The diagram, the events and the table of transitions, as Markdown."""
    return "\n".join([*_diagram(), "", *_events(), "", *_transitions(), ""])


def renewed(page: str) -> str:
    """The page with its made part as it should be."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    assert begin, f"no line {BEGIN}"
    assert end, f"no line {END}"
    return f"{before}{BEGIN}\n{made()}\n{END}{after}"


def _diagram() -> Iterator[str]:
    """Where a submission goes, by the events that take it there."""
    edges: dict[tuple[Place, Place], dict[str, None]] = defaultdict(dict)
    for move in MOVES:
        if move.to is not move.before and move.event is not None:
            edges[move.before, move.to][move.event] = None
    yield "```mermaid"
    yield "stateDiagram-v2"
    for (before, to), events in edges.items():
        yield f"    {_node(before)} --> {_node(to)}: {', '.join(events)}"
    yield "```"


def _node(place: Place) -> str:
    return "[*]" if place in (Place.NEW, Place.ENDED) else place.value


def _events() -> Iterator[str]:
    lines = [(f"`{kind}`", kind.meaning) for kind in EventKind]
    yield from _table(("Event", "Meaning"), lines)


def _transitions() -> Iterator[str]:
    lines = [_line(transition) for transition in TABLE]
    yield from _table(("From", "What comes of it", "To", "`status`", "`numberFate`", "Event"), lines)


def _line(line: Transition) -> tuple[str, ...]:
    return (
        ", ".join(line.before),
        line.outcome,
        ", ".join(line.to) if line.to else "stays",
        f"`{line.status}`" if line.status else "—",
        _either(line.fate),
        f"`{line.event}`" if line.event else "—",
    )


def _either(values: Iterable[str] | None) -> str:
    return " or ".join(f"`{value}`" for value in values) if values else "—"


def _table(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{' --- |' * len(heads)}"
    for line in lines:
        yield f"| {' | '.join(line)} |"


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
