"""Identifiers that carry their own time."""

import secrets
from datetime import datetime
from uuid import UUID


def new_id(now: datetime) -> UUID:
    """Make a version-7 UUID (RFC 9562): milliseconds of `now`, then 74 random bits.

    Submissions are kept by month and listed newest first by this value alone, so it must be made from the moment the
    submission was accepted.
    """
    milliseconds = int(now.timestamp() * 1000)
    noise = secrets.randbits(74)
    value = (milliseconds & (1 << 48) - 1) << 80 | 0x7 << 76 | (noise >> 62) << 64 | 0b10 << 62 | noise & (1 << 62) - 1
    return UUID(int=value)
