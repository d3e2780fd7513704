"""interface.md: "GET /ncf", "POST /ncf", "DELETE /ncf/:prefix", "NCF sequence", "Sequence state"."""

from typing import Any
from uuid import UUID

import httpx

from fe.ecf.catalogue import Environment
from fe.store.db import Database
from tests.http.clauses import clause
from tests.http.front import Running, make_key

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
    assert empty["availableTypes"] == [{"code": code, "name": name} for code, name in CATALOGUE.items()]
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

    assert tuple(made) == FIELDS
    assert str(UUID(made["id"])) == made["id"]
    assert {name: made[name] for name in FIELDS if name != "id"} == {
        "type": "E31",
        "prefix": "E31",
        "description": "Credit fiscal invoice",
        "minSequence": "1",
        "maxSequence": "9999999999",
        "currentSequence": "1",
        "isActive": True,
        "expireAt": None,
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
    for given, shown in (
        ("2027-12-31", "2027-12-31T23:59:59.999Z"),  # good to the end of that day
        ("2027-12-31T10:00:00Z", "2027-12-31T10:00:00.000Z"),
        ("2027-12-31T10:00:00.123Z", "2027-12-31T10:00:00.123Z"),
        ("2027-12-31T10:00:00-04:00", "2027-12-31T14:00:00.000Z"),
        ("2027-12-31T10:00:00", "2027-12-31T10:00:00.000Z"),
        (None, None),
    ):
        assert (await put(api, expireAt=given))["expireAt"] == shown


RANGE = "must be a whole number from 1 to 9999999999"
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


async def test_a_key_sees_the_sequences_of_its_environment(front: Running, db: Database, tenant: int) -> None:
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
