"""The catalogue: a page for each kind of document with its elements, made from the tables of the format."""

import json
from collections.abc import Iterator
from functools import cache
from html import escape
from typing import Any, NamedTuple

from fe.ecf.catalogue import Root
from fe.ecf.describe import Described, every
from fe.ecf.field_help import help_of
from fe.ecf.rules.assumed import may_be_taxed
from fe.ecf.schema.codes import CODES, GEOGRAPHY, UNITS
from fe.ecf.schema.model import Code, Simple, ValueForm
from fe.ecf.schema.repairs import sample
from fe.http.examples import EXAMPLES, Example
from fe.http.languages import Language
from fe.http.pages.layout import MARKDOWN
from fe.http.pages.papers import PAPERS, Paper
from fe.http.pages.texts import said

#: Lists that have a place of their own on the page of codes.
LONG_LISTS: dict[str, tuple[Code, ...]] = {
    "units": UNITS,
    "currencies": CODES["currency"],
    "taxes": CODES["additional-tax"],
    "places": GEOGRAPHY,
}
_RATE_OF_A_LINE = "DetallesItems.Item.IndicadorFacturacion"


def list_of(simple: Simple | None) -> str | None:
    """The name of the long list whose codes a value has."""
    if simple is None or not simple.codes:
        return None
    return next((name for name, values in LONG_LISTS.items() if values is simple.codes), None)


def meaning(code: Code, language: Language) -> str:
    """The meaning of a code."""
    return code.meaning_es if language == "es" else code.meaning


class Section(NamedTuple):
    """A part of the page: the group at `path`, and what is in it."""

    path: str
    group: Described | None
    elements: tuple[Described, ...]


def sections(paper: Paper) -> Iterator[Section]:
    """The parts of a kind of document: the groups of its header one by one, then the other groups."""
    for top in paper.tree.children:
        groups = [child for child in top.children if child.children]
        if top.name != "Encabezado" or not groups:
            yield Section(top.path, top, tuple(every(top)) or (top,))
            continue
        leaves = tuple(child for child in top.children if not child.children)
        yield Section(top.path, top, leaves)
        for group in groups:
            yield Section(group.path, group, tuple(every(group)))


def must_be_sent(paper: Paper) -> Iterator[Described]:
    """The values without which no receipt of the kind is whole, and the rate of a line: without it a line is exempt."""
    is_taxed = paper.root is Root.ECF and paper.type is not None and may_be_taxed(paper.type)

    def below(of: Described) -> Iterator[Described]:
        for child in of.children:
            if child.needed and child.children:
                yield from below(child)
            elif child.needed or (is_taxed and child.path == _RATE_OF_A_LINE):
                yield child

    return below(paper.tree)


def examples_of(paper: Paper) -> list[Example]:
    """The examples of a kind of document."""
    return [example for example in EXAMPLES if example.type == paper.slug]


@cache
def _values(slug: str) -> dict[str, Any]:
    """The first example value of each path; examples of the kind itself come before the others."""
    found: dict[str, Any] = {}

    def below(content: Any, path: str) -> None:
        for name, value in content.items():
            there = f"{path}.{name}" if path else name
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, dict):
                    below(one, there)
                else:
                    found.setdefault(there, one)

    for example in sorted(EXAMPLES, key=lambda one: one.type != slug):
        below(example.payload, "")
    return found


def example_of(paper: Paper, element: Described) -> str | None:
    """A value that the element might have, as JSON; None for a group and for a free text that no example has."""
    simple = element.simple
    if simple is None:
        return None
    if element.path == "Encabezado.IdDoc.TipoeCF":
        return json.dumps(paper.slug if paper.type else "31") if paper.slug != "rfce" else '"32"'
    if element.path.endswith("eNCF") and paper.type is not None:
        return json.dumps(f"{paper.type.prefix}0000000001")
    value = _values(paper.slug).get(element.path)
    if value is None or (simple.codes and str(value) not in {code.value for code in simple.codes}):
        if simple.form is ValueForm.TEXT and simple.pattern is None and not simple.codes:
            return None
        value = sample(simple)
    return json.dumps(value, ensure_ascii=False)


@cache
def _needs(slug: str) -> frozenset[str]:
    """The paths that are required however little is sent."""
    paper = next(one for one in PAPERS if one.slug == slug)

    def below(of: Described) -> Iterator[str]:
        for child in of.children:
            if child.needed:
                yield child.path
                yield from below(child)

    return frozenset(below(paper.tree))


_TAG_CLASSES = {"need": "t need", "with": "t need", "ours": "t fill", "fill": "t fill", "may": "t"}


def standing(paper: Paper, element: Described) -> str:
    """Whether it has to be sent: a key of `_TAG_CLASSES`."""
    if element.filled is not None:
        return "ours" if element.filled.always else "fill"
    if element.needed:
        return "need" if element.path in _needs(paper.slug) else "with"
    return "may"


def tag(paper: Paper, element: Described, language: Language) -> str:
    """The same in words."""
    return said(f"tag-{standing(paper, element)}", language)


def form(element: Described, language: Language) -> str:
    """The form of a value in a phrase; empty for a group and for a list of codes, which is shown."""
    simple = element.simple
    if simple is None or simple.codes:
        return ""
    return simple.expected_es if language == "es" else simple.expected


def short_codes(paper: Paper, element: Described) -> tuple[Code, ...]:
    """The codes that are listed with the element; of the types only its own."""
    if list_of(element.simple) is not None:
        return ()
    if element.path == "Encabezado.IdDoc.TipoeCF" and paper.type is not None:
        return tuple(code for code in element.codes if code.value == paper.type.value)
    return element.codes


#: A longer example may be broken at the end of a line.
_UNBROKEN = 24

# --- as HTML --------------------------------------------------------------------------------------------------------


def search_form(base: str, language: Language, asked: str = "") -> str:
    """The field to search with; it works without a script."""
    return (
        f'<form action="{base}/{language}/fields" method="get" role="search">'
        f'<input type="search" name="q" maxlength="64" value="{escape(asked)}" '
        f'placeholder="{said("search", language)}" aria-label="{said("search", language)}">'
        f"<button>{said('find', language)}</button></form>"
    )


def paper_html(paper: Paper, base: str, language: Language) -> str:
    """The page of a kind of document, without its shell."""
    parts = [
        f"<h1>{escape(paper.code)} · {escape(paper.title.said(language))}</h1>",
        f'<p class="lead">{escape(paper.about_in_format.said(language))}</p>',
        search_form(base, language),
    ]
    least = list(must_be_sent(paper))
    parts.append(f'<h2 id="least">{said("least", language)}</h2>')
    if paper.type is not None and least:
        parts.append(f"<p>{_code(said('least-about', language))}</p>")
    parts.append(
        f'<ul class="toc">{"".join(_to(element) for element in least)}</ul>'
        if least
        else f"<p>{said('least-none', language)}</p>"
    )
    if shown := examples_of(paper):
        parts.append(
            f'<h2 id="examples">{said("examples", language)}</h2><p>{_code(said("examples-about", language))}</p>'
        )
        parts += [_example_html(example, base, language, first=not number) for number, example in enumerate(shown)]
    parts.append(f'<h2 id="all">{said("all", language)}</h2><ul class="toc">')
    parts += [
        f'<li><a href="#{section.path}"><code>{section.path.rpartition(".")[2]}</code></a>'
        for section in sections(paper)
    ]
    parts.append("</ul>")
    for section in sections(paper):
        parts.append(_section_html(paper, section, base, language))
    return "".join(parts)


def _code(text: str) -> str:
    return "".join(f"<code>{part}</code>" if n % 2 else part for n, part in enumerate(escape(text).split("`")))


def _to(element: Described) -> str:
    return f'<li><a href="#{element.path}"><code>{element.name}</code></a>'


def _example_html(example: Example, base: str, language: Language, *, first: bool) -> str:
    return (
        f"<details{' open' if first else ''}><summary><b>{escape(example.title.said(language))}</b></summary>"
        f"<p>{escape(example.about.said(language))} "
        f'<a href="{base}/examples/{example.code}.json">{said("file", language)}</a></p>'
        f"<pre><code>{escape(example.text)}</code></pre></details>"
    )


def _section_html(paper: Paper, section: Section, base: str, language: Language) -> str:
    group = section.group
    head = f'<h2 id="{section.path}"><code>{section.path}</code></h2>'
    if group is not None and group.children:
        words = escape(help_of(paper.root, section.path).said(language))
        head += f"<p>{words} {_tags(paper, group, language)}</p>"
    else:
        head = f"<h2><code>{section.path}</code></h2>"
    return head + "".join(_element_html(paper, element, section.path, base, language) for element in section.elements)


def _tags(paper: Paper, element: Described, language: Language) -> str:
    key = standing(paper, element)
    tags = f'<span class="{_TAG_CLASSES[key]}">{said("tag-" + key, language)}</span>'
    if element.many > 1:
        tags += f'<span class="t">{said("up-to", language).replace("{}", str(element.many))}</span>'
    return tags


def _element_html(paper: Paper, element: Described, below: str, base: str, language: Language) -> str:
    prefix = element.path[len(below) + 1 :].rpartition(".")[0]
    before = f"<small>{prefix}.</small><wbr>" if prefix else ""
    more = []
    if element.filled is not None:
        how = element.filled.words_es if language == "es" else element.filled.words
        more.append(f"{said('replaced' if element.filled.always else 'omitted', language)} {escape(how)}.")
    if phrase := form(element, language):
        more.append(f"{said('form', language)} {escape(phrase)}.")
    if element.simple is not None and element.simple.pattern and element.simple.form is ValueForm.TEXT:
        more.append(f"{said('pattern', language)} <code>{escape(element.simple.pattern)}</code>")
    if (example := example_of(paper, element)) is not None:
        whole = ' class="v"' if len(example) <= _UNBROKEN else ""
        more.append(f"{said('example', language)} <code{whole}>{escape(example)}</code>")
    if (name := list_of(element.simple)) is not None:
        title = escape(said("list-" + name, language))
        more.append(f'{said("codes", language)} <a href="{base}/{language}/fields/codes#{name}">{title}</a>')
    listed = "".join(
        f"<li><code>{escape(code.value)}</code> {escape(meaning(code, language))}"
        for code in short_codes(paper, element)
    )
    return (
        f'<div class="f" id="{element.path}"><div class="n"><a href="#{element.path}">{before}'
        f"<code>{element.name}</code></a><br>{_tags(paper, element, language)}</div><div><p>"
        f"{escape(help_of(paper.root, element.path).said(language))}</p>"
        + (f'<ul class="x">{listed}</ul>' if listed else "")
        + (f'<p class="x">{" ".join(more)}</p>' if more else "")
        + "</div></div>"
    )


# --- as Markdown ----------------------------------------------------------------------------------------------------


def paper_markdown(paper: Paper, base: str, language: Language) -> str:
    """The same page as Markdown."""
    parts = [f"# {paper.code} · {paper.title.said(language)}\n", f"{paper.about_in_format.said(language)}\n"]
    least = list(must_be_sent(paper))
    parts.append(f"## {said('least', language)}\n")
    if paper.type is not None and least:
        parts.append(f"{said('least-about', language)}\n")
    parts.append("".join(f"- `{element.path}`\n" for element in least) or f"{said('least-none', language)}\n")
    if shown := examples_of(paper):
        parts.append(f"## {said('examples', language)}\n\n{said('examples-about', language)}\n")
        for example in shown:
            parts.append(
                f"### {example.title.said(language)}\n\n{example.about.said(language)} "
                f"[{said('file', language)}]({base}/examples/{example.code}.json)\n\n```json\n{example.text}```\n"
            )
    parts.append(f"## {said('all', language)}\n")
    for section in sections(paper):
        parts.append(f"### {section.path}\n")
        if section.group is not None and section.group.children:
            parts.append(f"{help_of(paper.root, section.path).said(language)}\n")
        parts.append("".join(_element_markdown(paper, element, base, language) for element in section.elements))
    return "\n".join(parts)


def _element_markdown(paper: Paper, element: Described, base: str, language: Language) -> str:
    more = [tag(paper, element, language)]
    if element.many > 1:
        more.append(said("up-to", language).replace("{}", str(element.many)))
    text = f"- `{element.path}` ({', '.join(more)}): {help_of(paper.root, element.path).said(language)}"
    if element.filled is not None:
        how = element.filled.words_es if language == "es" else element.filled.words
        text += f" {said('replaced' if element.filled.always else 'omitted', language)} {how}."
    if phrase := form(element, language):
        text += f" {said('form', language)} {phrase}."
    if (example := example_of(paper, element)) is not None:
        text += f" {said('example', language)} `{example}`."
    if list_of(element.simple) is not None:
        text += f" {said('codes', language)} {base}/{language}/fields/codes{MARKDOWN}"
    elif listed := short_codes(paper, element):
        text += f" {said('codes', language)} " + "; ".join(
            f"`{code.value}` {meaning(code, language)}" for code in listed
        )
    return f"{text}\n"
