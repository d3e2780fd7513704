"""Browsers are not who this is for: no other site is let in, nothing is kept in one, and no file is served."""

import httpx
import pytest

from tests.http.front import Running


@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
@pytest.mark.parametrize("path", ["/login", "/invoices", "/ncf", "/webhooks", "/openapi.json", "/nowhere"])
async def test_no_answer_lets_another_origin_in_or_leaves_a_cookie(front: Running, method: str, path: str) -> None:
    asks = {
        "Origin": "https://elsewhere.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization",
        "Cookie": "session=1",
    }
    async with front.client() as client:
        answer = await client.request(method, path, headers=asks)

    assert [name for name in answer.headers if name.startswith("access-control-")] == []
    assert "set-cookie" not in answer.headers


async def test_a_cookie_is_no_token(front: Running, api: httpx.AsyncClient) -> None:
    token = api.headers["Authorization"].removeprefix("Bearer ")
    async with front.client() as client:
        for cookie in (f"token={token}", f"Authorization=Bearer {token}", f"session={token}"):
            answer = await client.get("/invoices", headers={"Cookie": cookie})
            assert answer.status_code == 401


@pytest.mark.parametrize(
    "path",
    [
        "/docs/../../../pyproject.toml",
        "/docs/en/guide/../../app.py",
        "/static/",
        "/static/x.js",
        "/..%2f..%2fetc/passwd",
        "/../fe/main.py",
        "/favicon.ico",
    ],
)
async def test_no_file_and_no_list_of_files_is_served(front: Running, path: str) -> None:
    async with front.client() as client:
        answer = await client.get(path)

    assert answer.status_code == 404
    assert answer.json()["message"] == "Not Found"


@pytest.mark.parametrize("path", ["//invoices", "/invoices/", "/invoices//", "/INVOICES", "/./invoices"])
async def test_nobody_is_redirected(front: Running, api: httpx.AsyncClient, path: str) -> None:
    answer = await api.get(path, follow_redirects=False)

    assert not answer.is_redirect
    assert "location" not in answer.headers
