"""The sign-in throttle: deleting old entries neither delays nor ends an attempt."""

from ipaddress import ip_address

import trio

from fe.identifiers import ApiKeyId
from fe.store.postgres.db import Database
from fe.store.records import throttle
from tests.factories.tenants import rows
from tests.store.race import plain
from tests.waiting import PATIENCE

_ADDRESS = throttle.bucket_of_address(ip_address("192.0.2.1"))
_KEY = throttle.bucket_of_key(ApiKeyId("fak_0000000000aa"))
_OTHER = throttle.bucket_of_key(ApiKeyId("fak_0000000000bb"))

_WAIT = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


async def _until_it_waits_or_is_done(db: Database, done: trio.Event, waiting: int) -> None:
    with trio.fail_after(PATIENCE):
        while not done.is_set() and len(await rows(db, _WAIT)) < waiting:  # noqa: ASYNC110  (another's session)
            await trio.sleep(0.01)


async def test_what_is_forgotten_meanwhile_ends_no_attempt(
    db: Database, front_db: Database, dsn: str, nursery: trio.Nursery
) -> None:
    for bucket, kind in ((_KEY, "key"), (_OTHER, "key"), (_ADDRESS, "address")):  # in this order they lie there
        await rows(
            db,
            "INSERT INTO login_attempts (bucket, kind, recent, last_at)"
            " VALUES (%(bucket)s, %(kind)s, '{}', now() - interval '1 hour')",
            bucket=bucket,
            kind=kind,
        )
    forgotten, counted = trio.Event(), trio.Event()
    outcomes: dict[str, object] = {}

    async def forget() -> None:
        outcomes["forgotten"] = await front_db.run(throttle.prune)
        forgotten.set()

    async def attempt() -> None:
        outcomes["lockout"] = await front_db.run(throttle.attempt, _ADDRESS, _KEY)
        counted.set()

    with plain(dsn) as other:
        other.execute("BEGIN")
        other.execute("SELECT 1 FROM login_attempts WHERE bucket = %s FOR UPDATE", (_OTHER,))
        nursery.start_soon(forget)
        await _until_it_waits_or_is_done(db, forgotten, 1)
        nursery.start_soon(attempt)
        await _until_it_waits_or_is_done(db, counted, 2)
        other.execute("COMMIT")
    with trio.fail_after(PATIENCE):
        await forgotten.wait()
        await counted.wait()

    assert outcomes == {"forgotten": 2, "lockout": None}
