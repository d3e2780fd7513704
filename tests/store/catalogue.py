"""`python -m tests.store.catalogue`: write sql/schema.sql, the schema at a glance, from a migrated database.

`objects` describes a database object by object, from its catalogue; two databases are alike when these are equal.
"""

import tempfile
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import psycopg

from fe.store.postgres.embedded import start_embedded
from fe.store.postgres.migrate import migrate

PAGE = Path(__file__).resolve().parents[2] / "sql" / "schema.sql"

_HEAD = """\
-- The schema at a glance: made from a migrated database by `python -m tests.store.catalogue`, and never applied.
-- Left out: triggers, policies, grants, months, and the text of functions (sql/functions).
"""

_OURS = "c.relnamespace = 'public'::regnamespace"
#: A month's partitions are made as time goes by.
_NO_MONTH = r"c.relname !~ '_\d{4}_\d{2}(_|$)'"
_GRANTED = (
    "ARRAY(SELECT a.grantee::regrole::text || ' ' || a.privilege_type FROM aclexplode({acl}) AS a ORDER BY 1)::text"
)

#: Queries by kind of object: each returns names and descriptions.
_QUERIES = {
    "table": f"""
        SELECT c.relname, concat_ws(' ', c.relkind, pg_get_partkeydef(c.oid), c.relrowsecurity, c.relforcerowsecurity,
                                    ARRAY(SELECT unnest(c.reloptions) ORDER BY 1)::text,
                                    {_GRANTED.format(acl="coalesce(c.relacl, acldefault('r', c.relowner))")})
          FROM pg_class AS c
         WHERE {_OURS} AND {_NO_MONTH} AND c.relkind IN ('r', 'p', 'v', 'S')""",
    "column": f"""
        SELECT c.relname || '.' || a.attname,
               concat_ws(' ', row_number() OVER (PARTITION BY c.oid ORDER BY a.attnum),
                         format_type(a.atttypid, a.atttypmod), a.attnotnull, pg_get_expr(d.adbin, d.adrelid),
                         a.attidentity, a.attgenerated, a.attstorage, a.attcollation::regcollation,
                         {_GRANTED.format(acl="coalesce(a.attacl, acldefault('c', c.relowner))")})
          FROM pg_class AS c
          JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
          LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum
         WHERE {_OURS} AND {_NO_MONTH} AND c.relkind IN ('r', 'p', 'v', 'c')""",
    # A rule of an older database may be NOT VALID: it holds for all that was written since.
    "constraint": f"""
        SELECT c.relname || '.' || x.conname, replace(pg_get_constraintdef(x.oid), ' NOT VALID', '')
          FROM pg_constraint AS x
          JOIN pg_class AS c ON c.oid = x.conrelid
         WHERE {_OURS} AND {_NO_MONTH} AND x.contype <> 'n'""",
    "type": """
        SELECT t.typname, concat_ws(' ', format_type(t.typbasetype, t.typtypmod), t.typcollation::regcollation,
                                    (SELECT string_agg(pg_get_constraintdef(x.oid), ' ' ORDER BY x.conname)
                                       FROM pg_constraint AS x WHERE x.contypid = t.oid),
                                    (SELECT string_agg(e.enumlabel, ' ' ORDER BY e.enumsortorder)
                                       FROM pg_enum AS e WHERE e.enumtypid = t.oid))
          FROM pg_type AS t
         WHERE t.typnamespace = 'public'::regnamespace AND t.typtype IN ('d', 'e')""",
    "index": f"""
        SELECT c.relname || '.' || i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid)
          FROM pg_index AS i
          JOIN pg_class AS c ON c.oid = i.indrelid
         WHERE {_OURS} AND {_NO_MONTH}""",
    "policy": f"""
        SELECT c.relname || '.' || p.polname,
               concat_ws(' ', p.polcmd, p.polpermissive, ARRAY(SELECT r::regrole::text FROM unnest(p.polroles) AS r
                                                                ORDER BY 1)::text,
                         pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))
          FROM pg_policy AS p
          JOIN pg_class AS c ON c.oid = p.polrelid
         WHERE {_OURS}""",
    "trigger": f"""
        SELECT c.relname || '.' || t.tgname, pg_get_triggerdef(t.oid)
          FROM pg_trigger AS t
          JOIN pg_class AS c ON c.oid = t.tgrelid
         WHERE {_OURS} AND {_NO_MONTH} AND NOT t.tgisinternal""",
    "function": f"""
        SELECT p.oid::regprocedure::text,
               pg_get_functiondef(p.oid) || {_GRANTED.format(acl="coalesce(p.proacl, acldefault('f', p.proowner))")}
          FROM pg_proc AS p
         WHERE p.pronamespace = 'public'::regnamespace""",
    "schema": f"""
        SELECT n.nspname, {_GRANTED.format(acl="n.nspacl")}
          FROM pg_namespace AS n
         WHERE n.nspname = 'public'""",
    "default privileges": f"""
        SELECT d.defaclobjtype::text, {_GRANTED.format(acl="d.defaclacl")}
          FROM pg_default_acl AS d""",
}

_COLUMNS = f"""
    SELECT c.relname, a.attname,
           format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
      FROM pg_class AS c
      JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE {_OURS} AND NOT c.relispartition AND c.relkind IN ('r', 'p')
     ORDER BY c.relname, a.attnum
"""
_KEYS = f"""
    SELECT c.relname, pg_get_constraintdef(x.oid)
      FROM pg_constraint AS x
      JOIN pg_class AS c ON c.oid = x.conrelid
     WHERE {_OURS} AND NOT c.relispartition AND x.contype IN ('p', 'u', 'x', 'f')
     ORDER BY c.relname, array_position(ARRAY['p', 'u', 'x', 'f'], x.contype::text), x.conname
"""
_INDEXES = f"""
    SELECT c.relname, replace(pg_get_indexdef(i.indexrelid), ' USING btree', '')
      FROM pg_index AS i
      JOIN pg_class AS c ON c.oid = i.indrelid
     WHERE {_OURS} AND NOT c.relispartition
       AND NOT EXISTS (SELECT FROM pg_constraint AS x WHERE x.conindid = i.indexrelid)
     ORDER BY c.relname, i.indexrelid::regclass::text
"""
_TYPES = """
    SELECT t.typname,
           coalesce(pg_get_constraintdef(x.oid),
                    (SELECT string_agg(quote_literal(e.enumlabel), ', ' ORDER BY e.enumsortorder)
                       FROM pg_enum AS e WHERE e.enumtypid = t.oid),
                    (SELECT string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ', ' ORDER BY a.attnum)
                       FROM pg_attribute AS a WHERE a.attrelid = t.typrelid AND a.attnum > 0))
      FROM pg_type AS t
      LEFT JOIN pg_constraint AS x ON x.contypid = t.oid
      LEFT JOIN pg_class AS c ON c.oid = t.typrelid
     WHERE t.typnamespace = 'public'::regnamespace AND (t.typtype IN ('d', 'e') OR c.relkind = 'c')
     ORDER BY t.typname
"""
_FUNCTIONS = """
    SELECT p.proname, pg_get_function_identity_arguments(p.oid), pg_get_function_result(p.oid)
      FROM pg_proc AS p
     WHERE p.pronamespace = 'public'::regnamespace
     ORDER BY p.proname
"""
#: A space at which no line is broken, while lines are filled.
_UNBROKEN = "\0"
_SHORT = {
    "timestamp with time zone": "timestamptz",
    "timestamp without time zone": "timestamp",
    "integer": "int",
    "::text": "",
    "public.": "",
}


def objects(conn: psycopg.Connection) -> Mapping[str, str]:
    """Describe each object of a database, by its kind and name."""
    return {
        f"{kind} {name}": str(told) for kind, query in _QUERIES.items() for name, told in conn.execute(query.encode())
    }


def at_a_glance(conn: psycopg.Connection) -> str:
    """The text of sql/schema.sql."""
    return "\n".join([_HEAD, *_sections(conn)]) + "\n"


def _sections(conn: psycopg.Connection) -> Iterator[str]:
    subjects = {path.stem: path.parent.name for path in (PAGE.parent / "functions").glob("*/*.sql")}
    for name, told in conn.execute(_TYPES):
        yield from _wrapped([f"-- type {name}: {_short(told)}"], "--    ")
    columns: dict[str, list[str]] = defaultdict(list)
    for table, column, kind in conn.execute(_COLUMNS.encode()):
        columns[table].append(f"{column} {_short(kind)},")
    keys: dict[str, list[str]] = defaultdict(list)
    for table, key in conn.execute(_KEYS.encode()):
        keys[table].append(f"    {_short(key)}")
    indexes: dict[str, list[str]] = defaultdict(list)
    for table, index in conn.execute(_INDEXES.encode()):
        indexes[table].append(f"{_short(index)};")
    for table, each in sorted(columns.items()):
        yield from ("", f"CREATE TABLE {table} (", *_wrapped(each), ",\n".join(keys[table]), ");", *indexes[table])
    signatures: dict[str, list[str]] = defaultdict(list)
    for name, given, returned in conn.execute(_FUNCTIONS):
        signatures[subjects[name]].append(_short(f"-- {name}({given}) returns {returned}"))
    for subject, lines in sorted(signatures.items()):
        yield from ("", f"-- Functions of {subject}", "--")
        for line in lines:
            yield from _wrapped([line], "--    ")


def _short(text: str) -> str:
    for long, short in _SHORT.items():
        text = text.replace(long, short)
    return text


def _wrapped(parts: Iterable[str], indent: str = "    ") -> Iterator[str]:
    """Fill lines with the parts. A comment's further lines are indented, and only a comment is broken within a part."""
    is_comment = indent.startswith("--")
    text = " ".join(part if is_comment else part.replace(" ", _UNBROKEN) for part in parts)
    first = "" if is_comment else indent
    for line in textwrap.wrap(text, 120, initial_indent=first, subsequent_indent=indent, break_long_words=False):
        yield line.replace(_UNBROKEN, " ")


def main() -> None:
    """Write the page anew."""
    with tempfile.TemporaryDirectory(prefix="fe-schema-") as folder:
        Path(folder).chmod(0o755)
        dsn = start_embedded(Path(folder) / "data", keep=False)
        migrate(dsn)
        with psycopg.connect(dsn) as conn:
            PAGE.write_text(at_a_glance(conn), encoding="utf-8")


if __name__ == "__main__":
    main()
