"""Modes that open and close during a run, and samples of the terms beside what waits at the same moment."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import trio

from fe.accounts import modes as flow
from fe.accounts.audited_changes import Author
from fe.accounts.modes import ModeRefused
from fe.contingency import Clock, Mode, TermState
from fe.ecf.catalogue import Environment
from fe.identifiers import SubmissionId, TenantId
from fe.store.postgres.db import Conn, Database, open_database
from fe.store.postgres.errors import DatabaseUnavailable
from fe.store.records import paper_ranges, statistics, tenants

#: Strikes that put a tenant into a mode for a while.
MODE_STRIKES = {"line goes down": Mode.OFFLINE, "sending is deferred": Mode.DEFERRED}
_AGAIN = 0.3
_SAMPLE_SECONDS = 1.0


async def hold(dsn: str, tenant_id: TenantId, environment: Environment, mode: Mode, seconds: float) -> None:
    """Set a mode, and the normal one after `seconds`. A tenant in another mode is left alone."""
    async with open_database(dsn, max_size=1) as db:
        try:
            await _set(db, tenant_id, environment, mode)
        except ModeRefused:
            return
        with trio.CancelScope(shield=True):
            await trio.sleep(seconds)
            with suppress(ModeRefused):  # a change whose answer was lost was made
                await _set(db, tenant_id, environment, Mode.NORMAL)


async def _set(db: Database, tenant_id: TenantId, environment: Environment, mode: Mode) -> None:
    async def change(conn: Conn) -> None:
        tenant = await tenants.locked(conn, tenant_id)
        assert tenant is not None
        by = Author("the fault suite", datetime.now(UTC), "cli")
        how: dict[str, Any] = (
            {"number": "A-1", "valid_until": by.today + timedelta(days=9)} if mode is Mode.DEFERRED else {}
        )
        await flow.change(conn, by, tenant, environment, mode, "a strike", **how)

    while True:
        try:
            return await db.transact(change)
        except DatabaseUnavailable:
            await trio.sleep(_AGAIN)


@dataclass(frozen=True)
class TermSample:
    """At one moment: how many documents are past the urgent alarm of the 72 hours, and which ones wait."""

    at: datetime
    urgent: int
    waiting: Sequence[SubmissionId]


#: Paper receipts of each tenant that its clients replace.
PAPERS = 4


async def declare_papers(db: Database, tenant_id: TenantId, environment: Environment, now: datetime) -> None:
    """Record a range of paper, and a contingency an hour long that is over, for receipts to be replaced."""
    by = Author("the fault suite", now, "cli")

    async def declare(conn: Conn) -> None:
        for mode, how in (
            (Mode.CONTINGENCY, {"number": "C-1", "since": now - timedelta(hours=1)}),
            (Mode.NORMAL, dict[str, Any]()),
        ):
            tenant = await tenants.locked(conn, tenant_id)
            assert tenant is not None
            await flow.change(conn, by, tenant, environment, mode, "papers", **how)
        ends = now.date() + timedelta(days=99)
        range_ = paper_ranges.PaperRange(uuid4(), environment, "B01", 1, PAPERS, 1, ends, now, by.by_whom)
        await paper_ranges.add(conn, tenant_id, range_)

    await db.transact(declare)


_WAITING = """
    SELECT now(), o.subject FROM outbox AS o WHERE o.stage IN ('send', 'reconcile') AND o.run_at < 'infinity'
    UNION ALL
    SELECT now(), d.subject FROM dead_letters AS d WHERE d.stage IN ('send', 'reconcile')
"""


async def sample_terms(dsn: str, samples: list[TermSample]) -> None:
    """Take a sample every second, until cancelled."""

    async def look(conn: Conn) -> None:
        await conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        terms = await statistics.terms(conn)
        waiting = await (await conn.execute(_WAITING)).fetchall()
        urgent = sum(n for _, clock, state, n in terms if clock is not Clock.PERIOD and state is not TermState.SOON)
        if waiting:
            samples.append(TermSample(waiting[0][0], urgent, [SubmissionId(one) for _, one in waiting]))

    async with open_database(dsn, max_size=1) as db:
        while True:
            with suppress(DatabaseUnavailable):
                await db.transact(look)
            await trio.sleep(_SAMPLE_SECONDS)
