"""The preview of a receipt: completed as it would be signed, with nothing drawn and nothing stored."""

from typing import Any

import httpx

from fe.store.postgres.db import Conn, Database
from tests.http.front import Key, invoice_payload, structured
from tests.http.test_admission import many_lines


async def _kept(db: Database, key: Key) -> tuple[int, Any]:
    async def work(conn: Conn) -> Any:
        found = await conn.execute(
            "SELECT (SELECT count(*) FROM submissions WHERE tenant_id = %s), current_number FROM sequences"
            " WHERE tenant_id = %s AND prefix = 'E31'",
            (key.tenant_id, key.tenant_id),
        )
        return await found.fetchone()

    return await db.run(work)


async def test_preview_completes_a_receipt_and_leaves_no_trace(api: httpx.AsyncClient, db: Database, key: Key) -> None:
    await api.post("/ncf", json={"prefix": "E31", "expireAt": "2028-12-31"})
    before = await _kept(db, key)
    draft = structured(invoice_payload(None, TipoeCF="31"))

    shown = (await api.post("/invoices/preview", json=draft)).json()

    assert (shown["valid"], shown["eNCF"]) == (True, "E310000000001")
    header = shown["payload"]["Encabezado"]
    assert header["IdDoc"]["FechaVencimientoSecuencia"] == "31-12-2028"
    assert (str(shown["montoTotal"]), shown["tipoEcf"]) == (str(float(header["Totales"]["MontoTotal"])), "E31")
    assert f"<MontoTotal>{header['Totales']['MontoTotal']}</MontoTotal>" in shown["xml"]
    assert "Signature" not in shown["xml"]
    # The payload can be sent: its own preview is the same, but for the moment.
    again = (await api.post("/invoices/preview", json={**draft, "payload": shown["payload"]})).json()
    for one in (shown, again):
        one["payload"].pop("FechaHoraFirma")
    assert again["payload"] == shown["payload"]

    unreadable = (await api.post("/invoices/preview", json={**draft, "payload": {"Encabezado": 1}})).json()
    assert (unreadable["valid"], unreadable["payload"], unreadable["xml"], unreadable["eNCF"]) == (False, *[None] * 3)
    assert unreadable["problems"]

    large = (await api.post("/invoices/preview", json=many_lines())).json()
    assert large["valid"]
    assert len(large["payload"]["DetallesItems"]["Item"]) == len(many_lines()["payload"]["DetallesItems"]["Item"])
    assert await _kept(db, key) == before
