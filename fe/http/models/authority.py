"""The authority's health as this service measured it, as anyone sees it."""

from typing import Annotated

from pydantic import Field

# As in response_models.py.
from typing_extensions import TypedDict

from fe.clock import iso
from fe.ecf.catalogue import Environment
from fe.http.models.contingency import OutageAnswer, serialize_outage
from fe.http.models.response_types import Moment, ResponseModel, closed
from fe.store.records.authority_state import CircuitOutage, Exchanges


@closed
class ServiceHealth(TypedDict):
    """Our exchanges with one service of the authority."""

    service: Annotated[str, Field(description="such as `reception`, `summary_reception`, `result`")]
    answered: int
    failed: Annotated[int, Field(description="without an answer, or with one that it cannot serve")]
    averageMs: Annotated[int | None, Field(description="of the answers; null without one")]
    slowestMs: Annotated[int | None, Field(description="as averageMs")]


@closed
class PastOutage(OutageAnswer):
    """An outage that is over."""

    until: Moment


@closed
class EnvironmentHealth(TypedDict):
    """The authority in one environment."""

    environment: Environment
    outages: Annotated[list[OutageAnswer], Field(description="hosts that do not answer now")]
    lastHour: Annotated[list[ServiceHealth], Field(description="services that this service called")]
    lastDay: list[ServiceHealth]
    pastOutages: Annotated[list[PastOutage], Field(description="of seven days, the latest first")]


@closed
class AuthorityHealth(TypedDict):
    """The authority's health."""

    measuredAt: Moment
    environments: list[EnvironmentHealth]


AUTHORITY = ResponseModel(AuthorityHealth)


def serialize_services(found: list[Exchanges]) -> list[ServiceHealth]:
    """Serialize what was measured, the most used service first."""
    return [
        {
            "service": one.service,
            "answered": one.answered,
            "failed": one.failed,
            "averageMs": round(one.milliseconds / one.answered) if one.answered else None,
            "slowestMs": one.slowest_milliseconds if one.answered else None,
        }
        for one in sorted(found, key=lambda one: (-one.answered - one.failed, one.service))
    ]


def serialize_past(one: CircuitOutage) -> PastOutage:
    """Serialize an outage that is over."""
    assert one.ended_at is not None
    return {**serialize_outage(one), "until": iso(one.ended_at)}
