"""Rules for every page in the table of pages: access, limits, and markup. New pages are covered without a line here."""

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from html.parser import HTMLParser
from uuid import UUID

import pytest

from fe.identifiers import TenantId
from fe.portal.deps import Portal
from fe.portal.page_types import Needs, Page
from fe.portal.pages import every_page
from fe.store.portal.people import PortalRole
from tests.http.front import make_tenant
from tests.portal.running import Browser, Running

#: Values for the parameters of an address: well-formed, and of no existing object.
NOBODYS = {
    "company": "1",
    "environment": "testecf",
    "uuid": str(UUID(int=7, version=4)),
    "int": "7",
    "type": "31",
    "prefix": "E31",
    "kind": "signed.xml",
    "token": "t" * 43,
}

#: Forms that change nothing of the company, only what the person who sends them has seen: every role may send them.
OWN_NOTES = {
    "POST /companies/<int:company>/troubles-seen",
    # Classifying purchases for the 606 is an accountant's work.
    "POST /companies/<int:company>/<environment>/months/<month>/606/<supplier>",
}

#: Elements that have no end.
_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
#: HTML allows leaving these open; we close them.
_URLS = ("href", "src", "action", "formaction", "poster", "data")


def address(page: Page, company: object = 1) -> str:
    """An address of a page: of this company, and of things that are not there."""

    def stand_in(found: "re.Match[str]") -> str:
        kind, _, name = found[1].rpartition(":")
        if name == "company":
            return str(company)
        return NOBODYS.get(kind) or NOBODYS.get(name) or NOBODYS["uuid"]

    return re.sub(r"<([^>]+)>", stand_in, page.path)


def of_company(page: Page) -> bool:
    return "<int:company>" in page.path


@pytest.fixture
def pages(portal: Running) -> tuple[Page, ...]:
    found = every_page(portal.portal)
    assert len(found) >= 40
    assert {page.needs for page in found} == set(Needs)
    return found


@pytest.fixture
async def stranger(portal: Running) -> AsyncIterator[Browser]:
    async with portal.browser() as browser:
        yield browser


async def test_pages_of_a_company_are_told_by_their_address(pages: tuple[Page, ...]) -> None:
    needs = {Needs.READ, Needs.WRITE, Needs.ANSWER, Needs.OWN}
    assert [page.name for page in pages if (page.needs in needs) != of_company(page)] == []
    assert [page.name for page in pages if (page.needs is Needs.OPERATE) != page.path.startswith("/operators")] == []
    assert len({page.name for page in pages}) == len(pages)


async def test_whatever_changes_something_of_a_company_is_closed_to_who_only_reads(pages: tuple[Page, ...]) -> None:
    assert {page.name for page in pages if page.method == "POST" and page.needs is Needs.READ} == OWN_NOTES
    assert {page.method for page in pages} == {"GET", "POST"}


async def test_a_stranger_is_asked_who_it_is_and_sees_nothing(stranger: Browser, pages: tuple[Page, ...]) -> None:
    await stranger.get("/sign-in")
    for page in pages:
        if page.needs is Needs.NOTHING or page.method != "GET":
            continue
        answered = await stranger.client.get(address(page))
        assert (answered.status_code, answered.headers["location"].partition("?")[0]) == (303, "/sign-in"), page.name
        assert answered.content == b"", page.name


async def test_a_form_without_a_proof_or_from_elsewhere_changes_nothing(
    owner: Browser, tenant: TenantId, pages: tuple[Page, ...]
) -> None:
    found = await owner.get("/account")
    proof = re.findall(r'name="csrf" value="([0-9a-f]+)"', found.text)[0]
    for page in pages:
        if page.method != "POST":
            continue
        where = address(page, tenant)
        for headers, fields in (
            ({}, {}),
            ({}, {"csrf": "0" * 64}),
            ({}, {"csrf": "no es la prueba"}),
            ({"Origin": "https://evil.example"}, {"csrf": proof}),
            ({"Origin": "null"}, {"csrf": proof}),
            ({"Sec-Fetch-Site": "cross-site"}, {"csrf": proof}),
            ({"Sec-Fetch-Site": "same-site"}, {"csrf": proof}),
        ):
            answered = await owner.client.post(where, data=fields, headers=headers)
            assert answered.status_code == 403, (page.name, headers, fields)
    assert (await owner.get("/account")).url.path == "/account", "still logged in"


async def test_another_companys_owner_and_who_is_no_operator_find_nothing(
    portal: Running, owner: Browser, pages: tuple[Page, ...]
) -> None:
    other = await make_tenant(portal.db, "Otra SRL")
    found = await owner.get("/account")
    proof = re.findall(r'name="csrf" value="([0-9a-f]+)"', found.text)[0]
    for page in pages:
        if not of_company(page) and page.needs is not Needs.OPERATE:
            continue
        for company in (other, TenantId(999_999), TenantId(2**63)):
            answered = await owner.client.request(
                page.method, address(page, company), data={"csrf": proof} if page.method == "POST" else None
            )
            assert answered.status_code == 404, (page.name, company)
            assert "Otra SRL" not in answered.text


async def test_an_accountant_reads_and_changes_nothing(
    portal: Running, tenant: TenantId, pages: tuple[Page, ...]
) -> None:
    for role, closed in (
        (PortalRole.ACCOUNTANT, {Needs.WRITE, Needs.ANSWER, Needs.OWN}),
        (PortalRole.MEMBER, {Needs.OWN}),
    ):
        async with portal.browser(await portal.person(tenant, role, email=f"{role}@example.do")) as browser:
            found = await browser.get("/account")
            proof = re.findall(r'name="csrf" value="([0-9a-f]+)"', found.text)[0]
            for page in pages:
                if not of_company(page):
                    continue
                answered = await browser.client.request(
                    page.method, address(page, tenant), data={"csrf": proof} if page.method == "POST" else None
                )
                assert (answered.status_code == 403) == (page.needs in closed), (role, page.name, answered.status_code)


async def test_bodies_that_are_too_long_are_refused_whole(
    owner: Browser, tenant: TenantId, pages: tuple[Page, ...]
) -> None:
    found = await owner.get("/account")
    proof = re.findall(r'name="csrf" value="([0-9a-f]+)"', found.text)[0]
    for page in pages:
        if page.method == "POST":
            body = f"csrf={proof}&a=".encode() + b"a" * page.max_body_bytes
            # Each on a connection of its own: who is refused early may be cut off while still sending.
            kind = {"Content-Type": "application/x-www-form-urlencoded", "Connection": "close"}
            answered = await owner.client.post(address(page, tenant), content=body, headers=kind)
            assert answered.status_code == 413, page.name


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/x-www-form-urlencoded", b"csrf=%ff%fe&next=%00&email=\xff\xfe"),
        ("application/x-www-form-urlencoded", b"&".join(b"a%d=" % n for n in range(20_000))),
        ("application/x-www-form-urlencoded; charset=utf-16", "csrf=ñ".encode("utf-16")),
        ("multipart/form-data; boundary=x", b"--x\r\n" * 20_000),
        (
            "multipart/form-data; boundary=x",
            b'--x\r\nContent-Disposition: form-data; name="csrf"\r\n\r\nwithout an end',
        ),
        ("multipart/form-data", b"there is no boundary"),
        ("multipart/form-data; boundary=x", b"--x\r\nContent-Disposition: form-data; name=\xff\r\n\r\na\r\n--x--\r\n"),
        (
            "multipart/form-data; boundary=x",
            b"".join(
                b'--x\r\nContent-Disposition: form-data; name="f%d"; filename="%d"\r\n\r\n\r\n' % (n, n)
                for n in range(3_000)
            )
            + b"--x--\r\n",
        ),
        ("application/json", b'{"csrf": "x"}'),
        ("", b"\x00\x01"),
    ],
    ids=[
        "not utf-8",
        "20,000 fields",
        "utf-16",
        "empty parts",
        "no end",
        "no boundary",
        "name",
        "files",
        "json",
        "none",
    ],
)
async def test_forms_that_are_none_are_refused(stranger: Browser, kind: str, body: bytes) -> None:
    await stranger.get("/sign-in")
    answered = await stranger.client.post("/sign-in", content=body, headers={"Content-Type": kind} if kind else None)

    assert answered.status_code in (400, 403, 413, 415), answered.text
    assert (await stranger.get("/sign-in")).status_code == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "BREW"])
async def test_methods_that_a_page_does_not_have_are_refused(owner: Browser, method: str) -> None:
    answered = await owner.client.request(method, "/account")

    assert answered.status_code in ((200, 405) if method == "HEAD" else (404, 405, 501)), answered.status_code
    assert "access-control-allow-origin" not in answered.headers


@pytest.mark.parametrize("path", ["/%00", "/%ff", "/companies/%2e%2e", "/companies/1e3", "/companies/-1"])
async def test_addresses_that_are_none_are_not_there(owner: Browser, path: str) -> None:
    answered = await owner.client.get(path)

    assert answered.status_code in (400, 404)


class Written(HTMLParser):
    """Reads a page as it is written, and keeps what should not be."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.ids: list[str] = []
        self.labels: set[str] = set()
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.seen.append(tag if "svg" not in self.open else f"svg {tag}")
        if len(given) != len(attrs):
            self.wrong.append(f"<{tag}> has an attribute twice")
        self.wrong += [f"<{tag} {name}>" for name in given if name == "style" or name.startswith("on")]
        for name in _URLS:
            where = given.get(name) or ""
            if re.match(r"\s*([a-z][a-z0-9+.-]*:|//)", where, re.IGNORECASE):
                self.wrong.append(f"<{tag} {name}={where}>")
        if tag == "style" or (tag == "script" and not given.get("src")):
            self.wrong.append(f"<{tag}> in the page")
        if tag == "form" and given.get("method", "get") not in ("get", "post"):
            self.wrong.append(f"a form by {given.get('method')}")
        if tag == "label" and given.get("for"):
            self.labels.add(str(given["for"]))
        if given.get("id"):
            self.ids.append(str(given["id"]))
        if tag == "img" and given.get("alt") is None:
            self.wrong.append("an image without a word")
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> ends what did not begin")


def what_is_wrong(text: str, language: str) -> list[str]:
    """Find faults of markup that break a browser or a screen reader."""
    page = Written()
    page.feed(text)
    page.close()
    wrong = page.wrong + [f"<{tag}> has no end" for tag in page.open]
    wrong += [f"{page.seen.count(tag)} <{tag}>" for tag in ("title", "main", "h1") if page.seen.count(tag) != 1]
    wrong += [f"the id {one} twice" for one in page.ids if page.ids.count(one) > 1]
    wrong += [f"a label for {one}, which is not there" for one in page.labels if one not in page.ids]
    if not text.lower().lstrip().startswith("<!doctype html>") or f'<html lang="{language}">' not in text:
        wrong.append("no doctype or language")
    title = re.search(r"<title>\s*(.*?)\s*</title>", text, re.DOTALL)
    if title is None or not title[1].partition("·")[0].strip():
        wrong.append("no title")
    return wrong


@pytest.mark.parametrize("language", ["en", "es"])
async def test_every_page_is_written_as_browsers_and_screen_readers_expect(
    portal: Running, tenant: TenantId, pages: tuple[Page, ...], language: str
) -> None:
    person = await portal.person(tenant, is_operator=True, language=language)
    answered_with: dict[str, int] = {}
    async with portal.browser(person, language) as browser:
        for page in pages:
            if page.method != "GET":
                continue
            answered = await browser.client.get(address(page, tenant))
            answered_with[page.name] = answered.status_code
            assert answered.status_code < 500, page.name
            policy = answered.headers["content-security-policy"]
            assert policy.startswith("default-src 'none'"), page.name
            assert "unsafe" not in policy, page.name
            if answered.headers["content-type"].startswith("text/html") and answered.content:
                assert what_is_wrong(answered.text, language) == [], page.name
    # Parameters name no existing object, so these pages answer 404; the others answer 200.
    shown = {page.name for page in pages if set(re.findall(r"<(?:\w+:)?(\w+)>", page.path)) <= KNOWN}
    absent = {name for name, status in answered_with.items() if name in shown and status not in (200, 303)}
    assert absent <= BEFORE_THERE_IS_ANY
    assert sum(status == 200 for status in answered_with.values()) >= 20


#: Parameters that stand for themselves.
KNOWN = {"company", "environment"}
#: Not found without a provider, a webhook, or a receipt to copy.
BEFORE_THERE_IS_ANY = {
    "GET /sign-in/openid",
    "GET /sign-in/openid/answer",
    "GET /again/openid",
    "GET /companies/<int:company>/<environment>/new/copy",
    "GET /companies/<int:company>/<environment>/new/return",
    "GET /companies/<int:company>/<environment>/recurring/new",
    "GET /companies/<int:company>/<environment>/webhooks/secret",
    "GET /companies/<int:company>/certification/pdfs",
}


def test_what_is_wrong_with_a_page_is_seen() -> None:
    good = '<!doctype html><html lang="en"><head><title>a</title></head><body><main><h1>a</h1></main></body></html>'
    assert what_is_wrong(good, "en") == []
    for bad in (
        good.replace("<h1>", '<h1 style="a">'),
        good.replace("<h1>", "<h1 onclick=x>"),
        good.replace("<h1>a", '<h1><a href="javascript:x">a</a>'),
        good.replace("<h1>a", '<h1><a href="//evil.example">a</a>'),
        good.replace("<h1>a", "<h1><script>1</script>"),
        good.replace("</main>", "</div></main>"),
        good.replace("<main>", "<main><p>"),
        good.replace("<title>a", "<title> "),
        good.replace('lang="en"', ""),
    ):
        assert what_is_wrong(bad, "en") != [], bad


async def test_no_operators_page_is_there_where_none_is_served(portal: Running) -> None:
    public: list[Page] = list(every_page(_without_operators(portal.portal)))

    assert [page.name for page in public if page.path.startswith("/operators")] == []


def _without_operators(portal: Portal) -> Portal:
    return replace(portal, operators=None)
