"""On Citus what is done by a call to a shard is kept or refused as any write is, wherever the shard is meanwhile."""

import re
import threading
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
import trio
from psycopg.conninfo import conninfo_to_dict

from fe.ecf.catalogue import Environment, Root
from fe.ecf.ids import new_id
from fe.identifiers import SequenceId, SubmissionId, TenantId, TrackId
from fe.lifecycle import NumberFate, Stage, Status, WebhookEvent
from fe.store.citus.distribution import distribute
from fe.store.citus.engine import CITUS
from fe.store.postgres.db import Conn, Database, open_database
from fe.store.postgres.errors import Contended
from fe.store.postgres.roles import WORKER
from fe.store.queue import outbox, steps
from fe.store.queue.capacity import LaneCapacity, Terms
from fe.store.queue.claim import claim_together
from fe.store.queue.outbox import OutboxLane, Work
from fe.store.queue.tables import ALWAYS
from fe.store.records import sequences, submissions
from fe.store.records.submissions import NewSubmission
from ops.citus.cluster import Cluster
from tests import citus
from tests.factories.tenants import (
    ACCEPTED_AT,
    DOCUMENT,
    claim_all,
    make_submission,
    make_tenant,
    new_submission,
    rows,
    take,
)
from tests.waiting import PATIENCE, until
from tests.webhooks.receiver import make_endpoint

pytestmark = pytest.mark.skipif(citus.programs() is None, reason="there is no cluster (make citus)")

_LONG = b'{"long": "' + b"x" * 5000 + b'"}'
_NOTE = """
    SELECT record_event_batch(ARRAY[%(tenant)s]::bigint[], ARRAY[%(subject)s]::uuid[], now(), 'retry',
                              ARRAY['{}']::jsonb[])
"""
#: The same by one who has not entered the shard.
_NOTE_OUTSIDE = """
    SELECT record_event_batch_there(a.anchor, NULL, ARRAY[%(tenant)s]::bigint[], ARRAY[%(subject)s]::uuid[], now(),
                                    'retry', ARRAY['{}']::jsonb[])
      FROM anchors AS a
     WHERE a.anchor = %(anchor)s
"""
_PLACE = """
    SELECT s.shardid, n.nodename, n.nodeport
      FROM pg_dist_shard AS s
      JOIN pg_dist_placement AS p ON p.shardid = s.shardid
      JOIN pg_dist_node AS n ON n.groupid = p.groupid
     WHERE s.shardid = get_shard_id_for_distribution_column('submissions', %s)
"""
_OTHERS = (
    "SELECT nodename, nodeport FROM pg_dist_node WHERE shouldhaveshards AND (nodename, nodeport) <> (%s, %s) LIMIT 1"
)
_MOVE = "SELECT citus_move_shard_placement(%s, %s, %s, %s, %s, shard_transfer_mode => 'block_writes')"
_WAITS = "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = %s"
_ISOLATE = "SELECT isolate_tenant_to_new_shard('submissions', %s, 'CASCADE', shard_transfer_mode => 'block_writes')"
#: As it was before it answered one array.
_FORMER_ANSWER = """
    DO $former$
    DECLARE
        parameters text := (SELECT pg_get_function_arguments(p.oid) FROM pg_proc AS p WHERE p.proname = 'claim_lane');
    BEGIN
        DROP FUNCTION claim_lane;
        EXECUTE format('CREATE FUNCTION claim_lane(%s) RETURNS SETOF jsonb LANGUAGE sql AS $$SELECT NULL::jsonb$$',
                       parameters);
    END
    $former$
"""
_RETRIES_OF = "SELECT count(*) FROM submission_events WHERE tenant_id = %(tenant)s AND kind = 'retry'"
_SERVING = """
    SELECT a.pid FROM pg_stat_activity AS a
     WHERE a.datname = current_database() AND a.state = 'idle in transaction' AND a.backend_type = 'client backend'
"""


async def retries(db: Database) -> int:
    (found,) = await rows(db, "SELECT count(*) FROM submission_events WHERE kind = 'retry'")
    return int(found["count"])


def move(dsn: str, tenant: TenantId, moving: psycopg.Connection) -> None:
    """Move the tenant's shard to another node."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        place = conn.execute(_PLACE, (tenant,)).fetchone()
        assert place is not None
        other = conn.execute(_OTHERS, place[1:]).fetchone()
        assert other is not None
    moving.execute(_MOVE, (*place, *other))


def held_up(dsn: str, kind: str) -> int:
    """How many wait on the nodes for a lock of this kind."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        statement = f"SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = '{kind}'"
        found = conn.execute("SELECT sum(result::int) FROM run_command_on_workers(%s)", (statement,)).fetchone()
    assert found is not None
    return int(found[0])


def note_all(conn: psycopg.Connection, batch: Sequence[tuple[TenantId, SubmissionId]]) -> None:
    """Write an event of each, in one call; retried after contention, as the result writer does."""
    tenants, subjects = [tenant for tenant, _ in batch], [subject for _, subject in batch]
    while True:
        try:
            conn.execute(
                """SELECT record_event_batch(%s::bigint[], %s::uuid[], now(), 'retry',
                                             array_fill('{}'::jsonb, ARRAY[cardinality(%s::bigint[])]))""",
                (tenants, subjects, tenants),
            )
        except psycopg.errors.SerializationFailure:
            continue
        return


def wait_until_it_waits(dsn: str, moving: psycopg.Connection, mover: threading.Thread) -> None:
    until = time.monotonic() + PATIENCE
    with psycopg.connect(dsn, autocommit=True) as watching:
        while watching.execute(_WAITS, (moving.info.backend_pid,)).fetchone() != (True,):
            assert mover.is_alive()
            assert time.monotonic() < until
            time.sleep(0.01)


async def test_a_shard_moves_when_whoever_is_in_it_is_done_and_is_entered_where_it_is_then(
    db: Database, dsn: str
) -> None:
    tenant = await make_tenant(db)
    subject = await make_submission(db, tenant)
    given = {"tenant": tenant, "subject": subject}

    with psycopg.connect(dsn) as booking, psycopg.connect(dsn, autocommit=True) as moving:
        booking.execute(_NOTE.encode(), given)
        mover = threading.Thread(target=move, args=(dsn, tenant, moving))
        mover.start()
        before = booking.execute(_PLACE, (tenant,)).fetchone()
        wait_until_it_waits(dsn, moving, mover)
        booking.commit()
        mover.join()
        booking.execute(_NOTE.encode(), given)
        booking.commit()
        assert booking.execute(_PLACE, (tenant,)).fetchone() != before

    assert await retries(db) == 2
    (signing,) = await claim_all(db, Stage.SIGN, [tenant])
    assert signing.subject == subject


async def test_what_is_written_while_a_tenant_gets_a_shard_of_its_own_is_in_that_one(db: Database, dsn: str) -> None:
    """A statement that waited for its end knew the tenant's earlier shard."""
    tenant, others = await make_tenant(db), [await make_tenant(db) for _ in range(6)]
    batch = [(each, await make_submission(db, each)) for each in (tenant, *others)]

    with psycopg.connect(dsn) as booking, psycopg.connect(dsn, autocommit=True) as isolating:
        booking.execute(_NOTE.encode(), {"tenant": tenant, "subject": batch[0][1]})
        isolator = threading.Thread(target=isolating.execute, args=(_ISOLATE, (tenant,)))
        isolator.start()
        wait_until_it_waits(dsn, isolating, isolator)
        with psycopg.connect(dsn, autocommit=True) as one, psycopg.connect(dsn, autocommit=True) as many:
            notes = [(one, batch[:1]), (many, batch)]
            writers = [threading.Thread(target=note_all, args=note) for note in notes]
            for (conn, _), writer in zip(notes, writers, strict=True):
                writer.start()
                wait_until_it_waits(dsn, conn, writer)
            booking.commit()
            for thread in (isolator, *writers):
                thread.join()

    for nth, (each, _) in enumerate(batch):
        (found,) = await rows(db, _RETRIES_OF, tenant=each)
        assert found["count"] == (3 if nth == 0 else 1)


async def test_what_stands_alone_holds_its_shard_on_the_node_and_who_waits_for_it_finds_where_it_is_then(
    db: Database, dsn: str
) -> None:
    """The coordinator does not know of it: a move of the shard asks each node too."""
    tenant = await make_tenant(db)
    await db.run(
        sequences.put,
        tenant,
        Environment.ECF,
        "E31",
        new_id=SequenceId(new_id(ACCEPTED_AT)),
        minimum=1,
        maximum=100,
        expire_at=None,
        is_active=True,
        at=ACCEPTED_AT,
    )
    news = [new_submission(tenant, client_request_id=name, e_ncf=None, draw_prefix="E31") for name in "ab"]
    drawn: list[str | None] = []

    async def draw(nth: int) -> None:
        while True:  # as the acceptance does after contention
            try:
                drawn.append((await db.run(submissions.accept, news[nth], ACCEPTED_AT)).e_ncf)
            except Contended:
                continue
            return

    with psycopg.connect(dsn) as holding, psycopg.connect(dsn, autocommit=True) as moving:
        # Readers do not lock the shard.
        holding.execute("SELECT FROM sequences WHERE tenant_id = %s FOR UPDATE", (tenant,))
        before = moving.execute(_PLACE, (tenant,)).fetchone()
        mover = threading.Thread(target=move, args=(dsn, tenant, moving))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(draw, 0)
            await until(lambda: held_up(dsn, "transactionid") == 1)
            mover.start()
            await until(lambda: held_up(dsn, "advisory") == 1)  # so shards are locked
            nursery.start_soon(draw, 1)
            holding.rollback()
        await trio.to_thread.run_sync(mover.join)
        after = moving.execute(_PLACE, (tenant,)).fetchone()

    assert after != before
    assert sorted(map(str, drawn)) == ["E310000000001", "E310000000002"]
    assert {work.subject for work in await claim_all(db, Stage.SIGN, [tenant])} == {new.submission_id for new in news}


async def test_nothing_stands_alone_in_a_transaction(db: Database) -> None:
    tenant = await make_tenant(db)
    new = new_submission(tenant, client_request_id="a")

    async def take_in_and_fail(conn: Conn) -> None:
        await submissions.accept(conn, new, ACCEPTED_AT)
        await submissions.accept_many(conn, [(new, ACCEPTED_AT)])
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await db.transact(take_in_and_fail)

    assert await rows(db, "SELECT 1 FROM submissions") == []


async def test_a_verdict_that_may_go_on_to_others_is_booked_with_what_follows(db: Database) -> None:
    """Which one does, its node alone can tell: it refuses to book it by itself."""
    tenant = await make_tenant(db)
    asked: list[str] = []

    async def claimed(root: Root) -> list[Work]:
        subject = await make_submission(db, tenant, stage=Stage.TRACK, root=root, client_request_id=root.value)
        return [await take(db, subject)]

    async def book(conn: Conn, some: list[Work]) -> list[bool]:
        with pytest.MonkeyPatch.context() as patch:
            execute = psycopg.AsyncCursor.execute

            async def noted(cursor: psycopg.AsyncCursor[Any], query: str, *args: Any, **how: Any) -> Any:
                asked.append("alone" if "_alone(" in query else "together")
                return await execute(cursor, query, *args, **how)

            patch.setattr(psycopg.AsyncCursor, "execute", noted)
            return await outbox.verdict(
                conn,
                some,
                at=ACCEPTED_AT,
                statuses=[Status.ACCEPTED] * len(some),
                track_ids=[TrackId("track-1")] * len(some),
                responses=[{}] * len(some),
                fates=[NumberFate.USED] * len(some),
            )

    assert await db.run(book, await claimed(Root.ECF)) == [True]
    assert await db.run(book, await claimed(Root.ACECF)) == [True]
    assert asked == ["alone", "alone", "together"]


async def test_a_batch_of_several_nodes_does_not_stand_alone(db: Database, dsn: str) -> None:
    """One of its rows cannot be written: nothing of it is, on no node."""
    whose = [await make_tenant(db) for _ in range(6)]
    with psycopg.connect(dsn) as conn:
        places = {(conn.execute(_PLACE, (tenant,)).fetchone() or ())[1:] for tenant in whose}
    news = [(new_submission(tenant, client_request_id="a"), ACCEPTED_AT) for tenant in whose]
    broken = replace(news[-1][0], root="none")  # type: ignore[arg-type]  # which no column takes

    with pytest.raises(psycopg.Error):
        await db.run(submissions.accept_many, [*news[:-1], (broken, ACCEPTED_AT)])

    assert len(places) > 1
    assert await rows(db, "SELECT 1 FROM submissions") == []
    assert len(await db.run(submissions.accept_many, news)) == 6


@asynccontextmanager
async def sent_to_nodes(conn: Conn) -> AsyncIterator[list[str]]:
    """Record what the coordinator sends to nodes for this connection while the block runs."""
    sent: list[str] = []

    def told(diagnostic: psycopg.errors.Diagnostic) -> None:
        sent.append(diagnostic.message_primary or "")

    conn.add_notice_handler(told)
    await conn.execute("SET citus.log_remote_commands TO on")
    await conn.execute("SET client_min_messages TO notice")
    try:
        yield sent
    finally:
        await conn.execute("RESET client_min_messages")
        await conn.execute("RESET citus.log_remote_commands")
        conn.remove_notice_handler(told)


async def test_documents_go_to_their_node_as_parameters(db: Database) -> None:
    """Within a statement a document would be twice as long, and read as SQL is."""
    tenant = await make_tenant(db)

    async def take_in(conn: Conn) -> list[str]:
        batch = [new_submission(tenant, client_request_id=name, original=_LONG) for name in "abc"]
        async with sent_to_nodes(conn) as sent:
            await submissions.accept(conn, batch[0], ACCEPTED_AT)
            await submissions.accept_many(conn, [(new, ACCEPTED_AT) for new in batch[1:]])
        return sent

    calls = [text for text in await db.run(take_in) if "accept_submission" in text]

    assert len(calls) == 2
    assert not [text for text in calls if len(text) > len(_LONG)]
    kept = await rows(db, "SELECT content FROM submission_documents WHERE tenant_id = %(tenant)s", tenant=tenant)
    assert [bytes(row["content"]) for row in kept] == [_LONG] * 3


@pytest.mark.parametrize("told", [False, True])
async def test_what_is_signed_stands_alone_unless_somebody_is_to_be_told(db: Database, told: bool) -> None:
    """A receipt with a taken number ends on the node, and the coordinator writes the notifications about it."""
    tenant = await make_tenant(db)
    if told:
        await make_endpoint(db, tenant, "https://erp.example.com/", events=[WebhookEvent.ERROR])
    both = [await make_submission(db, tenant, e_ncf="E310000000007", client_request_id=name) for name in "ab"]
    first, second = [await take(db, subject) for subject in both]

    async def book(conn: Conn, work: Work) -> tuple[list[str], list[str]]:
        async with sent_to_nodes(conn) as sent:
            answers = await steps.signed(conn, [work], [DOCUMENT], at=datetime.now(UTC), leases=[None])
        return list(answers), sent

    answers, sent = await db.run(book, first)
    assert answers == ["signed"]
    assert any("BEGIN" in text for text in sent) == told
    answers, _ = await db.run(book, second)
    assert answers == ["taken"]
    assert len(await rows(db, "SELECT 1 FROM webhook_events WHERE tenant_id = %(tenant)s", tenant=tenant)) == told


async def test_batches_with_rows_in_the_same_shards_do_not_wait_for_each_other(db: Database, dsn: str) -> None:
    whose = [await make_tenant(db) for _ in range(6)]
    batches = [[(each, await make_submission(db, each)) for each in whose] for _ in range(2)]

    with psycopg.connect(dsn) as one, psycopg.connect(dsn, options="-c lock_timeout=1s") as other:
        for conn, batch in zip((one, other), batches, strict=True):
            note_all(conn, batch)  # a wait would be refused after a second
        for conn in (one, other):
            conn.commit()

    assert await retries(db) == 12


async def test_a_shard_without_an_anchor_gets_one_from_whoever_writes_there(db: Database, dsn: str) -> None:
    tenant = await make_tenant(db)
    subject = await make_submission(db, tenant)
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("DELETE FROM anchors WHERE anchor = (SELECT anchor_of(%s))", (tenant,))
        conn.execute(
            "DELETE FROM anchored_shards WHERE shard = get_shard_id_for_distribution_column('anchors', %s)", (tenant,)
        )
        conn.execute("SET ROLE fe_worker")
        for _ in range(2):
            conn.execute(_NOTE.encode(), {"tenant": tenant, "subject": subject})
        assert conn.execute("SELECT anchor_of(%s)", (tenant,)).fetchone() == (tenant,)

    assert await retries(db) == 2


async def test_who_finds_no_way_to_a_shard_is_refused_and_its_work_is_found(db: Database, dsn: str) -> None:
    """The coordinator shows a new anchor a moment before the node does; nothing may count as done without a call."""
    tenant = await make_tenant(db)
    subject = await make_submission(db, tenant)
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("DELETE FROM anchors WHERE anchor = (SELECT anchor_of(%s))", (tenant,))
        with pytest.raises(psycopg.errors.SerializationFailure):
            conn.execute(_NOTE.encode(), {"tenant": tenant, "subject": subject})
        due = conn.execute(
            """SELECT due_anywhere('outbox', 'sign', '{ecf}', '{""}', '{0}', '{-infinity}', 64) @> %s::jsonb""",
            (f"[[1, {tenant}, 1]]",),
        ).fetchone()

    assert due == (True,)
    assert await retries(db) == 0


async def test_a_claim_passes_over_a_node_that_cannot_be_asked_and_its_session_too(db: Database, dsn: str) -> None:
    """It is ready for that only once it has happened: to be ready costs a savepoint on each node."""
    tenant, other = await make_tenant(db), await make_tenant(db)
    with psycopg.connect(dsn, autocommit=True) as conn:
        while node_of(conn, other) == node_of(conn, tenant):
            other = await make_tenant(db)
        (anchors,) = conn.execute("SELECT anchors_of_nodes()").fetchone() or ([],)
        (lost,) = [each for each in anchors if node_of(conn, each) == node_of(conn, other)]
        subjects = [await make_submission(db, tenant), await make_submission(db, tenant)]
        conn.execute("DELETE FROM anchors WHERE anchor = %s", (lost,))

    async def claim(conn: Conn) -> list[Work]:
        lane = LaneCapacity(OutboxLane(Environment.ECF), TenantId(0), ALWAYS, 1, 0)
        (claimed,) = await claim_together(conn, Stage.SIGN, [lane], Terms(timedelta(minutes=5), "me", 1, 1, 64, 1, {}))
        return list(claimed.works)

    async def claim_twice(conn: Conn) -> list[Work]:
        first = await claim(conn)
        cursor = await conn.execute("SELECT current_setting('fe.looks_around_until')::timestamptz > clock_timestamp()")
        assert await cursor.fetchone() == (True,)
        return first + await claim(conn)

    assert {work.subject for work in await db.run(claim_twice)} == set(subjects)


async def test_each_node_tells_from_when_a_lane_is_looked_at_and_one_that_is_away_is_passed_over(
    db: Database, dsn: str
) -> None:
    """Claims ask for it at intervals: without an answer all work would wait."""
    early, late = await make_tenant(db), await make_tenant(db)
    with psycopg.connect(dsn, autocommit=True) as conn:
        while node_of(conn, late) == node_of(conn, early):
            late = await make_tenant(db)
        away = node_of(conn, early)
    now = datetime.now(UTC)
    for tenant, hours in ((early, 2), (late, 1)):
        subject = await make_submission(db, tenant)
        values = {"tenant": tenant, "subject": subject, "at": now - timedelta(hours=hours)}
        await rows(
            db, "UPDATE outbox SET run_at = %(at)s WHERE tenant_id = %(tenant)s AND subject = %(subject)s", **values
        )
    lane, empty = OutboxLane(Environment.ECF), OutboxLane(Environment.CERTECF)
    margin = timedelta(seconds=15)

    floors = await db.run(outbox.floors_of, Stage.SIGN, [lane, empty])
    assert floors[lane] == now - timedelta(hours=2) - margin
    assert now - margin <= floors[empty] <= datetime.now(UTC) - margin

    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("UPDATE pg_dist_node SET nodeport = 1 WHERE (nodename, nodeport) = (%s, %s)", away)
    async with open_database(dsn, max_size=1, role=WORKER, engine=CITUS) as another:
        floors = await another.run(outbox.floors_of, Stage.SIGN, [lane])
    assert floors[lane] == now - timedelta(hours=1) - margin


def node_of(conn: psycopg.Connection, tenant: int) -> tuple[object, ...]:
    place = conn.execute(_PLACE, (tenant,)).fetchone()
    assert place is not None
    return place[1:]


async def test_nodes_have_the_functions_of_what_was_migrated_before_anybody_asks(dsn: str, cluster: Cluster) -> None:
    """Two who ask all nodes for them at once would each hold one node that the other waits for."""
    name = str(conninfo_to_dict(dsn)["dbname"])
    made: list[int] = []
    for node in cluster.nodes[1:]:
        with psycopg.connect(node.database(name), autocommit=True) as there:
            (source,) = there.execute("SELECT prosrc FROM pg_proc WHERE proname = 'due_batch_in_shard'").fetchone() or (
                "",
            )
            shards = [str(shard) for (shard,) in there.execute("SELECT * FROM outbox_shards_here()").fetchall()]
        assert sorted(re.findall(r"p_shard = (\d+) THEN", source)) == sorted(shards)
        made.append(len(shards))

    assert sum(made) == citus.SHARDS


async def test_all_who_are_first_to_ask_a_shard_find_its_functions_and_each_is_called_by_one_branch(
    db: Database, dsn: str
) -> None:
    tenant = await make_tenant(db)
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(_ISOLATE, (tenant,))  # a new shard: those that were migrated have theirs
    news = [new_submission(tenant, client_request_id=str(n)) for n in range(8)]

    async def take_in(new: NewSubmission) -> None:
        async with open_database(dsn, max_size=1, engine=CITUS) as another:
            await another.run(submissions.accept, new, ACCEPTED_AT)

    async with trio.open_nursery() as nursery:
        for new in news:
            nursery.start_soon(take_in, new)

    with psycopg.connect(dsn, autocommit=True) as conn:
        host, port = node_of(conn, tenant)
        (shard,) = conn.execute("SELECT get_shard_id_for_distribution_column('outbox', %s)", (tenant,)).fetchone() or ()
    with psycopg.connect(dsn, host=str(host), port=int(str(port)), autocommit=True) as node:
        source = node.execute("SELECT prosrc FROM pg_proc WHERE proname = 'accept_submission_in_shard'").fetchone() or (
            "",
        )
    assert source[0].count(f"p_shard = {shard} THEN") == 1
    assert len(await rows(db, "SELECT 1 FROM submissions WHERE tenant_id = %(tenant)s", tenant=tenant)) == 8


async def test_migrating_again_takes_the_places_of_what_an_earlier_release_had(db: Database, dsn: str) -> None:
    tenant = await make_tenant(db)
    given = {"tenant": tenant, "subject": await make_submission(db, tenant)}
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("CREATE FUNCTION record_event_batch_there(p_anchor bigint) RETURNS text LANGUAGE sql RETURN 'old'")
        conn.execute(_FORMER_ANSWER)
        conn.execute(_NOTE.encode(), given)
        distribute(conn)
        conn.execute(_NOTE.encode(), given)
        there = conn.execute("SELECT count(*) FROM pg_proc WHERE proname = 'record_event_batch_there'").fetchone()

    assert there == (1,)
    assert await retries(db) == 2


@pytest.mark.parametrize(("note", "is_told"), [(_NOTE, True), (_NOTE_OUTSIDE, False)])
async def test_a_commit_that_the_node_did_not_make_is_refused_to_whoever_has_entered(
    db: Database, dsn: str, cluster: Cluster, note: str, is_told: bool
) -> None:
    """To others it is said to be made, and is not: which is why a shard is entered."""
    tenant = await make_tenant(db)
    subject = await make_submission(db, tenant)
    name = str(conninfo_to_dict(dsn)["dbname"])

    with psycopg.connect(dsn) as booking:
        (anchor,) = booking.execute("SELECT anchor_of(%s)", (tenant,)).fetchone() or (None,)
        booking.execute(note.encode(), {"tenant": tenant, "subject": subject, "anchor": anchor})
        for node in cluster.nodes[1:]:
            with psycopg.connect(node.database(name), autocommit=True) as there:
                for (pid,) in there.execute(_SERVING).fetchall():
                    there.execute("SELECT pg_terminate_backend(%s::int, 10000::bigint)", (pid,))
        if is_told:
            with pytest.raises(psycopg.Error):
                booking.commit()
        else:
            booking.commit()

    assert await retries(db) == 0
