"""Spread a database over the nodes of a Citus cluster: what `fe migrate` does there after migrations and functions.

These never name Citus. Afterwards the tables that documents go through are distributed by tenant, the tables that stay
on the coordinator join its commits in two phases, and Citus' own forms (`sql/functions/<subject>/<name>.citus.sql`)
replace functions that it would refuse, under the same names. All of it is one transaction and may be repeated: what is
distributed already is left alone.
"""

from pathlib import Path

import psycopg

from fe.store.citus import by_shard
from fe.store.citus.tables import DISTRIBUTED
from fe.store.postgres.errors import StoreError
from fe.store.postgres.functions import FOLDER
from fe.store.postgres.statements import statements

#: Triggers that read or write a table of the coordinator, where no node can. The forms of Citus that accept submissions
#: check whether the tenant is disabled; an operator's change of a sequence is audited as `tenant_changes` alone.
_TRIGGERS = (("submissions", "submissions_of_the_enabled"), ("sequences", "sequences_audited"))

#: File suffix of our forms of functions, which lie beside the plain ones.
CITUS_FORM = ".citus.sql"
#: Tables and types of this engine; its own functions; and its forms of functions, each beside the plain one.
_TABLES = Path(__file__).with_name("tables.sql")
_FUNCTIONS = sorted(Path(__file__).parent.glob("functions/*.sql"))
FORMS = sorted(FOLDER.glob(f"*/*{CITUS_FORM}"))
#: The files that `fe migrate` runs in the database, in this order.
FILES = [_TABLES, *_FUNCTIONS, *FORMS]

#: The table that the two-phase trigger changes in name: the only table of the coordinator that Citus knows.
_KNOWN = "two_phases"

_THERE = "SELECT count(*) FROM pg_extension WHERE extname = 'citus'"
_IS_DISTRIBUTED = "SELECT count(*) FROM pg_dist_partition WHERE logicalrelid = %s::regclass"
_NODES = "SELECT count(*) FROM pg_dist_node WHERE isactive AND shouldhaveshards"
#: Foreign keys from a distributed table to one that is not, which Citus does not support.
_FOREIGN_KEYS = """
    SELECT c.conrelid::regclass::text, c.conname
      FROM pg_constraint AS c
     WHERE c.contype = 'f' AND c.conparentid = 0 AND c.conrelid = ANY (%(now)s::regclass[])
       AND NOT c.confrelid = ANY (%(distributed)s::regclass[])
"""
#: Tables that only the coordinator has and that lack the two-phase trigger. Two need none: the audit trail is written
#: together with the change that it records, and applied migrations concern no rows of the nodes.
_ALONE = """
    SELECT c.oid::regclass::text
      FROM pg_class AS c
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND NOT c.relispartition
       AND NOT c.oid = ANY (%(distributed)s::regclass[])
       AND c.relname NOT IN ('two_phases', 'anchors', 'audit_trail', 'applied_migrations')
       AND NOT EXISTS (SELECT FROM pg_trigger AS t WHERE t.tgrelid = c.oid AND t.tgname = 'commits_in_two_phases')
       AND NOT EXISTS (SELECT FROM pg_depend AS d WHERE d.objid = c.oid AND d.deptype = 'e')
     ORDER BY 1
"""
#: Keeps ranges apart where a table is distributed: there a constraint has to compare the tenant itself, which an index
#: of ranges does with btree_gist (sql/migrations/0094 and 0109 have the forms without it).
_APART = {
    "sequences": """sequences_ranges_apart EXCLUDE USING gist (
           tenant_id WITH =, environment WITH =, left(prefix, 3) WITH =,
           (CASE WHEN next_min IS NULL THEN int8multirange(int8range(min_number, max_number, '[]'))
                 ELSE int8multirange(int8range(min_number, max_number, '[]'), int8range(next_min, next_max, '[]')) END)
               WITH &&)""",
    "paper_ranges": """paper_ranges_apart EXCLUDE USING gist (
           tenant_id WITH =, environment WITH =, prefix WITH =, int4range(first_number, last_number, '[]') WITH &&)""",
}
_ARE_APART = """
    SELECT count(*)
      FROM pg_constraint AS c
     WHERE c.conname = %s AND c.conrelid = %s::regclass AND pg_get_constraintdef(c.oid) LIKE '%%(tenant_id WITH =%%'
"""
#: A row in each shard (tables.sql), of numbers below 0, which no tenant has: twenty tries for each shard miss one of
#: them once in a hundred million times.
_ANCHOR = (
    """INSERT INTO anchored_shards (shard, anchor)
       SELECT n.shard, max(n.anchor)
         FROM (SELECT -i AS anchor, get_shard_id_for_distribution_column('anchors', -i) AS shard
                 FROM generate_series(1::bigint, 20 * (SELECT count(*) FROM pg_dist_shard
                                                         WHERE logicalrelid = 'anchors'::regclass)) AS i) AS n
        GROUP BY n.shard
       ON CONFLICT DO NOTHING""",
    "INSERT INTO anchors (anchor) SELECT a.anchor FROM anchored_shards AS a ON CONFLICT DO NOTHING",
)
_WAYS = "SELECT a.anchor FROM anchored_shards AS a ORDER BY a.anchor DESC"
#: A fixed path, so that no name in a function with its owner's rights can be slipped under.
_PATH = """
    DO $$
    DECLARE
        one text;
    BEGIN
        FOREACH one IN ARRAY ARRAY['commit_in_two_phases()', 'make_shard_functions(bigint)', 'shard_entered(bigint[])',
                                   'enter_these(bigint[], bigint[])', 'nodes_of(bigint[])'] LOOP
            EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', one, current_schema());
        END LOOP;
    END
    $$
"""
#: Makes each node's shard functions again from the current migrations.
_RENEW = "SELECT result FROM run_command_on_all_nodes('SELECT renew_shard_functions()') WHERE NOT success"


class NoCitus(StoreError):
    """The database cannot distribute tables; the message says what to do."""


def require_citus(conn: psycopg.Connection) -> int:
    """Check that this is the coordinator of a cluster; return how many of its nodes keep rows. Raises NoCitus."""
    if _count(conn, _THERE) == 0:
        raise NoCitus("FE_DATABASE_ENGINE is citus, and the database has no such extension: see ops/citus/README.md")
    nodes = _count(conn, _NODES)
    if nodes == 0:
        raise NoCitus("no node of the cluster keeps rows: add the workers first, see ops/citus/README.md")
    return nodes


def undistributed(conn: psycopg.Connection) -> list[str]:
    """Name the tables that are not distributed yet and have to be. Raises NoCitus."""
    require_citus(conn)
    return [table for table in DISTRIBUTED if _count(conn, _IS_DISTRIBUTED, table) == 0]


def outside_two_phases(conn: psycopg.Connection) -> list[str]:
    """Name the tables of the coordinator whose changes are not committed together with a node's changes."""
    return [name for (name,) in conn.execute(_ALONE, {"distributed": list(DISTRIBUTED)}).fetchall()]


def distribute(conn: psycopg.Connection) -> list[str]:
    """Distribute the tables that are not distributed yet, and install the functions for Citus.

    Existing rows move with their table. Each table is locked against reads and writes until the end, so nothing else
    should use the database meanwhile. Returns the tables that were distributed. Raises NoCitus.
    """
    todo = undistributed(conn)
    with conn.transaction():
        # Before the first distributed statement: from here on Citus opens one connection to each node.
        conn.execute("SET LOCAL citus.multi_shard_modify_mode = 'sequential'")
        conn.execute("SET LOCAL citus.enable_unsafe_triggers = on")
        for table, name in conn.execute(_FOREIGN_KEYS, {"now": todo, "distributed": list(DISTRIBUTED)}).fetchall():
            conn.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}".encode())
        for table, name in _TRIGGERS:
            if table in todo:
                conn.execute(f"DROP TRIGGER IF EXISTS {name} ON {table}".encode())
        conn.execute("CREATE EXTENSION IF NOT EXISTS btree_gist")
        for table, constraint in _APART.items():
            name = constraint.split(maxsplit=1)[0]
            if _count(conn, _ARE_APART, name, table) == 0:
                conn.execute(f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {name}".encode())
                conn.execute(f"ALTER TABLE {table} ADD CONSTRAINT {constraint}".encode())
        conn.execute("ALTER TABLE sequences DROP CONSTRAINT IF EXISTS sequences_apart")
        for table in todo:
            # A release before may have left it on the coordinator.
            conn.execute(f"DROP TRIGGER IF EXISTS commits_in_two_phases ON {table}".encode())
            beside = "none" if table == DISTRIBUTED[0] else DISTRIBUTED[0]
            conn.execute(
                "SELECT create_distributed_table(%s::regclass, 'tenant_id', colocate_with => %s)", (table, beside)
            )
        for statement in by_shard.statements():
            conn.execute(statement.encode())
        for path in FILES:
            for statement in statements(path.read_text(encoding="utf-8")):
                conn.execute(statement.encode())
        if _count(conn, _IS_DISTRIBUTED, "anchors") == 0:
            conn.execute("SELECT create_distributed_table('anchors', 'anchor', colocate_with => 'submissions')")
        for statement in _ANCHOR:
            conn.execute(statement.encode())
        ways = [anchor for (anchor,) in conn.execute(_WAYS).fetchall()]
        for statement in by_shard.senders(ways):
            conn.execute(statement.encode())
        if _count(conn, _IS_DISTRIBUTED, _KNOWN) == 0:
            conn.execute("SELECT citus_add_local_table_to_metadata(%s::regclass)", (_KNOWN,))
        conn.execute(_PATH)
        for table in outside_two_phases(conn):
            conn.execute(
                f"""CREATE TRIGGER commits_in_two_phases AFTER INSERT OR UPDATE OR DELETE ON {table}
                    FOR EACH STATEMENT EXECUTE FUNCTION commit_in_two_phases()""".encode()
            )
    if failed := conn.execute(_RENEW).fetchall():
        raise NoCitus(f"a node of the cluster did not answer: repeat fe migrate when all do ({failed[0][0]})")
    for table in todo:
        # The coordinator's own copy, which nothing reads any more.
        conn.execute("SELECT truncate_local_data_after_distributing_table(%s::regclass)", (table,))
    return todo


def _count(conn: psycopg.Connection, query: str, *values: str) -> int:
    row = conn.execute(query.encode(), values).fetchone()
    assert row is not None
    return int(row[0])
