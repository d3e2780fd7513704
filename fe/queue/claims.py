"""Which rows are claimed next: lanes and tenants in turn, tenants by their weights, never all slots for one of them.

There are two ways to the same rows. `_lane_by_lane` is every kind's: it asks the kind's table who has work due, divides
the free slots here, and claims in each lane: for n lanes up to 1 + n round trips. A kind whose claims are so many that
this shows brings one that does it all at once (`WorkKind.together`): submissions a function of the database
(fe/store/queue/claim.py, near.py), which is tested against the first.
"""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic

from fe.identifiers import TenantId
from fe.queue.stage import Job, Lane, Source, StageConfig, StageContext, TenantShare, W
from fe.store.postgres.db import Conn
from fe.store.queue.capacity import LaneCapacity, LaneClaim, Terms
from fe.store.queue.tables import ALWAYS

#: How many tenants one claim takes from: bounds what a tenant with one row waits behind tenants with a million.
_SCOPE = 64

NO_FLOORS: Mapping[Lane, datetime] = {}


class _Rows:
    """How many rows have a slot, of a lane or of a tenant in a lane."""

    __slots__ = ("many",)

    def __init__(self) -> None:
        self.many = 0


class InFlight:
    """The rows in flight: in all, of each lane and of each tenant.

    A row takes a slot while it is tried. After that, until what came of it is written, it is in flight still: see
    `count`; so that the next claim need not wait for the writing.
    """

    def __init__(self, slots: int) -> None:
        self.free = slots
        self._lanes: dict[Lane, _Rows] = {}
        #: By lane too: a tenant's rows for a slow host never hold up those for another, nor its tests its production.
        self._tenants: dict[tuple[TenantId, Lane], _Rows] = {}
        #: By the row's identity: since when, and where it is counted.
        self._rows: dict[int, tuple[float, _Rows, _Rows]] = {}

    def begin(self, work: Job) -> None:
        """Begin with a claimed row."""
        self.begin_all((work,))

    def begin_all(self, works: Sequence[Job]) -> None:
        """Begin with claimed rows."""
        lane: Lane | None = None
        tenant_id: TenantId | None = None
        of_lane = of_tenant = _Rows()
        now = time.monotonic()
        self.free -= len(works)
        for work in works:
            # They come by lane and tenant, and to find the place of each takes longer than all the rest.
            if work.lane is not lane or work.tenant_id != tenant_id:
                lane, tenant_id = work.lane, work.tenant_id
                of_lane = self._lanes.setdefault(lane, _Rows())
                of_tenant = self._tenants.setdefault((tenant_id, lane), _Rows())
            of_lane.many += 1
            of_tenant.many += 1
            self._rows[id(work)] = now, of_lane, of_tenant

    def tried(self, work: Job) -> None:
        """Its try has ended, however; its slot is another's."""
        self.free += 1
        _, of_lane, of_tenant = self._rows[id(work)]
        of_lane.many -= 1
        of_tenant.many -= 1

    def end(self, work: Job) -> float:
        """What came of it is written, or will not be; tells for how many seconds it was in flight."""
        return time.monotonic() - self._rows.pop(id(work))[0]

    def of_lane(self, lane: Lane) -> int:
        """How many slots a lane has."""
        found = self._lanes.get(lane)
        return 0 if found is None else found.many

    def of_tenant(self, tenant_id: TenantId, lane: Lane) -> int:
        """How many slots a tenant has in a lane."""
        found = self._tenants.get((tenant_id, lane))
        return 0 if found is None else found.many

    def of_tenants(self) -> set[tuple[TenantId, str]]:
        """Return who has slots, and in which groups of lanes; forget the others."""
        self._tenants = {key: rows for key, rows in self._tenants.items() if rows.many}
        return {(tenant_id, lane.group) for tenant_id, lane in self._tenants}

    def count(self) -> int:
        """How many are in flight."""
        return len(self._rows)

    def oldest_seconds(self) -> float:
        """For how long the oldest has been in flight; 0 when nothing is. Safe to call from another thread."""
        # Taken in the order of time, and one step of the interpreter: nothing can come in between.
        first = next(iter(self._rows.values()), None)
        return 0.0 if first is None else time.monotonic() - first[0]


@dataclass(slots=True)
class Found(Generic[W]):
    """What one look at the queue brought."""

    works: list[W] = field(default_factory=list)
    #: More is due than there was capacity for.
    full: bool = False
    #: More may be due, and there is capacity for it: look again at once.
    capacity_left: bool = False


async def find_and_claim(
    conn: Conn,
    stage: StageConfig[W],
    tools: StageContext,
    cursors: dict[Lane, TenantId],
    in_flight: InFlight,
    floors: Mapping[Lane, datetime] = NO_FLOORS,
    *,
    max_rows: int | None = None,
) -> Found[W]:
    """Claim rows for the free slots (no more than `max_rows`), the tenants in turn by weight. Moves the cursors on.

    With what is in flight already, never more of a lane than its gate lets through or than leaves its peers their
    shares, nor of a tenant than its part of the slots. Production goes before tests, and after that the lane with the
    fewest rows in flight goes first: each host goes on however slow another is.

    A tenant with one row waits behind others with any number of rows for as many claims as it takes to go once round
    all tenants: at most the number of those that have work due divided by the scope of a claim, and of those that have
    anything waiting divided by 256 (earliest_due_rows.sql). On Citus a tenant that had nothing due a moment ago may
    wait for those of a tenth of a second more (known_due.sql).
    """
    terms = Terms(
        lease=tools.lease,
        holder=tools.holder,
        slots=in_flight.free,
        max_rows=in_flight.free if max_rows is None else max_rows,
        scope=_SCOPE,
        max_per_tenant=stage.slots_of_a_tenant(),
        busy={
            (tenant_id, lane): counted
            for tenant_id, group in in_flight.of_tenants()
            for lane in stage.lanes
            if lane.group == group and (counted := counted_of_tenant(tenant_id, lane, stage, in_flight))
        },
    )
    in_order = sorted(stage.lanes, key=lambda lane: (not lane.takes_all, in_flight.of_lane(lane)))
    lanes = [
        LaneCapacity(
            lane=lane,
            after=cursors[lane],
            floor=floors.get(lane, ALWAYS),
            free=gate - in_flight.of_lane(lane),
            left_to_others=left_to_others(lane, stage, tools, in_flight),
        )
        for lane in in_order
        if (gate := tools.gate(lane, stage.slots)) > 0
    ]
    if not lanes:
        return Found()
    if stage.kind.together is not None:
        claims = await stage.kind.together(conn, stage.name, lanes, terms)
    else:
        claims = await _lane_by_lane(conn, stage.kind.source, stage.name, lanes, terms)
    return _found(claims, lanes, terms, cursors, stage, in_flight)


def left_to_others(lane: Lane, stage: StageConfig[W], tools: StageContext, in_flight: InFlight) -> int:
    """Return how many free slots rows of this lane leave: the reserve of tests, and what peers lack of their shares."""
    share = stage.share_of_a_lane(lane)
    lacking = sum(
        max(0, min(share, tools.gate(peer, stage.slots)) - in_flight.of_lane(peer)) for peer in stage.peers[lane]
    )
    return lacking + (0 if lane.takes_all else stage.reserve())


def counted_of_tenant(tenant_id: TenantId, lane: Lane, stage: StageConfig[W], in_flight: InFlight) -> int:
    """Return how many rows count against a tenant's part of a lane: those in it, and what is too much in its group."""
    here = in_flight.of_tenant(tenant_id, lane)
    elsewhere = sum(in_flight.of_tenant(tenant_id, peer) for peer in stage.peers[lane])
    return here + max(0, elsewhere - stage.share_of_a_lane(lane))


def _found(
    claims: Sequence[LaneClaim[W]],
    lanes: Sequence[LaneCapacity],
    terms: Terms,
    cursors: dict[Lane, TenantId],
    stage: StageConfig[W],
    in_flight: InFlight,
) -> Found[W]:
    found, held = Found[W](), Counter(terms.busy)
    came_to_its_share = {
        claim.lane
        for claim in claims
        if claim.works and in_flight.of_lane(claim.lane) < stage.share_of_a_lane(claim.lane)
    }
    of_lane = {each.lane: each for each in lanes}
    for claim in claims:
        lane: Lane = claim.lane
        capacity = _capacity(of_lane[lane], terms, len(found.works))
        due = claim.due
        if due is None:
            due, found.capacity_left = len(claim.shares), True  # it is looked for again
        if len(claim.works) >= capacity and not came_to_its_share.isdisjoint(stage.peers[lane]):
            found.capacity_left = True  # it left to a peer what that has taken by now
        left_out = len(claim.shares) < due
        found.full = found.full or left_out
        if not claim.shares:
            continue
        cursors[lane] = next(reversed(claim.shares))
        claimed = Counter(work.tenant_id for work in claim.works)
        for tenant_id, count in claimed.items():
            held[tenant_id, lane] += count
        found.works += claim.works
        # Who got all of its share may have more; and there may be tenants beyond those that one look takes in.
        filled = {held[tenant, lane] for tenant, share in claim.shares.items() if claimed[tenant] == share}
        found.full = found.full or len(claim.works) >= capacity or max(filled, default=0) >= terms.max_per_tenant
        if claim.works and len(claim.works) < capacity:
            all_full = min(filled, default=terms.max_per_tenant) >= terms.max_per_tenant
            may_have_more = left_out or due >= terms.scope or not all_full
            found.capacity_left = found.capacity_left or may_have_more
    return found


def _capacity(lane: LaneCapacity, terms: Terms, claimed: int) -> int:
    """How many rows of a lane may be claimed when so many have been of those before it."""
    return min(terms.slots - claimed - lane.left_to_others, lane.free, terms.max_rows - claimed)


async def _lane_by_lane(
    conn: Conn, source: Source[W], stage: str, lanes: Sequence[LaneCapacity], terms: Terms
) -> list[LaneClaim[W]]:
    """Look for due tenants, divide, and claim lane by lane."""
    claims, held, many = list[LaneClaim[W]](), Counter(terms.busy), 0
    floors = {each.lane: each.floor for each in lanes}
    due = await source.due_tenants(conn, stage, [(each.lane, each.after) for each in lanes], terms.scope, floors=floors)
    for each in lanes:
        lane: Lane = each.lane
        capacity = _capacity(each, terms, many)
        tenants = [tenant for tenant in due[lane] if held[tenant.tenant_id, lane] < terms.max_per_tenant]
        served = tenants[: max(capacity, 0)]
        shares = {
            tenant.tenant_id: min(share, terms.max_per_tenant - held[tenant.tenant_id, lane])
            for tenant, share in zip(served, divide(served, capacity) if served else (), strict=True)
        }
        works: Sequence[W] = ()
        if served:
            works = await source.claim(
                conn,
                stage,
                lane,
                list(shares),
                list(shares.values()),
                lease=terms.lease,
                holder=terms.holder,
                floor=each.floor,
            )
        for tenant_id, count in Counter(work.tenant_id for work in works).items():
            held[tenant_id, lane] += count
        many += len(works)
        if due[lane]:
            claims.append(LaneClaim(lane, len(due[lane]), shares, works))
    return claims


def divide(tenants: Sequence[TenantShare], capacity: int) -> list[int]:
    """Divide the capacity by weight, at least one each; what rounding leaves goes to the first."""
    total = sum(tenant.weight for tenant in tenants)
    spare = capacity - len(tenants)
    shares = [1 + spare * tenant.weight // total for tenant in tenants]
    for index in range(capacity - sum(shares)):
        shares[index % len(shares)] += 1
    return shares
