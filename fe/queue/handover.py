"""Direct hand-over: rows claimed for a stage in the transaction of the stage before.

The rules of a claim hold: a row needs a slot of its lane and tenant, or room in the delay queue, and does not overtake
waiting rows.
"""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

from fe.queue.delay_queue import DelayQueue
from fe.queue.fair_claims import InFlight, counted_of_tenant, left_to_others, slots_of
from fe.queue.outcome import AT_ONCE
from fe.queue.stage import StageConfig, StageContext
from fe.queue.stage_breaker import StageBreaker


class Handover:
    """Takes rows over for one stage; a `NextStage` (result_writer.py).

    `takes`: whether the stage takes rows of a lane now. `has_ended`: whether it starts no more. `begin` tries a row
    that has a slot; `give_up` gives back a held one; `slot_is_free` is called when a reserved slot stays unused.
    """

    def __init__(
        self,
        stage: StageConfig[Any],
        tools: StageContext,
        in_flight: InFlight,
        breaker: StageBreaker,
        *,
        takes: Callable[[Any], bool],
        has_ended: Callable[[], bool],
        begin: Callable[[Any], None],
        give_up: Callable[[Any], None],
        slot_is_free: Callable[[], None],
    ) -> None:
        self._stage = stage
        self._tools = tools
        self._in_flight = in_flight
        self._breaker = breaker
        self._takes = takes
        self._has_ended = has_ended
        self._begin = begin
        self._give_up = give_up
        self._slot_is_free = slot_is_free
        #: Rows (by identity) to be tried at once that have no slot yet.
        self._without_slot: set[int] = set()
        self._delayed = DelayQueue[Any](stage.held, fits=self._fits, begin=self._begin_held, return_row=give_up)
        #: `look_again` tries held rows when a slot becomes free; `run` starts them when due, until cancelled.
        self.look_again, self.run = self._delayed.slot_is_free, self._delayed.run

    @property
    def changes_nothing(self) -> bool:
        """Whether its tries have no effect elsewhere."""
        return self._stage.doubts_go_to is None

    def under_way(self) -> int:
        """Return how many rows are in flight or held."""
        return self._in_flight.count() + self._delayed.count()

    def free_slots(self) -> int:
        """Return how many rows could be started now."""
        return self._in_flight.free

    def reserve(self, work: Any, after: timedelta) -> bool:
        """Reserve a slot for the row now, or room to hold it, until `go_on` or `release`; False where there is none."""
        if not self._takes(work.lane):
            return False
        if self._has_slot(work, after):
            self._in_flight.begin(work)
            return True
        if self._tools.gate(work.lane, self._stage.slots) <= 0 or not self._delayed.has_capacity():
            return False
        self._delayed.reserve()
        if after <= AT_ONCE:
            self._without_slot.add(id(work))
        return True

    def release(self, work: Any, after: timedelta) -> None:
        """The row does not come."""
        if self._is_in_a_slot(work, after):
            self._in_flight.tried(work)
            self._in_flight.end(work)
            self._slot_is_free()
        else:
            self._delayed.release()

    def go_on(self, work: Any, after: timedelta) -> None:
        """The row is claimed: try it after `after`."""
        if self._is_in_a_slot(work, after):
            self._begin(work)
        elif self._has_ended():
            self._delayed.release()
            self._give_up(work)
        else:
            self._delayed.put(work, after)

    def take_all(self) -> Iterator[Any]:
        """Remove and yield the held rows."""
        return self._delayed.take_all()

    def _has_slot(self, work: Any, after: timedelta) -> bool:
        """Whether the row would be tried at once; it does not overtake a held row that waits for a slot."""
        return after <= AT_ONCE and not self._delayed.is_waited_for() and self._fits(work)

    def _is_in_a_slot(self, work: Any, after: timedelta) -> bool:
        if id(work) in self._without_slot:
            self._without_slot.remove(id(work))
            return False
        return after <= AT_ONCE

    def _fits(self, work: Any) -> bool:
        stage, in_flight, lane = self._stage, self._in_flight, work.lane
        return (
            not self._breaker.is_open
            and in_flight.of_lane(lane) < slots_of(lane, stage, self._tools, in_flight)
            and in_flight.free > left_to_others(lane, stage, self._tools, in_flight)
            and counted_of_tenant(work.tenant_id, lane, stage, in_flight) < stage.slots_of_a_tenant()
        )

    def _begin_held(self, work: Any) -> None:
        self._in_flight.begin(work)
        self._begin(work)
