"""Agents of a tenant: how many may be at work."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.store.postgres.db import Database
from fe.store.records import agents
from fe.store.records.agents import AgentId, TooManyAgents
from tests.factories.tenants import make_tenant, rows

AT = datetime(2026, 11, 20, 15, tzinfo=UTC)


async def test_agent_beyond_the_most_is_refused_until_one_is_retired(db: Database) -> None:
    tenant, other = [await make_tenant(db) for _ in range(2)]
    first = AgentId(uuid4())

    async def lease(
        agent: AgentId, epoch: int = 0, of: TenantId = tenant, environment: Environment = Environment.TESTECF
    ) -> int | None:
        return await db.run(agents.lease, of, environment, agent, epoch=epoch, nonce=uuid4(), certificate=None, at=AT)

    assert await lease(first) == 1
    await rows(
        db,
        "INSERT INTO agents (tenant_id, environment, agent_id, epoch, nonce, certificates, leased_at)"
        " SELECT %(tenant)s, 'testecf', gen_random_uuid(), 1, gen_random_uuid(), '{}', now()"
        " FROM generate_series(2, %(most)s::int) RETURNING 1",
        tenant=tenant,
        most=agents.MOST,
    )

    with pytest.raises(TooManyAgents):
        await lease(AgentId(uuid4()))
    known = [await lease(first, 1), await lease(first, 0)]
    elsewhere = await lease(AgentId(uuid4()), environment=Environment.ECF), await lease(AgentId(uuid4()), of=other)
    assert await db.run(agents.retire, tenant, Environment.TESTECF, first, by="eva", at=AT)

    assert (known, elsewhere) == ([2, None], (1, 1))
    assert await lease(AgentId(uuid4())) == 1
    assert await lease(first) is None
