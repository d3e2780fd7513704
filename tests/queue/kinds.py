"""Two kinds of work that are no submissions, with tables and outcomes of their own: no-op jobs, and deliveries."""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from psycopg.rows import scalar_row

from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.queue.outcome import Advance, End, InDoubt, Outcome, Park, Retry, Writer
from fe.queue.stage import WorkKind
from fe.store.postgres.db import Conn, Database
from fe.store.postgres.errors import LeaseLost
from fe.store.queue.tables import QueueTable
from tests.factories.tenants import rows

_PAGE = Path(__file__).parents[2] / "docs" / "reference" / "queue-table.md"


def ddl(table: str, stages: str) -> list[str]:
    """The statements that the page has a new kind copy, for a table and its stages ("'one', 'another'")."""
    (block,) = re.findall(r"```sql\n(.*?)```", _PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return [
        statement.replace("deliveries", table).replace("'deliver', 'confirm'", stages)
        for statement in block.split(";\n")
    ]


BESIDE = """
    ALTER TABLE jobs ALTER stage SET DEFAULT 'run', ALTER environment SET DEFAULT 'ecf', ALTER run_at SET DEFAULT now(),
          ALTER subject SET DEFAULT gen_random_uuid(), ADD poisoned boolean DEFAULT false;
    ALTER TABLE deliveries ALTER stage SET DEFAULT 'deliver', ALTER environment SET DEFAULT 'ecf',
          ALTER run_at SET DEFAULT now(), ALTER subject SET DEFAULT gen_random_uuid(),
          ADD posted_epoch bigint, ADD delivered_at timestamptz, ADD gave_up text;
    CREATE TABLE log (subject uuid, what text, n int GENERATED ALWAYS AS IDENTITY);
    CREATE FUNCTION refuse_poison() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF old.poisoned THEN RAISE EXCEPTION 'poison'; END IF;
        RETURN old;
    END $$;
    CREATE TRIGGER poison BEFORE DELETE ON jobs FOR EACH ROW EXECUTE FUNCTION refuse_poison();
    GRANT ALL ON log TO fe_worker;
    GRANT EXECUTE ON FUNCTION refuse_poison() TO fe_worker
"""


async def make_tables(db: Database) -> None:
    """The tables of both kinds, as the page says, and what the tests have beside."""
    own = re.split(r";\n    (?=CREATE|ALTER|GRANT)", BESIDE)
    for statement in [*ddl("jobs", "'run'"), *ddl("deliveries", "'deliver', 'confirm', 'over'"), *own]:
        await rows(db, statement)


@dataclass(frozen=True, slots=True)
class Lane:
    """Whatever holds together: jobs have one lane, deliveries one for each endpoint's host."""

    host: str
    environment: Environment = Environment.ECF

    @property
    def group(self) -> str:
        return self.environment

    @property
    def takes_all(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Item:
    """A claimed row of either."""

    stage: str
    lane: Lane
    tenant_id: TenantId
    subject: UUID
    attempt: int
    epoch: int
    crash_count: int
    waited: timedelta
    last_error: str | None


JOBS_TABLE: QueueTable[Lane, Item] = QueueTable("jobs", Item)
DELIVERIES_TABLE: QueueTable[Lane, Item] = QueueTable("deliveries", Item)


async def _book(conn: Conn, item: Item, statement: str, **values: Any) -> bool:
    """Run a fenced statement and put it on record; False, and nothing written: the claim is not ours any more."""
    fenced = (
        f"WITH booked AS ({statement} WHERE tenant_id = %(tenant)s AND subject = %(subject)s AND epoch = %(epoch)s"
        " AND holder IS NOT NULL RETURNING subject)"
        " INSERT INTO log (subject, what) SELECT subject, %(what)s FROM booked"
    )
    keys = {"tenant": item.tenant_id, "subject": item.subject, "epoch": item.epoch}
    cursor = await conn.execute(fenced.encode(), {**keys, **values})
    return cursor.rowcount > 0


def one_by_one(write: Callable[[Conn, Item, Any, datetime], Awaitable[bool]]) -> Writer[Item]:
    """A writer that makes a statement for each, in one transaction."""

    async def write_all(conn: Conn, items: Sequence[tuple[Item, Any]], at: datetime) -> list[Outcome | None]:
        async with conn.transaction():
            return [outcome if await write(conn, item, outcome, at) else None for item, outcome in items]

    return write_all


# --- No-op jobs ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Done(End):
    name: str = "done"


_ALL_DONE = """
    WITH gone AS (
        DELETE FROM jobs AS j
         USING unnest(%(tenants)s::bigint[], %(subjects)s::uuid[], %(epochs)s::bigint[])
                      AS d (tenant_id, subject, epoch)
         WHERE j.tenant_id = d.tenant_id AND j.subject = d.subject AND j.epoch = d.epoch AND j.holder IS NOT NULL
        RETURNING j.subject
    )
    INSERT INTO log (subject, what) SELECT subject, 'done' FROM gone RETURNING subject
"""


async def _done(conn: Conn, items: Sequence[tuple[Item, Done]], at: datetime) -> list[Outcome | None]:
    works = [work for work, _ in items]
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(
        _ALL_DONE,
        {
            "tenants": [work.tenant_id for work in works],
            "subjects": [work.subject for work in works],
            "epochs": [work.epoch for work in works],
        },
    )
    gone = set(await cursor.fetchall())
    return [done if work.subject in gone else None for work, done in items]


def _retry_in(table: str) -> Writer[Item]:
    async def retry(conn: Conn, item: Item, outcome: Retry, at: datetime) -> bool:
        update = (
            f"UPDATE {table} SET holder = NULL, deaths = 0, run_at = now() + %(after)s, last_error = %(reason)s,"
            " attempt = attempt - %(back)s"
        )
        return await _book(
            conn,
            item,
            update,
            after=outcome.after,
            reason=outcome.reason,
            back=int(not outcome.counts),
            what=outcome.name,
        )

    return one_by_one(retry)


async def _bury(conn: Conn, item: Item, outcome: Park, at: datetime) -> bool:
    return await _book(conn, item, "DELETE FROM jobs", what=f"parked: {outcome.reason}")


JOBS: WorkKind[Item] = WorkKind(JOBS_TABLE, {Done: _done, Retry: _retry_in("jobs"), Park: one_by_one(_bury)})


# --- Deliveries: a POST that may have arrived without an answer, and a stage that asks
# -----------------------------------


@dataclass(frozen=True, slots=True)
class Delivered(End):
    name: str = "delivered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted(Advance):
    """The endpoint took it, and says later whether it could be used."""

    to: str = "confirm"
    name: str = "posted"


async def post(conn: Conn, item: Item) -> None:
    """Say, before the first byte, that something goes out."""
    if not await _book(conn, item, "UPDATE deliveries SET posted_epoch = epoch", what="intended"):
        raise LeaseLost


async def _delivered(conn: Conn, item: Item, _: Delivered, at: datetime) -> bool:
    update = "UPDATE deliveries SET holder = NULL, stage = 'over', delivered_at = %(at)s"
    return await _book(conn, item, update, at=at, what="delivered")


_MOVE = (
    "UPDATE deliveries SET holder = NULL, deaths = 0, stage = %(to)s, attempt = 0, run_at = now() + %(after)s,"
    " entered_at = now()"
)


async def _posted(conn: Conn, item: Item, outcome: Posted, at: datetime) -> bool:
    return await _book(conn, item, _MOVE, to=outcome.to, after=outcome.after, what="posted")


async def _doubted(conn: Conn, item: Item, outcome: InDoubt, at: datetime) -> bool:
    return await _book(conn, item, _MOVE, to=outcome.to, after=outcome.after, what=f"in doubt: {outcome.reason}")


async def _gave_up(conn: Conn, item: Item, outcome: Park, at: datetime) -> bool:
    update = "UPDATE deliveries SET holder = NULL, stage = 'over', gave_up = %(reason)s"
    return await _book(conn, item, update, reason=outcome.reason, what="gave up")


async def _are_posted(conn: Conn, items: Sequence[Item]) -> list[bool]:
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute("SELECT subject FROM deliveries WHERE posted_epoch IS NOT NULL")
    posted = set(await cursor.fetchall())
    return [item.subject in posted for item in items]


def delivery_kind(written: Callable[[Item, Outcome], None] = lambda _, __: None) -> WorkKind[Item]:
    return WorkKind(
        DELIVERIES_TABLE,
        {
            Delivered: one_by_one(_delivered),
            Posted: one_by_one(_posted),
            InDoubt: one_by_one(_doubted),
            Retry: _retry_in("deliveries"),
            Park: one_by_one(_gave_up),
        },
        are_open=_are_posted,
        written=written,
    )
