"""Changes of a webhook while another transaction changes it."""

from uuid import UUID

import pytest
import trio

from fe.clock import system_clock
from fe.ecf.catalogue import Environment
from fe.egress.target import Policy
from fe.identifiers import TenantId
from fe.store.postgres.db import Conn, Database
from fe.store.records import rewrapping
from fe.store.records.rewrapping import WEBHOOK_HEADERS, EncryptedRow
from fe.store.webhooks import endpoints
from fe.webhooks.accounts import NotNow, NoWebhook, Wanted, WebhookAccounts
from tests.factories.tenants import make_tenant, rows
from tests.waiting import until_waited_for
from tests.webhooks.receiver import WEBHOOK_VAULT, make_endpoint

ACCOUNTS = WebhookAccounts(WEBHOOK_VAULT, Policy(development=True))
HEADERS = [("Authorization", "Bearer of the tenant")]


async def encrypted(db: Database) -> EncryptedRow:
    (found,) = await db.run(rewrapping.rows_after, WEBHOOK_HEADERS, TenantId(0), UUID(int=0), 9)
    return found


@pytest.mark.parametrize("does", ["set", "disable"])
async def test_headers_that_are_wrapped_under_another_key_meanwhile_stay_so(db: Database, does: str) -> None:
    """Written back as read, they could not be decrypted once the older key is removed."""
    tenant = await make_tenant(db)
    made = await make_endpoint(db, tenant, "https://ozama.example/a", environment=Environment.ECF, headers=HEADERS)
    under_another = [WEBHOOK_VAULT.encrypt_headers(tenant, made.endpoint, HEADERS)]

    async def change() -> None:
        if does == "set":
            await db.run(ACCOUNTS.put, tenant, Environment.ECF, Wanted("https://ozama.example/b"), system_clock())
        else:
            await db.run(ACCOUNTS.disable, tenant, Environment.ECF, system_clock())

    async def wrap(conn: Conn, nursery: trio.Nursery) -> None:
        assert await rewrapping.replace(conn, WEBHOOK_HEADERS, await encrypted(db), under_another)
        nursery.start_soon(change)
        await until_waited_for(db)

    async with trio.open_nursery() as nursery:
        await db.transact(wrap, nursery)

    (found,) = await db.run(endpoints.listed, tenant)
    assert (found.url[-1], found.enabled) == (("b", True) if does == "set" else ("a", False))
    assert (await encrypted(db)).values == under_another


async def test_deleted_endpoint_keeps_neither_secrets_nor_headers(db: Database) -> None:
    tenant = await make_tenant(db)
    made = await make_endpoint(db, tenant, "https://ozama.example/a", environment=Environment.ECF, headers=HEADERS)
    await db.run(endpoints.remove, tenant, made.endpoint, at=system_clock())

    assert await rows(db, "SELECT headers FROM webhook_endpoints") == [{"headers": None}]
    assert await rows(db, "SELECT 1 FROM webhook_secrets") == []


async def test_endpoint_deleted_while_its_secret_is_replaced_gets_none(db: Database) -> None:
    tenant = await make_tenant(db)
    made = await make_endpoint(db, tenant, "https://ozama.example/a", environment=Environment.ECF, name="crm")
    refused: list[str] = []

    async def rotate() -> None:
        try:
            await db.run(ACCOUNTS.rotate, tenant, Environment.ECF, system_clock(), name="crm")
        except NoWebhook as missing:
            refused.append(missing.text.en)

    async def delete(conn: Conn, nursery: trio.Nursery) -> None:
        await endpoints.remove(conn, tenant, made.endpoint, at=system_clock())
        nursery.start_soon(rotate)
        await until_waited_for(db)

    async with trio.open_nursery() as nursery:
        await db.transact(delete, nursery)

    assert refused == ["there is no webhook endpoint crm in ecf"]
    assert await rows(db, "SELECT 1 FROM webhook_secrets") == []


async def test_endpoint_whose_secrets_are_gone_shows_none(db: Database) -> None:
    """As a call finds it that looked at the endpoint just before it was deleted."""
    tenant = await make_tenant(db)
    await make_endpoint(db, tenant, "https://ozama.example/a", environment=Environment.ECF)
    await rows(db, "DELETE FROM webhook_secrets RETURNING 1")

    with pytest.raises(NoWebhook):
        await db.run(ACCOUNTS.reveal, tenant, Environment.ECF, system_clock())


async def test_refusal_of_a_test_names_which_of_several_endpoints_is_off(db: Database) -> None:
    tenant = await make_tenant(db)
    await make_endpoint(db, tenant, "https://a.example", environment=Environment.ECF, name="crm", enabled=False)

    with pytest.raises(NotNow, match="the webhook crm of ecf is disabled"):
        await db.run(ACCOUNTS.test, tenant, Environment.ECF, system_clock(), name="crm")
