"""docs/api/commands.md, in both languages: its commands are run against a whole service, and say what it shows."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from fe.accounts.provision import create_key
from fe.ecf.catalogue import Environment
from fe.simulator import SimulatorSettings
from fe.store.records.tenants import Tenant
from tests.cli.running import environment
from tests.cli.warm import path_with_fe
from tests.http.test_api_docs import running_shell
from tests.system.stack import ISSUER, Stack, provision, running_stack

FOLDER = Path(__file__).resolve().parents[3] / "docs/api"
#: The page, and the language of the terminal in which it was written down.
PAGES = {"C.UTF-8": FOLDER / "commands.md", "es_DO.UTF-8": FOLDER / "es/commands.md"}
_BLOCKS = re.compile(r"^```sh run\n(.*?)^```$\s*^```text\n(.*?)^```$", re.M | re.S)
#: Issuers: each page has a company of its own, because the pages use the same numbers.
COMPANIES = (ISSUER["RNCEmisor"], "101001577")
WORLD = {
    "ranges": [
        {"issuer": rnc, "type": "E31", "from": 1, "to": 1000, "expires": "2028-12-31", "environment": "testecf"}
        for rnc in COMPANIES
    ]
}


def blocks(text: str) -> Iterator[tuple[str, str]]:
    """Commands, and what they say."""
    for found in _BLOCKS.finditer(text):
        yield found[1], found[2]


def says(seen: str, shown: str) -> bool:
    """Whether it is what the page shows; `…` stands for anything within a line, and blanks are blanks."""
    lines = [" ".join(line.split()) for line in seen.strip().splitlines() if line.strip()]
    wanted = [" ".join(line.split()) for line in shown.strip().splitlines()]
    return len(lines) == len(wanted) and all(
        re.fullmatch(".+".join(map(re.escape, pattern.split("…"))), line)
        for line, pattern in zip(lines, wanted, strict=True)
    )


def pepper_of(stack: Stack) -> bytes:
    pepper = stack.settings.api_key_pepper
    assert pepper is not None
    return bytes.fromhex(pepper.get_secret_value())


async def key_of(stack: Stack, tenant: Tenant) -> dict[str, str]:
    """A new key as its holder knows it, as the variables that `fe login` reads."""
    key = await stack.db.transact(create_key, tenant, Environment.TESTECF, pepper=pepper_of(stack))
    return {"FE_API_KEY_ID": key.record.api_key_id, "FE_API_SECRET": key.secret}


async def company(stack: Stack, rnc: str) -> Tenant:
    """The stack's own company, or another one beside it."""
    if rnc == ISSUER["RNCEmisor"]:
        return stack.tenant
    environment, issuer = Environment.TESTECF, {**ISSUER, "RNCEmisor": rnc}
    tenant, _, _ = await provision(
        stack.db, stack.vault, pepper_of(stack), environment=environment, issuer=issuer, credential=stack.credential
    )
    return tenant


async def test_every_command_of_the_page_says_what_it_shows(dsn: str, tmp_path: Path) -> None:
    world = tmp_path / "world.json"
    world.write_text(json.dumps(WORLD))
    async with running_stack(dsn, tmp_path, simulator=SimulatorSettings(world=world)) as stack:
        for (language, page), rnc in zip(PAGES.items(), COMPANIES, strict=True):
            folder = tmp_path / rnc
            folder.mkdir()
            plain = {name: value for name, value in environment().items() if not name.startswith(("FE_", "LC_"))}
            told = {
                **plain,
                **await key_of(stack, await company(stack, rnc)),
                "FE_URL": stack.base_url,
                "PATH": path_with_fe(),
                "XDG_CONFIG_HOME": str(folder / "config"),
                "LANG": language,
            }
            assert await walk(page.read_text(encoding="utf-8"), folder, told) >= 7


async def walk(text: str, folder: Path, told: dict[str, str]) -> int:
    """Run a page's commands in one bash, in their order; tell how many blocks there were."""
    ran = 0
    async with running_shell("bash", "--norc", cwd=folder, env=told) as shell:
        for commands, shown in blocks(text):
            seen = await shell.run(commands)
            assert says(seen, shown), f"the page shows\n{shown}\nbut it was\n{seen}"
            ran += 1
    return ran


def test_both_languages_show_the_same_commands() -> None:
    english, spanish = (
        [commands for commands, _ in blocks(page.read_text(encoding="utf-8"))] for page in PAGES.values()
    )

    assert english == spanish
