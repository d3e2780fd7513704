"""Background tasks of the front go on after database errors, and requests do not suffer."""

from typing import Any

import httpx
import pytest
import trio
from structlog.testing import capture_logs

from fe.http import app as front_app
from fe.http import counters
from fe.http.routes import invoices, long_polls
from fe.store.postgres.db import Database
from fe.store.records import submissions
from tests.factories.tenants import rows
from tests.http import worker
from tests.http.front import Running, structured
from tests.store.race import plain
from tests.waiting import PATIENCE, until


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counters, "FLUSH_SECONDS", 0.05)
    monkeypatch.setattr(front_app, "PRUNE_SECONDS", 0.05)
    monkeypatch.setattr(long_polls, "_FIRST_LOOK", 0.05)
    monkeypatch.setattr(long_polls, "_MAX_LOOK", 0.05)


async def told(logs: list[Any], event: str, since: int) -> None:
    await until(lambda: any(line["event"] == event for line in logs[since:]))


async def test_long_polls_are_looked_after_again_once_the_front_may_read(
    db: Database, front: Running, api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[object] = []
    find = submissions.find

    async def counted(*which: Any) -> object:
        found.append(await find(*which))
        return found[-1]

    monkeypatch.setattr(submissions, "find", counted)
    monkeypatch.setattr(invoices, "WAIT_MAX", 600)
    accepted = (await api.post("/invoices", json=structured())).json()
    answers: list[httpx.Response] = []

    async def wait() -> None:
        answers.append(await api.get(f"/invoices/{accepted['taxLogId']}", params={"wait": "600"}))

    with capture_logs() as logs, trio.fail_after(PATIENCE):
        async with trio.open_nursery() as waiting:
            waiting.start_soon(wait)
            await until(lambda: len(found) == 2)  # it waits, and has looked for itself: refused that, it would fail
            await rows(db, "REVOKE SELECT ON submissions FROM fe_front")
            await told(logs, "nobody looked after long polls", 0)
            await told(logs, "nobody looked after long polls", len(logs))  # and not once only
            await rows(db, "GRANT SELECT ON submissions TO fe_front")
            await worker.fail(db, accepted["taxLogId"], "no certificate")  # without a notification: polling finds it

    assert answers[0].json()["status"] == "error"


async def test_requests_that_could_not_be_counted_are_counted_later(
    db: Database, dsn: str, front: Running, api: httpx.AsyncClient
) -> None:
    counted = "SELECT coalesce(sum(succeeded), 0) FROM request_counts"
    with capture_logs() as logs, plain(dsn) as conn:
        await rows(db, "REVOKE INSERT ON request_counts FROM fe_front")
        assert (await api.post("/invoices", json=structured())).status_code == 202
        await told(logs, "request counts were not written, and are kept", 0)
        assert (await api.post("/invoices", json=structured())).status_code == 202

        await rows(db, "GRANT INSERT ON request_counts TO fe_front")
        await until(lambda: conn.execute(counted).fetchone() not in [(0,), (1,), (2,)])
        assert conn.execute(counted).fetchone() == (3,)  # with the login


async def test_old_login_attempts_are_pruned_again_once_the_front_may(
    db: Database, front: Running, api: httpx.AsyncClient
) -> None:
    with capture_logs() as logs, trio.fail_after(PATIENCE):
        await rows(db, "REVOKE DELETE ON login_attempts FROM fe_front")
        await told(logs, "old login attempts were not pruned", 0)
        await told(logs, "old login attempts were not pruned", len(logs))

        assert (await api.post("/invoices", json=structured())).status_code == 202
