"""Operators' actions on tenants, for tests of their effects."""

from datetime import datetime

from fe.accounts import changes
from fe.clock import Clock, system_clock
from fe.ecf.ids import new_id
from fe.identifiers import ActionId, TenantId
from fe.store.postgres.db import Conn, Database
from fe.store.queue.audit import OperatorAction
from fe.store.records import tenants
from fe.store.records.tenants import Tenant


async def tenant_of(conn: Conn, tenant_id: TenantId) -> Tenant:
    return next(one for one in await tenants.everyone(conn) if one.tenant_id == tenant_id)


def act(at: datetime) -> OperatorAction:
    return OperatorAction(ActionId(new_id(at)), at, "ana", "as agreed")


async def disable(db: Database, tenant_id: TenantId, clock: Clock = system_clock) -> None:
    async def task(conn: Conn) -> None:
        await changes.disable_tenant(conn, await tenant_of(conn, tenant_id), act(clock()))

    await db.transact(task)


async def enable(db: Database, tenant_id: TenantId, clock: Clock = system_clock) -> int:
    async def task(conn: Conn) -> int:
        return await changes.enable_tenant(conn, await tenant_of(conn, tenant_id), act(clock()))

    return await db.transact(task)
