"""Postgres under Trio: what cancellation, timeouts, a dying server and errors leave behind, and what they look like."""

import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import psycopg
import pytest
import trio
from psycopg import errors, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus

from fe.identifiers import TenantId
from fe.store.postgres.db import Conn, Database, DriverName, open_database
from fe.store.postgres.errors import DatabaseUnavailable, NoNumber, SchemaChanging
from fe.store.postgres.roles import FRONT
from tests.store.race import plain
from tests.waiting import PATIENCE, until, until_waited_for

SIZE = 3
LISTENING = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'"


@pytest.fixture(params=["trio", "trio-asyncio"])
def driver(request: pytest.FixtureRequest) -> DriverName:
    name: DriverName = request.param
    return name


@pytest.fixture
async def small(dsn: str, driver: DriverName) -> AsyncIterator[Database]:
    """A pool of three, with a table to write to."""
    with plain(dsn) as conn:
        conn.execute("CREATE TABLE scratch (n int PRIMARY KEY)")
    async with open_database(dsn, max_size=SIZE, patience=30, driver=driver) as database:
        yield database


async def count(conn: Conn) -> int:
    row = await (await conn.execute("SELECT count(*) FROM scratch")).fetchone()
    assert row is not None
    number: int = row[0]
    return number


async def insert(conn: Conn, number: int, then_sleep: float = 0) -> None:
    await conn.execute("INSERT INTO scratch VALUES (%s)", (number,))
    await conn.execute("SELECT pg_sleep(%s)", (then_sleep,))


async def insert_slowly(conn: Conn, number: int) -> None:
    await conn.execute(
        "WITH nap AS MATERIALIZED (SELECT pg_sleep(5)) INSERT INTO scratch SELECT %s FROM nap", (number,)
    )


async def backend(conn: Conn) -> int:
    return conn.info.backend_pid


async def assert_sound(db: Database) -> None:
    """All connections can be had at once, each idle, in autocommit, not in a pipeline, and gives the right answers."""
    pids: set[int] = set()
    together = trio.Event()

    async def use(number: int) -> None:
        async def work(conn: Conn) -> None:
            assert conn.autocommit
            assert conn.pgconn.transaction_status == TransactionStatus.IDLE
            assert conn.pgconn.pipeline_status == 0
            pids.add(conn.info.backend_pid)
            if len(pids) == SIZE:
                together.set()
            while not together.is_set():  # or a late task would be lent this one; why not waited for: see below
                await conn.execute("SELECT pg_sleep(0.02)")
            row = await (await conn.execute("SELECT %s + 1", (number,))).fetchone()
            assert row is not None
            assert row[0] == number + 1

        await db.run(work)

    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            for number in range(SIZE):
                nursery.start_soon(use, number)
    assert len(pids) == SIZE


@pytest.mark.parametrize("way", ["run", "transact"])
async def test_work_cancelled_in_the_middle_of_a_statement_leaves_no_row_and_a_sound_pool(
    small: Database, way: str
) -> None:
    cross = small.run if way == "run" else small.transact
    for number in range(2 * SIZE):
        with trio.move_on_after(0.1) as scope:
            await cross(insert_slowly, number)
        assert scope.cancelled_caught

    assert await small.run(count) == 0
    await assert_sound(small)


async def test_a_transaction_cancelled_between_its_statements_leaves_no_row_and_a_sound_pool(small: Database) -> None:
    for number in range(2 * SIZE):
        with trio.move_on_after(0.1) as scope:
            await small.transact(insert, number, then_sleep=5)
        assert scope.cancelled_caught

    assert await small.run(count) == 0
    await assert_sound(small)


async def test_a_pipeline_cancelled_in_the_middle_leaves_a_sound_pool(small: Database) -> None:
    async def work(conn: Conn) -> None:
        async with conn.pipeline():
            await conn.execute("SELECT 1")
            await conn.execute("SELECT pg_sleep(5)")
            await conn.execute("SELECT 2")

    for _ in range(2 * SIZE):
        with trio.move_on_after(0.1) as scope:
            await small.run(work)
        assert scope.cancelled_caught

    await assert_sound(small)


class AtTurn(trio.abc.Instrument):
    """Cancels a scope when its task gets its turn for the n-th time."""

    def __init__(self, scope: trio.CancelScope, turn: int) -> None:
        self._scope, self._left = scope, turn
        self._task = trio.lowlevel.current_task()

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self._left -= task is self._task
        if not self._left:
            self._scope.cancel()


async def test_who_is_cancelled_while_much_is_sent_hears_of_that_and_of_no_outage(dsn: str) -> None:
    """The connection is busy when the pipeline around it ends, and psycopg says that, in place of the cancellation."""

    async def much(conn: Conn, _: TenantId) -> None:
        await conn.execute("SELECT octet_length(%s::bytea)", (bytes(8_000_000),))

    async with open_database(dsn, max_size=1, role=FRONT) as db:
        cancelled = 0
        for turn in range(1, 13):
            is_done = False
            with trio.CancelScope() as scope:
                at_turn = AtTurn(scope, turn)
                trio.lowlevel.add_instrument(at_turn)
                try:
                    await db.run_for(TenantId(1), much)
                    is_done = True  # before that turn, or in it
                finally:
                    trio.lowlevel.remove_instrument(at_turn)
            assert scope.cancelled_caught is not is_done, turn
            cancelled += scope.cancelled_caught
        assert cancelled > 0
        await db.run_for(TenantId(1), much)


async def test_a_pool_is_sound_after_cancellations_at_any_moment(small: Database) -> None:
    """Also while a connection is waited for, taken and given back; half of the writers hold on to theirs a while."""

    async def one(number: int) -> None:
        with trio.move_on_after(0.0005 * (number % 40)):
            await small.transact(insert, number, then_sleep=0.01 * (number % 2))

    async with trio.open_nursery() as nursery:
        for number in range(200):
            nursery.start_soon(one, number)

    await assert_sound(small)


async def test_an_error_rolls_the_transaction_back(small: Database) -> None:
    async def work(conn: Conn) -> None:
        await insert(conn, 1)
        raise LookupError

    with pytest.raises(LookupError):
        await small.transact(work)

    assert await small.run(count) == 0


async def test_the_server_ends_a_statement_that_takes_too_long(small: Database) -> None:
    async def work(conn: Conn) -> None:
        await conn.execute("SET statement_timeout = '100ms'")
        await insert_slowly(conn, 1)

    with pytest.raises(DatabaseUnavailable, match="QueryCanceled"):
        await small.run(work)

    assert await small.run(count) == 0


async def test_limits_are_set_on_every_connection(small: Database) -> None:
    async def work(conn: Conn) -> list[str]:
        names = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "timezone")
        settings = []
        for name in names:
            row = await (await conn.execute("SELECT current_setting(%s)", (name,))).fetchone()
            assert row is not None
            settings.append(row[0])
        return settings

    assert await small.run(work) == ["8s", "5s", "10s", "UTC"]


async def test_a_transaction_that_idles_is_ended_by_the_server_and_reads_as_unavailable(
    small: Database, dsn: str
) -> None:
    """A worker that is stopped in the middle of a transaction must not hold its locks; when it wakes, it is told."""

    async def work(conn: Conn) -> None:
        await conn.execute("SET LOCAL idle_in_transaction_session_timeout = '50ms'")
        await conn.execute("INSERT INTO scratch VALUES (1)")
        ours = "SELECT pid FROM pg_stat_activity WHERE pid = %s"
        with plain(dsn) as other:
            while other.execute(ours, (conn.info.backend_pid,)).fetchone():
                time.sleep(0.01)  # noqa: ASYNC251  (as if the whole process were stopped)
        await conn.execute("INSERT INTO scratch VALUES (2)")

    with pytest.raises(DatabaseUnavailable):
        await small.transact(work)

    assert await small.run(count) == 0


@pytest.fixture
def transaction_timeout(dsn: str) -> None:
    with plain(dsn) as conn:
        if conn.info.server_version < 170000:
            pytest.skip("transaction_timeout came with Postgres 17")


@pytest.mark.usefixtures("transaction_timeout")
async def test_a_transaction_that_takes_too_long_reads_as_unavailable(small: Database) -> None:
    async def work(conn: Conn) -> None:
        await conn.execute("SET LOCAL transaction_timeout = '100ms'")
        await conn.execute("SELECT pg_sleep(3)")

    with pytest.raises(DatabaseUnavailable):
        await small.transact(work)


async def test_a_lock_that_is_not_had_in_time_reads_as_unavailable(small: Database, dsn: str) -> None:
    async def work(conn: Conn) -> None:
        await conn.execute("SET LOCAL lock_timeout = '50ms'")
        await conn.execute("LOCK TABLE scratch")

    with plain(dsn) as other, other.transaction():
        other.execute("LOCK TABLE scratch")
        with pytest.raises(DatabaseUnavailable, match="55P03"):
            await small.transact(work)


@pytest.mark.parametrize(
    "state",
    [
        "08000",  # the connection
        "08006",
        "40001",  # serialisation
        "40P01",  # deadlock
        "53100",  # disk full
        "53200",
        "53300",  # too many connections
        "57014",  # cancelled, or too slow
        "57P01",  # shutting down
        "57P03",  # starting up
        "57P05",
        "58000",
        "58030",
        "25006",  # a standby
        "25P03",  # idle in a transaction for too long
        "25P04",  # a transaction too long
        "55P03",
        "53ZZZ",  # an unknown state of these classes
    ],
)
async def test_states_of_the_servers_condition_read_as_unavailable(small: Database, state: str) -> None:
    async def work(conn: Conn) -> None:
        told = f"RAISE 'no space left' USING ERRCODE = '{state}', DETAIL = 'Key (name)=(CANARY) already exists.'"
        await conn.execute(f"DO $$ BEGIN {told}; END $$".encode())

    with pytest.raises(DatabaseUnavailable) as unavailable:
        await small.run(work)

    assert f"({state}): no space left" in str(unavailable.value)
    assert "CANARY" not in str(unavailable.value)


async def test_function_dropped_while_a_statement_that_calls_it_waits_reads_as_a_changing_schema(
    dsn: str, small: Database
) -> None:
    failed: list[SchemaChanging] = []

    async def call(conn: Conn) -> None:
        await conn.execute("SELECT draws()")

    async def fail() -> None:
        with pytest.raises(SchemaChanging, match="42883") as raised:
            await small.run(call)
        failed.append(raised.value)

    with plain(dsn) as migrating:
        migrating.execute("CREATE FUNCTION is_free() RETURNS boolean LANGUAGE sql AS 'SELECT true'")
        migrating.execute(
            "CREATE FUNCTION draws() RETURNS boolean LANGUAGE plpgsql AS"
            " $$ BEGIN PERFORM FROM scratch; RETURN is_free(); END $$"
        )
        migrating.execute("BEGIN")
        migrating.execute("LOCK TABLE scratch IN ACCESS EXCLUSIVE MODE")
        migrating.execute("DROP FUNCTION is_free()")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(fail)
            await until_waited_for(small)
            migrating.execute("COMMIT")
    assert len(failed) == 1


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ("XX000", "cache lookup failed for function 16401"),
        ("XX000", "could not open relation with OID 16402"),
        ("XX000", "tuple concurrently updated"),
        ("0A000", "cached plan must not change result type"),
    ],
)
async def test_error_that_a_migration_causes_beside_it_reads_as_a_changing_schema(
    small: Database, state: str, message: str
) -> None:
    async def work(conn: Conn) -> None:
        await conn.execute(f"DO $$ BEGIN RAISE '{message}' USING ERRCODE = '{state}'; END $$".encode())

    with pytest.raises(SchemaChanging):
        await small.run(work)


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        ("SELECT 1 / 0", errors.DivisionByZero),
        ("SELECT 'x'::int", errors.InvalidTextRepresentation),
        ("SELECT nothing", errors.UndefinedColumn),
        ("SELEC 1", errors.SyntaxError),
        ("INSERT INTO scratch VALUES (NULL)", errors.NotNullViolation),
        ("INSERT INTO scratch VALUES (1), (1)", errors.UniqueViolation),
        ("COMMIT; SAVEPOINT a", errors.NoActiveSqlTransaction),
    ],
)
async def test_what_is_a_bug_of_ours_comes_back_as_it_is(
    small: Database, statement: str, error: type[Exception]
) -> None:
    async def work(conn: Conn) -> None:
        await conn.execute(statement.encode())

    with pytest.raises(error):
        await small.run(work)


async def test_a_value_that_psycopg_refuses_is_a_bug_of_ours_too(small: Database) -> None:
    async def work(conn: Conn) -> None:
        await conn.execute("SELECT %s::text", ("a\0b",))

    with pytest.raises(psycopg.DataError):
        await small.run(work)


@pytest.mark.parametrize(
    ("state", "message", "reason"),
    [
        ("FE001", "no active NCF sequence for E31", "none"),
        ("FE002", "the NCF sequence for E31 has expired", "expired"),
        ("FE003", "the NCF sequence for E31 is used up", "used up"),
    ],
)
async def test_a_refused_draw_names_its_prefix_and_reason(
    small: Database, state: str, message: str, reason: str
) -> None:
    async def work(conn: Conn) -> None:
        await conn.execute(f"DO $$ BEGIN RAISE '{message}' USING ERRCODE = '{state}'; END $$".encode())

    with pytest.raises(NoNumber) as refused:
        await small.run(work)

    assert (refused.value.prefix, refused.value.reason) == ("E31", reason)


async def until_it_answers(db: Database) -> None:
    with trio.fail_after(PATIENCE):
        while True:
            try:
                assert await db.run(backend) > 0
                return
            except DatabaseUnavailable:
                await trio.sleep(0.02)


async def test_an_exhausted_pool_reads_as_unavailable_and_recovers(dsn: str, driver: DriverName) -> None:
    async with open_database(dsn, max_size=1, patience=0.5, driver=driver) as db:
        held, refused = trio.Event(), trio.Event()
        await until_it_answers(db)

        async def hold(conn: Conn) -> None:
            held.set()
            while not refused.is_set():  # no waiting for Trio's events here: this may run under asyncio
                await conn.execute("SELECT pg_sleep(0.05)")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(db.run, hold)
            await held.wait()
            with pytest.raises(DatabaseUnavailable):
                await db.run(backend)
            refused.set()

        await until_it_answers(db)


async def test_a_backend_killed_while_it_works_reads_as_unavailable_and_is_replaced(small: Database, dsn: str) -> None:
    async def work(conn: Conn) -> None:
        await conn.execute("INSERT INTO scratch VALUES (1)")
        with plain(dsn) as other:
            other.execute("SELECT pg_terminate_backend(%s::int)", (conn.info.backend_pid,))
        await conn.execute("INSERT INTO scratch VALUES (2)")

    with pytest.raises(DatabaseUnavailable):
        await small.transact(work)

    assert await small.run(count) == 0
    await assert_sound(small)


async def test_backends_killed_while_they_rest_cost_one_error_each_at_most(small: Database, dsn: str) -> None:
    await assert_sound(small)
    with plain(dsn) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'fe'"
            " AND datname = current_database()"
        )

    failures = 0
    for _ in range(2 * SIZE):
        try:
            await small.run(count)
        except DatabaseUnavailable:
            failures += 1

    assert failures <= SIZE
    await assert_sound(small)


async def test_a_database_that_is_not_there_reads_as_unavailable(dsn: str, driver: DriverName) -> None:
    nowhere = make_conninfo(dsn, host="127.0.0.1", port=1)
    async with open_database(nowhere, patience=0.3, driver=driver) as db:
        with trio.fail_after(PATIENCE), pytest.raises(DatabaseUnavailable):
            await db.run(backend)


async def test_an_error_of_the_database_keeps_its_reason_and_tells_no_password(
    dsn: str, driver: DriverName, caplog: pytest.LogCaptureFixture
) -> None:
    """The error's text is logged: the type alone does not say whether it is the network, a limit or the disk."""
    nobody = make_conninfo(dsn, user="nobody_at_all", password="CANARY")
    async with open_database(nobody, patience=3, driver=driver) as db, trio.open_nursery() as nursery:
        nursery.start_soon(db.listen, "channel", lambda _: None)
        with pytest.raises(DatabaseUnavailable) as refused:
            await db.run(backend)
        await until(lambda: "listening for channel stopped" in caplog.text)
        nursery.cancel_scope.cancel()

    said = f"{refused.value} {caplog.text}"
    assert 'role "nobody_at_all" does not exist' in said
    assert "listening for channel stopped: OperationalError: connection failed" in caplog.text
    assert "CANARY" not in said


async def test_a_statement_that_takes_too_long_is_said_so(small: Database) -> None:
    async def work(conn: Conn) -> None:
        await conn.execute("SET LOCAL statement_timeout = 50")
        await conn.execute("SELECT pg_sleep(5)")

    with pytest.raises(DatabaseUnavailable, match=r"QueryCanceled \(57014\): .*statement timeout"):
        await small.transact(work)


@asynccontextmanager
async def door(dsn: str, shut: socket.socket) -> AsyncIterator[None]:
    """A TCP door to the server of `dsn`, open while the block runs; before that connections are refused."""
    where = conninfo_to_dict(dsn)

    async def pass_on(source: trio.abc.ReceiveStream, target: trio.abc.SendStream) -> None:
        async for data in source:
            await target.send_all(data)

    async def serve(outside: trio.SocketStream) -> None:
        inside = await trio.open_unix_socket(f"{where['host']}/.s.PGSQL.{where.get('port', 5432)}")
        async with inside, trio.open_nursery() as both:
            both.start_soon(pass_on, outside, inside)
            await pass_on(inside, outside)
            both.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        shut.listen()
        shut.setblocking(False)
        listener = trio.SocketListener(trio.socket.from_stdlib_socket(shut))
        nursery.start_soon(trio.serve_listeners, serve, [listener])
        yield
        nursery.cancel_scope.cancel()


async def test_a_pool_heals_by_itself_after_the_server_was_away_for_longer_than_it_tries_to_reconnect(
    dsn: str, driver: DriverName
) -> None:
    shut = socket.socket()
    shut.bind(("127.0.0.1", 0))  # ours, and no server listens
    through_the_door = make_conninfo(dsn, host="127.0.0.1", port=shut.getsockname()[1])

    async with open_database(through_the_door, patience=0.5, driver=driver) as db:
        with trio.move_on_after(2):
            while True:
                with pytest.raises(DatabaseUnavailable):
                    await db.run(backend)
                await trio.sleep(0.5)
        async with door(dsn, shut):
            await until_it_answers(db)


async def listener_pid(dsn: str) -> int:
    with trio.fail_after(PATIENCE):
        while True:
            with plain(dsn) as conn:
                found = conn.execute(LISTENING).fetchone()
            if found:
                pid: int = found[0]
                return pid
            await trio.sleep(0.02)


async def heard_within(words: list[str], word: str, say: Callable[[], Awaitable[object]]) -> None:
    with trio.fail_after(PATIENCE):
        while word not in words:
            await say()
            await trio.sleep(0.05)


async def test_notifications_are_heard_and_heard_again_after_the_listener_was_killed(small: Database, dsn: str) -> None:
    words: list[str] = []
    woken = trio.Event()

    def hear(word: str) -> None:
        words.append(word)
        woken.set()

    async def say(word: str) -> None:
        async def work(conn: Conn) -> None:
            await conn.execute("SELECT pg_notify('channel', %s)", (word,))

        await small.run(work)

    async with trio.open_nursery() as nursery:

        async def listen() -> None:
            await small.listen("channel", hear, retry=0.05)

        nursery.start_soon(listen)
        first = await listener_pid(dsn)
        await heard_within(words, "one", lambda: say("one"))
        assert woken.is_set()
        with plain(dsn) as conn:
            conn.execute("SELECT pg_terminate_backend(%s::int)", (first,))
        await heard_within(words, "two", lambda: say("two"))
        assert await listener_pid(dsn) != first
        nursery.cancel_scope.cancel()


async def test_a_server_that_became_a_standby_is_left_for_the_one_that_was_promoted(
    small: Database, dsn: str, driver: DriverName
) -> None:
    """Where its connections outlive that, behind a proxy or in a cloud: they are kept for half an hour."""

    async def become_a_standby(conn: Conn) -> int:
        await conn.execute("SET default_transaction_read_only = on")
        return conn.info.backend_pid

    async with open_database(dsn, max_size=1, patience=30, driver=driver) as db:
        standby = await db.run(become_a_standby)
        with pytest.raises(DatabaseUnavailable):
            await db.run(insert, 1)

        await db.run(insert, 2)
        assert await db.run(backend) != standby
    assert await small.run(count) == 1


async def test_a_listener_that_is_cancelled_leaves_no_connection(small: Database, dsn: str) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(small.listen, "channel", lambda _: None)
        await listener_pid(dsn)
        nursery.cancel_scope.cancel()

    with plain(dsn) as conn:
        await until(lambda: conn.execute(LISTENING).fetchone() is None)  # when the server notices the closed socket


async def test_closing_does_not_wait_for_what_is_out(dsn: str, driver: DriverName) -> None:
    begun = trio.Event()

    async def work(conn: Conn) -> None:
        await conn.execute("SET statement_timeout = 0")
        begun.set()
        await conn.execute("SELECT pg_sleep(600)")

    with trio.fail_after(PATIENCE):
        async with open_database(dsn, driver=driver) as db, trio.open_nursery() as nursery:
            nursery.start_soon(db.run, work)
            await begun.wait()
            nursery.cancel_scope.cancel()


@pytest.mark.parametrize("is_cancelled", [False, True])
async def test_connection_returned_after_the_pool_closed_is_closed(dsn: str, is_cancelled: bool) -> None:
    """A task of a surrounding nursery may outlive the pool: its connection must not wait for the garbage collector."""
    lent: list[Conn] = []
    may_end = trio.Event()

    async def work(conn: Conn) -> None:
        lent.append(conn)
        await may_end.wait()

    async with trio.open_nursery() as nursery:
        async with open_database(dsn) as db:
            nursery.start_soon(db.run, work)
            await until(lambda: lent)
        if is_cancelled:
            nursery.cancel_scope.cancel()
        may_end.set()
    assert lent[0].closed


@pytest.mark.parametrize(
    "said",
    [
        "failure on connection marked as essential: 10.0.0.2:5432",
        "could not commit transaction for shard 102174 on at least one active node",
        "server closed the connection unexpectedly",
    ],
)
async def test_a_node_that_another_lost_is_a_database_that_is_away(db: Database, said: str) -> None:
    """It has the SQLSTATE of any internal error, and may be retried."""

    async def lose(conn: Conn, message: str) -> None:
        await conn.execute(
            sql.SQL("DO $$ BEGIN RAISE EXCEPTION {} USING ERRCODE = 'XX000'; END $$").format(sql.Literal(message))
        )

    with pytest.raises(DatabaseUnavailable, match="XX000"):
        await db.run(lose, said)
    with pytest.raises(errors.InternalError_):
        await db.run(lose, "cache lookup failed")
