"""Sign a call (interface.md#events, and standardwebhooks.com beside it). Pure."""

import base64
import binascii
import hmac
import secrets
from collections.abc import Sequence
from typing import Final

_PREFIX: Final = "whsec_"
_BYTES: Final = 32


def new_secret() -> str:
    """Make a secret, in the form in which the tenant is shown it: `whsec_` and 32 random bytes in base64."""
    return _PREFIX + base64.b64encode(secrets.token_bytes(_BYTES)).decode()


def service_signature(secret: str, body: bytes) -> str:
    """Sign a body as the header X-Service-Signature says: the key is the secret as it is shown, all of it."""
    return f"sha256={hmac.digest(secret.encode(), body, 'sha256').hex()}"


def standard_signature(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """Sign as Standard Webhooks do: the key is what the secret is the base64 of. Raises ValueError where it is none."""
    try:
        key = base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except binascii.Error:
        raise ValueError("a webhook secret that is no base64") from None
    signed = f"{message_id}.{timestamp}.".encode() + body
    return f"v1,{base64.b64encode(hmac.digest(key, signed, 'sha256')).decode()}"


def signed_headers(
    secrets: Sequence[str], *, event: str, delivery_id: str, timestamp: int, body: bytes
) -> list[tuple[str, str]]:
    """Give the headers of a call that are ours. The first secret is the one in use; the others end soon.

    X-Service-Signature holds one signature, so it is by the secret in use; webhook-signature holds one by each.
    """
    return [
        ("Content-Type", "application/json"),
        ("User-Agent", "fe-webhooks"),
        ("X-Service-Signature", service_signature(secrets[0], body)),
        ("X-Service-Event", event),
        ("X-Service-Delivery", delivery_id),
        ("webhook-id", delivery_id),
        ("webhook-timestamp", str(timestamp)),
        (
            "webhook-signature",
            " ".join(standard_signature(secret, delivery_id, timestamp, body) for secret in secrets),
        ),
    ]
