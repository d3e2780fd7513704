"""Voidings of number ranges through the API, and the 608 field by field."""

from datetime import UTC, datetime
from uuid import UUID

import httpx

from fe.identifiers import TenantId
from fe.store.postgres.db import Database
from fe.store.records import voiding_queue
from tests.factories.tenants import rows
from tests.http.front import invoice_payload, structured

#: A till.
AGENT = "0196f2f0-0000-7000-8000-000000000001"


async def settle(db: Database, tenant: TenantId, voiding: str, at: datetime, *left_out: str) -> None:
    """Have it void, as the voider or an operator would."""
    await rows(db, "UPDATE voidings SET stage = 'in doubt' WHERE subject = %(id)s", id=voiding)
    assert await db.transact(voiding_queue.settle, tenant, UUID(voiding), is_void=True, left_out=left_out, at=at)


async def test_numbers_are_proposed_voided_once_and_listed_in_the_608(
    api: httpx.AsyncClient, db: Database, tenant: TenantId
) -> None:
    for prefix, maximum in (("E31", 20), ("E32", 5)):
        await api.post("/ncf", json={"prefix": prefix, "minSequence": 1, "maxSequence": maximum})
    proposed = (await api.get("/voidings/proposals?prefix=E31")).json()["items"]
    assert proposed == [{"first": "E310000000001", "last": "E310000000020", "numbers": 20, "why": "never drawn"}]
    body = {
        "ranges": [{"first": "E310000000018", "last": "E310000000020"}, {"first": "E320000000004"}],
        "reason": 4,
        "clientRequestId": "close-of-month",
    }

    first, again = await api.post("/voidings", json=body), await api.post("/voidings", json=body)
    other = await api.post("/voidings", json={**body, "reason": 8})
    late = (await api.post("/voidings", json={"ranges": [{"first": "E320000000001"}], "reason": 8})).json()

    assert (first.status_code, again.status_code, other.status_code) == (202, 200, 409)
    assert again.json() == first.json()
    assert (first.json()["state"], first.json()["numbers"]) == ("waiting", 4)
    assert len((await api.get("/voidings")).json()["items"]) == 2
    # 00:30 UTC is the evening before in Santo Domingo.
    await settle(db, tenant, first.json()["voidingId"], datetime(2026, 12, 1, 0, 30, tzinfo=UTC), "E310000000019")
    await settle(db, tenant, late["voidingId"], datetime(2026, 12, 1, 12, tzinfo=UTC))

    october, november, december = [(await api.get(f"/months/2026-{month}/608")).json() for month in (10, 11, 12)]

    assert (november["fileName"], november["rows"]) == ("DGII_F_608_131880681_202611.TXT", 3)
    assert november["content"] == (
        "608|131880681|202611|3\r\nE310000000018|20261130|4\r\nE310000000020|20261130|4\r\nE320000000004|20261130|4"
    )
    assert december["content"] == "608|131880681|202612|1\r\nE320000000001|20261201|8"
    assert october["content"] == "608|131880681|202610|0"
    assert (await api.get(f"/voidings/{first.json()['voidingId']}")).json()["state"] == "partly voided"


async def test_a_document_with_a_voided_number_is_invalid(api: httpx.AsyncClient) -> None:
    await api.post("/ncf", json={"prefix": "E31", "minSequence": 1, "maxSequence": 20})
    voiding = (await api.post("/voidings", json={"ranges": [{"first": "E310000000018"}], "reason": 8})).json()

    told = {}
    for number in ("E310000000017", "E310000000018", "E31000000001x"):
        found = (await api.post("/invoices/validate", json=structured(invoice_payload(number)))).json()["problems"]
        told[number] = [one for one in found if one["code"] == "number-voided"]

    assert [len(found) for found in told.values()] == [0, 1, 0]
    (problem,) = told["E310000000018"]
    assert (problem["path"], problem["severity"]) == ("Encabezado.IdDoc.eNCF", "rejected")
    assert voiding["voidingId"] in problem["message"]
    assert voiding["voidingId"] in problem["messageEs"]


async def test_numbers_of_an_agent_are_not_voided_and_a_repeat_gets_the_first_answer(api: httpx.AsyncClient) -> None:
    till = {"prefix": "E31", "name": "Caja 1", "minSequence": 1, "maxSequence": 20}
    await api.post("/ncf", json=till)
    body = {"ranges": [{"first": "E310000000018"}], "reason": 8, "clientRequestId": "one"}
    first = await api.post("/voidings", json=body)
    given = await api.post("/ncf", json={**till, "maxSequence": 17, "agentId": AGENT})

    again = await api.post("/voidings", json=body)
    new = await api.post("/voidings", json={"ranges": [{"first": "E310000000001"}], "reason": 8})

    assert [one.status_code for one in (first, given, again, new)] == [202, 200, 200, 409]
    assert again.json() == first.json()
    assert "those of a till" in new.json()["message"]
    assert len((await api.get("/voidings")).json()["items"]) == 1


async def test_agent_gets_no_range_with_voided_numbers(api: httpx.AsyncClient) -> None:
    till = {"prefix": "E31", "name": "Caja 1", "minSequence": 1, "maxSequence": 20}
    await api.post("/ncf", json=till)
    asked = {"ranges": [{"first": "E310000000017", "last": "E310000000018"}], "reason": 8}
    assert (await api.post("/voidings", json=asked)).status_code == 202

    made = await api.post("/ncf", json={**till, "agentId": AGENT})
    changed = await api.patch("/ncf/E31?name=Caja%201", json={"agentId": AGENT})
    below = await api.patch("/ncf/E31?name=Caja%201", json={"agentId": AGENT, "maxSequence": 16})
    wider = await api.patch("/ncf/E31?name=Caja%201", json={"agentId": AGENT, "maxSequence": 17})
    behind = await api.patch(
        "/ncf/E31?name=Caja%201", json={"agentId": AGENT, "maxSequence": 30, "currentSequence": 19}
    )
    back = await api.patch("/ncf/E31?name=Caja%201", json={"agentId": AGENT, "currentSequence": 18})
    listed = (await api.get("/ncf")).json()["items"]

    answers = (made, changed, below, wider, behind, back)
    assert [one.status_code for one in answers] == [400, 400, 200, 400, 200, 400]
    assert "E310000000017 to E310000000018" in made.json()["message"]
    assert [(one["maxSequence"], one["currentSequence"]) for one in listed] == [("30", "19")]


async def test_bad_ranges_are_refused(api: httpx.AsyncClient) -> None:
    await api.post("/ncf", json={"prefix": "E31", "minSequence": 1, "maxSequence": 20})
    for body, status in (
        ({"ranges": [], "reason": 8}, 400),
        ({"ranges": [{"first": "E310000000005", "last": "E320000000005"}], "reason": 8}, 400),
        ({"ranges": [{"first": "B0100000005"}], "reason": 8}, 400),
        ({"ranges": [{"first": "E310000000005", "last": "E310000000001"}], "reason": 8}, 400),
        ({"ranges": [{"first": "E310000000021"}], "reason": 8}, 409),
        ({"ranges": [{"first": "E310000000005"}], "reason": 9}, 409),
    ):
        answer = await api.post("/voidings", json=body)
        assert answer.status_code == status, (body, answer.text)
