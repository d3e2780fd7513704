"""A stage that is quicker than the one its rows go on to claims what may go straight on, and always something."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest
import trio

from fe.actors.writers import submission_kind
from fe.clock import system_clock
from fe.lifecycle import Stage
from fe.monitoring.metrics import Metrics
from fe.queue.executor import run_stage
from fe.queue.result_writer import ResultWriter
from fe.queue.stage import Job
from fe.store.postgres.db import Conn, Database
from fe.store.queue.capacity import LaneCapacity, LaneClaim, Terms
from fe.store.queue.outbox import Work
from tests.queue.stage import done, make_stage, make_tools

SLOTS = 32


@dataclass
class Ahead:
    """The next stage with some free slots: a `NextStage` of which only that is used."""

    free: int
    changes_nothing = False

    def under_way(self) -> int:
        return 0

    def free_slots(self) -> int:
        return self.free

    def reserve(self, work: Job, after: timedelta) -> bool:
        return False

    go_on = release = NotImplemented


async def most_claimed(db: Database, free: int | None, **of_stage: Any) -> int:
    """How many rows the first claim of a stage asks for at most."""
    asked, heard = list[int](), trio.Event()

    async def together(
        conn: Conn, stage: str, lanes: Sequence[LaneCapacity], terms: Terms
    ) -> Sequence[LaneClaim[Work]]:
        asked.append(terms.max_rows)
        heard.set()
        return []

    kind = replace(submission_kind(Metrics()), together=together)
    stage = make_stage(done, slots=SLOTS, kind=kind, **of_stage)
    bookings, stopping = ResultWriter(kind, db, system_clock), trio.Event()
    if free is not None:
        bookings.next_stages[Stage.SEND] = Ahead(free)
    with trio.fail_after(60):
        async with bookings.running(), trio.open_nursery() as nursery:
            nursery.start_soon(run_stage, stage, make_tools(db), stopping, bookings)
            await heard.wait()
            stopping.set()
    return asked[0]


@pytest.mark.parametrize(
    ("free", "claimed"),
    [
        (SLOTS, SLOTS),
        (2 * SLOTS, SLOTS),
        (10, 10),
        # While the next stage waits for the authority, this stage's work is still useful.
        (0, SLOTS // 8),
        # This process does not run the next stage: others do.
        (None, SLOTS),
    ],
)
async def test_no_more_is_claimed_than_may_go_straight_on(free: int | None, claimed: int, db: Database) -> None:
    assert await most_claimed(db, free, into=Stage.SEND) == claimed


async def test_a_stage_that_leads_to_none_claims_for_all_its_slots(db: Database) -> None:
    assert await most_claimed(db, 0) == SLOTS
