"""Recurring receipts over HTTP: written whole, shown with their turns, one environment's, issued once by the front."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
import trio

from fe.accounts.keys import SCOPES
from fe.ecf.catalogue import Environment
from fe.ecf.dates import ZONE, local
from fe.http.app import Api
from fe.issuing.recurring_runner import RecurringRunner
from fe.store.postgres.db import Database
from tests.http.front import Key, Running, invoice_payload, make_key
from tests.http.test_imports import give_certificate

RENT: dict[str, Any] = {"name": "Alquiler", "day": 1, "payload": invoice_payload(None, TipoeCF="31")}


@pytest.fixture(autouse=True)
def _idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tests take the runner's steps."""

    async def idle(_: RecurringRunner) -> None:
        await trio.sleep_forever()

    monkeypatch.setattr(RecurringRunner, "run", idle)


async def test_recurring_receipt_is_written_listed_changed_and_deleted(
    db: Database, front: Running, api: httpx.AsyncClient, key: Key
) -> None:
    put = await api.put("/recurring/rent", json=RENT | {"colour": "red", "everyMonths": 2, "notify": "ana@x.do"})

    made = put.json()
    assert (put.status_code, made["version"], made["status"], made["turns"]) == (200, 1, "active", [])
    assert ([one["path"] for one in made["warnings"]], made["payload"]) == (["colour"], RENT["payload"])
    first = local(front.clock()).date().replace(day=1) + timedelta(days=32)
    assert made["nextDays"][0] == made["nextOn"] == first.replace(day=1).isoformat()
    again = (await api.put("/recurring/rent", json=RENT | {"version": 1, "status": "paused"})).json()
    assert (again["version"], again["nextOn"], again["nextDays"]) == (2, None, [])
    stale = await api.put("/recurring/rent", json=RENT | {"version": 1})
    assert (stale.status_code, "version 2" in stale.json()["message"]) == (409, True)
    await api.put("/recurring/school", json=RENT)
    page = (await api.get("/recurring?limit=1")).json()
    assert ([one["id"] for one in page["items"]], page["nextCursor"]) == (["rent"], "rent")
    page = (await api.get("/recurring?limit=2&cursor=rent")).json()
    assert ([one["id"] for one in page["items"]], page["nextCursor"]) == (["school"], None)

    month = page["items"][0]["nextOn"][:7]
    skipped = await api.post(f"/recurring/school/turns/{month}", json={"action": "skip"})
    assert [(one["month"], one["status"]) for one in skipped.json()["turns"]] == [(month, "skipped")]
    for path, body, status in (
        ("2020-01", {"action": "skip"}, 404),
        ("x", {"action": "skip"}, 404),
        ("0000-11", {"action": "skip"}, 404),
        (month, {"action": "dance"}, 400),
    ):
        assert (await api.post(f"/recurring/school/turns/{path}", json=body)).status_code == status
    assert (await api.delete("/recurring/school?version=7")).status_code == 409
    assert (await api.delete("/recurring/school")).json() == {"ok": True, "id": "school"}

    async with front.client(await front.token(await make_key(db, key.tenant_id, Environment.ECF))) as other:
        assert (await other.get("/recurring/rent")).status_code == 404
        assert (await other.get("/recurring")).json()["items"] == []
    narrow = await make_key(db, key.tenant_id, scopes=tuple(set(SCOPES) - {"recurring:write"}))
    async with front.client(await front.token(narrow)) as reader:
        assert (await reader.get("/recurring/rent")).status_code == 200
        assert (await reader.put("/recurring/rent", json=RENT)).status_code == 403


async def test_turn_is_issued_by_the_front_and_shown(db: Database, front: Running, key: Key) -> None:
    front.clock.ahead = datetime(2026, 12, 10, 12, tzinfo=ZONE) - datetime.now(UTC)
    await give_certificate(db, key.tenant_id)
    async with front.client(await front.token(key)) as api:
        await _issue_today(db, front, api)


async def _issue_today(db: Database, front: Running, api: httpx.AsyncClient) -> None:
    await api.post("/ncf", json={"prefix": "E31", "maxSequence": 9, "expireAt": "2028-12-31"})
    body = RENT | {"day": 10, "startsOn": "2026-12-10", "asUser": "nobody@x.do"}
    made = (await api.put("/recurring/rent", json=body)).json()
    assert made["nextOn"] == "2026-12-10"
    application: Api = front.app.extensions["fe"]

    await application._recurring.step()
    (held,) = (await api.get("/recurring/rent", headers={"Accept-Language": "es"})).json()["turns"]
    assert (held["status"], held["reason"], held["taxLogId"]) == ("held", "certificate", None)
    assert (await api.get("/recurring")).json()["items"][0]["held"] == 1
    await api.put("/recurring/rent", json=body | {"asUser": None})
    await application._recurring.step()

    (turn,) = (await api.get("/recurring/rent")).json()["turns"]
    assert (turn["status"], turn["eNCF"]) == ("issued", "E310000000001")
    issued = (await api.get(f"/invoices?clientRequestId={turn['clientRequestId']}")).json()["items"]
    assert [one["taxLogId"] for one in issued] == [turn["taxLogId"]]
    answer = await api.post(f"/recurring/rent/turns/{turn['month']}", json={"action": "issue"})
    assert (answer.status_code, answer.json()["message"]) == (
        409,
        "2026-12 is issued: there is nothing to do",
    )


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("a%20b", RENT, "id: must be"),
        ("a", RENT | {"payload": invoice_payload()}, "Encabezado.IdDoc.eNCF: each receipt gets its own"),
        ("a", RENT | {"payload": {}}, "payload"),
        ("a", RENT | {"day": 32}, "day"),
        ("a", RENT | {"endsOn": "2026-02-30"}, "endsOn: must be a date"),
        ("a", RENT | {"startsOn": "2026-12-10", "endsOn": "2026-12-09"}, "endsOn: must not be before startsOn"),
        ("a", RENT | {"startsOn": "9999-12-01"}, "startsOn: must be a date"),
        ("a", RENT | {"asUserId": "x"}, "asUserId"),
        ("a", RENT | {"notify": "x"}, "notify"),
    ],
)
async def test_recurring_receipt_that_cannot_be_is_refused(
    api: httpx.AsyncClient, path: str, body: dict[str, Any], said: str
) -> None:
    answer = await api.put(f"/recurring/{path}", json=body)

    assert (answer.status_code, said in answer.json()["message"]) == (400, True), answer.text
