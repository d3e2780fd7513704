"""e-CF reception and the verdict (authority.md#reception, #messages and #checks)."""

import re
from collections.abc import AsyncIterator, Callable
from datetime import UTC, date, datetime, timedelta

import pytest
import trio
from cryptography.hazmat.primitives.serialization import Encoding
from lxml import etree

from fe.ecf.autofill import autofill
from fe.ecf.build import build
from fe.ecf.parse import MAX_BYTES
from fe.ecf.signature import profile
from fe.simulator import Catalogue, CheckLevel
from tests.ecf.receipts import ISSUER as ISSUER_FIELDS
from tests.ecf.receipts import long_draft
from tests.factories.certificates import default_root
from tests.simulator.support import (
    ISSUER,
    RECEPTION,
    RESULT,
    TRACK_IDS,
    Json,
    Running,
    Start,
    credential,
    ecf,
    number,
    sign,
    signer,
)

E31 = number(31, 1)


def codes(verdict: Json) -> list[int]:
    return [message["codigo"] for message in verdict["mensajes"]]


async def test_a_receipt_of_as_many_lines_as_it_may_have_is_accepted(simulator: Running) -> None:
    """However many bytes that is: the protocol has no limit."""
    whole = autofill(long_draft(), issuer=ISSUER_FIELDS, expiry=date(2028, 12, 31), now=datetime.now(UTC))
    raw = signer().sign(build(whole)).xml

    assert len(raw) > MAX_BYTES
    assert (await simulator.verdict(raw, str(whole.e_ncf)))["estado"] == "Aceptado"


async def test_a_valid_ecf_gets_a_track_id_and_is_accepted(simulator: Running) -> None:
    reply = await simulator.send(sign(ecf()), E31)
    receipt = reply.json()
    verdict = (await simulator.get(RESULT, trackid=receipt["trackId"])).json()

    assert reply.status_code == 200
    assert (receipt["error"], receipt["mensaje"]) == (None, None)
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", receipt["trackId"])
    assert re.fullmatch(r"\d{1,2}/\d{1,2}/\d{4} \d{1,2}:\d\d:\d\d [AP]M", verdict.pop("fechaRecepcion"))
    assert verdict == {
        "trackId": receipt["trackId"],
        "codigo": "1",
        "estado": "Aceptado",
        "rnc": ISSUER,
        "encf": E31,
        "secuenciaUtilizada": True,
        "mensajes": [{"valor": "", "codigo": 0}],
    }


async def test_every_answer_names_the_simulator(simulator: Running) -> None:
    accepted = await simulator.send(sign(ecf()), E31)
    nowhere = await simulator.http.get(f"{simulator.at.ecf}/testecf/nowhere")
    managed = await simulator.http.get(f"{simulator.at.management}/stats")

    for reply in (accepted, nowhere, managed):
        assert reply.headers["X-Authority-Simulator"] == "not the tax authority"


async def test_the_verdict_is_out_after_the_delay(start: Start) -> None:
    now = [datetime.now(UTC) + timedelta(minutes=1)]
    simulator = await start(verdict_delay=timedelta(milliseconds=200), now=lambda: now[0])
    track = (await simulator.send(sign(ecf()), E31)).json()["trackId"]

    during = (await simulator.get(RESULT, trackid=track)).json()
    now[0] += timedelta(milliseconds=200)
    after = (await simulator.get(RESULT, trackid=track)).json()

    assert (during["codigo"], during["estado"]) == ("3", "En Proceso")
    assert (after["codigo"], after["estado"]) == ("1", "Aceptado")


async def test_an_unknown_track_is_not_found(simulator: Running) -> None:
    reply = await simulator.get(RESULT, trackid="d2b6e27c-3908-46f3-afaa-2207b9501b4b")

    assert reply.status_code == 200
    assert (reply.json()["codigo"], reply.json()["estado"]) == ("0", "No encontrado")


# --- The number ---------------------------------------------------------------------------------------------------


async def test_the_same_bytes_again_get_a_further_track_that_is_rejected_as_used(simulator: Running) -> None:
    signed = sign(ecf())

    first, second = await simulator.verdict(signed, E31), await simulator.verdict(signed, E31)
    tracks = (await simulator.get(TRACK_IDS, rncemisor=ISSUER, encf=E31)).json()

    assert (first["estado"], second["estado"]) == ("Aceptado", "Rechazado")
    assert codes(second) == [3]
    assert second["secuenciaUtilizada"] is True
    assert [(entry["trackId"], entry["estado"]) for entry in tracks] == [
        (first["trackId"], "Aceptado"),
        (second["trackId"], "Rechazado"),
    ]


async def test_a_number_is_taken_from_the_moment_it_is_received(start: Start) -> None:
    simulator = await start(verdict_delay=timedelta(hours=1))
    await simulator.send(sign(ecf()), E31)
    await simulator.send(sign(ecf(name="Otro")), E31)

    documents = await simulator.manage("GET", f"/documents/testecf/{ISSUER}/{E31}")

    assert [entry["verdict"]["estado"] for entry in documents["documents"]] == ["Aceptado", "Rechazado"]
    assert documents["distinctBytes"] == 2


async def test_a_number_whose_rejection_left_it_free_can_be_used_again(simulator: Running) -> None:
    signed = sign(ecf())
    damaged = signed.replace(b"EMISOR DE PRUEBA", b"OTRO EMISOR")

    rejected, accepted = await simulator.verdict(damaged, E31), await simulator.verdict(signed, E31)

    assert (rejected["estado"], codes(rejected), rejected["secuenciaUtilizada"]) == ("Rechazado", [8], False)
    assert accepted["estado"] == "Aceptado"


async def test_environments_and_issuers_do_not_share_numbers(start: Start) -> None:
    simulator = await start()
    signed = sign(ecf())
    other = sign(ecf(issuer="101000001"))

    verdicts = [await simulator.verdict(signed, E31, environment) for environment in ("testecf", "certecf", "ecf")]
    reply = await simulator.post(RECEPTION, other, f"101000001{E31}.xml")
    track = (await simulator.get(RESULT, trackid=reply.json()["trackId"])).json()

    assert [verdict["estado"] for verdict in (*verdicts, track)] == ["Aceptado"] * 4


async def test_a_track_is_known_in_its_environment_only(simulator: Running) -> None:
    track = (await simulator.send(sign(ecf()), E31)).json()["trackId"]

    elsewhere = (await simulator.get(RESULT, "ecf", trackid=track)).json()

    assert elsewhere["estado"] == "No encontrado"


# --- Refused on the spot ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "code"),
    [
        (f"{ISSUER}{E31}.txt", "0"),
        (f"{ISSUER}{E31[:-1]}.xml", "3243"),
        ("factura.xml", "3243"),
        (f"101000001{E31}.xml", "0"),
        (f"{ISSUER}{number(31, 2)}.xml", "0"),
    ],
)
async def test_a_wrong_file_name_is_refused_on_the_spot(simulator: Running, name: str, code: str) -> None:
    reply = await simulator.post(RECEPTION, sign(ecf()), name)

    assert reply.status_code == 400
    assert reply.json()["trackId"] is None
    assert reply.json()["error"] == code


async def test_a_form_without_a_length_is_refused_as_empty(simulator: Running) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield b"--b\r\nContent-Disposition: form-data; name=xml; filename=a.xml\r\n\r\n"
        yield sign(ecf()) + b"\r\n--b--\r\n"

    reply = await simulator.http.post(
        f"{simulator.at.ecf}/testecf/{RECEPTION}",
        content=chunks(),
        headers={**await simulator.authorized("testecf"), "Content-Type": "multipart/form-data; boundary=b"},
    )

    assert reply.status_code == 400
    assert "Content-Length" in reply.json()["mensaje"]


async def test_bytes_that_are_not_xml_are_refused(simulator: Running) -> None:
    for content in (b"not xml", b"<ECF>", b'<!DOCTYPE ECF [<!ENTITY a "b">]><ECF>&a;</ECF>'):
        reply = await simulator.send(content, E31)
        assert (reply.status_code, reply.json()["trackId"]) == (400, None), content


async def test_the_token_is_asked_for_before_the_form(simulator: Running) -> None:
    reply = await simulator.http.post(f"{simulator.at.ecf}/testecf/{RECEPTION}", content=b"nothing")

    assert reply.status_code == 401


# --- Other people's clients ---------------------------------------------------------------------------------------


async def test_paths_and_parameters_may_be_written_in_any_way(simulator: Running) -> None:
    headers = await simulator.authorized("testecf")
    base = simulator.at.ecf
    reply = await simulator.http.post(
        f"{base}//TesteCF/Recepcion/api/FacturasElectronicas/",
        files={"xml": (f"{ISSUER}{E31}.xml", sign(ecf()), "text/xml")},
        headers=headers,
    )
    track = reply.json()["trackId"]

    for query in (f"trackId={track}", f"TRACKID={track}", f"trackid={track.upper()}"):
        verdict = await simulator.http.get(
            f"{base}/TESTECF/ConsultaResultado//api/Consultas/Estado?{query}", headers=headers
        )
        assert verdict.json()["estado"] == "Aceptado", query


@pytest.mark.parametrize(
    "headers",
    [
        "Content-Disposition: form-data; name=xml; filename={name}; filename*=utf-8''{name}",
        "Content-Disposition: form-data; name=xml; filename*=utf-8''{name}",
        'Content-Disposition: form-data; name="XML"; filename="{name}"\r\nContent-Type: multipart/form-data',
        'content-disposition:form-data;name="xml";filename="C:\\\\e-CF\\\\{name}"',
    ],
)
async def test_the_form_may_be_written_in_any_way(simulator: Running, headers: str) -> None:
    part = headers.format(name=f"{ISSUER}{E31}.xml").encode()

    reply = await simulator.http.post(
        f"{simulator.at.ecf}/testecf/{RECEPTION}",
        content=b"--=_b 1\r\n" + part + b"\r\n\r\n" + sign(ecf()) + b"\r\n--=_b 1--\r\n",
        headers={
            **await simulator.authorized("testecf"),
            "Content-Type": 'multipart/form-data; charset=utf-8; boundary="=_b 1"',
        },
    )

    assert reply.status_code == 200, reply.text


async def test_answers_are_xml_when_accepted(simulator: Running) -> None:
    as_xml = {"Accept": "application/xml"}
    reply = await simulator.post(RECEPTION, sign(ecf()), f"{ISSUER}{E31}.xml", headers=as_xml)
    receipt = etree.fromstring(reply.content)
    verdict = etree.fromstring(
        (
            await simulator.http.get(
                f"{simulator.at.ecf}/testecf/{RESULT}",
                params={"trackid": receipt.findtext("trackId") or ""},
                headers={**as_xml, **await simulator.authorized("testecf")},
            )
        ).content
    )

    assert receipt.tag == "RespuestaRecepcion"
    assert verdict.tag == "RespuestaConsultaTrackId"
    assert verdict.findtext("estado") == "Aceptado"
    assert verdict.findtext("secuenciaUtilizada") == "true"
    assert verdict.findtext("mensajes/codigo") == "0"


# --- The verdict --------------------------------------------------------------------------------------------------


async def test_an_unsigned_and_a_badly_signed_document_leave_the_number_free(simulator: Running) -> None:
    tampered = sign(ecf()).replace(b"1180.00", b"1180.01")
    for content in (ecf().encode(), tampered):
        verdict = await simulator.verdict(content, E31)
        assert (verdict["estado"], verdict["secuenciaUtilizada"]) == ("Rechazado", False)


async def test_an_expired_certificate_is_rejected(simulator: Running) -> None:
    verdict = await simulator.verdict(sign(ecf(), expired=True), E31)

    assert (verdict["estado"], codes(verdict), verdict["secuenciaUtilizada"]) == ("Rechazado", [8], False)


async def test_a_document_that_breaks_the_schema_leaves_the_number_free(simulator: Running) -> None:
    broken = ecf().replace("<TipoPago>1</TipoPago>", "<TipoPago>9</TipoPago>")

    verdict = await simulator.verdict(sign(broken), E31)

    assert (verdict["estado"], codes(verdict), verdict["secuenciaUtilizada"]) == ("Rechazado", [1], False)
    assert "TipoPago" in verdict["mensajes"][0]["valor"]


async def test_a_wrong_total_is_accepted_with_remarks(simulator: Running) -> None:
    verdict = await simulator.verdict(sign(ecf(total="1280.00")), E31)

    assert (verdict["codigo"], verdict["estado"]) == ("4", "Aceptado Condicional")
    assert codes(verdict) == [13]
    assert verdict["secuenciaUtilizada"] is True


async def test_a_small_consumer_invoice_does_not_belong_here_and_a_large_one_does(simulator: Running) -> None:
    small = await simulator.verdict(sign(ecf(1, kind=32)), number(32, 1))
    large = await simulator.verdict(
        sign(ecf(2, kind=32, price="250000.00", itbis="45000.00", total="295000.00")), number(32, 2)
    )

    assert (small["estado"], large["estado"]) == ("Rechazado", "Aceptado")


async def test_checks_stop_at_the_configured_level(start: Start) -> None:
    broken = ecf().replace("<TipoPago>1</TipoPago>", "<TipoPago>9</TipoPago>")
    lenient = await start(check=CheckLevel.SIGNATURE)
    blind = await start(check=CheckLevel.NONE)

    assert (await lenient.verdict(sign(broken), E31))["estado"] == "Aceptado"
    assert (await lenient.verdict(broken.encode(), E31))["estado"] == "Rechazado"
    assert (await blind.verdict(broken.encode(), E31))["estado"] == "Aceptado"


async def test_a_note_on_a_rejected_document_is_rejected_and_on_an_unknown_one_passes(start: Start) -> None:
    simulator = await start()
    strict = await start(require_references=True)
    await simulator.verdict(sign(ecf()).replace(b"EMISOR DE PRUEBA", b"OTRO EMISOR"), E31)

    on_rejected = await simulator.verdict(sign(ecf(1, kind=33, modified=E31)), number(33, 1))
    on_unknown = await simulator.verdict(sign(ecf(2, kind=33, modified=number(31, 9))), number(33, 2))
    strictly = await strict.verdict(sign(ecf(2, kind=33, modified=number(31, 9))), number(33, 2))

    assert (on_rejected["estado"], codes(on_rejected)) == ("Rechazado", [614])
    assert on_unknown["estado"] == "Aceptado"
    assert strictly["estado"] == "Rechazado"


async def test_a_note_on_an_accepted_document_is_accepted(start: Start) -> None:
    strict = await start(require_references=True)
    await strict.verdict(sign(ecf()), E31)

    verdict = await strict.verdict(sign(ecf(1, kind=33, modified=E31)), number(33, 1))

    assert verdict["estado"] == "Aceptado"


# --- What the register knows --------------------------------------------------------------------------------------


async def test_known_taxpayers_are_enforced_once_there_is_one(simulator: Running) -> None:
    for taxpayer, estado, code in (
        ({"rnc": "101000001", "name": "OTRO"}, "Rechazado", 2),
        ({"rnc": ISSUER, "name": "SUSPENDIDO", "active": False}, "Rechazado", 2),
        ({"rnc": ISSUER, "name": "DE PAPEL", "electronic": False}, "Rechazado", 2),
        ({"rnc": ISSUER, "name": "EMISOR DE PRUEBA"}, "Aceptado", 0),
    ):
        await simulator.manage("POST", "/taxpayers", taxpayer)
        verdict = await simulator.verdict(sign(ecf()), E31)
        assert (verdict["estado"], codes(verdict)) == (estado, [code]), taxpayer
        assert verdict["secuenciaUtilizada"] is (estado == "Aceptado")


async def test_ranges_are_enforced_for_an_issuer_that_has_one(simulator: Running) -> None:
    granted = {"issuer": ISSUER, "environment": "testecf", "type": "E31", "from": 1, "to": 2, "expires": "31-12-2028"}
    await simulator.manage("POST", "/ranges", granted)

    within = await simulator.verdict(sign(ecf(1)), number(31, 1))
    beyond = await simulator.verdict(sign(ecf(3)), number(31, 3))
    other_date = await simulator.verdict(sign(ecf(2, expires="31-12-2027")), number(31, 2))
    elsewhere = await simulator.verdict(sign(ecf(3)), number(31, 3), "ecf")

    assert within["estado"] == "Aceptado"
    assert (beyond["estado"], codes(beyond), beyond["secuenciaUtilizada"]) == ("Rechazado", [4], False)
    assert (other_date["estado"], codes(other_date), other_date["secuenciaUtilizada"]) == ("Rechazado", [7], True)
    assert elsewhere["estado"] == "Aceptado"


async def test_an_expired_range_rejects_and_leaves_the_number_free(simulator: Running) -> None:
    await simulator.manage("POST", "/ranges", {"issuer": ISSUER, "type": "31", "expires": "2020-12-31"})

    verdict = await simulator.verdict(sign(ecf(expires="31-12-2020")), E31)

    assert (verdict["estado"], codes(verdict), verdict["secuenciaUtilizada"]) == ("Rechazado", [7], False)


async def test_delegations_are_enforced_once_there_is_one(simulator: Running) -> None:
    await simulator.manage("POST", "/delegations", {"holder": "00112233445", "issuer": "101000001"})

    refused = await simulator.verdict(sign(ecf()), E31)
    await simulator.manage("POST", "/delegations", {"holder": "00112233445", "issuer": ISSUER})
    accepted = await simulator.verdict(sign(ecf()), E31)

    assert (refused["estado"], refused["secuenciaUtilizada"]) == ("Rechazado", False)
    assert accepted["estado"] == "Aceptado"


async def test_trust_roots_are_enforced_once_there_is_one(simulator: Running) -> None:
    await simulator.authorized("testecf")
    foreign = default_root().certificate.public_bytes(Encoding.PEM).decode()
    await simulator.manage("POST", "/roots", {"pem": foreign})
    refused = await simulator.verdict(sign(ecf()), E31)
    own = credential().certificate.public_bytes(Encoding.PEM).decode()
    await simulator.manage("POST", "/roots", {"pem": own})
    accepted = await simulator.verdict(sign(ecf()), E31)

    assert (refused["estado"], codes(refused)) == ("Rechazado", [8])
    assert accepted["estado"] == "Aceptado"


async def test_live_codes_can_be_asked_for(start: Start) -> None:
    simulator = await start(catalogue=Catalogue.LIVE)
    await simulator.verdict(sign(ecf()), E31)

    duplicate = await simulator.verdict(sign(ecf()), E31)
    total = await simulator.verdict(sign(ecf(2, total="1280.00")), number(31, 2))

    assert (codes(duplicate), codes(total)) == ([1209], [3205])


async def test_documents_sent_at_the_same_moment_are_judged_one_by_one(simulator: Running) -> None:
    signed = sign(ecf())
    await simulator.authorized("testecf")

    async with trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(simulator.send, signed, E31)

    found = await simulator.manage("GET", f"/documents/testecf/{ISSUER}/{E31}")
    estados = sorted(entry["verdict"]["estado"] for entry in found["documents"])
    assert estados == ["Aceptado"] + ["Rechazado"] * 9


@pytest.mark.parametrize(
    "twist",
    [
        pytest.param(lambda xml: xml.replace(b"<ECF>", b'<ECF Id="x">', 1), id="an attribute on the root"),
        pytest.param(lambda xml: xml.replace(b'URI=""', b'URI="#x"', 1), id="a reference elsewhere"),
        pytest.param(
            lambda xml: xml.replace(profile.RSA_SHA256.encode(), b"http://www.w3.org/2000/09/xmldsig#rsa-sha1"),
            id="an older algorithm",
        ),
    ],
)
async def test_signatures_beside_the_profile_are_rejected(simulator: Running, twist: Callable[[bytes], bytes]) -> None:
    verdict = await simulator.verdict(twist(sign(ecf())), E31)

    assert verdict["estado"] == "Rechazado"
