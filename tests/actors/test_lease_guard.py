"""The pulse: which bounds hold together, whatever the settings."""

from datetime import timedelta

import pytest
import trio

from fe.clock import boot_seconds, system_clock
from fe.monitoring.metrics import Metrics
from fe.queue.lease_guard import BEAT_SECONDS, SILENCE, LeaseGuard, LeaseUncertain
from fe.queue.rescuer import run_rescuer
from fe.queue.stage import StageContext
from fe.store.postgres.db import Conn, Database
from fe.store.queue import workers
from fe.store.queue.outbox import OUTBOX
from fe.store.queue.wakeups import Wakeups
from tests.factories.tenants import rows


class Time:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("lease", "scale", "sure_for"), [(60, 1.0, 20), (8, 0.1, 2), (5, 1.0, 10 / 3), (45, 1.0, 20), (15, 1.0, 10)]
)
def test_it_is_sure_for_two_thirds_of_what_others_wait_for(lease: float, scale: float, sure_for: float) -> None:
    time = Time()
    again = LeaseGuard(lease=timedelta(seconds=lease), scale=scale, clock=time).look()

    time.now += sure_for * 0.99
    again()
    time.now += sure_for * 0.02
    with pytest.raises(LeaseUncertain):
        again()

    assert 2 * BEAT_SECONDS * scale < SILENCE.total_seconds() * scale * 2 / 3, "one beat may be missed"


def test_a_sign_that_was_given_later_says_nothing_about_what_was_announced_before() -> None:
    time = Time()
    pulse = LeaseGuard(lease=timedelta(seconds=60), clock=time)
    again = pulse.look()
    time.now += 33
    pulse.renewed(time.now)

    with pytest.raises(LeaseUncertain, match="33 s"):
        again()
    pulse.look()


def test_the_clock_goes_on_and_is_not_the_one_on_the_wall() -> None:
    before = boot_seconds()

    assert 0 <= boot_seconds() - before < 60


async def test_a_sign_of_life_counts_from_before_it_was_written_and_only_once_it_is_there(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    time, written = Time(), trio.Event()

    class LocalizedError(LeaseGuard):
        def renewed(self, begun: float) -> None:
            super().renewed(begun)
            written.set()

    pulse = LocalizedError(lease=timedelta(seconds=60), clock=time)
    unsure_while_writing: list[str] = []
    seen = workers.seen

    async def slowly(conn: Conn, holder: str) -> None:
        time.now += 7
        await seen(conn, holder)
        with pytest.raises(LeaseUncertain) as unsure:
            pulse.look()
        unsure_while_writing.append(str(unsure.value))

    monkeypatch.setattr(workers, "seen", slowly)
    time.now += 100
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(
                run_rescuer,
                StageContext(db, Wakeups(db), system_clock, Metrics(), timedelta(minutes=1), 1.0, "me"),
                [OUTBOX],
                pulse,
            )
            await written.wait()
            nursery.cancel_scope.cancel()

    assert unsure_while_writing == ["nothing was sent: this worker gave its last sign of life 107 s before"]
    time.now += 12
    pulse.look()
    time.now += 2
    with pytest.raises(LeaseUncertain, match="21 s"):
        pulse.look()


async def test_a_rescuer_that_crashes_takes_no_leave(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others still work on what is held: only who ends gives it away."""

    async def crash(*_: object) -> None:
        raise ValueError("crash")

    monkeypatch.setattr(workers, "rescue", crash)
    with pytest.raises(ValueError, match="crash"):
        await run_rescuer(
            StageContext(db, Wakeups(db), system_clock, Metrics(), timedelta(minutes=1), 1.0, "me"),
            [OUTBOX],
            LeaseGuard(lease=timedelta(seconds=60)),
        )

    assert [row["holder"] for row in await rows(db, "SELECT holder FROM workers")] == ["me"]
