"""Attempts to sign in: counted per address and per account, rejected when too many."""

import math
from ipaddress import ip_address

import structlog

from fe.ecf.texts import Text
from fe.portal.replies import Refused
from fe.portal.visit import Visit
from fe.store.portal.people import Person
from fe.store.records import throttle
from fe.store.records.throttle import Kind, Lockout

TOO_MANY = Text(
    "Too many attempts: wait 15 minutes before you try again.",
    "Demasiados intentos: espere 15 minutos antes de intentar de nuevo.",
)

_log = structlog.get_logger(__name__)


async def count(visit: Visit, kind: Kind, bucket: bytes | None = None) -> None:
    """Count an attempt before anything is checked. Raises Refused; the answer is the same for every account."""
    address = throttle.bucket_of_address(ip_address(visit.address))
    if bucket is None:
        lockout = await visit.portal.db.run(throttle.attempt, address, None)
    else:
        lockout = await visit.portal.db.run(throttle.attempt_of_person, address, bucket, kind)
    if lockout is not None:
        raise _locked_out(visit, lockout)


def _locked_out(visit: Visit, lockout: Lockout) -> Refused:
    visit.portal.metrics.login.labels("throttled").inc()
    if lockout.began:
        visit.portal.metrics.lockouts.labels(lockout.kind).inc()
        _log.warning("a login lockout began", bucket=lockout.kind, address=visit.address)
    visit.headers.append(("Retry-After", str(max(math.ceil(lockout.retry_after), 1))))
    return Refused(429, TOO_MANY)


def was_wrong(visit: Visit, person: Person | None, factor: str) -> None:
    """Log a failed attempt, without the typed text: it may be a password."""
    visit.portal.metrics.login.labels("refused").inc()
    whose = {} if person is None else {"person": str(person.person_id)}
    _log.warning("a person was refused", address=visit.address, factor=factor, **whose)


def was_right(visit: Visit, person: Person, way: str) -> None:
    """Log a sign-in."""
    visit.portal.metrics.login.labels("granted").inc()
    _log.info("a person logged in", address=visit.address, person=str(person.person_id), way=way)


async def forgive(visit: Visit, person: Person) -> None:
    """Clear the failed attempts of a person who has signed in. Those of the address stay."""
    await visit.portal.db.run(throttle.lift, throttle.bucket_of_person(person.email))
    await visit.portal.db.run(throttle.lift, throttle.bucket_of_second_factor(person.person_id))
