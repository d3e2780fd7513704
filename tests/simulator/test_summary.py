"""Summary reception, and the queries that find summaries (authority.md#summary and #queries)."""

import json

import httpx
import pytest
from lxml import etree

from fe.simulator import Availability
from tests.simulator.support import (
    ISSUER,
    RECEPTION,
    STATE,
    SUMMARY_RECEPTION,
    SUMMARY_STATE,
    TRACK_IDS,
    Running,
    Start,
    ecf,
    number,
    rfce,
    sign,
)

E32 = number(32, 1)


async def test_a_valid_summary_is_accepted_at_once(simulator: Running) -> None:
    reply = await simulator.summary(sign(rfce()), E32)

    assert reply.status_code == 200
    assert reply.json() == {
        "codigo": 1,
        "estado": "Aceptado",
        "mensajes": [{"codigo": "0", "valor": ""}],
        "encf": E32,
        "secuenciaUtilizada": True,
    }


async def test_a_rejected_summary_is_an_http_error_with_the_same_body(simulator: Running) -> None:
    await simulator.summary(sign(rfce()), E32)

    again = await simulator.summary(sign(rfce()), E32)

    assert again.status_code == 400
    assert (again.json()["codigo"], again.json()["estado"]) == (2, "Rechazado")
    assert [message["codigo"] for message in again.json()["mensajes"]] == ["3"]
    assert again.json()["secuenciaUtilizada"] is True


async def test_a_summary_of_a_large_invoice_is_rejected(simulator: Running) -> None:
    large = rfce(total="295000.00").replace("1000.00", "250000.00").replace(">180.00<", ">45000.00<")

    reply = await simulator.summary(sign(large), E32)

    assert (reply.status_code, reply.json()["estado"]) == (400, "Rechazado")


async def test_a_summary_and_an_ecf_share_their_number(simulator: Running) -> None:
    await simulator.summary(sign(rfce()), E32)
    full = sign(ecf(1, kind=32, price="250000.00", itbis="45000.00", total="295000.00"))

    assert (await simulator.verdict(full, E32))["estado"] == "Rechazado"


async def test_a_refusal_on_the_spot_has_no_number(simulator: Running) -> None:
    reply = await simulator.summary(sign(rfce()), number(32, 9))

    assert reply.status_code == 400
    assert (reply.json()["codigo"], reply.json()["encf"], reply.json()["secuenciaUtilizada"]) == (2, None, False)


async def test_summary_answer_is_xml_when_accepted(simulator: Running) -> None:
    reply = await simulator.post(
        SUMMARY_RECEPTION, sign(rfce()), f"{ISSUER}{E32}.xml", headers={"Accept": "application/xml"}
    )

    root = etree.fromstring(reply.content)
    assert (root.tag, root.findtext("estado"), root.findtext("mensajes/codigo")) == ("Respuesta", "Aceptado", "0")


async def test_a_summary_is_found_by_its_security_code(simulator: Running) -> None:
    await simulator.summary(sign(rfce()), E32)

    found = await simulator.get(SUMMARY_STATE, RNC_Emisor=ISSUER, ENCF=E32, Cod_Seguridad_eCF="AbC1+/")
    other_code = await simulator.get(SUMMARY_STATE, RNC_Emisor=ISSUER, ENCF=E32, Cod_Seguridad_eCF="AbC1+0")
    state = await simulator.get(STATE, rncEmisor=ISSUER, NcfElectronico=E32, codigoSeguridad="AbC1+/")
    tracks = await simulator.get(TRACK_IDS, rncemisor=ISSUER, encf=E32)

    assert found.json() == {
        "rnc": ISSUER,
        "encf": E32,
        "secuenciaUtilizada": True,
        "codigo": "1",
        "estado": "Aceptado",
        "mensajes": [{"valor": "", "codigo": 0}],
    }
    assert (other_code.json()["codigo"], other_code.json()["estado"]) == ("0", "No encontrado")
    assert (state.json()["codigo"], state.json()["codigoSeguridad"]) == (1, "AbC1+/")
    assert tracks.status_code == 404  # there is no trackId of a summary


async def test_amounts_keep_their_digits(simulator: Running) -> None:
    await simulator.summary(sign(rfce()), E32)

    reply = await simulator.get(STATE, rncemisor=ISSUER, ncfelectronico=E32)

    assert b'"montoTotal":1180.00,"totalITBIS":180.00' in reply.content
    assert json.loads(reply.content)["fechaFirma"] is None  # a summary has no time of signing


async def test_separate_hosts_serve_only_their_own_operations(start: Start) -> None:
    simulator = await start(summary_port=0, status_port=0)
    headers = await simulator.authorized("testecf")
    at = simulator.at

    async def status(base: str, path: str) -> int:
        reply: httpx.Response = await simulator.http.post(f"{base}/testecf/{path}", headers=headers)
        return reply.status_code

    assert len({at.ecf, at.fc, at.status}) == 3
    assert await status(at.ecf, SUMMARY_RECEPTION) == 404
    assert await status(at.fc, SUMMARY_RECEPTION) == 400
    assert await status(at.ecf, RECEPTION) == 400
    assert await status(at.fc, RECEPTION) == 404
    assert await status(at.status, RECEPTION) == 404


@pytest.mark.parametrize(
    ("edition", "path", "environment", "there"),
    [
        (Availability.V1_7, TRACK_IDS, "certecf", False),
        (Availability.V1_7, STATE, "certecf", False),
        (Availability.V1_7, "consultadirectorio/api/consultas/listado", "certecf", False),
        (Availability.V1_7, SUMMARY_STATE, "certecf", True),
        (Availability.V1_6, SUMMARY_STATE, "testecf", False),
        (Availability.V1_6, SUMMARY_STATE, "ecf", True),
        (Availability.EVERYWHERE, TRACK_IDS, "certecf", True),
    ],
)
async def test_services_are_where_the_technical_description_has_them(
    start: Start, edition: Availability, path: str, environment: str, there: bool
) -> None:
    simulator = await start(availability=edition)

    reply = await simulator.get(path, environment)

    assert (reply.status_code == 400) is there  # it asks for the missing parameters
    assert (reply.status_code == 404) is not there
