"""Recurring receipts in the portal: begun from an issued one, changed, held, tried again, skipped, paused, ended."""

import re
from datetime import datetime

import pytest
import trio

from fe.ecf.catalogue import Environment
from fe.ecf.dates import ZONE
from fe.ecf.json_text import write_canonical_json
from fe.ecf.parse import parse_json
from fe.identifiers import SubmissionId, TenantId
from fe.issuing.recurring_runner import RecurringRunner
from fe.issuing.submitting import Submitting
from fe.limits import NO_QUOTA, DocumentQuota
from fe.monitoring.metrics import Metrics
from fe.monitoring.submission_log import SubmissionLog
from fe.store.portal import changes
from fe.store.portal.people import PortalRole
from fe.store.postgres.db import Database
from fe.store.queue.wakeups import Wakeups
from tests.factories.tenants import make_submission, rows
from tests.http.front import invoice_payload
from tests.http.test_imports import give_certificate
from tests.portal.running import Browser, Running
from tests.store.test_accept_many import make_sequence


async def test_owner_repeats_a_receipt_and_keeps_it_in_order(
    portal: Running, owner: Browser, tenant: TenantId, front_db: Database, nursery: trio.Nursery
) -> None:
    await give_certificate(portal.db, tenant)
    base = f"/companies/{tenant}/testecf/recurring"
    now = datetime(2026, 11, 20, 12, tzinfo=ZONE)
    portal.clock.ahead = now - datetime.now(ZONE)
    submission = await make_submission(
        portal.db,
        tenant,
        at=now,
        environment=Environment.TESTECF,
        original=write_canonical_json(invoice_payload(None, TipoeCF="31")),
        e_ncf="E310000000777",
    )
    runner = RecurringRunner(
        front_db,
        Submitting(front_db, Wakeups(front_db), Metrics(), SubmissionLog()),
        DocumentQuota(NO_QUOTA, Metrics()),
        lambda: portal.clock(),
    )

    async def go_to(month: int, day: int) -> None:
        portal.clock.ahead = datetime(2026, month, day, 7, tzinfo=ZONE) - datetime.now(ZONE)
        while await runner.step():
            pass
        if (await owner.get("/sign-in")).url.path == "/sign-in":  # the session is over by then
            await owner.sign_in("ana@example.do")

    assert "There is none yet" in (await owner.get(base)).text
    page = await owner.get(f"/companies/{tenant}/testecf/submissions/{submission}")
    assert f"recurring/new?from={submission}" in page.text
    page = await owner.get(f"{base}/new?from={submission}")
    assert 'value="2026-12-20"' in page.text
    wrong = await owner.send(f"{base}/new", {"name": "Renta", "day": "32", "every": "1"})
    assert (wrong.status_code, "from 1 to 31" in wrong.text) == (400, True)
    fields = {"name": "Renta <b>", "day": "1", "every": "1", "starts_on": "2026-12-01"}
    page = await owner.send(f"{base}/new", fields)
    assert "01-12-2026, 01-01-2027, 01-02-2027" in page.text
    one = str(page.url.path)

    # The sequence is missing: the day before says so, and so does the day.
    await go_to(11, 30)
    page = await owner.get(f"/companies/{tenant}")
    assert "Tests: recurring receipts that would not be issued within a day: 1." in page.text
    page = await owner.get(one)
    assert "there is no active sequence E31" in page.text
    await go_to(12, 1)
    page = await owner.get(f"/companies/{tenant}")
    assert "Tests: recurring receipts that could not be issued: 1." in page.text
    assert ">held<" in (await owner.get(base)).text
    await owner.get(one)
    await make_sequence(
        portal.db, tenant, "E31", environment=Environment.TESTECF, expire_at=datetime(2028, 12, 31, tzinfo=ZONE)
    )
    page = await owner.send(f"{one}/turns/2026-12", {"do": "issue"})
    assert "The service is on it" in page.text
    await go_to(12, 2)
    page = await owner.get(one)
    assert "E310000000001" in page.text

    # Another price, from the next turn on.
    changed = {
        "name": "Renta",
        "day": "1",
        "every": "1",
        "name-1": "Renta {mes}",
        "quantity-1": "1",
        "price-1": "1,500.50",
    }
    assert "The next one is issued on 01-01-2027" in (await owner.send(one, changed)).text
    bad = await owner.send(one, {**changed, "price-1": "caro"})
    assert (bad.status_code, "Line 1" in bad.text) == (400, True)
    await go_to(12, 31)
    assert "1,770.59" in (await owner.get(one)).text
    page = await owner.send(f"{one}/turns/2027-01", {"do": "skip"})
    assert "Skipped" in page.text
    assert "01-02-2027" in page.text
    for state, said in (("paused", "paused"), ("active", "active"), ("ended", "ended")):
        page = await owner.send(f"{one}/state", {"do": state})
        assert f"{said}</span></h1>" in page.text
    found = await portal.db.run(changes.latest, tenant, limit=9)
    assert {change.action for change in found} == {"recurring receipt set", "recurring turn decided"}

    async with portal.browser(
        await portal.person(tenant, role=PortalRole.ACCOUNTANT, email="eva@example.do")
    ) as accountant:
        page = await accountant.get(one)
        assert ("E310000000001" in page.text, "<form" in page.text.partition("<main")[2]) == (True, False)
    assert (await owner.client.get(one.replace("testecf", "ecf"))).status_code == 404
    await owner.get(one)
    page = await owner.send(f"{one}/state", {"do": "delete"})
    assert "There is none yet" in page.text
    stored = await rows(
        portal.db, "SELECT count(*) AS many FROM submissions WHERE client_request_id LIKE 'recurring:%%'"
    )
    assert stored[0]["many"] == 1


async def make_repeatable(portal: Running, tenant: TenantId) -> SubmissionId:
    now = datetime(2026, 11, 20, 12, tzinfo=ZONE)
    portal.clock.ahead = now - datetime.now(ZONE)
    payload = invoice_payload(None, TipoeCF="31")
    (item,) = payload["DetallesItems"]["Item"]
    sub = {"SubDescuento": [{"TipoSubDescuento": "$", "MontoSubDescuento": 15.5}]}
    item |= {"TablaSubDescuento": sub, "MontoItem": 84.5}
    original = write_canonical_json(payload)
    return await make_submission(
        portal.db, tenant, at=now, environment=Environment.TESTECF, original=original, e_ncf="E310000000777"
    )


@pytest.mark.parametrize(
    ("starts_on", "ends_on", "due"),
    [
        ("2026-12-20", "2026-12-01", "01-01-2027"),
        ("2026-12-02", "2026-12-31", "01-01-2027"),
        ("", "2026-11-01", "01-12"),
    ],
)
async def test_recurring_form_with_end_before_first_turn_is_refused_at_its_field(
    portal: Running, owner: Browser, tenant: TenantId, starts_on: str, ends_on: str, due: str
) -> None:
    submission = await make_repeatable(portal, tenant)
    base = f"/companies/{tenant}/testecf/recurring"
    await owner.get(f"{base}/new?from={submission}")
    fields = {"name": "Renta", "day": "1", "every": "1", "starts_on": starts_on, "ends_on": ends_on}
    page = await owner.send(f"{base}/new", fields)

    assert page.status_code == 400
    assert re.search(rf'id="w-ends_on">It would never be issued: the first one is due on {due}', page.text)
    assert f'value="{ends_on}"' in page.text
    assert "There is none yet" in (await owner.get(base)).text


async def test_recurring_page_shows_and_keeps_the_discount_and_what_was_typed(
    portal: Running, owner: Browser, tenant: TenantId, db: Database
) -> None:
    submission = await make_repeatable(portal, tenant)
    base = f"/companies/{tenant}/testecf/recurring"
    await owner.get(f"{base}/new?from={submission}")
    made = await owner.send(f"{base}/new", {"name": "Renta", "day": "1", "every": "1", "starts_on": "2026-12-01"})
    one = str(made.url.path)
    changed = {"name": "Otra", "day": "1", "every": "1", "name-1": "X", "quantity-1": "1", "price-1": "90"}
    wrong = await owner.send(one, {**changed, "ends_on": "2026-11-30"})
    kept = await owner.send(one, changed)
    (row,) = await rows(db, "SELECT payload FROM recurring_receipts")
    (item,) = parse_json(bytes(row["payload"]))["DetallesItems"]["Item"]

    assert '<td class="num">15.50</td>' in made.text
    assert (wrong.status_code, 'id="w-ends_on"' in wrong.text) == (400, True)
    assert [f'value="{typed}"' in wrong.text for typed in ("Otra", "2026-11-30", "X", "90")] == [True] * 4
    assert '<td class="num">15.50</td>' in kept.text
    assert str(item["TablaSubDescuento"]["SubDescuento"][0]["MontoSubDescuento"]) == "15.5"
