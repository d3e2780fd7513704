"""The code of the clients' READMEs, as programs that can be run."""

import os
import re
from pathlib import Path

CLIENTS = Path(__file__).resolve().parent.parent.parent / "clients"


def program(page: Path, language: str) -> list[str]:
    """The blocks of a page in one language, in their order: together they are a program."""
    found: list[str] = re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    assert found
    return found


def lines_of_code(block: str) -> int:
    return sum(1 for line in block.splitlines() if line.strip())


def environment(url: str, key: tuple[str, str]) -> dict[str, str]:
    """Environment of the pages' programs, without a proxy."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "TMPDIR", "LANG")}
    return {**kept, "NO_PROXY": "*", "FE_URL": url, "FE_API_KEY_ID": key[0], "FE_API_SECRET": key[1]}
