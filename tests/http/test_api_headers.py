"""Headers about the API itself: rate limits, version, deprecated parameters; and pages that caches keep."""

import gzip
from datetime import date
from xml.etree import ElementTree as ET

import httpx
import pytest
import trio

from fe import RELEASE
from fe.config import ConfigError, load_settings
from fe.http.api_headers import deprecation_headers
from fe.http.app import PREFIX
from fe.http.pages.served import ServedPage
from fe.http.routes.types import Deprecated, Parameter
from fe.limits import QuotaLimits
from fe.store.postgres.db import Database
from tests.http.front import Key, start_front, structured

ATOM = "{http://www.w3.org/2005/Atom}"


def rates(answer: httpx.Response) -> list[str | None]:
    return [answer.headers.get(f"X-RateLimit-{name}") for name in ("Limit", "Remaining")]


async def test_answers_say_what_is_left_of_a_limit_and_which_release_this_is(
    front_db: Database, key: Key, nursery: trio.Nursery
) -> None:
    front = await start_front(nursery, front_db, quota=QuotaLimits(documents_a_minute=3), calls_per_second=50.0)
    async with front.client(await front.token(key)) as api:
        first = await api.post("/invoices", json=structured())
        batch = await api.post("/invoices/batch", json={"items": [{"format": "none"}] * 2})
        refused = await api.post("/invoices/validate", json=structured())
        listed = await api.get("/invoices?status=Rechazado")
        plain = await api.get("/invoices?state=Rechazado")

    assert [rates(answer) for answer in (first, batch, refused)] == [["3", "2"], ["3", "0"], ["3", "0"]]
    assert (first.status_code, refused.status_code) == (202, 429)
    assert refused.headers["Retry-After"] == refused.headers["X-RateLimit-Reset"]
    assert rates(listed)[0] == "100"
    assert {answer.headers["X-API-Version"] for answer in (first, batch, refused, listed)} == {RELEASE}
    assert listed.headers["Deprecation"].startswith("@")
    assert f"{PREFIX}/docs/guide/changes" in listed.headers["Link"]
    assert "Deprecation" not in plain.headers
    assert "Sunset" not in listed.headers


async def test_pages_are_kept_by_caches_and_compressed(api: httpx.AsyncClient) -> None:
    for path in ("/openapi.json", "/docs", "/docs/en/guide/changes", "/docs/es/changes.atom"):
        whole = await api.get(path, headers={"Accept-Encoding": "identity"})
        small = await api.get(path, headers={"Accept-Encoding": "br, gzip;q=0.5"})
        known = await api.get(path, headers={"If-None-Match": f'"other", {whole.headers["ETag"]}'})

        assert (whole.status_code, small.status_code, known.status_code) == (200, 200, 304), path
        assert whole.content == small.content  # the client decompresses
        assert int(small.headers["Content-Length"]) < len(whole.content) / 2
        assert small.headers["Content-Encoding"] == "gzip"
        assert "Content-Encoding" not in whole.headers
        assert (known.content, known.headers.get("Content-Length")) == (b"", None)
        for answer in (whole, small, known):
            assert answer.headers["Cache-Control"] == "public, max-age=300"
            assert "Accept-Encoding" in answer.headers["Vary"]
            assert answer.headers["ETag"] == whole.headers["ETag"]
    listed = ET.fromstring(whole.content)
    entries = listed.findall(f"{ATOM}entry")
    assert entries
    assert all(entry.findtext(f"{ATOM}id", "").startswith("urn:uuid:") for entry in entries)
    assert (await api.get("/invoices")).headers["Cache-Control"] == "no-store"


async def test_pages_of_allowed_origins_may_call_the_api_and_others_may_not(
    front_db: Database, key: Key, nursery: trio.Nursery
) -> None:
    ours, other = {"Origin": "https://shop.example"}, {"Origin": "https://evil.example"}
    asks = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    settings = load_settings(cors_origins="https://shop.example, http://localhost:5173", grace_seconds=2)
    front = await start_front(nursery, front_db, settings)
    async with front.client(await front.token(key)) as api:
        asked = await api.options("/invoices", headers=ours | asks)
        refused = await api.options("/invoices", headers=other | asks)
        answers = [
            await api.post("/invoices", json=structured(), headers=ours),
            await api.get("/invoices", headers=ours),
            await api.get("/invoices", headers=ours | {"Authorization": "Bearer none"}),
            await api.get("/invoices", headers=ours | {"Content-Length": "1", "Transfer-Encoding": "chunked"}),
        ]
        plain = await api.get("/invoices", headers=other)
        usual = await api.options("/invoices", headers=ours)

    assert (asked.status_code, asked.headers["Access-Control-Allow-Origin"]) == (204, ours["Origin"])
    assert "Authorization" in asked.headers["Access-Control-Allow-Headers"]
    assert "POST" in asked.headers["Access-Control-Allow-Methods"]
    assert [answer.status_code for answer in answers] == [202, 200, 401, 400]
    for answer in answers:
        assert answer.headers["Access-Control-Allow-Origin"] == ours["Origin"]
        assert "X-Request-Id" in answer.headers["Access-Control-Expose-Headers"]
    for answer in (refused, plain):
        assert "Access-Control-Allow-Origin" not in answer.headers
        assert "Origin" in answer.headers["Vary"]
    assert usual.status_code == 405


@pytest.mark.parametrize("origin", ["*", "https://Shop.example", "http://shop.example", "https://a.example/"])
def test_origin_that_is_none_is_refused(origin: str) -> None:
    with pytest.raises(ConfigError, match="is not an origin"):
        load_settings(cors_origins=origin)


@pytest.mark.parametrize(
    ("accepted", "is_compressed"),
    [
        ("gzip", True),
        ("*", True),
        ("deflate, GZIP;q=1", True),
        ("gzip;q=0", False),
        ("gzip; q=0.0, br", False),
        ("", False),
    ],
)
def test_page_is_compressed_where_the_client_takes_it(accepted: str, is_compressed: bool) -> None:
    page = ServedPage.of(b"page " * 1000)

    assert page.takes(accepted) is is_compressed
    assert gzip.decompress(page.compressed) == page.body
    assert not ServedPage.of(b"small").takes("gzip")


def test_sunset_of_the_parameter_that_goes_first_is_announced() -> None:
    one, other = (
        Parameter(name, "", {}, deprecated=Deprecated(date(2026, 1, day), date(2027, 1, day)))
        for name, day in (("first", 2), ("second", 3))
    )

    assert deprecation_headers((one, other), b"third=1", "/p") == ()
    assert dict(deprecation_headers((one, other), b"second=1&first=", "/p")) == {
        "Deprecation": "@1767312000",
        "Link": '</p>; rel="deprecation"; type="text/html"',
        "Sunset": "Sat, 02 Jan 2027 00:00:00 GMT",
    }
