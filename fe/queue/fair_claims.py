"""Fair claims: lanes and tenants in turn, tenants by weight, never all slots for one tenant.

There are two ways to claim. `_lane_by_lane` works for every kind: it asks the kind's table for tenants with due rows,
divides the free slots, and claims in each lane: up to 1 + n round trips for n lanes. A kind with many claims brings a
`WorkKind.together` that does all of it in one call: for submissions a database function (fe/store/queue/claim.py;
fe/store/citus/node_local_claims.py), tested against the first way.
"""

import math
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

#: A lane that shares slots with other hosts has a fourth of them while no try of it has ended for this many seconds.
#: Else rows that hang at a silent host would fill nearly all slots within a second, until its circuit opens.
_STALLS_AFTER, _STALLED_PART = 1.0, 4

#: How many tenants one claim takes from: bounds what a tenant with one row waits behind tenants with a million.
_SCOPE = 64

NO_FLOORS: Mapping[Lane, datetime] = {}


class _Rows:
    """Rows with a slot, of a lane or of a tenant in a lane."""

    __slots__ = ("ended", "many")

    def __init__(self) -> None:
        self.many = 0
        #: When a try last ended.
        self.ended = -math.inf


class InFlight:
    """The rows in flight: in total, of each lane and of each tenant.

    A row takes a slot while it is tried. Until its outcome is written it stays in flight (`count`) without a slot, so
    that the next claim need not wait for the writing.
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
            # Rows come sorted by lane and tenant: look their counters up once per group.
            if work.lane is not lane or work.tenant_id != tenant_id:
                lane, tenant_id = work.lane, work.tenant_id
                of_lane = self._lanes.setdefault(lane, _Rows())
                of_tenant = self._tenants.setdefault((tenant_id, lane), _Rows())
            of_lane.many += 1
            of_tenant.many += 1
            self._rows[id(work)] = now, of_lane, of_tenant

    def tried(self, work: Job) -> None:
        """Its try has ended: free its slot."""
        self.free += 1
        _, of_lane, of_tenant = self._rows[id(work)]
        of_lane.many -= 1
        of_lane.ended = time.monotonic()
        of_tenant.many -= 1

    def end(self, work: Job) -> float:
        """Its outcome is written, or given up; return for how many seconds it was in flight."""
        return time.monotonic() - self._rows.pop(id(work))[0]

    def of_lane(self, lane: Lane) -> int:
        """Return how many slots a lane uses."""
        found = self._lanes.get(lane)
        return 0 if found is None else found.many

    def is_stalled(self, lane: Lane) -> bool:
        """Whether no try of a lane has ended lately."""
        found = self._lanes.get(lane)
        return found is None or time.monotonic() - found.ended > _STALLS_AFTER

    def of_tenant(self, tenant_id: TenantId, lane: Lane) -> int:
        """Return how many slots a tenant uses in a lane."""
        found = self._tenants.get((tenant_id, lane))
        return 0 if found is None else found.many

    def of_tenants(self) -> set[tuple[TenantId, str]]:
        """Return the tenants with slots and the lane groups; forget the others."""
        self._tenants = {key: rows for key, rows in self._tenants.items() if rows.many}
        return {(tenant_id, lane.group) for tenant_id, lane in self._tenants}

    def count(self) -> int:
        """Return how many rows are in flight."""
        return len(self._rows)

    def oldest_seconds(self) -> float:
        """Return for how many seconds the oldest row has been in flight, or 0. Safe to call from another thread."""
        # Ordered by time, and read in one step of the interpreter.
        first = next(iter(self._rows.values()), None)
        return 0.0 if first is None else time.monotonic() - first[0]


@dataclass(slots=True)
class Found(Generic[W]):
    """Rows found by one claim."""

    works: list[W] = field(default_factory=list)
    #: More is due than there was capacity for.
    full: bool = False
    #: More may be due, and there is capacity for it: claim again at once.
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
    """Claim rows for the free slots (at most `max_rows`), the tenants in turn by weight. Advances the cursors.

    Together with rows in flight, a lane gets no more than its gate allows and than leaves its peers their shares; a
    tenant no more than its part of the slots. Production goes before tests, then the lane with the fewest rows in
    flight, so that a slow host does not stop the others.

    A tenant with one row waits for one round over all tenants: at most the number of tenants with due rows divided by
    the scope of a claim, plus the number with waiting rows divided by 256 (earliest_due_rows.sql). On Citus a tenant
    without due rows a moment ago may wait a tenth of a second longer (known_due.sql).
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
        if (gate := slots_of(lane, stage, tools, in_flight)) > 0
    ]
    if not lanes:
        return Found()
    if stage.kind.together is not None:
        claims = await stage.kind.together(conn, stage.name, lanes, terms)
    else:
        claims = await _lane_by_lane(conn, stage.kind.source, stage.name, lanes, terms)
    return _found(claims, lanes, terms, cursors, stage, in_flight)


def slots_of(lane: Lane, stage: StageConfig[W], tools: StageContext, in_flight: InFlight) -> int:
    """Return how many rows of a lane may be in flight now; 0 or less while its gate is shut."""
    gate = tools.gate(lane, stage.slots)
    if stage.peers[lane] and in_flight.is_stalled(lane):
        return min(gate, max(1, stage.slots // _STALLED_PART))
    return gate


def left_to_others(lane: Lane, stage: StageConfig[W], tools: StageContext, in_flight: InFlight) -> int:
    """Return how many free slots this lane must leave: the reserve against tests, and unused shares of its peers."""
    left = 0 if lane.takes_all else stage.reserve()
    share = stage.shares[lane]
    for peer in stage.peers[lane]:
        left += max(0, min(share, tools.gate(peer, stage.slots)) - in_flight.of_lane(peer))
    return left


def counted_of_tenant(tenant_id: TenantId, lane: Lane, stage: StageConfig[W], in_flight: InFlight) -> int:
    """Return the rows that count against a tenant's part of a lane: those in it, and the excess in its group."""
    elsewhere = -stage.shares[lane]
    for peer in stage.peers[lane]:
        elsewhere += in_flight.of_tenant(tenant_id, peer)
    return in_flight.of_tenant(tenant_id, lane) + max(0, elsewhere)


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
        claim.lane for claim in claims if claim.works and in_flight.of_lane(claim.lane) < stage.shares[claim.lane]
    }
    of_lane = {each.lane: each for each in lanes}
    for claim in claims:
        lane: Lane = claim.lane
        capacity = _capacity(of_lane[lane], terms, len(found.works))
        due = claim.due
        if due is None:
            due, found.capacity_left = len(claim.shares), True  # claim again
        if len(claim.works) >= capacity and not came_to_its_share.isdisjoint(stage.peers[lane]):
            found.capacity_left = True  # slots were left to a peer that has its share by now
        left_out = len(claim.shares) < due
        found.full = found.full or left_out
        if not claim.shares:
            continue
        cursors[lane] = next(reversed(claim.shares))
        claimed = Counter(work.tenant_id for work in claim.works)
        for tenant_id, count in claimed.items():
            held[tenant_id, lane] += count
        found.works += claim.works
        # A tenant that got its whole share may have more rows; and more tenants may be due than one query returns.
        filled = {held[tenant, lane] for tenant, share in claim.shares.items() if claimed[tenant] == share}
        found.full = found.full or len(claim.works) >= capacity or max(filled, default=0) >= terms.max_per_tenant
        if claim.works and len(claim.works) < capacity:
            all_full = min(filled, default=terms.max_per_tenant) >= terms.max_per_tenant
            may_have_more = left_out or due >= terms.scope or not all_full
            found.capacity_left = found.capacity_left or may_have_more
    return found


def _capacity(lane: LaneCapacity, terms: Terms, claimed: int) -> int:
    """Return how many rows of a lane may be claimed after `claimed` rows of the lanes before it."""
    return min(terms.slots - claimed - lane.left_to_others, lane.free, terms.max_rows - claimed)


async def _lane_by_lane(
    conn: Conn, source: Source[W], stage: str, lanes: Sequence[LaneCapacity], terms: Terms
) -> list[LaneClaim[W]]:
    """Find due tenants, divide the slots, and claim lane by lane."""
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
    """Divide the capacity by weight, at least one each; the remainder goes to the first."""
    total = sum(tenant.weight for tenant in tenants)
    spare = capacity - len(tenants)
    shares = [1 + spare * tenant.weight // total for tenant in tenants]
    for index in range(capacity - sum(shares)):
        shares[index % len(shares)] += 1
    return shares
