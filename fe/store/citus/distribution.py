"""Spreading a database over the nodes of a Citus cluster: what `fe migrate` does there after the migrations.

The migrations never name Citus. Once they are applied, the documents' own tables are distributed by tenant, and the
functions that Citus would refuse are replaced by those of the files beside this one, under the same names. All of it is
one transaction, and it may be repeated: what is distributed already is left alone.
"""

import re
from pathlib import Path

import psycopg

from fe.store.postgres.errors import StoreError

#: By tenant, all of a tenant on one node: what grows with the documents. The others stay on the coordinator.
DISTRIBUTED = (
    "submissions",
    "submission_documents",
    "submission_events",
    "sends",
    "client_requests",
    "outbox",
    "dead_letters",
    "held_numbers",
)

#: Foreign keys from a distributed table to one that stays on the coordinator, which Citus has not.
_FOREIGN_KEYS = (("dead_letters", "dead_letters_tenant_fk"),)

#: A trigger that reads a table of the coordinator. Functions that add submissions look there themselves (`adapted`).
_TRIGGERS = (("submissions", "submissions_of_the_enabled"),)

_VARIANTS = [Path(__file__).with_name(name) for name in ("claims.sql", "bookings.sql")]

_THERE = "SELECT count(*) FROM pg_extension WHERE extname = 'citus'"
_IS_DISTRIBUTED = "SELECT count(*) FROM pg_dist_partition WHERE logicalrelid = %s::regclass"
_NODES = "SELECT count(*) FROM pg_dist_node WHERE isactive AND shouldhaveshards"
_TO_BE_ADAPTED = """
    SELECT p.oid::regprocedure::text, pg_get_functiondef(p.oid)
      FROM pg_proc AS p
     WHERE p.pronamespace = current_schema()::regnamespace AND p.prosrc LIKE ANY (%s)
     ORDER BY 1
"""
#: Where a statement of the files begins: with these words, at the beginning of a line.
_NEXT = re.compile(r"^(?=CREATE OR REPLACE FUNCTION |GRANT )", re.MULTILINE)
#: How a function names its tenant to row-level security on plain Postgres.
_NAMED = re.compile(r"PERFORM set_config\('fe\.tenant', (.+?), true\);")
#: How it adds a submission, and what it then does first.
_ADDED = re.compile(r"(?=INSERT INTO submissions \()")
#: The functions of which one or the other is true.
_ADAPTABLE = ["%PERFORM set_config('fe.tenant'%", "%INSERT INTO submissions (%"]
_REFUSAL = """IF EXISTS (SELECT 1 FROM disabled_tenants AS d WHERE d.tenant_id = p_tenant) THEN
        RAISE EXCEPTION 'the tenant is disabled' USING ERRCODE = 'FE004';
    END IF;
    """


class NoCitus(StoreError):
    """The database is not one that tables can be distributed in; the message says what to do."""


def require_citus(conn: psycopg.Connection) -> int:
    """See that this is the coordinator of a cluster; tell how many of its nodes keep rows. Raises NoCitus."""
    if _count(conn, _THERE) == 0:
        raise NoCitus("FE_DATABASE_ENGINE is citus, and the database has no such extension: see ops/citus/README.md")
    nodes = _count(conn, _NODES)
    if nodes == 0:
        raise NoCitus("no node of the cluster keeps rows: add the workers first, see ops/citus/README.md")
    return nodes


def undistributed(conn: psycopg.Connection) -> list[str]:
    """Name the tables that are to be distributed and are not yet. Raises NoCitus."""
    require_citus(conn)
    return [table for table in DISTRIBUTED if _count(conn, _IS_DISTRIBUTED, table) == 0]


def distribute(conn: psycopg.Connection) -> list[str]:
    """Distribute what is not distributed yet, and put the functions of this engine in their places.

    Rows that are there move along. Each table is locked against everybody from its turn to the end, so nothing else
    should work with the database meanwhile. Returns the tables that were distributed. Raises NoCitus.
    """
    todo = undistributed(conn)
    with conn.transaction():
        # Before the first distributed statement: connections to the nodes are opened one for each from here on.
        conn.execute("SET LOCAL citus.multi_shard_modify_mode = 'sequential'")
        conn.execute("SET LOCAL citus.enable_unsafe_triggers = on")
        for table, name in _FOREIGN_KEYS:
            if table in todo:
                conn.execute(f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {name}".encode())
        for table, name in _TRIGGERS:
            if table in todo:
                conn.execute(f"DROP TRIGGER IF EXISTS {name} ON {table}".encode())
        for table in todo:
            beside = "none" if table == DISTRIBUTED[0] else DISTRIBUTED[0]
            conn.execute(
                "SELECT create_distributed_table(%s::regclass, 'tenant_id', colocate_with => %s)", (table, beside)
            )
        for path in _VARIANTS:
            for statement in _NEXT.split(path.read_text(encoding="utf-8"))[1:]:
                conn.execute(statement.encode())
        for _, definition in conn.execute(_TO_BE_ADAPTED, (_ADAPTABLE,)).fetchall():
            conn.execute(adapted(definition).encode())
    for table in todo:
        # The coordinator's own copy, which nothing reads any more.
        conn.execute("SELECT truncate_local_data_after_distributing_table(%s::regclass)", (table,))
    return todo


def adapted(definition: str) -> str:
    """Rewrite a function of the migrations for several nodes. What is adapted already stays as it is.

    It names its tenant by SET LOCAL (`name_tenant`), since set_config() is not handed on. And before it adds a
    submission it looks for itself whether its tenant is disabled.
    """
    changed = _NAMED.sub(r"PERFORM name_tenant(\1);", definition)
    return changed if _REFUSAL in changed else _ADDED.sub(lambda _: _REFUSAL, changed)


def _count(conn: psycopg.Connection, query: str, *values: str) -> int:
    row = conn.execute(query.encode(), values).fetchone()
    assert row is not None
    return int(row[0])
