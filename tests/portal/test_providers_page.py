"""docs/providers.md: its lines are run as they stand there, against a whole service with its portal."""

import json
import re
import subprocess
from pathlib import Path

import trio

from fe.accounts import people as makers
from fe.clock import system_clock
from fe.ecf.selfmade import to_p12
from fe.integrator.stack import open_stack
from fe.lifecycle import Status
from fe.store.portal import people
from fe.store.postgres.db import Conn, open_database
from tests.cli.running import environment
from tests.cli.warm import path_with_fe
from tests.factories.companies import credential_of_today
from tests.factories.tenants import rows
from tests.http.front import invoice_payload, structured
from tests.portal.operators import until_rows
from tests.waiting import PATIENCE

DOCS = Path(__file__).resolve().parents[2] / "docs"


def blocks(name: str) -> list[str]:
    return re.findall(r"```sh\n(.*?)```", (DOCS / name).read_text(encoding="utf-8"), re.DOTALL)


async def _olga(conn: Conn) -> None:
    made = await makers.create_person(conn, "olga@example.com", "Olga", password_hash=None, now=system_clock())
    await people.set_operator(conn, made.person_id, True)


async def test_lines_of_the_page_lead_from_nothing_to_an_accepted_receipt(tmp_path: Path) -> None:
    (tmp_path / "ozama.p12").write_bytes(to_p12(credential_of_today(), "de prueba"))
    (tmp_path / "ozama.passphrase").write_text("de prueba\n", encoding="utf-8")
    receipt = structured(invoice_payload(e_ncf=None, TipoeCF="31"))
    (tmp_path / "receipt.json").write_text(json.dumps(receipt), encoding="utf-8")
    async with open_stack(portal=True) as stack, open_database(stack.dsn, patience=PATIENCE) as db:
        await db.transact(_olga)
        told = {**stack.environment, "PORTAL": stack.portal_url or "", "API": stack.base_url, "PATH": path_with_fe()}
        ended = await trio.to_thread.run_sync(
            lambda: subprocess.run(
                ["bash", "-euo", "pipefail", "-c", "\n".join(blocks("providers.md"))],
                cwd=tmp_path,
                env={**environment(), **told},
                capture_output=True,
                text=True,
                timeout=300,
            )
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        await until_rows(db, f"SELECT 1 FROM submissions WHERE status = '{Status.ACCEPTED}'")
        acts = await rows(db, "SELECT by_whom, action FROM operator_actions ORDER BY at, action_id")
    assert '"testecf":[]' in ended.stdout
    assert [one["action"] for one in acts if one["by_whom"] == "key onboarding of olga@example.com"] == [
        *("tenant create", "certificate add", "sequence put", "key create", "key revoke")
    ]


def test_page_in_spanish_shows_the_same_lines() -> None:
    assert blocks("providers.es.md") == blocks("providers.md")
