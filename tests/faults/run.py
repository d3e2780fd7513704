"""One run: set the scene, let clients work and the nemesis strike, let everything come to rest, and judge."""

import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import psycopg
import trio

from fe.cli.failures import FAILED_AGAIN, OK
from fe.ecf.ids import new_id
from fe.identifiers import ActionId
from fe.metering import aggregator
from fe.store.postgres.db import open_database
from fe.store.postgres.errors import DatabaseUnavailable
from fe.store.queue import dead_letters
from fe.store.queue.audit import OperatorAction
from fe.store.records import keys
from tests import citus
from tests.cli.running import environment
from tests.faults.blip import blip
from tests.faults.checker import Violation, check
from tests.faults.clients import CALL_SECONDS, CALM_SECONDS, Clients, Door
from tests.faults.history import Blip, ClientJournal, History, Revocation, read_arrivals, read_snapshot
from tests.faults.hooks import Supplier, harass
from tests.faults.mails import mail_again
from tests.faults.modes import TermSample, sample_terms
from tests.faults.nemesis import CITUS_DECK, DECK, Nemesis, draw
from tests.faults.parts import Tell
from tests.faults.patience import settle
from tests.faults.report import Happening, Report, report_of
from tests.faults.scene import ROOT, Scene, set_scene
from tests.faults.standby import Pair

#: Longer than a batch waits for the standby (10 s) and a client for its answer (6 s), and then for the repeat.
SILENCE = 20.0
_BEGUN_IN_SILENCE = 2.0
#: How long nothing may change, once the faults are over, before everything counts as stuck.
DRAIN_SECONDS = 90.0
#: Longest start of a process, on a machine that has hardly any time for it.
_START_SECONDS = 600.0


#: Numbers for which reception is away all the time: in a run that is long enough they end as dead letters.
UNLUCKY = tuple(
    {"kind": "unavailable", "operation": operation, "eNCF": number, "times": 0}
    for operation, number in (("reception", "E310005000002"), ("summary_reception", "E320005000002"))
)


@dataclass(frozen=True)
class Order:
    """Settings of a run."""

    seed: int
    #: How long faults happen; start, drain and judgement come before and after.
    seconds: float
    #: New submissions per second, and the limit of those in flight.
    per_second: float = 12.0
    max_in_flight: int = 150
    #: Seconds between two strikes, on average; and the deck they are drawn from.
    every: float = 0.7
    deck: Mapping[str, int] = field(default_factory=lambda: CITUS_DECK if citus.programs() else DECK)
    #: Whether processes are told to die at named points.
    points: bool = True
    #: Random faults of the authority from the beginning: `mild`, `wild` or `none`.
    mood: str = "mild"
    http: int = 2
    actors: int = 2
    program: Sequence[str] = ("-m", "fe")
    settings: Mapping[str, str] = field(default_factory=dict)
    drain: float = DRAIN_SECONDS
    #: Done to the new database before anything uses it.
    prepare: Callable[[str], None] = lambda dsn: None
    #: Faults that the authority is told at the beginning.
    faults: Sequence[Mapping[str, object]] = UNLUCKY
    #: Whether the database goes away once more in the end, under calls that do not pause.
    blip: bool = True
    #: How long a synchronous standby hears nothing before it takes over from a primary that dies; 0: there is none.
    silence: float = 0.0
    #: Whether a run with violations keeps its folder.
    keep: bool = True


def failover(seed: int) -> Order:
    """A failover to a synchronous standby that has heard nothing for a while, and nothing else that goes wrong."""
    return Order(
        seed, seconds=4.0, per_second=6.0, deck={}, points=False, mood="none", faults=(), blip=False, silence=SILENCE
    )


@dataclass(frozen=True)
class Ended:
    """Result of a run."""

    report: Report
    violations: Sequence[Violation]
    history: History
    #: Where journals, logs and the database lie, if they were kept.
    folder: Path


async def run(order: Order, folder: Path | None = None) -> Ended:
    """Do one run, in a folder that is kept when it is given, or when there are violations."""
    where = folder or Path(tempfile.mkdtemp(prefix="fe-faults-"))
    ended = await _run(order, where)
    if folder is None and not (ended.violations and order.keep):
        shutil.rmtree(where, ignore_errors=True)
    return ended


async def _run(order: Order, folder: Path) -> Ended:
    happenings: list[Happening] = []

    def tell(where: str, what: str) -> None:
        happenings.append(Happening(trio.current_time(), where, what))

    journal = ClientJournal(folder / "clients.jsonl")
    scene_of = partial(
        set_scene,
        program=order.program,
        http=order.http,
        actors=order.actors,
        settings=order.settings,
        prepare=order.prepare,
        standby=order.silence > 0,
    )
    async with scene_of(folder, order.seed, tell) as scene, _http_client() as client:
        doors = [Door(url, client) for url in scene.urls]
        clients = Clients(list(scene.accounts), doors, journal, scene.issuers, order.seed)
        began = trio.current_time() - clients.now
        unseen = scene.accounts[-1].keys.pop()
        nemesis = Nemesis(scene.rig, order.seed, points=order.points)
        await nemesis.begin(order.mood, order.faults)
        revocations: list[Revocation] = []
        samples: list[TermSample] = []
        supplier, calm = Supplier(scene.reception_port), trio.Event()
        async with trio.open_nursery() as nursery, trio.open_nursery() as working:
            nursery.start_soon(sample_terms, scene.dsn, samples)
            nursery.start_soon(_revoke_one, scene, clients, revocations)
            working.start_soon(clients.run, order.per_second, order.max_in_flight)
            for account in scene.accounts:
                working.start_soon(clients.replace_papers, account)
            supplying = Supplying(supplier, client)
            nursery.start_soon(supplying.run)
            if order.points:
                nursery.start_soon(harass, scene.reception, order.seed, calm)
            strikes = draw(order.seed, order.seconds, every=order.every, deck=order.deck)
            await nemesis.run(strikes, order.seconds)
            if isinstance(scene.rig.postgres, Pair):
                await _fail_over(scene.rig.postgres, order.silence, clients, tell)
            clients.stop()
            supplier.stop()
            calm.set()
            scene.listener.calm = scene.relay.calm = True
            tell("run", "calm")
            clients.patience = CALM_SECONDS
            # Each of the next steps may have to wait for processes that start.
            calm_since = trio.current_time()
            patience = order.drain + 2 * await _until_fronts_serve(scene, client)
            is_drained = await _drain(scene, clients, patience, tell)
            drained_after = trio.current_time() - calm_since if is_drained else None
            tell("run", "drained" if drained_after is not None else "not drained")
            replayed = await _replay_dead_letters(scene, patience, tell)
            await settle(supplying.left, patience, partial(tell, "run"), "receipts of the supplier")
            await _settle_messages(scene, patience, tell)
            clients.patience = CALL_SECONDS
            blips: Sequence[Blip] = []
            if order.blip:
                chance = random.Random(f"{order.seed}/blip")
                blips = await blip(scene.rig.postgres, clients, scene.accounts[-1], unseen, chance, tell)
            if drained_after is not None:
                # A front may still have had a request in work whose client had left.
                await _drain(scene, clients, patience, tell)
                await _settle_messages(scene, patience, tell)
            await _count_up(scene)
            in_doubt = await scene.rig.postgres.in_doubt()
            working.cancel_scope.cancel()
            nursery.cancel_scope.cancel()
        database = await trio.to_thread.run_sync(read_snapshot, scene.dsn)
    journal.close()
    database = replace(database, in_doubt=in_doubt)
    history = History(journal.calls, read_arrivals(scene.authority_journal), database, revocations, blips)
    history = replace(
        history,
        hook_calls=scene.listener.calls,
        hook_secrets=scene.listener.secrets,
        handed=supplier.handed,
        mails=scene.relay.taken,
        samples=samples,
    )
    violations = await trio.to_thread.run_sync(check, history)
    happenings = [replace(each, at=round(each.at - began, 3)) for each in happenings]
    report = report_of(order.seed, order.seconds, scene, history, happenings, drained_after, replayed)
    return Ended(report, violations, history, folder)


def _http_client() -> httpx.AsyncClient:
    limits = httpx.Limits(max_connections=200, max_keepalive_connections=50)
    return httpx.AsyncClient(trust_env=False, timeout=CALL_SECONDS, limits=limits)


async def _fail_over(pair: Pair, silence: float, clients: Clients, tell: Tell) -> None:
    """Cut the standby off for `silence` seconds, then let it take over.

    Clients stop new submissions after a moment: those would share their wait with the repeats.
    """
    tell("standby", "hears nothing")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(pair.silence, silence + 1.0)
        await trio.sleep(_BEGUN_IN_SILENCE)
        clients.stop()
        await trio.sleep(silence - _BEGUN_IN_SILENCE)
        tell("postgres", "kill -9, and the standby takes over")
        await pair.fail_over()


async def _revoke_one(scene: Scene, clients: Clients, revocations: list[Revocation]) -> None:
    """Revoke a key in the middle of its use, and send no word of it: the processes must find out by themselves."""
    account = scene.accounts[0]
    key = account.keys.pop()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(clients.use, account, key, 0.4)
        await trio.sleep(3.0)
        async with open_database(scene.dsn, max_size=2) as db:
            while not revocations:
                try:
                    await db.run(keys.revoke, account.tenant_id, key.api_key_id, datetime.now(UTC))
                except DatabaseUnavailable:
                    await trio.sleep(0.3)
                else:
                    revocations.append(Revocation(key.api_key_id, clients.now))


async def _replay_dead_letters(scene: Scene, patience: float, tell: Tell) -> int:
    """Do what an operator does when all is well again; return how many rows that was."""
    count = await trio.to_thread.run_sync(_count, scene.dsn, "SELECT count(*) FROM dead_letters")
    if not count:
        return 0
    tell("run", f"{count} dead letters are replayed")
    if citus.programs() is not None:
        # The command lists them with what is on the coordinator alone (docs/scaling.md): they are replayed as it would.
        await _replay_one_by_one(scene.dsn)
        await settle(partial(_waiting, scene.dsn), patience, partial(tell, "run"), "replayed rows")
        return count
    pace = ["--older-than", "0", "--no-canary", "--per-second", "100", "--no-stop", "--no-wait"]
    what = [*pace, "--by", "the fault suite", "--reason", "all is well"]
    ended = await trio.run_process(
        [sys.executable, "-m", "fe", "outbox", "replay", *what],
        env=environment(database_url=scene.dsn) | {"PYTHONPATH": str(ROOT)},
        capture_stdout=True,
        capture_stderr=True,
        check=False,
    )
    # Some may have failed again by then: the checker judges what became of them.
    assert ended.returncode in (OK, FAILED_AGAIN), ended.stderr
    await settle(partial(_waiting, scene.dsn), patience, partial(tell, "run"), "replayed rows")
    return count


async def _replay_one_by_one(dsn: str) -> None:
    async with open_database(dsn, max_size=1) as db:
        dead = await trio.to_thread.run_sync(_rows, dsn, "SELECT tenant_id, subject FROM dead_letters")
        for tenant_id, subject in dead:
            at = datetime.now(UTC)
            action = OperatorAction(ActionId(new_id(at)), at, "the fault suite", "all is well")
            await db.transact(dead_letters.replay, action, tenant_id, subject)


class Supplying:
    """A working supplier."""

    def __init__(self, supplier: Supplier, client: httpx.AsyncClient) -> None:
        self._supplier, self._client = supplier, client
        self._is_over = False

    async def run(self) -> None:
        """Work until it is stopped."""
        await self._supplier.run(self._client)
        self._is_over = True

    async def left(self) -> frozenset[Hashable]:
        """Work that it has begun and not finished."""
        return frozenset() if self._is_over else frozenset({len(self._supplier.handed)})


async def _settle_messages(scene: Scene, patience: float, tell: Tell) -> None:
    """Have every webhook and mail that waits for its next try, or has none left, sent now; and wait for the last."""
    for what, retry in ("deliveries", _deliver_again), ("mails", mail_again):
        await settle(partial(trio.to_thread.run_sync, retry, scene.dsn), patience, partial(tell, "run"), what)


def _deliver_again(dsn: str) -> frozenset[Hashable]:
    """Retry the webhook deliveries that no worker holds, tenant by tenant; return all that wait."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        waiting = conn.execute(
            "SELECT tenant_id, subject, holder FROM webhook_deliveries WHERE stage <> 'delivered'"
        ).fetchall()
        for tenant_id, subject, holder in waiting:
            if holder is None:
                conn.execute("SELECT retry_webhook(%s, %s)", (tenant_id, subject))
    return frozenset(subject for _, subject, _ in waiting)


async def _count_up(scene: Scene) -> None:
    """Fold the noted ends into the days, as the leading process does; it may do so at the same time."""
    async with open_database(scene.dsn, max_size=2) as db:
        for account in scene.accounts:
            await aggregator.fold_all(db, account.tenant_id)


async def _until_fronts_serve(scene: Scene, client: httpx.AsyncClient) -> float:
    """Wait until every front is ready; return the seconds that a start may take on this machine."""
    started = trio.current_time()
    with trio.move_on_after(_START_SECONDS):
        for url in scene.urls:
            ready = False
            while not ready:
                with suppress(httpx.HTTPError):
                    ready = (await client.get(f"{url.removesuffix('/api/v1/fe')}/readyz")).is_success
                await trio.sleep(0.1)
    return trio.current_time() - started


async def _drain(scene: Scene, clients: Clients, patience: float, tell: Tell) -> bool:
    """Wait until no row of the outbox and no errand of a client is left; False when they are stuck."""

    async def look() -> frozenset[Hashable]:
        rows = await _waiting(scene.dsn)
        tell("run", f"{len(rows)} rows wait, {clients.in_flight} errands in flight")
        return rows | {f"errand {number}" for number in range(clients.in_flight)}

    return await settle(look, patience, partial(tell, "run"), "rows or errands")


async def _waiting(dsn: str) -> frozenset[Hashable]:
    """The rows of the outbox: a row that reached another stage, or another counted try, has made progress."""
    return frozenset(await trio.to_thread.run_sync(_rows, dsn, "SELECT subject, stage, attempt FROM outbox"))


def _count(dsn: str, statement: str) -> int:
    ((count,),) = _rows(dsn, statement)
    return int(count)


def _rows(dsn: str, statement: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(dsn) as conn:
        return conn.execute(statement.encode()).fetchall()
