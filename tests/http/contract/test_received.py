"""The contract: interface.md#received, and what the tenant reads of it."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest
import trio

from fe.ecf.catalogue import Environment
from fe.identifiers import SubmissionId, TenantId
from fe.lifecycle import Stage
from fe.store.postgres.db import Database, open_database
from fe.store.postgres.roles import RECEPTION
from fe.store.records import receivers
from fe.store.records.receivers import Receiver
from tests.factories.companies import make_certificate
from tests.factories.tenants import make_submission, rows
from tests.http.clauses import clause
from tests.http.front import Running, make_key, make_tenant
from tests.receiving import supplier
from tests.receiving.supplier import OURS, THEIRS, approval, document, start_reception

FIELDS = (
    "id",
    "environment",
    "encf",
    "tipoEcf",
    "rncEmisor",
    "razonSocialEmisor",
    "rncComprador",
    "montoTotal",
    "fechaEmision",
    "approvalStatus",
    "receivedAt",
)


@pytest.fixture
async def reception(dsn: str, nursery: trio.Nursery, db: Database, tenant: TenantId) -> Any:
    """Where suppliers reach the tenant of these tests."""
    await make_certificate(db, tenant)
    await db.run(receivers.open_reception, Receiver(tenant, Environment.TESTECF, OURS, False))
    async with open_database(dsn, role=RECEPTION) as reception_db:
        yield await start_reception(nursery, db, reception_db, tenant=tenant)


async def send(reception: supplier.Running, count: int) -> list[bytes]:
    """Send `count` documents, one a minute by the clock of the reception."""
    sent = []
    for number in range(1, count + 1):
        raw = document(Encabezado__IdDoc__eNCF=f"E31{number:010}")
        assert supplier.read(await reception.send(raw)).state == "0"
        reception.clock.forward(timedelta(minutes=1))
        sent.append(raw)
    return sent


@clause("What the service does", "Receipts that suppliers issue to the tenant are received")
@clause("Received e-CF", "`approvalStatus` has value `pending` on arrival")
async def test_what_a_supplier_sent_is_shown_with_its_exact_bytes(
    reception: supplier.Running, api: httpx.AsyncClient, db: Database
) -> None:
    (raw,) = await send(reception, 1)

    (item,) = (await api.get("/received")).json()["items"]

    assert tuple(item) == FIELDS
    assert {name: item[name] for name in FIELDS if name not in ("id", "receivedAt")} == {
        "environment": "testecf",
        "encf": "E310000000001",
        "tipoEcf": "E31",
        "rncEmisor": THEIRS,
        "razonSocialEmisor": "DOCUMENTOS ELECTRONICOS DE 02",
        "rncComprador": OURS,
        "montoTotal": 118.0,
        "fechaEmision": "2025-10-15",
        "approvalStatus": "pending",
    }
    assert item["receivedAt"] == "2026-11-06T14:15:30.000Z"
    assert (await api.get(f"/received/{item['id']}")).json() == item
    xml = (await api.get(f"/received/{item['id']}/xml")).json()
    (kept,) = await rows(db, "SELECT acknowledgement FROM acknowledgements")
    assert tuple(xml) == ("id", "environment", "xml", "acknowledgement")
    assert (xml["xml"].encode(), xml["acknowledgement"].encode()) == (raw, bytes(kept["acknowledgement"]))


DAYS = {"from": "2026-11-06", "to": "2026-11-07"}


async def test_the_list_comes_in_pages_or_after_a_cursor_newest_first(
    reception: supplier.Running, api: httpx.AsyncClient
) -> None:
    await send(reception, 3)

    first = (await api.get("/received", params={"limit": 2})).json()
    second = (await api.get("/received", params={"limit": 2, "page": 2})).json()
    after = (await api.get("/received", params={"limit": 2, "cursor": first["nextCursor"]})).json()

    assert [item["encf"][-1] for item in first["items"]] == ["3", "2"]
    assert (first["page"], first["limit"], first["total"]) == (1, 2, 3)
    assert [item["encf"][-1] for item in second["items"]] == ["1"]
    assert after == {"limit": 2, "items": second["items"], "nextCursor": None}
    assert (await api.get("/received", params={"page": 9})).json()["items"] == []


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"encf": "E310000000002"}, ["2"]),
        ({"rnc": THEIRS}, ["3", "2", "1"]),
        ({"rnc": OURS}, []),
        ({"from": "2026-11-06T14:16:30Z"}, ["3", "2"]),
        ({"to": "2026-11-06T14:16:30Z"}, ["2", "1"]),
        ({"from": "2026-11-07"}, []),
        ({"tipoEcf": "E31"}, ["3", "2", "1"]),
        ({"tipoEcf": "E34"}, []),
        ({**DAYS, "approvalStatus": "pending"}, ["3", "2", "1"]),
        ({**DAYS, "approvalStatus": "approved"}, []),
        ({**DAYS, "text": "0002"}, ["2"]),
        ({**DAYS, "totalTo": "0.01"}, []),
        ({"issuedFrom": "2100-01-01"}, []),
    ],
)
async def test_it_is_filtered(
    reception: supplier.Running, api: httpx.AsyncClient, query: dict[str, str], found: list[str]
) -> None:
    await send(reception, 3)

    answer = (await api.get("/received", params=query)).json()

    assert [item["encf"][-1] for item in answer["items"]] == found
    assert answer["total"] == len(found)


@pytest.mark.parametrize(
    "query",
    [
        {"page": "0"},
        {"limit": "201"},
        {"encf": "X"},
        {"rnc": "1"},
        {"cursor": "x"},
        {"from": "x"},
        {"from": "2026-11-07", "to": "2026-11-06"},
        {"approvalStatus": "pending"},
    ],
)
async def test_what_cannot_be_asked_is_a_400_that_names_it(api: httpx.AsyncClient, query: dict[str, str]) -> None:
    answer = await api.get("/received", params=query)

    assert answer.status_code == 400
    assert next(iter(query)) in answer.json()["message"]


async def test_what_matches_nothing_is_found_false_and_so_is_another_tenants(
    front: Running, reception: supplier.Running, api: httpx.AsyncClient, db: Database
) -> None:
    await send(reception, 1)
    (item,) = (await api.get("/received")).json()["items"]
    stranger = await make_key(db, await make_tenant(db, "Otra SRL"))

    async with front.client(await front.token(stranger)) as theirs:
        assert (await theirs.get("/received")).json()["items"] == []
        for path in (item["id"], f"{item['id']}/xml"):
            assert (await theirs.get(f"/received/{path}")).json() == {"found": False}
    for unknown in (str(uuid4()), "x", "{" + item["id"] + "}"):
        assert (await api.get(f"/received/{unknown}")).json() == {"found": False}


async def test_reading_needs_its_scope(front: Running, db: Database, tenant: TenantId) -> None:
    key = await make_key(db, tenant, scopes=("usage:read",))

    async with front.client(await front.token(key)) as client:
        for path in ("/received", f"/received/{uuid4()}", f"/received/{uuid4()}/xml"):
            assert (await client.get(path)).status_code == 403


@clause("Received e-CF", "Other values and the moves between them")
@pytest.mark.parametrize(("state", "shown"), [("1", "approved"), ("2", "rejected")])
async def test_an_acecf_that_the_authority_accepts_moves_approval_status(
    reception: supplier.Running, api: httpx.AsyncClient, db: Database, tenant: TenantId, state: str, shown: str
) -> None:
    await send(reception, 2)
    subject = await make_submission(
        db,
        tenant,
        stage=Stage.SEND,
        environment=Environment.TESTECF,
        root="ACECF",
        ecf_type=None,
        e_ncf="E310000000001",
        issuer_rnc=THEIRS,
        buyer_rnc=OURS,
        signed=approval("E310000000001", OURS, issuer=THEIRS, state=state),
    )
    assert [item["approvalStatus"] for item in (await api.get("/received")).json()["items"]] == ["pending"] * 2

    await accept(db, subject)

    assert [item["approvalStatus"] for item in (await api.get("/received")).json()["items"]] == ["pending", shown]
    for asked, many in (("pending", 1), (shown, 1), ({"approved": "rejected", "rejected": "approved"}[shown], 0)):
        listed = (await api.get("/received", params={**DAYS, "approvalStatus": asked})).json()
        assert (listed["total"], [item["approvalStatus"] for item in listed["items"]]) == (many, [asked] * many)


async def accept(db: Database, subject: SubmissionId) -> None:
    await rows(
        db, "UPDATE submissions SET status = 'Aceptado', verdict_at = now() WHERE submission_id = %(id)s", id=subject
    )


@pytest.mark.parametrize(
    ("state", "shown"),
    [
        ("1", {"approvalStatus": "approved"}),
        ("2", {"approvalStatus": "rejected", "approvalReason": "no es lo pedido"}),
    ],
)
async def test_what_the_buyer_said_is_shown_with_the_submission(
    reception: supplier.Running,
    api: httpx.AsyncClient,
    db: Database,
    tenant: TenantId,
    state: str,
    shown: dict[str, str],
) -> None:
    subject = await make_submission(
        db, tenant, environment=Environment.TESTECF, issuer_rnc=OURS, buyer_rnc=THEIRS, e_ncf="E310000000001"
    )
    await accept(db, subject)
    before = (await api.get(f"/invoices/{subject}")).json()
    assert "approvalStatus" not in before

    assert (await reception.approve(approval("E310000000001", THEIRS, state=state))).status_code == 200

    after = (await api.get(f"/invoices/{subject}")).json()
    assert after.pop("approvalAt") == "2026-11-06T14:15:30.000Z"
    assert after == before | shown
