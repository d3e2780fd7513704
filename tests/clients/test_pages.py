"""The pages of the clients: their code is the same in both languages, and the guide shows all of it that it names.

tests/newcomer/test_languages.py runs it.
"""

import re
from pathlib import Path

import pytest

from fe.http.pages.examples import LANGUAGES, examples
from tests.clients.snippets import CLIENTS, program

GUIDE = CLIENTS.parent / "docs" / "api"


@pytest.mark.parametrize("language", LANGUAGES)
def test_pages_in_spanish_have_the_same_code(language: str) -> None:
    page = CLIENTS / language / "README.md"
    assert program(page.with_name("README.es.md"), LANGUAGES[language]) == program(page, LANGUAGES[language])


def test_guide_shows_every_example_and_every_language_has_it() -> None:
    named = {name for page in GUIDE.glob("*.md") for name in places(page)}

    assert {language: set(each) for language, each in examples().items()} == dict.fromkeys(LANGUAGES, named)


@pytest.mark.parametrize("page", sorted(GUIDE.glob("*.md")), ids=lambda page: page.stem)
def test_guide_in_spanish_shows_the_same_examples(page: Path) -> None:
    spanish = GUIDE / "es" / page.name
    assert not spanish.exists() or places(spanish) == places(page)


def places(page: Path) -> list[str]:
    return re.findall(r"^<!-- in each language: ([\w-]+) -->$", page.read_text(encoding="utf-8"), re.M)
