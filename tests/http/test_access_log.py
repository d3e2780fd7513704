"""The access log is off, on, or for some requests; and never says what a client put into one."""

from typing import Any

import httpx
import pytest
import trio
from structlog.testing import capture_logs

from fe.http.app import PREFIX
from fe.store.postgres.db import Database
from tests.http.front import Key, Running, start_front, structured


async def lines(front: Running, key: Key, times: int) -> list[Any]:
    token = await front.token(key)
    async with front.client(token) as client:
        with capture_logs() as logs:
            for _ in range(times):
                await client.get("/invoices/a-secret-of-theirs", params={})
            await client.post("/invoices", json=structured())
            await client.get("/ncf", headers={"Authorization": "Bearer nonsense"})
    return [line for line in logs if line["event"] == "a request was answered"]


@pytest.mark.parametrize(("share", "expected"), [(0.0, 0), (1.0, 10), (0.5, 5)])
@pytest.mark.parametrize("fast_path", [True, False])
async def test_as_many_requests_get_a_line_as_the_setting_says(
    front_db: Database, key: Key, nursery: trio.Nursery, share: float, expected: int, fast_path: bool
) -> None:
    front = await start_front(nursery, front_db, access_log=share, fast_path=fast_path)

    # The login is one of those that are counted, before these: with a half it leaves the turn to the first of them.
    assert len(await lines(front, key, 8)) == expected


async def test_a_line_says_who_what_and_how_and_nothing_that_the_client_wrote(
    front_db: Database, key: Key, nursery: trio.Nursery
) -> None:
    front = await start_front(nursery, front_db, access_log=1.0)
    found, posted, refused = await lines(front, key, 1)

    assert (found["route"], found["method"], found["status"]) == (f"{PREFIX}/invoices/<track_or_id>", "GET", 200)
    assert (found["api_key_id"], found["tenant_id"], found["address"]) == (key.api_key_id, key.tenant_id, "127.0.0.1")
    assert posted["status"] == 202
    assert posted["bytes_in"] > 0
    assert refused["status"] == 401
    assert "api_key_id" not in refused
    for line in (found, posted, refused):
        assert line["request"]
        assert "theirs" not in str(line)
        assert key.secret not in str(line)


async def test_it_is_off_unless_it_is_set(front: Running, key: Key, api: httpx.AsyncClient) -> None:
    assert await lines(front, key, 2) == []
