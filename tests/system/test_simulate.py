"""Requested outcomes of a simulated authority: every outcome as for real; refused with the real one."""

import hashlib
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
import trio

from fe.accounts.provision import create_key
from fe.authority.client import Authority, Outgoing
from fe.authority.hosts import Hosts
from fe.clock import system_clock
from fe.config import ConfigError, load_settings
from fe.ecf.catalogue import Environment, Service
from fe.main import serve
from fe.process.workers import Listeners
from fe.requested_outcome import AskedOutcome, Simulation
from fe.store.postgres.db import Database
from fe.store.records import submissions
from tests.factories.tenants import make_tenant, new_submission, rows
from tests.system.stack import ISSUER, Stack, running_stack
from tests.system.test_road import consumer_invoice, invoice
from tests.waiting import PATIENCE

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

#: Requested outcome, and the result: status, codes, and number fate.
FINAL: list[tuple[dict[str, Any], str, list[str], str]] = [
    ({"outcome": "rejected", "code": 1}, "Rechazado", ["1"], "reusable"),
    ({"outcome": "rejected", "code": 3}, "Rechazado", ["3"], "used"),
    ({"outcome": "rejected", "code": 4}, "Rechazado", ["4"], "reusable"),
    ({"outcome": "rejected", "code": 13}, "Rechazado", ["13"], "used"),
    ({"outcome": "rejected", "code": 614}, "Rechazado", ["614"], "used"),
    ({"outcome": "conditional"}, "Aceptado Condicional", ["13"], "used"),
    ({"outcome": "conditional", "code": 2020}, "Aceptado Condicional", ["2020"], "used"),
    ({"outcome": "lost-answer"}, "Aceptado", [], "used"),
    ({"outcome": "slow", "seconds": 1}, "Aceptado", ["0"], "used"),
]


def codes_of(record: dict[str, Any]) -> list[str]:
    return [str(message["codigo"]) for message in record["response"].get("mensajes") or []]


async def until_status(stack: Stack, tax_log_id: str, status: str, fate: str) -> dict[str, Any]:
    with trio.fail_after(PATIENCE):
        while True:
            record: dict[str, Any] = (await stack.client.get(f"/invoices/{tax_log_id}")).json()
            if (record["status"], record["numberFate"]) == (status, fate):
                return record
            await trio.sleep(0.05)


async def kinds_of(stack: Stack, tax_log_id: str) -> list[str]:
    return [event["kind"] for event in (await stack.client.get(f"/invoices/{tax_log_id}/timeline")).json()["events"]]


async def seen_of(stack: Stack, e_ncf: str) -> list[dict[str, Any]]:
    async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as client:
        url = f"{stack.simulator.management}/documents/testecf/{ISSUER['RNCEmisor']}/{e_ncf}"
        documents: list[dict[str, Any]] = (await client.get(url)).json()["documents"]
        return documents


async def test_every_outcome_comes_as_it_was_asked_for(dsn: str, tmp_path: Path) -> None:
    async with running_stack(dsn, tmp_path, authority_simulated=True) as stack:
        ends: dict[str, dict[str, Any]] = {}

        async def follow(place: int, make: Any) -> None:
            asked, status, codes, fate = FINAL[place]
            taken = await stack.submit(make(place + 1), simulate=asked)
            record = await stack.until_final(taken["taxLogId"])
            ends[taken["eNCF"]] = record
            assert (record["status"], record["numberFate"]) == (status, fate), (asked, record)
            if codes:
                assert codes_of(record) == codes, (asked, record)
            if asked["outcome"] == "lost-answer":
                assert "outcome_unknown" in await kinds_of(stack, taken["taxLogId"])

        async with trio.open_nursery() as nursery:
            for place in range(len(FINAL)):
                nursery.start_soon(follow, place, invoice)
                nursery.start_soon(follow, place, consumer_invoice)
        stuck = await stack.submit(invoice(50), simulate={"outcome": "stuck"})
        summary = await stack.submit(consumer_invoice(50), simulate={"outcome": "stuck"})
        await until_status(stack, stuck["taxLogId"], "En Proceso", "reserved")
        await until_status(stack, summary["taxLogId"], "queued", "unknown")

        # The request is stored beside the document: the signed bytes are sent, unchanged, once.
        lost = "E31" + f"{1 + [asked['outcome'] for asked, *_ in FINAL].index('lost-answer'):010d}"
        (document,) = await seen_of(stack, lost)
        shown = (await stack.client.get(f"/invoices/{ends[lost]['taxLogId']}/xml")).json()["xml"]
        assert document["sha256"] == hashlib.sha256(shown.encode()).hexdigest()
        assert "simulate" not in shown.lower()
        assert len(ends) == 2 * len(FINAL)


async def test_a_batch_and_a_repeat_ask_like_one_receipt_alone(dsn: str, tmp_path: Path) -> None:
    async with running_stack(dsn, tmp_path, authority_simulated=True) as stack:
        rejected = {"outcome": "rejected", "code": 4}
        items = [
            {"format": "structured", "payload": invoice(1), "clientRequestId": "a", "simulate": rejected},
            {"format": "structured", "payload": invoice(2), "clientRequestId": "b"},
            {"format": "structured", "payload": invoice(3), "simulate": {"outcome": "lost"}},
            {"format": "structured", "payload": invoice(3), "simulate": {"now": "2029-01-01"}},
        ]
        answer = (await stack.client.post("/invoices/batch", json={"items": items})).json()["items"]
        repeat = await stack.client.post("/invoices", json=items[0])
        without = await stack.client.post("/invoices", json={**items[0], "simulate": None})
        ends = [await stack.until_final(one["taxLogId"]) for one in answer[:2]]
        # The number is free again, and nothing is asked of the receipt that takes it.
        again = await stack.submit(invoice(1))
        end = await stack.until_final(again["taxLogId"])

    assert [one["statusCode"] for one in answer] == [202, 202, 400, 400]
    assert answer[2]["message"].startswith("simulate.outcome")
    assert answer[3]["message"] == "simulate.now is for POST /invoices/validate, and for POST /invoices with strict"
    assert (repeat.json()["deduped"], repeat.json()["bodyMatched"]) == (True, True)
    assert (without.json()["deduped"], without.json()["bodyMatched"]) == (True, False)
    assert [one["status"] for one in ends] == ["Rechazado", "Aceptado"]
    assert end["status"] == "Aceptado"


async def test_what_was_asked_outlives_the_process_that_was_asked(dsn: str, tmp_path: Path) -> None:
    async with running_stack(dsn, tmp_path, role="http", authority_simulated=True) as stack:
        taken = await stack.submit(invoice(1), simulate={"outcome": "rejected", "code": 4})
        async with trio.open_nursery() as nursery:
            listeners = Listeners.open(stack.settings, "actors")
            nursery.start_soon(serve, stack.settings, dsn, "actors", stack.vault, listeners)
            record = await stack.until_final(taken["taxLogId"])
            nursery.cancel_scope.cancel()

    assert (record["status"], codes_of(record)) == ("Rechazado", ["4"])


async def test_nobody_asks_where_the_authority_is_real_or_the_key_is_for_production(dsn: str, tmp_path: Path) -> None:
    asked = {"format": "structured", "payload": invoice(1), "simulate": {"outcome": "conditional"}}
    said = "simulate is for sandboxes: here the authority is not a simulator, or the key is for production"
    async with running_stack(dsn, tmp_path, role="http") as stack:
        plain = await stack.client.post("/invoices", json=asked)
        batch = await stack.client.post("/invoices/batch", json={"items": [asked]})
        validated = await stack.client.post("/invoices/validate", json=asked | {"simulate": {"now": "2029-01-01"}})
        spanish = await stack.client.post("/invoices", json=asked, headers={"Accept-Language": "es"})
        kept = await rows(stack.db, "SELECT 1 FROM submissions UNION ALL SELECT 1 FROM simulations")
    async with running_stack(dsn, tmp_path, role="http", authority_simulated=True) as stack:
        assert stack.settings.api_key_pepper is not None
        pepper = bytes.fromhex(stack.settings.api_key_pepper.get_secret_value())
        key = await stack.db.transact(create_key, stack.tenant, Environment.ECF, pepper=pepper)
        login = {"apiKeyId": key.record.api_key_id, "apiSecret": key.secret}
        token = (await stack.client.post("/login", json=login)).json()["accessToken"]
        production = await stack.client.post("/invoices", json=asked, headers={"Authorization": f"Bearer {token}"})

    for refused in (plain, validated, production):
        assert (refused.status_code, refused.json()) == (400, {"message": said, "statusCode": 400})
    assert batch.json()["items"] == [{"message": said, "statusCode": 400}]
    assert spanish.json()["message"].startswith("simulate es para ambientes de prueba")
    assert kept == []


@pytest.mark.parametrize("url", ["authority_ecf_url", "authority_fc_url", "authority_status_url"])
def test_the_setting_is_refused_beside_any_host_of_the_real_authority(url: str) -> None:
    simulated = dict.fromkeys(("authority_ecf_url", "authority_fc_url", "authority_status_url"), "http://127.0.0.1:1")

    load_settings(development=True, authority_simulated=True, **simulated)
    with pytest.raises(ConfigError, match=r"FE_AUTHORITY_SIMULATED is set, and FE_AUTHORITY_.* is the real authority"):
        load_settings(development=True, authority_simulated=True, **simulated | {url: "https://x.DGII.gov.do."})
    with pytest.raises(ConfigError, match="FE_AUTHORITY_SIMULATED is set, and FE_AUTHORITY_ECF_URL"):
        load_settings(authority_simulated=True)


async def test_the_database_keeps_no_outcome_of_production_and_the_wire_says_none_to_the_real_authority(
    db: Database,
) -> None:
    tenant = await make_tenant(db)
    asked = Simulation(AskedOutcome.CONDITIONAL)
    new = new_submission(tenant, environment=Environment.ECF, simulation=asked)
    at = system_clock()
    for accept in (
        lambda: db.run(submissions.accept, new, at),
        lambda: db.run(submissions.accept_many, [(new, at)]),
    ):
        with pytest.raises(psycopg.errors.CheckViolation, match="simulations_never_in_production"):
            await accept()
    assert await rows(db, "SELECT 1 FROM submissions") == []

    authority = Authority(Hosts(), clock=system_clock)
    outgoing = Outgoing(Environment.TESTECF, Service.RECEPTION, "131880738E310000000001.xml", b"<ECF/>", asked)
    try:
        with pytest.raises(ValueError, match="the real authority is not asked for outcomes"):
            await authority.submit(outgoing, None)  # type: ignore[arg-type]  # it gets no further
    finally:
        authority.close()


WRONG = [
    ({}, "simulate: needs an outcome: rejected, conditional, stuck, lost-answer or slow"),
    ({"code": 4}, "simulate: needs an outcome: rejected, conditional, stuck, lost-answer or slow"),
    ({"outcome": "rejected"}, "simulate: rejected needs a code"),
    ({"outcome": "stuck", "code": 4}, "simulate: a code from 1 to 99999 goes with conditional and rejected"),
    ({"outcome": "stuck", "seconds": 4}, "simulate: seconds from 1 to 3600 go with slow"),
    ({"now": "tomorrow"}, "simulate.now: must be a date (YYYY-MM-DD) or an ISO 8601 timestamp between the years"),
    ({"now": "0001-01-01"}, "simulate.now: must be a date (YYYY-MM-DD) or an ISO 8601 timestamp between the years"),
    ({"outcome": "slow", "seconds": 3601}, "simulate.seconds: input should be less than or equal to 3600"),
    ({"outcome": "rejected", "code": "4"}, "simulate.code must be a whole number"),
    ({"outcome": "rejected; code=4\r\nHost: x", "code": 4}, "simulate.outcome: input should be 'rejected'"),
    ("rejected", "simulate"),
]


async def test_what_time_will_bring_is_seen_before_it_comes(dsn: str, tmp_path: Path) -> None:
    ends = system_clock() + timedelta(days=366)
    async with running_stack(dsn, tmp_path, role="http", authority_simulated=True) as stack:

        async def problems(payload: dict[str, Any], now: str) -> list[dict[str, Any]]:
            body = {"format": "structured", "payload": payload, "simulate": {"now": now}}
            answer = await stack.client.post("/invoices/validate", json=body)
            assert answer.status_code == 200, answer.text
            found: list[dict[str, Any]] = answer.json()["problems"]
            return [one for one in found if one["severity"] == "rejected"]

        today = await problems(invoice(1), system_clock().isoformat())
        late = await problems(invoice(1), "2029-01-02")
        body = {"format": "structured", "payload": invoice(1), "strict": True, "simulate": {"now": ends.isoformat()}}
        strict = await stack.client.post("/invoices", json=body)
        loose = await stack.client.post("/invoices", json=body | {"strict": False})
        validated = await stack.client.post("/invoices/validate", json=body | {"simulate": {"outcome": "stuck"}})
        wrong = [(await stack.client.post("/invoices", json=body | {"simulate": asked})).json() for asked, _ in WRONG]
        kept = await rows(stack.db, "SELECT 1 FROM submissions")

    assert today == []
    assert [one["code"] for one in late] == ["no-certificate", "sequence-expired"]
    assert late[0]["message"].startswith("the certificate has expired (valid ")
    assert strict.status_code == 400
    assert [one["code"] for one in strict.json()["problems"] if one["severity"] == "rejected"] == ["no-certificate"]
    assert loose.json()["message"] == "simulate.now is for POST /invoices/validate, and for POST /invoices with strict"
    assert validated.json()["message"].startswith("simulate.outcome is for POST /invoices")
    for (asked, said), answer in zip(WRONG, wrong, strict=True):
        assert answer["statusCode"] == 400, asked
        assert answer["message"].startswith(said), (asked, answer)
    assert kept == []


async def test_what_has_expired_ends_as_the_pages_say(dsn: str, tmp_path: Path) -> None:
    """An expired sequence; and then an expired certificate."""
    async with running_stack(dsn, tmp_path, authority_simulated=True) as stack:
        await stack.client.patch("/ncf/E31", json={"expireAt": (date.today() - timedelta(days=2)).isoformat()})
        late = await stack.until_final((await stack.submit(invoice(2)))["taxLogId"])
        number = invoice(3)
        del number["Encabezado"]["IdDoc"]["eNCF"]
        number["Encabezado"]["IdDoc"]["TipoeCF"] = "31"
        drawn = await stack.client.post("/invoices", json={"format": "structured", "payload": number})
        await rows(stack.db, "UPDATE certificates SET not_after = now() - interval '1 day'")
        unsigned = await stack.until_final((await stack.submit(consumer_invoice(1)))["taxLogId"])

    assert (unsigned["status"], unsigned["numberFate"]) == ("error", "reusable")
    assert unsigned["response"]["error"].startswith("the certificate has expired (valid ")
    assert (late["status"], late["numberFate"]) == ("error", "reusable")
    assert [one["code"] for one in late["response"]["problems"]] == ["sequence-expired"]
    assert drawn.json() == {"message": "the NCF sequence for E31 has expired", "statusCode": 400}
