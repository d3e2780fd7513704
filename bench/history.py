"""A database that has lived: old submissions with all their rows, made by SQL as the service would have left them.

Plans are made for tables as they are. In a new database they are made for a few hundred rows, and stay so until it is
analysed: `live_in` spares what is measured that youth.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import psycopg

from bench.stack import Stack

#: Rows of one transaction.
CHUNK = 50_000
#: Concurrent transactions.
_AT_ONCE = 2
#: Settings while rows are made: without durability, which they do not need, and without autovacuum.
_QUICKLY = {"autovacuum": "off", "max_wal_size": "16GB", "checkpoint_timeout": "1h", "full_page_writes": "off"}
#: Submissions of the last hour in a lived-in database.
LIVED = 20_000
#: Of a row whose number is n and whose moment is t.at.
ID = """(lpad(to_hex((extract(EPOCH FROM t.at) * 1000)::bigint), 12, '0') || '7'
          || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid"""
_MONTHS = "SELECT ensure_month(now() - make_interval(months => n)) FROM generate_series(0, %s) AS n"
#: Half of it the measured tenant's, the rest spread over the others.
_OLD = f"""
    CREATE TEMPORARY TABLE old AS
    SELECT CASE WHEN n %% 2 = 0 OR %(tenants)s::int = 0 THEN %(tenant)s::bigint
                ELSE 1000001 + n %% greatest(%(tenants)s::int, 1) END AS tenant_id,
           {ID} AS submission_id, t.at, 'E32' || lpad(n::text, 10, '0') AS e_ncf, n
      FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS n
     CROSS JOIN LATERAL (SELECT now() - %(youngest)s::interval - %(span)s::interval
                               * ((n - %(start)s::bigint) / %(many)s::float8) AS at) AS t
"""
_ROWS = {
    "submissions": """INSERT INTO submissions (tenant_id, submission_id, environment, api_key_id, client_request_id,
                                body_digest, format, root, ecf_type, e_ncf, issuer_rnc, buyer_rnc, status, track_id,
                                submitted_at, updated_at, verdict_at, signed_at, number_fate, response, security_code)
       SELECT tenant_id, submission_id, 'testecf', 'fak_000000000000', 'old-' || n, sha256('x'), 'structured', 'ECF',
              '32', e_ncf, '131880738', '131880681', 'Aceptado', 'old-' || n, at, at, at, at, 'used',
              '{"trackStatus": {"estado": "Aceptado"}}', 'AbC1+/' FROM old""",
    "client_requests": """INSERT INTO client_requests (tenant_id, environment, client_request_id, submission_id)
       SELECT tenant_id, 'testecf', 'old-' || n, submission_id FROM old""",
    "held_numbers": """INSERT INTO held_numbers (tenant_id, environment, e_ncf, issuer_rnc, submission_id)
       SELECT tenant_id, 'testecf', e_ncf, '131880738', submission_id FROM old""",
    "submission_events": """INSERT INTO submission_events (tenant_id, submission_id, seq, at, kind, detail, hash)
       SELECT tenant_id, submission_id, seq, at, 'accepted', '{}', sha256('x')
         FROM old CROSS JOIN generate_series(1, 4) AS seq""",
    "submission_documents": """INSERT INTO submission_documents (tenant_id, submission_id, kind, content)
       SELECT tenant_id, submission_id, kind,
              convert_to(coalesce(replace(%(xml)s::text, %(number)s, e_ncf), repeat('x', %(bytes)s::int)), 'UTF8')
         FROM old CROSS JOIN unnest(ARRAY['original', 'signed']) AS kind""",
    "sends": """INSERT INTO sends (tenant_id, submission_id, epoch, digest, intended_at, outcome, answered_at)
       SELECT tenant_id, submission_id, 2, sha256('x'), at, 'received', at FROM old""",
}


def fill(
    stack: Stack,
    first: int,
    last: int,
    *,
    tenants: int = 0,
    document_bytes: int = 200,
    xml: tuple[str, str] | None = None,
    youngest: str = "40 days",
    span: str = "500 days",
    months: int = 21,
) -> None:
    """Put the submissions from the first to the last number into the history, `span` long and over since `youngest`.

    Documents are `document_bytes` long, or `xml`, a text and the number in it that becomes the receipt's. Half of them
    are the measured tenant's, or all when there are no others. Tables that the schema does not have (of an earlier
    commit) are left out.
    """
    values: dict[str, Any] = {"tenant": stack.tenant_id, "tenants": tenants, "bytes": document_bytes}
    values |= {"xml": xml and xml[0], "number": xml and xml[1]}
    values |= {"youngest": youngest, "span": span, "start": first, "many": last - first + 1}
    with psycopg.connect(stack.dsn, autocommit=True) as conn:
        conn.execute(_MONTHS, [months])
        statements = [statement for table, statement in _ROWS.items() if _exists(conn, table)]
    in_chunks(stack, [_OLD, *statements, "DROP TABLE old"], first, last, values)


def in_chunks(stack: Stack, statements: Sequence[str], first: int, last: int, values: Mapping[str, Any]) -> None:
    """Run the statements for each chunk of numbers, %(first)s to %(last)s, a transaction each, some at a time.

    Triggers and foreign keys are left out: rows are made as what checked them would have let them pass.
    """

    def chunk(start: int) -> None:
        with psycopg.connect(stack.dsn) as conn:
            conn.execute("SET LOCAL session_replication_role = replica")
            conn.execute("SET LOCAL synchronous_commit = off")
            here = {**values, "first": start, "last": min(start + CHUNK - 1, last)}
            for statement in statements:
                conn.execute(statement.encode(), here if "%(" in statement else None)

    with ThreadPoolExecutor(_AT_ONCE) as threads:
        for _ in threads.map(chunk, range(first, last + 1, CHUNK)):
            pass


@contextmanager
def quickly(stack: Stack) -> Iterator[None]:
    """Have the server take many rows in as fast as it can; afterwards it is set as before, and has settled."""
    _set(stack, [f"ALTER SYSTEM SET {name} = '{value}'" for name, value in _QUICKLY.items()])
    try:
        yield
        settle(stack)
    finally:
        _set(stack, [f"ALTER SYSTEM RESET {name}" for name in _QUICKLY])


def _set(stack: Stack, statements: Sequence[str]) -> None:
    with psycopg.connect(stack.dsn, autocommit=True) as conn:
        for statement in statements:
            conn.execute(statement.encode())
        conn.execute("SELECT pg_reload_conf()")


_CHANGED = """
    SELECT t.relid::regclass::text, i.inhparent::regclass::text
      FROM pg_stat_user_tables AS t
      LEFT JOIN pg_inherits AS i ON i.inhrelid = t.relid
     WHERE t.n_mod_since_analyze > 0 OR t.n_dead_tup > 0
     ORDER BY t.n_live_tup DESC
"""


def settle(stack: Stack) -> None:
    """Statistics and visibility as autovacuum would have left them, and the log on disk."""

    def clean(statement: str) -> None:
        with psycopg.connect(stack.dsn, autocommit=True) as conn:
            conn.execute(statement.encode())

    with psycopg.connect(stack.dsn, autocommit=True) as conn:
        changed = conn.execute(_CHANGED).fetchall()
        # Autovacuum never looks at a table that is cut by month as a whole; operators do, now and then.
        whole = {parent for _, parent in changed if parent is not None}
        statements = [f"VACUUM (ANALYZE) {table}" for table, _ in changed] + [f"ANALYZE {table}" for table in whole]
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            for _ in threads.map(clean, statements):
                pass
        conn.execute("CHECKPOINT")


def live_in(stack: Stack, rows: int = LIVED) -> None:
    """Make it a database that has been used for an hour: with yesterday's documents it would have a day to close."""
    fill(stack, 1_000_000_000, 1_000_000_000 + rows - 1, youngest="1 second", span="1 hour", months=1)
    settle(stack)


def _exists(conn: "psycopg.Connection", table: str) -> bool:
    row = conn.execute("SELECT to_regclass(%s) IS NOT NULL", [table]).fetchone()
    assert row is not None
    return bool(row[0])
