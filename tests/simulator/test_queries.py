"""State, trackIds, documented shapes, directory, status and QR pages (authority.md#reception, #queries and #qr)."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from lxml import etree

from fe.ecf.parse import parse_xml
from fe.ecf.signature import verify
from fe.simulator import AnswerForm
from tests.simulator.support import (
    BUYER,
    ISSUER,
    RECEPTION,
    RESULT,
    STATE,
    TRACK_IDS,
    Running,
    Start,
    ecf,
    number,
    rfce,
    sign,
)

E31 = number(31, 1)
DIRECTORY = "consultadirectorio/api/consultas/listado"
ENTRY = "consultadirectorio/api/consultas/obtenerdirectorioporrnc"


async def test_state_of_a_number_has_the_document_values(simulator: Running) -> None:
    signed = sign(ecf())
    await simulator.send(signed, E31)

    code = verify(signed).security_code
    state = (
        await simulator.get(STATE, RncEmisor=ISSUER, NcfElectronico=E31, RncComprador=BUYER, CodigoSeguridad=code)
    ).json()

    root = parse_xml(signed)
    assert state == {
        "codigo": 1,
        "estado": "Aceptado",
        "rncEmisor": ISSUER,
        "ncfElectronico": E31,
        "montoTotal": 1180.00,
        "totalITBIS": 180.00,
        "fechaEmision": root.findtext("Encabezado/Emisor/FechaEmision"),
        "fechaFirma": root.findtext("FechaHoraFirma"),
        "rncComprador": BUYER,
        "codigoSeguridad": code,
        "idExtranjero": None,
    }


@pytest.mark.parametrize(
    "wrong", [{"codigoseguridad": "nope+/"}, {"rnccomprador": "101000001"}, {"ncfelectronico": number(31, 2)}]
)
async def test_the_state_is_not_found_when_a_parameter_disagrees(simulator: Running, wrong: dict[str, str]) -> None:
    await simulator.send(sign(ecf()), E31)

    state = (await simulator.get(STATE, **{"rncemisor": ISSUER, "ncfelectronico": E31, **wrong})).json()

    assert (state["codigo"], state["estado"]) == (0, "No encontrado")


async def test_the_state_is_that_of_the_accepted_document(simulator: Running) -> None:
    signed = sign(ecf())
    await simulator.send(signed.replace(b"EMISOR DE PRUEBA", b"OTRO EMISOR"), E31)
    rejected = (await simulator.get(STATE, rncemisor=ISSUER, ncfelectronico=E31)).json()
    await simulator.send(signed, E31)
    await simulator.send(signed, E31)
    accepted = (await simulator.get(STATE, rncemisor=ISSUER, ncfelectronico=E31)).json()

    assert (rejected["codigo"], accepted["codigo"]) == (2, 1)


async def test_asked_by_code_the_state_can_be_that_of_the_rejected_document_with_it(simulator: Running) -> None:
    """Of a used number that was handed in again: with our code our own rejection, without it the accepted document."""
    first, again = sign(ecf()), sign(ecf(total="1280.00"))
    await simulator.send(first, E31)
    await simulator.send(again, E31)
    asked = {"rncemisor": ISSUER, "ncfelectronico": E31}
    code = verify(again).security_code

    silent = (await simulator.get(STATE, **asked, codigoseguridad=code)).json()
    await simulator.order(kind="by-code", times=0)
    ours = (await simulator.get(STATE, **asked, codigoseguridad=code)).json()
    whoever = (await simulator.get(STATE, **asked)).json()

    assert (silent["codigo"], ours["codigo"], whoever["codigo"]) == (0, 2, 1)
    assert (ours["codigoSeguridad"], whoever["codigoSeguridad"]) == (code, verify(first).security_code)


async def test_state_is_empty_while_the_document_is_in_process(start: Start) -> None:
    simulator = await start(verdict_delay=timedelta(hours=1))
    await simulator.send(sign(ecf()), E31)

    state = (await simulator.get(STATE, rncemisor=ISSUER, ncfelectronico=E31)).json()
    tracks = (await simulator.get(TRACK_IDS, rncemisor=ISSUER, encf=E31)).json()

    assert state["codigo"] == 0
    assert [entry["estado"] for entry in tracks] == ["En Proceso"]


async def test_conditional_acceptance_is_distinguished_for_summaries_only(simulator: Running) -> None:
    await simulator.send(sign(ecf(total="1280.00")), E31)

    state = (await simulator.get(STATE, rncemisor=ISSUER, ncfelectronico=E31)).json()

    assert (state["codigo"], state["estado"]) == (1, "Aceptado")


async def test_track_ids_of_an_unknown_number_are_an_error(simulator: Running) -> None:
    reply = await simulator.get(TRACK_IDS, rncemisor=ISSUER, encf=E31)

    assert (reply.status_code, reply.json()["estado"]) == (404, "TrackId no encontrado.")


@pytest.mark.parametrize(
    "query", [{}, {"rncemisor": ISSUER}, {"rncemisor": "12", "encf": E31}, {"rncemisor": ISSUER, "encf": "E31"}]
)
async def test_bad_parameters_are_reported_in_a_bare_string(simulator: Running, query: dict[str, str]) -> None:
    reply = await simulator.get(TRACK_IDS, **query)

    assert reply.status_code == 400
    assert isinstance(reply.json(), str)


async def test_query_without_a_delegation_is_refused(simulator: Running) -> None:
    await simulator.send(sign(ecf()), E31)
    await simulator.manage("POST", "/delegations", {"holder": "00112233445", "issuer": "101000001"})

    tracks = await simulator.get(TRACK_IDS, rncemisor=ISSUER, encf=E31)
    state = await simulator.get(STATE, rncemisor=ISSUER, ncfelectronico=E31)
    await simulator.manage("POST", "/delegations", {"holder": "00112233445", "issuer": BUYER})
    as_buyer = await simulator.get(STATE, rncemisor=ISSUER, ncfelectronico=E31)

    assert (tracks.status_code, state.status_code, as_buyer.status_code) == (400, 400, 200)


async def test_documented_shapes_can_be_asked_for(start: Start) -> None:
    simulator = await start(answers=AnswerForm.DOCUMENTED)

    verdict = await simulator.verdict(sign(ecf()), E31)
    tracks = (await simulator.get(TRACK_IDS, rncemisor=ISSUER, encf=E31)).json()

    assert (verdict["codigo"], verdict["eNCF"]) == (1, E31)
    assert re.fullmatch(r"\d\d-\d\d-\d{4} \d\d:\d\d:\d\d", verdict["fechaRecepcion"])
    assert tracks["trackId"] == verdict["trackId"]


async def test_track_ids_are_xml_when_accepted(simulator: Running) -> None:
    headers = {**await simulator.authorized("testecf"), "Accept": "text/xml"}
    for _ in range(2):
        await simulator.send(sign(ecf()), E31)

    reply = await simulator.http.get(
        f"{simulator.at.ecf}/testecf/{TRACK_IDS}?rncemisor={ISSUER}&encf={E31}", headers=headers
    )

    root = etree.fromstring(reply.content)
    assert [child.tag for child in root] == ["TrackingDetalle"] * 2


async def test_a_wrong_method_is_405_and_an_unknown_path_404(simulator: Running) -> None:
    base = simulator.at.ecf

    assert (await simulator.http.get(f"{base}/testecf/{RECEPTION}")).status_code == 405
    assert (await simulator.http.post(f"{base}/testecf/{RESULT}")).status_code == 405
    for path in ("/", "/testecf", "/fe/recepcion/api/ecf", "/testecf/recepcion/api/recepcion/ecf", "/other/" + RESULT):
        assert (await simulator.http.get(base + path)).status_code == 404, path


# --- Directory ----------------------------------------------------------------------------------------------------


async def test_the_directory_has_the_electronic_taxpayers(simulator: Running) -> None:
    for rnc, electronic in ((ISSUER, True), ("101000001", False)):
        record = {"rnc": rnc, "name": "X", "electronic": electronic, "receptionUrl": "https://x.test"}
        await simulator.manage("POST", "/taxpayers", record)

    everybody = (await simulator.get(DIRECTORY, "ecf")).json()
    known = (await simulator.get(ENTRY, "ecf", RNC=ISSUER)).json()
    unknown = (await simulator.get(ENTRY, "ecf", rnc="101000001")).json()

    assert [entry["rnc"] for entry in everybody] == [ISSUER]
    assert known == everybody
    assert known[0]["urlRecepcion"] == "https://x.test"
    assert unknown == []


async def test_the_counterparty_of_testecf_is_never_at_the_real_address(simulator: Running) -> None:
    (entry,) = (await simulator.get(ENTRY, RNC="101000001")).json()

    assert entry["rnc"] == "131880681"
    assert entry["urlRecepcion"] == f"{simulator.at.ecf}/testecf/emisorreceptor"


# --- Status of the services ---------------------------------------------------------------------------------------


async def _status(simulator: Running, path: str, key: str = "Apikey abc") -> object:
    reply = await simulator.http.get(
        f"{simulator.at.status}/api/EstatusServicios/{path}", headers={"Authorization": key}
    )
    return reply.json() if reply.status_code == 200 else reply.status_code


async def test_the_status_services_want_a_key_by_its_name(start: Start) -> None:
    simulator = await start(status_key="abc")

    assert await _status(simulator, "VerificarEstado?ambiente=1") == {"estado": "Disponible"}
    for wrong in ("", "abc", "Bearer abc", "Apikey", "Apikey other"):
        assert await _status(simulator, "VerificarEstado?ambiente=1", wrong) == 401, wrong


async def test_a_maintenance_window_shows_and_holds_in_its_environment(start: Start) -> None:
    now = [datetime(2026, 8, 6, 12, 0, tzinfo=UTC)]
    simulator = await start(now=lambda: now[0])
    await simulator.order("maintenance", environment="testecf", seconds=3600, startsIn=3600)

    announced = await _status(simulator, "obtenerventanasmantenimiento")
    before = await _status(simulator, "verificarestado?ambiente=1")
    now[0] += timedelta(minutes=90)
    during = await _status(simulator, "verificarestado?ambiente=1")
    services = await _status(simulator, "obtenerestatus")
    seed = f"{simulator.at.ecf}/%s/autenticacion/api/autenticacion/semilla"
    closed, open_elsewhere = [await simulator.http.get(seed % name) for name in ("testecf", "certecf")]
    now[0] += timedelta(minutes=30)
    after = await simulator.http.get(seed % "testecf")

    assert announced == {
        "ventanaMantenimientos": [
            {"ambiente": "PreCertificacion", "horaInicio": "9:00 AM", "horaFin": "10:00 AM", "dias": ["06-08-2026"]}
        ]
    }
    assert (before, during) == ({"estado": "Disponible"}, {"estado": "No Disponible"})
    assert isinstance(services, list)
    assert {entry["estatus"] for entry in services if entry["ambiente"] == "PreCertificacion"} == {"No Disponible"}
    assert {entry["estatus"] for entry in services if entry["ambiente"] == "Produccion"} == {"Disponible"}
    assert (closed.status_code, closed.headers["content-type"][:9], closed.headers["Retry-After"]) == (
        503,
        "text/html",
        "60",
    )
    assert (open_elsewhere.status_code, after.status_code) == (200, 200)


# --- QR -----------------------------------------------------------------------------------------------------------


async def test_the_qr_address_of_an_accepted_document_shows_it(simulator: Running) -> None:
    signed = sign(ecf())
    await simulator.send(signed, E31)
    root = parse_xml(signed)
    query = {
        "RncEmisor": ISSUER,
        "RncComprador": BUYER,
        "ENCF": E31,
        "FechaEmision": root.findtext("Encabezado/Emisor/FechaEmision") or "",
        "MontoTotal": "1180",
        "FechaFirma": root.findtext("FechaHoraFirma") or "",
        "CodigoSeguridad": verify(signed).security_code,
    }
    url = f"{simulator.at.ecf}/testecf/ConsultaTimbre"

    shown = await simulator.http.get(url, params=query)
    as_json = await simulator.http.get(url, params=query, headers={"Accept": "application/json"})
    empty_buyer = await simulator.http.get(url, params={**query, "RncComprador": "<b>"})

    assert "Aceptado" in shown.text
    assert "no es la DGII" in shown.text
    assert as_json.json()["estado"] == "Aceptado"
    assert "No encontrado" in empty_buyer.text


async def test_the_qr_address_of_a_summary_shows_it(simulator: Running) -> None:
    await simulator.summary(sign(rfce()), number(32, 1))
    query = {"RncEmisor": ISSUER, "ENCF": number(32, 1), "MontoTotal": "1180.00", "CodigoSeguridad": "AbC1+/"}
    url = f"{simulator.at.fc}/testecf/ConsultaTimbreFC"

    shown = await simulator.http.get(url, params=query)
    hostile = await simulator.http.get(url, params={**query, "CodigoSeguridad": "<script>"})

    assert "Aceptado" in shown.text
    assert "No encontrado" in hostile.text
    assert "<script>" not in hostile.text
