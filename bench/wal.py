"""Writes of the server, from its write-ahead log: commits, row versions, bytes, table by table.

Counted between two positions of the log, so no statistics are needed. Full pages, which depend on the last checkpoint,
are counted apart.
"""

import re
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

_LINE = re.compile(
    r"rmgr: (?P<manager>\w+) +len \(rec/tot\): +(?P<bare>\d+)/ *(?P<total>\d+), .*? desc: (?P<what>\w+)(?P<rest>.*)"
)
_RELATION = re.compile(r"blkref #0: rel \d+/(\d+)/(\d+)")
#: Heap records that leave a dead row version behind, once their transaction has committed.
_KILLS = {"UPDATE", "HOT_UPDATE", "DELETE"}

_WHERE = "SELECT current_setting('data_directory'), oid FROM pg_database WHERE datname = current_database()"
#: Files by the table they belong to, those of its indexes and of its long values too, months taken together.
_NAMES = """
    SELECT pg_relation_filenode(file.oid),
           regexp_replace(coalesce(owner.relname, indexed.relname, file.relname), '_[0-9]{4}_[0-9]{2}$', '')
      FROM pg_class AS file
      LEFT JOIN pg_index AS i ON i.indexrelid = file.oid
      LEFT JOIN pg_class AS indexed ON indexed.oid = i.indrelid
      LEFT JOIN pg_class AS owner ON owner.reltoastrelid = coalesce(i.indrelid, file.oid)
     WHERE pg_relation_filenode(file.oid) IS NOT NULL
"""


@dataclass
class Written:
    """Writes between two positions of the log; `tables` and `bytes_of` are of one database."""

    commits: int = 0
    bytes: int = 0
    full_page_bytes: int = 0
    dead: int = 0
    dead_of: Counter[str] = field(default_factory=Counter)
    bytes_of: Counter[str] = field(default_factory=Counter)


def position(conn: "psycopg.Connection") -> str:
    """Where the log is now."""
    row = conn.execute("SELECT pg_current_wal_insert_lsn()").fetchone()
    assert row is not None
    return str(row[0])


def written(conn: "psycopg.Connection", programs: Path, start: str, end: str) -> Written:
    """Read what lies between the two. Needs the server's files at hand, and its own pg_waldump in `programs`."""
    conn.execute("SELECT pg_switch_wal()")  # what is asked for must be on disk, not only in the server's buffers
    row = conn.execute(_WHERE).fetchone()
    assert row is not None
    folder, database = Path(row[0]) / "pg_wal", int(row[1])
    names = {int(node): name for node, name in conn.execute(_NAMES)}
    command = [str(programs / "pg_waldump"), "--path", str(folder), "--start", start, "--end", end]
    found = Written()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if match := _LINE.match(line):
                _count(found, match, database, names)
    return found


def _count(found: Written, match: "re.Match[str]", database: int, names: dict[int, str]) -> None:
    bare, what = int(match["bare"]), match["what"]
    if (match["manager"], what) == ("XLOG", "SWITCH"):
        return
    found.bytes += bare
    found.full_page_bytes += int(match["total"]) - bare
    found.commits += (match["manager"], what) == ("Transaction", "COMMIT")
    relation = _RELATION.search(match["rest"])
    if relation is None or int(relation[1]) != database:
        return
    name = names.get(int(relation[2]), "others")
    found.bytes_of[name] += bare
    if match["manager"].startswith("Heap") and what in _KILLS:
        found.dead += 1
        found.dead_of[name] += 1
