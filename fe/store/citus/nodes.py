"""A node of a cluster as a process sees it that is connected to it."""

import psycopg

from fe.store.citus.distribution import NoCitus
from fe.store.postgres.errors import DatabaseUnavailable, words
from fe.store.postgres.session import connected_once

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
