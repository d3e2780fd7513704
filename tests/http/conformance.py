"""Makes docs/conformance.md: every sentence and table row of the interface document beside the tests that prove it.

    python -m tests.http.conformance path/to/interface.md > docs/conformance.md

The document itself is not part of this repository; where it is at hand a test sees that the page is up to date and that
no sentence is missing.
"""

import importlib
import pkgutil
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import tests
from tests.http import contract

_FENCE = re.compile(r"^\|[-| ]+\|$")
_HEADERS = frozenset(
    {
        "| Field | Type / format | Notes |",
        "| Field | Type | Meaning |",
        "| Field | Type | Notes |",
        "| Field | Type | Required | Notes |",
        "| Field | Type | Required | Description |",
        "| Field | Type | Required | Default | Notes |",
        "| Path | Type shown | Notes |",
        "| Omitted field | Derived from |",
        "| TipoeCF | Document type |",
        "| Root element | Document | Destination at the authority |",
        "| Status | Meaning | Billable |",
        "| Status | Message | Cause |",
        "| Status | Typical message | Cause |",
        "| From | Trigger | Condition | To | Also |",
        "| From | Trigger | To | Also |",
        "| Endpoint | Scope |",
        "| Scope | Permits |",
        "| Query param | Type | Default | Notes |",
        "| Query param | Type | Default | Max | Notes |",
        "| Item field | Type | Meaning |",
        "| Header | Value |",
        "| Code | Meaning |",
        "| Error | Cause |",
        "| Limit | Value | Applies to |",
    }
)
_SENTENCE = re.compile(r"(?<=\.)\s+(?=[A-Z`{(])")

#: Sentences that other parts than the HTTP front fulfil, by section and beginning: where they are proved, or why there
#: is nothing to prove.
ELSEWHERE: dict[tuple[str, str], str] = {
    ("Electronic Fiscal Receipt Submission Service — Interface Specification", ""): "about the document itself",
    ("What the service does", "The service is an HTTP/JSON interface"): "about the whole",
    ("API key (credential)", "Other fields of the key record"): "tests/cli (keys)",
    (
        "Structured receipt payload (`payload` when `format` is `structured`)",
        "",
    ): "tests/ecf (document, autofill, totals)",
    ("Digital certificate and users", ""): "tests/issuing (certificate choice), tests/cli (certificates, users)",
    ("Submission status", "The authority additionally can answer"): "tests/actors (tracker, reconciler)",
    ("Submission status", "| queued | worker | transient failure"): "tests/queue (retry schedule, dead letters)",
    ("GET /billing/current-period", "Management of keys"): "outside the API",
    ("Authentication", "Two layers"): "a heading",
    ("Authentication", "Long-lived credentials"): "tests/cli (keys); the portal",
    ("Authentication", "Credentials rotate independently"): "tests/cli (keys); the portal",
    ("Authentication failures", "The login throttle is in Limits"): "a reference",
    ("Signature verification", ""): "tests/webhooks (recipes, vectors)",
    ("Delivery rules", ""): "tests/webhooks (deliverer, schedule)",
    ("Authority states", "`Aceptado`, `Aceptado Condicional`"): "tests/authority (replies), tests/actors",
    (
        "Asynchronous worker errors (after a 202)",
        "",
    ): "tests/actors (signer, sender), tests/issuing (certificate choice)",
    ("Limits", "| Transient worker retries"): "tests/queue (retry schedule)",
    ("Versioning", ""): "the routes themselves: every path below /api/v1/fe",
}


@dataclass
class Unit:
    """A sentence or a table row of the interface document."""

    section: str
    text: str
    proofs: list[str] = field(default_factory=list)
    elsewhere: str | None = None


def units(document: str) -> list[Unit]:
    """Cut the document up."""
    found: list[Unit] = []
    section = ""
    for line in document.splitlines():
        if line.startswith("#"):
            section = line.lstrip("# ").strip()
        elif line.startswith("|"):
            if not _FENCE.match(line) and line not in _HEADERS:
                found.append(Unit(section, line))
        elif line.strip():
            text = re.sub(r"^[0-9]\. ", "", line.strip())
            sentences = _SENTENCE.split(text)
            # A line that only announces a table or a list says nothing by itself.
            found += [Unit(section, each) for each in sentences if not (each.endswith(":") and each.count(" ") < 3)]
    return found


def proofs() -> Iterator[tuple[str, str, str]]:
    """Every (section, beginning, test) that the contract tests claim."""
    for module in _modules():
        for name in dir(module):
            test = getattr(module, name)
            for section, beginning in getattr(test, "__clauses__", ()):
                yield section, beginning, f"{module.__name__.removeprefix('tests.').replace('.', '/')}.py::{name}"


def _modules() -> Iterator[ModuleType]:
    for found in pkgutil.iter_modules(contract.__path__):
        yield importlib.import_module(f"{contract.__name__}.{found.name}")


def conform(document: str) -> tuple[list[Unit], list[tuple[str, str, str]]]:
    """Lay proofs beside units; also gives the claims that fit no unit."""
    cut = units(document)
    astray = []
    for section, beginning, test in proofs():
        fitting = [unit for unit in cut if unit.section == section and beginning in unit.text]
        for unit in fitting:
            if test not in unit.proofs:
                unit.proofs.append(test)
        if not fitting:
            astray.append((section, beginning, test))
    for unit in cut:
        for (section, beginning), where in ELSEWHERE.items():
            if unit.section == section and unit.text.startswith(beginning):
                unit.elsewhere = where
    return cut, astray


def page(cut: list[Unit]) -> str:
    """Write the page."""
    lines = [
        "# Conformance",
        "",
        "Every sentence and table row of the interface document, in its order, and what proves it.",
        "Generated by `python -m tests.http.conformance`; do not edit.",
        "",
        f"{len(cut)} clauses; {sum(bool(unit.proofs) for unit in cut)} have contract tests over HTTP, "
        f"{sum(not unit.proofs for unit in cut)} are proved elsewhere or say nothing that could be tested.",
    ]
    section = None
    for unit in cut:
        if unit.section != section:
            section = unit.section
            lines += ["", f"## {section}", "", "| Clause | Proved by |", "| --- | --- |"]
        text = unit.text.strip("| ").replace("|", "\\|")
        shown = text if len(text) <= 110 else f"{text[:107]}..."
        where = "<br>".join(f"`{proof}`" for proof in unit.proofs) or unit.elsewhere or "**nothing**"
        if unit.proofs and unit.elsewhere:
            where += f"<br>{unit.elsewhere}"
        lines.append(f"| {shown} | {where} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the page for the document named on the command line."""
    default = Path(tests.__file__).parents[2] / "shared" / "spec" / "interface.md"
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    cut, astray = conform(path.read_text(encoding="utf-8"))
    for section, beginning, test in astray:
        print(f"fits nothing: {section!r} {beginning!r} in {test}", file=sys.stderr)  # noqa: T201  (a command's output)
    print(page(cut), end="")  # noqa: T201  (likewise)


if __name__ == "__main__":
    main()
