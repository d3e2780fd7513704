"""Whatever answers, or does not: one line, an exit code, and tried again only for as long as was allowed."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from fe.cli.failures import Failure
from fe.clock import system_clock
from fe.integrator import profiles
from fe.integrator.api import ApiSession
from fe.integrator.demo.client import Client
from fe.integrator.profiles import Profile, StoredToken
from tests.cli.in_process import FeHere
from tests.cli.integrator.conftest import KEY
from tests.cli.integrator.scripted import Said, Scripted, scripted, token
from tests.plain_http import NO_TLS
from tests.ports import free_port

NOW = datetime(2027, 3, 1, 12, 0, tzinfo=UTC)
BUSY = Said(503, {"message": "Service Unavailable", "statusCode": 503}, {"Retry-After": "5"})
FOUND = Said(200, {"taxLogId": "x", "status": "queued"})
UNAUTHORIZED = Said(401, {"message": "Invalid or expired token", "statusCode": 401})
GATEWAY = Said(502, "<html><body>Bad Gateway</body></html>")
PAGE = Said(200, {"page": 1, "limit": 50, "total": 0, "items": [], "nextCursor": None})


class Slept(list[float]):
    """A sleep that takes no time, and a clock that goes on by what was slept."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)

    def now(self) -> datetime:
        return NOW + timedelta(seconds=sum(self))


@contextmanager
def session(base_url: str, slept: Slept, good: StoredToken | None = None, patience: float = 30) -> Iterator[ApiSession]:
    profile = Profile("p", base_url, KEY["api_key_id"], KEY["api_secret"], "testecf")
    with ApiSession(
        profile,
        language="en",
        patience=patience,
        keep=lambda *_: None,
        token=good,
        clock=slept.now,
        sleep=slept,
    ) as api:
        yield api


def good(name: str = "t0") -> StoredToken:
    return StoredToken(name, NOW + timedelta(hours=1))


def authorizations(server: Scripted) -> list[str | None]:
    return [one.headers.get("authorization") for one in server.heard]


def test_what_passes_is_tried_again_and_a_retry_after_is_kept_to() -> None:
    slept = Slept()
    dated = Said(429, {"message": "Too Many Requests"}, {"Retry-After": "Mon, 01 Mar 2027 12:00:08 GMT"})
    with (
        scripted(BUSY, dated, GATEWAY, Said(500), Said(200, None), FOUND) as server,
        session(server.base_url, slept, good()) as api,
    ):
        assert api.get("/invoices/x")["status"] == "queued"

    assert slept == [5.0, 3.0, 0.5, 1.0, 2.0]
    assert len(server.heard) == 6


def test_a_receipt_that_may_have_arrived_is_sent_again_to_the_letter_under_the_same_id() -> None:
    body = {"format": "structured", "payload": {}, "clientRequestId": "order-1"}
    with (
        scripted(Said(200, None), GATEWAY, Said(202, {"taxLogId": "x"})) as server,
        session(server.base_url, Slept(), good()) as api,
    ):
        assert api.post("/invoices", body) == {"taxLogId": "x"}

    assert [one.body for one in server.heard] == [body] * 3


def test_who_asks_for_more_patience_than_there_is_is_told_so_at_once() -> None:
    locked = Said(429, {"message": "Too Many Requests", "statusCode": 429}, {"Retry-After": "900"})
    slept = Slept()
    with scripted(locked) as server, session(server.base_url, slept) as api, pytest.raises(Failure) as told:
        api.get("/invoices/x")

    assert slept == []
    assert told.value.code == 8
    assert str(told.value).endswith("cannot be asked: Too Many Requests (status 429); it asks for 900 s")


def test_patience_has_an_end() -> None:
    slept = Slept()
    with scripted(*[GATEWAY] * 9) as server, session(server.base_url, slept, good()) as api, pytest.raises(Failure):
        api.get("/invoices/x")

    assert slept == [0.5, 1.0, 2.0, 4.0, 8.0]
    assert len(server.heard) == 6


def test_a_token_that_ends_in_the_middle_is_renewed_once_and_the_call_made_again() -> None:
    with scripted(UNAUTHORIZED, token("t1"), FOUND) as server, session(server.base_url, Slept(), good()) as api:
        assert api.get("/invoices/x")["taxLogId"] == "x"

    assert authorizations(server) == ["Bearer t0", None, "Bearer t1"]


def test_a_token_that_is_about_to_end_is_renewed_before_it_is_used() -> None:
    old = StoredToken("t0", NOW + timedelta(seconds=20))
    with scripted(token("t1"), FOUND) as server, session(server.base_url, Slept(), old) as api:
        api.get("/invoices/x")

    assert authorizations(server) == [None, "Bearer t1"]


def test_a_key_that_is_revoked_in_the_middle_is_code_3() -> None:
    revoked = Said(401, {"message": "API key has been revoked", "statusCode": 401})
    with (
        scripted(revoked, token("t1"), revoked) as server,
        session(server.base_url, Slept(), good()) as api,
        pytest.raises(Failure) as told,
    ):
        api.get("/invoices/x")

    assert (str(told.value), told.value.code) == ("API key has been revoked (status 401)", 3)
    assert len(server.heard) == 3


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Said(200, "<html>Welcome to the hotel's network</html>"), "(status 200, text/html)"),
        (Said(404, "<html>nginx</html>"), "(status 404, text/html)"),
        (Said(302, "", {"Location": "https://login.example/"}), "(status 302 -> https://login.example/)"),
        (Said(200, []), "(status 200, application/json)"),
        (Said(404, {"detail": "Not Found"}), "(status 404, application/json)"),
    ],
)
def test_a_page_of_a_proxy_is_no_answer_and_not_asked_for_again(answer: Said, words: str) -> None:
    with scripted(answer) as server, session(server.base_url, Slept(), good()) as api, pytest.raises(Failure) as told:
        api.get("/invoices/x")

    assert told.value.code == 8
    assert f"is not the API {words}: a proxy, or another base URL?" in str(told.value)
    assert len(server.heard) == 1


def test_a_login_that_says_nothing_of_a_token_is_not_the_api() -> None:
    with (
        scripted(Said(200, {"hello": 1})) as server,
        session(server.base_url, Slept()) as api,
        pytest.raises(Failure, match="is not the API"),
    ):
        api.get("/invoices/x")


def logged_in(here: FeHere, server: Scripted) -> None:
    assert here("login", server.base_url, **KEY).code == 0
    server.heard.clear()


def test_a_server_that_is_away_is_code_8_for_every_command(here: FeHere) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}"
    profiles.save(Profile("default", nowhere, KEY["api_key_id"], KEY["api_secret"], "testecf"))
    (here.folder / "a.json").write_text("{}")

    for words in (["status", "x"], ["list"], ["xml", "x"], ["submit", "a.json"], ["validate", "a.json"]):
        ended = here(*words, "--patience", "0")
        assert (ended.code, ended.out) == (8, ""), ended
        assert f"fe: the API at {nowhere} cannot be asked: " in ended.err
    assert "cannot be asked" in here.refused("login", nowhere, "--patience", "0", code=8, **KEY)


def test_the_api_is_asked_in_the_language_of_the_terminal_and_so_is_the_person(
    here: FeHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANG", "es_DO.UTF-8")
    with scripted(token(), PAGE, PAGE) as server:
        said = here("login", server.base_url, **KEY).out
        none = here("list").err
        monkeypatch.setenv("LC_ALL", "en_US.UTF-8")  # counts for more
        here("list")

    assert said.startswith("sesión iniciada en ")
    assert none == "no se ha enviado nada\n"
    assert [one.headers["accept-language"] for one in server.heard] == ["es", "es", "en"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "a.json: not JSON"),
        (b"[1]", "a.json: should hold one JSON object"),
        (b'{"a": 1, "a": 2}', "a.json: "),
        (b"<ECF>\xe9</ECF>", "a.json: not UTF-8"),
        (b"", "a.json: not JSON"),
    ],
)
def test_a_file_that_is_no_document_is_told_before_anything_is_sent(here: FeHere, content: bytes, words: str) -> None:
    (here.folder / "a.json").write_bytes(content)

    for command in ("submit", "validate"):
        assert here.refused(command, "a.json").startswith(words)


def test_what_is_wrong_with_a_file_is_told_in_spanish_too(here: FeHere, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANG", "es_DO.UTF-8")
    (here.folder / "a.json").write_text("[1]")
    (here.folder / "b.json").write_text('{"a": 1, "a": 2}')

    assert here.refused("submit", "a.json") == "a.json: debe contener un objeto JSON"
    told = here.refused("submit", "b.json")
    assert told.startswith("b.json: ")
    assert "clave" in told


def test_a_file_that_is_not_there_is_told_by_its_name(here: FeHere) -> None:
    assert here.refused("submit", "none.json") == "none.json: No such file or directory"
    assert here.refused("validate", "none.json") == "none.json: No such file or directory"


def test_the_same_document_has_the_same_id_however_it_is_laid_out(here: FeHere) -> None:
    payload = {"Encabezado": {"IdDoc": {"eNCF": "E310000000001"}, "Version": "1.0"}}
    forms = {
        "plain.json": json.dumps(payload),
        "indented.json": "\ufeff" + json.dumps(payload, indent=4, sort_keys=True),
        "whole.json": json.dumps({"format": "structured", "payload": payload}),
        "other.json": json.dumps(payload).replace("0001", "0002"),
        "named.json": json.dumps({"format": "structured", "payload": payload, "clientRequestId": "order-1"}),
    }
    taken = Said(202, {"taxLogId": "x", "status": "queued", "message": "ok"})
    with scripted(token(), *[taken] * 6) as server:
        logged_in(here, server)
        for name, text in forms.items():
            Path(here.folder / name).write_text(text, encoding="utf-8")
            ended = here("submit", name)
            assert ended.code == 0, ended
            assert ended.err == f"clientRequestId {server.heard[-1].body['clientRequestId']}\n"
        here("submit", "plain.json", "--client-request-id", "order-2", "--notify", "ana@example.com")

    plain, indented, whole, other, named, given = [one.body["clientRequestId"] for one in server.heard]
    assert plain == indented == whole != other
    assert plain.startswith("sha256-")
    assert (named, given) == ("order-1", "order-2")
    assert [one.body.get("notify") for one in server.heard] == [None] * 5 + ["ana@example.com"]
    assert {json.dumps(one.body["payload"], sort_keys=True) for one in server.heard[:3]} == {
        json.dumps(payload, sort_keys=True)
    }


def test_what_was_issued_for_another_document_is_no_success(here: FeHere) -> None:
    deduped = {"taxLogId": "x", "status": "Aceptado", "deduped": True, "message": "…"}
    (here.folder / "a.json").write_text("{}")
    with scripted(
        token(), Said(200, deduped | {"bodyMatched": True}), Said(200, deduped | {"bodyMatched": False})
    ) as server:
        logged_in(here, server)
        same, other = here("submit", "a.json"), here("submit", "a.json", "--client-request-id", "1")

    assert same.code == 0
    assert "handed in before" in same.err
    assert (other.code, other.out) == (1, "")
    assert "nothing was issued: 1 is the clientRequestId of another document, x (Aceptado)" in other.err


def test_pages_are_followed_to_the_end_or_the_way_on_is_told(here: FeHere) -> None:
    def page(number: int, following: str | None) -> Said:
        item = {"taxLogId": f"x{number}", "environment": "testecf", "status": "queued", "submittedAt": "now"}
        return Said(200, {"limit": 1, "items": [item], "nextCursor": following})

    with scripted(token(), page(1, "c1"), page(1, "c1"), page(2, "c2"), page(3, None)) as server:
        logged_in(here, server)
        first = here("list", "--limit", "1", "--encf", "E310000000001", "--from", "2027-01-01")
        everything = here.json("list", "--all", "--state", "queued")

    assert first.err == "older ones: --cursor c1\n"
    assert first.out.split()[:2] == ["submittedAt", "eNCF"]
    assert [one["taxLogId"] for one in everything] == ["x1", "x2", "x3"]
    assert everything[0]["eNCF"] is None
    assert [one.path.partition("?")[2] for one in server.heard] == [
        "limit=1&from=2027-01-01&encf=E310000000001",
        "limit=200&state=queued",
        "limit=200&cursor=c1&state=queued",
        "limit=200&cursor=c2&state=queued",
    ]
    assert here("list", "--all", "--page", "2").code == 2


def test_a_query_the_api_refuses_is_one_line_and_code_1(here: FeHere) -> None:
    refused = Said(400, {"message": "from must not be later than to", "statusCode": 400})
    with scripted(token(), refused) as server:
        logged_in(here, server)
        assert here.refused("list", "--from", "2028-01-01") == "from must not be later than to (status 400)"


async def test_demo_asks_a_busy_service_for_a_pdf_again() -> None:
    busy = Said(BUSY.status, BUSY.body, {"Retry-After": "0"})
    with scripted(busy, busy, Said(200, "%PDF-1.7")) as server:
        async with httpx.AsyncClient(base_url=server.base_url, trust_env=False, verify=NO_TLS) as http:
            pdf = await Client(http, system_clock).pdf("t1")

    assert pdf == b"%PDF-1.7"
    assert server.calls[0].endswith("/invoices/t1/pdf")
    assert len(server.calls) == 3
