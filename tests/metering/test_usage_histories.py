"""Usage over random histories, compared with a naive count, with folds, closes and rebuilds in between."""

import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fe.metering import aggregator
from fe.store.postgres.db import open_database
from fe.store.records import metering
from tests.factories.tenants import make_tenant
from tests.metering.histories import STEPS, History


@given(steps=st.lists(STEPS, min_size=20, max_size=40))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_days_are_what_follows_from_what_happened(shared_dsn: str, steps: list[tuple[str, int, float]]) -> None:
    async def example() -> None:
        async with open_database(shared_dsn, max_size=2) as db:
            history = History(db, await make_tenant(db))
            await aggregator.restart(db, history.tenant)
            await history.live(steps)
            today = history.now.date()

            await aggregator.restart(db, history.tenant)
            await history.days_agree(exact=True)  # nothing is closed: read off the submissions
            for again in range(3):
                await aggregator.fold_all(db, history.tenant)
                assert await db.run(metering.close, history.tenant, today)
                await history.days_agree()
                if again == 1:
                    await aggregator.restart(db, history.tenant)

    trio.run(example)


@given(steps=st.lists(STEPS.filter(lambda step: step[0] != "restart"), min_size=20, max_size=40))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_what_is_added_as_it_happens_comes_to_the_same(shared_dsn: str, steps: list[tuple[str, int, float]]) -> None:
    async def example() -> None:
        async with open_database(shared_dsn, max_size=2) as db:
            history = History(db, await make_tenant(db))
            await aggregator.restart(db, history.tenant)
            await history.live(steps)

            for _ in range(2):
                await aggregator.fold_all(db, history.tenant)
                assert await db.run(metering.close, history.tenant, history.now.date())
                await history.days_agree()

    trio.run(example)
