"""The charging stage: one charge exactly once, whatever the processor answers and wherever a process crashes.

Before each charge the processor is asked whether it has it: this database may be an older one that was restored. The
intent to charge is committed first. Repeats use the same idempotency key, so two workers at once make one charge.

A refusal of the query proves nothing about earlier charges. A refusal of the charge proves that nothing was charged,
since the processor had just said that it has no such item.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from fe.metering.processor import Processor, ProcessorDiffers, ProcessorRefused, ProcessorUnavailable
from fe.process import failpoints
from fe.queue.backoff import retry_gap
from fe.queue.outcome import End, Outcome, Park, Retry, TryLater, Writer, one_by_one
from fe.queue.stage import StageConfig, WorkKind
from fe.store.postgres.db import Conn, Database
from fe.store.records import charges
from fe.store.records.charges import CHARGES, ChargeLane, ChargeWork

#: Four calls of ten seconds each, of whom and what to find and to add, and well below a lease.
_BUDGET = 40.0
#: Time until a failing charge becomes a dead letter, with at most an hour between tries.
_PATIENCE = timedelta(days=3)
_LONGEST_GAP = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Charged(End):
    """The processor has it, under this id."""

    item_id: str
    name: str = "charged"


@dataclass(frozen=True, slots=True)
class ChargeRefused(End):
    """The processor will not have it: an operator's matter. `nothing_charged`: certainly, by no try before either."""

    reason: str
    nothing_charged: bool
    name: str = "refused"


class Charger:
    """The handler of the stage."""

    def __init__(self, db: Database, processor: Processor) -> None:
        self._db = db
        self._processor = processor

    async def charge(self, work: ChargeWork) -> Outcome:
        """Make one try. Raises TryLater, LeaseLost, DatabaseUnavailable."""
        charge = await self._db.run(charges.claimed, work)
        was_asked = False
        try:
            item_id = await self._processor.find(charge)
            was_asked = True
            if item_id is None:
                await self._db.run(charges.begin, work)
                failpoints.reached("charging")
                item_id = await self._processor.add(charge)
        except ProcessorRefused as refused:
            return ChargeRefused(refused.reason, nothing_charged=was_asked)
        except ProcessorUnavailable as outage:
            if isinstance(outage, ProcessorDiffers):
                await self._db.run(charges.begin, work)  # sent it was, be it by a database that was restored since
            raise TryLater(outage.reason, outage.after) from outage
        failpoints.reached("charged")
        return Charged(item_id)


def charge_gap(attempt: int, spread: Random) -> timedelta:
    """How long to wait after the try of this number: doubling from seconds to an hour."""
    return min(retry_gap(attempt, spread) * (1 << max(min(attempt, 14) - 7, 0)), _LONGEST_GAP)


def charge_stage(db: Database, processor: Processor) -> StageConfig[ChargeWork]:
    """The stage of charges, with what writes their outcomes."""
    return StageConfig(
        charges.STAGE,
        WorkKind(CHARGES, WRITERS, subject="charge"),
        Charger(db, processor).charge,
        slots=4,
        lanes=[ChargeLane()],
        budget=_BUDGET,
        gap=charge_gap,
        max_attempts=None,
        patience=_PATIENCE,
    )


async def _charged(conn: Conn, work: ChargeWork, outcome: Charged, at: datetime) -> bool:
    return await charges.charged(conn, work, item_id=outcome.item_id, at=at)


async def _refused(conn: Conn, work: ChargeWork, outcome: ChargeRefused, at: datetime) -> bool:
    write = charges.refused if outcome.nothing_charged else charges.failed
    return await write(conn, work, reason=outcome.reason, at=at)


async def _park(conn: Conn, work: ChargeWork, outcome: Park, at: datetime) -> bool:
    return await charges.failed(conn, work, reason=outcome.reason, at=at)


async def _retry(conn: Conn, work: ChargeWork, outcome: Retry, _: datetime) -> bool:
    return await charges.retry(conn, work, after=outcome.after, reason=outcome.reason, counts=outcome.counts)


WRITERS: Mapping[type[Outcome], Writer[ChargeWork]] = {
    Charged: one_by_one(_charged),
    ChargeRefused: one_by_one(_refused),
    Park: one_by_one(_park),
    Retry: one_by_one(_retry),
}
