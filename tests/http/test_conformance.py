"""No sentence of the interface document goes unproved, and the page that says so is up to date."""

import re
from pathlib import Path

import pytest

from tests.http import conformance

ROOT = Path(__file__).resolve().parents[2]
INTERFACE = ROOT.parent / "shared" / "spec" / "interface.md"


@pytest.mark.skipif(
    not INTERFACE.is_file(), reason=f"NOT PROVED HERE: the interface document is absent (looked for {INTERFACE})"
)
def test_every_sentence_of_the_interface_document_has_its_proof() -> None:
    cut, astray = conformance.conform(INTERFACE.read_text(encoding="utf-8"))

    assert astray == [], "these tests claim to prove sentences that are not there"
    assert [unit.text for unit in cut if not unit.proofs and unit.elsewhere is None] == []
    assert len(cut) > 300
    page = (ROOT / "docs" / "conformance.md").read_text(encoding="utf-8")
    assert page == conformance.page(cut), "run python -m tests.http.conformance > docs/conformance.md"


def test_the_other_places_that_the_page_names_exist() -> None:
    named = {path for where in conformance.ELSEWHERE.values() for path in re.findall(r"tests/\w+", where)}

    assert named
    assert [path for path in named if not (ROOT / path).is_dir()] == []
