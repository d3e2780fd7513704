"""The checker of counts accepts correct counts, and finds each single error in them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from fe.ecf.catalogue import Environment
from fe.identifiers import SubmissionId, TenantId
from fe.lifecycle import EventKind, Status
from tests.faults.counted_checker import counted_once
from tests.faults.history import BilledMonth, Carried, CountedDay, Event, History, Noted, Snapshot, Submission

TENANT = TenantId(1)
LATE = datetime(2026, 10, 31, 23, 59, 58, tzinfo=UTC)
OCTOBER_31, NOVEMBER_1 = date(2026, 10, 31), date(2026, 11, 1)

#: Accepted within the day; answered on the day and accepted after midnight, in the next month; failed; accepted, and
#: noted still; answered, carried over midnight and still on its way; accepted in a test environment.
QUICK, OVER, FAILED, NEW, WAITING, TRIED = (SubmissionId(UUID(int=number)) for number in range(1, 7))


def life(one: SubmissionId, *happened: tuple[EventKind, float, dict[str, Any]]) -> list[Event]:
    """Events at the given seconds after the first; their hashes do not matter here."""
    steps = [(EventKind.ACCEPTED, 0.0, dict[str, Any]()), *happened]
    return [
        Event(TENANT, one, seq, LATE + timedelta(seconds=after), kind, str(detail).replace("'", '"'), b"")
        for seq, (kind, after, detail) in enumerate(steps, 1)
    ]


def said(status: Status, after: float) -> tuple[EventKind, float, dict[str, Any]]:
    return EventKind.VERDICT, after, {"status": status.value}


def row(one: SubmissionId, status: Status, environment: Environment = Environment.ECF) -> Submission:
    return Submission(TENANT, one, environment, None, "ECF", None, status, "used")


RECEIVED = (EventKind.RECEIVED, 0.5, dict[str, Any]())
COUNTED = Snapshot(
    submissions=[
        row(QUICK, Status.ACCEPTED),
        row(OVER, Status.CONDITIONAL),
        row(FAILED, Status.ERROR),
        row(NEW, Status.ACCEPTED),
        row(WAITING, Status.QUEUED),
        row(TRIED, Status.ACCEPTED, Environment.TESTECF),
    ],
    events=[
        *life(QUICK, said(Status.ACCEPTED, 1.5)),
        *life(OVER, RECEIVED, said(Status.CONDITIONAL, 3.0)),
        *life(FAILED, (EventKind.ERROR, 1.0, {})),
        *life(NEW, said(Status.ACCEPTED, 1.0)),
        *life(WAITING, RECEIVED),
        *life(TRIED, said(Status.ACCEPTED, 1.0)),
    ],
    days=[
        CountedDay(TENANT, Environment.ECF, OCTOBER_31, 4, 2, 1, 0, 0, 3, 2_500_000),
        CountedDay(TENANT, Environment.ECF, NOVEMBER_1, conditional=1),
        CountedDay(TENANT, Environment.TESTECF, OCTOBER_31, 1, 1, 1, 0, 0, 1, 1_000_000),
    ],
    notes=[Noted(TENANT, NEW, OCTOBER_31.replace(day=1))],
    carried=[Carried(TENANT, WAITING, answered=True)],
    months=[BilledMonth(TENANT, OCTOBER_31.replace(day=1), 1, 0), BilledMonth(TENANT, NOVEMBER_1, 1, 0)],
    billed=[TENANT],
)


def found(database: Snapshot) -> list[tuple[str, str]]:
    return list(counted_once(History([], [], database)))


def test_checker_reports_nothing_for_orderly_counts() -> None:
    assert found(COUNTED) == []


def changed(rows: Sequence[Any], index: int, **values: Any) -> list[Any]:
    return [replace(each, **values) if at == index else each for at, each in enumerate(rows)]


def day(index: int, **values: Any) -> Callable[[Snapshot], Snapshot]:
    return lambda it: replace(it, days=changed(it.days, index, **values))


WRONG: list[tuple[str, Callable[[Snapshot], Snapshot], str]] = [
    ("counted twice", day(0, submitted=5), "5 are counted as submitted, and by the events there were 4"),
    ("its end was folded twice", day(0, accepted=2), "2 are counted as accepted"),
    ("counted on the wrong side of midnight", day(0, settled=3), "3 are counted as settled"),
    ("an end was lost", day(1, conditional=0), "0 are counted as conditional"),
    ("a latency was counted twice", day(2, answered=2), "2 are counted as answered"),
    ("a latency is another's", day(2, latency_us=999_999), "999999 are counted as latency_us"),
    ("a day is gone", lambda it: replace(it, days=it.days[1:]), "its day has no row"),
    (
        "a day of nothing",
        lambda it: replace(it, days=[*it.days, CountedDay(TENANT, Environment.ECF, date(2026, 9, 1), 1)]),
        "by the events there were 0",
    ),
    ("counted and noted", lambda it: replace(it, notes=[*it.notes, Noted(TENANT, QUICK, None)]), "as accepted"),
    ("noted before its end", lambda it: replace(it, notes=[*it.notes, Noted(TENANT, WAITING, None)]), "and has not"),
    ("carried, and not any more", lambda it: replace(it, carried=[]), "4 are counted as submitted"),
    (
        "billed twice",
        lambda it: replace(it, months=changed(it.months, 1, counted=2)),
        "2 emissions are billed, and by the events there were 1",
    ),
    ("not billed", lambda it: replace(it, notes=[Noted(TENANT, NEW, None)]), "1 emissions are billed"),
    ("a month is gone", lambda it: replace(it, months=it.months[:1]), "no month is billed"),
    ("a test is billed", lambda it: replace(it, billed=[]), "by the events there were 0"),
    ("put right by the hourly count", lambda it: replace(it, months=changed(it.months, 0, drift=2)), "found it 2 off"),
]


@pytest.mark.parametrize(("doctor", "says"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG])
def test_checker_reports_each_wrong_count(doctor: Callable[[Snapshot], Snapshot], says: str) -> None:
    assert any(says in what for _, what in found(doctor(COUNTED))), found(doctor(COUNTED))
