"""Batches of receipts, and Idempotency-Key."""

import json
from typing import Any

import httpx
import pytest

from fe.limits import QuotaLimits
from fe.store.postgres.db import Database
from tests.factories.tenants import rows
from tests.http.front import Key, Start, invoice_payload, structured

E31 = {"prefix": "E31", "maxSequence": 900, "expireAt": "2028-12-31"}


def numbered(number: int, **more: Any) -> dict[str, Any]:
    return structured(invoice_payload(f"E31{number:010}"), clientRequestId=f"order-{number}", **more)


async def test_each_receipt_of_a_batch_is_taken_or_refused_by_itself(api: httpx.AsyncClient) -> None:
    misspelt = numbered(3)
    misspelt["payload"]["Encabezado"]["iddoc"] = misspelt["payload"]["Encabezado"].pop("IdDoc")
    items = [
        numbered(1),
        "no receipt",
        misspelt,
        {"format": "xml", "xml": "<ECF>"},
        numbered(1),
        numbered(2, strict=True),
        structured(invoice_payload(None, TipoeCF="31")),
        {
            "format": "xml",
            "xml": f"<ECF><Encabezado><IdDoc><TipoeCF>31</TipoeCF><eNCF>E31{7:010}</eNCF></IdDoc></Encabezado></ECF>",
        },
    ]

    answer = await api.post("/invoices/batch", json={"items": items})

    assert answer.status_code == 200, answer.text
    told = answer.json()["items"]
    assert [one["statusCode"] for one in told] == [202, 400, 400, 400, 200, 400, 400, 202]
    assert told[0]["status"] == "queued"
    assert (told[4]["taxLogId"], told[4]["deduped"], told[4]["bodyMatched"]) == (told[0]["taxLogId"], True, True)
    assert told[1]["message"] == "the body must be a JSON object"
    assert told[2]["problems"][0]["repair"]["to"] == "Encabezado.IdDoc"
    assert told[3]["message"].startswith("xml: ")
    assert told[6]["message"].startswith("no active NCF sequence for E31")
    listed = (await api.get("/invoices")).json()["items"]
    assert {one["taxLogId"] for one in listed} == {told[place]["taxLogId"] for place in (0, 7)}


async def test_a_batch_of_five_hundred_that_is_repeated_issues_nothing_twice(
    api: httpx.AsyncClient, db: Database
) -> None:
    body = {"items": [numbered(number) for number in range(1, 501)]}

    first = (await api.post("/invoices/batch", json=body)).json()["items"]
    again = (await api.post("/invoices/batch", json=body)).json()["items"]

    assert [one["statusCode"] for one in first] == [202] * 500
    assert [one["eNCF"] for one in first] == [f"E31{number:010}" for number in range(1, 501)]
    assert [one["statusCode"] for one in again] == [200] * 500
    assert [one["taxLogId"] for one in again] == [one["taxLogId"] for one in first]
    ((kept, works),) = [
        (one["kept"], one["works"])
        for one in await rows(
            db, "SELECT (SELECT count(*) FROM submissions) AS kept, (SELECT count(*) FROM outbox) AS works"
        )
    ]
    assert (kept, works) == (500, 500)


async def test_a_receipt_that_the_database_refuses_fails_alone_and_can_be_sent_again(
    api: httpx.AsyncClient, db: Database
) -> None:
    await rows(db, "ALTER TABLE submissions ADD CONSTRAINT no_seventh CHECK (e_ncf <> 'E310000000007')")
    body = {"items": [numbered(number) for number in range(1, 121)]}

    first = (await api.post("/invoices/batch", json=body)).json()["items"]
    await rows(db, "ALTER TABLE submissions DROP CONSTRAINT no_seventh")
    again = (await api.post("/invoices/batch", json=body)).json()["items"]

    assert first[6] == {"message": "Internal Server Error", "statusCode": 500}
    assert [one["statusCode"] for one in first] == [202] * 6 + [500] + [202] * 113
    assert [one["statusCode"] for one in again] == [200] * 6 + [202] + [200] * 113
    assert (await api.get("/invoices")).json()["total"] == 120


async def test_each_item_is_answered_in_the_language_that_is_asked_for(api: httpx.AsyncClient) -> None:
    items = [numbered(1), numbered(1), "no receipt", numbered(3, asUserId="x")]

    answer = await api.post("/invoices/batch", json={"items": items}, headers={"Accept-Language": "es-DO"})

    assert answer.headers["Content-Language"] == "es"
    assert [one["message"] for one in answer.json()["items"]] == [
        "Recibido; se está procesando. Consulte GET /invoices/{taxLogId} para ver la respuesta de la DGII.",
        "Este clientRequestId ya se usó; no se procesó nada de nuevo.",
        "el cuerpo debe ser un objeto JSON",
        "asUserId: debe ser un UUID",
    ]


async def test_numbers_are_drawn_in_the_order_of_the_batch(api: httpx.AsyncClient) -> None:
    await api.post("/ncf", json={"prefix": "E31", "maxSequence": 3})
    item = structured(invoice_payload(None, TipoeCF="31"))

    told = (await api.post("/invoices/batch", json={"items": [item] * 4})).json()["items"]

    assert [one.get("eNCF") for one in told] == ["E310000000001", "E310000000002", "E310000000003", None]
    assert told[3]["message"] == "the NCF sequence for E31 is exhausted"


@pytest.mark.parametrize(
    "body", [{}, {"items": []}, {"items": [{}] * 501}, {"items": {}}, {"items": None}, {"format": "xml"}]
)
async def test_what_is_no_batch_is_refused_as_a_whole(api: httpx.AsyncClient, body: Any) -> None:
    answer = await api.post("/invoices/batch", json=body)

    assert answer.status_code == 400
    assert answer.json()["message"].startswith("items must be an array of 1 to 500 receipts")


async def test_batch_of_too_many_says_into_how_many_to_cut_it(api: httpx.AsyncClient) -> None:
    answer = await api.post("/invoices/batch", json={"items": [{}] * 1001})

    assert answer.json()["message"] == (
        "items must be an array of 1 to 500 receipts; there are 1001: send them in 3 batches"
    )


async def test_batch_above_the_largest_body_says_into_how_many_to_cut_it(api: httpx.AsyncClient) -> None:
    answer = await api.post("/invoices/batch", content=b" " * 2_700_000, headers={"Content-Type": "application/json"})

    assert (answer.status_code, answer.json()["message"]) == (
        413,
        "the body must not be larger than 1048576 bytes; this batch has 2700000: "
        "send its receipts in 3 batches or more",
    )


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (
            b'{"payload": {"a": 1.0E7}}',
            "the body: payload.a: a number with an exponent; write it out (line 3, column 19)",
        ),
        (b'{"payload": {"a": NaN}}', "the body: payload.a: NaN is not a number of JSON (line 3, column 19)"),
        (b'{"payload": {"a": {"b": 1, "b": 2}}}', 'the body: payload.a: the key "b" appears twice in one object'),
        (b'{"xml": "a\x00b"}', "the body: holds a NUL character (line 3, column 11)"),
        (b'{"xml": "a\xffb"}', "the body is not UTF-8 (line 3, column 11)"),
        (b'{"xml": }', "the body is not JSON: Expecting value (line 3, column 9)"),
        (b'{"a": ' + b"[" * 65 + b"]" * 65 + b"}", "the body: nested deeper than 64 levels"),
    ],
)
async def test_batch_with_one_damaged_receipt_takes_the_others(
    api: httpx.AsyncClient, damage: bytes, said: str
) -> None:
    first, third = json.dumps(numbered(1)).encode(), json.dumps(numbered(2)).encode()
    raw = b'{"items": [\n' + first + b",\n" + damage + b",\n" + third + b"]}"

    answer = await api.post("/invoices/batch", content=raw, headers={"Content-Type": "application/json"})

    assert answer.status_code == 200, answer.text
    told = answer.json()["items"]
    assert [one["statusCode"] for one in told] == [202, 400, 202]
    assert told[1]["message"] == said


async def test_batch_whose_receipts_have_no_end_is_refused_as_a_whole(api: httpx.AsyncClient) -> None:
    raw = b'{"items": [{"a": 1}, {"b": [}]}'

    answer = await api.post("/invoices/batch", content=raw, headers={"Content-Type": "application/json"})

    assert answer.status_code == 400
    assert answer.json()["message"] == "the body is not JSON: Expecting value (line 1, column 29)"


async def test_unknown_members_of_a_batch_are_named_or_with_strict_refused(api: httpx.AsyncClient) -> None:
    body = {"items": [numbered(1, clientRequestID="x"), numbered(2)], "Strict": True}

    lenient = (await api.post("/invoices/batch", json=body)).json()
    refused = await api.post("/invoices/batch", json=body | {"strict": True})

    assert [(one["path"], one["expected"]) for one in lenient["warnings"]] == [("Strict", "strict")]
    (warning,) = lenient["items"][0]["warnings"]
    assert (warning["code"], warning["expected"]) == ("unknown-member", "clientRequestId")
    assert "warnings" not in lenient["items"][1]
    assert (refused.status_code, refused.json()["problems"][0]["code"]) == (400, "unknown-member")


async def test_strict_batch_refuses_what_would_not_be_sent_and_takes_the_others(api: httpx.AsyncClient) -> None:
    await api.post("/ncf", json=E31)
    bad = structured(invoice_payload(None, TipoeCF="31"), clientRequestId="order-2")
    del bad["payload"]["Encabezado"]["IdDoc"]["TipoPago"]
    good = [structured(invoice_payload(None, TipoeCF="31"), clientRequestId=f"order-{place}") for place in (1, 3)]

    answer = await api.post("/invoices/batch", json={"items": [good[0], bad, good[1]], "strict": True})
    again = await api.post("/invoices/batch", json={"items": [good[0], bad, good[1]], "strict": True})

    told = answer.json()["items"]
    assert [one["statusCode"] for one in told] == [202, 400, 202]
    assert told[1]["problems"][0]["path"] == "Encabezado.IdDoc.TipoPago"
    assert [one.get("eNCF") for one in told] == ["E310000000001", None, "E310000000002"]
    assert [one["statusCode"] for one in again.json()["items"]] == [200, 400, 200]


async def test_strict_receipt_of_a_batch_is_refused_alone(api: httpx.AsyncClient) -> None:
    await api.post("/ncf", json=E31)
    bad = numbered(2, strict=True)
    del bad["payload"]["Encabezado"]["IdDoc"]["TipoPago"]
    lenient = numbered(3)
    del lenient["payload"]["Encabezado"]["IdDoc"]["TipoPago"]

    answer = await api.post("/invoices/batch", json={"items": [numbered(1, strict=True), bad, lenient]})

    assert [one["statusCode"] for one in answer.json()["items"]] == [202, 400, 202]


async def test_large_strict_batch_is_validated_apart(api: httpx.AsyncClient) -> None:
    await api.post("/ncf", json=E31)
    items = [numbered(number) for number in range(1, 201)]
    del items[50]["payload"]["Encabezado"]["IdDoc"]["TipoPago"]

    answer = await api.post("/invoices/batch", json={"items": items, "strict": True})

    assert answer.status_code == 200, answer.text
    assert [one["statusCode"] for one in answer.json()["items"]] == [202] * 50 + [400] + [202] * 149


async def test_a_batch_costs_what_its_documents_cost(
    db: Database, front_db: Database, nursery: Any, key: Key, start: Start
) -> None:
    front = await start(
        nursery, front_db, quota=QuotaLimits(documents_a_minute=3, bytes_a_minute=0, documents_a_day=0, bytes_a_day=0)
    )
    async with front.client(await front.token(key)) as api:
        first = await api.post("/invoices/batch", json={"items": [numbered(1), numbered(2), numbered(3)]})
        second = await api.post("/invoices/batch", json={"items": [numbered(4)]})

    assert first.status_code == 200
    assert (second.status_code, int(second.headers["Retry-After"]) > 0) == (429, True)


async def test_a_batch_is_told_as_much_as_one_document_and_of_each_receipt_the_first(api: httpx.AsyncClient) -> None:
    """The search for the intended name of a field takes a millisecond, so a batch gets at most twenty repairs."""
    wrong = [
        structured({"Encabezado": {"IdDoc": {"eNCF": "E310000000001", **{f"Tipo{n}": 1 for n in range(20)}}}}),
        structured({"Encabezado": {"Iddoc": {}}}),
        structured({"Encabesado": {}}),
    ]

    answer = await api.post("/invoices/batch", json={"items": wrong[:1] * 120 + wrong[1:] * 20})

    told = answer.json()["items"]
    problems = [problem for one in told for problem in one["problems"]]
    assert {one["statusCode"] for one in told} == {400}
    assert sum("repair" in problem for problem in problems) == 20
    assert [len(one["problems"]) for one in told[:51]] == [20] * 50 + [2]
    assert [problem["code"] for problem in told[60]["problems"]] == ["unknown-element", "more-problems"]
    assert len(problems) <= 1_000 + 2 * len(told)
    # A document by itself is told it all.
    alone = (await api.post("/invoices", json=wrong[2])).json()
    assert alone["problems"][0]["repair"]["to"] == "Encabezado"


async def test_xml_of_a_batch_is_told_no_more(api: httpx.AsyncClient) -> None:
    names = "".join(f"<Tipo{number}/>" for number in range(30))
    xml = f"<ECF><Encabezado><IdDoc><TipoeCF>31</TipoeCF>{names}</IdDoc></Encabezado></ECF>"

    answer = await api.post("/invoices/batch", json={"items": [{"format": "xml", "xml": xml}] * 50})

    problems = [problem for one in answer.json()["items"] for problem in one["problems"]]
    assert sum("repair" in problem for problem in problems if problem["code"] != "empty-element") == 20
    assert len(problems) <= 1_000 + 2 * 50
    assert all("line" in one["problems"][0] for one in answer.json()["items"])


async def test_five_hundred_documents_of_the_worst_shape_are_refused_and_nothing_is_kept(
    api: httpx.AsyncClient,
) -> None:
    deep: Any = "x"
    for _ in range(30):
        deep = {"a": deep}
    worst = {"format": "structured", "payload": {"Encabezado": {f"IdDo{n}": deep for n in range(2)}}}
    body = json.dumps({"items": [worst] * 500}).encode()

    answer = await api.post("/invoices/batch", content=body, headers={"Content-Type": "application/json"})

    assert answer.status_code in (200, 400)
    if answer.status_code == 200:
        assert {one["statusCode"] for one in answer.json()["items"]} == {400}
    assert (await api.get("/invoices")).json()["total"] == 0
