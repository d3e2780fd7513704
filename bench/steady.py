"""A steady load for a long while: does the outbox stay small, and the rate up, while an old snapshot is held open?

`python -m bench.steady [--seconds 600] [--rate 200]`

Every document takes the whole way through the store: accepted, claimed and signed, claimed and sent, claimed and
judged, by the very functions the service uses; only signing and the authority are left out. Beside it one transaction
holds a snapshot from before the start, as a forgotten session or a long backup does: no row version that died since
can be cleaned away. Printed: rate, dead tuples and size of the outbox over time, the claim's latency, WAL for each
document.
"""

import statistics
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import trio

from bench.runner import empty_postgres, read_options
from fe.ecf.catalogue import EcfType, Environment, Host, Root
from fe.ecf.ids import new_id
from fe.identifiers import ApiKeyId, CertificateId, ClientRequestId, SubmissionId, TenantId, TrackId
from fe.lifecycle import NumberFate, Stage, Status
from fe.store.postgres.db import Conn, Database, open_database
from fe.store.queue import outbox, steps, tables
from fe.store.queue.outbox import OutboxLane, Work
from fe.store.queue.steps import SignedDocument
from fe.store.records import submissions
from fe.store.records.submissions import NewSubmission

TENANT = TenantId(1)
LEASE = timedelta(seconds=60)
TICK = 0.1
XML = b"<ECF>" + b"x" * 5_700 + b"</ECF>"
PAYLOAD = b"{" + b"x" * 3_200 + b"}"

_HEALTH = """
    SELECT (SELECT n_dead_tup FROM pg_stat_user_tables WHERE relname = 'outbox'),
           pg_total_relation_size('outbox'), (pg_current_wal_lsn() - '0/0'::pg_lsn)::bigint
"""


def new_submission(now: datetime) -> NewSubmission:
    return NewSubmission(
        tenant_id=TENANT,
        submission_id=SubmissionId(new_id(now)),
        environment=Environment.ECF,
        api_key_id=ApiKeyId("fak_000000000000"),
        client_request_id=ClientRequestId(uuid4().hex),
        body_digest=b"\0" * 32,
        format="structured",
        root=Root.ECF,
        ecf_type=EcfType.CREDIT_FISCAL,
        e_ncf=f"E31{UUID(int=uuid4().int).int % 10**10:010d}",
        issuer_rnc="131880738",
        buyer_rnc="131880681",
        as_user=None,
        as_user_id=None,
        original=PAYLOAD,
    )


def the_next(work: Work, stage: Stage) -> Work:
    """The claim of the next stage that goes with a booking."""
    return replace(work, stage=stage, lane=OutboxLane(work.environment, "ecf"), attempt=1, epoch=work.epoch + 1)


class Documents:
    """Sends documents down the road, a handful at a time."""

    def __init__(self, db: Database, rate: int) -> None:
        self._db = db
        self._each = max(1, round(rate * TICK))
        self.claims: list[float] = []
        self._floors: dict[tuple[Stage, OutboxLane], tuple[datetime, float]] = {}

    async def tick(self) -> int:
        """Take a handful from acceptance to the verdict; return how many came through."""
        now = datetime.now(UTC)
        await self._all(partial(submissions.accept, new=new_submission(now), at=now) for _ in range(self._each))
        works = await self._claim(Stage.SIGN, OutboxLane(Environment.ECF))
        many, leases = len(works), [LEASE] * len(works)
        # As in the service: the process that signs a document sends it and asks for its verdict, if it has room.
        said = await self._db.run(steps.signed, works, [self.document(now)] * many, at=now, leases=leases)
        sent = [the_next(work, Stage.SEND) for work, answer in zip(works, said, strict=True) if answer == "going on"]
        assert len(sent) == many, "something was not to go straight on"
        ids, soon = [TrackId(str(work.subject)) for work in sent], [timedelta(0)] * many
        await self._db.run(
            outbox.received, sent, at=now, track_ids=ids, afters=soon, replies=[{}] * many, leases=leases
        )
        judged = [the_next(work, Stage.TRACK) for work in sent]
        many = len(judged)
        await self._db.run(
            outbox.verdict,
            judged,
            at=now,
            statuses=[Status.ACCEPTED] * many,
            track_ids=[TrackId(str(work.subject)) for work in judged],
            responses=[{"trackStatus": {"estado": "Aceptado"}}] * many,
            fates=[NumberFate.USED] * many,
        )
        return len(judged)

    async def _claim(self, stage: Stage, lane: OutboxLane) -> list[Work]:
        started = time.perf_counter()
        floor, until = self._floors.get((stage, lane), (tables.ALWAYS, 0.0))
        if started >= until:  # as the actors' loop does
            floor = (await self._db.run(outbox.floors_of, stage, [lane]))[lane]
            self._floors[stage, lane] = (floor, started + 20)
        claim = partial(outbox.claim, lease=LEASE, holder="bench", floor=floor)
        works = await self._db.run(claim, stage, lane, [TENANT], [self._each * 2])
        self.claims.append(time.perf_counter() - started)
        return works

    async def _all(self, calls: Any) -> None:
        async with trio.open_nursery() as nursery:
            for call in calls:
                nursery.start_soon(self._db.run, call)

    @staticmethod
    def document(now: datetime) -> SignedDocument:
        """Return the signed form of any document."""
        return SignedDocument(
            certificate_id=CertificateId(UUID(int=1)),
            signed=XML,
            sent=None,
            host=Host.ECF,
            ecf_type=EcfType.CREDIT_FISCAL,
            issuer_rnc="131880738",
            buyer_rnc="131880681",
            security_code="AbC1+/",
            qr_code_url=None,
            ncf_expiration=None,
            signed_at=now,
        )


async def make_tenant(conn: Conn) -> None:
    await conn.execute("INSERT INTO tenants (tenant_id, name, issuer) VALUES (%s, 'bench', '{}')", (TENANT,))


async def health(conn: Conn) -> tuple[int, int, int]:
    cursor = await conn.execute(_HEALTH)
    row = await cursor.fetchone()
    assert row is not None
    return row[0] or 0, row[1], row[2]


async def hold_snapshot(conn: Conn) -> None:
    """Read once at REPEATABLE READ and stay there until cancelled."""
    await conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    await conn.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
    await conn.execute("SELECT count(*) FROM outbox")
    await trio.sleep_forever()


async def main(dsn: str, seconds: float, rate: int) -> None:
    async with open_database(dsn) as db, open_database(dsn, max_size=1) as old, trio.open_nursery() as nursery:
        await db.run(make_tenant)
        nursery.start_soon(old.transact, hold_snapshot)
        await trio.sleep(0.5)
        documents = Documents(db, rate)
        started, done = time.perf_counter(), 0
        wal_before = (await db.run(health))[2]
        print("  seconds  documents/s  dead tuples  outbox MB  claim p95 ms")
        marked_at, marked_done, every = started, 0, max(5.0, seconds / 12)
        while (now := time.perf_counter()) - started < seconds:
            came = await documents.tick()
            done += came
            if now - marked_at >= every:
                dead, size, _ = await db.run(health)
                p95 = statistics.quantiles(documents.claims, n=20)[18] * 1000
                speed = (done - marked_done) / (now - marked_at)
                print(f"  {now - started:7.0f}  {speed:11.0f}  {dead:11d}  {size / 1e6:9.1f}  {p95:12.1f}", flush=True)
                marked_at, marked_done = now, done
                documents.claims.clear()
            await trio.sleep(max(0.0, started + done / rate - time.perf_counter()))
        dead, _, wal = await db.run(health)
        print(
            f"  {done} documents; {(wal - wal_before) / done:.0f} bytes of WAL and {dead / done:.2f} dead tuples each"
        )
        nursery.cancel_scope.cancel()


if __name__ == "__main__":
    arguments = read_options(__doc__, {"seconds": 600.0, "rate": (200, "documents a second")})
    with empty_postgres() as (server, _):
        trio.run(main, server, arguments.seconds, arguments.rate)
