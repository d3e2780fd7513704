"""Contents and reachability of cluster nodes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fe.store.postgres.db import Conn
from fe.store.postgres.engine import engine_of


@dataclass(frozen=True, slots=True)
class Node:
    """A node. One that did not answer has nothing, as far as we know."""

    name: str
    answers: bool
    #: Of our database there.
    bytes: float = 0.0
    #: Tenants' shards: parts of the table of submissions.
    shards: float = 0.0
    #: By table, all its shards of that node together: bytes with indexes, live and dead rows by its server's estimate.
    tables: Mapping[str, tuple[float, float, float]] | None = None


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


async def look(conn: Conn) -> list[Node]:
    """Tell of every node; of none where one server has all rows."""
    if engine_of(conn).name == "postgres":
        return []
    cursor = await conn.execute(_LOOK)
    return [_node(*row) for row in await cursor.fetchall()]


def _node(name: str, answers: bool, told: dict[str, Any] | None) -> Node:
    if not answers or told is None:
        return Node(name, False)
    tables = {table: (float(size), float(live), float(dead)) for table, (size, live, dead) in told["tables"].items()}
    return Node(name, True, float(told["bytes"]), float(told["shards"]), tables)
