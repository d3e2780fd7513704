"""Gauges read from the database: dead letters, doubts, expiry dates, sizes and more."""

from collections.abc import Awaitable, Callable
from itertools import product

import structlog
import trio

from fe.contingency import ALARMS, TermState
from fe.ecf.catalogue import Environment
from fe.lifecycle import Stage
from fe.monitoring.metrics import Labels, Metrics, forget_others, show
from fe.store.postgres.db import Conn, Database
from fe.store.postgres.engine import engine_of
from fe.store.postgres.errors import ANY_OF_THE_DATABASE
from fe.store.records import archive, statistics

_log = structlog.get_logger(__name__)

_LOOK_SECONDS = 15.0
#: Under an old snapshot a query reads all that died since: it runs for a fiftieth of the time, at least once a minute.
_SHARE, _REST_SECONDS_MAX = 50, 60.0
#: Expiry changes over days, and counting it reads whole tables: once every this many rounds.
_SLOW_EVERY = 4

#: Every series of these gauges exists from the start: one that appears with its first event shows no growth then.
EVERYWHERE: dict[Labels, float] = {
    (stage.value, environment.value): 0.0 for stage in Stage for environment in Environment
}
CERTIFICATE_TIMES = ("expired", "within_7_days", "within_30_days", "within_60_days", "later")
#: Certificates of tenants that issued or received in production within a month, and of all others.
AT_WORK_IN = ("production", "tests")
SEQUENCE_TIMES = ("expired", "within_15_days", "within_60_days", "later", "never")
#: States of unconfirmed deliveries, and of enabled endpoints.
DELIVERY_STATES = ("webhook", "held", "failed")
ENDPOINT_STATES = ("well", "failing", "disabled")
CHARGE_STATES = ("waiting", "failed")
KINDS_HANDED_ON = ("receipt", "approval")
STAGES_HANDED_ON = ("address", "pass_on")
NUMBERS_LEFT = ("none", "under_3_days", "under_10_percent", "enough")


class Collectors:
    """Reads the database for the gauges of `Metrics._watched`. One per process with actors.

    A statement that takes longer than `patience` seconds is cancelled: watching must not become a load.
    """

    def __init__(self, db: Database, metrics: Metrics, patience: float = 5.0) -> None:
        self._patience = patience
        self._db = db
        self._metrics = metrics
        #: Queries that failed at their last run.
        self._unread: set[str] = set()
        #: By query: the time before which it does not run again.
        self._rests_until: dict[str, float] = {}

    async def run(self) -> None:
        """Refresh the gauges until cancelled. A failed query leaves its last values, and the actor counts as silent."""
        look_number = 0
        self._metrics.watch_silence("gauges")
        while True:
            looks = [
                self._dead_letters,
                self._doubts,
                self._awaited,
                self._pauses,
                self._server,
                self._billing,
                self._given_up,
                self._mails,
                self._voidings,
            ]
            if look_number % _SLOW_EVERY == 0:
                looks += [self._archive, self._terms, self._certificates, self._sequences, self._tables, self._webhooks]
            for look in looks:
                began = trio.current_time()
                if began < self._rests_until.get(look.__name__, began):
                    continue
                is_read = await self._within_limits(look)
                (self._unread.discard if is_read else self._unread.add)(look.__name__)
                rest = min((trio.current_time() - began) * _SHARE, _REST_SECONDS_MAX)
                self._rests_until[look.__name__] = trio.current_time() + rest
            if not self._unread:
                self._metrics.turned("gauges")
            look_number += 1  # also after a failure, so that slow queries do not run more often
            await trio.sleep(_LOOK_SECONDS)

    async def _within_limits(self, look: Callable[[Conn], Awaitable[None]]) -> bool:
        try:
            with trio.fail_after(self._patience):
                await self._db.run(look)
        except (*ANY_OF_THE_DATABASE, trio.TooSlowError) as error:
            _log.warning("gauges were not refreshed", of=look.__name__.lstrip("_"), error=error)
            return False
        return True

    async def _dead_letters(self, conn: Conn) -> None:
        counts, ages = dict(EVERYWHERE), dict(EVERYWHERE)
        for stage, environment, count, oldest in await statistics.dead_letters(conn):
            counts[stage, environment], ages[stage, environment] = count, oldest
        show(self._metrics.dead_letters, counts)
        show(self._metrics.dead_letters_age, ages)

    async def _doubts(self, conn: Conn) -> None:
        counts: dict[Labels, float] = {(environment.value,): 0.0 for environment in Environment}
        ages = dict(counts)
        for environment, count, oldest in await statistics.unknown_outcomes(conn):
            counts[environment,], ages[environment,] = count, oldest
        show(self._metrics.unknown, counts)
        show(self._metrics.unknown_age, ages)

    async def _awaited(self, conn: Conn) -> None:
        ages: dict[Labels, float] = {(environment.value,): 0.0 for environment in Environment}
        for environment, oldest in await statistics.awaited_verdicts(conn):
            ages[environment,] = oldest
        show(self._metrics.awaited_age, ages)

    async def _pauses(self, conn: Conn) -> None:
        count, oldest = await statistics.pauses(conn)
        self._metrics.pauses.set(count)
        self._metrics.pauses_age.set(oldest)

    async def _server(self, conn: Conn) -> None:
        found = await statistics.server(conn)
        self._metrics.database_connections.set(found.connections)
        self._metrics.database_max_connections.set(found.max_connections)
        self._metrics.oldest_transaction.set(found.oldest_transaction)
        self._metrics.lock_waits.set(found.lock_waits)
        self._metrics.database_bytes.set(found.bytes)
        self._metrics.transaction_ids.set(found.transaction_ids_used)
        self._metrics.database_transactions.labels("committed").set(found.committed)
        self._metrics.database_transactions.labels("rolled back").set(found.rolled_back)
        self._metrics.database_blocks.labels("cache").set(found.from_cache)
        self._metrics.database_blocks.labels("disk").set(found.from_disk)
        self._metrics.deadlocks.set(found.deadlocks)
        self._metrics.temporary_bytes.set(found.temporary_bytes)
        self._metrics.replica_lag.set(found.replica_lag)
        self._metrics.archive_fails.set(found.archive_fails)

    async def _billing(self, conn: Conn) -> None:
        drift, lag, reconciled = await statistics.billing(conn)
        self._metrics.billing_drift.set(drift)
        self._metrics.billing_lag.set(lag)
        self._metrics.billing_reconciled.set(reconciled)
        counts: dict[Labels, float] = {(state,): 0.0 for state in CHARGE_STATES}
        ages = dict(counts)
        for state, count, oldest in await statistics.charges(conn):
            counts[state,], ages[state,] = count, oldest
        show(self._metrics.billing_charges, counts)
        show(self._metrics.billing_charges_age, ages)

    async def _certificates(self, conn: Conn) -> None:
        counts: dict[Labels, float] = dict.fromkeys(product(CERTIFICATE_TIMES, AT_WORK_IN), 0.0)
        for expires, at_work_in, count in await statistics.certificates(conn):
            counts[expires, at_work_in] = count
        show(self._metrics.certificates, counts)

    async def _sequences(self, conn: Conn) -> None:
        left: dict[Labels, float] = {(one.value, many): 0.0 for one in Environment for many in NUMBERS_LEFT}
        expiring: dict[Labels, float] = {(one.value, time): 0.0 for one in Environment for time in SEQUENCE_TIMES}
        for environment, many, expires, count in await statistics.sequences(conn):
            left[environment, many] += count
            expiring[environment, expires] += count
        show(self._metrics.sequences_left, left)
        show(self._metrics.sequences_expiring, expiring)

    async def _given_up(self, conn: Conn) -> None:
        counts: dict[Labels, float] = {(kind,): 0.0 for kind in KINDS_HANDED_ON}
        for kind, count in await statistics.given_up(conn):
            counts[kind,] = count
        show(self._metrics.given_up, counts)
        ages: dict[Labels, float] = {(stage,): 0.0 for stage in STAGES_HANDED_ON}
        for stage, oldest in await statistics.handing_on(conn):
            ages[stage,] = oldest
        show(self._metrics.handing_age, ages)

    async def _mails(self, conn: Conn) -> None:
        late, given_up = await statistics.mails(conn)
        self._metrics.mail_late.set(late)
        self._metrics.mails_given_up.set(given_up)

    async def _voidings(self, conn: Conn) -> None:
        self._metrics.voidings_in_doubt.set(await statistics.voidings_in_doubt(conn))

    async def _archive(self, conn: Conn) -> None:
        found = await archive.state(conn)
        self._metrics.archive_unstored.set(found.unstored_seconds)
        self._metrics.archive_unchecked.set(found.unchecked_seconds)
        self._metrics.archive_missing.set(found.missing)
        self._metrics.archive_faults.set(found.faults)
        self._metrics.archive_refused.set(found.refused)

    async def _terms(self, conn: Conn) -> None:
        counts: dict[Labels, float] = dict.fromkeys(product(Environment, ALARMS, TermState), 0.0)
        for environment, clock, state, count in await statistics.terms(conn):
            counts[environment, clock, state] += count
        show(self._metrics.terms, counts)

    async def _webhooks(self, conn: Conn) -> None:
        found = await statistics.webhooks(conn)
        show(self._metrics.webhook_rows, {(state,): found.deliveries.get(state, 0) for state in DELIVERY_STATES})
        show(self._metrics.webhook_endpoints, {(state,): found.endpoints.get(state, 0) for state in ENDPOINT_STATES})
        self._metrics.webhook_late.set(found.late)
        self._metrics.findings.webhooks_late = found.late

    async def _tables(self, conn: Conn) -> None:
        sizes: dict[Labels, float] = {}
        counted: dict[Labels, float] = {}
        nodes = engine_of(conn).nodes
        members = await nodes.contents(conn) if nodes else []
        of_tables = [*await statistics.tables(conn)]
        for node in members:
            of_tables += [(table, *figures) for table, figures in (node.tables or {}).items()]
        for table, size, live, dead in of_tables:
            sizes[table,] = sizes.get((table,), 0.0) + size
            for kind, many in (("live", live), ("dead", dead)):
                counted[table, kind] = counted.get((table, kind), 0.0) + many
        show(self._metrics.table_bytes, sizes)
        show(self._metrics.table_rows, counted)
        names = {(node.name,) for node in members}
        for gauge in (self._metrics.node_answers, self._metrics.node_bytes, self._metrics.node_shards):
            forget_others(gauge, names)
        show(self._metrics.node_answers, {(node.name,): float(node.answers) for node in members})
        for node in members:
            if node.answers:  # else its last values stay
                self._metrics.node_bytes.labels(node.name).set(node.bytes)
                self._metrics.node_shards.labels(node.name).set(node.shards)
