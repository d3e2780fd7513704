"""The contract: interface.md#reading, #states and #limits."""

from datetime import UTC, datetime, timedelta
from difflib import SequenceMatcher
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
import trio

from fe.ecf.catalogue import Environment
from fe.ecf.dates import local
from fe.http import calls
from fe.http.routes import long_polls
from fe.identifiers import ActionId, SubmissionId, TenantId, TrackId
from fe.lifecycle import Status
from fe.store.postgres.db import Database
from fe.store.queue import dead_letters
from fe.store.queue.audit import OperatorAction
from fe.store.records import history, verdict_notices
from fe.store.records.verdict_notices import VerdictNotices
from tests.factories.tenants import rows
from tests.http import worker
from tests.http.clauses import clause
from tests.http.front import FACTS, Key, Running, Start, invoice_payload, lately, make_key, structured
from tests.waiting import PATIENCE, until, until_listened_to

XML = "<ECF><Encabezado><IdDoc><TipoeCF>31</TipoeCF><eNCF>E310000000001</eNCF></IdDoc></Encabezado></ECF>"
TRACK_ID = TrackId("d2b6e27c-3908-46f3-afaa-2207b9501b4b")
RECORD = (
    "taxLogId",
    "trackId",
    "environment",
    "status",
    "qrCodeUrl",
    "securityCode",
    "ncfExpiration",
    "fechaHoraFirma",
    "response",
    "submittedAt",
    "updatedAt",
    "clientRequestId",
)
ITEM = ("taxLogId", "trackId", "environment", "status", "qrCodeUrl", "submittedAt", "updatedAt", "clientRequestId")


async def submit(api: httpx.AsyncClient, **more: Any) -> str:
    answer = await api.post("/invoices", json=structured(**more))
    assert answer.status_code == 202, answer.text
    return str(answer.json()["taxLogId"])


@clause("GET /invoices/:trackOrId", "Response 200 when found", "`trackOrId` is the taxLogId or the trackId")
@clause("Submission (invoice record)", "Returned by GET /invoices/:trackOrId", *(f"| {name} |" for name in RECORD))
@clause("Submission status", "| queued | worker, authority reply | authority accepts | Aceptado |")
@clause("Submission status", "The authority's state is stored in", "| Aceptado |")
@clause("Resources and their fields", "General conventions", "UTF-8 is mandatory")
@clause("Authority states", "Stored in `response.trackStatus.estado`", "Message codes", "| 0 | OK")
async def test_a_record_has_every_field_in_its_form(api: httpx.AsyncClient, db: Database) -> None:
    tax_log_id = await submit(api, clientRequestId="order-1")
    signed_at = datetime(2026, 11, 5, 18, 30, 15, tzinfo=UTC)
    await worker.sign(db, tax_log_id, at=signed_at)
    await worker.receive(db, tax_log_id, TRACK_ID)
    await worker.give_verdict(db, tax_log_id, Status.ACCEPTED, ("0", "Aceptado con ñ"))

    by_id = await api.get(f"/invoices/{tax_log_id}")
    by_track = await api.get(f"/invoices/{TRACK_ID}")

    assert by_id.status_code == 200
    assert by_id.headers["Content-Type"] == "application/json"
    assert by_id.json() == by_track.json()
    record = by_id.json()
    assert tuple(record) == (
        *RECORD,
        *FACTS,
        "facts",
        "eNCF",
        "numberFate",
    )  # nothing to explain: it is accepted without remarks
    assert record["taxLogId"] == tax_log_id
    assert record["trackId"] == TRACK_ID
    assert record["environment"] == "testecf"
    assert record["status"] == "Aceptado"
    assert record["qrCodeUrl"].startswith("https://")
    assert record["securityCode"] == "aB3+/x"
    assert record["ncfExpiration"] == "31-12-2027"
    assert record["fechaHoraFirma"] == "2026-11-05T14:30:15-04:00"
    assert record["response"] == {
        "trackStatus": {"estado": "Aceptado"},
        "mensajes": [{"codigo": "0", "valor": "Aceptado con ñ"}],
    }
    assert datetime.fromisoformat(record["submittedAt"]) <= datetime.fromisoformat(record["updatedAt"])
    assert record["submittedAt"].endswith("Z")
    assert record["clientRequestId"] == "order-1"
    assert record["eNCF"] == "E310000000001"
    assert record["numberFate"] == "used"
    assert {name: record[name] for name in FACTS} == {
        "tipoEcf": "E31",
        "montoTotal": 1063.18,
        "totalITBIS": 162.18,
        "rncComprador": "131880657",
        "razonSocialComprador": "Ñandú & Cía",
        "fechaEmision": "2026-11-05",
        "readyToPrint": True,
    }
    facts = record["facts"]
    assert (facts["sendBy"], facts["deliveredAt"]) == (None, None)
    assert facts["signedAt"] == "2026-11-05T18:30:15.000Z"
    assert facts["receivedAt"] <= facts["verdictAt"]
    assert b'"montoTotal":1063.18,"totalITBIS":162.18' in by_id.content
    (listed,) = (await api.get("/invoices")).json()["items"]
    assert {name: listed[name] for name in listed} == {name: record[name] for name in listed}


@clause("Submission (invoice record)", "| trackId |")
@clause("Submission status", "Values:", "| null or queued", "| queued")
@clause("Limits", "| Polling hints")
async def test_a_record_that_is_not_sent_yet_says_what_is_known(api: httpx.AsyncClient, db: Database) -> None:
    tax_log_id = await submit(api)

    answer = await api.get(f"/invoices/{tax_log_id}")

    assert answer.headers["Retry-After"] == "5"
    record = answer.json()
    assert "trackId" not in record
    assert record["status"] == "queued"
    nulls = ("qrCodeUrl", "securityCode", "ncfExpiration", "fechaHoraFirma", "response", "clientRequestId")
    assert [record[name] for name in nulls] == [None] * 6
    assert [record[name] for name in FACTS] == ["E31", None, None, "131880657", None, None, False]
    assert record["numberFate"] == "reserved"


@clause("Submission status", "| En Proceso", "| queued | worker, authority reply | authority still processing")
@clause("Submission status", "Transitions out of `En Proceso`")
@clause("Limits", "| Polling hints")
@clause("What the service does", "The client polls for the verdict")
@clause("Events", "Issued-submission results are obtained by polling")
async def test_while_the_authority_is_at_it_the_record_says_so_and_then_its_verdict(
    api: httpx.AsyncClient, db: Database
) -> None:
    tax_log_id = await submit(api)
    await worker.sign(db, tax_log_id)
    await worker.receive(db, tax_log_id, TRACK_ID)
    await worker.still_processing(db, tax_log_id)
    during = await api.get(f"/invoices/{tax_log_id}")
    await worker.give_verdict(db, tax_log_id, Status.ACCEPTED)
    after = await api.get(f"/invoices/{tax_log_id}")

    assert during.json()["status"] == during.json()["response"]["trackStatus"]["estado"] == "En Proceso"
    assert during.headers["Retry-After"] == "30"
    assert after.json()["status"] == "Aceptado"
    assert "Retry-After" not in after.headers


@clause(
    "Submission status", "| Aceptado Condicional", "| queued | worker, authority reply | authority accepts with remarks"
)
@clause("Submission status", "| Rechazado", "| queued | worker, authority reply | authority rejects")
@clause("Authority states", "| 1 |", "| 2 |", "| 3 |", "| 4 |", "| 7 |", "| 8 |", "| 13 |", "Codes outside the table")
async def test_remarks_and_reasons_are_in_the_response(api: httpx.AsyncClient, db: Database) -> None:
    for number, (status, code) in enumerate(
        [
            (Status.CONDITIONAL, "2"),
            *((Status.REJECTED, code) for code in ("1", "2", "3", "4", "7", "8", "13", "3243")),
        ],
        start=1,
    ):
        tax_log_id = await submit(api, payload=invoice_payload(f"E31000000000{number}"))
        await worker.carry_through(db, tax_log_id, status, (code, "por qué"), track_id=TrackId(f"track-{number}"))
        record = (await api.get(f"/invoices/{tax_log_id}")).json()

        assert record["status"] == record["response"]["trackStatus"]["estado"] == status
        assert record["response"]["mensajes"] == [{"codigo": code, "valor": "por qué"}]


@clause("Submission status", "| error", "| queued | worker | permanent failure", "The status-query response may show")
@clause("Asynchronous worker errors (after a 202)", "The submission shows `response.status`")
@clause("GET /invoices/:trackOrId/xml", "| status")
@clause("Digital certificate and users", "Without any certificate the emission ends with status `error`")
async def test_a_permanent_failure_shows_as_error_everywhere(api: httpx.AsyncClient, db: Database) -> None:
    tax_log_id = await submit(api)
    await worker.fail(db, tax_log_id, "no certificate available: upload one")

    record = (await api.get(f"/invoices/{tax_log_id}")).json()
    xml = (await api.get(f"/invoices/{tax_log_id}/xml")).json()
    item = (await api.get("/invoices")).json()["items"][0]

    assert record["status"] == xml["status"] == item["status"] == "error"
    assert record["response"] == {
        "status": "error",
        "error": "no certificate available: upload one",
        "dgiiResponse": None,
    }


@clause("Submission status", "| queued | worker | transient failure", "Transitions out of `En Proceso`, and the status")
async def test_a_dead_letter_stays_queued_and_says_why(api: httpx.AsyncClient, db: Database) -> None:
    tax_log_id = await submit(api)
    await worker.give_up(db, tax_log_id, "the authority did not answer eight times")

    answer = await api.get(f"/invoices/{tax_log_id}")

    assert answer.json()["status"] == "queued"
    assert answer.json()["response"]["status"] == "dead_letter"
    assert answer.json()["response"]["error"] == "the authority did not answer eight times"
    assert answer.headers["Retry-After"] == "5"


UNKNOWN = (
    "00000000-0000-7000-8000-000000000000",
    "nobody",
    "d2b6e27c39084",
    "{a0ee0000-0000-4000-8000-000000000000}",
    "%00",
    "%ff",
    "a" * 300,
    "..",
    "%2e%2e%2f",
    "1%20OR%201=1",
    "null",
)


@clause("GET /invoices/:trackOrId", "Response 200 when the id matches no submission")
@clause("GET /invoices/:trackOrId/xml", "Unknown id gives 200", "Path parameter `trackOrId`")
@clause("HTTP errors of the API", "A query for an unknown submission id")
async def test_an_id_that_matches_nothing_is_not_found_with_200(api: httpx.AsyncClient, front: Running) -> None:
    token = api.headers["Authorization"]
    for unknown in UNKNOWN:
        for path in ("", "/xml", "/timeline"):
            got = await front.raw(
                f"GET /api/v1/fe/invoices/{unknown}{path} HTTP/1.1\r\nHost: a\r\nAuthorization: {token}\r\n"
                "Connection: close\r\n\r\n".encode()
            )
            assert got.startswith(b"HTTP/1.1 200"), (unknown, path, got)
            assert got.endswith(b'\r\n\r\n{"found":false}'), (unknown, path, got)


async def test_an_id_with_a_slash_is_no_id(api: httpx.AsyncClient) -> None:
    assert (await api.get("/invoices/a/b/c")).status_code == 404


# --- /xml -----------------------------------------------------------------------------------------------------------


@clause("GET /invoices/:trackOrId/xml", "| taxLogId", "| environment", "| status", "| source", "| xml")
@clause("GET /invoices/:trackOrId/xml", "For format structured only the signed XML exists", "The signed XML with its")
@clause("GET /invoices/:trackOrId/xml", "Path parameter `trackOrId`")
@clause("What the service does", "The client may retrieve the XML")
async def test_the_xml_is_the_original_the_signed_one_or_none(api: httpx.AsyncClient, db: Database) -> None:
    as_xml = (await api.post("/invoices", json={"format": "xml", "xml": XML})).json()["taxLogId"]
    as_json = await submit(api)

    async def shown(tax_log_id: str) -> Any:
        answer = await api.get(f"/invoices/{tax_log_id}/xml")
        assert tuple(answer.json()) == ("taxLogId", "environment", "status", "source", "xml")
        assert answer.json()["taxLogId"] in (as_xml, as_json)
        assert answer.json()["environment"] == "testecf"
        return answer.json()["status"], answer.json()["source"], answer.json()["xml"]

    assert await shown(as_xml) == ("queued", "original", XML)
    assert await shown(as_json) == ("queued", None, None)
    await worker.carry_through(db, as_xml, Status.REJECTED, track_id=TrackId("a1"))
    await worker.carry_through(db, as_json, track_id=TrackId("b1"))
    assert await shown(as_xml) == ("Rechazado", "signed", worker.SIGNED.decode())
    assert await shown(as_json) == ("Aceptado", "signed", worker.SIGNED.decode())
    assert await shown("b1") == await shown(as_json)


# --- the list -------------------------------------------------------------------------------------------------------


@clause("GET /invoices", "Paged history of submissions", "Ordered by submittedAt", "Response 200", "| page", "| limit")
@clause("What the service does", "The client may retrieve the XML that was generated or signed, and list")
@clause("Submission (invoice record)", "Returned by GET /invoices/:trackOrId (processed case) and, partly, by the list")
async def test_the_history_comes_in_pages_newest_first(api: httpx.AsyncClient, db: Database) -> None:
    ids = [await submit(api, clientRequestId=f"order-{number}") for number in range(5)]
    await worker.carry_through(db, ids[0], track_id=TRACK_ID)

    everything = (await api.get("/invoices")).json()
    pages = [(await api.get("/invoices", params={"page": page, "limit": 2})).json() for page in (1, 2, 3, 4)]

    assert (everything["page"], everything["limit"], everything["total"]) == (1, 50, 5)
    assert [item["taxLogId"] for item in everything["items"]] == ids[::-1]
    assert tuple(everything["items"][-1]) == (*ITEM, "securityCode", "fechaHoraFirma", *FACTS, "facts", "eNCF")
    assert everything["items"][-1]["trackId"] == TRACK_ID
    assert everything["items"][-1]["status"] == "Aceptado"
    assert [len(page["items"]) for page in pages] == [2, 2, 1, 0]
    assert [page["total"] for page in pages] == [5] * 4
    assert [item["taxLogId"] for page in pages for item in page["items"]] == ids[::-1]


@clause("GET /invoices", "| page", "| limit")
@clause("Limits", "| List page size")
@clause("GET /usage", "Behaviour for out-of-range query values")
@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        (
            "page",
            ("0", "-1", "1.5", "x", "", "1e3", "９", "99999999999999999999", " 1"),
            "page must be a whole number from 1 to 999999999",
        ),
        ("limit", ("0", "201", "-5", "all", ""), "limit must be a whole number from 1 to 200"),
        ("wait", ("31", "-1", "x"), "wait must be a whole number from 0 to 30"),
        (
            "from",
            ("yesterday", "infinity", "2026-13-01", "10000-01-01", "2026-02-30", "", "2026"),
            "from must be a date",
        ),
        (
            "to",
            ("NaN", "2026-1-1", "0000-01-01", "2026-01-01T25:00:00Z", "2026-01-01T00:00:00+99:00"),
            "to must be a date",
        ),
        ("state", ("accepted", "", "null"), "state must be one of: queued, En Proceso"),
        ("encf", ("E31", "B0100000001", ""), "encf must be an e-CF number"),
        ("rnc", ("1", "abc"), "rnc must be a tax id"),
        ("clientRequestId", ("", "a" * 121, "a\0"), "clientRequestId must be a text of 1 to 120 characters"),
        ("cursor", ("1", "{}"), "cursor must be the nextCursor"),
    ],
)
async def test_a_query_value_out_of_range_is_refused_by_name(
    api: httpx.AsyncClient, name: str, values: tuple[str, ...], message: str
) -> None:
    path = "/invoices/nobody" if name == "wait" else "/invoices"
    for value in values:
        answer = await api.get(path, params={name: value})
        assert answer.status_code == 400, value
        assert answer.json()["message"].startswith(message), value


async def test_a_parameter_given_twice_or_in_bad_bytes_is_refused(api: httpx.AsyncClient) -> None:
    for query in ("page=1&page=2", "page=%ff", "&".join(f"a{n}=1" for n in range(40))):
        assert (await api.get(f"/invoices?{query}")).status_code == 400, query


async def test_the_far_ends_of_the_ranges_are_taken(api: httpx.AsyncClient) -> None:
    for query in (
        "limit=200",
        "page=999999999&limit=200",
        "from=0001-01-01&to=9999-12-31",
        "from=0001-01-01T00:00:00-04:00",
        "to=9999-12-31T23:59:59.999999999Z",
        "from=2026-01-01T00:00:00%2B02:00",
        "from=2026-01-01T00:00:00+02:00",
    ):
        assert (await api.get(f"/invoices?{query}")).status_code == 200, query


@clause("GET /invoices", "| from", "| to")
async def test_the_history_is_of_a_period_with_both_ends(front: Running, api: httpx.AsyncClient, db: Database) -> None:
    front.clock.stop()  # not over midnight
    now = front.clock()
    days = {}
    for ahead in (0, 1, 2):
        front.clock.ahead = timedelta(days=ahead)
        token = await front.token(await make_key(db, await _tenant(db)))
        days[(now + timedelta(days=ahead)).date().isoformat()] = (
            await api.post("/invoices", json=structured(), headers={"Authorization": f"Bearer {token}"})
        ).json()["taxLogId"]
    api.headers["Authorization"] = f"Bearer {token}"
    first, second, third = days

    async def listed(**query: str) -> list[str]:
        answer = (await api.get("/invoices", params=query)).json()
        assert answer["total"] == len(answer["items"])
        return [item["taxLogId"] for item in answer["items"]]

    shown = (await api.get(f"/invoices/{days[second]}")).json()["submittedAt"]
    assert await listed(**{"from": second}) == [days[third], days[second]]
    assert await listed(to=second) == [days[second], days[first]]
    assert await listed(**{"from": second, "to": second}) == [days[second]]
    assert await listed(**{"from": shown, "to": shown}) == [days[second]]
    assert await listed(**{"from": "2001-01-01", "to": "2001-01-02"}) == []
    late = await api.get("/invoices", params={"from": third, "to": first})
    assert (late.status_code, late.json()["message"]) == (400, "from must not be later than to")


async def _tenant(db: Database) -> TenantId:
    async def read(conn: Any) -> TenantId:
        row = await (await conn.execute("SELECT min(tenant_id) FROM tenants")).fetchone()
        return TenantId(row[0])

    return await db.run(read)


@clause("GET /invoices", "| status")
async def test_the_status_parameter_has_no_effect(api: httpx.AsyncClient) -> None:
    await submit(api)
    for value in ("Aceptado", "nonsense", ""):
        assert (await api.get("/invoices", params={"status": value})).json()["total"] == 1


async def test_filters_and_the_cursor_find_the_same_as_pages(api: httpx.AsyncClient, db: Database) -> None:
    ids = []
    for number in range(7):
        payload = invoice_payload(f"E31000000000{number}")
        payload["Encabezado"]["Comprador"]["RNCComprador"] = "131880657" if number % 2 else "101010632"
        ids.append((await api.post("/invoices", json=structured(payload))).json()["taxLogId"])
    await worker.carry_through(db, ids[1], track_id=TrackId("t1"))
    await worker.give_up(db, ids[2], "nobody answers")
    await worker.fail(db, ids[3], "no certificate")

    async def listed(**query: str) -> list[str]:
        answer = (await api.get("/invoices", params=query)).json()
        assert answer["total"] == len(answer["items"])
        return [item["taxLogId"] for item in answer["items"]]

    assert await listed(state="Aceptado") == [ids[1]]
    assert await listed(state="error") == [ids[3]]
    assert await listed(state="dead_letter") == [ids[2]]
    assert await listed(state="queued") == [ids[6], ids[5], ids[4], ids[2], ids[0]]
    assert await listed(encf="E310000000004") == [ids[4]]
    assert await listed(encf="e31-0000000004", rnc="1-01-01063-2") == await listed(
        encf="E310000000004", rnc="101010632"
    )
    assert await listed(rnc="101010632") == [ids[6], ids[4], ids[2], ids[0]]
    assert await listed(rnc="101010632", state="queued", encf="E310000000006") == [ids[6]]

    walked, query = [], {"limit": "3"}
    while True:
        answer = (await api.get("/invoices", params=query)).json()
        walked += [item["taxLogId"] for item in answer["items"]]
        if answer["nextCursor"] is None:
            break
        query["cursor"] = answer["nextCursor"]
    assert walked == ids[::-1]
    assert set(answer) == {"limit", "items", "nextCursor"}


async def test_what_a_client_submitted_is_found_by_its_own_id(
    front: Running, api: httpx.AsyncClient, db: Database, key: Key
) -> None:
    await submit(api)
    here = await submit(api, payload=invoice_payload("E310000000002"), clientRequestId="order 1/ñ&=")
    await submit(api, payload=invoice_payload("E310000000003"), clientRequestId="order 1")
    production = await make_key(db, key.tenant_id, Environment.ECF)
    async with front.client(await front.token(production)) as other:
        there = await submit(other, payload=invoice_payload("E310000000002"), clientRequestId="order 1/ñ&=")

    found = (await api.get("/invoices", params={"clientRequestId": "order 1/ñ&="})).json()

    # The list is of all environments, each with an id of that name of its own.
    assert (found["total"], [item["taxLogId"] for item in found["items"]]) == (2, [there, here])
    assert {item["clientRequestId"] for item in found["items"]} == {"order 1/ñ&="}
    assert {item["eNCF"] for item in found["items"]} == {"E310000000002"}
    none = (await api.get("/invoices", params={"clientRequestId": "order 2"})).json()
    assert (none["total"], none["items"]) == (0, [])
    both = {"clientRequestId": "order 1/ñ&=", "encf": "E310000000003"}
    assert (await api.get("/invoices", params=both)).json()["items"] == []


@pytest.mark.parametrize(
    ("path", "given", "nearest"),
    [
        ("/invoices", "clientRequestID", "clientRequestId"),
        ("/invoices", "client_request_id", "clientRequestId"),
        ("/invoices", "eNCF", "encf"),
        ("/invoices", "estado", "state"),
        ("/invoices", "RNC", "rnc"),
        ("/invoices", "From", "from"),
        ("/received", "pagina", "page"),
        ("/webhooks/deliveries", "events", "event"),
        ("/invoices/nobody", "wiat", "wait"),
        ("/usage", "day", "days"),
    ],
)
async def test_an_unknown_parameter_is_refused_and_the_nearest_one_named_first(
    api: httpx.AsyncClient, path: str, given: str, nearest: str
) -> None:
    answer = await api.get(path, params={given: "1"})

    assert answer.status_code == 400
    assert answer.json()["message"].startswith(f"there is no query parameter {given}; there are {nearest}")


async def test_an_unknown_parameter_is_refused_beside_known_ones_and_all_known_ones_are_named(
    api: httpx.AsyncClient,
) -> None:
    answer = await api.get("/invoices", params={"limit": "1", "x" * 200: "1"})

    assert answer.status_code == 400
    assert "x" * 41 not in answer.text
    for known in ("page", "limit", "from", "to", "status", "state", "encf", "clientRequestId", "rnc", "cursor"):
        assert f" {known}" in answer.json()["message"]


async def test_of_a_name_that_there_is_not_as_much_is_compared_as_is_shown(
    api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[int] = []

    class Noting(SequenceMatcher[str]):
        def __init__(self, isjunk: None, a: str, b: str) -> None:
            super().__init__(isjunk, a, b)
            compared.append(len(a) + len(b))

    monkeypatch.setattr(calls, "SequenceMatcher", Noting)

    answer = await api.get("/invoices", params={"clientRequestId" * 900: "1"})

    assert answer.status_code == 400
    assert "there are clientRequestId, " in answer.json()["message"]
    assert compared
    assert max(compared) <= 80


async def test_a_refusal_is_explained_in_the_language_that_is_asked_for(api: httpx.AsyncClient, db: Database) -> None:
    tax_log_id = await submit(api)
    before = (await api.get(f"/invoices/{tax_log_id}")).json()
    await worker.sign(db, tax_log_id)
    await worker.receive(db, tax_log_id, TRACK_ID)
    await worker.give_verdict(db, tax_log_id, Status.REJECTED, ("1209", "El eNCF ya fue utilizado."))

    english = (await api.get(f"/invoices/{tax_log_id}")).json()
    spanish = (await api.get(f"/invoices/{tax_log_id}", headers={"Accept-Language": "es"})).json()

    assert "explained" not in before
    assert english["response"] == spanish["response"]
    assert [(one["codigo"], one["meaning"]) for one in english["explained"]] == [
        ("1209", "This number was used before, or was voided.")
    ]
    assert spanish["explained"][0]["meaning"] == "Este número ya fue utilizado, o fue anulado."
    assert "GET /invoices?encf=" in spanish["explained"][0]["action"]


# --- the timeline, and waiting --------------------------------------------------------------------------------------


async def test_the_timeline_tells_everything_in_order(api: httpx.AsyncClient, db: Database) -> None:
    tax_log_id = await submit(api)
    await worker.carry_through(db, tax_log_id, track_id=TRACK_ID)

    timeline = (await api.get(f"/invoices/{TRACK_ID}/timeline")).json()

    assert timeline["taxLogId"] == tax_log_id
    assert timeline["status"] == "Aceptado"
    assert [event["kind"] for event in timeline["events"]] == ["accepted", "signed", "received", "verdict"]
    assert [event["seq"] for event in timeline["events"]] == [1, 2, 3, 4]
    assert all(event["at"].endswith("Z") for event in timeline["events"])


async def test_what_operators_write_down_is_not_for_the_client(api: httpx.AsyncClient, db: Database) -> None:
    tax_log_id = await submit(api)
    (tenant,) = [found["tenant_id"] for found in await rows(db, "SELECT tenant_id FROM submissions")]
    await worker.give_up(db, tax_log_id, "cannot connect")
    first = OperatorAction(ActionId(uuid4()), datetime.now(UTC), "eva", "they pay late, last try")
    await db.transact(dead_letters.replay, first, tenant, SubmissionId(UUID(tax_log_id)))
    await worker.give_up(db, tax_log_id, "cannot connect")
    second = OperatorAction(ActionId(uuid4()), datetime.now(UTC), "eva", "they pay late, enough")
    await db.transact(dead_letters.discard, second, tenant, SubmissionId(UUID(tax_log_id)), note="issued by hand")

    record = await api.get(f"/invoices/{tax_log_id}")
    timeline = await api.get(f"/invoices/{tax_log_id}/timeline")

    assert record.json()["response"]["error"] == "given up by an operator: issued by hand (cannot connect)"
    kinds = {event["kind"]: event["detail"] for event in timeline.json()["events"]}
    assert kinds["replayed"] == {"stage": "sign"}
    assert kinds["discarded"] == {"note": "issued by hand", "numberFate": "reusable"}
    for answer in (record, timeline):
        assert "pay late" not in answer.text
        assert "eva" not in answer.text


async def test_a_waiting_query_answers_when_the_verdict_is_in(
    db: Database,
    front_db: Database,
    nursery: trio.Nursery,
    key: Key,
    start: Start,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One process books the verdict, another one waits. NOTIFY wakes it: its polling is switched off here."""
    monkeypatch.setattr(long_polls, "_FIRST_LOOK", 1e6)
    monkeypatch.setattr(long_polls, "_MAX_LOOK", 1e6)
    front = await start(nursery, front_db)
    await until_listened_to(db, verdict_notices.CHANNEL)
    elsewhere = VerdictNotices(db)
    nursery.start_soon(elsewhere.run)
    async with front.client(await front.token(key)) as api:
        tax_log_id = await submit(api)
        answers: list[httpx.Response] = []

        async def wait() -> None:
            answers.append(await api.get(f"/invoices/{tax_log_id}", params={"wait": "30"}))

        async with trio.open_nursery() as waiting:
            for _ in range(3):
                waiting.start_soon(wait)
            await until(lambda: waiters(front) == 3)
            await worker.carry_through(db, tax_log_id)
            elsewhere.notify(SubmissionId(UUID(tax_log_id)))

    # Without the notification the answer would come after 30 s, with the first status: queued.
    assert [answer.json()["status"] for answer in answers] == ["Aceptado"] * 3


def waiters(front: Running) -> int:
    held: int = front.app.extensions["fe"].waiting.slots.all_held
    return held


async def test_a_waiting_query_finds_out_by_itself_when_word_is_lost(
    front: Running, api: httpx.AsyncClient, db: Database
) -> None:
    tax_log_id = await submit(api)
    answers: list[httpx.Response] = []

    async def wait() -> None:
        answers.append(await api.get(f"/invoices/{tax_log_id}", params={"wait": "30"}))

    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as waiting:
            waiting.start_soon(wait)
            await until(lambda: waiters(front) == 1)
            await worker.fail(db, tax_log_id, "no certificate")

    assert answers[0].json()["status"] == "error"


async def test_a_waiting_query_answers_with_what_there_is_when_time_is_up_or_we_stop(
    front: Running, api: httpx.AsyncClient
) -> None:
    tax_log_id = await submit(api)
    began = trio.current_time()
    short = await api.get(f"/invoices/{tax_log_id}", params={"wait": "1"})

    assert trio.current_time() - began >= 1
    assert (short.json()["status"], short.headers["Retry-After"]) == ("queued", "5")
    assert (await api.get("/invoices/nobody", params={"wait": "30"})).json() == {"found": False}

    answers: list[httpx.Response] = []

    async def wait() -> None:
        answers.append(await api.get(f"/invoices/{tax_log_id}", params={"wait": "30"}))

    with trio.fail_after(60):
        async with trio.open_nursery() as waiting:
            waiting.start_soon(wait)
            await until(lambda: waiters(front) == 1)
            front.shutdown.set()
    assert answers[0].json()["status"] == "queued"


async def test_a_wait_until_signed_ends_with_the_signature(
    front: Running, api: httpx.AsyncClient, db: Database
) -> None:
    tax_log_id = await submit(api)
    answers: list[httpx.Response] = []

    async def wait() -> None:
        answers.append(await api.get(f"/invoices/{tax_log_id}", params={"wait": "30", "until": "signed"}))

    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as waiting:
            waiting.start_soon(wait)
            await until(lambda: waiters(front) == 1)
            await worker.sign(db, tax_log_id)

    (signed,) = answers
    assert (signed.json()["readyToPrint"], "Retry-After" in signed.headers) == (True, True)
    assert signed.json()["securityCode"]
    refused = await api.get(f"/invoices/{tax_log_id}", params={"wait": "1", "until": "printed"})
    assert (refused.status_code, "until" in refused.json()["message"]) == (400, True)


# --- a tenant does not see another tenant's data ---------------------------------------------------------------------


@clause("DELETE /ncf/:prefix", "Deletes the tenant's sequence of that prefix")
async def test_what_belongs_to_another_tenant_is_like_what_does_not_exist(
    front: Running, api: httpx.AsyncClient, db: Database
) -> None:
    from tests.http.front import make_tenant

    tax_log_id = await submit(api, clientRequestId="order-1")
    await worker.carry_through(db, tax_log_id, track_id=TRACK_ID)
    await api.post("/ncf", json={"prefix": "E31"})
    stranger = await make_key(db, await make_tenant(db, "Otra SRL"), Environment.TESTECF)

    async with front.client(await front.token(stranger)) as other:
        for theirs, nobodys in ((tax_log_id, "0" * 36), (TRACK_ID, "t" * 36)):
            for path in ("", "/xml", "/timeline", "?wait=1"):
                seen = await other.get(f"/invoices/{theirs}{path}")
                unknown = await other.get(f"/invoices/{nobodys}{path}")
                assert (seen.status_code, seen.content) == (unknown.status_code, unknown.content), (theirs, path)
        assert (await other.get("/invoices")).json()["total"] == 0
        assert (await other.get("/invoices", params={"cursor": "f" * 8 + tax_log_id[8:]})).json()["items"] == []
        assert (await other.get("/invoices", params={"encf": "E310000000001"})).json()["items"] == []
        assert (await other.get("/ncf")).json()["items"] == []
        assert (await other.delete("/ncf/E31")).status_code == 404
        assert (await other.get("/billing/current-period")).json()["emissionsAccepted"] == 0
        assert (await other.get("/usage")).json()["items"] == []
        same_id = await other.post("/invoices", json=structured(clientRequestId="order-1"))
        assert same_id.status_code == 202
        drawn = await other.post("/invoices", json=structured(invoice_payload(None, TipoeCF="31")))
        assert drawn.json()["message"].startswith("no active NCF sequence")

    assert (await api.get("/invoices")).json()["total"] == 1
    assert len((await api.get("/ncf")).json()["items"]) == 1


async def test_the_list_is_filtered_by_what_receipts_say(api: httpx.AsyncClient, db: Database) -> None:
    tax_log_id = await submit(api, asUser="ana@example.do")
    await worker.sign(db, tax_log_id)
    period = {"issuedFrom": "2026-11-05", "issuedTo": "2026-11-05"}
    for query, is_found in (
        ({"tipoEcf": "E31"}, True),
        ({"tipoEcf": "E32"}, False),
        ({"asUser": "ana@example.do"}, True),
        ({"asUser": str(uuid4())}, False),
        (period, True),
        ({"issuedFrom": "2026-11-06"}, False),
        ({**period, "totalFrom": "1063.18", "totalTo": "1063.18"}, True),
        ({**period, "totalFrom": "1063.19"}, False),
        ({**period, "numberFate": "reserved"}, True),
        ({**period, "numberFate": "used"}, False),
        ({**period, "text": "ñandú"}, True),
        ({**period, "text": "0001"}, True),
        ({**period, "text": "%%"}, False),
        ({**period, "text": "ñandú", "state": "queued"}, True),
        ({**period, "text": "ñandú", "state": "Aceptado"}, False),
        ({**period, "text": "ñandú", "state": "Rechazado"}, False),
        ({**period, "text": "ñandú", "state": "dead_letter"}, False),
        ({**lately(), "text": "ñandú", "state": "dead_letter"}, False),
        ({**lately(), "text": "ñandú", "tipoEcf": "E31"}, True),
        ({**lately(), "text": "ñandú", "clientRequestId": "order-1"}, False),
    ):
        page = (await api.get("/invoices", params=query)).json()
        assert [item["taxLogId"] for item in page["items"]] == [tax_log_id] * is_found, query
        assert page["total"] == is_found, query
        if is_found:
            assert (await api.get("/invoices", params={**query, "cursor": tax_log_id})).json()["items"] == []


async def test_a_list_by_day_of_issue_has_a_receipt_that_is_not_signed_yet(api: httpx.AsyncClient) -> None:
    """Under the day on which it came, and without showing it as the day of issue: the signer writes that."""
    tax_log_id = await submit(api)
    record = (await api.get(f"/invoices/{tax_log_id}")).json()
    came = local(datetime.fromisoformat(record["submittedAt"])).date()
    for first, found in ((came, [(tax_log_id, "queued", None)]), (came + timedelta(days=1), [])):
        page = (await api.get("/invoices", params={"issuedFrom": first.isoformat()})).json()
        assert [(one["taxLogId"], one["status"], one["fechaEmision"]) for one in page["items"]] == found


async def test_a_list_that_looked_through_a_part_says_so_and_leads_on(
    api: httpx.AsyncClient, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "LOOK", 2)
    ids = [await submit(api, payload=invoice_payload(f"E31000000001{n}")) for n in range(5)]
    for one in ids:
        await worker.sign(db, one)
    whole = lately()
    labelled = {**whole, "metadata[branch]": "norte"}
    assert (await api.get("/invoices", params=labelled)).json()["warnings"][0]["code"] == "not-all-looked-through"
    for period in (whole, {"issuedFrom": "2026-11-01", "issuedTo": "2026-11-30"}):
        query = {**period, "text": "ñandú"}
        first = (await api.get("/invoices", params=query)).json()
        assert (first["total"], [each["code"] for each in first["warnings"]]) == (2, ["not-all-looked-through"])
        nobody = (await api.get("/invoices", params={**query, "text": "nadie"})).json()
        assert (nobody["items"], nobody["nextCursor"]) == ([], first["nextCursor"])

        found, cursor, warned = [], first["nextCursor"], 1
        found += [item["taxLogId"] for item in first["items"]]
        while cursor is not None:
            part = (await api.get("/invoices", params={**query, "cursor": cursor})).json()
            found += [item["taxLogId"] for item in part["items"]]
            cursor, warned = part["nextCursor"], warned + ("warnings" in part)

        assert found == sorted(ids, reverse=True)
        assert warned == 2, "the last part reaches the beginning of the period"


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ({"tipoEcf": "31"}, "tipoEcf"),
        ({"issuedFrom": "2026-02-30"}, "issuedFrom"),
        ({"issuedFrom": "2026-02-03", "issuedTo": "2026-02-01"}, "issuedTo"),
        ({"totalFrom": "1,000"}, "totalFrom"),
        ({"text": "cafe"}, "93 days"),
        ({"numberFate": "used"}, "93 days"),
        ({"numberFate": "lost", "from": "2026-11-01", "to": "2026-11-02"}, "reusable"),
        ({"metadata[branch]": "norte"}, "93 days"),
        ({"metadata[branch]": "norte", "metadata[till]": "4"}, "once"),
        ({"metadata[sucursal centro]": "x", "from": "2026-11-01", "to": "2026-11-02"}, "metadata[name]=value"),
        ({"metadata[branch]": "x" * 501, "from": "2026-11-01", "to": "2026-11-02"}, "metadata[branch]"),
        ({"metadata": "norte", "from": "2026-11-01", "to": "2026-11-02"}, "metadata[name]=value"),
        ({"text[branch]": "norte"}, "no query parameter"),
        ({"totalTo": "5", "issuedFrom": "2026-01-01", "issuedTo": "2026-12-31"}, "93 days"),
    ],
)
async def test_a_filter_that_cannot_be_meant_is_a_400_that_names_it(
    api: httpx.AsyncClient, query: dict[str, str], named: str
) -> None:
    answer = await api.get("/invoices", params=query)

    assert (answer.status_code, named in answer.json()["message"]) == (400, True), answer.text
