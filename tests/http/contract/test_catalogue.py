"""Customers and products over HTTP: written whole, found by words, one tenant's and of every environment."""

from typing import Any
from uuid import uuid4

import httpx
import pytest

from fe.accounts.keys import SCOPES
from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.store.postgres.db import Database
from tests.http.front import Key, Running, make_key, make_tenant

ANA = {"name": "Ana Núñez", "rnc": "001-0000000-9", "email": "ana@nunez.do", "municipality": "320100", "type": "E31"}
CEMENT = {"name": "Cemento", "code": "CEM-1", "unit": "saco", "price": 495.5, "priceHasItbis": True, "itbis": "18"}


async def test_customer_is_written_shown_found_and_deleted(api: httpx.AsyncClient, key: Key) -> None:
    put = await api.put("/customers/C-001", json=ANA | {"colour": "red"})
    again = (await api.put("/customers/C-001", json=ANA | {"version": 1})).json()

    made = put.json()
    assert (put.status_code, made["rnc"], made["province"], made["version"]) == (200, "00100000009", "320000", 1)
    assert [one["path"] for one in made["warnings"]] == ["colour"]
    assert (again["version"], again["source"], again["usedAt"]) == (2, "api", None)
    assert (await api.get("/customers/C-001")).json() == again
    for query in ("q=nun", "q=ana%20001", "rnc=00100000009", ""):
        assert (await api.get(f"/customers?{query}")).json()["items"] == [again], query
    for query in ("q=zoe", "rnc=131880657", "rnc=%00", "q=%25"):
        expected = [again] if query == "q=%25" else []
        assert (await api.get(f"/customers?{query}")).json()["items"] == expected, query
    stale = await api.delete("/customers/C-001?version=1")
    assert (stale.status_code, "version 2" in stale.json()["message"]) == (409, True)
    assert (await api.delete("/customers/C-001?version=2")).json() == {"ok": True, "id": "C-001"}
    assert (await api.put("/customers/C-001", json=ANA | {"version": 2})).status_code == 409
    assert (await api.get("/customers/C-001")).status_code == 404


async def test_product_keeps_every_digit_of_its_price(api: httpx.AsyncClient) -> None:
    made = (await api.put("/products/CEM-1", json=CEMENT)).json()
    exact = await api.put(
        "/products/x",
        content=b'{"name": "x", "price": 9999999999999999.1234}',
        headers={"Content-Type": "application/json"},
    )

    assert (made["unit"], made["price"], made["priceHasItbis"], made["kind"]) == ("46", 495.5, True, None)
    assert b'"price":9999999999999999.1234,' in exact.content


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("/customers/a%20b", ANA, "id: must be"),
        ("/customers/a", {}, "name"),
        ("/customers/a", ANA | {"rnc": "1"}, "rnc: must be an RNC"),
        ("/customers/a", ANA | {"version": -1}, "version"),
        ("/customers/a", ANA | {"type": "E99"}, "type: must be one of: E31"),
        ("/products/a", CEMENT | {"price": -1}, "price: must be a number"),
        ("/products/a", CEMENT | {"price": 1.23456}, "price: must be a number"),
        ("/products/a", CEMENT | {"price": "1,5"}, "price: must be a number"),
        ("/products/a", CEMENT | {"price": [1]}, "price: must be a number"),
        ("/products/a", CEMENT | {"additionalTaxes": ["000"]}, "additionalTaxes: 000"),
    ],
)
async def test_body_out_of_form_is_refused_by_the_name_of_its_field(
    api: httpx.AsyncClient, path: str, body: dict[str, Any], said: str
) -> None:
    refused = await api.put(path, json=body)

    assert (refused.status_code, refused.json()["message"].startswith(said)) == (400, True), refused.text


async def test_list_goes_on_by_cursor_and_refuses_one_of_another_make(api: httpx.AsyncClient) -> None:
    names = ["Álvaro", "beto", "Ñandú", "zoe"]
    for name in names:
        await api.put(f"/customers/{uuid4()}", json={"name": name})
    seen: list[str] = []
    cursor: Any = ""
    while cursor is not None:
        page = (await api.get(f"/customers?limit=3{cursor and f'&cursor={cursor}'}")).json()
        seen += [one["name"] for one in page["items"]]
        cursor = page["nextCursor"]

    assert seen == names
    for bad in ("%C3%B1", "IGE", "YQAg", "_w", "a" * 3000):
        assert (await api.get(f"/customers?cursor={bad}")).status_code == 400, bad


async def test_catalogue_is_one_for_all_environments_and_hidden_from_other_tenants(
    front: Running, db: Database, tenant: TenantId, api: httpx.AsyncClient
) -> None:
    await api.put("/customers/C-001", json=ANA)
    mine = await make_key(db, tenant, Environment.ECF, SCOPES)
    other = await make_key(db, await make_tenant(db, "Otra SRL"), scopes=SCOPES)

    async with front.client(await front.token(mine)) as client:
        assert (await client.get("/customers/C-001")).status_code == 200
    async with front.client(await front.token(other)) as client:
        assert (await client.get("/customers/C-001")).status_code == 404
        assert (await client.get("/customers")).json()["items"] == []
        assert (await client.delete("/customers/C-001")).status_code == 404
