"""The rates of the additional taxes that documents are completed and checked with: ours, and what operators set."""

from datetime import date

import trio

from fe.ecf.taxes import RATES, Period, Rates
from fe.store.postgres.db import Database
from fe.store.records import excise_rates

#: How long a process may go on with rates that it has read, in seconds.
FRESH = 30.0


class KnownRates:
    """Cache of the tax rates; one per process, or one per part of it."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._rates = RATES
        self._read_at: float | None = None

    async def __call__(self) -> Rates:
        """Return the rates, read no more than FRESH seconds ago. Raises DatabaseUnavailable."""
        if self._read_at is None or trio.current_time() - self._read_at >= FRESH:
            asked_at = trio.current_time()
            self._rates = rates_of(await self._db.run(excise_rates.listed))
            self._read_at = asked_at
        return self._rates


def rates_of(rows: list[excise_rates.ExciseRate]) -> Rates:
    """The release's own rates, and those of `rows` before them."""
    periods: dict[str, tuple[Period, ...]] = {}
    for row in rows:
        periods[row.code] = (*periods.get(row.code, ()), Period(row.rate, row.since, row.until))
    return RATES.knowing(periods)


def known_periods(rates: Rates, code: str) -> list[Period]:
    """The periods of a code that are known, earliest first; without what a release knows only as a number."""
    return sorted((each for each in rates.periods[code] if each.until != date.min), key=lambda each: each.since)
