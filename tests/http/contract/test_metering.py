"""The contract: interface.md#usage and #billing."""

import json
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import httpx
import trio

from fe.clock import system_clock
from fe.ecf.catalogue import EcfType, Environment, Root
from fe.ecf.dates import ZONE, local
from fe.ecf.ids import new_id
from fe.identifiers import SubmissionId, TrackId
from fe.lifecycle import Status
from fe.metering import aggregator
from fe.metering.closing import Biller, close_month
from fe.store.postgres.db import Conn, Database
from fe.store.records import billing, charges, submissions, usage
from fe.store.records.submissions import NewSubmission
from tests.factories.tenants import rows
from tests.http import worker
from tests.http.clauses import clause
from tests.http.front import Key, Running, make_key, structured

ITEM = (
    "date",
    "environment",
    "requestsTotal",
    "requestsSuccess",
    "requestsError",
    "emissionsSubmitted",
    "emissionsAccepted",
    "emissionsAcceptedConditional",
    "emissionsRejected",
    "emissionsPending",
    "bytesIn",
    "bytesOut",
    "avgLatencyMs",
    "p95LatencyMs",
)
SNAPSHOT = (
    "period",
    "periodStart",
    "periodEnd",
    "enabled",
    "subscriptionId",
    "unitPrice",
    "currency",
    "pricingTier",
    "emissionsAccepted",
    "subtotal",
    "lastUpdated",
)


async def submitted(db: Database, key: Key, at: datetime) -> str:
    """A submission as it was accepted at some moment of the past."""
    new = NewSubmission(
        tenant_id=key.tenant_id,
        submission_id=SubmissionId(new_id(at)),
        environment=key.environment,
        api_key_id=key.api_key_id,
        client_request_id=None,
        body_digest=b"\0" * 32,
        format="structured",
        root=Root.ECF,
        ecf_type=EcfType.CREDIT_FISCAL,
        e_ncf=None,
        issuer_rnc=None,
        buyer_rnc=None,
        as_user=None,
        as_user_id=None,
        original=b"{}",
    )
    return str((await db.run(submissions.accept, new, at)).submission_id)


@clause("GET /usage", "Daily aggregates for the tenant", "Response 200", *(f"| {name} |" for name in ITEM))
@clause("GET /usage", "`from` and `to` (dates", "The current day is aggregated at the next UTC midnight")
@clause("Usage entry", "One per (date, environment)", "Fields are in the GET /usage section")
@clause("What the service does", "The client reads daily usage metrics")
async def test_a_day_says_what_was_submitted_what_became_of_it_and_how_fast(
    front: Running, api: httpx.AsyncClient, db: Database, key: Key
) -> None:
    front.clock.stop()  # not over midnight, nor over the end of a month
    midnight = front.clock().replace(hour=0, minute=0, second=0, microsecond=0)
    yesterday, before = midnight - timedelta(hours=12), midnight - timedelta(hours=36)
    live = await make_key(db, key.tenant_id, Environment.ECF)
    plan = (
        (key, before, Status.ACCEPTED, timedelta(seconds=1)),
        (key, before, Status.CONDITIONAL, timedelta(seconds=2)),
        (key, before, Status.REJECTED, timedelta(seconds=3)),
        (key, before, Status.ACCEPTED, timedelta(days=1)),  # its verdict came a day later
        (live, yesterday, Status.ACCEPTED, timedelta(seconds=4)),
    )
    for number, (whose, at, status, delay) in enumerate(plan):
        tax_log_id = await submitted(db, whose, at)
        await worker.carry_through(db, tax_log_id, status, track_id=TrackId(f"t{number}"), at=at + delay)
    await submitted(db, key, before)  # never got a verdict
    await api.post("/invoices", json=structured())  # today: not told before midnight

    usage = (await api.get("/usage", params={"days": "3"})).json()

    assert usage["from"] == (midnight - timedelta(days=3)).date().isoformat()
    assert usage["to"] == (midnight - timedelta(days=1)).date().isoformat()
    assert all(tuple(item) == ITEM for item in usage["items"])
    days = {(item["date"], item["environment"]): item for item in usage["items"]}
    assert list(days) == [
        (before.date().isoformat(), "testecf"),
        (yesterday.date().isoformat(), "ecf"),
        (yesterday.date().isoformat(), "testecf"),
    ]
    first, second, third = days.values()
    counted = ("emissionsSubmitted", "emissionsAccepted", "emissionsAcceptedConditional", "emissionsRejected")
    assert [first[name] for name in (*counted, "emissionsPending")] == [5, 1, 1, 1, 2]
    assert [second[name] for name in (*counted, "emissionsPending")] == [1, 1, 0, 0, 0]
    assert [third[name] for name in (*counted, "emissionsPending")] == [0, 1, 0, 0, 0]
    assert (first["avgLatencyMs"], first["p95LatencyMs"]) == (2000, 3000)
    assert (second["avgLatencyMs"], second["p95LatencyMs"]) == (4000, 4000)


@clause("GET /usage", "| requestsTotal", "| requestsSuccess", "| requestsError", "| bytesIn", "| bytesOut")
async def test_requests_are_counted_and_survive_the_process(
    front: Running, api: httpx.AsyncClient, db: Database, key: Key
) -> None:
    front.clock.stop()
    front.clock.ahead = timedelta(days=-1)
    async with front.client(await front.token(key)) as then:
        made = await then.post("/invoices", json=structured())
        await then.get("/invoices")
        await then.get("/usage", params={"days": "0"})
    front.clock.ahead = timedelta()
    await api.get("/ncf")  # today
    front.shutdown.set()

    async def read(conn: Conn) -> list[tuple[object, ...]]:
        cursor = await conn.execute(
            "SELECT utc_day, succeeded, failed, bytes_in, bytes_out FROM request_counts ORDER BY utc_day"
        )
        return await cursor.fetchall()

    with trio.fail_after(60):
        while len(rows := await db.run(read)) < 2:  # noqa: ASYNC110  (only the database knows)
            await trio.sleep(0.05)
    yesterday = rows[0]
    assert yesterday[1:3] == (3, 1)  # the login as well
    login = json.dumps(key.credentials, separators=(",", ":"))
    assert yesterday[3] == len(made.request.content) + len(login)
    assert int(str(yesterday[4])) > len(made.content)


async def test_usage_with_today_counts_from_midnight_in_santo_domingo(
    front: Running, api: httpx.AsyncClient, db: Database, key: Key
) -> None:
    front.clock.stop()
    now = front.clock()
    midnight = datetime.combine(local(now).date(), time.min, ZONE)
    before, after = midnight - timedelta(minutes=1), midnight + (now - midnight) / 2
    live = await make_key(db, key.tenant_id, Environment.ECF)
    plan = (
        (key, before, Status.ACCEPTED, before),  # yesterday's
        (key, before, Status.REJECTED, after),  # only its verdict is of today
        (key, after, Status.ACCEPTED, after),
        (live, after, Status.CONDITIONAL, after),
    )
    for number, (whose, at, status, verdict_at) in enumerate(plan):
        tax_log_id = await submitted(db, whose, at)
        await worker.carry_through(db, tax_log_id, status, track_id=TrackId(f"t{number}"), at=verdict_at)
    await submitted(db, key, after)

    answer = (await api.get("/usage", params={"today": "true"})).json()

    assert answer["today"]["date"] == midnight.date().isoformat()
    assert answer["today"]["isComplete"] is True
    assert [tuple(item.values()) for item in answer["today"]["items"]] == [
        ("ecf", 1, 0, 1, 0, 0),
        ("testecf", 2, 1, 0, 1, 1),
    ]
    assert "today" not in (await api.get("/usage", params={"today": "false"})).json()
    few = await db.run_for(key.tenant_id, usage.so_far, midnight, at_most=2)
    assert [each.is_complete for each in few] == [False, False]


@clause("GET /usage", "| days")
@clause("Limits", "| Usage window")
async def test_the_window_is_30_days_unless_told_and_180_at_most(api: httpx.AsyncClient) -> None:
    for query, days in (({}, 30), ({"days": "1"}, 1), ({"days": "180"}, 180)):
        usage = (await api.get("/usage", params=query)).json()
        span = datetime.fromisoformat(usage["to"]) - datetime.fromisoformat(usage["from"])
        assert span.days + 1 == days
        assert usage["items"] == []
    for bad in ("0", "181", "-1", "x", "", "1.0"):
        answer = await api.get("/usage", params={"days": bad})
        assert answer.json() == {"message": "days must be a whole number from 1 to 180", "statusCode": 400}, bad


@clause("GET /billing/current-period", "Special cases: tenant not enabled", *(f"| {name} |" for name in SNAPSHOT))
@clause("GET /billing/current-period", "Snapshot of the current monthly period")
@clause("Billing snapshot", "Fields are in the GET /billing/current-period section")
async def test_a_tenant_that_is_not_enabled_owes_nothing(
    front: Running, api: httpx.AsyncClient, db: Database, key: Key
) -> None:
    front.clock.stop()
    now = front.clock()
    live = await make_key(db, key.tenant_id, Environment.ECF)
    await worker.carry_through(db, await submitted(db, live, now))

    snapshot = (await api.get("/billing/current-period")).json()

    assert tuple(snapshot) == SNAPSHOT
    assert snapshot["period"] == f"{now:%Y-%m}"
    assert snapshot["periodStart"] == f"{now:%Y-%m}-01T00:00:00.000Z"
    assert datetime.fromisoformat(snapshot["periodEnd"]).day == 1
    assert timedelta(27) < datetime.fromisoformat(snapshot["periodEnd"]) - now.replace(day=1) <= timedelta(31)
    assert snapshot["enabled"] is False
    assert snapshot["subscriptionId"] is None
    assert snapshot["unitPrice"] is None
    assert (snapshot["currency"], snapshot["pricingTier"]) == ("USD", "standard")
    assert (snapshot["emissionsAccepted"], snapshot["subtotal"]) == (0, 0)
    assert abs(datetime.fromisoformat(snapshot["lastUpdated"]) - now) <= timedelta(milliseconds=1)


@clause(
    "GET /billing/current-period", "A month without emissions yet", "| unitPrice", "| subtotal", "| emissionsAccepted"
)
@clause("Submission status", "| Aceptado |", "| Aceptado Condicional |", "| Rechazado", "| En Proceso", "| error")
@clause("Submission status", "| null or queued", "| queued | worker, authority reply | authority accepts | Aceptado |")
@clause("Environments", "Each API key belongs to one environment: `ecf` (production; the only billable one)")
async def test_what_production_accepted_this_month_is_counted_by_its_verdict(
    front: Running, api: httpx.AsyncClient, db: Database, key: Key
) -> None:
    await db.run(billing.enable, key.tenant_id, subscription_id="sub_7", unit_price=Decimal("0.035"), currency="DOP")
    front.clock.ahead = datetime(2027, 3, 15, tzinfo=UTC) - datetime.now(UTC)
    api.headers["Authorization"] = f"Bearer {await front.token(key)}"
    empty = (await api.get("/billing/current-period")).json()
    live = await make_key(db, key.tenant_id, Environment.ECF)
    march = datetime(2027, 3, 1, tzinfo=UTC)
    moment = timedelta(milliseconds=1)
    for number, (whose, status, at) in enumerate(
        [
            (live, Status.ACCEPTED, march),
            (live, Status.CONDITIONAL, march + timedelta(days=14)),
            (live, Status.ACCEPTED, datetime(2027, 4, 1, tzinfo=UTC) - moment),
            (live, Status.REJECTED, march),
            (live, Status.ACCEPTED, march - moment),
            (live, Status.ACCEPTED, datetime(2027, 4, 1, tzinfo=UTC)),
            (key, Status.ACCEPTED, march),
        ]
    ):
        tax_log_id = await submitted(db, whose, at - timedelta(hours=1))
        await worker.carry_through(db, tax_log_id, status, track_id=TrackId(f"t{number}"), at=at)

    answer = await api.get("/billing/current-period")

    assert (empty["period"], empty["enabled"], empty["subscriptionId"]) == ("2027-03", True, "sub_7")
    assert (empty["unitPrice"], empty["emissionsAccepted"], empty["subtotal"]) == (None, 0, 0)
    snapshot = answer.json()
    assert snapshot["emissionsAccepted"] == 3
    assert snapshot["unitPrice"] == 0.035
    assert b'"unitPrice":0.0350,' in answer.content
    assert b'"subtotal":0.1050,' in answer.content
    assert (snapshot["currency"], snapshot["periodEnd"]) == ("DOP", "2027-04-01T00:00:00.000Z")


async def test_the_subscription_named_is_the_one_that_the_month_is_charged_to(
    front: Running, api: httpx.AsyncClient, db: Database, key: Key
) -> None:
    """As price and currency it is the month's from the first emission on, whatever was agreed on since."""
    october = datetime(2026, 10, 20, tzinfo=UTC)
    front.clock.ahead = october - datetime.now(UTC)
    api.headers["Authorization"] = f"Bearer {await front.token(key)}"
    live = await make_key(db, key.tenant_id, Environment.ECF)

    async def agreed(subscription: str, at: datetime) -> str:
        await db.run(billing.enable, key.tenant_id, subscription_id=subscription, unit_price=Decimal(2), at=at)
        named: str = (await api.get("/billing/current-period")).json()["subscriptionId"]
        return named

    before = [await agreed(name, october - timedelta(days=9 - at)) for at, name in enumerate(("sub_6", "sub_7"))]
    await worker.carry_through(db, await submitted(db, live, october), at=october)
    after = await agreed("sub_8", october + timedelta(minutes=1))
    await close_month(db, key.tenant_id, october.date().replace(day=1), system_clock)

    (charge,) = await db.run(charges.of_tenant, key.tenant_id)
    assert (before, after, charge.subscription_id) == (["sub_6", "sub_7"], "sub_7", "sub_7")


async def test_december_ends_with_january(front: Running, key: Key) -> None:
    front.clock.ahead = datetime(2027, 12, 31, 23, tzinfo=UTC) - datetime.now(UTC)
    async with front.client(await front.token(key)) as api:
        snapshot = (await api.get("/billing/current-period")).json()

    assert (snapshot["period"], snapshot["periodEnd"]) == ("2027-12", "2028-01-01T00:00:00.000Z")


@clause("GET /usage", "| avgLatencyMs", "| p95LatencyMs", "The current day is aggregated at the next UTC midnight")
async def test_days_that_are_closed_say_what_the_submissions_say(
    front: Running, api: httpx.AsyncClient, db: Database, key: Key
) -> None:
    """Before a day is closed it is read off the submissions, which is an independent count; p95 may be 1 % off."""
    front.clock.stop()
    midnight = front.clock().replace(hour=0, minute=0, second=0, microsecond=0)
    for number in range(12):
        at = midnight - timedelta(hours=30 - number)
        tax_log_id = await submitted(db, key, at)
        delay = timedelta(seconds=1.37**number)
        await worker.carry_through(db, tax_log_id, track_id=TrackId(f"t{number}"), at=at + delay)
    await submitted(db, key, midnight - timedelta(hours=20))

    async def told() -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = (await api.get("/usage", params={"days": "3"})).json()["items"]
        return [item for item in items if item["emissionsSubmitted"]]

    before = await told()
    await aggregator.rebuild(db, key.tenant_id, front.clock)
    after = await told()

    assert len(before) == 2
    latencies = [(one.pop("p95LatencyMs"), other.pop("p95LatencyMs")) for one, other in zip(before, after, strict=True)]
    assert after == before
    assert all(abs(closed / exact - 1) <= 0.0101 for exact, closed in latencies)


@clause("GET /billing/current-period", "The subtotal is reconciled", "The amount is added")
async def test_the_subtotal_is_checked_against_the_submissions_and_a_month_that_is_over_is_charged(
    front: Running, api: httpx.AsyncClient, db: Database, key: Key
) -> None:
    october = datetime(2026, 10, 20, tzinfo=UTC)
    live = await make_key(db, key.tenant_id, Environment.ECF)
    sold = partial(billing.enable, subscription_id="sub_7", unit_price=Decimal(2), at=october - timedelta(days=1))
    await db.run(sold, key.tenant_id)
    for month in (october, datetime.now(UTC)):
        await worker.carry_through(db, await submitted(db, live, month), track_id=TrackId(str(month)), at=month)
    await aggregator.rebuild(db, key.tenant_id, front.clock)
    await rows(db, "UPDATE billing_months SET counted = counted + 5")
    wrong = (await api.get("/billing/current-period")).json()

    await Biller(db, front.clock).round()

    snapshot = (await api.get("/billing/current-period")).json()
    (charge,) = await db.run(charges.of_tenant, key.tenant_id)
    assert (wrong["subtotal"], snapshot["subtotal"]) == (12, 2)
    assert (charge.month, charge.amount, charge.subscription_id) == (october.date().replace(day=1), Decimal(2), "sub_7")
