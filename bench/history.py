"""A database that has lived: old submissions with all their rows, made by SQL as the service would have left them.

Plans are made for tables as they are. In a new database they are made for a few hundred rows, and stay so until it is
analysed: `live_in` spares what is measured that youth.
"""

from typing import Any

import psycopg

from bench.stack import Stack

#: Rows of one transaction.
CHUNK = 100_000
#: So many submissions of the last hours make a lived-in database.
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
     CROSS JOIN LATERAL (SELECT now() - %(youngest)s::interval - %(span)s::interval * (n / %(last)s::float8) AS at) AS t
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
       SELECT tenant_id, submission_id, kind, convert_to(repeat('x', %(bytes)s::int), 'UTF8')
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
    youngest: str = "40 days",
    span: str = "500 days",
    months: int = 21,
) -> None:
    """Put the submissions from the first to the last number into the history, `span` long and over since `youngest`.

    Half of them are the measured tenant's, or all when there are no others. Tables that the schema does not have (of an
    earlier commit) are left out.
    """
    values: dict[str, Any] = {"tenant": stack.tenant_id, "tenants": tenants, "bytes": document_bytes}
    values |= {"youngest": youngest, "span": span}
    with psycopg.connect(stack.dsn) as conn:
        conn.execute(_MONTHS, [months])
        conn.commit()
        for start in range(first, last + 1, CHUNK):
            values |= {"first": start, "last": min(start + CHUNK - 1, last)}
            conn.execute(_OLD.encode(), values)
            for table, statement in _ROWS.items():
                if _exists(conn, table):
                    conn.execute(statement.encode(), values if "%(" in statement else None)
            conn.execute("DROP TABLE old")
            conn.commit()


def settle(stack: Stack) -> None:
    """Statistics and visibility as autovacuum would have left them, and the log on disk."""
    with psycopg.connect(stack.dsn, autocommit=True) as conn:
        conn.execute("VACUUM ANALYZE")
        conn.execute("CHECKPOINT")


def live_in(stack: Stack, rows: int = LIVED) -> None:
    """Make it a database that has been used for some hours."""
    fill(stack, 1_000_000_000, 1_000_000_000 + rows - 1, youngest="1 second", span="6 hours", months=1)
    settle(stack)


def _exists(conn: "psycopg.Connection", table: str) -> bool:
    row = conn.execute("SELECT to_regclass(%s) IS NOT NULL", [table]).fetchone()
    assert row is not None
    return bool(row[0])
