"""Rows that wait for a host of the authority, over real sockets: none gives up, and all go on."""

from pathlib import Path

import httpx
import pytest
import trio

from fe.ecf.catalogue import Host
from fe.store.queue import circuits
from tests.factories.tenants import rows
from tests.system.stack import Stack, running_stack
from tests.system.test_road import consumer_invoice
from tests.waiting import PATIENCE

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


async def summaries_are_left_alone(stack: Stack) -> bool:
    """Whether their host has an open circuit, and a probe has found why."""
    known = {one.host: one for one in await stack.db.run(circuits.everything)}
    found = known.get(Host.FC)
    return found is not None and found.is_open and found.reason == "seed answered with status 503"


async def test_summaries_wait_while_the_other_host_gives_no_sessions(dsn: str, tmp_path: Path) -> None:
    """Their own host answers, but is not called without a session."""
    async with (
        running_stack(dsn, tmp_path) as stack,
        httpx.AsyncClient(base_url=stack.simulator.management, trust_env=False, timeout=PATIENCE) as management,
    ):
        ordered = await management.post("/faults", json={"kind": "unavailable", "operation": "seed", "times": 0})
        assert ordered.is_success, ordered.text
        taken = [await stack.submit(consumer_invoice(number)) for number in range(1, 7)]

        with trio.fail_after(PATIENCE):
            while not await summaries_are_left_alone(stack):  # noqa: ASYNC110  (a row of the database rings no bell)
                await trio.sleep(0.05)
        (tried,) = await rows(stack.db, "SELECT max(attempt) AS most FROM outbox")
        await management.delete("/faults")
        ends = [(await stack.until_final(one["taxLogId"]))["status"] for one in taken]

    assert tried["most"] <= 2
    assert ends == ["Aceptado"] * 6
