"""A newcomer with curl, in bash and in zsh: the commands of README and its pages are pasted unchanged.

Ten types are accepted and one is refused; following the refusal's advice works.
"""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from fe.ecf.catalogue import PREFIXES, Environment
from fe.ecf.identity import TaxId
from tests.http.test_api_docs import Shell, blocks, running_shell, values
from tests.system.stack import ISSUER, Stack, provision, running_stack

ROOT = Path(__file__).resolve().parents[2]
#: Each reads what is pasted from its standard input, and nothing of the machine's own settings.
SHELLS = {"bash": ["bash", "--norc"], "zsh": ["zsh", "-f", "-s"]}

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def guide() -> str:
    """The page that README links for callers of the API."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(r"^\| calling its API \| .*?\]\(([\w/]+\.md)\)", readme, re.MULTILINE)
    assert found is not None
    return (ROOT / found[1]).read_text(encoding="utf-8")


def part(page: str, first: str, last: str) -> str:
    """The page from one heading to before another."""
    return page[page.index(f"\n## {first}\n") : page.index(f"\n## {last}\n")]


async def key_of(stack: Stack, rnc: TaxId) -> dict[str, str]:
    """The operator's hand-out for a newcomer: an address and a key."""
    assert stack.settings.api_key_pepper is not None
    pepper = bytes.fromhex(stack.settings.api_key_pepper.get_secret_value())
    issuer = {**ISSUER, "RNCEmisor": str(rnc)}
    _, _, key = await provision(
        stack.db, stack.vault, pepper, environment=Environment.TESTECF, issuer=issuer, credential=stack.credential
    )
    given = {"FE_API_KEY_ID": key.record.api_key_id, "FE_API_SECRET": key.secret}
    return {"FE_URL": stack.base_url, **given}


async def ten_types(shell: Shell, page: str) -> list[tuple[str, str]]:
    """Paste the quick start and what follows up to one of every type; the numbers and what they came to."""
    ended: list[tuple[str, str]] = []
    for kind, block in blocks(part(page, "Quick start", "Numbers, dates and blanks")):
        if kind != "run":
            continue
        said = await shell.run(block)
        lines = re.findall(r"^(E\d{12}) (\S+)$", said, re.MULTILINE)
        records = [] if lines else [one for one in values(said) if "numberFate" in one]
        ended += lines + [(one["eNCF"], one["status"]) for one in records]
    return ended


async def mend_a_refusal(shell: Shell, page: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Paste the mistake that the guide makes, read what is said of it, do that, and hand the receipt in."""
    (paste, *_) = (block for kind, block in blocks(part(page, "Validate before sending", "Batches")) if kind == "run")
    (refused,) = values(await shell.run(paste))
    problem = refused["problems"][0]
    # No code is like the one that was given, so none is proposed: the list says which there are.
    field = problem["path"].rpartition(".")[2]
    mended = paste.replace(f'"{field}": "{problem["found"]}"', f'"{field}": "{problem["allowed"][0]}"')
    assert mended != paste
    (taken,) = values(await shell.run(mended.replace("/invoices/validate", "/invoices")))
    asked = f'curl -sS "$FE_URL/invoices/{taken["taxLogId"]}?wait=30" -H "Authorization: Bearer $TOKEN"'
    (ended,) = values(await shell.run(asked))
    return refused, ended


@pytest.mark.skipif(shutil.which("curl") is None, reason="NOT PROVED HERE: there is no curl on this machine")
async def test_from_the_readme_to_ten_types_and_a_refusal_that_is_understood(dsn: str, tmp_path: Path) -> None:
    page = guide()
    missing = [name for name in SHELLS if shutil.which(name) is None]
    companies = (rnc for rnc in map(TaxId, map(str, range(101000001, 102000000))) if rnc.checks)
    async with running_stack(dsn, tmp_path) as stack:
        for name, command in SHELLS.items():
            if name in missing:
                continue
            async with running_shell(*command) as shell:
                await shell.prepare(await key_of(stack, next(companies)))
                ended = await ten_types(shell, page)
                refused, mended = await mend_a_refusal(shell, page)

            assert sorted(number[:3] for number, _ in ended) == sorted(PREFIXES), (name, ended)
            assert {status for _, status in ended} == {"Aceptado"}, (name, ended)
            assert refused["valid"] is False, name
            assert mended["status"] == "Aceptado", (name, json.dumps(mended))
    if missing:
        pytest.skip(f"NOT PROVED HERE: there is no {' and no '.join(missing)} on this machine")
