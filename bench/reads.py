"""How many pages the statements of a document's way look at: a count that a busy machine does not change.

    python -m bench.reads DSN TENANT      # prints one line of JSON: pages by call, for one batch

A batch of documents goes from the accept to the verdict by the functions that the service calls, as one transaction
that is undone, so that a service beside it does not notice, and it can be done again in the same place. Pages are of
8 kB, in the server's memory or not. It asks pg_stat_statements, which takes Debian's Postgres (bench/debian.py).
"""

import json
import statistics
import subprocess
import sys
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import trio

from bench.stack import Stack
from bench.steady import Documents, new_submission, the_next
from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId, TrackId
from fe.lifecycle import NumberFate, Stage, Status
from fe.queue.executor import FLOORS_SECONDS, WHOLE_FLOORS_SECONDS
from fe.store.postgres.db import Conn, open_database
from fe.store.queue import outbox, steps
from fe.store.queue.capacity import LaneCapacity, Terms
from fe.store.queue.claim import claim_together
from fe.store.queue.outbox import OutboxLane
from fe.store.records import history, submissions

T = TypeVar("T")

BATCH = 20
ROUNDS = 3
LEASE = timedelta(seconds=60)
#: Calls that are made by the clock: how often for one batch, at 300 documents a second. The others are made once.
BY_THE_CLOCK = {
    "floors of signing, whole": BATCH / 300 / WHOLE_FLOORS_SECONDS,
    "floors of signing": BATCH / 300 / FLOORS_SECONDS,
}
LANES = [OutboxLane(environment, host) for environment in Environment for host in ("", "ecf", "fc")]

_PAGES = """
    SELECT coalesce(sum(s.shared_blks_hit + s.shared_blks_read), 0)::bigint
      FROM pg_stat_statements AS s
     WHERE s.toplevel AND s.userid = current_user::regrole AND s.query NOT LIKE '%%pg_stat_statements%%'
"""


class Undone(Exception):
    """Rolls the transaction back."""


class Road:
    """One batch's way, and the pages of each call."""

    def __init__(self, conn: Conn, tenant_id: TenantId) -> None:
        self._conn, self._tenant = conn, tenant_id
        self.pages: dict[str, int] = {}

    async def count(self, what: str, call: Awaitable[T]) -> T:
        """Make a call, and note what it looks at."""
        before = await self._looked_at()
        result = await call
        self.pages[what] = await self._looked_at() - before
        return result

    async def _looked_at(self) -> int:
        cursor = await self._conn.execute(_PAGES)
        (row,) = await cursor.fetchall()
        return int(row[0])

    async def go(self) -> None:
        """From the accept to the verdict."""
        conn, count, now = self._conn, self.count, datetime.now(UTC)
        await conn.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        news = [
            (replace(new_submission(now), tenant_id=self._tenant, environment=Environment.TESTECF), now)
            for _ in range(BATCH)
        ]
        await count("accept", submissions.accept_many(conn, news))
        floors = await count("floors of signing, whole", outbox.floors_of(conn, Stage.SIGN, LANES))
        floors = await count("floors of signing", outbox.floors_of(conn, Stage.SIGN, LANES, floors))
        lanes = [LaneCapacity(lane, TenantId(0), floors[lane], BATCH, 0) for lane in LANES]
        terms = Terms(LEASE, "reads", BATCH, BATCH, 64, BATCH, {})
        claims = await count("claim", claim_together(conn, Stage.SIGN, lanes, terms))
        works = [work for claim in claims for work in claim.works]
        assert len(works) == BATCH, f"{len(works)} were claimed"
        leases: Sequence[timedelta | None] = [LEASE] * BATCH
        document = Documents.document(now)
        await count("book signed", steps.signed(conn, works, [document] * BATCH, at=now, leases=leases))
        sent = [the_next(work, Stage.SEND) for work in works]
        ids, soon = [TrackId(str(work.subject)) for work in sent], [timedelta(0)] * BATCH
        received = outbox.received(conn, sent, at=now, track_ids=ids, afters=soon, replies=[{}] * BATCH, leases=leases)
        await count("book received", received)
        verdict = outbox.verdict(
            conn,
            [the_next(work, Stage.TRACK) for work in sent],
            at=now,
            statuses=[Status.ACCEPTED] * BATCH,
            track_ids=ids,
            responses=[{"trackStatus": {"estado": "Aceptado"}}] * BATCH,
            fates=[NumberFate.USED] * BATCH,
        )
        booked = await count("book verdict", verdict)
        assert all(booked), f"{booked.count(False)} were not booked"
        await count("read by trackId", submissions.find(conn, tenant_id=self._tenant, track_or_id=ids[0]))
        newest = history.after(conn, self._tenant, history.HistoryFilter(), limit=50, cursor=works[0].subject)
        await count("list the next fifty", newest)


async def pages(dsn: str, tenant_id: TenantId) -> dict[str, float]:
    """Pages of each call, the median of some rounds; those of the first, which makes plans, do not count."""
    rounds: list[dict[str, int]] = []

    async def undone(conn: Conn) -> None:
        road = Road(conn, tenant_id)
        await road.go()
        rounds.append(road.pages)
        raise Undone

    async with open_database(dsn, max_size=1) as db:
        for _ in range(1 + ROUNDS):
            with suppress(Undone):
                await db.transact(undone)
    return {what: statistics.median(each[what] for each in rounds[1:]) for what in rounds[0]}


def pages_of(stack: Stack) -> dict[str, float]:
    """The same, counted by a process of its own."""
    command = [sys.executable, "-m", "bench.reads", stack.dsn, str(stack.tenant_id)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"pages could not be counted: {done.stderr[-2000:]}")
    said: dict[str, float] = json.loads(done.stdout)
    return said


def of_a_batch(pages: dict[str, float]) -> float:
    """Sum what one batch costs: calls by the clock by their share."""
    return sum(many * BY_THE_CLOCK.get(what, 1) for what, many in pages.items())


def beside(empty: dict[str, float], grown: dict[str, float]) -> list[dict[str, Any]]:
    """Rows of a table: each call's pages, here and there."""
    return [{"call": what, "empty": empty[what], "grown": grown[what]} for what in grown]


if __name__ == "__main__":
    print(json.dumps(trio.run(pages, sys.argv[1], TenantId(int(sys.argv[2])))))
