"""One p95: what the dashboard draws, what GET /usage says, and what the events say are the same, within a per cent."""

import math
import random
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path

import httpx
import pytest
import trio

from fe.actors.outcomes import Decided, Received
from fe.actors.writers import submission_kind
from fe.ecf.catalogue import Environment
from fe.ecf.ids import new_id
from fe.identifiers import SubmissionId, TenantId, TrackId
from fe.lifecycle import NumberFate, Stage, Status
from fe.metering import aggregator
from fe.monitoring.initial_series import initialize_actor_series
from fe.monitoring.metrics import Metrics, serve_metrics
from fe.queue.outcome import Outcome
from fe.queue.stage import WorkKind
from fe.store.postgres.db import Database
from fe.store.queue.outbox import OutboxLane, Work
from fe.store.records import metering, submissions
from ops.grafana.build import DASHBOARDS
from ops.grafana.pictures import filled_in
from tests.factories.tenants import claim_all, make_tenant, new_submission, rows
from tests.http.front import Key, Running, make_key, start_front
from tests.ops.live import ask, needs_prometheus, prometheus, until

#: Of each environment; and how many are written together.
MANY, TOGETHER = 2000, 500
AGREE = 0.01

#: How long the first answer takes, in seconds: an authority that is even, one that is slow now and then, and one whose
#: answers come in two clusters.
SHAPES: dict[Environment, Callable[[random.Random], float]] = {
    Environment.ECF: lambda chance: chance.lognormvariate(-0.7, 0.4),
    Environment.CERTECF: lambda chance: chance.lognormvariate(-0.5 if chance.random() < 0.8 else 0.9, 0.3),
    Environment.TESTECF: lambda chance: chance.gauss(0.8, 0.05) if chance.random() < 0.9 else chance.gauss(2.8, 0.1),
}


class Process:
    """One of two processes that book what the authority says, with the metrics that it exports."""

    def __init__(self, db: Database) -> None:
        self.metrics = Metrics()
        initialize_actor_series(self.metrics, [], [])
        self._kind: WorkKind[Work] = submission_kind(self.metrics)
        self._db = db

    async def book(self, works: Sequence[Work], outcome: Outcome, at: datetime) -> None:
        written = await self._db.run(self._kind.writers[type(outcome)], [(work, outcome) for work in works], at)
        for work, result in zip(works, written, strict=True):
            assert result is not None
            self._kind.written(work, result)


async def hand_in(db: Database, tenant: TenantId, where: Environment, latencies: Sequence[float], at: datetime) -> None:
    """Submissions whose latencies are these when the authority answers at `at`."""
    accepted = [at - timedelta(seconds=latency) for latency in latencies]
    news = [
        new_submission(tenant, moment, submission_id=SubmissionId(new_id(moment)), environment=where, e_ncf=None)
        for moment in accepted
    ]
    await db.run(submissions.accept_many, list(zip(news, accepted, strict=True)))


async def be_answered(
    db: Database, processes: Sequence[Process], tenant: TenantId, where: Environment, at: datetime
) -> None:
    """The authority answers with a verdict, or with a receipt and a second later with the verdict."""
    lane = OutboxLane(where)
    decided = Decided(status=Status.ACCEPTED, track_id=None, response={}, fate=NumberFate.USED, ecf_type="31")
    received = Received(track_id=TrackId("t"), reply={}, after=timedelta(0))
    works = await claim_all(db, Stage.SIGN, [tenant], lane)
    half = len(works) // 2
    await processes[0].book(works[:half], decided, at)
    await processes[1].book(works[half:], received, at)
    tracked = await claim_all(db, Stage.TRACK, [tenant], lane)
    assert len(tracked) == len(works) - half
    await processes[0].book(tracked, decided, at + timedelta(seconds=1))


@asynccontextmanager
async def watched(processes: Sequence[Process], folder: Path) -> AsyncIterator[httpx.AsyncClient]:
    """A Prometheus that has seen all their counters at 0."""
    async with AsyncExitStack() as around:
        listeners = [socket.create_server(("127.0.0.1", 0)) for _ in processes]
        for process, listener in zip(processes, listeners, strict=True):
            around.enter_context(serve_metrics(process.metrics, listener))
        urls = [f"http://127.0.0.1:{listener.getsockname()[1]}/metrics" for listener in listeners]
        client = await around.enter_async_context(prometheus(folder, urls))
        await until(lambda: ask(client, f"count(fe_submission_verdict_seconds_count == 0) == {3 * len(processes)}"))
        yield client


async def drawn(client: httpx.AsyncClient, metric: str) -> dict[str, float]:
    """The current values of the panel on the usage dashboard, by environment."""
    (query,) = [
        query
        for dashboard in DASHBOARDS
        if dashboard.uid == "fe-business"
        for panels in dashboard.rows.values()
        for panel in panels
        for query in panel.queries.values()
        if metric in query
    ]
    found = await ask(client, filled_in(query, rate_interval="15m"))
    return {one["metric"]["environment"]: float(one["value"][1]) for one in found}


_EVENTS = """
    SELECT s.environment, extract(EPOCH FROM min(e.at) - min(a.at))::float8 AS seconds
      FROM submission_events AS e
      JOIN submission_events AS a ON a.tenant_id = e.tenant_id AND a.submission_id = e.submission_id AND a.seq = 1
      JOIN submissions AS s ON s.tenant_id = e.tenant_id AND s.submission_id = e.submission_id
     WHERE e.kind = ANY (%(kinds)s)
     GROUP BY s.environment, e.submission_id
"""


async def computed(db: Database, *kinds: str) -> dict[str, float]:
    """The 95th percentile of the time to the first event of these kinds, from the events themselves."""
    taken: dict[str, list[float]] = {}
    for one in await rows(db, _EVENTS, kinds=list(kinds)):
        taken.setdefault(one["environment"], []).append(one["seconds"])
    assert {len(each) for each in taken.values()} == {MANY}
    return {environment: sorted(each)[math.ceil(0.95 * MANY) - 1] for environment, each in taken.items()}


async def told(front: Running, key: Key) -> dict[str, float]:
    """The values that GET /usage returns for yesterday."""
    async with front.client(await front.token(key)) as api:
        items = (await api.get("/usage", params={"days": "1"})).json()["items"]
    assert all(item["emissionsAccepted"] == MANY for item in items)
    return {item["environment"]: item["p95LatencyMs"] / 1000 for item in items}


@needs_prometheus
@pytest.mark.timeout(600)
async def test_dashboard_usage_and_events_agree(
    db: Database, worker_db: Database, front_db: Database, nursery: trio.Nursery, tmp_path: Path
) -> None:
    front = await start_front(nursery, front_db)
    front.clock.stop()
    midnight = front.clock().replace(hour=0, minute=0, second=0, microsecond=0)
    noon = midnight - timedelta(hours=12)
    await rows(db, "SELECT ensure_month(%(at)s)", at=noon)
    tenant = await make_tenant(db)
    key = await make_key(db, tenant)
    await aggregator.restart(db, tenant)
    processes = [Process(worker_db), Process(worker_db)]

    async with watched(processes, tmp_path) as client:
        for environment, shape in SHAPES.items():
            chance = random.Random(14)
            for first in range(0, MANY, TOGETHER):
                latencies = [max(shape(chance), 0.05) for _ in range(TOGETHER)]
                await hand_in(db, tenant, environment, latencies, noon + timedelta(seconds=first))
                await be_answered(worker_db, processes, tenant, environment, noon + timedelta(seconds=first))
        counted = f"sum(fe_submission_verdict_seconds_count) == {MANY * len(SHAPES)}"
        await until(lambda: ask(client, counted))
        first_answers = await drawn(client, "fe_submission_answer_seconds_bucket")
        verdicts = await drawn(client, "fe_submission_verdict_seconds_bucket")
    await aggregator.fold_all(worker_db, tenant)
    assert await worker_db.run(metering.close, tenant, midnight.date())

    by_events = await computed(db, "received", "verdict")
    assert first_answers == pytest.approx(by_events, rel=AGREE)
    assert await told(front, key) == pytest.approx(by_events, rel=AGREE)
    assert await told(front, key) == pytest.approx(first_answers, rel=AGREE)
    assert verdicts == pytest.approx(await computed(db, "verdict"), rel=AGREE)
