"""Histories of one tenant, lived through the real booking functions, with the naive record of them beside."""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from uuid import uuid4

import pytest
from hypothesis import strategies as st

from fe.ecf.catalogue import Environment
from fe.identifiers import ActionId, TenantId, TrackId
from fe.lifecycle import NumberFate, Stage, Status
from fe.metering import aggregator
from fe.store.postgres.db import Database
from fe.store.postgres.errors import LeaseLost
from fe.store.queue import dead_letters
from fe.store.queue.audit import OperatorAction
from fe.store.records import metering, usage
from tests.factories import bookings
from tests.factories.tenants import make_submission, take
from tests.metering.naive import Document, days_of, p95

#: Shortly before a month ends.
BEGIN = datetime(2026, 10, 31, 20, tzinfo=UTC)
VERDICTS = (Status.ACCEPTED, Status.CONDITIONAL, Status.REJECTED)

#: The next event: its kind, its subject, and how many hours later. Submissions come most often, because every other
#: event needs one.
STEPS = st.tuples(
    st.sampled_from(
        ["submit"] * 6
        + ["receive", "verdict"] * 4
        + ["twice", "relieved", "fail", "die", "replay", "discard", "fold", "close", "restart"]
    ),
    st.integers(0, 1 << 16),
    st.sampled_from((0.0, 0.001, 0.2, 1.0, 5.0, 13.0)),
)


def action(at: datetime) -> OperatorAction:
    return OperatorAction(ActionId(uuid4()), at, "ana", "a test")


@dataclass
class History:
    """One tenant's life so far."""

    db: Database
    tenant: TenantId
    now: datetime = BEGIN
    documents: list[Document] = field(default_factory=list)

    async def live(self, steps: list[tuple[str, int, float]]) -> None:
        for what, which, hours in steps:
            self.now += timedelta(hours=hours)
            await self.step(what, which)

    async def step(self, what: str, which: int) -> None:
        if what == "submit":
            environment = (Environment.ECF, Environment.ECF, Environment.TESTECF)[which % 3]
            subject = await make_submission(
                self.db, self.tenant, stage=Stage.SEND, at=self.now, environment=environment
            )
            self.documents.append(Document(subject, environment, self.now))
        elif what == "fold":
            await aggregator.fold_all(self.db, self.tenant)
        elif what == "close":
            await self.db.run(metering.close, self.tenant, self.now.date())
        elif what == "restart":
            await aggregator.restart(self.db, self.tenant)
        else:
            place = "dead" if what in ("replay", "discard") else "waiting"
            candidates = [one for one in self.documents if one.place == place]
            if candidates:
                await self.happen(what, candidates[which % len(candidates)], which)

    async def happen(self, what: str, one: Document, which: int) -> None:
        if what == "replay":
            await self.db.transact(dead_letters.replay, action(self.now), self.tenant, one.subject)
            one.place = "waiting"
            return
        if what == "discard":
            await self.db.transact(dead_letters.discard, action(self.now), self.tenant, one.subject)
            one.place, one.failed_at, one.status = "ended", self.now, Status.ERROR
            return
        work = await take(self.db, one.subject)
        if what == "receive":
            await self.db.run(
                bookings.received,
                work,
                at=self.now,
                track_id=TrackId("t"),
                after=timedelta(0),
                reply={},
            )
            one.answered_at = one.answered_at or self.now
        elif what == "fail":
            await self.db.run(bookings.failure, work, at=self.now, response={"error": "x"}, fate=NumberFate.REUSABLE)
            one.place, one.failed_at, one.status = "ended", self.now, Status.ERROR
        elif what == "die":
            await self.db.run(bookings.dead_letter, work, at=self.now, error="x")
            one.place = "dead"
        else:
            status = VERDICTS[which % 3]
            said = {"at": self.now, "status": status, "track_id": None, "response": {}, "fate": NumberFate.USED}
            if what == "relieved":  # another process has claimed it since
                successor = await take(self.db, one.subject)
                with pytest.raises(LeaseLost):
                    await self.db.run(bookings.verdict, work, **said)  # type: ignore[arg-type]
                work = successor
            await self.db.run(bookings.verdict, work, **said)  # type: ignore[arg-type]
            if what == "twice":
                with pytest.raises(LeaseLost):
                    await self.db.run(bookings.verdict, work, **said)  # type: ignore[arg-type]
            one.place, one.verdict_at, one.status = "ended", self.now, status
            one.answered_at = one.answered_at or self.now

    async def days_agree_once_closed(self) -> None:
        await aggregator.fold_all(self.db, self.tenant)
        assert await self.db.run(metering.close, self.tenant, self.now.date())
        await self.days_agree()

    async def days_agree(self, *, exact: bool = False) -> None:
        """Check the reported days before today against the record; sketches may be 1 % off."""
        today = self.now.date()
        told = await self.db.run_for(self.tenant, usage.days, midnight(date(2026, 10, 1)), midnight(today))
        expected = days_of(self.documents, today)
        counts = ("submitted", "accepted", "conditional", "rejected", "pending")
        assert {(day.day, day.environment.value): [getattr(day, name) for name in counts] for day in told} == {
            key: [value[name] for name in counts] for key, value in expected.items()
        }
        for day in told:
            latencies = expected[day.day, day.environment.value]["latencies"]
            if not latencies:
                assert (day.average_ms, day.p95_ms) == (None, None)
                continue
            assert day.average_ms == pytest.approx(sum(latencies) / len(latencies), rel=1e-6, abs=1e-3)
            # Below a millisecond nothing is told apart.
            assert day.p95_ms == pytest.approx(p95(latencies), rel=1e-9 if exact else 0.0101, abs=1)


def midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)
