"""What each element of the format is, in plain words, in English and in Spanish: for the catalogue and the description.

A key is an element's name; where a name means something else in one group, `Group.Name`; in one kind of document alone,
`ROOT:Name`. A test looks that every element of the format has its words, and that every key is an element.
"""

from functools import cache
from typing import NamedTuple

from fe.ecf.words.ancillary import ANCILLARY
from fe.ecf.words.header import HEADER
from fe.ecf.words.lines import LINES
from fe.ecf.words.rest import REST
from fe.ecf.words.totals import TOTALS
from fe.ecf.words.transport import TRANSPORT

WORDS = HEADER | TRANSPORT | TOTALS | LINES | REST | ANCILLARY


class Words(NamedTuple):
    """What an element is, in a sentence or two."""

    en: str
    es: str


@cache
def key_of(root: str, path: str) -> str:
    """The key under which the words of an element stand; KeyError for a path that is no element's."""
    group, _, name = path.rpartition(".")
    for key in (f"{root}:{name}", f"{group.rpartition('.')[2]}.{name}", name):
        if key in WORDS:
            return key
    raise KeyError(path)


def words_of(root: str, path: str) -> Words:
    """What the element at a path is (names joined by dots, without numbers), in a document of that root."""
    return Words(*WORDS[key_of(root, path)])
