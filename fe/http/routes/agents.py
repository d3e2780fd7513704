"""Agents: tills that sign while their line is down (docs/decisions/agents.md)."""

from typing import cast
from uuid import UUID

from fe.accounts import sequences as account_sequences
from fe.clock import Clock
from fe.http.calls import ApiReply, Call
from fe.http.errors import ApiError
from fe.http.languages import serialize_problems
from fe.http.messages import say
from fe.http.models.agents import LEASE, Lease, LeaseRequest
from fe.http.models.requests import user_id_form
from fe.http.models.responses import NumberSequence
from fe.http.openapi.described_errors import errors
from fe.http.request_bodies import InvalidField, read_body
from fe.http.routes.types import About, Parameter, Route
from fe.identifiers import TenantId
from fe.store.postgres.db import Conn, Database
from fe.store.records import agents, sequences, tenants
from fe.store.records.agents import AgentId, TooManyAgents

_BODY = 4 * 1024
_ID = Parameter("agentId", "made by the agent", {"type": "string", "format": "uuid"}, "path")


class Agents:
    """The handlers of /agents."""

    def __init__(self, db: Database, clock: Clock, *, ecf_host: str, fc_host: str) -> None:
        self._db = db
        self._clock = clock
        self._hosts = ecf_host, fc_host

    async def lease(self, call: Call) -> ApiReply:
        """Give an agent its next lease; 409 to a copy of it, or to one whose copy was here before."""
        caller = call.identity
        try:
            agent_id = AgentId(UUID(user_id_form(call.params["agent_id"])))
        except InvalidField as wrong:
            raise ApiError(400, wrong.text.after("agentId")) from None
        body = read_body(LeaseRequest, await call.body())

        async def lease(conn: Conn, tenant_id: TenantId) -> Lease | None:
            epoch = await agents.lease(
                conn,
                tenant_id,
                caller.environment,
                agent_id,
                epoch=body.epoch,
                nonce=UUID(body.nonce),
                certificate=body.certificate,
                at=self._clock(),
            )
            tenant = await tenants.by_id(conn, tenant_id)
            if epoch is None or tenant is None:
                return None
            found = await sequences.listed(conn, tenant_id, caller.environment)
            mine = [account_sequences.show(one) for one in found if one.agent_id == agent_id]
            answer = {
                "agentId": str(agent_id),
                "environment": caller.environment.value,
                "epoch": epoch,
                "issuer": tenant.issuer,
                "consumerSummary": tenant.consumer_summary,
                "ecfHost": self._hosts[0],
                "fcHost": self._hosts[1],
                "sequences": cast(list[NumberSequence], mine),
            }
            return cast(Lease, answer)

        try:
            leased = await self._db.transact_for(caller.tenant_id, lease, caller.tenant_id)
        except TooManyAgents:
            # No 409, which tells an agent that a copy of it took over.
            raise ApiError(400, say("many-agents", most=agents.MOST)) from None
        if leased is None:
            raise ApiError(409, say("stale-lease"))
        if body.ignored:
            leased["warnings"] = serialize_problems(body.ignored, call.language)
        return ApiReply(200, LEASE.write(leased))


def agent_routes(prefix: str, agents: Agents) -> tuple[Route, ...]:
    """Make the routes below `{prefix}/agents`."""
    return (
        Route(
            "PUT",
            f"{prefix}/agents/<agent_id>",
            "invoices:write",
            agents.lease,
            About(
                "leaseAgent",
                "Get or renew the lease of an agent at a till",
                "Agents",
                {200: (LEASE,)},
                LeaseRequest,
                parameters=(_ID,),
                errors=errors("bad-agent", "many-agents", "stale-lease"),
            ),
            _BODY,
        ),
    )
