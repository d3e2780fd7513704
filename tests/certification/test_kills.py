"""The own path's set of tests, sent by a real service that SIGKILL ends at random moments: each document goes once.

CERTIFICATION_KILLS says how often in all, CERTIFICATION_SEED by which chance. Ten kills fall into a set at most.
"""

import math
import os
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
import trio

from fe.certification.to_do import CannotRun
from fe.config import named_keys
from fe.ecf.catalogue import Environment
from fe.ecf.certificate import Credential
from fe.secrets.vault import Vault
from fe.simulator import Addresses, SimulatorSettings, simulate
from fe.store.postgres.db import Database, open_database
from fe.store.records.certification import RunState
from fe.store.records.tenants import Tenant
from tests.certification.sets import CASES_OF_THE_ORDER, sheets, xlsx
from tests.certification.test_runs import ALL_COUNTED, Operator, as_a_person, counters, fault, journal
from tests.cli.running import SECRETS, environment
from tests.cli.warm import warm_fe
from tests.faults.parts import Part
from tests.faults.watchman import Watchman
from tests.system.stack import provision
from tests.waiting import PATIENCE

pytestmark = [
    pytest.mark.usefixtures("pool_here"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

KILLS = int(os.environ.get("CERTIFICATION_KILLS", "4"))
SEED = int(os.environ.get("CERTIFICATION_SEED", "7"))
_KILLS_OF_A_SET = 10
SETS = math.ceil(KILLS / _KILLS_OF_A_SET)
_ANSWERED_AFTER = 0.1


@dataclass(frozen=True)
class Ground:
    """Database, company and simulated authority, beside the service."""

    db: Database
    tenant: Tenant
    credential: Credential
    simulator: Addresses


@pytest.mark.parametrize("nth", range(SETS))
async def test_set_whose_service_is_killed_sends_no_case_twice_and_comes_to_its_end(
    nth: int, dsn: str, tmp_path: Path
) -> None:
    kills = KILLS // SETS + (nth < KILLS % SETS)
    chance = random.Random(SEED + nth)
    doubts = 0
    async with ground(dsn) as its, service(its, dsn, tmp_path) as part:
        operator = Operator(its)
        made = sheets()
        await operator.load(xlsx(made))
        # Answers take a moment, so that some kills come between a document and its answer.
        await fault(its.simulator, kind="slow", operation="reception", seconds=_ANSWERED_AFTER, times=0)
        await operator.send()
        with trio.fail_after(PATIENCE + 60 * kills):
            while (run := await operator.run()).state is not RunState.SENT:
                if run.state is RunState.STOPPED:
                    doubts += 1
                    with suppress(CannotRun):  # what was replayed may be in doubt again: then a person looks again
                        await as_a_person(operator)
                elif part.ends["kill -9"] == kills:
                    await operator.ended()
                else:
                    await _moved(operator)
                    await trio.sleep(chance.uniform(0, 0.4))
                    if (await operator.run()).state is RunState.SENDING:
                        await _kill(part)
        print(f"seed {SEED + nth}: {kills} kills, {doubts} doubts")  # noqa: T201  (figures of the proof)
        assert part.ends == {"kill -9": kills}
        sent = await journal(its.simulator)
        assert sorted(one["eNCF"] for one in sent) == sorted(CASES_OF_THE_ORDER)
        assert {one["verdict"]["estado"] for one in sent} == {"Aceptado"}
        assert await counters(its.simulator) == (ALL_COUNTED, 0)
        await operator.require_equal(made)


@asynccontextmanager
async def ground(dsn: str) -> AsyncIterator[Ground]:
    """A company and a simulated authority, which outlive the service."""
    quick = SimulatorSettings(verdict_delay=timedelta(milliseconds=20), certification_lag=timedelta(0))
    vault, pepper = Vault(named_keys(SECRETS["FE_KEK"])), bytes.fromhex(SECRETS["FE_API_KEY_PEPPER"])
    async with open_database(dsn, max_size=4) as db, trio.open_nursery() as nursery:
        simulator: Addresses = await nursery.start(simulate, quick)
        tenant, credential, _ = await provision(db, vault, pepper, environment=Environment.CERTECF)
        yield Ground(db, tenant, credential, simulator)
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def service(its: Ground, dsn: str, folder: Path) -> AsyncIterator[Part]:
    """`fe run`, which is started again whenever it ends."""
    told = environment(
        database_url=dsn,
        data_dir=str(folder),
        http_bind="127.0.0.1:0",
        metrics_bind="127.0.0.1:0",
        authority_ecf_url=its.simulator.ecf,
        authority_fc_url=its.simulator.fc,
        authority_status_url=its.simulator.status,
        poll_seconds="0.3",
        lease_seconds="10",
        time_scale="0.1",
        grace_seconds="2",
        log_level="warning",
    )
    watchman = Watchman()
    try:
        async with trio.open_nursery() as nursery:
            part = Part("service", lambda: [str(warm_fe()), "run"], told, folder, watchman, lambda *_: None, SEED)
            await nursery.start(part.keep_running)
            yield part
            await part.end()
            nursery.cancel_scope.cancel()
    finally:
        watchman.close()


async def _kill(part: Part) -> None:
    """Kill the service, and wait until another one runs."""
    lives = part.lives
    part.kill()
    while part.lives == lives:  # noqa: ASYNC110  (a part tells nothing)
        await trio.sleep(0.01)


async def _moved(operator: Operator) -> None:
    """Wait until the set moves: a document is handed in or accepted, or the set stops."""

    async def place() -> tuple[RunState, int, int]:
        cases = await operator.cases()
        handed_in = sum(case.submission_id is not None for case in cases)
        return (await operator.run()).state, handed_in, sum(case.is_through for case in cases)

    before = await place()
    while await place() == before:  # noqa: ASYNC110  (only the database knows)
        await trio.sleep(0.02)
