"""`python -m clients.generate`: the parts of the clients that are made from the description as the code here has it.

Tests compare what is written. The core of TypeScript is made by openapi-typescript, which `npm ci` in
clients/typescript installs.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from clients.members import member_files
from clients.python_models import python_models
from clients.typed_models import typed_models
from fe.http.openapi.served import description

HERE = Path(__file__).resolve().parent
PYTHON_CORE = HERE / "python" / "fe_client" / "models.py"
TYPESCRIPT = HERE / "typescript"
TYPESCRIPT_CORE = Path("src", "core.ts")
GENERATOR = ("openapi-typescript", "--root-types", "--root-types-no-schema-prefix", "--export-type")


def schemas_of(described: dict[str, Any]) -> dict[str, Any]:
    """The schemas without those that merge several answers: our clients tell the answers apart."""
    return {name: each for name, each in described["components"]["schemas"].items() if "x-one-of" not in each}


def source_files(described: dict[str, Any]) -> dict[str, str]:
    """Write the sources for Java, C# and PHP, by their files below `clients`."""
    return member_files(described["components"]["schemas"]) | typed_models(described, schemas_of(described))


def python_core(described: dict[str, Any]) -> str:
    """The module of models, as `ruff format` leaves it."""
    ruff = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(PYTHON_CORE), "-"]
    models = python_models(schemas_of(described))
    return subprocess.run(ruff, input=models, capture_output=True, text=True, check=True).stdout  # noqa: S603  (ours)


def typescript_core(described: dict[str, Any], package: Path = TYPESCRIPT) -> str:
    """The module of types. Ends the program where `npm ci` was not run in `package`."""
    generator = package / "node_modules" / ".bin" / GENERATOR[0]
    if not generator.exists():
        raise SystemExit(f"npm ci in {package} first: the types of TypeScript are made by {GENERATOR[0]}")
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "openapi.json"), Path(folder, "core.ts")
        # Of schemas alone: what there is to call is written by hand, and better named.
        components = {"schemas": schemas_of(described)}
        source.write_text(
            json.dumps({**described, "paths": {}, "webhooks": {}, "components": components}), encoding="utf-8"
        )
        made = [str(generator), str(source), *GENERATOR[1:], "--output", str(target)]
        subprocess.run(made, cwd=package, capture_output=True, text=True, check=True)  # noqa: S603  (ours)
        return target.read_text(encoding="utf-8")


def main() -> None:
    """Write all of them."""
    described = description()
    for file, text in source_files(described).items():
        (HERE / file).write_text(text, encoding="utf-8")
    PYTHON_CORE.write_text(python_core(described), encoding="utf-8")
    (TYPESCRIPT / TYPESCRIPT_CORE).write_text(typescript_core(described), encoding="utf-8")


if __name__ == "__main__":
    main()
