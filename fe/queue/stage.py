"""What the engine is told: where a kind of work has its rows and how its outcomes are written; how a stage runs."""

import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Generic, Protocol, TypeVar
from uuid import UUID

from fe.clock import Clock
from fe.identifiers import TenantId
from fe.monitoring.metrics import Metrics
from fe.queue.outcome import InDoubt, Outcome, Park, Retry, Writer
from fe.queue.retry import MAX_ATTEMPTS, Gap, retry_gap
from fe.store.postgres.db import Conn, Database
from fe.store.queue.capacity import LaneCapacity, LaneClaim, Terms
from fe.store.queue.wakeups import Wakeups

#: The part of the slots that a lane of tests, and one tenant in a lane, leave to the others; peers divide as much.
_RESERVED_SHARE = 4


class Lane(Protocol):
    """Rows that stand or fall together. To the engine a key, but for two things."""

    @property
    def group(self) -> str:
        """Lanes of one group are peers: each leaves the others their share of the slots."""

    @property
    def takes_all(self) -> bool:
        """Whether its rows may take the last quarter of the slots, too."""

    def __hash__(self) -> int: ...


class Job(Protocol):
    """A claimed row. `attempt` counts this try; `epoch` is the fencing token that every writer must show."""

    @property
    def lane(self) -> Lane:
        """The lane it was claimed from."""

    @property
    def tenant_id(self) -> TenantId:
        """Whose it is."""

    @property
    def subject(self) -> UUID:
        """What it is about."""

    @property
    def attempt(self) -> int:
        """The number of this try, from 1."""

    @property
    def epoch(self) -> int:
        """The fencing token: grows with every claim."""

    @property
    def crash_count(self) -> int:
        """How many workers in a row died over it."""

    @property
    def waited(self) -> timedelta:
        """For how long it had been in this stage when it was claimed, by the database's clock."""

    @property
    def last_error(self) -> str | None:
        """Why the try before failed."""


class TenantShare(Protocol):
    """A tenant with work due, and how many rows it may be served for each row of a tenant of weight 1."""

    @property
    def tenant_id(self) -> TenantId:
        """The tenant."""

    @property
    def weight(self) -> int:
        """At least 1."""


W = TypeVar("W", bound=Job)
W_co = TypeVar("W_co", bound=Job, covariant=True)


class Source(Protocol[W_co]):
    """Where rows of a kind of work are claimed: three questions of one round trip each.

    A QueueTable is one (fe/store/queue/tables.py).
    """

    def floors_of(self, conn: Conn, stage: str, lanes: Sequence[Any]) -> Awaitable[Mapping[Any, datetime]]:
        """Tell, for each lane, a moment before which no row of it is due."""

    def due_tenants(
        self,
        conn: Conn,
        stage: str,
        lanes: Sequence[tuple[Any, TenantId]],
        limit: int,
        *,
        floors: Mapping[Any, datetime],
    ) -> Awaitable[Mapping[Any, Sequence[TenantShare]]]:
        """Name, for each lane, up to `limit` tenants with work due, beginning past the one given with the lane."""

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
        """Lease due rows of the tenants in `scope`, of each at most its share; raise attempt and epoch of each."""


#: Claims for all lanes of a stage at once, as the questions of a Source and the division between them do.
#: No kind of work needs one; see fe/queue/claims.py.
Together = Callable[[Conn, str, Sequence[LaneCapacity], Terms], Awaitable[Sequence[LaneClaim[W]]]]


async def _nothing_open(_: Conn, works: Sequence[Job]) -> Sequence[bool]:
    return [False] * len(works)


def _nobody(_: Job, __: Outcome) -> None:
    pass


@dataclass(frozen=True, slots=True)
class WorkKind(Generic[W]):
    """A kind of work: where its rows are, and its one table of how each outcome is written."""

    source: Source[W]
    #: Outcomes that have the same writer are written together.
    writers: Mapping[type[Outcome], Writer[W]]
    #: Of which of them something may have gone out of which nobody knows what became.
    are_open: Callable[[Conn, Sequence[W]], Awaitable[Sequence[bool]]] = _nothing_open
    #: How rows of several lanes are claimed at once, where there is a way.
    together: Together[W] | None = None
    #: Told of every outcome, after its commit. It must not wait, nor raise.
    written: Callable[[W, Outcome], None] = _nobody
    #: What a row's subject is, in the log: every line about a try names it under this key.
    subject: str = "subject"
    #: Whether a cluster keeps its rows on the nodes of their tenants: then they cannot be written while these are away.
    on_nodes: bool = False

    def __post_init__(self) -> None:
        """Look whether what the engine itself comes to can be written. Raises ValueError."""
        missing = [outcome.__name__ for outcome in (Retry, Park) if outcome not in self.writers]
        if missing:
            raise ValueError(f"no writer for {', '.join(missing)}")


@dataclass(frozen=True, slots=True)
class StageConfig(Generic[W]):
    """One stage: who handles its rows, how many at once, and what to make of a try that ended without a word."""

    name: str
    kind: WorkKind[W]
    #: Makes one try of one row, with no transaction open, and says what it came to.
    handle: Callable[[W], Awaitable[Outcome]]
    slots: int
    #: Those that take all are served before the others, and then the one with the fewest rows in flight.
    lanes: Sequence[Lane]
    #: Shorter than the lease by more than a cancelled query over a dead link takes (about 11 s).
    budget: float
    #: When to try again after the try of this number (from 1).
    gap: Gap = retry_gap
    #: After so many failed tries (None: after so long in this stage) the row is an operator's matter.
    max_attempts: int | None = MAX_ATTEMPTS
    patience: timedelta = timedelta(0)
    #: Where a try may take effect elsewhere: the stage that finds out, when one ends without an answer, whether it did.
    doubts_go_to: str | None = None
    #: After unexpected errors over so many different rows in a row the fault is not theirs: see stage_breaker.py.
    rows_to_trouble: int = 5
    #: How long between two tries while in trouble.
    probe_seconds: float = 5.0
    #: How many rows may be held for later that came straight from the stage before: claimed, and in no slot.
    held: int = 0
    #: The stage that its rows go on to, if this process has it: no more are claimed than may go straight on.
    into: str | None = None
    #: The other lanes of a lane's group.
    peers: Mapping[Lane, Sequence[Lane]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Look whether a doubt could be written, if there may be one. Raises ValueError."""
        peers = {lane: [one for one in self.lanes if one.group == lane.group and one != lane] for lane in self.lanes}
        object.__setattr__(self, "peers", peers)
        if self.doubts_go_to is not None and InDoubt not in self.kind.writers:
            raise ValueError(f"stage {self.name} may leave doubts, and there is no writer for InDoubt")

    def reserve(self) -> int:
        """How many slots neither one tenant nor a lane that does not take all may have: the last quarter."""
        return self.slots // _RESERVED_SHARE

    def slots_of_a_tenant(self) -> int:
        """How many rows of one lane a tenant may have in flight: others find a slot free however slow its tries are.

        In a group of lanes it may have more than in one lane by the share of a lane.
        """
        return max(1, self.slots - self.reserve())

    def share_of_a_lane(self, lane: Lane) -> int:
        """Return how many slots a lane's peers leave to it while it uses fewer; with no peers none need be left."""
        peers = self.peers[lane]
        return self.reserve() // (len(peers) + 1) if peers else 0

    def exhausted(self, work: W) -> bool:
        """Tell whether this try, should it fail, was the last one."""
        if self.max_attempts is not None:
            return work.attempt >= self.max_attempts
        # Both, because no tries are made while a lane's circuit is open, and that is nobody's failure.
        return work.attempt >= MAX_ATTEMPTS and work.waited >= self.patience


def no_gate(_: Any, slots: int) -> int:
    """Let all slots through."""
    return slots


@dataclass(frozen=True, slots=True)
class StageContext:
    """What every stage's executor works with."""

    db: Database
    wakeups: Wakeups
    clock: Clock
    metrics: Metrics
    lease: timedelta
    poll_seconds: float
    holder: str
    spread: random.Random = field(default_factory=random.Random)
    #: How many rows of a lane may be claimed now, given the slots there are: fewer while its circuit is not closed.
    gate: Callable[[Any, int], int] = no_gate
