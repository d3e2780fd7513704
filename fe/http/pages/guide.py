"""The integrator's guide: the pages of `docs/`, as Markdown and as HTML, their links pointing to where they are served.

The files come with the package (`fe/docs` is a link to `docs`), and are read once.
"""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from itertools import chain, groupby

from markdown_it import MarkdownIt
from markdown_it.token import Token

from fe.http.languages import Language
from fe.http.pages.examples import with_examples

#: Pages beside docs/api: their place in addresses, and their file in each language.
_BESIDE: dict[str, dict[Language, str]] = {
    "guide/webhook-calls": {"en": "webhooks.md"},
    "guide/verdicts": {"en": "verdicts.md", "es": "veredictos.md"},
    "guide/going-live": {"en": "going-live.md", "es": "going-live.es.md"},
    **{
        f"clients/{language}": {"en": f"../clients/{language}/README.md", "es": f"../clients/{language}/README.es.md"}
        for language in ("csharp", "java", "php", "python", "typescript")
    },
}
#: Calls of webhooks with their signatures, for integrators' tests: a file beside the pages.
VECTORS = "webhook-vectors.json"
_LINK = re.compile(r"\]\(([^()\s]+)\)")
_LINKED = re.compile(r"\[([^\]]*)\]\(([^()\s]+)\)")
#: Comments of a page, which are for its tests.
_COMMENT = re.compile(r"^<!--.*?-->\n", re.MULTILINE)
_RUN = re.compile(r"^```(\w+) run$", re.MULTILINE)
#: Anchors that a heading has beside its own.
_NAMED = re.compile(r' <a id="[\w-]+"></a>$', re.MULTILINE)

#: Code of one example in several languages, by the word after the fence.
_TAB_NAMES = {"sh": "curl", "python": "Python", "js": "TypeScript", "php": "PHP", "java": "Java", "csharp": "C#"}

#: Gives the address of another page of the guide, by its file; None for what is not served.
Resolve = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class GuidePage:
    """A page of the guide in one language: the file it was read from, relative to `docs`."""

    file: str
    text: str

    @property
    def title(self) -> str:
        """Its first heading."""
        first = next((line for line in self.text.splitlines() if line.startswith("# ")), "# ")
        return first[2:].replace("`", "")

    @property
    def gist(self) -> str:
        """The first sentence after the heading, for lists of pages."""
        paragraphs = re.split(r"\n\s*\n", self.text.partition("\n")[2].strip())
        # A page may begin with a link to itself in the other language.
        paragraphs = [one for one in paragraphs if one and not one.startswith("*[")]
        first = " ".join(paragraphs[0].split()) if paragraphs and paragraphs[0][0] not in "|#`-" else ""
        sentence = re.split(r"(?<=[.;:!?])\s", _LINKED.sub(r"\1", first))[0]
        # A sentence that names the page's source is for its editors.
        return "" if "`fe/" in sentence else sentence.rstrip(":;")

    def markdown(self, resolve: Resolve) -> str:
        """The page as Markdown, its links pointing to Markdown."""

        def point(found: re.Match[str]) -> str:
            address = self._address(found[2], resolve, ".md")
            return f"[{found[1]}]({address})" if address else found[1]

        return _LINKED.sub(point, self.text)

    def html(self, resolve: Resolve) -> str:
        """The page as HTML, without its shell."""
        tokens = list(_with_tabs(_renderer().parse(self.text)))
        self._walk(tokens, resolve)
        rendered: str = _renderer().renderer.render(tokens, _renderer().options, {})
        return rendered

    def _walk(self, tokens: list[Token], resolve: Resolve) -> None:
        for number, token in enumerate(tokens):
            if token.type == "heading_open":
                token.attrSet("id", anchor(tokens[number + 1].content))
            if token.children:
                token.children = list(self._linked(token.children, resolve))

    def _linked(self, children: list[Token], resolve: Resolve) -> Iterator[Token]:
        """Point links to the pages as they are served; a link to a file that is not served is left as its text."""
        is_served = True
        for child in children:
            if child.type == "link_open":
                address = self._address(str(child.attrGet("href") or ""), resolve, "")
                is_served = address is not None
                child.attrs = {"href": address} if address else {}
            if is_served or child.type not in ("link_open", "link_close"):
                yield child

    def _address(self, target: str, resolve: Resolve, suffix: str) -> str | None:
        file, sign, fragment = target.partition("#")
        if not file or "://" in file or file.startswith("mailto:"):
            return target
        address = resolve(posixpath.normpath(posixpath.join(posixpath.dirname(self.file), file)))
        if address is None:
            return None
        return f"{address}{suffix if file.endswith('.md') else ''}{sign}{fragment}"


def _with_tabs(tokens: list[Token]) -> Iterator[Token]:
    """Put code of several languages that stands together behind tabs, of which the reader picks one."""
    for is_code, together in groupby(tokens, lambda one: one.type == "fence" and one.info in _TAB_NAMES):
        if not is_code:
            yield from together
            continue
        examples: list[list[Token]] = []
        for block in together:
            # Commands begin another example.
            if not examples or block.info == "sh":
                examples.append([])
            examples[-1].append(block)
        yield from chain.from_iterable(map(_behind_tabs, examples))


def _behind_tabs(blocks: list[Token]) -> list[Token]:
    if len(blocks) < 2:
        return blocks
    name = f"tabs-{blocks[0].map[0] if blocks[0].map else 0}"
    parts = [
        f'<input type="radio" name="{name}" id="{name}-{one.info}" value="{one.info}"{"" if nth else " checked"}>'
        f'<label for="{name}-{one.info}">{_TAB_NAMES[one.info]}</label>'
        f'<pre><code class="language-{one.info}">{escape(one.content, quote=False)}</code></pre>'
        for nth, one in enumerate(blocks)
    ]
    tabs = Token("html_block", "", 0)
    tabs.content = f'<div class="tabs">{"".join(parts)}</div>\n'
    return [tabs]


def to_html(text: str) -> str:
    """Markdown without links into the guide, as HTML."""
    rendered: str = _renderer().render(text)
    return rendered


@cache
def _renderer() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def anchor(heading: str) -> str:
    """The anchor of a heading, as the pages themselves name it."""
    return re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).strip().replace(" ", "-")


@cache
def guide_pages() -> Mapping[str, Mapping[Language, GuidePage]]:
    """Every page of the guide by its place in addresses, the first one first: `guide`, `guide/states` and so on."""
    package = files("fe")
    root = package.joinpath("docs")
    found: dict[str, dict[Language, str]] = {"guide": {"en": "api/README.md"}}
    folders: tuple[tuple[Language, str], ...] = (("en", "api"), ("es", "api/es"))
    for language, folder in folders:
        if not root.joinpath(folder).is_dir():
            continue
        for name in sorted(entry.name for entry in root.joinpath(folder).iterdir() if entry.name.endswith(".md")):
            place = "guide" if name == "README.md" else f"guide/{name.removesuffix('.md')}"
            found.setdefault(place, {})[language] = f"{folder}/{name}"
    found |= _BESIDE
    return {
        place: {
            language: GuidePage(file, _read(package.joinpath(posixpath.normpath(f"docs/{file}")).read_text("utf-8")))
            for language, file in each.items()
        }
        for place, each in found.items()
    }


def webhook_vectors() -> bytes:
    """Read VECTORS."""
    return files("fe").joinpath("docs", VECTORS).read_bytes()


def _read(text: str) -> str:
    return _NAMED.sub("", _RUN.sub(r"```\1", _COMMENT.sub("", with_examples(text))))
