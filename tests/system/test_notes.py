"""A note goes to the authority when the receipt that it modifies has its verdict, however soon after it was handed in.

The simulator rejects a note on a receipt that it knows and has not accepted (code 614), as the authority does.
"""

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import trio

from fe.clock import system_clock
from fe.ecf.dates import local
from fe.simulator import SimulatorSettings
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
    """Its row after it was postponed, its attempt given back."""
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


def bare_note(number: int, modified: str, code: str = "1", **line: Any) -> dict[str, Any]:
    """A type 34 that leaves to the service what the receipt says: its date, its age and its buyer."""
    note = credit_note(number, modified)
    note["InformacionReferencia"] = {"NCFModificado": modified, "CodigoModificacion": code}
    del note["Encabezado"]["IdDoc"]["IndicadorNotaCredito"], note["Encabezado"]["Comprador"]
    note["DetallesItems"]["Item"][0] |= line
    return note


async def test_note_without_date_age_and_buyer_takes_them_from_its_receipt(dsn: str, tmp_path: Path) -> None:
    async with running_stack(dsn, tmp_path, authority_simulated=True) as stack:
        sold = await stack.submit(invoice(1), simulate=SLOW)
        cancelled = await stack.submit(bare_note(1, "E310000000001"))  # not even signed is the receipt perhaps
        ends = [await stack.until_final(one["taxLogId"]) for one in (sold, cancelled)]
        body = {"format": "structured", "payload": bare_note(2, "E310000000001")}
        told = (await stack.client.post("/invoices/validate", json=body)).json()
        xml = (await stack.client.get(f"/invoices/{cancelled['taxLogId']}/xml")).text

    assert [one["status"] for one in ends] == ["Aceptado", "Aceptado"], ends[1]["response"]
    today = f"{local(system_clock()):%d-%m-%Y}"
    for element in (
        f"<FechaNCFModificado>{today}</FechaNCFModificado>",
        "<IndicadorNotaCredito>0</IndicadorNotaCredito>",
        "<RNCComprador>131880681</RNCComprador>",
        "<RazonSocialComprador>Colmado Dos Hermanos SRL</RazonSocialComprador>",
    ):
        assert element in xml
    assert [one["code"] for one in told["problems"]] == ["credited-too-much"]  # all of it is credited already


async def test_note_that_corrects_a_text_is_structured_with_a_line_that_is_not_billable(
    dsn: str, tmp_path: Path
) -> None:
    """As the certification set has it: one line of 1.00 with IndicadorFacturacion 0, and a total of 0.00."""
    line = {"IndicadorFacturacion": "0", "CantidadItem": 1, "PrecioUnitarioItem": "1.00", "MontoItem": "1.00"}
    async with running_stack(dsn, tmp_path, authority_simulated=True) as stack:
        sold = await stack.submit(invoice(1))
        await stack.until_final(sold["taxLogId"])
        note = await stack.submit(bare_note(1, "E310000000001", "2", **line), strict=True)
        end = await stack.until_final(note["taxLogId"])
        body = {"format": "structured", "payload": bare_note(2, "E310000000001", "3", **line)}
        amounts = (await stack.client.post("/invoices/validate", json=body)).json()

    assert end["status"] == "Aceptado", end["response"]
    assert [one["code"] for one in amounts["problems"]] == ["indicador-facturacion"]


async def test_note_is_compared_with_the_receipt_and_with_the_notes_before_it(dsn: str, tmp_path: Path) -> None:
    async def told(note: dict[str, Any]) -> list[tuple[str, str, str | None]]:
        body = {"format": "structured", "payload": note}
        problems = (await stack.client.post("/invoices/validate", json=body)).json()["problems"]
        return [(one["code"], one["severity"], one.get("expected")) for one in problems]

    half = {"CantidadItem": 1, "MontoItem": "450.50"}
    async with running_stack(dsn, tmp_path, authority_simulated=True) as stack:
        sold = await stack.submit(invoice(1))
        await stack.until_final(sold["taxLogId"])
        of_another_day = bare_note(1, "E310000000001", "3", **half)
        of_another_day["InformacionReferencia"]["FechaNCFModificado"] = "01-11-2025"
        of_another_buyer = bare_note(1, "E310000000001", "3", **half)
        of_another_buyer["Encabezado"]["Comprador"] = {
            "RNCComprador": "131880657",
            "RazonSocialComprador": "Otro SRL",
        }
        first = [await told(bare_note(1, "E310000000001", "3", **half)), await told(of_another_day)]
        other = await told(of_another_buyer)
        open_note = await stack.submit(bare_note(1, "E310000000001", "3", **half), simulate={"outcome": "stuck"})
        await until_signed(stack, open_note["taxLogId"])
        second = await told(bare_note(2, "E310000000001", "3", **half))
        third = await told(bare_note(2, "E310000000001", "3"))

    today = f"{local(system_clock()):%d-%m-%Y}"
    assert first[0] == []
    assert first[1][0] == ("modified-date", "rejected", today)
    assert other == [("modified-buyer", "conditional", "131880681")]
    assert second == []
    assert third == [("credited-too-much", "rejected", "<= 531.59")]


async def until_signed(stack: Stack, tax_log_id: str) -> None:
    with trio.fail_after(PATIENCE):
        while True:
            if "signed" in await timeline(stack, tax_log_id):
                return
            await trio.sleep(0.05)
