"""The judge of what is counted (I4): usage by day and billing by month, against a count of the events themselves."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.lifecycle import EventKind, Status
from tests.faults.history import Event, History, Submission, by_submission

Found = Iterator[tuple[str, str]]
Day = tuple[TenantId, str, date]

_ENDS = (EventKind.VERDICT, EventKind.ERROR, EventKind.DISCARDED)
_ANSWERS = (EventKind.RECEIVED, EventKind.VERDICT)
_VERDICTS = {Status.ACCEPTED: "accepted", Status.CONDITIONAL: "conditional", Status.REJECTED: "rejected"}
_BILLED = (Status.ACCEPTED, Status.CONDITIONAL)


@dataclass(frozen=True)
class _Life:
    """Counts of one submission, from its events."""

    row: Submission
    handed_in: datetime
    first_answer: datetime | None
    end: datetime | None
    #: None when there was none, or when it failed on our side.
    verdict: Status | None

    def on(self, moment: datetime) -> Day:
        """The day that a moment of it counts for."""
        return self.row.tenant_id, self.row.environment, moment.astimezone(UTC).date()


def counted_once(history: History) -> Found:
    """I4: an emission is counted once, with its latency, on its days and in its month; only what has ended is noted."""
    lives = [_life(row, events) for row, events in _with_events(history)]
    yield from _notes(history, lives)
    yield from _days(history, lives)
    yield from _months(history, lives)


def _with_events(history: History) -> Iterator[tuple[Submission, list[Event]]]:
    events_of = by_submission(history.database.events)
    for row in history.database.submissions:
        if events := events_of.get(row.submission_id):
            yield row, events  # one without events is I6's


def _life(row: Submission, events: list[Event]) -> _Life:
    ends = [event for event in events if event.kind in _ENDS]
    verdict = next((event for event in ends if event.kind == EventKind.VERDICT), None)
    return _Life(
        row,
        handed_in=events[0].at,
        first_answer=next((event.at for event in events if event.kind in _ANSWERS), None),
        end=ends[-1].at if ends else None,
        verdict=Status(verdict.detail["status"]) if verdict is not None else None,
    )


def _notes(history: History, lives: list[_Life]) -> Found:
    ended = {life.row.submission_id for life in lives if life.end is not None}
    for note in history.database.notes:
        if note.submission_id not in ended:
            yield str(note.submission_id), "it is noted as ended, and has not"


def _days(history: History, lives: list[_Life]) -> Found:
    """Expected days: ends that are folded, and submissions carried over a midnight."""
    noted = {note.submission_id for note in history.database.notes}
    carried = {each.submission_id: each.answered for each in history.database.carried}
    expected: dict[Day, Counter[str]] = defaultdict(Counter)
    for life in lives:
        subject = life.row.submission_id
        folded = life.end is not None and subject not in noted
        if folded or subject in carried:
            expected[life.on(life.handed_in)]["submitted"] += 1
        if life.first_answer is not None and (folded or carried.get(subject)):
            answered = expected[life.on(life.first_answer)]
            answered["answered"] += 1
            took = max(life.first_answer - life.handed_in, timedelta(0))
            answered["latency_us"] += took // timedelta(microseconds=1)
        if not folded or life.end is None:
            continue
        if life.on(life.end)[2] <= life.on(life.handed_in)[2]:
            expected[life.on(life.handed_in)]["settled"] += 1
        if life.verdict is not None:
            expected[life.on(life.end)][_VERDICTS[life.verdict]] += 1
    told = {(row.tenant_id, row.environment, row.utc_day): row for row in history.database.days}
    for day in expected.keys() | told.keys():
        about = f"tenant {day[0]} {day[1]} {day[2]}"
        if day not in told:
            yield about, f"its day has no row, and there were {expected[day].total()}"
            continue
        for name, counted in told[day].figures.items():
            if counted != expected[day][name]:
                yield about, f"{counted} are counted as {name}, and by the events there were {expected[day][name]}"


def _months(history: History, lives: list[_Life]) -> Found:
    billed = Counter(
        (life.row.tenant_id, life.on(life.end)[2].replace(day=1))
        for life in lives
        if life.end is not None
        and life.verdict in _BILLED
        and life.row.environment == Environment.ECF
        and life.row.tenant_id in history.database.billed
    )
    noted = Counter((note.tenant_id, note.billed_in) for note in history.database.notes if note.billed_in is not None)
    told = {(row.tenant_id, row.month): row for row in history.database.months}
    for month in billed.keys() | told.keys():
        about = f"tenant {month[0]} {month[1]:%Y-%m}"
        if month not in told:
            yield about, f"{billed[month]} emissions, and no month is billed"
            continue
        counted = told[month].counted + noted[month]
        if counted != billed[month]:
            yield about, f"{counted} emissions are billed, and by the events there were {billed[month]}"
        if told[month].drift:
            yield about, f"the hourly count found it {told[month].drift} off"
