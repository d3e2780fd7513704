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
from fe.webhooks.accounts import Wanted, WebhookAccounts
from tests.factories.tenants import make_tenant
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
