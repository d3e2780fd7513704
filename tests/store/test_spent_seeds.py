"""Spent seeds are forgotten when they are refused by their age alone: however many were left, in parts."""

from datetime import UTC, datetime
from itertools import pairwise

import trio

from fe.actors.partition_maintenance import maintain_partitions
from fe.store.postgres.db import Database
from fe.store.records import spent_seeds
from tests.factories.tenants import make_tenant, rows
from tests.waiting import PATIENCE

#: Ten per minute of the last four hours, none deleted.
_SPENT = """
    INSERT INTO spent_seeds (tenant_id, seed, expires_at)
    SELECT %(tenant)s, int8send(minute * 10 + nth), now() - minute * interval '1 minute'
      FROM generate_series(0, 239) AS minute, generate_series(1, 10) AS nth
"""
_OF_THE_LAST_HOUR = 10 * 60


async def _how_many(db: Database) -> int:
    (row,) = await rows(db, "SELECT count(*)::int AS many FROM spent_seeds")
    return int(row["many"])


async def test_one_statement_forgets_those_of_an_hour(db: Database, worker_db: Database) -> None:
    await rows(db, _SPENT, tenant=await make_tenant(db))
    left = [await _how_many(db)]

    while await worker_db.run(spent_seeds.forget):
        left.append(await _how_many(db))
    left.append(await _how_many(db))

    assert left[-1] == _OF_THE_LAST_HOUR
    assert max(before - after for before, after in pairwise(left)) <= 10 * 61


async def test_the_house_is_not_in_order_before_all_are_forgotten(
    db: Database, worker_db: Database, nursery: trio.Nursery
) -> None:
    await rows(db, _SPENT, tenant=await make_tenant(db))

    nursery.start_soon(maintain_partitions, worker_db, lambda: datetime.now(UTC))

    with trio.fail_after(PATIENCE):
        while await _how_many(db) > _OF_THE_LAST_HOUR:  # noqa: ASYNC110  (another's session)
            await trio.sleep(0.01)
