"""docs/api/commands.md: every command on it is run against a whole service, and says what the page shows."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import trio

from fe.accounts.provision import create_key
from fe.authority.simulator import SimulatorSettings
from fe.ecf.catalogue import Environment
from tests.cli.running import environment
from tests.cli.warm import path_with_fe
from tests.http.test_api_docs import Shell
from tests.system.stack import ISSUER, Stack, running_stack

PAGE = Path(__file__).resolve().parents[3] / "docs/api/commands.md"
_BLOCKS = re.compile(r"^```sh run\n(.*?)^```$\s*^```text\n(.*?)^```$", re.M | re.S)
WORLD = {
    "ranges": [
        {
            "issuer": ISSUER["RNCEmisor"],
            "type": "E31",
            "from": 1,
            "to": 1000,
            "expires": "2028-12-31",
            "environment": "testecf",
        }
    ]
}


def blocks() -> Iterator[tuple[str, str]]:
    """Commands, and what they say."""
    for found in _BLOCKS.finditer(PAGE.read_text(encoding="utf-8")):
        yield found[1], found[2]


def says(seen: str, shown: str) -> bool:
    """Whether it is what the page shows; `…` stands for anything within a line, and blanks are blanks."""
    lines = [" ".join(line.split()) for line in seen.strip().splitlines() if line.strip()]
    wanted = [" ".join(line.split()) for line in shown.strip().splitlines()]
    return len(lines) == len(wanted) and all(
        re.fullmatch(".+".join(map(re.escape, pattern.split("…"))), line)
        for line, pattern in zip(lines, wanted, strict=True)
    )


async def key_of(stack: Stack) -> dict[str, str]:
    """A key as its holder knows it, as the variables that `fe login` reads."""
    pepper = stack.settings.api_key_pepper
    assert pepper is not None
    key = await stack.db.transact(
        create_key, stack.tenant, Environment.TESTECF, pepper=bytes.fromhex(pepper.get_secret_value())
    )
    return {"FE_API_KEY_ID": key.record.api_key_id, "FE_API_SECRET": key.secret}


async def test_every_command_of_the_page_says_what_it_shows(dsn: str, tmp_path: Path, nursery: trio.Nursery) -> None:
    world = tmp_path / "world.json"
    world.write_text(json.dumps(WORLD))
    ran = 0
    async with running_stack(dsn, tmp_path, simulator=SimulatorSettings(world=world)) as stack:
        plain = {name: value for name, value in environment().items() if not name.startswith(("FE_", "LC_"))}
        told = {
            **plain,
            **await key_of(stack),
            "BASE": stack.base_url,
            "PATH": path_with_fe(),
            "XDG_CONFIG_HOME": str(tmp_path / "config"),
            "LANG": "C.UTF-8",
        }
        process: trio.Process = await nursery.start(
            lambda task_status: trio.run_process(  # noqa: ASYNC105  (the nursery awaits it)
                ["bash", "--norc"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                check=False,
                cwd=tmp_path,
                env=told,
                task_status=task_status,
            )
        )
        shell = Shell(process)
        for commands, shown in blocks():
            seen = await shell.run(commands)
            assert says(seen, shown), f"the page shows\n{shown}\nbut it was\n{seen}"
            ran += 1
        nursery.cancel_scope.cancel()
    assert ran >= 7
