"""Two kinds of work that are no submissions, with tables and outcomes of their own: no-op jobs, and deliveries."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg.rows import scalar_row

from fe.identifiers import TenantId
from fe.queue.outcome import Advance, End, InDoubt, Outcome, Park, Retry
from fe.queue.stage import WorkKind
from fe.store.postgres.db import Conn, Database
from fe.store.postgres.errors import LeaseLost
from fe.store.queue import outbox
from fe.store.queue.outbox import OutboxShare
from tests.factories.tenants import rows

TABLES = """
    CREATE TABLE jobs (
        tenant_id bigint, subject uuid DEFAULT gen_random_uuid(), stage text DEFAULT 'run',
        environment text DEFAULT 'any', host text DEFAULT '', run_at timestamptz DEFAULT now(),
        attempt int DEFAULT 0, epoch bigint DEFAULT 0,
        holder text, deaths int DEFAULT 0, entered_at timestamptz DEFAULT now(), last_error text,
        poisoned boolean DEFAULT false, PRIMARY KEY (tenant_id, subject));
    CREATE TABLE deliveries (LIKE jobs INCLUDING ALL);
    ALTER TABLE deliveries ALTER stage SET DEFAULT 'deliver', ADD posted_epoch bigint, ADD delivered_at timestamptz,
          ADD gave_up text;
    CREATE TABLE log (subject uuid, what text, n int GENERATED ALWAYS AS IDENTITY);
    CREATE FUNCTION refuse_poison() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF old.poisoned THEN RAISE EXCEPTION 'poison'; END IF;
        RETURN old;
    END $$;
    CREATE TRIGGER poison BEFORE DELETE ON jobs FOR EACH ROW EXECUTE FUNCTION refuse_poison();
    GRANT ALL ON jobs, deliveries, log TO fe_worker;
    GRANT EXECUTE ON FUNCTION refuse_poison() TO fe_worker
"""


async def make_tables(db: Database) -> None:
    for statement in re.split(r";\n    (?=CREATE|ALTER|GRANT)", TABLES):
        await rows(db, statement)


@dataclass(frozen=True, slots=True)
class Lane:
    """Whatever holds together: jobs have one lane, deliveries one for each endpoint's host."""

    name: str

    @property
    def group(self) -> str:
        return "any"

    @property
    def takes_all(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class Item:
    """A claimed row of either."""

    lane: Lane
    tenant_id: TenantId
    subject: UUID
    attempt: int
    epoch: int
    crash_count: int
    waited: timedelta
    last_error: str | None


class Source:
    """Claims by the outbox's own statements, from another table."""

    def __init__(self, table: str) -> None:
        self._floors, self._due, self._claim = (
            re.sub(r"\boutbox\b", table, statement).encode()
            for statement in (outbox._FLOORS, outbox._DUE_TENANTS, outbox._CLAIM)
        )

    async def floors_of(self, conn: Conn, stage: str, lanes: Sequence[Lane]) -> Mapping[Lane, datetime]:
        cursor = await conn.execute(self._floors, {"stage": stage})
        found = {host: floor for _, host, floor in await cursor.fetchall()}
        return {lane: found.get(lane.name, found[""]) for lane in lanes}

    async def due_tenants(
        self,
        conn: Conn,
        stage: str,
        lanes: Sequence[tuple[Lane, int]],
        limit: int,
        *,
        floors: Mapping[Lane, datetime],
    ) -> Mapping[Lane, Sequence[OutboxShare]]:
        names = {lane.name: lane for lane, _ in lanes}
        values = {
            "stage": stage,
            "environments": ["any"] * len(lanes),
            "hosts": list(names),
            "afters": [after for _, after in lanes],
            "floors": [floors.get(lane, outbox.ALWAYS) for lane, _ in lanes],
            "limit": limit,
        }
        cursor = await conn.execute(self._due, values)
        turns: dict[Lane, list[OutboxShare]] = {lane: [] for lane, _ in lanes}
        for _, host, tenant_id, weight in await cursor.fetchall():
            turns[names[host]].append(OutboxShare(tenant_id, weight))
        return turns

    async def claim(
        self,
        conn: Conn,
        stage: str,
        lane: Lane,
        scope: Sequence[TenantId],
        shares: Sequence[int],
        *,
        lease: timedelta,
        holder: str,
        floor: datetime,
    ) -> list[Item]:
        values = {"stage": stage, "environment": "any", "host": lane.name, "floor": floor, "holder": holder}
        cursor = await conn.execute(
            self._claim, {**values, "scope": list(scope), "shares": list(shares), "lease": lease}
        )
        return [Item(lane, *row) for row in await cursor.fetchall()]


async def _book(conn: Conn, item: Item, statement: str, **values: Any) -> None:
    """Run a fenced statement and put it on record; nothing was written when the claim is not ours any more."""
    fenced = (
        f"WITH booked AS ({statement} WHERE tenant_id = %(tenant)s AND subject = %(subject)s AND epoch = %(epoch)s"
        " AND holder IS NOT NULL RETURNING subject)"
        " INSERT INTO log (subject, what) SELECT subject, %(what)s FROM booked"
    )
    keys = {"tenant": item.tenant_id, "subject": item.subject, "epoch": item.epoch}
    cursor = await conn.execute(fenced.encode(), {**keys, **values})
    if not cursor.rowcount:
        raise LeaseLost


# --- No-op jobs ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Done(End):
    name: str = "done"


async def _done(conn: Conn, item: Item, _: Done, at: datetime) -> None:
    await _book(conn, item, "DELETE FROM jobs", what="done")


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


async def _all_done(conn: Conn, items: Sequence[tuple[Item, Done]], at: datetime) -> list[bool]:
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
    return [work.subject in gone for work in works]


def _retry_in(table: str) -> Callable[[Conn, Item, Retry, datetime], Awaitable[None]]:
    async def retry(conn: Conn, item: Item, outcome: Retry, at: datetime) -> None:
        update = (
            f"UPDATE {table} SET holder = NULL, run_at = now() + %(after)s, last_error = %(reason)s,"
            " attempt = attempt - %(back)s"
        )
        await _book(
            conn,
            item,
            update,
            after=outcome.after,
            reason=outcome.reason,
            back=int(not outcome.counts),
            what=outcome.name,
        )

    return retry


async def _bury(conn: Conn, item: Item, outcome: Park, at: datetime) -> None:
    await _book(conn, item, "DELETE FROM jobs", what=f"parked: {outcome.reason}")


JOBS: WorkKind[Item] = WorkKind(
    Source("jobs"), {Done: _done, Retry: _retry_in("jobs"), Park: _bury}, batches={Done: _all_done}
)


# --- Deliveries: a POST that may have arrived though nobody answered, and a stage that asks ---------------------------


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
    await _book(conn, item, "UPDATE deliveries SET posted_epoch = epoch", what="intended")


async def _delivered(conn: Conn, item: Item, _: Delivered, at: datetime) -> None:
    update = "UPDATE deliveries SET holder = NULL, stage = 'over', delivered_at = %(at)s"
    await _book(conn, item, update, at=at, what="delivered")


_MOVE = (
    "UPDATE deliveries SET holder = NULL, stage = %(to)s, attempt = 0, run_at = now() + %(after)s, entered_at = now()"
)


async def _posted(conn: Conn, item: Item, outcome: Posted, at: datetime) -> None:
    await _book(conn, item, _MOVE, to=outcome.to, after=outcome.after, what="posted")


async def _doubted(conn: Conn, item: Item, outcome: InDoubt, at: datetime) -> None:
    await _book(conn, item, _MOVE, to=outcome.to, after=outcome.after, what=f"in doubt: {outcome.reason}")


async def _gave_up(conn: Conn, item: Item, outcome: Park, at: datetime) -> None:
    update = "UPDATE deliveries SET holder = NULL, stage = 'over', gave_up = %(reason)s"
    await _book(conn, item, update, reason=outcome.reason, what="gave up")


async def _is_posted(conn: Conn, item: Item) -> bool:
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute("SELECT posted_epoch IS NOT NULL FROM deliveries WHERE subject = %s", (item.subject,))
    return bool(await cursor.fetchone())


def delivery_kind(written: Callable[[Item, Outcome], None] = lambda _, __: None) -> WorkKind[Item]:
    return WorkKind(
        Source("deliveries"),
        {
            Delivered: _delivered,
            Posted: _posted,
            InDoubt: _doubted,
            Retry: _retry_in("deliveries"),
            Park: _gave_up,
        },
        is_open=_is_posted,
        written=written,
    )
