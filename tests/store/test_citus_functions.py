"""The Citus forms of functions take and return what the plain ones do."""

import re
from pathlib import Path

import psycopg
import pytest

from fe.store.citus import by_shard, distribution, shard_functions
from fe.store.citus.tables import DISTRIBUTED
from fe.store.postgres.statements import statements
from tests import citus

FOLDER = Path(distribution.__file__).parent

#: Functions that only Citus has.
OF_ITS_OWN = {
    "anchor_of",
    "anchors_of_nodes",
    "any_disabled",
    "away_nodes",
    "claim_lane",
    "claim_on_node",
    "claim_rows",
    "commit_in_two_phases",
    "decide_batch",
    "drop_anchor",
    "due_anywhere",
    "due_on_node",
    "due_on_nodes",
    "due_tenants_of",
    "earlier_of",
    "enter_shard_of",
    "enter_shards",
    "enter_shards_of",
    "enter_these",
    "floors_anywhere",
    "floors_on_node",
    "free_held",
    "joined",
    "keep_due",
    "known_due",
    "lanes_named",
    "leases_unless_paused",
    "lengths_of",
    "make_shard_callers",
    "make_shard_functions",
    "named_here",
    "nodes_of",
    "outbox_shards",
    "outbox_shards_here",
    "parted",
    "picked",
    "refuse_of_disabled",
    "renew_shard_functions",
    "require_way",
    "rows_of",
    "served_of",
    "set_back_waiting",
    "shard_callers",
    "shard_entered",
    "shard_functions",
    "shards_here",
    "stand_together",
    "stands_alone",
    "tell_outcomes_to_webhooks",
    "told_to_node",
    "ways_to",
    "weights_of",
    *(f"{name}_in_shard" for name in (*shard_functions.ON_NODES, *shard_functions.CALLED, *shard_functions.ASKED)),
    *(f"{name}_by_way" for name in (*shard_functions.CALLED, *shard_functions.ASKED)),
    *(f"{name}_there" for name in (*shard_functions.CALLED, *shard_functions.ASKED)),
    *(f"{name}_alone" for name in by_shard.ALONE),
}

_SIGNATURES = """
    SELECT p.proname, p.oid::regprocedure::text
      FROM pg_proc AS p
     WHERE p.pronamespace = 'public'::regnamespace
"""


def test_each_function_replaces_one_of_the_migrations(dsn: str) -> None:
    with psycopg.connect(dsn) as conn:
        before = {signature for _, signature in conn.execute(_SIGNATURES).fetchall()}
        for statement in (*by_shard.statements(), *by_shard.senders([-1, -2])):
            conn.execute(statement.encode())
        for path in distribution.FILES:
            for statement in statements(path.read_text()):
                conn.execute(statement.encode())  # another answer than before is refused
        after = {signature: name for name, signature in conn.execute(_SIGNATURES).fetchall()}
        conn.rollback()

    added = {name for signature, name in after.items() if signature not in before}
    assert before <= after.keys(), "a function of the migrations was dropped as one of an earlier release"
    assert added <= OF_ITS_OWN, "a function takes something else than that of the migrations: Citus would not call it"


def test_each_form_of_citus_stands_beside_a_plain_function() -> None:
    for path in distribution.FORMS:
        name = path.name.removesuffix(".citus.sql")
        assert path.with_name(f"{name}.sql").is_file(), path.name
        assert f"CREATE OR REPLACE FUNCTION {name}(" in path.read_text(), path.name


def test_nothing_but_a_statement_of_its_own_stands_alone() -> None:
    """An effect outside the call would not be rolled back with it."""
    texts = [path.read_text() for folder in (FOLDER, FOLDER.parents[2] / "sql") for path in folder.rglob("*.sql")]

    assert len(texts) > len(by_shard.ALONE)
    assert not [name for text in texts for name in by_shard.ALONE if f"{name}_alone" in text]


def test_whoever_adds_a_submission_or_names_a_tenant_does_it_by_the_functions_that_citus_replaces(dsn: str) -> None:
    """On Citus no trigger refuses what a disabled tenant hands in, and no set_config() reaches a node."""
    with psycopg.connect(dsn) as conn:
        adding = conn.execute(
            "SELECT proname, prosrc FROM pg_proc WHERE prosrc LIKE '%INSERT INTO submissions %'"
        ).fetchall()
        naming = conn.execute(
            """SELECT proname FROM pg_proc
                WHERE pronamespace = 'public'::regnamespace
                  AND pg_get_functiondef(oid) LIKE '%set_config(''fe.tenant''%'"""
        ).fetchall()

    assert {name for name, _ in adding} == {"accept_submission", "accept_submissions"}
    (source,) = [source for name, source in adding if name == "accept_submission"]
    assert source.index("name_submitter(p_tenant)") < source.index("INSERT INTO submissions (")
    own = {path.name for path in distribution.FORMS}
    assert "accept_submissions.citus.sql" in own, "the plain form adds some by itself"
    assert naming == [("name_tenant",)]


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


def test_a_function_of_a_shard_names_no_table_that_is_not_the_shards_own(dsn: str) -> None:
    """Nor calls one that does; what the coordinator alone has is left out."""
    with psycopg.connect(dsn) as conn:
        tables = {name for (name,) in conn.execute("SELECT relname FROM pg_class WHERE relkind IN ('r', 'p', 'v')")}
        sources: dict[str, str] = dict(
            conn.execute("SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace").fetchall()
        )
    reads = re.compile(r"\b(?:FROM|JOIN|UPDATE|INTO|USING)\s+(\w+)\b")
    outside = {name for name, source in sources.items() if tables & set(reads.findall(source))}

    for function in shard_functions.functions().values():
        made = shard_functions.template(function)
        assert not tables & set(reads.findall(made)), function.name
        assert not outside & set(re.findall(r"(?<![{\w])(\w+)\(", made)), function.name
        assert made.startswith(f"CREATE FUNCTION {{{{{function.name}}}}}(")


@pytest.mark.skipif(citus.wanted(), reason="there they are replaced")
def test_each_function_of_a_shard_is_the_newest_of_the_migrations(dsn: str) -> None:
    with psycopg.connect(dsn) as conn:
        sources: dict[str, str] = dict(
            conn.execute("SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace").fetchall()
        )
    own = {
        "may_go_on_batch",
        "claim_batch",
        "decide_batch",
        "sign_input_batch",
        "send_input_batch",
        "track_input_batch",
        "due_batch",
        "floors_batch",
    }

    for name, function in shard_functions.functions().items():
        if name not in own:
            assert f"$${sources[name]}$$" in function.body, name


@pytest.mark.skipif(citus.wanted(), reason="there they are replaced")
@pytest.mark.parametrize("documents", [[b"a", None, b"", b"\x00\xff" * 5000, b"b"], [None, None], [b""], []])
def test_the_documents_of_a_batch_are_on_a_node_what_they_were(dsn: str, documents: list[bytes | None]) -> None:
    with psycopg.connect(dsn) as conn:
        for name in ("joined", "lengths_of", "parted"):
            conn.execute(statements((FOLDER / "functions" / f"{name}.sql").read_text())[0].encode())
        query = "SELECT parted(joined(d.all), lengths_of(d.all)) FROM (SELECT %s::bytea[] AS all) AS d"
        found = conn.execute(query, (documents,)).fetchone()
        conn.rollback()

    assert found == (documents,)


def test_what_carries_documents_goes_by_ways_that_stand_in_the_statement() -> None:
    """Only then does Citus hand on what is given as it is."""
    senders = list(by_shard.senders([-3, -5]))
    by_branches = {
        name
        for name in (*shard_functions.CALLED, *shard_functions.ASKED)
        for text in senders
        if f"{name}_by_way(p_way" in text and "WHEN -5" in text
    }

    assert by_branches >= {"accept_submission", "accept_submissions", "book_signed_batch"}
    assert "claim_batch" not in by_branches


@pytest.mark.skipif(not citus.wanted(), reason="there is no cluster (make citus)")
def test_tables_that_a_release_before_left_on_the_coordinator_move_to_the_nodes_with_their_rows(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("SELECT undistribute_table('mode_periods', cascade_via_foreign_keys => true)")
        conn.execute(
            """CREATE TRIGGER commits_in_two_phases AFTER INSERT OR UPDATE OR DELETE ON mode_periods
               FOR EACH STATEMENT EXECUTE FUNCTION commit_in_two_phases()"""
        )
        conn.execute(
            """INSERT INTO mode_periods (tenant_id, environment, period_id, mode, began_at, begun_by, reason)
               VALUES (1, 'ecf', gen_random_uuid(), 'offline', now(), 'someone', 'no network')"""
        )

        moved = distribution.distribute(conn)

        kept = conn.execute("SELECT reason FROM mode_periods WHERE tenant_id = 1").fetchall()
        triggers = conn.execute(
            "SELECT tgname FROM pg_trigger WHERE tgrelid = 'mode_periods'::regclass AND NOT tgisinternal"
        )
        left = triggers.fetchall()
    assert set(moved) == {"mode_periods", "paper_ranges", "paper_receipts", "paper_replacements"}
    assert (kept, left) == ([("no network",)], [])
