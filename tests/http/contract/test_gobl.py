"""GOBL invoices are taken in as any other receipt, and what was ignored is said."""

from typing import Any

import httpx

from tests.ecf.test_gobl import LINE, invoice

NUMBERS = {"prefix": "E31", "minSequence": 1, "maxSequence": 100, "expireAt": "2028-12-31"}
TOTAL = {"total_with_tax": "1063.18"}


def gobl(**more: Any) -> dict[str, Any]:
    return {"format": "gobl", "payload": invoice(totals=TOTAL, notes=[{"text": "gracias"}], **more)}


async def test_gobl_invoice_is_valid_previewed_and_taken_in(api: httpx.AsyncClient) -> None:
    (await api.post("/ncf", json=NUMBERS)).raise_for_status()
    validated = (await api.post("/invoices/validate", json=gobl())).json()
    previewed = (await api.post("/invoices/preview", json=gobl())).json()
    taken = await api.post("/invoices", json={**gobl(), "clientRequestId": "gobl-1", "strict": True})
    again = await api.post("/invoices", json={**gobl(), "clientRequestId": "gobl-1"})
    batch = (await api.post("/invoices/batch", json={"items": [gobl(), {"format": "gobl", "payload": {}}]})).json()

    assert validated["valid"] is True, validated
    assert [(one["code"], one["path"]) for one in validated["problems"]] == [("gobl-ignored", "payload.notes")]
    assert "<MontoTotal>1063.18</MontoTotal>" in previewed["xml"]
    assert taken.status_code == 202, taken.text
    assert [one["code"] for one in taken.json()["warnings"]] == ["gobl-ignored"]
    assert (again.status_code, again.json()["bodyMatched"]) == (200, True)
    assert [one["statusCode"] for one in batch["items"]] == [202, 400]
    assert "payload.$schema" in batch["items"][1]["message"]


async def test_gobl_total_that_is_not_the_sum_of_its_lines_is_a_problem(api: httpx.AsyncClient) -> None:
    (await api.post("/ncf", json=NUMBERS)).raise_for_status()
    wrong = {"format": "gobl", "payload": invoice(totals={"total_with_tax": "901.00"})}
    validated = await api.post("/invoices/validate", json=wrong)
    unknown = {"format": "gobl", "payload": invoice(lines=[{**LINE, "taxes": [{"cat": "IRPF"}]}])}
    spanish = await api.post("/invoices/validate", json=unknown, headers={"Accept-Language": "es"})

    (problem,) = validated.json()["problems"]
    assert (problem["path"], problem["found"], problem["expected"]) == (
        "Encabezado.Totales.MontoTotal",
        "901.00",
        "1063.18",
    )
    assert spanish.json()["message"].startswith("payload.lines[1].taxes[1].cat: debe ser VAT")
