"""The journal, the register, and what outlives a restart or a kill."""

import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
import trio

from fe.ecf.parse import MalformedJson
from fe.simulator import (
    Addresses,
    BadRecord,
    JournalDamaged,
    JournalInUse,
    PublicBindRefused,
    SimulatorSettings,
)
from fe.simulator.journal import FileJournal
from fe.simulator.registry import Registry, load_world
from fe.simulator.settings import is_loopback
from tests.simulator.support import (
    APPROVAL,
    BUYER,
    ISSUER,
    RESULT,
    TRACK_IDS,
    VOIDING,
    Running,
    Start,
    acecf,
    anecf,
    ecf,
    number,
    rfce,
    sign,
    start_in,
)

E31 = number(31, 1)


async def test_journal_has_every_sending_of_a_document(simulator: Running) -> None:
    signed = sign(ecf())
    receipt = (await simulator.send(signed, E31)).json()
    await simulator.send(b"<nothing", E31)
    await simulator.summary(sign(rfce()), number(32, 1))
    await simulator.post(APPROVAL, sign(acecf(E31)), f"{BUYER}{E31}.xml")
    await simulator.post(VOIDING, sign(anecf(5, 7)), "anulacion.xml")
    await simulator.http.post(f"{simulator.at.ecf}/testecf/recepcion/api/facturaselectronicas")

    records = (await simulator.manage("GET", "/journal"))["records"]

    assert [(r["operation"], r["status"], r["effect"]) for r in records] == [
        ("reception", 200, True),
        ("reception", 400, True),
        ("summary_reception", 200, True),
        ("commercial_approval", 200, True),
        ("range_voiding", 200, True),
        ("reception", 401, False),
    ]
    first = records[0]
    assert (first["environment"], first["issuer"], first["eNCF"]) == ("testecf", ISSUER, E31)
    assert (first["trackId"], first["verdict"]["estado"], first["fault"]) == (receipt["trackId"], "Aceptado", None)
    assert first["bytes"] == len(signed)
    assert records[1]["refused"].startswith("El archivo no es un XML válido")
    assert [record["seq"] for record in records] == list(range(2, 8))


async def test_journal_notes_when_a_question_was_answered_not_known(simulator: Running) -> None:
    """A verdict that was asked for in between does not count: only "not known" allows another sending."""
    signed = sign(ecf())
    await simulator.get(TRACK_IDS, RncEmisor=ISSUER, Encf=E31)
    track = (await simulator.send(signed, E31)).json()["trackId"]
    await simulator.get(RESULT, TrackId=track)
    await simulator.send(signed, E31)
    await simulator.order("not-found", operation="result")
    await simulator.get(RESULT, TrackId=track)
    await simulator.send(signed, E31)

    first, second, third = (await simulator.manage("GET", "/journal?kind=document"))["records"]

    assert first["notKnownAt"] == second["notKnownAt"] == first["askedAt"]
    assert second["askedAt"] > first["at"] > second["notKnownAt"]
    assert third["notKnownAt"] == third["askedAt"] > second["at"]


async def test_journal_notes_try_again_as_not_known(simulator: Running) -> None:
    await simulator.order("try-again", operation="reception")
    track = (await simulator.send(sign(ecf()), E31)).json()["trackId"]
    await simulator.get(RESULT, TrackId=track)
    await simulator.send(sign(ecf()), E31)

    first, second = (await simulator.manage("GET", "/journal?kind=document"))["records"]

    assert first["notKnownAt"] is None
    assert second["notKnownAt"] == second["askedAt"] is not None


async def test_the_journal_can_be_filtered_and_read_on(simulator: Running) -> None:
    for sequence in (1, 2, 3):
        await simulator.send(sign(ecf(sequence)), number(31, sequence))

    only = await simulator.manage("GET", f"/journal?eNCF={number(31, 2)}&operation=reception")
    start = await simulator.manage("GET", "/journal?limit=2")
    rest = await simulator.manage("GET", f"/journal?since={start['next']}")

    assert [record["eNCF"] for record in only["records"]] == [number(31, 2)]
    assert [record["eNCF"] for record in start["records"] + rest["records"]] == [number(31, n) for n in (1, 2, 3)]


async def test_state_in_a_file_outlives_the_simulator(start: Start, tmp_path: Path) -> None:
    settings = {"journal": tmp_path / "authority.jsonl", "fsync": True}
    first = await start(**settings)
    await first.manage("POST", "/ranges", {"issuer": ISSUER, "type": "E31", "from": 1, "to": 9})
    track = (await first.verdict(sign(ecf()), E31))["trackId"]
    await first.summary(sign(rfce()), number(32, 1))
    await first.post(VOIDING, sign(anecf(5, 7)), "anulacion.xml")
    before = await first.manage("GET", f"/documents/testecf/{ISSUER}/{E31}")
    token = first.tokens
    await first.stop()

    second = await start(**settings)
    second.tokens.update(token)

    assert (await second.get(RESULT, trackid=track)).json()["estado"] == "Aceptado"
    assert await second.manage("GET", f"/documents/testecf/{ISSUER}/{E31}") == before
    assert (await second.verdict(sign(ecf()), E31))["mensajes"][0]["codigo"] == 3
    assert (await second.summary(sign(rfce()), number(32, 1))).status_code == 400
    assert (await second.verdict(sign(ecf(5)), number(31, 5)))["estado"] == "Rechazado"
    assert (await second.verdict(sign(ecf(10)), number(31, 10)))["mensajes"][0]["codigo"] == 4


async def test_state_in_memory_does_not(start: Start) -> None:
    first = await start()
    await first.send(sign(ecf()), E31)
    await first.stop()

    assert (await (await start()).verdict(sign(ecf()), E31))["estado"] == "Aceptado"


_SERVER = """
import sys, trio
from datetime import timedelta
from pathlib import Path
from fe.simulator import SimulatorSettings, simulate
async def main():
    async with trio.open_nursery() as nursery:
        at = await nursery.start(simulate, SimulatorSettings(journal=Path(sys.argv[1]), verdict_delay=timedelta(0)))
        print(at.ecf, at.management, flush=True)
trio.run(main)
"""


async def test_answered_document_survives_kill_9(start: Start, http: httpx.AsyncClient, tmp_path: Path) -> None:
    journal = tmp_path / "authority.jsonl"
    process = await trio.lowlevel.open_process([sys.executable, "-c", _SERVER, str(journal)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    answered = []
    try:
        said = b""
        while not said.endswith(b"\n"):
            said += await process.stdout.receive_some()
        ecf_url, management = said.decode().split()
        at = Addresses(ecf_url, ecf_url, ecf_url, management)
        victim = Running(at, http, trio.CancelScope(), trio.Event())
        for sequence in range(1, 21):
            reply = await victim.send(sign(ecf(sequence)), number(31, sequence))
            answered.append(reply.json()["trackId"])
    finally:
        process.kill()
        await process.wait()

    survivor = await start(journal=journal)

    assert len(answered) == 20
    for track in answered:
        assert (await survivor.get(RESULT, trackid=track)).json()["estado"] == "Aceptado"


async def test_a_torn_last_line_is_cut_off_and_the_rest_read(start: Start, tmp_path: Path) -> None:
    journal = tmp_path / "authority.jsonl"
    first = await start(journal=journal)
    await first.send(sign(ecf()), E31)
    await first.stop()
    whole = journal.read_bytes()
    journal.write_bytes(whole + b'{"seq":3,"kind":"docum')

    second = await start(journal=journal)

    assert journal.read_bytes().startswith(whole)
    (added,) = journal.read_bytes()[len(whole) :].splitlines()
    assert json.loads(added)["kind"] == "opened"
    assert (await second.verdict(sign(ecf()), E31))["estado"] == "Rechazado"


def test_a_journal_has_one_owner(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path / "j")
    with pytest.raises(JournalInUse):
        FileJournal(tmp_path / "j")
    journal.close()

    FileJournal(tmp_path / "j").close()


def test_damaged_journal_is_reported_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "j"
    path.write_bytes(b'{"seq":1,"kind":"x"}\nnot a record\n')
    journal = FileJournal(path)

    with pytest.raises(JournalDamaged, match="line 2"):
        list(journal.records())
    journal.close()


async def test_reset_forgets_everything_but_the_world_and_the_tokens(start: Start, tmp_path: Path) -> None:
    world = tmp_path / "world.json"
    world.write_text(json.dumps({"taxpayers": [{"rnc": ISSUER, "name": "EMISOR"}]}))
    simulator = await start(journal=tmp_path / "j", world=world)
    await simulator.send(sign(ecf()), E31)
    await simulator.manage("POST", "/delegations", {"holder": "1", "issuer": ISSUER})
    await simulator.order("unavailable", operation="reception")

    await simulator.manage("POST", "/reset")

    assert (await simulator.verdict(sign(ecf()), E31))["estado"] == "Aceptado"
    assert len((await simulator.manage("GET", "/journal"))["records"]) == 1
    await simulator.stop()
    again = await start(journal=tmp_path / "j", world=world)
    again.tokens.update(simulator.tokens)
    assert (await again.verdict(sign(ecf()), E31))["estado"] == "Rechazado"


async def test_a_world_file_is_enforced_from_the_start(start: Start, tmp_path: Path) -> None:
    world = tmp_path / "world.json"
    world.write_text(
        json.dumps(
            {
                "taxpayers": [{"rnc": ISSUER, "name": "EMISOR"}],
                "ranges": [{"issuer": ISSUER, "type": "31", "to": 1, "expires": "2028-12-31"}],
                "delegations": [{"holder": "00112233445", "issuer": ISSUER}],
            }
        )
    )
    simulator = await start(world=world)

    assert (await simulator.verdict(sign(ecf()), E31))["estado"] == "Aceptado"
    assert (await simulator.verdict(sign(ecf(2)), number(31, 2)))["estado"] == "Rechazado"


@pytest.mark.parametrize(
    ("world", "error"),
    [
        ("{", MalformedJson),
        ("[]", BadRecord),
        ('{"taxpayer": []}', BadRecord),
        ('{"taxpayers": ["131880738"]}', BadRecord),
        ('{"taxpayers": [{"rnc": "1", "name": "X"}]}', BadRecord),
        ('{"ranges": [{"issuer": "131880738", "type": "99"}]}', BadRecord),
        ('{"ranges": [{"issuer": "131880738", "type": "31", "from": 2, "to": 1}]}', BadRecord),
        ('{"ranges": [{"issuer": "131880738", "type": "31", "expires": "soon"}]}', BadRecord),
        ('{"ranges": [{"issuer": "131880738", "type": "31", "environment": "prod"}]}', BadRecord),
        ('{"roots": [{"pem": "nothing"}]}', BadRecord),
        ('{"delegations": [{"holder": "1", "issuer": "131880738", "more": 1}]}', BadRecord),
    ],
)
def test_invalid_world_file_is_reported(tmp_path: Path, world: str, error: type[Exception]) -> None:
    path = tmp_path / "world.json"
    path.write_text(world)

    with pytest.raises(error):
        load_world(path, Registry())


# --- Management ---------------------------------------------------------------------------------------------------


async def test_management_port_lists_its_state(simulator: Running) -> None:
    index = await simulator.manage("GET", "/")

    assert "POST /faults" in index["routes"]
    assert (await simulator.manage("GET", "/healthz")) == {"status": "ok"}
    assert "statusCode" in await simulator.manage("GET", "/nowhere", status=404)
    assert "statusCode" in await simulator.manage("DELETE", "/stats", status=405)
    assert "statusCode" in await simulator.manage("POST", "/taxpayers", [1], status=400)
    assert "statusCode" in await simulator.manage("GET", "/documents/testecf/1", status=404)


async def test_stats_count_requests_and_verdicts(simulator: Running) -> None:
    await simulator.verdict(sign(ecf()), E31)
    await simulator.verdict(sign(ecf()), E31)

    stats = await simulator.manage("GET", "/stats")

    assert stats["requests"]["reception"] == {"200": 2}
    assert stats["requests"]["seed"] == {"200": 1}
    assert stats["verdicts"] == {"testecf": {"Aceptado": 1, "Rechazado": 1}}


async def test_the_secret_behind_the_tokens_is_not_shown(start: Start, tmp_path: Path) -> None:
    simulator = await start(journal=tmp_path / "j")

    shown = json.dumps(await simulator.manage("GET", "/journal"))

    assert json.loads((tmp_path / "j").read_text())["secret"] not in shown
    assert (tmp_path / "j").stat().st_mode & 0o077 == 0


# --- Where it listens ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.com", ""])
def test_simulator_refuses_a_public_address(host: str) -> None:
    with pytest.raises(PublicBindRefused, match="public-bind"):
        SimulatorSettings(host=host)
    assert not is_loopback(host)
    assert SimulatorSettings(host=host, public_bind=True).host == host


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_loopback_is_fine(host: str) -> None:
    assert SimulatorSettings(host=host).host == host


async def test_the_management_port_stays_on_loopback_when_the_public_one_does_not(
    nursery: trio.Nursery, simulator: Running
) -> None:
    settings = SimulatorSettings(host="0.0.0.0", public_bind=True, verdict_delay=timedelta(0))
    public = await start_in(nursery, simulator.http, settings)

    assert public.at.ecf.startswith("http://0.0.0.0:")
    assert public.at.management.startswith("http://127.0.0.1:")
