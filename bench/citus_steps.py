"""Cost of the store's steps on an engine: accept, claim, book, read, and look for due work."""

import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import psycopg
import trio

from fe.clock import system_clock
from fe.ecf.catalogue import EcfType, Environment, Host, Root
from fe.ecf.ids import new_id
from fe.identifiers import ApiKeyId, ClientRequestId, SubmissionId, TenantId, TrackId
from fe.issuing.accept import Acceptance
from fe.lifecycle import NumberFate, Stage, Status
from fe.queue.stage import Together
from fe.store.citus.node_local_claims import NodeLocalClaims
from fe.store.engines import EngineName, engine_named
from fe.store.postgres.db import Conn, Database, open_database
from fe.store.postgres.roles import FRONT, WORKER
from fe.store.queue import outbox, steps
from fe.store.queue.capacity import LaneCapacity, Terms
from fe.store.queue.claim import claim_together
from fe.store.queue.outbox import OutboxLane, Work
from fe.store.queue.tables import ALWAYS
from fe.store.queue.wakeups import Wakeups
from fe.store.records import submissions
from fe.store.records.submissions import NewSubmission
from tests.factories.tenants import DOCUMENT

TASKS = 8
#: Rows of a claim and of a booking in a busy process; of a claim at the start on a backlog, which is all that a tenant
#: may have in flight; and submissions of a group that is accepted together.
BATCH = 20
BACKLOG = 48
GROUP = 10
_UNSIGNED = OutboxLane(Environment.ECF)
_SIGNED = OutboxLane(Environment.ECF, Host.ECF)
_LEASE = timedelta(seconds=300)
#: As long as a receipt of a few lines, as it comes and as it is signed.
_ORIGINAL = b"x" * 3000
_DOCUMENT = b"x" * 6600
_TENANTS = """
    INSERT INTO tenants (tenant_id, name, issuer)
    SELECT %s + n, 'bench ' || %s + n, '{}' FROM generate_series(1, %s) AS n
"""
#: Of the tables of one kind of rows, wherever they lie: index entries read and rows read without an index.
_READS = """
    SELECT coalesce(sum(i.idx_tup_read), 0)::bigint
           + coalesce((SELECT sum(t.seq_tup_read) FROM pg_stat_all_tables AS t WHERE t.relname ~ %(name)s), 0)::bigint
      FROM pg_stat_all_indexes AS i
     WHERE i.relname ~ %(name)s
"""
_BACKLOG = """
    INSERT INTO outbox (tenant_id, subject, stage, environment, run_at, entered_at)
    SELECT %(first)s + 1 + n %% %(tenants)s, gen_random_uuid(), 'reconcile', 'ecf', now() - interval '1 hour', now()
      FROM generate_series(1, %(rows)s) AS n
"""


@dataclass(frozen=True, slots=True)
class Rates:
    """How many a second, of each step."""

    accepted: float
    accepted_as_served: float
    accepted_apart: float
    accepted_in_groups: float
    claimed: float
    claimed_of_backlog: float
    signed: float
    received: float
    decided: float
    read: float
    empty_claims: float


def make_tenants(dsn: str, many: int, after: int = 1000) -> list[TenantId]:
    """Make tenants that nothing is known of but their names; give their numbers."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(_TENANTS, (after, after, many))
    return [TenantId(after + nth) for nth in range(1, many + 1)]


def measure_steps(dsn: str, engine: EngineName, tenants: Sequence[TenantId], seconds: float) -> Rates:
    """Measure each step for some seconds, or until no row is left to claim; in the end no row is due."""
    return trio.run(_measure, dsn, engine, tenants, seconds)


async def _measure(dsn: str, name: EngineName, tenants: Sequence[TenantId], seconds: float) -> Rates:
    engine = engine_named(name)
    async with (
        open_database(dsn, role=FRONT, max_size=TASKS, engine=engine) as front,
        open_database(dsn, role=WORKER, max_size=2, engine=engine) as actors,
    ):
        turn = count()
        accepted: list[tuple[TenantId, SubmissionId]] = []

        async def one() -> None:
            new = _submission(tenants[next(turn) % len(tenants)])
            await front.run(submissions.accept, new, datetime.now(UTC))
            accepted.append((new.tenant_id, new.submission_id))

        async def as_served() -> None:
            await acceptance.accept(_submission(tenants[next(turn) % len(tenants)]), datetime.now(UTC))

        async def group() -> None:
            nth = next(turn)
            news = [(_submission(tenants[(nth + n) % len(tenants)]), datetime.now(UTC)) for n in range(GROUP)]
            await front.run(submissions.accept_many, news)

        async def look() -> None:
            tenant_id, submission_id = accepted[next(turn) % len(accepted)]
            assert await front.run_for(tenant_id, submissions.find, submission_id) is not None

        alone = await _rate(one, seconds, 1)
        acceptance = Acceptance(front, Wakeups(front))
        async with acceptance.running():
            served = await _rate(as_served, seconds)
        apart = await _rate(one, seconds)
        grouped = GROUP * await _rate(group, seconds)
        reads = await _rate(look, seconds)
        _, of_backlog = await _claim_for(actors, Stage.SIGN, seconds / 2, BACKLOG)
        signing, claimed = await _claim_for(actors, Stage.SIGN, seconds)
        signed = await _book(actors, signing, _signed)
        sending, _ = await _claim_for(actors, Stage.SEND, seconds)
        received = await _book(actors, sending, _received)
        tracking, _ = await _claim_for(actors, Stage.TRACK, seconds)
        decided = await _book(actors, tracking, _decided)
        await trio.to_thread.run_sync(_leave_nothing_due, dsn)

        async def nothing() -> None:
            assert not await actors.run(_claim, Stage.SIGN)

        return Rates(
            accepted=alone,
            accepted_as_served=served,
            accepted_apart=apart,
            accepted_in_groups=grouped,
            claimed=claimed,
            claimed_of_backlog=of_backlog,
            signed=signed,
            received=received,
            decided=decided,
            read=reads,
            empty_claims=await _rate(nothing, seconds / 2, 1),
        )


def measure_claims(
    dsn: str, engine: EngineName, tenants: Sequence[TenantId], rows: int, near: str | None = None
) -> float:
    """Accept submissions and claim them for signing, 20 together; return rows per second. `near`: node to claim from.

    All of them lie there then.
    """
    return trio.run(_measure_claims, dsn, engine, tenants, rows, near)


async def _measure_claims(
    dsn: str, name: EngineName, tenants: Sequence[TenantId], many: int, near: str | None
) -> float:
    engine = engine_named(name)
    async with AsyncExitStack() as opened:
        front = await opened.enter_async_context(open_database(dsn, role=FRONT, max_size=2, engine=engine))
        actors = await opened.enter_async_context(open_database(dsn, role=WORKER, max_size=2, engine=engine))
        together: Together[Work] = claim_together
        if near is not None:
            node = await opened.enter_async_context(open_database(near, role=WORKER, max_size=2, engine=engine))
            together = NodeLocalClaims(node, system_clock).claim

        async def claim() -> Sequence[Work]:
            return await actors.run(_claim, Stage.SIGN, together=together)

        for start in range(0, many, GROUP):
            news = [(_submission(tenants[(start + n) % len(tenants)]), datetime.now(UTC)) for n in range(GROUP)]
            await front.run(submissions.accept_many, news)
        await claim()  # warm
        claimed, began = 0, time.perf_counter()
        while works := await claim():
            claimed += len(works)
        elapsed = time.perf_counter() - began
    await trio.to_thread.run_sync(_leave_nothing_due, dsn)
    assert claimed >= many - BATCH, "they do not all lie there"
    return claimed / elapsed


def _submission(tenant_id: TenantId) -> NewSubmission:
    submission_id = SubmissionId(new_id(datetime.now(UTC)))
    return NewSubmission(
        tenant_id=tenant_id,
        submission_id=submission_id,
        environment=Environment.ECF,
        api_key_id=ApiKeyId("fak_000000000000"),
        client_request_id=ClientRequestId(str(submission_id)),
        body_digest=b"x" * 32,
        format="structured",
        root=Root.ECF,
        ecf_type=EcfType("31"),
        e_ncf=None,
        issuer_rnc="131880738",
        buyer_rnc=None,
        as_user=None,
        as_user_id=None,
        original=_ORIGINAL,
    )


async def _rate(act: Callable[[], Awaitable[None]], seconds: float, tasks: int = TASKS) -> float:
    done, began = 0, time.perf_counter()

    async def work() -> None:
        nonlocal done
        while time.perf_counter() < began + seconds:
            await act()
            done += 1

    async with trio.open_nursery() as nursery:
        for _ in range(tasks):
            nursery.start_soon(work)
    return done / (time.perf_counter() - began)


async def _claim(
    conn: Conn, stage: Stage, rows: int = BATCH, *, together: Together[Work] = claim_together
) -> list[Work]:
    place = _SIGNED if stage in {Stage.SEND, Stage.TRACK} else _UNSIGNED
    lane = LaneCapacity(place, TenantId(0), ALWAYS, rows, 0)
    terms = Terms(_LEASE, "bench", rows, rows, scope=64, max_per_tenant=rows, busy={})
    claims = await together(conn, stage.value, [lane], terms)
    return [work for claim in claims for work in claim.works]


async def _claim_for(db: Database, stage: Stage, seconds: float, rows: int = BATCH) -> tuple[list[list[Work]], float]:
    """Claim for some seconds, or until no row is due; return the batches, and rows per second."""
    batches: list[list[Work]] = []
    began = time.perf_counter()
    while time.perf_counter() < began + seconds and (works := await db.run(_claim, stage, rows)):
        batches.append(works)
    return batches, sum(map(len, batches)) / (time.perf_counter() - began)


async def _book(
    db: Database, batches: Sequence[list[Work]], book: Callable[[Conn, list[Work]], Awaitable[Sequence[Any]]]
) -> float:
    began = time.perf_counter()
    for works in batches:
        works.sort(key=lambda work: (work.tenant_id, work.subject))  # in the order of bookings (outbox.py)
        assert all(await db.run(book, works))
    return sum(map(len, batches)) / (time.perf_counter() - began)


def _leave_nothing_due(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("DELETE FROM outbox")
        # When a server cleans up by itself differs from round to round; what is dead slows down who looks for due rows.
        conn.execute("VACUUM (ANALYZE) outbox")


async def _signed(conn: Conn, works: list[Work]) -> Sequence[Any]:
    now = datetime.now(UTC)
    document = replace(DOCUMENT, signed=_DOCUMENT, signed_at=now)
    return await steps.signed(conn, works, [document] * len(works), at=now, leases=[None] * len(works))


async def _received(conn: Conn, works: list[Work]) -> Sequence[Any]:
    return await outbox.received(
        conn,
        works,
        at=datetime.now(UTC),
        track_ids=[TrackId(str(work.subject)) for work in works],
        afters=[timedelta(0)] * len(works),
        replies=[{"trackId": str(work.subject)} for work in works],
        leases=[None] * len(works),
    )


async def _decided(conn: Conn, works: list[Work]) -> Sequence[Any]:
    return await outbox.verdict(
        conn,
        works,
        at=datetime.now(UTC),
        statuses=[Status.ACCEPTED] * len(works),
        track_ids=[TrackId(str(work.subject)) for work in works],
        responses=[{"estado": "Aceptado"}] * len(works),
        fates=[NumberFate.USED] * len(works),
    )


# --- the search for due work --------------------------------------------------------------------------------------


def fill_backlog(dsn: str, tenants: Sequence[TenantId], rows: int) -> None:
    """Add due rows, of these tenants in turn."""
    values = {"first": tenants[0] - 1, "tenants": len(tenants), "rows": rows}
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(_BACKLOG, values)
        conn.execute("ANALYZE outbox")


def rows_read(dsn: str, servers: Sequence[str], engine: EngineName) -> tuple[int, float]:
    """Claim a batch, and tell how many entries and rows of outboxes the servers read for it, and how long it took."""
    before = _reads(servers)
    took = trio.run(_claim_once, dsn, engine)
    time.sleep(1.5)  # a server adds to its statistics some time after a session has ended
    return _reads(servers) - before, took


async def _claim_once(dsn: str, name: EngineName) -> float:
    async with open_database(dsn, role=WORKER, max_size=1, engine=engine_named(name)) as db:
        began = time.perf_counter()
        assert len(await db.run(_claim, Stage.RECONCILE)) == BATCH
        return time.perf_counter() - began


def _reads(servers: Sequence[str]) -> int:
    total = 0
    for server in servers:
        with psycopg.connect(server, autocommit=True) as conn:
            conn.execute("SET citus.override_table_visibility = off")  # a worker hides shards from who is no node
            row = conn.execute(_READS, {"name": "^outbox(_[0-9]+)?$"}).fetchone()
        assert row is not None
        total += row[0]
    return total
