"""docs/architecture.md has every room on the floor on which the import contracts have it; and names are told apart."""

import ast
import re
import tomllib
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_the_table_of_the_tree_is_what_the_linter_enforces() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| ([^|]+) \|", text, re.MULTILINE)
    told = {room: int(floor) for floor, rooms in rows for room in re.findall(r"`fe/(\w+)(?:\.py)?`", rooms)}

    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    (layers,) = (contract["layers"] for contract in contracts if contract.get("containers") == ["fe"])
    enforced = {room: floor for floor, rooms in enumerate(reversed(layers), 1) for room in re.findall(r"\w+", rooms)}

    assert told == enforced


#: Public classes that share a name, and why each pair is better so than with two names. There is none now.
SHARED_NAMES: dict[str, str] = {}


def test_no_two_public_classes_share_a_name() -> None:
    """A reader who sees `Delivery` in a diff knows which class it is without the import line."""
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted((ROOT / "fe").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert places, "classes are looked for where they are"

    shared = {name: where for name, where in places.items() if len(where) > 1}
    assert {name: where for name, where in shared.items() if name not in SHARED_NAMES} == {}
    assert set(SHARED_NAMES) <= set(shared), "listed, and shared no more"
