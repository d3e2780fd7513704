"""The whole road over real sockets: from a POST to the authority's verdict and back."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from fe.ecf.parse import parse_xml
from fe.ecf.signature import verify
from tests.shared import SHARED, needs_shared
from tests.system.stack import ISSUER, Stack, running_stack
from tests.waiting import PATIENCE

# Each test ends by cancelling a whole service in the middle of whatever it does: what libraries then leave to the
# garbage collector is no fault of the road.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def invoice(number: int, **id_doc: Any) -> dict[str, Any]:
    """A type 31 for one hammer."""
    return {
        "Encabezado": {
            "IdDoc": {"eNCF": f"E31{number:010d}", "TipoIngresos": "01", "TipoPago": "1", **id_doc},
            "Comprador": {"RNCComprador": "131880681", "RazonSocialComprador": "Colmado Dos Hermanos SRL"},
        },
        "DetallesItems": {
            "Item": [
                {
                    "NumeroLinea": 1,
                    "IndicadorFacturacion": "1",
                    "NombreItem": "Martillo",
                    "IndicadorBienoServicio": "1",
                    "CantidadItem": 2,
                    "PrecioUnitarioItem": 450.5,
                    "MontoItem": 901,
                }
            ]
        },
    }


def consumer_invoice(number: int) -> dict[str, Any]:
    """A type 32 under the threshold, without a buyer."""
    receipt = invoice(1)
    receipt["Encabezado"] = {"IdDoc": {"eNCF": f"E32{number:010d}", "TipoIngresos": "01", "TipoPago": "1"}}
    return receipt


async def journal_of(stack: Stack) -> list[dict[str, Any]]:
    async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as client:
        records: list[dict[str, Any]] = (await client.get(f"{stack.simulator.management}/journal")).json()["records"]
        return records


async def test_a_structured_receipt_becomes_an_accepted_document(dsn: str, tmp_path: Path) -> None:
    async with running_stack(dsn, tmp_path) as stack:
        taken = await stack.submit(invoice(1), clientRequestId="order-1")

        record = await stack.until_final(taken["taxLogId"])
        shown = (await stack.client.get(f"/invoices/{record['trackId']}/xml")).json()

    assert taken["status"] == "queued"
    assert taken["environment"] == "testecf"
    assert taken["billable"] is False
    assert record["status"] == "Aceptado"
    assert record["response"]["trackStatus"]["estado"] == "Aceptado"
    assert record["ncfExpiration"] == "31-12-2028"
    assert record["fechaHoraFirma"].endswith("-04:00")
    assert shown["source"] == "signed"
    verified = verify(shown["xml"].encode())
    assert verified.security_code == record["securityCode"]
    assert verified.root.findtext("Encabezado/Totales/MontoTotal") == "1063.18"
    assert (record["montoTotal"], record["totalITBIS"]) == (1063.18, 162.18)
    assert (taken["montoTotal"], taken["totalITBIS"]) == (1063.18, 162.18)
    assert (record["fechaEmision"], record["readyToPrint"]) == (record["fechaHoraFirma"][:10], True)
    assert f"CodigoSeguridad={quote(record['securityCode'], safe='')}" in record["qrCodeUrl"]


async def test_whoever_waits_for_the_verdict_is_told_as_soon_as_it_is_booked(dsn: str, tmp_path: Path) -> None:
    async with running_stack(dsn, tmp_path) as stack:
        taken = await stack.submit(invoice(3))

        answer = await stack.client.get(f"/invoices/{taken['taxLogId']}", params={"wait": 25})

    assert answer.json()["status"] == "Aceptado"


async def test_a_consumer_invoice_goes_out_as_its_summary(dsn: str, tmp_path: Path) -> None:
    async with running_stack(dsn, tmp_path) as stack:
        taken = await stack.submit(consumer_invoice(7))

        record = await stack.until_final(taken["taxLogId"])
        shown = (await stack.client.get(f"/invoices/{taken['taxLogId']}/xml")).json()

    assert record["status"] == "Aceptado"
    assert "ConsultaTimbreFC" in record["qrCodeUrl"]
    assert parse_xml(shown["xml"].encode()).tag == "ECF"
    assert verify(shown["xml"].encode()).security_code == record["securityCode"]


async def test_a_number_that_another_submission_has_is_not_sent_a_second_time(dsn: str, tmp_path: Path) -> None:
    async with running_stack(dsn, tmp_path) as stack:
        first = await stack.submit(invoice(5))
        assert (await stack.until_final(first["taxLogId"]))["status"] == "Aceptado"

        again = await stack.submit(invoice(5, TipoPago="2", FechaLimitePago="31-12-2026"))
        record = await stack.until_final(again["taxLogId"])

    assert record["status"] == "error"
    assert record["response"]["otherTaxLogId"] == first["taxLogId"]


async def test_the_authoritys_refusal_reaches_the_client_with_its_words(dsn: str, tmp_path: Path) -> None:
    async with running_stack(dsn, tmp_path) as stack:
        granted = {"issuer": ISSUER["RNCEmisor"], "type": "E31", "from": 1, "to": 100}
        async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as operator:
            answer = await operator.post(f"{stack.simulator.management}/ranges", json=granted)
            assert answer.is_success, answer.text
        beyond = await stack.submit(invoice(101))
        record = await stack.until_final(beyond["taxLogId"])

    assert record["status"] == "Rechazado"
    assert record["response"]["mensajes"][0]["codigo"] == "4"
    assert record["response"]["mensajes"][0]["valor"]


async def test_a_document_that_would_be_refused_is_not_sent_at_all(dsn: str, tmp_path: Path) -> None:
    async with running_stack(dsn, tmp_path) as stack:
        taken = await stack.submit(invoice(6, TipoIngresos="99"))

        record = await stack.until_final(taken["taxLogId"])

    assert record["status"] == "error"
    assert record["response"]["status"] == "error"
    assert "TipoIngresos" in record["response"]["error"]
    assert record["response"]["problems"][0]["path"] == "Encabezado.IdDoc.TipoIngresos"


@needs_shared
@pytest.mark.parametrize("name", sorted(path.name for path in (SHARED / "samples").glob("*.xml")) if SHARED else [])
async def test_every_sample_of_the_authority_is_accepted_as_xml(name: str, dsn: str, tmp_path: Path) -> None:
    assert SHARED is not None
    xml = (SHARED / "samples" / name).read_text(encoding="utf-8")
    async with running_stack(dsn, tmp_path) as stack:
        taken = await stack.submit(xml=xml)

        record = await stack.until_final(taken["taxLogId"])

    assert record["status"] in ("Aceptado", "Aceptado Condicional"), record["response"]
