"""Statements of Postgres for a document, those within functions too: time, calls, WAL, buffers.

    python -m bench.statements [--documents 500] [--top 30]

Asks pg_stat_statements, which takes Debian's Postgres (bench/debian.py; apt-get install postgresql). Times hold waits
for locks, and those of a function the statements within it. Ends with 1 where that server is not installed.
"""

import sys

import psycopg

from bench.debian import programs
from bench.history import live_in
from bench.report import Report
from bench.road import Numbers, drive
from bench.runner import read_options
from bench.stack import open_stack
from bench.traffic import label

_TOP = """
    SELECT s.query, s.toplevel, s.calls, s.total_exec_time, s.wal_bytes::float8, s.shared_blks_hit + s.shared_blks_read
      FROM pg_stat_statements AS s
      JOIN pg_database AS d ON d.oid = s.dbid AND d.datname = current_database()
     ORDER BY s.total_exec_time DESC
     LIMIT %s
"""


def main() -> int:
    """Measure and tell."""
    wanted = {
        "documents": 500,
        "clients": (32, "how many submit at once"),
        "new": (False, "a database that was made a moment ago, with its plans"),
        "top": (30, "statements to show"),
    }
    arguments = read_options(__doc__, wanted)
    if programs() is None:
        print("SKIPPED: no Postgres of Debian's packages here (apt-get install postgresql)", file=sys.stderr)
        return 1
    with Report("statements") as report, open_stack(postgres=("-m", "bench.debian")) as stack:
        report.server(stack.dsn)
        if not arguments.new:
            live_in(stack)
        stack.start_service()
        stack.log_in()
        numbers = Numbers()
        drive(stack, numbers, 200, arguments.clients)  # warm: plans are made
        with psycopg.connect(stack.dsn, autocommit=True) as conn:
            conn.execute("SELECT pg_stat_statements_reset()")
            drive(stack, numbers, arguments.documents, arguments.clients)
            rows = conn.execute(_TOP, [arguments.top]).fetchall()
        stack.stop("service")
        each = 1 / arguments.documents
        report.table(
            f"of {arguments.documents} documents, for each; `in` stands within a function",
            [
                {
                    "": "" if top else "in",
                    "us": ms * 1000 * each,
                    "calls": calls * each,
                    "us a call": ms * 1000 / calls,
                    "WAL bytes": wal * each,
                    "buffers": buffers * each,
                    "statement": label(query)[:80],
                }
                for query, top, calls, ms, wal, buffers in rows
            ],
        )
        report.figure("all statements", "us for a document", sum(row[3] for row in rows if row[1]) * 1000 * each)
    return 0


if __name__ == "__main__":
    sys.exit(main())
