"""Seed, token, and who is let in (authority.md#session)."""

import base64
import json
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from lxml import etree

from fe.simulator import AnswerForm
from tests.simulator.support import (
    HOLDER_ID,
    RESULT,
    SEED,
    VALIDATE,
    Running,
    Start,
    sign,
)

ANY_TRACK = "d2b6e27c-3908-46f3-afaa-2207b9501b4b"


async def test_a_self_made_certificate_gets_a_token_for_its_signed_seed(simulator: Running) -> None:
    reply = await simulator.log_in()

    assert reply.status_code == 200
    answer = reply.json()
    assert set(answer) == {"token", "expira", "expedido"}
    issued = datetime.strptime(answer["expedido"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    expires = datetime.strptime(answer["expira"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    assert expires - issued == timedelta(hours=1)
    claims = json.loads(base64.urlsafe_b64decode(answer["token"].split(".")[1] + "=="))
    assert claims["iss"] == "DGII.FE"
    assert claims["aud"] == "USUARIOS.DGII.FE"
    assert claims["exp"] - claims["nbf"] == 3600
    assert claims["http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name"] == HOLDER_ID


async def test_the_seed_has_the_form_of_live_ones(simulator: Running) -> None:
    reply = await simulator.http.get(f"{simulator.at.ecf}/testecf/{SEED}")

    root = etree.fromstring(reply.content)
    assert root.tag == "SemillaModel"
    assert len(base64.b64decode(root.findtext("valor") or "")) == 112
    assert (root.findtext("fecha") or "").endswith("0-04:00")
    assert b"\n  <valor>" in reply.content  # indented, so a client must drop whitespace before it signs


async def test_token_answer_is_xml_when_accepted(simulator: Running) -> None:
    seed = await simulator.http.get(f"{simulator.at.ecf}/testecf/{SEED}")

    reply = await simulator.http.post(
        f"{simulator.at.ecf}/testecf/{VALIDATE}",
        files={"xml": ("s.xml", sign(seed.text.partition("?>")[2]), "text/xml")},
        headers={"Accept": "application/xml"},
    )

    root = etree.fromstring(reply.content)
    assert root.tag == "RespuestaAutenticacion"
    assert [child.tag for child in root] == ["token", "expira", "expedido"]


async def _validate(simulator: Running, content: bytes, name: str = "semilla.xml") -> httpx.Response:
    return await simulator.http.post(
        f"{simulator.at.ecf}/testecf/{VALIDATE}", files={"xml": (name, content, "text/xml")}
    )


async def _seed(simulator: Running, environment: str = "testecf") -> str:
    reply = await simulator.http.get(f"{simulator.at.ecf}/{environment}/{SEED}")
    return reply.text.partition("?>")[2]


async def test_a_seed_is_good_once(simulator: Running) -> None:
    signed = sign(await _seed(simulator))

    first = await _validate(simulator, signed)
    second = await _validate(simulator, signed)

    assert (first.status_code, second.status_code) == (200, 400)
    assert isinstance(second.json(), str)  # a bare string, as live


async def test_a_seed_is_good_for_five_minutes(start: Start) -> None:
    now = [datetime.now(UTC)]
    simulator = await start(now=lambda: now[0])
    signed = sign(await _seed(simulator))

    now[0] += timedelta(minutes=5)

    assert (await _validate(simulator, signed)).status_code == 400


async def test_a_seed_is_good_in_its_environment_only(simulator: Running) -> None:
    signed = sign(await _seed(simulator, "certecf"))

    assert (await _validate(simulator, signed)).status_code == 400


async def test_a_made_up_an_altered_and_an_unsigned_seed_are_refused(simulator: Running) -> None:
    seed = await _seed(simulator)
    value = etree.fromstring(seed).findtext("valor") or ""

    made_up = await _validate(simulator, sign(seed.replace(value, base64.b64encode(bytes(112)).decode())))
    altered = await _validate(simulator, sign(seed).replace(value.encode(), value.swapcase().encode()))
    unsigned = await _validate(simulator, seed.encode())

    assert [made_up.status_code, altered.status_code, unsigned.status_code] == [400, 400, 400]
    assert altered.json() == "Firma del certificado invalida"


async def test_an_expired_certificate_gets_no_token(simulator: Running) -> None:
    reply = await simulator.log_in(expired=True)

    assert reply.status_code == 400


async def test_call_without_a_good_token_gets_401(simulator: Running) -> None:
    url = f"{simulator.at.ecf}/testecf/{RESULT}?trackid={ANY_TRACK}"
    await simulator.log_in()
    good = simulator.tokens["testecf"]
    head, claims, signature = good.split(".")

    for header in ("", "Bearer", "Bearer x.y.z", f"Basic {good}", f"Bearer {head}.{claims}.{signature[::-1]}"):
        assert (await simulator.http.get(url, headers={"Authorization": header})).status_code == 401, header
    assert (await simulator.http.get(url)).status_code == 401
    assert (await simulator.http.get(url, headers={"Authorization": f"bEARER {good}"})).status_code == 200


async def test_a_token_is_good_in_its_environment_at_both_hosts(start: Start) -> None:
    simulator = await start(summary_port=0)
    await simulator.log_in("testecf")
    headers = {"Authorization": f"Bearer {simulator.tokens['testecf']}"}
    query = "RNC_Emisor=131880738&ENCF=E320000000001&Cod_Seguridad_eCF=abcdef"

    same = await simulator.http.get(
        f"{simulator.at.fc}/testecf/consultarfce/api/Consultas/Consulta?{query}", headers=headers
    )
    other = await simulator.http.get(f"{simulator.at.ecf}/ecf/{RESULT}?trackid={ANY_TRACK}", headers=headers)

    assert (same.status_code, other.status_code) == (200, 401)


async def test_a_token_ends_after_its_hour(start: Start) -> None:
    now = [datetime.now(UTC)]
    simulator = await start(now=lambda: now[0])
    await simulator.log_in()

    now[0] += timedelta(minutes=59)
    assert (await simulator.get(RESULT, trackid=ANY_TRACK)).status_code == 200
    now[0] += timedelta(minutes=1, seconds=1)
    assert (await simulator.get(RESULT, trackid=ANY_TRACK)).status_code == 401


@pytest.mark.parametrize("answers", ["live", "documented"])
async def test_undelegated_certificate_gets_a_bare_string_instead_of_a_token(start: Start, answers: str) -> None:
    simulator = await start(answers=AnswerForm(answers))
    await simulator.manage("POST", "/delegations", {"holder": "99988877766", "issuer": "131880738"})

    reply = await simulator.log_in()

    assert reply.status_code == 400
    told = f"El RNC {HOLDER_ID} del certificado no está delegado para realizar transaciones."
    assert (reply.json() if answers == "live" else reply.text) == told
