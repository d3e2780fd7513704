"""What Citus has in the place of functions of the migrations still takes and answers what these do."""

import re

import psycopg

from fe.store.citus import distribution
from fe.store.citus.distribution import DISTRIBUTED, adapted

#: Functions that only Citus has.
OF_ITS_OWN = {"due_in_shards", "free_held", "lease_unless_paused", "name_tenant", "step_on_leased"}

_SIGNATURES = """
    SELECT p.proname, p.oid::regprocedure::text
      FROM pg_proc AS p
     WHERE p.pronamespace = 'public'::regnamespace
"""


def test_each_function_replaces_one_of_the_migrations(dsn: str) -> None:
    with psycopg.connect(dsn) as conn:
        before = {signature for _, signature in conn.execute(_SIGNATURES).fetchall()}
        for path in distribution._VARIANTS:
            for statement in distribution._NEXT.split(path.read_text(encoding="utf-8"))[1:]:
                conn.execute(statement.encode())  # another answer than before is refused
        added = {name for name, signature in conn.execute(_SIGNATURES).fetchall() if signature not in before}
        conn.rollback()

    assert added <= OF_ITS_OWN, "a function takes something else than that of the migrations: Citus would not call it"


def test_every_function_that_adds_a_submission_looks_whether_its_tenant_is_disabled(dsn: str) -> None:
    with psycopg.connect(dsn) as conn:
        found = conn.execute(
            "SELECT proname, pg_get_functiondef(oid) FROM pg_proc WHERE prosrc LIKE '%INSERT INTO submissions %'"
        ).fetchall()

    assert {name for name, _ in found} == {"accept_submission", "accept_submissions"}
    for _, definition in found:
        changed = adapted(definition)
        assert changed.index("FE004") < changed.index("INSERT INTO submissions (")
        assert not re.search(r"PERFORM set_config\('fe\.tenant'", changed)
        assert adapted(changed) == changed


def test_every_unique_rule_of_a_distributed_table_names_the_tenant(dsn: str) -> None:
    with psycopg.connect(dsn) as conn:
        found = conn.execute(
            """SELECT i.indexrelid::regclass::text
                 FROM pg_index AS i
                WHERE i.indrelid = ANY (%s::regclass[]) AND i.indisunique
                  AND NOT EXISTS (
                        SELECT FROM pg_attribute AS a
                         WHERE a.attrelid = i.indrelid AND a.attname = 'tenant_id' AND a.attnum = ANY (i.indkey))""",
            (list(DISTRIBUTED),),
        ).fetchall()

    assert found == []
