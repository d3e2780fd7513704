"""The pages for integrators: all there in both languages, leading to each other, safe, bounded in what they cost."""

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import httpx
import pytest

from fe.ecf.describe import every
from fe.ecf.field_help import help_of
from fe.http.app import PREFIX
from fe.http.examples import BY_NAME, EXAMPLES
from fe.http.languages import Language
from fe.http.pages.clients import downloads
from fe.http.pages.guide import guide_pages
from fe.http.pages.layout import LANGUAGES, MARKDOWN
from fe.http.pages.papers import PAPERS
from fe.http.pages.search import LONGEST, MAX_FOUND, MAX_SECTIONS, find, find_sections, index, sections
from tests.http.front import Running

ROOT = Path(__file__).resolve().parents[2]
DOCS = f"{PREFIX}/docs"
PLACES = ["clients", "fields", "fields/codes", *(f"fields/{paper.slug}" for paper in PAPERS), *guide_pages()]


def root(front: Running) -> str:
    """The base URL of paths that begin with a slash."""
    return front.base_url.removesuffix(PREFIX)


class Page(HTMLParser):
    """The parts of a page that tests check."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.loaded: list[str] = []
        self.style = ""
        self.language: str | None = None
        self._in = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        about = dict(attrs)
        self.tags.add(tag)
        self._in = tag
        if tag == "a":
            assert about.get("href"), f"a link without an address: {self.getpos()}"
            self.links.append(str(about["href"]))
        if tag == "link" and about.get("rel") != "alternate":
            self.loaded.append(str(about))
        if tag == "html":
            self.language = about.get("lang")
        self.anchors |= {str(about["id"])} if "id" in about else set()
        self.loaded += [
            f"{tag} {name}" for name in about if name in ("src", "srcset", "style") or name.startswith("on")
        ]

    def handle_data(self, data: str) -> None:
        if self._in == "style" and not self.style:
            self.style = data


async def test_every_page_is_there_in_both_languages_and_leads_only_to_what_is_there(front: Running) -> None:
    seen: dict[str, Page] = {}
    async with front.client() as client:
        for place in PLACES:
            for language in ("en", "es"):
                address = f"{DOCS}/{language}/{place}"
                answer = await client.get(f"{root(front)}{address}")
                assert answer.status_code == 200, address
                assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
                page = seen[address] = Page(answer.text)
                there = language if place not in guide_pages() or language in guide_pages()[place] else "en"
                assert answer.headers["Content-Language"] == there
                assert page.tags & {"img", "iframe", "object", "svg"} == set()
                assert page.loaded == []
                _has_the_policy_of(answer, page)
        for address in (DOCS, "/"):
            answer = await client.get(f"{root(front)}{address}", headers={"Accept": "text/html"})
            page = seen[address] = Page(answer.text)
            _has_the_policy_of(answer, page)
        for address, page in list(seen.items()):
            for link in page.links:
                target, _, fragment = link.partition("#")
                if target.startswith("https://"):
                    continue
                target = target if target.startswith("/") or not target else f"{PREFIX}/{target}"
                whole = target or address
                if whole not in seen:
                    answer = await client.get(f"{root(front)}{whole}")
                    assert answer.status_code == 200, (address, link)
                    seen[whole] = Page(answer.text if "html" in answer.headers["Content-Type"] else "")
                assert not fragment or unquote(fragment) in seen[whole].anchors, (address, link)


def _has_the_policy_of(answer: httpx.Response, page: Page) -> None:
    policy = dict(part.strip().split(" ", 1) for part in answer.headers["Content-Security-Policy"].split(";"))
    (script,) = re.findall(r"<script>(.*?)</script>", answer.text, re.S)
    style, copy = (f"'sha256-{b64encode(sha256(one.encode()).digest()).decode()}'" for one in (page.style, script))
    assert policy == {
        "default-src": "'none'",
        "style-src": style,
        "script-src": copy,
        "base-uri": "'none'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
    }
    assert answer.headers["Referrer-Policy"] == "no-referrer"


async def test_every_page_is_there_as_markdown_and_its_links_lead_to_markdown(front: Running) -> None:
    async with front.client() as client:
        for place in PLACES:
            for language in ("en", "es"):
                answer = await client.get(f"/docs/{language}/{place}.md")
                assert answer.status_code == 200
                assert answer.headers["Content-Type"] == "text/markdown; charset=utf-8"
                assert answer.text.startswith("# ")
                assert "<!--" not in answer.text
                for link in re.findall(r"\]\((/[^)#\s]*)", answer.text):
                    there = await client.get(f"{root(front)}{link}")
                    assert there.status_code == 200, (place, link)
                    assert "html" not in there.headers["Content-Type"], (place, link)
        reference = await client.get(f"/docs{MARKDOWN}")
    assert "## POST /api/v1/fe/invoices\n" in reference.text


@pytest.mark.parametrize(("accepted", "language"), [("es-DO,es;q=0.9,en;q=0.5", "es"), ("en", "en"), ("fr", "en")])
async def test_a_page_without_a_language_in_its_address_follows_accept_language(
    front: Running, accepted: str, language: str
) -> None:
    async with front.client() as client:
        for place in ("fields", "fields/31", f"fields/31{MARKDOWN}"):
            answer = await client.get(f"/docs/{place}", headers={"Accept-Language": accepted})
            explicit = await client.get(f"/docs/{language}/{place}", headers={"Accept-Language": "de"})

            assert answer.headers["Content-Language"] == language
            assert "Accept-Language" in answer.headers["Vary"]
            assert answer.content == explicit.content


async def test_every_element_of_every_kind_is_on_its_page_in_both_languages(front: Running) -> None:
    async with front.client() as client:
        for paper in PAPERS:
            english = (await client.get(f"/docs/en/fields/{paper.slug}")).text
            spanish = (await client.get(f"/docs/es/fields/{paper.slug}")).text
            markdown = (await client.get(f"/docs/es/fields/{paper.slug}.md")).text
            anchors = Page(english).anchors
            for element in every(paper.tree):
                words = help_of(paper.root, element.path)
                assert element.path in anchors
                assert words.en in english.replace("&#x27;", "'")
                assert words.es in spanish
                assert f"`{element.path}`" in markdown or f"### {element.path}\n" in markdown


async def test_a_page_says_what_is_required_and_what_is_filled_in(front: Running) -> None:
    async with front.client() as client:
        page = (await client.get(f"/docs/en/fields/31{MARKDOWN}")).text
        exempt = (await client.get(f"/docs/en/fields/44{MARKDOWN}")).text

    assert "- `Encabezado.IdDoc.TipoIngresos` (required): " in page
    assert "- `Encabezado.IdDoc.TablaFormasPago.FormaDePago.FormaPago` (required in its group): " in page
    assert "- `Encabezado.IdDoc.FechaVencimientoSecuencia` (filled in by us): " in page
    assert "- `FechaHoraFirma` (always ours): " in page
    assert "- `Encabezado.IdDoc.BancoPago` (optional): " in page
    assert "`3` debit or credit card" in page
    least = page.partition("## The least to send")[2].partition("##")[0]
    assert "`Encabezado.Comprador.RNCComprador`" in least
    assert "MontoTotal" not in least
    # A line without it is exempt, which is no mistake where all lines are.
    assert "`DetallesItems.Item.IndicadorFacturacion`" in least
    assert "IndicadorFacturacion`" not in exempt.partition("## The least to send")[2].partition("##")[0]


# --- searching ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ("TipoPago", "TipoPago"),
        ("tipopago", "TipoPago"),
        ("CRÉDITO fiscal", "31"),
        ("credito fiscal", "31"),
        ("cheque", "FormaPago"),
        ("currency pesos", "TipoCambio"),
        ("gasto menor", "43"),
    ],
)
def test_what_is_meant_is_found_first(asked: str, first: str) -> None:
    assert find(asked)[0].name == first


def test_a_search_is_bounded() -> None:
    assert find("") == []
    assert find(" " * 10_000) == []
    assert find("a" * 10_000) == []
    assert find("tipo" + " " * (LONGEST - 4) + "zzz") == find("tipo")
    assert len(index()) < 500


@pytest.mark.parametrize("language", LANGUAGES)
async def test_every_section_of_the_guide_is_found_where_it_stands(front: Running, language: Language) -> None:
    async with front.client() as client:
        pages = {
            place: (await client.get(f"/docs/{language}/{place}")).text
            for place in {section.address.partition("#")[0] for section in sections(language)}
        }
        shown = (await client.get(f"/docs/{language}/fields", params={"q": "webhook"})).text
    for section in sections(language):
        assert section in find_sections(section.heading, language), section.heading
        place, _, anchor = section.address.partition("#")
        assert not anchor or f'id="{anchor}"' in pages[place], section.address
    assert f'href="{DOCS}/{language}/guide/webhooks"' in shown
    assert f'action="{DOCS}/{language}/fields"' in pages["guide"]


async def test_searching_works_with_a_plain_form_and_repeats_nothing_as_markup(front: Running) -> None:
    async with front.client() as client:
        form = Page((await client.get("/docs/es/fields")).text)
        found = await client.get("/docs/es/fields", params={"q": "moneda"})
        many = await client.get("/docs/es/fields", params={"q": "a"})
        hostile = await client.get("/docs/en/fields", params={"q": '"><script>alert(1)</script>'})
        negotiated = await client.get("/docs/fields", params={"q": "moneda"}, headers={"Accept-Language": "es"})
        unknown = await client.get("/docs/fields", params={"query": "moneda"})
        empty = await client.get("/docs/es/fields", params={"q": " "})

    assert {"form", "input", "button"} <= form.tags
    assert f'href="{DOCS}/es/fields/31#Encabezado.OtraMoneda.TipoMoneda"' in found.text
    assert found.text == negotiated.text
    assert negotiated.headers["Vary"] == "Accept-Language"
    assert many.text.count('class="hit"') == MAX_SECTIONS + MAX_FOUND
    assert hostile.text.count("<script") == 1, "its own"
    assert unknown.status_code == 400
    assert "q" in unknown.json()["message"]
    assert 'class="cards"' in empty.text


# --- where everything is --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", PREFIX, f"{PREFIX}/"])
async def test_whoever_asks_at_the_door_is_told_where_everything_is(front: Running, path: str) -> None:
    async with front.client() as client:
        told = await client.get(f"{root(front)}{path}")
        shown = await client.get(
            f"{root(front)}{path}", headers={"Accept": "text/html,*/*;q=0.8", "Accept-Language": "es"}
        )
        where = told.json()
        for address in where.values():
            if address.startswith("/"):
                assert (await client.get(f"{root(front)}{address}")).status_code == 200

    assert told.headers["Content-Type"] == "application/json"
    assert where["openapi"] == f"{PREFIX}/openapi.json"
    assert where["documentation"] == DOCS
    assert shown.headers["Content-Language"] == "es"
    assert f'href="{DOCS}/es/guide"' in shown.text
    assert set(told.headers["Vary"].split(", ")) == {"Accept", "Accept-Language"}


async def test_llms_txt_lists_every_page_as_markdown(front: Running) -> None:
    async with front.client() as client:
        answer = await client.get(f"{root(front)}/llms.txt")
        same = await client.get("/docs/llms.txt")
        listed = re.findall(r"^- \[[^\]]+\]\(([^)]+)\)(?:: .+)?$", answer.text, re.MULTILINE)
        for address in listed:
            page = await client.get(f"{root(front)}{address}")
            assert page.status_code == 200
            assert page.headers["Content-Type"].startswith(("text/markdown", "application/json"))

    lines = answer.text.splitlines()
    assert lines[0] == "# fe"
    assert lines[2].startswith("> ")
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert same.content == answer.content
    own = {f"{DOCS}/{language}/{place}.md" for place, each in guide_pages().items() for language in each}
    assert own | {f"{DOCS}/{language}/fields/31{MARKDOWN}" for language in ("en", "es")} <= set(listed)
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize(
    "page",
    ["", "nothing", "en", "en/", "de/fields", "en/es/fields", "fields/99", "examples/31-credit", "examples/../x.json"],
)
async def test_a_page_that_is_not_there_is_refused_as_any_other_address(front: Running, page: str) -> None:
    async with front.client() as client:
        answer = await client.get(f"/docs/{page}")
        nowhere = await client.get("/nowhere")

    # The page at the root of the documentation is the one that is near enough to be named.
    hint = {} if page else {"hint": f"did you mean {DOCS}?"}
    assert answer.status_code == 404
    assert answer.json() == nowhere.json() | hint


# --- what the pages are made from -----------------------------------------------------------------------------------


def links_of(text: str) -> Iterator[str]:
    yield from re.findall(r"\]\(([^)\s]+)\)", text)


def test_the_guide_is_what_lies_in_the_repository() -> None:
    served = {page.file for each in guide_pages().values() for page in each.values()}
    there = {str(file.relative_to(ROOT / "docs")) for file in (ROOT / "docs" / "api").rglob("*.md")}

    languages = ("csharp", "java", "php", "python", "typescript")
    clients = {f"../clients/{one}/README{each}.md" for one in languages for each in ("", ".es")}
    beside = {"webhooks.md", "verdicts.md", "veredictos.md", "going-live.md", "going-live.es.md"}
    assert served == there | beside | clients
    assert guide_pages()["guide"]["en"].title == "The API for integrators"
    # The languages of a page are paired by its name: one without its other would be a misspelt one.
    assert [place for place, each in guide_pages().items() if "en" not in each] == []


async def test_clients_are_downloaded_with_their_digest_and_are_the_same_each_time(front: Running) -> None:
    assert {one.name.rpartition(".")[2] for one in downloads().values()} == {"zip", "whl"}
    async with front.client() as client:
        listed = await client.get("/docs/clients/")
        for name in [*downloads(), "fe-client-cobol.zip"]:
            file = await client.get(f"/docs/clients/{name}")
            digest = await client.get(f"/docs/clients/{name}.sha256")
            if name not in downloads():
                assert (file.status_code, digest.status_code) == (404, 404)
                continue
            assert digest.text == f"{sha256(file.content).hexdigest()}  {name}\n"
            assert (digest.text.split()[0] in listed.text, file.headers["Content-Type"]) == (True, "application/zip")
    again = downloads.__wrapped__()
    assert again == downloads()


def test_the_examples_are_the_files_there_are() -> None:
    there = {file.stem for file in (ROOT / "fe" / "http" / "examples").glob("*.json")}

    assert BY_NAME.keys() == there
    assert {example.type for example in EXAMPLES} == {paper.slug for paper in PAPERS if paper.slug.isdigit()}
    for example in EXAMPLES:
        body = json.loads(example.text)
        id_doc = body["payload"]["Encabezado"]["IdDoc"]
        assert body["format"] == "structured"
        assert id_doc["TipoeCF"] == example.type
        assert "eNCF" not in id_doc
        assert "Totales" not in body["payload"]["Encabezado"]


async def test_an_example_is_served_as_the_file_it_is(front: Running) -> None:
    async with front.client() as client:
        for example in EXAMPLES:
            answer = await client.get(f"/docs/examples/{example.code}.json")

            assert answer.headers["Content-Type"] == "application/json"
            assert answer.text == example.text
        vectors = await client.get("/docs/webhook-vectors.json")
        page = await client.get("/docs/en/guide/webhook-calls")
    assert vectors.json() == json.loads((ROOT / "docs" / "webhook-vectors.json").read_text())
    assert f'href="{DOCS}/webhook-vectors.json"' in page.text
