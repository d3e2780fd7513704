"""The API for providers on a real socket, with the rights of the portal's process and no others."""

import json
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import httpx
import pytest
import trio
from structlog.testing import capture_logs

from fe.accounts import operator_keys
from fe.accounts.keys import Peppers
from fe.ecf.selfmade import self_made, to_p12
from fe.portal.onboarding_api import MAX_BODY
from fe.store.portal import people
from fe.store.portal.people import Person
from fe.store.postgres.db import Database
from fe.store.queue.audit import OperatorAction
from fe.store.records.throttle import ATTEMPT_LIMITS
from tests.factories.certificates import HOLDER, HOLDER_ID, rsa_key
from tests.factories.operators import disable, enable
from tests.factories.tenants import row, rows
from tests.http.front import PEPPER
from tests.plain_http import NO_TLS
from tests.portal.operators import WHY, operating
from tests.portal.running import Running, start_portal
from tests.waiting import PATIENCE

ISSUER = {"RNCEmisor": "131880738", "RazonSocialEmisor": "OZAMA SRL", "DireccionEmisor": "C/ El Conde 1"}
COMPANY = {"name": "Ozama & Hijos/Norte", "issuer": ISSUER}
HERE = "/tenants/Ozama%20%26%20Hijos%2FNorte"
PASSPHRASE = "una clave ñ"


@pytest.fixture
async def olga(portal: Running) -> Person:
    return await portal.person(email="olga@fe.do", is_operator=True)


async def make_key(portal: Running, person: Person, name: str = "alta", days: int = 30) -> str:
    action = OperatorAction.of("test", "a test", portal.clock())
    peppers = Peppers({"": PEPPER})
    made = await portal.db.transact(operator_keys.create, action, person, name, days=days, peppers=peppers)
    assert made.token not in repr(made)
    return made.token


@asynccontextmanager
async def calling(portal: Running, token: str, language: str = "en") -> AsyncIterator[httpx.AsyncClient]:
    headers = {"Accept-Language": language}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    url = f"{portal.url}/provider/v1"
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=PATIENCE, verify=NO_TLS, trust_env=False) as it:
        yield it


@pytest.fixture
async def provider(portal: Running, olga: Person) -> AsyncIterator[httpx.AsyncClient]:
    async with calling(portal, await make_key(portal, olga)) as client:
        yield client


def certificate(holder_id: str = HOLDER_ID, key: str = "provider", **more: Any) -> dict[str, Any]:
    start = datetime.now(UTC) - timedelta(days=40)
    made = self_made(
        rsa_key(key), holder=HOLDER, holder_id=holder_id, not_before=start, not_after=start + timedelta(days=400)
    )
    return {"p12": b64encode(to_p12(made, PASSPHRASE)).decode(), "passphrase": PASSPHRASE, **more}


def refusal(answer: httpx.Response, status: int) -> str:
    """The message of an error, which has the API's form."""
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/json"), answer.text
    body = answer.json()
    assert body["statusCode"] == status
    assert "set-cookie" not in answer.headers
    return str(body["message"])


async def acts(db: Database) -> list[tuple[str, str, str]]:
    found = await rows(db, "SELECT by_whom, action, reason FROM operator_actions ORDER BY at, action_id")
    return [(one["by_whom"], one["action"], one["reason"]) for one in found if one["by_whom"] != "test"]


async def test_company_is_set_up_and_each_step_repeated_changes_nothing(
    portal: Running, provider: httpx.AsyncClient
) -> None:
    made = await provider.post("/tenants", json=COMPANY, headers={"X-Request-Id": "first"})
    assert (made.status_code, made.json()["issuer"]) == (201, ISSUER)
    assert made.headers["x-request-id"] == "first"
    assert (await provider.post("/tenants", json=COMPANY)).status_code == 200
    other = await provider.post("/tenants", json=COMPANY | {"consumerSummary": "off"})
    assert "already, with other data" in refusal(other, 409)

    shown = (await provider.get(HERE)).json()
    assert shown["missing"]["testecf"] == ["certificate", "sequence", "key"]
    assert [one["done"] for one in shown["steps"]][:3] == [True, False, False]

    sent = certificate(extra=1)
    stored = await provider.put(f"{HERE}/certificate", json=sent)
    assert (stored.status_code, stored.json()["holderId"]) == (201, HOLDER_ID)
    assert [one["code"] for one in stored.json()["warnings"]] == ["unknown-member", "certificate"]
    same = await provider.put(f"{HERE}/certificate", json=sent)
    assert (same.status_code, same.json()["certificateId"]) == (200, stored.json()["certificateId"])

    sequence = {"minSequence": 1, "maxSequence": 50, "expireAt": "2030-12-31"}
    for _ in range(2):
        put = await provider.put(f"{HERE}/sequences/testecf/E31", json=sequence)
        assert (put.status_code, put.json()["maxSequence"]) == (200, "50")

    key = await provider.post(f"{HERE}/keys", json={"name": "caja", "environment": "testecf"})
    assert (key.status_code, key.json()["name"]) == (201, "caja")
    again = await provider.post(f"{HERE}/keys", json={"name": "caja", "environment": "testecf"})
    assert key.json()["apiKeyId"] in refusal(again, 409)

    shown = (await provider.get(HERE)).json()
    assert shown["missing"] == {"testecf": [], "certecf": ["sequence", "key"], "ecf": ["sequence", "key"]}
    assert len(shown["certificates"]) == 1
    tenant = (await row(portal.db, "SELECT tenant_id FROM tenants"))["tenant_id"]
    await disable(portal.db, tenant)
    assert (await provider.get(HERE)).json()["missing"]["testecf"] == ["key", "enabled"]
    await enable(portal.db, tenant)

    gone = f"{HERE}/keys/{key.json()['apiKeyId']}"
    for _ in range(2):
        assert (await provider.delete(gone)).json() == {"apiKeyId": key.json()["apiKeyId"], "state": "revoked"}
    assert (await provider.post(f"{HERE}/keys", json={"name": "caja", "environment": "testecf"})).status_code == 201

    noted = [one for one in await acts(portal.db) if one[0] != "ana"]
    assert {by for by, _, _ in noted} == {"key alta of olga@fe.do"}
    assert [act for _, act, _ in noted] == [
        *("tenant create", "certificate add", "sequence put", "sequence put", "key create", "key revoke", "key create")
    ]
    assert noted[0][2] == "API for providers, request first"
    changes = await rows(portal.db, "SELECT by_whom, through, action FROM tenant_changes ORDER BY change_id")
    ours = [(one["by_whom"], one["through"]) for one in changes if one["action"] not in _OF_OPERATORS]
    assert ours == [("key alta of olga@fe.do", "api")] * len(ours)


_OF_OPERATORS = ("company disabled", "company enabled")


async def test_what_is_wrong_is_named_and_changes_nothing(portal: Running, provider: httpx.AsyncClient) -> None:
    await provider.post("/tenants", json=COMPANY)
    wrong_name: Any
    for wrong_name in ("a\nb", "", " a", "x" * 201, "\x7f", 7):
        assert "name" in refusal(await provider.post("/tenants", json=COMPANY | {"name": wrong_name}), 400)
    nul = await provider.post("/tenants", content=b'{"name": "a\\u0000", "issuer": {}}')
    assert "body" in refusal(nul, 400)
    for issuer in (
        {"RNCEmisor": "12"},
        {},
        ISSUER | {"RNCEmisor": 131880738},
        ISSUER | {"RNCEmisor": None},
        ISSUER | {"RNCEmisor": ["131880738"]},
        ISSUER | {"Municipio": 1.5},
        ISSUER | {"NoSuchField": "x"},
    ):
        answer = await provider.post("/tenants", json={"name": "Other", "issuer": issuer})
        assert "issuer" in refusal(answer, 400), issuer
        field = next((name for name in issuer if issuer.get(name) != ISSUER.get(name)), "RNCEmisor")
        assert field in answer.json()["message"], answer.text
        if isinstance(issuer.get(field), str):
            assert answer.json()["problems"][0]["path"] == f"issuer.{field}"

    for body, said in (
        (certificate() | {"passphrase": "wrong"}, "The passphrase does not open"),
        (certificate() | {"passphrase": ""}, "passphrase of the .p12 file is missing"),
        (certificate(holderId="00199999999"), f"names {HOLDER_ID}, not the holderId"),
        ({"p12": "no base64!", "passphrase": "x"}, "p12 must be the file in base64"),
        ({"p12": "AAAA", "passphrase": "x"}, "is not a .p12"),
        ({"passphrase": "x"}, "p12"),
    ):
        assert said in refusal(await provider.put(f"{HERE}/certificate", json=body), 400)
    large = await provider.put(f"{HERE}/certificate", content=b"x" * (MAX_BODY + 1))
    assert str(MAX_BODY) in refusal(large, 413)
    # Not refused (authority.md#certificate): the company may have delegated it. But it is said.
    foreign = await provider.put(f"{HERE}/certificate", json=certificate("130000001", "foreign"))
    assert "other-company" in {one["code"] for one in foreign.json()["warnings"]}

    for where, body, said in (
        ("testecf/E99", {}, "prefix"),
        ("testecf/E31", {"minSequence": 9, "maxSequence": 1}, "maximum sequence"),
        ("testecf/E31", {"maxSequence": "9"}, "maxSequence"),
        ("testecf/E31", {"expireAt": "31-12-2030"}, "expireAt"),
        ("testecf/E31", {"name": "?"}, "name"),
    ):
        assert said in refusal(await provider.put(f"{HERE}/sequences/{where}", json=body), 400)
    assert refusal(await provider.put(f"{HERE}/sequences/none/E31", json={}), 404)
    for body in ({"name": " "}, {"name": "a\tb"}, {"scopes": ["all"]}, {"scopes": []}, {"environment": "x"}):
        assert refusal(await provider.post(f"{HERE}/keys", json={"name": "a", "environment": "ecf", **body}), 400)
    assert "no such key" in refusal(await provider.delete(f"{HERE}/keys/fak_000000000000"), 404)
    for nothing in ("/tenants/Nadie", "/tenants/a%00b", "/tenants/%FF", "/nothing", "/tenants/x/y/z"):
        assert refusal(await provider.get(nothing), 404)
    assert refusal(await provider.delete("/tenants"), 404)
    assert refusal(await provider.post("/tenants", data={"name": "Ozama"}), 415)
    assert "cursor" in refusal(await provider.get("/tenants?cursor=x"), 400)
    assert "crusor" in refusal(await provider.get("/tenants?crusor=1"), 400)
    spanish = await provider.get("/tenants/Nadie", headers={"Accept-Language": "es"})
    assert refusal(spanish, 404) == "no existe una empresa con ese nombre"
    assert [act for _, act, _ in await acts(portal.db)] == ["tenant create", "certificate add"]


async def test_companies_created_at_once_are_one(portal: Running, provider: httpx.AsyncClient) -> None:
    answers: list[int] = []

    async def create(summary: str) -> None:
        answer = await provider.post("/tenants", json=COMPANY | {"consumerSummary": summary})
        answers.append(answer.status_code)

    async with trio.open_nursery() as nursery:
        for summary in ("off", "off", "off", "automatic"):
            nursery.start_soon(create, summary)
    assert sorted(answers) in ([200, 200, 201, 409], [201, 409, 409, 409])
    assert [one["name"] for one in (await provider.get("/tenants")).json()["items"]] == [COMPANY["name"]]
    assert len(await acts(portal.db)) == 1


async def test_list_of_companies_goes_on_at_the_cursor(
    portal: Running, provider: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fe.portal.onboarding_calls.PAGE", 2)
    for name in ("a", "b", "c"):
        await provider.post("/tenants", json=COMPANY | {"name": name})
    first = (await provider.get("/tenants")).json()
    assert [one["name"] for one in first["items"]] == ["a", "b"]
    second = (await provider.get("/tenants", params={"cursor": first["nextCursor"]})).json()
    assert ([one["name"] for one in second["items"]], second["nextCursor"]) == (["c"], None)


async def test_key_that_is_wrong_over_revoked_or_of_nobody_is_refused_and_not_logged(
    portal: Running, olga: Person
) -> None:
    token = await make_key(portal, olga)
    key_id = token.partition(".")[0]

    async def asked(with_token: str) -> httpx.Response:
        async with calling(portal, with_token, "es") as client:
            return await client.get("/tenants")

    with capture_logs() as logs:
        assert (await asked(token)).status_code == 200
        for wrong in ("", "x", f"{key_id}.{'0' * 64}", key_id, f"{token}0", f".{token}"):
            answer = await asked(wrong)
            assert "no es válida" in refusal(answer, 401)
            assert answer.headers["www-authenticate"] == "Bearer"
        await portal.db.run(people.set_disabled, olga.person_id, portal.clock())
        refusal(await asked(token), 401)
        await portal.db.run(people.set_disabled, olga.person_id, None)
        await portal.db.run(people.set_operator, olga.person_id, False)
        refusal(await asked(token), 401)
        await portal.db.run(people.set_operator, olga.person_id, True)
        assert (await asked(token)).status_code == 200
        portal.clock.ahead = timedelta(days=30)
        refusal(await asked(token), 401)
        portal.clock.ahead = timedelta()
        action = OperatorAction.of("test", "a test", portal.clock())
        assert await portal.db.transact(operator_keys.revoke, action, key_id)
        refusal(await asked(token), 401)
        async with operating(portal, "eva@fe.do") as browser:
            assert refusal(await browser.client.get("/provider/v1/tenants"), 401)
            page = await browser.client.get("/operators", headers={"Authorization": f"Bearer {token}"})
            assert page.status_code == 200
        async with calling(portal, token) as client:
            assert (await client.get(f"{portal.url}/operators")).status_code == 303
    assert token.partition(".")[2] not in repr(logs)
    assert {"event": "an operator's key was refused", "address": "127.0.0.1", "log_level": "warning"} in logs


async def test_address_that_tries_too_many_keys_is_locked_out_whatever_it_sends(portal: Running, olga: Person) -> None:
    token = await make_key(portal, olga)
    async with calling(portal, "fok_000000000000.x") as client:
        for _ in range(ATTEMPT_LIMITS.address):
            assert (await client.get("/tenants")).status_code == 401
        locked = await client.get("/tenants")
    assert (locked.status_code, int(locked.headers["retry-after"]) > 800) == (429, True)
    async with calling(portal, token) as client:
        refusal(await client.get("/tenants"), 429)


async def test_secrets_are_neither_logged_nor_on_record(portal: Running, provider: httpx.AsyncClient) -> None:
    with capture_logs() as logs:
        await provider.post("/tenants", json=COMPANY)
        sent = certificate(passphrase=PASSPHRASE)
        await provider.put(f"{HERE}/certificate", json=sent)
        await provider.put(f"{HERE}/certificate", json=sent | {"passphrase": "otra secreta"})
        made = (await provider.post(f"{HERE}/keys", json={"name": "a", "environment": "ecf"})).json()
        await provider.post("/tenants", content=b"{")
    trail = json.dumps(await rows(portal.db, "SELECT entry FROM audit_trail")) + repr(logs)
    token = str(provider.headers["authorization"]).partition(".")[2]
    for secret in (PASSPHRASE, "otra secreta", made["apiSecret"], token, sent["p12"]):
        assert secret not in trail


async def test_use_is_noted_at_most_each_hour_and_hash_moves_to_the_pepper_in_use(
    portal: Running, operator_db: Database, olga: Person
) -> None:
    token, now = await make_key(portal, olga), portal.clock()
    peppers = Peppers({"new": bytes(32), "": PEPPER})
    recognize = partial(operator_keys.recognize, operator_db, token)
    for minutes in (0, 59, 61):
        found = await recognize(peppers if minutes else Peppers({"": PEPPER}), now + timedelta(minutes=minutes))
        assert found is not None
        noted = await row(portal.db, "SELECT last_used_at, pepper_id FROM operator_keys")
        expected = {0: (0, ""), 59: (59, "new"), 61: (59, "new")}[minutes]
        assert noted == {"last_used_at": now + timedelta(minutes=expected[0]), "pepper_id": expected[1]}
    assert await recognize(Peppers({"new": bytes(32)}), now) is not None


async def test_operator_makes_a_key_on_a_page_sees_it_once_and_revokes_it(portal: Running) -> None:
    here = "/operators/keys"
    async with operating(portal) as browser:
        for wrong in ({"name": ""}, {"name": "x" * 101}, {"days": "366"}, {"days": "x"}, {"reason": ""}):
            await browser.get(here)
            page = await browser.send(f"{here}/new", {"name": "alta", "days": "30"} | WHY | wrong)
            assert (page.status_code, 'role="alert"' in page.text) == (400, True), wrong
        await browser.get(here)
        page = await browser.send(f"{here}/new", {"name": "alta", "days": "30"} | WHY)
        token = page.text.partition('id="operator-key">')[2].partition("<")[0]
        assert 'value="alta"' not in page.text, "pressed again, it would make another"
        async with calling(portal, token) as client:
            assert (await client.get("/tenants")).status_code == 200
            page = await browser.get(here)
            assert (token in page.text, token.partition(".")[0] in page.text) == (False, True)
            await browser.send(f"{here}/revoke", WHY)
            assert refusal(await client.get("/tenants"), 401)
        assert "revoked" in (await browser.get(here)).text
        portal.clock.ahead = timedelta(minutes=11)
        page = await browser.send(f"{here}/new", {"name": "later", "days": "30"} | WHY)
        assert page.url.path == "/again"
    assert [(by, act) for by, act, _ in await acts(portal.db)] == [
        ("olga@fe.do", "operator key create"),
        ("olga@fe.do", "operator key revoke"),
    ]


async def test_portal_without_operators_does_not_serve_it(
    nursery: trio.Nursery, db: Database, portal_db: Database
) -> None:
    street = await start_portal(nursery, db, portal_db, None)
    async with calling(street, "fok_000000000000.x") as client:
        answer = await client.get("/tenants")
    assert (answer.status_code, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
