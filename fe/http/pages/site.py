"""Which pages there are below the address of the documentation, in which language each is answered.

Without a token: so all work is bounded. A page is made when it is first asked for and kept as bytes; there are a few
dozen. Only a search is worked out each time, over an index that is made once.
"""

import re
from collections.abc import Callable
from functools import cache
from html import escape
from typing import NamedTuple

import trio
from werkzeug.exceptions import NotFound

from fe.ecf.json_text import write_json
from fe.http.calls import ApiReply, Call
from fe.http.examples import BY_NAME
from fe.http.languages import Language
from fe.http.pages.clients import downloads
from fe.http.pages.codes import codes_html, codes_markdown
from fe.http.pages.feed import FEED, feed
from fe.http.pages.fields import paper_html, paper_markdown, search_form
from fe.http.pages.guide import VECTORS, GuidePage, guide_pages, webhook_vectors
from fe.http.pages.layout import LANGUAGES, Shell, html_page, html_reply, text_page
from fe.http.pages.papers import PAPERS, Paper
from fe.http.pages.search import results_html
from fe.http.pages.served import ServedPage
from fe.http.pages.texts import said

#: How files end that are downloaded.
_DOWNLOADED = (".zip", ".whl", ".sha256")


class Content(NamedTuple):
    """The content of a page without its frame, and its language."""

    title: str
    html: str
    markdown: str
    language: Language


class Made(NamedTuple):
    """A page as it is answered: under its own address, and under the one that goes by Accept-Language."""

    html: ServedPage
    markdown: ServedPage
    html_by_language: ServedPage
    markdown_by_language: ServedPage


class Site:
    """Serves the guide, the catalogue, the examples, and what says where they are. `prefix` is the base URL's path."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._base = f"{prefix}/docs"
        self._made: dict[tuple[str, Language], Made] = {}
        self._one_at_a_time = trio.Lock()
        self._listed: ServedPage | None = None
        self._feeds: dict[tuple[Language, bool], ServedPage] = {}
        self._makers: dict[str, Callable[[Language], Content]] = {
            "fields": self._index,
            "fields/codes": _codes,
            "clients": self._clients,
            **{f"fields/{paper.slug}": self._paper(paper) for paper in PAPERS},
        }

    async def page(self, call: Call) -> ApiReply:
        """Answer with a page below the address of the documentation. Raises NotFound."""
        place = call.params["page"]
        if place == "llms.txt":
            return await self.llms(call)
        if place.startswith("examples/"):
            return _example(place)
        if place == VECTORS:
            return _vectors().answer(call)
        if place.startswith("clients/") and place.endswith(_DOWNLOADED):
            return (await trio.to_thread.run_sync(_download, place.removeprefix("clients/"))).answer(call)
        language, explicit = call.language, False
        for one in LANGUAGES:
            if place.startswith(f"{one}/"):
                language, explicit, place = one, True, place.removeprefix(f"{one}/")
        if not place:
            raise NotFound
        if place == "clients/":
            place = "clients"
        wants_markdown = place.endswith(".md")
        if place == FEED:
            return (await self._feed_in(language, explicit=explicit)).answer(call)
        place = place.removesuffix(".md")
        if place == "fields" and not wants_markdown and call.query_string:
            call.parameters = ("q",)
            asked = call.query().get("q", "").strip()
            if asked:
                return html_reply(
                    await trio.to_thread.run_sync(self._results, asked, language), language, negotiated=not explicit
                )
        made = await self._make(place, language)
        if wants_markdown:
            return (made.markdown if explicit else made.markdown_by_language).answer(call)
        return (made.html if explicit else made.html_by_language).answer(call)

    async def home(self, call: Call) -> ApiReply:
        """Say where the documentation is: to a browser as a page, to a program as JSON."""
        if "text/html" in call.headers.get("accept", ""):
            page = html_reply((await self._make("", call.language)).html.body, call.language)
            return ApiReply(page.status, page.body, (*page.headers, ("Vary", "Accept, Accept-Language")))
        where = {
            "service": "fe",
            "documentation": self._base,
            "guide": f"{self._base}/guide",
            "fields": f"{self._base}/fields",
            "openapi": f"{self._prefix}/openapi.json",
            "assistants": "/llms.txt",
        }
        return ApiReply(200, write_json(where), (("Vary", "Accept, Accept-Language"),))

    async def llms(self, call: Call) -> ApiReply:
        """List the pages as Markdown, in the form of llmstxt.org."""
        if self._listed is None:
            self._listed = text_page("text/plain", self._llms(), "en")
        return self._listed.answer(call)

    async def _feed_in(self, language: Language, *, explicit: bool) -> ServedPage:
        made = self._feeds.get((language, explicit))
        if made is None:
            text = await trio.to_thread.run_sync(feed, self._base, language)
            made = text_page("application/atom+xml", text, language, negotiated=not explicit)
            self._feeds[language, explicit] = made
        return made

    async def _make(self, place: str, language: Language) -> Made:
        """Return a page, which is made at the first call: in a thread, one at a time, so that other requests go on.

        Cancellation takes effect once the page is made.
        """
        if place and place not in self._makers and place not in guide_pages():
            raise NotFound
        made = self._made.get((place, language))
        if made is None:
            async with self._one_at_a_time:
                made = self._made.get((place, language))
                if made is None:
                    made = self._made[place, language] = await trio.to_thread.run_sync(self._made_of, place, language)
        return made

    def _made_of(self, place: str, language: Language) -> Made:
        content = self._content(place, language)
        shell = Shell(self._base, language, place.partition("/")[0], place)
        beside = f"{shell.address(place)}.md" if place else ""
        page = shell.around(content.title, content.html, markdown=beside)
        markdown = content.markdown.encode()
        return Made(
            html_page(page, content.language),
            text_page("text/markdown", markdown, content.language),
            html_page(page, content.language, negotiated=True),
            text_page("text/markdown", markdown, content.language, negotiated=True),
        )

    def _content(self, place: str, language: Language) -> Content:
        if not place:
            return self._home(language)
        if maker := self._makers.get(place):
            return maker(language)
        return self._guide(place, language)

    def _results(self, asked: str, language: Language) -> bytes:
        shell = Shell(self._base, language, "fields", "fields")
        return shell.around(said("fields", language), results_html(asked, self._base, language))

    def _paper(self, paper: Paper) -> Callable[[Language], Content]:
        def make(language: Language) -> Content:
            title = f"{paper.code} · {paper.title.said(language)}"
            html = paper_html(paper, self._base, language)
            return Content(title, html, paper_markdown(paper, self._base, language), language)

        return make

    def _index(self, language: Language) -> Content:
        title, about = said("fields", language), said("fields-about", language)
        entries = [
            (
                f"fields/{paper.slug}",
                f"{paper.code} · {paper.title.said(language)}",
                _first(paper.about.said(language)),
            )
            for paper in PAPERS
        ]
        entries.append(("fields/codes", said("code-lists", language), said("codes-about", language)))
        html = f'<h1>{title}</h1><p class="lead">{about}</p>{search_form(self._base, language)}'
        return self._listing(title, about, html, entries, language)

    def _clients(self, language: Language) -> Content:
        """Every download with its digest, and the page that says how it is used."""
        title, about = said("clients", language), said("clients-about", language)
        rows = html_rows = ""
        for one in downloads().values():
            page = f"{self._base}/{language}/{one.place}"
            file = f"{self._base}/clients/{one.name}"
            rows += f"| [{one.language}]({page}.md) | [{one.name}]({file}) | `{one.digest}` |\n"
            html_rows += (
                f'<tr><td><a href="{page}">{one.language}</a><td><a href="{file}">{one.name}</a>'
                f"<td><code>{one.digest}</code>"
            )
        html = (
            f'<h1>{title}</h1><p class="lead">{about}</p>'
            f"<table><thead><tr><th><th><th>SHA-256</thead><tbody>{html_rows}</tbody></table>"
        )
        markdown = f"# {title}\n\n{about}\n\n| | | SHA-256 |\n| --- | --- | --- |\n{rows}"
        return Content(title, html, markdown, language)

    def _home(self, language: Language) -> Content:
        title, about = said("home", language), said("home-about", language)
        entries = [
            ("guide", said("guide", language), said("guide-about", language)),
            ("fields", said("fields", language), said("fields-about", language)),
            ("clients", said("clients", language), said("clients-about", language)),
            ("", said("reference", language), said("reference-about", language)),
        ]
        return self._listing(title, about, f'<h1>{title}</h1><p class="lead">{about}</p>', entries, language)

    def _listing(
        self, title: str, about: str, html: str, entries: list[tuple[str, str, str]], language: Language
    ) -> Content:
        """A page that is a list of others."""
        cards = "".join(
            f'<li><a href="{f"{self._base}/{language}/{place}" if place else self._base}"><b>{escape(name)}</b>'
            f"<span>{escape(gist)}</span></a>"
            for place, name, gist in entries
        )
        rows = "".join(
            f"- [{name}]({f'{self._base}/{language}/{place}' if place else self._base}.md): {gist}\n"
            for place, name, gist in entries
        )
        return Content(title, f'{html}<ul class="cards">{cards}</ul>', f"# {title}\n\n{about}\n\n{rows}", language)

    def _guide(self, place: str, language: Language) -> Content:
        each = guide_pages()[place]
        there = language if language in each else next(iter(each))
        page = each[there]
        html = page.html(self._resolver())
        if place == "guide":
            html = f"{search_form(self._base, language)}{html}"
        else:
            html = f'<p class="soft"><a href="{self._base}/{language}/guide">{said("guide", language)}</a></p>{html}'
        return Content(page.title, html, page.markdown(self._resolver()), there)

    def _resolver(self) -> Callable[[str], str | None]:
        addresses = {
            page.file: f"{self._base}/{one}/{place}"
            for place, each in guide_pages().items()
            for one, page in each.items()
        }
        addresses[VECTORS] = f"{self._base}/{VECTORS}"
        return addresses.get

    def _llms(self) -> bytes:
        parts = [f"# fe\n\n> {said('home-about', 'en')}\n"]
        parts.append(
            "The authority is the DGII; field names are its own, in Spanish. Every page below is Markdown; without "
            "`.md` it is HTML. Guide, fields and examples are there in Spanish, too; the reference is in English.\n"
        )
        headings: tuple[tuple[Language, str, str], ...] = (
            ("en", "Guide", "Fields and examples"),
            ("es", "Guía en español", "Campos y ejemplos en español"),
        )
        reference = (
            f"## Reference\n\n- [OpenAPI description]({self._prefix}/openapi.json): every operation and every model\n"
            f"- [The same as Markdown]({self._base}.md): operations, parameters and answers\n"
            f"- [Status of this service]({self._base}/status.json): its parts now, 90 days and incidents\n"
        )
        for language, guide, fields in headings:
            parts.append(f"## {guide}\n\n{self._links(guide_links(language), language)}")
            papers = [
                (f"fields/{one.slug}", f"{one.code} {one.title.said(language)}", one.about_in_format.said(language))
                for one in PAPERS
            ]
            papers.append(("fields/codes", said("code-lists", language), said("codes-about", language)))
            papers.append(("clients", said("clients", language), said("clients-about", language)))
            parts.append(f"## {fields}\n\n{self._links(papers, language)}")
            if language == "en":
                parts.append(reference)
        return "\n".join(parts).encode()

    def _links(self, entries: list[tuple[str, str, str]], language: Language) -> str:
        return "".join(
            f"- [{name}]({self._base}/{language}/{place}.md){f': {gist}' if gist else ''}\n"
            for place, name, gist in entries
        )


def guide_links(language: Language) -> list[tuple[str, str, str]]:
    """The pages of the guide that are there in a language: place, title, and what they are about."""

    def link(place: str, page: GuidePage) -> tuple[str, str, str]:
        return place, page.title, page.gist

    return [link(place, each[language]) for place, each in guide_pages().items() if language in each]


def _codes(language: Language) -> Content:
    return Content(said("code-lists", language), codes_html(language), codes_markdown(language), language)


def _first(text: str) -> str:
    """The first sentence."""
    return re.split(r"(?<=[.:;]) ", text)[0].rstrip(":;.") + "."


def _example(place: str) -> ApiReply:
    example = BY_NAME.get(place.removeprefix("examples/").removesuffix(".json"))
    if example is None or not place.endswith(".json"):
        raise NotFound
    return ApiReply(200, example.text.encode())


@cache
def _vectors() -> ServedPage:
    return ServedPage.of(webhook_vectors(), ("Content-Type", "application/json"))


def _download(name: str) -> ServedPage:
    """A client, or its digest as `sha256sum -c` reads it. Raises NotFound."""
    found = downloads().get(name.removesuffix(".sha256"))
    if found is None:
        raise NotFound
    if name.endswith(".sha256"):
        return ServedPage.of(f"{found.digest}  {found.name}\n".encode(), ("Content-Type", "text/plain; charset=utf-8"))
    return ServedPage.of(found.content, ("Content-Type", "application/zip"))
