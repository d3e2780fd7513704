"""Which rows are claimed next: lanes in the order of service, tenants in turn by their weights, never all for one."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic

import trio

from fe.identifiers import TenantId
from fe.queue.stage import Job, Lane, StageConfig, TenantShare, Tools, W
from fe.store.postgres.db import Conn

#: How many tenants one claim takes from: bounds what a tenant with one row waits behind tenants with a million.
_SCOPE = 64

#: Before any row can be due.
ALWAYS = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
NO_FLOORS: Mapping[Lane, datetime] = {}


class InFlight:
    """The rows in flight: in all, of each lane and of each tenant; and an event for when a try ends."""

    def __init__(self, slots: int) -> None:
        self.free = slots
        self.of_lane: Counter[Lane] = Counter()
        #: By group too: a tenant's own tests never hold up its production.
        self.of_tenant: Counter[tuple[TenantId, str]] = Counter()
        self.freed = trio.Event()
        self._since: dict[int, float] = {}

    def begin(self, work: Job) -> None:
        """Begin with a claimed row."""
        self.free -= 1
        self.of_lane[work.lane] += 1
        self.of_tenant[work.tenant_id, work.lane.group] += 1
        self._since[id(work)] = time.monotonic()

    def end(self, work: Job) -> None:
        """Its try has ended, however."""
        self.free += 1
        self.of_lane[work.lane] -= 1
        tenant = work.tenant_id, work.lane.group
        self.of_tenant[tenant] -= 1
        if not self.of_tenant[tenant]:
            del self.of_tenant[tenant]
        del self._since[id(work)]
        self.freed.set()
        self.freed = trio.Event()

    def count(self) -> int:
        """How many are in flight."""
        return len(self._since)

    def oldest_seconds(self) -> float:
        """For how long the oldest has been in flight; 0 when nothing is. Safe to call from another thread."""
        # Taken in the order of time, and one step of the interpreter: nothing can come in between.
        first = next(iter(self._since.values()), None)
        return 0.0 if first is None else time.monotonic() - first


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
    tools: Tools,
    cursors: dict[Lane, TenantId],
    in_flight: InFlight,
    floors: Mapping[Lane, datetime] = NO_FLOORS,
    *,
    at_most: int | None = None,
) -> Found[W]:
    """Claim rows for the free slots (no more than `at_most`), the tenants in turn by weight. Moves the cursors on.

    With what is in flight already, never more of a lane than its gate lets through, nor of a tenant than its part of
    the slots. A tenant with one row waits behind others with any number of rows for as many claims as it takes to go
    once round all tenants that have work due: at most their number divided by the scope of a claim.
    """
    found, held = Found[W](), Counter(in_flight.of_tenant)
    source, limit = stage.kind.source, stage.slots_of_a_tenant()
    lanes = [lane for lane in stage.lanes if tools.gate(lane, stage.slots) > 0]
    due = await source.due_tenants(conn, stage.name, [(lane, cursors[lane]) for lane in lanes], _SCOPE, floors=floors)
    for lane in lanes:
        capacity = min(in_flight.free - len(found.works), tools.gate(lane, stage.slots) - in_flight.of_lane[lane])
        if not lane.takes_all:
            capacity -= stage.reserve()
        if at_most is not None:
            capacity = min(capacity, at_most - len(found.works))
        tenants = [tenant for tenant in due[lane] if held[tenant.tenant_id, lane.group] < limit]
        served = tenants[: max(capacity, 0)]
        found.full = found.full or len(served) < len(due[lane])
        if not served:
            continue
        cursors[lane] = served[-1].tenant_id
        shares = {
            tenant.tenant_id: min(share, limit - held[tenant.tenant_id, lane.group])
            for tenant, share in zip(served, divide(served, capacity), strict=True)
        }
        works = await source.claim(
            conn,
            stage.name,
            lane,
            list(shares),
            list(shares.values()),
            lease=tools.lease,
            holder=tools.holder,
            floor=floors.get(lane, ALWAYS),
        )
        claimed = Counter(work.tenant_id for work in works)
        for tenant_id, count in claimed.items():
            held[tenant_id, lane.group] += count
        found.works += works
        # Who got all of its share may have more; and there may be tenants beyond those that one look takes in.
        filled = {held[tenant_id, lane.group] for tenant_id, share in shares.items() if claimed[tenant_id] == share}
        found.full = found.full or len(works) >= capacity or max(filled, default=0) >= limit
        if works and len(works) < capacity:
            may_have_more = len(due[lane]) == _SCOPE or min(filled, default=limit) < limit
            found.capacity_left = found.capacity_left or may_have_more
    return found


def divide(tenants: Sequence[TenantShare], capacity: int) -> list[int]:
    """Divide the capacity by weight, at least one each; what rounding leaves goes to the first."""
    total = sum(tenant.weight for tenant in tenants)
    spare = capacity - len(tenants)
    shares = [1 + spare * tenant.weight // total for tenant in tenants]
    for index in range(capacity - sum(shares)):
        shares[index % len(shares)] += 1
    return shares
