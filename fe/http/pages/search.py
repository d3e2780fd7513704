"""Search of the catalogue: bounded work over an index that is built once, since no token is needed."""

import unicodedata
from functools import cache
from html import escape
from typing import NamedTuple

from fe.ecf.describe import every
from fe.ecf.field_help import help_of
from fe.ecf.texts import Text
from fe.http.languages import Language
from fe.http.pages.fields import list_of, search_form
from fe.http.pages.papers import PAPERS
from fe.http.pages.texts import said

#: A longer query is cut, and more results are not shown.
LONGEST = 64
MAX_WORDS = 6
MAX_FOUND = 40


class Entry(NamedTuple):
    """An element, or a kind of document: what is searched, and where it is."""

    name: str
    path: str
    words: Text
    #: The kinds of document that have it: their place in addresses, and how people write them.
    papers: tuple[tuple[str, str], ...]
    #: In all languages, folded: the name by itself, and all there is.
    folded_name: str
    folded: str


def fold(text: str) -> str:
    """Text without accents and case."""
    bare = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in bare if not unicodedata.combining(c))


@cache
def index() -> tuple[Entry, ...]:
    """All that can be found: the kinds of document, then their elements; those that several have are there once."""
    entries = []
    papers: dict[tuple[str, Text], list[tuple[str, str]]] = {}
    more: dict[tuple[str, Text], list[str]] = {}
    for paper in PAPERS:
        text = fold(" ".join((paper.code, paper.title.en, paper.title.es, paper.about.en, paper.about.es)))
        title = fold(" ".join((paper.code, paper.title.en, paper.title.es)))
        entries.append(Entry(paper.code, "", paper.title, ((paper.slug, paper.code),), title, text))
        for element in every(paper.tree):
            # Entries with the same name, place and meaning are found once.
            key = (element.path, help_of(paper.root, element.path))
            papers.setdefault(key, []).append((paper.slug, paper.code))
            if list_of(element.simple) is None:
                more[key] = [f"{code.meaning} {code.meaning_es}" for code in element.codes]
    for (path, words), having in papers.items():
        name = path.rpartition(".")[2]
        text = fold(" ".join((path, words.en, words.es, *more.get((path, words), ()))))
        entries.append(Entry(name, path, words, tuple(having), fold(name), text))
    return tuple(entries)


def find(asked: str) -> list[Entry]:
    """Find entries with all words of the query, in either language; matches in the name come first."""
    wanted = fold(asked[:LONGEST]).split()[:MAX_WORDS]
    if not wanted:
        return []
    found = [entry for entry in index() if all(word in entry.folded for word in wanted)]
    return sorted(found, key=lambda entry: not all(word in entry.folded_name for word in wanted))


def results_html(asked: str, base: str, language: Language) -> str:
    """The page that answers a search, without its shell."""
    asked = asked[:LONGEST]
    found = find(asked)
    heading = f"{said('found', language)}: {len(found)} ({asked})"
    parts = [
        search_form(base, language, asked),
        f"<h1>{escape(heading)}</h1>",
    ]
    if not found:
        parts.append(f"<p>{said('none-found', language)}</p>")
    if len(found) > MAX_FOUND:
        parts.append(f'<p class="soft">{said("first-found", language).replace("{}", str(MAX_FOUND))}</p>')
    for entry in found[:MAX_FOUND]:
        where = f"#{entry.path}" if entry.path else ""
        links = " ".join(
            f'<a class="t" href="{base}/{language}/fields/{slug}{where}">{code}</a>' for slug, code in entry.papers
        )
        words = escape(entry.words.said(language))
        first = f"{base}/{language}/fields/{entry.papers[0][0]}{where}"
        path = f"<br><small>{entry.path}</small>" if "." in entry.path else ""
        parts.append(
            f'<div class="hit"><a href="{first}"><code>{entry.name}</code></a>{path}<p>{words}</p>{links}</div>'
        )
    return "".join(parts)
