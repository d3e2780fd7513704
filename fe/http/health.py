"""/healthz and /readyz, outside the API's prefix and without authorization: for whoever keeps the process running."""

import trio

from fe.http.errors import RETRY_WHEN_DOWN
from fe.http.wire import Call, Reply
from fe.store import readiness
from fe.store.db import Database
from fe.store.errors import DatabaseUnavailable
from fe.store.migrate import MigrationError, migrations

_PATIENCE = 3.0


class Health:
    """Says whether this process lives, and whether it can serve."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._files = migrations()

    async def live(self, call: Call) -> Reply:
        """Answer: the process runs and its loop turns."""
        return Reply(200, {"status": "ok"})

    async def ready(self, call: Call) -> Reply:
        """Answer 200 when the database answers and has a shape that this release runs on, else 503 and why."""
        try:
            with trio.fail_after(_PATIENCE):
                await self._db.run(readiness.check, self._files)
        except (DatabaseUnavailable, trio.TooSlowError):
            return _not_ready("the database does not answer")
        except MigrationError as error:
            return _not_ready(str(error))
        return Reply(200, {"status": "ready"})


def _not_ready(reason: str) -> Reply:
    return Reply(503, {"message": reason, "statusCode": 503}, (("Retry-After", str(RETRY_WHEN_DOWN)),))
