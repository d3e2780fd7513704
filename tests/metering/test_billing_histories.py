"""Billing over random histories against a naive count: prices that change, months that end, retries, late ends."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal

import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fe.clock import system_clock
from fe.ecf.catalogue import Environment
from fe.lifecycle import Status
from fe.metering import aggregator, closing
from fe.store.postgres.db import open_database
from fe.store.records import billing, charges
from tests.factories.tenants import make_tenant, rows
from tests.metering.histories import STEPS, History

PRICES = ("0.035", "1", "0.3333", "0")
OCTOBER, NOVEMBER = date(2026, 10, 1), date(2026, 11, 1)
LAST_OF_OCTOBER = datetime(2026, 10, 31, tzinfo=UTC)
_TERMS = ("enable", "enable", "disable", "price", "close the month", "reconcile", "miscount")
_TERMS_STEPS = st.tuples(st.sampled_from(_TERMS), st.integers(0, 1 << 16), st.just(0.001))
#: A step of any kind takes three hours. So half of the steps are quick ones, which make something to bill, and a day of
#: October is left when a history begins: else next to nothing is billed in the one month that ends.
_QUICK_STEPS = st.tuples(st.sampled_from(("submit", "verdict")), st.integers(0, 1 << 16), st.sampled_from((0.001, 0.2)))
BILLED_STEPS = _QUICK_STEPS | _QUICK_STEPS | _TERMS_STEPS | STEPS

#: Usual start of a history, so that one of its months is frozen and charged.
ONE_BILLED = (("enable", 0, 0.0), ("submit", 0, 0.001), ("verdict", 0, 0.001))


@dataclass
class Frozen:
    """A month of the record: at which price, and how many."""

    price: Decimal
    count: int = 0


@dataclass
class BilledHistory(History):
    """A life with prices."""

    is_enabled: bool = False
    price: Decimal | None = None
    months: dict[date, Frozen] = field(default_factory=dict)
    counted: set[object] = field(default_factory=set)

    async def step(self, what: str, which: int) -> None:
        price = Decimal(PRICES[which % len(PRICES)])
        if what == "enable":
            await self.db.run(
                billing.enable, self.tenant, subscription_id="sub_1", unit_price=price, currency="DOP", at=self.now
            )
            self.is_enabled, self.price = True, price
        elif what == "disable":
            await self.db.run(billing.disable, self.tenant, at=self.now)
            self.is_enabled = False
        elif what == "price":
            await self.db.run(billing.set_price, self.tenant, unit_price=price, at=self.now)
            self.price = price
        elif what == "close the month":
            await closing.close_month(self.db, self.tenant, OCTOBER, system_clock)
        elif what == "reconcile":
            for month in (OCTOBER, NOVEMBER):
                assert not await closing.reconcile_month(self.db, self.tenant, month)
        elif what == "miscount":
            await rows(
                self.db,
                "UPDATE billing_months SET counted = counted + %(many)s WHERE tenant_id = %(tenant)s",
                many=which % 7 + 1,
                tenant=self.tenant,
            )
            for month in self.months:
                assert await closing.reconcile_month(self.db, self.tenant, month) == which % 7 + 1
        else:
            await super().step(what, which)
            self.count()

    def count(self) -> None:
        """Return what was accepted in production since the last look, under the current terms."""
        for one in self.documents:
            if one.verdict_at is None or one.subject in self.counted:
                continue
            self.counted.add(one.subject)
            accepted = one.status in (Status.ACCEPTED, Status.CONDITIONAL)
            if self.is_enabled and accepted and one.environment is Environment.ECF:
                assert self.price is not None
                month = one.verdict_at.date().replace(day=1)
                self.months.setdefault(month, Frozen(self.price)).count += 1

    async def months_agree(self) -> None:
        for month in (OCTOBER, NOVEMBER):
            told = await self.db.run_for(self.tenant, billing.snapshot, month)
            frozen = self.months.get(month)
            assert told.enabled == self.is_enabled
            assert told.emissions == (frozen.count if frozen else 0)
            assert told.unit_price == (frozen.price if frozen else None)

    async def charges_agree(self) -> None:
        """The charges of a month add up to its total, rounded once."""
        made = await self.db.run(charges.of_tenant, self.tenant)
        frozen = self.months.get(OCTOBER, Frozen(Decimal(0)))
        total = (frozen.count * frozen.price).quantize(Decimal("0.01"), ROUND_HALF_UP)
        assert sum((one.amount for one in made), Decimal(0)) == total
        assert Counter(one.month for one in made).keys() <= {OCTOBER}  # November is not over
        assert sorted(one.part for one in made) == list(range(len(made)))


async def finished(history: BilledHistory) -> None:
    await history.months_agree()
    await aggregator.fold_all(history.db, history.tenant)
    await history.months_agree()
    await history.days_agree_once_closed()
    for month in (OCTOBER, NOVEMBER):
        assert not await closing.reconcile_month(history.db, history.tenant, month)
    for again in range(2):
        amount = await closing.close_month(history.db, history.tenant, OCTOBER, system_clock)
        assert amount is not None
        assert not (again and amount)
        await history.charges_agree()
    await history.months_agree()


def test_months_and_charges_are_what_follows_from_what_happened(shared_dsn: str) -> None:
    charged = []

    async def example(steps: list[tuple[str, int, float]]) -> None:
        async with open_database(shared_dsn, max_size=2) as db:
            history = BilledHistory(db, await make_tenant(db), LAST_OF_OCTOBER)
            await aggregator.restart(db, history.tenant)
            await history.live([*ONE_BILLED, *steps] if len(steps) % 3 != 1 else steps)
            await finished(history)
            charged.extend(await db.run(charges.of_tenant, history.tenant))

    @given(steps=st.lists(BILLED_STEPS, min_size=15, max_size=40))
    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    def any_history(steps: list[tuple[str, int, float]]) -> None:
        trio.run(example, steps)

    any_history()

    assert charged  # else the histories agree because nothing happened in them


async def late(history: BilledHistory, at: datetime) -> None:
    """An emission whose verdict is of a month that is over, whenever it is written down."""
    now, history.now = history.now, at
    await history.step("submit", 0)
    one = history.documents[-1]
    await history.happen("verdict", one, 0)
    history.count()
    history.now = now


def test_what_turns_up_after_a_month_was_closed_is_charged_once(shared_dsn: str) -> None:
    parts = []

    async def example(many: list[int]) -> None:
        async with open_database(shared_dsn, max_size=2) as db:
            history = BilledHistory(db, await make_tenant(db))
            await aggregator.restart(db, history.tenant)
            await history.step("enable", 2)  # thirds of cents: rounded once, not part by part
            end = datetime(2026, 10, 31, 23, 59, tzinfo=history.now.tzinfo)
            for count in many:
                for number in range(count):
                    await late(history, end + timedelta(milliseconds=number))
                await closing.close_month(db, history.tenant, OCTOBER, system_clock)
                await history.charges_agree()
            parts.append(len(await db.run(charges.of_tenant, history.tenant)))

    @given(many=st.lists(st.integers(0, 4), min_size=1, max_size=4))
    @settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
    def any_number(many: list[int]) -> None:
        trio.run(example, many)

    any_number()

    assert max(parts) > 1  # something was charged after what the month was closed with
