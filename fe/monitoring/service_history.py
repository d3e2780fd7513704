"""Make a history from recorded periods: the state now, the days, and the incidents. Pure: no I/O, no clock."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise

from fe.ecf.dates import ZONE, local
from fe.store.records.service_states import MEASURED_EVERY, UNMEASURED_AFTER, PartSeverity, ServicePart, StatePeriod

#: Days of the history, today included.
DAYS = 90
#: Incidents of a part that are listed at most, the latest first.
MOST_INCIDENTS = 50
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A time in one state; None: it was not measured."""

    began_at: datetime
    ended_at: datetime
    severity: PartSeverity | None


@dataclass(frozen=True, slots=True)
class Incident:
    """A time in which a part was degraded or down (`severity` is the worst of it), or not measured (None)."""

    began_at: datetime
    #: None: it lasts.
    ended_at: datetime | None
    severity: PartSeverity | None


@dataclass(frozen=True, slots=True)
class DayOfPart:
    """How long a part was measured on a Dominican day, and how long of that it was degraded and down."""

    day: date
    measured: timedelta
    degraded: timedelta
    down: timedelta


@dataclass(frozen=True, slots=True)
class PartHistory:
    """The state of a part now and since when, its days from the first measured one, and its incidents."""

    part: ServicePart
    severity: PartSeverity | None
    since: datetime
    days: Sequence[DayOfPart]
    incidents: Sequence[Incident]


def first_moment(now: datetime) -> datetime:
    """Return when the first day of the history begins."""
    return _midnight(local(now).date() - _DAY * (DAYS - 1))


def history_of(periods: Sequence[StatePeriod], now: datetime) -> list[PartHistory]:
    """Make the history of every part that was measured."""
    found = []
    for part in ServicePart:
        mine = [one for one in periods if one.part is part and one.began_at < now]
        if mine:
            found.append(_of_part(part, timeline(mine, now), now))
    return found


def timeline(periods: Sequence[StatePeriod], now: datetime) -> list[Stretch]:
    """Lay the periods of one part end to end, from the first until now: of those that overlap the worst counts.

    A gap that is no longer than UNMEASURED_AFTER belongs to the state before it.
    """
    changes: list[tuple[datetime, int, PartSeverity]] = []
    for one in periods:
        changes.append((one.began_at, 1, one.severity))
        changes.append((max(one.seen_at, one.began_at + MEASURED_EVERY), -1, one.severity))
    changes.sort()
    running = [0] * len(PartSeverity)
    stretches: list[Stretch] = []
    for (at, step, severity), (until, *_) in pairwise([*changes, (max(now, changes[-1][0]), 0, PartSeverity.WELL)]):
        running[severity] += step
        until = min(until, now)
        if until <= at:
            continue
        worst = max((one for one in PartSeverity if running[one]), default=None)
        if worst is None and until - at <= UNMEASURED_AFTER:
            worst = stretches[-1].severity
        if stretches and stretches[-1].severity is worst:
            at = stretches.pop().began_at
        stretches.append(Stretch(at, until, worst))
    return stretches


def _of_part(part: ServicePart, stretches: Sequence[Stretch], now: datetime) -> PartHistory:
    latest = stretches[-1]
    return PartHistory(part, latest.severity, latest.began_at, _days(stretches, now), _incidents(stretches, now))


def _incidents(stretches: Sequence[Stretch], now: datetime) -> list[Incident]:
    """Join the stretches of trouble that follow each other; the latest incident first."""
    incidents: list[Incident] = []
    for one in stretches:
        if not _is_trouble(one.severity):
            continue
        began, worst = one.began_at, one.severity
        if incidents and worst is not None:
            before = incidents[-1]
            if before.severity is not None and before.ended_at == began:
                began, worst = before.began_at, max(before.severity, worst)
                incidents.pop()
        incidents.append(Incident(began, one.ended_at, worst))
    if incidents and incidents[-1].ended_at == now:
        incidents[-1] = replace(incidents[-1], ended_at=None)
    return incidents[: -MOST_INCIDENTS - 1 : -1]


def _is_trouble(severity: PartSeverity | None) -> bool:
    return severity is None or severity >= PartSeverity.DEGRADED


def _days(stretches: Sequence[Stretch], now: datetime) -> list[DayOfPart]:
    begun = max(stretches[0].began_at, first_moment(now))
    sums: dict[date, list[timedelta]] = {}
    day = local(begun).date()
    while day <= local(now).date():
        sums[day] = [timedelta(0) for _ in range(3)]
        day += _DAY
    for day, long, severity in _by_day(stretches):
        if severity is None or day not in sums:
            continue
        of_day = sums[day]
        of_day[0] += long
        if severity >= PartSeverity.DEGRADED:
            of_day[1 if severity is PartSeverity.DEGRADED else 2] += long
    return [DayOfPart(day, *of_day) for day, of_day in sums.items()]


def _by_day(stretches: Sequence[Stretch]) -> Iterator[tuple[date, timedelta, PartSeverity | None]]:
    """Cut stretches at midnight in Santo Domingo."""
    for one in stretches:
        at = one.began_at
        while at < one.ended_at:
            day = local(at).date()
            until = min(one.ended_at, _midnight(day + _DAY))
            yield day, until - at, one.severity
            at = until


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), ZONE).astimezone(UTC)
