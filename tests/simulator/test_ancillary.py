"""Commercial approvals and voided ranges (authority.md#approval and #voiding)."""

import httpx
import pytest
from lxml import etree

from fe.simulator import AnswerForm
from tests.simulator.support import (
    APPROVAL,
    BUYER,
    ISSUER,
    VOIDING,
    Running,
    Start,
    acecf,
    anecf,
    ecf,
    number,
    sign,
)

E31 = number(31, 1)


async def _approve(simulator: Running, encf: str = E31, owner: str = BUYER) -> httpx.Response:
    return await simulator.post(APPROVAL, sign(acecf(encf)), f"{owner}{encf}.xml")


@pytest.mark.parametrize("owner", [BUYER, ISSUER])
async def test_an_approval_of_an_accepted_document_is_approved(simulator: Running, owner: str) -> None:
    await simulator.send(sign(ecf()), E31)

    reply = await _approve(simulator, owner=owner)

    assert reply.status_code == 200
    assert (reply.json()["codigo"], reply.json()["estado"]) == ("01", "Aprobación Comercial Aprobada.")
    assert isinstance(reply.json()["mensaje"], list)


async def test_the_documented_code_of_an_approval_is_a_number(start: Start) -> None:
    simulator = await start(answers=AnswerForm.DOCUMENTED)

    assert (await _approve(simulator)).json()["codigo"] == 1


async def test_invalid_approval_is_refused_with_400(start: Start) -> None:
    simulator = await start()
    strict = await start(require_references=True)
    await simulator.send(sign(ecf(2)).replace(b"EMISOR DE PRUEBA", b"OTRO EMISOR"), number(31, 2))

    unknown = await _approve(strict)
    rejected = await _approve(simulator, number(31, 2))
    not_of_this_type = await _approve(simulator, number(32, 1))
    unsigned = await simulator.post(APPROVAL, acecf(E31).encode(), f"{BUYER}{E31}.xml")
    misnamed = await simulator.post(APPROVAL, sign(acecf(E31)), f"101000001{E31}.xml")
    not_an_approval = await simulator.post(APPROVAL, sign(ecf()), f"{ISSUER}{E31}.xml")

    for reply in (unknown, rejected, not_of_this_type, unsigned, misnamed, not_an_approval):
        assert reply.status_code == 400
        assert (reply.json()["codigo"], reply.json()["estado"]) == ("02", "Aprobacion Comercial Rechazada.")


async def test_voided_numbers_cannot_be_used(simulator: Running) -> None:
    reply = await simulator.post(VOIDING, sign(anecf(5, 7)), "anulacion.xml")

    verdicts = [(await simulator.verdict(sign(ecf(n)), number(31, n)))["estado"] for n in (4, 5, 7, 8)]
    elsewhere = await simulator.verdict(sign(ecf(5)), number(31, 5), "ecf")

    assert reply.status_code == 200
    assert (reply.json()["rnc"], reply.json()["mensajes"]) == (ISSUER, [])
    assert verdicts == ["Aceptado", "Rechazado", "Rechazado", "Aceptado"]
    assert elsewhere["estado"] == "Aceptado"


async def test_voiding_used_numbers_is_refused(simulator: Running) -> None:
    await simulator.send(sign(ecf(5)), number(31, 5))

    partly = await simulator.post(VOIDING, sign(anecf(5, 7)), "anulacion.xml")
    not_at_all = await simulator.post(VOIDING, sign(anecf(5, 5)), "anulacion.xml")

    assert (partly.status_code, partly.json()["mensajes"]) == (200, [number(31, 5)])
    assert not_at_all.status_code == 400
    assert not_at_all.json()["mensajes"] == ["Las secuencias que está intentando anular han sido utilizadas."]


async def test_bad_voidings_are_refused(simulator: Running) -> None:
    good = anecf(5, 7)
    for bad in (
        anecf(7, 5),
        good.replace("<NoLinea>1</NoLinea>", "<NoLinea>2</NoLinea>"),
        good.replace("<TipoeCF>31</TipoeCF>", "<TipoeCF>32</TipoeCF>"),
        acecf(E31),
    ):
        reply = await simulator.post(VOIDING, sign(bad), "anulacion.xml")
        assert reply.status_code == 400, bad
    unsigned = await simulator.post(VOIDING, good.encode(), "anulacion.xml")
    assert unsigned.status_code == 400


async def test_voiding_answer_is_xml_when_accepted(simulator: Running) -> None:
    reply = await simulator.post(VOIDING, sign(anecf(5, 7)), "a.xml", headers={"Accept": "application/xml"})

    assert etree.fromstring(reply.content).tag == "RespuestaAnulacionRango"


async def test_a_voiding_sent_to_the_approval_service_is_refused(simulator: Running) -> None:
    reply = await simulator.post(APPROVAL, sign(anecf(5, 7)), f"{ISSUER}{E31}.xml")

    assert reply.status_code == 400
