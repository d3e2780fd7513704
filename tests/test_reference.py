"""Comments cite pages of this repository, by anchors that are there: nothing leads out of it."""

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"
GLOSSARY = ROOT / "docs" / "glossary.md"

#: A page of the reference and its anchors: `authority.md#session`, `authority.md#reception, #messages and #checks`.
_ANCHOR = r"#[\w-]+(?: \(\d+\))?"
_CITATION = re.compile(
    rf"\b({'|'.join(page.stem for page in REFERENCE.glob('*.md'))})\.md({_ANCHOR}(?:(?:, | and | to ){_ANCHOR})*)"
)
_PAGE = re.compile(r"[\w./-]*\w\.md\b(?!\w)")

#: They read the contract itself, where it is at hand, to prove each of its sentences.
LEFT_ALONE = {"conformance.py", "test_conformance.py"}


def sources() -> list[Path]:
    """Everything with comments, but what is left alone and this page of tests itself."""
    found = [
        path
        for folder in ("fe", "sql", "tests", "bench", "ops")
        for suffix in ("py", "sql", "yml")
        for path in (ROOT / folder).rglob(f"*.{suffix}")
    ]
    return sorted(path for path in found if path.name not in LEFT_ALONE and path != Path(__file__).resolve())


def lines(paths: list[Path]) -> Iterator[tuple[str, str]]:
    """Each line of the files, and where it is."""
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            yield f"{path.relative_to(ROOT)}:{number}", line


def anchors(page: str) -> list[str]:
    return re.findall(r'<a id="([\w-]+)">', (REFERENCE / f"{page}.md").read_text(encoding="utf-8"))


def cited(text: str) -> Iterator[tuple[str, str]]:
    for page, some in _CITATION.findall(text):
        for anchor in re.findall(r"#([\w-]+)", some):
            yield page, anchor


def test_every_citation_of_the_reference_resolves() -> None:
    known = {page.stem: anchors(page.stem) for page in REFERENCE.glob("*.md")}
    found = [(where, page, anchor) for where, line in lines(sources()) for page, anchor in cited(line)]

    assert [one for one in found if one[2] not in known[one[1]]] == []
    assert {page for _, page, _ in found} >= {"authority", "interface"}


def test_no_document_outside_the_repository_is_cited() -> None:
    ours = {path.name for folder in (".", "docs", "ops", "bench") for path in (ROOT / folder).rglob("*.md")} | {
        "README.md"
    }
    astray = []
    for where, line in lines(sources()):
        for page in _PAGE.findall(_CITATION.sub("", line)):
            # The contract is now a page of the reference, so a bare file name does not tell where to find it.
            bare = page in {"authority.md", "interface.md"}
            if bare or Path(page).name not in ours:
                astray.append(f"{where}: {page}")

    assert astray == []


@pytest.mark.parametrize("page", sorted(path.stem for path in REFERENCE.glob("*.md")))
def test_the_anchors_of_a_page_are_unique_and_its_links_resolve(page: str) -> None:
    text = (REFERENCE / f"{page}.md").read_text(encoding="utf-8")
    named = anchors(page)

    assert sorted(set(named)) == sorted(named)
    for other, anchor in re.findall(r"\]\((\w*)(?:\.md)?#([\w-]+)\)", text):
        assert anchor in anchors(other or page), f"{other}#{anchor}"


def test_the_glossary_is_in_order_and_each_word_is_explained_in_a_sentence_or_two() -> None:
    rows = re.findall(r"^\| ([^|]+) \| ([^|]*)\| ([^|]+) \|$", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE)[1:]
    words = [word for word, _, _ in rows if word != "---"]

    assert len(words) >= 25
    assert words == sorted(
        words, key=lambda word: unicodedata.normalize("NFKD", word).encode("ascii", "ignore").lower()
    )
    assert [
        word for word, _, meaning in rows if word != "---" and not 1 <= len(re.findall(r"[.](?= |$)", meaning)) <= 2
    ] == []
