"""The Python client over the whole road: a real service, a real database, the simulated authority."""

import io
import time
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio
from fe_client import AsyncFe, ConflictError, Fe, InvalidError, NotThereError
from fe_client.models import NewSequence, Simulate, Submission

from fe.ecf.catalogue import EcfType
from fe.ecf.signature import verify
from tests.clients.receipts import PRINTS, mistyped, of_days_before, of_type, typed
from tests.system.stack import Stack, running_stack
from tests.workbooks.books import csv, row

# As in tests/system/test_road.py.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

#: Public address of the buyers' page.
BUYERS = "https://facturas.example.do"


async def test_the_python_client_goes_from_nothing_to_ten_verdicts_and_a_refusal(dsn: str, tmp_path: Path) -> None:
    began = datetime.now(UTC)
    async with running_stack(dsn, tmp_path, authority_simulated=True, share_url=BUYERS) as stack:
        await _awaited(stack)
        await trio.to_thread.run_sync(_blocking, stack, began)


async def _awaited(stack: Stack) -> None:
    verdicts: dict[str, Submission] = {}
    refusal: Simulate = {"outcome": "rejected", "code": 4}
    async with httpx.AsyncClient(trust_env=False) as http, AsyncFe(stack.base_url, *stack.key, http=http) as fe:

        async def issue(name: str, ecf_type: EcfType, simulate: Simulate | None = None) -> None:
            verdicts[name] = await fe.submit_and_wait(
                of_type(ecf_type), client_request_id=name, simulate=simulate, notify="compras@cliente.com.do"
            )

        async with trio.open_nursery() as nursery:
            for ecf_type in EcfType:
                nursery.start_soon(issue, ecf_type.prefix, ecf_type)
            nursery.start_soon(issue, "refused", EcfType.CREDIT_FISCAL, refusal)
        listed = [item["clientRequestId"] async for item in fe.invoices(page_size=4)]
        proof = await fe.xml(verdicts["E31"]["taxLogId"])
        events = await fe.timeline(verdicts["E31"]["taxLogId"])

    refused = verdicts.pop("refused")
    assert refused["status"] == "Rechazado"
    assert [(said["codigo"], bool(said["action"])) for said in refused["explained"]] == [("4", True)]
    assert {name: (verdict["status"], verdict["eNCF"][:3]) for name, verdict in verdicts.items()} == {
        ecf_type.prefix: ("Aceptado", ecf_type.prefix) for ecf_type in EcfType
    }
    assert sorted(map(str, listed)) == sorted([*verdicts, "refused"])
    assert proof is not None
    assert proof["xml"] is not None
    assert verify(proof["xml"].encode()).root.findtext("Encabezado/IdDoc/eNCF") == verdicts["E31"]["eNCF"]
    assert events is not None
    assert events["events"][-1]["kind"] == "verdict"


def _import(fe: Fe) -> None:
    with pytest.raises(InvalidError):
        fe.import_receipts(fe.import_template("E32"))
    content = csv([row("PY-1", IndicadorFacturacion="9")])
    import_id = fe.import_receipts(content, "ventas.csv")["importId"]
    while (found := fe.import_status(import_id))["state"] == "validating":
        time.sleep(0.1)
    assert [fault["row"] for fault in found["faults"]] == [2]
    with pytest.raises(ConflictError):
        fe.issue_import(import_id)
    assert b"PY-1" in fe.import_workbook(import_id)


def _blocking(stack: Stack, began: datetime) -> None:
    receipt = of_type(EcfType.CREDIT_FISCAL)
    with httpx.Client(trust_env=False) as http, Fe(stack.base_url, *stack.key, http=http, language="es") as fe:
        assert fe.login()["environment"] == "testecf"
        known = fe.submit(receipt, client_request_id="E31", notify="compras@cliente.com.do")
        assert known.get("deduped") is True

        items: list[dict[str, Any]] = [{"format": "structured", "payload": receipt}, {"format": "json"}]
        taken, refused = fe.batch(items)
        assert (taken["statusCode"], refused["statusCode"]) == (202, 400)
        assert fe.wait(taken["taxLogId"])["status"] == "Aceptado"
        seen = fe.status(taken["taxLogId"], wait=1)
        assert seen is not None

        assert fe.set_printing({"footer": "Gracias"}) == fe.printing()
        assert fe.set_mail({"enabled": True, "replyTo": "ventas@ozama.do"}) == fe.mail()
        _import(fe)
        made = fe.put_customer("C-001", {"name": "Ana", "version": 0})
        assert [made] == list(fe.customers(q="an")) == [fe.customer("C-001")]
        assert fe.delete_customer("C-001", version=1)["ok"]
        sold = fe.put_product("P-1", {"name": "Pan", "price": Decimal("5.5")})
        assert [sold] == list(fe.products()) == [fe.product("P-1")]
        assert fe.delete_product("P-1")["ok"]
        rent = {"Encabezado": {"IdDoc": {"TipoeCF": "31"}}}
        agent = "5f0d1c1e-6c0d-4a0b-9d0a-2f1f6f8f7a11"
        assert fe.lease_agent(agent, {"epoch": 0, "nonce": agent})["epoch"] == 1
        monthly = fe.put_recurring("R-1", {"name": "Renta", "day": 1, "payload": rent})
        assert [one["id"] for one in fe.recurring()] == [fe.recurring_receipt("R-1")["id"]]
        month = str(monthly["nextOn"])[:7]
        assert [turn["status"] for turn in fe.decide_recurring_turn("R-1", month, "skip")["turns"]] == ["skipped"]
        assert fe.delete_recurring("R-1", version=1)["ok"]
        track = known["taxLogId"]
        prints = [fe.pdf(track, layout="80mm"), fe.ticket(track), fe.qr_png(track), fe.qr_svg(track), fe.pdfs([track])]
        assert [made[:4] for made in prints] == PRINTS
        month = f"{datetime.now(UTC):%Y-%m}"
        assert fe.month_workbook(month)[:2] == b"PK"
        assert fe.month_606(month)["rows"] == len(fe.month_606(month)["missing"])
        assert fe.classify_purchases("101000001", {"kind": "02"})["itbis"] == "advance"
        assert fe.month_608(month)["rows"] == 0
        with pytest.raises(NotThereError):
            fe.month_archive("2026-01")
        written = io.BytesIO()
        assert fe.pdfs(encf=seen["eNCF"], to=written) == b""
        assert zipfile.is_zipfile(written)
        for print_received in (fe.received_pdf, fe.received_ticket, fe.received_qr_png, fe.received_qr_svg):
            with pytest.raises(NotThereError):
                print_received(track)
        with pytest.raises(NotThereError):
            fe.received_pdfs([track])

        assert fe.validate(typed()) == {"valid": True, "problems": []}
        assert fe.preview(typed())["valid"]
        (problem,) = fe.validate(mistyped())["problems"]
        with pytest.raises(InvalidError) as caught:
            fe.submit(mistyped(), strict=True)
        assert caught.value.problems == [problem]
        assert "debe" in problem["message"] or "código" in problem["message"]
        assert caught.value.request_id

        wanted: NewSequence = {"prefix": "E31", "maxSequence": 5000, "expireAt": "2028-12-31"}
        assert fe.put_ncf(wanted)["maxSequence"] == "5000"
        assert fe.change_ncf("E31", {"isActive": False})["isActive"] is False
        assert fe.delete_ncf("E47")["prefix"] == "E47"
        with pytest.raises(NotThereError):
            fe.delete_ncf("E47")
        fe.change_ncf("E31", {"isActive": True})
        assert "E47" not in [sequence["prefix"] for sequence in fe.ncf()["items"]]

        link = fe.share(known["taxLogId"])["url"]
        assert link.startswith(f"{BUYERS}/")
        assert fe.share(known["taxLogId"])["url"] == link
        assert [fe.revoke_share(known["taxLogId"])["revoked"] for _ in range(2)] == [True, False]

        nobody = "00000000-0000-7000-8000-000000000000"
        finding: list[Callable[[str], object]] = [fe.status, fe.xml, fe.timeline]
        finding += [fe.received_document, fe.received_xml, fe.delivery]
        assert [find(nobody) for find in finding] == [None] * 6
        for decide in (fe.approve, partial(fe.reject, reason="no"), fe.share, fe.revoke_share):
            with pytest.raises(NotThereError):
                decide(nobody)
        assert list(fe.received()) == []
        assert of_days_before(began, fe.usage(days=1)["items"]) == []
        assert fe.usage(today=True)["today"]["isComplete"]
        assert fe.billing()["emissionsAccepted"] == 0

        secret = fe.set_webhook({"url": "https://erp.example.com/hooks/fe"})["secret"]
        assert fe.rotate_webhook()["secret"] != secret
        assert [webhook["url"] for webhook in fe.webhooks()["items"]] == ["https://erp.example.com/hooks/fe"]
        test = fe.test_webhook()
        assert [delivery["id"] for delivery in fe.deliveries(event="test")] == [test["id"]]
        delivery = fe.delivery(test["id"])
        assert delivery is not None
        assert delivery["event"] == "test"
        assert fe.recover_webhook("2026-11-01")["id"] == fe.webhook_recoveries()[0]["id"]
