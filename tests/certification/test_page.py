"""The guide of the certification: every command in it is run as it stands there, in both languages the same."""

import zipfile
from pathlib import Path

from fe.ecf.catalogue import Environment
from fe.ecf.signature import verify_portal_file
from tests.certification.sets import sheets, xlsx
from tests.certification.test_runs import QUICK, SMALL_SET, fault, journal
from tests.cli.test_operators_page import ROOT, blocks, run
from tests.system.stack import ISSUER, running_stack

PAGE = ROOT / "docs" / "certification.md"
DOUBT = "E410000000001"

APPLICATION = f"""<?xml version="1.0" encoding="utf-8"?>
<Postulacion xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema">
  <PostulacionID>12345</PostulacionID>
  <Contribuyente><RNCContribuyente>{ISSUER["RNCEmisor"]}</RNCContribuyente></Contribuyente>
  <Representante><RNCRepresentante>{{holder}}</RNCRepresentante></Representante>
  <FechaSolicitud>2026-11-20T10:15:30.1234567-04:00</FechaSolicitud>
</Postulacion>
"""


async def test_every_command_of_the_guide_does_what_it_is_there_for(dsn: str, tmp_path: Path) -> None:
    async with running_stack(dsn, tmp_path, simulator=QUICK, environment=Environment.CERTECF) as stack:
        (tmp_path / "set.xlsx").write_bytes(xlsx(sheets(only=SMALL_SET)))
        (tmp_path / "Postulacion.xml").write_text(APPLICATION.format(holder=stack.credential.holder_id))
        await fault(stack.simulator, kind="reset-after", operation="reception", eNCF=DOUBT)
        assert stack.settings.kek is not None
        settings = {
            "FE_DATABASE_URL": dsn,
            "FE_DATABASE_SHARED_LOGIN": "1",
            "FE_DATA_DIR": str(tmp_path),
            "FE_DEVELOPMENT": "1",
            "FE_KEK": stack.settings.kek.get_secret_value(),
            "TENANT": stack.tenant.name,
        }
        said = []
        for block in blocks(PAGE, "sh"):
            ended = await run(tmp_path, block, ["sh", "-eu", "-c"], **settings)
            if "certification send" in block:
                assert ended.returncode == 1, ended.stdout + ended.stderr
                assert f"it is not known whether {DOUBT} arrived" in ended.stderr
            else:
                assert ended.returncode == 0, block + ended.stdout + ended.stderr
            said.append(ended.stdout)
        again = await run(tmp_path, 'fe certification status --tenant "$TENANT"', ["sh", "-eu", "-c"], **settings)
        sent = await journal(stack.simulator)

    assert "next: step 1, Application" in said[0]
    signed = verify_portal_file((tmp_path / "Postulacion-signed.xml").read_bytes())
    assert (signed.root.tag, signed.root.findtext("PostulacionID")) == ("Postulacion", "12345")
    assert "4 documents are in order, signed and verified; nothing was sent" in said[2]
    assert "all 4 documents are accepted" in said[4]
    assert sorted(one["eNCF"] for one in sent) == sorted(SMALL_SET)
    with zipfile.ZipFile(tmp_path / "evidence.zip") as archive:
        names = archive.namelist()
        (upload,) = [name for name in names if name.startswith("upload/")]
        assert upload == f"upload/{ISSUER['RNCEmisor']}E320000000011.xml"
        assert archive.read(upload) == archive.read("documents/04-E320000000011.xml")
        assert archive.read("set/set.xlsx") == (tmp_path / "set.xlsx").read_bytes()
        assert "documents/04-E320000000011-rfce.xml" in names
        assert "documents/01-E310000000001-answer.json" in names
    assert "2  Set of tests                        done" in again.stdout
    assert "next: step 3, Set of commercial approvals" in again.stdout


def test_spanish_guide_has_the_same_commands() -> None:
    assert blocks(PAGE.with_name("certification.es.md"), "sh") == blocks(PAGE, "sh")
