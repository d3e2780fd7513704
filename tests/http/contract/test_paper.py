"""Paper receipts over HTTP: what a client may write into an address."""

import httpx
import pytest


@pytest.mark.parametrize("path", ["/paper-receipts?cursor=%00", "/paper-receipts?cursor=B01"])
async def test_cursor_that_no_answer_gave_is_a_400(api: httpx.AsyncClient, path: str) -> None:
    answer = await api.get(path)

    assert answer.status_code == 400, answer.text
    assert "cursor" in answer.json()["message"]


@pytest.mark.parametrize("number", ["%00", "B0100000001", "x"])
async def test_number_without_a_paper_receipt_is_a_404(api: httpx.AsyncClient, number: str) -> None:
    assert (await api.get(f"/paper-receipts/{number}")).status_code == 404
