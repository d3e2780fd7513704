"""A note goes to the authority when the receipt that it modifies has its verdict, however soon after it was handed in.

The simulator rejects a note on a receipt that it knows and has not accepted (code 614), as the authority does.
"""

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import trio

from fe.authority.simulator import SimulatorSettings
from fe.clock import system_clock
from fe.ecf.dates import local
from tests.factories.tenants import rows
from tests.system.stack import Stack, running_stack
from tests.system.test_road import invoice
from tests.waiting import PATIENCE

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

SLOW = {"outcome": "slow", "seconds": 1}


def credit_note(number: int, modified: str, **reference: Any) -> dict[str, Any]:
    """A type 34 that cancels the receipt with that number."""
    note = invoice(1)
    note["Encabezado"]["IdDoc"] = {
        "eNCF": f"E34{number:010d}",
        "IndicadorNotaCredito": "0",
        "TipoIngresos": "01",
        "TipoPago": "1",
    }
    today = f"{local(system_clock()):%d-%m-%Y}"
    note["InformacionReferencia"] = {
        "NCFModificado": modified,
        "FechaNCFModificado": today,
        "CodigoModificacion": "1",
        **reference,
    }
    return note


async def timeline(stack: Stack, tax_log_id: str) -> dict[str, datetime]:
    events = (await stack.client.get(f"/invoices/{tax_log_id}/timeline")).json()["events"]
    return {event["kind"]: datetime.fromisoformat(event["at"]) for event in events}


async def until_put_off(stack: Stack, tax_log_id: str) -> str:
    """What its row says once it was looked at and put off, its attempt given back."""
    with trio.fail_after(PATIENCE):
        while True:
            said = await rows(stack.db, "SELECT attempt, last_error FROM outbox WHERE subject = %(id)s", id=tax_log_id)
            if said and said[0]["last_error"] and said[0]["attempt"] == 0:
                return str(said[0]["last_error"])
            await trio.sleep(0.05)


async def test_a_note_that_is_handed_in_with_its_invoice_is_sent_after_its_verdict(dsn: str, tmp_path: Path) -> None:
    async with running_stack(dsn, tmp_path, authority_simulated=True) as stack:
        sold = await stack.submit(invoice(1), simulate=SLOW)
        cancelled = await stack.submit(credit_note(1, "E310000000001"))
        ends = [await stack.until_final(one["taxLogId"]) for one in (sold, cancelled)]
        first, second = [await timeline(stack, one["taxLogId"]) for one in (sold, cancelled)]

    assert [one["status"] for one in ends] == ["Aceptado", "Aceptado"], ends[1]["response"]
    assert first["verdict"] <= second["sending"]
    assert list(second) == ["accepted", "signed", "sending", "received", "verdict"]  # to wait is no event


async def test_so_it_is_in_a_batch_in_whatever_order_they_stand_there(dsn: str, tmp_path: Path) -> None:
    strict = SimulatorSettings(require_references=True)
    async with running_stack(dsn, tmp_path, simulator=strict, authority_simulated=True) as stack:
        items = [
            {"format": "structured", "payload": credit_note(number, f"E31{number:010}")} for number in range(1, 9)
        ] + [{"format": "structured", "payload": invoice(number), "simulate": SLOW} for number in range(1, 9)]
        answer = (await stack.client.post("/invoices/batch", json={"items": items})).json()["items"]
        ends = [await stack.until_final(one["taxLogId"]) for one in answer]

    assert [one["status"] for one in ends] == ["Aceptado"] * 16, [one["response"] for one in ends]


async def test_a_note_on_a_receipt_that_is_rejected_is_sent_all_the_same(dsn: str, tmp_path: Path) -> None:
    """The authority has the last word; beforehand, validate tells."""
    async with running_stack(dsn, tmp_path, authority_simulated=True) as stack:
        refused = await stack.submit(invoice(1), simulate={"outcome": "rejected", "code": 13})
        note = await stack.submit(credit_note(1, "E310000000001"))
        ends = [await stack.until_final(one["taxLogId"]) for one in (refused, note)]
        body = {"format": "structured", "payload": credit_note(2, "E310000000001")}
        told = (await stack.client.post("/invoices/validate", json=body)).json()
        taken = await stack.client.post("/invoices", json=body | {"strict": True})

    assert [one["status"] for one in ends] == ["Rechazado", "Rechazado"]
    assert [str(one["codigo"]) for one in ends[1]["response"]["mensajes"]] == ["614"]
    assert told["valid"] is True
    (problem,) = told["problems"]
    assert (problem["code"], problem["severity"]) == ("modified-not-accepted", "conditional")
    assert refused["taxLogId"] in problem["message"]
    assert taken.status_code == 202
    assert taken.json()["warnings"] == told["problems"]


async def test_what_is_not_known_here_is_not_waited_for(dsn: str, tmp_path: Path) -> None:
    async with running_stack(dsn, tmp_path, authority_simulated=True) as stack:
        stuck = await stack.submit(invoice(1), simulate={"outcome": "stuck"})
        elsewhere = await stack.submit(credit_note(1, "E310000000777"))
        on_paper = await stack.submit(credit_note(2, "B0100000001"))
        of_another = await stack.submit(credit_note(3, "E310000000001", RNCOtroContribuyente="131880681"))
        ends = [await stack.until_final(one["taxLogId"]) for one in (elsewhere, on_paper, of_another)]
        waits = await stack.submit(credit_note(4, "E310000000001"))
        why = await until_put_off(stack, waits["taxLogId"])
        shown = (await stack.client.get(f"/invoices/{waits['taxLogId']}")).json()

    assert [one["status"] for one in ends[:2]] == ["Aceptado", "Aceptado"]
    assert ends[2]["status"] in ("Aceptado", "Rechazado")  # whether the other's had come by then
    assert why == f"waits for the verdict of the receipt that it modifies, taxLogId {stuck['taxLogId']}"
    assert (shown["status"], shown["numberFate"]) == ("queued", "reserved")
