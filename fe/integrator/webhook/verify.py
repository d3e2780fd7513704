"""Verify a webhook call as a consumer does: both signatures over the raw bytes, and the age of the newer one.

Written from docs/webhooks.md alone, sharing no code with the signing side.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

#: How far the timestamp of a call may lie from the consumer's clock, in seconds: that of Standard Webhooks.
TOLERANCE = 300

_PREFIX = "whsec_"
_NAMES = ("webhook-id", "webhook-timestamp", "webhook-signature")


class BadSecret(ValueError):
    """A text that is no webhook secret."""


@dataclass(frozen=True, slots=True)
class Checked:
    """Result for each signature: None if valid, else the error in words."""

    plain: str | None
    standard: str | None

    @property
    def is_valid(self) -> bool:
        """Whether the call is to be believed: by `webhook-signature`, which also says when it was made, and which
        both secrets sign during a rotation."""
        return self.standard is None

    @property
    def words(self) -> str:
        """For a person."""
        if self.plain is None and self.standard is None:
            return "valid"
        if self.is_valid:
            return f"valid, but {self.plain}"
        return f"NOT VALID: {self.standard}"


def check(secret: str, headers: Mapping[str, str], body: bytes, now: datetime) -> Checked:
    """Check a call. `headers` by their names in lower case; `body` as it came. Raises BadSecret."""
    return Checked(_plain(secret, headers, body), _standard(key_of(secret), headers, body, now))


def key_of(secret: str) -> bytes:
    """Read the key out of a secret as it is shown. Raises BadSecret."""
    try:
        key = base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not secret.startswith(_PREFIX) or not key:
        raise BadSecret(f"a secret is {_PREFIX} and base64")
    return key


def _plain(secret: str, headers: Mapping[str, str], body: bytes) -> str | None:
    said = headers.get("x-service-signature")
    if said is None:
        return "X-Service-Signature is missing"
    right = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    # As bytes: what a stranger sends need not be ASCII, and then text cannot be compared.
    return None if hmac.compare_digest(said.encode(), right.encode()) else "X-Service-Signature is of other bytes"


def _standard(key: bytes, headers: Mapping[str, str], body: bytes, now: datetime) -> str | None:
    said = [headers.get(name) for name in _NAMES]
    if missing := [name for name, value in zip(_NAMES, said, strict=True) if value is None]:
        return f"{missing[0]} is missing"
    call_id, timestamp, signatures = (value or "" for value in said)
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        return "webhook-timestamp is no moment"
    if abs(now.timestamp() - int(timestamp)) > TOLERANCE:
        return f"webhook-timestamp is more than {TOLERANCE // 60} minutes away"
    signed = hmac.digest(key, f"{call_id}.{timestamp}.".encode() + body, hashlib.sha256)
    right = b"v1," + base64.b64encode(signed)
    matching = [hmac.compare_digest(one.encode(), right) for one in signatures.split(" ")]
    return None if any(matching) else "webhook-signature is of other bytes"
