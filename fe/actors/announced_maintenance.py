"""Announced maintenance: opens the circuits of the authority's hosts for as long as it lasts."""

from datetime import timedelta

import structlog
import trio

from fe.authority.client import Authority, MaintenanceWindow
from fe.authority.errors import AuthorityError
from fe.clock import Clock
from fe.ecf.catalogue import Environment, Host
from fe.store.postgres.db import Database
from fe.store.postgres.errors import ANY_OF_THE_DATABASE
from fe.store.queue import circuits

_log = structlog.get_logger(__name__)

#: Windows are announced a day or more ahead (authority.md#services).
_ASK_SECONDS = 300.0
_LOOK_SECONDS = 5.0

#: A document sent just before the window may get no answer.
_EARLY = timedelta(seconds=30)


async def honour_maintenance(db: Database, authority: Authority, api_key: str, clock: Clock) -> None:
    """Open the circuits of an environment for as long as its announced maintenance lasts; until cancelled.

    The first probe is made when the window ends. A circuit that failures opened keeps its own, earlier probes.
    """
    windows: list[MaintenanceWindow] = []
    asked_at = -_ASK_SECONDS
    while True:
        if trio.current_time() - asked_at >= _ASK_SECONDS:
            asked_at = trio.current_time()
            try:
                windows = await authority.maintenance_windows(api_key)
            except AuthorityError as error:
                _log.warning("the announced maintenance could not be read; what was known holds", error=error)
        try:
            for window in windows:
                await _open_circuits(db, window, clock)
        except ANY_OF_THE_DATABASE as error:
            _log.warning("announced maintenance could not be put on record", error=error)
        await trio.sleep(_LOOK_SECONDS)


async def _open_circuits(db: Database, window: MaintenanceWindow, clock: Clock) -> None:
    now = clock()
    if not window.starts - _EARLY <= now < window.ends:
        return
    environments = [window.environment] if window.environment is not None else list(Environment)
    reason = f"announced maintenance until {window.ends:%Y-%m-%d %H:%M %z}"
    for environment in environments:
        for host in (Host.ECF, Host.FC):
            if await db.run(circuits.open_circuit, environment, host, reason, window.ends - now):
                _log.warning("a circuit opened", environment=environment, host=host, reason=reason)
