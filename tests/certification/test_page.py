"""The guides of the certification and of going live: every command is run as it stands there, up to production."""

import json
import zipfile
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.serialization import Encoding

from fe.ecf.dates import show_moment
from fe.ecf.selfmade import to_p12
from fe.ecf.signature import verify_portal_file
from tests.certification.sets import approvals, sheets, xlsx
from tests.certification.test_runs import SMALL_SET, certecf_stack, fault, journal
from tests.cli.test_operators_page import ROOT, blocks, run
from tests.factories.companies import PASSPHRASE, credential_of_today
from tests.http.front import invoice_payload
from tests.system.stack import ISSUER, Stack

PAGE = ROOT / "docs" / "certification.md"
LIVE = PAGE.with_name("going-live.md")
DOUBT = "E410000000001"

#: The steps that a person does, and the declaration, which is signed, too.
REST = """
fe certification sign Declaracion.xml Declaracion-signed.xml --tenant "$TENANT"
for step in 3 4 5 6 7 8 9 10 11 12 13 14; do fe certification done $step --tenant "$TENANT"; done
"""
KEY = 'fe key create --json --tenant "$TENANT" --environment ecf --name a --scope invoices:write --scope invoices:read'
IS_LIVE = 'fe certification live --tenant "$TENANT"'

APPLICATION = f"""<?xml version="1.0" encoding="utf-8"?>
<Postulacion xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema">
  <PostulacionID>12345</PostulacionID>
  <Contribuyente><RNCContribuyente>{ISSUER["RNCEmisor"]}</RNCContribuyente></Contribuyente>
  <Representante><RNCRepresentante>{{holder}}</RNCRepresentante></Representante>
  <FechaSolicitud>2026-11-20T10:15:30.1234567-04:00</FechaSolicitud>
</Postulacion>
"""

DECLARATION = "<DeclaracionJurada><Texto>Declaro</Texto></DeclaracionJurada>"


async def test_every_command_of_the_guide_does_what_it_is_there_for(dsn: str, tmp_path: Path) -> None:
    credential = credential_of_today()
    (tmp_path / "roots.pem").write_bytes(credential.certificate.public_bytes(Encoding.PEM))
    (tmp_path / "company.p12").write_bytes(to_p12(credential, PASSPHRASE))
    (tmp_path / "passphrase.txt").write_text(PASSPHRASE)
    reception: dict[str, Any] = {"reception_bind": "127.0.0.1:0", "reception_roots": tmp_path / "roots.pem"}
    async with certecf_stack(dsn, tmp_path, credential=credential, **reception) as stack:
        (tmp_path / "set.xlsx").write_bytes(xlsx(sheets(only=SMALL_SET)))
        moment = show_moment(datetime.now(UTC) - timedelta(minutes=5))
        (tmp_path / "approvals.xlsx").write_bytes(xlsx(approvals(moment=moment)))
        (tmp_path / "Postulacion.xml").write_text(APPLICATION.format(holder=stack.credential.holder_id))
        (tmp_path / "Declaracion.xml").write_text(DECLARATION)
        await fault(stack.simulator, kind="reset-after", operation="reception", eNCF=DOUBT)
        assert stack.settings.kek is not None
        assert stack.settings.api_key_pepper is not None
        settings = {
            "FE_DATABASE_URL": dsn,
            "FE_DATABASE_SHARED_LOGIN": "1",
            "FE_DATA_DIR": str(tmp_path),
            "FE_DEVELOPMENT": "1",
            "FE_KEK": stack.settings.kek.get_secret_value(),
            "FE_API_KEY_PEPPER": stack.settings.api_key_pepper.get_secret_value(),
            "FE_RECEPTION_ROOTS": str(tmp_path / "roots.pem"),
            "TENANT": stack.tenant.name,
            "RNC": ISSUER["RNCEmisor"],
            "ADDRESS": f"{stack.reception}/certecf/{ISSUER['RNCEmisor']}",
        }
        said = []
        for block in (*blocks(PAGE, "sh"), *blocks(LIVE, "sh"), IS_LIVE):
            ended = await run(tmp_path, block, ["sh", "-eu", "-c"], **settings)
            if "certification send --tenant" in block:
                assert ended.returncode == 1, ended.stdout + ended.stderr
                assert f"it is not known whether {DOUBT} arrived" in ended.stderr
            elif "certification addresses" in block:
                # Here there is no TLS, and no public name.
                assert ended.returncode == 1, ended.stdout + ended.stderr
                failed = [line.split()[1:3] for line in ended.stdout.splitlines() if line.startswith("FAIL")]
                assert failed == [["7", "Name"], ["7", "TLS"]], ended.stdout + ended.stderr
                assert "24 checks: 2 failed, 1 with a warning" in ended.stdout
            else:
                assert ended.returncode == 0, block + ended.stdout + ended.stderr
            said.append(ended.stdout)
            if "certification evidence evidence.zip" in block:
                _unpack(tmp_path)
            if "certification evidence certification.zip" in block:
                _require_whole(tmp_path)
        again = await run(tmp_path, 'fe certification status --tenant "$TENANT"', ["sh", "-eu", "-c"], **settings)
        sent = await journal(stack.simulator)
        rest = await run(tmp_path, REST, ["sh", "-eu", "-c"], **settings)
        assert rest.returncode == 0, rest.stdout + rest.stderr
        await issue(stack, json.loads((await run(tmp_path, KEY, ["sh", "-eu", "-c"], **settings)).stdout))
        live = await run(tmp_path, IS_LIVE, ["sh", "-eu", "-c"], **settings)

    assert "next: step 1, Application" in said[0]
    signed = verify_portal_file((tmp_path / "Postulacion-signed.xml").read_bytes())
    assert (signed.root.tag, signed.root.findtext("PostulacionID")) == ("Postulacion", "12345")
    assert "4 documents are in order, signed and verified; nothing was sent" in said[2]
    assert "all 4 documents are accepted" in said[4]
    assert sorted(one["eNCF"] for one in sent[:4]) == sorted(SMALL_SET)
    assert "all 11 documents are accepted" in said[6]
    assert "the simulated authority accepted all; its counters: E31 4, E32 2, E33 1, E34 2" in said[8]
    assert "all 25 documents are accepted" in said[9]
    assert "11 PDFs" in said[10]
    assert len(sent) == len({one["sha256"] for one in sent}) == 4 + 11 + 25
    with zipfile.ZipFile(tmp_path / "simulation.zip") as archive:
        assert len([name for name in archive.namelist() if name.startswith("upload/")]) == 4
    with zipfile.ZipFile(tmp_path / "evidence.zip") as archive:
        names = archive.namelist()
        (upload,) = [name for name in names if name.startswith("upload/")]
        assert upload == f"upload/{ISSUER['RNCEmisor']}E320000000011.xml"
        assert archive.read(upload) == archive.read("documents/04-E320000000011.xml")
        assert archive.read("set/set.xlsx") == (tmp_path / "set.xlsx").read_bytes()
        assert "documents/04-E320000000011-rfce.xml" in names
        assert "documents/01-E310000000001-answer.json" in names
    assert "2  Set of tests                        done" in again.stdout
    assert "next: All of step 3 is accepted: fetch the evidence" in again.stdout
    assert "open  Sequences of production" in said[-3]
    assert "done  Sequences of production: E31" in said[-1]
    assert "done  Delegation of the signer" in said[-1]
    assert "done  API key of production" in said[-1]
    assert "the company is not live yet" in said[-1]
    assert "the company is live" in live.stdout


def _require_whole(folder: Path) -> None:
    with zipfile.ZipFile(folder / "certification.zip") as archive:
        found = Counter(name.partition("/")[0] for name in archive.namelist())
    assert found["status.json"] == 1
    assert set(found) == {"status.json", "step-1", "step-2", "step-3", "step-4", "step-5"}
    assert (found["step-1"], found["step-5"]) == (1, 11)


async def issue(stack: Stack, key: dict[str, str]) -> None:
    """Issue the first receipt of production."""
    client = stack.client
    login = await client.post("/login", json={"apiKeyId": key["apiKeyId"], "apiSecret": key["apiSecret"]})
    client.headers["Authorization"] = f"Bearer {login.json()['accessToken']}"
    accepted = await stack.submit(invoice_payload("E310000000001"))
    assert (await stack.until_final(accepted["taxLogId"]))["status"] == "Aceptado"


def _unpack(folder: Path) -> None:
    with zipfile.ZipFile(folder / "evidence.zip") as archive:
        (folder / "receipt.xml").write_bytes(archive.read("documents/01-E310000000001.xml"))


def test_spanish_pages_have_the_same_commands() -> None:
    for page in (PAGE, LIVE):
        assert blocks(page.with_stem(f"{page.stem}.es"), "sh") == blocks(page, "sh")
