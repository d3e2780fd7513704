"""Webhooks over the API: beyond the interface, which leaves configuration to a portal."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
import trio

from fe.ecf.catalogue import Environment
from fe.ecf.ids import new_id
from fe.egress.target import Policy
from fe.http.app import PREFIX
from fe.identifiers import TenantId
from fe.lifecycle import WebhookEvent
from fe.store.postgres.db import Database
from fe.store.webhooks import events
from fe.webhooks.accounts import WebhookAccounts
from tests.factories.tenants import rows
from tests.http.front import Key, Running, Start, make_key, make_tenant
from tests.webhooks.receiver import WEBHOOK_VAULT

URL = "https://erp.example.com/hooks/fe"
FIELDS = (
    "id",
    "environment",
    "name",
    "url",
    "enabled",
    "events",
    "headers",
    "createdAt",
    "updatedAt",
    "failingSince",
    "disabledAt",
    "disabledReason",
    "oldSecretUntil",
)
NOW = datetime.now(UTC)


async def put(api: httpx.AsyncClient, **body: Any) -> dict[str, Any]:
    answer = await api.put("/webhooks", json={"url": URL, **body})
    assert answer.status_code == 200, answer.text
    made: dict[str, Any] = answer.json()
    return made


async def listed(api: httpx.AsyncClient) -> list[dict[str, Any]]:
    answer = await api.get("/webhooks")
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


async def test_an_address_is_set_and_its_secret_shown_once(api: httpx.AsyncClient, db: Database) -> None:
    assert await listed(api) == []

    made = await put(api, headers={"Authorization": "Bearer theirs", "X-Route": "a b"})

    assert tuple(made) == (*FIELDS, "secret")
    secret = made.pop("secret")
    assert secret.startswith("whsec_")
    assert made["environment"] == "testecf"
    assert made["events"] == ["received_ecf"]
    assert made["headers"] == ["Authorization", "X-Route"]
    assert (made["enabled"], made["disabledAt"], made["failingSince"], made["oldSecretUntil"]) == (True, *[None] * 3)
    assert await listed(api) == [made]
    # Neither the secret nor a header's value lies in the database as text.
    (row,) = await rows(
        db, "SELECT s.secret, e.headers FROM webhook_secrets s JOIN webhook_endpoints e USING (endpoint_id)"
    )
    assert secret.encode() not in bytes(row["secret"])
    assert b"theirs" not in bytes(row["headers"])


async def test_setting_it_again_changes_it_and_what_is_left_out_takes_its_default_but_headers(
    api: httpx.AsyncClient,
) -> None:
    made = await put(api, headers={"X-Route": "1"}, events=["submission.rejected"], enabled=False)

    changed = await put(api, url="https://other.example.com")

    assert "secret" not in changed
    assert changed["id"] == made["id"]
    assert changed["url"] == "https://other.example.com/"
    assert (changed["enabled"], changed["events"], changed["headers"]) == (True, ["received_ecf"], ["X-Route"])
    assert (await put(api, headers={}))["headers"] == []
    assert len(await listed(api)) == 1


async def test_each_environment_has_its_own_and_sees_no_others(
    front: Running, api: httpx.AsyncClient, db: Database, tenant: TenantId
) -> None:
    await put(api)
    other = await make_key(db, tenant, Environment.CERTECF)
    stranger = await make_key(db, await make_tenant(db, "Otra SRL"))

    async with front.client(await front.token(other)) as theirs:
        assert await listed(theirs) == []
        made = await put(theirs, url="https://cert.example.com/")
        assert [one["id"] for one in await listed(theirs)] == [made["id"]]
    async with front.client(await front.token(stranger)) as theirs:
        assert await listed(theirs) == []
    assert [one["url"] for one in await listed(api)] == [URL]


async def test_two_that_set_it_at_once_set_one(front: Running, api: httpx.AsyncClient, key: Key) -> None:
    made: list[dict[str, Any]] = []

    async def one(number: int) -> None:
        made.append(await put(api, url=f"https://n{number}.example.com/"))

    async with trio.open_nursery() as nursery:
        for number in range(6):
            nursery.start_soon(one, number)

    assert len({each["id"] for each in made}) == 1
    assert sum("secret" in each for each in made) == 1
    assert len(await listed(api)) == 1


#: Refused bodies of PUT /webhooks, and a word of the message. All but the first get a good URL if they lack one.
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({}, "url"),
    ({"url": 7}, "url"),
    ({"url": ""}, "https://"),
    ({"url": "http://erp.example.com/"}, "https://"),
    ({"url": "ftp://erp.example.com/"}, "https://"),
    ({"url": "https://user:pass@erp.example.com/"}, "credentials"),
    ({"url": "https://user@erp.example.com/"}, "credentials"),
    ({"url": "https://erp.example.com/#part"}, "fragment"),
    ({"url": "https://erp.example.com:22/"}, "port"),
    ({"url": "https://erp.example.com:0/"}, "port"),
    ({"url": "https://erp.example.com:x/"}, "port"),
    ({"url": "https://erp.example.com\\@inside.example/"}, "backslash"),
    ({"url": "https://erp.example.com/a b"}, "blanks"),
    ({"url": "https://xn--a/"}, "host"),
    ({"url": "https://xn--80ak6aa92e-.com/"}, "host"),
    ({"url": "https://erp/"}, "host"),
    ({"url": "https://erp.local/"}, "host"),
    ({"url": "https://metadata.google.internal/"}, "host"),
    ({"url": "https://10.0.0.1/"}, "not an address"),
    ({"url": "https://93.184.216.34/"}, "not an address"),
    ({"url": "https://2130706433/"}, "not an address"),
    ({"url": "https://0x7f000001/"}, "not an address"),
    ({"url": "https://0177.0.0.1/"}, "not an address"),
    ({"url": "https://127.1/"}, "not an address"),
    ({"url": "https://[::ffff:127.0.0.1]/"}, "not an address"),
    ({"url": "https://[64:ff9b::7f00:1]/"}, "not an address"),
    ({"url": "https://[2002:7f00:1::]/"}, "not an address"),
    ({"url": "https://[2606:4700::1111]/"}, "not an address"),
    ({"url": "https://" + "a" * 64 + ".example.com/"}, "host"),
    ({"url": "https://erp.example.com/" + "a" * 2048}, "2048"),
    ({"enabled": 1}, "enabled"),
    ({"events": []}, "events"),
    ({"events": ["test"]}, "events"),
    ({"events": ["received_ecf", "nothing"]}, "events"),
    ({"events": "received_ecf"}, "events"),
    ({"headers": {"Host": "a"}}, "Host"),
    ({"headers": {"content-length": "5"}}, "content-length"),
    ({"headers": {"Transfer-Encoding": "chunked"}}, "Transfer-Encoding"),
    ({"headers": {"Content-Type": "text/plain"}}, "Content-Type"),
    ({"headers": {"X-Service-Signature": "sha256=00"}}, "X-Service-Signature"),
    ({"headers": {"webhook-id": "1"}}, "webhook-id"),
    ({"headers": {"Connection": "x"}}, "Connection"),
    ({"headers": {"Proxy-Authorization": "x"}}, "Proxy-Authorization"),
    ({"headers": {"X-A": "one\r\nX-B: two"}}, "X-A"),
    ({"headers": {"X-A": "ñ"}}, "X-A"),
    ({"headers": {"X-A": ""}}, "X-A"),
    ({"headers": {"X A": "1"}}, "'X A' is no name"),
    ({"headers": {"": "1"}}, "is no name"),
    ({"headers": {"X-A": "1", "x-a": "2"}}, "twice"),
    ({"headers": {"X-A": "1" * 4097}}, "X-A"),
    ({"headers": {f"X-{number}": "1" for number in range(21)}}, "20"),
    ({"headers": ["X-A"]}, "headers"),
    ({"headers": {"X-A": 1}}, "headers"),
]


async def test_what_cannot_be_set_is_a_400_that_says_why(api: httpx.AsyncClient, db: Database) -> None:
    for body, says in REFUSED:
        answer = await api.put("/webhooks", json=body if "url" in body or not body else {"url": URL, **body})

        assert (answer.status_code, answer.json()["statusCode"]) == (400, 400), (body, answer.text)
        assert says in answer.json()["message"], body
    assert await rows(db, "SELECT 1 FROM webhook_endpoints") == []


async def test_in_production_neither_this_machine_nor_this_service_may_be_set(
    front_db: Database, nursery: trio.Nursery, start: Start, key: Key
) -> None:
    policy = Policy(own_hosts=frozenset({"fe.example.com"}))
    front = await start(nursery, front_db, webhooks=WebhookAccounts(WEBHOOK_VAULT, policy))
    refused = ("http://127.0.0.1:9000/", "https://127.0.0.1/", "https://localhost/", "https://[::1]/")
    ours = ("https://fe.example.com/api/v1/fe/login", "https://FE.example.com./")

    async with front.client(await front.token(key)) as api:
        for url in (*refused, *ours):
            answer = await api.put("/webhooks", json={"url": url})

            assert answer.status_code == 400, (url, answer.text)
            assert answer.json()["message"].startswith("url: ")


async def test_without_a_key_for_secrets_it_says_that_it_is_not_set_up(
    front_db: Database, nursery: trio.Nursery, start: Start, key: Key
) -> None:
    front = await start(nursery, front_db, webhooks=None)

    async with front.client(await front.token(key)) as api:
        answers = [await api.get("/webhooks"), await api.put("/webhooks", json={"url": URL})]

        assert (await api.get("/webhooks/deliveries")).status_code == 200
    assert [each.status_code for each in answers] == [503, 503]
    assert "not set up" in answers[0].json()["message"]


async def test_each_route_asks_for_its_scope(front: Running, db: Database, tenant: TenantId) -> None:
    reader = await make_key(db, tenant, scopes=("webhooks:read",))
    writer = await make_key(db, tenant, scopes=("webhooks:write",))
    other = await make_key(db, tenant, scopes=("invoices:write", "invoices:read"))
    reading = [("GET", "/webhooks"), ("GET", "/webhooks/deliveries"), ("GET", f"/webhooks/deliveries/{uuid4()}")]
    reading.append(("GET", "/webhooks/recoveries"))
    writing = [("PUT", "/webhooks"), ("POST", "/webhooks/rotate"), ("POST", "/webhooks/test")]
    writing += [("POST", f"/webhooks/deliveries/{uuid4()}/retry"), ("POST", "/webhooks/recover")]

    for key, refused in ((reader, writing), (writer, reading), (other, [*reading, *writing])):
        async with front.client(await front.token(key)) as api:
            for method, path in refused:
                assert (await api.request(method, path, json={})).status_code == 403, (method, path)


async def test_a_new_secret_is_shown_once_and_the_old_one_goes_on_for_a_day(
    front: Running, api: httpx.AsyncClient
) -> None:
    first = (await put(api))["secret"]

    rotated = (await api.post("/webhooks/rotate")).json()

    assert rotated["secret"].startswith("whsec_")
    assert rotated["secret"] != first
    ends = datetime.fromisoformat(rotated["oldSecretUntil"])
    assert timedelta(hours=23) < ends - datetime.now(UTC) <= timedelta(hours=24)
    (shown,) = await listed(api)
    assert "secret" not in shown
    assert shown["oldSecretUntil"] == rotated["oldSecretUntil"]


async def test_several_endpoints_have_each_their_own_secret_and_settings(
    front: Running, api: httpx.AsyncClient, db: Database, tenant: TenantId
) -> None:
    default = await put(api)
    made = (await api.put("/webhooks/endpoints/crm", json={"url": URL, "events": ["submission.error"]})).json()
    again = (await api.put("/webhooks/endpoints/crm", json={"url": URL, "enabled": False})).json()

    assert tuple(made) == (*FIELDS, "secret")
    assert (made["name"], made["secret"] != default["secret"], "secret" in again) == ("crm", True, False)
    assert (again["id"], again["enabled"], again["events"]) == (made["id"], False, ["received_ecf"])
    assert [one["name"] for one in await listed(api)] == ["default"]
    items = (await api.get("/webhooks/endpoints")).json()["items"]
    assert [(one["name"], one["id"]) for one in items] == [("default", default["id"]), ("crm", made["id"])]

    rotated = (await api.post("/webhooks/endpoints/crm/rotate")).json()
    assert (rotated["id"], rotated["secret"] == made["secret"]) == (made["id"], False)
    renamed = (await api.put("/webhooks/endpoints/default", json={"url": "https://other.example.com/"})).json()
    assert (renamed["id"], (await listed(api))[0]["url"]) == (default["id"], "https://other.example.com/")

    elsewhere = await make_key(db, tenant, Environment.CERTECF, scopes=("webhooks:write", "webhooks:read"))
    async with front.client(await front.token(elsewhere)) as other:
        assert (await other.get("/webhooks/endpoints")).json()["items"] == []
        missing = await other.delete("/webhooks/endpoints/crm")
        assert (missing.status_code, missing.json()["message"]) == (404, "there is no webhook endpoint crm in certecf")


async def test_endpoints_are_bounded_and_names_have_a_form(api: httpx.AsyncClient) -> None:
    for number in range(10):
        assert (await api.put(f"/webhooks/endpoints/n{number}", json={"url": URL})).status_code == 200
    over = await api.put("/webhooks", json={"url": URL})
    assert (over.status_code, "at most 10" in over.json()["message"]) == (400, True)
    assert (await api.put("/webhooks/endpoints/n9", json={"url": URL})).status_code == 200, "it is there already"

    for name in ("CRM", "-crm", "c_rm", "n" * 41, "caf%C3%A9"):
        answer = await api.put(f"/webhooks/endpoints/{name}", json={"url": URL})
        assert (answer.status_code, answer.json()["message"][:4]) == (400, "name"), answer.text
    assert (await api.post("/webhooks/recover", json={"since": "2026-01-01", "endpoint": "C"})).status_code == 400
    assert (await api.get("/webhooks/deliveries?endpoint=C")).status_code == 400


async def test_what_a_deleted_endpoint_was_not_delivered_ends_and_says_so(
    api: httpx.AsyncClient, db: Database, tenant: TenantId
) -> None:
    await put(api)
    for name in ("crm", "erp"):
        await api.put(f"/webhooks/endpoints/{name}", json={"url": URL})
        sent = (await api.post(f"/webhooks/endpoints/{name}/test")).json()
        shown = (await api.get(f"/webhooks/deliveries/{sent['id']}")).json()
        assert (shown["endpoint"], shown["state"]) == (name, "pending")
    to_crm = (await api.get("/webhooks/deliveries?endpoint=crm")).json()["items"][0]["id"]

    gone = await api.delete("/webhooks/endpoints/crm")
    again = await api.delete("/webhooks/endpoints/crm")

    assert (gone.status_code, gone.json(), again.status_code) == (200, {"ok": True, "name": "crm"}, 404)
    items = (await api.get("/webhooks/deliveries")).json()["items"]
    states = {one["endpoint"]: (one["state"], one["lastError"]) for one in items}
    assert states == {"crm": ("failed", "deleted"), "erp": ("pending", None)}
    assert (await api.post(f"/webhooks/deliveries/{to_crm}/retry")).status_code == 409
    secrets = "SELECT name FROM webhook_secrets JOIN webhook_endpoints USING (endpoint_id) ORDER BY name"
    assert [one["name"] for one in await rows(db, secrets)] == ["default", "erp"]
    anew = (await api.put("/webhooks/endpoints/crm", json={"url": URL})).json()
    assert anew["secret"].startswith("whsec_")
    assert [one["name"] for one in (await api.get("/webhooks/endpoints")).json()["items"]] == ["default", "erp", "crm"]


async def test_where_none_is_set_there_is_nothing_to_do(api: httpx.AsyncClient) -> None:
    for path in ("/webhooks/rotate", "/webhooks/test", "/webhooks/recover"):
        answer = await api.post(path, json={"since": "2026-01-01"})

        assert answer.status_code == 404
        assert "PUT /webhooks" in answer.json()["message"]


async def test_a_test_event_is_put_on_its_way(api: httpx.AsyncClient, db: Database) -> None:
    made = await put(api)

    answer = await api.post("/webhooks/test")

    assert answer.status_code == 202
    (item,) = (await api.get("/webhooks/deliveries")).json()["items"]
    assert item["id"] == answer.json()["id"]
    assert (item["webhookId"], item["event"], item["state"]) == (made["id"], "test", "pending")
    (row,) = await rows(db, "SELECT body FROM webhook_events")
    body = json.loads(bytes(row["body"]))
    assert (tuple(body), body["event"]) == (("event", "sentAt", "test"), "test")


async def test_a_test_of_what_is_disabled_is_refused(api: httpx.AsyncClient) -> None:
    await put(api, enabled=False)

    answer = await api.post("/webhooks/test")

    assert answer.status_code == 409
    assert "enable it" in answer.json()["message"]


# --- deliveries -------------------------------------------------------------------------------------------------------


async def deliver(
    db: Database, tenant: TenantId, webhook: str, count: int, kind: WebhookEvent = WebhookEvent.TEST
) -> list[str]:
    """Emit `count` events, one a minute, the last a minute ago."""
    made = []
    for number in range(count):
        at = NOW - timedelta(minutes=count - number)
        delivery_id = await db.run(
            events.emit_to_one,
            tenant,
            UUID(webhook),
            event_id=new_id(at),
            environment=Environment.TESTECF,
            kind=kind,
            about=f"n{number}",
            body="{}",
            at=at,
        )
        made.append(str(delivery_id))
    return made


async def test_deliveries_come_in_pages_or_after_a_cursor_newest_first(
    api: httpx.AsyncClient, db: Database, tenant: TenantId
) -> None:
    made = await deliver(db, tenant, (await put(api))["id"], 3)

    first = (await api.get("/webhooks/deliveries", params={"limit": 2})).json()
    second = (await api.get("/webhooks/deliveries", params={"limit": 2, "page": 2})).json()
    after = (await api.get("/webhooks/deliveries", params={"limit": 2, "cursor": first["nextCursor"]})).json()

    assert [item["id"] for item in first["items"]] == [made[2], made[1]]
    assert (first["page"], first["limit"], first["total"]) == (1, 2, 3)
    assert [item["id"] for item in second["items"]] == [made[0]]
    assert after == {"limit": 2, "items": second["items"], "nextCursor": None}
    assert (await api.get("/webhooks/deliveries", params={"page": 9})).json()["items"] == []


async def test_they_are_filtered(api: httpx.AsyncClient, db: Database, tenant: TenantId) -> None:
    made = await deliver(db, tenant, (await put(api))["id"], 3)
    await rows(db, "UPDATE webhook_deliveries SET stage = 'failed' WHERE subject = %(id)s", id=UUID(made[1]))

    async def ids(**query: str) -> list[str]:
        answer = (await api.get("/webhooks/deliveries", params=query)).json()
        assert answer["total"] == len(answer["items"])
        return [item["id"] for item in answer["items"]]

    assert await ids(state="failed") == [made[1]]
    assert await ids(state="pending") == [made[2], made[0]]
    assert await ids(event="test") == made[::-1]
    assert await ids(event="received_ecf") == []
    assert await ids(about="n0") == [made[0]]
    assert await ids(**{"from": (NOW - timedelta(minutes=1, seconds=30)).isoformat()}) == [made[2]]
    assert await ids(to=(NOW - timedelta(minutes=2, seconds=30)).isoformat()) == [made[0]]


async def test_what_cannot_be_asked_is_a_400_that_names_it(api: httpx.AsyncClient) -> None:
    for query in (
        {"page": "0"},
        {"limit": "201"},
        {"state": "webhook"},
        {"event": "x"},
        {"cursor": "x"},
        {"from": "x"},
        {"about": ""},
        {"from": "2026-11-07", "to": "2026-11-06"},
    ):
        answer = await api.get("/webhooks/deliveries", params=query)

        assert answer.status_code == 400, query
        assert next(iter(query)) in answer.json()["message"]


async def test_one_is_shown_with_its_tries(api: httpx.AsyncClient, db: Database, tenant: TenantId) -> None:
    (made,) = await deliver(db, tenant, (await put(api))["id"], 1)
    await rows(
        db,
        "INSERT INTO webhook_attempts (tenant_id, delivery_id, epoch, attempt, at, duration_ms, status, error, answer)"
        " VALUES (%(tenant)s, %(id)s, 1, 1, %(at)s, 20, 500, 'status', 'no \\377')",
        tenant=tenant,
        id=UUID(made),
        at=NOW,
    )

    answer = (await api.get(f"/webhooks/deliveries/{made}")).json()

    assert answer["id"] == made
    (tried,) = answer["tries"]
    assert (tried["status"], tried["error"], tried["durationMs"], tried["answer"]) == (500, "status", 20, "no \ufffd")


async def test_one_that_failed_is_made_again_under_its_id(
    api: httpx.AsyncClient, db: Database, tenant: TenantId
) -> None:
    (made,) = await deliver(db, tenant, (await put(api))["id"], 1)
    await rows(db, "UPDATE webhook_deliveries SET stage = 'failed', attempt = 10, finished_at = now()")

    answer = await api.post(f"/webhooks/deliveries/{made}/retry")

    assert (answer.status_code, answer.json()["id"]) == (202, made)
    shown = (await api.get(f"/webhooks/deliveries/{made}")).json()
    assert (shown["state"], shown["attempts"], shown["finishedAt"]) == ("pending", 0, None)


async def test_one_that_is_under_way_is_not(api: httpx.AsyncClient, db: Database, tenant: TenantId) -> None:
    (made,) = await deliver(db, tenant, (await put(api))["id"], 1)
    await rows(db, "UPDATE webhook_deliveries SET holder = 'somebody'")

    answer = await api.post(f"/webhooks/deliveries/{made}/retry")

    assert answer.status_code == 409
    assert "under way" in answer.json()["message"]


@pytest.mark.parametrize("state", ["failed", "delivered", "held"])
async def test_one_whose_webhook_is_disabled_is_not_and_stays_as_it_is(
    api: httpx.AsyncClient, db: Database, tenant: TenantId, state: str
) -> None:
    (made,) = await deliver(db, tenant, (await put(api))["id"], 1)
    await rows(db, "UPDATE webhook_deliveries SET stage = %(stage)s", stage=state)
    await put(api, enabled=False)
    before = (await api.get(f"/webhooks/deliveries/{made}")).json()

    answer = await api.post(f"/webhooks/deliveries/{made}/retry")

    assert answer.status_code == 409
    assert answer.json()["message"] == "the webhook of testecf is disabled: enable it first"
    assert (await api.get(f"/webhooks/deliveries/{made}")).json() == before


async def test_one_whose_webhook_was_removed_is_not(api: httpx.AsyncClient, db: Database, tenant: TenantId) -> None:
    (made,) = await deliver(db, tenant, (await put(api))["id"], 1)
    await rows(db, "UPDATE webhook_endpoints SET removed_at = now()")  # as a release before could

    answer = await api.post(f"/webhooks/deliveries/{made}/retry")

    assert (answer.status_code, answer.json()["message"]) == (409, "its webhook was removed")


async def test_nobody_sees_or_makes_again_what_is_not_theirs(
    front: Running, api: httpx.AsyncClient, db: Database, tenant: TenantId
) -> None:
    (made,) = await deliver(db, tenant, (await put(api))["id"], 1)
    stranger = await make_key(db, await make_tenant(db, "Otra SRL"))
    elsewhere = await make_key(db, tenant, Environment.CERTECF)

    for key in (stranger, elsewhere):
        async with front.client(await front.token(key)) as theirs:
            assert (await theirs.get("/webhooks/deliveries")).json()["items"] == []
            assert (await theirs.get(f"/webhooks/deliveries/{made}")).json() == {"found": False}
            assert (await theirs.post(f"/webhooks/deliveries/{made}/retry")).status_code == 404
    for unknown in (str(uuid4()), "x"):
        assert (await api.get(f"/webhooks/deliveries/{unknown}")).json() == {"found": False}
        assert (await api.post(f"/webhooks/deliveries/{unknown}/retry")).status_code == 404


# --- recovery ---------------------------------------------------------------------------------------------------------


async def test_a_recovery_is_a_job_of_which_there_is_one_at_a_time(api: httpx.AsyncClient, db: Database) -> None:
    made = await put(api)
    since = (datetime.now(UTC) - timedelta(days=1)).date().isoformat()

    asked = await api.post("/webhooks/recover", json={"since": since})

    assert asked.status_code == 202
    job = asked.json()
    assert (job["webhookId"], job["state"], job["recovered"]) == (made["id"], "pending", 0)
    assert job["since"] == f"{since}T00:00:00.000Z"
    assert (await api.get("/webhooks/recoveries")).json()["items"] == [job]
    (row,) = await rows(db, "SELECT stage, only_held FROM webhook_recoveries")
    assert (row["stage"], row["only_held"]) == ("webhook_recovery", False)
    again = await api.post("/webhooks/recover", json={"since": since})
    assert again.status_code == 409
    assert job["id"] in again.json()["message"]


async def test_recoveries_are_told_of_in_their_environment(
    front: Running, api: httpx.AsyncClient, db: Database, tenant: TenantId
) -> None:
    await put(api)
    since = {"since": (NOW - timedelta(days=1)).isoformat()}
    mine = (await api.post("/webhooks/recover", json=since)).json()
    elsewhere = await make_key(db, tenant, Environment.CERTECF)
    async with front.client(await front.token(elsewhere)) as other:
        assert (await other.get("/webhooks/recoveries")).json()["items"] == []
        await put(other)
        theirs = (await other.post("/webhooks/recover", json=since)).json()

        assert (await other.get("/webhooks/recoveries")).json()["items"] == [theirs]
        # However many there are elsewhere, there is one at a time here, and it is shown.
        await rows(
            db,
            "INSERT INTO webhook_recoveries (tenant_id, subject, stage, run_at, endpoint_id, since, until, position,"
            " asked_at) SELECT r.tenant_id, ('ffffffff-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'done',"
            " now(), r.endpoint_id, r.since, r.until, r.position, now()"
            " FROM webhook_recoveries AS r, generate_series(1, 20) AS n WHERE r.subject = %(id)s",
            id=UUID(theirs["id"]),
        )
    assert (await api.get("/webhooks/recoveries")).json()["items"] == [mine]
    assert (await api.post("/webhooks/recover", json=since)).status_code == 409


async def test_since_must_be_a_moment_of_the_past(api: httpx.AsyncClient) -> None:
    await put(api)

    for since in ("", "yesterday", "2999-01-01", 7, None):
        answer = await api.post("/webhooks/recover", json={"since": since})

        assert answer.status_code == 400, since
        assert "since" in answer.json()["message"]


async def test_what_was_kept_is_let_go_when_it_is_enabled_again(
    api: httpx.AsyncClient, db: Database, tenant: TenantId
) -> None:
    made = await put(api)
    await deliver(db, tenant, made["id"], 2)
    await rows(db, "UPDATE webhook_deliveries SET stage = 'held'")
    await rows(db, "UPDATE webhook_endpoints SET disabled_at = now(), disabled_reason = 'failing'")
    assert (await listed(api))[0]["disabledReason"] == "failing"

    again = await put(api)

    assert again["disabledAt"] is None
    (row,) = await rows(db, "SELECT only_held, since, until FROM webhook_recoveries")
    assert row["only_held"]
    assert row["since"] <= NOW - timedelta(minutes=2) < row["until"]
    assert (await api.get("/webhooks/recoveries")).json()["items"] == []


async def test_recovery_while_a_re_enabled_webhook_catches_up_is_accepted(
    api: httpx.AsyncClient, db: Database, tenant: TenantId
) -> None:
    made = await put(api)
    since = {"since": (NOW - timedelta(days=1)).isoformat()}
    await deliver(db, tenant, made["id"], 2)
    await rows(db, "UPDATE webhook_deliveries SET stage = 'held'")
    await rows(db, "UPDATE webhook_endpoints SET disabled_at = now(), disabled_reason = 'failing'")
    await put(api)

    asked = await api.post("/webhooks/recover", json=since)

    assert asked.status_code == 202
    assert (await api.get("/webhooks/recoveries")).json()["items"] == [asked.json()]


async def test_recoveries_after_many_re_enablings_are_still_listed(api: httpx.AsyncClient, db: Database) -> None:
    await put(api)
    since = {"since": (NOW - timedelta(days=1)).isoformat()}
    asked = (await api.post("/webhooks/recover", json=since)).json()
    await rows(
        db,
        "INSERT INTO webhook_recoveries (tenant_id, subject, stage, run_at, endpoint_id, since, until, position,"
        " asked_at, only_held) SELECT r.tenant_id, ('ffffffff-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid,"
        " 'done', now(), r.endpoint_id, r.since, r.until, r.position, now(), true"
        " FROM webhook_recoveries AS r, generate_series(1, 20) AS n",
    )

    assert (await api.get("/webhooks/recoveries")).json()["items"] == [asked]


async def test_every_route_of_webhooks_is_in_the_description(front: Running) -> None:
    async with front.client() as client:
        described = (await client.get("/openapi.json")).json()["paths"]

    assert sorted(path.removeprefix(PREFIX) for path in described if path.startswith(f"{PREFIX}/webhooks")) == [
        "/webhooks",
        "/webhooks/deliveries",
        "/webhooks/deliveries/{deliveryId}",
        "/webhooks/deliveries/{deliveryId}/retry",
        "/webhooks/endpoints",
        "/webhooks/endpoints/{endpoint}",
        "/webhooks/endpoints/{endpoint}/rotate",
        "/webhooks/endpoints/{endpoint}/test",
        "/webhooks/recover",
        "/webhooks/recoveries",
        "/webhooks/rotate",
        "/webhooks/test",
    ]
