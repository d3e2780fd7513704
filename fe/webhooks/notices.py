"""Notices that no request causes: a sequence runs low or expires, a certificate expires. Pure.

Each threshold makes one notice; `about` is its unique name. When several thresholds passed since the last look, only
the last one makes a notice.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from fe.clock import iso
from fe.ecf.dates import end_of_day
from fe.ecf.json_text import write_json
from fe.identifiers import TenantId
from fe.lifecycle import WebhookEvent
from fe.store.records.authority_state import OutageNotice
from fe.store.records.sequences import sequence_key
from fe.store.webhooks.ending import EndingCertificate, EndingSequence

#: Days before a sequence or a certificate ends at which that is told; 0: it has ended.
SEQUENCE_DAYS: Final = (60, 15, 0)
CERTIFICATE_DAYS: Final = (60, 30, 7, 0)
#: Per cent of a sequence's numbers left; 0: it is used up.
SEQUENCE_PERCENTS: Final = (10, 0)


@dataclass(frozen=True, slots=True)
class Notice:
    """One notice to deliver."""

    tenant_id: TenantId
    environment: str | None
    kind: WebhookEvent
    about: str
    body: str


def of_sequence(sequence: EndingSequence, now: datetime) -> Iterator[Notice]:
    """Return the due notice of a sequence, unless it was made before. The next range counts."""
    sequence = sequence.at(now)
    size = sequence.max_number - sequence.min_number + 1
    left, until = sequence.numbers_left, sequence.gives_until
    which = f"{sequence.environment}/{sequence_key(sequence.prefix, sequence.name)}"
    shown = {
        "sequence": {
            "environment": sequence.environment,
            "prefix": sequence.prefix,
            **({"name": sequence.name} if sequence.name else {}),
            "currentSequence": str(sequence.current_number),
            "maxSequence": str(sequence.max_number),
            "remaining": str(left),
            "expireOn": until.isoformat() if until is not None else None,
        }
    }
    passed = [percent for percent in SEQUENCE_PERCENTS if left * 100 <= size * percent]
    if passed:
        about = f"{which}/{sequence.min_number}-{sequence.max_number}/{min(passed)}%"
        yield _notice(sequence.tenant_id, sequence.environment, WebhookEvent.SEQUENCE_LOW, about, shown, now)
    ends_at = None if until is None else end_of_day(until)
    if ends_at is not None and (days := _passed(ends_at, SEQUENCE_DAYS, now)) is not None:
        about = f"{which}/{ends_at:%Y-%m-%d}/{days} days"
        yield _notice(sequence.tenant_id, sequence.environment, WebhookEvent.SEQUENCE_EXPIRING, about, shown, now)


def of_certificate(certificate: EndingCertificate, now: datetime) -> Iterator[Notice]:
    """Return the due notice of a certificate, unless it was made before."""
    days = _passed(certificate.not_after, CERTIFICATE_DAYS, now)
    if days is None:
        return
    shown = {
        "certificate": {
            "id": str(certificate.certificate_id),
            "user": certificate.email,
            "expiresAt": iso(certificate.not_after),
        }
    }
    about = f"{certificate.certificate_id}/{days} days"
    yield _notice(certificate.tenant_id, None, WebhookEvent.CERTIFICATE_EXPIRING, about, shown, now)


def of_outage(outage: OutageNotice, now: datetime) -> Notice:
    """Return the notice of an outage of the authority, or of its end."""
    shown = {
        "authority": {
            "environment": outage.environment,
            "host": outage.host,
            "since": iso(outage.began_at),
            "until": None if outage.ended_at is None else iso(outage.ended_at),
        }
    }
    return _notice(outage.tenant_id, outage.environment, outage.kind, outage.about, shown, now)


def _passed(end: datetime, thresholds: tuple[int, ...], now: datetime) -> int | None:
    return min((days for days in thresholds if now >= end - timedelta(days=days)), default=None)


def _notice(
    tenant_id: TenantId, environment: str | None, kind: WebhookEvent, about: str, shown: dict[str, Any], now: datetime
) -> Notice:
    body = write_json({"event": kind, "sentAt": iso(now), **shown}).decode()
    return Notice(tenant_id, environment, kind, about, body)
