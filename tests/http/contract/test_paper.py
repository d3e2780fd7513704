"""Paper receipts over HTTP: what a client may write into an address, and into the receipts that it enters."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from fe.ecf.dates import local
from fe.identifiers import TenantId
from fe.store.postgres.db import Database
from tests.contingency.test_paper import content
from tests.factories.tenants import rows

IN_CONTINGENCY = """
    INSERT INTO mode_periods (tenant_id, environment, period_id, mode, number, began_at, begun_by, reason)
    VALUES (%(tenant)s, 'testecf', gen_random_uuid(), 'contingency', 'C-1', now() - interval '3 days', 'eva', 'fire')
    RETURNING period_id
"""
A_RANGE = {"first": "B0200000001", "last": "B0200000500", "expiresOn": "2099-12-31"}


@pytest.fixture
async def on_paper(db: Database, api: httpx.AsyncClient, tenant: TenantId) -> httpx.AsyncClient:
    """Return a client of a company with a range of B02, and in a contingency that began three days ago."""
    await rows(db, IN_CONTINGENCY, tenant=tenant)
    assert (await api.post("/paper-ranges", json=A_RANGE)).status_code == 200
    return api


async def entered(api: httpx.AsyncClient, *receipts: Any) -> list[dict[str, Any]]:
    answer = await api.post("/paper-receipts", json={"receipts": receipts})
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


@pytest.mark.parametrize("path", ["/paper-receipts?cursor=%00", "/paper-receipts?cursor=B01"])
async def test_cursor_that_no_answer_gave_is_a_400(api: httpx.AsyncClient, path: str) -> None:
    answer = await api.get(path)

    assert answer.status_code == 400, answer.text
    assert "cursor" in answer.json()["message"]


@pytest.mark.parametrize("number", ["%00", "B0100000001", "x"])
async def test_number_without_a_paper_receipt_is_a_404(api: httpx.AsyncClient, number: str) -> None:
    assert (await api.get(f"/paper-receipts/{number}")).status_code == 404


async def test_receipt_with_neither_number_nor_request_id_is_refused(on_paper: httpx.AsyncClient) -> None:
    (item,) = await entered(on_paper, {"payload": content("32")})

    assert item["statusCode"] == 400, item
    assert "`ncf`" in item["message"]
    assert "`clientRequestId`" in item["message"]
    assert (await on_paper.get("/paper-receipts")).json()["items"] == []


async def test_correction_without_a_date_keeps_the_date(on_paper: httpx.AsyncClient) -> None:
    yesterday, today = (local(datetime.now(UTC) - timedelta(days=days)).date().isoformat() for days in (1, 0))
    await entered(on_paper, {"ncf": "B0200000007", "issuedOn": yesterday, "payload": content("32")})

    kept = await on_paper.put("/paper-receipts/B0200000007", json={"payload": content("32", 451)})
    moved = await on_paper.put("/paper-receipts/B0200000007", json={"payload": content("32", 451), "issuedOn": today})

    assert [one.json()["issuedOn"] for one in (kept, moved)] == [yesterday, today]


async def test_receipt_of_tomorrow_is_refused_for_its_date(on_paper: httpx.AsyncClient) -> None:
    tomorrow = local(datetime.now(UTC) + timedelta(days=1)).date().isoformat()
    (item,) = await entered(on_paper, {"ncf": "B0200000007", "issuedOn": tomorrow, "payload": content("32")})

    assert (item["statusCode"], "lies in the future" in item["message"]) == (400, True), item


async def test_receipts_of_a_wrong_form_are_refused_each_by_itself(on_paper: httpx.AsyncClient) -> None:
    good = {"ncf": "B0200000007", "payload": content("32")}
    items = await entered(
        on_paper,
        {**good, "issuedOn": "soon"},
        {**good, "ncf": 7},
        {"ncf": "B0200000008"},
        "B0200000009",
        good,
    )

    assert [one["statusCode"] for one in items] == [400, 400, 400, 400, 201]
    assert [one["ncf"] for one in items] == ["B0200000007", None, "B0200000008", None, "B0200000007"]
    for item, name in zip(items, ("issuedOn", "ncf", "payload", "receipts"), strict=False):
        assert name in item["message"]


async def test_member_of_a_receipt_that_does_not_exist_is_remarked(on_paper: httpx.AsyncClient) -> None:
    day = local(datetime.now(UTC)).date().isoformat()
    stored, refused = await entered(
        on_paper,
        {"ncf": "B0200000007", "issuedon": day, "payload": content("32")},
        {"clientRequestID": "till-1", "payload": content("32")},
    )

    remarks = stored["receipt"]["warnings"], refused["problems"]
    assert [(one[0]["code"], one[0]["expected"]) for one in remarks] == [
        ("unknown-member", "issuedOn"),
        ("unknown-member", "clientRequestId"),
    ]


@pytest.mark.parametrize("number", ["B0200000009", "x"])
async def test_replacement_of_a_number_that_was_never_entered_is_a_404(
    on_paper: httpx.AsyncClient, db: Database, number: str
) -> None:
    await entered(on_paper, {"ncf": "B0200000007", "payload": content("32")})

    answer = await on_paper.post("/paper-receipts/replacements", json={"ncfs": ["B0200000007", number]})

    assert (answer.status_code, number in answer.json()["message"]) == (404, True)
    assert await rows(db, "SELECT 1 FROM paper_replacements") == []
