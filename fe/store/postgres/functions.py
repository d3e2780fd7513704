"""Functions of the database: one file each in `sql/functions/<subject>/<name>.sql`, with its grants.

A file holds the body in force. `fe migrate` applies the files that changed, all in one transaction, and records the
set. A set that was applied once is not applied again, so an older release leaves the functions of a newer one in place.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import psycopg
from psycopg.types.json import Jsonb

from fe.store.postgres.db import Conn
from fe.store.postgres.roles import EVERY
from fe.store.postgres.statements import SQL, statements

FOLDER = SQL / "functions"

_IS_THERE = "SELECT to_regclass('applied_functions') IS NOT NULL"
_IS_RECORDED = "SELECT EXISTS (SELECT FROM applied_functions AS a WHERE a.digest = %s)"
_IN_FORCE = "SELECT a.files FROM applied_functions AS a ORDER BY a.applied_at DESC LIMIT 1"
_RECORD = "INSERT INTO applied_functions (digest, files) VALUES (%s, %s)"

#: A function that runs with its owner's rights keeps the search path it was made under (SET search_path FROM CURRENT).
_FIX_SEARCH_PATH = "SELECT set_config('search_path', format('%I, pg_temp', current_schema()), true)"
_SIGNATURES = """
    SELECT p.oid::regprocedure::text
      FROM pg_proc AS p
     WHERE p.pronamespace = current_schema()::regnamespace AND p.proname = %s
"""


@dataclass(frozen=True, slots=True)
class FunctionFile:
    """One file: `path` is relative to the folder."""

    path: str
    text: str

    @property
    def name(self) -> str:
        """Name of the function."""
        return Path(self.path).stem

    @property
    def digest(self) -> str:
        """SHA-256 of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True)
class FunctionSet:
    """The functions of a release, whose newest migration is `migration`."""

    files: Sequence[FunctionFile]
    migration: int

    @cached_property
    def digests(self) -> Mapping[str, str]:
        """SHA-256 of each file, by its path."""
        return {file.path: file.digest for file in self.files}

    @cached_property
    def digest(self) -> bytes:
        """SHA-256 of the whole set.

        It covers the newest migration: a release that goes back to former functions says so by a migration.
        """
        told = [str(self.migration), *(f"{path} {digest}" for path, digest in self.digests.items())]
        return hashlib.sha256("\n".join(told).encode()).digest()


def function_set(migration: int, folder: Path = FOLDER) -> FunctionSet:
    """Read the files of a release. Another engine's form of a function has a second suffix, as `.citus.sql`."""
    paths = sorted(path for path in folder.glob("*/*.sql") if path.suffixes == [".sql"])
    return FunctionSet(
        [FunctionFile(path.relative_to(folder).as_posix(), path.read_text(encoding="utf-8")) for path in paths],
        migration,
    )


async def are_applied(conn: Conn, functions: FunctionSet) -> bool:
    """Whether this set is in force, or was before a newer one."""
    (is_there,) = await (await conn.execute(_IS_THERE)).fetchone() or (False,)
    if not is_there:
        return False
    (recorded,) = await (await conn.execute(_IS_RECORDED, (functions.digest,))).fetchone() or (False,)
    return bool(recorded)


def are_applied_blocking(conn: psycopg.Connection, functions: FunctionSet) -> bool:
    """Do as `are_applied` does, outside Trio."""
    if conn.execute(_IS_THERE).fetchone() != (True,):
        return False
    return conn.execute(_IS_RECORDED, (functions.digest,)).fetchone() == (True,)


def changed(conn: psycopg.Connection, functions: FunctionSet) -> list[FunctionFile]:
    """Return the files of a set that was never applied that differ from those in force."""
    if are_applied_blocking(conn, functions):
        return []
    found = conn.execute(_IN_FORCE).fetchone() if conn.execute(_IS_THERE).fetchone() == (True,) else None
    in_force = found[0] if found else {}
    return [file for file in functions.files if in_force.get(file.path) != file.digest]


def apply(conn: psycopg.Connection, functions: FunctionSet) -> list[FunctionFile]:
    """Apply the files that changed, record the set, and return the files. The caller opens the transaction."""
    if are_applied_blocking(conn, functions):
        return []
    todo = waiting = changed(conn, functions)
    fix_search_path(conn)
    # A body that may name what a later file creates is checked when it runs.
    conn.execute("SET LOCAL check_function_bodies = off")
    while waiting:
        missing = None
        left = []
        for file in waiting:
            try:
                with conn.transaction():
                    _apply_file(conn, file)
            except psycopg.errors.UndefinedFunction as error:  # it calls one of the others, which comes first then
                missing = error
                left.append(file)
        if missing is not None and len(left) == len(waiting):
            raise missing
        waiting = left
    conn.execute(_RECORD, (functions.digest, Jsonb(functions.digests)))
    return todo


def fix_search_path(conn: psycopg.Connection) -> None:
    """Set the search path of the transaction to the current schema alone."""
    conn.execute(_FIX_SEARCH_PATH)


def _apply_file(conn: psycopg.Connection, file: FunctionFile) -> None:
    """Create or replace the function. Its grants are those of the file, and no former ones."""
    for (signature,) in conn.execute(_SIGNATURES, (file.name,)).fetchall():
        revoke = f"REVOKE ALL ON FUNCTION {signature} FROM PUBLIC, {', '.join(EVERY)}"
        conn.execute(revoke.encode())
    for statement in statements(file.text):
        conn.execute(statement.encode())
