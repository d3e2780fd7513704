"""Metadata of a submission: kept, given back, filtered by, and a part of the body that a repeat is compared with."""

from typing import Any

import httpx
import pytest

from tests.http.front import invoice_payload, lately, structured

LABELS = {"branch": "norte", "till.no": "4", "nota": "Ñandú «ok»"}


async def found(api: httpx.AsyncClient, **query: str) -> list[str]:
    page = (await api.get("/invoices", params={**lately(), **query})).json()
    assert page["total"] == len(page["items"])
    return [item["taxLogId"] for item in page["items"]]


async def test_metadata_comes_back_and_filters_by_one_exact_pair(api: httpx.AsyncClient) -> None:
    labelled = (await api.post("/invoices", json=structured(metadata=LABELS, clientRequestId="a"))).json()["taxLogId"]
    items = [
        structured(invoice_payload("E310000000002"), metadata={"branch": "nortes"}),
        structured(invoice_payload("E310000000003"), metadata={}),
    ]
    batch = (await api.post("/invoices/batch", json={"items": items})).json()["items"]
    other, plain = (one["taxLogId"] for one in batch)

    shown = [(await api.get(f"/invoices/{one}")).json().get("metadata") for one in (labelled, other, plain)]
    assert shown == [LABELS, {"branch": "nortes"}, None]
    listed = (await api.get("/invoices")).json()["items"]
    assert {one["taxLogId"]: one.get("metadata") for one in listed} == dict(
        zip((labelled, other, plain), shown, strict=True)
    )

    assert await found(api, **{"metadata[branch]": "norte"}) == await found(api, metadata="branch=norte") == [labelled]
    assert await found(api, **{"metadata[nota]": LABELS["nota"], "state": "queued"}) == [labelled]
    assert await found(api, **{"metadata[branch]": "Norte"}) == await found(api, **{"metadata[Branch]": "norte"}) == []


async def test_a_repeat_with_other_metadata_gets_the_first_ones(api: httpx.AsyncClient) -> None:
    first = (await api.post("/invoices", json=structured(metadata=LABELS, clientRequestId="a"))).json()["taxLogId"]
    turned = dict(reversed(LABELS.items()))

    again = [
        (await api.post("/invoices", json=structured(clientRequestId="a", **more))).json()
        for more in ({"metadata": turned}, {"metadata": {"branch": "sur"}}, {})
    ]

    assert [one["bodyMatched"] for one in again] == [True, False, False]
    assert {one["taxLogId"] for one in again} == {first}
    assert (await api.get(f"/invoices/{first}")).json()["metadata"] == LABELS


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({f"n{number}": "" for number in range(21)}, "metadata: must have at most 20 labels"),
        ({"sucursal centro": "x"}, "metadata: sucursal centro cannot name a label: use 1 to 40 letters"),
        ({"": "x"}, "metadata: '' cannot name"),
        ({"x" * 41: "x"}, "cannot name a label"),
        ({"branch": "x" * 501}, "metadata.branch"),
        ({"branch": 4}, "metadata.branch"),
        ({"branch": {"name": "norte"}}, "metadata.branch"),
        ({"branch": "no\0rte"}, "branch"),
        ({f"n{number}": "ñ" * 250 for number in range(9)}, "metadata: must not be larger than 4096 bytes"),
        (["norte"], "metadata"),
    ],
)
async def test_metadata_out_of_bounds_is_a_400_that_names_the_place(
    api: httpx.AsyncClient, metadata: Any, said: str
) -> None:
    answer = await api.post("/invoices", json=structured(metadata=metadata))
    assert (answer.status_code, said in answer.json()["message"]) == (400, True), answer.text
    assert (await api.get("/invoices")).json()["total"] == 0
