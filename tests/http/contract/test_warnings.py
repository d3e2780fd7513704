"""Warnings: members of a body that do not exist, and what was assumed, in every answer that takes a body."""

from typing import Any

import httpx
import pytest

from tests.http.front import Key, Running, invoice_payload, structured


def told(warnings: Any) -> list[tuple[str, str, str | None]]:
    return [(one["code"], one["path"], one.get("expected")) for one in warnings]


async def test_misspelt_client_request_id_is_named_in_every_answer(api: httpx.AsyncClient) -> None:
    body = structured(clientRequestID="order-1", simulat=None)
    first, second = await api.post("/invoices", json=body), await api.post("/invoices", json=body)
    validated = await api.post("/invoices/validate", json=body)
    repeated = structured(clientRequestId="order-2", as_user_id="x")
    await api.post("/invoices", json=structured(clientRequestId="order-2"))
    deduped = await api.post("/invoices", json=repeated)

    expected = [
        ("unknown-member", "clientRequestID", "clientRequestId"),
        ("unknown-member", "simulat", "simulate"),
    ]
    assert (first.status_code, second.status_code) == (202, 202)
    assert told(first.json()["warnings"]) == expected
    assert first.json()["warnings"][0]["fix"] == "did you mean clientRequestId?"
    assert first.json()["warnings"][0]["fixEs"] == "¿quiso decir clientRequestId?"
    assert {"unknown-member"} <= {one["code"] for one in validated.json()["problems"]}
    assert (deduped.status_code, told(deduped.json()["warnings"])) == (
        200,
        [("unknown-member", "as_user_id", "asUserId")],
    )


async def test_strict_refuses_unknown_members_and_validate_says_so(api: httpx.AsyncClient) -> None:
    body = structured(clientRequestID="order-1", strict=True)

    refused, validated = await api.post("/invoices", json=body), await api.post("/invoices/validate", json=body)

    assert (refused.status_code, refused.json()["problems"][0]["path"]) == (400, "clientRequestID")
    assert refused.json()["message"] == "strict refuses members that do not exist: clientRequestID"
    assert validated.json()["valid"] is False
    assert (await api.get("/invoices")).json()["total"] == 0


async def test_line_without_indicator_is_remarked_when_taken_in(api: httpx.AsyncClient) -> None:
    payload = invoice_payload()
    del payload["DetallesItems"]["Item"][0]["IndicadorFacturacion"]
    del payload["Encabezado"]["IdDoc"]["IndicadorMontoGravado"]

    taken = await api.post("/invoices", json=structured(payload))
    validated = await api.post("/invoices/validate", json=structured(payload))

    place = ("exempt-assumed", "DetallesItems.Item[1].IndicadorFacturacion", "1, 2, 3, 4")
    assert told(taken.json()["warnings"]) == [place]
    assert place in told(validated.json()["problems"])


@pytest.mark.parametrize(
    ("method", "path", "body", "expected"),
    [
        ("POST", "/ncf", {"prefix": "E31", "from": 1, "to": 500}, [("from", "minSequence"), ("to", "maxSequence")]),
        ("POST", "/ncf", {"prefix": "E31", "maxsequence": 500}, [("maxsequence", "maxSequence")]),
        ("PATCH", "/ncf/E31", {"nextNumber": 5}, [("nextNumber", "currentSequence")]),
        ("PATCH", "/ncf/E31", {"colour": "red"}, [("colour", None)]),
    ],
)
async def test_unknown_members_of_a_sequence_are_named(
    api: httpx.AsyncClient, method: str, path: str, body: dict[str, Any], expected: list[tuple[str, str | None]]
) -> None:
    await api.post("/ncf", json={"prefix": "E31", "expireAt": "2028-12-31"})

    answer = await api.request(method, path, json=body)

    assert answer.status_code == 200
    unknown = [one for one in answer.json()["warnings"] if one["code"] == "unknown-member"]
    assert [(one["path"], one.get("expected")) for one in unknown] == expected


async def test_login_that_names_its_key_otherwise_is_told_the_name(front: Running, key: Key) -> None:
    async with front.client() as client:
        missing = await client.post("/login", json={"api_key_id": key.api_key_id, "apiSecret": key.secret})
        extra = await client.post("/login", json={**key.credentials, "env": "ecf"})

    assert missing.json()["message"] == ("apiKeyId must start with fak_; apiKeyId is missing, and there is api_key_id")
    assert told(extra.json()["warnings"]) == [("unknown-member", "env", None)]


async def test_unknown_members_of_a_mode_are_named(api: httpx.AsyncClient) -> None:
    answer = await api.post("/contingency", json={"mode": "offline", "reason": "no line", "until": "2026-12-01"})

    assert answer.status_code == 200
    assert [(one["code"], one["path"]) for one in answer.json()["warnings"]] == [("unknown-member", "until")]
    assert "warnings" not in (await api.get("/contingency")).json()
