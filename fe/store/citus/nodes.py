"""Questions about the nodes of a cluster: what they hold, whether they answer, and which has a tenant's rows."""

from collections.abc import Collection, Sequence
from typing import Any

import psycopg
import trio

from fe.identifiers import TenantId
from fe.store.citus.distribution import NoCitus
from fe.store.postgres.arrays import int8s
from fe.store.postgres.errors import DatabaseUnavailable, words
from fe.store.postgres.nodes import ASKING_SECONDS, Node
from fe.store.postgres.session import connected_once

Conn = psycopg.AsyncConnection[Any]

_MEMBERS = "SELECT array_agg((groupid, nodename, nodeport)::text ORDER BY nodeid) FROM pg_dist_node"
_SHARDS_HERE = """
    SELECT count(*)
      FROM pg_dist_shard AS s
      JOIN pg_dist_placement AS p ON p.shardid = s.shardid
      JOIN pg_dist_local_group AS here ON here.groupid = p.groupid
     WHERE s.logicalrelid = 'outbox'::regclass
"""


def require_node(dsn: str, near: str) -> int:
    """See that `near` is a node of the cluster whose coordinator `dsn` names; tell how many shards of ours it has.

    None are no mistake: they may come. Raises NoCitus where it is none, DatabaseUnavailable where either is away.
    """
    try:
        with (
            connected_once(dsn) as coordinator,
            connected_once(near) as node,
        ):
            members = coordinator.execute(_MEMBERS).fetchone()
            if node.execute(_MEMBERS).fetchone() != members or coordinator.info.dbname != node.info.dbname:
                raise NoCitus("FE_DATABASE_NEAR names no node of FE_DATABASE_URL's cluster")
            (shards,) = node.execute(_SHARDS_HERE).fetchone() or (0,)
            return int(shards)
    except psycopg.errors.UndefinedTable as error:
        raise NoCitus("FE_DATABASE_NEAR names a server that has no Citus") from error
    except psycopg.OperationalError as error:
        raise DatabaseUnavailable(f"a node of the cluster: {words(error)}") from error


#: Those that keep rows of tenants, but for standbys.
_NODES = """
    SELECT n.groupid, n.nodename, n.nodeport
      FROM pg_dist_node AS n
     WHERE n.isactive AND n.noderole = 'primary'
       AND n.groupid IN (SELECT p.groupid
                           FROM pg_dist_shard AS s
                           JOIN pg_dist_placement AS p ON p.shardid = s.shardid
                          WHERE s.logicalrelid = 'outbox'::regclass)
     ORDER BY n.groupid
"""
_ANSWERS = "SELECT citus_check_connection_to_node(%(name)s, %(port)s::int)"


async def silent_groups(conn: Conn, patience: trio.CancelScope) -> Collection[int]:
    """Name the groups whose nodes do not answer within the time that citus.node_connection_timeout gives them.

    By a session of its own: one that has worked with a node before would ask on the connection that it has. `patience`
    ends somewhat later than the next answer should be there.
    """
    nodes = await (await conn.execute(_NODES)).fetchall()
    silent: list[int] = []
    for group, name, port in nodes:
        patience.deadline = trio.current_time() + ASKING_SECONDS
        (answer,) = await (await conn.execute(_ANSWERS, {"name": name, "port": port})).fetchall()
        if not answer[0]:
            silent.append(group)
    return silent


async def groups_of(conn: Conn, tenants: Sequence[TenantId]) -> Sequence[int | None]:
    """Name the node, by its group, that the rows of each tenant lie on."""
    cursor = await conn.execute("SELECT nodes_of(%(tenants)s::bigint[])", {"tenants": int8s(tenants)})
    (row,) = await cursor.fetchall()
    groups: Sequence[int | None] = row[0]
    return groups


# Each node tells of itself, in the words of one statement; a shard goes by its table's name and a number.
_LOOK = """
    SELECT n.nodename || ':' || n.nodeport, n.success, CASE WHEN n.success THEN n.result::jsonb END
      FROM run_command_on_workers($node$
        SELECT jsonb_build_object(
                   'bytes', pg_database_size(current_database()),
                   'shards', (SELECT count(*) FROM pg_class AS c
                               WHERE c.relname ~ '^submissions_[0-9]+$' AND c.relnamespace = 'public'::regnamespace),
                   'tables', coalesce(jsonb_object_agg(t.name, jsonb_build_array(t.bytes, t.live, t.dead)), '{}'))
          FROM (SELECT s.of_table AS name, sum(pg_total_relation_size(s.relid)) AS bytes, sum(s.n_live_tup) AS live,
                       sum(s.n_dead_tup) AS dead
                  FROM (SELECT u.relid, u.n_live_tup, u.n_dead_tup,
                               substring(u.relname FROM '^(outbox|dead_letters|sequences)_[0-9]+$') AS of_table
                          FROM pg_stat_user_tables AS u) AS s
                 WHERE s.of_table IS NOT NULL
                 GROUP BY s.of_table) AS t
      $node$) AS n
"""


async def contents(conn: Conn) -> list[Node]:
    """List every node with what it holds."""
    cursor = await conn.execute(_LOOK)
    return [_node(*row) for row in await cursor.fetchall()]


def _node(name: str, answers: bool, told: dict[str, Any] | None) -> Node:
    if not answers or told is None:
        return Node(name, False)
    tables = {table: (float(size), float(live), float(dead)) for table, (size, live, dead) in told["tables"].items()}
    return Node(name, True, float(told["bytes"]), float(told["shards"]), tables)
