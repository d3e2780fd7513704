"""Search of the guide and the catalogue: bounded work over indexes that are built once, since no token is needed."""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from html import escape
from textwrap import shorten
from typing import NamedTuple, TypeVar

from fe.ecf.describe import every
from fe.ecf.field_help import help_of
from fe.ecf.texts import Text
from fe.http.languages import Language
from fe.http.pages.fields import list_of, search_form
from fe.http.pages.guide import anchor, guide_pages
from fe.http.pages.papers import PAPERS
from fe.http.pages.texts import said

#: A longer query is cut, and more results are not shown.
LONGEST = 64
MAX_WORDS = 6
MAX_FOUND = 40
MAX_SECTIONS = 10
_HEADING = re.compile(r"^#{1,3} (.+)$")
_MARKS = re.compile(r"^[|: -]+$|^ *- |^\*\[.*$|[`*#|]|\]\([^)]*\)|\[", re.MULTILINE)
#: Letters of a section's beginning that are shown.
_SHOWN = 160


class GuideSection(NamedTuple):
    """A section of the guide: its heading, the title of its page, where it is, and its beginning."""

    heading: str
    page: str
    address: str
    begins: str
    #: Folded: the heading with the page's title, and all of it.
    folded_name: str
    folded: str


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


_Found = TypeVar("_Found", Entry, GuideSection)


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


@cache
def sections(language: Language) -> tuple[GuideSection, ...]:
    """All sections of the guide in a language; pages that it lacks are left out."""
    found = []
    for place, each in guide_pages().items():
        page = each.get(language)
        if page is None:
            continue
        # Headings, and the lines below each: prose, and code.
        parts: list[tuple[str, list[str], list[str]]] = []
        in_code = False
        for line in page.text.splitlines():
            in_code ^= line.startswith("```")
            heading = None if in_code else _HEADING.match(line)
            if heading is not None:
                parts.append((heading[1], [], []))
            elif parts and not line.startswith("```"):
                _, prose, code = parts[-1]
                (code if in_code else prose).append(line)
        for number, (heading_text, prose, code) in enumerate(parts):
            title, text = _MARKS.sub("", heading_text), " ".join(_MARKS.sub("", "\n".join(prose)).split())
            name = fold(f"{title} {page.title}")
            where = f"{place}#{anchor(heading_text)}" if number else place
            folded = f"{name} {fold(text)} {fold(' '.join(code))}"
            found.append(GuideSection(title, page.title, where, shorten(text, _SHOWN, placeholder=" …"), name, folded))
    return tuple(found)


def find_sections(asked: str, language: Language) -> list[GuideSection]:
    """Find sections of the guide with all words of the query; matches in a heading come first."""
    return _find(asked, sections(language))


def find(asked: str) -> list[Entry]:
    """Find entries with all words of the query, in either language; matches in the name come first."""
    return _find(asked, index())


def _find(asked: str, among: Sequence[_Found]) -> list[_Found]:
    wanted = fold(asked[:LONGEST]).split()[:MAX_WORDS]
    if not wanted:
        return []
    found = [one for one in among if all(word in one.folded for word in wanted)]
    return sorted(found, key=lambda one: not all(word in one.folded_name for word in wanted))


def results_html(asked: str, base: str, language: Language) -> str:
    """The page that answers a search, without its shell."""
    asked = asked[:LONGEST]
    found, of_guide = find(asked), find_sections(asked, language)
    heading = f"{said('found', language)}: {len(found) + len(of_guide)} ({asked})"
    parts = [
        search_form(base, language, asked),
        f"<h1>{escape(heading)}</h1>",
    ]
    if not found and not of_guide:
        parts.append(f"<p>{said('none-found', language)}</p>")
    if of_guide:
        parts.append(f"<h2>{said('guide', language)}</h2>")
    for section in of_guide[:MAX_SECTIONS]:
        page = "" if section.page == section.heading else f"<br><small>{escape(section.page)}</small>"
        parts.append(
            f'<div class="hit"><a href="{base}/{language}/{section.address}">{escape(section.heading)}</a>{page}'
            f"<p>{escape(section.begins)}</p></div>"
        )
    if len(of_guide) > MAX_SECTIONS:
        parts.append(f'<p class="soft">{said("first-found", language).replace("{}", str(MAX_SECTIONS))}</p>')
    if found:
        parts.append(f"<h2>{said('fields', language)}</h2>")
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
