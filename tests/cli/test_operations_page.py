"""Production as docs/operations.md sets it up: its roles and logins, its files, its units, its first tenant.

On a server of its own, because the page makes the roles of a new one. It is development only
as far as its authority is simulated.
"""

import configparser
import random
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import psycopg
import pytest
import trio
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from fe.accounts.provision import create_key, create_tenant
from fe.config import Settings
from fe.ecf.catalogue import Environment
from fe.ecf.selfmade import to_p12
from fe.http.app import PREFIX
from fe.lifecycle import Stage
from fe.queue.lease_guard import BEAT_SECONDS, SILENCE
from fe.queue.rescuer import APART
from fe.store.postgres.db import open_database
from fe.store.postgres.embedded import start_embedded
from fe.store.postgres.migrate import migrate
from fe.store.postgres.session import SERVER_SETTINGS
from fe.store.records import throttle
from tests.cli.running import environment
from tests.cli.warm import path_with_fe
from tests.factories.companies import credential_of_today
from tests.factories.tenants import ISSUER, make_submission
from tests.simulator.conftest import http, start
from tests.simulator.support import Start
from tests.system.test_road import consumer_invoice, invoice
from tests.waiting import PATIENCE

__all__ = ["http", "start"]

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "operations.md"


#: First port of /metrics of each role.
METRICS = {"http": 9464, "actors": 9474, "portal": 9484, "receive": 9494, "share": 9504}


@dataclass(frozen=True)
class Unit:
    """A unit of ops/systemd: what it runs, with which file of settings, at which ports."""

    command: list[str]
    file: Path

    @property
    def metrics(self) -> range:
        first = METRICS[self.command[self.command.index("--role") + 1]]
        return range(first, first + int(self.command[self.command.index("--processes") + 1]))


def units() -> dict[str, Unit]:
    found = {}
    for file in (ROOT / "ops" / "systemd").glob("*.service"):
        parser = configparser.RawConfigParser(strict=False)
        parser.optionxform = str  # type: ignore[assignment,method-assign]  # systemd's names have capitals
        parser.read_string(file.read_text(encoding="utf-8"))
        command = shlex.split(parser["Service"]["ExecStart"])
        if "--role" in command:
            settings = Path(command[command.index("--env-file") + 1])
            found[command[command.index("--role") + 1]] = Unit(command, settings)
    return found


def blocks_of(text: str, language: str) -> list[str]:
    found = re.findall(rf"^( *)```{language}\n(.*?)^\1```", text, re.DOTALL | re.MULTILINE)
    return [re.sub(rf"^{indent}", "", block, flags=re.MULTILINE) for indent, block in found]


@dataclass(frozen=True)
class Machine:
    """A machine that was set up by the page: where its files lie, and the page with that folder and server in it."""

    folder: Path
    text: str
    server: str

    def run(self, block: str) -> subprocess.CompletedProcess[str]:
        """Run one of the page's blocks; it must succeed. Returns its output."""
        plain = {name: value for name, value in environment().items() if not name.startswith("FE_")}
        ended = subprocess.run(
            ["sh", "-eu", "-c", block],
            cwd=self.folder,
            env={**plain, "PATH": path_with_fe()},
            capture_output=True,
            text=True,
            timeout=200,
        )
        assert ended.returncode == 0, block + ended.stdout + ended.stderr
        return ended

    def ask(self, login: str, statement: str) -> list[tuple[Any, ...]]:
        """Run a statement with one of the logins, in psql's way. The server may have nothing to remark."""
        remarks: list[str] = []
        with psycopg.connect(self.address_of(login), autocommit=True) as conn:
            conn.add_notice_handler(lambda notice: remarks.append(str(notice.message_primary)))
            cursor = conn.execute(statement.encode())
            found = cursor.fetchall() if cursor.description else []
        assert remarks == []
        return found

    def address_of(self, login: str) -> str:
        return make_conninfo(self.server, dbname="fe", user=login)

    def settings(self, file: Path) -> dict[str, str]:
        return dict(line.split("=", 1) for line in file.read_text(encoding="utf-8").split())

    def start(self, unit: Unit, **more: str) -> "subprocess.Popen[str]":
        """Start what a unit starts, as systemd would: with its file, and nothing else of ours."""
        plain = {name: value for name, value in environment().items() if not name.startswith("FE_")}
        command = [word.replace("/etc/fe", str(self.folder)) for word in unit.command[1:]]
        return subprocess.Popen(
            [sys.executable, "-m", "fe", *command],
            cwd=self.folder,
            env={**plain, **more},
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    data = Path(tempfile.mkdtemp(prefix="fe-tests-"))
    try:
        server = start_embedded(data / "data", keep=False)
        with psycopg.connect(server, autocommit=True) as admin:
            text = PAGE.read_text(encoding="utf-8")
            roles, everybodys = blocks_of(text, "sql")
            for statement in roles.split(";\n"):
                if statement.strip():
                    admin.execute(statement.encode())
        with psycopg.connect(make_conninfo(server, dbname="fe"), autocommit=True) as admin:
            admin.execute(everybodys.encode())
        where = conninfo_to_dict(server)
        address = quote(str(where["host"]), safe="") + (f":{where['port']}" if where.get("port") else "")
        text = text.replace("db.internal/fe", f"{address}/fe").replace("/etc/fe", str(tmp_path))
        # The users of the units are made in tests/ops/test_installation.py.
        text = text.replace('chown "root:fe-$role" "$role.env"; ', "")
        yield Machine(tmp_path, text, server)
    finally:
        shutil.rmtree(data, ignore_errors=True)


def runbook(name: str) -> str:
    return (ROOT / "ops" / "runbooks" / f"{name}.md").read_text(encoding="utf-8")


def free_ports(*ports: int) -> int:
    """Find an offset for these ports at which all are free.

    Chosen at random, because they are checked seconds before they are bound and another run on this machine may look
    too. All are below those of tests/ports.py and below the range of outgoing connections.
    """
    shifts = range(1000, 10_000, 17)
    for shift in random.SystemRandom().sample(shifts, len(shifts)):
        try:
            for port in ports:
                socket.create_server(("127.0.0.1", port + shift)).close()
        except OSError:
            continue
        return shift
    raise AssertionError("no port is free")


def until_serving(process: "subprocess.Popen[str]", processes: int) -> None:
    assert process.stderr is not None
    said = ""
    while said.count('"serving"') < processes:
        line = process.stderr.readline()
        assert line, said
        said += line


def first_hour(machine: Machine) -> list[str]:
    """The page's blocks that set up production, in their order; the others are of later days."""
    later = ("fe rates", "fe counterparty")
    return [block for block in blocks_of(machine.text, "sh") if not any(command in block for command in later)]


@pytest.mark.timeout(900)
async def test_production_is_set_up_and_issues_its_first_receipts_as_the_page_says(
    machine: Machine, start: Start
) -> None:
    simulator = await start(summary_port=0)
    files, shape, *tenant = first_hour(machine)
    (machine.folder / "signer.p12").write_bytes(to_p12(credential_of_today(), "of the signer"))
    (machine.folder / "passphrase").write_text("of the signer\n", encoding="utf-8")

    machine.run(files)
    assert {path.stat().st_mode & 0o037 for path in machine.folder.glob("*.env")} == {0}
    # Its authority is simulated, and that is for development only.
    at = {"ECF": simulator.at.ecf, "FC": simulator.at.fc, "STATUS": simulator.at.status}
    hosts = "FE_DEVELOPMENT=1\n" + "".join(f"FE_AUTHORITY_{name}_URL={url}\n" for name, url in at.items())
    for name in ("actors.env", "operator.env"):
        with (machine.folder / name).open("a", encoding="utf-8") as file:
            file.write(hosts)
    assert "applied 0001_roles_and_types" in (await trio.to_thread.run_sync(machine.run, shape)).stdout
    said = "".join([(await trio.to_thread.run_sync(machine.run, block)).stdout for block in tenant])
    (key_id,) = re.findall(r"^apiKeyId +(fak_\w+)$", said, re.MULTILINE)
    (secret,) = re.findall(r"^apiSecret +([0-9a-f]{64})$", said, re.MULTILINE)

    described = units()
    front, actors = described["http"], described["actors"]
    shift = free_ports(8080, *front.metrics, *actors.metrics)
    moved = {name: f"127.0.0.1:{one.metrics.start + shift}" for name, one in (("front", front), ("actors", actors))}
    bind = f"127.0.0.1:{8080 + shift}"
    started = [
        machine.start(front, FE_METRICS_BIND=moved["front"], FE_HTTP_BIND=bind),
        machine.start(actors, FE_METRICS_BIND=moved["actors"]),
    ]
    try:
        for process in started:
            await trio.to_thread.run_sync(until_serving, process, 2)
        clash = machine.start(actors, FE_METRICS_BIND=moved["front"])
        _, why = await trio.to_thread.run_sync(partial(clash.communicate, timeout=120))
        assert clash.returncode == 3
        assert why.startswith(f"fe: FE_METRICS_BIND: cannot listen on {moved['front']}: ")
        # ops/runbooks/wakeups-unheard.md: three for each front, two for each process with actors.
        (listening, *_) = (block for block in blocks_of(runbook("wakeups-unheard"), "sql") if "LISTEN" in block)
        with trio.fail_after(60):
            while len(machine.ask("fe_actors_login", listening)) < 2 * 3 + 2 * 2:  # noqa: ASYNC110  (others' work)
                await trio.sleep(0.1)
        assert len(machine.ask("fe_actors_login", listening)) == 2 * 3 + 2 * 2
        async with httpx.AsyncClient(base_url=f"http://{bind}{PREFIX}", timeout=PATIENCE, trust_env=False) as client:
            login = await client.post("/login", json={"apiKeyId": key_id, "apiSecret": secret})
            assert login.json()["environment"] == "testecf", login.text
            client.headers["Authorization"] = f"Bearer {login.json()['accessToken']}"
            for receipt in (invoice(1), consumer_invoice(1)):
                taken = await client.post("/invoices", json={"format": "structured", "payload": receipt})
                assert taken.status_code == 202, taken.text
                with trio.fail_after(120):
                    status = "queued"
                    while status in ("queued", "En Proceso"):
                        asked = await client.get(f"/invoices/{taken.json()['taxLogId']}", params={"wait": 20})
                        status = asked.json()["status"]
                assert status == "Aceptado", asked.text
    finally:
        for process in started:
            process.send_signal(signal.SIGTERM)
        for process in started:
            await trio.to_thread.run_sync(partial(process.communicate, timeout=120))
    assert [process.returncode for process in started] == [0, 0]
    # Nothing but the secrets that a role is not given was made up: above all, no Postgres of its own.
    assert [path.name for path in (machine.folder / ".fe").iterdir()] == ["development-secrets"]


def test_secrets_that_are_there_are_not_overwritten(machine: Machine) -> None:
    files = first_hour(machine)[0]
    machine.run(files)
    made = {path: path.read_bytes() for path in machine.folder.glob("*.env")}

    again = subprocess.run(["sh", "-c", files], cwd=machine.folder, capture_output=True, text=True, timeout=300)

    assert again.stderr.count("exists") == len(made)  # the shell says so of each
    assert {path: path.read_bytes() for path in machine.folder.glob("*.env")} == made


def test_each_file_has_what_its_reader_needs_and_no_other_secret(machine: Machine) -> None:
    machine.run(first_hour(machine)[0])

    given = {path.name: set(machine.settings(path)) - {"FE_DATABASE_URL"} for path in machine.folder.glob("*.env")}
    assert given == {
        "http.env": {"FE_JWT_KEYS", "FE_API_KEY_PEPPER", "FE_WEBHOOK_KEYS"},
        "actors.env": {"FE_KEK", "FE_WEBHOOK_KEYS"},
        "reception.env": {"FE_KEK", "FE_RECEPTION_BIND", "FE_RECEPTION_ROOTS"},
        "share.env": {"FE_SHARE_BIND"},
        "portal.env": {"FE_KEK", "FE_API_KEY_PEPPER", "FE_WEBHOOK_KEYS", "FE_PORTAL_BIND", "FE_PORTAL_URL"},
        "operator.env": {"FE_API_KEY_PEPPER", "FE_KEK", "FE_WEBHOOK_KEYS"},
        "owner.env": set(),
    }
    page = PAGE.read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+\.env)` \| (.*)$", page, re.MULTILINE))
    assert {name: {f"`{one}`" for one in secrets if f"`{one}`" in rows[name]} for name, secrets in given.items()} == {
        name: {f"`{one}`" for one in secrets} for name, secrets in given.items()
    }


def test_the_units_of_one_machine_do_not_share_a_port() -> None:
    found = units()

    assert found.keys() == METRICS.keys()
    ports = [port for unit in found.values() for port in unit.metrics]
    assert len(set(ports)) == len(ports)
    assert all(str(port) in PAGE.read_text(encoding="utf-8") for port in ports)


def test_how_soon_the_work_of_a_dead_process_goes_on_is_what_the_page_says() -> None:
    page = PAGE.read_text(encoding="utf-8")

    assert BEAT_SECONDS == 5
    assert "The others look every five" in page
    assert f"after {SILENCE.seconds} seconds of silence they take it for dead" in page
    assert APART.seconds == 60
    assert "spread over one more minute" in page


def test_the_figures_of_the_runbooks_are_those_of_the_code() -> None:
    database, wakeups, lockouts = (" ".join(runbook(name).split()) for name in WITH_LOGINS)

    assert f"our statements end after {SERVER_SETTINGS['statement_timeout'].removesuffix('s')} s" in database
    idle = SERVER_SETTINGS["idle_in_transaction_session_timeout"].removesuffix("s")
    assert f"idle transactions after {idle} s" in database
    polled = Settings.model_fields["poll_seconds"].default
    assert polled / 2 == 1
    assert "by a second on average" in wakeups
    assert throttle.WINDOW.total_seconds() == 60
    assert {5: "five a minute"}[throttle.ATTEMPT_LIMITS.key] in lockouts
    assert {30: "thirty from one address"}[throttle.ATTEMPT_LIMITS.address] in lockouts
    assert f"for {throttle.LOCKOUT.seconds // 60} minutes" in lockouts


#: Runbooks that say with which login each of their statements is run.
WITH_LOGINS = ("database", "wakeups-unheard", "login-lockouts")
#: The least that "an administrator" can do.
ADMINISTRATOR = "an_administrator"


@pytest.mark.timeout(900)
async def test_statements_and_commands_of_runbooks_work_with_the_logins_they_name(machine: Machine) -> None:
    machine.run(first_hour(machine)[0])
    migrate(machine.address_of("fe_owner"))
    machine.ask("postgres", f"CREATE ROLE {ADMINISTRATOR} LOGIN IN ROLE pg_signal_backend, pg_read_all_stats")
    now = datetime.now(UTC)
    async with open_database(machine.address_of("postgres")) as db:
        tenant = await db.transact(create_tenant, "ozama", ISSUER, today=now.date())
        key = (await db.transact(create_key, tenant, Environment.ECF, pepper=b"p")).record.api_key_id
        subject = await make_submission(db, tenant.tenant_id, stage=Stage.TRACK, at=now)
        address = throttle.bucket_of_address(ip_address("203.0.113.7"))
        network = throttle.bucket_of_address(ip_address("2001:db8:0:1::7"))
        for _ in range(throttle.ATTEMPT_LIMITS.address + 1):
            await db.run(throttle.attempt, address, None)
            await db.run(throttle.attempt, network, None)
        elsewhere = throttle.bucket_of_address(ip_address("198.51.100.1"))
        for _ in range(throttle.ATTEMPT_LIMITS.key + 1):
            await db.run(throttle.attempt, elsewhere, throttle.bucket_of_key(key))

    answers = {}
    for name in WITH_LOGINS:
        for statement in blocks_of(runbook(name), "sql"):
            login = statement.removeprefix("-- as ").split(",")[0].split("\n")[0].replace(" ", "_")
            answers[statement] = machine.ask(login, statement)
    (locked_out,) = (answer for statement, answer in answers.items() if "JOIN api_keys" in statement)
    assert [(name, found) for name, found, _ in locked_out] == [("ozama", key)]
    assert {kind: locked for kind, locked, _ in next(a for s, a in answers.items() if "GROUP BY kind" in s)} == {
        "address": 2,
        "key": 1,
    }
    operator = f'fe() {{ command fe --env-file {machine.folder}/operator.env "$@"; }}; '
    operator += f"KEY={key} TENANT=ozama ID={subject}\n"
    said = "".join(
        machine.run(operator + block).stdout for name in WITH_LOGINS for block in blocks_of(runbook(name), "sh")
    )
    assert f"{key} may log in again" in said
    assert "203.0.113.7 may log in again" in said
    locked = "SELECT bucket FROM login_attempts WHERE locked_until > now()"
    assert machine.ask("fe_cli_login", locked) == [(network,)]
    assert f"{key} is revoked" in said
