"""The contract holds on the fast path and through Quart: tests of what takes the fast path run once with each."""

from collections.abc import Callable
from functools import partial

import pytest
import trio

from fe.identifiers import TenantId
from fe.offload.pool import Apart
from fe.store.postgres.db import Database
from tests.http.front import Running, Start, start_front

#: Files about routes that the fast path does not serve, or answers that do not depend on how a request was read; they
#: take the way of production.
ONCE = (
    "test_batches",
    "test_events",
    "test_issuers",
    "test_login",
    "test_login_timing",
    "test_mail_settings",
    "test_metadata",
    "test_metering",
    "test_months",
    "test_peppers",
    "test_print_archives",
    "test_printing",
    "test_received",
    "test_recurring",
    "test_sequences",
    "test_webhooks",
)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that starts a front on each way."""
    if "start" in metafunc.fixturenames:
        is_once = metafunc.module.__name__.rpartition(".")[2] in ONCE
        ways = {"fast path": True} if is_once else {"fast path": True, "Quart": False}
        metafunc.parametrize("start", ways.values(), ids=ways, indirect=True)


@pytest.fixture
def start(request: pytest.FixtureRequest) -> Start:
    """Start a front as `start_front` does."""
    return partial(start_front, fast_path=request.param)


@pytest.fixture
async def front(front_db: Database, nursery: trio.Nursery, start: Start) -> Running:
    return await start(nursery, front_db)


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Print in this process: another one would take a second to start."""

    async def run(_: Apart, tenant: TenantId, work: Callable[..., bytes], *given: object) -> bytes:
        return work(*given)

    monkeypatch.setattr(Apart, "run", run)
