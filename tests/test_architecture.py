"""docs/architecture.md tells of every room, on the floor on which the import contracts have it."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_the_table_of_the_tree_is_what_the_linter_enforces() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| ([^|]+) \|", text, re.MULTILINE)
    told = {room: int(floor) for floor, rooms in rows for room in re.findall(r"`fe/(\w+)(?:\.py)?`", rooms)}

    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    (layers,) = (contract["layers"] for contract in contracts if contract["type"] == "layers")
    enforced = {room: floor for floor, rooms in enumerate(reversed(layers), 1) for room in re.findall(r"\w+", rooms)}

    assert told == enforced
