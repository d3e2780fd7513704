"""Configuration of the engine: kinds of work (their rows and writers) and stages."""

import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Generic, Protocol, TypeVar
from uuid import UUID

from fe.clock import Clock
from fe.identifiers import TenantId
from fe.monitoring.metrics import Metrics
from fe.queue.backoff import MAX_ATTEMPTS, Gap, retry_gap
from fe.queue.outcome import InDoubt, Outcome, Park, Retry, Writer
from fe.store.postgres.db import Conn, Database
from fe.store.queue.capacity import LaneCapacity, LaneClaim, Terms
from fe.store.queue.wakeups import Wakeups

#: A test lane, and one tenant in a lane, leave one part in this many to the others; peers divide as much.
_RESERVED_SHARE = 4


class Lane(Protocol):
    """Rows of one destination; a key with two properties."""

    @property
    def group(self) -> str:
        """Lanes of one group are peers: each leaves the others their share of the slots."""

    @property
    def takes_all(self) -> bool:
        """Whether its rows may also take the last quarter of the slots."""

    def __hash__(self) -> int: ...


class Job(Protocol):
    """A claimed row. `attempt` counts this try; `epoch` is the fencing token that every writer must show."""

    @property
    def lane(self) -> Lane:
        """The lane it was claimed from."""

    @property
    def tenant_id(self) -> TenantId:
        """The tenant."""

    @property
    def subject(self) -> UUID:
        """Id of what the row is about."""

    @property
    def attempt(self) -> int:
        """The number of this try, from 1."""

    @property
    def epoch(self) -> int:
        """The fencing token: grows with every claim."""

    @property
    def crash_count(self) -> int:
        """Consecutive workers that died over it."""

    @property
    def waited(self) -> timedelta:
        """Time in this stage when it was claimed, by the database's clock."""

    @property
    def last_error(self) -> str | None:
        """Error of the previous try."""


class TenantShare(Protocol):
    """A tenant with due work, and its weight."""

    @property
    def tenant_id(self) -> TenantId:
        """The tenant."""

    @property
    def weight(self) -> int:
        """Rows served per row of a tenant of weight 1; at least 1."""


W = TypeVar("W", bound=Job)
W_co = TypeVar("W_co", bound=Job, covariant=True)


class Source(Protocol[W_co]):
    """Where rows of a kind of work are claimed; a QueueTable (fe/store/queue/tables.py) is one.

    Each method takes one round trip.
    """

    def floors_of(
        self, conn: Conn, stage: str, lanes: Sequence[Any], since: Mapping[Any, datetime]
    ) -> Awaitable[Mapping[Any, datetime]]:
        """Return for each lane a moment before which none of its rows is due; looked for from `since` on."""

    def due_tenants(
        self,
        conn: Conn,
        stage: str,
        lanes: Sequence[tuple[Any, TenantId]],
        limit: int,
        *,
        floors: Mapping[Any, datetime],
    ) -> Awaitable[Mapping[Any, Sequence[TenantShare]]]:
        """Return for each lane up to `limit` tenants with due work, starting past the one given with the lane."""

    def claim(
        self,
        conn: Conn,
        stage: str,
        lane: Any,
        scope: Sequence[TenantId],
        shares: Sequence[int],
        *,
        lease: timedelta,
        holder: str,
        floor: datetime,
    ) -> Awaitable[Sequence[W_co]]:
        """Lease due rows of the tenants in `scope`, each at most its share; raise attempt and epoch."""


#: Claims for all lanes of a stage in one call, as fe/queue/fair_claims.py does lane by lane. Optional.
Together = Callable[[Conn, str, Sequence[LaneCapacity], Terms], Awaitable[Sequence[LaneClaim[W]]]]


async def _nothing_open(_: Conn, works: Sequence[Job]) -> Sequence[bool]:
    return [False] * len(works)


def _nobody(_: Job, __: Outcome) -> None:
    pass


@dataclass(frozen=True, slots=True)
class WorkKind(Generic[W]):
    """A kind of work: its source of rows and its table of writers."""

    source: Source[W]
    #: Outcomes that have the same writer are written together.
    writers: Mapping[type[Outcome], Writer[W]]
    #: Returns which rows have a send without a known result.
    are_open: Callable[[Conn, Sequence[W]], Awaitable[Sequence[bool]]] = _nothing_open
    #: Claims rows of several lanes in one call, if the kind has such a way.
    together: Together[W] | None = None
    #: Called with every outcome after its commit; must neither wait nor raise.
    written: Callable[[W, Outcome], None] = _nobody
    #: Key of the row's subject in log lines.
    subject: str = "subject"
    #: Whether a cluster stores its rows on the nodes of their tenants.
    on_nodes: bool = False

    def __post_init__(self) -> None:
        """Require writers for the engine's own outcomes. Raises ValueError."""
        missing = [outcome.__name__ for outcome in (Retry, Park) if outcome not in self.writers]
        if missing:
            raise ValueError(f"no writer for {', '.join(missing)}")


@dataclass(frozen=True, slots=True)
class StageConfig(Generic[W]):
    """One stage: its handler, its slots, and its rules for tries that fail."""

    name: str
    kind: WorkKind[W]
    #: Tries one row, with no transaction open, and returns the outcome.
    handle: Callable[[W], Awaitable[Outcome]]
    slots: int
    #: Lanes that take all slots are served first, then the lane with the fewest rows in flight.
    lanes: Sequence[Lane]
    #: Seconds per try; shorter than the lease by more than a cancelled query over a dead link takes (about 11 s).
    budget: float
    #: The wait after the try of this number (from 1).
    gap: Gap = retry_gap
    #: Failed tries before the row is parked; None: `patience` in this stage decides.
    max_attempts: int | None = MAX_ATTEMPTS
    patience: timedelta = timedelta(0)
    #: If tries have effects elsewhere: the stage that resolves tries without an answer.
    doubts_go_to: str | None = None
    #: Unexpected errors over this many different rows open the breaker: see stage_breaker.py.
    rows_to_trouble: int = 5
    #: Seconds between two tries while the breaker is open.
    probe_seconds: float = 5.0
    #: Handed-over rows that the delay queue may hold: claimed, without a slot.
    held: int = 0
    #: The next stage, if this process runs it: no more rows are claimed than it can take over.
    into: str | None = None
    #: The other lanes of a lane's group, and how many slots they leave to it while it uses fewer.
    peers: Mapping[Lane, Sequence[Lane]] = field(init=False, repr=False)
    shares: Mapping[Lane, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Require a writer for doubts if there may be one. Raises ValueError."""
        peers = {lane: [one for one in self.lanes if one.group == lane.group and one != lane] for lane in self.lanes}
        object.__setattr__(self, "peers", peers)
        shares = {lane: self.reserve() // (len(others) + 1) if others else 0 for lane, others in peers.items()}
        object.__setattr__(self, "shares", shares)
        if self.doubts_go_to is not None and InDoubt not in self.kind.writers:
            raise ValueError(f"stage {self.name} may leave doubts, and there is no writer for InDoubt")

    def reserve(self) -> int:
        """Return the slots that no single tenant and no test lane may use: the last quarter."""
        return self.slots // _RESERVED_SHARE

    def slots_of_a_tenant(self) -> int:
        """Return how many rows of one lane a tenant may have in flight, so that the others find free slots.

        In a group of lanes it may have more than in one lane by the share of a lane.
        """
        return max(1, self.slots - self.reserve())

    def exhausted(self, work: W) -> bool:
        """Whether this try, if it fails, was the last one."""
        if self.max_attempts is not None:
            return work.attempt >= self.max_attempts
        # Both: while a lane's circuit is open time passes without tries.
        return work.attempt >= MAX_ATTEMPTS and work.waited >= self.patience


def no_gate(_: Any, slots: int) -> int:
    """Let all slots through."""
    return slots


@dataclass(frozen=True, slots=True)
class StageContext:
    """The services that every stage's executor uses."""

    db: Database
    wakeups: Wakeups
    clock: Clock
    metrics: Metrics
    lease: timedelta
    poll_seconds: float
    holder: str
    spread: random.Random = field(default_factory=random.Random)
    #: Returns how many rows of a lane may be in flight now: fewer than its slots while the circuit is not closed.
    gate: Callable[[Any, int], int] = no_gate
