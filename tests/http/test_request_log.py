"""The request log: what a tenant's programs sent and was refused, bounded, without secrets, and for 30 days."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest
import trio

from fe.actors.partition_maintenance import maintain_partitions
from fe.ecf.catalogue import Environment
from fe.ecf.ids import new_id
from fe.http import request_log as log
from fe.http.app import PREFIX
from fe.http.request_log import redact
from fe.identifiers import ApiKeyId, TenantId
from fe.store.postgres.db import Database
from fe.store.records import request_log
from fe.store.records.request_log import FailedRequest
from tests.factories.tenants import rows
from tests.http.front import Key, Running, make_key, make_tenant, start_front, structured
from tests.waiting import PATIENCE, until

DROPPED = "fe_request_log_dropped_total"


async def logged(api: httpx.AsyncClient, many: int = 1, **query: str) -> list[Any]:
    """As many requests of the log, once they are there."""
    with trio.fail_after(PATIENCE):
        while True:
            page = await api.get("/requests", params=query)
            assert page.status_code == 200, page.text
            items: list[Any] = page.json()["items"]
            if len(items) >= many:
                return items
            await trio.sleep(0.05)


@pytest.mark.parametrize("fast_path", [True, False])
async def test_a_refused_request_is_listed_with_its_body_and_error_on_both_paths(
    front_db: Database, db: Database, key: Key, nursery: trio.Nursery, fast_path: bool
) -> None:
    front = await start_front(nursery, front_db, fast_path=fast_path)
    other = await make_key(db, await make_tenant(db, "Otra SRL"))
    beside = await make_key(db, key.tenant_id, Environment.CERTECF)
    async with front.client(await front.token(key)) as api:
        refused = await api.post("/invoices", json={"format": "xml", "token": "t0p"}, headers={"X-Request-Id": "r-17"})
        assert refused.status_code == 400
        assert (await api.get("/months/nothing%00/608")).status_code == 400
        assert (await api.post("/login", json={**key.credentials, "apiSecret": "wr0ng"})).status_code == 401
        assert (await api.post("/invoices", json=structured())).status_code == 202

        found = await logged(api, 2)
        month = f"{PREFIX}/months/nothing\N{REPLACEMENT CHARACTER}/608"
        assert [one["path"] for one in found] == [month, f"{PREFIX}/invoices"]
        first = found[1]
        assert first.pop("durationMs") >= 0
        assert UUID(first.pop("id")).version == 7
        assert datetime.fromisoformat(first.pop("at")) > datetime.now(UTC) - timedelta(minutes=10)
        assert first == {
            "environment": "testecf",
            "apiKeyId": key.api_key_id,
            "requestId": "r-17",
            "method": "POST",
            "route": f"{PREFIX}/invoices",
            "path": f"{PREFIX}/invoices",
            "status": 400,
            "message": refused.json()["message"],
            "messageEs": "xml es obligatorio cuando format es xml",
            "body": '{"format":"xml","token":"…"}',
        }
        assert found[0]["route"] == f"{PREFIX}/months/{{month}}/608"
        assert await logged(api, requestId="r-17") == await logged(api, cursor=found[0]["id"])
        for name, value in {"status": "5xx", "key": "fak_x", "to": "2026-01-01", "requestId": "r-1"}.items():
            assert await logged(api, 0, **{name: value}) == []
        assert len(await logged(api, 2, status="4xx", key=key.api_key_id)) == 2
        wrong = await api.get("/requests", params={"status": "200"})
        assert (wrong.status_code, "status must be a status such as 400" in wrong.json()["message"]) == (400, True)
    for stranger in (other, beside):
        async with front.client(await front.token(stranger)) as api:
            assert await logged(api, 0) == []


async def test_a_flood_is_bounded_per_key_and_counted_and_shutdown_writes_the_rest(
    front: Running, db: Database, key: Key, api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "FLUSH_SECONDS", 3600.0)
    other = await make_key(db, key.tenant_id)
    sent = log.AT_ONCE + 30
    for _ in range(sent):
        assert (await api.get("/received?page=0")).status_code == 400
    async with front.client(await front.token(other)) as beside:
        assert (await beside.get("/received?page=0")).status_code == 400
    front.shutdown.set()

    of_key = "SELECT status FROM request_log WHERE api_key_id = %(key)s"
    with trio.fail_after(PATIENCE):
        while not await rows(db, of_key, key=other.api_key_id):  # noqa: ASYNC110  (another's session)
            await trio.sleep(0.02)
    kept = len(await rows(db, of_key, key=key.api_key_id))
    # On a slow machine the bucket fills up again while the requests are sent.
    assert log.AT_ONCE <= kept < sent
    assert front.metrics.registry.get_sample_value(DROPPED) == sent - kept


async def test_a_failed_write_drops_and_counts_the_rows_and_no_request_fails(
    front: Running, db: Database, key: Key, api: httpx.AsyncClient
) -> None:
    await rows(db, "ALTER TABLE request_log RENAME TO hidden; SELECT 1")
    assert (await api.get("/received?page=0")).status_code == 400
    await until(lambda: front.metrics.registry.get_sample_value(DROPPED) == 1)
    await rows(db, "ALTER TABLE hidden RENAME TO request_log; SELECT 1")
    assert (await api.get("/received?page=0")).status_code == 400
    assert len(await logged(api)) == 1


@pytest.mark.parametrize(
    "body",
    [
        '{"apiSecret": "s3cret", "a": 1}',
        '{"p12": "s3cret", "password": "s3\\"cret"}',
        '{"Authorization": "Bearer s3cret"}',
        '{"headers": {"X-Any": "s3cret", "b": "s3cret"}}',
        '{"clientSecret": ["s3cret"]}',
        '{"token": s3cret}',
        "apiSecret=s3cret&a=1",
        "{'passphrase': 's3cret'}",
        "authorization: Bearer s3cret\nx",
        '{"secret key": "s3cret"}',
        '{"clave": "s3cret"}',
        '{"contraseña": "s3cret", "pwd": "s3cret"}',
        '{"bearer": "s3cret", "credential": "s3cret"}',
        "<Password>s3cret</Password>",
        '{"url": "https://user:s3cret@erp.example/hook"}',
        '{"api_key" : "s3cret',
        '{"a": "broken, "secret": "s3cret"}',
        '{"webhookSecret":"s3' + "x" * 3000 + 'cret"}',
    ],
)
def test_values_of_members_named_like_secrets_are_left_out(body: str) -> None:
    shown = redact(body.encode())

    assert "…" in shown
    assert "cret" not in shown.replace("Secret", "").replace('"secret', "")
    assert len(shown) <= log.BODY_BYTES


def test_what_is_no_secret_stays_and_what_cannot_be_stored_is_replaced() -> None:
    assert redact(b'{"a": "b\0\xff", "NombreItem": "Caf\xc3\xa9"}') == '{"a": "b��", "NombreItem": "Café"}'


async def test_requests_older_than_30_days_are_deleted_by_the_worker(
    db: Database, worker_db: Database, front_db: Database, tenant: TenantId, nursery: trio.Nursery
) -> None:
    now = datetime.now(UTC)

    def entry(age: timedelta) -> FailedRequest:
        return FailedRequest(
            entry_id=new_id(now - age),
            tenant_id=tenant,
            environment=Environment.ECF,
            api_key_id=ApiKeyId("fak_1"),
            request_id="r",
            method="GET",
            route="/",
            path="/",
            status=404,
            duration_ms=1,
            message=None,
            message_es=None,
            body=None,
        )

    kept = entry(timedelta(days=29))
    await front_db.run(request_log.keep, [entry(timedelta(days=31)), kept, entry(timedelta(days=400))])
    nursery.start_soon(maintain_partitions, worker_db, lambda: now)
    with trio.fail_after(PATIENCE):
        while len(found := await rows(db, "SELECT entry_id FROM request_log")) > 1:  # noqa: ASYNC110  (another's session)
            await trio.sleep(0.02)
    assert [one["entry_id"] for one in found] == [kept.entry_id]
