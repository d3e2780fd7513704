"""`fe run` as a process of its own: when it starts, when it does not, and how it ends."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from cryptography.hazmat.primitives.serialization import Encoding
from psycopg.conninfo import make_conninfo

from fe.ecf.schema.kinds import kinds
from fe.http.app import PREFIX
from tests.cli.running import SECRETS, Fe, environment
from tests.cli.warm import warm_fe
from tests.factories.certificates import default_root
from tests.factories.logins import login
from tests.ports import free_port
from tests.waiting import PATIENCE

#: `fe`, telling of each schema that is compiled: in which thread, beside how many others, and whether on import.
_TELLING = """
import sys, threading
from lxml import etree

class Telling(etree.XMLSchema):
    def __init__(self, schema):
        place = "on import" if not len(schema) else "in use"
        print("compiled", place, threading.current_thread().name, threading.active_count(), file=sys.stderr)
        super().__init__(schema)

etree.XMLSchema = Telling
from fe.cli import main
main()
"""


@contextmanager
def running(fe: Fe, *args: str, cold: bool = False, **settings: str) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """A service that is ready, or without HTTP: a process that has said that it serves; and its URL.

    Who looks into the process wants it `cold`: warm, it is another one than that which was started.
    """
    url = f"127.0.0.1:{free_port()}"
    told = {"database_url": fe.dsn, "http_bind": url, "metrics_bind": "127.0.0.1:0"} | settings
    command = [sys.executable, "-m", "fe"] if cold else [str(warm_fe())]
    process = subprocess.Popen([*command, "run", *args], stderr=subprocess.PIPE, text=True, env=environment(**told))
    try:
        assert process.stderr is not None
        said = ""
        while '"serving"' not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
        yield process, f"http://{url}"
    finally:
        process.kill()
        process.communicate(timeout=120)


@pytest.mark.parametrize("role", ["http", "actors"])
def test_all_schemas_are_compiled_before_there_is_a_second_thread(fe: Fe, role: str) -> None:
    said = list[str]()
    told = {"database_url": fe.dsn, "http_bind": "127.0.0.1:0", "metrics_bind": "127.0.0.1:0"}
    process = subprocess.Popen(
        [sys.executable, "-c", _TELLING, "run", "--role", role],
        stderr=subprocess.PIPE,
        text=True,
        env=environment(**told),
    )
    try:
        assert process.stderr is not None
        while not said or '"serving"' not in said[-1]:
            said.append(process.stderr.readline())
            assert said[-1], said
    finally:
        process.kill()
        process.communicate(timeout=120)

    compiled = [line.split(maxsplit=1)[1].strip() for line in said if line.startswith("compiled")]
    assert compiled == ["on import MainThread 1"] + ["in use MainThread 1"] * (len(list(kinds())) + 1)


@pytest.mark.parametrize("role", ["all", "http", "actors"])
def test_every_role_ends_well_at_sigterm(fe: Fe, role: str) -> None:
    with running(fe, "--role", role) as (process, url):
        if role != "actors":
            assert httpx.get(f"{url}/healthz", timeout=PATIENCE).json() == {"status": "ok"}
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=120)

    assert process.returncode == 0


def metrics_of(at: str) -> dict[str, float]:
    """Return a process's metrics without labels."""
    text = httpx.get(f"http://{at}/metrics", timeout=PATIENCE, trust_env=False).text
    told = (line.split(" ") for line in text.splitlines() if re.match(r"fe_\w+ ", line))
    return {name: float(value) for name, value in told}


@pytest.mark.parametrize("role", ["http", "actors", "receive", "portal"])
def test_every_role_tells_whether_it_reaches_the_database_and_how_wrong_its_clock_is(
    fe: Fe, tmp_path: Path, role: str
) -> None:
    """A gauge that is never set is 0: to an alert, a database that is away and a clock that is right."""
    roots, at = tmp_path / "roots.pem", f"127.0.0.1:{free_port()}"
    roots.write_bytes(default_root().certificate.public_bytes(Encoding.PEM))
    places = {
        "receive": {"reception_bind": f"127.0.0.1:{free_port()}", "reception_roots": str(roots)},
        "portal": {"portal_bind": f"127.0.0.1:{free_port()}"},
    }
    told = DEVELOPMENT | {"clock_offset": "1.5", "metrics_bind": at} | places.get(role, {})
    with running(fe, "--role", role, **told):
        deadline = time.monotonic() + PATIENCE
        while (found := metrics_of(at))["fe_database_reachable"] != 1:
            assert time.monotonic() < deadline, found
            time.sleep(0.1)  # of another process: it is asked until it answers so

    assert found["fe_clock_ahead_seconds"] == pytest.approx(1.5, abs=0.4)


@pytest.mark.parametrize("role", ["http", "actors"])
def test_run_with_a_wrong_clock_refuses_to_start(fe: Fe, role: str) -> None:
    told = DEVELOPMENT | {"clock_offset": "30"}

    refused = fe("run", "--role", role, **told)
    doctor = fe("doctor", "--json", "--role", role, **told)

    assert refused.code == 1
    assert "the clock of this process is 30.0 s ahead of the database's: set the clock" in refused.err
    (clock,) = (one for one in json.loads(doctor.out) if one["check"] == "clock (database)")
    assert clock["state"] == "failed"


def test_a_log_that_nobody_reads_any_more_holds_up_neither_answers_nor_the_end(fe: Fe) -> None:
    with running(fe, "--role", "http", access_log="1") as (process, url), httpx.Client(timeout=PATIENCE) as client:
        for _ in range(600):  # its pipe holds half as many lines
            assert client.get(f"{url}/healthz").status_code == 200
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=120)
        assert process.stderr is not None
        said = process.stderr.read()

    assert process.returncode == 0
    assert 0 < said.count("/healthz") < 600


def test_several_processes_share_the_port_and_end_together(fe: Fe) -> None:
    with running(fe, "--processes", "2", "--role", "http") as (process, url):
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                assert httpx.get(f"{url}/healthz", timeout=PATIENCE).status_code == 200
                break
            except httpx.TransportError:
                assert time.monotonic() < deadline
                time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=120)

    assert process.returncode == 0
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}/healthz", timeout=PATIENCE)


@pytest.mark.parametrize("processes", ["1", "2"])
def test_whoever_comes_while_the_last_requests_are_answered_is_refused_at_once(fe: Fe, processes: str) -> None:
    """The client does not wait for a reply from a listener that accepts no more connections."""
    with running(fe, "--processes", processes, "--role", "http", grace_seconds="1000") as (process, url):
        at = (urlsplit(url).hostname or "", urlsplit(url).port or 0)
        begun = f"POST {PREFIX}/login HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 9\r\n"
        with socket.create_connection(at, timeout=PATIENCE) as held:
            held.sendall(f"{begun}Content-Type: application/json\r\n\r\n".encode())
            assert held.recv(100).startswith(b"HTTP/1.1 100")  # a worker has claimed it
            process.send_signal(signal.SIGTERM)
            deadline = time.monotonic() + PATIENCE
            while True:
                try:
                    with socket.create_connection(at, timeout=PATIENCE):
                        assert time.monotonic() < deadline
                        time.sleep(0.05)
                except ConnectionRefusedError:
                    break
            assert process.poll() is None
            held.sendall(b"not JSON.")
            assert held.recv(100).startswith(b"HTTP/1.1 400")
        assert process.wait(timeout=120) == 0


def test_the_http_role_does_not_need_the_key_encryption_key(fe: Fe) -> None:
    with running(fe, "--role", "http", kek="") as (_, url):
        assert httpx.get(f"{url}/readyz", timeout=PATIENCE).json() == {"status": "ready"}


def memory_of(process: "subprocess.Popen[str]") -> bytes:
    """Return all memory that a process can write to."""
    found = []
    with open(f"/proc/{process.pid}/maps") as maps, open(f"/proc/{process.pid}/mem", "rb", 0) as memory:
        for line in maps:
            span, rights, *_ = line.split()
            if rights.startswith("rw"):
                start, end = (int(at, 16) for at in span.split("-"))
                memory.seek(start)
                found.append(memory.read(end - start))
    return b"".join(found)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may read the memory of a process that is closed to others")
def test_a_front_that_is_given_the_key_encryption_key_forgets_it_before_it_begins(fe: Fe, tmp_path: Path) -> None:
    kek, pepper = SECRETS["FE_KEK"].partition(":")[2], SECRETS["FE_API_KEY_PEPPER"]
    with running(fe, "--role", "http", cold=True, kek_file=str(tmp_path / "none")) as (process, url):
        assert httpx.get(f"{url}/readyz", timeout=PATIENCE).status_code == 200
        environ = Path(f"/proc/{process.pid}/environ").read_bytes()
        memory = memory_of(process)

    assert b"FE_KEK" not in environ
    assert pepper.encode() in memory  # it is the right memory
    assert kek.encode() not in memory
    assert bytes.fromhex(kek) not in memory


@pytest.mark.parametrize("role", ["http", "actors"])
def test_no_core_dump_tells_what_a_process_knows(fe: Fe, role: str) -> None:
    with running(fe, "--role", role, cold=True) as (process, _):
        limits = Path(f"/proc/{process.pid}/limits").read_text()

    assert re.search(r"^Max core file size +0 +0 +bytes", limits, re.MULTILINE)


def test_a_login_that_may_do_more_than_its_process_needs_is_refused(fe: Fe, postgres: str) -> None:
    with login(postgres, "IN ROLE fe_front, fe_worker") as program:
        told = fe.refused(
            *("run", "--role", "actors"),
            database_shared_login="",
            database_url=make_conninfo(fe.dsn, user=program),
            metrics_bind="127.0.0.1:0",
        )

    assert told.startswith(f"the login {program} may take fe_front as well, and RESET ROLE leads there")


def test_the_actors_do_not_start_without_the_key_encryption_key(fe: Fe) -> None:
    ended = fe("run", "--role", "actors", kek="", metrics_bind="127.0.0.1:0")

    assert ended.code == 3
    assert ended.err.splitlines()[-1].startswith("fe: FE_KEK (or FE_KEK_FILE) is not set")


def test_a_port_that_is_taken_is_a_wrong_setting(fe: Fe) -> None:
    with socket.create_server(("127.0.0.1", 0)) as holder:
        bind = f"127.0.0.1:{holder.getsockname()[1]}"
        ended = fe("run", http_bind=bind, metrics_bind="127.0.0.1:0")

    assert ended.code == 3
    assert ended.err.splitlines()[-1].startswith("fe: FE_HTTP_BIND: ")


def test_a_database_that_cannot_be_reached_is_code_4(fe: Fe) -> None:
    assert "cannot be reached" in fe.refused("run", code=4, database_url="postgresql://127.0.0.1:1/none")


def test_a_role_that_does_not_exist_is_a_wrong_command_line(fe: Fe) -> None:
    assert "'worker' is not one of" in fe.refused("run", "--role", "worker", code=2)


#: In development people may reach the portal without TLS, on this machine; the authority is then a simulated one.
DEVELOPMENT: dict[str, Any] = {"development": "1"} | {
    f"authority_{host}_url": "http://127.0.0.1:1" for host in ("ecf", "fc", "status")
}
#: As in production, where the login may do nothing else.
BEHIND_TLS: dict[str, Any] = {
    "portal_bind": f"127.0.0.1:{free_port()}",
    "portal_url": "https://portal.example.do",
    "metrics_bind": "127.0.0.1:0",
}


def test_the_portal_lets_people_in_over_its_own_port_with_the_rights_of_the_portal(fe: Fe, postgres: str) -> None:
    made = fe("person", "create", "ana@example.do", "--name", "Ana", "--json")
    assert made.code == 0, made
    password = json.loads(made.out)["password"]
    at = f"127.0.0.1:{free_port()}"
    with login(postgres, "IN ROLE fe_portal") as name:
        dsn = make_conninfo(fe.dsn, user=name)
        with (
            running(fe, "--role", "portal", database_url=dsn, portal_bind=at, **DEVELOPMENT) as (process, front),
            httpx.Client(base_url=f"http://{at}", timeout=PATIENCE, trust_env=False) as browser,
        ):
            assert browser.get("/readyz").json() == {"status": "ready"}
            form = browser.get("/sign-in").text
            fields = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form))
            wrong = browser.post("/sign-in", data={**fields, "email": "ana@example.do", "password": "another one"})
            right = browser.post("/sign-in", data={**fields, "email": "ana@example.do", "password": password})
            assert (wrong.status_code, right.status_code) == (403, 303)
            assert browser.get("/account").status_code == 200
            assert browser.get("/operators").status_code == 404, "they are not served by this process"
            with pytest.raises(httpx.ConnectError):
                httpx.get(front, trust_env=False)
            process.send_signal(signal.SIGTERM)
            _, said = process.communicate(timeout=120)
        assert process.returncode == 0, said
    assert password not in said


def test_a_login_that_may_do_more_than_the_portal_needs_is_refused(fe: Fe, postgres: str) -> None:
    with login(postgres, "IN ROLE fe_portal, fe_operator") as both:
        told = fe.refused(
            *("run", "--role", "portal"),
            database_shared_login="",
            database_url=make_conninfo(fe.dsn, user=both),
            **BEHIND_TLS,
        )

    assert told.startswith(f"the login {both} may take fe_operator as well, and RESET ROLE leads there")


def test_the_portal_does_not_start_without_the_key_encryption_key(fe: Fe) -> None:
    ended = fe("run", "--role", "portal", kek="", **BEHIND_TLS)

    assert (ended.code, "FE_KEK" in ended.err) == (3, True)


def test_a_portal_in_the_clear_is_refused(fe: Fe) -> None:
    ended = fe("run", "--role", "portal", **(BEHIND_TLS | {"portal_url": "http://portal.example.do"}))

    assert (ended.code, "FE_PORTAL_URL should begin with https://" in ended.err) == (3, True)
