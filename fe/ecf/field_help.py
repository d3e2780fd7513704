"""Plain words for each element of the format, in English and in Spanish (field_help.csv).

A key is an element's name; where a name means something else in one group, `Group.Name`; in one kind of document alone,
`ROOT:Name`. A test checks that every element has its words, and that every key is an element.
"""

from functools import cache

from fe.ecf.data_files import csv_rows
from fe.ecf.texts import Text

FIELD_HELP = {row["element"]: Text(row["en"], row["es"]) for row in csv_rows("ecf/field_help.csv")}


@cache
def key_of(root: str, path: str) -> str:
    """Return the key of the element at a path; KeyError for a path that is no element's."""
    group, _, name = path.rpartition(".")
    for key in (f"{root}:{name}", f"{group.rpartition('.')[2]}.{name}", name):
        if key in FIELD_HELP:
            return key
    raise KeyError(path)


def help_of(root: str, path: str) -> Text:
    """Explain the element at a path (names joined by dots, without numbers) in a document of that root."""
    return FIELD_HELP[key_of(root, path)]
