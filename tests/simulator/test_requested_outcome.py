"""Outcomes that a sender requests for its own document, in a header beside it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from fe.requested_outcome import SIMULATE_HEADER, AskedOutcome, Simulation
from fe.simulator import Catalogue
from tests.simulator.support import (
    ISSUER,
    RECEPTION,
    RESULT,
    STATE,
    SUMMARY_RECEPTION,
    SUMMARY_STATE,
    Json,
    Running,
    Start,
    ecf,
    number,
    rfce,
    sign,
)

E31, E32 = number(31, 1), number(32, 1)


async def hand_in(simulator: Running, asked: str, content: bytes, *, path: str = RECEPTION) -> httpx.Response:
    name = f"{ISSUER}{E31 if path == RECEPTION else E32}.xml"
    return await simulator.post(path, content, name, headers={SIMULATE_HEADER: asked})


async def verdict(simulator: Running, asked: str, content: bytes) -> Json:
    reply = await hand_in(simulator, asked, content)
    assert reply.status_code == 200, reply.text
    return (await simulator.get(RESULT, trackid=reply.json()["trackId"])).json()


@pytest.mark.parametrize("asked", [Simulation(one, 4 if one == "rejected" else None) for one in AskedOutcome])
def test_header_requests_the_outcome(asked: Simulation) -> None:
    assert Simulation.read(str(asked)) == asked


@pytest.mark.parametrize(
    "header",
    [
        "",
        "rejected",
        "rejected; code=0",
        "rejected;code=4",
        "rejected; code=4\n",
        "accepted",
        "stuck; code=4",
        "slow; seconds=0",
    ],
)
async def test_a_header_that_cannot_be_read_is_refused_and_nothing_is_taken_in(simulator: Running, header: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        Simulation.read(header)
    if "\n" in header:
        return  # no client writes it

    reply = await hand_in(simulator, header, sign(ecf()))

    assert reply.status_code == 400
    assert (await simulator.manage("GET", f"/documents/testecf/{ISSUER}/{E31}"))["documents"] == []


async def test_requested_outcome_counts_once_for_the_same_bytes(simulator: Running) -> None:
    content = sign(ecf())

    first = await verdict(simulator, "rejected; code=4", content)
    again = await verdict(simulator, "rejected; code=4", content)

    assert (first["estado"], first["secuenciaUtilizada"]) == ("Rechazado", False)
    assert first["mensajes"] == [{"codigo": 4, "valor": "Número de secuencia no autorizada. (simulado)"}]
    assert again["estado"] == "Aceptado"


async def test_problem_of_the_document_precedes_the_requested_outcome(simulator: Running) -> None:
    said = await verdict(simulator, "conditional", sign(ecf()).replace(b">Servicio<", b">Otro<"))

    assert (said["estado"], [one["codigo"] for one in said["mensajes"]]) == ("Rechazado", [8])


@pytest.mark.parametrize(("catalogue", "code"), [(Catalogue.INTERFACE, 3), (Catalogue.LIVE, 1209)])
async def test_number_requested_as_used_belongs_to_another_sender(
    start: Start, catalogue: Catalogue, code: int
) -> None:
    simulator = await start(catalogue=catalogue)

    said = await verdict(simulator, f"rejected; code={code}", sign(ecf()))
    state = (await simulator.get(STATE, rncemisor=ISSUER, ncfelectronico=E31)).json()

    assert ([one["codigo"] for one in said["mensajes"]], said["secuenciaUtilizada"]) == ([code], True)
    assert (state["estado"], state["codigoSeguridad"]) == ("Aceptado", "OTRO/1")


async def test_a_slow_verdict_is_out_when_its_time_has_come_and_after_a_restart_too(
    start: Start, tmp_path: Path
) -> None:
    now = datetime.now(UTC)
    journal = tmp_path / "state"
    simulator = await start(now=lambda: now, journal=journal)
    reply = await hand_in(simulator, "slow; seconds=20", sign(ecf()))
    summary = await hand_in(simulator, "slow; seconds=20", sign(rfce()), path=SUMMARY_RECEPTION)
    track_id = reply.json()["trackId"]
    asked = {"RNC_Emisor": ISSUER, "ENCF": E32, "Cod_Seguridad_eCF": "AbC1+/"}
    early = [
        (await simulator.get(RESULT, trackid=track_id)).json(),
        (await simulator.get(SUMMARY_STATE, **asked)).json(),
    ]
    await simulator.stop()
    now += timedelta(seconds=21)
    simulator = await start(now=lambda: now, journal=journal)
    late = [
        (await simulator.get(RESULT, trackid=track_id)).json(),
        (await simulator.get(SUMMARY_STATE, **asked)).json(),
    ]

    assert (summary.status_code, summary.json()["estado"]) == (200, "En Proceso")
    assert [one["estado"] for one in early] == ["En Proceso"] * 2
    assert [one["estado"] for one in late] == ["Aceptado"] * 2


async def test_document_of_a_lost_answer_is_stored(simulator: Running) -> None:
    content = sign(ecf())

    with pytest.raises(httpx.TransportError):
        await hand_in(simulator, "lost-answer", content)

    (document,) = (await simulator.manage("GET", f"/documents/testecf/{ISSUER}/{E31}"))["documents"]
    assert document["verdict"]["estado"] == "Aceptado"
    again = await verdict(simulator, "lost-answer", content)
    assert [one["codigo"] for one in again["mensajes"]] == [3], "sent again all the same: it is a duplicate"
