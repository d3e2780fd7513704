"""Recurring receipts over a real database: issued once, on their day; held with the reason; killed at any moment."""

import json
import random
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
import trio

from fe.catalogue.entries import EntrySource, check_customer
from fe.catalogue.fields import EntryId
from fe.ecf.catalogue import Environment
from fe.ecf.dates import ZONE
from fe.ecf.document import NotADocument
from fe.identifiers import PORTAL_KEY, TenantId
from fe.issuing.recurring import (
    BadTemplate,
    NoSuchRecurring,
    OtherVersion,
    RecurringConflict,
    TurnAction,
    content_of,
    decide,
    delete,
    put,
    read_template,
)
from fe.issuing.recurring_runner import RecurringRunner
from fe.issuing.submitting import Submitting
from fe.limits import NO_QUOTA, DocumentQuota
from fe.monitoring.metrics import Metrics
from fe.monitoring.submission_log import SubmissionLog
from fe.store.postgres.db import Database
from fe.store.queue.wakeups import Wakeups
from fe.store.records import recurring
from fe.store.records.catalogue import CUSTOMERS
from fe.store.records.recurring import RecurringContent, RecurringRecord, RecurringState, TurnReason, TurnState
from tests.factories.tenants import rows
from tests.http.front import invoice_payload, make_tenant
from tests.http.test_imports import give_certificate
from tests.store.test_accept_many import make_sequence

HERE = Environment.TESTECF
NOVEMBER = datetime(2026, 11, 20, 12, tzinfo=ZONE)


def at(year: int, month: int, day: int, hour: int = 7) -> datetime:
    return datetime(year, month, day, hour, tzinfo=ZONE)


@dataclass
class Shop:
    """A tenant with recurring receipts, and a front's runner with a clock that tests set."""

    db: Database
    front: Database
    tenant: TenantId
    now: datetime = NOVEMBER

    def __post_init__(self) -> None:
        self.submitting = Submitting(self.front, Wakeups(self.front), Metrics(), SubmissionLog())
        self.runner = RecurringRunner(self.front, self.submitting, DocumentQuota(NO_QUOTA, Metrics()), self.clock)

    def clock(self) -> datetime:
        return self.now.astimezone(UTC)

    async def put(self, id_: str = "rent", **changes: Any) -> RecurringRecord:
        return await self.write(replace(rent(id_), **changes))

    async def write(self, content: RecurringContent, version: int | None = None) -> RecurringRecord:
        given: dict[str, Any] = {"now": self.clock(), "api_key_id": PORTAL_KEY, "by": "ana", "version": version}
        return await self.front.transact_for(self.tenant, put, self.tenant, HERE, content, **given)

    async def decide(self, month: date, action: TurnAction) -> None:
        await self.front.transact_for(self.tenant, decide, self.tenant, HERE, "rent", month, action, now=self.clock())

    async def delete(self, version: int | None = None) -> None:
        await self.front.transact_for(self.tenant, delete, self.tenant, HERE, "rent", version=version)

    async def go_to(self, now: datetime) -> None:
        """Set the clock and let the runner do all that is due."""
        self.now = now
        while await self.runner.step():
            pass

    async def found(self, id_: str = "rent") -> RecurringRecord:
        record = await self.front.run_for(self.tenant, recurring.of_client, HERE, id_)
        assert record is not None
        return record

    async def turns(self, id_: str = "rent") -> list[tuple[str, TurnState, TurnReason | None]]:
        listed = await self.front.run_for(self.tenant, recurring.turns, (await self.found(id_)).recurring_id)
        return [(f"{one.month:%Y-%m}", one.state, one.reason) for one in listed]

    async def issued(self) -> list[tuple[str, str]]:
        found = await rows(self.db, "SELECT client_request_id AS request, e_ncf FROM submissions ORDER BY e_ncf")
        return [(one["request"], one["e_ncf"]) for one in found]


def rent(id_: str = "rent") -> RecurringContent:
    payload = invoice_payload(None, TipoeCF="31")
    payload["DetallesItems"]["Item"][0]["NombreItem"] = "Alquiler {mes} {año}"
    return RecurringContent(
        id=id_,
        name="Alquiler",
        state=RecurringState.ACTIVE,
        day=31,
        every=1,
        starts_on=None,
        ends_on=None,
        customer=None,
        payment_days=None,
        payload=read_template(payload),
        as_user=None,
        as_user_id=None,
        notify=None,
        sequence=None,
    )


@pytest.fixture
async def shop(db: Database, front_db: Database) -> AsyncIterator[Shop]:
    tenant = await make_tenant(db)
    await give_certificate(db, tenant)
    await make_sequence(db, tenant, "E31", environment=HERE, expire_at=datetime(2028, 12, 31, tzinfo=UTC))
    made = Shop(db, front_db, tenant)
    async with made.submitting.running():
        yield made


async def test_receipt_is_previewed_the_day_before_and_issued_once_a_month(shop: Shop) -> None:
    made = await shop.put()
    assert made.next_on == date(2026, 11, 30)
    await shop.go_to(at(2026, 11, 29, 5))
    assert (await shop.found()).preview is None

    await shop.go_to(at(2026, 11, 29))
    preview = (await shop.found()).preview or {}
    assert (preview["dueOn"], preview["total"], preview["buyerName"], preview["reason"], preview["type"]) == (
        "2026-11-30", "118.00", "Cliente SRL", None, "E31",
    )  # fmt: skip
    assert await shop.issued() == []
    await shop.go_to(at(2026, 11, 30))
    await shop.go_to(at(2026, 11, 30, 20))
    assert await shop.issued() == [("recurring:rent:2026-11", "E310000000001")]
    original = await rows(shop.db, "SELECT convert_from(content, 'UTF8') AS x FROM submission_documents")
    assert "Alquiler noviembre 2026" in original[0]["x"]

    # Another day in the same month is not another turn.
    await shop.put(day=30)
    await shop.put(day=5, name="Renta")
    assert (await shop.found()).next_on == date(2026, 12, 5)
    await shop.go_to(at(2026, 12, 5))
    assert (await shop.turns())[0] == ("2026-12", TurnState.ISSUED, None)
    assert len(await shop.issued()) == 2
    assert (await shop.found()).next_on == date(2027, 1, 5)


async def test_service_that_was_down_issues_the_latest_turn_and_says_so(shop: Shop) -> None:
    await shop.put(day=1)

    await shop.go_to(at(2027, 2, 3))
    assert await shop.turns() == [
        ("2027-02", TurnState.ISSUED, None),
        ("2027-01", TurnState.MISSED, TurnReason.LATE),
        ("2026-12", TurnState.MISSED, TurnReason.LATE),
    ]
    assert await shop.issued() == [("recurring:rent:2027-02", "E310000000001")]

    await shop.decide(date(2026, 12, 1), TurnAction.ISSUE)
    await shop.go_to(shop.now)
    assert [request for request, _ in await shop.issued()] == ["recurring:rent:2027-02", "recurring:rent:2026-12"]
    with pytest.raises(RecurringConflict):
        await shop.decide(date(2026, 12, 1), TurnAction.SKIP)
    with pytest.raises(NoSuchRecurring):
        await shop.decide(date(2020, 1, 1), TurnAction.SKIP)


BAD = {
    TurnReason.SEQUENCE: (
        "UPDATE sequences SET expire_at = '2026-11-25' RETURNING 1",
        "UPDATE sequences SET expire_at = '2028-12-31' RETURNING 1",
    ),
    TurnReason.CERTIFICATE: (
        "UPDATE certificates SET not_after = '2026-11-25' RETURNING 1",
        "UPDATE certificates SET not_after = '2040-01-01' RETURNING 1",
    ),
    TurnReason.TENANT: (
        "INSERT INTO disabled_tenants SELECT tenant_id, now() FROM tenants RETURNING 1",
        "DELETE FROM disabled_tenants RETURNING 1",
    ),
    TurnReason.DOCUMENT: (
        "UPDATE recurring_receipts SET payload = replace(convert_from(payload, 'UTF8'), '\"TipoPago\":\"1\"', "
        '\'"TipoPago":"9"\')::bytea RETURNING 1',
        "UPDATE recurring_receipts SET payload = replace(convert_from(payload, 'UTF8'), '\"TipoPago\":\"9\"', "
        '\'"TipoPago":"1"\')::bytea RETURNING 1',
    ),
}


@pytest.mark.parametrize("reason", list(BAD))
async def test_turn_that_cannot_be_issued_is_held_and_tried_again(shop: Shop, reason: TurnReason) -> None:
    spoil, mend = BAD[reason]
    await shop.put()
    await rows(shop.db, spoil)

    await shop.go_to(at(2026, 11, 29))
    preview = (await shop.found()).preview or {}
    assert (preview["reason"], bool(preview["messagesEs"])) == (reason, True)
    await shop.go_to(at(2026, 11, 30))
    assert await shop.turns() == [("2026-11", TurnState.HELD, reason)]
    assert (await shop.found()).held == 1
    await shop.go_to(at(2026, 11, 30, 9))
    assert (await shop.turns(), await shop.issued()) == ([("2026-11", TurnState.HELD, reason)], [])

    await rows(shop.db, mend)
    await shop.go_to(at(2026, 11, 30, 11))
    assert await shop.turns() == [("2026-11", TurnState.ISSUED, None)]
    assert await shop.issued() == [("recurring:rent:2026-11", "E310000000001")]


async def test_turn_draws_from_the_sequence_that_its_template_names(shop: Shop) -> None:
    await make_sequence(
        shop.db,
        shop.tenant,
        "E31/Alquileres",
        environment=HERE,
        expire_at=datetime(2028, 12, 31, tzinfo=UTC),
        minimum=5001,
        maximum=6000,
    )
    await shop.put(sequence="Alquileres")
    await shop.put("other", sequence="Caja 9")

    await shop.go_to(at(2026, 11, 30))

    assert await shop.issued() == [("recurring:rent:2026-11", "E310000005001")]
    assert await shop.turns("other") == [("2026-11", TurnState.HELD, TurnReason.SEQUENCE)]


async def test_deleted_customer_holds_the_turn_until_a_person_decides(shop: Shop) -> None:
    entry = check_customer(name="Ana Núñez", rnc="130000001", email="ana@nunez.do")
    given: dict[str, Any] = {"source": EntrySource.API, "at": shop.now, "by": "ana"}
    await shop.front.transact_for(shop.tenant, CUSTOMERS.put, shop.tenant, EntryId("C-1"), entry, **given)
    await shop.put(customer="C-1")
    await shop.put("school", customer="C-1", day=15)
    await shop.go_to(at(2026, 11, 29))
    assert ((await shop.found()).preview or {})["buyerName"] == "Ana Núñez"
    await shop.front.transact_for(shop.tenant, CUSTOMERS.delete, shop.tenant, EntryId("C-1"))

    await shop.go_to(at(2026, 12, 15))
    assert await shop.turns() == [("2026-11", TurnState.HELD, TurnReason.CUSTOMER)]
    assert await shop.turns("school") == [("2026-12", TurnState.HELD, TurnReason.CUSTOMER)]
    await shop.decide(date(2026, 11, 1), TurnAction.SKIP)
    await shop.go_to(at(2026, 12, 15, 10))
    assert (await shop.turns(), await shop.issued()) == ([("2026-11", TurnState.SKIPPED, None)], [])

    record = await shop.found("school")
    mended = replace(content_of(record), customer=None)
    await shop.write(mended, record.version)
    await shop.go_to(shop.now)
    assert [request for request, _ in await shop.issued()] == ["recurring:school:2026-12"]


async def test_held_turn_is_missed_when_the_next_one_comes(shop: Shop) -> None:
    await shop.put(day=1)
    await rows(shop.db, BAD[TurnReason.CERTIFICATE][0])
    await shop.go_to(at(2026, 12, 1))
    await rows(shop.db, BAD[TurnReason.CERTIFICATE][1])

    await shop.go_to(at(2027, 1, 1))
    assert await shop.turns() == [
        ("2027-01", TurnState.ISSUED, None),
        ("2026-12", TurnState.MISSED, TurnReason.CERTIFICATE),
    ]
    assert len(await shop.issued()) == 1


async def test_paused_skipped_and_ended_turns_issue_nothing(shop: Shop) -> None:
    await shop.put(day=1, ends_on=date(2027, 3, 15))
    await shop.decide(date(2026, 12, 1), TurnAction.SKIP)
    assert (await shop.found()).next_on == date(2027, 1, 1)
    await shop.put(day=1, ends_on=date(2027, 3, 15), state=RecurringState.PAUSED)
    await shop.go_to(at(2027, 1, 20))
    assert await shop.issued() == []

    await shop.put(day=1, ends_on=date(2027, 3, 15))
    await shop.go_to(at(2027, 2, 1))
    await shop.go_to(at(2027, 3, 1))
    await shop.go_to(at(2027, 4, 1))
    assert [one[:2] for one in await shop.turns()] == [
        ("2027-03", TurnState.ISSUED),
        ("2027-02", TurnState.ISSUED),
        ("2026-12", TurnState.SKIPPED),
    ]
    assert (await shop.found()).state is RecurringState.ENDED
    with pytest.raises(OtherVersion):
        await shop.delete(version=1)
    await shop.delete()
    with pytest.raises(NoSuchRecurring):
        await shop.delete()
    # Made again under its key it issues no month twice.
    await shop.put(day=1, starts_on=date(2027, 3, 1))
    shop.now = at(2027, 3, 1)
    await shop.put(day=1, starts_on=date(2027, 3, 1))
    await shop.go_to(at(2027, 3, 2))
    assert len(await shop.issued()) == 2


async def test_credit_sale_gets_its_last_day_to_pay_from_the_day_it_is_issued(shop: Shop) -> None:
    payload = read_template(invoice_payload(None, TipoeCF="31", TipoPago="2"))
    await shop.put(payload=payload, payment_days=10)
    await shop.go_to(at(2026, 12, 2))

    (original,) = await rows(shop.db, "SELECT convert_from(content, 'UTF8') AS x FROM submission_documents")
    assert json.loads(original["x"])["Encabezado"]["IdDoc"]["FechaLimitePago"] == "12-12-2026"


@pytest.mark.parametrize(
    "payload",
    [
        invoice_payload(),
        invoice_payload(None, TipoeCF="34"),
        invoice_payload(None, TipoeCF="31", FechaLimitePago="01-12-2026"),
        {},
        {**invoice_payload(None, TipoeCF="31"), "x": ["y" * 99] * 4000},
    ],
)
def test_payload_that_no_month_can_issue_is_refused(payload: dict[str, Any]) -> None:
    with pytest.raises((BadTemplate, NotADocument)):
        read_template(payload)


async def test_runner_killed_at_any_moment_issues_each_turn_once(shop: Shop) -> None:
    lots = random.Random(7)
    for place in range(12):
        await shop.put(f"rent-{place}", day=1)
    await rows(shop.db, BAD[TurnReason.CERTIFICATE][0])
    killed = 0

    async def kill_until_it_rests(now: datetime) -> None:
        nonlocal killed
        shop.now = now
        deaths = 0
        while True:
            # Of two fronts one dies at any moment, and the other finds its lease over.
            with trio.move_on_after(lots.uniform(0, 0.05) if deaths < 15 else 60) as life:
                if not await shop.runner.step():
                    return
            deaths += life.cancelled_caught
            killed += life.cancelled_caught
            await rows(shop.db, "UPDATE recurring_due SET held_until = '-infinity' RETURNING 1")

    await kill_until_it_rests(at(2026, 12, 1))
    assert await shop.issued() == []
    await rows(shop.db, BAD[TurnReason.CERTIFICATE][1])
    await kill_until_it_rests(at(2026, 12, 1) + timedelta(hours=2))
    await kill_until_it_rests(at(2027, 1, 1))

    assert killed > 5
    issued = await shop.issued()
    assert sorted(request for request, _ in issued) == sorted(
        f"recurring:rent-{place}:{month}" for place in range(12) for month in ("2026-12", "2027-01")
    )
    assert [number for _, number in issued] == [f"E31{number:010}" for number in range(1, 25)]
    for place in range(12):
        assert [one[1] for one in await shop.turns(f"rent-{place}")] == [TurnState.ISSUED] * 2


async def test_two_fronts_at_once_issue_once_and_see_no_other_tenants_templates(shop: Shop, db: Database) -> None:
    other = Shop(db, shop.front, await make_tenant(db, "Otra Empresa SRL"))
    await shop.put(day=1)
    shop.now = at(2026, 12, 1)
    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(shop.runner.step)

    assert len(await shop.issued()) == 1
    assert await other.front.run_for(other.tenant, recurring.listed, HERE) == []
    assert await other.front.run_for(other.tenant, recurring.find, (await shop.found()).recurring_id) is None


async def test_events_are_emitted_once_where_an_endpoint_wants_them(shop: Shop) -> None:
    await rows(
        shop.db,
        """INSERT INTO webhook_endpoints (tenant_id, endpoint_id, url, events, created_at, updated_at)
           VALUES (%(tenant)s, gen_random_uuid(), 'https://x.do', ARRAY['recurring.preview', 'recurring.held'],
                   now(), now()) RETURNING 1""",
        tenant=shop.tenant,
    )
    await rows(shop.db, BAD[TurnReason.CERTIFICATE][0])
    await shop.put()
    for hour in (7, 9, 11):
        await shop.go_to(at(2026, 11, 29, hour))
    for hour in (7, 9, 11):
        await shop.go_to(at(2026, 11, 30, hour))

    found = await rows(shop.db, "SELECT kind, convert_from(body, 'UTF8') AS body FROM webhook_events ORDER BY kind")
    assert [one["kind"] for one in found] == ["recurring.held", "recurring.preview"]
    held, preview = (json.loads(one["body"])["recurring"] for one in found)
    assert (held["reason"], held["dueOn"], preview["total"]) == ("certificate", "2026-11-30", 118.0)
