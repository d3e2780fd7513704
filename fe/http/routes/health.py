"""/healthz and /readyz, outside the API's prefix and without authorization, for process managers and load balancers."""

import math
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache

import trio

from fe.clock import ClockFault, no_fault
from fe.ecf.json_text import write_json
from fe.http.auth.authenticate import KeyStates
from fe.http.calls import ApiReply, Call
from fe.http.errors import RETRY_WHEN_DOWN
from fe.http.models.responses import ERROR
from fe.identifiers import ApiKeyId
from fe.store.postgres import readiness
from fe.store.postgres.db import Database
from fe.store.postgres.errors import DatabaseUnavailable
from fe.store.postgres.migrate import Migration, MigrationError, functions_of, migrations


@dataclass(frozen=True, slots=True)
class LookPatience:
    """How long a look at the database is worth something, in seconds."""

    #: How long one look may take.
    within: float = 3.0
    #: How long a result is reused. No token is needed to ask, and each check costs a commit.
    kept: float = 2.0


LOOK_PATIENCE = LookPatience()

#: An id that no key has. A key that does not exist is not cached, so each check reaches the database.
_NOBODYS_KEY = ApiKeyId("readiness")


@cache
def _files() -> list[Migration]:
    """The migrations of this release; a process reads them once."""
    return migrations()


class Health:
    """Says whether this process lives, and whether it can serve."""

    def __init__(
        self,
        db: Database,
        states: KeyStates,
        stages_in_trouble: Collection[str] = (),
        patience: LookPatience = LOOK_PATIENCE,
        clock_fault: ClockFault = no_fault,
    ) -> None:
        """`stages_in_trouble` names, whenever it is looked at, the stages of this process that are in trouble.

        `clock_fault` tells why this process must not sign.
        """
        self._clock_fault = clock_fault
        self._patience = patience
        self._db = db
        self._states = states
        self._stages_in_trouble = stages_in_trouble
        self._files = _files()
        self._functions = functions_of(self._files)
        self._looking = trio.Lock()
        self._looked_at = -math.inf
        self._lacks: str | None = None

    async def live(self, call: Call) -> ApiReply:
        """Answer 200: the process runs, and so does its event loop."""
        return ApiReply(200, write_json({"status": "ok"}))

    async def ready(self, call: Call) -> ApiReply:
        """Answer 200 when what requests need works, else 503.

        That is: the database in shape, a key found, a row written, and the clock within 2 s of the database's.

        A stage in trouble is named and is no reason for 503: documents are taken in all the same, and wait.
        """
        async with self._looking:
            if trio.current_time() - self._looked_at >= self._patience.kept:
                # The client may leave; others wait for the result, and it counts for the interval of checks.
                with trio.CancelScope(shield=True):
                    self._lacks = await self._look()
                self._looked_at = trio.current_time()
        lacks = self._lacks or self._clock_fault()
        if lacks is not None:
            return not_ready(lacks)
        if self._stages_in_trouble:
            return ApiReply(200, write_json({"status": "ready", "stagesInTrouble": sorted(self._stages_in_trouble)}))
        return ApiReply(200, write_json({"status": "ready"}))

    async def _look(self) -> str | None:
        """Do once what requests do; None when all of it works, or what does not."""
        lacking = "the database does not answer"
        try:
            with trio.fail_after(self._patience.within):
                await self._db.run(readiness.check, self._files, self._functions)
                await self._states.find(_NOBODYS_KEY)
                lacking = "the database takes no writes"
                await self._db.run(readiness.probe_writing)
        except (DatabaseUnavailable, trio.TooSlowError):
            return lacking
        except MigrationError as error:
            return str(error)
        return None


def not_ready(reason: str) -> ApiReply:
    """Answer 503 with the reason."""
    return ApiReply(503, ERROR.write({"message": reason, "statusCode": 503}), (("Retry-After", str(RETRY_WHEN_DOWN)),))
