"""A Citus cluster of the run's own: a coordinator, which the service knows, and workers that it does not."""

import signal
from pathlib import Path

import psycopg
import trio

from fe.store.citus.engine import CITUS
from fe.store.postgres.migrate import migrate
from ops.citus.cluster import Cluster, Node, settings
from tests.faults.postgres import Postgres
from tests.faults.watchman import Watchman

_WORKERS = 2
#: Few, for each is a table more; and several for each node.
_SHARDS = 4
#: How long what was prepared and not ended may stay so, and a move may take.
_SETTLED_SECONDS = 60.0
_MOVE_TIMEOUT = "40s"

#: Intervals that are minutes in production.
_SHORT = {"citus.recover_2pc_interval": "3s", "citus.defer_shard_delete_interval": "3s"}

_GROUPS = """
    SELECT s.shardid, n.nodename, n.nodeport
      FROM pg_dist_shard AS s
      JOIN pg_dist_placement AS p ON p.shardid = s.shardid AND p.shardstate = 1
      JOIN pg_dist_node AS n ON n.groupid = p.groupid
     WHERE s.logicalrelid = 'submissions'::regclass
     ORDER BY s.shardid
"""
_MOVE = "SELECT citus_move_shard_placement(%s, %s, %s, %s, %s, shard_transfer_mode => 'force_logical')"
_ISOLATE = "SELECT isolate_tenant_to_new_shard('submissions', %s, 'CASCADE', shard_transfer_mode => 'force_logical')"
_TENANTS = "SELECT tenant_id FROM tenants ORDER BY tenant_id"


class Nodes(Postgres):
    """The coordinator, with its workers."""

    def __init__(
        self, folder: Path, watchman: Watchman, programs: Path, *, workers: int = _WORKERS, members: int | None = None
    ) -> None:
        """Prepare a coordinator and `workers`; the first `members` of all nodes form the cluster from the beginning."""
        told = {**settings(tls=False), **_SHORT}
        super().__init__(folder, watchman, name="coordinator", programs=programs, settings=told)
        self.workers = [
            Postgres(folder, watchman, name=f"worker-{nth + 1}", programs=programs, settings=told)
            for nth in range(workers)
        ]
        self._members = members

    async def make(self) -> None:
        """Make and start the coordinator and its workers."""
        await super().make()
        for worker in self.workers:
            await worker.make()

    async def close(self) -> None:
        """End them all."""
        for each in (self, *self.workers):
            await each.end(signal.SIGINT)

    def _make_database(self, name: str) -> None:
        cluster = Cluster([Node.on_this_machine(each.dsn(), each.port) for each in (self, *self.workers)])
        cluster.make_database(name, shards=_SHARDS, members=self._members)
        migrate(self.dsn(name), engine=CITUS)
        cluster.set_up_roles(name)

    async def move_a_shard(self, turn: int, database: str = "fe") -> str:
        """Move one shard and its colocated shards to another worker under load; return the result."""
        return await trio.to_thread.run_sync(self._move, turn, database)

    def _move(self, turn: int, database: str) -> str:
        try:
            with psycopg.connect(self.dsn(database), autocommit=True) as conn:
                groups = conn.execute(_GROUPS).fetchall()
                return self._move_away(conn, *groups[turn % len(groups)])
        except psycopg.Error as error:
            return f"no shard was moved: {_first_line(error)}"

    def _move_away(self, conn: psycopg.Connection, shard: int, host: str, port: int) -> str:
        other = next(worker.port for worker in self.workers if worker.port != port)
        conn.execute(f"SET statement_timeout = '{_MOVE_TIMEOUT}'".encode())
        conn.execute(_MOVE, (shard, host, port, host, other))
        return f"shard {shard} was moved"

    async def isolate_a_tenant(self, turn: int, database: str = "fe") -> str:
        """Give one tenant shards of its own and move them to another worker; tell what came of it."""
        return await trio.to_thread.run_sync(self._isolate, turn, database)

    def _isolate(self, turn: int, database: str) -> str:
        try:
            with psycopg.connect(self.dsn(database), autocommit=True) as conn:
                tenants = conn.execute(_TENANTS).fetchall()
                (tenant,) = tenants[turn % len(tenants)]
                conn.execute(f"SET statement_timeout = '{_MOVE_TIMEOUT}'".encode())
                row = conn.execute(_ISOLATE, (tenant,)).fetchone()
                assert row is not None
                found = next(each for each in conn.execute(_GROUPS).fetchall() if each[0] == row[0])
                self._move_away(conn, *found)
                return f"tenant {tenant} was isolated and moved"
        except psycopg.Error as error:
            return f"no tenant was isolated: {_first_line(error)}"

    async def in_doubt(self, database: str = "fe") -> list[str]:
        """List prepared transactions that no node has ended within the time allowed."""
        found: list[str] = []
        with trio.move_on_after(_SETTLED_SECONDS):
            while True:
                found = await trio.to_thread.run_sync(self._prepared, database)
                if not found:
                    return []
                await trio.sleep(0.5)
        return found

    def _prepared(self, database: str) -> list[str]:
        found: list[str] = []
        for each in (self, *self.workers):
            with psycopg.connect(each.dsn(database)) as conn:
                found += [f"{each.name}: {gid}" for (gid,) in conn.execute("SELECT gid FROM pg_prepared_xacts")]
        return found


def _first_line(error: psycopg.Error) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
