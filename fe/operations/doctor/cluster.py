"""Checks of a cluster, for `fe doctor`."""

from collections.abc import Sequence

import psycopg

from fe.operations.doctor.finding import Finding, State
from fe.store.citus.distribution import NoCitus, outside_two_phases, require_citus, undistributed
from fe.store.citus.nodes import require_node
from fe.store.postgres.errors import DatabaseUnavailable, words

_SILENT = "SELECT count(*) FROM citus_check_cluster_node_health() WHERE result IS NOT TRUE"


def check_cluster(conn: psycopg.Connection, roles: Sequence[str]) -> Finding:
    """Check that the cluster is complete, its nodes reach each other, and the tables are distributed.

    Nodes connect to each other as the working role, so pg_hba.conf must admit it.
    """
    try:
        nodes = require_citus(conn)
    except NoCitus as wrong:
        return Finding("cluster", State.FAILED, str(wrong), "do what the line says, then run `fe migrate`")
    try:
        with conn.transaction():
            if roles:
                conn.execute("SELECT set_config('role', %s, true)", (roles[0],))
            silent = conn.execute(_SILENT).fetchone()
            conn.execute("SET LOCAL ROLE NONE")
    except psycopg.errors.InsufficientPrivilege as wrong:
        return Finding("cluster", State.FAILED, words(wrong), "grant the login its role (docs/operations.md)")
    if silent is not None and silent[0]:
        says = f"{silent[0]} connections between nodes do not come about"
        return Finding("cluster", State.FAILED, says, "see ops/citus/README.md, A node is lost")
    if missing := undistributed(conn):
        says = f"{len(missing)} tables are still on the coordinator alone, first {missing[0]}"
        return Finding("cluster", State.FAILED, says, "run `fe migrate` while nothing else works (ops/citus/README.md)")
    if alone := outside_two_phases(conn):
        says = f"{len(alone)} tables of the coordinator are not committed together with the nodes, first {alone[0]}"
        return Finding("cluster", State.FAILED, says, "run `fe migrate`")
    return Finding("cluster", State.OK, f"{nodes} nodes keep rows, and all of them answer each other")


def check_node(dsn: str, near: str) -> Finding:
    """Check that the node to claim from belongs to the cluster."""
    try:
        shards = require_node(dsn, near)
    except (NoCitus, DatabaseUnavailable) as wrong:
        return Finding("node", State.FAILED, str(wrong), "see docs/scaling.md, Actors near their shards")
    return Finding("node", State.OK, f"FE_DATABASE_NEAR names a node that keeps {shards} shards of the outbox")
