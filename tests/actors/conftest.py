"""Logs of the actors are caught, not printed: a crash that a test provokes is no news."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, MutableMapping
from functools import partial
from typing import Any

import pytest
from structlog.testing import capture_logs

from fe.accounts import provision
from fe.store.postgres.db import Database, open_database
from fe.store.postgres.roles import WORKER
from fe.store.queue import pauses
from fe.store.records import certificates, sequences, submissions, tenants
from tests.lifecycle.histories import unlawful

#: Events of the setup, not of actors.
_PREPARES = {submissions.accept, certificates.put, pauses.pause, pauses.resume}
_PREPARES_ALL = {sequences.__name__, tenants.__name__, provision.__name__}


@pytest.fixture(autouse=True)
def logs() -> Iterator[list[MutableMapping[str, Any]]]:
    with capture_logs() as caught:
        yield caught


class _ByWhom(Database):
    """Does what is the actors' with their rights, and what a test does to prepare or to look with the owner's."""

    def __init__(self, owner: Database, worker: Database) -> None:
        super().__init__(owner._driver)
        self._worker = worker

    async def run(self, work: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> Any:
        what: Any = work
        while isinstance(what, partial):
            what = what.func
        ours = not what.__module__.startswith("fe.") or what.__module__ in _PREPARES_ALL or what in _PREPARES
        return await (super().run if ours else self._worker.run)(work, *args, **kwargs)


@pytest.fixture
async def db(dsn: str) -> AsyncIterator[Database]:
    """An open database for this test alone; the actors have their own rights in it, and no others."""
    async with open_database(dsn) as owner, open_database(dsn, role=WORKER) as worker:
        yield _ByWhom(owner, worker)


@pytest.fixture
def lawful(dsn: str) -> Iterator[None]:
    """Check after each test that the table of transitions allows what the actors did, and that events give its end."""
    yield
    assert unlawful(dsn) == []
