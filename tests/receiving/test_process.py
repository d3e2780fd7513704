"""Reception as a process of its own: opened by its command, killed at the worst moment, and started anew."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import trio
from cryptography.hazmat.primitives.serialization import Encoding

from fe.config import named_keys
from fe.ecf.selfmade import to_p12
from fe.identifiers import TenantId
from fe.secrets.vault import Vault
from fe.store.postgres.db import Database
from tests.cli.running import SECRETS, Fe, environment
from tests.cli.warm import warm_fe
from tests.factories.certificates import default_root
from tests.factories.companies import PASSPHRASE, credential_of_today, make_certificate
from tests.factories.tenants import rows
from tests.ports import free_port
from tests.receiving.supplier import BASE, OURS, document, read
from tests.waiting import PATIENCE

VAULT = Vault(named_keys(SECRETS["FE_KEK"]))


@pytest.fixture
def roots(tmp_path: Path) -> Path:
    file = tmp_path / "roots.pem"
    file.write_bytes(default_root().certificate.public_bytes(Encoding.PEM))
    return file


@pytest.fixture
async def fe(tmp_path: Path, dsn: str, db: Database) -> Fe:
    """A tenant that receives, set up by the commands."""
    fe = Fe(tmp_path, dsn)
    command = [
        "tenant",
        "create",
        "Compradora SRL",
        "--rnc",
        OURS,
        "--legal-name",
        "COMPRADORA",
        "--address",
        "CALLE 1",
    ]
    tenant = TenantId(int((await trio.to_thread.run_sync(lambda: fe(*command, "--json"))).json["tenantId"]))
    credential = credential_of_today()
    await make_certificate(
        db,
        tenant,
        vault=VAULT,
        p12=to_p12(credential, PASSPHRASE),
        not_before=credential.not_before,
        not_after=credential.not_after,
    )
    opened = await trio.to_thread.run_sync(
        lambda: fe("reception", "open", "Compradora SRL", "--environment", "testecf", "--json")
    )
    assert opened.json == {
        "environment": "testecf",
        "rnc": OURS,
        "authentication": False,
        "path": f"/testecf/{OURS}",
    }
    return fe


@contextmanager
def running(
    fe: Fe, roots: Path, port: int, role: str = "receive", **settings: str
) -> Iterator["subprocess.Popen[bytes]"]:
    told = {
        "database_url": fe.dsn,
        "reception_bind": f"127.0.0.1:{port}",
        "reception_roots": str(roots),
        "metrics_bind": "127.0.0.1:0",
        # Neither is this role's to know.
        "jwt_keys": "",
        "api_key_pepper": "",
        **settings,
    }
    log = (fe.folder / "log").open("ab")
    process = subprocess.Popen(
        [str(warm_fe()), "run", "--role", role],
        env=environment(**told),
        stdout=log,
        stderr=log,
        cwd=fe.folder,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.kill(process.pid, signal.SIGTERM)
        process.wait(PATIENCE)
        log.close()


async def send(port: int, raw: bytes) -> httpx.Response:
    async with httpx.AsyncClient(timeout=PATIENCE, trust_env=False) as client:
        url = f"http://127.0.0.1:{port}"
        with trio.fail_after(PATIENCE):
            while True:
                try:
                    ready = await client.get(f"{url}/readyz")
                    assert ready.status_code == 200, ready.text
                    break
                except httpx.ConnectError:
                    await trio.sleep(0.1)
        return await client.post(f"{url}{BASE}/recepcion/api/ecf", files={"xml": ("e.xml", raw, "text/xml")})


async def test_killed_between_commit_and_answer_it_gives_the_same_acknowledgement_afterwards(
    fe: Fe, roots: Path, db: Database
) -> None:
    raw, port = document(), free_port()
    # A failpoint is for development, which knows no authority but a simulated one; it is not called here.
    with running(fe, roots, port, failpoint="acknowledged:1", authority_ecf_url="http://127.0.0.1:1") as process:
        with pytest.raises(httpx.HTTPError):
            await send(port, raw)
        assert await trio.to_thread.run_sync(process.wait) == -signal.SIGKILL
    (kept,) = await rows(db, "SELECT document, acknowledgement, reason FROM acknowledgements")
    assert (bytes(kept["document"]), kept["reason"]) == (raw, 0)

    with running(fe, roots, port) as process:
        answer = await send(port, raw)
        process.terminate()
        code = await trio.to_thread.run_sync(process.wait)

    assert read(answer).state == "0"
    assert answer.content == bytes(kept["acknowledgement"])
    assert len(await rows(db, "SELECT 1 FROM acknowledgements")) == 1
    assert code == 0


async def test_two_processes_acknowledge_one_of_two_documents_of_a_number(fe: Fe, roots: Path, db: Database) -> None:
    contents = [document(Encabezado__Emisor__NombreComercial=name) for name in ("UNO", "DOS")]
    ports = [free_port(), free_port()]
    answers: list[tuple[int, bytes]] = []

    async def ask(number: int, port: int) -> None:
        answers.append((number, (await send(port, contents[number])).content))

    with running(fe, roots, ports[0]), running(fe, roots, ports[1]):
        for port in ports:  # both are up, and have a connection
            await send(port, document(Encabezado__IdDoc__eNCF="E310000000001"))
        async with trio.open_nursery() as senders:
            for number, port in ((0, ports[0]), (1, ports[1]), (1, ports[0]), (0, ports[1])):
                senders.start_soon(ask, number, port)

    said = [{content for number, content in answers if number == which} for which in (0, 1)]
    assert [len(each) for each in said] == [1, 1]
    assert sorted(b"<Estado>0</Estado>" in content for each in said for content in each) == [False, True]
    kept = await rows(db, "SELECT reason FROM acknowledgements WHERE e_ncf = 'E310000000007' ORDER BY reason")
    assert [row["reason"] for row in kept] == [0, 3]


async def test_missing_requirement_is_reported_at_start(tmp_path: Path, dsn: str, roots: Path) -> None:
    fe = Fe(tmp_path, dsn)

    def refused(**settings: str) -> str:
        return fe.refused("run", "--role", "receive", code=3, **settings)

    assert "FE_RECEPTION_BIND" in refused()
    assert "FE_RECEPTION_ROOTS is not set" in refused(reception_bind="127.0.0.1:0")
    assert "FE_RECEPTION_ROOTS" in refused(reception_bind="127.0.0.1:0", reception_roots=str(tmp_path / "none.pem"))
    (tmp_path / "empty.pem").write_bytes(b"")
    assert "FE_RECEPTION_ROOTS" in refused(reception_bind="127.0.0.1:0", reception_roots=str(tmp_path / "empty.pem"))
    assert "FE_KEK" in refused(reception_bind="127.0.0.1:0", reception_roots=str(roots), kek="")


async def test_reception_is_listed_changed_and_closed(fe: Fe) -> None:
    def commands() -> None:
        fe("tenant", "create", "Otra SRL", "--rnc", OURS, "--legal-name", "OTRA", "--address", "CALLE 2")
        taken = fe.refused("reception", "open", "Otra SRL", "--environment", "testecf")
        assert taken == f"another tenant receives under {OURS} in testecf"
        fe("reception", "open", "Compradora SRL", "--environment", "testecf", "--authentication")
        (listed,) = fe("reception", "list", "Compradora SRL", "--json").json
        assert listed["authentication"] is True
        assert fe("reception", "close", "Compradora SRL", "--environment", "testecf").out == "closed\n"
        assert fe("reception", "list", "Compradora SRL", "--json").json == []
        assert "does not receive" in fe.refused("reception", "close", "Compradora SRL", "--environment", "testecf")

    await trio.to_thread.run_sync(commands)


async def test_role_all_serves_both_listeners_separately(fe: Fe, roots: Path) -> None:
    port, api = free_port(), free_port()
    secrets = {"jwt_keys": SECRETS["FE_JWT_KEYS"], "api_key_pepper": SECRETS["FE_API_KEY_PEPPER"]}
    with running(fe, roots, port, "all", http_bind=f"127.0.0.1:{api}", **secrets):
        assert read(await send(port, document())).state == "0"
        async with httpx.AsyncClient(timeout=PATIENCE, trust_env=False) as client:
            login = await client.post(f"http://127.0.0.1:{port}/api/v1/fe/login", json={})
            strangers = await client.get(f"http://127.0.0.1:{api}{BASE}/autenticacion/api/semilla")
            ready = await client.get(f"http://127.0.0.1:{api}/readyz")
    assert (login.status_code, strangers.status_code, ready.status_code) == (404, 404, 200)
