"""On Citus a transaction on the coordinator and a node is committed whole or not at all, whichever dies."""

import os
import signal
import threading
import time
from contextlib import suppress

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from fe.ecf.catalogue import Environment, Host
from fe.lifecycle import Stage
from fe.store.postgres.db import Database
from fe.store.queue.outbox import OutboxLane
from ops.citus.cluster import Cluster
from tests import citus
from tests.factories import bookings
from tests.factories.tenants import ACCEPTED_AT, DOCUMENT, claim_all, make_submission, make_tenant, row, rows
from tests.store.test_sequences import put
from tests.waiting import PATIENCE

pytestmark = pytest.mark.skipif(citus.programs() is None, reason="there is no cluster (make citus)")

#: The backends that serve the transaction on the nodes, which wait for none of our locks.
_SERVING = """
    SELECT a.pid FROM pg_stat_activity AS a
     WHERE a.datname = current_database() AND a.state = 'idle in transaction' AND a.backend_type = 'client backend'
"""
_COMMITTING = (
    "SELECT query = 'COMMIT' AND state = 'active' AND wait_event IS NOT NULL FROM pg_stat_activity WHERE pid = %s"
)
_ON_THE_NODE = """
    INSERT INTO client_requests (tenant_id, environment, client_request_id, submission_id)
    VALUES (1, 'ecf', 'once', gen_random_uuid())
"""


@pytest.mark.parametrize(
    ("here", "undone"),
    [
        ("INSERT INTO pauses VALUES (7, 'ecf', now(), 'a test', 'to see')", "SELECT count(*) FROM pauses"),
        ("UPDATE tenants SET weight = 2", "SELECT count(*) FROM tenants WHERE weight = 2"),
    ],
)
def test_a_coordinator_that_dies_while_it_commits_leaves_neither_half(
    cluster: Cluster, dsn: str, here: str, undone: str
) -> None:
    """The node is held still until the coordinator is dead: it learns what it is to do afterwards."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("INSERT INTO tenants (name, issuer) VALUES ('one', '{}')")

    held = _commit_and_kill(cluster, dsn, [_ON_THE_NODE, here])

    assert held == 1
    with _back(dsn) as conn:
        conn.execute("SELECT recover_prepared_transactions()")
        found = conn.execute(f"SELECT (SELECT count(*) FROM client_requests), ({undone})".encode()).fetchone()
    assert found == (0, 0)


def test_without_the_trigger_half_of_it_would_be_left(cluster: Cluster, dsn: str) -> None:
    """Which is what the trigger is for, and shows that the death above comes at the moment that matters."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("DROP TRIGGER commits_in_two_phases ON pauses")

    _commit_and_kill(cluster, dsn, [_ON_THE_NODE, "INSERT INTO pauses VALUES (7, 'ecf', now(), 'a test', 'to see')"])

    with _back(dsn) as conn:
        conn.execute("SELECT recover_prepared_transactions()")
        found = conn.execute("SELECT (SELECT count(*) FROM client_requests), (SELECT count(*) FROM pauses)").fetchone()
    assert found == (1, 0)


async def test_a_document_s_own_transactions_are_one_node_s_each(db: Database) -> None:
    """Accepted with a number drawn, claimed, signed, and its verdict: nothing is prepared anywhere for it."""
    tenant = await make_tenant(db)
    await put(db, tenant, 1, 9)
    await rows(db, "SELECT recover_prepared_transactions()")  # what is noted of the migration's

    await make_submission(db, tenant, e_ncf=None, draw_prefix="E31")
    (signing,) = await claim_all(db, Stage.SIGN, [tenant])
    await db.run(bookings.signed, signing, at=ACCEPTED_AT, document=DOCUMENT)
    (sending,) = await claim_all(db, Stage.SEND, [tenant], OutboxLane(Environment.ECF, Host.ECF))
    await db.run(bookings.verdict, sending, at=ACCEPTED_AT)

    assert (await row(db, "SELECT status FROM submissions"))["status"] == "Aceptado"
    assert (await row(db, "SELECT count(*) FROM usage_ends"))["count"] == 1
    assert await rows(db, "SELECT * FROM pg_dist_transaction") == []


def _commit_and_kill(cluster: Cluster, dsn: str, statements: list[str]) -> int:
    """Kill the coordinator's server process while it commits, with the nodes held still; how many were in it."""
    name = str(conninfo_to_dict(dsn)["dbname"])
    conn = psycopg.connect(dsn)
    for statement in statements:
        conn.execute(statement.encode())
    held: list[int] = []
    for node in cluster.nodes[1:]:
        with psycopg.connect(node.database(name), autocommit=True) as there:
            held += [pid for (pid,) in there.execute(_SERVING).fetchall()]
    for pid in held:
        os.kill(pid, signal.SIGSTOP)
    try:

        def commit() -> None:
            with suppress(psycopg.Error):
                conn.commit()

        committing = threading.Thread(target=commit)
        committing.start()
        _wait_until_it_waits(dsn, conn.info.backend_pid)
        os.kill(conn.info.backend_pid, signal.SIGKILL)
        committing.join()
    finally:
        for pid in held:
            os.kill(pid, signal.SIGCONT)
        conn.close()
    for node in cluster.nodes[1:]:
        _wait_until_over(node.database(name), held)
    return len(held)


def _wait_until_it_waits(dsn: str, pid: int) -> None:
    until = time.monotonic() + PATIENCE
    with psycopg.connect(dsn, autocommit=True) as conn:
        while conn.execute(_COMMITTING, (pid,)).fetchone() != (True,):
            assert time.monotonic() < until
            time.sleep(0.01)


def _wait_until_over(dsn: str, pids: list[int]) -> None:
    """A suspended server process ends when it notices that its client is gone."""
    until = time.monotonic() + PATIENCE
    with psycopg.connect(dsn, autocommit=True) as conn:
        there = "SELECT count(*) FROM pg_stat_activity WHERE pid = ANY (%s)"
        while conn.execute(there, (pids,)).fetchone() != (0,):
            assert time.monotonic() < until
            time.sleep(0.01)


def _back(dsn: str) -> psycopg.Connection:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return psycopg.connect(dsn, autocommit=True)
        except psycopg.OperationalError:
            assert time.monotonic() < until
            time.sleep(0.05)
