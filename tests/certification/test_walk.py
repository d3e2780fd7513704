"""The short path by the command line, from a fresh tenant to production; only others reset the authority's counters."""

import json
from pathlib import Path

import httpx

from fe.ecf.catalogue import PREFIXES
from tests.certification.test_page import APPLICATION, DECLARATION, IS_LIVE, KEY, issue
from tests.certification.test_runs import certecf_stack, counters, journal
from tests.cli.test_operators_page import run
from tests.http.front import invoice_payload
from tests.system.stack import ISSUER, Stack

#: Each receipt of the short path counts once.
ALL = dict.fromkeys((*PREFIXES, "RFCE"), 1)
#: Numbers outside of the plan: of the range that the authority gave, and beyond it.
COUNTED, STRAY = "E310000000500", "E310000009000"
SIGNED = "Declaracion-signed.xml"

APPLY = """
fe certification path provider --tenant "$TENANT"
fe certification sign Postulacion.xml Postulacion-signed.xml --tenant "$TENANT"
fe certification done 1 --tenant "$TENANT"
fe certification plan --tenant "$TENANT"
"""
SEND = """
fe certification check --step 4 --tenant "$TENANT"
fe certification send --step 4 --tenant "$TENANT"
"""
FINISH = f"""
fe certification pdfs pdfs.zip --tenant "$TENANT"
for step in 4 5 6 12; do fe certification done $step --tenant "$TENANT"; done
fe certification sign Declaracion.xml {SIGNED} --tenant "$TENANT"
for step in 13 14 15; do fe certification done $step --tenant "$TENANT"; done
fe sequence put E31 --tenant "$TENANT" --environment ecf --from 1 --to 500 --expires 2028-12-31
fe certification status --tenant "$TENANT"
"""


async def test_company_is_certified_under_a_provider_and_goes_live(dsn: str, tmp_path: Path) -> None:
    async with certecf_stack(dsn, tmp_path) as stack:
        (tmp_path / "Postulacion.xml").write_text(APPLICATION.format(holder=stack.credential.holder_id))
        (tmp_path / "Declaracion.xml").write_text(DECLARATION)
        await commands(stack, tmp_path, APPLY)
        await issue_outside(stack, COUNTED, "Aceptado")
        assert await counters(stack.simulator) == ({"E31": 1}, 0)
        await issue_outside(stack, STRAY, "Rechazado")
        assert await counters(stack.simulator) == ({}, 1)

        await commands(stack, tmp_path, SEND)
        assert await counters(stack.simulator) == (ALL, 1)
        numbers = [one["eNCF"] for one in await journal(stack.simulator)]
        assert len(numbers) == len(set(numbers)) == 2 + len(ALL)

        ended = await commands(stack, tmp_path, FINISH)
        assert "next: All steps are done" in ended
        assert (tmp_path / SIGNED).exists()
        assert "the company is not live yet" in await commands(stack, tmp_path, IS_LIVE)
        await issue(stack, json.loads(await commands(stack, tmp_path, KEY)))
        assert "the company is live" in await commands(stack, tmp_path, IS_LIVE)


async def commands(stack: Stack, folder: Path, script: str) -> str:
    """Run commands as an operator; all have to end well."""
    assert stack.settings.database_url is not None
    assert stack.settings.kek is not None
    assert stack.settings.api_key_pepper is not None
    settings = {
        "FE_DATABASE_URL": stack.settings.database_url,
        "FE_DATABASE_SHARED_LOGIN": "1",
        "FE_DATA_DIR": str(folder),
        "FE_DEVELOPMENT": "1",
        "FE_KEK": stack.settings.kek.get_secret_value(),
        "FE_API_KEY_PEPPER": stack.settings.api_key_pepper.get_secret_value(),
        "TENANT": stack.tenant.name,
    }
    ended = await run(folder, script, ["sh", "-eu", "-c"], **settings)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


async def issue_outside(stack: Stack, number: str, verdict: str) -> None:
    """Have the authority judge a receipt that is none of the simulation's."""
    known = {"issuer": ISSUER["RNCEmisor"], "from": 1, "to": 1000, "expires": "2028-12-31", "environment": "certecf"}
    async with httpx.AsyncClient(trust_env=False) as client:
        for prefix in PREFIXES:
            granted = known | {"type": prefix}
            assert (await client.post(f"{stack.simulator.management}/ranges", json=granted)).status_code == 200
    accepted = await stack.submit(invoice_payload(number))
    assert (await stack.until_final(accepted["taxLogId"]))["status"] == verdict
