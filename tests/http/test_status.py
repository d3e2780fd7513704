"""The status page of the service: what processes record, and what anyone reads."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
import trio
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from fe.http.app import PREFIX
from fe.http.routes import service_status as page
from fe.main import serve
from fe.monitoring import service_status
from fe.monitoring.metrics import Metrics
from fe.monitoring.service_status import StatusRecorder
from fe.process.workers import Listeners
from fe.store.postgres.db import Database, open_database
from fe.store.postgres.roles import FRONT, RECEPTION
from fe.store.records import service_states
from fe.store.records.service_states import (
    BETTER_AFTER,
    KEPT_FOR,
    MEASURED_EVERY,
    UNMEASURED_AFTER,
    PartSeverity,
    ServicePart,
)
from tests.factories.tenants import rows
from tests.http.front import HandClock, Running, invoice_payload, start_front
from tests.system.stack import running_stack
from tests.waiting import PATIENCE

NOW = datetime.now(UTC).replace(microsecond=0)
SECOND = timedelta(seconds=1)


async def recorded(db: Database, part: ServicePart = ServicePart.SIGNING) -> list[tuple[float, float, PartSeverity]]:
    """The periods of a part by their seconds before and after NOW, the earliest first."""
    found = await db.run(service_states.periods, NOW - timedelta(days=90))
    return [
        ((one.began_at - NOW) / SECOND, (one.seen_at - NOW) / SECOND, one.severity)
        for one in reversed(found)
        if one.part is part
    ]


async def test_a_worse_state_counts_at_once_and_a_better_one_once_nobody_sees_the_worse(
    worker_db: Database, front_db: Database
) -> None:
    async def told(db: Database, after: int, severity: PartSeverity) -> None:
        await db.run(service_states.record, {ServicePart.SIGNING: severity}, NOW + after * SECOND)

    await told(worker_db, 0, PartSeverity.WELL)
    await told(worker_db, 15, PartSeverity.WELL)
    await told(front_db, 20, PartSeverity.DEGRADED)
    await told(worker_db, 30, PartSeverity.WELL)
    await told(front_db, 35, PartSeverity.DEGRADED)
    await told(worker_db, 150, PartSeverity.WELL)  # within two minutes of the worse view
    await told(worker_db, 160, PartSeverity.WELL)
    await told(worker_db, 175, PartSeverity.WELL)

    assert await recorded(worker_db) == [
        (0, 15, PartSeverity.WELL),
        (20, 35, PartSeverity.DEGRADED),
        (35, 175, PartSeverity.WELL),
    ]


async def test_a_pause_in_measuring_begins_a_new_period(worker_db: Database) -> None:
    later = NOW + UNMEASURED_AFTER + 2 * SECOND
    for at in (NOW, later):
        await worker_db.run(service_states.record, {ServicePart.SIGNING: PartSeverity.WELL}, at)

    assert await recorded(worker_db) == [(0, 0, PartSeverity.WELL), (182, 182, PartSeverity.WELL)]


async def test_old_periods_are_deleted_and_one_that_goes_on_is_kept(db: Database, worker_db: Database) -> None:
    old = NOW - KEPT_FOR - SECOND
    await worker_db.run(
        service_states.record, {ServicePart.SIGNING: PartSeverity.WELL, ServicePart.SENDING: PartSeverity.WELL}, old
    )
    await rows(db, "UPDATE service_states SET seen_at = %(now)s WHERE part = 'sending' RETURNING part", now=NOW)

    await worker_db.run(service_states.forget, NOW)

    assert [row["part"] for row in await rows(db, "SELECT part FROM service_states")] == ["sending"]


async def test_an_outage_of_the_database_is_recorded_once_it_is_over(dsn: str, front_db: Database) -> None:
    clock, metrics = HandClock(), Metrics()
    clock.stop()
    async with open_database("postgresql://127.0.0.1:1/nothing?connect_timeout=1", role=FRONT) as away:
        recorder = StatusRecorder(
            front_db, clock, metrics, lambda: None, front=front_db, reception=None, is_worker=False
        )
        metrics.findings.writable = True
        await recorder.record()
        began = clock()
        recorder._db = away
        for _ in range(2):
            clock.ahead += MEASURED_EVERY
            metrics.findings.writable = True
            await recorder.try_to_record()
        clock.ahead += MEASURED_EVERY
        recorder._db = front_db
        await recorder.try_to_record()

    found = await front_db.run(service_states.periods, began - timedelta(days=1))
    assert [(one.began_at, one.seen_at, one.severity) for one in reversed(found)] == [
        (began, began, PartSeverity.WELL),
        (began + MEASURED_EVERY, clock(), PartSeverity.DOWN),
    ]


async def test_reception_records_with_its_own_rights(dsn: str) -> None:
    async with open_database(dsn, patience=PATIENCE, role=RECEPTION) as reception:
        clock = HandClock()
        fault: list[str] = []
        recorder = StatusRecorder(
            reception,
            clock,
            Metrics(),
            lambda: fault[0] if fault else None,
            front=None,
            reception=reception,
            is_worker=False,
        )
        await recorder.record()
        fault.append("the clock is wrong")
        clock.ahead += MEASURED_EVERY
        await recorder.record()

        found = await reception.run(service_states.periods, NOW - timedelta(days=1))
    assert [(one.part, one.severity) for one in found] == [
        (ServicePart.RECEIVING, PartSeverity.DOWN),
        (ServicePart.RECEIVING, PartSeverity.WELL),
    ]


async def test_anyone_reads_the_status_in_both_languages_and_asks_whether_it_changed(
    db: Database, front: Running
) -> None:
    now = datetime.now(UTC)
    well = dict.fromkeys(ServicePart, PartSeverity.WELL)
    await db.run(service_states.record, well, now - timedelta(minutes=30), now - timedelta(days=3))
    await db.run(service_states.record, {ServicePart.SENDING: PartSeverity.DOWN}, now - timedelta(minutes=20))
    await db.run(service_states.record, well, now - timedelta(minutes=17, seconds=30))
    await rows(db, "UPDATE service_states SET seen_at = now() WHERE severity = 0 RETURNING part")

    async with front.client() as client:
        answer = await client.get("/status")
        same = await client.get("/docs/status.json", headers={"If-None-Match": answer.headers["ETag"]})
        pages = {language: await client.get(f"/docs/{language}/status") for language in ("en", "es")}
        told = await client.get("/docs/status", headers={"Accept-Language": "es"})
        again = await client.get("/docs/es/status", headers={"If-None-Match": pages["es"].headers["ETag"]})

    status = answer.json()
    assert [one["part"] for one in status["parts"]] == list(ServicePart)
    assert status["state"] == "well"
    sending = status["parts"][2]
    assert [one["state"] for one in sending["incidents"]] == ["down"]
    assert sending["incidents"][0]["until"] is not None
    assert sum(day["downMinutes"] for day in sending["days"]) == 1
    assert {len(one["days"]) for one in status["parts"]} == {4}
    assert answer.headers["Cache-Control"] == "public, max-age=15"
    assert (same.status_code, again.status_code) == (304, 304)
    assert ("All parts work." in pages["en"].text, "Todas las partes funcionan." in pages["es"].text) == (True, True)
    assert told.text == pages["es"].text
    assert "Accept-Language" in told.headers["Vary"]
    for one in pages.values():
        assert one.text.count("<i class=") == 90 * len(ServicePart) + 4
        assert ">down<" not in one.text
        assert "style=" not in one.text
        assert "aria-current=page" in one.text


async def test_a_new_installation_says_that_nothing_was_measured(front: Running) -> None:
    async with front.client() as client:
        answer = (await client.get("/status")).json()
        shown = await client.get("/docs/en/status")

    assert answer == {"state": "unmeasured", "measuredAt": None, "parts": []}
    assert shown.status_code == 200
    assert "Not measured" in shown.text


@pytest.mark.new_database
async def test_while_the_database_is_away_the_page_says_that_it_cannot_be_said(
    dsn: str, nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "_KEPT_SECONDS", 0.0)
    name = sql.Identifier(str(conninfo_to_dict(dsn)["dbname"]))
    away = sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS false").format(name)
    back = sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS true").format(name)
    with psycopg.connect(make_conninfo(dsn, dbname="postgres"), autocommit=True) as server:
        async with open_database(dsn, role=FRONT) as front_db:
            front = await start_front(nursery, front_db)
            async with front.client() as client:
                assert (await client.get("/status")).status_code == 200
                server.execute(away)
                server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'fe'")
                spanish, english = await client.get("/docs/es/status"), await client.get("/docs/en/status")
                answer = await client.get("/status")
                server.execute(back)
                with trio.fail_after(PATIENCE):
                    while (await client.get("/docs/es/status")).status_code != 200:  # noqa: ASYNC110  (it rings no bell)
                        await trio.sleep(0.1)

    assert (spanish.status_code, english.status_code, answer.status_code) == (503, 503, 503)
    assert "no se puede decir el estado" in spanish.text
    assert "cannot be said now" in english.text
    assert spanish.headers["Content-Language"] == "es"
    assert spanish.headers["Retry-After"] == answer.headers["Retry-After"] == "5"
    assert spanish.headers["Content-Type"] == "text/html; charset=utf-8"


async def test_while_the_database_takes_no_writes_accepting_is_down_though_nothing_is_recorded(
    db: Database, front: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "_KEPT_SECONDS", 0.0)
    now = datetime.now(UTC)
    await db.run(service_states.record, dict.fromkeys(ServicePart, PartSeverity.WELL), now, now - timedelta(hours=1))

    async def accepting(client: httpx.AsyncClient) -> tuple[str, list[tuple[str, str, str | None]]]:
        part = (await client.get("/status")).json()["parts"][0]
        return part["state"], [(one["state"], one["since"], one["until"]) for one in part["incidents"]]

    async with front.client() as client:
        before = await accepting(client)
        front.metrics.takes_writes = False
        first = await accepting(client)
        front.clock.ahead += timedelta(seconds=30)
        later = await accepting(client)
        front.metrics.takes_writes = True
        after = await accepting(client)

    assert before == after == ("well", [])
    ((state, _, until),) = first[1]
    assert (first[0], state, until) == ("down", "down", None)
    assert later == first, "it began when it was first seen"


BACK_DATED = """
    UPDATE outbox SET run_at = now() - interval '2 minutes' WHERE stage = 'sign' RETURNING subject
"""
TWO_MINUTES_LATER = """
    UPDATE service_states AS s
       SET began_at = s.began_at - %(passed)s::interval, seen_at = s.seen_at - %(passed)s::interval
    RETURNING part
"""


async def test_a_stage_that_stands_still_shows_within_seconds_and_is_an_incident_afterwards(
    dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service itself: a front without actors, then actors beside it. Only time is helped along."""
    monkeypatch.setattr(page, "_KEPT_SECONDS", 0.0)
    monkeypatch.setattr(service_status, "MEASURED_EVERY", MEASURED_EVERY / 30)
    async with running_stack(dsn, tmp_path, role="http") as stack, trio.open_nursery() as beside:

        async def signing() -> dict[str, Any]:
            answer = (await stack.client.get("/status")).json()
            parts: dict[str, dict[str, Any]] = {one["part"]: one for one in answer["parts"]}
            return parts.get("signing", {})

        async def until_signing_is(state: str) -> dict[str, Any]:
            with trio.fail_after(PATIENCE):
                while (found := await signing()).get("state") != state:  # noqa: ASYNC110  (it rings no bell)
                    await trio.sleep(0.1)
            return found

        receipt = await stack.submit(invoice_payload())
        await rows(stack.db, BACK_DATED)
        stands = await until_signing_is("degraded")
        shown = await stack.client.get("/docs/es/status")

        settings = stack.settings.model_copy(update={"metrics_bind": "127.0.0.1:0"})
        listeners = Listeners.open(settings, "actors")
        beside.start_soon(serve, settings, dsn, "actors", stack.vault, listeners)
        assert (await stack.until_final(receipt["taxLogId"]))["status"] == "Aceptado"
        await rows(stack.db, TWO_MINUTES_LATER, passed=BETTER_AFTER)
        works = await until_signing_is("well")
        beside.cancel_scope.cancel()

    (lasting,) = stands["incidents"]
    assert (lasting["state"], lasting["until"]) == ("degraded", None)
    assert "Con demoras o fallos" in shown.text
    (over,) = works["incidents"]
    assert over["state"] == "degraded"
    assert over["since"] < over["until"]


async def test_the_pages_of_the_guide_lead_there(front: Running) -> None:
    async with front.client() as client:
        guide = await client.get("/docs/es/guide")
        listed = await client.get("/docs/llms.txt")

    assert f'href="{PREFIX}/docs/es/status"' in guide.text
    assert f"{PREFIX}/docs/status.json" in listed.text


def test_an_unmeasured_part_shows_after_more_than_one_missed_measurement() -> None:
    assert UNMEASURED_AFTER > BETTER_AFTER + 2 * MEASURED_EVERY
