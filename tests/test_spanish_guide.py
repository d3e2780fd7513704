"""The integrator's guide in Spanish says what the English one says: the same sections, examples and tables.

Its commands are run, and its answers compared, where the English pages' are (tests/http/test_api_docs.py): here the
blocks of both are held to be the same.
"""

import re
from pathlib import Path

import pytest

API = Path(__file__).resolve().parents[1] / "docs" / "api"
PAGES = sorted(page.name for page in API.glob("*.md"))

_BLOCK = re.compile(r"^```.*?^```$", re.M | re.S)
_HEADING = re.compile(r"^(#+) ", re.M)
_CODE = re.compile(r"`[^`\n]+`")
_ROW = re.compile(r"^\|.*\|$", re.M)
_LINK = re.compile(r"\]\(([^)\s]+)\)")


def read(page: str, language: str) -> str:
    return (API / page if language == "en" else API / language / page).read_text(encoding="utf-8")


def prose(text: str) -> str:
    return _BLOCK.sub("", re.sub(r"<!--.*?-->", "", text))


def blocks(text: str) -> list[str]:
    """The examples; what a terminal shows is in the language that it speaks, so of that only the place counts."""
    found = _BLOCK.findall(text)
    return ["" if block.startswith("```text") else block.replace("es_DO.UTF-8", "en_US.UTF-8") for block in found]


def keys(text: str) -> list[tuple[int, list[str]]]:
    """Of each row of the tables: how many cells, and what its first one names that is not words of a language."""
    rows = []
    for row in _ROW.findall(prose(text)):
        cells = [cell.strip() for cell in row.strip("|").split(" | ")]
        rows.append((len(cells), [*_CODE.findall(cells[0]), *re.findall(r"\b\d+\b", _CODE.sub("", cells[0]))]))
    return rows


def test_there_is_a_spanish_page_for_every_page() -> None:
    assert sorted(page.name for page in (API / "es").glob("*.md")) == PAGES


@pytest.mark.parametrize("page", PAGES)
def test_it_has_the_same_sections_examples_and_tables(page: str) -> None:
    english, spanish = read(page, "en"), read(page, "es")

    assert _HEADING.findall(prose(spanish)) == _HEADING.findall(prose(english))
    assert blocks(spanish) == blocks(english)
    assert keys(spanish) == keys(english)


@pytest.mark.parametrize("page", PAGES)
def test_it_names_the_same_fields_paths_and_headers(page: str) -> None:
    """A field that only one of them explains is one that half of the readers never hear of."""
    english = set(_CODE.findall(prose(read(page, "en"))))
    spanish = set(_CODE.findall(prose(read(page, "es"))))

    assert english - spanish == set()


@pytest.mark.parametrize("page", PAGES)
def test_each_leads_to_the_other(page: str) -> None:
    assert f"es/{page}" in _LINK.findall(read(page, "en"))
    assert f"../{page}" in _LINK.findall(read(page, "es"))


@pytest.mark.parametrize("page", PAGES)
def test_its_words_are_spanish(page: str) -> None:
    words = re.findall(r"[a-záéíóúñ]+", _CODE.sub("", _LINK.sub("]", prose(read(page, "es")))).lower())
    english = [word for word in words if word in {"the", "and", "is", "with", "which", "that", "not", "for"}]

    assert english == []
    assert len([word for word in words if word in {"el", "la", "de", "que", "con", "no", "una"}]) > len(words) / 10
