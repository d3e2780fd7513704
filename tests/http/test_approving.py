"""Approving and rejecting what was received: one decision, said once, and shown with what became of it."""

from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
import trio

from fe.ecf.catalogue import Environment
from fe.ecf.json_text import write_json
from fe.ecf.parse import parse_json
from fe.identifiers import ApiKeyId, SubmissionId, TenantId
from fe.issuing.decide import decision_on, take_in
from fe.lifecycle import Status
from fe.store.postgres.db import Conn, Database, open_database
from fe.store.postgres.roles import RECEPTION
from fe.store.postgres.tenant_scope import fetch
from fe.store.records import approvals, received, receivers, waiting
from fe.store.records.approvals import DecisionOutcome, DecisionResult
from fe.store.records.receivers import Receiver
from tests.factories.companies import make_certificate
from tests.factories.tenants import ACCEPTED_AT, make_submission, rows
from tests.http import worker
from tests.http.front import Running, make_key, make_tenant
from tests.portal.receipts import make_received
from tests.receiving import supplier
from tests.receiving.supplier import OURS, THEIRS, approval, document, start_reception
from tests.waiting import PATIENCE

NUMBER = "E310000000001"

_DECIDING_AND_WAITING = (
    "SELECT 1 AS n FROM pg_stat_activity WHERE query LIKE '%%decide_received%%' AND wait_event_type = 'Lock'"
)


@pytest.fixture
async def one(dsn: str, nursery: trio.Nursery, db: Database, tenant: TenantId, api: httpx.AsyncClient) -> str:
    """The id of a document that was received."""
    await make_certificate(db, tenant)
    await db.run(receivers.open_reception, Receiver(tenant, Environment.TESTECF, OURS, False))
    async with open_database(dsn, role=RECEPTION) as reception_db:
        reception = await start_reception(nursery, db, reception_db, tenant=tenant)
        assert supplier.read(await reception.send(document(Encabezado__IdDoc__eNCF=NUMBER))).state == "0"
    found: str = (await api.get("/received")).json()["items"][0]["id"]
    return found


async def carry_through(db: Database, tax_log_id: str, status: Status, *messages: tuple[str, str]) -> None:
    """Do the work of signer and sender for an ACECF."""
    await worker.sign(db, tax_log_id)
    (row,) = await rows(
        db,
        "SELECT content FROM submission_documents WHERE submission_id = %(id)s AND kind = 'original'",
        id=UUID(tax_log_id),
    )
    state = parse_json(bytes(row["content"]))["ACECF"]["DetalleAprobacionComercial"]["Estado"]
    await rows(
        db,
        "UPDATE submission_documents SET content = %(content)b WHERE submission_id = %(id)s AND kind = 'signed'",
        content=approval(NUMBER, OURS, issuer=THEIRS, state=state),
        id=UUID(tax_log_id),
    )
    await rows(
        db,
        "UPDATE submissions SET issuer_rnc = %(issuer)s WHERE submission_id = %(id)s",
        issuer=THEIRS,
        id=UUID(tax_log_id),
    )
    await worker.give_verdict(db, tax_log_id, status, *messages)


async def test_an_approval_in_the_name_of_another_taxpayer_here_is_refused(
    api: httpx.AsyncClient, db: Database, one: str
) -> None:
    """The tenant may be another company by now than the one that received the document."""
    await rows(db, "UPDATE tenants SET issuer = jsonb_set(issuer, '{RNCEmisor}', '\"101000001\"')")
    await make_tenant(db, "La de ahora SRL")

    for what, body in (("approve", {}), ("reject", {"reason": "no"})):
        answer = await api.post(f"/received/{one}/{what}", json=body)

        assert (answer.status_code, f"RNCComprador {OURS}" in answer.json()["message"]) == (403, True), answer.text
    assert await rows(db, "SELECT 1 FROM submissions") == []


async def test_an_approval_makes_the_acecf_and_is_pending_until_the_authority_accepts_it(
    api: httpx.AsyncClient, db: Database, one: str
) -> None:
    answer = await api.post(f"/received/{one}/approve")

    taken = answer.json()
    assert answer.status_code == 202, answer.text
    assert {name: value for name, value in taken.items() if name not in ("taxLogId", "message")} == {
        "id": one,
        "environment": "testecf",
        "decision": "approved",
        "approvalStatus": "pending",
        "status": "queued",
        "deduped": False,
    }
    (row,) = await rows(db, "SELECT content FROM submission_documents WHERE kind = 'original'")
    assert bytes(row["content"]) == write_json(
        {
            "ACECF": {
                "DetalleAprobacionComercial": {
                    "Estado": "1",
                    "FechaEmision": "15-10-2025",
                    "MontoTotal": "118.00",
                    "RNCComprador": OURS,
                    "RNCEmisor": THEIRS,
                    "eNCF": NUMBER,
                }
            }
        }
    )
    before = (await api.get(f"/received/{one}")).json()
    assert before["approvalStatus"] == "pending"
    assert before["approval"]["authority"]["status"] == "queued"
    assert before["approval"]["issuer"] == {"state": "waiting"}

    await carry_through(db, taken["taxLogId"], Status.ACCEPTED)

    after = (await api.get(f"/received/{one}")).json()
    assert (after["approvalStatus"], after["approval"]["authority"]["status"]) == ("approved", "Aceptado")
    assert after["approval"]["issuer"]["state"] == "pending"  # begun with the verdict
    assert after["approval"]["taxLogId"] == taken["taxLogId"]
    assert await counted(api, "approved") == 1
    assert await counted(api, "rejected") == 0
    assert "approval" not in (await api.get("/received")).json()["items"][0]


async def counted(api: httpx.AsyncClient, status: str) -> int:
    """The total of a list by decision."""
    day = (await api.get("/received")).json()["items"][0]["fechaEmision"]
    asked = {"issuedFrom": day, "issuedTo": day, "approvalStatus": status}
    total: int = (await api.get("/received", params=asked)).json()["total"]
    return total


async def test_a_rejection_says_why(api: httpx.AsyncClient, db: Database, one: str) -> None:
    taken = (await api.post(f"/received/{one}/reject", json={"reason": "no es lo pedido"})).json()
    await carry_through(db, taken["taxLogId"], Status.ACCEPTED)

    shown = (await api.get(f"/received/{one}")).json()

    assert (taken["decision"], shown["approvalStatus"]) == ("rejected", "rejected")
    assert shown["approval"]["reason"] == "no es lo pedido"


@pytest.mark.parametrize("accepted", [False, True])
async def test_the_second_time_answers_with_the_first(
    api: httpx.AsyncClient, db: Database, one: str, accepted: bool
) -> None:
    first = (await api.post(f"/received/{one}/approve", json={"clientRequestId": "a-1"})).json()
    if accepted:
        await carry_through(db, first["taxLogId"], Status.ACCEPTED)

    for body in ({"clientRequestId": "a-1"}, {"clientRequestId": "a-2"}, {}):
        answer = await api.post(f"/received/{one}/approve", json=body)
        assert answer.status_code == 200, answer.text
        assert answer.json() == first | {
            "deduped": True,
            "status": "Aceptado" if accepted else "queued",
            "approvalStatus": "approved" if accepted else "pending",
            "message": "This was decided before; nothing was processed again.",
        }
    assert len(await rows(db, "SELECT 1 AS n FROM submissions WHERE root = 'ACECF'")) == 1


async def test_ten_at_once_are_one(api: httpx.AsyncClient, db: Database, one: str) -> None:
    answers: list[httpx.Response] = []

    async def approve() -> None:
        answers.append(await api.post(f"/received/{one}/approve"))

    async with trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(approve)

    assert sorted(answer.status_code for answer in answers) == [200] * 9 + [202]
    assert len({answer.json()["taxLogId"] for answer in answers}) == 1
    assert len(await rows(db, "SELECT 1 AS n FROM submissions WHERE root = 'ACECF'")) == 1


async def test_what_is_decided_while_the_next_looks_is_what_the_next_is_told_of(
    db: Database, tenant: TenantId, one: str
) -> None:
    """The next has found no decision, and waits where it looks for an ACECF that came another way."""
    record = await db.run_for(tenant, received.one, UUID(one))
    assert record is not None
    told: list[DecisionResult] = []

    async def decide(conn: Conn, tenant: TenantId) -> DecisionResult:
        decision, new = decision_on(record, None, tenant, ApiKeyId("fak_000000000001"), ACCEPTED_AT)
        return await approvals.decide(conn, tenant, decision, new, ACCEPTED_AT)

    async def the_next() -> None:
        told.append(await take_in(lambda: db.run_for(tenant, decide)))

    async def decide_while_the_next_looks(conn: Conn, nursery: trio.Nursery) -> DecisionResult:
        decided = await decide(conn, tenant)
        await conn.execute("LOCK TABLE submission_documents IN ACCESS EXCLUSIVE MODE")
        nursery.start_soon(the_next)
        with trio.fail_after(PATIENCE):
            while not await rows(db, _DECIDING_AND_WAITING):  # noqa: ASYNC110  (only the server knows)
                await trio.sleep(0.01)
        return decided

    async with trio.open_nursery() as nursery:
        first = await db.transact_for(tenant, decide_while_the_next_looks, nursery)

    assert first.outcome is DecisionOutcome.ACCEPTED
    assert [(one.outcome, one.submission_id) for one in told] == [(DecisionOutcome.AGAIN, first.submission_id)]
    assert len(await rows(db, "SELECT 1 AS n FROM submissions WHERE root = 'ACECF'")) == 1


@pytest.mark.parametrize("accepted", [False, True])
async def test_the_contrary_is_a_409_as_long_as_the_first_may_count(
    api: httpx.AsyncClient, db: Database, one: str, accepted: bool
) -> None:
    first = (await api.post(f"/received/{one}/reject", json={"reason": "no"})).json()
    if accepted:
        await carry_through(db, first["taxLogId"], Status.ACCEPTED)

    answer = await api.post(f"/received/{one}/approve")

    assert answer.status_code == 409
    assert first["taxLogId"] in answer.json()["message"]
    assert "rejected before" in answer.json()["message"]


async def test_what_the_authority_refused_is_no_decision_and_can_be_decided_anew(
    api: httpx.AsyncClient, db: Database, one: str
) -> None:
    first = (await api.post(f"/received/{one}/approve", json={"clientRequestId": "a-1"})).json()
    await carry_through(db, first["taxLogId"], Status.REJECTED, ("2", "La factura no fue encontrada."))
    refused = (await api.get(f"/received/{one}")).json()

    again = await api.post(f"/received/{one}/approve", json={"clientRequestId": "a-1"})
    anew = await api.post(f"/received/{one}/reject", json={"reason": "otra vez"})

    assert await counted(api, "approved") == 0
    assert refused["approvalStatus"] == "pending"
    assert refused["approval"]["authority"]["message"] == "La factura no fue encontrada."
    assert "issuer" not in refused["approval"]
    assert (again.status_code, again.json()["taxLogId"]) == (
        200,
        first["taxLogId"],
    )  # the same request, the same answer
    assert (anew.status_code, anew.json()["taxLogId"] != first["taxLogId"]) == (202, True)


@pytest.mark.parametrize("spelt", ["1", "01", "+1"])  # all of them are 1 to the format, and signed as they stand
async def test_what_was_said_through_invoices_counts(
    api: httpx.AsyncClient, db: Database, tenant: TenantId, one: str, spelt: str
) -> None:
    subject: SubmissionId = await make_submission(
        db,
        tenant,
        environment=Environment.TESTECF,
        root="ACECF",
        ecf_type=None,
        e_ncf=NUMBER,
        issuer_rnc=THEIRS,
        buyer_rnc=OURS,
    )
    under_way = await api.post(f"/received/{one}/approve")
    await worker.sign(db, str(subject))
    await rows(
        db,
        "UPDATE submission_documents SET content = %(content)b WHERE submission_id = %(id)s AND kind = 'signed'",
        content=approval(NUMBER, OURS, issuer=THEIRS, Estado=spelt),
        id=subject,
    )
    await rows(
        db, "UPDATE submissions SET issuer_rnc = %(issuer)s WHERE submission_id = %(id)s", issuer=THEIRS, id=subject
    )
    await worker.give_verdict(db, str(subject), Status.ACCEPTED)
    same = await api.post(f"/received/{one}/approve")
    contrary = await api.post(f"/received/{one}/reject", json={"reason": "no"})

    assert (await api.get(f"/received/{one}")).json()["approvalStatus"] == "approved"
    assert (under_way.status_code, str(subject) in under_way.json()["message"]) == (409, True)
    assert (same.status_code, same.json()["taxLogId"]) == (200, str(subject))
    assert contrary.status_code == 409
    # A client that submits the approval document itself must deliver it to the issuer, too.
    assert await rows(db, "SELECT 1 AS n FROM counterparty_deliveries") == []


async def test_a_client_request_id_of_another_submission_is_a_409(
    api: httpx.AsyncClient, db: Database, tenant: TenantId, one: str
) -> None:
    other = await make_submission(db, tenant, environment=Environment.TESTECF, client_request_id="order-1")

    answer = await api.post(f"/received/{one}/approve", json={"clientRequestId": "order-1"})

    assert (answer.status_code, str(other) in answer.json()["message"]) == (409, True)
    assert await rows(db, "SELECT 1 AS n FROM approvals") == []


@pytest.mark.parametrize(
    ("decision", "body", "says"),
    [
        ("reject", {}, "reason must be a text of 1 to 250"),
        ("reject", None, "reason must be a text of 1 to 250"),
        ("reject", {"reason": ""}, "reason must be a text of 1 to 250"),
        ("reject", {"reason": "   "}, "reason must be a text of 1 to 250"),
        ("reject", {"reason": "x" * 251}, "reason must be a text of 1 to 250"),
        ("reject", {"reason": "\x01"}, "the text at reason contains a character that is not allowed"),
        ("reject", {"reason": 7}, "reason must be a text of 1 to 250"),
        ("approve", {"clientRequestId": ""}, "clientRequestId must be a string of 1 to 120"),
        ("approve", {"asUserId": "x"}, "asUserId"),
        ("approve", [], "the body must be a JSON object"),
    ],
)
async def test_what_cannot_be_taken_is_a_400_that_names_it(
    api: httpx.AsyncClient, db: Database, one: str, decision: str, body: Any, says: str
) -> None:
    answer = await (
        api.post(f"/received/{one}/{decision}") if body is None else api.post(f"/received/{one}/{decision}", json=body)
    )

    assert (answer.status_code, answer.json()["statusCode"]) == (400, 400)
    assert says in answer.json()["message"]
    assert await rows(db, "SELECT 1 AS n FROM approvals") == []


async def test_only_who_received_it_decides_with_the_scope_and_in_its_environment(
    front: Running, api: httpx.AsyncClient, db: Database, tenant: TenantId, one: str
) -> None:
    stranger = await make_key(db, await make_tenant(db, "Otra SRL"))
    reader = await make_key(db, tenant, scopes=("invoices:read",))
    production = await make_key(db, tenant, environment=Environment.ECF)
    statuses = []
    for key in (stranger, reader, production):
        async with front.client(await front.token(key)) as client:
            statuses.append((await client.post(f"/received/{one}/approve")).status_code)

    assert statuses == [404, 403, 403]
    for unknown in (str(uuid4()), "x"):
        assert (await api.post(f"/received/{unknown}/approve")).status_code == 404
    assert await rows(db, "SELECT 1 AS n FROM approvals") == []


async def test_many_ids_decided_together_each_answer_for_themselves(
    api: httpx.AsyncClient, db: Database, tenant: TenantId, one: str
) -> None:
    another = await make_received(db, tenant, e_ncf="E310000000078", environment=Environment.TESTECF)
    decided = await make_received(db, tenant, e_ncf="E310000000079", environment=Environment.TESTECF)
    elsewhere = await make_received(db, tenant, e_ncf="E310000000080", environment=Environment.ECF)
    await api.post(f"/received/{decided}/reject", json={"reason": "no"})
    ids = [one, str(another), str(decided), str(elsewhere), str(uuid4()), "x", one]

    first, again = [
        (await api.post("/received/approvals", json={"decision": "approved", "ids": ids})).json()["items"]
        for _ in range(2)
    ]

    assert [item["id"] for item in first] == ids[:-1]
    assert [item["statusCode"] for item in first] == [202, 202, 409, 403, 404, 404]
    assert [item["statusCode"] for item in again] == [200, 200, 409, 403, 404, 404]
    assert [item["taxLogId"] for item in first[:3]] == [item["taxLogId"] for item in again[:3]]
    assert len(await rows(db, "SELECT 1 FROM submissions")) == 3


@pytest.mark.parametrize(
    "body",
    [
        {"decision": "approved", "ids": []},
        {"decision": "approved", "ids": ["x"] * 101},
        {"decision": "rejected", "ids": ["x"]},
        {"decision": "rejected", "ids": ["x"], "reason": "  "},
        {"decision": "approved", "ids": ["x"], "reason": "no"},
        {"decision": "maybe", "ids": ["x"]},
    ],
)
async def test_many_decided_by_a_body_that_is_wrong_are_refused(api: httpx.AsyncClient, body: dict[str, Any]) -> None:
    assert (await api.post("/received/approvals", json=body)).status_code == 400


async def test_accepted_answer_takes_the_receipt_off_those_that_wait(
    api: httpx.AsyncClient, db: Database, tenant: TenantId, one: str
) -> None:
    (counted,) = await db.run(fetch, waiting.count_asked(tenant, Environment.TESTECF))
    assert counted.many == 1
    taken = (await api.post(f"/received/{one}/approve")).json()["taxLogId"]
    assert (await db.run_for(tenant, waiting.page, Environment.TESTECF)).rows == []

    await carry_through(db, taken, Status.REJECTED)
    assert [str(row.received_id) for row in (await db.run_for(tenant, waiting.page, Environment.TESTECF)).rows] == [one]

    taken = (await api.post(f"/received/{one}/approve")).json()["taxLogId"]
    await carry_through(db, taken, Status.ACCEPTED)
    assert await rows(db, "SELECT 1 FROM received_waiting") == []
