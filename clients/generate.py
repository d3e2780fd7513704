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

from clients.examples import PAGES, with_examples
from clients.members import member_files
from clients.python_models import python_models
from fe.http.openapi.served import description

HERE = Path(__file__).resolve().parent
PYTHON_CORE = HERE / "python" / "fe_client" / "models.py"
TYPESCRIPT = HERE / "typescript"
TYPESCRIPT_CORE = Path("src", "core.ts")
GENERATOR = ("openapi-typescript", "--root-types", "--root-types-no-schema-prefix", "--export-type")


def _schemas(described: dict[str, Any]) -> dict[str, Any]:
    """The schemas without those that merge several answers: our clients tell the answers apart."""
    return {name: each for name, each in described["components"]["schemas"].items() if "x-one-of" not in each}


def python_core(described: dict[str, Any]) -> str:
    """The module of models, as `ruff format` leaves it."""
    ruff = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(PYTHON_CORE), "-"]
    models = python_models(_schemas(described))
    return subprocess.run(ruff, input=models, capture_output=True, text=True, check=True).stdout  # noqa: S603  (ours)


def typescript_core(described: dict[str, Any], package: Path = TYPESCRIPT) -> str:
    """The module of types. Ends the program where `npm ci` was not run in `package`."""
    generator = package / "node_modules" / ".bin" / GENERATOR[0]
    if not generator.exists():
        raise SystemExit(f"npm ci in {package} first: the types of TypeScript are made by {GENERATOR[0]}")
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "openapi.json"), Path(folder, "core.ts")
        # Of schemas alone: what there is to call is written by hand, and better named.
        components = {"schemas": _schemas(described)}
        source.write_text(
            json.dumps({**described, "paths": {}, "webhooks": {}, "components": components}), encoding="utf-8"
        )
        made = [str(generator), str(source), *GENERATOR[1:], "--output", str(target)]
        subprocess.run(made, cwd=package, capture_output=True, text=True, check=True)  # noqa: S603  (ours)
        return target.read_text(encoding="utf-8")


def main() -> None:
    """Write all of them."""
    described = description()
    for file, text in member_files(described["components"]["schemas"]).items():
        (HERE / file).write_text(text, encoding="utf-8")
    for page in PAGES:
        page.write_text(with_examples(page.read_text(encoding="utf-8")), encoding="utf-8")
    PYTHON_CORE.write_text(python_core(described), encoding="utf-8")
    (TYPESCRIPT / TYPESCRIPT_CORE).write_text(typescript_core(described), encoding="utf-8")


if __name__ == "__main__":
    main()
