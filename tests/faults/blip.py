"""A blip of the database under calls that never pause: does every front serve again, soon after it is back?

It comes last, so that each front has only this to recover from. The key is new to every front: a cached key would hide
for half a minute that the front no longer asks the database.
"""

import random
import signal
from collections.abc import Sequence

import trio

from tests.faults.clients import Account, Clients, Door, Key
from tests.faults.history import Blip, Call, Outcome
from tests.faults.parts import Tell
from tests.faults.postgres import Postgres

#: How long Postgres is away: what an immediate restart takes, and more.
AWAY = (1.3, 3.0)
#: How long we watch for a front to serve again, and how many calls served in a row are a return.
WATCHED = 20.0
_IN_A_ROW = 5
#: Seconds between two calls: less than any hold of the service.
_PAUSE = 0.1


async def blip(
    postgres: Postgres, clients: Clients, account: Account, key: Key, chance: random.Random, tell: Tell
) -> Sequence[Blip]:
    """Take Postgres away for a while, bring it back, and write down when each front served again."""
    alone = Account(account.tenant_id, account.environment, [key], account.address)
    doors = [Door(door.base_url, door.client) for door in clients.doors]
    calls: dict[str, list[Call]] = {door.base_url: [] for door in doors}

    async def call_on(door: Door) -> None:
        while True:
            call = await clients.call(alone, door, "blip", "GET", "/invoices/none", {}, key=key.api_key_id)
            calls[door.base_url].append(call)
            clients.journal.add(call)
            await trio.sleep(_PAUSE)

    for door in doors:
        while alone.tenant_id not in door.tokens:
            await clients.log_in(alone, door, key)
            await trio.sleep(0.2)
    tell("postgres", "postgres is away")
    back: float | None = None
    try:
        await postgres.end(signal.SIGQUIT)
        async with trio.open_nursery() as calling:
            for door in doors:
                calling.start_soon(call_on, door)
            await trio.sleep(chance.uniform(*AWAY))
            await postgres.start()
            back = clients.now
            with trio.move_on_after(WATCHED):
                while not all(_served(each, back) for each in calls.values()):  # noqa: ASYNC110  (it watches what calls saw)
                    await trio.sleep(_PAUSE)
            calling.cancel_scope.cancel()
    finally:
        if back is None:
            with trio.CancelScope(shield=True):
                await postgres.start()
    assert back is not None
    return [_told(where, each, back) for where, each in calls.items()]


def _served(calls: Sequence[Call], back: float) -> bool:
    last = calls[-_IN_A_ROW:]
    return len(last) == _IN_A_ROW and all(call.outcome is Outcome.OK and call.started >= back for call in last)


def _told(where: str, calls: Sequence[Call], back: float) -> Blip:
    served = next((call.ended for call in calls if call.started >= back and call.outcome is Outcome.OK), None)
    refused = sum(call.http == 503 and call.started >= back for call in calls)
    return Blip(where, back, served if _served(calls, back) else None, refused)
