"""`Authority-Outage`: a header of every answer to a tenant while the authority does not answer in its environment."""

import structlog
import trio

from fe.clock import iso
from fe.ecf.catalogue import Environment
from fe.store.postgres.db import Database
from fe.store.postgres.errors import ANY_OF_THE_DATABASE
from fe.store.records import authority_state

HEADER = "Authority-Outage"
_LOOK_SECONDS = 5.0

_log = structlog.get_logger(__name__)


class OutageHeader:
    """The outages as this process knows them: seconds old. One per process of the front."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._headers: dict[Environment, tuple[tuple[str, str], ...]] = {}

    def of(self, environment: Environment) -> tuple[tuple[str, str], ...]:
        """Return the header, in its list of one; empty while every host answers."""
        return self._headers.get(environment, ())

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
