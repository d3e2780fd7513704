from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import httpx
import pytest
import trio

from fe.simulator import SimulatorSettings
from tests.plain_http import NO_TLS
from tests.simulator.support import Running, Start, start_in
from tests.waiting import PATIENCE


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(timeout=PATIENCE, verify=NO_TLS, trust_env=False) as client:
        yield client


@pytest.fixture
async def start(nursery: trio.Nursery, http: httpx.AsyncClient) -> Start:
    """Starts simulators whose verdicts are out at once, unless told otherwise."""

    async def start(**settings: Any) -> Running:
        return await start_in(nursery, http, SimulatorSettings(**{"verdict_delay": timedelta(0), **settings}))

    return start


@pytest.fixture
async def simulator(start: Start) -> Running:
    return await start()
