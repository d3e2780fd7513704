"""The contract: interface.md#errors. Whatever comes in: never a 5xx, never a page, never a leak."""

import gzip
import json
import logging
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx
import psycopg
import pytest
import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fe.http.app import PREFIX, create_app
from fe.http.auth.authenticate import KeyPatience
from fe.http.parameters import parse_moment, read_track_or_id
from fe.store.postgres.db import Conn, Database, open_database
from fe.store.postgres.migrate import migrations
from fe.store.postgres.roles import FRONT
from tests.http.clauses import clause
from tests.http.front import Key, Running, Start, body_of, invoice_payload, structured
from tests.plain_http import NO_TLS
from tests.waiting import PATIENCE

CANARY = "canary7f3a9b"

RAW_BODIES: dict[str, bytes] = {
    "nothing": b"",
    "blank": b"   ",
    "half": b'{"format": "xml"',
    "text": b"hello",
    "number": b"7",
    "null": b"null",
    "list": b"[]",
    "text in quotes": b'"{}"',
    "NaN": b'{"format": "structured", "payload": {"Encabezado": NaN}}',
    "Infinity": b'{"format": "structured", "payload": {"Encabezado": -Infinity}}',
    "twice the same key": b'{"format": "xml", "format": "structured"}',
    "twice the same key below": b'{"format": "structured", "payload": {"a": {"b": 1, "b": 2}}}',
    "NUL": b'{"format": "xml", "xml": "a\x00b"}',
    "escaped NUL": b'{"format": "xml", "xml": "a\\u0000b"}',
    "lone surrogate": b'{"format": "xml", "xml": "\\ud800"}',
    "lone surrogate as key": b'{"\\udfff": 1}',
    "control character": b'{"format": "xml", "xml": "\\u0001"}',
    "not a character": b'{"format": "xml", "xml": "\xef\xbf\xbe"}',
    "Latin-1": '{"format": "año"}'.encode("latin-1"),
    "UTF-16": '{"format": "xml"}'.encode("utf-16"),
    "byte order mark": b'\xef\xbb\xbf{"format": "xml"}',
    "deep lists": b'{"payload": ' + b"[" * 5000 + b"]" * 5000 + b"}",
    "deep objects": b'{"a":' * 3000 + b"1" + b"}" * 3000,
    "deep and unclosed": b"[" * 100_000,
    "long integer": b'{"payload": {"a": ' + b"9" * 5000 + b"}}",
    "exponent": b'{"payload": {"a": 1e1000000}}',
    "long fraction": b'{"payload": {"a": 0.' + b"1" * 5000 + b"}}",
    "comment": b'{"a": 1 /* no */}',
    "trailing comma": b'{"a": 1,}',
    "two values": b"{}{}",
    "XML": b"<ECF/>",
    "form": b"format=xml",
    "zip": b"PK\x03\x04\x14\x00\x00\x00",
}


@clause("HTTP errors of the API", "4xx bodies: `{message, statusCode}`")
@clause("Resources and their fields", "UTF-8 is mandatory")
async def test_a_body_that_is_not_json_is_400_in_our_form(api: httpx.AsyncClient) -> None:
    for path in ("/invoices", "/invoices/validate", "/ncf", "/login"):
        for name, raw in RAW_BODIES.items():
            answer = await api.post(path, content=raw, headers={"Content-Type": "application/json"})
            # 413 where a route takes small bodies only, 429 once there were too many malformed logins.
            assert answer.status_code in (400, 413, 429), (path, name, answer.text)
            assert set(answer.json()) - ({"hint"} if answer.status_code == 429 else set()) == {"message", "statusCode"}
            assert answer.json()["statusCode"] == answer.status_code
            assert len(answer.json()["message"]) < 300, (path, name)
            assert answer.headers["X-Request-Id"]
    assert (await api.get("/invoices")).json()["total"] == 0


@pytest.mark.parametrize("path", ["/login", "/invoices", "/invoices/validate"])
async def test_a_body_that_is_compressed_is_415_and_says_so(api: httpx.AsyncClient, path: str) -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}

    answer = await api.post(path, content=gzip.compress(json.dumps(structured()).encode()), headers=headers)

    assert answer.status_code == 415
    assert answer.json()["message"] == "send the body as it is, without Content-Encoding"
    assert answer.headers["Accept-Encoding"] == "identity"
    as_it_is = headers | {"Content-Encoding": "identity"}
    assert (await api.post(path, json=structured(), headers=as_it_is)).status_code != 415


async def test_no_body_is_of_no_media_type(api: httpx.AsyncClient) -> None:
    """PHP's curl, Ruby and axios say of a POST without a body that it is a form."""
    form = {"Content-Type": "application/x-www-form-urlencoded"}

    approved = await api.post(f"/received/{uuid4()}/approve", content=b"", headers=form)
    submitted = await api.post("/invoices", content=b"", headers=form)

    assert (approved.status_code, submitted.status_code) == (404, 400)


@clause("Resources and their fields", "General conventions: requests with a body use `Content-Type: application/json`")
async def test_a_body_of_another_media_type_is_415(api: httpx.AsyncClient) -> None:
    good = json.dumps(structured()).encode()
    for media_type, status in (
        ("application/json", 202),
        ("application/json; charset=utf-8", 202),
        ('Application/JSON; Charset="UTF-8"', 202),
        ("application/problem+json", 202),
        ("application/x-www-form-urlencoded", 415),
        ("text/plain", 415),
        ("application/xml", 415),
        ("multipart/form-data; boundary=x", 415),
        ("application/json; charset=latin-1", 415),
        ("", 415),
        ("application/jsonp", 415),
    ):
        answer = await api.post("/invoices", content=good, headers={"Content-Type": media_type})
        assert answer.status_code == status, (media_type, answer.text)
        if status == 415:
            assert {"message", "statusCode"} == set(answer.json()) - {"hint"}

    bare = api.build_request("POST", "/invoices", content=good)
    assert "content-type" not in bare.headers
    assert (await api.send(bare)).status_code == 202


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            b'{"payload": {"a": [1,\n 1.0E7]}}',
            "payload.a[2]: a number with an exponent; write it out (line 2, column 2)",
        ),
        (b'{"format": "structured", "payload": {"x": {"b": 1, "b": 2}}}', 'payload.x: the key "b" appears twice'),
        (b'{"format": "structured", "payload": {"x": NaN}}', "payload.x: NaN is not a number of JSON (line 1, column"),
        ('{"format": "xml"}'.encode("utf-16"), "holds a NUL character; it looks like UTF-16: send UTF-8"),
        (gzip.compress(b"{}" * 50, mtime=0), "it looks compressed: send it as it is"),
        (b'{"Encabezado": {}, "DetallesItems": {}}', "looks like a payload without its envelope: send"),
    ],
)
async def test_body_that_cannot_be_read_names_place_and_remedy(api: httpx.AsyncClient, body: bytes, said: str) -> None:
    answer = await api.post("/invoices", content=body, headers={"Content-Type": "application/json"})

    assert answer.status_code == 400
    assert said in answer.json()["message"]


async def test_body_with_a_byte_order_mark_is_read(api: httpx.AsyncClient) -> None:
    raw = b"\xef\xbb\xbf" + json.dumps(structured()).encode()

    answer = await api.post("/invoices", content=raw, headers={"Content-Type": "application/json"})

    assert answer.status_code == 202


async def test_body_of_a_form_names_its_media_type(api: httpx.AsyncClient) -> None:
    answer = await api.post("/invoices", data={"format": "xml"})

    said = "Content-Type must be application/json (it was application/x-www-form-urlencoded)"
    told = answer.json()
    assert (told["message"], told["statusCode"]) == (said, 415)
    assert "curl" in told["hint"]


@pytest.mark.parametrize(
    ("asked", "nearest"),
    [
        ("/api/v1/fe/invoices/", "/api/v1/fe/invoices"),
        ("/api/v1/fe/invoice", "/api/v1/fe/invoices"),
        ("/invoices", "/api/v1/fe/invoices"),
        ("/api/v1/fe/api/v1/fe/invoices/validate", "/api/v1/fe/invoices/validate"),
        ("/robots.txt", None),
    ],
)
async def test_path_that_does_not_exist_names_the_nearest(front: Running, asked: str, nearest: str | None) -> None:
    async with httpx.AsyncClient(verify=NO_TLS, trust_env=False, timeout=PATIENCE) as client:
        answer = await client.post(f"http://127.0.0.1:{front.port}{asked}", json={})

    hint = {} if nearest is None else {"hint": f"did you mean {nearest}?"}
    assert (answer.status_code, answer.json()) == (404, {"message": "Not Found", "statusCode": 404} | hint)


async def test_id_that_is_an_e_ncf_or_a_client_request_id_says_how_to_look_it_up(api: httpx.AsyncClient) -> None:
    await api.post("/invoices", json=structured(clientRequestId="order-7"))

    by_number = (await api.get("/invoices/E310000000001")).json()
    by_own_id = (await api.get("/invoices/order-7")).json()

    assert (by_number["found"], by_own_id["found"]) == (False, False)
    assert "GET /invoices?encf=" in by_number["hint"]
    assert "GET /invoices?clientRequestId=" in by_own_id["hint"]
    assert (await api.get("/invoices/order-8")).json() == {"found": False}


async def test_a_body_above_the_limit_is_413(api: httpx.AsyncClient, db: Database, nursery: trio.Nursery) -> None:
    payload = invoice_payload()
    payload["Encabezado"]["Comprador"]["RazonSocialComprador"] = "x" * 1024 * 1024

    answer = await api.post("/invoices", json=structured(payload))

    assert answer.status_code == 413
    assert answer.json() == {"message": "the body must not be larger than 1048576 bytes", "statusCode": 413}


async def test_no_answer_repeats_what_was_sent_at_length_nor_tells_of_our_insides(api: httpx.AsyncClient) -> None:
    long = CANARY * 50
    answers = [
        await api.post("/invoices", json={"format": long}),
        await api.post("/invoices", json=structured({long: {}, "b": 1})),
        await api.post("/invoices", json=structured({"Encabezado": {"IdDoc": {"TipoeCF": "31", long: 1}}})),
        await api.post("/invoices", json=structured({"Encabezado": {"IdDoc": {"TipoeCF": long}}})),
        await api.post("/invoices", json={"format": "xml", "xml": f"<{long}/>"}),
        await api.post("/invoices", json={"format": "xml", "xml": f"<ECF><{long}></ECF>"}),
        await api.post("/invoices", json=structured(asUser=long, asUserId=long)),
        await api.post("/ncf", json={"prefix": long}),
        await api.post("/login", json={"apiKeyId": long, "apiSecret": long}),
        await api.post("/login", json={"apiKeyId": "fak_1", "apiSecret": [long]}),
        await api.post("/invoices", content=b'{"' + long.encode() + b'": 1, "' + long.encode() + b'": 2}'),
        await api.get("/invoices", params={"from": long}),
        await api.get(f"/{long}"),
        await api.delete(f"/ncf/{long}"),
    ]
    for answer in answers:
        assert 400 <= answer.status_code < 500, answer.text
        assert CANARY * 10 not in answer.text
        for leak in ("Traceback", "psycopg", "pydantic", "/fe/", ".py", "SELECT", "site-packages", "<html"):
            assert leak not in answer.text, answer.text


async def test_secrets_reach_no_answer_and_no_log(
    front: Running, key: Key, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    async with front.client() as client:
        login = await client.post("/login", json=key.credentials)
        token = login.json()["accessToken"]
        texts = [
            (await client.post("/login", json={"apiKeyId": key.api_key_id, "apiSecret": key.secret + "0"})).text,
            (await client.post("/login", json={"apiKeyId": "x", "apiSecret": key.secret})).text,
            (await client.post("/login", content=f'{{"apiSecret": "{key.secret}"')).text,
            (await client.get("/ncf", headers={"Authorization": f"Bearer {token}x"})).text,
        ]
    seen = "".join(texts) + caplog.text + "".join(capsys.readouterr())

    assert key.secret not in seen
    assert token not in seen


# --- our own faults -------------------------------------------------------------------------------------------------


@clause("HTTP errors of the API", "| 500 | Internal Server Error", "5xx errors are to be retried")
async def test_a_fault_of_ours_is_500_and_says_nothing_more(
    front: Running, api: httpx.AsyncClient, db: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    async def drop(conn: Conn) -> None:
        await conn.execute("ALTER TABLE sequences RENAME COLUMN is_active TO was_active")

    await db.run(drop)
    answer = await api.get("/ncf")

    assert answer.status_code == 500
    assert answer.json() == {"message": "Internal Server Error", "statusCode": 500}
    assert "UndefinedColumn" in capsys.readouterr().out  # but the log does
    assert (await api.get("/invoices")).status_code == 200


async def test_without_the_database_the_answer_is_503_and_the_way_back_is_found(
    db: Database, dsn: str, nursery: trio.Nursery, key: Key, start: Start
) -> None:
    patience = KeyPatience(fresh=0.2, believed=0.6, retry=0.1)
    async with open_database(dsn, max_size=2, patience=PATIENCE, role=FRONT) as own, trio.open_nursery() as serving:
        front = await start(serving, own, key_patience=patience)
        async with front.client(await front.token(key)) as api:
            assert (await api.get("/ncf")).status_code == 200
            name = psycopg.conninfo.conninfo_to_dict(dsn)["dbname"]

            async def close(conn: Conn) -> None:
                await conn.execute(f'ALTER DATABASE "{name}" WITH ALLOW_CONNECTIONS false'.encode())

            async def cut(conn: Conn) -> None:
                await conn.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = %s AND application_name = 'fe'",
                    (name,),
                )

            admin = psycopg.conninfo.make_conninfo(dsn, dbname="postgres")
            async with open_database(admin, max_size=1) as server:
                await server.run(close)
                await server.run(cut)
                first = await api.get("/ncf")
                await trio.sleep(patience.believed)
                closed = await api.get("/ncf")
                login = await api.post("/login", json=key.credentials)
                root = f"http://127.0.0.1:{front.port}"
                ready, live = await api.get(f"{root}/readyz"), await api.get(f"{root}/healthz")

                async def reopen(conn: Conn) -> None:
                    await conn.execute(f'ALTER DATABASE "{name}" WITH ALLOW_CONNECTIONS true'.encode())

                await server.run(reopen)
            with trio.fail_after(60):
                while (again := await api.get("/ncf")).status_code != 200:  # noqa: ASYNC110  (only the front knows)
                    await trio.sleep(0.2)
        serving.cancel_scope.cancel()

    for answer in (first, closed, login):
        assert answer.status_code == 503, answer.text
        assert answer.json() == {"message": "Service Unavailable", "statusCode": 503}
        assert int(answer.headers["Retry-After"]) >= 1
    assert (ready.status_code, ready.json()["message"]) == (503, "the database does not answer")
    assert live.status_code == 200
    assert again.status_code == 200


async def test_not_ready_without_its_migrations(front: Running, db: Database) -> None:
    async def forget(conn: Conn) -> None:
        await conn.execute("DELETE FROM applied_migrations WHERE number = 1")

    await db.run(forget)
    async with httpx.AsyncClient(verify=NO_TLS, trust_env=False, timeout=PATIENCE) as client:
        answer = await client.get(f"http://127.0.0.1:{front.port}/readyz")

    assert answer.status_code == 503
    assert "fe migrate" in answer.json()["message"]


async def test_readiness_names_the_stages_in_trouble_and_the_front_goes_on_taking_documents_in(front: Running) -> None:
    url = f"http://127.0.0.1:{front.port}/readyz"
    async with httpx.AsyncClient(verify=NO_TLS, trust_env=False, timeout=PATIENCE) as client:
        front.metrics.in_trouble("sign", True)
        during = await client.get(url)
        front.metrics.in_trouble("sign", False)
        after = await client.get(url)

    assert (during.status_code, during.json()) == (200, {"status": "ready", "stagesInTrouble": ["sign"]})
    assert (after.status_code, after.json()) == (200, {"status": "ready"})


@pytest.mark.parametrize(("suits", "code"), [(0, 200), (1, 503)], ids=["this release too", "only later ones"])
async def test_ready_beside_a_later_release_that_suits_this_one(
    front: Running, db: Database, suits: int, code: int
) -> None:
    newest = migrations()[-1].number

    async def apply_a_later_one(conn: Conn) -> None:
        line = (newest + 1, "of the next release", b"", newest + suits)
        await conn.execute(
            "INSERT INTO applied_migrations (number, name, digest, works_from) VALUES (%s, %s, %s, %s)", line
        )

    await db.run(apply_a_later_one)
    async with httpx.AsyncClient(verify=NO_TLS, trust_env=False, timeout=PATIENCE) as client:
        answer = await client.get(f"http://127.0.0.1:{front.port}/readyz")

    assert answer.status_code == code, answer.text


# --- whatever comes in ----------------------------------------------------------------------------------------------

_SETTINGS = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@given(st.text(max_size=80))
@settings(max_examples=300, deadline=None)
def test_no_path_parameter_breaks_reading_it(text: str) -> None:
    read_track_or_id(text)
    moment = parse_moment(text, end_of_day=True)
    assert moment is None or moment.tzinfo is not None


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=12), below, max_size=3),
    max_leaves=12,
)


@st.composite
def bodies(draw: st.DrawFn) -> Any:
    known = {
        "format": st.sampled_from(["xml", "structured", "x"]) | _JSON,
        "xml": st.text(max_size=60) | _JSON,
        "payload": _JSON | st.just(invoice_payload()),
        "clientRequestId": st.text(max_size=130) | _JSON,
        "asUser": st.text(max_size=20) | _JSON,
        "asUserId": st.uuids().map(str) | _JSON,
        "strict": _JSON,
    }
    return {name: draw(strategy) for name, strategy in known.items() if draw(st.booleans())}


def test_no_body_and_no_query_makes_a_5xx(dsn: str, start: Start) -> None:
    """One server for all examples; each example is one call, and every answer is JSON of our form."""

    async def serve(calls: list[tuple[str, str, bytes]]) -> list[httpx.Response]:
        from tests.http.front import make_key, make_tenant

        async with (
            open_database(dsn) as db,
            open_database(dsn, role=FRONT) as front_db,
            trio.open_nursery() as nursery,
        ):
            front = await start(nursery, front_db)
            key = await make_key(db, await make_tenant(db))
            async with front.client(await front.token(key)) as client:
                answers = [await client.request(method, path, content=body) for method, path, body in calls]
            nursery.cancel_scope.cancel()
        return answers

    calls: list[tuple[str, str, bytes]] = []

    @given(bodies(), st.text(max_size=30), st.sampled_from(["page", "limit", "from", "to", "days", "rnc", "cursor"]))
    @_SETTINGS
    def collect(body: Any, text: str, name: str) -> None:
        calls.append(("POST", "/invoices", json.dumps(body).encode()))
        calls.append(("POST", "/ncf", json.dumps({"prefix": "E31", **body, "minSequence": body.get("xml")}).encode()))
        escaped = quote(text.encode("utf-8", "surrogatepass"), safe="")
        calls.append(("GET", f"/invoices?{name}={escaped}", b""))
        calls.append(("GET", f"/usage?{name}={escaped}", b""))
        calls.append(("GET", f"/invoices/{escaped or 'x'}", b""))
        calls.append(("DELETE", f"/ncf/{escaped or 'x'}", b""))

    collect()
    answers = trio.run(serve, calls)

    for call, answer in zip(calls, answers, strict=True):
        assert answer.status_code < 500, (call, answer.text)
        assert answer.headers["Content-Type"] == "application/json", call
        if answer.status_code >= 400:
            assert {"message", "statusCode"} <= set(answer.json()), call


def test_every_answer_of_the_router_is_ours() -> None:
    """The framework's own pages are unreachable: it has handlers for all its exceptions and no automatic routes."""

    class Nothing:
        db = wakeups = None

    from fe.clock import system_clock
    from fe.http.app import HttpDeps
    from fe.monitoring.metrics import Metrics

    deps = HttpDeps(
        db=Nothing(),  # type: ignore[arg-type]  # nothing is asked of it here
        wakeups=Nothing(),  # type: ignore[arg-type]  # likewise
        clock=system_clock,
        metrics=Metrics(),
        jwt_keys={"k": b"\0" * 32},
        peppers={"": b"\0" * 32},
    )
    app = create_app(deps)
    rules = {(rule.rule, method) for rule in app.url_map.iter_rules() for method in rule.methods or ()}

    assert {path for path, _ in rules} == {route.path for route in app.extensions["fe"].routes}
    assert not [rule for rule in rules if rule[1] == "OPTIONS"]
    outside = {path for path, _ in rules if not path.startswith(PREFIX)}
    assert outside == {"/", "/healthz", "/llms.txt", "/readyz"}


# --- in Spanish -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "message"),
    [
        ("GET", "/invoices?limit=0", None, 400, "limit debe ser un número entero de 1 a 200"),
        ("GET", "/invoices?limite=1", None, 400, "no hay un parámetro limite; existen limit, "),
        ("POST", "/invoices", {"format": "json"}, 400, "format debe ser uno de: xml, structured"),
        ("POST", "/invoices", {"format": "xml", "xml": "<ECF>"}, 400, "xml: "),
        (
            "POST",
            "/invoices",
            {"format": "structured", "payload": {"x": 1}},
            400,
            "un payload comienza con Encabezado, y este tiene x",
        ),
        (
            "POST",
            "/invoices",
            {"format": "structured", "payload": {"Encabezado": {}}},
            400,
            "Encabezado.IdDoc.TipoeCF: ",
        ),
        ("DELETE", "/ncf/E99", None, 400, "tipo de e-CF no válido"),
        ("DELETE", "/ncf/E31", None, 404, "no existe una secuencia de NCF para el prefijo E31"),
        ("GET", "/nowhere", None, 404, "No encontrado"),
        ("PUT", "/invoices", None, 405, "Método no permitido"),
        ("POST", "/invoices", structured(), 202, "Recibido; se está procesando. Consulte GET /invoices/{taxLogId}"),
    ],
)
async def test_messages_are_in_spanish_for_who_asks_for_it(
    api: httpx.AsyncClient, method: str, path: str, body: Any, status: int, message: str
) -> None:
    spanish = await api.request(method, path, json=body, headers={"Accept-Language": "es-DO, en;q=0.5"})
    english = await api.request(method, path, json=body)

    assert (spanish.status_code, spanish.headers["Content-Language"]) == (status, "es"), spanish.text
    assert spanish.json()["message"].startswith(message)
    assert english.headers["Content-Language"] == "en"
    assert english.json()["message"] != spanish.json()["message"]
    assert spanish.headers["Vary"] == english.headers["Vary"] == "Accept-Language"


async def test_problems_are_in_spanish_for_who_asks_for_it(api: httpx.AsyncClient) -> None:
    payload = {"Encabezado": {"IdDoc": {"TipoeCF": "31", "Color": "rojo"}}}
    headers = {"Accept-Language": "es"}

    refused = await api.post("/invoices", json=structured(payload), headers=headers)
    validated = await api.post("/invoices/validate", json=structured(payload), headers=headers)

    (problem,) = refused.json()["problems"]
    assert refused.json()["message"] == "Encabezado.IdDoc.Color: Color no es un elemento del formato"
    assert problem["message"] == problem["messageEs"]
    assert problem["fix"] == problem["fixEs"] == "elimine Color"
    assert validated.json()["problems"] == [problem]


async def test_what_the_guard_refuses_is_in_spanish_too(front: Running) -> None:
    head = f"GET {PREFIX}/invoices HTTP/1.1\r\nHost: x\r\nAccept-Language: es\r\n"

    answer = await front.raw(f"{head}Authorization: a\r\nAuthorization: b\r\n\r\n".encode())

    assert b"content-language: es" in answer.lower()
    assert body_of(answer)["message"] == "una solicitud tiene un solo Authorization"
