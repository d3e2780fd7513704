"""The rates that a process caches: the release's, and those of operators, read no more often than needed."""

from datetime import UTC, date, datetime
from decimal import Decimal

import trio

from fe.issuing.rates import FRESH, KnownRates
from fe.store.postgres.db import Database
from fe.store.records import excise_rates
from fe.store.records.excise_rates import ExciseRate

DAY = date(2026, 2, 1)


async def set_rate(db: Database, rate: str) -> None:
    row = ExciseRate("006", date(2026, 1, 1), date(2026, 3, 31), Decimal(rate), datetime(2026, 1, 1, tzinfo=UTC), "ana")
    await db.run(excise_rates.put, row)


async def test_a_rate_that_was_set_is_known_when_the_last_look_is_old_enough(db: Database) -> None:
    known = KnownRates(db)
    assert not (await known()).on("006", DAY).confirmed
    await set_rate(db, "752.10")
    assert not (await known()).on("006", DAY).confirmed

    known._read_at = trio.current_time() - FRESH

    assert (await known()).on("006", DAY).rate == Decimal("752.10")
    assert (await known()).on("006", DAY).confirmed
