"""Situation B: ranges, paper receipts and the e-CF that replace them, from the declaration to the link."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio

from fe.accounts import modes as flow
from fe.accounts.audited_changes import Author
from fe.accounts.modes import PapersOpen
from fe.contingency import Clock, Mode, TermState, replace_by
from fe.ecf.catalogue import Environment
from fe.ecf.dates import local
from fe.store.postgres.db import Conn
from fe.store.records import counterparty, statistics, tenants
from tests.factories.tenants import rows
from tests.system.stack import Stack, running_stack
from tests.waiting import PATIENCE

# As in tests/system/test_road.py.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
TEST = Environment.TESTECF
BUYER = {"RNCComprador": "131880681", "RazonSocialComprador": "Colmado Dos Hermanos SRL"}


def content(kind: str, price: int = 450) -> dict[str, Any]:
    """Two hammers, to a business or to a consumer."""
    buyer = {"Comprador": BUYER} if kind != "32" else {}
    return {
        "Encabezado": {"IdDoc": {"TipoeCF": kind, "TipoIngresos": "01", "TipoPago": "1"}, **buyer},
        "DetallesItems": {
            "Item": [
                {
                    "NumeroLinea": 1,
                    "IndicadorFacturacion": "1",
                    "NombreItem": "Martillo",
                    "IndicadorBienoServicio": "1",
                    "CantidadItem": 2,
                    "PrecioUnitarioItem": price,
                    "MontoItem": 2 * price,
                }
            ]
        },
    }


async def change(stack: Stack, mode: Mode, **more: Any) -> None:
    async def make(conn: Conn) -> None:
        owner = await tenants.locked(conn, stack.tenant.tenant_id)
        assert owner is not None
        await flow.change(conn, Author("eva", datetime.now(UTC), "cli"), owner, TEST, mode, "no system", **more)

    await stack.db.transact(make)


async def entered(stack: Stack, *receipts: dict[str, Any]) -> list[dict[str, Any]]:
    answer = await stack.client.post("/paper-receipts", json={"receipts": receipts})
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


async def replaced(stack: Stack, body: dict[str, Any] | None = None) -> dict[str, Any]:
    answer = await stack.client.post("/paper-receipts/replacements", json=body or {})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_paper_receipts_of_a_declared_contingency_are_replaced_once_each(dsn: str, tmp_path: Path) -> None:
    today = local(datetime.now(UTC)).date()
    day = today.isoformat()
    began = datetime.now(UTC) - timedelta(minutes=5)
    b01, b02 = {"first": "B0100000001", "last": "B0100000050"}, {"first": "B0200000001", "last": "B0200000050"}
    ends = (today + timedelta(days=200)).isoformat()
    async with running_stack(dsn, tmp_path) as stack:
        assert await stack.db.run(counterparty.send_to_receivers, stack.tenant.tenant_id, on=True)

        # Ranges: recorded, apart, of series B.
        made = [await stack.client.post("/paper-ranges", json={**one, "expiresOn": ends}) for one in (b01, b02)]
        overlap = await stack.client.post(
            "/paper-ranges", json={"first": "B0100000050", "last": "B0100000090", "expiresOn": ends}
        )
        wrong = await stack.client.post("/paper-ranges", json={**b01, "last": "B0200000009", "expiresOn": ends})
        over = await stack.client.post("/paper-ranges", json={**b01, "expiresOn": "2020-12-31"})
        assert [one.status_code for one in (*made, overlap, wrong, over)] == [200, 200, 409, 400, 400]
        assert "B0100000001-B0100000050" in overlap.json()["message"]

        # Outside a contingency nothing counts.
        first = {"ncf": "B0100000007", "issuedOn": day, "payload": content("31")}
        (early,) = await entered(stack, first)
        (drawn_early,) = await entered(stack, {"payload": content("32"), "clientRequestId": "early"})
        await change(stack, Mode.CONTINGENCY, number="C-1", since=began)

        # Three receipts: two from the pad, one issued by the service.
        of_pad = {"ncf": "B0200000001", "issuedOn": day, "payload": content("32", 90)}
        issued = {"payload": content("32", 70), "clientRequestId": "till-1"}
        new = await entered(stack, first, of_pad, issued)
        again = await entered(stack, first, {**first, "payload": content("31", 999)}, issued)
        bad = await entered(
            stack,
            {**first, "ncf": "B0100000051"},
            {**first, "ncf": "B0200000009"},
            {**first, "ncf": "B0100000008", "issuedOn": "2026-01-01"},
            {**first, "ncf": "B0100000008", "payload": {}},
        )
        assert (early["statusCode"], drawn_early["statusCode"]) == (409, 409)
        assert "declared contingency" in early["message"]
        assert [one["statusCode"] for one in new] == [201, 201, 201]
        assert [one["ncf"] for one in new] == ["B0100000007", "B0200000001", "B0200000002"]
        assert [one["statusCode"] for one in again] == [200, 409, 200]
        assert "B0100000007 was entered already" in again[1]["message"]
        assert again[2]["ncf"] == "B0200000002"
        assert [one["statusCode"] for one in bad] == [409, 400, 409, 400]
        busy = await stack.client.delete(f"/paper-ranges/{made[0].json()['rangeId']}")
        assert busy.status_code == 409

        # Their e-CF is issued by the queue alone.
        reference = {
            "NCFModificado": "B0100000007",
            "FechaNCFModificado": f"{today:%d-%m-%Y}",
            "CodigoModificacion": "4",
        }
        beside = await stack.client.post(
            "/invoices",
            json={"format": "structured", "payload": {**content("31"), "InformacionReferencia": reference}},
        )
        assert beside.status_code == 409, beside.text

        # The exit asks for a confirmation. The term for replacing runs from it.
        with pytest.raises(PapersOpen, match="3"):
            await change(stack, Mode.NORMAL)
        await change(stack, Mode.NORMAL, leaves_open=True)
        before = (await stack.client.get("/paper-receipts?state=open")).json()["items"]
        (period,) = await rows(stack.db, "SELECT began_at, ended_at FROM mode_periods")
        term = replace_by(period["began_at"], period["ended_at"])
        assert term == period["ended_at"] + timedelta(days=30)
        assert {one["replaceBy"][:16] for one in before} == {term.isoformat()[:16]}
        assert [(one["state"], one["eNCF"]) for one in before] == [("open", None)] * 3
        gauge = await _terms_after(stack, [1, 20, 26, 31])
        assert gauge == [[], [(TermState.SOON, 3)], [(TermState.URGENT, 3)], [(TermState.OVER, 3)]]

        # Pressed many times at once, and the first e-CF rejected: one e-CF each, then another for the rejected one.
        await authorise(stack, "31", first=1000)
        await authorise(stack, "32", first=1)
        async with trio.open_nursery() as nursery:
            for _ in range(4):
                nursery.start_soon(replaced, stack)
        sent = (await stack.client.get("/paper-receipts")).json()["items"]
        assert all(one["taxLogId"] for one in sent)
        ended = [await stack.until_final(one["taxLogId"]) for one in sent]
        assert [one["status"] for one in ended] == ["Rechazado", "Aceptado", "Aceptado"]
        correction = {"issuedOn": day, "payload": content("31", 451)}
        fixed = await stack.client.put("/paper-receipts/B0100000007", json=correction)
        settled = await stack.client.put("/paper-receipts/B0200000001", json={"payload": content("32")})
        assert (fixed.status_code, settled.status_code) == (200, 409)
        await authorise(stack, "31", first=1)
        second = await replaced(stack)
        assert [(one["ncf"], one["issued"]) for one in second["items"]] == [("B0100000007", True)]
        assert (await stack.until_final(second["items"][0]["taxLogId"]))["status"] == "Aceptado"

        # The link on both sides, and nothing for the receivers.
        last = await replaced(stack, {"ncfs": ["B0100000007"]})
        papers = (await stack.client.get("/paper-receipts")).json()["items"]
        assert (last["open"], last["items"][0]["state"], last["items"][0]["issued"]) == (0, "replaced", False)
        assert [one["state"] for one in papers] == ["replaced"] * 3
        receipt = (await stack.client.get(f"/invoices/{papers[0]['taxLogId']}")).json()
        xml = (await stack.client.get(f"/invoices/{papers[0]['taxLogId']}/xml")).json()["xml"]
        assert (receipt["eNCF"], receipt["replacesNcf"]) == (papers[0]["eNCF"], "B0100000007")
        assert "<NCFModificado>B0100000007</NCFModificado>" in xml
        assert "<CodigoModificacion>4</CodigoModificacion>" in xml
        assert await rows(stack.db, "SELECT 1 FROM counterparty_deliveries") == []
        assert await reached(stack) == {
            (papers[0]["eNCF"], "reception"),
            (papers[1]["eNCF"], "summary_reception"),
            (papers[2]["eNCF"], "summary_reception"),
        }
        tries = await rows(
            stack.db,
            "SELECT ncf, count(*) FILTER (WHERE freed_at IS NULL) AS live, count(*) AS n"
            " FROM paper_replacements GROUP BY ncf ORDER BY ncf",
        )
        assert [(one["ncf"], one["live"], one["n"]) for one in tries] == [
            ("B0100000007", 1, 2),
            ("B0200000001", 1, 1),
            ("B0200000002", 1, 1),
        ]


async def reached(stack: Stack) -> set[tuple[str, str]]:
    """The numbers that the authority accepted, and the service each went to."""
    async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as management:
        seen = (await management.get(f"{stack.simulator.management}/journal")).json()["records"]
    taken = [one for one in seen if one["kind"] == "document" and one["effect"]]
    ended = {
        one["eNCF"]
        for one in (await stack.client.get("/invoices?limit=100")).json()["items"]
        if one["status"] == "Aceptado"
    }
    return {(one["eNCF"], one["operation"]) for one in taken if one["eNCF"] in ended}


async def authorise(stack: Stack, kind: str, *, first: int) -> None:
    """Tell the authority which numbers of a type the company has: others are rejected."""
    record = {"issuer": "131880738", "type": kind, "from": first, "to": 5000, "expires": "2028-12-31"}
    async with httpx.AsyncClient(trust_env=False) as management:
        answer = await management.post(f"{stack.simulator.management}/ranges", json=record)
    assert answer.status_code < 300, answer.text


async def _terms_after(stack: Stack, days: list[int]) -> list[list[tuple[TermState, int]]]:
    """Return what the gauge counts at each number of days after the exit."""
    found = []
    for many in days:
        await rows(
            stack.db,
            f"UPDATE mode_periods SET ended_at = now() - interval '{many} days', began_at = now()"
            f" - interval '{many + 1} days' RETURNING 1",
        )
        counted = await stack.db.run(statistics.terms)
        found.append([(state, n) for _, clock, state, n in counted if clock is Clock.REPLACING and n])
    await rows(stack.db, "UPDATE mode_periods SET ended_at = now(), began_at = now() - interval '1 day' RETURNING 1")
    return found
