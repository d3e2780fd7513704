"""The contract: interface.md#login, #authentication, #authentication-failures, #scopes and #keys."""

from datetime import UTC, datetime, timedelta

import httpx
import pytest
import trio

from fe.accounts.keys import REVOKED_CHANNEL, SCOPES, new_api_key, revoke_key
from fe.ecf.catalogue import Environment
from fe.http.auth.authenticate import KEY_PATIENCE, KeyPatience
from fe.http.pages.layout import MARKDOWN
from fe.http.routes.types import Route
from fe.identifiers import TenantId
from fe.store.postgres.db import Database
from fe.store.records import keys
from tests.http.clauses import clause
from tests.http.front import Key, Running, Start, make_key, make_tenant
from tests.waiting import PATIENCE, until_listened_to

_ANY = "00000000-0000-7000-8000-000000000000"

#: How each route is called, by a client that wants nothing in particular.
CALLS = {
    ("POST", "/login"): None,
    ("POST", "/invoices"): "invoices:write",
    ("GET", f"/invoices/{_ANY}"): "invoices:read",
    ("GET", f"/invoices/{_ANY}/xml"): "invoices:read",
    ("GET", "/invoices"): "invoices:read",
    ("GET", "/ncf"): "ncf:read",
    ("POST", "/ncf"): "ncf:write",
    ("DELETE", "/ncf/E31"): "ncf:write",
    ("GET", "/usage"): "usage:read",
    ("GET", "/billing/current-period"): "billing:read",
}
ADDED = {
    ("POST", "/invoices/batch"): "invoices:write",
    ("POST", "/invoices/validate"): "invoices:write",
    ("GET", f"/invoices/{_ANY}/timeline"): "invoices:read",
    ("GET", "/webhooks"): "webhooks:read",
    ("PUT", "/webhooks"): "webhooks:write",
    ("GET", "/webhooks/deliveries"): "webhooks:read",
    ("POST", "/webhooks/test"): "webhooks:write",
    ("GET", "/contingency"): "invoices:read",
    ("POST", "/contingency"): "invoices:write",
    ("GET", "/printing"): "invoices:read",
    ("PUT", "/printing"): "invoices:write",
    ("POST", f"/invoices/{_ANY}/share"): "invoices:write",
    ("DELETE", f"/invoices/{_ANY}/share"): "invoices:write",
    ("GET", "/mail"): "mail:read",
    ("PUT", "/mail"): "mail:write",
    **{("GET", path): "recurring:read" for path in ("/recurring", "/recurring/a")},
    **{(method, "/recurring/a"): "recurring:write" for method in ("PUT", "DELETE")},
    ("POST", "/recurring/a/turns/a"): "recurring:write",
    **{("GET", path): "catalogue:read" for path in ("/customers", "/customers/a", "/products", "/products/a")},
    ("GET", "/rnc/131880657"): "catalogue:read",
    **{(method, path): "catalogue:write" for method in ("PUT", "DELETE") for path in ("/customers/a", "/products/a")},
}
PUBLIC = {
    *("/", "/healthz", "/readyz", "/llms.txt", "/api/v1/fe", "/api/v1/fe/", "/api/v1/fe/login"),
    *("/api/v1/fe/openapi.json", "/api/v1/fe/docs", f"/api/v1/fe/docs{MARKDOWN}", "/api/v1/fe/docs/<path:page>"),
    *("/api/v1/fe/authority", "/api/v1/fe/docs/authority", "/api/v1/fe/docs/<any(es, en):language>/authority"),
    *("/api/v1/fe/status", "/api/v1/fe/docs/status", "/api/v1/fe/docs/status.json"),
    "/api/v1/fe/docs/<any(es, en):language>/status",
}


@clause("POST /login", "The only endpoint without Authorization header", "| apiKeyId", "| apiSecret")
@clause("POST /login", "| accessToken", "| tokenType", "| expiresIn", "| environment", "| scopes")
@clause("What the service does", "A client exchanges long-lived credentials", "Endpoints: POST /login")
@clause("Authentication", "A JWT of 1 hour")
@clause("Environments", "Each API key belongs to one environment")
@clause("API key (credential)", "| apiKeyId", "| apiSecret", "| environment")
async def test_credentials_are_exchanged_for_a_token_of_one_hour(
    front: Running, db: Database, tenant: TenantId
) -> None:
    for environment in Environment:
        key = await make_key(db, tenant, environment)
        async with front.client() as client:
            answer = await client.post("/login", json=key.credentials)

        assert answer.status_code == 200
        body = answer.json()
        assert list(body) == ["accessToken", "tokenType", "expiresIn", "environment", "scopes"]
        assert body["accessToken"].count(".") == 2
        assert body["tokenType"] == "Bearer"
        assert body["expiresIn"] == 3600
        assert body["environment"] == environment
        assert body["scopes"] == list(SCOPES)


@clause("API key (credential)", "| apiKeyId", "| apiSecret")
async def test_a_new_key_has_the_form_the_interface_says_and_its_secret_is_kept_nowhere(
    db: Database, tenant: TenantId
) -> None:
    api_key_id, secret = new_api_key()
    key = await make_key(db, tenant)

    stored = await db.run(keys.find, key.api_key_id)

    assert api_key_id.startswith("fak_")
    assert len(bytes.fromhex(api_key_id[4:])) == 6
    assert len(bytes.fromhex(secret)) == 32
    assert stored is not None
    assert key.secret not in repr(stored)
    assert bytes.fromhex(key.secret) not in stored.secret_hash


@clause("POST /login", "| apiKeyId")
@clause("HTTP errors of the API", "| 400 | apiKeyId must start with fak_")
@pytest.mark.parametrize("given", ["", "key_0123", "FAK_012345678901", " fak_012345678901"])
async def test_a_key_id_that_does_not_start_with_fak_is_refused_as_malformed(front: Running, given: str) -> None:
    async with front.client() as client:
        answer = await client.post("/login", json={"apiKeyId": given, "apiSecret": "x"})

    assert answer.status_code == 400
    assert answer.json() == {"message": "apiKeyId must start with fak_", "statusCode": 400}


@clause("POST /login", "| apiSecret")
async def test_what_is_missing_or_of_the_wrong_type_is_named(front: Running) -> None:
    async with front.client() as client:
        missing = await client.post("/login", json={"apiKeyId": "fak_012345678901"})
        wrong = await client.post("/login", json={"apiKeyId": "fak_012345678901", "apiSecret": 5})
        no_object = await client.post("/login", json=["fak_012345678901"])

    assert missing.json()["message"] == "apiSecret is required"
    assert wrong.json()["message"] == "apiSecret must be a string"
    assert no_object.json()["message"] == "the body must be a JSON object"
    assert {missing.status_code, wrong.status_code, no_object.status_code} == {400}


@clause("POST /login", "Response 401: `{message: Invalid credentials, statusCode: 401}`")
@clause("Authentication failures", "| 401 | Invalid credentials")
@clause("API key state", "| active | revoke", "| active | expiry")
@clause("API key (credential)", "| state")
async def test_every_login_failure_looks_the_same(front: Running, db: Database, tenant: TenantId, key: Key) -> None:
    revoked = await make_key(db, tenant)
    await db.transact(revoke_key, tenant, revoked.api_key_id, datetime.now(UTC))
    expired = await make_key(db, tenant, expires_at=datetime.now(UTC) - timedelta(seconds=1))
    cases = {
        "unknown": {"apiKeyId": "fak_000000000000", "apiSecret": key.secret},
        "wrong secret": {"apiKeyId": key.api_key_id, "apiSecret": "0" * 64},
        "no hexadecimal": {"apiKeyId": key.api_key_id, "apiSecret": "ñ"},
        "revoked": revoked.credentials,
        "expired": expired.credentials,
        "no id of ours": {"apiKeyId": "fak_" + "x" * 4000, "apiSecret": "x"},
    }
    seen = set()
    async with front.client() as client:
        for name, body in cases.items():
            answer = await client.post("/login", json=body)
            assert answer.status_code == 401, name
            assert answer.json() == {"message": "Invalid credentials", "statusCode": 401}, name
            seen.add((answer.content, tuple(sorted(set(answer.headers) - {"x-request-id", "date"}))))

    assert len(seen) == 1


@clause("Authentication", "When it expires, the client logs in again", "A JWT of 1 hour")
@clause("Authentication", "`exp` not in the past")
@clause("Limits", "| JWT lifetime")
async def test_a_token_ends_after_one_hour_and_a_new_login_gives_another(front: Running, key: Key) -> None:
    front.clock.stop()
    token = await front.token(key)
    async with front.client(token) as client:
        front.clock.ahead = timedelta(seconds=3598)
        before = await client.get("/ncf")
        front.clock.ahead = timedelta(seconds=3601)
        after = await client.get("/ncf")
        again = await client.get("/ncf", headers={"Authorization": f"Bearer {await front.token(key)}"})

    assert before.status_code == 200
    assert (after.status_code, after.json()["message"]) == (401, "Invalid or expired token")
    assert again.status_code == 200


@clause("Authentication failures", "| 401 | Missing bearer token")
@clause("HTTP errors of the API", "| 401 | Missing bearer token")
@clause("Endpoints", "All endpoints except POST /login require", "4xx errors carry")
@clause("Authentication", "A JWT of 1 hour")
async def test_without_a_bearer_token_nothing_but_login_answers(front: Running) -> None:
    async with front.client() as client:
        for method, path in [call for call, scope in {**CALLS, **ADDED}.items() if scope]:
            for header in (None, "Basic abc", "abc", "Bearerabc", ""):
                headers = {} if header is None else {"Authorization": header}
                answer = await client.request(method, path, headers=headers)
                assert answer.status_code == 401, (method, path, header)
                told = answer.json()
                assert "POST /login" in told.pop("hint")
                assert told == {"message": "Missing bearer token", "statusCode": 401}


@clause("Authentication failures", "| 403 | Missing required scope(s)")
@clause("HTTP errors of the API", "| 403 | Missing required scope(s)")
@clause("Authentication", "The server validates on each call")
@clause("Authentication", "the scope required by the endpoint")
@clause("Scopes", "| invoices:write", "| invoices:read", "| ncf:read", "| ncf:write", "| usage:read", "| billing:read")
@clause("Scopes", "When a key is created its scopes may be restricted")
@clause("API key (credential)", "| scopes")
@clause("Endpoints", *(f"| {call}" for call in ("POST /login", "POST /invoices", "GET /invoices/:trackOrId |")))
@clause("Endpoints", "| GET /invoices/:trackOrId/xml", "| GET /invoices |", "| GET /ncf", "| POST /ncf")
@clause("Endpoints", "| DELETE /ncf", "| GET /usage", "| GET /billing")
@clause("POST /invoices", "Scope invoices:write")
@clause("GET /invoices/:trackOrId", "Scope invoices:read")
@clause("GET /invoices/:trackOrId/xml", "Scope invoices:read")
@clause("GET /invoices", "Scope invoices:read")
@clause("GET /ncf", "Scope ncf:read")
@clause("POST /ncf", "Scope ncf:write")
@clause("DELETE /ncf/:prefix", "Scope ncf:write")
@clause("GET /usage", "Scope usage:read")
@clause("GET /billing/current-period", "Scope billing:read")
async def test_each_endpoint_asks_for_its_scope_and_no_other(front: Running, db: Database, tenant: TenantId) -> None:
    for granted in SCOPES:
        key = await make_key(db, tenant, scopes=(granted,))
        async with front.client() as client:
            login = (await client.post("/login", json=key.credentials)).json()
            client.headers["Authorization"] = f"Bearer {login['accessToken']}"
            for (method, path), scope in {**CALLS, **ADDED}.items():
                if scope is None:
                    continue
                answer = await client.request(method, path)
                if scope in login["scopes"]:
                    assert answer.status_code != 403, (granted, method, path)
                else:
                    expected = {"message": f"Missing required scope(s): {scope}", "statusCode": 403}
                    assert (answer.status_code, answer.json()) == (403, expected), (granted, method, path)


async def test_every_route_has_a_scope_or_is_on_the_public_list(front: Running) -> None:
    from fe.http.app import create_app

    routes: tuple[Route, ...] = create_app(front.deps).extensions["fe"].routes

    assert {route.path for route in routes if route.scope is None} <= PUBLIC
    assert all(route.scope in SCOPES for route in routes if route.scope is not None)
    assert len({(route.method, route.path) for route in routes}) == len(routes)


@clause("Scopes", "At login the ncf scopes are inherited")
@clause("POST /login", "| scopes")
@pytest.mark.parametrize(
    ("own", "granted"),
    [
        (["invoices:write"], ["invoices:write", "ncf:read", "ncf:write"]),
        (["invoices:read"], ["invoices:read", "ncf:read"]),
        (["invoices:read", "invoices:write"], ["invoices:write", "invoices:read", "ncf:read", "ncf:write"]),
        (["usage:read"], ["usage:read"]),
        (["billing:read", "ncf:read"], ["ncf:read", "billing:read"]),
        ([], []),
    ],
)
async def test_the_ncf_scopes_come_with_invoicing(
    front: Running, db: Database, tenant: TenantId, own: list[str], granted: list[str]
) -> None:
    key = await make_key(db, tenant, scopes=tuple(own))
    async with front.client() as client:
        answer = await client.post("/login", json=key.credentials)

    assert answer.json()["scopes"] == granted


@clause("Authentication failures", "| 401 | API key has been revoked")
@clause("API key state", "| active | revoke")
@clause("Authentication", "the underlying key is still active", "Rotation of a credential pair")
@clause("Limits", "| Revocation propagation")
@clause("API key (credential)", "A tenant may hold any number of active keys")
async def test_a_revoked_key_stops_at_once_and_its_sibling_goes_on(
    front_db: Database, nursery: trio.Nursery, start: Start, db: Database, tenant: TenantId, key: Key
) -> None:
    front = await start(nursery, front_db, key_patience=KeyPatience(fresh=1e6))  # it asks when it is told, or never
    await until_listened_to(db, REVOKED_CHANNEL)
    sibling = await make_key(db, tenant)
    async with front.client(await front.token(key)) as old, front.client(await front.token(sibling)) as new:
        assert (await old.get("/ncf")).status_code == 200
        await db.transact(revoke_key, tenant, key.api_key_id, datetime.now(UTC))
        with trio.fail_after(PATIENCE):
            while (answer := await old.get("/ncf")).status_code == 200:  # noqa: ASYNC110  (only the front knows)
                await trio.sleep(0.02)

        assert (answer.status_code, answer.json()["message"]) == (401, "API key has been revoked")
        assert (await new.get("/ncf")).status_code == 200
        assert (await old.post("/login", json=key.credentials)).status_code == 401


@clause("Authentication", "the underlying key is still active")
async def test_a_revocation_whose_notification_is_lost_works_when_the_cache_is_old(
    front_db: Database, nursery: trio.Nursery, start: Start, db: Database, tenant: TenantId, key: Key
) -> None:
    patience = KeyPatience(fresh=0.3)  # no time at which it must still be believed, only one at which it must not
    front = await start(nursery, front_db, key_patience=patience)
    async with front.client(await front.token(key)) as client:
        assert (await client.get("/ncf")).status_code == 200
        await db.run(keys.revoke, tenant, key.api_key_id, datetime.now(UTC))  # without a notification
        await trio.sleep(patience.fresh)
        assert (await client.get("/ncf")).json()["message"] == "API key has been revoked"


def test_a_key_is_never_believed_for_more_than_thirty_seconds() -> None:
    assert KEY_PATIENCE.fresh + KEY_PATIENCE.asked <= 20
    assert KEY_PATIENCE.believed < 30


@clause("API key state", "| active | expiry")
async def test_a_key_that_expires_stops_its_tokens_too(front: Running, db: Database, tenant: TenantId) -> None:
    key = await make_key(db, tenant, expires_at=datetime.now(UTC) + timedelta(minutes=5))
    async with front.client(await front.token(key)) as client:
        assert (await client.get("/ncf")).status_code == 200
        front.clock.ahead = timedelta(minutes=6)

        assert (await client.get("/ncf")).json() == {"message": "API key has been revoked", "statusCode": 401}


@clause("Authentication", "Rotating the server's signing secret")
async def test_the_signing_secret_rotates_with_overlap(
    front_db: Database, nursery: trio.Nursery, key: Key, start: Start
) -> None:
    old, new = {"k1": b"\x01" * 32}, {"k2": b"\x02" * 32}
    before = await start(nursery, front_db, jwt_keys=old)
    during = await start(nursery, front_db, jwt_keys=new | old)
    after = await start(nursery, front_db, jwt_keys=new)
    of_old, of_new = await before.token(key), await during.token(key)

    async def status(front: Running, token: str) -> int:
        async with front.client(token) as client:
            return (await client.get("/ncf")).status_code

    assert await status(during, of_old) == 200
    assert await status(during, of_new) == 200
    assert await status(after, of_new) == 200
    assert await status(after, of_old) == 401
    assert await after.token(key)  # the credentials are as good as before


async def test_two_tenants_keys_know_nothing_of_each_other(front: Running, db: Database) -> None:
    first, second = await make_tenant(db, "Uno SRL"), await make_tenant(db, "Dos SRL")
    one, two = await make_key(db, first), await make_key(db, second)

    async def total(key: Key) -> int:
        async with front.client(await front.token(key)) as client:
            answer: httpx.Response = await client.get("/invoices")
            return int(answer.json()["total"])

    assert await total(one) == await total(two) == 0
