"""Imports over HTTP: a workbook is uploaded, validated as a whole, and issued once, also by fronts that are killed."""

import base64
import random
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import httpx
import pytest
import trio

from fe.ecf.catalogue import Environment
from fe.http.app import Api
from fe.identifiers import TenantId
from fe.issuing.imports import ImportRunner
from fe.offload.pool import Apart
from fe.store.postgres.db import Database
from fe.workbooks.tables import read_table
from tests.factories.tenants import rows
from tests.http.front import Key, Running, make_key, start_front
from tests.waiting import PATIENCE
from tests.workbooks.books import HEAD, csv, row, sparse, xlsx


async def here(_: Apart, __: object, work: Callable[..., Any], *given: Any, within: float = 0) -> Any:
    """Do the work of the pool at once: to start a process costs more than all of a test."""
    return work(*given)


async def give_certificate(db: Database, tenant: TenantId) -> None:
    """Certificate that nothing here opens."""
    await rows(
        db,
        """INSERT INTO certificates (tenant_id, certificate_id, p12, passphrase, holder, holder_id, serial_number,
                                     not_before, not_after, x509)
           VALUES (%(tenant)s, %(id)s, 'x', 'x', 'Ana', '1', '1', '2020-01-01', '2040-01-01', NULL) RETURNING 1""",
        tenant=tenant,
        id=uuid4(),
    )


async def upload(api: httpx.AsyncClient, content: bytes, name: str = "ventas.xlsx") -> httpx.Response:
    return await api.post("/imports", json={"name": name, "content": base64.b64encode(content).decode()})


async def until(api: httpx.AsyncClient, import_id: str, state: str) -> Any:
    with trio.fail_after(PATIENCE):
        while (found := (await api.get(f"/imports/{import_id}")).json())["state"] != state:  # noqa: ASYNC110  (only it knows)
            await trio.sleep(0.02)
    return found


async def validated(api: httpx.AsyncClient, content: bytes) -> Any:
    answer = await upload(api, content)
    assert answer.status_code == 202, answer.text
    return await until(api, answer.json()["importId"], "validated")


async def issued(api: httpx.AsyncClient, import_id: str) -> Any:
    answer = await api.post(f"/imports/{import_id}/issue")
    assert answer.status_code == 202, answer.text
    return await until(api, import_id, "issued")


async def number(api: httpx.AsyncClient, to: int = 1000) -> None:
    answer = await api.post("/ncf", json={"prefix": "E32", "maxSequence": to, "expireAt": "2028-12-31"})
    assert answer.status_code == 200, answer.text


async def test_workbook_is_validated_mended_and_issued_once(db: Database, api: httpx.AsyncClient, key: Key) -> None:
    await give_certificate(db, key.tenant_id)
    await number(api)
    rows_ = [row("A-1"), row("A-1", 7), row("A-2", "1.234"), row("A-3", "precio")]
    content = xlsx(rows_)

    found = await validated(api, content)
    assert (found["receipts"], found["valid"], found["faulty"]) == (3, 1, 2)
    assert found["types"] == [{"prefix": "E32", "receipts": 1, "montoTotal": found["montoTotal"]}]
    assert found["montoTotal"] == 126.26
    assert [(one["row"], one["heading"]) for one in found["faults"]] == [(4, "Unit price"), (5, "Unit price")]
    done = await issued(api, found["importId"])
    assert (done["issued"], done["valid"], done["faulty"]) == (1, 0, 2)
    back = await api.get(f"/imports/{found['importId']}/workbook", headers={"Accept-Language": "es"})
    (sheet,) = read_table(back.content).sheets
    assert [line[-2:] for line in sheet.rows] == [
        ["Estado", "e-NCF emitido"],
        *[["emitido", "E320000000001"]] * 2,
        *[["con errores", ""]] * 2,
    ]

    again = await upload(api, content)
    assert again.json()["importId"] == found["importId"]
    mended = await validated(api, xlsx([*rows_[:2], row("A-2", 1234), row("A-3", 5)]))
    assert (mended["issuedBefore"], mended["valid"]) == (1, 2)
    assert (await issued(api, mended["importId"]))["issued"] == 2
    other = await validated(api, xlsx([row("A-1", 9)]))
    assert (other["faulty"], other["faults"][0]["column"]) == (1, "Comprobante")
    refused = await api.post(f"/imports/{other['importId']}/issue")
    assert (refused.status_code, refused.json()["message"]) == (409, "no receipt is left to issue")

    stored = await rows(db, "SELECT e_ncf FROM submissions ORDER BY e_ncf")
    assert [one["e_ncf"] for one in stored] == [f"E32{at:010}" for at in (1, 2, 3)]
    # Passes the look at its parts; the memory limit of the pool's process stops it.
    bomb = await upload(api, sparse("XFD40000", before=" " * 100))
    assert bomb.status_code == 413, bomb.text


async def test_import_that_cannot_be_issued_says_why(
    db: Database, front: Running, api: httpx.AsyncClient, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Apart, "run", here)
    await number(api, 1)

    async def refusal(content: bytes) -> str:
        found = await validated(api, content)
        answer = await api.post(f"/imports/{found['importId']}/issue", headers={"Accept-Language": "es"})
        assert answer.status_code == 409, answer.text
        return str(answer.json()["message"])

    assert "certificado" in await refusal(csv([row("A")]))
    await give_certificate(db, key.tenant_id)
    assert await refusal(csv([row("A"), row("B")])) == "a la secuencia E32 le quedan 1 números y se necesitan 2"
    assert "sin clave" in await refusal(csv([row(""), row("C", "x")]))
    found = await validated(api, csv([row("A")]))
    production = await make_key(db, key.tenant_id, Environment.ECF)
    async with front.client(await front.token(production)) as other:
        for answer in (
            await other.get(f"/imports/{found['importId']}"),
            await other.post(f"/imports/{found['importId']}/issue"),
            await other.get(f"/imports/{found['importId']}/workbook"),
        ):
            assert answer.status_code == 404
    for body in ({"name": "x", "content": "no base64"}, {"name": "x"}):
        assert (await api.post("/imports", json=body)).status_code == 400
    head, named = (*HEAD, "Secuencia"), {"prefix": "E32", "name": "Caja 2", "minSequence": 2001, "maxSequence": 2002}
    assert (await api.post("/ncf", json=named)).status_code == 200
    tills = csv([[*row("T-1"), "Caja 2"], [*row("T-2"), "Caja 9"], [*row("T-3"), ""]], head)
    found = await validated(api, tills)
    assert [(one["row"], one["column"]) for one in found["faults"]] == [(3, "sequence")]
    assert [(one["prefix"], one["receipts"]) for one in found["types"]] == [("E32", 2)]
    await issued(api, found["importId"])
    stored = await rows(db, "SELECT e_ncf FROM submissions ORDER BY e_ncf")
    assert [one["e_ncf"] for one in stored] == ["E320000000001", "E320000002001"]
    template = await api.get("/imports/templates/E31")
    assert (template.status_code, len(read_table(template.content).sheets)) == (200, 3)
    assert (await api.get("/imports/templates/E99")).status_code == 400


async def test_front_killed_at_any_moment_issues_each_receipt_once(
    db: Database, front_db: Database, nursery: trio.Nursery, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Apart, "run", here)

    async def idle(_: ImportRunner) -> None:
        await trio.sleep_forever()

    monkeypatch.setattr(ImportRunner, "run", idle)
    monkeypatch.setattr("fe.issuing.imports.ISSUED_TOGETHER", 5)
    monkeypatch.setattr("fe.issuing.imports.VALIDATED_TOGETHER", 20)
    front = await start_front(nursery, front_db)
    application: Api = front.app.extensions["fe"]
    lots = random.Random(11)
    await give_certificate(db, key.tenant_id)

    async def work_until_it_rests(api: httpx.AsyncClient, import_id: str, state: str) -> int:
        killed = 0
        with trio.fail_after(PATIENCE):
            while (await api.get(f"/imports/{import_id}")).json()["state"] != state:
                with trio.move_on_after(lots.uniform(0, 0.03) if killed < 12 else PATIENCE) as life:
                    await application._imports.step()
                killed += life.cancelled_caught
                await rows(db, "UPDATE imports SET held_until = '-infinity' RETURNING 1")
        return killed

    async with front.client(await front.token(key)) as api:
        await number(api)
        import_id = (await upload(api, csv([row(f"K-{at}", at) for at in range(1, 61)]))).json()["importId"]
        killed = await work_until_it_rests(api, import_id, "validated")
        assert (await api.post(f"/imports/{import_id}/issue")).status_code == 202
        killed += await work_until_it_rests(api, import_id, "issued")
        assert killed > 3
        assert (await api.get(f"/imports/{import_id}")).json()["issued"] == 60

    stored = await rows(db, "SELECT e_ncf, client_request_id AS request FROM submissions ORDER BY e_ncf")
    assert [one["e_ncf"] for one in stored] == [f"E32{at:010}" for at in range(1, 61)]
    assert {one["request"] for one in stored} == {f"import:K-{at}" for at in range(1, 61)}
