"""The authority's register of taxpayers, as `fe padron load` stored it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from psycopg.rows import class_row

from fe.catalogue.taxpayers import RegisteredTaxpayer
from fe.store.postgres.db import Conn

#: The time for the statements of a load.
_LIMIT = "30min"
#: Bytes that go to the database at once.
_CHUNK = 256 * 1024
_COLUMNS = ("rnc", "name", "trade_name", "activity", "status", "regime")


@dataclass(frozen=True, slots=True)
class Register:
    """The register that is in force."""

    generation: int
    rows: int
    loaded_at: datetime
    loaded_by: str


_CURRENT = "SELECT r.generation, r.rows, r.loaded_at, r.loaded_by FROM taxpayer_register AS r"
_FIND = """
    SELECT t.rnc, t.name, t.trade_name, t.activity, t.status, t.regime
      FROM taxpayers AS t
     WHERE t.generation = (SELECT r.generation FROM taxpayer_register AS r) AND t.rnc = %(rnc)s
"""


async def current(conn: Conn) -> Register | None:
    """Return the register that is in force; None where none was loaded."""
    cursor = conn.cursor(row_factory=class_row(Register))
    return await (await cursor.execute(_CURRENT)).fetchone()


async def find(conn: Conn, rnc: str) -> RegisteredTaxpayer | None:
    """Find a taxpayer by RNC or cédula."""
    cursor = conn.cursor(row_factory=class_row(RegisteredTaxpayer))
    return await (await cursor.execute(_FIND, {"rnc": rnc})).fetchone()


# Two loads at once: the second waits here, and replaces what the first brought.
_LOCK = "SELECT pg_advisory_xact_lock(hashtext('fe padron load'))"
_LAST = "SELECT coalesce(max(t.generation), 0) FROM taxpayers AS t"
_COPY = f"COPY taxpayers (generation, {', '.join(_COLUMNS)}) FROM STDIN"
_NAME = """
    INSERT INTO taxpayer_register AS r (one, generation, rows, loaded_at, loaded_by)
    VALUES (true, %(generation)s, %(rows)s, %(at)s, %(by)s)
    ON CONFLICT (one) DO UPDATE
       SET generation = EXCLUDED.generation,
           rows = EXCLUDED.rows,
           loaded_at = EXCLUDED.loaded_at,
           loaded_by = EXCLUDED.loaded_by
"""
_DROP = "DELETE FROM taxpayers WHERE generation <> %(generation)s"


async def replace(conn: Conn, taxpayers: Iterable[RegisteredTaxpayer], at: datetime, by: str) -> int:
    """Put these in place of the register in force; return how many. One transaction: readers see the old one meanwhile.

    An error that `taxpayers` raises leaves the old one in force.
    """
    # A million rows take longer than the statements of a session may.
    await conn.execute("SELECT set_config('statement_timeout', %s, true)", (_LIMIT,))
    await conn.execute(_LOCK)
    row = await (await conn.execute(_LAST)).fetchone()
    assert row is not None
    generation = row[0] + 1
    many, chunk = 0, bytearray()
    async with conn.cursor().copy(_COPY.encode()) as copy:
        for one in taxpayers:
            cells = (one.rnc, one.name, one.trade_name, one.activity, one.status, one.regime)
            chunk += (
                "\t".join(
                    (
                        str(generation),
                        *map(_escaped, cells),
                    )
                ).encode()
                + b"\n"
            )
            many += 1
            if len(chunk) > _CHUNK:
                await copy.write(bytes(chunk))
                chunk.clear()
        await copy.write(bytes(chunk))
    await conn.execute(_NAME, {"generation": generation, "rows": many, "at": at, "by": by})
    await conn.execute(_DROP, {"generation": generation})
    return many


def _escaped(cell: str) -> str:
    return cell.replace("\\", "\\\\").replace("\t", " ").replace("\n", " ").replace("\r", " ")
