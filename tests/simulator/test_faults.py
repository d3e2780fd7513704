"""Each kind of fault, as a client sees it over a real socket, and what it leaves behind."""

import json
from datetime import UTC, datetime, timedelta

import httpx
import pytest
import trio

from fe.simulator import FaultKind
from tests.simulator.support import (
    ISSUER,
    RECEPTION,
    RESULT,
    STATE,
    TRACK_IDS,
    Json,
    Running,
    Start,
    ecf,
    number,
    rfce,
    sign,
)
from tests.waiting import PATIENCE

E31 = number(31, 1)
ANY_TRACK = "d2b6e27c-3908-46f3-afaa-2207b9501b4b"


async def known(simulator: Running, encf: str = E31) -> list[str]:
    """The states of what the authority holds under a number."""
    documents = await simulator.manage("GET", f"/documents/testecf/{ISSUER}/{encf}")
    return [entry["verdict"]["estado"] for entry in documents["documents"]]


async def last_record(simulator: Running) -> Json:
    return (await simulator.manage("GET", "/journal?kind=document"))["records"][-1]


# --- Without effect -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "how", "status", "content_type"),
    [
        ("unavailable", {}, 503, "text/plain"),
        ("unavailable", {"status": 500}, 500, "text/plain"),
        ("html", {}, 500, "text/html"),
        ("html", {"status": 400}, 400, "text/html"),
        ("bare-string", {}, 400, "application/json"),
        ("redirect", {}, 302, "text/plain"),
        ("unauthorized", {}, 401, "text/plain"),
    ],
)
async def test_a_refused_request_has_no_effect_and_is_in_the_journal(
    simulator: Running, kind: str, how: dict[str, int], status: int, content_type: str
) -> None:
    await simulator.authorized("testecf")
    await simulator.order(kind, operation="reception", **how)

    reply = await simulator.send(sign(ecf()), E31)

    assert (reply.status_code, reply.headers["content-type"].split(";")[0]) == (status, content_type)
    assert await known(simulator) == []
    record = await last_record(simulator)
    assert (record["eNCF"], record["effect"], record["fault"]) == (E31, False, {"kind": kind, "source": "script"})
    assert len(record["sha256"]) == 64


async def test_a_bare_string_is_one_json_string(simulator: Running) -> None:
    await simulator.order("bare-string", operation="reception")

    reply = await simulator.send(sign(ecf()), E31)

    assert isinstance(reply.json(), str)


async def test_a_redirect_leads_nowhere_else(simulator: Running) -> None:
    await simulator.order("redirect", operation="reception")

    reply = await simulator.send(sign(ecf()), E31)

    assert reply.headers["location"].startswith("/moved/")


async def test_a_reset_before_the_effect_is_a_tcp_reset_and_leaves_nothing(simulator: Running) -> None:
    await simulator.authorized("testecf")
    await simulator.order("reset-before", operation="reception")

    with pytest.raises(httpx.ReadError) as seen:
        await simulator.send(sign(ecf()), E31)

    assert is_reset(seen.value)
    assert await known(simulator) == []
    assert (await simulator.verdict(sign(ecf()), E31))["estado"] == "Aceptado"


def is_reset(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ConnectionResetError):
            return True
        error = error.__cause__ or error.__context__
    return False


async def test_after_a_401_in_mid_session_the_token_stays_bad(simulator: Running) -> None:
    await simulator.authorized("testecf")
    await simulator.order("unauthorized", operation="result")

    replies = [(await simulator.get(RESULT, trackid=ANY_TRACK)).status_code for _ in range(2)]
    await simulator.log_in()
    replies.append((await simulator.get(RESULT, trackid=ANY_TRACK)).status_code)

    assert replies == [401, 401, 200]


# --- The effect happens, the answer is lost or unreadable ---------------------------------------------------------


async def test_a_reset_after_the_effect_loses_the_answer_only(simulator: Running) -> None:
    await simulator.authorized("testecf")
    await simulator.order("reset-after", operation="reception")

    with pytest.raises(httpx.ReadError) as seen:
        await simulator.send(sign(ecf()), E31)

    assert is_reset(seen.value)
    assert await known(simulator) == ["Aceptado"]
    tracks = (await simulator.get(TRACK_IDS, rncemisor=ISSUER, encf=E31)).json()
    record = await last_record(simulator)
    assert [entry["trackId"] for entry in tracks] == [record["trackId"]]
    assert (record["effect"], record["fault"]["kind"]) == (True, "reset-after")


async def test_the_lost_answer_of_a_summary_can_be_asked_for(simulator: Running) -> None:
    await simulator.authorized("testecf")
    await simulator.order("reset-after", operation="summary_reception")

    with pytest.raises(httpx.ReadError):
        await simulator.summary(sign(rfce()), number(32, 1))

    state = await simulator.get(STATE, rncemisor=ISSUER, ncfelectronico=number(32, 1))
    assert state.json()["estado"] == "Aceptado"


async def test_half_a_reply_ends_in_the_middle_of_the_body(simulator: Running) -> None:
    await simulator.authorized("testecf")
    await simulator.order("half-reply", operation="reception")

    with pytest.raises(httpx.RemoteProtocolError, match="without sending complete message body"):
        await simulator.send(sign(ecf()), E31)

    assert await known(simulator) == ["Aceptado"]


async def test_unreadable_answer_follows_the_effect(simulator: Running) -> None:
    await simulator.authorized("testecf")
    seen: dict[str, httpx.Response] = {}
    for sequence, kind in enumerate(("empty", "garbage", "wrong-type", "unavailable-after"), 1):
        await simulator.order(kind, operation="reception")
        seen[kind] = await simulator.send(sign(ecf(sequence)), number(31, sequence))
        assert await known(simulator, number(31, sequence)) == ["Aceptado"], kind

    assert (seen["empty"].status_code, seen["empty"].content) == (200, b"")
    assert seen["garbage"].status_code == 200
    with pytest.raises(ValueError, match="decode"):
        json.loads(seen["garbage"].content)
    assert seen["wrong-type"].headers["content-type"].startswith("text/html")
    assert json.loads(seen["wrong-type"].content)["trackId"]
    assert (seen["unavailable-after"].status_code, "Gateway" in seen["unavailable-after"].text) == (502, True)


# --- The effect happens, the answer misleads ----------------------------------------------------------------------


async def test_a_slow_answer_is_late_and_right(simulator: Running) -> None:
    await simulator.authorized("testecf")
    await simulator.order("slow", operation="reception", seconds=0.3)
    before = datetime.now(UTC)

    reply = await simulator.send(sign(ecf()), E31)

    assert datetime.now(UTC) - before >= timedelta(seconds=0.3)
    assert reply.json()["trackId"]


async def test_a_client_that_gives_up_on_a_slow_answer_has_sent_the_document(simulator: Running) -> None:
    await simulator.authorized("testecf")
    await simulator.order("slow", operation="reception", seconds=60)
    simulator.http.timeout = httpx.Timeout(PATIENCE, read=1)

    with pytest.raises(httpx.ReadTimeout):
        await simulator.send(sign(ecf()), E31)

    simulator.http.timeout = httpx.Timeout(PATIENCE)
    assert await known(simulator) == ["Aceptado"]


async def test_a_duplicate_reply_is_twice_on_the_connection(simulator: Running) -> None:
    """Over a bare socket: a client with a pool may take the second copy for the answer to its next request."""
    headers = await simulator.authorized("testecf")
    await simulator.order("duplicate-reply", operation="result")
    host, _, port = simulator.at.ecf.removeprefix("http://").partition(":")
    stream = await trio.open_tcp_stream(host, int(port))
    async with stream:
        await stream.send_all(
            f"GET /testecf/{RESULT}?trackid={ANY_TRACK} HTTP/1.1\r\nHost: {host}\r\n"
            f"Authorization: {headers['Authorization']}\r\n\r\n".encode()
        )
        seen = b""
        with trio.fail_after(60):
            while seen.count(b"No encontrado") < 2:
                seen += await stream.receive_some()

    assert seen[: len(seen) // 2] == seen[len(seen) // 2 :]
    assert seen.count(b"HTTP/1.1 200") == 2


async def test_a_duplicate_delivery_answers_for_the_second_time(simulator: Running) -> None:
    await simulator.order("duplicate-delivery", operation="reception")

    verdict = await simulator.verdict(sign(ecf()), E31)

    assert verdict["estado"] == "Rechazado"
    assert await known(simulator) == ["Aceptado", "Rechazado"]


async def test_a_reply_for_another_track_names_another_document(simulator: Running) -> None:
    first = (await simulator.send(sign(ecf(1)), number(31, 1))).json()["trackId"]
    await simulator.order("other-track", operation="reception")

    second = (await simulator.send(sign(ecf(2)), number(31, 2))).json()["trackId"]
    await simulator.order("other-track", operation="result")
    verdict = (await simulator.get(RESULT, trackid=first)).json()

    assert second == first
    assert verdict["encf"] == number(31, 2)
    assert await known(simulator, number(31, 2)) == ["Aceptado"]


async def test_the_other_shape_swaps_arrays_and_objects(simulator: Running) -> None:
    await simulator.send(sign(ecf()), E31)
    await simulator.order("other-shape", times=3)

    tracks = (await simulator.get(TRACK_IDS, rncemisor=ISSUER, encf=E31)).json()
    entry = (await simulator.get("consultadirectorio/api/consultas/obtenerdirectorioporrnc", rnc="1")).json()
    verdict = (await simulator.get(RESULT, trackid=ANY_TRACK)).json()

    assert tracks["estado"] == "Aceptado"
    assert entry["rnc"] == "131880681"
    assert [shape["estado"] for shape in verdict] == ["No encontrado"]


async def test_a_stuck_document_is_in_process_for_ever_and_holds_its_number(start: Start) -> None:
    now = [datetime.now(UTC) + timedelta(minutes=1)]
    simulator = await start(now=lambda: now[0])
    await simulator.order("stuck", operation="reception")
    verdict = await simulator.verdict(sign(ecf()), E31)
    await simulator.order("stuck", operation="reception", seconds=30)
    for_a_while = await simulator.verdict(sign(ecf(2)), number(31, 2))

    now[0] += timedelta(minutes=50)
    later = [(await simulator.get(RESULT, trackid=v["trackId"])).json()["estado"] for v in (verdict, for_a_while)]

    assert (verdict["estado"], for_a_while["estado"]) == ("En Proceso", "En Proceso")
    assert later == ["En Proceso", "Aceptado"]
    assert (await simulator.verdict(sign(ecf()), E31))["estado"] == "Rechazado"


async def test_a_document_is_not_found_and_then_found(start: Start) -> None:
    now = [datetime.now(UTC) + timedelta(minutes=1)]
    simulator = await start(now=lambda: now[0])
    await simulator.order("not-found", operation="reception", seconds=5)
    track = (await simulator.send(sign(ecf()), E31)).json()["trackId"]

    async def states() -> list[str]:
        return [
            (await simulator.get(RESULT, trackid=track)).json()["estado"],
            (await simulator.get(STATE, rncemisor=ISSUER, ncfelectronico=E31)).json()["estado"],
            str((await simulator.get(TRACK_IDS, rncemisor=ISSUER, encf=E31)).status_code),
        ]

    during = await states()
    now[0] += timedelta(seconds=5)
    after = await states()

    assert during == ["No encontrado", "No encontrado", "404"]
    assert after == ["Aceptado", "Aceptado", "200"]


async def test_query_can_be_answered_with_nothing(simulator: Running) -> None:
    track = (await simulator.send(sign(ecf()), E31)).json()["trackId"]
    await simulator.order("not-found", operation="result", times=2)

    estados = [(await simulator.get(RESULT, trackid=track)).json()["estado"] for _ in range(3)]

    assert estados == ["No encontrado", "No encontrado", "Aceptado"]


async def test_a_breakdown_of_the_validation_leaves_the_number_free(simulator: Running) -> None:
    await simulator.order("try-again", operation="reception")
    await simulator.order("try-again", operation="summary_reception")

    broken = await simulator.verdict(sign(ecf()), E31)
    summary = await simulator.summary(sign(rfce()), number(32, 1))

    assert (broken["estado"], broken["secuenciaUtilizada"]) == ("Rechazado", False)
    assert broken["mensajes"][0]["valor"].endswith("favor intentar nueva vez.")
    assert (summary.status_code, summary.json()["encf"]) == (400, None)
    assert (await simulator.verdict(sign(ecf()), E31))["estado"] == "Aceptado"
    assert (await simulator.summary(sign(rfce()), number(32, 1))).status_code == 200


# --- Ordering them ------------------------------------------------------------------------------------------------


async def test_a_script_chooses_by_operation_and_number_and_counts_down(simulator: Running) -> None:
    await simulator.order("unavailable", operation="reception", eNCF=number(31, 2), times=2, skip=1)

    statuses = [(await simulator.send(sign(ecf(n)), number(31, n))).status_code for n in (1, 2, 2, 2, 2, 3)]

    assert statuses == [200, 200, 503, 503, 200, 200]


async def test_a_poll_is_chosen_by_the_number_behind_its_track(simulator: Running) -> None:
    tracks = [(await simulator.send(sign(ecf(n)), number(31, n))).json()["trackId"] for n in (1, 2)]
    await simulator.order("unavailable", operation="result", eNCF=number(31, 2), environment="testecf", issuer=ISSUER)

    statuses = [(await simulator.get(RESULT, trackid=track)).status_code for track in tracks]

    assert statuses == [200, 503]


async def test_a_script_without_end_lasts_until_it_is_deleted(simulator: Running) -> None:
    await simulator.authorized("testecf")
    await simulator.order("unavailable", times=0)

    statuses = [(await simulator.get(RESULT, trackid=ANY_TRACK)).status_code for _ in range(3)]
    cleared = await simulator.manage("DELETE", "/faults")
    after = (await simulator.get(RESULT, trackid=ANY_TRACK)).status_code

    assert (statuses, after) == ([503] * 3, 200)
    assert cleared == {"plan": None, "scripts": [], "windows": []}
    assert (await simulator.manage("GET", "/stats"))["faults"] == {"unavailable": 3}


async def test_a_plan_can_be_set_for_some_operations_and_taken_away(simulator: Running) -> None:
    await simulator.authorized("testecf")
    shown = await simulator.manage(
        "POST", "/faults", {"plan": {"unavailable": 1.0}, "seed": 3, "operations": ["result"]}
    )

    queried = (await simulator.get(RESULT, trackid=ANY_TRACK)).status_code
    sent = (await simulator.send(sign(ecf()), E31)).status_code
    await simulator.manage("POST", "/faults", {"plan": None})

    assert shown["plan"] == {"plan": {"unavailable": 1.0}, "seed": 3, "operations": ["result"]}
    assert (queried, sent) == (503, 200)
    assert (await simulator.get(RESULT, trackid=ANY_TRACK)).status_code == 200


@pytest.mark.parametrize(
    ("order", "says"),
    [
        ({}, "kind"),
        ({"kind": "unavaliable"}, "kind"),
        ({"kind": "slow", "operation": "recepcion"}, "operation"),
        ({"kind": "slow", "encf": E31}, "encf"),
        ({"kind": "slow", "seconds": -1}, "seconds"),
        ({"kind": "html", "status": 200}, "status"),
        ({"kind": "slow", "times": True}, "times"),
        ({"plan": "wicked"}, "wicked"),
        ({"plan": {"garbage": 1.5}}, "probability"),
        ({"plan": {"garbage": 0.7, "empty": 0.7}}, "exceed"),
        ({"plan": {"maintenance": 0.5}}, "maintenance"),
    ],
)
async def test_invalid_fault_is_reported(simulator: Running, order: Json, says: str) -> None:
    answer = await simulator.manage("POST", "/faults", order, status=400)

    assert says in answer["message"]
    assert answer["statusCode"] == 400


async def test_every_kind_can_be_ordered(simulator: Running) -> None:
    for kind in FaultKind:
        await simulator.order(kind)

    shown = await simulator.manage("GET", "/faults")
    assert len(shown["scripts"]) == len(FaultKind) - 1
    assert len(shown["windows"]) == 1


async def test_journal_keeps_calls_during_maintenance(simulator: Running) -> None:
    await simulator.authorized("testecf")
    await simulator.order("maintenance", environment="testecf")

    reply = await simulator.post(RECEPTION, sign(ecf()), f"{ISSUER}{E31}.xml")

    assert reply.status_code == 503
    record = await last_record(simulator)
    assert (record["effect"], record["fault"]["kind"]) == (False, "maintenance")
