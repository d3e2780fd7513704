"""Input and result of a claim over several lanes, for any kind of work."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from fe.identifiers import TenantId

W = TypeVar("W")


@dataclass(frozen=True, slots=True)
class LaneCapacity:
    """A lane, and how many more of its rows may be claimed."""

    lane: Any
    #: The tenant that was served last; the next one begins.
    after: TenantId
    #: Nothing of it fell due before.
    floor: datetime
    #: How many more of its rows may be in flight.
    free: int
    #: How many of the stage's free slots it leaves to other lanes.
    left_to_others: int


@dataclass(frozen=True, slots=True)
class Terms:
    """On which terms rows are claimed, for all lanes alike."""

    lease: timedelta
    holder: str
    #: Free slots of the stage, and how many rows may be claimed at most.
    slots: int
    max_rows: int
    #: How many tenants one look takes in.
    scope: int
    #: How many rows of one lane a tenant may have in flight, and how many count against that: by tenant and lane.
    max_per_tenant: int
    busy: Mapping[tuple[TenantId, Any], int]


@dataclass(frozen=True, slots=True)
class LaneClaim(Generic[W]):
    """Rows claimed from a lane with due work, or why none."""

    lane: Any
    #: How many tenants have work due, as far as one look goes; None: less was due than an earlier look said, and what
    #: else is due is not known.
    due: int | None
    #: Those that were served, in their turn, and how many rows each could get.
    shares: dict[TenantId, int]
    works: Sequence[W]
