"""The contract: interface.md#issuer. Under whose RNC a tenant issues."""

import secrets
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import httpx
import pytest

from fe.identifiers import TenantId, UserId
from fe.issuing import issuers as known
from fe.store.postgres.db import Database
from fe.store.records import issuers, tenants
from fe.store.records.issuers import Delegation
from tests.factories.tenants import row, rows
from tests.http.front import ISSUER, Key, Running, invoice_payload, make_key, structured

ANOTHER = "101000001"
STRANGER = "101000002"


def under(rnc: Any, **more: Any) -> dict[str, Any]:
    payload = invoice_payload()
    payload["Encabezado"]["Emisor"] = {"RNCEmisor": rnc}
    return structured(payload, **more)


def as_xml(rnc: str) -> dict[str, Any]:
    return {
        "format": "xml",
        "xml": "<ECF><Encabezado><Version>1.0</Version><IdDoc><TipoeCF>31</TipoeCF><eNCF>E310000000001</eNCF></IdDoc>"
        f"<Emisor><RNCEmisor>{rnc}</RNCEmisor></Emisor></Encabezado></ECF>",
    }


def summary(rnc: str) -> dict[str, Any]:
    head = {
        "Version": "1.0",
        "IdDoc": {"TipoeCF": "32", "eNCF": "E320000000001", "TipoIngresos": "01", "TipoPago": "1"},
        "Emisor": {"RNCEmisor": rnc, "RazonSocialEmisor": "Otra SRL", "FechaEmision": "06-11-2026"},
        "Totales": {"MontoTotal": "100.00"},
        "CodigoSeguridadeCF": "AbC1+/",
    }
    return structured({"RFCE": {"Encabezado": head}})


def approval(buyer: str) -> dict[str, Any]:
    said = {
        "Version": "1.0",
        "RNCEmisor": ISSUER["RNCEmisor"],
        "eNCF": "E310000000001",
        "FechaEmision": "06-11-2026",
        "MontoTotal": "118.00",
        "RNCComprador": buyer,
        "Estado": "1",
        "FechaHoraAprobacionComercial": "06-11-2026 10:00:00",
    }
    return structured({"ACECF": {"DetalleAprobacionComercial": said}})


@pytest.fixture
async def another(db: Database) -> TenantId:
    made = await db.run(tenants.create, f"another {secrets.token_hex(4)}", {**ISSUER, "RNCEmisor": ANOTHER})
    assert made is not None
    return made.tenant_id


async def delegate(db: Database, tenant: TenantId, rnc: str = ANOTHER) -> None:
    assert await db.run(issuers.record, Delegation(tenant, rnc, datetime.now(UTC), "ana", "letter of 3 November"))


@pytest.mark.parametrize("body", [under(ANOTHER), as_xml(ANOTHER), summary(ANOTHER), under(int(ANOTHER))])
async def test_another_tenant_s_rnc_is_refused_and_nothing_is_kept(
    api: httpx.AsyncClient, db: Database, another: TenantId, body: dict[str, Any]
) -> None:
    sent = await api.post("/invoices", json=body)
    strict = await api.post("/invoices", json={**body, "strict": True})
    validated = await api.post("/invoices/validate", json=body)

    for answer in (sent, strict, validated):
        assert answer.status_code == 403, answer.text
        assert answer.json() == {
            "message": f"RNCEmisor {ANOTHER} is that of another taxpayer of this service, and no delegation is "
            "recorded",
            "statusCode": 403,
        }
    assert (await row(db, "SELECT count(*) FROM submissions"))["count"] == 0
    assert (await row(db, "SELECT count(*) FROM client_requests"))["count"] == 0


async def test_an_approval_is_signed_for_the_buyer_it_names(
    api: httpx.AsyncClient, db: Database, tenant: TenantId, another: TenantId
) -> None:
    """Otherwise a seller could approve its own receipt in the name of the buyer."""
    for path in ("/invoices", "/invoices/validate"):
        answer = await api.post(path, json=approval(ANOTHER))
        assert (answer.status_code, f"RNCComprador {ANOTHER}" in answer.json()["message"]) == (403, True), answer.text
    problems = (await api.post("/invoices/validate", json=approval(STRANGER))).json()["problems"]
    assert ("foreign-issuer", "DetalleAprobacionComercial.RNCComprador") in [(p["code"], p["path"]) for p in problems]

    await delegate(db, tenant)
    assert (await api.post("/invoices", json=approval(ANOTHER))).status_code == 202
    assert (await api.post("/invoices", json=approval(ISSUER["RNCEmisor"]))).status_code == 202


async def test_a_tenant_s_own_rnc_and_its_users_are_taken_without_a_remark(
    api: httpx.AsyncClient, db: Database, tenant: TenantId, another: TenantId
) -> None:
    user = UserId(uuid4())
    assert await db.run(tenants.create_user, tenant, user, "ana@example.com", {"RNCEmisor": ANOTHER}) is not None
    for rnc in (ISSUER["RNCEmisor"], ANOTHER):
        answer = await api.post("/invoices", json=under(rnc))
        assert answer.status_code == 202, answer.text
        problems = (await api.post("/invoices/validate", json=under(rnc))).json()["problems"]
        assert "foreign-issuer" not in [problem["code"] for problem in problems]


async def test_what_an_operator_recorded_is_taken_at_once_and_no_more_when_it_is_taken_back(
    api: httpx.AsyncClient, db: Database, tenant: TenantId, another: TenantId, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await api.post("/invoices", json=under(ANOTHER))).status_code == 403
    await delegate(db, tenant)

    assert (await api.post("/invoices", json=under(ANOTHER))).status_code == 202
    validated = await api.post("/invoices/validate", json=under(ANOTHER))
    assert validated.status_code == 200
    assert "foreign-issuer" not in [problem["code"] for problem in validated.json()["problems"]]

    assert await db.run(issuers.withdraw, tenant, ANOTHER)
    monkeypatch.setattr(known, "FRESH", 0.0)
    assert (await api.post("/invoices", json=under(ANOTHER))).status_code == 403


async def test_a_delegation_is_its_tenant_s_alone(
    front: Running, db: Database, tenant: TenantId, another: TenantId
) -> None:
    third = await db.run(tenants.create, "a third", {**ISSUER, "RNCEmisor": "101000003"})
    assert third is not None
    await delegate(db, tenant)

    async with front.client(await front.token(await make_key(db, third.tenant_id))) as client:
        assert (await client.post("/invoices", json=under(ANOTHER))).status_code == 403


async def test_a_stranger_s_rnc_is_taken_and_validate_remarks_on_it(api: httpx.AsyncClient, another: TenantId) -> None:
    assert (await api.post("/invoices", json=under(STRANGER))).status_code == 202
    validated = (await api.post("/invoices/validate", json=under(STRANGER))).json()

    (remark,) = [problem for problem in validated["problems"] if problem["code"] == "foreign-issuer"]
    assert remark["path"] == "Encabezado.Emisor.RNCEmisor"
    assert ANOTHER not in str(validated)


async def test_a_repeat_of_what_was_accepted_is_answered_with_it_whatever_was_taken_back(
    api: httpx.AsyncClient, db: Database, tenant: TenantId, another: TenantId, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known, "FRESH", 0.0)
    await delegate(db, tenant)
    body = under(ANOTHER, clientRequestId="one")
    first = await api.post("/invoices", json=body)
    assert first.status_code == 202
    assert await db.run(issuers.withdraw, tenant, ANOTHER)

    again = await api.post("/invoices", json=body)

    assert again.status_code == 200
    assert again.json()["taxLogId"] == first.json()["taxLogId"]
    assert (await api.post("/invoices", json=under(ANOTHER, clientRequestId="two"))).status_code == 403


async def test_a_tenant_that_comes_to_have_the_rnc_is_protected_when_what_was_known_is_old(
    api: httpx.AsyncClient, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known, "FRESH", 0.0)
    assert (await api.post("/invoices", json=under(ANOTHER))).status_code == 202
    made = await db.run(tenants.create, "newcomer", {**ISSUER, "RNCEmisor": "101000003"})
    assert made is not None
    await rows(
        db,
        "UPDATE tenants SET issuer = issuer || %(more)s::jsonb WHERE tenant_id = %(id)s",
        more=f'{{"RNCEmisor": "{ANOTHER}"}}',
        id=made.tenant_id,
    )

    assert (await api.post("/invoices", json=under(ANOTHER))).status_code == 403


async def test_what_is_known_is_not_asked_again_and_what_is_refused_is(
    front: Running, db: Database, key: Key, another: TenantId
) -> None:
    asked = known.KnownIssuers(front.db)
    for _ in range(3):
        assert await asked(key.tenant_id, STRANGER) == "foreign"
        assert await asked(key.tenant_id, ANOTHER) == "another"

    assert asked.asked == 4


async def test_what_cannot_be_an_rnc_is_not_asked_about_and_never_sent(
    api: httpx.AsyncClient, front: Running, db: Database, key: Key, another: TenantId
) -> None:
    for strange in (f"{ANOTHER} ", "1-01-00000-1", "１０１０００００１"):
        validated = await api.post("/invoices/validate", json=under(strange))
        assert validated.status_code == 200, validated.text
        assert validated.json()["valid"] is False
