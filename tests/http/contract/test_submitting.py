"""The contract: interface.md#submitting, #routing, #structured and #states."""

import json
import re
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
import trio

from fe.ecf.catalogue import Environment
from fe.identifiers import SubmissionId, TenantId, UserId
from fe.lifecycle import Stage
from fe.store.postgres.db import Conn, Database
from fe.store.records import sequences, submissions, tenants
from tests.factories.firsts import not_known_at_first
from tests.factories.tenants import rows
from tests.http.clauses import clause
from tests.http.front import FACTS, Key, Running, invoice_payload, make_key, structured

TYPES = ("31", "32", "33", "34", "41", "43", "44", "45", "46", "47")


def ecf_xml(the_type: str = "31", number: int = 1) -> str:
    return (
        f"<ECF><Encabezado><Version>1.0</Version><IdDoc><TipoeCF>{the_type}</TipoeCF>"
        f"<eNCF>E{the_type}{number:010}</eNCF></IdDoc></Encabezado></ECF>"
    )


async def stored(db: Database, tax_log_id: str) -> dict[str, Any]:
    async def read(conn: Conn) -> dict[str, Any]:
        cursor = await conn.execute(
            """SELECT s.root, s.ecf_type, s.e_ncf, s.issuer_rnc, s.buyer_rnc, s.as_user, s.as_user_id, s.format,
                      d.content, o.stage
                 FROM submissions AS s
                 JOIN submission_documents AS d
                   ON d.tenant_id = s.tenant_id AND d.submission_id = s.submission_id AND d.kind = 'original'
                 JOIN outbox AS o ON o.tenant_id = s.tenant_id AND o.subject = s.submission_id
                WHERE s.submission_id = %s""",
            (UUID(tax_log_id),),
        )
        row = await cursor.fetchone()
        assert row is not None
        assert cursor.description is not None
        return dict(zip((column.name for column in cursor.description), row, strict=True))

    return await db.run(read)


@clause("POST /invoices", "Submits a receipt for asynchronous processing", "| taxLogId", "| status", "| environment")
@clause("POST /invoices", "| billable", "| message")
@clause("What the service does", "The service answers at once with 202", "A client submits a receipt")
@clause("What the service does", "Processing is asynchronous")
@clause("Submission status", "| (none) | POST /invoices | body valid")
@clause("Environments", "The environment of a submission is determined by the key", "Each API key belongs")
async def test_a_valid_body_is_taken_for_processing_at_once(front: Running, db: Database, tenant: TenantId) -> None:
    for environment in Environment:
        key = await make_key(db, tenant, environment)
        async with front.client(await front.token(key)) as client:
            event = front.deps.wakeups.event(Stage.SIGN)
            answer = await client.post("/invoices", json=structured())

        assert answer.status_code == 202
        body = answer.json()
        assert list(body) == ["taxLogId", "status", "environment", "billable", "message", *FACTS, "eNCF"]
        assert [body[name] for name in FACTS] == ["E31", 118, 18, "131880657", "Cliente SRL", None, False]
        assert UUID(body["taxLogId"]).version == 7
        assert body["status"] == "queued"
        assert body["environment"] == environment
        assert body["billable"] is (environment is Environment.ECF)
        assert isinstance(body["message"], str)
        assert (await stored(db, body["taxLogId"]))["stage"] == "sign"
        assert event.is_set()  # the worker is started


@clause("POST /invoices", "| format", "| xml", "| payload", "| clientRequestId", "| asUser |", "| asUserId")
@clause("What the service does", "A client submits a receipt")
async def test_what_was_sent_is_what_is_kept(api: httpx.AsyncClient, db: Database) -> None:
    user = uuid4()
    xml = '<?xml version="1.0" encoding="utf-8"?>\n' + ecf_xml()
    as_xml = await api.post("/invoices", json={"format": "xml", "xml": xml, "asUser": "caja@empresa.do"})
    payload = invoice_payload()
    payload["DetallesItems"]["Item"][0]["PrecioUnitarioItem"] = 0.1
    raw = json.dumps(structured(payload, asUserId=str(user))).replace("0.1", "0.1000")
    as_json = await api.post("/invoices", content=raw, headers={"Content-Type": "application/json"})

    kept_xml = await stored(db, as_xml.json()["taxLogId"])
    kept_json = await stored(db, as_json.json()["taxLogId"])

    assert bytes(kept_xml["content"]) == xml.encode()
    assert (kept_xml["format"], kept_xml["as_user"]) == ("xml", "caja@empresa.do")
    assert b'"PrecioUnitarioItem":0.1000' in bytes(kept_json["content"])
    assert json.loads(bytes(kept_json["content"])) == payload
    assert (kept_json["format"], kept_json["as_user_id"]) == ("structured", user)
    assert (kept_json["ecf_type"], kept_json["e_ncf"]) == ("31", "E310000000001")
    assert kept_json["buyer_rnc"] == "131880657"


@clause("Document types accepted by POST /invoices", "The document type is decided by the content")
@clause("Document types accepted by POST /invoices", *(f"| {the_type}" for the_type in TYPES))
@clause("Document types accepted by POST /invoices", 'The name "invoices" covers', "The client sends one POST")
async def test_the_type_is_read_from_the_document(api: httpx.AsyncClient, db: Database) -> None:
    for the_type in TYPES:
        as_xml = await api.post("/invoices", json={"format": "xml", "xml": ecf_xml(the_type)})
        payload = {"Encabezado": {"IdDoc": {"eNCF": f"E{the_type}0000000009"}}}
        as_json = await api.post("/invoices", json=structured(payload))

        assert as_xml.status_code == as_json.status_code == 202, as_json.text
        for answer in (as_xml, as_json):
            assert (await stored(db, answer.json()["taxLogId"]))["ecf_type"] == the_type


@clause("Document types accepted by POST /invoices", "Routing by root element", "| ECF", "| RFCE", "| ACECF", "| ANECF")
@clause("Document types accepted by POST /invoices", "When `format` is `structured` and the JSON root is RFCE")
async def test_the_root_is_read_from_the_document(api: httpx.AsyncClient, db: Database) -> None:
    for root, content in (
        ("ECF", {"Encabezado": {"IdDoc": {"TipoeCF": "31", "eNCF": "E310000000001"}}}),
        ("RFCE", {"Encabezado": {"IdDoc": {"TipoeCF": "32", "eNCF": "E320000000001"}}}),
        ("ACECF", {"DetalleAprobacionComercial": {"eNCF": "E310000000001"}}),
        ("ANECF", {"Encabezado": {"RncEmisor": "131880681"}}),
    ):
        as_json = await api.post("/invoices", json=structured({root: content}))
        as_xml = await api.post("/invoices", json={"format": "xml", "xml": f"<{root}>{_xml(content)}</{root}>"})

        assert as_json.status_code == as_xml.status_code == 202, as_json.text
        for answer in (as_json, as_xml):
            assert (await stored(db, answer.json()["taxLogId"]))["root"] == root


def _xml(content: dict[str, Any]) -> str:
    return "".join(
        f"<{name}>{_xml(value) if isinstance(value, dict) else value}</{name}>" for name, value in content.items()
    )


BAD_BODIES: list[tuple[dict[str, Any], str]] = [
    ({}, "format must be one of: xml, structured"),
    ({"format": "json"}, "format must be one of: xml, structured"),
    ({"format": None}, "format must be one of: xml, structured"),
    ({"format": 1}, "format must be one of: xml, structured"),
    ({"format": "xml"}, "xml is required when format is xml"),
    ({"format": "xml", "xml": None}, "xml is required when format is xml"),
    ({"format": "xml", "xml": "  "}, "xml is required when format is xml"),
    ({"format": "xml", "payload": {}}, "xml is required when format is xml"),
    ({"format": "structured"}, "payload is required when format is structured"),
    ({"format": "structured", "payload": None}, "payload is required when format is structured"),
    ({"format": "structured", "xml": "<ECF/>"}, "payload is required when format is structured"),
    ({"format": "xml", "xml": {}}, "xml must be a string"),
    ({"format": "structured", "payload": []}, "payload must be an object"),
    ({"format": "structured", "payload": "{}"}, "payload must be an object"),
    (structured(clientRequestId=""), "clientRequestId must be a string of 1 to 120 characters"),
    (structured(clientRequestId="x" * 121), "clientRequestId must be a string of 1 to 120 characters"),
    (structured(clientRequestId=7), "clientRequestId must be a string of 1 to 120 characters"),
    (structured(asUser="somebody"), "asUser: must be an e-mail address"),
    (structured(asUser=["a@b"]), "asUser must be a string"),
    (structured(asUserId="7"), "asUserId: must be a UUID"),
    (structured(asUserId="{a0ee0000-0000-4000-8000-000000000000}"), "asUserId: must be a UUID"),
    (structured(strict="yes"), "strict must be true or false"),
]


@clause(
    "POST /invoices", "Response 400", "| format", "| xml", "| payload", "| clientRequestId", "| asUser |", "| asUserId"
)
@clause("HTTP errors of the API", "4xx bodies", "| 400 | format must be one of", "| 400 | xml is required")
@clause("HTTP errors of the API", "| 400 | payload is required")
@clause("Limits", "| clientRequestId length")
async def test_a_body_that_is_not_what_the_interface_asks_for_is_refused_by_name(api: httpx.AsyncClient) -> None:
    for body, message in BAD_BODIES:
        answer = await api.post("/invoices", json=body)
        assert (answer.status_code, answer.json()) == (400, {"message": message, "statusCode": 400}), body

    assert (await api.get("/invoices")).json()["total"] == 0


@clause("Limits", "| clientRequestId length")
async def test_a_client_request_id_has_up_to_120_characters_of_any_script(api: httpx.AsyncClient) -> None:
    for text in ("x", "ñ" * 120, "😀" * 120, "a b\tc"):
        answer = await api.post("/invoices", json=structured(clientRequestId=text))
        shown = await api.get(f"/invoices/{answer.json()['taxLogId']}")

        assert answer.status_code == 202
        assert shown.json()["clientRequestId"] == text


@clause("Structured receipt payload (`payload` when `format` is `structured`)", "Any other value gives 400")
@clause("Structured receipt payload (`payload` when `format` is `structured`)", "IndicadorFacturacion values")
@clause("Structured receipt payload (`payload` when `format` is `structured`)", "| Item.IndicadorFacturacion")
@clause("HTTP errors of the API", "| 400 | invalid IndicadorFacturacion")
@clause("POST /invoices", "Response 400")
async def test_an_indicator_that_is_not_1_to_4_is_refused_naming_the_line(api: httpx.AsyncClient) -> None:
    values: tuple[Any, ...] = ("0", "5", "18", "", "01", 0, 5, 1.5, True, [], {}, "a" * 200)
    for value in values:
        payload = invoice_payload()
        item = payload["DetallesItems"]["Item"][0]
        payload["DetallesItems"]["Item"] = [item, {**item, "NumeroLinea": 2, "IndicadorFacturacion": value}]

        answer = await api.post("/invoices", json=structured(payload))

        assert answer.status_code == 400, value
        message = answer.json()["message"]
        assert message.startswith("DetallesItems.Item[2].IndicadorFacturacion: "), message
        assert len(message) < 300


@clause(
    "Structured receipt payload (`payload` when `format` is `structured`)", "An item without it is treated as exempt"
)
@clause("Structured receipt payload (`payload` when `format` is `structured`)", "`1` = VAT 18%")
async def test_an_indicator_of_1_to_4_or_none_is_taken(api: httpx.AsyncClient) -> None:
    for value in ("1", "2", "3", "4", 1, 2, 3, 4, None, "absent"):
        payload = invoice_payload()
        payload["DetallesItems"]["Item"][0]["IndicadorFacturacion"] = value
        if value == "absent":
            del payload["DetallesItems"]["Item"][0]["IndicadorFacturacion"]

        assert (await api.post("/invoices", json=structured(payload))).status_code == 202, value


BAD_PAYLOADS: list[tuple[dict[str, Any], str]] = [
    ({}, "ECF"),
    ({"Factura": {}}, "Factura"),
    ({"ECF": {}, "RFCE": {}}, "ECF"),
    ({"ARECF": {"DetalleAcusedeRecibo": {}}}, "ARECF"),
    ({"Encabezado": {"IdDoc": {"TipoeCF": "99"}}}, "99"),
    ({"Encabezado": {"IdDoc": {}}}, "TipoeCF"),
    ({"Encabezado": {"IdDoc": {"TipoeCF": "31", "Color": "rojo"}}}, "Encabezado.IdDoc.Color"),
    ({"Encabezado": {"IdDoc": {"TipoeCF": "31", "eNCF": {"a": 1}}}}, "Encabezado.IdDoc.eNCF"),
    ({"Encabezado": []}, "Encabezado"),
    (
        {"Encabezado": {"IdDoc": {"TipoeCF": "31"}}, "{http://www.w3.org/2000/09/xmldsig#}Signature": "x"},
        "Signature",
    ),
]


async def test_a_payload_that_cannot_become_a_document_is_refused_by_path(api: httpx.AsyncClient) -> None:
    for payload, named in BAD_PAYLOADS:
        answer = await api.post("/invoices", json=structured(payload) | {"payload": payload})
        assert answer.status_code == 400, payload
        assert named in answer.json()["message"], payload

    assert (await api.get("/invoices")).json()["total"] == 0


BAD_XML = [
    ("<ECF>", "line 1, column"),
    ("no xml", "line 1, column"),
    ("<ECF>\n\n  <a></b></ECF>", "line 3, column"),
    ("<Factura/>", "line 1, column 1"),
    ("\n\n <Factura/>", "line 3, column 2"),
    ("<ECF><Encabezado><IdDoc>\n<TipoeCF>99</TipoeCF></IdDoc></Encabezado></ECF>", "line 2, column 1"),
    ("<ARECF/>", "ARECF"),
    ('<!DOCTYPE ECF SYSTEM "file:///etc/passwd"><ECF/>', "DOCTYPE"),
    ('<ECF xmlns="urn:x"/>', "line 1, column 1"),
    ("<?xml version='1.0' encoding='latin-1'?><ECF/>", "UTF-8"),
]


async def test_xml_that_cannot_become_a_document_is_refused_with_line_and_column(api: httpx.AsyncClient) -> None:
    for xml, where in BAD_XML:
        answer = await api.post("/invoices", json={"format": "xml", "xml": xml})
        assert answer.status_code == 400, xml
        assert where in answer.json()["message"], answer.json()

    assert (await api.get("/invoices")).json()["total"] == 0


async def test_a_signature_that_is_there_already_is_no_hindrance(api: httpx.AsyncClient) -> None:
    xml = ecf_xml().replace("</ECF>", '<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"/></ECF>')

    assert (await api.post("/invoices", json={"format": "xml", "xml": xml})).status_code == 202


@clause("POST /invoices", "Idempotent repeat", "HTTP status code of this response")
@clause("Submission status", "| (none) | POST /invoices | clientRequestId matches")
async def test_a_repeat_gets_the_original_and_nothing_is_processed_again(api: httpx.AsyncClient, db: Database) -> None:
    first = await api.post("/invoices", json=structured(clientRequestId="order-7"))
    again = await api.post("/invoices", json=structured(clientRequestId="order-7"))

    assert again.status_code == 200
    assert list(again.json()) == [
        "taxLogId",
        "status",
        "environment",
        "deduped",
        "bodyMatched",
        "message",
        *FACTS[:-1],
        "eNCF",
    ]
    assert [again.json()[name] for name in FACTS[:-1]] == [first.json()[name] for name in FACTS[:-1]]
    assert again.json()["taxLogId"] == first.json()["taxLogId"]
    assert again.json()["status"] == "queued"
    assert again.json()["deduped"] is True
    assert again.json()["bodyMatched"] is True
    assert (await api.get("/invoices")).json()["total"] == 1


async def test_a_client_request_id_is_one_per_environment(front: Running, db: Database, tenant: TenantId) -> None:
    ids = set()
    for environment in Environment:
        key = await make_key(db, tenant, environment)
        async with front.client(await front.token(key)) as client:
            answer = await client.post("/invoices", json=structured(clientRequestId="order-7"))
            assert answer.status_code == 202
            ids.add(answer.json()["taxLogId"])

    assert len(ids) == 3


async def test_the_order_of_members_does_not_make_another_body_but_another_digit_does(
    api: httpx.AsyncClient,
) -> None:
    payload = invoice_payload()
    await api.post("/invoices", json=structured(payload, clientRequestId="a"))
    turned = dict(reversed(list(payload.items())))
    same = await api.post("/invoices", json=structured(turned, clientRequestId="a"))
    payload["DetallesItems"]["Item"][0]["MontoItem"] = 100.5
    other = await api.post("/invoices", json=structured(payload, clientRequestId="a"))
    as_other = await api.post("/invoices", json=structured(turned, clientRequestId="a", asUser="a@b.do"))

    assert same.json()["bodyMatched"] is True
    assert other.json()["bodyMatched"] is False
    assert as_other.json()["bodyMatched"] is False
    assert len({same.json()["taxLogId"], other.json()["taxLogId"], as_other.json()["taxLogId"]}) == 1


@clause("POST /invoices", "Without clientRequestId there is no protection")
async def test_without_a_client_request_id_a_repeat_is_a_second_submission(api: httpx.AsyncClient) -> None:
    ids = {(await api.post("/invoices", json=structured())).json()["taxLogId"] for _ in range(2)}

    assert len(ids) == 2


async def test_fields_nobody_knows_are_ignored_in_the_envelope(api: httpx.AsyncClient) -> None:
    assert (await api.post("/invoices", json=structured(colour="red", clientRequestId=None))).status_code == 202


# --- numbers --------------------------------------------------------------------------------------------------------


async def current(api: httpx.AsyncClient, prefix: str) -> str:
    items = (await api.get("/ncf")).json()["items"]
    return str(next(item["currentSequence"] for item in items if item["prefix"] == prefix))


@clause("Sequence state", "Consumption of currentSequence while emitting")
@clause("NCF sequence", "| currentSequence")
async def test_accepting_a_number_moves_the_sequence_past_it_and_never_back(api: httpx.AsyncClient) -> None:
    await api.post("/ncf", json={"prefix": "E31", "minSequence": 1, "maxSequence": 100})
    for number, after in ((5, "6"), (3, "6"), (100, "101"), (200, "101"), (7, "101")):
        await api.post("/invoices", json=structured(invoice_payload(f"E31{number:010}")))
        assert await current(api, "E31") == after


async def test_a_document_without_a_number_draws_the_next_one(api: httpx.AsyncClient) -> None:
    await api.post("/ncf", json={"prefix": "E31", "minSequence": 41, "maxSequence": 42})
    drawn = [await api.post("/invoices", json=structured(invoice_payload(None, TipoeCF="31"))) for _ in range(3)]
    shown = await api.get(f"/invoices/{drawn[0].json()['taxLogId']}")

    assert [answer.status_code for answer in drawn] == [202, 202, 400]
    assert [answer.json()["eNCF"] for answer in drawn[:2]] == ["E310000000041", "E310000000042"]
    assert shown.json()["eNCF"] == "E310000000041"
    assert shown.json()["numberFate"] == "reserved"
    assert drawn[2].json()["message"] == "the NCF sequence for E31 is exhausted"
    assert await current(api, "E31") == "43"


async def test_drawing_says_which_sequence_is_missing_or_has_expired(api: httpx.AsyncClient) -> None:
    nothing = await api.post("/invoices", json=structured(invoice_payload(None, TipoeCF="31")))
    await api.post("/ncf", json={"prefix": "E31", "isActive": False})
    inactive = await api.post("/invoices", json=structured(invoice_payload(None, TipoeCF="31")))
    await api.post("/ncf", json={"prefix": "E31", "expireAt": "2020-12-31"})
    expired = await api.post("/invoices", json=structured(invoice_payload(None, TipoeCF="31")))

    assert {nothing.status_code, inactive.status_code, expired.status_code} == {400}
    assert nothing.json()["message"].startswith("no active NCF sequence for E31")
    assert inactive.json()["message"].startswith("no active NCF sequence for E31")
    assert expired.json()["message"] == "the NCF sequence for E31 has expired"
    assert (await api.get("/invoices")).json()["total"] == 0


async def test_many_who_draw_at_once_leave_neither_gap_nor_duplicate(api: httpx.AsyncClient) -> None:
    await api.post("/ncf", json={"prefix": "E31"})
    numbers: list[str] = []

    async def draw() -> None:
        answer = await api.post("/invoices", json=structured(invoice_payload(None, TipoeCF="31")))
        numbers.append(answer.json()["eNCF"])

    async with trio.open_nursery() as nursery:
        for _ in range(60):
            nursery.start_soon(draw)

    assert sorted(numbers) == [f"E31{number:010}" for number in range(1, 61)]


async def test_a_test_key_never_moves_a_production_sequence(
    front: Running, db: Database, tenant: TenantId, api: httpx.AsyncClient
) -> None:
    production = await make_key(db, tenant, Environment.ECF)
    async with front.client(await front.token(production)) as live:
        await live.post("/ncf", json={"prefix": "E31"})
        await api.post("/ncf", json={"prefix": "E31"})
        await api.post("/invoices", json=structured(invoice_payload("E310000000009")))

        assert await current(live, "E31") == "1"
        assert await current(api, "E31") == "10"


# --- validated before it is taken ------------------------------------------------------------------------------------


async def test_validation_says_everything_that_is_wrong_and_keeps_nothing(api: httpx.AsyncClient) -> None:
    payload = invoice_payload()
    payload["Encabezado"]["IdDoc"]["TipoIngresos"] = "99"
    payload["Encabezado"]["Comprador"]["RNCComprador"] = "12"

    answer = await api.post("/invoices/validate", json=structured(payload))

    assert answer.status_code == 200
    body = answer.json()
    assert body["valid"] is False
    paths = {problem["path"] for problem in body["problems"]}
    assert {"Encabezado.IdDoc.TipoIngresos", "Encabezado.Comprador.RNCComprador"} <= paths
    assert all({"code", "path", "message", "messageEs", "severity"} <= set(problem) for problem in body["problems"])
    assert (await api.get("/invoices")).json()["total"] == 0


async def test_what_is_refused_at_the_door_is_said_as_validation_says_it(api: httpx.AsyncClient) -> None:
    misspelt = invoice_payload()
    misspelt["Encabezado"]["iddoc"] = misspelt["Encabezado"].pop("IdDoc")
    other_type = invoice_payload("E410000000001")
    other_type["DetallesItems"]["Item"][0]["IndicadorFacturacion"] = "18%"
    unordered = "<ECF><DetallesItems/><Encabezado><IdDoc><TipoeCF>31</TipoeCF></IdDoc></Encabezado></ECF>"
    told = {}
    for name, body in (
        ("misspelt", structured(misspelt)),
        ("other type", structured(other_type)),
        ("unordered", {"format": "xml", "xml": unordered}),
    ):
        refused = await api.post("/invoices", json=body)
        validated = await api.post("/invoices/validate", json=body)
        assert refused.status_code == 400, name
        told[name] = refused.json()["problems"]
        if validated.status_code == 200:
            assert told[name] == validated.json()["problems"], name

    assert [one["repair"] for one in told["misspelt"]] == [
        {"op": "rename", "path": "Encabezado.iddoc", "to": "Encabezado.IdDoc", "certain": True}
    ]
    income, indicator = told["other type"]
    assert income["message"].startswith("TipoIngresos does not belong to a document e-CF 41; these types have it: 31, ")
    assert indicator["allowed"] == ["1", "2", "3", "4"]
    assert indicator["repair"]["value"] == "1"
    assert told["unordered"][0]["line"] == 1


async def test_a_good_document_is_valid_with_what_the_tenant_has(
    api: httpx.AsyncClient, db: Database, key: Key
) -> None:
    await api.post("/ncf", json={"prefix": "E31", "expireAt": "2028-12-31"})
    given = await api.post("/invoices/validate", json=structured())
    drawn = await api.post("/invoices/validate", json=structured(invoice_payload(None, TipoeCF="31")))

    assert given.json()["valid"] is True, given.text
    assert drawn.json()["valid"] is True, drawn.text
    assert [s.current_number for s in await db.run(sequences.listed, key.tenant_id, key.environment)] == [1]


async def test_an_assumed_rate_is_a_warning_wherever_the_document_is_validated(api: httpx.AsyncClient) -> None:
    """The specific tax on beer, in a quarter whose rate is not known yet."""
    payload = invoice_payload()
    payload["Encabezado"]["Emisor"] = {"FechaEmision": "15-03-2026"}
    payload["Encabezado"]["IdDoc"]["FechaVencimientoSecuencia"] = "2028-12-31"
    payload["DetallesItems"]["Item"][0] |= {
        "TablaImpuestoAdicional": {"ImpuestoAdicional": [{"TipoImpuesto": "006"}, {"TipoImpuesto": "023"}]},
        "UnidadMedida": "6",
        "CantidadReferencia": "24.00",
        "UnidadReferencia": "5",
        "PrecioUnitarioReferencia": "65.00",
        "GradosAlcohol": "5.00",
        "TablaSubcantidad": {"SubcantidadItem": [{"Subcantidad": "0.355", "CodigoSubcantidad": "24"}]},
    }

    validated = (await api.post("/invoices/validate", json=structured(payload))).json()
    taken = await api.post("/invoices", json=structured(payload, strict=True))

    assert validated["valid"] is True, validated
    assert "tax-rate-assumed" in {problem["code"] for problem in validated["problems"]}
    assert taken.status_code == 202, taken.text
    assert "tax-rate-assumed" in {warning["code"] for warning in taken.json()["warnings"]}


async def test_xml_that_cannot_be_signed_as_it_stands_is_refused_at_its_place(api: httpx.AsyncClient) -> None:
    xml = ecf_xml()
    at = xml.index("<eNCF>")
    stray = xml[:at] + "suelto" + xml[at:]

    refused = await api.post("/invoices", json={"format": "xml", "xml": stray})
    validated = (await api.post("/invoices/validate", json={"format": "xml", "xml": stray})).json()

    line, column = xml.count("\n", 0, at) + 1, at - xml.rfind("\n", 0, at)
    assert refused.status_code == 400
    assert refused.json()["message"] == (
        f"xml: Encabezado.IdDoc: there is text between the elements of IdDoc (line {line}, column {column})"
    )
    (problem,) = validated["problems"]
    assert (validated["valid"], problem["code"], problem["line"], problem["column"]) == (
        False,
        "unexpected-text",
        line,
        column,
    )


async def test_a_number_that_can_never_be_one_is_refused_at_the_door_in_both_formats(api: httpx.AsyncClient) -> None:
    payload = invoice_payload("E31000000001")

    as_json = await api.post("/invoices", json=structured(payload))
    as_xml = await api.post("/invoices", json={"format": "xml", "xml": ecf_xml().replace("<eNCF>E", "<eNCF>")})

    cause = "Encabezado.IdDoc.eNCF: the e-NCF is not the letter E, the two digits of a type of e-CF and ten digits"
    assert (as_json.status_code, as_xml.status_code) == (400, 400)
    assert as_json.json()["message"] == f"{cause} (expected: E, the two digits of a type, ten digits: E310000000001)"
    assert as_xml.json()["message"].startswith(f"xml: {cause} (line ")


@pytest.mark.parametrize("number", ["", "<eNCF></eNCF>"])
async def test_finished_xml_without_a_number_is_refused_at_the_door(api: httpx.AsyncClient, number: str) -> None:
    xml = ecf_xml()
    found = re.search("<eNCF>.*</eNCF>", xml)
    assert found is not None

    refused = await api.post("/invoices", json={"format": "xml", "xml": xml.replace(found[0], number)})

    assert refused.status_code == 400
    assert "eNCF is missing: finished XML is signed with the number" in refused.json()["message"]
    assert "line " in refused.json()["message"]


async def test_empty_number_of_a_payload_is_drawn_and_said(api: httpx.AsyncClient) -> None:
    await api.post("/ncf", json={"prefix": "E31", "expireAt": "2028-12-31"})

    taken = (await api.post("/invoices", json=structured(invoice_payload("", TipoeCF="31")))).json()

    assert taken["eNCF"] == "E310000000001"
    assert [one["code"] for one in taken["warnings"]] == ["empty-number"]


async def test_validation_of_a_body_that_is_none_is_refused_like_a_submission(api: httpx.AsyncClient) -> None:
    malformed = await api.post("/invoices/validate", json={"format": "xml", "xml": "<ECF>"})
    missing = await api.post("/invoices/validate", json={"format": "xml"})
    unknown = await api.post("/invoices/validate", json=structured({"Factura": {}}))

    assert malformed.status_code == missing.status_code == 400
    assert (unknown.status_code, unknown.json()["valid"]) == (200, False)


async def test_strict_refuses_at_once_what_would_not_be_sent(api: httpx.AsyncClient) -> None:
    await api.post("/ncf", json={"prefix": "E31", "expireAt": "2028-12-31"})
    payload = invoice_payload()
    payload["Encabezado"]["IdDoc"]["TipoIngresos"] = "99"

    refused = await api.post("/invoices", json=structured(payload, strict=True, clientRequestId="a"))
    total = (await api.get("/invoices")).json()["total"]
    lenient = await api.post("/invoices", json=structured(payload, strict=False, clientRequestId="b"))
    another = invoice_payload("E310000000002")  # the first number is the lenient one's, until that has ended
    good = await api.post("/invoices", json=structured(another, strict=True, clientRequestId="c"))
    repeat = await api.post("/invoices", json=structured(payload, strict=True, clientRequestId="c"))

    assert refused.status_code == 400
    assert "TipoIngresos" in refused.json()["message"]
    assert refused.json()["statusCode"] == 400
    assert refused.json()["problems"][0]["path"] == "Encabezado.IdDoc.TipoIngresos"
    assert total == 0
    assert lenient.status_code == 202
    assert good.status_code == 202, good.text
    assert repeat.status_code == 200


async def test_strict_is_told_of_its_first_that_was_taken_in_while_it_was_validated(
    api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its number is then that of its own first."""
    await api.post("/ncf", json={"prefix": "E31", "expireAt": "2028-12-31"})
    body = structured(strict=True, clientRequestId="a")
    first = await api.post("/invoices", json=body)
    not_known_at_first(monkeypatch)

    second = await api.post("/invoices", json=body)

    assert (first.status_code, second.status_code) == (202, 200), second.text
    assert second.json()["taxLogId"] == first.json()["taxLogId"]


async def test_validation_knows_that_a_small_consumer_invoice_goes_out_whole(
    api: httpx.AsyncClient, db: Database
) -> None:
    body = structured(invoice_payload("E320000000001"))

    before = (await api.post("/invoices/validate", json=body)).json()
    await rows(db, "UPDATE tenants SET consumer_summary = 'off'")
    after = (await api.post("/invoices/validate", json=body)).json()

    assert before == {"valid": True, "problems": []}
    assert after["valid"]
    assert [(one["code"], one["severity"]) for one in after["problems"]] == [("goes-out-whole", "conditional")]


async def test_validation_and_strict_know_the_tenants_records(api: httpx.AsyncClient, db: Database) -> None:
    """A user that is not there, a number that is another submission's, an issuer that is not the tenant's."""
    await api.post("/ncf", json={"prefix": "E31", "expireAt": "2028-12-31"})
    first = (await api.post("/invoices", json=structured(strict=True))).json()["taxLogId"]
    foreign = invoice_payload("E310000000002")
    foreign["Encabezado"]["Emisor"] = {
        "RNCEmisor": "131880738",
        "RazonSocialEmisor": "OTRA",
        "DireccionEmisor": "CALLE 1",
    }
    nobody = structured(invoice_payload("E310000000003"), asUser="nobody@example.org")
    by_id = structured(invoice_payload("E310000000003"), asUserId=str(uuid4()))

    told = {}
    for name, body in (("taken", structured()), ("foreign", structured(foreign)), ("nobody", nobody), ("id", by_id)):
        validated = (await api.post("/invoices/validate", json=body)).json()
        told[name] = (validated["valid"], [(one["code"], one["severity"]) for one in validated["problems"]])
        strict = await api.post("/invoices", json={**body, "strict": True})
        assert strict.status_code == (202 if validated["valid"] else 400), name
        if not validated["valid"]:
            assert strict.json()["problems"] == validated["problems"]

    assert told["taken"] == (False, [("number-taken", "rejected")])
    assert told["foreign"] == (True, [("foreign-issuer", "conditional")])
    assert told["nobody"] == told["id"] == (False, [("unknown-user", "rejected")])
    taken = (await api.post("/invoices", json=structured(strict=True))).json()
    assert first in taken["message"]
    assert first in taken["problems"][0]["messageEs"]


async def test_a_users_own_issuer_and_address_are_known(api: httpx.AsyncClient, db: Database, key: Key) -> None:
    await api.post("/ncf", json={"prefix": "E31", "expireAt": "2028-12-31"})
    await db.run(tenants.create_user, key.tenant_id, UserId(uuid4()), "ana@empresa.do", {"RNCEmisor": "131880738"})

    validated = await api.post("/invoices/validate", json=structured(asUser="ANA@empresa.do"))

    assert validated.json() == {"valid": True, "problems": []}


async def test_a_repeat_is_no_second_use_of_its_number(api: httpx.AsyncClient) -> None:
    await api.post("/ncf", json={"prefix": "E31", "expireAt": "2028-12-31"})
    first = await api.post("/invoices", json=structured(strict=True, clientRequestId="a"))
    again = await api.post("/invoices", json=structured(strict=True, clientRequestId="a"))

    assert (first.status_code, again.status_code) == (202, 200)
    assert again.json()["taxLogId"] == first.json()["taxLogId"]


async def test_a_large_body_is_taken_as_well(api: httpx.AsyncClient, db: Database) -> None:
    payload = invoice_payload()
    item = payload["DetallesItems"]["Item"][0]
    payload["DetallesItems"]["Item"] = [{**item, "NumeroLinea": n} for n in range(1, 1001)]
    answer = await api.post("/invoices", json=structured(payload))

    assert answer.status_code == 202
    kind, content = await db.run(submissions.xml, (await _tenant(db)), SubmissionId(UUID(answer.json()["taxLogId"])))
    assert kind == "original"
    assert json.loads(content) == payload


async def _tenant(db: Database) -> TenantId:
    async def read(conn: Conn) -> TenantId:
        row = await (await conn.execute("SELECT min(tenant_id) FROM tenants")).fetchone()
        assert row is not None
        return TenantId(row[0])

    return await db.run(read)


async def test_a_key_of_the_header_is_a_client_request_id(api: httpx.AsyncClient) -> None:
    plain = structured()
    first = await api.post("/invoices", json=plain, headers={"Idempotency-Key": "order-7"})
    quoted = await api.post("/invoices", json=plain, headers={"Idempotency-Key": '"order-7"'})
    named = await api.post("/invoices", json=structured(clientRequestId="order-7"))
    both = await api.post(
        "/invoices", json=structured(clientRequestId="order-7"), headers={"Idempotency-Key": "order-7"}
    )

    assert [one.status_code for one in (first, quoted, named, both)] == [202, 200, 200, 200]
    assert {one.json()["taxLogId"] for one in (first, quoted, named, both)} == {first.json()["taxLogId"]}
    assert all(one.json()["bodyMatched"] for one in (quoted, named, both))


async def test_a_key_of_a_large_document_counts_too(api: httpx.AsyncClient) -> None:
    payload = invoice_payload()
    payload["DetallesItems"]["Item"] = [
        {**payload["DetallesItems"]["Item"][0], "NumeroLinea": line} for line in range(1, 601)
    ]
    answers = [
        await api.post("/invoices", json=structured(payload), headers={"Idempotency-Key": "large"}) for _ in range(2)
    ]

    assert [one.status_code for one in answers] == [202, 200]


@pytest.mark.parametrize("given", ["", '""', "a" * 121, "a\tb"])
async def test_a_key_that_cannot_be_one_is_refused(api: httpx.AsyncClient, given: str) -> None:
    answer = await api.post("/invoices", json=structured(), headers={"Idempotency-Key": given})

    assert answer.status_code == 400
    assert answer.json()["message"] == "Idempotency-Key must be 1 to 120 printable characters of ASCII"
    assert (await api.get("/invoices")).json()["total"] == 0


async def test_a_key_and_another_id_are_refused_and_so_is_one_for_a_batch(api: httpx.AsyncClient) -> None:
    headers = {"Idempotency-Key": "a"}
    differs = await api.post("/invoices", json=structured(clientRequestId="b"), headers=headers)
    batch = await api.post("/invoices/batch", json={"items": [structured()]}, headers=headers)

    assert (differs.status_code, batch.status_code) == (400, 400)
    assert differs.json()["message"] == "Idempotency-Key and clientRequestId differ: send one of them"
    assert (await api.get("/invoices")).json()["total"] == 0
