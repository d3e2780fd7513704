"""The status of this service as it measured itself, as anyone sees it."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, Literal

from pydantic import Field

# As in response_models.py.
from typing_extensions import TypedDict

from fe.clock import iso
from fe.http.models.response_types import Day, Moment, ResponseModel, closed
from fe.monitoring.service_history import DayOfPart, Incident, PartHistory
from fe.store.records.service_states import PartSeverity, ServicePart

_MINUTE = timedelta(minutes=1)
State = Literal["well", "waiting", "degraded", "down", "unmeasured"]
Trouble = Literal["degraded", "down", "unmeasured"]
_STATES = (
    "`well`; `waiting`: for the authority, which does not answer; `degraded`: it is late, or some requests fail; "
    "`down`: it does not work; `unmeasured`: no measurement for three minutes"
)


@closed
class DayStatus(TypedDict):
    """A part of the service on one day in Santo Domingo."""

    day: Day
    measuredMinutes: Annotated[int, Field(description="for how long it was measured")]
    degradedMinutes: Annotated[int, Field(description="of these, degraded")]
    downMinutes: Annotated[int, Field(description="of these, down")]


@closed
class IncidentAnswer(TypedDict):
    """A time in which a part was degraded, down or not measured."""

    state: Annotated[Trouble, Field(description="the worst of it")]
    since: Moment
    until: Annotated[Moment | None, Field(description="null while it lasts")]


@closed
class PartStatus(TypedDict):
    """A part of the service."""

    part: Annotated[
        ServicePart,
        Field(
            description="`accepting`: `POST /invoices`; `sending`: to the authority; `verdicts`: asking it for them; "
            "`receiving`: from suppliers"
        ),
    ]
    state: Annotated[State, Field(description=_STATES)]
    since: Moment
    days: Annotated[list[DayStatus], Field(description="of 90 days, from the first measured one")]
    incidents: Annotated[list[IncidentAnswer], Field(description="of 90 days, the latest first, 50 at most")]


@closed
class StatusAnswer(TypedDict):
    """The status of this service."""

    state: Annotated[State, Field(description="the worst of all parts")]
    measuredAt: Annotated[Moment | None, Field(description="the latest measurement, to the minute; null without one")]
    parts: Annotated[list[PartStatus], Field(description="parts that this installation measures")]


SERVICE_STATUS = ResponseModel(StatusAnswer)

_NAMES: dict[PartSeverity | None, State] = {
    None: "unmeasured",
    PartSeverity.WELL: "well",
    PartSeverity.WAITING: "waiting",
    PartSeverity.DEGRADED: "degraded",
    PartSeverity.DOWN: "down",
}
_TROUBLE: dict[PartSeverity | None, Trouble] = {
    None: "unmeasured",
    PartSeverity.DEGRADED: "degraded",
    PartSeverity.DOWN: "down",
}
#: How urgent a state is: a part that is not measured is worse than one that waits.
_WORST: tuple[State, ...] = ("well", "waiting", "unmeasured", "degraded", "down")


def serialize_status(found: Sequence[PartHistory], measured_at: datetime | None) -> StatusAnswer:
    """Serialize what was measured, to the minute: so an answer stays the same for a minute."""
    parts = [_part(one) for one in found]
    return {
        "state": max((one["state"] for one in parts), key=_WORST.index, default="unmeasured"),
        "measuredAt": iso(measured_at.replace(second=0, microsecond=0)) if measured_at else None,
        "parts": parts,
    }


def _part(one: PartHistory) -> PartStatus:
    return {
        "part": one.part,
        "state": _NAMES[one.severity],
        "since": iso(one.since),
        "days": [_day(day) for day in one.days],
        "incidents": [_incident(each) for each in one.incidents],
    }


def _day(one: DayOfPart) -> DayStatus:
    return {
        "day": one.day.isoformat(),
        "measuredMinutes": one.measured // _MINUTE,
        "degradedMinutes": -(-one.degraded // _MINUTE),
        "downMinutes": -(-one.down // _MINUTE),
    }


def _incident(one: Incident) -> IncidentAnswer:
    return {
        "state": _TROUBLE[one.severity],
        "since": iso(one.began_at),
        "until": iso(one.ended_at) if one.ended_at else None,
    }
