"""Peppers overlap: a key logs in under the older one once, and from then on under the one in use."""

import pytest
import trio

from fe.accounts.keys import Peppers, hash_secret
from fe.store.postgres.db import Database
from tests.factories.tenants import row
from tests.http.front import PEPPER, Key, make_key, make_tenant, start_front

NEW = b"n" * 31 + b"!"


async def kept(db: Database, key: Key) -> tuple[bytes, str]:
    found = await row(db, "SELECT secret_hash, pepper_id FROM api_keys WHERE api_key_id = %(id)s", id=key.api_key_id)
    return bytes(found["secret_hash"]), found["pepper_id"]


@pytest.mark.parametrize("old_id", ["", "2025"])
async def test_a_login_under_an_older_pepper_moves_the_hash_to_the_one_in_use(
    db: Database, front_db: Database, nursery: trio.Nursery, old_id: str
) -> None:
    key = await make_key(db, await make_tenant(db), pepper_id=old_id)
    other = await make_key(db, await make_tenant(db, "Another"), pepper_id=old_id)
    before = await kept(db, key)

    front = await start_front(nursery, front_db, peppers={"2026": NEW, old_id: PEPPER})
    async with front.client() as client:
        wrong = await client.post("/login", json={**key.credentials, "apiSecret": "0" * 64})
        assert (wrong.status_code, await kept(db, key)) == (401, before)
    await front.token(key)
    moved = await kept(db, key)
    await front.token(key)

    assert moved == await kept(db, key) == (hash_secret(NEW, key.secret), "2026")
    # Another key keeps its old hash until its next login.
    assert await kept(db, other) == (hash_secret(PEPPER, other.secret), old_id)

    alone = await start_front(nursery, front_db, peppers={"2026": NEW})
    await alone.token(key)
    async with alone.client() as client:
        assert (await client.post("/login", json=other.credentials)).status_code == 401


async def test_with_one_pepper_nothing_is_written(db: Database, front_db: Database, nursery: trio.Nursery) -> None:
    key = await make_key(db, await make_tenant(db))
    front = await start_front(nursery, front_db)
    written = await row(db, "SELECT xmin::text AS version FROM api_keys WHERE api_key_id = %(id)s", id=key.api_key_id)

    await front.token(key)

    again = await row(db, "SELECT xmin::text AS version FROM api_keys WHERE api_key_id = %(id)s", id=key.api_key_id)
    assert written == again


def test_a_secret_is_compared_under_every_pepper_whatever_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[bytes] = []

    def counting(pepper: bytes, secret: str) -> bytes:
        tried.append(pepper)
        return hash_secret(pepper, secret)

    monkeypatch.setattr("fe.accounts.keys.hash_secret", counting)
    peppers = Peppers({"new": NEW, "old": PEPPER})

    assert peppers.find("secret", hash_secret(NEW, "secret")) == "new"
    assert peppers.find("secret", hash_secret(PEPPER, "secret")) == "old"
    assert peppers.find("secret", bytes(32)) is None
    assert tried == [NEW, PEPPER] * 3
