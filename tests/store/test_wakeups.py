"""Wake-ups: hints that reach this process at once, the others soon, and that may be lost without harm."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
import trio
import trio.testing

from fe.lifecycle import Stage
from fe.store.postgres.db import Database, open_database
from fe.store.queue import wakeups as wakeups_module
from fe.store.queue.wakeups import CHANNEL, HELP_THROTTLE, THROTTLE, Wakeups
from tests.factories.tenants import rows
from tests.store.race import plain
from tests.waiting import until


@asynccontextmanager
async def process(dsn: str) -> AsyncIterator[Wakeups]:
    """A process as far as wake-ups go: its own pool, its own listener, ready to hear."""
    async with open_database(dsn, max_size=2) as db, trio.open_nursery() as nursery:
        wakeups = Wakeups(db)
        nursery.start_soon(wakeups.run)
        await until(lambda: wakeups.heard is not None)
        yield wakeups
        nursery.cancel_scope.cancel()


async def test_a_ring_is_heard_in_its_own_process_at_once_and_without_any_listener(db: Database) -> None:
    wakeups = Wakeups(db)
    event, other = wakeups.event(Stage.SEND), wakeups.event(Stage.TRACK)

    wakeups.notify(Stage.SEND)

    assert event.is_set()
    assert not other.is_set()
    assert not wakeups.event(Stage.SEND).is_set(), "the next one waits for the next ring"


async def test_a_ring_is_heard_in_the_other_processes(dsn: str) -> None:
    async with process(dsn) as one, process(dsn) as other:
        bells = {stage: other.event(stage) for stage in Stage}

        one.notify(Stage.SEND, Stage.SIGN)

        with trio.fail_after(60):
            await bells[Stage.SEND].wait()
            await bells[Stage.SIGN].wait()
        assert not bells[Stage.TRACK].is_set()
        assert (one.heard, other.heard) == (True, True)


async def test_that_nothing_is_heard_any_more_is_noticed_and_that_it_is_again(
    dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A listening connection may be lost long after the start, and no other be had for a while."""
    monkeypatch.setattr(wakeups_module, "_PROBE_EVERY_SECONDS", 0.05)
    monkeypatch.setattr(wakeups_module, "_PROBE_SECONDS", 1.0)
    may_listen = True
    async with open_database(dsn, max_size=2) as db, trio.open_nursery() as nursery:
        listen = db.listen

        async def listen_if_it_may(*args: Any, **kwargs: Any) -> None:
            while True:
                with trio.CancelScope() as scope:
                    listening.append(scope)
                    if may_listen:
                        await listen(*args, **kwargs)
                    await trio.sleep_forever()

        listening: list[trio.CancelScope] = []
        monkeypatch.setattr(db, "listen", listen_if_it_may)
        wakeups = Wakeups(db)
        nursery.start_soon(wakeups.run)
        await until(lambda: wakeups.heard is True)

        may_listen = False
        listening[-1].cancel()
        await until(lambda: wakeups.heard is False)

        may_listen = True
        listening[-1].cancel()
        await until(lambda: wakeups.heard is True)
        nursery.cancel_scope.cancel()


async def test_a_thousand_rings_become_a_few_notifications(dsn: str) -> None:
    heard: list[str] = []
    async with open_database(dsn, max_size=1) as db, process(dsn) as one, trio.open_nursery() as nursery:
        nursery.start_soon(db.listen, CHANNEL, heard.append)
        with plain(dsn) as conn, trio.fail_after(60):
            while not heard:
                conn.execute("SELECT pg_notify(%s, 'nothing')", (CHANNEL,))
                await trio.sleep(0.05)
        started = trio.current_time()

        for number in range(1000):
            one.notify(Stage.SIGN, Stage.SEND)
            if number % 20 == 0:
                await trio.sleep(0.001)
        await trio.sleep(0.3)

        told = [payload.split(",") for payload in heard if payload != "nothing"]
        assert all(names[1:] == ["send", "sign"] for names in told)
        assert len(told) <= (trio.current_time() - started) / THROTTLE
        nursery.cancel_scope.cancel()


async def test_others_are_called_to_help_now_and_then_by_a_process_that_works_itself(dsn: str) -> None:
    heard: list[str] = []
    async with open_database(dsn, max_size=1) as db, process(dsn) as one, trio.open_nursery() as nursery:
        nursery.start_soon(db.listen, CHANNEL, heard.append)
        one.event(Stage.SIGN)
        started = trio.current_time()
        with trio.fail_after(60):
            while not heard:
                one.notify(Stage.SIGN)
                await trio.sleep(0.05)

        for _ in range(100):
            one.notify(Stage.SIGN)
            await trio.sleep(0.005)

        assert len(heard) <= (trio.current_time() - started) / HELP_THROTTLE + 1
        nursery.cancel_scope.cancel()


async def test_a_ring_of_ours_wakes_us_once(dsn: str) -> None:
    """Its echo would be one more claim that finds nothing."""
    async with process(dsn) as one, process(dsn) as other:
        one.notify(Stage.SIGN)
        again, bell = one.event(Stage.SIGN), other.event(Stage.SIGN)
        one.notify(Stage.SEND)  # after it, on the same channel
        sent = other.event(Stage.SEND)

        with trio.fail_after(60):
            await bell.wait()
            while not sent.is_set():
                one.notify(Stage.SEND)
                await trio.sleep(0.05)

        assert not again.is_set()


async def test_a_ring_for_later_comes_when_its_time_has_come(dsn: str) -> None:
    async with process(dsn) as wakeups:
        event, started = wakeups.event(Stage.SEND), trio.current_time()

        wakeups.notify_in(timedelta(seconds=0.2), Stage.SEND)

        with trio.fail_after(60):
            await event.wait()
        assert trio.current_time() - started >= 0.2


class Nowhere(Database):
    """No database: listeners hear nothing, and notifications are lost."""

    def __init__(self) -> None:
        pass

    async def listen(self, *_: object, **__: object) -> None:
        await trio.sleep_forever()

    async def run(self, *_: object, **__: object) -> Any:
        pass


async def test_rings_for_later_come_each_in_its_time_whatever_order_they_were_asked_for_in(
    autojump_clock: trio.testing.MockClock,
) -> None:
    wakeups = Wakeups(Nowhere())
    woken: list[float] = []
    started = trio.current_time()

    async def note() -> None:
        while True:
            await wakeups.event(Stage.TRACK).wait()
            woken.append(trio.current_time() - started)

    with trio.move_on_after(29):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(wakeups.run)
            nursery.start_soon(note)
            for seconds in (0.6, 0.2, 0.4, 30):
                wakeups.notify_in(timedelta(seconds=seconds), Stage.TRACK)
            await trio.sleep_forever()

    assert woken == pytest.approx([0.2, 0.4, 0.6], abs=0.1)


async def test_a_hundred_thousand_documents_that_wait_cost_a_few_rings(dsn: str) -> None:
    """In an outage all of them wait for minutes, spread over the schedule."""
    async with process(dsn) as wakeups:
        tasks = trio.lowlevel.current_statistics().tasks_living
        for number in range(100_000):
            wakeups.notify_in(timedelta(seconds=1 + number % 60), Stage.SEND)

        assert trio.lowlevel.current_statistics().tasks_living == tasks
        assert len(wakeups._later) <= 60 * 2 * 20


async def test_a_ring_for_later_is_at_once_when_there_is_no_delay(db: Database) -> None:
    wakeups = Wakeups(db)
    event = wakeups.event(Stage.SEND)

    wakeups.notify_in(timedelta(0), Stage.SEND)

    assert event.is_set()


async def test_words_that_are_no_stage_wake_nobody(dsn: str) -> None:
    async with process(dsn) as wakeups:
        bells = [wakeups.event(stage) for stage in Stage]

        with plain(dsn) as conn:
            for word in ("", "SIGN", "sign;send", "\u2603", "x" * 7000):
                conn.execute("SELECT pg_notify(%s, %s)", (CHANNEL, word))
        await trio.sleep(0.2)

        assert not any(event.is_set() for event in bells)


async def test_rings_during_an_outage_are_lost_and_the_next_ones_are_heard(dsn: str) -> None:
    async with process(dsn) as one, process(dsn) as other:
        with plain(dsn) as conn:
            conn.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
                         " AND pid <> pg_backend_pid()")  # fmt: skip
        event = other.event(Stage.SIGN)

        with trio.fail_after(60):
            while not event.is_set():
                one.notify(Stage.SIGN)
                await trio.sleep(0.1)


async def test_a_process_that_hears_nothing_says_so(dsn: str) -> None:
    """As behind a transaction pooler: LISTEN reaches no connection."""
    async with open_database(dsn, max_size=2) as db:

        class Deaf(Database):
            async def listen(self, *_: object, **__: object) -> None:
                await trio.sleep_forever()

        wakeups = Wakeups(Deaf(db._driver))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(wakeups.run)
            await until(lambda: wakeups.heard is not None)
            nursery.cancel_scope.cancel()

        assert wakeups.heard is False
        assert await rows(db, "SELECT 1 AS one") == [{"one": 1}]
