"""Identifiers that carry their own time."""

import re
import secrets
from datetime import UTC, datetime, timedelta
from uuid import UUID

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: Behind the milliseconds: what is drawn by lot, the version and the variant.
_RANDOM_BITS = 80

_FORM = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")

LAST_ID = UUID(int=(1 << 128) - 1)


def milliseconds(moment: datetime) -> int:
    """Count the whole milliseconds since 1970, rounded down: exact, where `timestamp()` may be one off."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def moment_of(identifier: UUID) -> datetime:
    """Tell when a version-7 UUID was made, to the millisecond."""
    return _EPOCH + timedelta(milliseconds=identifier.int >> _RANDOM_BITS)


def new_id(now: datetime) -> UUID:
    """Make a version-7 UUID (RFC 9562): milliseconds of `now`, then 74 random bits.

    Submissions are kept by month and listed newest first by this value alone, so it must be made from the moment the
    submission was accepted.
    """
    noise = secrets.randbits(74)
    time = milliseconds(now) & (1 << 48) - 1
    value = time << _RANDOM_BITS | 0x7 << 76 | (noise >> 62) << 64 | 0b10 << 62 | noise & (1 << 62) - 1
    return UUID(int=value)


def read_id(text: str) -> UUID | None:
    """Read an id as it is written, with its dashes; None for what is none, which matches nothing."""
    return UUID(text) if _FORM.fullmatch(text) else None


def period_of_ids(since: datetime | None, until: datetime | None) -> tuple[UUID, UUID]:
    """Return the first and the last id that can have been made in a period, both ends included, to the millisecond."""
    first = UUID(int=0) if since is None else first_id(since)
    last = LAST_ID if until is None else UUID(int=first_id(until).int + (1 << _RANDOM_BITS) - 1)
    return first, last


def first_id(moment: datetime) -> UUID:
    """Return the first id that can have been made at a moment, to the millisecond; before 1970 there was none."""
    return UUID(int=max(milliseconds(moment), 0) << _RANDOM_BITS)


def id_after(identifier: UUID) -> UUID:
    """Return the next id in their order; after the last, that one again."""
    return UUID(int=min(identifier.int + 1, LAST_ID.int))
