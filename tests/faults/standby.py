"""A Postgres with a synchronous standby: the link between them can fall silent, and the standby can take over."""

import shutil
import signal

import psycopg
import trio

from tests.faults.postgres import Postgres
from tests.faults.proxy import FaultProxy

_PATIENCE = 60.0


class Pair(Postgres):
    """A primary, and once `follow` has returned a synchronous standby that confirms each of its commits."""

    _link: FaultProxy | None = None
    _standby: Postgres | None = None

    async def follow(self, nursery: trio.Nursery) -> None:
        """Copy the primary, start the copy as its standby, and have every commit wait for it."""
        self._link = FaultProxy(self.port)
        await nursery.start(self._link.serve)
        standby = Postgres(self._folder, self._watchman, name="standby", programs=self._bin, settings=self._settings)
        standby._data.mkdir(mode=0o700)
        if self._user is not None:
            shutil.chown(standby._data, self._user)
        copy = ["-d", self.dsn(port=self._link.port), "-R", "-c", "fast", "--no-sync"]
        await trio.run_process(
            [self._bin / "pg_basebackup", "-D", standby._data, *copy],
            capture_stdout=True,
            capture_stderr=True,
            **self._as_user(),
        )
        await standby.start()
        self._standby = standby
        await trio.to_thread.run_sync(self._ask, "ALTER SYSTEM SET synchronous_standby_names = '*'")
        await trio.to_thread.run_sync(self._ask, "SELECT pg_reload_conf()")
        is_sync = "SELECT EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'sync')"
        with trio.fail_after(_PATIENCE):
            while not await trio.to_thread.run_sync(self._ask, is_sync):  # noqa: ASYNC110  (a standby rings no bell)
                await trio.sleep(0.05)

    async def silence(self, seconds: float) -> None:
        """Hold back all traffic between the two servers for `seconds`, without breaking a connection."""
        assert self._link is not None
        await self._link.black_hole(seconds, then_cut=False)

    async def fail_over(self) -> None:
        """Kill the primary, promote the standby, and have it answer at the address of the primary."""
        assert self._link is not None
        assert self._standby is not None
        standby, self._standby = self._standby, None
        await self.end(signal.SIGKILL)
        self._link.cut()
        await trio.to_thread.run_sync(_promote, standby.dsn())
        await standby.end(signal.SIGINT)
        self._data = standby._data
        await self.start()

    async def close(self) -> None:
        """End both."""
        if self._standby is not None:
            await self._standby.end(signal.SIGINT)
        await super().close()

    def _ask(self, statement: str) -> object:
        with psycopg.connect(self.dsn(), autocommit=True) as conn:
            cursor = conn.execute(statement.encode())
            row = cursor.fetchone() if cursor.description else None
            return row and row[0]


def _promote(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("SELECT pg_promote()")
