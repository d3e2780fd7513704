"""Work apart is bounded, fair, loses nothing when its process dies, and ends with the service."""

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest
import trio
import trio.testing

from fe.ecf.document import NotADocument
from fe.ecf.parse import MalformedJson, MalformedXml
from fe.ecf.problems import Problem
from fe.ecf.taxes import RATES
from fe.ecf.texts import Text
from fe.http.errors import ApiError, describe
from fe.identifiers import SubmissionId
from fe.issuing.sign import CannotIssue, NumberTaken
from fe.monitoring.metrics import Metrics
from fe.offload import pool as apart
from fe.offload import worker as apart_process
from fe.offload.pool import Apart, ApartFailed
from fe.process.cpu import Pace
from tests.apart_work import burn_and_fail, die, keep_memory, never_end, take_memory, who_comes_first, whoami
from tests.waiting import PATIENCE

PROBLEM = Problem("code", "path", "message", "mensaje", line=3)


def failures(metrics: Metrics, reason: str) -> float | None:
    return metrics.registry.get_sample_value("fe_large_document_failures_total", {"reason": reason})


async def until(condition: Callable[[], bool]) -> None:
    with trio.fail_after(60):
        while not condition():  # noqa: ASYNC110  (processes ring no bell)
            await trio.sleep(0.01)


def is_alive(pid: int) -> bool:
    """Whether a thread of the process is left: until the last one ends, files stay open and no end is reported."""
    process = Path(f"/proc/{pid}")
    try:
        first = (process / "stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
        return first != "Z" or len(list((process / "task").iterdir())) > 1
    except (FileNotFoundError, ProcessLookupError):
        return False


async def test_it_is_another_process_without_our_secrets_and_behind_us_for_the_processor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FE_KEK", "secret")
    monkeypatch.setenv("PGPASSWORD", "secret")
    at_work = Apart(1, Metrics(), seconds=PATIENCE)
    async with at_work.running():
        pid, environ, nice = await at_work.run("a", whoami)
        again, _, _ = await at_work.run("b", whoami)

    assert pid == again != os.getpid()
    assert "secret" not in environ.values()
    assert nice > os.nice(0)
    assert not is_alive(pid)


async def test_a_process_that_dies_fails_its_document_and_the_next_has_another() -> None:
    metrics = Metrics()
    at_work = Apart(1, metrics, seconds=PATIENCE)
    async with at_work.running():
        with pytest.raises(ApartFailed, match="its process died"):
            await at_work.run("a", die)
        pid, _, _ = await at_work.run("a", whoami)
        os.kill(pid, signal.SIGKILL)  # and one that dies while it has nothing to do is not noticed at all
        await until(lambda: not is_alive(pid))
        assert (await at_work.run("a", whoami))[0] != pid

    assert failures(metrics, "died") == 1


async def test_what_takes_too_long_or_too_much_memory_is_given_up_alone() -> None:
    metrics = Metrics()
    at_work, hurried = Apart(1, metrics, seconds=PATIENCE), Apart(1, metrics, seconds=0.5)
    async with at_work.running(), hurried.running():
        with pytest.raises(ApartFailed, match="too much memory"):
            await at_work.run("a", take_memory, 2 * apart_process.MEMORY)
        with pytest.raises(ApartFailed, match=r"more than 0\.5 s"):
            await hurried.run("a", never_end, os.devnull)
    assert (failures(metrics, "memory"), failures(metrics, "too slow")) == (1, 1)


async def test_error_of_the_block_is_raised_although_a_process_had_to_be_killed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(apart, "_END_SECONDS", 0.0)
    at_work = Apart(1, Metrics(), seconds=PATIENCE)

    async def fail() -> None:
        async with at_work.running():
            await at_work.run("a", whoami)
            raise KeyError("why")

    with pytest.raises(KeyError, match="why"):
        await fail()


async def test_who_is_cancelled_leaves_no_process_behind(tmp_path: Path) -> None:
    at_work, started = Apart(1, Metrics(), seconds=PATIENCE), tmp_path / "started"
    async with at_work.running():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(at_work.run, "a", never_end, str(started))
            await until(lambda: started.exists() and bool(started.read_text(encoding="ascii")))
            nursery.cancel_scope.cancel()
        assert not is_alive(int(started.read_text(encoding="ascii")))
        assert (await at_work.run("a", whoami))[0] > 0


async def test_a_process_that_has_grown_is_replaced() -> None:
    at_work = Apart(1, Metrics(), seconds=PATIENCE, idle=3600.0)  # else it ends by itself before the test gives up
    async with at_work.running():
        first = await at_work.run("a", keep_memory, apart_process.KEPT_MEMORY)
        await until(lambda: not is_alive(first))
        second = await at_work.run("a", keep_memory, 1)
        third = await at_work.run("a", keep_memory, 1)
    assert first != second == third


async def test_processes_end_when_nobody_needs_them() -> None:
    at_work = Apart(1, Metrics(), seconds=PATIENCE, idle=0.1)
    async with at_work.running():
        pid, _, _ = await at_work.run("a", whoami)
        await until(lambda: at_work.alive == 0)
        assert not is_alive(pid)


async def test_who_has_had_its_share_is_worked_for_when_a_processor_is_idle_and_nobody_else_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(apart, "SHARE", 0.0)  # it does not come back while we look
    monkeypatch.setattr(apart, "IDLE_PATIENCE", 3600.0)  # and this machine may be busy for long
    at_work = Apart(1, Metrics(), seconds=3600)
    async with at_work.running():
        for who in ("greedy", "modest"):
            policy, nice, session, pid = await at_work.run(who, who_comes_first)
            assert (policy, nice, session) == (os.SCHED_OTHER, min(os.nice(0) + 10, 19), pid)
        with pytest.raises(ZeroDivisionError):
            await at_work.run("greedy", burn_and_fail, apart.BURST)  # what fails has taken it, too

        policy, nice, session, pid = await at_work.run("greedy", who_comes_first)
        assert (policy, nice, session) == (os.SCHED_IDLE, 19, pid)
        assert (await at_work.run("modest", who_comes_first))[0] == os.SCHED_OTHER
        assert at_work.alive == 2


async def test_who_waits_for_an_idle_processor_stands_in_nobodys_way(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(apart, "BURST", 0.01)
    monkeypatch.setattr(apart, "SHARE", 0.0)
    monkeypatch.setattr(apart, "IDLE_PATIENCE", 3600.0)
    at_work, started = Apart(1, Metrics(), seconds=3600), tmp_path / "started"
    async with at_work.running(), trio.open_nursery() as nursery:
        await at_work.run("greedy", who_comes_first, 0.1)
        nursery.start_soon(at_work.run, "greedy", never_end, str(started))
        await until(lambda: started.exists() and bool(started.read_text(encoding="ascii")))

        assert (await at_work.run("modest", whoami))[0] != int(started.read_text(encoding="ascii"))
        nursery.cancel_scope.cancel()


async def test_of_the_machine_idle_processors_take_a_share_over_time_and_nobody_else_waits_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rate, burnt = 0.2, 0.3
    monkeypatch.setattr(apart, "BURST", 0.05)  # more than the modest one takes, however it is counted
    monkeypatch.setattr(apart, "SHARE", 0.0)
    monkeypatch.setattr(apart, "IDLE_PATIENCE", 3600.0)
    monkeypatch.setattr(apart, "IDLE_SHARE", rate / (os.cpu_count() or 1))
    at_work, ended = Apart(1, Metrics(), seconds=3600), []

    async def work(who: str) -> None:
        await at_work.run(who, who_comes_first)
        ended.append(who)

    async with at_work.running(), trio.open_nursery() as nursery:
        await at_work.run("greedy", who_comes_first, 0.1)
        began = trio.current_time()
        await at_work.run("greedy", who_comes_first, burnt)  # by an idle processor
        assert at_work._idle.free_from - began >= burnt / rate
        await work("greedy")
        assert trio.current_time() - began >= burnt / rate

        # The next one's turn is so far away that it does not come while the others are served, however long that takes.
        at_work._idle.take(3600.0, trio.current_time())
        nursery.start_soon(work, "greedy")
        with trio.fail_after(PATIENCE):
            for _ in range(3):
                await at_work.run("modest", whoami)
        assert ended == ["greedy"]
        assert at_work._when_idle._limiter.borrowed_tokens == 0  # nor is it being worked for
        nursery.cancel_scope.cancel()


def test_what_took_its_time_at_its_pace_is_free_again_at_once() -> None:
    pace = Pace(0.5)
    pace.take(1.0, 10.0)
    assert pace.free_from == 12.0
    pace.take(1.0, 11.0)  # of two at once both count
    assert pace.free_from == 14.0
    pace.take(0.5, 20.0)
    assert pace.free_from == 21.0


async def test_who_gives_up_has_taken_what_a_new_process_takes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(apart, "BURST", apart._START_SECONDS)
    monkeypatch.setattr(apart, "SHARE", 0.0)
    monkeypatch.setattr(apart, "IDLE_PATIENCE", 3600.0)
    at_work, started = Apart(1, Metrics(), seconds=3600), tmp_path / "started"
    async with at_work.running():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(at_work.run, "greedy", never_end, str(started))
            await until(lambda: started.exists() and bool(started.read_text(encoding="ascii")))
            nursery.cancel_scope.cancel()

        assert (await at_work.run("greedy", who_comes_first))[0] == os.SCHED_IDLE


def test_a_process_that_is_to_idle_knows_it_before_it_reads_much() -> None:
    """Imports before that use the processor at normal priority: so no framework, and no module of ours with one."""
    program = "import sys, fe.offload.worker; print(*sys.modules)"
    read = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()

    assert "fe.offload.worker" in read
    assert not {"trio", "structlog", "pydantic", "prometheus_client", "asyncio"} & set(read)


async def test_what_no_idle_processor_does_in_time_is_done_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "SHARE", 0.0)
    monkeypatch.setattr(apart, "IDLE_PATIENCE", 0.01)  # less than it takes to start one
    at_work = Apart(1, Metrics(), seconds=PATIENCE)
    async with at_work.running():
        await at_work.run("greedy", who_comes_first, apart.BURST)
        assert (await at_work.run("greedy", who_comes_first))[0] == os.SCHED_OTHER


SERVICE = """
import sys, trio
from fe.offload.pool import Apart
from fe.monitoring.metrics import Metrics
from tests.apart_work import die, keep_memory, never_end, take_memory, whoami
from tests.apart_work import never_end

async def main():
    at_work = Apart(1, Metrics(), seconds=3600)
    async with at_work.running():
        await at_work.run("a", never_end, sys.argv[1])

if __name__ == "__main__":
    trio.run(main)
"""


async def test_a_process_ends_with_the_service_however_that_ends(tmp_path: Path) -> None:
    """Kill the service in the middle of a document: no orphaned worker goes on."""
    started = tmp_path / "started"
    service = subprocess.Popen(  # noqa: ASYNC220  (it starts at once)
        [
            sys.executable,
            "-c",
            SERVICE,
            str(started),
        ],
        cwd=Path(__file__).parent.parent,
    )
    try:
        await until(lambda: started.exists() and bool(started.read_text(encoding="ascii")))
    finally:
        service.kill()
        service.wait()
    worker = int(started.read_text(encoding="ascii"))
    await until(lambda: not is_alive(worker))


@pytest.mark.parametrize(
    "error",
    [
        ApiError(400, Text("message", "mensaje"), (("Retry-After", "1"),), ()),
        NotADocument((PROBLEM,)),
        MalformedJson(Text("not JSON", "no es JSON"), 3, 4),
        MalformedXml(Text("no", "no"), 5, 6),
        CannotIssue((PROBLEM,), 5),
        CannotIssue((PROBLEM,) * 500),
        NumberTaken(SubmissionId(UUID(int=5))),
    ],
)
def test_errors_say_the_same_on_this_side(error: Exception) -> None:
    told = pickle.loads(pickle.dumps(error))
    assert type(told) is type(error)
    assert str(told) == str(error)
    if not isinstance(error, CannotIssue | NumberTaken):
        assert describe(told) == describe(error)
    assert len(getattr(told, "problems", ())) <= 100


def test_what_is_given_along_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(RATES)).periods.keys() == RATES.periods.keys()
    assert pickle.loads(pickle.dumps(datetime.now(UTC))).tzinfo is UTC
