"""Periodic webhook upkeep: emits notices of expiry and of outages, releases held deliveries, deletes what is old.

Deliveries of deleted endpoints end here, where their deletion did not end them.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import count
from typing import Final

import structlog
import trio

from fe.clock import Clock
from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.store.portal import drafts
from fe.store.postgres.db import Database
from fe.store.postgres.errors import ANY_OF_THE_DATABASE
from fe.store.queue import webhooks
from fe.store.queue.webhooks import OldPart
from fe.store.records import authority_state, imports
from fe.store.records.failures import Failures
from fe.store.webhooks import ending, events
from fe.webhooks.notices import CERTIFICATE_DAYS, SEQUENCE_DAYS, Notice, of_certificate, of_outage, of_sequence

_log = structlog.get_logger(__name__)

_EVERY_SECONDS: Final = 60.0
#: Notices and deletions run every this many rounds: they take longer and are less urgent.
_SELDOM: Final = 15
#: Held deliveries of a tenant released per transaction.
_AT_ONCE: Final = 1000
#: One day more than the largest threshold, so that none is missed by hours.
_AHEAD: Final = timedelta(days=max(*SEQUENCE_DAYS, *CERTIFICATE_DAYS) + 1)

#: Shorter outages are not told of: a circuit that opens and closes would call everyone.
_OUTAGE_AFTER: Final = timedelta(minutes=2)
#: How long an end can still be told of.
_ENDED_SINCE: Final = timedelta(days=1)

#: How long ended deliveries are kept, with their events and tries.
KEPT_FOR: Final = timedelta(days=30)
#: How long events are held for an endpoint that is switched off.
HELD_FOR: Final = timedelta(days=90)


async def watch_webhooks(db: Database, clock: Clock) -> None:
    """Release, notify and delete until cancelled. Not watched for silence: no work depends on it."""
    for look in count():
        failures = Failures(_note)
        try:
            with failures.apart():
                await let_go_of_held(db)
            with failures.apart():
                await db.run(webhooks.end_deleted, clock(), _AT_ONCE)
            with failures.apart():
                await emit_outages(db, clock)
            if look % _SELDOM == 0:
                with failures.apart():
                    await emit_notices(db, clock)
                with failures.apart():
                    await forget_old(db, clock)
                with failures.apart():
                    await db.run(drafts.forget, clock())
                with failures.apart():
                    await db.run(imports.forget, clock())
        except ANY_OF_THE_DATABASE as error:
            _log.warning("webhooks could not be looked after", error=error)
        await trio.sleep(_EVERY_SECONDS)


def _note(error: Exception, tenant_id: TenantId | None) -> None:
    _log.warning("a part of looking after webhooks failed, the others go on", error=error, tenant_id=tenant_id)


async def let_go_of_held(db: Database) -> int:
    """Release held deliveries of endpoints that were switched on while the event was created."""
    freed, failures = 0, Failures(_note)
    for tenant_id in await db.run(webhooks.held_in_vain):
        with failures.apart(tenant_id):
            freed += await db.run(webhooks.let_go_of_held, tenant_id, _AT_ONCE)
    return freed


async def emit_notices(db: Database, clock: Clock) -> int:
    """Emit a notice for each threshold passed since; return how many."""
    now = clock()
    notices = [
        notice for sequence in await db.run(ending.sequences, now, _AHEAD) for notice in of_sequence(sequence, now)
    ]
    for certificate in await db.run(ending.certificates, now, _AHEAD):
        notices += of_certificate(certificate, now)
    return await _emit(db, notices, now)


async def emit_outages(db: Database, clock: Clock) -> int:
    """Tell of outages of the authority that last, and of the ends of those that were told of; return how many."""
    now = clock()
    found = await db.run(authority_state.to_tell, began_before=now - _OUTAGE_AFTER, ended_after=now - _ENDED_SINCE)
    return await _emit(db, [of_outage(one, now) for one in found], now)


async def _emit(db: Database, notices: Sequence[Notice], now: datetime) -> int:
    announced = 0
    for notice in notices:
        announced += await db.run(
            events.emit_once,
            notice.tenant_id,
            environment=Environment(notice.environment) if notice.environment is not None else None,
            kind=notice.kind,
            about=notice.about,
            body=notice.body,
            at=now,
        )
    return announced


async def forget_old(db: Database, clock: Clock) -> None:
    """Delete old deliveries, tenant by tenant and in parts; a tenant that fails is retried next time."""
    now, failures = clock(), Failures(_note)
    terms = partial(webhooks.forget, before=now - KEPT_FOR, held_before=now - HELD_FOR, at=now)
    for tenant_id in await db.run(webhooks.tenants):
        with failures.apart(tenant_id):
            part: OldPart | None = OldPart()
            while part is not None:
                part = await db.run(terms, tenant_id, part)
