"""Due rows, lanes and terms at random, and what of their claims is compared."""

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.lifecycle import Stage
from fe.store.postgres.db import Conn, Database
from fe.store.queue.capacity import LaneCapacity, LaneClaim, Terms
from fe.store.queue.outbox import OutboxLane, Work
from tests.factories.tenants import LEASE, rows

LANES = [OutboxLane(environment, host) for environment in Environment for host in ("", "ecf", "fc")]

_FILL = """
    INSERT INTO outbox (tenant_id, subject, stage, environment, host, run_at, attempt, epoch, holder, deaths)
    VALUES (%(tenant)s, gen_random_uuid(), %(stage)s, %(environment)s, %(host)s, now() + %(due_in)s, 3, 5, %(holder)s,
            1)
"""


#: The stages that rows are made for.
STAGES = (Stage.SEND, Stage.TRACK)


async def fill(db: Database, spread: random.Random, known: Sequence[TenantId]) -> None:
    """Make rows of these tenants, most of them due and in few lanes; and pause one of the tenants at times."""
    crowded = spread.sample(LANES, 2)
    for number in range(spread.choice([5, 60, 200, 600])):
        lane = spread.choice([*crowded * 9, *LANES])
        await rows(
            db,
            _FILL,
            tenant=spread.choice(known),
            stage=spread.choice(STAGES),
            environment=lane.environment,
            host=lane.host,
            due_in=timedelta(seconds=spread.choice([-100, -100, -20, 100]), milliseconds=number),
            holder=spread.choice([None, "dead"]),
        )
    if spread.random() < 0.3:
        pause = "INSERT INTO pauses VALUES (%(tenant)s, %(environment)s, now(), 'eva', 'audit')"
        await rows(db, pause, tenant=spread.choice(known), environment=spread.choice(["", "ecf"]))


def asked(spread: random.Random, known: Sequence[TenantId]) -> tuple[list[LaneCapacity], Terms]:
    """Lanes and terms of a process with some free slots and some rows in hand."""
    lanes = spread.sample(LANES, spread.choice([1, 3, 9, 9, 9]))
    floor = datetime.now(UTC) - timedelta(seconds=spread.choice([50, 1000, 1000]))
    slots, most = spread.choice([3, 8, 30, 100, 300]), spread.choice([1, 3, 75, 75])
    capacities = [
        LaneCapacity(
            lane,
            spread.choice([TenantId(0), *known]),
            floor,
            slots if spread.random() < 0.8 else 1,
            spread.choice([0, 0, slots // 4]),
        )
        for lane in lanes
    ]
    busy = {(tenant, spread.choice(lanes)): spread.randint(1, 3) for tenant in known if spread.random() < 0.3}
    return capacities, Terms(
        LEASE, "me", slots, slots if spread.random() < 0.8 else 1, spread.choice([2, 64, 64]), most, busy
    )


async def rolled_back(db: Database, work: Any, *args: Any) -> Any:
    async def tried(conn: Conn) -> Any:
        async with conn.transaction(force_rollback=True):
            return await work(conn, *args)

    return await db.run(tried)


def plain(claims: list[LaneClaim[Work]]) -> list[Any]:
    """The parts of a claim to compare: all but inputs, clocks, and how far it looked."""
    return [
        (
            claim.lane,
            claim.due is not None and len(claim.shares) < claim.due,
            list(claim.shares.items()),
            sorted((replace(work, input=None, waited=timedelta(0)) for work in claim.works), key=repr),
        )
        for claim in claims
    ]
