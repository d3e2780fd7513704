"""The plain words for elements: complete against the tables, in both languages, and nothing that is no element."""

from collections.abc import Iterator

import pytest

from fe.ecf.field_help import FIELD_HELP, help_of, key_of
from fe.ecf.schema.kinds import kinds
from fe.ecf.schema.model import Element


def elements() -> Iterator[tuple[str, str]]:
    """(root, path) of every element there is."""

    def below(root: str, group: Element, path: str) -> Iterator[tuple[str, str]]:
        for child in group.children:
            there = f"{path}.{child.name}" if path else child.name
            yield root, there
            yield from below(root, child, there)

    for kind in kinds():
        yield from below(kind.root.name, kind.root, "")


def test_every_element_of_the_format_has_words_and_every_word_an_element() -> None:
    used = {key_of(root, path) for root, path in elements()}

    assert len(used) > 270
    assert FIELD_HELP.keys() - used == set()


@pytest.mark.parametrize("language", ["en", "es"])
def test_words_are_a_sentence_or_two(language: str) -> None:
    odd = {}
    for root, path in elements():
        words = getattr(help_of(root, path), language)
        if not (words == words.strip() and words[0].isupper() and words[-1] in ".)" and 5 < len(words) <= 200):
            odd[path] = words

    assert odd == {}


def test_the_languages_differ() -> None:
    assert [key for key, text in FIELD_HELP.items() if text.en == text.es] == []


def test_a_name_that_means_something_else_elsewhere_has_words_for_each() -> None:
    assert help_of("ECF", "DetallesItems.Item.NumeroLinea") != help_of(
        "ECF", "DescuentosORecargos.DescuentoORecargo.NumeroLinea"
    )
    assert help_of("ANECF", "Encabezado") != help_of("ECF", "Encabezado")
    with pytest.raises(KeyError):
        help_of("ECF", "Encabezado.Nada")
