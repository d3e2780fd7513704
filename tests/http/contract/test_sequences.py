"""The contract: interface.md#sequences."""

from datetime import date, timedelta
from typing import Any
from uuid import UUID

import httpx

from fe.ecf.catalogue import EcfType, Environment, Host
from fe.ecf.dates import local
from fe.identifiers import CertificateId, SubmissionId, TenantId, UserId
from fe.printing.labels import TITLES
from fe.store.postgres.db import Database
from fe.store.queue.steps import SignedDocument
from fe.store.records import tenants
from tests.factories import bookings
from tests.factories.tenants import ACCEPTED_AT, LEASE, take
from tests.http.clauses import clause
from tests.http.front import Running, invoice_payload, make_key, structured

CATALOGUE = {
    "E31": "Credit fiscal invoice",
    "E32": "Consumer invoice",
    "E33": "Electronic debit note",
    "E34": "Electronic credit note",
    "E41": "Purchases",
    "E43": "Minor expenses",
    "E44": "Special regime",
    "E45": "Governmental",
    "E46": "Payment-abroad voucher",
    "E47": "Special regime payment abroad",
}
FIELDS = (
    "id",
    "type",
    "prefix",
    "description",
    "minSequence",
    "maxSequence",
    "currentSequence",
    "isActive",
    "expireAt",
)
RANGE = "must be a whole number from 1 to 9999999999"
#: Beyond the interface: the same end as a date.
SHOWN = (*FIELDS, "expireOn", "pausedAt", "pausedFor")


async def put(api: httpx.AsyncClient, **body: Any) -> dict[str, Any]:
    answer = await api.post("/ncf", json={"prefix": "E31", **body})
    assert answer.status_code == 200, answer.text
    shown: dict[str, Any] = answer.json()
    return shown


@clause("GET /ncf", "Response 200")
@clause("NCF sequence", "E31 credit fiscal invoice")
@clause("NCF sequence", "The prefix catalogue", "| prefix", "| description", "| type")
@clause("What the service does", "The client manages the tenant's e-CF number sequences")
async def test_every_type_is_listed_and_every_sequence_that_is_configured(api: httpx.AsyncClient) -> None:
    empty = (await api.get("/ncf")).json()
    for prefix in reversed(CATALOGUE):
        await put(api, prefix=prefix)
    full = (await api.get("/ncf")).json()

    assert list(empty) == ["availableTypes", "items"]
    assert empty["availableTypes"] == [
        {"code": code, "name": name, "nameEs": TITLES[code.removeprefix("E")]} for code, name in CATALOGUE.items()
    ]
    assert empty["items"] == []
    assert [(item["prefix"], item["type"], item["description"]) for item in full["items"]] == [
        (prefix, prefix, name) for prefix, name in CATALOGUE.items()
    ]


@clause(
    "POST /ncf", "The minimal body is the prefix alone", "| minSequence", "| maxSequence", "| expireAt", "| isActive"
)
@clause("POST /ncf", "Response 200", "| prefix", "Rules: maxSequence")
@clause("NCF sequence", *(f"| {name} |" for name in FIELDS), "Numbers are strings")
@clause("Sequence state", "Creating makes currentSequence")
async def test_the_prefix_alone_makes_a_sequence_with_every_default(api: httpx.AsyncClient) -> None:
    made = await put(api)

    assert tuple(made) == (*SHOWN, "warnings")
    assert str(UUID(made["id"])) == made["id"]
    assert {name: made[name] for name in SHOWN if name != "id"} == {
        "type": "E31",
        "prefix": "E31",
        "description": "Credit fiscal invoice",
        "minSequence": "1",
        "maxSequence": "9999999999",
        "currentSequence": "1",
        "isActive": True,
        "expireAt": None,
        "expireOn": None,
        "pausedAt": None,
        "pausedFor": None,
    }


@clause("POST /ncf", "Upsert by prefix", "Creates when the prefix does not exist", "Rules: maxSequence")
@clause("Sequence state", "Creating makes currentSequence", "`isActive` true or false")
async def test_a_second_post_changes_the_sequence_in_place_and_clamps_what_is_next(api: httpx.AsyncClient) -> None:
    first = await put(api, minSequence=100, maxSequence=200)
    assert first["currentSequence"] == "100"
    again = await put(api, minSequence=100, maxSequence=200)
    assert again == first

    for low, high, after in ((150, 200, "150"), (1, 120, "120"), (1, 9999999999, "120"), (120, 120, "120")):
        changed = await put(api, minSequence=low, maxSequence=high, isActive=False)
        assert changed["id"] == first["id"]
        assert changed["currentSequence"] == after
        assert changed["isActive"] is False
    assert len((await api.get("/ncf")).json()["items"]) == 1


@clause("POST /ncf", "| expireAt")
@clause("NCF sequence", "| expireAt")
async def test_an_expiry_is_a_date_or_a_timestamp(api: httpx.AsyncClient) -> None:
    """Either means a day in Santo Domingo: that of the date, or the one the timestamp falls on there."""
    for given, shown in (
        ("2027-12-31", "2027-12-31"),
        ("2027-12-31T00:00:00.000Z", "2027-12-31"),  # how programs write a date
        ("2027-12-31T10:00:00Z", "2027-12-31"),
        ("2027-12-31T10:00:00.123Z", "2027-12-31"),
        ("2028-01-01T03:59:59.999Z", "2027-12-31"),  # what is shown means itself
        ("2027-12-31T23:59:59-04:00", "2027-12-31"),
        ("2028-01-01T04:00:00Z", "2028-01-01"),
        ("2027-12-31T10:00:00", "2027-12-31"),
        (None, None),
    ):
        made = await put(api, expireAt=given)
        end = None if shown is None else (date.fromisoformat(shown) + timedelta(days=1)).isoformat()
        assert made["expireOn"] == shown
        assert made["expireAt"] == (None if end is None else f"{end}T03:59:59.999Z")
        assert ("warnings" in made) == (given is None)


async def test_a_sequence_that_does_not_say_what_its_receipts_have_to_is_told_of(api: httpx.AsyncClient) -> None:
    """A number is drawn from it all the same, and given up when its receipt cannot be signed."""
    for prefix in CATALOGUE:
        needs_it = prefix not in ("E32", "E34")
        made = (await api.post("/ncf", json={"prefix": prefix})).json()
        off = (await api.patch(f"/ncf/{prefix}", json={"isActive": False})).json()
        on = (await api.patch(f"/ncf/{prefix}", json={"isActive": True})).json()
        whole = (await api.patch(f"/ncf/{prefix}", json={"expireAt": "2099-12-31"})).json()

        assert "warnings" not in off | whole
        for shown in (made, on):
            assert [one["code"] for one in shown.get("warnings", [])] == ["sequence-without-end"] * needs_it
        if needs_it:
            (warning,) = made["warnings"]
            assert (warning["path"], warning["severity"]) == ("expireAt", "conditional")
            assert "FechaVencimientoSecuencia" in warning["message"]
            assert "FechaVencimientoSecuencia" in warning["messageEs"]
            assert f"PATCH /ncf/{prefix}" in warning["fix"]


async def test_a_last_day_that_is_over_is_said(front: Running, api: httpx.AsyncClient) -> None:
    today = local(front.clock()).date()

    good = await put(api, expireAt=today.isoformat())
    over = await put(api, expireAt=(today - timedelta(days=1)).isoformat())
    changed = await api.patch("/ncf/E31", json={"isActive": True})

    assert "warnings" not in good
    for shown in (over, changed.json()):
        (warning,) = shown["warnings"]
        assert (warning["code"], warning["path"]) == ("sequence-expired", "expireAt")
        assert str(today - timedelta(days=1)) in warning["message"]
        assert f"{today - timedelta(days=1):%d-%m-%Y}" in warning["messageEs"]


# --- PATCH, beyond the interface -------------------------------------------------------------------------------------


@clause("POST /ncf", "| minSequence", "| maxSequence", "| expireAt", "| isActive")
async def test_a_post_takes_defaults_for_what_is_left_out_and_a_patch_leaves_it(api: httpx.AsyncClient) -> None:
    await put(api, minSequence=10, maxSequence=20, expireAt="2028-12-31")
    patched = await api.patch("/ncf/E31", json={"isActive": False})
    posted = await put(api, isActive=False)

    assert patched.status_code == 200
    named = ("minSequence", "maxSequence", "expireOn", "isActive")
    assert [patched.json()[name] for name in named] == ["10", "20", "2028-12-31", False]
    assert [posted[name] for name in named] == ["1", "9999999999", None, False]
    assert patched.json()["id"] == posted["id"]


async def test_each_field_can_be_changed_alone_and_an_end_taken_away(api: httpx.AsyncClient) -> None:
    await put(api, minSequence=10, maxSequence=20, expireAt="2028-12-31")

    for body, name, value in (
        ({}, "currentSequence", "10"),
        ({"maxSequence": 30}, "maxSequence", "30"),
        ({"minSequence": 12}, "currentSequence", "12"),
        ({"currentSequence": 31}, "currentSequence", "31"),
        ({"currentSequence": 15}, "currentSequence", "15"),
        ({"expireAt": "2029-12-31"}, "expireOn", "2029-12-31"),
        ({"expireAt": None}, "expireOn", None),
        ({"isActive": None}, "isActive", True),
    ):
        answer = await api.patch("/ncf/E31", json=body)
        assert (answer.status_code, answer.json()[name]) == (200, value), body


BAD_CHANGES: list[tuple[str, dict[str, Any], int, str]] = [
    ("E31", {"maxSequence": 9}, 400, "maximum sequence must be greater or equal to the minimum"),
    ("E31", {"minSequence": 0}, 400, f"minSequence {RANGE}"),
    ("E31", {"currentSequence": 0}, 400, "currentSequence must be a whole number from 1 to 10000000000"),
    ("E31", {"currentSequence": "11"}, 400, "currentSequence must be a whole number from 1 to 10000000000"),
    ("E31", {"currentSequence": 22}, 400, "the next number must be in the range, or one past its end"),
    ("E31", {"expireAt": "soon"}, 400, "expireAt must be a date (YYYY-MM-DD) or a full ISO 8601 timestamp"),
    ("E31", {"expireAt": "9999-12-31"}, 400, "expireAt must be a date (YYYY-MM-DD) or a full ISO 8601 timestamp"),
    (
        "E31",
        {"expireAt": "0001-01-01T01:00:00Z"},
        400,
        "expireAt must be a date (YYYY-MM-DD) or a full ISO 8601 timestamp",
    ),
    ("E31", {"isActive": "no"}, 400, "isActive must be true or false"),
    ("E32", {"isActive": False}, 404, "no NCF sequence exists for the prefix E32"),
    ("E42", {"isActive": False}, 400, "invalid e-CF type"),
]


async def test_a_change_that_cannot_be_is_refused_by_name(api: httpx.AsyncClient) -> None:
    before = await put(api, minSequence=10, maxSequence=20, expireAt="2028-12-31")

    for prefix, body, status, message in BAD_CHANGES:
        answer = await api.patch(f"/ncf/{prefix}", json=body)
        assert (answer.status_code, answer.json()["message"]) == (status, message), body
    assert (await api.get("/ncf")).json()["items"] == [before]


async def test_next_range_is_stored_shown_drawn_from_and_removed(api: httpx.AsyncClient) -> None:
    ahead = {"minSequence": 901, "maxSequence": 999, "expireAt": "2029-12-31"}
    stored = await put(api, minSequence=1, maxSequence=1, expireAt="2028-12-31", nextRange=ahead)
    same = await put(api, minSequence=1, maxSequence=1, expireAt="2028-12-31")
    drawn = [await api.post("/invoices", json=structured(invoice_payload(None, TipoeCF="31"))) for _ in range(2)]
    begun = (await api.get("/ncf")).json()["items"][0]
    again = await api.patch("/ncf/E31", json={"nextRange": {"minSequence": 2001, "maxSequence": 2100}})
    removed = await api.patch("/ncf/E31", json={"nextRange": None})

    shown = {
        "minSequence": "901",
        "maxSequence": "999",
        "expireAt": "2030-01-01T03:59:59.999Z",
        "expireOn": "2029-12-31",
    }
    assert (stored["nextRange"], same["nextRange"]) == (shown, shown)
    assert [one.json()["eNCF"] for one in drawn] == ["E310000000001", "E310000000901"]
    assert [begun[name] for name in ("minSequence", "currentSequence", "expireOn")] == ["901", "902", "2029-12-31"]
    assert "nextRange" not in begun
    (warning,) = again.json()["warnings"]
    assert (warning["code"], warning["path"]) == ("sequence-without-end", "nextRange.expireAt")
    assert "nextRange" not in removed.json()


async def test_same_post_and_patch_after_the_next_range_began_leave_it(api: httpx.AsyncClient) -> None:
    ahead = {"minSequence": 901, "maxSequence": 999, "expireAt": "2029-12-31"}
    at_start = {"minSequence": 1, "maxSequence": 1, "expireAt": "2028-12-31"}
    await put(api, **at_start, nextRange=ahead)
    for _ in range(2):
        await api.post("/invoices", json=structured(invoice_payload(None, TipoeCF="31")))

    again = [await put(api, **at_start, nextRange=ahead), await put(api, **at_start)]
    repeated = await api.patch("/ncf/E31", json={"nextRange": ahead})
    back = await api.patch("/ncf/E31", json={"minSequence": 1, "maxSequence": 1})

    for one in again:
        assert [one[name] for name in ("minSequence", "currentSequence", "expireOn")] == ["901", "902", "2029-12-31"]
        assert "nextRange" not in one
        (warning,) = one["warnings"]
        assert (warning["code"], warning["found"]) == ("sequence-went-on", "1-1")
        assert "PATCH /ncf/E31" in warning["fixEs"]
    assert (repeated.status_code, repeated.json()["minSequence"]) == (200, "901")
    assert "warnings" not in repeated.json()
    assert (back.status_code, back.json()["minSequence"]) == (200, "1")


NEXT = {"minSequence": 30, "maxSequence": 40, "expireAt": "2029-12-31"}


async def test_next_range_that_cannot_be_is_refused_by_name(api: httpx.AsyncClient) -> None:
    before = await put(api, minSequence=10, maxSequence=20, expireAt="2028-12-31")

    for changed, message in (
        ({"maxSequence": 29}, "maximum sequence must be greater or equal to the minimum"),
        ({"minSequence": 0}, f"nextRange.minSequence {RANGE}"),
        ({"expireAt": "soon"}, "expireAt must be a date (YYYY-MM-DD) or a full ISO 8601 timestamp"),
        ({"expireAt": "2020-12-31"}, "the last day of the next range has passed: 2020-12-31"),
        ({"minSequence": 20}, "the sequence's own range and its next one share numbers: they must lie apart"),
    ):
        for answer in (
            await api.patch("/ncf/E31", json={"nextRange": NEXT | changed}),
            await api.post(
                "/ncf", json={"prefix": "E31", "minSequence": 10, "maxSequence": 20, "nextRange": NEXT | changed}
            ),
        ):
            assert (answer.status_code, message in answer.json()["message"]) == (400, True), (changed, answer.text)
    assert (await api.get("/ncf")).json()["items"] == [before]


async def test_a_mistyped_number_is_warned_of_and_put_back_until_it_was_sent(
    api: httpx.AsyncClient, db: Database
) -> None:
    await put(api, minSequence=41, maxSequence=5000)
    near = await api.post("/invoices", json=structured(invoice_payload("E310000000043")))
    far = await api.post("/invoices", json=structured(invoice_payload("E310000004999")))
    assert "warnings" not in near.json()
    (warning,) = far.json()["warnings"]
    assert (warning["code"], warning["found"]) == ("number-far-ahead", "E310000004999")
    assert "4955" in warning["message"]
    assert "PATCH /ncf/E31" in warning["fixEs"]

    back = await api.patch("/ncf/E31", json={"currentSequence": 44})
    assert back.json()["currentSequence"] == "44"

    await go_out(db, SubmissionId(UUID(far.json()["taxLogId"])))
    await api.patch("/ncf/E31", json={"currentSequence": 5000})
    refused = await api.patch("/ncf/E31", json={"currentSequence": 44})
    assert refused.status_code == 409
    assert refused.json()["message"].startswith("a number from there on was sent")


async def go_out(db: Database, subject: SubmissionId) -> None:
    """Let the worker sign and send it."""
    document = SignedDocument(
        CertificateId(UUID(int=1)),
        b"<ECF/>",
        None,
        Host.ECF,
        EcfType.CREDIT_FISCAL,
        "131880738",
        None,
        "AbC1+/",
        None,
        None,
        ACCEPTED_AT,
    )
    await db.run(bookings.signed, await take(db, subject), document, at=ACCEPTED_AT)
    work = await take(db, subject)
    await db.run(bookings.intend_to_send, work, at=ACCEPTED_AT, lease=LEASE, digest=bytes(32))


BAD: list[tuple[dict[str, Any], str]] = [
    ({}, "prefix must be a valid e-CF type"),
    ({"prefix": None}, "prefix must be a valid e-CF type"),
    ({"prefix": "E42"}, "prefix must be a valid e-CF type"),
    ({"prefix": "e31"}, "prefix must be a valid e-CF type"),
    ({"prefix": "B01"}, "prefix must be a valid e-CF type"),
    ({"prefix": 31}, "prefix must be a valid e-CF type"),
    ({"minSequence": 0}, f"minSequence {RANGE}"),
    ({"minSequence": -5}, f"minSequence {RANGE}"),
    ({"minSequence": 1.5}, f"minSequence {RANGE}"),
    ({"minSequence": "1"}, f"minSequence {RANGE}"),
    ({"minSequence": True}, f"minSequence {RANGE}"),
    ({"maxSequence": 10_000_000_000}, f"maxSequence {RANGE}"),
    ({"maxSequence": 10**19}, f"maxSequence {RANGE}"),
    ({"minSequence": 2, "maxSequence": 1}, "maximum sequence must be greater or equal to the minimum"),
    ({"expireAt": "soon"}, "expireAt must be a date (YYYY-MM-DD) or a full ISO 8601 timestamp"),
    ({"expireAt": "2027-02-30"}, "expireAt must be a date (YYYY-MM-DD) or a full ISO 8601 timestamp"),
    ({"expireAt": "0001-01-01T01:00:00Z"}, "expireAt must be a date (YYYY-MM-DD) or a full ISO 8601 timestamp"),
    ({"expireAt": 20271231}, "expireAt must be a date (YYYY-MM-DD) or a full ISO 8601 timestamp"),
    ({"isActive": "yes"}, "isActive must be true or false"),
    ({"isActive": 1}, "isActive must be true or false"),
]


@clause("POST /ncf", "Response 400 messages", "Rules: maxSequence", "| prefix", "| minSequence", "| maxSequence")
@clause("NCF sequence", "Any other prefix gives 400")
@clause("HTTP errors of the API", "| 400 | sequence/prefix messages")
@clause("Limits", "| Sequence numbers")
async def test_what_is_not_a_sequence_is_refused_by_name(api: httpx.AsyncClient) -> None:
    for body, message in BAD:
        answer = await api.post("/ncf", json=body if "prefix" in body or not body else {"prefix": "E31", **body})
        assert answer.status_code == 400, body
        assert answer.json()["message"].startswith(message), (body, answer.json())
    assert (await api.get("/ncf")).json()["items"] == []


@clause("Limits", "| Sequence numbers")
async def test_the_ends_of_the_range_are_taken(api: httpx.AsyncClient) -> None:
    made = await put(api, minSequence=9999999999, maxSequence=9999999999)

    assert (made["minSequence"], made["maxSequence"], made["currentSequence"]) == ("9999999999",) * 3


@clause(
    "DELETE /ncf/:prefix", "Response 200", "Response 404", "Response for a prefix outside", "Effect: already issued"
)
@clause("Sequence state", "Deleting removes the sequence")
@clause("HTTP errors of the API", "| 404 | no NCF sequence exists for the prefix")
async def test_a_sequence_is_deleted_once(api: httpx.AsyncClient) -> None:
    await put(api)
    deleted = await api.delete("/ncf/E31")
    again = await api.delete("/ncf/E31")
    outside = [await api.delete(f"/ncf/{prefix}") for prefix in ("E42", "e31", "x", "%00", "%ff", "a" * 500)]

    assert (deleted.status_code, deleted.json()) == (200, {"ok": True, "prefix": "E31"})
    assert again.status_code == 404
    assert again.json() == {"message": "no NCF sequence exists for the prefix E31", "statusCode": 404}
    assert {answer.status_code for answer in outside} == {400}
    assert {answer.json()["message"] for answer in outside} == {"invalid e-CF type"}
    assert (await put(api))["currentSequence"] == "1"


async def test_a_key_sees_the_sequences_of_its_environment(front: Running, db: Database, tenant: TenantId) -> None:
    clients = {}
    for environment in Environment:
        key = await make_key(db, tenant, environment)
        clients[environment] = await front.token(key)
    async with front.client(clients[Environment.ECF]) as live, front.client(clients[Environment.TESTECF]) as test:
        await put(live, minSequence=500)
        await put(test, minSequence=7)
        assert (await live.get("/ncf")).json()["items"][0]["minSequence"] == "500"
        assert (await test.delete("/ncf/E31")).status_code == 200
        assert (await test.get("/ncf")).json()["items"] == []
        assert len((await live.get("/ncf")).json()["items"]) == 1


async def test_a_named_sequence_lives_beside_the_one_without_a_name(
    api: httpx.AsyncClient, db: Database, tenant: TenantId
) -> None:
    ana = await db.run(tenants.create_user, tenant, UserId(UUID(int=7)), "ana@example.com", None)
    assert ana is not None
    plain = await put(api, maxSequence=100)
    till = await put(api, name="Caja 2", minSequence=101, maxSequence=200, users=["Ana@example.com"])
    drawn = structured(invoice_payload(None, TipoeCF="31"))

    answers = [
        (await api.post("/invoices", json=drawn | more)).json()
        for more in ({}, {"sequence": "Caja 2"}, {"asUser": "ana@example.com"}, {"sequence": "Caja 9"})
    ]
    checked = (await api.post("/invoices/validate", json=drawn | {"sequence": "Caja 9"})).json()
    brought = (await api.post("/invoices", json=structured() | {"sequence": "Caja 2"})).json()
    overlap = await api.post("/ncf", json={"prefix": "E31", "name": "Caja 3", "minSequence": 200, "maxSequence": 300})
    ill_named = await api.post("/ncf", json={"prefix": "E31", "name": " a/b"})
    same_name = await api.post("/ncf", json={"prefix": "E31", "name": "caja 2", "minSequence": 201, "maxSequence": 300})
    changed = await api.patch("/ncf/E31?name=Caja%202", json={"users": []})
    unknown = await api.patch("/ncf/E31?name=Caja%209", json={"isActive": True})

    assert not plain.keys() & {"name", "users"}
    assert (till["name"], till["users"]) == ("Caja 2", ["ana@example.com"])
    assert [one.get("eNCF") for one in answers[:3]] == ["E310000000001", "E310000000101", "E310000000102"]
    assert answers[3]["message"] == "sequence: E31 has no sequence Caja 9; the names there are: Caja 2"
    assert [(one["code"], one["expected"]) for one in checked["problems"] if one["path"] == "sequence"] == [
        ("unknown-sequence", "Caja 2")
    ]
    assert [one["code"] for one in brought["warnings"]] == ["sequence-not-drawn"]
    assert (overlap.status_code, ill_named.status_code) == (400, 400)
    assert (same_name.status_code, "with other capitals" in same_name.text) == (400, True)
    assert "another sequence" in overlap.json()["message"]
    assert ill_named.json()["message"].startswith("name must be a name of 1 to 40 letters")
    assert (changed.json()["users"], changed.json()["currentSequence"]) == ([], "103")
    assert (unknown.status_code, unknown.json()["message"]) == (
        404,
        "no NCF sequence exists for the prefix E31 with the name Caja 9",
    )
    assert (await api.delete("/ncf/E31?name=Caja%202")).json() == {"ok": True, "prefix": "E31"}
    assert [one["id"] for one in (await api.get("/ncf")).json()["items"]] == [plain["id"]]
