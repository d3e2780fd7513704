"""A tenant that is disabled: refused at the door, in whatever state of knowledge the process there is."""

import httpx
import pytest
import trio

from fe.accounts.keys import REVOKED_CHANNEL
from fe.accounts.provision import ProvisioningRefused
from fe.http.auth.authenticate import KeyPatience
from fe.http.server.pipeline import REFUSED_SECONDS
from fe.identifiers import TenantId
from fe.issuing.accept import Acceptance
from fe.store.postgres.db import Database
from fe.store.postgres.errors import TenantDisabled
from fe.store.queue.wakeups import Wakeups
from fe.store.records import keys, submissions
from tests.factories.operators import disable, enable
from tests.factories.tenants import ACCEPTED_AT, make_tenant, new_submission, row, rows
from tests.http.front import Key, Running, invoice_payload, make_key, start_front
from tests.store.race import plain
from tests.waiting import PATIENCE, until, until_listened_to

LATE = KeyPatience(fresh=3600, believed=3600)


async def status(api: httpx.AsyncClient) -> int:
    return (await api.get("/ncf")).status_code


async def test_a_disabled_tenant_can_neither_log_in_nor_use_a_token_that_is_out(
    front_db: Database, nursery: trio.Nursery, db: Database, key: Key
) -> None:
    # Cached keys are valid for an hour here, so only the notification can change the answer at once.
    front = await start_front(nursery, front_db, key_patience=LATE)
    await until_listened_to(db, REVOKED_CHANNEL)
    other = await make_key(db, await make_tenant(db))
    async with front.client(await front.token(key)) as api, front.client(await front.token(other)) as neighbour:
        assert (await status(api), await status(neighbour)) == (200, 200)

        await disable(db, key.tenant_id)

        await until_answered(api, 401)
        refused = await api.get("/invoices")
        login = await api.post("/login", json=key.credentials)
        unknown = await api.post("/login", json={**key.credentials, "apiKeyId": "fak_000000000000"})
        assert refused.json() == {"message": "API key has been revoked", "statusCode": 401}
        assert refused.headers["WWW-Authenticate"] == "Bearer"
        assert login.status_code == 401
        assert login.content == unknown.content, "why, nobody is told"
        assert await status(neighbour) == 200

        await enable(db, key.tenant_id)

        await until_answered(api, 200)
        assert (await api.post("/login", json=key.credentials)).status_code == 200


async def test_login_after_enabling_a_locked_out_tenant_succeeds(
    front_db: Database, nursery: trio.Nursery, db: Database, key: Key
) -> None:
    front = await start_front(nursery, front_db)
    other = await make_key(db, await make_tenant(db))
    async with front.client() as api:
        await disable(db, key.tenant_id)
        refused = [(await api.post("/login", json=key.credentials)).status_code for _ in range(6)]
        guessed = {**other.credentials, "apiSecret": "0" * 64}
        guesses = [(await api.post("/login", json=guessed)).status_code for _ in range(6)]

        await enable(db, key.tenant_id)

        assert refused == guesses == [401] * 5 + [429]
        await trio.sleep(REFUSED_SECONDS)
        assert (await api.post("/login", json=key.credentials)).status_code == 200
        assert (await api.post("/login", json=guessed)).status_code == 429, "the lockouts of other tenants stay"


async def until_answered(api: httpx.AsyncClient, wanted: int) -> None:
    with trio.fail_after(PATIENCE):
        while await status(api) != wanted:  # noqa: ASYNC110  (a notification, heard within the front)
            await trio.sleep(0.01)


async def test_where_nobody_has_heard_of_it_nothing_is_taken_in_all_the_same(
    front_db: Database, nursery: trio.Nursery, db: Database, key: Key
) -> None:
    front = await start_front(nursery, front_db, key_patience=LATE)
    async with front.client(await front.token(key)) as api:
        body = {"format": "structured", "payload": invoice_payload(), "clientRequestId": "one"}
        assert (await api.post("/invoices", json=body)).status_code == 202
        await rows(db, "INSERT INTO disabled_tenants SELECT tenant_id, now() FROM tenants")  # without a notification

        refused = await api.post("/invoices", json={**body, "payload": invoice_payload("E310000000002")})
        new = await api.post("/invoices", json={**body, "clientRequestId": "two"})

    assert refused.status_code == 200, "a repeat tells of what was taken in before"
    assert (new.status_code, new.json()["message"]) == (401, "API key has been revoked")
    kept = "SELECT count(*) FROM submissions"
    assert (await row(db, kept))["count"] == 1
    assert (await row(db, "SELECT count(*) FROM client_requests"))["count"] == 1


async def test_of_a_batch_only_the_disabled_tenant_s_are_refused(dsn: str, front_db: Database, db: Database) -> None:
    good, bad = await make_tenant(db), await make_tenant(db)
    await disable(db, bad)
    news = [new_submission(good if place % 3 else bad) for place in range(12)]
    answers: list[object] = [None] * len(news)
    acceptance = Acceptance(front_db, Wakeups(front_db))

    async def accept(place: int) -> None:
        try:
            answers[place] = (await acceptance.accept(news[place], ACCEPTED_AT)).outcome
        except TenantDisabled:
            answers[place] = "disabled"

    async with acceptance.running(), trio.open_nursery() as nursery:
        # The lock holds all submissions until the last has come, so that they are written together.
        with plain(dsn) as holding, holding.transaction():
            holding.execute("LOCK TABLE submissions IN SHARE MODE")
            for place in range(len(news)):
                nursery.start_soon(accept, place)
            await until(lambda: acceptance._in_work == len(news))

    assert answers == ["accepted" if place % 3 else "disabled" for place in range(12)]
    assert {each["tenant_id"] for each in await rows(db, "SELECT tenant_id FROM submissions")} == {good}
    with pytest.raises(TenantDisabled):
        await front_db.run(submissions.accept_many, [(new_submission(bad), ACCEPTED_AT)])


async def test_a_key_that_is_made_for_a_disabled_tenant_is_suspended_as_the_others(
    front: Running, db: Database, tenant: TenantId
) -> None:
    await disable(db, tenant)
    key = await make_key(db, tenant)
    async with front.client() as api:
        assert (await api.post("/login", json=key.credentials)).status_code == 401
        (known,) = await db.run(keys.of_tenant, tenant)
        assert (known.suspended, known.revoked_at) == (True, None)

        await enable(db, tenant)
        assert (await api.post("/login", json=key.credentials)).status_code == 200


async def test_twice_is_refused_and_each_time_is_on_record(db: Database, tenant: TenantId) -> None:
    with pytest.raises(ProvisioningRefused, match="is not disabled"):
        await enable(db, tenant)
    await disable(db, tenant)
    with pytest.raises(ProvisioningRefused, match="is disabled already"):
        await disable(db, tenant)
    await enable(db, tenant)

    acts = await rows(db, "SELECT action, by_whom, reason FROM operator_actions ORDER BY action")
    assert [(each["action"], each["by_whom"], each["reason"]) for each in acts] == [
        ("tenant disable", "ana", "as agreed"),
        ("tenant enable", "ana", "as agreed"),
    ]
    told = await rows(db, "SELECT entry::jsonb ->> 'act' AS act FROM audit_trail ORDER BY number")
    assert [each["act"] for each in told if each["act"] != "operator_actions insert"][-2:] == [
        "disabled_tenants insert",
        "disabled_tenants delete",
    ]
