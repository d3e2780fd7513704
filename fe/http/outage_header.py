"""`Authority-Outage`: a header of every answer to a tenant while the authority does not answer in its environment.

In a sandbox also while an outage is played for that tenant (docs/api/testing.md).
"""

import structlog
import trio

from fe.clock import iso
from fe.ecf.catalogue import Environment, Host
from fe.identifiers import TenantId
from fe.store.postgres.db import Database
from fe.store.postgres.errors import ANY_OF_THE_DATABASE
from fe.store.records import authority_state, sandbox_outages

HEADER = "Authority-Outage"
_LOOK_SECONDS = 5.0

_log = structlog.get_logger(__name__)


class OutageHeader:
    """The outages as this process knows them: seconds old. One per process of the front.

    `simulated`: the authority is its simulator, and outages are played for single tenants.
    """

    def __init__(self, db: Database, *, simulated: bool = False) -> None:
        self._db = db
        self._simulated = simulated
        self._headers: dict[Environment, tuple[tuple[str, str], ...]] = {}
        self._played: dict[tuple[TenantId, Environment], tuple[tuple[str, str], ...]] = {}

    def of(self, tenant_id: TenantId, environment: Environment) -> tuple[tuple[str, str], ...]:
        """Return the header, in its list of one; empty while every host answers."""
        return self._headers.get(environment) or self._played.get((tenant_id, environment), ())

    async def run(self) -> None:
        """Read the outages at intervals, until cancelled. Where the database does not answer the last ones hold."""
        while True:
            try:
                await self.look()
            except ANY_OF_THE_DATABASE as error:
                _log.warning("outages of the authority were not read", error=error)
            await trio.sleep(_LOOK_SECONDS)

    async def look(self) -> None:
        """Read the outages once."""
        named: dict[Environment, list[str]] = {}
        for one in await self._db.run(authority_state.outages_now):
            named.setdefault(one.environment, []).append(f"{one.host}; since={iso(one.began_at)}")
        self._headers = {of: ((HEADER, ", ".join(values)),) for of, values in named.items()}
        if self._simulated:
            played = await self._db.run(sandbox_outages.of_all)
            self._played = {of: ((HEADER, f"{Host.ECF}; since={iso(at)}"),) for of, at in played.items()}
