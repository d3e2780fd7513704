"""A supplier that was not written by us: the npm package dgii-ecf, unmodified, talks to the reception.

It is installed into a temporary folder, from the registry that npm is set to. Where there is no node, npm or registry
the test says loudly that it proved nothing.
"""

import json
import shutil
import subprocess
from base64 import b64encode
from pathlib import Path

import pytest
import trio

from fe.ecf.build import to_bytes
from fe.ecf.certificate import Credential
from fe.store.postgres.db import Database
from tests.clients.npm import install
from tests.factories.certificates import PASSPHRASE, default_credential, make_3des_p12
from tests.factories.tenants import rows
from tests.receiving.supplier import OURS, THEIRS, start_reception, unsigned

VERSION = "1.8.0"
SCRIPT = Path(__file__).with_name("dgii_ecf.js")


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which node finds the package."""
    folder = tmp_path_factory.mktemp("npm")
    # It asks for `fs`, an empty package of that name that not every mirror of the registry has.
    (folder / "fs").mkdir()
    (folder / "fs" / "package.json").write_text('{"name": "fs", "version": "0.0.1-security"}')
    wanted = {"dgii-ecf": VERSION, "fs": "file:./fs"}
    manifest = {"name": "supplier", "private": True, "dependencies": wanted, "overrides": {"fs": "file:./fs"}}
    (folder / "package.json").write_text(json.dumps(manifest))
    install(folder, "install")
    shutil.copy(SCRIPT, folder)
    return folder


def told(package: Path, credential: Credential, xml: bytes, host: str) -> dict[str, str]:
    order = {
        "p12": b64encode(make_3des_p12(credential)).decode(),
        "passphrase": PASSPHRASE,
        "xml": xml.decode(),
        "host": host,
        "fileName": f"{THEIRS}E310000000007.xml",
    }
    ended = subprocess.run(
        ["node", SCRIPT.name], cwd=package, input=json.dumps(order), capture_output=True, text=True, timeout=300
    )
    assert ended.returncode == 0, ended.stderr
    answer: dict[str, str] = json.loads(ended.stdout)
    return answer


@pytest.mark.timeout(900)
async def test_the_library_opens_a_session_and_its_document_is_acknowledged_as_it_signed_it(
    package: Path, nursery: trio.Nursery, db: Database, reception_db: Database
) -> None:
    reception = await start_reception(nursery, db, reception_db, demands_token=True)
    host = f"http://127.0.0.1:{reception.port}/TesteCF/{OURS}"

    answer = await trio.to_thread.run_sync(told, package, default_credential(), to_bytes(unsigned()), host)

    (kept,) = await rows(db, "SELECT document, acknowledgement, reason, presenter FROM acknowledgements")
    assert (kept["reason"], kept["presenter"]) == (0, default_credential().holder_id)
    assert bytes(kept["document"]).decode() == answer["signed"]
    assert answer["first"] == answer["again"] == bytes(kept["acknowledgement"]).decode()
    assert "<Estado>0</Estado>" in answer["first"]
