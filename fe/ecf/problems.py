"""Problems of a document, with a fix for people and a code for programs."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from fe.ecf.parse import excerpt
from fe.ecf.texts import Text

FOUND_LIMIT = 64
#: A megabyte of rubbish can break the format in 340,000 places; this many are reported.
MAX_PROBLEMS = 1000


class Severity(StrEnum):
    """The authority's treatment of a document that has the problem (authority.md#messages and #arithmetic)."""

    REJECTED = "rejected"
    #: "Aceptado Condicional": valid, with remarks.
    CONDITIONAL = "conditional"


@dataclass(frozen=True, slots=True)
class Repair:
    """A change to a structured payload that removes the problem, for programs; paths are those of problems.

    `set` the value at `path` (missing groups on the way are made), `rename` the content at `path` to the path `to`
    (maybe in another group), or `remove` it. A `certain` repair loses nothing and has no second reading: programs may
    apply it. Any other is a proposal, or an example of the wanted form: a person decides.
    """

    op: Literal["set", "rename", "remove"]
    path: str
    value: Any = None
    to: str | None = None
    certain: bool = True


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, and where.

    `code` is stable and meant for programs; the texts may be reworded. `path` starts below the root element and counts
    items from 1: `DetallesItems.Item[3].MontoItem`. `line` is that of the XML, where there is one, and `column` that of
    finished XML that cannot be signed as it stands.
    """

    code: str
    path: str
    message: str
    message_es: str
    line: int | None = None
    found: str | None = None
    expected: str | None = None
    fix: str | None = None
    fix_es: str | None = None
    severity: Severity = Severity.REJECTED
    column: int | None = None
    #: The codes that the value may be, or of a long list those that are alike.
    allowed: tuple[str, ...] = ()
    repair: Repair | None = None
    #: `expected` in Spanish.
    expected_es: str | None = None

    @property
    def text(self) -> Text:
        """The message, after its path."""
        said = Text(self.message, self.message_es)
        return said.after(self.path) if self.path else said


class Enough(Exception):
    """The limit of problems is reached: stop looking, and report that there are more."""


#: Names and values for which an intended one is searched; each search takes a millisecond.
MAX_GUESSES = 20


@dataclass(slots=True)
class Room:
    """Limits on problems of one request, shared by its documents.

    `guesses` bounds searches for the intended name or value, `problems` how many problems are reported. Each document
    reports at least one.
    """

    guesses: int = MAX_GUESSES
    problems: int = MAX_PROBLEMS

    def guess(self) -> bool:
        """Whether there is room for another guess, which then is taken."""
        self.guesses -= 1
        return self.guesses >= 0


class Findings(list[Problem]):
    """The problems found so far of one document, in the room that its request has left."""

    def __init__(self, room: Room | None = None) -> None:
        super().__init__()
        self.room = Room() if room is None else room
        self._most = max(self.room.problems, 1)

    def add(self, *problems: Problem) -> None:
        """Take note of problems; raises Enough when there is no room for another."""
        self.add_all(problems)

    def add_all(self, problems: Iterable[Problem]) -> None:
        """Take note of problems; raises Enough when there is no room for another."""
        for problem in problems:
            if len(self) >= self._most:
                raise Enough
            self.append(problem)
            self.room.problems -= 1


def serialize_problem(problem: Problem) -> dict[str, Any]:
    """Write a problem as clients read it, in every answer that has one; what does not apply is left out."""
    fields = {
        "code": problem.code,
        "path": problem.path,
        "message": problem.message,
        "messageEs": problem.message_es,
        "severity": problem.severity.value,
        "line": problem.line,
        "column": problem.column,
        "found": problem.found,
        "expected": problem.expected,
        "expectedEs": problem.expected_es if problem.expected_es is not None else problem.expected,
        "fix": problem.fix,
        "fixEs": problem.fix_es,
        "allowed": list(problem.allowed) or None,
        "repair": _serialize_repair(problem.repair),
    }
    return {name: value for name, value in fields.items() if value is not None}


def _serialize_repair(repair: Repair | None) -> dict[str, Any] | None:
    if repair is None:
        return None
    fields = {"op": repair.op, "path": repair.path, "value": repair.value, "to": repair.to, "certain": repair.certain}
    return {name: value for name, value in fields.items() if value is not None}


def show(value: object) -> str:
    """`value` for the `found` of a problem: at most 64 characters, printable."""
    return excerpt(str(value), FOUND_LIMIT)
